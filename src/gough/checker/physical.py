"""What weighted rows prove of θ whose bodies can exist, in exact rational arithmetic.

A linear function of the ten parameters of a body is the integral of vᵀ S v over its mass, v = (x, y, z, 1), with a
symmetric matrix S of the factors. If S is positive semidefinite, it is negative for no body.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from gough.checker.limits import common, spend
from gough.checker.linear import NotProven, Sides, largest_value, vector, with_bound
from gough.checker.physical_proofs import (
    TERMS,
    BodyTerms,
    PhysicalBound,
    PhysicalEmpty,
    PhysicalStep,
    ellipsoid_factors,
)
from gough.checker.quadratic import exact_cost, is_semidefinite
from gough.checker.steps import Coefficients, coefficients, row_weights
from gough.checker.words import approximately, written
from gough.core.errors import nearest
from gough.core.rational import round_down
from gough.problem import LinearProblem

UNITS = {"m": "kg", "s": "kg·m", "I": "kg·m²"}
"""Units of the ten parameters, by the first letter of their terms."""
_ROTOR = ((0, 0, "Ixx"), (1, 1, "Iyy"), (2, 2, "Izz"), (0, 1, "Ixy"), (0, 2, "Ixz"), (1, 2, "Iyz"))


def form(factors: Mapping[str, Fraction]) -> list[list[Fraction]]:
    """S with Σ factors · parameters = ∫ vᵀ S v dm, v = (x, y, z, 1).

    Examples:
        >>> [[int(x) for x in row] for row in form({"m": Fraction(5), "sx": Fraction(4), "Izz": Fraction(3)})]
        [[3, 0, 0, 2], [0, 3, 0, 0], [0, 0, 0, 0], [2, 0, 0, 5]]
    """
    c = {term: factors.get(term, Fraction(0)) for term in TERMS}
    xx, yy, zz = c["Iyy"] + c["Izz"], c["Ixx"] + c["Izz"], c["Ixx"] + c["Iyy"]
    xy, xz, yz = -c["Ixy"] / 2, -c["Ixz"] / 2, -c["Iyz"] / 2
    x, y, z = c["sx"] / 2, c["sy"] / 2, c["sz"] / 2
    return [[xx, xy, xz, x], [xy, yy, yz, y], [xz, yz, zz, z], [x, y, z, c["m"]]]


def is_never_negative(factors: Mapping[str, Fraction]) -> bool:
    """Whether Σ factors · parameters ≥ 0 for every body that can exist: S is positive semidefinite.

    Examples:
        >>> is_never_negative({"Ixx": Fraction(1), "Iyy": Fraction(1), "Izz": Fraction(-1)})
        True
        >>> is_never_negative({"Izz": Fraction(1), "sx": Fraction(1)})
        False
    """
    S = form(factors)
    whole, _ = common(x for row in S for x in row)
    M = whole.reshape(4, 4)
    bits = max((int(x).bit_length() for x in M.flat), default=0)
    spend(exact_cost(4, bits))
    return is_semidefinite(M)


def require_possible(proof: PhysicalBound | PhysicalEmpty, step: PhysicalStep) -> None:
    """Raise NotProven unless `possible` · θ ≥ 0 for every θ that is possible."""
    factors = dict(step.possible)
    multipliers = dict(step.inside)
    known = {body.name for body in proof.bodies}
    for name in sorted(multipliers.keys() - known):
        raise NotProven(f"there is no body '{name:.40}'{nearest(name, known)}")
    own = {name for body in proof.bodies for _, name in body.terms}
    for name, x in factors.items():
        if name not in own and name not in proof.nonnegative and x:
            raise NotProven(f"'{name:.40}' belongs to no body, and may be negative")
        if name in proof.nonnegative and x < 0:
            raise NotProven(f"the factor of '{name:.40}' is {written(x)}, but it must not be negative")
    for body in proof.bodies:
        ten = {term: factors.get(name, Fraction(0)) for term, name in body.terms}
        _require_of_body(body, ten, multipliers.get(body.name, Fraction(0)))


def _require_of_body(body: BodyTerms, ten: Mapping[str, Fraction], multiplier: Fraction) -> None:
    if body.rotor is not None:
        # the rotor adds r a aᵀ to the inertia matrix of the body, and to nothing else
        a = body.rotor
        if sum((a[i] * a[j] * ten.get(term, Fraction(0)) for i, j, term in _ROTOR), Fraction(0)) < 0:
            raise NotProven(f"the factors of body '{body.name:.40}' are negative for its rotor")
    if multiplier < 0:
        raise NotProven(f"the multiplier of the ellipsoid of body '{body.name:.40}' is negative")
    if multiplier:
        if body.center is None:
            raise NotProven(f"body '{body.name:.40}' has no ellipsoid")
        bound = ellipsoid_factors(body)
        ten = {term: ten.get(term, Fraction(0)) - multiplier * bound.get(term, Fraction(0)) for term in TERMS}
    if any(ten.values()) and not is_never_negative(ten):
        raise NotProven(f"the factors of body '{body.name:.40}' are negative for some body that can exist")


def follow_physical(problem: LinearProblem, proof: PhysicalBound | PhysicalEmpty) -> Sides:
    """The box that the steps leave, from the prior on; raises NotProven at the first that proves less."""
    for name in sorted({*proof.nonnegative, *(name for body in proof.bodies for _, name in body.terms)}):
        vector(problem, ((name, Fraction(1)),))  # is this name known?
    _require_units(problem, proof)
    shared = shared_axes(problem, proof)
    box = with_shared_sides(Sides.of_prior(problem), shared)
    for number, step in enumerate(proof.steps, start=1):
        try:
            require_possible(proof, step)
            _require_value(problem, box, step, shared)
        except NotProven as short:
            raise NotProven(f"step {number}: {short}") from short
        box = with_shared_sides(with_bound(problem, box, step), shared)
    return box


def _require_units(problem: LinearProblem, proof: PhysicalBound | PhysicalEmpty) -> None:
    """Raise NotProven for units in which the ten parameters are not the integrals of one mass; "" is no statement."""
    units = dict(zip(problem.unknowns.names, problem.unknowns.units, strict=True))
    for body in proof.bodies:
        for term, name in body.terms:
            fitting = UNITS[term[0]]
            if units[name] not in {"", fitting}:
                raise NotProven(
                    f"'{name:.40}' has the unit '{units[name]:.40}', but {term} of a body has the unit '{fitting}'"
                )


def shared_axes(problem: LinearProblem, proof: PhysicalBound | PhysicalEmpty) -> tuple[tuple[int, ...], ...]:
    """Axes of unknowns that have one value, since their bodies are equal."""
    axis = {name: k for k, name in enumerate(problem.unknowns.names)}
    return tuple(tuple(axis[name] for name in group) for group in proof.shared)


def with_shared_sides(box: Sides, shared: Sequence[Sequence[int]]) -> Sides:
    """The part of the box in which the axes of each group have one value: all get the narrowest sides of the group.

    Examples:
        >>> with_shared_sides(Sides((Fraction(0), None), (Fraction(2), Fraction(1))), [(0, 1)]).upper
        (Fraction(1, 1), Fraction(1, 1))
    """
    if not shared:
        return box
    lower, upper = list(box.lower), list(box.upper)
    for group in shared:
        low = max((side for axis in group if (side := lower[axis]) is not None), default=None)
        high = min((side for axis in group if (side := upper[axis]) is not None), default=None)
        for axis in group:
            lower[axis], upper[axis] = low, high
    return replace(box, lower=tuple(lower), upper=tuple(upper))


def _require_value(problem: LinearProblem, box: Sides, step: PhysicalStep, shared: Sequence[Sequence[int]]) -> None:
    proven = largest_value(problem, box, remaining(step.direction, step.possible), step.weights, shared)
    if proven < step.value:
        missing = approximately(step.value - proven)
        raise NotProven(f"it states {written(step.value)}, which is {missing} more than its rows prove")


def remaining(direction: Coefficients, possible: Coefficients) -> Coefficients:
    """The direction minus a function that is never negative: what the rows have to prove."""
    left = dict(direction)
    for name, x in possible:
        left[name] = left.get(name, Fraction(0)) - x
    return tuple(left.items())


def physical_step(
    direction: Mapping[str, float],
    weights: Mapping[int, float],
    possible: Mapping[str, float],
    inside: Mapping[str, float],
) -> PhysicalStep:
    """A step from doubles, with a value that is not proven yet."""
    return PhysicalStep(
        coefficients(direction, "direction"),
        Fraction(0),
        row_weights(weights),
        coefficients(possible, "possible"),
        coefficients(inside, "inside"),
    )


def best_physical_step(
    problem: LinearProblem, box: Sides, step: PhysicalStep, shared: Sequence[Sequence[int]] = ()
) -> PhysicalStep:
    """The same step with the largest double as its value that its weights prove in the box.

    Raises:
        NotProven: they prove nothing.
    """
    value = round_down(largest_value(problem, box, remaining(step.direction, step.possible), step.weights, shared))
    if value is None:
        raise NotProven("the weights prove a bound below all doubles")
    return replace(step, value=Fraction(value))
