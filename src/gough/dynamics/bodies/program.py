"""Semidefinite programs over complete parameter sets, solved by cvxpy and Clarabel. No answer is trusted here.

Variables are scaled so that every body's pseudo-inertia is X = L⁻¹ P L⁻ᵀ with L Lᵀ that of the blueprint: the blueprint
is the unit matrix, whatever the units, the frame and the size of the body are. A margin t means X ⪰ t·1, that is, the
body minus t times its blueprint is still a body.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from gough.core.arrays import Array, Mask
from gough.core.errors import InputError
from gough.dynamics.bodies.complete import CompleteSet

Measure = Literal["log-det", "frobenius"]
MEASURES: tuple[Measure, ...] = ("log-det", "frobenius")
SOLVER = "CLARABEL"
_NULL = 1e-9
"""Singular values below this share of the largest count as zero, as in `gough.dynamics.base_parameters`."""
_REPRODUCED = 1e-7
"""Misfit in σ up to which base parameters are reproduced by variables that may have any value."""
_SOLVED = ("optimal", "optimal_inaccurate")
_FINE = {"CLARABEL": dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)}
"""Settings with which an optimum is found to about 1e-9 of its value; where a solver does not succeed, its own."""
_COARSE = {"CLARABEL": dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-6)}
"""Settings for an optimum of which three digits are printed."""
_FAR = 1e7
"""Size of a scaled variable from which on a range counts as unbounded."""


class Solution(NamedTuple):
    """What a solver returned."""

    status: str
    objective: float
    point: Array
    """Scaled variables; empty where there are none."""
    duals: tuple[Array, ...] = ()
    """Multipliers of the bodies' matrices, scaled."""
    limits: Array = np.empty(0)
    """Multipliers of the linear constraints, in the order of `Programs.nonnegative_rows`."""
    near: float = 0.0
    """Multiplier of the limit of the misfit."""

    @property
    def is_solved(self) -> bool:
        return self.status in _SOLVED and bool(self.point.size) and bool(np.isfinite(self.point).all())


def solvers() -> Any:
    """The module cvxpy.

    Raises:
        InputError: it is not installed.
    """
    try:
        import clarabel  # noqa: F401, PLC0415 - start-up time
        import cvxpy  # noqa: PLC0415 - start-up time
    except ImportError as error:
        raise InputError(
            "possible bodies are computed with cvxpy and Clarabel, which are not installed: pip install '.[physical]' "
            "in the clone, or leave out [physical]"
        ) from error
    return cvxpy


@dataclass(frozen=True, eq=False)
class Scaled:
    """The variables v = T u of a complete set, scaled, and its matrices as functions of u."""

    complete: CompleteSet
    T: Array
    roots: tuple[Array, ...]
    """The inverse L⁻¹ for each body."""

    @classmethod
    def of(cls, complete: CompleteSet, sizes: Array) -> "Scaled":
        """`sizes` are typical values of variables that no body has."""
        n = len(complete.labels)
        T = np.diag(np.where(sizes > 0, sizes, 1.0))
        roots, done = [], np.zeros(n, dtype=bool)
        for body in complete.bodies:
            root = np.linalg.inv(np.linalg.cholesky(body.reference))
            roots.append(root)
            scaled = np.einsum("ij,kjl,ml->kim", root, body.forms, root).reshape(len(body.places), -1)
            own = [i for i, k in enumerate(body.places) if not complete.nonnegative[k] and not done[k]]
            at = [body.places[i] for i in own]
            R = np.linalg.qr(scaled[own].T, mode="r")
            T[np.ix_(at, at)] = np.linalg.inv(R)
            done[at] = True
            for i, k in enumerate(body.places):
                if i not in own and not done[k]:
                    T[k, k] = 1 / np.linalg.norm(scaled[i])
                    done[k] = True
        return cls(complete, T, tuple(roots))

    @cached_property
    def affine(self) -> tuple[tuple[Array, Array], ...]:
        """For each body (d², variables) and (d²): X = first @ u + second, as a column."""
        parts = []
        for body, root in zip(self.complete.bodies, self.roots, strict=True):
            scaled = np.einsum("ij,kjl,ml->kim", root, body.forms, root).reshape(len(body.places), -1)
            parts.append((scaled.T @ self.T[list(body.places)], (root @ body.constant @ root.T).reshape(-1)))
        return tuple(parts)

    @cached_property
    def within(self) -> tuple[tuple[Array, float], ...]:
        """Factors of u and a constant whose sum must not be negative: bodies within their ellipsoids."""
        pairs = [(body.places, body.inside) for body in self.complete.bodies if body.inside is not None]
        found = []
        for places, (factors, constant) in pairs:
            row = factors @ self.T[list(places)]
            size = float(np.linalg.norm(row)) or 1.0
            found.append((row / size, constant / size))
        return tuple(found)

    @property
    def reference(self) -> Array:
        """The blueprint, scaled."""
        return np.asarray(np.linalg.solve(self.T, self.complete.reference), dtype=np.float64)

    def variables(self, u: Array) -> Array:
        return np.asarray(self.T @ u)


class Point(NamedTuple):
    """Scaled variables u = factors @ z + start with z the variables of a program.

    Products are computed before cvxpy sees them: the time that it takes to read a program grows with nested products.
    """

    z: Any
    """Variable of cvxpy; None where all is known."""
    factors: Array
    start: Array

    @classmethod
    def all_of(cls, u: Any) -> "Point":
        """The point whose scaled variables are all free."""
        n = u.shape[0]
        return cls(u, np.eye(n), np.zeros(n))

    def image(self, rows: Array, constants: Array | float = 0.0) -> Any:
        """The expression rows @ u + constants."""
        known = rows @ self.start + constants
        return known if self.z is None else (rows @ self.factors) @ self.z + known

    @property
    def value(self) -> Array:
        """The scaled variables at the values that the solver found."""
        return self.start if self.z is None else np.asarray(self.factors @ self.z.value + self.start)


@dataclass(frozen=True, eq=False)
class Programs:
    """The programs about one estimate of the base parameters: A u = b, whitened."""

    scaled: Scaled
    A: Array
    b: Array
    margin: float
    solver: str = SOLVER

    @cached_property
    def _split(self) -> tuple[Array, Array, Array]:
        """A pseudo-inverse solution, and an orthonormal basis of what no effort depends on, and of the rest."""
        U, s, Vt = np.linalg.svd(self.A)
        rank = int((s > _NULL * s[0]).sum()) if s.size else 0
        inverse = Vt[:rank].T @ ((U[:, :rank].T @ self.b) / s[:rank])
        return inverse, Vt[rank:].T, Vt[:rank].T

    @property
    def rounding(self) -> float:
        """Misfit in σ that rounding errors of the estimate make, where σ is small."""
        return 1e-12 * float(np.linalg.norm(self.b))

    @property
    def reproduced(self) -> tuple[Array, Array]:
        """A point with the base parameters of the estimate, and directions in which no base parameter changes."""
        return self._split[:2]

    @property
    def inside(self) -> float:
        """The margin that programs demand: a little more, so that rounding of the answer does not leave the stated."""
        return self.margin * (1 + 1e-3)

    @property
    def null(self) -> Array:
        """(variables, freedoms): directions of u in which no base parameter changes."""
        return self._split[1]

    def exact(self, measure: Measure) -> Solution:
        """The point nearest to the blueprint that has the base parameters of the estimate."""
        start, N = self.reproduced
        left = float(np.linalg.norm(self.A @ start - self.b))
        if left > _REPRODUCED + self.rounding:  # equal bodies have fewer base parameters
            return Solution("infeasible", np.nan, np.empty(0))
        return self._nearest(measure, start, N)

    def _nearest(self, measure: Measure, start: Array, N: Array) -> Solution:
        cp = solvers()
        point = Point(cp.Variable(N.shape[1]) if N.shape[1] else None, N, start)
        return self._solved(cp, cp.Minimize(self._distance(cp, point, measure)), point, [])

    def misfit(self, without: int | None = None) -> Solution:
        """The possible point with the least misfit to the estimate; the objective is the misfit in σ.

        `without` leaves out the matrix of one body, and is less accurate: it is compared with the misfit of all.
        """
        cp = solvers()
        y, point = self._with_misfit(cp)
        settings = _FINE if without is None else _COARSE
        found = self._solved(cp, cp.Minimize(cp.norm(y)), point, [], without=without, settings=settings)
        return found._replace(objective=float(np.hypot(found.objective, self.outside)))

    def compromise(self, measure: Measure, misfit: float) -> Solution:
        """The point nearest to the blueprint among those whose misfit is at most so many σ."""
        cp = solvers()
        y, point = self._with_misfit(cp)
        near = cp.norm(y) <= float(np.sqrt(max(misfit**2 - self.outside**2, 0.0)))
        return self._solved(cp, cp.Minimize(self._distance(cp, point, measure)), point, [near])

    @cached_property
    def by_misfit(self) -> tuple[Array, Array, Array]:
        """Matrices F, Q and N: points u = F (y + Qᵀ b) + N z have the misfit y = Qᵀ (A u − b) that can change."""
        _, N, rest = self._split
        Q, R = np.linalg.qr(self.A @ rest)
        return rest @ np.linalg.inv(R), Q, N

    @property
    def outside(self) -> float:
        """Misfit that no point can avoid: not 0 where equal bodies have fewer base parameters than were estimated."""
        Q = self.by_misfit[1]
        return float(np.linalg.norm(self.b - Q @ (Q.T @ self.b)))

    def _with_misfit(self, cp: Any) -> tuple[Any, Any]:
        """The misfit as a variable, and the point that has it."""
        onto, Q, N = self.by_misfit
        z = cp.Variable(onto.shape[1] + N.shape[1])
        return z[: onto.shape[1]], Point(z, np.hstack([onto, N]), onto @ (Q.T @ self.b))

    def ranges(self, u: Array, rows: Array) -> Iterator[tuple[float, float]]:
        """For each row of factors of u, how far it may fall and rise if no base parameter changes.

        Margins do not count: the least and the greatest of all possible bodies.
        """
        cp = solvers()
        N = self.null
        moved = rows @ N
        size = np.linalg.norm(moved, axis=1)
        known = size <= _NULL * np.maximum(np.linalg.norm(rows, axis=1), 1e-300)
        z, direction = cp.Variable(N.shape[1]) if N.shape[1] else None, None
        program = None
        for k, row in enumerate(moved):
            if known[k] or z is None:
                yield 0.0, 0.0
                continue
            if program is None:
                direction = cp.Parameter(N.shape[1])
                limits = [cp.norm(z, "inf") <= _FAR]
                program = cp.Problem(
                    cp.Minimize(direction @ z), [*self._constraints(cp, Point(z, N, u), margin=0.0), *limits]
                )
            assert direction is not None
            ends = []
            for sign in (1.0, -1.0):
                direction.value = sign * row / size[k]
                status = run(cp, program, self.solver)
                moved_by = float(program.value) if status in _SOLVED else -np.inf
                ends.append(-np.inf if moved_by < -1e-3 * _FAR else min(moved_by, 0.0) * size[k])
            yield ends[0], -ends[1]

    def _distance(self, cp: Any, point: Point, measure: Measure) -> Any:
        """The distance from the blueprint: of bodies by the measure, of other variables relative squares."""
        terms, squares = [], []
        for (K, k), body in zip(self.scaled.affine, self.scaled.complete.bodies, strict=True):
            d, weight = len(body.constant), float(len(body.members))
            if measure == "frobenius":
                squares.append((np.sqrt(weight) * K, np.sqrt(weight) * (k - np.eye(d).reshape(-1))))
                continue
            X = point.image(K, k)
            if d == 1:
                terms.append(weight * (cp.sum(X) - cp.sum(cp.log(X)) - 1))
            else:
                square = cp.reshape(X, (d, d), order="C")
                terms.append(weight * (cp.trace(square) - cp.log_det(square) - d))
        alone = self.alone
        if alone.any():
            pick = np.flatnonzero(alone)
            squares.append((np.eye(len(alone))[pick], -self.scaled.reference[pick]))
        if squares:
            rows, constants = zip(*squares, strict=True)
            terms.append(cp.sum_squares(point.image(np.vstack(rows), np.concatenate(constants))) / 2)
        return sum(terms)

    @property
    def alone(self) -> Mask:
        """Variables that belong to no body."""
        alone = np.ones(len(self.scaled.complete.labels), dtype=bool)
        for body in self.scaled.complete.bodies:
            alone[list(body.places)] = False
        return alone

    def _constraints(self, cp: Any, point: Point, *, margin: float, without: int | None = None) -> list[Any]:
        return [*self.matrices(cp, point, margin, without), *self.linear(point)]

    def matrices(self, cp: Any, point: Point, margin: float, without: int | None = None) -> list[Any]:
        """Constraints: the matrix of each body, minus the margin, is positive semidefinite."""
        found = []
        for number, (K, k) in enumerate(self.scaled.affine):
            d = round(len(k) ** 0.5)
            if number == without:
                found.append(cp.Constant(np.eye(d)) >> 0)
                continue
            X = cp.reshape(point.image(K, k - margin * np.eye(d).reshape(-1)), (d, d), order="C")
            found.append(X >> 0)
        return found

    def linear(self, point: Point) -> list[Any]:
        """Constraints: variables that must not be negative, then bodies within their ellipsoids."""
        signs = np.flatnonzero(self.scaled.complete.nonnegative)
        limits = [point.image(np.eye(len(self.scaled.T))[signs]) >= 0] if len(signs) else []
        return [*limits, *(point.image(row[None], constant)[0] >= 0 for row, constant in self.scaled.within)]

    @property
    def nonnegative_rows(self) -> Array:
        """(limits, variables): factors of the linear constraints, in their order."""
        signs = np.eye(len(self.scaled.T))[np.flatnonzero(self.scaled.complete.nonnegative)]
        return np.vstack([signs, *(row for row, _ in self.scaled.within)])

    def _solved(
        self,
        cp: Any,
        objective: Any,
        point: Point,
        more: list[Any],
        *,
        without: int | None = None,
        settings: Mapping[str, Mapping[str, Any]] = _FINE,
    ) -> Solution:
        matrices, linear = self.matrices(cp, point, self.inside, without), self.linear(point)
        program = cp.Problem(objective, [*matrices, *linear, *more])
        status = run(cp, program, self.solver, settings.get(self.solver))
        if status not in _SOLVED:
            status = run(cp, program, self.solver)
        if status not in _SOLVED:
            return Solution(status, np.nan, np.empty(0))
        duals = tuple(np.asarray(each.dual_value) for each in matrices)
        limits = np.concatenate([np.empty(0), *(np.atleast_1d(each.dual_value) for each in linear)])
        near = sum(float(each.dual_value) for each in more)
        return Solution(status, float(program.value), point.value, duals, limits, near)


def run(cp: Any, program: Any, solver: str, settings: Mapping[str, Any] | None = None) -> str:
    """Solve, and return the status; no exception and no warning of a solver leaves this function."""
    import warnings  # noqa: PLC0415 - used here alone

    options = dict(settings or {})
    if solver == "SCS":
        options = {"eps": 1e-9, "max_iters": 100_000}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program.solve(solver=solver, **options)
    except cp.SolverError:
        return "solver_error"
    return str(program.status)
