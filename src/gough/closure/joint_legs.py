"""Several legs of one platform, whose poses were measured once: the errors of a pose are the same for all of them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gough.checker.leg_equations import PlatformMeasurements
from gough.closure.certified_leg import LegProblem
from gough.core.arrays import Array, ArrayValue
from gough.core.errors import require
from gough.methods.nonlinear.lifted_program import envelopes, product_box
from gough.methods.programs.sparse_program import Indices, SparseRows
from gough.region import Box
from gough.unknowns import Unknowns

COLUMNS = 23
"""Unknowns of a leg and their products."""
ERRORS = 6
"""Of a pose: δ and ω."""


@dataclass(frozen=True, eq=False)
class JointProblem(ArrayValue):
    """|exp(ω_k) R_k b_i + p_k + δ_k − a_i| = l_i + reading_ik + η_ik with δ_k, ω_k shared: which legs are consistent?

    Examples:
        >>> data = PlatformMeasurements([[1, 0, 0, 0]], [[0, 0, 0.4]], [[0.1, 0.1]], 1e-4, 1e-4, 1e-5)
        >>> problem = JointProblem(data, Box.around(np.zeros(14), 1.0), (1, 2))
        >>> problem.n_rows, problem.unknowns.names[7]
        (2, 'a2x')
    """

    data: PlatformMeasurements
    prior: Box
    """Bounds of a, b, l of leg after leg, m."""
    legs: tuple[int, ...]
    """Numbers of the legs, from 1, in the order of the readings."""

    def __post_init__(self) -> None:
        n = len(self.legs)
        require(n == self.data.n_legs, f"there are readings of {self.data.n_legs} legs, but {n} numbers of legs")
        require(len(self.prior) == 7 * n, f"{n} legs have {7 * n} unknowns, but the prior has {len(self.prior)} axes")
        require(not self.prior.is_empty, "the prior is empty: no value would be allowed")

    @cached_property
    def parts(self) -> tuple[LegProblem, ...]:
        """The problem of each leg alone."""
        return tuple(
            LegProblem(self.data.leg(i), _part(self.prior, i), leg=number) for i, number in enumerate(self.legs)
        )

    @cached_property
    def unknowns(self) -> Unknowns:
        """a, b and l of leg after leg."""
        names = [name for part in self.parts for name in part.unknowns.names]
        return Unknowns(tuple(names), ("m",) * len(names), prior=self.prior)

    @property
    def n_rows(self) -> int:
        """Equations: poses times legs."""
        return len(self.data) * len(self.legs)

    def widened(self, by: float) -> "JointProblem":
        """The problem with every reading uncertain by so much more."""
        wider = np.stack([part.data.widened(by).reading_tolerance for part in self.parts], axis=1)
        return replace(self, data=replace(self.data, reading_tolerance=wider))

    def select(self, poses: Any) -> "JointProblem":
        """The problem with some poses only."""
        return replace(self, data=self.data.select(poses))

    def relaxation(self, center: Array, radius: Array) -> "JointRelaxation":
        """Inequalities for all consistent legs of a box, linear in h, its products, and the errors of poses."""
        n, m = len(self.data), len(self.legs)
        blocks, sides, boxes = list[tuple[Array, Indices]](), [], []
        errors = (COLUMNS * m + ERRORS * np.arange(n)[:, None] + np.arange(ERRORS)).astype(np.int32)
        for i, part in enumerate(self.parts):
            own = slice(7 * i, 7 * i + 7)
            columns = (COLUMNS * i + np.arange(COLUMNS)).astype(np.int32)
            rows = part.shared_relaxation(center[own], radius[own])
            hulls = envelopes(part.products, radius[own])
            where = np.hstack([np.broadcast_to(columns, (2 * n, COLUMNS)), np.vstack([errors, errors])])
            blocks += [(rows.A, where), (hulls.A, np.broadcast_to(columns, hulls.A.shape))]
            sides += [rows.b, hulls.b]
            boxes.append(product_box(part.products, radius[own]))
        tolerance = np.hstack([self.data.position_tolerance, self.data.rotation_tolerance]).reshape(-1)
        lower = np.concatenate([*(box.lower for box in boxes), -tolerance])
        upper = np.concatenate([*(box.upper for box in boxes), tolerance])
        return JointRelaxation(SparseRows.of(blocks), np.concatenate(sides), Box(lower, upper))


class JointRelaxation(NamedTuple):
    """A y ≤ b for y = [h and its products, leg by leg; δ and ω, pose by pose] in a box.

    Rows leg by leg: two for each pose, then the envelopes of the leg's products.
    """

    A: SparseRows
    b: Array
    box: Box


def _part(box: Box, i: int) -> Box:
    return Box(box.lower[7 * i : 7 * i + 7], box.upper[7 * i : 7 * i + 7])
