"""What is known of parameters beforehand: names and patterns of those that are held, tolerances of a blueprint."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from gough.core.arguments import instance, real
from gough.core.arrays import Array, ArrayValue, Integers
from gough.core.errors import InputError, nearest, require
from gough.core.text import number, shown_unit
from gough.problem import Equations, NonlinearProblem
from gough.region import Box, ConfidenceEllipsoid
from gough.robots.kinematics import KinematicModel
from gough.unknowns import Unknowns

_TOLERANCE = 2.0
"""Standard deviations in a tolerance: 95 %."""
_NAMED = 3
OPEN = 1e3
"""Standard deviation of a parameter without a tolerance, in its unit: far more than any robot has."""


def matching(patterns: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """The names that equal one of the patterns, or match one with * or ?; in the order of the names.

    A pattern without a dot stands for the robot's own parameters, one with a dot for those of instruments: "l*" does
    not match "level.rx", but "level.*" does.

    Raises:
        InputError: a pattern matches none.

    Examples:
        >>> matching(["a*", "l2"], ["a1x", "b1x", "l1", "l2"])
        ('a1x', 'l2')
        >>> matching(["l*"], ["l1", "level.rx"]), matching(["level.*"], ["l1", "level.rx"])
        (('l1',), ('level.rx',))
        >>> matching(["c*"], ["a1x", "b1x"])
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: no parameter matches 'c*': the names are a1x, b1x
    """
    chosen = set[str]()
    for pattern in patterns:
        if not {"*", "?"} & set(pattern) and pattern not in names:
            raise InputError(f"no parameter is called '{pattern}'{nearest(pattern, names)}")
        alike = [name for name in names if fnmatchcase(name, pattern)]
        found = {name for name in alike if ("." in name) == ("." in pattern)} or {pattern} & set(names)
        if not found and alike:
            own = alike[0].split(".")[0]
            raise InputError(
                f"no parameter of the robot matches '{pattern}': parameters of an instrument are meant by a "
                f"pattern with its name and a dot, such as '{own}.*'"
            )
        if not found:
            listed = ", ".join([*names[:12], *(["…"] if len(names) > 12 else [])])
            raise InputError(f"no parameter matches '{pattern}': the names are {listed}")
        chosen |= found
    return tuple(name for name in names if name in chosen)


def require_one_belief(fixed: Sequence[str], stated: Mapping[str, Any], names: Sequence[str], key: str) -> None:
    """Refuse a parameter that two patterns of a tolerance or prior match, or that is fixed too.

    Args:
        fixed: Names or patterns of fixed parameters.
        stated: Tolerances or standard deviations by name or pattern.
        names: Names of all parameters.
        key: What `stated` is called.

    Raises:
        InputError: two statements contradict each other, or a pattern matches none.

    Examples:
        >>> require_one_belief(["l*"], {"a*": 1e-3, "a1x": 2e-3}, ["a1x", "l1"], "tolerance")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: 'a1x' has two values in tolerance, by 'a*' and by 'a1x': keep one of them
    """
    held = set(matching(fixed, names))
    by = dict[str, str]()
    for pattern in stated:
        for name in matching([pattern], names):
            if name in by:
                raise InputError(
                    f"'{name}' has two values in {key}, by '{by[name]}' and by '{pattern}': keep one of them",
                    key=(key, pattern),
                )
            if name in held:
                raise InputError(
                    f"'{name}' is fixed, and has a value in {key} by '{pattern}': leave it out of one of them",
                    key=(key, pattern),
                )
            by[name] = pattern


def require_tolerance(tolerance: Any, model: KinematicModel, prior: Any, frames: Any, *, scale: bool) -> None:
    """Refuse a tolerance that is none, or together with what it cannot be combined with."""
    if tolerance is None:
        return
    tolerance_sigma(tolerance, model)
    require(prior is None, "give either a tolerance or a prior, not both")
    require(not scale, "a tolerance cannot be combined with an unknown scale: leave one out")
    require(
        frames != "instrument",
        "tolerances are of joints in the robot's frame, but these poses are in an instrument's: hold the joints of "
        'base and platform ("a*", "b*"), or move the poses into the frame of the robot',
    )


def tolerance_sigma(tolerance: float | Mapping[str, float], model: KinematicModel) -> Array:
    """(p,) standard deviations of a blueprint's values; one tolerance is for all lengths.

    Raises:
        InputError: a pattern matches nothing, or a tolerance is not positive.

    Examples:
        >>> from gough.robots import LinearDelta
        >>> tolerance_sigma({"arm_*": 0.002}, LinearDelta())[-3:].tolist()
        [0.001, 0.001, 0.001]
    """
    result = np.full(len(model.names), OPEN)
    if not isinstance(tolerance, Mapping):
        lengths = [name for name, unit in zip(model.names, model.units, strict=True) if unit == "m"]
        tolerance = dict.fromkeys(lengths, tolerance)
    for pattern, value in tolerance.items():
        name_or_pattern = instance(pattern, "a name in tolerance", str, "a name or pattern of parameters")
        size = real(value, f"tolerance of {name_or_pattern}", above=0)
        for name in matching([name_or_pattern], model.names):
            result[model.names.index(name)] = size / _TOLERANCE
    return result


def exceeded(
    tolerance: float | Mapping[str, float], model: KinematicModel, before: Array, after: Array
) -> tuple[str, float]:
    """The parameters that leave their tolerance, in a sentence, and the probability of such changes if it holds.

    With a right tolerance, the squares of the changes over their prior standard deviations have at most the sum of as
    many of standard normal numbers: the data only determine a part of each.

    Examples:
        >>> from gough.robots import LinearDelta
        >>> printer, moved = LinearDelta(), np.zeros(10)
        >>> moved[-1] = 0.004
        >>> words, p = exceeded({"arm_*": 0.0005}, printer, printer.nominal, printer.nominal + moved)
        >>> words
        'The stated tolerance is too small: arm_c changes by 4.00 mm, tolerance 0.500 mm'
        >>> p < 1e-12
        True
    """
    from scipy.special import chdtrc  # noqa: PLC0415 - start-up time

    sigma = tolerance_sigma(tolerance, model)
    stated = np.flatnonzero((sigma < OPEN) & (after != before))
    z = abs(after - before)[stated] / sigma[stated]
    order = stated[np.argsort(-z)]
    parts = []
    for k in order[:_NAMED]:
        unit, factor = shown_unit(model.units[k])
        change, limit = (number(factor * v, digits=3) for v in (abs(after - before)[k], _TOLERANCE * sigma[k]))
        if abs(after - before)[k] > _TOLERANCE * sigma[k]:
            parts.append(f"{model.names[k]} changes by {change} {unit}, tolerance {limit} {unit}")
    p = float(chdtrc(len(stated), float(z @ z))) if len(stated) else 1.0
    return f"The stated tolerance is too small: {'; '.join(parts)}", p


@dataclass(frozen=True, eq=False)
class HeldEquations(ArrayValue):
    """Equations of the free unknowns only, the others being held at their values."""

    equations: Equations
    values: Array
    """All unknowns."""
    free: Integers

    def residuals(self, theta: Array, measured: Array) -> Array:
        """As of all unknowns."""
        return self.equations.residuals(self._all(theta), measured)

    def jacobians(self, theta: Array, measured: Array) -> tuple[Array, Array]:
        """By the free unknowns, and by what was measured."""
        J, J_m = self.equations.jacobians(self._all(theta), measured)
        return J[..., self.free], J_m

    def _all(self, theta: Array) -> Array:
        values = self.values.copy()
        values[self.free] = theta
        return values


def believed(
    problem: NonlinearProblem, tolerance: float | Mapping[str, float] | None, model: KinematicModel
) -> NonlinearProblem:
    """The problem in its free unknowns with a Gaussian prior about their values; as it is without a tolerance."""
    if tolerance is None:
        return problem
    unknowns = problem.unknowns
    assert unknowns.nominal is not None
    assert isinstance(unknowns.prior, Box)
    free = np.flatnonzero(~unknowns.is_fixed)
    stated = tolerance_sigma(tolerance, model)
    center, sigma = unknowns.nominal[free], np.append(stated, np.full(len(unknowns) - len(stated), OPEN))[free]
    names, units = (tuple(words[i] for i in free) for words in (unknowns.names, unknowns.units))
    own = Unknowns(names, units, center, ConfidenceEllipsoid(center, np.diag(sigma**2)))
    return replace(problem, equations=HeldEquations(problem.equations, unknowns.nominal, free), unknowns=own)
