"""The gain of an amplifier from static force tests."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core import fisher, outward
from gough.core.arrays import Array, array
from gough.core.errors import require
from gough.core.intervals import Interval
from gough.core.text import number, percent
from gough.estimates import Estimate, Status, estimate
from gough.methods import LeastSquares, LinearHull
from gough.noise import Bounded, Gaussian
from gough.problem import LinearProblem
from gough.region import ConfidenceEllipsoid
from gough.unknowns import Unknowns

_FEWEST = 3
_CUBIC = 4


@dataclass(frozen=True, eq=False)
class GainEstimate:
    """An amplifier's gain from static force tests: torque = gain · voltage + offset.

    Examples:
        >>> from gough.dynamics import gain_from_static_tests
        >>> tests = gain_from_static_tests([-2, -1, 0, 1, 2], [-8.1, -3.9, 0.1, 4.1, 7.9], lever=0.25)
        >>> round(tests.gain, 3), tests.fit.region.sigma.round(3)
        (1.0, array([0.01 , 0.014]))
    """

    fit: Estimate
    """Least squares: unknowns `gain` [N·m/V] and `offset` [N·m], with σ."""
    hull: Estimate | None
    """The exact hull, where the resolution of the force sensor was given."""
    n_tests: int
    nonlinearity: float
    """Largest deviation of a cubic through the tests from the straight line, over the largest measured torque."""
    nonlinearity_p: float
    """Probability of a cubic at least as much better, if the truth is a straight line; small: it is not."""
    offset_is_zero: bool
    """Does the 95 % interval of the offset hold zero?"""

    @property
    def gain(self) -> float:
        """N·m per volt."""
        return self.fit["gain"]

    @property
    def offset(self) -> float:
        """Torque at zero volts."""
        return self.fit["offset"]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Gain with its interval, offset and linearity."""
        region = self.fit.region
        assert isinstance(region, ConfidenceEllipsoid)
        half = float(region.interval().width[0] / 2)
        value = f"{number(self.gain, half)} ± {number(half, digits=2)} N·m/V"
        sentences = [f"The gain is {value} ({region.level:.0%}, {self.n_tests} static tests)."]
        if self.hull is not None and self.hull.status is Status.OK:
            box = self.hull.region.hull()
            sides = ", ".join(outward.sides(box.lower[0], box.upper[0]))
            sentences.append(f"If no force errs by more than its resolution, it lies in [{sides}] for certain.")
        elif self.hull is not None:
            sentences.append(
                "No straight line explains all forces within the given resolution: dry friction holds part of the "
                "torque back, or the amplifier is not linear. State a larger resolution, or approach each voltage from "
                "both sides."
            )
        if self.offset_is_zero:
            sentences.append("The offset is zero within its interval.")
        else:
            offset = number(self.offset, digits=3)
            sentences.append(
                f"The offset of {offset} N·m is not zero: check the arm's weight and the amplifier's zero."
            )
        if np.isnan(self.nonlinearity):
            sentences.append("There are too few different voltages to test linearity.")
        elif self.nonlinearity_p < 0.001:
            sentences.append(
                f"Not linear: a cubic departs from the line by {percent(self.nonlinearity)} of the largest torque "
                f"(p = {self.nonlinearity_p:.1g}); use voltages nearer to those of the experiment."
            )
        else:
            sentences.append(f"The tests do not refute linearity (p = {self.nonlinearity_p:.2g}).")
        return tuple(sentences)

    @property
    def verdict(self) -> str:
        """The sentences as one text."""
        return " ".join(self.sentences)

    def __str__(self) -> str:
        return f"{self.fit.table()}\n{self.verdict}"


def gain_from_static_tests(
    voltages: Any, forces: Any, lever: float, *, resolution: float | None = None
) -> GainEstimate:
    """The gain G of torque = G · voltage + offset, from forces that an arm of length `lever` exerts at rest.

    The arm pushes on a fixed force sensor while different voltages are applied to its amplifier [NCPP, §V.B]. Friction
    holds part of the torque back, one way or the other: apply each voltage from below and from above.

    Args:
        voltages: Applied voltages, in V.
        forces: Measured forces, in N, signed like the voltages; square to the arm.
        lever: From the motor's axis to the sensor, in m.
        resolution: No force reading errs by more, in N. With it the exact hull of all gains that explain the tests is
            given too.

    Raises:
        InputError: fewer than three tests, all at one voltage, or a number is missing.

    Examples:
        >>> tests = gain_from_static_tests([-2, -1, 0, 1, 2], [-8.1, -3.9, 0.1, 4.1, 7.9], lever=0.25)
        >>> round(tests.gain, 3), tests.offset_is_zero
        (1.0, True)
    """
    V, F = array(voltages, "voltages", ndim=1), array(forces, "forces", ndim=1)
    require(len(V) == len(F), f"there are {len(V)} voltages but {len(F)} forces: give one force for each voltage")
    require(bool(np.isfinite(V).all() and np.isfinite(F).all()), "voltages and forces must be finite; leave tests out")
    require(len(V) >= _FEWEST, f"a gain with its σ needs at least {_FEWEST} tests, but there are {len(V)}")
    require(len(np.unique(V)) > 1, "all tests have the same voltage: apply different ones")
    require(0 < lever < np.inf, f"the lever is a length in m, positive, but it is {lever}")
    fine = resolution is None or 0 < resolution < np.inf
    require(fine, f"the resolution is a force in N, positive, but it is {resolution}")
    unknowns = Unknowns(("gain", "offset"), ("N·m/V", "N·m"))
    W, torque = np.column_stack([V, np.ones_like(V)]), lever * F
    problem = LinearProblem(W, torque, unknowns, Gaussian())
    fit = estimate(problem, LeastSquares())
    hull = None
    if resolution is not None:
        product = Interval(lever) * F  # what rounding makes of torques and bound is added to the bound
        bound = (Interval(lever) * resolution + product.rad).upper
        bounded = LinearProblem(W, product.mid, unknowns, Bounded(bound))
        hull = estimate(bounded, LinearHull(), strict=False)
    assert isinstance(fit.region, ConfidenceEllipsoid)
    interval = fit.region.interval()
    deviation, p = _curvature(V, torque)
    return GainEstimate(
        fit=fit,
        hull=hull,
        n_tests=len(V),
        nonlinearity=deviation,
        nonlinearity_p=p,
        offset_is_zero=bool(interval.lower[1] <= 0 <= interval.upper[1]),
    )


def _curvature(V: Array, torque: Array) -> tuple[float, float]:
    """Largest deviation of a cubic from the line, over the largest |torque|, and the probability of Fisher's F.

    NaN and 1 where there are too few different voltages for a cubic.
    """
    n, distinct = len(V), len(np.unique(V))
    degree = min(distinct - 1, _CUBIC - 1)
    if degree < 2 or n <= degree + 1:
        return np.nan, 1.0
    x = V / abs(V).max()
    fits = {d: np.vander(x, d + 1) @ np.linalg.lstsq(np.vander(x, d + 1), torque, rcond=None)[0] for d in (1, degree)}
    line, curve = (float(((torque - fits[d]) ** 2).sum()) for d in (1, degree))
    size = float(abs(torque).max()) or 1.0
    deviation = float(abs(fits[degree] - fits[1]).max()) / size
    spare = n - degree - 1
    if curve <= spare * (1e-14 * size) ** 2:  # nothing but rounding is left of either
        return deviation, 0.0 if deviation > 1e-10 else 1.0
    F = (line - curve) / (degree - 1) / (curve / spare)
    return deviation, float(fisher.above(degree - 1, spare, max(F, 0.0)))
