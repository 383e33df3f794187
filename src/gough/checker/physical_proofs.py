"""What certificates state about the bodies of a robot that can exist, with the evidence that proves it.

Some unknowns of a problem are parameters of rigid bodies: mass, first moments and moments of inertia about the origin
of a frame. A body can exist if some distribution of positive mass has these parameters, that is, if its pseudo-inertia
is positive semidefinite [WEN18]. A θ whose bodies can exist is *possible*.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gough.checker.limits import exact
from gough.checker.steps import Coefficients, Weights, coefficients, pairs, row_weights, support
from gough.core.errors import require
from gough.core.sealed import brief

TERMS = ("m", "sx", "sy", "sz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
"""Mass, first moments (kg·m) and entries of the inertia matrix about the frame's origin (Ixy = −∫ x y dm)."""


@dataclass(frozen=True)
class BodyTerms:
    """The unknowns that are parameters of one body; parameters that are not listed may have any value.

    Examples:
        >>> BodyTerms("arm", {"m": "m_arm", "Izz": "I_arm"}, rotor=(0, 0, 1)).terms
        (('m', 'm_arm'), ('Izz', 'I_arm'))
    """

    name: str
    terms: tuple[tuple[str, str], ...]
    """Term (m, sx, …, Iyz) and unknown; a mapping is taken too."""
    rotor: tuple[Fraction, ...] | None = None
    """Axis of a rotor whose inertia, not negative, adds to that of the body; None: there is none."""
    center: tuple[Fraction, ...] | None = None
    """Center of an ellipsoid along the axes of the frame that the body does not leave; None: there is none."""
    radii: tuple[Fraction | None, ...] | None = None
    """Its semi-axes; None for one that is infinite."""

    def __post_init__(self) -> None:
        require(isinstance(self.name, str) and bool(self.name.strip()), f"a body has a name, not {brief(self.name)}")
        each = tuple((term, name) for term, name in pairs(self.terms, "the terms of a body"))
        require(len(each) > 0, f"body '{self.name:.40}' has no unknown")
        known = all(isinstance(term, str) and term in TERMS for term, _ in each)
        require(known, f"the terms of body '{self.name:.40}' are some of {', '.join(TERMS)}")
        require(all(isinstance(name, str) for _, name in each), "the terms of a body are names of unknowns")
        require(len({term for term, _ in each}) == len(each), f"body '{self.name:.40}' has a term more than once")
        require(len({name for _, name in each}) == len(each), f"body '{self.name:.40}' has an unknown more than once")
        object.__setattr__(self, "terms", each)
        for field in ("rotor", "center"):
            value = getattr(self, field)
            if value is not None:
                object.__setattr__(self, field, _three(value, f"the {field} of body '{self.name:.40}'"))
        if self.rotor is not None:
            require(any(self.rotor), f"the rotor of body '{self.name:.40}' has no axis")
        together = (self.center is None) == (self.radii is None)
        require(together, f"an ellipsoid has a center and radii, but that of body '{self.name:.40}' lacks one of them")
        if self.radii is not None:
            radii = tuple(None if x is None else exact(x, "a radius") for x in self.radii)
            require(len(radii) == 3, f"the ellipsoid of body '{self.name:.40}' has three radii")
            require(all(x is None or x > 0 for x in radii), f"the radii of body '{self.name:.40}' must be positive")
            object.__setattr__(self, "radii", radii)


def _three(value: Any, what: str) -> tuple[Fraction, ...]:
    numbers = tuple(exact(x, what) for x in value)
    require(len(numbers) == 3, f"{what} has three numbers")
    return numbers


@dataclass(frozen=True)
class PhysicalStep:
    """direction · θ ≥ value for every consistent θ that is possible.

    `possible` · θ is never negative for such a θ; what it and the weighted rows leave of the direction is multiplied by
    the sides of the box, as in a `Step`.

    Examples:
        >>> PhysicalStep({"m": 1}, 1.5, {17: 0.25}, {"m": 0.5}).rows
        (17,)
    """

    direction: Coefficients
    value: Fraction
    weights: Weights
    possible: Coefficients = ()
    """Factors of unknowns of bodies, and of those that are not negative."""
    inside: Coefficients = ()
    """By the names of bodies: multipliers, not negative, of the inequalities of their ellipsoids."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", coefficients(self.direction, "direction"))
        object.__setattr__(self, "value", exact(self.value, "the value of a bound"))
        object.__setattr__(self, "weights", row_weights(self.weights))
        object.__setattr__(self, "possible", coefficients(self.possible, "possible"))
        object.__setattr__(self, "inside", coefficients(self.inside, "inside"))
        require(all(x >= 0 for _, x in self.inside), "the multipliers of ellipsoids must not be negative")

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows that it rests on."""
        return support(self.weights)


class _Physical:
    """What both kinds share."""

    bodies: tuple[BodyTerms, ...]
    nonnegative: tuple[str, ...]
    steps: tuple[PhysicalStep, ...]
    equal: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        for name in ("bodies", "nonnegative", "steps"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        require(not any(isinstance(group, str) for group in self.equal), "equal has groups of names of bodies")
        object.__setattr__(self, "equal", tuple(tuple(group) for group in self.equal))
        require(all(isinstance(body, BodyTerms) for body in self.bodies), "the bodies must be of type BodyTerms")
        require(all(isinstance(name, str) for name in self.nonnegative), "nonnegative has names of unknowns")
        require(all(isinstance(step, PhysicalStep) for step in self.steps), "the steps must be of type PhysicalStep")
        require(len(self.steps) > 0, "a proof needs at least one step")
        require(bool(self.bodies or self.nonnegative), "it states nothing about bodies: use Bound or Empty")
        _require_different([body.name for body in self.bodies], "body")
        names = [name for body in self.bodies for _, name in body.terms]
        _require_different([*names, *self.nonnegative], "unknown")
        self._require_groups()

    def _require_groups(self) -> None:
        terms = {body.name: {term for term, _ in body.terms} for body in self.bodies}
        for group in self.equal:
            require(len(group) > 1, "a group of equal bodies has at least two of them")
            for name in group:
                known = isinstance(name, str) and name in terms
                require(known, f"there is no body {brief(name)} that could equal another one")
                same = terms[name] == terms[group[0]]
                require(same, f"bodies '{group[0]:.40}' and '{name:.40}' are not equal: they have different terms")
        _require_different([name for group in self.equal for name in group], "body")

    @property
    def shared(self) -> tuple[tuple[str, ...], ...]:
        """Groups of unknowns that have one value, since their bodies are equal."""
        terms = {body.name: dict(body.terms) for body in self.bodies}
        return tuple(tuple(terms[name][term] for name in group) for group in self.equal for term in terms[group[0]])

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows that the proof rests on."""
        return tuple(sorted({row for step in self.steps for row in step.rows}))


def _require_different(names: Iterable[str], what: str) -> None:
    seen = set[str]()
    for name in names:
        require(name not in seen, f"the {what} '{name:.40}' occurs more than once in what is stated about bodies")
        seen.add(name)


@dataclass(frozen=True)
class PhysicalBound(_Physical):
    """Every consistent θ that is possible satisfies direction · θ ≥ value, for each of the steps.

    Possible: the bodies can exist, those of a group of `equal` have equal parameters, and the unknowns of
    `nonnegative` are not negative. The steps are a chain, as those
    of a `Bound`.

    Examples:
        >>> PhysicalBound([BodyTerms("arm", {"m": "m"})], [], [PhysicalStep({"m": 1}, 0, {}, {"m": 1})]).rows
        ()
    """

    bodies: tuple[BodyTerms, ...]
    nonnegative: tuple[str, ...]
    steps: tuple[PhysicalStep, ...]
    equal: tuple[tuple[str, ...], ...] = ()
    """Groups of bodies, by name: the unknowns of one term have the same value for all bodies of a group."""


@dataclass(frozen=True)
class PhysicalEmpty(_Physical):
    """No consistent θ is possible: no physical robot explains the rows within their bounds.

    Examples:
        >>> PhysicalEmpty([], ["m"], [PhysicalStep({}, 1, {0: -1}, {"m": 1})]).rows
        (0,)
    """

    bodies: tuple[BodyTerms, ...]
    nonnegative: tuple[str, ...]
    steps: tuple[PhysicalStep, ...]
    equal: tuple[tuple[str, ...], ...] = ()
    """Groups of bodies, by name: the unknowns of one term have the same value for all bodies of a group."""


def ellipsoid_factors(body: BodyTerms) -> Mapping[str, Fraction]:
    """Factors of the ten parameters in ∫ (1 − Σ (x − c)²/r²) dm, which is not negative for a body in its ellipsoid.

    With w = 1/r² for each axis: m (1 − Σ w c²) + 2 Σ w c s − Σ w ∫ x² dm, and ∫ x² dm = (Iyy + Izz − Ixx)/2.

    Examples:
        >>> ellipsoid_factors(BodyTerms("arm", {"m": "m"}, center=(0, 0, 0), radii=(1, None, None)))["Ixx"]
        Fraction(1, 2)
    """
    assert body.center is not None
    assert body.radii is not None
    w = [Fraction(0) if r is None else 1 / r**2 for r in body.radii]
    found = {"m": 1 - sum((a * c * c for a, c in zip(w, body.center, strict=True)), Fraction(0))}
    for axis, a, c in zip("xyz", w, body.center, strict=True):
        found[f"s{axis}"] = 2 * a * c
        own = {f"I{k}{k}": Fraction(1 if k == axis else -1, 2) for k in "xyz"}
        for term, factor in own.items():
            found[term] = found.get(term, Fraction(0)) + a * factor
    return found
