"""Several chains of one robot, whose poses were measured once: the errors of a pose are the same for all of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gough.closure.chain_problem import ChainProblem
from gough.core.arrays import Array, ArrayValue
from gough.core.errors import require
from gough.methods.nonlinear.lifted_program import envelopes, product_box
from gough.methods.programs.sparse_program import Indices, SparseRows
from gough.region import Box
from gough.unknowns import Unknowns


@dataclass(frozen=True, eq=False)
class JointProblem(ArrayValue):
    """The problems of several chains with the shared errors of each pose in common: which chains are consistent?

    Examples:
        >>> from gough.checker.leg_equations import LegMeasurements
        >>> from gough.closure.certified_leg import LegProblem
        >>> data = LegMeasurements([[1, 0, 0, 0]], [[0, 0, 0.4]], [0.1], 1e-4, 1e-4, 1e-5)
        >>> problem = JointProblem(tuple(LegProblem(data, Box.around(np.zeros(7), 1.0), leg) for leg in (1, 2)))
        >>> problem.n_rows, problem.unknowns.names[7]
        (2, 'a2x')
    """

    parts: tuple[ChainProblem, ...]
    """The problem of each chain alone."""

    def __post_init__(self) -> None:
        require(len(self.parts) > 0, "a joint problem has at least one chain")
        require(len(set(self.chains)) == len(self.parts), "a chain is there more than once")
        same = all(np.array_equal(_shared(part), self.tolerance) for part in self.parts)
        require(same, "chains share the errors of their poses: poses and tolerances must be the same for all of them")

    @property
    def chains(self) -> tuple[int, ...]:
        """Numbers of the chains, from 1."""
        return tuple(part.chain for part in self.parts)

    @cached_property
    def tolerance(self) -> Array:
        """Tolerances (N, S) of the shared errors."""
        return _shared(self.parts[0])

    @cached_property
    def prior(self) -> Box:
        """Bounds of the unknowns, chain after chain."""
        priors = [part.prior for part in self.parts]
        return Box(np.concatenate([box.lower for box in priors]), np.concatenate([box.upper for box in priors]))

    @cached_property
    def unknowns(self) -> Unknowns:
        """Unknowns of all chains, one after the other."""
        names = [name for part in self.parts for name in part.unknowns.names]
        return Unknowns(tuple(names), ("m",) * len(names), prior=self.prior)

    @property
    def n_poses(self) -> int:
        """Number of poses."""
        return len(self.tolerance)

    @property
    def n_rows(self) -> int:
        """Number of equations of all chains."""
        return sum(part.n_rows for part in self.parts)

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """Where each chain's unknowns are."""
        ends = np.cumsum([0, *(len(part.prior) for part in self.parts)]).tolist()
        return tuple(slice(*pair) for pair in pairwise(ends))

    @cached_property
    def first_columns(self) -> list[int]:
        """The first column of each chain in the relaxation, then that of the shared errors."""
        return np.cumsum([0, *(len(part.prior) + len(part.products) for part in self.parts)]).tolist()

    def __iter__(self) -> Iterator[tuple[ChainProblem, slice]]:
        """Each chain's problem, and where its unknowns are."""
        return zip(self.parts, self.places, strict=True)

    def column(self, axis: int) -> int:
        """The column of an unknown in the relaxation."""
        part = next(i for i, place in enumerate(self.places) if axis < place.stop)
        return self.first_columns[part] + axis - self.places[part].start

    def widened(self, by: Any) -> "JointProblem":
        """The problem with every reading uncertain by so much more."""
        return JointProblem(tuple(part.widened(by) for part in self.parts))

    def select(self, poses: Any) -> "JointProblem":
        """The problem with some poses only."""
        return JointProblem(tuple(part.select(poses) for part in self.parts))

    def relaxation(self, center: Array, radius: Array) -> "JointRelaxation":
        """Inequalities for all consistent chains of a box, linear in h, its products, and the errors of poses."""
        n, S = self.tolerance.shape
        blocks, sides, boxes = list[tuple[Array, Indices]](), [], []
        for (part, place), first in zip(self, self.first_columns[:-1], strict=True):
            rows = part.shared_relaxation(center[place], radius[place])
            hulls = envelopes(part.products, radius[place])
            columns = (first + np.arange(hulls.A.shape[1])).astype(np.int32)
            pose = np.minimum(np.arange(part.n_rows), n - 1)  # conditions have zeros for the errors
            errors = (self.first_columns[-1] + S * pose[:, None] + np.arange(S)).astype(np.int32)
            where = np.hstack([np.broadcast_to(columns, (2 * part.n_rows, len(columns))), np.vstack([errors, errors])])
            blocks += [(rows.A, where), (hulls.A, np.broadcast_to(columns, hulls.A.shape))]
            sides += [rows.b, hulls.b]
            boxes.append(product_box(part.products, radius[place]))
        most = self.tolerance.reshape(-1)
        lower = np.concatenate([*(box.lower for box in boxes), -most])
        upper = np.concatenate([*(box.upper for box in boxes), most])
        return JointRelaxation(SparseRows.of(blocks), np.concatenate(sides), Box(lower, upper))

    def poses(self, rows: Any) -> tuple[int, ...]:
        """The poses to which rows of the relaxation belong."""
        ends = np.cumsum([0, *(2 * part.n_rows + 4 * len(part.products) for part in self.parts)])
        block = np.searchsorted(ends, np.asarray(rows, dtype=np.int64), side="right") - 1
        equations = np.array([part.n_rows for part in self.parts])[block]
        own = np.asarray(rows, dtype=np.int64) - ends[block]
        pose = (own % equations)[own < 2 * equations]
        return tuple(sorted(set(pose[pose < self.n_poses].tolist())))


class JointRelaxation(NamedTuple):
    """A y ≤ b for y = [h and its products, chain by chain; shared errors, pose by pose] in a box.

    Rows chain by chain: two for each equation, then the envelopes of the chain's products.
    """

    A: SparseRows
    b: Array
    box: Box


def _shared(part: ChainProblem) -> Array:
    return part.tolerance[:, part.shared]
