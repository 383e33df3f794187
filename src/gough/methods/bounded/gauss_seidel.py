"""Interval Gauss–Seidel: on a square system as it is, or on any system after multiplying by a left inverse of W.

The paper's over-determined form is the square system A (θ, r) = b with A = [[W, −I], [0, Wᵀ]] and b = ([Y], 0)
[PRV03i, eqs. (28)-(30)], preconditioned by A⁻¹ (C_GSP in [PRV03i, §3.2]). The first p rows of A⁻¹ are
[W⁺, (WᵀW)⁻¹], and b is zero below [Y]: what is left for θ is W⁺ W θ = W⁺ [Y], and that is all that is computed here, by
blocks of rows. (N + p)² numbers are never formed, nor is W⁺.

Why it is true of floats. Let X (p × r) be any matrix of floats, T = W X and C = X Tᵀ, exactly. Every θ with
W' θ = y + e', |W' − W| ≤ D, |e'| ≤ e, and every θ₀ satisfy, with δ = θ − θ₀ and ρ = y − W θ₀,

    C W δ = C ρ + C (e' − (W' − W) θ₀) − C (W' − W) δ,

so that [G] δ = [b] with G = C W ± |C| D and b = C ρ ± |C| (e + D |θ₀|). F = Tᵀ W and s = Tᵀ ρ are enclosed by verified
products, block by block; C W = X F and C ρ = X s follow. That X is close to R⁻¹ of W = Q R makes the box small, and
nothing depends on it for its truth. Where r = p, C is close to W⁺, and with D = 0 the box is W⁺ y ± |W⁺| e up to
rounding.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf, ldexp
from typing import ClassVar

import numpy as np

from gough.core import intervals as iv
from gough.core.arrays import Array, Integers, Mask
from gough.core.intervals import Interval
from gough.core.midrad import TINY, UNIT, MidRad, gamma, inflated, upward
from gough.core.products import bound_matmul, matmul, residual
from gough.core.threads import one_blas_thread
from gough.estimates import Claim
from gough.methods.bounded.contractors import interval_rows
from gough.methods.bounded.strips import bounds_of
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import Box

_LARGE = ldexp(1.0, 300)
"""Beyond this, scaled numbers are left alone: nothing below it overflows in a product or two."""


_SMALL = ldexp(1.0, -900)
"""Added to bounds that must be positive; the greatest measurement is about 1 after scaling."""


_MAX_SWEEPS = 50


@dataclass(frozen=True)
class GaussSeidel:
    """Interval Gauss–Seidel: row i of a square system solved for unknown i, the box put in for the others.

    Constraint: |y − W θ| ≤ e with W exact or known to a radius D.
    Kept: every θ of the box that satisfies all rows. With `precondition` (C_GSP of [PRV03i, §3.2]) the system is
    C W θ = C [y ± e], C about W⁺: if W is exact, the box becomes W⁺ y ± |W⁺| e, the hull of the least-squares
    solutions over all y within their bounds. It holds the feasible set and is wider; its width does not shrink as
    rows are added. Unbounded boxes become bounded if |I − C W| + |C| D is proved to contract. [PRV03i, eq. (29)] has Wᵀ
    in its last rows, where an uncertain W widens the box once more; a consistent θ has r = 0, so we leave those rows
    out. A problem is refuted where r cannot be zero: where a least-squares residual is too large for its bounds.
    Without `precondition` (C_GS) rows 1 … p are taken as they come, each solved for the unknown of the same number;
    later rows have a zero on the diagonal of (29) and can only refute.
    Does nothing where W is singular, or has fewer rows than unknowns, and the box is unbounded; without `precondition`,
    to unknown i where W_ii = 0 or another unknown of that row is unbounded.
    Idempotent up to rounding if W is exact and `precondition` is on; otherwise not: use it in a Fixpoint.

    Examples:
        >>> import gough
        >>> W, y = [[1.0, 1.0], [1.0, -1.0], [1.0, 0.0]], [3.0, 1.0, 2.0]
        >>> problem = gough.LinearProblem(W, y, gough.Unknowns(["a", "b"]), Bounded(0.3))
        >>> box = GaussSeidel().contract(problem, problem.unknowns.bounds)
        >>> box.lower.round(9), box.upper.round(9)
        (array([1.7, 0.7]), array([2.3, 1.3]))
        >>> GaussSeidel(precondition=False).contract(problem, Box([0, 0], [9, 9])).upper.round(9)
        array([3.3, 2.6])
    """

    precondition: bool = True
    normalize: bool = False
    """Divide rows by their bounds before preconditioning, as [PRV03i, eq. (21)] does: by the power of two next to
    them, which is exact, and at most by 2^20 against each other. The box is then much smaller where bounds differ much.
    """
    claim: ClassVar[Claim] = Claim.PROOF

    @np.errstate(all="ignore")
    def contract(self, problem: LinearProblem, box: Box) -> Box:
        noise = bounds_of(problem, "GaussSeidel")
        if box.is_empty:
            return box
        if not self.precondition:
            box = _swept_as_it_is(problem, box)
            return Box.empty(len(box)) if _violates_rows(problem, box) else box
        with one_blas_thread(), np.errstate(all="ignore"):
            box = _preconditioned(ScaledRows(problem, noise, self.normalize), box)
        # exact where the product with C is not, as for a diagonal W
        return _swept_as_it_is(problem, box) if problem.n_rows <= len(box) else box


def _sweep(A: Interval, b: Interval, box: Box) -> Box:
    """The box after solving each row of [A] x = [b] for one unknown: C_GS of [PRV03i, §3.2], new values used at once.

    The division is extended: where zero is in A_ii, what it leaves of x_i is kept.
    """
    lower, upper = box.lower.copy(), box.upper.copy()
    for i in range(len(b)):
        others = np.arange(len(box)) != i
        rest = iv.dot(A[i][others], Interval(lower[others], upper[others]))
        allowed = iv.mul_rev(A[i, i], b[i] - rest, Interval(lower[i], upper[i]))
        if iv.is_empty(allowed):
            return Box.empty(len(box))
        lower[i], upper[i] = allowed.lower, allowed.upper
    return Box(lower, upper)


def _swept_as_it_is(problem: LinearProblem, box: Box) -> Box:
    """One sweep over the first p rows, or fewer."""
    return box if box.is_empty else _sweep(*interval_rows(problem, slice(0, min(len(box), problem.n_rows))), box)


def _violates_rows(problem: LinearProblem, box: Box) -> bool:
    """Whether no θ of the box satisfies some row."""
    if box.is_empty:
        return False
    theta = Interval(box.lower, box.upper)
    blocks = (interval_rows(problem, rows) for rows in problem.blocks())
    return any(np.any(iv.is_disjoint(iv.dot(W, theta), y)) for W, y in blocks)


@dataclass(frozen=True, eq=False)
class ScaledBlock:
    """A block of scaled rows: |y − W' θ| ≤ e for some W' with |W' − W| ≤ D · lift."""

    W: Array
    y: Array
    e: Array
    D: Array


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """The problem in units, powers of two, in which no column of [W] and no measurement is much above 1.

    With `normalize`, rows are divided by the powers of two next to their bounds as well, the least bound's row by 1.
    Scaling is exact but for numbers that become subnormal; the bounds e and D grow by what these lose.
    """

    problem: LinearProblem
    noise: Bounded
    normalize: bool = False

    @cached_property
    def greatest(self) -> tuple[Array, float]:
        """The greatest magnitude or radius in each column of W, and in y."""
        W, y, D = np.zeros(len(self.problem.unknowns)), float(self.noise.radius.max()), self.noise.regressor
        for rows in self.problem.blocks():
            W = np.maximum(W, np.abs(self.problem.W[rows]).max(axis=0))
            y = max(y, float(np.abs(self.problem.y[rows]).max()))
            if D is not None:
                W = np.maximum(W, D if D.ndim == 0 else D[rows].max(axis=0))
        return W, y

    @cached_property
    def exponents(self) -> tuple[Integers, int]:
        """Exponents of the units of each column of W, and of y."""
        exponent = np.frexp(np.append(*self.greatest))[1].astype(np.int64).clip(-1000, 1000)
        return exponent[:-1], int(exponent[-1])

    @cached_property
    def _least_exponent(self) -> int:
        e = self.noise.radius
        return int(np.frexp(np.min(e, where=e > 0, initial=self.greatest[1]))[1])

    def _weights(self, rows: slice) -> Array:
        """A power of two for each row, from 2^-20 to 1."""
        e = self.noise.radius
        if e.ndim == 0 or not self.normalize:
            return np.ones(rows.stop - rows.start)
        return np.ldexp(1.0, np.where(e[rows] > 0, self._least_exponent - np.frexp(e[rows])[1], 0).clip(-20, 0))

    @cached_property
    def norm(self) -> float:
        """About the Euclidean norm of e."""
        e = np.broadcast_to(np.ldexp(self.noise.radius, -self.exponents[1]), self.problem.y.shape)
        return float(np.sqrt(sum(np.square(e[k] * self._weights(k)).sum() for k in self.problem.blocks())))

    @cached_property
    def lift(self) -> Array:
        """(q, p): the radius of a block of W is D · lift, D of q columns. Few of them cost little."""
        D, p = self.noise.regressor, len(self.problem.unknowns)
        if D is None:
            return np.full((1, p), ldexp(TINY, 22))  # 4 TINY over the least weight
        return np.eye(p) if D.ndim else upward(D * np.ldexp(1.0, -self.exponents[0]))[None]

    def rows(self) -> Iterator[ScaledBlock]:
        """The rows, a block at a time."""
        of_W, of_y = np.ldexp(1.0, -self.exponents[0]), ldexp(1.0, -self.exponents[1])
        e, D = np.broadcast_to(self.noise.radius, self.problem.y.shape), self.noise.regressor
        for k in self.problem.blocks():
            weights = self._weights(k)
            by = of_W if (weights == 1).all() else np.multiply.outer(weights, of_W)
            radius = upward(D[k] * by) if D is not None and D.ndim else weights[:, None]
            side = of_y * weights
            yield ScaledBlock(self.problem.W[k] * by, self.problem.y[k] * side, upward(e[k] * side), radius)

    def box(self, box: Box) -> Box:
        """The box in scaled units, rounded outward."""
        return _times_power(box, self.exponents[0] - self.exponents[1])

    def unscaled(self, box: Box) -> Box:
        """A box in scaled units in those of the problem, rounded outward."""
        return _times_power(box, self.exponents[1] - self.exponents[0])


def _times_power(box: Box, exponent: Integers) -> Box:
    half = exponent // 2
    x = Interval(box.lower, box.upper) * np.ldexp(1.0, half) * np.ldexp(1.0, exponent - half)
    return Box(x.lower, x.upper)


def _preconditioned(scaled: ScaledRows, box: Box) -> Box:
    """The box that [G] δ = [b] leaves, empty if some residual is too large."""
    theta = scaled.box(box)
    free = (theta.lower < theta.upper) & (scaled.greatest[0] > 0)
    X, start = _left_inverse(scaled, theta, free)
    if not (np.abs(X) < _LARGE).all() or not (np.abs(start) < _LARGE).all():
        return box
    system = _System.of(scaled, X, start, free)
    delta = Interval(theta.lower[free], theta.upper[free]) - start[free]
    contracted = system.contracted(Box(delta.lower, delta.upper))
    if contracted.is_empty or system.is_refuted(scaled, np.maximum(np.abs(contracted.lower), np.abs(contracted.upper))):
        return Box.empty(len(box))
    moved = Interval(contracted.lower, contracted.upper) + start[free]
    lower, upper = theta.lower.copy(), theta.upper.copy()
    lower[free], upper[free] = moved.lower, moved.upper
    return box & scaled.unscaled(Box(lower, upper))


def _left_inverse(scaled: ScaledRows, theta: Box, free: Mask) -> tuple[Array, Array]:
    """X, for which W X is about orthonormal, and a least-squares θ₀ moved into the box: approximate, not trusted.

    The free columns of W are reduced to their triangle block by block [DGHL12]; X = V Σ⁻¹ of the triangle's singular
    values, without those that are rounding errors, so that C = X Xᵀ Wᵀ is about the pseudo-inverse.
    """
    p = int(free.sum())
    fixed = np.where(theta.lower == theta.upper, theta.lower, 0.0)
    R = np.zeros((0, p + 1))
    for rows in scaled.rows():
        stacked = np.column_stack([rows.W[:, free], rows.y - rows.W @ fixed])
        R = np.asarray(np.linalg.qr(np.vstack([R, stacked]), mode="r"))
    size = np.linalg.norm(R[:, :p], axis=0)
    size = np.where(size > 0, size, 1.0)
    failed = np.full((p, p), np.nan), np.full(len(theta), np.nan)
    if not np.isfinite(R).all():
        return failed
    try:
        U, sigma, V = np.linalg.svd(R[:p, :p] / size, full_matrices=False)
    except np.linalg.LinAlgError:
        return failed
    kept = sigma > 8.0 * UNIT * p * sigma.max(initial=0.0)
    X = V[kept].T / sigma[kept] / size[:, None]
    start = fixed.copy()
    start[free] = X @ (U[:, kept].T @ R[:p, p])
    return X, np.clip(start, theta.lower, theta.upper)


@dataclass(frozen=True, eq=False)
class _System:
    """[G] δ = [b] for the free unknowns, and what it was made of."""

    X: Array
    start: Array
    free: Mask
    F: MidRad
    """Tᵀ W"""
    s: MidRad
    """Tᵀ ρ"""
    reach: Array
    """At least |C| (e + D |θ₀|)."""
    spread: Array
    """At least |C| D."""
    norms: Array
    """At least the Euclidean norms of e + D |θ₀|, and of the columns of D before `lift`."""
    suspect: bool
    """Whether some residual might be too large."""

    @classmethod
    def of(cls, scaled: ScaledRows, X: Array, start: Array, free: Mask) -> "_System":
        F, s, bounds, squares, n_blocks, suspect = _Sum(), _Sum(), np.zeros(()), np.zeros(()), 0, False
        lifted = bound_matmul(scaled.lift, np.abs(start)[:, None])
        right = _padded(X, start, free)
        for rows in scaled.rows():
            T, rho = _projected(rows, right)
            F.add(matmul(_transposed(T), rows.W))
            s.add(matmul(_transposed(T), rho))
            error = _total_error(rows, lifted)
            radii = np.column_stack([error, rows.D])
            bounds = bounds + bound_matmul(matmul(X, _transposed(T)).mag, radii)
            squares = squares + bound_matmul(np.ones((1, len(radii))), upward(np.square(radii)))[0]
            suspect = suspect or _is_suspect(rho.mid, np.square(T.mid).sum(axis=1), error, scaled.norm)
            n_blocks += 1
        bounds, squares = (inflated(x, n_blocks) + _SMALL for x in (bounds, squares))
        return cls(
            X=X,
            start=start,
            free=free,
            F=MidRad(F.enclosure.mid[:, free], F.enclosure.rad[:, free]),
            s=s.enclosure,
            reach=bounds[:, 0],
            spread=bound_matmul(bounds[:, 1:], scaled.lift[:, free]),
            norms=upward(np.sqrt(squares)),
            suspect=suspect or bool(np.linalg.norm(s.enclosure.mid) > 0.01 * scaled.norm),
        )

    @cached_property
    def defect(self) -> MidRad:
        """I − C W"""
        return residual(self.X, self.F, np.eye(len(self.X)))

    def contracted(self, delta: Box) -> Box:
        """The box after a bound that needs no start, and sweeps of Gauss–Seidel."""
        side = matmul(self.X, self.s)
        bound = _fixed_point(self.defect.mag + self.spread, side.mag + self.reach)
        delta = delta & Box(-bound, bound)
        G = np.eye(len(self.X)) - self.defect.interval() + Interval(-self.spread, self.spread)
        b = side.interval() + Interval(-self.reach, self.reach)
        for _ in range(_MAX_SWEEPS):
            last, delta = delta, delta if delta.is_empty else _sweep(G, b, delta)
            if delta.is_empty or (delta.width >= 0.999 * last.width).all():
                break
        return delta

    def is_refuted(self, scaled: ScaledRows, delta: Array) -> bool:
        """Whether some row's residual exceeds what errors within their bounds explain, for every |θ − θ₀| ≤ delta.

        W δ = ρ + η with |η| ≤ ε = e + D |θ|, and W − T F = W (I − C W), so that r = (I − T Tᵀ) ρ, about the residual of
        least squares, is W (I − C W) δ − (I − T Tᵀ) η. With h = |t_k|² and |TᵀT|₂ ≤ 1 + α, by Cauchy and Schwarz,

            |r_k| ≤ |1 − h| ε_k + √((1 + α) h − h²) |ε|₂ + |W_k| |I − C W| |δ|.

        r is that of [PRV03i, eqs. (28)-(30)] with its sign changed; the N² terms of |I − W W⁺| ε are never formed.
        """
        if not self.suspect:
            return False
        lifted = bound_matmul(scaled.lift[:, self.free], delta[:, None])
        theta = lifted + bound_matmul(scaled.lift, np.abs(self.start)[:, None])
        norm = inflated(self.norms[0] + bound_matmul(self.norms[None, 1:], lifted)[0, 0], 2)
        off = bound_matmul(self.defect.mag, delta[:, None])
        gram = residual(self.F, self.X, np.eye(self.X.shape[1]))
        alpha = bound_matmul(gram.mag, np.ones((len(gram.mid), 1))).max(initial=0.0)
        right = _padded(self.X, self.start, self.free)
        for rows in scaled.rows():
            T, rho = _projected(rows, right)
            r = residual(T, self.s, rho)
            low, high = _squared_length(T)
            others = upward(
                np.sqrt(np.maximum(upward(inflated(high * (1.0 + alpha), 4) - np.square(low) * (1 - 8 * UNIT)), 0))
            )
            own = upward(np.maximum(1.0 - low, high - 1.0)) * _total_error(rows, upward(theta))
            explained = own + others * norm + bound_matmul(np.abs(rows.W[:, self.free]), off)[:, 0]
            if (-upward(r.rad - np.abs(r.mid)) > inflated(explained, 8) + _SMALL).any():
                return True
        return False


class _Sum:
    """The sum of enclosures, itself enclosed: each addition errs by 2^-52 of its result."""

    def __init__(self) -> None:
        self._mid, self._rad, self._n = np.zeros(()), np.zeros(()), 0

    def add(self, x: MidRad) -> None:
        self._mid = self._mid + x.mid
        self._rad = self._rad + (x.rad + (2.0 * UNIT * np.abs(self._mid) + 8.0 * TINY))
        self._n += 1

    @property
    def enclosure(self) -> MidRad:
        return MidRad(self._mid, inflated(self._rad, 4 * self._n) + 16.0 * TINY)


def _padded(X: Array, start: Array, free: Mask) -> Array:
    """[X θ₀] with rows of zeros in X for unknowns that are not free."""
    right = np.zeros((len(start), X.shape[1] + 1))
    right[free, :-1], right[:, -1] = X, start
    return right


def _projected(rows: ScaledBlock, right: Array) -> tuple[MidRad, MidRad]:
    """T = W X and ρ = y − W θ₀ from right = [X θ₀]."""
    product = matmul(rows.W, right)
    rho = rows.y - product.mid[:, -1]
    spread = inflated(product.rad[:, -1] + 2.0 * UNIT * np.abs(rho), 4) + 64.0 * TINY  # as in core.products.residual
    return MidRad(product.mid[:, :-1], product.rad[:, :-1]), MidRad(rho, spread)


def _is_suspect(rho: Array, h: Array, e: Array, norm: float) -> bool:
    """Whether a residual is near the bound of `_System.is_refuted`: a guess that saves a pass over the data."""
    return bool((np.abs(rho) > 0.9 * (np.abs(1 - h) * e + np.sqrt(np.abs(h - h * h)) * norm)).any())


def _transposed(x: MidRad) -> MidRad:
    return MidRad(x.mid.T, x.rad.T)


def _total_error(rows: ScaledBlock, lifted: Array) -> Array:
    """At least e + D |θ|, from lift · |θ|."""
    return upward(rows.e + bound_matmul(rows.D, lifted)[:, 0])


def _squared_length(T: MidRad) -> tuple[Array, Array]:
    """Bounds on the squared lengths of the rows of T."""
    middle = np.square(T.mid).sum(axis=1)
    spread = ((2.0 * np.abs(T.mid) + T.rad) * T.rad).sum(axis=1)
    error = inflated(spread + gamma(T.shape[1] + 2) * middle, T.shape[1] + 6) + _SMALL
    return np.maximum(-upward(error - middle), 0.0), upward(error + middle)


def _fixed_point(M: Array, z: Array) -> Array:
    """A bound on every |δ| ≤ z + M |δ|; infinite where none is found.

    If z + M v ≤ v with z > 0, the spectral radius of M is below 1, and |δ| ≤ (I − M)⁻¹ z ≤ v, for δ of any size
    [RUM10].
    """
    M, z = upward(M), upward(z) + _SMALL
    if not (M < _LARGE).all():
        return np.full(len(z), inf)
    try:
        v = np.abs(np.linalg.solve(np.eye(len(z)) - M, z)) * (1.0 + ldexp(1.0, -20))
    except np.linalg.LinAlgError:
        return np.full(len(z), inf)
    image = inflated(z + bound_matmul(M, v[:, None])[:, 0], 2)
    return image if (image <= v).all() else np.full(len(z), inf)
