"""A delta printer's probed heights and printed distances become a problem, as Klipper poses it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.errors import require
from gough.data import KlipperDelta
from gough.kernels import Kernel
from gough.noise import Gaussian
from gough.problem import Groups, NonlinearProblem
from gough.region import Box
from gough.robots import LinearDelta
from gough.unknowns import Unknowns

_DISTANCE_WEIGHT = 0.5
"""Klipper gives all probed heights together this share of the weight of all distances, turned over."""
_HEIGHTS_ALONE = ("endstop_a", "endstop_b", "endstop_c", "radius", "angle_a", "angle_b")
_WITH_DISTANCES = (*_HEIGHTS_ALONE, "arm_a", "arm_b", "arm_c")


@dataclass(frozen=True, eq=False)
class ProbeEquations(ArrayValue):
    """Height of the nozzle less the one that was met, and distance of two points less the one that was printed.

    Measured: a height or a distance, then the readings at one point or two (6; the last three are idle for heights).
    """

    position: Kernel
    is_height: Array
    """(N,): 1 for a height, 0 for a distance."""
    weights: Array
    """(N,): each equation is multiplied by it."""

    def residuals(self, theta: Array, measured: Array) -> Array:
        """(N, 1), m."""
        p, q = (self.position(theta, measured[:, k : k + 3]) for k in (1, 4))
        value = np.where(self.is_height > 0, p[:, 2], np.linalg.norm(p - q, axis=1))
        return (self.weights * (value - measured[:, 0]))[:, None]

    def jacobians(self, theta: Array, measured: Array) -> tuple[Array, Array]:
        """By the unknowns (N, 1, 10) and by what was measured (N, 1, 7)."""
        ends = [measured[:, k : k + 3] for k in (1, 4)]
        p, q = (self.position(theta, end) for end in ends)
        by_x = [self.position.jacobian("x")(theta, end) for end in ends]
        by_reading = [self.position.jacobian("readings")(theta, end) for end in ends]
        d = p - q
        u = d / np.maximum(np.linalg.norm(d, axis=1, keepdims=True), 1e-12)
        heights = self.is_height[:, None] > 0
        first = np.where(heights, [0.0, 0.0, 1.0], u)
        second = np.where(heights, 0.0, -u)
        J = sum(np.einsum("ni,nij->nj", a, b) for a, b in zip((first, second), by_x, strict=True))
        parts = [np.einsum("ni,nij->nj", a, b) for a, b in zip((first, second), by_reading, strict=True)]
        J_m = np.hstack([-np.ones((len(measured), 1)), *parts])
        return (self.weights[:, None] * J)[:, None], (self.weights[:, None] * J_m)[:, None]


def printer(probes: KlipperDelta) -> LinearDelta:
    """The printer as it is configured.

    Examples:
        >>> none = np.zeros(0)
        >>> probes = KlipperDelta(0.16, np.zeros(3), np.full(3, 0.3), np.full(3, 0.4), none, none, none, none)
        >>> printer(probes).radius
        0.16
    """
    return LinearDelta(probes.radius, probes.arm, probes.endstop, probes.angle)


def probed(model: LinearDelta, probes: KlipperDelta, *, free: Sequence[str] | None = None) -> NonlinearProblem:
    """The printer's geometry from what DELTA_CALIBRATE has probed, as Klipper poses the problem.

    With heights alone the endstops, the radius and the angles of towers a and b are free; printed distances free the
    arms too, and weigh as Klipper lets them weigh. The angle of tower c stays: it is the frame. The size of the noise
    is not stated, but taken from the residuals.

    Examples:
        >>> delta = LinearDelta()
        >>> xy = 0.1 * np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [0.7, 0.7], [-0.7, 0.7], [0.7, -0.7]])
        >>> readings = delta.inverse(delta.nominal, np.column_stack([xy, np.zeros(8)]))
        >>> none = np.zeros(0)
        >>> probes = KlipperDelta(
        ...     0.16, delta.angle, delta.arm, delta.endstop, np.zeros(8), readings, none, none.reshape(0, 2, 3)
        ... )
        >>> len(probed(delta, probes).unknowns)
        10
    """
    heights, distances = len(probes.heights), len(probes.distances)
    measured = np.zeros((heights + distances, 7))
    measured[:, 0] = np.concatenate([probes.heights, probes.distances])
    measured[:heights, 1:4] = measured[:heights, 4:] = probes.height_readings
    measured[heights:, 1:] = probes.distance_readings.reshape(distances, 6)
    counted = max(heights - probes.manual, 1)
    weight = np.sqrt(distances / (_DISTANCE_WEIGHT * counted)) if distances else 1.0
    is_height = np.repeat([1.0, 0.0], [heights, distances])
    equations = ProbeEquations(model.position_kernel(), is_height, np.where(is_height > 0, weight, 1.0))
    chosen = free if free is not None else (_WITH_DISTANCES if distances else _HEIGHTS_ALONE)
    known = Unknowns(model.names)
    places = [known.index(name) for name in chosen]
    rows = heights + distances
    require(
        rows >= len(places),
        f"{rows} probed points cannot determine {len(places)} dimensions: probe {len(places) + 1} or more",
    )
    lower, upper = model.nominal.copy(), model.nominal.copy()
    lower[places], upper[places] = -np.inf, np.inf
    unknowns = Unknowns(model.names, model.units, model.nominal, Box(lower, upper))
    return NonlinearProblem(equations, measured, unknowns, Gaussian(), Groups(("probe",)))
