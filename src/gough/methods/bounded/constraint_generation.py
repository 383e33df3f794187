"""Linear programs over millions of rows, of which a few hundred matter."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array, Integers, Mask
from gough.methods.bounded.strips import Strips, reachable, with_radius
from gough.methods.programs.row_generation import GeneratedProgram
from gough.methods.programs.simplex import Optimum, Outcome
from gough.problem import LinearProblem
from gough.region import Box

_FIRST = (200, 6)
"""Rows to begin with, and how many more per unknown."""
_PER_VERTEX = 4
"""Rows added for each violating vertex and round."""
_BATCH = 32
"""Directions that are solved first, at most."""
_NEAR = 10
"""Rows nearer to a vertex than so many times the worst violation are looked at again before all rows are."""
_SMALL = 1000
"""Rows per unknown up to which a problem is solved at once."""
_MUCH_SMALLER = 0.1
_FITS = 4
"""Coordinates that are tried at most: sets without room look small in any."""
_THIN = 2.0**-40
"""Part of a number that is taken for its rounding."""
_WANTED = 200
"""Rows of a sketch per unknown."""
_STRIDES = (4, 10)
"""One row in so many is in a sketch, more if they are fewer than wanted."""
_FEWER = 0.5
"""Part of the rows that may be left by a sketch for it to be worth a copy of them."""
_ROOM = 1e-6
"""Part of its width by which the box around a sketch is wider on each side than was found."""
_SKETCH_TOLERANCE = 1e-3


class Vertex(NamedTuple):
    """A minimizer of a direction over the consistent set, with the rows and weights that prove its value."""

    theta: Array
    rows: Integers
    weights: Array


@dataclass(frozen=True, eq=False)
class Extremes:
    """Proposals of the linear programs; nothing here is proven."""

    vertices: tuple[Vertex, ...]
    """One for each direction; without weights where none was found."""
    contradiction: Vertex | None
    """Rows and weights that seem to contradict each other."""
    pool: Integers
    """Rows that were looked at by the simplex method."""
    stopped: bool = False
    """Interrupted: the vertices belong to a part of the rows."""

    def of_rows(self, rows: Integers) -> "Extremes":
        """The same, found in a part of the rows, with the numbers that the rows have in the whole."""
        vertices = tuple(v._replace(rows=rows[v.rows]) for v in self.vertices)
        wrong = self.contradiction
        return Extremes(
            vertices, wrong and wrong._replace(rows=rows[wrong.rows]), rows[self.pool], stopped=self.stopped
        )


def extremes(problem: LinearProblem, box: Box, directions: Array, tolerance: float) -> Extremes:
    """Minimizers of each direction (m, p) over {θ in the box : |y − W θ| ≤ e}.

    Of many rows, some are solved first. The box around what these leave holds the set, and most of the others are
    within their bounds everywhere in it: they are read once, and never again.
    """
    return _among(problem, None, box, directions, tolerance)


def _among(problem: LinearProblem, rows: Integers | None, box: Box, directions: Array, tolerance: float) -> Extremes:
    """The same for some rows of a problem, given by their numbers, or for all of them; only near ones are copied."""
    sketch = _sketch(problem, rows, box, len(directions))
    if sketch is not None and (sketch.contradiction is not None or sketch.stopped):
        return sketch
    taken, start = rows, sketch
    if sketch is not None:
        near = reachable(problem, _around(sketch, box), rows)
        pool = near[np.isin(near, sketch.pool)]
        if pool.size and len(near) <= _FEWER * (problem.n_rows if rows is None else len(rows)):
            taken, start = near, replace(sketch, pool=pool)
    if taken is None:
        return Warm().begun(problem, box, directions, tolerance, start)
    if start is not None:
        start = replace(start, pool=np.searchsorted(taken, start.pool))
    return Warm().begun(problem.select(taken), box, directions, tolerance, start).of_rows(taken)


def _sketch(problem: LinearProblem, rows: Integers | None, box: Box, n_directions: int) -> Extremes | None:
    """The least and the greatest of each unknown over some of the rows; None if there are few, or some leave it open.

    If there is a contradiction, or an interrupt, it is the answer for other directions too.
    """
    p = len(problem.unknowns)
    n_rows = problem.n_rows if rows is None else len(rows)
    if n_rows <= _SMALL * p:
        return None
    some = _spread(n_rows, int(np.clip(n_rows // (_WANTED * p), *_STRIDES)))
    axes = np.vstack([np.eye(p), -np.eye(p)])
    found = _among(problem, some if rows is None else rows[some], box, axes, _SKETCH_TOLERANCE)
    if found.contradiction is not None:
        return found
    if found.stopped:
        nothing = Vertex(box.center, some[:0], np.zeros(0))
        return found if n_directions == 2 * p else replace(found, vertices=(nothing,) * n_directions)
    return found if _around(found, box).is_bounded else None


def _spread(n_rows: int, stride: int) -> Integers:
    """One row of every `stride`, at changing places: samples of several actuators and periods do not fall in step."""
    first = np.arange(0, n_rows, stride)
    place = (stride * ((0.6180339887498949 * np.arange(len(first))) % 1.0)).astype(np.int64)
    return np.minimum(first + place, n_rows - 1)


def _around(sketch: Extremes, box: Box) -> Box:
    """A box that holds the set, as far as floating point is right; sides that were not found are those of `box`."""
    p = len(box)
    theta = np.array([vertex.theta for vertex in sketch.vertices])
    found = np.array([bool(vertex.weights.any()) for vertex in sketch.vertices])
    lower = np.where(found[:p], theta[:p].diagonal(), box.lower)
    upper = np.where(found[p:], theta[p:].diagonal(), box.upper)
    lower, upper = np.minimum(lower, upper), np.maximum(lower, upper)
    room = _ROOM * (upper - lower)
    return Box(np.maximum(lower - room, box.lower), np.minimum(upper + room, box.upper))


class Warm:
    """Extremes of problems that differ in their error bounds only, started from the last one's rows and vertices."""

    def __init__(self) -> None:
        self._generation: _Generation | None = None

    def extremes(self, problem: LinearProblem, box: Box, directions: Array, tolerance: float) -> Extremes:
        """Minimizers of each direction (m, p) over {θ in the box : |y − W θ| ≤ e}; later boxes lie in the first."""
        sketch = _sketch(problem, None, box, len(directions)) if self._generation is None else None
        return self.begun(problem, box, directions, tolerance, sketch)

    def begun(
        self, problem: LinearProblem, box: Box, directions: Array, tolerance: float, sketch: Extremes | None
    ) -> Extremes:
        """The same, where it is known what some of the rows say."""
        if sketch is not None and (sketch.contradiction is not None or sketch.stopped):
            return sketch
        try:
            if self._generation is None:
                at_once = self._begin(problem, box, len(directions), tolerance, sketch)
                if at_once is not None:
                    return at_once
            else:
                self._generation = self._generation.with_bounds_of(problem, box)
            assert self._generation is not None
            is_final = tolerance < _SKETCH_TOLERANCE
            for more in reversed(range(_FITS)):
                found = self._generation.run(directions, tolerance)
                if not (more and found and is_final and self._generation.is_small(directions)):
                    break
                self._generation = self._generation.fitted(*self._generation.extent, directions)
        except KeyboardInterrupt:
            if self._generation is None:
                raise
            return self._generation.result(len(directions), stopped=True)
        return self._generation.result(len(directions))

    def _begin(
        self, problem: LinearProblem, box: Box, n_directions: int, tolerance: float, sketch: Extremes | None
    ) -> Extremes | None:
        """Rows to begin with, in good coordinates; an answer where the rows contradict each other at once.

        Some of the rows show first where the set is and how large: coordinates are then such that the set is about a
        unit box, whatever its size and the units of the unknowns, and few rows are left to be found.
        """
        p = len(problem.unknowns)
        axes, strips = np.vstack([np.eye(p), -np.eye(p)]), Strips.of(problem, box, "LinearHull")
        if sketch is not None:
            theta = np.array([vertex.theta for vertex in sketch.vertices])
            strips = strips.fitted(theta[:p].diagonal(), theta[p:].diagonal())
            self._generation = _Generation(strips, box, sketch.pool)
        else:
            first = _Generation(strips, box)
            if not first.solve(axes):
                return first.result(n_directions)
            theta = first.theta
            self._generation = first.fitted(theta[:p].diagonal(), theta[p:].diagonal(), axes)
        self._generation.look_at(theta, tolerance)
        return None


class _Generation(GeneratedProgram):
    """Vertices for many directions over one pool of rows, grown until no row outside it is violated at any vertex."""

    def __init__(self, strips: Strips, box: Box, pool: Integers | None = None) -> None:
        n_rows = strips.problem.n_rows
        super().__init__(*strips.box(box), n_rows)
        self.strips, self._box = strips, box
        self._optima: dict[int, Optimum] = {}
        self._contradiction: Optimum | None = None
        self.add(
            strips.nearest(_FIRST[0] + _FIRST[1] * len(strips.center), np.arange(n_rows)) if pool is None else pool
        )

    def rows(self, numbers: Integers) -> tuple[Array, Array, Array]:
        return self.strips.rows(numbers)

    def with_bounds_of(self, problem: LinearProblem, box: Box) -> "_Generation":
        """The same rows with the error bounds of another problem; in new coordinates where the set is much smaller."""
        strips = with_radius(self.strips, problem)
        if (box.width < _MUCH_SMALLER * strips.scale).any():
            return _Generation(strips.fitted(box.lower, box.upper), box, self.pool)
        _, lower, upper = strips.rows(self.pool)
        self.simplex.set_sides(lower, upper)
        self.strips, self._contradiction = strips, None
        return self

    def fitted(self, lower: Array, upper: Array, directions: Array) -> "_Generation":
        """The same rows in coordinates where a box is about the unit box, with the vertices found for directions."""
        other = _Generation(self.strips.fitted(lower, upper), self._box, self.pool)
        for i, optimum in self._optima.items():
            if optimum.start is not None:
                theta = self.strips.theta(optimum.point)
                point = (theta - other.strips.center) / other.strips.scale
                other.simplex.remember(other.strips.cost(directions[i])[0], optimum.start, point)
        return other

    @property
    def extent(self) -> tuple[Array, Array]:
        """The smallest box around the vertices."""
        theta = self.theta
        return theta.min(axis=0), theta.max(axis=0)

    def is_small(self, directions: Array) -> bool:
        """Whether the set is so much smaller than the coordinates suit that rows may cut parts of it unseen."""
        lower, upper = self.extent
        width = upper - lower
        resolved = width > _THIN * np.maximum(abs(lower), abs(upper))
        return len(directions) >= 2 * len(width) and bool((width < _MUCH_SMALLER * self.strips.scale)[resolved].any())

    def solve(self, directions: Array, which: Integers | None = None) -> bool:
        """Minimize these directions over the pool; False if the pool contradicts itself."""
        for i in range(len(directions)) if which is None else which:
            cost, size = self.strips.cost(directions[i])
            optimum = self.simplex.minimize(cost)
            if optimum.outcome is Outcome.INFEASIBLE:
                self._contradiction = optimum
                return False
            self._optima[int(i)] = replace(optimum, weights=size * optimum.weights)
        return True

    @property
    def theta(self) -> Array:
        return self.strips.theta(self._points(np.arange(len(self._optima))))

    def _points(self, which: Integers) -> Array:
        return np.array([self._optima[int(i)].point for i in which])

    def look_at(self, theta: Array, tolerance: float) -> None:
        """Add the rows that these points violate."""
        points = (theta - self.strips.center) / self.strips.scale
        violated = self._violated(points, self.strips.excess(points), None, tolerance)
        if violated.size:
            self.add(violated)

    def run(self, directions: Array, tolerance: float) -> bool:
        """Solve, look for violated rows, add them, until there are none; False if the pool contradicts itself.

        Some directions are solved first, then twice as many: most rows that the others need are known by then.
        """
        order = np.argsort((0.6180339887498949 * np.arange(len(directions))) % 1.0, kind="stable")
        ends = [len(order)]
        while ends[0] > _BATCH:
            ends.insert(0, ends[0] // 2)
        return all(self._generate(directions, np.sort(order[a:b]), tolerance) for a, b in pairwise([0, *ends]))

    def _generate(self, directions: Array, batch: Integers, tolerance: float) -> bool:
        """The same for some of the directions: near rows are looked at first, all rows in the end."""
        pending, near = batch, None
        while self.solve(directions, pending):
            points = self._points(batch if near is None else pending)
            excess = self.strips.excess(points, near)
            violated = self._violated(points, excess, near, tolerance)
            if violated.size == 0 and near is None:
                return True
            if violated.size == 0:
                near, pending = None, batch[:0]
                continue
            if near is None:
                near = np.flatnonzero(excess > -_NEAR * excess.max())
            self.add(violated)
            pending = batch[self._cut(violated, self._points(batch), tolerance)]
        return False

    def _violated(self, points: Array, excess: Array, near: Integers | None, tolerance: float) -> Integers:
        """Rows outside the pool that the points violate: the worst few for each point."""
        index = np.flatnonzero(excess > tolerance)
        rows = index if near is None else near[index]
        keep = self.outside[rows]
        rows, index = rows[keep], index[keep]
        limit = 10 * _PER_VERTEX * len(points)
        if len(rows) > limit:
            rows = rows[np.argpartition(-excess[index], limit)[:limit]]
        if len(rows) <= _PER_VERTEX:
            return rows
        A, lower, upper = self.strips.rows(rows)
        reach = A @ points.T
        violation = np.maximum(reach - upper[:, None], lower[:, None] - reach)
        violation = violation.reshape(len(rows), self.strips.sides, -1).max(axis=1)
        worst = np.argsort(-violation, axis=0)[:_PER_VERTEX]
        chosen = worst[np.take_along_axis(violation, worst, axis=0) > tolerance]
        return rows[np.unique(chosen)]

    def _cut(self, rows: Integers, points: Array, tolerance: float) -> Mask:
        """Mask of the points that violate one of these rows."""
        A, lower, upper = self.strips.rows(rows)
        reach = A @ points.T
        violated = (reach > upper[:, None] + tolerance) | (reach < lower[:, None] - tolerance)
        return np.asarray(violated.any(axis=0))

    def result(self, n_directions: int, *, stopped: bool = False) -> Extremes:
        contradiction = None if self._contradiction is None else self._vertex(self._contradiction)
        nothing = Vertex(self.strips.center, np.zeros(0, dtype=np.int64), np.zeros(0))
        vertices = tuple(self._vertex(self._optima[i]) if i in self._optima else nothing for i in range(n_directions))
        return Extremes(vertices if contradiction is None else (), contradiction, self.pool, stopped)

    def _vertex(self, optimum: Optimum) -> Vertex:
        rows, weights = optimum.on(np.repeat(self.pool, self.strips.sides))
        if self.strips.sides > 1:
            rows, position = np.unique(rows, return_inverse=True)
            weights = np.bincount(position, weights, len(rows)).astype(np.float64)
        return Vertex(self.strips.theta(optimum.point), rows, weights / self.strips.length[rows])
