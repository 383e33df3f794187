"""Problems: unknowns related to measurements whose noise is stated."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from gough.core.arrays import ROWS_PER_BLOCK, Array, ArrayValue, Integers, Mask, array, first_not_finite, frozen
from gough.core.errors import require
from gough.core.text import require_encodable
from gough.noise import Bounded, Gaussian, Noise
from gough.unknowns import Unknowns


@dataclass(frozen=True, eq=False)
class Groups(ArrayValue):
    """The rows of a problem by name: n groups (actuators, legs) that are measured together, sample by sample.

    Row i stands at `position[i]` of the complete grid sample 0 group 0, sample 0 group 1, …; None means that every
    place of the grid has its row. Rows that were masked out leave a gap, so that time stays time.

    Examples:
        >>> Groups(("motor 1", "motor 2")).of_row(4)
        array([0, 1, 0, 1])
    """

    names: tuple[str, ...] = ("rows",)
    position: Integers | None = None
    is_series: bool = True
    """Whether samples follow each other in time, so that their errors may be autocorrelated. Errors of samples that
    need not, such as poses, are taken as independent unless a test shows that neighbors err alike."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        require(len(self.names) > 0 and len(set(self.names)) == len(self.names), "group names must differ")
        require_encodable(self.names, "name of a group")
        if self.position is not None:
            position = np.asarray(self.position)
            require(position.ndim == 1 and position.dtype.kind in "iu", "row positions must be whole numbers")
            rising = position.size > 0 and position[0] >= 0 and bool((np.diff(position) > 0).all())
            require(rising, "row positions must be non-negative and rise from row to row")
            object.__setattr__(self, "position", frozen(position.astype(np.int64)))

    def __len__(self) -> int:
        return len(self.names)

    def positions(self, rows: slice) -> Integers:
        """Places in the complete grid of a contiguous range of rows."""
        return np.arange(rows.start, rows.stop) if self.position is None else self.position[rows]

    def of_row(self, n_rows: int) -> Integers:
        """Number of the group that each row belongs to."""
        return self.positions(slice(0, n_rows)) % len(self)

    def select(self, rows: Integers) -> "Groups":
        position = rows if self.position is None else self.position[rows]
        return Groups(self.names, position, self.is_series)


@dataclass(frozen=True, eq=False)
class LinearProblem(ArrayValue):
    """y = W θ + e: a row per equation, a column per unknown.

    The problem has numbers of its own: arrays that the caller can still write to are copied, once. W may be a memory
    map of any length, opened with mode "r": it is walked through by blocks of rows and never copied, so the file must
    not change while the problem is in use. Every entry must be exactly a double (see `gough.core.arrays.array`).
    Where rows are a time series they stand in the order of time.

    Examples:
        >>> problem = LinearProblem([[1.0], [1.0]], [0.9, 1.1], Unknowns(["mass"]), Gaussian(0.01))
        >>> problem.n_rows, problem.residuals([1.0]).round(3)
        (2, array([-0.1,  0.1]))
    """

    W: Array
    y: Array
    unknowns: Unknowns
    noise: Noise = field(default_factory=Gaussian)
    groups: Groups = field(default_factory=Groups)

    def __post_init__(self) -> None:
        W = array(self.W, "W", ndim=2)
        y = array(self.y, "y", ndim=1)
        object.__setattr__(self, "W", W)
        object.__setattr__(self, "y", y)
        require(isinstance(self.unknowns, Unknowns), "unknowns must be gough.Unknowns(names, ...)")
        require(isinstance(self.noise, Gaussian | Bounded), "noise must be gough.Gaussian or gough.Bounded")
        require(len(self.unknowns) > 0, "a problem needs at least one unknown")
        require(len(y) > 0, "a problem needs at least one row, but W and y are empty")
        require(
            W.shape == (len(y), len(self.unknowns)),
            f"W must have a row per entry of y and a column per unknown, ({len(y)}, {len(self.unknowns)}), "
            f"but its shape is {W.shape}",
        )
        bad = first_not_finite(W)
        if bad:
            name = self.unknowns.names[bad[1]]
            require(
                condition=False,
                message=f"W is {W[bad]} in row {bad[0]}, column '{name}': remove or mend that row",
            )
        bad = first_not_finite(y)
        require(bad is None, f"y is {y[bad] if bad else ''} in row {bad and bad[0]}: remove or mend that row")
        groups = self.groups if isinstance(self.groups, Groups) else Groups(tuple(self.groups))
        object.__setattr__(self, "groups", _checked_groups(groups, len(y), self.noise))
        _check_noise(self)

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def blocks(self, size: int = ROWS_PER_BLOCK) -> Iterator[slice]:
        """Consecutive row ranges of at most `size` rows, or of one sample where that is more; no sample is split."""
        n, position = len(self.groups), self.groups.position
        size = max(1, size // n) * n
        start = 0
        while start < self.n_rows:
            stop = min(start + size, self.n_rows)
            if position is not None and stop < self.n_rows:  # rows of a sample may be missing
                stop = int(np.searchsorted(position, position[stop] // n * n))
            yield slice(start, stop)
            start = stop

    def residuals(self, theta: Any, rows: slice = slice(None)) -> Array:
        """Residuals y − W θ."""
        point = array(theta, "θ", ndim=1)
        with np.errstate(all="ignore"):
            return self.y[rows] - self.W[rows] @ point

    def select(self, rows: Any) -> "LinearProblem":
        """The problem with some rows only: a mask, or rising row numbers. Gaps in time are kept.

        Examples:
            >>> problem = LinearProblem([[1.0], [2.0], [3.0]], [1, 2, 3], Unknowns(["a"]))
            >>> problem.select([True, False, True]).groups.position
            array([0, 2])
        """
        chosen = np.asarray(rows)
        if chosen.dtype == bool:
            require(chosen.shape == (self.n_rows,), f"a mask needs one entry per row, {self.n_rows} in all")
            chosen = np.flatnonzero(chosen)
        require(chosen.size > 0, "no row is left: the selection is empty")
        require(chosen.dtype.kind in "iu", "a selection is a mask or row numbers")
        groups = self.groups.select(chosen)
        W, y = frozen(self.W[chosen]), frozen(self.y[chosen])
        return replace(self, W=W, y=y, noise=_select_noise(self.noise, chosen), groups=groups)

    def without_fixed(self) -> tuple["LinearProblem", dict[str, float]]:
        """The problem in its free unknowns, and the values of those that the prior fixes.

        Raises:
            InputError: the prior fixes every unknown, or W is known to ± a radius.

        Examples:
            >>> from gough.region import Box
            >>> prior = Box([-9.0, 2.0], [9.0, 2.0])
            >>> problem = LinearProblem([[1.0, 1.0]], [5.0], Unknowns(["a", "b"], prior=prior))
            >>> free, fixed = problem.without_fixed()
            >>> free.unknowns.names, free.y, fixed
            (('a',), array([3.]), {'b': 2.0})
        """
        unknowns, fixed = self.unknowns, self.unknowns.is_fixed
        if not fixed.any():
            return self, {}
        require(not fixed.all(), "the prior fixes every parameter: nothing is left to estimate")
        exact = not isinstance(self.noise, Bounded) or self.noise.regressor is None
        require(exact, "fixed unknowns cannot be taken out of a regressor known to ± a radius: state an exact W")
        value = unknowns.bounds.lower
        known = {unknowns.names[i]: float(value[i]) for i in np.flatnonzero(fixed)}
        free = unknowns.select([name for name in unknowns.names if name not in known])
        y: Array = self.y - self.W[:, fixed] @ value[fixed]
        return replace(self, W=self.W[:, ~fixed], y=y, unknowns=free), known


class Equations(Protocol):
    """n equations f(θ, m) = 0 for each sample, where m is measured: the model behind a nonlinear problem."""

    def residuals(self, theta: Array, measured: Array) -> Array:
        """f(θ, m): (samples, n) from measured (samples, q)."""
        ...

    def jacobians(self, theta: Array, measured: Array) -> tuple[Array, Array]:
        """∂f/∂θ (samples, n, p) and ∂f/∂m (samples, n, q)."""
        ...


@dataclass(frozen=True, eq=False)
class NonlinearProblem(ArrayValue):
    """f(θ, m) = 0 for each sample, where the measurements m (samples, q) carry the stated noise."""

    equations: Equations
    measured: Array
    unknowns: Unknowns
    noise: Gaussian
    groups: Groups | None = None
    nuisance: tuple[str, ...] = ()
    """Nuisance parameters: unknowns that are estimated with the others and left out of answers."""
    kept: Mask | None = None
    """(samples, n): False where an equation does not count, because what it needs was not measured; None: all do."""

    def __post_init__(self) -> None:
        measured = array(self.measured, "measured", ndim=2)
        object.__setattr__(self, "measured", measured)
        require(len(measured) > 0, "a problem needs at least one sample, but nothing was measured")
        bad = first_not_finite(measured)
        require(bad is None, f"measured is NaN or infinite at sample {bad and bad[0]}, column {bad and bad[1]}")
        require(isinstance(self.noise, Gaussian), "a NonlinearProblem states Gaussian noise on its measurements")
        object.__setattr__(self, "nuisance", tuple(self.nuisance))
        for name in self.nuisance:
            self.unknowns.index(name)
        require(len(self.wanted) > 0, "every unknown is called a nuisance: nothing is left to ask for")
        if self.kept is not None:
            kept = np.asarray(self.kept)
            fits = kept.dtype == bool and kept.ndim == 2 and len(kept) == len(measured) and bool(kept.any())
            require(fits, "kept must be true or false for each equation of each sample, and true for some")
            object.__setattr__(self, "kept", frozen(kept.copy()))

    @property
    def wanted(self) -> tuple[str, ...]:
        """The unknowns that are no nuisances."""
        hidden = set(self.nuisance)
        return tuple(name for name in self.unknowns.names if name not in hidden)

    def linearize(self, at: Any) -> LinearProblem:
        """The tangent problem at θ = `at`; its noise is that of m propagated, J_m Σ J_mᵀ."""
        theta = array(at, "the point of linearization", ndim=1)
        f, J_theta, J_m = _values_and_derivatives(self.equations, theta, self.measured)
        W = J_theta.reshape(f.size, len(self.unknowns))
        groups = self.groups or Groups(tuple(f"equation {i + 1}" for i in range(f.shape[1])))
        tangent = LinearProblem(W, W @ theta - f.reshape(-1), self.unknowns, _pushed(self.noise, J_m), groups)
        return tangent if self.kept is None else tangent.select(self.kept.reshape(-1))


def _values_and_derivatives(equations: Equations, theta: Array, measured: Array) -> tuple[Array, Array, Array]:
    """Residuals and both Jacobians, from one evaluation where the equations have one for them (`both`)."""
    both: Callable[[Array, Array], tuple[Array, Array, Array]] | None = getattr(equations, "both", None)
    if both is not None:
        return both(theta, measured)
    return equations.residuals(theta, measured), *equations.jacobians(theta, measured)


def _pushed(noise: Gaussian, J: Array) -> Gaussian:
    """Covariance of J m, sample by sample."""
    n_samples, _, q = J.shape
    sigma = noise.covariance
    if sigma is None:
        return Gaussian()
    if sigma.ndim == 1:
        require(
            sigma.size == n_samples * q,
            f"one variance per measurement makes {n_samples * q}, not {sigma.size}",
        )
        sigma = sigma.reshape(n_samples, q, 1) * np.eye(q)
    elif sigma.ndim == 0:
        sigma = sigma * np.eye(q)
    require(
        sigma.shape in {(q, q), (n_samples, q, q)},
        f"the noise of {q} measurements cannot have shape {sigma.shape}",
    )
    pushed = (J.reshape(-1, q) @ sigma).reshape(J.shape) if sigma.ndim == 2 else J @ sigma
    return Gaussian(frozen(pushed @ np.swapaxes(J, -1, -2)), noise.dof)


def _checked_groups(groups: Groups, n_rows: int, noise: Noise) -> Groups:
    block = noise.block if isinstance(noise, Gaussian) else 1
    if len(groups) == 1 and 1 < block < n_rows and groups.position is None:
        groups = Groups(tuple(f"row {i + 1} of {block}" for i in range(block)), is_series=groups.is_series)
    if groups.position is None:
        n = len(groups)
        require(
            n_rows % n == 0,
            f"{n} groups need a multiple of {n} rows (sample by sample), but there are {n_rows}",
        )
    else:
        count = len(groups.position)
        require(count == n_rows, f"groups place {count} rows, but the problem has {n_rows}")
    return groups


def _check_noise(problem: LinearProblem) -> None:
    n_rows, n = problem.n_rows, len(problem.groups)
    match problem.noise:
        case Gaussian(covariance=C) if C is not None:
            if C.ndim == 1:
                require(len(C) == n_rows, f"{n_rows} rows need as many variances, but there are {len(C)}")
            elif C.ndim == 2:
                fits = C.shape[0] in {n, n_rows}
                require(fits, f"a covariance must be {n} × {n} (one sample) or {n_rows} × {n_rows}, not {C.shape}")
            elif C.ndim == 3:
                last = int(problem.groups.positions(slice(n_rows - 1, n_rows))[0]) // n
                fits = C.shape[1] == n and len(C) > last
                require(
                    fits,
                    f"covariances by sample must be ({last + 1}, {n}, {n}), but their shape is {C.shape}",
                )
        case Bounded(radius=e, regressor=D):
            require(
                e.ndim == 0 or len(e) == n_rows,
                f"{n_rows} rows need as many error bounds, but there are {e.size}",
            )
            fits = D is None or D.ndim == 0 or D.shape == problem.W.shape
            require(fits, f"the radius of W must have the shape of W, {problem.W.shape}")


def _select_noise(noise: Noise, rows: Integers) -> Noise:
    match noise:
        case Gaussian(covariance=C) if C is not None and C.ndim == 1:
            return replace(noise, covariance=C[rows])
        case Gaussian(covariance=C) if C is not None and C.ndim == 2 and len(rows) <= len(C) and rows[-1] < len(C):
            return replace(noise, covariance=C[np.ix_(rows, rows)]) if len(C) > 1 else noise
        case Bounded(radius=e, regressor=D):
            return Bounded(e if e.ndim == 0 else e[rows], D if D is None or D.ndim == 0 else D[rows])
    return noise
