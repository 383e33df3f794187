"""Which effect of the catalogue explains what a model leaves: nested models, ranked by likelihood ratio."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from types import MappingProxyType
from typing import Any

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.tables import Cell, Column, Table, table
from gough.core.text import number, percent
from gough.core.threads import one_blas_thread
from gough.data import MeasuredMotion
from gough.dynamics.effect import REGRESSOR, Columns, Effect, Excitation, Truth
from gough.dynamics.effects import catalogue
from gough.dynamics.excitation import excitation_of, model_efforts, through_low_pass
from gough.dynamics.forms import FormFit, Forms
from gough.dynamics.recorded import recorded, require_fit
from gough.dynamics.regressors import full_rate_regressor
from gough.dynamics.signs import LEVEL, chance
from gough.region import Box, ConfidenceEllipsoid
from gough.robots.model import DynamicModel, ParallelRobot

WORTHWHILE = 0.002
"""Part of the mean square below which a significant effect counts only if it moves a parameter …"""
MOVED = 1.0
"""… by so many of its standard deviations."""
MOVED_UNSEEN = 3.0
"""Shift of a parameter, in σ, from which on an effect that may be present undetected is reported."""
_POWER = 1.2816
"""Quantile of the normal distribution: the effect is found in nine of ten cases."""
_MISSED_BY_BLOCKS = 0.08
"""Part of the cases that the test by blocks may miss, so that both tests together find nine of ten."""
_BLOCKS = 40
"""Blocks of time whose scatter makes a test robust against autocorrelation."""
_VISIBLE = 1e-4
"""Share of an effect's columns that must be left after the model's own are taken out; less is not distinguishable."""
_RANK = 1e-9
_NONLINEAR = 0.05
"""Part of the mean square from which on an effect is fitted again at the values that were found."""
_ROUNDS = 3
_REFINED, _MOST_MOVES = 2, 25
"""Forms of an effect that are refined, and moves of their numbers."""
_WORTH_A_STEP = 0.1
"""Gain of the ratio for which the numbers of a form are moved rather than refined."""
_PER_UNKNOWN = 3
"""Independent rows for each parameter without which no effect is sought."""
_MOST_STEPS = 3
"""Effects that are sought one after the other."""


@dataclass(frozen=True)
class Hidden:
    """The largest size of an effect that may stay undetected, and what it does to the model's parameters."""

    effect: str
    name: str
    """The effect's parameter that counts most."""
    size: float
    """Size that is found in nine of ten recordings like this one; smaller ones may stay undetected."""
    unit: str
    parameter: str
    """The model's parameter that moves most."""
    sigmas: float
    """By how many of its σ."""
    values: Mapping[str, float] = field(default_factory=dict)
    """All parameters of the effect in that combination; their signs may all be changed."""

    def __str__(self) -> str:
        unit = "" if self.unit == "1" else f" {self.unit}"
        size, moved = number(self.size, digits=2), number(self.sigmas, digits=2)
        return f"{self.effect} ({self.name} up to {size}{unit} moves {self.parameter} by {moved} σ)"


@dataclass(frozen=True, eq=False)
class Cause:
    """One effect of the catalogue, fitted together with the model's own parameters."""

    effect: Effect
    names: tuple[str, ...]
    """The effect's parameters."""
    units: tuple[str, ...]
    values: Array
    sigma: Array
    """Standard deviations of `values`, with the uncertainty of numbers that the form was chosen by."""
    conditional: Array
    """Standard deviations of `values` if the form is right."""
    ratio: float
    """Twice the logarithm of the likelihood ratio against the model without the effect."""
    dof: int
    """Number of parameters that the effect adds and the data determine."""
    trials: int
    """Alternatives from which this form of the effect was chosen."""
    score: float
    """`ratio` less what chance and the number of parameters explain (Bayesian information criterion)."""
    p: float
    """Probability of such a ratio, or of one more extreme, if the effect is absent."""
    removes: float
    """Part of the mean square of the residuals that the effect removes."""
    shifts: Mapping[str, tuple[float, float]]
    """How far each of the model's parameters is off without the effect: as a part of its value, and in its σ."""
    residuals: Array
    """Of all rows, in units of their actuators' scale, with the effect in the model."""
    efforts: Array
    """What the effect adds to all rows, in these units."""
    caveat: str = ""
    """What must be known about the values, in sentences."""
    hidden: Hidden | None = None
    """How large the effect may be without being detected; None where it does not move the model's parameters."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "shifts", MappingProxyType(dict(self.shifts)))

    @property
    def is_present(self) -> bool:
        """Is the effect significant, and large enough to matter?"""
        moved = max((abs(sigmas) for _, sigmas in self.shifts.values()), default=0.0)
        worthwhile = self.removes > WORTHWHILE or moved > MOVED
        return self.p < LEVEL and self.score > 0 and worthwhile and not self.is_impossible

    @property
    def is_impossible(self) -> bool:
        """Are the values, beyond their ±, none that this effect can have? Then another effect is imitated."""
        values, sigma = (dict(zip(self.names, each.tolist(), strict=True)) for each in (self.values, self.sigma))
        return not self.effect.is_possible(values, sigma)

    @property
    def worst(self) -> tuple[str, float, float] | None:
        """The parameter that is most off without the effect: name, part of its value, number of σ."""
        if not self.shifts:
            return None
        name = max(self.shifts, key=lambda each: abs(self.shifts[each][1]))
        return name, *self.shifts[name]

    @property
    def size(self) -> str:
        """The parameters that stand out of their ±, in words: `delay_1 = 2.1 ± 0.1 ms`."""
        order = np.argsort(-abs(self.values) / np.maximum(self.sigma, 1e-300))
        sure = [k for k in order.tolist() if abs(self.values[k]) > 3 * self.sigma[k]][:3]
        more = int((abs(self.values) > 3 * self.sigma).sum()) - len(sure)
        parts = [
            f"{self.names[k]} = {number(self.values[k], digits=3)} ± {number(2 * self.sigma[k], digits=2)} "
            f"{'' if self.units[k] == '1' else self.units[k]}".rstrip()
            for k in sorted(sure)
        ]
        return ", ".join(parts).replace(" -", " −") + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True, eq=False)
class Causes:
    """The effects of the catalogue, likeliest first, and those that remain after it."""

    ranked: tuple[Cause, ...]
    """Each by itself, by descending score."""
    steps: tuple[Cause, ...]
    """The likeliest, then the likeliest of what remains once it is in the model, and so on; only those present."""
    n_rows: int
    independent: float
    """Number of independent rows: filtered errors are correlated."""
    residuals: Array
    """What the model leaves (samples, actuators) of the motion; NaN where rows are masked."""

    @property
    def likeliest(self) -> Cause | None:
        """The effect that explains the residuals best; None where no effect is present."""
        return self.steps[0] if self.steps else None

    @property
    def hidden(self) -> tuple[Hidden, ...]:
        """Effects that may be present undetected and move a parameter by several σ, worst first."""
        known = [cause.hidden for cause in self.ranked if cause.hidden is not None and not cause.is_present]
        return tuple(sorted((one for one in known if one.sigmas > MOVED_UNSEEN), key=lambda one: -one.sigmas))

    @property
    def p(self) -> float:
        """Smallest probability of all effects, corrected for their number."""
        return min([1.0, *(len(self.ranked) * cause.p for cause in self.ranked)])

    def table(self, most: int = 5) -> Table:
        """A row for each of the likeliest effects."""
        columns = [
            Column("effect", "label"),
            Column("likelihood ratio", note="2 ln"),
            Column("parameters"),
            Column("p"),
            Column("removes"),
            Column("moves most", "label"),
            Column("size", "words", is_detail=True),
        ]
        top = max([cause.ratio for cause in self.ranked] or [1.0]) or 1.0
        rows: list[list[str | Cell]] = [
            [
                Cell(cause.effect.name, "present" if cause is self.likeliest else ""),
                Cell(number(cause.ratio, digits=3), share=max(cause.ratio, 0.0) / top),
                str(cause.dof),
                chance(cause.p),
                percent(cause.removes) if cause.removes > 0 else "nothing",
                _moved(cause),
                cause.size or "—",
            ]
            for cause in self.ranked[:most]
        ]
        return table(columns, rows, "." * len(columns), "Effects that may be missing")


def _moved(cause: Cause) -> str:
    worst = cause.worst
    return "—" if worst is None else f"{worst[0]} by {number(abs(worst[2]), digits=2)} σ"


@one_blas_thread()
def causes_of(
    robot: DynamicModel,
    motion: MeasuredMotion,
    *,
    prior: Box | ConfidenceEllipsoid | None = None,
    effects: Iterable[Effect] | None = None,
    force: bool = False,
    n_fitted: int | None = None,
    most: int = _MOST_STEPS,
) -> Causes:
    """The effects of the catalogue that explain what the model leaves of the measured efforts.

    Each effect is added to the model by itself, y = W θ + E φ + e, and both are fitted by least squares, each actuator
    weighted by its residual rms. Errors are taken as white before the low-pass of the preparation. An effect counts as
    present if its likelihood ratio is significant at the level 0.001 by the χ² distribution and also by the scatter
    between blocks of time, which allows for other autocorrelation.

    Args:
        robot: The model that was used.
        motion: What was measured; recordings that were joined may have different payloads.
        prior: Parameters that are fixed are not fitted.
        effects: Those to try; default: the catalogue.
        force: Also try them where there are few rows.
        n_fitted: Number of samples, the first ones, that parameters are fitted to; default: all. The effects are sought
            in all samples, but `Cause.shifts` is about the fitted ones.
        most: Number of effects that are sought one after the other.

    Examples:
        >>> from gough.dynamics.example import random_motion
        >>> causes_of(*random_motion(1, n_samples=2000)).likeliest
    """
    rows = first = _Rows.of(robot, motion, prior, n_fitted)
    tried = (*catalogue().values(), *larger_variants(robot)) if effects is None else tuple(effects)
    enough = float(rows.independent.sum()) > _PER_UNKNOWN * rows.basis.shape[1]
    ranked = _ranked(rows, tried) if enough or force else ()
    steps: list[Cause] = []
    left = ranked
    while left and left[0].is_present:
        steps.append(left[0])
        if len(steps) == most:
            break
        known = {step.effect.name for step in steps}
        rows = rows.with_effect(steps[-1])
        left = _ranked(rows, [effect for effect in tried if effect.name not in known])
    residuals = np.full(motion.efforts.shape, np.nan)
    residuals[motion.kept] = first.residuals * first.scale[first.group]
    return Causes(ranked, tuple(steps), len(first.y), float(first.independent.sum()), residuals)


@dataclass(frozen=True, eq=False)
class LargerVariant(Effect):
    """What a larger one of the robot's nested models adds to the one that was used."""

    model: ParallelRobot
    sizes = ()
    size_unit = ""

    @property
    def name(self) -> str:  # type: ignore[override]
        """The variant's name."""
        return self.model.variant

    @property
    def title(self) -> str:  # type: ignore[override]
        """What the variant adds."""
        return self.model.adds or f"the {len(self.model.names)}-parameter model"

    @property
    def advice(self) -> str:  # type: ignore[override]
        """Which variant to use."""
        return f'Use the {len(self.model.names)}-parameter model: variant = "{self.model.variant}" in [robot].'

    def columns(self, excitation: Excitation) -> Columns:
        """All columns of the larger model: the model's own are taken out of them."""
        values = self.model.regressor(excitation.q, excitation.dq, excitation.ddq)
        return Columns(self.model.names, self.model.units, values)

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> None:
        """Not in the confusion table: adequacy of variants has its own."""


def larger_variants(robot: DynamicModel) -> tuple[Effect, ...]:
    """The robot's nested models beyond the one that was used, as effects."""
    variants = list(getattr(robot, "variants", ()))
    names = [getattr(one, "variant", "") for one in variants]
    here = names.index(getattr(robot, "variant", "")) if getattr(robot, "variant", "") in names else len(names)
    return tuple(LargerVariant(one) for one in variants[here + 1 :])


def _ranked(rows: "_Rows", effects: Iterable[Effect]) -> tuple[Cause, ...]:
    causes = [cause for effect in effects if (cause := _best(rows, effect)) is not None]
    return tuple(sorted(causes, key=lambda cause: (not cause.is_present, -cause.score)))


def _best(rows: "_Rows", effect: Effect) -> Cause | None:
    """The best of the effect's alternatives, fitted again at its own values where it is large."""
    every = effect.alternatives(rows.excitation)
    fits = _fits(rows, every, rows.excitation, [len(every) * one.trials for one in every])
    if not fits:
        return None
    hidden = max((fit.hidden for fit in fits if fit.hidden), key=lambda one: one.sigmas, default=None)
    most = max(fit.removes for fit in fits)
    first = sorted(fits, key=lambda fit: -fit.removes)
    forms = rows.forms()
    near = [_refined(rows, forms, fit) for fit in first[:_REFINED] if 2 * fit.removes > most]
    best = max([*near, *first[len(near) :]], key=lambda fit: fit.score)
    for _ in range(_ROUNDS):
        is_small = best.removes < _NONLINEAR and not (best.effect.is_refitted and best.p < LEVEL)
        if is_small or not best.names:
            break
        again = _fits(rows, [best.effect], rows.excitation_with(best), [best.trials])
        if not again or again[0].ratio <= best.ratio:
            break
        # nuisance parameters are estimated for the sake of ±: they do not change the rank
        new = replace(again[0], score=max(best.score, again[0].score))
        if new.names == best.names:  # the form is as uncertain as before
            new = replace(new, sigma=np.sqrt(new.conditional**2 + best.sigma**2 - best.conditional**2))
        gained, best = new.ratio - best.ratio, new
        if gained < 0.1:
            break
    return replace(best, hidden=hidden)


def _refined(rows: "_Rows", forms: Forms, fit: Cause) -> Cause:
    """The best of the forms near one that is significant."""
    best = forms.fits([fit.effect])[0] if fit.p < LEVEL and fit.effect.nearer() else None
    if best is None:
        return fit
    last: tuple[FormFit, list[FormFit]] | None = None
    for _ in range(_MOST_MOVES):
        near = best.effect.nearer()
        if not near:
            break
        fits = [each for each in forms.fits(near[1:]) if each is not None]
        middle = replace(best, effect=near[0])
        best = max(fits, key=lambda each: each.ratio, default=middle)
        if best.ratio < middle.ratio + _WORTH_A_STEP:
            best = middle
        if len(fits) == len(near) - 1:
            last = middle, fits
    found = replace(fit, effect=best.effect)
    if best.effect.numbers != fit.effect.numbers:
        found = next(iter(_fits(rows, [best.effect], rows.excitation, [fit.trials])), fit)
    return found if last is None else _with_form(found, *last)


def _with_form(best: Cause, middle: FormFit, near: Sequence[FormFit]) -> Cause:
    """The fit with σ that include the uncertainty of its form, by the profile of the likelihood.

    Args:
        best: The best of all forms.
        middle: A form near it.
        near: Forms below and above the middle, in pairs, one pair for each number that makes the form.
    """
    variance = best.conditional**2
    for below, above in zip(near[::2], near[1::2], strict=True):
        bend = 2 * middle.ratio - below.ratio - above.ratio  # 2 (step/σ)² of that number
        if bend > 0:
            variance = variance + ((above.values - below.values) / 2) ** 2 * 2 / bend
    return replace(best, sigma=np.sqrt(variance))


def _fits(rows: "_Rows", every: Sequence[Effect], excitation: Excitation, trials: Sequence[int]) -> list[Cause]:
    """The model with each of some effects, where that can be told from the model's own parameters."""
    columns = [one.columns(excitation) for one in every]
    return [
        fit
        for one, own, E, k in zip(every, columns, rows.rows_of_each(columns), trials, strict=True)
        if own is not None and E is not None and (fit := rows.fit(one, own, E, excitation, k)) is not None
    ]


@dataclass(frozen=True, eq=False)
class _Rows:
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
    ) -> "_Rows":
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

    def with_effect(self, cause: Cause) -> "_Rows":
        """The rows with an effect in the model: it is taken out of everything that follows."""
        signs = cause.effect.signs(self.excitation)
        if signs is not None:
            return replace(self, y=self.y * signs[self.group])
        columns = cause.effect.columns(self.excitation_with(cause))
        # without columns at these values, as of a link that the robot does not reach: what was fitted
        E = cause.efforts[:, None] if columns is None else self.rows_of(columns)
        more, _ = _basis(self._without_model(E))
        return replace(self, basis=np.column_stack([self.basis, more]))

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
        size = np.linalg.norm(E, axis=0)
        size = np.where(size > 0, size, 1.0)
        U, s, Vt = np.linalg.svd(self._without_model(E) / size, full_matrices=False)
        seen = s > _VISIBLE
        if columns.names and not seen.any():
            return None
        U, s, Vt = U[:, seen], s[seen], Vt[seen]
        z = U.T @ r
        values = Vt.T @ (z / s) / size
        efforts = E @ values
        after = r - U @ z
        left = _sums(after, self.group)
        ratio = float((self.independent * np.log(np.maximum(before, 1e-20) / np.maximum(left, 1e-20))).sum())
        k = len(s)
        p = max(_p_of_ratio(ratio, max(k, 1)), self._p_of_blocks(U, z, after))
        spread = float(self.independent.sum())
        variance = float(left.sum()) / max(spread - k, 1.0)
        sigma = np.sqrt(variance * ((Vt.T / s) ** 2).sum(axis=1)) / size
        return Cause(
            effect=effect,
            names=columns.names,
            units=columns.units,
            values=values,
            sigma=sigma,
            conditional=sigma,
            ratio=ratio,
            dof=len(s),
            trials=trials,
            score=ratio - k * float(np.log(max(spread, 2.0))) - 2 * float(np.log(trials)),
            p=min(1.0, trials * p),
            removes=1 - float(left.sum() / before.sum()) if before.sum() > 0 else 0.0,
            shifts=self._shifts(efforts, variance) if signs is None else {},
            residuals=after,
            efforts=efforts,
            hidden=self._hidden(
                effect,
                columns,
                E / size,
                (s, Vt, size),
                variance=variance,
                trials=trials,
                blocks=self._independent_blocks(U),
            )
            if k
            else None,
            caveat=effect.caveat(excitation, dict(zip(columns.names, values.tolist(), strict=True))),
        )

    def _p_of_blocks(self, U: Array, z: Array, after: Array) -> float:
        """Probability of z = Uᵀ r by the scatter of its parts between blocks of time, by Hotelling's test."""
        from scipy.special import fdtrc  # noqa: PLC0415 - start-up time

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
        return float(fdtrc(k, n - k, max(T, 0.0) * (n - k) / (k * (n - 1))))

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
        columns: Columns,
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
            columns: Its columns.
            E: These in the rows, of unit length.
            seen: Singular values and vectors of what the model does not absorb of E, and the lengths of the columns.
            variance: Variance of one independent row.
            trials: Alternatives from which the effect was chosen.
            blocks: Number of independent blocks of time.
        """
        from scipy.special import chdtri  # noqa: PLC0415 - start-up time

        s, Vt, size = seen
        k, spread = len(s), float(self.independent.sum())
        ratio = max(float(chdtri(k, LEVEL / trials)), k * np.log(max(spread, 2.0)) + 2 * np.log(trials))
        found = max(np.sqrt(ratio) + _POWER, _found_by_blocks(k, self._n_blocks, blocks, LEVEL / trials))
        moved = self._inverse @ (self.W[self.fitted].T @ E[self.fitted])[self.determined] @ Vt.T / s
        sigmas = np.linalg.norm(moved, axis=1) / np.sqrt(np.maximum(self._inverse.diagonal(), 1e-300))
        j = int(np.argmax(sigmas))
        values = Vt.T @ (moved[j] / max(np.linalg.norm(moved[j]), 1e-300) / s) * found * np.sqrt(variance)
        i = int(np.argmax(abs(values)))
        return Hidden(
            effect.name,
            columns.names[i],
            float(abs(values[i] / size[i])),
            columns.units[i],
            self.free[int(self.determined[j])],
            float(found * sigmas[j]),
            dict(zip(columns.names, (values / size).tolist(), strict=True)),
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


def _found_by_blocks(k: int, n: int, independent: float, level: float) -> float:
    """Standard deviations of an effect that Hotelling's test with n blocks of time finds in nine of ten cases.

    The scatter between blocks is estimated, which costs power: the statistic follows the noncentral F distribution.

    Args:
        k: Number of the effect's parameters.
        n: Number of blocks, by which the test is made.
        independent: Number of blocks by which the scatter is known; smaller where the effect acts in some blocks only.
        level: Level of the test.

    Examples:
        >>> round(_found_by_blocks(2, 40, 40.0, 0.001), 2), _found_by_blocks(2, 3, 3.0, 0.001)
        (5.5, 0.0)
    """
    from scipy.special import fdtri, ncfdtrinc  # noqa: PLC0415 - start-up time

    if n <= k + 1:
        return 0.0  # the test is not made
    squares = float(fdtri(k, n - k, 1 - level)) * k * (n - 1) / (n - k)
    known = max(independent, k + 2.0)
    return float(np.sqrt(ncfdtrinc(k, known - k, _MISSED_BY_BLOCKS, squares * (known - k) / (k * (known - 1)))))


def _p_of_ratio(ratio: float, k: int) -> float:
    from scipy.special import chdtrc  # noqa: PLC0415 - start-up time

    return float(chdtrc(k, max(ratio, 0.0)))
