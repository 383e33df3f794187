"""The cone of physically possible parameters, and the distance of an estimate of base parameters from it.

Physical parameters form a convex cone: masses, rotor inertias and friction that are not negative, and bodies whose
pseudo-inertia is positive semidefinite (`gough.robots.physical`). Base parameters are linear combinations β = C θ, so
that the possible ones form a cone too. Two tests, each with half of the level:

- every combination that is positive for all physical parameters and determined by the data, such as a mass by itself,
  is tested for being negative by Student's distribution, with Bonferroni's correction;
- the distance of the estimate from the cone, in standard deviations, is tested by the χ² (or F) distribution with as
  many degrees of freedom as base parameters are constrained. The true parameters are in the cone, so the distance is
  at most that from them: the test is conservative.

The cone of bodies is approximated from outside by half-spaces vᵀ P v ≥ 0, which are added where the nearest point
violates one. An outer approximation is nearer to the estimate than the cone is, so that it never refutes too much.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from gough.core import fisher
from gough.core.arrays import Array
from gough.core.text import short_labels
from gough.dynamics.signs import LEVEL
from gough.estimates import Estimate
from gough.methods.statistical.identifiability import Identifiability
from gough.problem import LinearProblem
from gough.region import ConfidenceEllipsoid
from gough.robots.mechanism.inertia import TERMS
from gough.robots.physical import FORMS, Limit, PhysicalLimits, along, pseudo_inertia

COMBINATION = "combination"
MOST_NAMED = 4
"""Parameters that a sentence names."""
_ROUNDING = 1e-9
"""Share of the size that a parameter would have if it made the efforts alone: smaller values are rounding errors."""
_REGULAR = (1e-10, 1e-8)
"""Weights of the squares of θ, scaled, in the search for the nearest physical parameters: they make it unique. The
second is tried where rounding errors spoil the result of the first."""
_FAR = 10.0
"""How much larger than those of the regularized search the nearest physical parameters are assumed to be at most. It
matters where only masses far beyond all others come near an estimate."""
_OPTIMAL = 1e-6
"""Relative error of the conditions of optimality up to which a result of the search is used."""
_ROUNDS = 40
_LENGTH = 0.3
"""m: typical size of a body, for scaling only."""


@dataclass(frozen=True)
class Impossible:
    """A parameter, or a combination, that is negative although no physical parameters make it so."""

    name: str
    unit: str
    value: float
    sigma: float
    beyond: float
    """How many standard deviations it lies below zero."""
    what: str
    """What it is: mass, moment of inertia, friction, or combination."""
    unless: str = ""
    """The condition under which it may be negative after all."""


def has_base(analysis: Identifiability, answer: Estimate) -> bool:
    return isinstance(answer.region, ConfidenceEllipsoid) and len(answer.unknowns) == analysis.rank


def sizes_of(problem: LinearProblem) -> Array:
    """The size of each parameter that would make the efforts alone."""
    squares, total = np.zeros(problem.W.shape[1]), 0.0
    for rows in problem.blocks():
        squares += (problem.W[rows] ** 2).sum(axis=0)
        total += float((problem.y[rows] ** 2).sum())
    return np.sqrt(total / np.maximum(squares, np.finfo(float).tiny))


@dataclass(frozen=True, eq=False)
class Half:
    """A combination of parameters that no physical parameters make negative: factors · θ ≥ 0."""

    factors: Array
    what: str
    unless: str = ""


@dataclass(frozen=True, eq=False)
class PhysicalCone:
    """Physical parameters θ, and the base parameters β = C θ that they make.

    θ are the free parameters of the robot, then terms of bodies that are not among them (fixed, or without effect), and
    rotors on the base that have no parameter; the columns of the former are zero.
    """

    analysis: Identifiability
    C: Array
    halves: tuple[Half, ...]
    """Half-spaces that are known beforehand."""
    bodies: tuple[tuple[str, Array], ...]
    """For each body its name and the places of its ten terms in θ."""
    free: Array
    """Whether each of θ may have any value, whatever the others are."""

    @classmethod
    def of(cls, limits: PhysicalLimits, analysis: Identifiability) -> "PhysicalCone | None":
        """The cone of a robot; None where no limit is known of a free parameter."""
        place = {name: k for k, name in enumerate(analysis.names)}
        columns = list(np.array([base.coefficients for base in analysis.base]).reshape(-1, len(place)).T)
        single: list[tuple[int, Limit]] = [
            (place[each.name], each) for each in limits.nonnegative if each.name in place
        ]
        bodies: list[tuple[str, list[int]]] = []
        nothing = np.zeros(analysis.rank)
        for body in limits.bodies:
            if not any(name in place for name in body.terms.values()):
                continue
            if set(body.terms) == {"m"}:
                single.append((place[body.terms["m"]], Limit(body.terms["m"], "mass")))
                continue
            ten = []
            for term in TERMS:
                k = place.get(body.terms.get(term, ""), len(columns))
                if k == len(columns):
                    columns.append(nothing)
                ten.append(k)
            bodies.append((body.name, ten))
            if body.rotor is not None:
                x, y, z = body.rotor
                parts = zip(ten[4:], (x * x, y * y, z * z, x * y, x * z, y * z), strict=True)
                single.append((len(columns), Limit("", "moment of inertia")))
                columns.append(sum((factor * columns[k] for k, factor in parts), nothing))
        if not single and not bodies:
            return None
        n = len(columns)
        halves = [Half(np.eye(n)[k], limit.what, limit.unless) for k, limit in single]
        for name, ten in bodies:
            halves += [Half(_spread(along(v), ten, n), what(name)) for v, what in _AXES]
        bound = {k for k, _ in single} | {k for _, ten in bodies for k in ten}
        free = np.array([k not in bound for k in range(n)])
        places = tuple((name, np.array(ten)) for name, ten in bodies)
        return cls(analysis, np.array(columns).T, tuple(halves), places, free)

    def is_never_negative(self, factors: Array) -> bool:
        """Whether factors · θ ≥ 0 for all physical θ; factors are those of all entries of θ."""
        small = 1e-9 * abs(factors).max()
        if (abs(factors[self.free]) > small).any():
            return False
        inside = np.zeros(len(factors), dtype=bool)
        for _, ten in self.bodies:
            inside[ten] = True
            form = np.tensordot(factors[ten], FORMS, axes=1)
            size = np.sqrt(np.maximum(abs(form).max(axis=1), 1e-150))
            if np.linalg.eigvalsh(form / np.outer(size, size))[0] < -1e-9:
                return False
        return bool((factors[~inside] >= -small).all())

    def test(self, answer: Estimate, sizes: Array) -> "PhysicalTest | None":
        """Both tests of an estimate of the base parameters; None where its covariance is not finite."""
        region = answer.region
        assert isinstance(region, ConfidenceEllipsoid)
        beta = region.center
        least = _ROUNDING * sizes
        V = region.covariance + np.diag(least**2)
        if not (np.isfinite(V).all() and np.isfinite(beta).all()):
            return None
        singles = []
        for d, half in self._determined():
            sigma = float(np.sqrt(d @ V @ d))
            singles.append((d, half, float(d @ beta), sigma))
        white = whitening(V)
        A, b = white @ self.C, white @ beta
        dof = len(b) - rank(A[:, self.free])
        distance, residual = self._distance(A, b) if dof else (0.0, np.zeros(len(b)))
        return PhysicalTest(answer, region.dof, tuple(singles), distance, dof, white.T @ residual)

    def _determined(self) -> Iterator[tuple[Array, Half]]:
        """Combinations d · β of base parameters that are never negative: the base parameters, and other known ones."""
        seen: list[Array] = []
        unit = np.eye(len(self.C))
        known = [(unit[j], self._of_base(row)) for j, row in enumerate(self.C) if self.is_never_negative(row)]
        inverse = np.linalg.pinv(self.C)
        for half in self.halves:
            d = inverse.T @ half.factors
            if np.allclose(self.C.T @ d, half.factors, rtol=0, atol=1e-7 * abs(half.factors).max()):
                known.append((d, half))
        for d, half in known:
            direction = d / np.linalg.norm(d)
            if not any(abs(direction @ other) > 1 - 1e-9 for other in seen):
                seen.append(direction)
                yield d, half

    def _of_base(self, row: Array) -> Half:
        """What a base parameter is: a single limit has its own words."""
        involved = np.flatnonzero(row)
        for half in self.halves:
            if len(involved) == 1 and np.flatnonzero(half.factors).tolist() == involved.tolist():
                return half
        name = self.analysis.names[involved[0]] if len(involved) == 1 else ""
        return Half(row, "moment of inertia" if name.startswith("I") else COMBINATION)

    def _distance(self, A: Array, b: Array) -> tuple[float, Array]:
        """Distance of b from A θ over the physical θ, from below, and the vector from the nearest one to b."""
        size = float(np.linalg.norm(b))
        if size == 0:
            return 0.0, b
        scale = self._scale(A)
        rows = [half.factors for half in self.halves]
        best, vector = 0.0, np.zeros_like(b)
        for _ in range(_ROUNDS):
            near = _nearest(A * scale, b / size, np.array(rows) * scale)
            if near is None:
                break
            theta, square = near
            if square > best**2:
                best, vector = float(np.sqrt(square)), b / size - A @ (scale * theta)
            cuts = list(self._violated(scale * theta))
            if not cuts:
                break
            rows += cuts
        return best * size, vector * size

    def _scale(self, A: Array) -> Array:
        """Units of θ in which its columns have length 1; terms of a body without effect get those of its others."""
        norms = np.linalg.norm(A, axis=0)
        tiny = 1e-12 * norms.max()
        scale = np.where(norms > tiny, 1 / np.maximum(norms, tiny), 0.0)
        for _, ten in self.bodies:
            own = scale[ten]
            mass = own[0] or _mean(own[1:4]) / _LENGTH or _mean(own[4:]) / _LENGTH**2 or 1.0
            usual = mass * np.array([1.0, *[_LENGTH] * 3, *[_LENGTH**2] * 6])
            scale[ten] = np.where(own > 0, own, usual)
        return np.where(scale > 0, scale, 1.0)

    def _violated(self, theta: Array) -> Iterator[Array]:
        """Half-spaces vᵀ P v ≥ 0 that these parameters violate."""
        for _, ten in self.bodies:
            P = pseudo_inertia(theta[ten])
            if not P.any():
                continue
            size = np.sqrt(np.maximum(abs(P).max(axis=1), 1e-12 * abs(P).max()))
            values, vectors = np.linalg.eigh(P / np.outer(size, size))
            for value, vector in zip(values, vectors.T, strict=True):
                if value < -1e-7:
                    yield _spread(along(vector / size), ten, len(theta))


def _mean(values: Array) -> float:
    positive = values[values > 0]
    return float(positive.mean()) if len(positive) else 0.0


def _triangle(axis: str) -> Callable[[str], str]:
    others = [f"I{k}{k}" for k in "xyz" if k != axis]
    return lambda body: f"triangle inequality {others[0]} + {others[1]} ≥ I{axis}{axis} of {body}"


_AXES = (
    (np.array([0.0, 0.0, 0.0, 1.0]), lambda _: "mass"),
    (np.array([1.0, 0.0, 0.0, 0.0]), _triangle("x")),
    (np.array([0.0, 1.0, 0.0, 0.0]), _triangle("y")),
    (np.array([0.0, 0.0, 1.0, 0.0]), _triangle("z")),
)


def _spread(ten: Array, places: Sequence[int] | Array, n: int) -> Array:
    factors = np.zeros(n)
    factors[places] = ten
    return factors


def whitening(V: Array) -> Array:
    """A matrix with the inverse V as its square; directions that rounding leaves without variance get a little."""
    sigma = np.sqrt(V.diagonal())
    values, vectors = np.linalg.eigh(V / np.outer(sigma, sigma))
    values = np.maximum(values, len(V) * np.finfo(float).eps * values[-1])
    return np.asarray(vectors.T / np.sqrt(values)[:, None] / sigma)


def rank(A: Array) -> int:
    """The rank of a matrix, which may have no rows or no columns."""
    return int(np.linalg.matrix_rank(A)) if A.size else 0


def _nearest(A: Array, b: Array, M: Array) -> tuple[Array, float] | None:
    """The θ with M θ ≥ 0 that minimizes |b − A θ|² + δ |θ|², and a lower bound of the least |b − A θ|².

    With θ the result, r = b − A θ and λ the multipliers, Mᵀλ = δ θ − Aᵀr, so that r · (b − A φ) ≥ r · b − δ θ · φ for
    every φ with M φ ≥ 0, and r · b = |r|² + δ |θ|². The bound is that for |φ| ≤ _FAR |θ|.

    None where the conditions of optimality do not hold to _OPTIMAL.
    """
    for weight in _REGULAR:
        theta = _least_squares(A, b, M, weight)
        if theta is None:
            continue
        r, size = b - A @ theta, float(np.linalg.norm(theta))
        penalty = weight * size**2
        inside = bool((M @ theta >= -_OPTIMAL * np.linalg.norm(M, axis=1) * max(size, 1e-3)).all())
        if inside and abs(r @ b - r @ r - penalty) <= _OPTIMAL * float(r @ b + penalty) + 1e-12:
            length = float(np.linalg.norm(r))
            bound = (float(r @ b) - _FAR * penalty) / length if length > 0 else 0.0
            return theta, max(bound, 0.0) ** 2
    return None


def _least_squares(A: Array, b: Array, M: Array, weight: float) -> Array | None:
    """The θ with M θ ≥ 0 that minimizes |b − A θ|² + weight |θ|², as a least distance problem [LH95, §23.4].

    None where the search does not end.
    """
    from scipy.optimize import nnls  # noqa: PLC0415 - start-up time

    n = A.shape[1]
    Q, R = np.linalg.qr(np.vstack([A, np.sqrt(weight) * np.eye(n)]))
    z = Q[: len(A)].T @ b
    G = np.linalg.solve(R.T, M.T).T
    G /= np.linalg.norm(G, axis=1)[:, None]
    G = np.column_stack([G, -G @ z])
    target = np.append(np.zeros(n), 1.0)
    try:
        u, _ = nnls(G.T, target, maxiter=30 * len(G))
    except RuntimeError:
        return None
    left = G.T @ u - target
    return np.asarray(np.linalg.solve(R, z - left[:-1] / left[-1])) if left[-1] < 0 else None


@dataclass(frozen=True, eq=False)
class PhysicalTest:
    """Both tests of an estimate against a cone."""

    answer: Estimate
    scale_dof: float
    """Degrees of freedom of the scale of the covariance."""
    singles: tuple[tuple[Array, Half, float, float], ...]
    """Combinations of base parameters that are never negative: factors, meaning, value, σ."""
    distance: float
    dof: int
    normal: Array
    """Factors of base parameters whose sum is never positive, and is distance² for the estimate."""

    @property
    def p(self) -> float:
        """Probability of such a distance, or of a combination so far below zero, if the parameters are physical."""
        below = [self._below(value, sigma) for _, _, value, sigma in self.singles]
        single = len(below) * min(below, default=1.0) if below else 1.0
        return min(1.0, 2 * min(single, self._p_distance))

    @property
    def is_refuted(self) -> bool:
        """Whether the parameters cannot be physical at the level of one test."""
        return self.p < LEVEL

    @property
    def _p_distance(self) -> float:
        if self.dof == 0:
            return 1.0
        return float(fisher.above(self.dof, self.scale_dof, self.distance**2 / self.dof))

    def _below(self, value: float, sigma: float) -> float:
        from scipy.special import ndtr, stdtr  # noqa: PLC0415 - start-up time

        z = value / sigma
        return float(ndtr(z) if self.scale_dof == inf else stdtr(self.scale_dof, z))

    def impossible(self, cone: PhysicalCone) -> tuple[Impossible, ...]:
        """Single combinations that refute, the worst first; else the one that the distance is about."""
        n = len(self.singles)
        found = [
            Impossible(self._name(d, half, cone), self._unit(d), value, sigma, -value / sigma, half.what, half.unless)
            for d, half, value, sigma in self.singles
            if 2 * n * self._below(value, sigma) < LEVEL
        ]
        if found:
            return tuple(sorted(found, key=lambda each: -each.beyond))
        region, weights = self._region, self._weights
        first = int(weights.argmax())
        d = np.where(weights > 0.01 * weights[first], -self.normal / abs(self.normal[first]), 0.0)
        value, sigma = float(d @ region.center), float(np.sqrt(d @ region.covariance @ d))
        name = spelled(d, short_labels(self.answer.unknowns.names))
        return (Impossible(name, "", value, sigma, self.distance, COMBINATION),)

    @property
    def involved(self) -> list[str]:
        """Labels of the base parameters that the distance is about, the most important first."""
        labels, weights = short_labels(self.answer.unknowns.names), self._weights
        order = [int(k) for k in np.argsort(-weights, kind="stable") if weights[k] > 0.01 * weights.max()]
        more = len(order) - MOST_NAMED
        return [labels[k] for k in order[:MOST_NAMED]] + ([f"{more} more"] if more > 0 else [])

    @property
    def _region(self) -> ConfidenceEllipsoid:
        assert isinstance(self.answer.region, ConfidenceEllipsoid)
        return self.answer.region

    @property
    def _weights(self) -> Array:
        return np.asarray(abs(self.normal) * self._region.sigma)

    def _name(self, d: Array, half: Half, cone: PhysicalCone) -> str:
        """The name of a base parameter, or the parameters that a known combination is made of."""
        if np.count_nonzero(d) == 1:
            return self.answer.unknowns.names[int(abs(d).argmax())]
        factors = half.factors[: len(cone.analysis.names)]
        return spelled(factors / abs(factors).max(), cone.analysis.names)

    def _unit(self, d: Array) -> str:
        units = {unit for unit, factor in zip(self.answer.unknowns.units, d, strict=True) if factor}
        return units.pop() if len(units) == 1 else ""


def spelled(factors: Array, names: Sequence[str]) -> str:
    """A combination as text, factors rounded to three digits."""
    text = ""
    for factor, name in zip(factors, names, strict=True):
        if factor == 0:
            continue
        size = f"{abs(factor):.3g}"
        term = name if size == "1" else f"{size}·{name}"
        sign = "−" if factor < 0 else "+"
        text += f" {sign} {term}" if text else ("−" if factor < 0 else "") + term
    return text
