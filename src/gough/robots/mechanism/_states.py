"""All coordinates as expressions of the pose: inverse kinematics inside a kernel, so that it can be differentiated.

The closure equations fall into blocks that can be solved one after the other [PF90]. Struts and single joints have
closed forms; any other block takes a fixed number of Newton steps from where the pose leads linearly from home.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gough.core.arrays import Array
from gough.kernels import expression as ex
from gough.kernels import trace
from gough.kernels.elimination import Elimination
from gough.kernels.expression import Expression
from gough.robots.mechanism._closing import closures
from gough.robots.mechanism._motion import columns_of
from gough.robots.mechanism._strut import find_strut
from gough.robots.mechanism.assembly import Assembly
from gough.robots.mechanism.structure import Structure

STEPS = 6
"""Newton steps inside a kernel: each squares the error."""
OPEN = 1e-9
"""Equations that are left open by more, in m or rad, make the kernel's results NaN."""

Block = tuple[tuple[int, ...], tuple[int, ...]]
"""Closure equations, and the coordinates that follow from them."""


@dataclass(frozen=True, eq=False)
class States:
    """The coordinates for a pose."""

    home: Assembly
    C: Array
    """The Jacobian of the closure equations at home."""

    @property
    def by_pose(self) -> Array:
        """∂s/∂x at home (coordinates, pose)."""
        at, rows = self.home.at, list(self.home.rows)
        slopes = np.zeros((at.n, len(at.pose)))
        slopes[list(at.pose)] = np.eye(len(at.pose))
        unknown = list(at.others(at.pose))
        if unknown:
            slopes[unknown] = -np.linalg.solve(self.C[np.ix_(rows, unknown)], self.C[np.ix_(rows, at.pose)])
        return slopes

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """What is solved one after the other."""
        return blocks(self.home.at, self.home.rows, self.home.at.pose)

    @property
    def is_explicit(self) -> bool:
        """Have all blocks closed forms?"""
        return all(len(u) == 1 or find_strut(self.home.at, rows, u) is not None for rows, u in self.blocks)

    def __call__(self, x: Expression) -> Expression:
        """All coordinates for a pose; NaN where the loops do not close."""
        at = self.home.at
        s = _predicted(self.home, self.by_pose, x)
        guesses = []
        for rows, unknown in self.blocks:
            strut = find_strut(at, rows, unknown)
            if strut is not None:
                found = strut.solve(s, self.home.s)
            elif len(unknown) == 1:
                row, k = rows[0], unknown[0]
                found = {k: _single(at, row, k, s, (float(self.home.s[k]), float(self.C[row, k])))}
            else:
                found = _newton(at, rows, unknown, s)
                guesses += list(rows)
            s = ex.vector(*(found.get(k, s[k]) for k in range(at.n)))
        return s if not guesses else s + _missing(at, guesses, s)


def blocks(at: Structure, rows: Sequence[int], known: Sequence[int]) -> tuple[Block, ...]:
    """The blocks in an order in which they can be solved: by a matching, and by strongly connected components."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - heavy, and needed once per mechanism
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching  # noqa: PLC0415

    unknown = at.others(tuple(known))
    pattern = dependence(at)[np.ix_(rows, unknown)]
    row_of = maximum_bipartite_matching(csr_array(pattern.astype(int)), perm_type="row")
    assert (row_of >= 0).all(), "independent equations can be matched with their unknowns"
    needs = pattern[row_of]  # for each unknown, which unknowns stand in its equation
    n_blocks, label = connected_components(csr_array(needs.astype(int)), directed=True, connection="strong")
    members = [np.flatnonzero(label == k) for k in range(n_blocks)]
    before = {k: set(label[needs[members[k]].any(axis=0)].tolist()) - {k} for k in range(n_blocks)}
    order: list[int] = []
    while len(order) < n_blocks:
        order.append(next(k for k in range(n_blocks) if k not in order and before[k] <= set(order)))
    return tuple(
        (tuple(sorted(rows[row_of[i]] for i in members[k])), tuple(unknown[i] for i in members[k])) for k in order
    )


def dependence(at: Structure) -> Array:
    """Which coordinates each closure equation contains, True or False (equations, coordinates)."""
    s = ex.symbol("s", at.n)
    C = ex.derivative(closures(at, s), s)
    return np.array([[not ex.is_zero(C[i, j]) for j in range(at.n)] for i in range(C.shape[0])])


def _predicted(home: Assembly, by_pose: Array, x: Expression) -> Expression:
    moved = x - ex.vector(*home.s[list(home.at.pose)].tolist())
    entries = {k: x[i] for i, k in enumerate(home.at.pose)}
    for k in home.at.others(home.at.pose):
        slopes = ex.vector(*by_pose[k].tolist())
        entries[k] = float(home.s[k]) + ex.dot(slopes, moved)
    return ex.vector(*(entries[k] for k in range(home.at.n)))


def _newton(at: Structure, rows: tuple[int, ...], unknown: tuple[int, ...], s: Expression) -> dict[int, Expression]:
    def look(s: Expression) -> dict[str, Expression]:
        every = closures(at, s)
        gaps = ex.vector(*(every[row] for row in rows))
        return {"gaps": gaps, "step": -Elimination(columns_of(ex.derivative(gaps, s), unknown)).solve(gaps)}

    kernel = trace(look, name="block", inputs={"s": at.n})
    for _ in range(STEPS):
        step = kernel.function.call([s])[1]
        moves = dict(zip(unknown, ex.components(step), strict=True))
        s = ex.vector(*(s[k] + moves[k] if k in moves else s[k] for k in range(at.n)))
    return {k: s[k] for k in unknown}


def _single(at: Structure, row: int, k: int, s: Expression, at_home: tuple[float, float]) -> Expression:
    """One equation in one coordinate: affine in a slide, or in the cosine and sine of a turn.

    `at_home` are the coordinate and the slope of the equation there.
    """
    home, slope = at_home

    def gap(value: float) -> Expression:
        return closures(at, ex.vector(*(value if j == k else s[j] for j in range(at.n))))[row]

    if at.motions[k] == "slide":
        return -gap(0.0) / (gap(1.0) - gap(0.0))
    # a cos δ + b sin δ + c = 0, with δ the turn from home
    front, right, back = gap(home), gap(home + np.pi / 2), gap(home + np.pi)
    c = (front + back) / 2
    a, b = front - c, right - c
    squared = a * a + b * b
    w = -float(np.sign(slope)) * ex.sqrt(squared - c * c)  # at home c = -a and b = slope: then δ = 0
    return home + ex.atan2(a * w - b * c, -a * c - b * w)


def _missing(at: Structure, rows: Sequence[int], s: Expression) -> Expression:
    """Zero, or NaN where an equation stays open."""
    every = closures(at, s)
    worst = ex.absolute(every[rows[0]])
    for row in rows[1:]:
        worst = ex.maximum(worst, ex.absolute(every[row]))
    return ex.where(worst < OPEN, 0.0, float("nan"))
