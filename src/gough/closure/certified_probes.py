"""Does a delta's model explain all probed heights? Quadratic equations with interval data, and a certified bracket."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from gough.checker.height_equations import height_space, names_of
from gough.checker.linear import NotProven
from gough.checker.raw_numbers import Scaled
from gough.checker.raw_printer import ExactPrinter
from gough.closure.chain_problem import absorbed, joined
from gough.core import intervals as iv
from gough.core.arrays import Array, ArrayValue, Integers
from gough.core.errors import InputError, require
from gough.core.floating import require_ieee
from gough.core.intervals import Interval
from gough.core.rational import round_down
from gough.data import KlipperDelta
from gough.estimates import LiftedStats, Status
from gough.evidence import LiftedStage
from gough.geometry.printers import printer
from gough.methods.nonlinear.lifted import LiftedHull
from gough.methods.nonlinear.lifted_program import Relaxation
from gough.region import Box
from gough.robots import LinearDelta, assembly_modes
from gough.unknowns import Unknowns

_STEPS = 12
"""Largest number of steps of an attempt at a proof."""


@dataclass(frozen=True, eq=False)
class ProbedHeights(ArrayValue):
    """|(x_k, y_k, z_k + reading) − tower_i| = arm_i at every probed point k, with z_k known to ± `tolerance`.

    Unknown are the towers' places with their carriages' height at reading zero, and where each point was: nobody
    measured x_k and y_k. All towers are equally far from the middle, and tower c stands at its configured angle, as
    in Klipper's model; the arms are as configured.

    Examples:
        >>> delta, none = LinearDelta(), np.zeros(0)
        >>> p = np.column_stack([0.1 * np.cos(np.arange(8)), 0.1 * np.sin(np.arange(8)), np.zeros(8)])
        >>> readings = delta.inverse(delta.nominal, p)
        >>> probes = KlipperDelta(0.16, delta.angle, delta.arm, delta.endstop, p[:, 2], readings, none, none)
        >>> problem = ProbedHeights(probes, delta.nominal, 1e-3, 1e-5)
        >>> problem.n_rows, len(problem.unknowns), len(problem.products)
        (27, 33, 105)
    """

    probes: KlipperDelta
    parameters: Array
    """Parameters of the LinearDelta at the center of the prior."""
    around: float
    """m: half the width of the prior, of the towers' unknowns; points are sought wherever these towers allow."""
    tolerance: float
    """m, of a height."""

    def __post_init__(self) -> None:
        require(self.tolerance >= 0 and self.around > 0, "tolerances must not be negative, priors not empty")

    @cached_property
    def _model(self) -> LinearDelta:
        return printer(self.probes)

    @cached_property
    def unknowns(self) -> Unknowns:
        """Towers, then points."""
        endstop, radius, angle, arm = np.split(self.parameters, [3, 4, 7])
        top = endstop + np.sqrt(arm**2 - radius**2)
        towers = np.stack([radius * np.cos(angle), radius * np.sin(angle), top], axis=1)
        prior = Box.around(towers.reshape(-1), self.around)
        try:
            box = height_space(self.exact, self.tolerance, prior.lower.tolist(), prior.upper.tolist()).prior()
        except NotProven as error:
            raise InputError(
                f"a printer within ± {1e3 * self.around:g} mm of its calibration may have probed anywhere: state a "
                "smaller `around`"
            ) from error
        lower, upper = (np.array([_rounded_down(sign * x) for x in side]) for sign, side in ((1, box[0]), (-1, box[1])))
        names = names_of(len(self.probes.heights))
        return Unknowns(names, ("m",) * len(names), prior=Box(lower, -upper))

    @cached_property
    def exact(self) -> ExactPrinter:
        """Arms, the angle of tower c, heights and readings, each the very double that it is."""
        probes = self.probes
        return ExactPrinter(
            tuple(map(Fraction, probes.arm.tolist())),
            Scaled(Fraction(float(probes.angle[2]))),
            tuple(map(Fraction, probes.heights.tolist())),
            tuple(tuple(map(Fraction, row)) for row in probes.height_readings.tolist()),
        )

    @property
    def n_rows(self) -> int:
        """Three spheres a point, then the three conditions of the towers."""
        return 3 * len(self.probes.heights) + 3

    @cached_property
    def _places(self) -> tuple[Integers, Integers]:
        """Columns of each sphere's tower and of its point (S, 3)."""
        sphere = np.arange(3 * len(self.probes.heights))[:, None]
        return 3 * (sphere % 3) + np.arange(3), 9 + 3 * (sphere // 3) + np.arange(3)

    @cached_property
    def products(self) -> tuple[tuple[int, int], ...]:
        """Squares, and tower by point, axis by axis."""
        tower, point = self._places
        squares = tuple((j, j) for j in range(len(self.unknowns)))
        return (*squares, *zip(tower.reshape(-1).tolist(), point.reshape(-1).tolist(), strict=True))

    @cached_property
    def _quadratic(self) -> Array:
        """Coefficients of the products in all equations, which are whole numbers."""
        n, (tower, point) = len(self.unknowns), self._places
        S = len(tower)
        Q, rows = np.zeros((S + 3, len(self.products))), np.arange(S)[:, None]
        Q[rows, tower] = Q[rows, point] = 1.0
        Q[rows, n + 3 * rows + np.arange(3)] = -2.0
        for row, first in ((S, 0), (S + 1, 3)):
            Q[row, [first, first + 1]], Q[row, [first + 3, first + 4]] = 1.0, -1.0
        return Q

    def relaxation(self, center: Array, radius: Array) -> Relaxation:
        """Two rows an equation: with h = x − center each is exactly linear in h and its products."""
        f, slope = self._around(center)
        F = iv.rearrange(lambda end: np.hstack([end, self._quadratic]), slope)
        A, b = joined(F, -F, axis=0), joined(-f, f)
        first, second = np.array(self.products).T
        most = np.concatenate([radius, (Interval(radius[first]) * radius[second]).upper])
        return absorbed(A, b, most)

    def _around(self, center: Array) -> tuple[Interval, Interval]:
        """Values of all equations at a center, and their derivatives (rows, n)."""
        tower, point = self._places
        C, n, arm = Interval(center), len(center), self._model.nominal[7:]
        reading = np.zeros(tower.shape)
        reading[:, 2] = self.probes.height_readings.reshape(-1)
        d = C[point] + reading - center[tower]
        angle = Interval(self._model.nominal[6])
        c, s = iv.cos(angle), iv.sin(angle)
        far = [iv.sqr(C[3 * i]) + iv.sqr(C[3 * i + 1]) for i in range(3)]
        spheres = iv.sum(iv.sqr(d)) - iv.sqr(Interval(np.tile(arm, len(tower) // 3)))
        turned = s * center[6] - c * center[7]
        f = iv.rearrange(lambda *ends: np.append(ends[0], ends[1:]), spheres, far[0] - far[1], far[1] - far[2], turned)

        def placed(across: Array, minus: Array, cosine: Array, sine: Array) -> Array:
            J, rows = np.zeros((len(tower) + 3, n)), np.arange(len(tower))[:, None]
            J[rows, point], J[rows, tower] = across, minus
            for row, one in ((len(tower), 0), (len(tower) + 1, 3)):
                J[row, one : one + 2], J[row, one + 3 : one + 5] = (
                    2 * center[one : one + 2],
                    -2 * center[one + 3 : one + 5],
                )
            J[-1, 6], J[-1, 7] = sine, cosine
            return J

        return f, iv.rearrange(placed, 2 * d, -2 * d, -c, s)


@dataclass(frozen=True)
class HeightTolerance:
    """The smallest ε, in m, with which some geometry of the prior explains every height: lower ≤ ε ≤ upper."""

    lower: float
    """With less none does: proven."""
    upper: float
    """With this much `parameters` do: proven, their heights are enclosed."""
    parameters: Array
    """Parameters of the LinearDelta that fits."""
    stages: tuple[LiftedStage, ...] = ()
    """Boxes that prove the lower end; none where it is 0."""


@np.errstate(all="ignore")
def height_tolerance(problem: ProbedHeights, *, width: float = 2e-7) -> HeightTolerance:
    """The bracket, from parameters that explain the heights well: usually the calibrated ones.

    The upper end is improved by a Chebyshev fit around them; the lower end rises as long as emptiness is proven, to
    within `width` (m). The problem's own tolerance counts for nothing.

    Examples:
        >>> delta, none = LinearDelta(), np.zeros(0)
        >>> p = np.column_stack([0.1 * np.cos(np.arange(8)), 0.1 * np.sin(np.arange(8)), np.zeros(8)])
        >>> met = p[:, 2] + 1e-4 * np.array([1, -1, 0, 0, 1, 0, 0, 0])
        >>> readings = delta.inverse(delta.nominal, p)
        >>> probes = KlipperDelta(0.16, delta.angle, delta.arm, delta.endstop, met, readings, none, none)
        >>> tolerance = height_tolerance(ProbedHeights(probes, delta.nominal, 2e-3, 0.0), width=1e-3)  # upper end only
        >>> tolerance.lower <= tolerance.upper < 1.001e-4
        True
    """
    require_ieee("the smallest tolerance")
    probes, theta = problem.probes, problem.parameters
    upper = _explains(probes, theta)
    for _ in range(20):
        moved = _fitted(probes, theta)
        there = _explains(probes, moved)
        if not there < upper - 1e-12:
            break
        theta, upper = moved, there
    lower, top, stages = 0.0, upper, tuple[LiftedStage, ...]()
    while top - lower > width:
        middle = (lower + top) / 2
        answer = LiftedHull(max_steps=_STEPS).estimate(replace(problem, tolerance=middle))
        if answer.status is Status.INCONSISTENT:
            assert isinstance(answer.stats, LiftedStats)
            lower, stages = middle, answer.stats.stages
        else:
            top = middle
    return HeightTolerance(lower, upper, theta, stages)


def _rounded_down(x: Fraction) -> float:
    below = round_down(x)
    assert below is not None
    return below


def _explains(probes: KlipperDelta, parameters: Array) -> float:
    """An ε with which this geometry certainly explains all heights: each nozzle's place is enclosed."""
    model = printer(probes)
    modes = assembly_modes(model, parameters, probes.height_readings)
    chosen = modes.belonging(model.forward(parameters, probes.height_readings))
    require(bool(modes.is_proven[chosen.mode].all()), "a probed point lies at a singularity of the printer")
    z = Interval.centered(modes.poses.position[chosen.mode, 2], modes.error[chosen.mode])
    return float(abs(z - probes.heights).upper.max())


def _fitted(probes: KlipperDelta, parameters: Array) -> Array:
    """The parameters that to first order make the largest miss smallest."""
    from scipy.optimize import linprog  # noqa: PLC0415 - start-up time

    kernel = printer(probes).position_kernel()
    f = kernel(parameters, probes.height_readings)[:, 2] - probes.heights
    J = kernel.jacobian("x")(parameters, probes.height_readings)[:, 2, :6]
    scale, ones = float(abs(f).max()) or 1.0, np.ones((len(f), 1))
    rows = np.vstack([np.hstack([J, -ones]), np.hstack([-J, -ones])])
    bounds = [*[(None, None)] * 6, (0, None)]
    program = linprog(np.append(np.zeros(6), 1.0), rows, np.concatenate([-f, f]) / scale, bounds=bounds)
    return parameters if program.x is None else parameters + scale * np.append(program.x[:-1], np.zeros(4))
