"""A complete parameter set: all parameters of all bodies, and the matrices that must be positive semidefinite.

A robot's own parameters θ are followed by *hidden* ones, which have no effect on the efforts but on what is possible:
terms that a body has and the robot does not list (the moments about x of a body that turns about z only), and rotors
on the base that have no parameter of their own. Bodies that are stated to be equal share their parameters.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from gough.core.arrays import Array, Mask
from gough.core.errors import InputError, nearest, require
from gough.core.text import listed
from gough.methods.statistical.identifiability import Identifiability
from gough.robots.mechanism.inertia import TERMS
from gough.robots.physical import PhysicalLimits, RigidBody, pseudo_inertia

_LEAST = 1e-2
"""Least moment of a blueprint over the mean of its others, and least eigenvalue of its pseudo-inertia in units of its
diagonal, with which distances are measured."""
_LENGTH = 0.1
"""m: radius of gyration that a blueprint without any moment of inertia is taken to have."""
UNITS = np.array([pseudo_inertia(unit) for unit in np.eye(len(TERMS))])
"""(10, 4, 4): the pseudo-inertia of each of the ten parameters."""


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid along the axes of a body's frame that the body does not leave.

    Examples:
        >>> Ellipsoid((0.0, 0.0, 0.1), (0.05, 0.05, 0.12)).functional().round(3)[:2]
        array([0.306, 0.   ])
    """

    center: tuple[float, float, float]
    """In the body's frame, in m."""
    radii: tuple[float, float, float]
    """Semi-axes along x, y and z, in m; infinite where the body may extend as far as it likes."""

    def __post_init__(self) -> None:
        for name in ("center", "radii"):
            values = tuple(float(x) for x in getattr(self, name))
            require(len(values) == 3, f"{name} of an ellipsoid has three numbers, one for each axis, not {len(values)}")
            object.__setattr__(self, name, values)
        require(bool(np.isfinite(self.center).all()), f"the center of an ellipsoid must be finite, not {self.center}")
        require(min(self.radii) > 0, f"the radii of an ellipsoid must be positive, but are {self.radii}")

    @property
    def matrix(self) -> Array:
        """E with ∫ (1 − Σ (x − c)²/r²) dm = ⟨E, P⟩ ≥ 0 for every body within, P its pseudo-inertia."""
        c, weights = np.array(self.center), 1 / np.square(self.radii)
        E = np.zeros((4, 4))
        E[:3, :3] = -np.diag(weights)
        E[:3, 3] = E[3, :3] = weights * c
        E[3, 3] = 1 - weights @ c**2
        return E

    def functional(self) -> Array:
        """The factors of the ten parameters in ⟨E, P⟩."""
        return np.asarray(np.tensordot(UNITS, self.matrix, axes=2))


@dataclass(frozen=True, eq=False)
class BodyMatrix:
    """A body's pseudo-inertia (4, 4), or its mass alone (1, 1), as a function of the variables."""

    name: str
    members: tuple[str, ...]
    """The robot's bodies, or groups of bodies, that it stands for; several where they are stated to be equal."""
    places: tuple[int, ...]
    forms: Array
    """(places, d, d): the factor of each variable."""
    constant: Array
    """(d, d): the part of fixed parameters."""
    reference: Array
    """(d, d), positive definite: that of the blueprint, moved inside where it is not possible itself."""
    is_moved: bool
    """Whether the blueprint had to be moved."""
    inside: tuple[Array, float] | None = None
    """Factors of the places and a constant whose sum is not negative for a body within its ellipsoid."""

    def matrix(self, variables: Array) -> Array:
        """The matrix at these variables."""
        return np.asarray(self.constant + np.tensordot(variables[list(self.places)], self.forms, axes=1))


@dataclass(frozen=True, eq=False)
class CompleteSet:
    """The variables of a robot's bodies and drives, and what physics demands of them."""

    names: tuple[str, ...]
    """Free parameters of the robot, as those of its base parameters."""
    labels: tuple[str, ...]
    """Names of the variables: the first parameter of each that share one, then hidden ones."""
    share: Array
    """(names, variables) of 0 and 1: which variable each parameter is."""
    C: Array
    """(base parameters, variables)."""
    reference: Array
    """Values of the variables by the blueprint."""
    bodies: tuple[BodyMatrix, ...]
    nonnegative: Mask
    """Whether each variable must not be negative by itself."""
    limits: PhysicalLimits
    """The bodies and limits of the robot, those of free parameters only."""
    ellipsoids: Mapping[str, Ellipsoid] = field(default_factory=dict)

    @property
    def conditions(self) -> tuple[str, ...]:
        """What is taken for granted of parameters that are not negative only under a condition, in sentences."""
        return tuple(
            f"{limit.name} is taken not to be negative; it could be if {limit.unless}."
            for limit in self.limits.nonnegative
            if limit.unless
        )

    @property
    def constrained(self) -> Mask:
        """Whether physics demands something of each variable."""
        bound = self.nonnegative.copy()
        for body in self.bodies:
            bound[list(body.places)] = True
        return bound


def complete_set(
    limits: PhysicalLimits,
    analysis: Identifiability,
    blueprint: Mapping[str, float],
    *,
    fixed: Mapping[str, float] | None = None,
    equal: Sequence[Sequence[str]] = (),
    inside: Mapping[str, Ellipsoid] | None = None,
) -> CompleteSet:
    """The complete parameter set of a robot.

    Args:
        limits: What physics demands of the robot's parameters.
        analysis: Identifiability of its free parameters.
        blueprint: Values of all parameters by the blueprint.
        fixed: Values of parameters that are not free.
        equal: Groups of bodies, by name, that are equal.
        inside: Ellipsoids by the names of bodies.

    Raises:
        InputError: the robot states no limits; a body of `equal` or `inside` does not exist; groups contradict each
            other; the blueprint gives no mass to a body.
    """
    fixed, inside = dict(fixed or {}), dict(inside or {})
    free = {name: k for k, name in enumerate(analysis.names)}
    bodies = [body for body in limits.bodies if any(name in free for name in body.terms.values())]
    single = [limit for limit in limits.nonnegative if limit.name in free]
    if not bodies and not single:
        raise InputError(
            "the robot states no limits of its free parameters, so that physics demands nothing of them: leave out "
            "[physical], or use a robot with bodies, such as a mechanism file with all parameters"
        )
    known = {body.name: body for body in bodies}
    for name in inside:
        _require_body(name, known, "inside")
    groups = _groups(equal, known, fixed)
    place = _places(analysis.names, groups, known)
    n = max(place.values()) + 1
    share = np.zeros((len(place), n))
    share[np.arange(len(place)), list(place.values())] = 1.0
    theta0 = np.array([blueprint[name] for name in analysis.names])
    mean = share.T @ theta0 / share.sum(axis=0)
    variables = [
        _Variable(next(name for name in place if place[name] == k), float(mean[k]), is_nonnegative=False)
        for k in range(n)
    ]
    for limit in single:
        variables[place[limit.name]] = variables[place[limit.name]]._replace(is_nonnegative=True)
    values = {**fixed, **{name: float(mean[k]) for name, k in place.items()}}
    matrices: list[BodyMatrix] = []
    for members in _members(bodies, groups):
        own = [inside[name] for name in members if name in inside]
        require(len(own) < 2, f"bodies {listed(members)} are equal, but several of them have an ellipsoid: keep one")
        matrix, hidden = _matrix(known[members[0]], members, place, values, n=len(variables))
        matrices.append(_bounded(matrix, own[0]) if own else matrix)
        variables += hidden
    base = np.array([each.coefficients for each in analysis.base]).reshape(-1, len(place))
    none = len(variables) - n
    return CompleteSet(
        names=analysis.names,
        labels=tuple(each.label for each in variables),
        share=np.hstack([share, np.zeros((len(share), none))]),
        C=np.hstack([base @ share, np.zeros((len(base), none))]),
        reference=np.array([each.blueprint for each in variables]),
        bodies=tuple(matrices),
        nonnegative=np.array([each.is_nonnegative for each in variables], dtype=bool),
        limits=PhysicalLimits(tuple(single), tuple(bodies), limits.on_blueprint),
        ellipsoids=inside,
    )


class _Variable(NamedTuple):
    label: str
    blueprint: float
    is_nonnegative: bool


def _places(names: Sequence[str], groups: Sequence[Sequence[str]], known: Mapping[str, RigidBody]) -> dict[str, int]:
    """The variable that each parameter is; equal bodies share theirs."""
    leader = {name: name for name in names}
    for group in groups:
        for other in group[1:]:
            for term, name in known[other].terms.items():
                if name in leader:
                    leader[name] = known[group[0]].terms[term]
    number = {name: k for k, name in enumerate(dict.fromkeys(leader.values()))}
    return {name: number[leader[name]] for name in names}


def _members(bodies: Sequence[RigidBody], groups: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """The bodies of each matrix: a group where they are equal, else one."""
    grouped = {name: group for group in groups for name in group}
    yield from dict.fromkeys(grouped.get(body.name, (body.name,)) for body in bodies)


def _require_body(name: str, known: Mapping[str, Any], where: str) -> None:
    if name not in known:
        listing = ", ".join(known) or "none"
        raise InputError(
            f"{where} names the body '{name}', which there is not{nearest(name, known)} (known: {listing})"
        )


def _groups(
    equal: Sequence[Sequence[str]], known: Mapping[str, RigidBody], fixed: Mapping[str, float]
) -> list[tuple[str, ...]]:
    """Groups of equal bodies, checked."""
    groups, seen = [], dict[str, int]()
    for number, group in enumerate(equal, start=1):
        require(not isinstance(group, str), "equal is a list of groups, each a list of the names of bodies")
        names = tuple(group)
        require(len(names) > 1, f"group {number} of equal has {len(names)} bodies: name at least two, or leave it out")
        for name in names:
            _require_body(name, known, f"group {number} of equal")
            if name in seen:
                raise InputError(
                    f"body '{name}' is in group {seen[name]} and in group {number} of equal: join the groups, or "
                    "remove it from one"
                )
            seen[name] = number
        first = known[names[0]]
        for name in names[1:]:
            other = known[name]
            if set(other.terms) != set(first.terms) or other.rotor != first.rotor:
                raise InputError(
                    f"bodies '{names[0]}' and '{name}' cannot be equal: they have different parameters "
                    f"({', '.join(first.terms)}; {', '.join(other.terms)}). Remove one of them from group {number}"
                )
            for term in first.terms:
                pair = first.terms[term], other.terms[term]
                values = [fixed.get(each) for each in pair]
                if values[0] != values[1]:
                    raise InputError(
                        f"bodies '{names[0]}' and '{name}' cannot be equal: {pair[0]} and {pair[1]} are fixed "
                        "differently by the prior. Fix both at one value, or neither"
                    )
        groups.append(names)
    return groups


def _matrix(
    body: RigidBody, members: tuple[str, ...], place: Mapping[str, int], values: Mapping[str, float], *, n: int
) -> tuple[BodyMatrix, list[_Variable]]:
    """The matrix of a body, and its hidden variables, which are numbered from n on."""
    name = " = ".join(members)
    known = {term: float(values.get(body.terms[term], 0.0)) for term in TERMS if term in body.terms}
    if known.get("m", 0.0) <= 0:
        raise InputError(
            f"the blueprint gives body '{name}' no positive mass, so that no distance from it can be measured: state "
            f"its mass, as [unknowns.{body.terms.get('m', 'm')}] blueprint = ... in a study, or in the mechanism file"
        )
    is_point = set(known) == {"m"}
    ten0 = dict(zip(TERMS, _completed(known), strict=True))
    missing = [] if is_point else _hidden(set(known), body.rotor)
    forms, places, constant, hidden = [], [], np.zeros((4, 4)), list[_Variable]()
    for term, ten in zip(TERMS, UNITS, strict=True):
        if term in known and body.terms[term] in place:
            places.append(place[body.terms[term]])
            forms.append(ten)
        elif term in known:
            constant = constant + known[term] * ten
        elif term in missing:
            places.append(n + len(hidden))
            forms.append(ten)
            hidden.append(_Variable(f"{term} of {name}", float(ten0[term]), is_nonnegative=False))
    if body.rotor is not None and not is_point:
        places.append(n + len(hidden))
        forms.append(-_rotor_form(body.rotor))
        hidden.append(_Variable(f"rotor of {name}", 0.0, is_nonnegative=True))
    corner = slice(3 if is_point else 0, 4)
    full = np.tensordot(np.array(list(ten0.values())), UNITS, axes=1)[corner, corner]
    reference = _moved_inside(full)
    is_moved = bool(abs(reference - full).max() > 1e-9 * abs(full).max())
    own = np.array(forms)[:, corner, corner]
    return BodyMatrix(name, members, tuple(places), own, constant[corner, corner], reference, is_moved), hidden


def _bounded(body: BodyMatrix, ellipsoid: Ellipsoid) -> BodyMatrix:
    """The body, within an ellipsoid."""
    require(
        len(body.constant) == 4,
        f"body '{body.name}' is a point mass, which no ellipsoid bounds: leave its ellipsoid out",
    )
    factors = np.tensordot(body.forms, ellipsoid.matrix, axes=2)
    return replace(body, inside=(factors, float(np.tensordot(body.constant, ellipsoid.matrix, axes=2))))


def _hidden(known: set[str], rotor: Sequence[float] | None) -> list[str]:
    """Terms that a body may have although they are not listed; others are zero without loss, by a mirror symmetry."""
    left = [term for term in TERMS if term not in known]
    if rotor is not None:  # its inertia must not change in the mirror
        known = known | {f"I{a}{b}" for a, b in ("xy", "xz", "yz") if rotor["xyz".index(a)] * rotor["xyz".index(b)]}
    for signs in product((1, -1), repeat=3):
        flips = dict(zip("xyz", signs, strict=True))
        if all(_parity(term, flips) > 0 for term in known):
            # the mean of a possible body and its mirror image is possible and has the same known terms
            left = [term for term in left if _parity(term, flips) > 0]
    return left


def _parity(term: str, flips: Mapping[str, int]) -> int:
    sign = 1
    for axis in term[1:]:
        sign *= flips[axis]
    return sign


def _completed(known: Mapping[str, float]) -> Array:
    """Ten values of a body: terms that are not known are those of a body as round as the known ones allow."""
    m = known["m"]
    c = np.array([known.get(f"s{axis}", 0.0) for axis in "xyz"]) / m
    own = [known[term] - m * (c @ c - c[k] ** 2) for k, term in enumerate(("Ixx", "Iyy", "Izz")) if term in known]
    central = max(float(np.mean(own)), 0.0) if own else m * _LENGTH**2
    round_body = central * np.eye(3) + m * (c @ c * np.eye(3) - np.outer(c, c))
    usual = dict(
        zip(
            TERMS,
            [m, *(m * c), *np.diag(round_body), round_body[0, 1], round_body[0, 2], round_body[1, 2]],
            strict=True,
        )
    )
    if {"Ixx", "Iyy", "Izz"} <= set(known):
        usual |= dict.fromkeys(("Ixy", "Ixz", "Iyz"), 0.0)
    return np.array([known.get(term, usual[term]) for term in TERMS])


def _moved_inside(P: Array) -> Array:
    """The matrix itself if it is well inside the cone, else with small moments and eigenvalues raised."""
    raised = P.copy()
    if len(P) == 4:
        moments = np.diag(P)[:3]
        usual = float(moments[moments > 0].mean()) if (moments > 0).any() else _LENGTH**2 * float(P[3, 3])
        raised[range(3), range(3)] = np.maximum(moments, _LEAST * usual)
    size = np.sqrt(np.diag(raised))
    values, vectors = np.linalg.eigh(raised / np.outer(size, size))
    if values[0] >= _LEAST:
        return raised
    return np.asarray((vectors * np.maximum(values, _LEAST)) @ vectors.T * np.outer(size, size))


def _rotor_form(axis: Sequence[float]) -> Array:
    """The pseudo-inertia of a unit moment of inertia about an axis, as a rotor on the base adds it to a body."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    return np.asarray(np.tensordot([0, 0, 0, 0, x * x, y * y, z * z, x * y, x * z, y * z], UNITS, axes=1))
