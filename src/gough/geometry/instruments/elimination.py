"""Poses eliminated group by group: what is left is a triangle in the other unknowns, whatever the number of poses.

The Jacobian of all residuals has an arrow's shape: the rows of a pose hold its own d columns and those of the common
unknowns. Householder reflections that make the d columns triangular leave rows without them [BJO96, §6.3]; these are
gathered in one triangle, block by block. Nothing is squared, so that its rank is that of the whole Jacobian, and memory
is that of one block. Distances between two poses tie these together: a group is eliminated at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.errors import InputError
from gough.geometry.instruments.equations import Equations, Linearized, Rows
from gough.geometry.instruments.measurements import Numbers

_BLOCK = 1 << 18
"""Numbers in the Jacobian of a block of groups: it fits into a processor's cache."""
_GATHERED = 1 << 21
"""Numbers in the rows that are gathered before they are put into the triangle."""
_LARGEST = 200
"""Poses that distances may tie together."""
_FLAT = 1e-11
"""A pose is not determined if a column of its triangle is smaller than this share of the column."""


class Batch(NamedTuple):
    """Groups of poses that are alike: the same number of poses, measured by the same instruments."""

    poses: Numbers
    """(groups, size)."""
    rows: tuple[tuple[int, Numbers], ...]
    """Instruments, and their rows at these poses (groups, size), −1 where one did not measure."""
    pairs: tuple[tuple[int, Numbers, Numbers, Numbers], ...]
    """Instruments, rows (groups, k) of distances between poses, and the places of both poses in the group."""


class Reduced(NamedTuple):
    """The problem without its poses."""

    triangle: Array
    """(P, P) upper triangular, of the free unknowns."""
    rest: Array
    """(P,): the residuals in the rows of the triangle."""
    pose_part: float
    """Sum of squares of the residuals that the poses alone remove."""


@dataclass(frozen=True, eq=False)
class Elimination(ArrayValue):
    """How the poses of a calibration are eliminated."""

    equations: Equations

    @property
    def n_freedoms(self) -> int:
        """Freedoms of a pose."""
        return len(self.equations.model.freedoms)

    @cached_property
    def batches(self) -> tuple[Batch, ...]:
        """All groups of poses, alike ones together."""
        return tuple(_batches(self.equations))

    def reduced(self, linearized: Linearized) -> Reduced:
        """The triangle of the common unknowns."""
        free = self.equations.layout.free
        P, d = len(free), self.n_freedoms
        prior = self.equations.prior[free]
        known = np.flatnonzero(prior)
        rows = np.zeros((len(known), P + 1))
        rows[np.arange(len(known)), known] = prior[known]
        rows[:, P] = linearized.prior[free][known]
        gathered, count = [rows], rows.size
        total = 0.0
        for batch in self.batches:
            size = d * batch.poses.shape[1]
            for part in self._parts(batch, P):
                A = self._assembled(part, linearized)
                reflect(A, size)
                total += float((A[:size, -1] ** 2).sum())
                gathered.append(np.moveaxis(A[size:, size:], 2, 0).reshape(-1, P + 1))
                count += gathered[-1].size
                if count > _GATHERED:
                    gathered, count = [_triangle(gathered, P)], (P + 1) ** 2
        R = _triangle(gathered, P)
        return Reduced(R[:P, :P], R[:P, P], total)

    def pose_steps(self, linearized: Linearized, step: Array) -> Array:
        """(N, d): the steps of all poses that go with a step of the free unknowns."""
        return self._pose_steps(linearized, step[:, None], residuals=True)[..., 0]

    def pose_motions(self, linearized: Linearized, directions: Array) -> Array:
        """(N, d, k): motions of all poses that change the residuals least as the free unknowns move (P, k)."""
        return self._pose_steps(linearized, directions, residuals=False)

    def _pose_steps(self, linearized: Linearized, steps: Array, *, residuals: bool) -> Array:
        d, k = self.n_freedoms, steps.shape[1]
        found = np.zeros((len(self.equations.measurements), d, k))
        whole = np.zeros((len(self.equations.layout.names), k))
        whole[self.equations.layout.free] = steps
        for batch in self.batches:
            size = d * batch.poses.shape[1]
            for part in self._parts(batch, k):
                A = self._assembled(part, linearized, whole, residuals=residuals)
                reflect(A, size)
                x = -_back_substituted(A[:size, :size], A[:size, size:])
                found[part.poses] = np.moveaxis(x, 2, 0).reshape(*part.poses.shape, d, k)
        return found

    def require_determined(self, linearized: Linearized) -> None:
        """Raise InputError for a pose that neither its readings nor the instruments determine."""
        d = self.n_freedoms
        for batch in self.batches:
            size = d * batch.poses.shape[1]
            for part in self._parts(batch, 0):
                A = self._assembled(part, linearized, np.zeros((len(self.equations.layout.names), 1)))
                columns = np.sqrt((A[:, :size] ** 2).sum(axis=0))
                reflect(A, size)
                flat = abs(A[np.arange(size), np.arange(size)]) <= _FLAT * columns
                if flat.any():
                    bad = part.poses[int(flat.any(axis=0).argmax()), 0]
                    label = self.equations.measurements.label(int(bad))
                    raise InputError(
                        f"pose {label}: its readings and measurements do not determine the {d} freedoms of the "
                        f"{self.equations.model.name}: leave the pose out, or add what is missing"
                    )

    def blocks(self, linearized: Linearized) -> Iterator[tuple[Batch, Array]]:
        """All groups of poses in blocks, and (rows, columns, groups): derivatives by poses and unknowns, residuals."""
        for batch in self.batches:
            for part in self._parts(batch, len(self.equations.layout.free)):
                yield part, self._assembled(part, linearized)

    def sources(self, batch: Batch) -> Numbers:
        """(rows, 2): the instrument of each row of a block, −1 for the readings, and its channel."""
        data = self.equations.measurements
        own = [(-1, chain) for chain in range(data.readings.shape[1])]
        own += [(i, channel) for i, _ in batch.rows for channel in range(len(data.instruments[i].channels))]
        ties = [(i, 0) for i, rows, _, _ in batch.pairs for _ in range(rows.shape[1])]
        return np.array(own * batch.poses.shape[1] + ties, dtype=np.int64).reshape(-1, 2)

    def _parts(self, batch: Batch, P: int) -> Iterator[Batch]:
        """A batch in blocks of bounded size."""
        groups, size = batch.poses.shape
        rows = len(self.sources(batch))
        each = max(1, _BLOCK // (rows * (self.n_freedoms * size + P + 1)))
        for begin in range(0, groups, each):
            part = slice(begin, begin + each)
            yield Batch(
                batch.poses[part],
                tuple((i, rows[part]) for i, rows in batch.rows),
                tuple((i, rows[part], first[part], second[part]) for i, rows, first, second in batch.pairs),
            )

    def _assembled(
        self, batch: Batch, linearized: Linearized, steps: Array | None = None, *, residuals: bool = True
    ) -> Array:
        """(rows, columns, groups): derivatives by the poses, by the free unknowns, and residuals.

        With steps of all unknowns (…, k) there are k columns instead: what the residuals are after each step, or their
        changes alone.
        """
        equations, d = self.equations, self.n_freedoms
        data = equations.measurements
        groups, size = batch.poses.shape
        wide = len(equations.layout.free) + 2 if steps is None else steps.shape[1]
        widths = [len(data.instruments[i].channels) for i, _ in batch.rows]
        n = data.readings.shape[1]
        height = size * (n + sum(widths)) + sum(rows.shape[1] for _, rows, _, _ in batch.pairs)
        A = np.zeros((height, d * size + wide, groups))
        last = slice(A.shape[1] - 1, None) if steps is None else slice(d * size, None)
        chains, row = linearized.readings, 0
        for place in range(size):
            poses, own = batch.poses[:, place], slice(d * place, d * place + d)
            A[row : row + n, own] = np.moveaxis(chains.by_pose[poses], 0, 2)
            A[row : row + n, last] = chains.residual[poses].T[:, None] * residuals
            for chain, columns in enumerate(equations.chain_columns):
                self._enter(A[row + chain : row + chain + 1], columns, chains.by_x[poses, chain][:, None], steps)
            if linearized.whitening is not None:
                A[row : row + n] = np.tensordot(linearized.whitening, A[row : row + n], axes=1)
            row += n
            for (i, rows), m in zip(batch.rows, widths, strict=True):
                there = np.flatnonzero(rows[:, place] >= 0)
                block, these = linearized.instruments[i], rows[there, place]
                is_whole = len(there) == groups
                part = A[row : row + m] if is_whole else np.zeros((m, A.shape[1], len(there)))
                part[:, own] = np.moveaxis(block.by_pose[these], 0, 2)
                part[:, last] = block.residual[these].T[:, None] * residuals
                self._enter_sessions(part, i, block, these, steps)
                if not is_whole:
                    A[row : row + m, :, there] = part
                row += m
        for i, rows, first, second in batch.pairs:
            block, ends = linearized.instruments[i], (first, second)
            for k, these in enumerate(rows.T):
                A[row, last] = block.residual[these, 0] * residuals
                self._enter_sessions(A[row : row + 1], i, block, these, steps)
                for own_place, by in zip(ends, (block.by_pose, block.by_other), strict=True):
                    assert by is not None
                    A[row, d * own_place[:, k] + np.arange(d)[:, None], np.arange(groups)] = by[these, 0].T
                row += 1
        if steps is not None:
            return A
        A[:, -2] = A[:, -1]  # the column before the last took what belongs to fixed unknowns
        return A[:, :-1]

    @cached_property
    def _places(self) -> Numbers:
        """(unknowns): columns of the free unknowns; fixed ones share the one behind them."""
        layout = self.equations.layout
        places = np.full(len(layout.names), len(layout.free))
        places[layout.free] = np.arange(len(layout.free))
        return places

    def _enter_sessions(self, A: Array, i: int, block: Rows, rows: Numbers, steps: Array | None) -> None:
        """Derivatives of an instrument's rows (m, columns, groups) by the unknowns of each row's session."""
        columns, session = self.equations.columns[i], self.equations.row_sessions[i][rows]
        if len(columns) == 1:
            self._enter(A, columns[0], block.by_x[rows], steps)
            return
        for s in np.unique(session):
            these = np.flatnonzero(session == s)
            part = A[:, :, these]
            self._enter(part, columns[s], block.by_x[rows[these]], steps)
            A[:, :, these] = part

    def _enter(self, A: Array, columns: Numbers, by_x: Array, steps: Array | None) -> None:
        """Derivatives (groups, m, k) by some unknowns, or their products with steps, in rows (m, columns, groups)."""
        if steps is None:
            first = A.shape[1] - len(self.equations.layout.free) - 2
            A[:, first + self._places[columns]] = np.moveaxis(by_x, 0, 2)
        else:
            A[:, A.shape[1] - steps.shape[1] :] += np.moveaxis(by_x @ steps[columns], 0, 2)


def reflect(A: Array, columns: int) -> None:
    """Make the first columns of matrices (rows, columns, many) upper triangular, in place, by reflections."""
    for k in range(min(columns, len(A) - 1)):
        x = A[k:, k]
        size = np.sqrt((x * x).sum(axis=0))
        v = x.copy()
        v[0] += np.where(x[0] < 0, -size, size)
        norm = (v * v).sum(axis=0)
        v *= np.sqrt(2 / np.where(norm > 0, norm, np.inf))
        rest = A[k:, k:]
        rest -= v[:, None] * (v[:, None] * rest).sum(axis=0)


def _back_substituted(R: Array, b: Array) -> Array:
    """Solutions (n, k, many) of triangular systems (n, n, many) x = b (n, k, many); zero along flat directions."""
    x = np.zeros_like(b)
    for k in range(len(R) - 1, -1, -1):
        pivot = R[k, k]
        rest = b[k] - (R[k, k + 1 :, None] * x[k + 1 :]).sum(axis=0)
        x[k] = np.divide(rest, pivot, out=np.zeros_like(rest), where=pivot != 0)
    return x


def _triangle(gathered: list[Array], P: int) -> Array:
    """The triangle of gathered rows, at least P + 1 of them."""
    rows = np.concatenate(gathered)
    if len(rows) < P + 1:
        rows = np.vstack([rows, np.zeros((P + 1 - len(rows), P + 1))])
    if not np.isfinite(rows).all():
        return np.full((P + 1, P + 1), np.nan)
    return np.asarray(np.linalg.qr(rows, mode="r"))


def _batches(equations: Equations) -> Iterator[Batch]:
    measurements = equations.measurements
    N = len(measurements)
    singles, ties = _single_and_tying(equations)
    row_of = np.full((N, len(singles)), -1)
    for place, i in enumerate(singles):
        row_of[equations.first_poses[i], place] = np.arange(len(equations.first_poses[i]))
    group = _groups(N, [measurements.instruments[i].pairs[equations.measured_rows[i]] for i in ties])  # type: ignore[index]
    _, group, sizes = np.unique(group, return_inverse=True, return_counts=True)
    alone = np.flatnonzero(sizes[group] == 1)
    patterns, which = np.unique(row_of[alone] >= 0, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        poses = alone[which.reshape(-1) == k][:, None]
        yield Batch(
            poses,
            tuple((i, row_of[poses[:, 0], place][:, None]) for place, i in enumerate(singles) if pattern[place]),
            (),
        )
    yield from _tied(equations, group, sizes, row_of)


def _single_and_tying(equations: Equations) -> tuple[list[int], list[int]]:
    """Numbers of the instruments that measure single poses, and of those that relate two."""
    every = enumerate(equations.measurements.instruments)
    ties = [i for i, one in every if one.pairs is not None]
    return [i for i in range(len(equations.measurements.instruments)) if i not in ties], ties


def _groups(N: int, pairs: list[Numbers]) -> Numbers:
    """(N,): poses with the same number are tied together by distances."""
    if not pairs or not sum(map(len, pairs)):
        return np.arange(N)
    from scipy.sparse import coo_array  # noqa: PLC0415 - start-up time
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 - start-up time

    ends = np.concatenate(pairs)
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(N, N))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _tied(equations: Equations, group: Numbers, sizes: Numbers, row_of: Numbers) -> Iterator[Batch]:
    """Groups of poses with distances between them, those with as many poses and distances together.

    A pose of a group that an instrument did not measure has the row −1 of it.
    """
    singles, ties = _single_and_tying(equations)
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(sizes)
    place_in = np.empty(len(group), dtype=np.int64)
    place_in[order] = np.arange(len(group)) - np.repeat(ends - sizes, sizes)
    largest = int(sizes.max())
    if largest > _LARGEST:
        first = order[ends[int(sizes.argmax())] - largest]
        raise InputError(
            f"distances tie {largest} poses together, the first is pose {equations.measurements.label(int(first))}: at "
            f"most {_LARGEST} can be eliminated at once; measure distances within smaller sets of poses"
        )
    counts = np.zeros((len(sizes), len(ties)), dtype=np.int64)
    rows_in: list[tuple[Numbers, Numbers]] = []
    for k, i in enumerate(ties):
        of = group[equations.first_poses[i]]
        counts[:, k] = np.bincount(of, minlength=len(sizes))
        rows_in.append((np.argsort(of, kind="stable"), np.cumsum(counts[:, k])))
    several = np.flatnonzero(sizes > 1)
    shapes, which = np.unique(np.column_stack([sizes, counts])[several], axis=0, return_inverse=True)
    for number, (size, *n_ties) in enumerate(shapes.tolist()):
        these = several[which.reshape(-1) == number]
        poses = order[(ends[these] - size)[:, None] + np.arange(size)]
        rows = tuple((i, row_of[poses, place]) for place, i in enumerate(singles) if (row_of[poses, place] >= 0).any())
        pairs = []
        for (i, count), (sorted_rows, last) in zip(zip(ties, n_ties, strict=True), rows_in, strict=True):
            own = sorted_rows[(last[these] - count)[:, None] + np.arange(count)]
            all_pairs = equations.measurements.instruments[i].pairs
            assert all_pairs is not None
            ends_of = place_in[all_pairs[equations.measured_rows[i]][own]]
            pairs.append((i, own, ends_of[..., 0], ends_of[..., 1]))
        yield Batch(poses, rows, tuple(pairs))
