"""The rows of a recording as effects are fitted to them: likelihood ratios, shifts of parameters, detectable sizes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import compress
from typing import Any

import numpy as np

from gough.core import fisher
from gough.core.arrays import Array, Integers, Mask
from gough.data import MeasuredMotion
from gough.dynamics.cause import Cause, Hidden
from gough.dynamics.effect import REGRESSOR, Columns, Effect, Excitation
from gough.dynamics.excitation import excitation_of, model_efforts, through_low_pass
from gough.dynamics.forms import Forms
from gough.dynamics.recorded import recorded, require_fit
from gough.dynamics.regressors import full_rate_regressor
from gough.dynamics.signs import LEVEL
from gough.region import Box, ConfidenceEllipsoid
from gough.robots.model import DynamicModel

_POWER = 1.2816
"""Quantile of the normal distribution: the effect is found in nine of ten cases."""
_MISSED_BY_BLOCKS = 0.08
"""Part of the cases that the test by blocks may miss, so that both tests together find nine of ten."""
_BLOCKS = 40
"""Blocks of time whose scatter makes a test robust against autocorrelation."""
_VISIBLE = 1e-4
"""Share of an effect's columns that must be left after the model's own are taken out; less is not distinguishable."""
_RANK = 1e-9


@dataclass(frozen=True, eq=False)
class EffectRows:
    """The kept rows of a motion, each over its actuator's scale, and the model's own columns as a basis."""

    robot: DynamicModel
    motion: MeasuredMotion
    free: tuple[str, ...]
    fixed: Mapping[str, float]
    W: Array
    """(rows, free parameters), weighted."""
    y: Array
    basis: Array
    """(rows, rank) orthonormal: the model's columns, and those of effects that are in the model already."""
    sample: Integers
    """(rows,) number of the motion's sample."""
    group: Integers
    """(rows,) number of the actuator."""
    block: Integers
    """(rows,) block of time."""
    scale: Array
    """Residual rms of each actuator."""
    independent: Array
    """Number of independent rows of each actuator."""
    determined: Integers
    """Columns of W that are independent."""
    fitted: slice
    """The rows that parameters are fitted to."""
    model: "_Model"

    @classmethod
    def of(
        cls,
        robot: DynamicModel,
        motion: MeasuredMotion,
        prior: Box | ConfidenceEllipsoid | None = None,
        n_fitted: int | None = None,
    ) -> "EffectRows":
        require_fit(robot, motion)
        model = _Model.of(robot, motion)
        problem, fixed = recorded(robot, motion, prior=prior, full_rate=model.regressor).without_fixed()
        n = len(robot.actuators)
        sample, group = np.nonzero(motion.kept)
        W, y = problem.W, problem.y
        rms = np.sqrt(np.bincount(group, y**2, minlength=n) / np.maximum(np.bincount(group, minlength=n), 1))
        scale = np.where(rms > 0, rms, 1.0)
        _, determined = _basis(W / scale[group, None])
        for _ in range(2):  # residual rms by actuator, first of an unweighted fit
            basis = np.linalg.qr(W[:, determined] / scale[group, None])[0]
            r = y / scale[group]
            r = (r - basis @ (basis.T @ r)) * scale[group]
            least = 1e-12 * np.maximum(rms, 1e-300)  # exact data leave rounding errors
            scale = np.maximum(np.sqrt(np.bincount(group, r**2, minlength=n) / np.bincount(group, minlength=n)), least)
        weighted = W / scale[group, None]
        basis = np.linalg.qr(weighted[:, determined])[0]
        count = np.bincount(group, minlength=n).astype(float)
        own = count / correlated_rows(motion)
        own *= 1 - basis.shape[1] / max(float(own.sum()), basis.shape[1] + 1.0)
        place = motion.positions[sample]
        block = (place - place[0]) * _BLOCKS // (int(place[-1] - place[0]) + 1)
        return cls(
            robot=robot,
            motion=motion,
            free=problem.unknowns.names,
            fixed=fixed,
            W=weighted,
            y=y / scale[group],
            basis=basis,
            sample=sample,
            group=group,
            block=block,
            scale=scale,
            independent=own,
            determined=determined,
            fitted=slice(None if n_fitted is None else int(np.searchsorted(sample, n_fitted))),
            model=model,
        )

    @cached_property
    def residuals(self) -> Array:
        """What the model leaves, in units of the scale."""
        return self._without_model(self.y)

    @cached_property
    def theta(self) -> Array:
        """The model's parameters; the shortest ones where there are many."""
        return _solved(self.W, self.y - self.residuals)

    @cached_property
    def _inverse(self) -> Array:
        """(WᵀW)⁻¹ of the independent columns of W, by the fitted rows."""
        A = self.W[self.fitted, self.determined]
        size = np.linalg.norm(A, axis=0)
        size = np.where(size > 0, size, 1.0)
        inverse = np.linalg.pinv(np.linalg.qr(A / size, mode="r"), rcond=_RANK) / size[:, None]
        return np.asarray(inverse @ inverse.T)

    @cached_property
    def _moments(self) -> Array:
        """Wᵀ times what the model explains, by the fitted rows."""
        return np.asarray(self.W[self.fitted].T @ (self.y - self.residuals)[self.fitted])

    def _without_model(self, x: Array) -> Array:
        return np.asarray(x - self.basis @ (self.basis.T @ x))

    def with_effect(self, cause: Cause) -> "EffectRows":
        """The rows with an effect in the model: it is taken out of everything that follows."""
        signs = cause.effect.signs(self.excitation)
        if signs is not None:
            return replace(self, y=self.y * signs[self.group])
        columns = cause.effect.columns(self.excitation_with(cause))
        # without columns at these values, as of a link that the robot does not reach: what was fitted
        E = cause.efforts[:, None] if columns is None else self.rows_of(columns)
        left, length, told = self._told(E)
        U, s, _ = np.linalg.svd(left[:, told] / length[told], full_matrices=False)
        return replace(self, basis=np.column_stack([self.basis, U[:, s > _VISIBLE]]))

    def _told(self, E: Array) -> tuple[Array, Array, Mask]:
        """What the model does not absorb of an effect's columns, their lengths, and which are more than rounding."""
        left, length = self._without_model(E), np.linalg.norm(E, axis=0)
        return left, length, np.linalg.norm(left, axis=0) > _VISIBLE * length

    def fits(self, every: Sequence[Effect], excitation: Excitation, trials: Sequence[int]) -> list[Cause]:
        """The model with each of some effects, where that can be told from the model's own parameters."""
        columns = [one.columns(excitation) for one in every]
        return [
            fit
            for one, own, E, k in zip(every, columns, self.rows_of_each(columns), trials, strict=True)
            if own is not None and E is not None and (fit := self.fit(one, own, E, excitation, k)) is not None
        ]

    def fit(self, effect: Effect, columns: Columns, E: Array, excitation: Excitation, trials: int) -> Cause | None:
        """The model with the effect; None where the effect cannot be told from the model's own parameters.

        Args:
            effect: The effect.
            columns: Its columns.
            E: These columns in the rows, as `rows_of` returns them.
            excitation: What they were computed from.
            trials: Alternatives from which this one is chosen.
        """
        signs = effect.signs(excitation)
        if not columns.names and signs is None:
            return None
        before = _sums(self.residuals, self.group)
        r = self.residuals if signs is None else self._without_model(self.y * signs[self.group])
        left, size, told = self._told(E)
        if columns.names and not told.any():
            return None
        left, E, size = left[:, told], E[:, told], size[told]
        names, units = (tuple(compress(each, told)) for each in (columns.names, columns.units))
        U, s, Vt = np.linalg.svd(left / size, full_matrices=False)
        seen = s > _VISIBLE
        U, s, Vt = U[:, seen], s[seen], Vt[seen]
        z = U.T @ r
        values = Vt.T @ (z / s) / size
        efforts = E @ values
        after = r - U @ z
        still = _sums(after, self.group)
        ratio = float((self.independent * np.log(np.maximum(before, 1e-20) / np.maximum(still, 1e-20))).sum())
        k = len(s)
        p = max(p_of_ratio(ratio, max(k, 1)), self._p_of_blocks(U, z, after))
        spread = float(self.independent.sum())
        variance = float(still.sum()) / max(spread - k, 1.0)
        sigma = np.sqrt(variance * ((Vt.T / s) ** 2).sum(axis=1)) / size
        return Cause(
            effect=effect,
            names=names,
            units=units,
            values=values,
            sigma=sigma,
            conditional=sigma,
            ratio=ratio,
            dof=len(s),
            trials=trials,
            score=ratio - k * float(np.log(max(spread, 2.0))) - 2 * float(np.log(trials)),
            p=min(1.0, trials * p),
            removes=1 - float(still.sum() / before.sum()) if before.sum() > 0 else 0.0,
            shifts=self._shifts(efforts, variance) if signs is None else {},
            residuals=after,
            efforts=efforts,
            hidden=self._hidden(
                effect,
                (names, units),
                E / size,
                (s, Vt, size),
                variance=variance,
                trials=trials,
                blocks=self._independent_blocks(U),
            )
            if k
            else None,
            caveat=effect.caveat(excitation, dict(zip(names, values.tolist(), strict=True))),
        )

    def _p_of_blocks(self, U: Array, z: Array, after: Array) -> float:
        """Probability of z = Uᵀ r by the scatter of its parts between blocks of time, by Hotelling's test."""
        k = U.shape[1]
        if not k:
            return 0.0
        parts = np.stack([np.bincount(self.block, u * after, minlength=_BLOCKS) for u in U.T], axis=1)
        n = self._n_blocks
        if n <= k + 1:
            return 0.0  # too few blocks to say
        omega = parts.T @ parts * n / (n - 1)
        try:
            T = float(z @ np.linalg.solve(omega + 1e-12 * np.trace(omega) / k * np.eye(k), z))
        except np.linalg.LinAlgError:
            return 0.0
        return float(fisher.above(k, n - k, max(T, 0.0) * (n - k) / (k * (n - 1))))

    @cached_property
    def _n_blocks(self) -> int:
        return len(np.unique(self.block))

    def _independent_blocks(self, U: Array) -> float:
        """Number of blocks of time, of which those count less that hold little of U."""
        weight = np.bincount(self.block, (U**2).sum(axis=1))
        return float(weight.sum() ** 2 / (weight**2).sum())

    def _hidden(
        self,
        effect: Effect,
        parameters: tuple[tuple[str, ...], tuple[str, ...]],
        E: Array,
        seen: tuple[Array, Array, Array],
        *,
        variance: float,
        trials: int,
        blocks: float,
    ) -> Hidden:
        """The effect in the direction that moves a parameter most of all that are detected in nine of ten cases.

        Args:
            effect: The effect.
            parameters: Names and units of its parameters.
            E: Their columns in the rows, of unit length.
            seen: Singular values and vectors of what the model does not absorb of E, and the lengths of the columns.
            variance: Variance of one independent row.
            trials: Alternatives from which the effect was chosen.
            blocks: Number of independent blocks of time.
        """
        from scipy.special import chdtri  # noqa: PLC0415 - start-up time

        s, Vt, size = seen
        names, units = parameters
        k, spread = len(s), float(self.independent.sum())
        ratio = max(float(chdtri(k, LEVEL / trials)), k * np.log(max(spread, 2.0)) + 2 * np.log(trials))
        found = max(np.sqrt(ratio) + _POWER, found_by_blocks(k, self._n_blocks, blocks, LEVEL / trials))
        moved = self._inverse @ (self.W[self.fitted].T @ E[self.fitted])[self.determined] @ Vt.T / s
        sigmas = np.linalg.norm(moved, axis=1) / np.sqrt(np.maximum(self._inverse.diagonal(), 1e-300))
        j = int(np.argmax(sigmas))
        values = Vt.T @ (moved[j] / max(np.linalg.norm(moved[j]), 1e-300) / s) * found * np.sqrt(variance)
        i = int(np.argmax(abs(values)))
        return Hidden(
            effect.name,
            names[i],
            float(abs(values[i] / size[i])),
            units[i],
            self.free[int(self.determined[j])],
            float(found * sigmas[j]),
            dict(zip(names, (values / size).tolist(), strict=True)),
        )

    def _shifts(self, efforts: Array, variance: float) -> dict[str, tuple[float, float]]:
        """What the effect's efforts do to the parameters if it is left out, by the value and by σ."""
        kept, inverse = self.determined, self._inverse
        moved = inverse @ (self.W[self.fitted].T @ efforts[self.fitted])[kept]
        theta = inverse @ self._moments[kept] - moved
        sigma = np.sqrt(np.maximum(variance * inverse.diagonal(), 1e-300))
        return {
            self.free[j]: (float(d / abs(t)) if t else np.inf, float(d / s))
            for j, d, t, s in zip(kept.tolist(), moved, theta, sigma, strict=True)
        }

    def rows_of(self, columns: Columns) -> Array:
        """The effect's columns through the low-pass of the preparation, at the rows that are kept, weighted."""
        if not columns.actuators:
            values = through_low_pass(columns.values, self.motion)
            return np.asarray(values[self.motion.kept] / self.scale[self.group, None])
        values = through_low_pass(columns.values[:, None], self.motion)[:, 0]
        own = self.group[:, None] == np.array(columns.actuators)
        return np.where(own, values[self.sample] / self.scale[self.group, None], 0.0)

    def rows_of_each(self, every: Sequence[Columns | None]) -> Iterator[Array | None]:
        """`rows_of` for several; columns that act on one actuator each pass the low-pass together."""
        alike = [columns for columns in every if columns is not None and columns.actuators]
        if len(alike) < 2 or sum(columns.values.size for columns in alike) > _TOGETHER:
            yield from (None if columns is None else self.rows_of(columns) for columns in every)
            return
        rows = self.rows_of(reduce(Columns.and_also, alike))
        at = 0
        for columns in every:
            if columns is None or not columns.actuators:
                yield None if columns is None else self.rows_of(columns)
                continue
            yield rows[:, at : at + len(columns.names)]
            at += len(columns.names)

    def forms(self) -> Forms:
        """The rows, to compare forms of an effect."""
        return Forms(self.basis, self.residuals, self.group, self.independent, self.excitation, self._own, _VISIBLE)

    def _own(self, values: Array, actuators: Sequence[int]) -> list[Array]:
        """Columns (samples, m) as `rows_of` has them, at the rows of their own actuators."""
        passed = through_low_pass(values[:, None], self.motion)[:, 0]
        own = [self.sample[self.group == g] for g in range(len(self.scale))]
        return [passed[own[g], k] / self.scale[g] for k, g in enumerate(actuators)]

    @cached_property
    def excitation(self) -> Excitation:
        """The motion at the rate of the recording, with the efforts of the model."""
        residuals = np.full(self.motion.efforts.shape, np.nan)
        residuals[self.motion.kept] = self.residuals * self.scale[self.group]
        parameters = self._parameters(self.theta)
        found = excitation_of(self.robot, self.motion, parameters, residuals, efforts=self.model.efforts(parameters))
        return found.sharing(self.model.known)

    def excitation_with(self, cause: Cause) -> Excitation:
        """The excitation at the parameters of the model and of the effect that were fitted together."""
        signs = cause.effect.signs(self.excitation)
        y = self.y if signs is None else self.y * signs[self.group]
        theta = _solved(self.W, y - cause.residuals - cause.efforts)
        parameters, old = self._parameters(theta), self.excitation
        efforts = self.model.efforts(parameters)
        at = dict(zip(cause.names, cause.values.tolist(), strict=True))
        return replace(old, parameters=parameters, efforts=efforts, at=at).sharing(old.of_motion)

    def _parameters(self, theta: Array) -> Array:
        values = {**dict(zip(self.free, theta.tolist(), strict=True)), **self.fixed}
        return np.array([values[name] for name in self.robot.names])


_TOGETHER = 1 << 23
"""Entries of columns at the full rate that are filtered together: 64 MB."""
_LARGEST = 1 << 25
"""Entries of a regressor at the full rate that are kept for other parameters: 256 MB."""


@dataclass(frozen=True, eq=False)
class _Model:
    """The model at all samples of a motion at the rate of the recording."""

    robot: DynamicModel
    motion: MeasuredMotion
    known: dict[str, Any] = field(default_factory=dict)
    """What effects have computed from robot and motion alone."""

    @classmethod
    def of(cls, robot: DynamicModel, motion: MeasuredMotion) -> "_Model":
        model = cls(robot, motion)
        if model.regressor is not None:
            model.known[REGRESSOR] = model.regressor
        return model

    def efforts(self, parameters: Array) -> Array:
        """Efforts (samples, actuators)."""
        if self.regressor is not None:
            return np.asarray(self.regressor @ parameters)
        full = self.motion.full_rate or self.motion
        return model_efforts(self.robot, parameters, (full.q, full.dq, full.ddq))

    @cached_property
    def regressor(self) -> Array | None:
        """The regressor (samples, actuators, parameters), unfiltered, unless it is large."""
        full = self.motion.full_rate or self.motion
        entries = full.q.size * len(self.robot.names)
        return full_rate_regressor(self.robot, self.motion) if entries <= _LARGEST else None


def correlated_rows(motion: MeasuredMotion) -> float:
    """Rows that count as one where white errors have passed the low-pass of the preparation: Σ ρ over all lags."""
    full = motion.full_rate
    if full is None:
        return 1.0
    f = np.linspace(0, full.rate / 2, 20001)
    power = (1 / (1 + (f / full.cutoff) ** (2 * full.order))) ** 2  # |H|² of two passes, squared
    bandwidth = float(np.trapezoid(power, f))
    return max(1.0, motion.rate / (2 * bandwidth))


def _sums(r: Array, group: Integers) -> Array:
    sums: Array = np.bincount(group, r**2, minlength=int(group.max()) + 1).astype(np.float64)
    return sums


def _basis(A: Array) -> tuple[Array, Integers]:
    """An orthonormal basis of the columns of A, and which columns are independent."""
    from scipy.linalg import qr  # noqa: PLC0415 - start-up time

    size = np.linalg.norm(A, axis=0)
    scaled = A / np.where(size > 0, size, 1.0)
    Q, R, order = qr(scaled, mode="economic", pivoting=True, check_finite=False)
    diagonal = abs(R.diagonal()) if R.size else np.zeros(0)
    rank = int((diagonal > _RANK * diagonal.max(initial=0.0)).sum()) if diagonal.max(initial=0.0) > 0 else 0
    return Q[:, :rank], np.sort(order[:rank])


def _solved(A: Array, b: Array) -> Array:
    """Least squares after the columns have been given unit length; the shortest solution."""
    size = np.linalg.norm(A, axis=0)
    size = np.where(size > 0, size, 1.0)
    return np.asarray(np.linalg.lstsq(A / size, b, rcond=_RANK)[0] / size)


def found_by_blocks(k: int, n: int, independent: float, level: float) -> float:
    """Standard deviations of an effect that Hotelling's test with n blocks of time finds in nine of ten cases.

    The scatter between blocks is estimated, which costs power: the statistic follows the noncentral F distribution.

    Args:
        k: Number of the effect's parameters.
        n: Number of blocks, by which the test is made.
        independent: Number of blocks by which the scatter is known; smaller where the effect acts in some blocks only.
        level: Level of the test.

    Examples:
        >>> round(found_by_blocks(2, 40, 40.0, 0.001), 2), found_by_blocks(2, 3, 3.0, 0.001)
        (5.5, 0.0)
    """
    from scipy.special import fdtri, ncfdtrinc  # noqa: PLC0415 - start-up time

    if n <= k + 1:
        return 0.0  # the test is not made
    squares = float(fdtri(k, n - k, 1 - level)) * k * (n - 1) / (n - k)
    known = max(independent, k + 2.0)
    return float(np.sqrt(ncfdtrinc(k, known - k, _MISSED_BY_BLOCKS, squares * (known - k) / (k * (known - 1)))))


def p_of_ratio(ratio: float, k: int) -> float:
    from scipy.special import chdtrc  # noqa: PLC0415 - start-up time

    return float(chdtrc(k, max(ratio, 0.0)))
