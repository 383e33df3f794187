"""The rows of a bounded-error problem as strips in coordinates that suit a simplex method."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.errors import AssumptionError
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import Box

FAR = 1e8
"""Sides of the box beyond this distance, in scaled coordinates, stand for infinity in a linear program."""

_SAMPLE = 20000
_FEW = 2000
_OUTLINE = 1 << 20
"""Entries of rows that are kept normalized."""
_HUGE = 1e300
"""Numbers beyond are no good as a center: sums with them overflow."""
_FINEST = 1e-14
"""Part of a number below which floating point does not resolve it: units of z are no smaller."""


def bounds_of(problem: LinearProblem, method: str) -> Bounded:
    """The error bounds of a problem, or a refusal that says what to state instead."""
    if not isinstance(problem.noise, Bounded):
        raise AssumptionError(
            f"{method} needs error bounds, but this problem states a covariance. "
            "State Bounded noise, or use GaussMarkov."
        )
    return problem.noise


@dataclass(frozen=True, eq=False)
class Strips:
    """|y_k − W_k θ| ≤ e_k with θ = center + scale · z and every row divided by its length in z.

    All in floating point and rounded: strips serve to find multipliers, and no bound rests on them.
    """

    problem: LinearProblem
    radius: Array
    """e (N,)."""
    frame: "Frame"
    chord: "Chord | None" = None
    """Where W has a radius D: the linear bound that replaces |θ| in |y − W θ| ≤ e + D |θ|."""

    @classmethod
    def of(cls, problem: LinearProblem, box: Box, method: str) -> "Strips":
        """Strips around a least-squares point of a sample of the rows, in units of the error bounds.

        In these units half of the rows that involve an unknown are wider than one along its axis, and half are
        narrower, whatever the units of the rows. The set is no wider than the box.
        """
        noise = bounds_of(problem, method)
        radius = np.broadcast_to(noise.radius, problem.y.shape)
        some = slice(None, None, max(1, problem.n_rows // _SAMPLE))
        W, y = problem.W[some], problem.y[some]
        known = (box.width > 0) & np.isfinite(box.width)
        widest = np.where(known, box.width, np.inf)
        # thin rows may leave directions open, in which the set is as wide as the box: no side of it is too FAR then
        typical = _typical_scale(problem, radius)
        finest = np.where(known, np.minimum(10 * box.width / FAR, typical / _FINEST), 0.0)
        scale = np.clip(typical, finest, widest)
        length = abs(W * scale).max(axis=1)
        usable = (length > 0) & np.isfinite(length) & np.isfinite(y / np.where(length > 0, length, 1.0))
        length = length[usable]
        center = scale * least_squares(W[usable] * scale / length[:, None], y[usable] / length)
        center = np.clip(np.where(abs(center) < _HUGE, center, 0.0), box.lower, box.upper)
        scale = np.maximum(np.where(box.width == 0, _FINEST * scale, scale), _FINEST * abs(center))
        chord = None if noise.regressor is None else Chord.over(box)
        return cls(problem, radius, Frame.of(problem, center, scale), chord)

    @property
    def center(self) -> Array:
        return self.frame.center

    @property
    def scale(self) -> Array:
        return self.frame.scale

    @property
    def middle(self) -> Array:
        """Values y − W center (N,)."""
        return self.frame.by_row[0]

    @property
    def length(self) -> Array:
        """Lengths ‖scale ∘ W_k‖ (N,); 1 for rows of zeros."""
        return self.frame.by_row[1]

    def fitted(self, lower: Array, upper: Array) -> "Strips":
        """As `recentered`, for a box proven to contain the set: where it has no width, the unit is the finest possible.

        Else an unknown that is known would outweigh the others in the length of the rows.
        """
        least = _FINEST * np.maximum(abs(lower), self.scale)
        return self.recentered(
            np.where(lower == upper, lower - least / 2, lower), np.where(lower == upper, upper + least / 2, upper)
        )

    def recentered(self, lower: Array, upper: Array) -> "Strips":
        """The same strips in coordinates where the box [lower, upper] of θ is about the unit box.

        Where the box has no width, the unit stays.
        """
        width, center = upper - lower, lower / 2 + upper / 2
        center = np.where(np.isfinite(center), center, self.center)
        finest = np.maximum(width, _FINEST * abs(center))
        scale = np.where((width > 0) & np.isfinite(width), finest, self.scale)
        return replace(self, frame=Frame.of(self.problem, center, scale))

    @property
    def sides(self) -> int:
        """Rows of a linear program for each strip: 2 where its sides are not parallel."""
        return 1 if self.chord is None else 2

    def rows(self, index: Integers) -> tuple[Array, Array, Array]:
        """(A, lower, upper) of some rows, normalized: lower ≤ A z ≤ upper; `sides` of them for each index.

        Rows that overflow in these coordinates become rows of zeros without sides.
        """
        length = self.length[index]
        A = self.problem.W[index] * self.scale / length[:, None]
        middle, half = self.middle[index] / length, (self.radius[index] + self.rounding(index)) / length
        if self.chord is None:
            return _finite(A, middle - half, middle + half)
        D = self._regressor_radius(index) / length[:, None]
        half = half + self.chord.blur(D, self.center)
        tilt = D * self.chord.slope * self.scale
        both = np.stack([A + tilt, A - tilt], axis=1).reshape(-1, A.shape[1])
        lower, upper = np.full(len(both), -np.inf), np.full(len(both), np.inf)
        lower[0::2], upper[1::2] = middle - half, middle + half
        return _finite(both, lower, upper)

    def rounding(self, rows: Any) -> Array:
        """Bound on the rounding error of `middle`: differences below it must not count as contradictions."""
        part = 4 * np.finfo(float).eps
        return part * (abs(self.problem.y[rows]) + np.sqrt(len(self.center)) * self.frame.by_row[2][rows])

    def _regressor_radius(self, rows: Any) -> Array:
        D = bounds_of(self.problem, "Strips").regressor
        assert D is not None
        return np.broadcast_to(D, self.problem.W.shape)[rows]

    def box(self, box: Box) -> tuple[Array, Array]:
        """The sides of a box in z, at most FAR away."""
        lower, upper = (box.lower - self.center) / self.scale, (box.upper - self.center) / self.scale
        return np.clip(lower, -FAR, FAR), np.clip(upper, -FAR, FAR)

    def theta(self, z: Array) -> Array:
        return self.center + self.scale * z

    def cost(self, direction: Array) -> tuple[Array, float]:
        """The direction in z with a greatest entry of 1, and the divisor: a solver's tolerances are absolute.

        The divisor is infinite where it is no floating-point number; multipliers times it prove nothing then.
        """
        exponent = int(np.frexp(abs(direction).max(initial=0.0))[1])
        cost = np.ldexp(direction, -exponent) * self.scale
        size = float(abs(cost).max(initial=0.0)) or 1.0
        return cost / size, float(np.ldexp(size, exponent))

    def excess(self, points: Array, among: Integers | None = None) -> Array:
        """Violation of each row (or those `among`) by the worst of the points (m, p), in normalized units."""
        from gough.methods.bounded import row_scans  # noqa: PLC0415 - numba

        directions = points * self.scale
        n_rows = self.problem.n_rows if among is None else len(among)
        worst = np.empty(n_rows)
        for start in range(0, n_rows, _BLOCK):
            part: Any = slice(start, start + _BLOCK) if among is None else among[start : start + _BLOCK]
            reach = directions @ self.problem.W[part].T
            middle, here = self.middle[part], slice(start, start + _BLOCK)
            if self.chord is None:
                farthest = np.empty(len(middle))
                row_scans.farthest(reach, _plain(middle)[0], farthest)
            else:
                D = self._regressor_radius(part)
                blur = self.chord.blur(D, self.center) + (directions * self.chord.slope) @ D.T
                farthest = (abs(reach - middle) - blur).max(axis=0)
            worst[here] = (farthest - self.radius[part] - self.rounding(part)) / self.length[part]
        return np.where(np.isfinite(worst), worst, -np.inf)

    def nearest(self, wanted: int, among: Integers) -> Integers:
        """At most `wanted` of these rows: those whose sides are nearest to the center."""
        if len(among) <= wanted:
            return among
        nearness = ((abs(self.middle) - self.radius) / self.length)[among]
        return np.sort(among[np.argpartition(-nearness, wanted)[:wanted]])

    def outline(self, among: Integers) -> "Outline | None":
        """Some rows, normalized and kept in memory; None where they are too many for that."""
        if len(among) * len(self.center) > _OUTLINE or self.chord is not None:
            return None
        A, lower, upper = self.rows(among)
        known = np.isfinite(lower) & np.isfinite(upper)
        return Outline(
            among,
            A,
            np.where(known, np.where(known, lower, 0.0) / 2 + np.where(known, upper, 0.0) / 2, 0.0),
            np.where(known, np.where(known, upper, 0.0) / 2 - np.where(known, lower, 0.0) / 2, np.inf),
        )


@dataclass(frozen=True, eq=False)
class Frame:
    """Coordinates z with θ = center + scale · z, and the rows of a problem in them; the rows once somebody asks."""

    problem: LinearProblem
    center: Array
    scale: Array
    """Powers of two: scaled numbers keep their digits."""

    @classmethod
    def of(cls, problem: LinearProblem, center: Array, scale: Array) -> "Frame":
        return cls(problem, center, np.ldexp(1.0, np.clip(np.frexp(scale)[1], -1000, 1000)))

    @cached_property
    def by_row(self) -> tuple[Array, Array, Array]:
        """Values y − W center, lengths ‖scale ∘ W_k‖, 1 for rows of zeros, and |W_k| |center|: one reading of W."""
        from gough.methods.bounded import row_scans  # noqa: PLC0415 - numba

        problem = self.problem
        middle, length, size = (np.empty(problem.n_rows) for _ in range(3))
        for rows in problem.blocks():
            W, y, center, scale = _plain(problem.W[rows], problem.y[rows], self.center, self.scale)
            row_scans.lengths(W, y, center, scale, middle[rows], length[rows], size[rows])
        length[length == 0] = 1.0
        return middle, length, size


class Outline(NamedTuple):
    """Normalized rows |A z − middle| ≤ half."""

    rows: Integers
    A: Array
    middle: Array
    half: Array

    def excess(self, points: Array) -> Array:
        """(rows, points): how far each row is violated by each point."""
        return abs(self.A @ points.T - self.middle[:, None]) - self.half[:, None]


@dataclass(frozen=True, eq=False)
class Chord:
    """slope · θ + height ≥ |θ| over a box, with equality at its sides: exact where the sign of θ is known."""

    slope: Array
    height: Array
    """Infinite where the box is, unless the sign is known."""

    @classmethod
    def over(cls, box: Box) -> "Chord":
        """
        Examples:
            >>> chord = Chord.over(Box([1, -1, -np.inf], [2, 3, 5]))
            >>> chord.slope, chord.height
            (array([1. , 0.5, 0. ]), array([0. , 1.5, inf]))
        """
        low, high = box.lower, box.upper
        with np.errstate(all="ignore"):
            slope = (abs(high) - abs(low)) / (high - low)
            height = abs(low) - slope * low
        slope = np.where(low >= 0, 1.0, np.where(high <= 0, -1.0, np.where(np.isfinite(slope), slope, 0.0)))
        known = (low >= 0) | (high <= 0)
        return cls(slope, np.where(known, 0.0, np.where(np.isfinite(height), height, np.inf)))

    def blur(self, D: Array, theta: Array) -> Array:
        """D (slope · θ + height), row by row; an infinite height counts only where D is not zero."""
        height = np.where(np.isfinite(self.height), self.height, 0.0)
        unknown = (D[:, ~np.isfinite(self.height)] > 0).any(axis=1)
        return np.where(unknown, np.inf, D @ (self.slope * theta + height))


def reachable(problem: LinearProblem, box: Box, among: Integers | None = None) -> Integers:
    """Rows (or those `among`, whose numbers rise) that some θ of the box violates, or nearly; others cannot cut it."""
    if not box.is_bounded:
        return np.arange(problem.n_rows) if among is None else among
    from gough.methods.bounded import row_scans  # noqa: PLC0415 - numba

    n_rows = problem.n_rows if among is None else len(among)
    radius = np.broadcast_to(bounds_of(problem, "reachable").radius, problem.y.shape)
    most = 4 * len(box) * np.finfo(float).eps * abs(box.center)  # by which W center may be off
    center, half = _plain(box.center, box.width / 2 + most)
    found = []
    for start in range(0, n_rows, _BLOCK):
        part: Any = slice(start, start + _BLOCK) if among is None else among[start : start + _BLOCK]
        W, y, e = _plain(problem.W[part], problem.y[part], radius[part])
        reaches = np.empty(len(y), dtype=bool)
        row_scans.reaching(W, y, e, center, half, reaches)
        found.append(start + np.flatnonzero(reaches) if among is None else part[reaches])
    return np.concatenate(found)


_BLOCK = 1 << 12


def _typical_scale(problem: LinearProblem, radius: Array) -> Array:
    """Typical width of rows along each axis: the median of e_k / |W_kj|, over rows that are not too thin."""
    some = slice(None, None, max(1, problem.n_rows // _FEW))
    W, y = abs(problem.W[some]), abs(problem.y[some])
    scale = np.empty(W.shape[1])
    half = np.maximum(radius[some], _FINEST * y)
    for j, column in enumerate(W.T):
        known = (column > 0) & (half > 0)
        scale[j] = np.median(half[known] / column[known]) if known.any() else 0.0
    unknown = ~((scale > 0) & np.isfinite(scale))
    if unknown.any():
        size = _largest(problem)[unknown]
        scale[unknown] = float(np.median(half)) / np.where(size > 0, size, 1.0)
    return np.where((scale > 0) & np.isfinite(scale), scale, 1.0)


def _largest(problem: LinearProblem) -> Array:
    return np.max([abs(problem.W[rows]).max(axis=0) for rows in problem.blocks()], axis=0)


def _plain(*arrays: Array) -> list[Array]:
    """Views without gaps that are read-only, whatever the arrays were: numba compiles for one kind of them."""
    views = [np.ascontiguousarray(x).view() for x in arrays]
    for view in views:
        view.flags.writeable = False
    return views


def _finite(A: Array, lower: Array, upper: Array) -> tuple[Array, Array, Array]:
    bad = ~np.isfinite(A).all(axis=1) | np.isnan(lower) | np.isnan(upper) | (lower == np.inf) | (upper == -np.inf)
    if bad.any():
        A, lower, upper = A.copy(), lower.copy(), upper.copy()
        A[bad], lower[bad], upper[bad] = 0.0, -np.inf, np.inf
    return A, lower, upper


def least_squares(A: Array, b: Array) -> Array:
    """A proposal that no proof rests on: zeros where floating point fails."""
    try:
        z = np.asarray(np.linalg.lstsq(A, b, rcond=None)[0], dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.zeros(A.shape[1])
    return np.where(np.isfinite(z), z, 0.0)


def with_radius(strips: Strips, problem: LinearProblem) -> Strips:
    """The same strips with the error bounds of a problem that differs in nothing else."""
    radius = bounds_of(problem, "Strips").radius
    return replace(strips, problem=problem, radius=np.broadcast_to(radius, problem.y.shape))


def misfit(W: Array, y: Array) -> Array:
    """Weights on at most p + 1 rows with Wᵀλ ≈ 0 and λ·y ≥ 0: the row that misses most what others determine.

    Examples:
        >>> misfit(np.array([[1.0], [2.0], [1.0]]), np.array([1.0, 2.0, 1.5])).round(12)
        array([-1.,  0.,  1.])
    """
    return misfits(W, y, 1)[0]


def misfits(W: Array, y: Array, most: int) -> list[Array]:
    """The same for several rows, that which misses most first; one without weights where nothing is determined."""
    from scipy.linalg import qr  # noqa: PLC0415 - start-up time

    size, length = abs(W).max(axis=0, initial=0.0), abs(W).max(axis=1, initial=0.0)
    if not length.any():
        return [np.zeros(len(y))]
    A = W / np.where(size > 0, size, 1.0)
    length = abs(A).max(axis=1)  # entries may vanish beside a column's greatest
    R, order = qr((A / np.where(length > 0, length, 1.0)[:, None]).T, mode="r", pivoting=True)
    diagonal = abs(R.diagonal())
    basis = order[: int((diagonal > 1e-10 * diagonal[0]).sum())]
    combined = np.linalg.lstsq(A[basis].T, A.T, rcond=None)[0]  # each row as a combination of those of the basis
    missed = np.nan_to_num(y - y[basis] @ combined)
    missed[basis] = 0.0
    found = []
    for worst in np.argsort(-abs(missed), kind="stable")[:most].tolist():
        sign = 1.0 if missed[worst] > 0 else -1.0
        weights = np.zeros(len(y))
        weights[basis] = -sign * combined[:, worst]
        weights[worst] = sign
        found.append(weights)
    return found
