"""One leg of a Gough platform as quadratic equations with interval data, relaxed with every rounding enclosed."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gough.checker.leg_equations import LegMeasurements
from gough.closure.chain_problem import ChainProblem, Pairs, Vector, absorbed, joined
from gough.core import intervals as iv
from gough.core.arrays import Array
from gough.core.errors import require
from gough.core.intervals import Interval
from gough.core.rotations import enclosed_rotation, exp, nearest_rotation, to_quaternion
from gough.data.poses import Poses
from gough.methods.nonlinear.interval_newton import Linearization
from gough.methods.nonlinear.lifted_program import Relaxation, chord
from gough.region import Box
from gough.unknowns import Unknowns

PRODUCTS = (*((i, 3 + j) for i in range(3) for j in range(3)), *((j, j) for j in range(7)))
"""a_i b_j, then the squares of a, b and l: all products that occur, in any pose."""
_J, _K = [1, 2, 0], [2, 0, 1]
"""The axes after each axis."""


@dataclass(frozen=True, eq=False)
class LegProblem(ChainProblem):
    """|exp(ω) R_k b + p_k + δ − a| = l + reading_k + η for errors within tolerances: which a, b, l are consistent?

    Examples:
        >>> data = LegMeasurements([[1, 0, 0, 0]], [[0, 0, 0.4]], [0.1], 1e-4, 1e-4, 1e-5)
        >>> problem = LegProblem(data, Box.around([0, 0, 0, 0, 0, 0, 0.3], 0.01), chain=1)
        >>> problem.n_rows, problem.unknowns.names
        (1, ('a1x', 'a1y', 'a1z', 'b1x', 'b1y', 'b1z', 'l1'))
    """

    data: LegMeasurements
    prior: Box
    """Bounds of a, b (m) and l (m)."""
    chain: int = 1
    """Number of the leg, from 1, for the names of its unknowns."""
    products: Pairs = field(init=False, default=PRODUCTS)
    tolerance: Array = field(init=False)
    """Tolerances (N, 6) of δ and ω, which all legs of a pose share."""
    bend = None
    """Rotations are exact."""
    reading = None
    """Readings add to the length."""

    def __post_init__(self) -> None:
        require(len(self.prior) == 7, f"a leg has 7 unknowns (a, b, l), but the prior has {len(self.prior)} axes")
        require(not self.prior.is_empty, "the prior is empty: no value would be allowed")
        tolerance = np.hstack([self.data.position_tolerance, self.data.rotation_tolerance])
        object.__setattr__(self, "tolerance", tolerance)

    @cached_property
    def unknowns(self) -> Unknowns:
        """a, b and l with the leg's number."""
        stems = ("a{}x", "a{}y", "a{}z", "b{}x", "b{}y", "b{}z", "l{}")
        return Unknowns(tuple(stem.format(self.chain) for stem in stems), ("m",) * 7, prior=self.prior)

    @property
    def reading_tolerance(self) -> Array:
        """Tolerances (N,) of the readings, m."""
        return self.data.reading_tolerance

    @property
    def offset(self) -> Array:
        """Readings (N,), m."""
        return self.data.reading

    def select(self, poses: Any) -> "LegProblem":
        """The problem with some poses only."""
        return replace(self, data=self.data.select(poses))

    def widened(self, by: Any) -> "LegProblem":
        """The problem with every reading uncertain by so much more, one number or one for each."""
        return replace(self, data=self.data.widened(by))

    @cached_property
    def rotation(self) -> Interval:
        """R (N, 3, 3), enclosed."""
        return enclosed_rotation(self.data.quaternion)

    def relaxation(self, center: Array, radius: Array) -> Relaxation:
        """Two rows a pose, first all that bound the distance from above: see `_Expansion`."""
        return _Expansion(self, center, radius).rows(shared=False)

    def shared_relaxation(self, center: Array, radius: Array) -> Relaxation:
        """The same rows with δ and ω of their pose as columns 23 to 28, for legs that share the errors of poses."""
        return _Expansion(self, center, radius).rows(shared=True)

    def vector(self, x: Array, errors: Array) -> Vector:
        """The vector d = exp(ω) R b + p + δ − a with errors (N, 6)."""
        R = exp(errors[:, 3:]) @ self.rotation.mid
        v = R @ x[3:6]
        one, none = np.broadcast_to(np.eye(3), R.shape), np.zeros((len(R), 3, 1))
        turning = np.cross(np.eye(3)[:, None], v).transpose(1, 2, 0)  # columns e_i × v
        d = v + self.data.position + errors[:, :3] - x[:3]
        return Vector(d, np.concatenate([-one, R, none], axis=2), np.concatenate([one, turning], axis=2))

    def distance(self, x: Interval, errors: Array) -> Interval:
        """|d| with errors (N, 6), enclosed."""
        v, w = iv.sum(self.rotation * x[3:6]), Interval(errors[:, 3:])
        angle, still = iv.sqrt(iv.sum(iv.sqr(w))), (errors[:, 3:] == 0).all(axis=1)
        safe = iv.rearrange(lambda end: np.where(still, 1.0, end), angle)
        first, second = iv.sin(safe) / safe, 2 * iv.sqr(iv.sin(safe / 2) / safe)
        once = _cross(w, v)
        turned = v + first[..., None] * once + second[..., None] * _cross(w, once)
        return iv.sqrt(iv.sum(iv.sqr(turned + (Interval(self.data.position) - x[:3] + errors[:, :3]))))

    def stated(self, errors: Array) -> tuple[Array, Array]:
        """Errors δ, ω (N, 6) within tolerances; turns are stated as v of the quaternion (1, v), about half of ω.

        It turns by 2 atan |v| about v, so that no component of the rotation vector exceeds 2 |v_i|.
        """
        within, _ = super().stated(errors)
        v = within[:, 3:] / 2
        size = np.linalg.norm(v, axis=1, keepdims=True)
        turn = 2 * v * np.where(size > 0, np.arctan(size) / np.where(size > 0, size, 1.0), 1.0)
        return np.hstack([within[:, :3], v]), np.hstack([within[:, :3], turn])

    def linearization(self, center: Array, box: Box) -> Linearization:
        """The squared equations around a center, and their derivatives over a box, for all data in their intervals."""
        value = _Expansion(self, center, np.zeros(7)).value()
        data = self.data
        w, p, reading = (
            Interval.centered(middle, radius)
            for middle, radius in (
                (np.zeros((self.n_rows, 3)), data.rotation_tolerance),
                (data.position, data.position_tolerance),
                (data.reading, data.reading_tolerance),
            )
        )
        x = Interval(box.lower, box.upper)
        R = self.rotation + iv.sum(_turns(w)[..., None] * self.rotation[:, None], axis=2)
        to_base = p - x[:3]
        d = iv.sum(R * x[3:6]) + to_base
        along = x[3:6] + iv.sum(R * to_base[..., None], axis=1)  # Rᵀ d, because R is a rotation
        return Linearization(value, joined(-2 * d, 2 * along, (-2 * (reading + x[6]))[..., None]))


def certified_leg(
    poses: Poses,
    leg: int,
    prior: Box,
    *,
    position_tolerance: Any,
    rotation_tolerance: Any,
    reading_tolerance: Any,
) -> LegProblem:
    """The problem of one leg (counted from 1) from measured poses, with what each measurement may be off by.

    Examples:
        >>> poses = Poses([[0.0, 0.0, 0.4]], [np.eye(3)], [[0.1, 0.2]])
        >>> prior = Box.around(np.zeros(7), 1.0)
        >>> problem = certified_leg(
        ...     poses, 2, prior, position_tolerance=1e-4, rotation_tolerance=1e-4, reading_tolerance=1e-5
        ... )
        >>> problem.data.reading
        array([0.2])
    """
    require(poses.rotation is not None, "a leg of a Gough platform needs orientations, but none were measured")
    assert poses.rotation is not None
    require(1 <= leg <= poses.n_chains, f"there is no leg {leg}: the poses have readings of {poses.n_chains}")
    quaternion = to_quaternion(nearest_rotation(poses.rotation))
    data = LegMeasurements(
        quaternion,
        poses.position,
        poses.readings[:, leg - 1],
        position_tolerance,
        rotation_tolerance,
        reading_tolerance,
    )
    return LegProblem(data, prior, leg)


class _Expansion:
    """The equations of a leg around a center, each quantity an interval that holds it without rounding.

    With v = R b, d = v + p − a and m = v × (p − a), all at θ = c + h, the squared distance is |d|² changed by
    2 d·δ + 2 m·ω, by at most 2 |d| e for what is left of exp(ω), e = |ω|² |b| / 2, and by the square of the change.
    |d|² − (l + reading)² = f(c) + J h + |h_a|² + |h_b|² − h_l² − 2 h_aᵀ R h_b exactly: R is a rotation.
    """

    def __init__(self, problem: LegProblem, center: Array, radius: Array) -> None:
        data, R = problem.data, problem.rotation
        self.data, self.R, self.n = data, R, len(data)
        self.r_a, self.r_b, self.r_l = Interval(radius[:3]), Interval(radius[3:6]), Interval(radius[6])
        self.radius, self.tolerance, self._T = radius, problem.tolerance, Interval(data.reading_tolerance)
        self.v = iv.sum(R * center[3:6])
        self.p = Interval(data.position) - center[:3]
        self.d = self.v + self.p
        self.length = Interval(data.reading) + center[6]
        self.turned = iv.sum(abs(R) * self.r_b)  # the largest |R h_b|, axis by axis
        self.b_most = iv.sqrt(iv.sum(iv.sqr(abs(Interval(center[3:6])) + self.r_b)))

    def rows(self, *, shared: bool) -> Relaxation:
        """Two rows for each pose; with δ and ω as columns if they are shared."""
        F, f = self._equation(), iv.sum(iv.sqr(self.d)) - iv.sqr(self.length)
        forms, constant, reach = self._forms()
        tolerance, T = self.tolerance, self._T
        G, spread = (2 * T)[..., None] * np.eye(23)[6], reach
        if not shared:
            slope, height = chord(constant, reach)
            weight = Interval(2 * tolerance) * slope
            G, spread = G + iv.sum(weight[..., None] * forms, axis=1), slope * constant + height
        rest, square, shorter = self._second_order()
        g = iv.sum(Interval(2 * tolerance) * spread) + 2 * T * self.length + rest
        columns = 2 * constant[:, : 6 * shared]
        A = joined(joined(F - G, columns), joined(-F - G, -columns), axis=0)
        b = joined(g - f + iv.sqr(T), g + f + square + shorter)
        first, second = np.array(PRODUCTS).T
        most = np.concatenate([self.radius, (Interval(self.radius[first]) * self.radius[second]).upper])
        errors = np.vstack([tolerance, tolerance])[:, : 6 * shared]
        return absorbed(A, b, np.hstack([np.tile(most, (2 * self.n, 1)), errors]))

    def value(self) -> Interval:
        """|d|² − (l + reading)² at the center, for all data in their intervals."""
        _, constant, _ = self._forms()
        tolerance = Interval(2 * self.tolerance)
        rest, square, _ = self._second_order()
        spread = (iv.sum(tolerance * abs(constant)) + rest).upper
        around = Interval(-spread, (Interval(spread) + square).upper)
        T = self.data.reading_tolerance
        return iv.sum(iv.sqr(self.d)) + around - iv.sqr(self.length + Interval(-T, T))

    def _equation(self) -> Interval:
        """What |d|² − (l + reading)² adds to its value at the center: coefficients of h and its products (N, 23)."""
        slope = joined(-self.d, iv.sum(self.R * self.d[..., None], axis=1), (-self.length)[..., None])
        squares = Interval(np.tile([1.0] * 6 + [-1.0], (self.n, 1)))
        return joined(2 * slope, (-2 * self.R).reshape(self.n, 9), squares)

    def _forms(self) -> tuple[Interval, Interval, Interval]:
        """Distance d and moment m as forms of h and its products (N, 6, 23), values at the center, and reach."""
        v, p, R = self.v, self.p, self.R
        along = R[:, _J, :] * p[:, _K, None] - R[:, _K, :] * p[:, _J, None]
        moment = v[:, _J] * p[:, _K] - v[:, _K] * p[:, _J]
        forms = iv.rearrange(_placed, R, -R, v, -v, along)
        size, turned = abs(v), self.turned
        reach = iv.sum(abs(along) * self.r_b)
        reach = reach + (size[:, _J] + turned[:, _J]) * self.r_a[_K] + (size[:, _K] + turned[:, _K]) * self.r_a[_J]
        return forms, joined(self.d, moment), joined(self.r_a + turned, reach)

    def _second_order(self) -> tuple[Interval, Interval, Interval]:
        """What exp(ω) leaves, the square of the change, and of the length: −η² where l + reading ≥ η is sure, else 3η².

        Lengths are not negative, so (l + reading + η)² ≥ (l + reading)² − 2 T (l + reading) − 3 T² in any case.
        """
        data = self.data
        turn = iv.sum(iv.sqr(Interval(data.rotation_tolerance)))
        move = iv.sqrt(iv.sum(iv.sqr(Interval(data.position_tolerance))))
        e = turn * self.b_most / 2
        farthest = iv.sqrt(iv.sum(iv.sqr(abs(self.d) + (self.r_a + self.turned))))
        square = iv.sqr(move + iv.sqrt(turn) * self.b_most + e)
        sure = (self.length - self.r_l).lower >= data.reading_tolerance
        return 2 * farthest * e, square, iv.sqr(self._T) * np.where(sure, -1.0, 3.0)


def _turns(w: Interval) -> Interval:
    """Matrices exp(w) − 1 (N, 3, 3): w×, and what is left, none of whose entries exceeds |w|² / 2."""
    half = (iv.sum(iv.sqr(w)) / 2).upper
    zero = Interval(np.zeros(len(w)))
    x, y, z = w[:, 0], w[:, 1], w[:, 2]
    cross = joined(*(part[:, None] for part in (zero, -z, y, z, zero, -x, -y, x, zero)))
    return (cross + Interval(-half, half)[..., None]).reshape(len(w), 3, 3)


def _placed(R: Array, minus_R: Array, v: Array, minus_v: Array, along: Array) -> Array:
    """d_i = … − h_a + R h_b and m_i = v_j p_k − v_k p_j, bilinear in h_a and h_b: coefficients by column."""
    forms = np.zeros((len(R), 6, 23))
    for i, j, k in zip(range(3), _J, _K, strict=True):
        forms[:, i, i], forms[:, i, 3:6] = -1.0, R[:, i]
        forms[:, 3 + i, 3:6], forms[:, 3 + i, k], forms[:, 3 + i, j] = along[:, i], minus_v[:, j], v[:, k]
        forms[:, 3 + i, 7 + 3 * k : 10 + 3 * k], forms[:, 3 + i, 7 + 3 * j : 10 + 3 * j] = minus_R[:, j], R[:, k]
    return forms


def _cross(x: Interval, y: Interval) -> Interval:
    return x[:, _J] * y[:, _K] - x[:, _K] * y[:, _J]
