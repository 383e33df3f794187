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
from gough.robots.mechanism._closing import Positions, carried, closures, constant, spun
from gough.robots.mechanism._motion import columns_of
from gough.robots.mechanism.assembly import Assembly
from gough.robots.mechanism.placement import UNTURNED, turned
from gough.robots.mechanism.structure import JointStep, Structure

STEPS = 6
"""Newton steps inside a kernel: each squares the error."""
OPEN = 1e-9
"""Equations that are left open by more, in m or rad, make the kernel's results NaN."""

Part = tuple[Array, Array, JointStep | None]
"""A constant rotation and position, then a step; None at the end of a chain."""
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
        """The blocks that are solved one after the other."""
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
                solved = strut.solve(s, self.home.s)
            elif len(unknown) == 1:
                row, k = rows[0], unknown[0]
                solved = {k: _single(at, row, k, s, (float(self.home.s[k]), float(self.C[row, k])))}
            else:
                solved = _newton(at, rows, unknown, s)
                guesses += list(rows)
            s = ex.vector(*(solved.get(k, s[k]) for k in range(at.n)))
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
    """Whether each closure equation contains each coordinate (equations, coordinates)."""
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


@dataclass(frozen=True, eq=False)
class Strut:
    """A chain whose three unknown steps are turn, turn, slide, with axes that meet: it has a closed form.

    With u the target point and τ(l) the strut's end, both seen from where the axes a, b meet and before any turn,
    u = R(a, α) R(b, β) τ(l). Turns keep lengths, so that |τ(l)| = |u| gives l. The point z between the turns has the
    known components a · z = a · u and b · z = b · τ, and the length of u; the angles lead from τ to z and from z to u
    [MLS94, ch. 3, §3.2].
    """

    at: Structure
    parts: tuple[Part, ...]
    first: int
    """Position of the first turn among the parts."""
    slide: int
    tip: Array
    """The end, in the frame after the slide."""
    target: tuple[int, Array]
    """Link and point that the end is held to."""

    @property
    def unknown(self) -> tuple[int, int, int]:
        """The coordinates: two angles and a length."""
        turn, other, slide = (self.parts[k][2] for k in (self.first, self.first + 1, self.slide))
        assert turn is not None
        assert other is not None
        assert slide is not None
        return turn.coordinate, other.coordinate, slide.coordinate

    def solve(self, s: Expression, home: Array) -> dict[int, Expression]:
        """The two angles and the length for known values of the other coordinates, on the side where home is."""
        link, point = self.target
        positions = Positions(s)
        u = self._seen(carried(self.at, link, ex.vector(*point.tolist()), positions, is_point=True), positions)
        axes, offset, along = self._shape()
        at_home = [float(home[k]) for k in self.unknown]
        a, b = (ex.vector(*axis.tolist()) for axis in axes)
        inner = float(offset @ along)
        side = np.sign(at_home[2] + inner)
        squared = ex.dot(u, u)
        length = -inner + side * ex.sqrt(squared + (inner**2 - float(offset @ offset)))
        tau = ex.vector(*offset.tolist()) + ex.vector(*along.tolist()) * length
        z = self._between(axes, u, tau, squared, at_home)
        alpha = at_home[0] + _angle(a, _turned(axes[0], at_home[0]) @ z, u)
        beta = at_home[1] + _angle(b, _turned(axes[1], at_home[1]) @ tau, z)
        return dict(zip(self.unknown, (alpha, beta, length), strict=True))

    def _between(
        self, axes: tuple[Array, Array], u: Expression, tau: Expression, squared: Expression, at_home: list[float]
    ) -> Expression:
        """The point between the turns, z = p a + q b ± h (a × b)."""
        a, b = axes
        cosine = float(a @ b)
        sine = 1 - cosine**2
        normal = np.cross(a, b)
        along_a, along_b = ex.dot(ex.vector(*a.tolist()), u), ex.dot(ex.vector(*b.tolist()), tau)
        p, q = (along_a - cosine * along_b) / sine, (along_b - cosine * along_a) / sine
        height = ex.sqrt((squared - p * along_a - q * along_b) / sine)
        _, offset, along = self._shape()
        home_z = np.array(turned(b.tolist(), at_home[1])) @ (offset + along * at_home[2])
        side = float(np.sign(home_z @ normal)) or 1.0
        parts = (p, q, side * height)
        return sum(
            (ex.vector(*axis.tolist()) * part for axis, part in zip((a, b, normal), parts, strict=True)),
            ex.vector(0.0, 0.0, 0.0),
        )

    def _shape(self) -> tuple[tuple[Array, Array], Array, Array]:
        """Axes of the turns, offset and direction of the slide; all before any turn, in the first turn's frame."""
        one, two, three = (self.parts[k] for k in (self.first, self.first + 1, self.slide))
        axes = [_axis(part[2]) for part in (one, two, three)]
        return (axes[0], two[0] @ axes[1]), two[0] @ (three[1] + three[0] @ self.tip), two[0] @ three[0] @ axes[2]

    def _seen(self, point: Expression, positions: Positions) -> Expression:
        """A point of the base frame in the frame of the first turn."""
        for k, (R, p, step) in enumerate(self.parts[: self.first + 1]):
            point = constant(tuple(map(tuple, R.T.tolist()))) @ (point - ex.vector(*p.tolist()))
            if k == self.first or step is None:
                continue
            if step.turns:
                point = spun(point, step, positions, back=True)
            else:
                point -= ex.vector(*_axis(step).tolist()) * positions.s[step.coordinate]
        return point


def find_strut(at: Structure, rows: tuple[int, ...], unknown: tuple[int, ...]) -> Strut | None:
    """The strut that these equations and unknown coordinates are, or None."""
    named = [(closure, links, direction) for closure, *links in at.closures for direction in closure.directions]
    closure, links, _ = named[rows[0]]
    held = tuple(named[row][2] for row in rows)
    same = all(named[row][0] is closure for row in rows)
    if len(unknown) != 3 or not same or held != ("x", "y", "z"):
        return None
    for end in (0, 1):
        inside = set(unknown) <= set(at.moving(links[end]))
        outside = not set(unknown) & set(at.moving(links[1 - end]))
        if inside and outside:
            tip, point = (np.array(closure.placements[k].position) for k in (end, 1 - end))
            return _matched(at, links[end], unknown, tip, (links[1 - end], point))
    return None


def _matched(at: Structure, link: int, unknown: tuple[int, ...], tip: Array, target: tuple[int, Array]) -> Strut | None:
    parts = _parts(at, link)
    places = [k for k, (_, _, step) in enumerate(parts) if step is not None and step.coordinate in unknown]
    first, second, third = places
    kinds = [step.turns for k in places if (step := parts[k][2]) is not None]
    met = not parts[second][1].any()
    if kinds != [True, True, False] or (second, third) != (first + 1, first + 2) or not met:
        return None
    for R, p, step in reversed(parts[third + 1 :]):  # later turns have the end on their axes, or it would not be here
        if step is not None and np.abs(np.cross(tip, _axis(step))).max() > 1e-12:
            return None
        tip = R @ tip + p
    strut = Strut(at, tuple(parts), first, third, tip, target)
    (a, b), _, _ = strut._shape()  # noqa: SLF001 - its own
    return strut if abs(a @ b) < 0.999 else None


def _parts(at: Structure, link: int) -> list[Part]:
    """The chain from the base to a link, constant placements joined."""
    parts: list[Part] = []
    R, p = np.eye(3), np.zeros(3)
    for k in at.way(link):
        for step in at.links[k].steps:
            R, p = R @ step.before.matrix, p + R @ np.array(step.before.position)
            parts.append((R, p, step))
            R, p = np.eye(3), np.zeros(3)
        after = at.links[k].after
        R, p = R @ after.matrix, p + R @ np.array(after.position)
    parts.append((R, p, None))
    return parts


def _axis(step: JointStep | None) -> Array:
    assert step is not None
    return step.sign * np.array(UNTURNED[step.axis])


def _turned(axis: Array, angle: float) -> Expression:
    return constant(turned(axis.tolist(), angle))


def _angle(axis: Expression, start: Expression, end: Expression) -> Expression:
    """The angle about an axis that leads from one vector to another, both seen along the axis."""
    across = ex.dot(axis, ex.cross(start, end))
    return ex.atan2(across, ex.dot(start, end) - ex.dot(axis, start) * ex.dot(axis, end))
