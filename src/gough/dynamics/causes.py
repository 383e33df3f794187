"""Which effect of the catalogue explains what a model leaves: nested models, ranked by likelihood ratio."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gough.core.arrays import Array
from gough.core.tables import Cell, Column, Table, table
from gough.core.text import listed, number, percent
from gough.core.threads import one_blas_thread
from gough.data import MeasuredMotion
from gough.dynamics.cause import Cause, Hidden
from gough.dynamics.effect import REGRESSOR, Columns, Effect, Excitation, Truth
from gough.dynamics.effect_rows import EffectRows, p_of_ratio
from gough.dynamics.effects import catalogue
from gough.dynamics.forms import FormFit, Forms
from gough.dynamics.signs import LEVEL, chance
from gough.region import Box, ConfidenceEllipsoid
from gough.robots.model import DynamicModel, ParallelRobot

MOVED_UNSEEN = 3.0
"""Shift of a parameter, in σ, from which on an effect that may be present undetected is reported."""
_NONLINEAR = 0.05
"""Part of the mean square from which on an effect is fitted again at the values that were found."""
_ROUNDS = 3
_REFINED, _MOST_MOVES = 2, 25
"""Forms of an effect that are refined, and moves of their numbers."""
_WORTH_A_STEP = 0.1
"""Gain of the ratio for which the numbers of a form are moved rather than refined."""
_PER_UNKNOWN = 3
"""Independent rows for each parameter without which no effect is sought."""
_ROUNDING = 1e-9
"""Difference of two columns, relative to the largest entry, up to which they are the same parameter's."""
_MOST_STEPS = 3
"""Effects that are sought one after the other."""


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
    rivals: tuple[Cause, ...] = ()
    """Effects that these data do not distinguish from the likeliest: with one of them in the model instead, the
    likeliest adds nothing significant."""

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
        """A row for each of the likeliest effects, those that are present first.

        "impossible" are effects that would need values that they cannot have, such as negative friction.
        """
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
                Cell(
                    f"{cause.effect.name}, impossible" if cause.is_impossible else cause.effect.name,
                    "present" if cause in (self.likeliest, *self.rivals) else "",
                ),
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
    between blocks of time, which allows for other autocorrelation. Effects present are ranked by likelihood and
    number of parameters; `Causes.rivals` are those that the data do not distinguish from the first.

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
    rows = first = EffectRows.of(robot, motion, prior, n_fitted)
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
    rivals = _rivals(first, ranked)
    return Causes(ranked, tuple(steps), len(first.y), float(first.independent.sum()), residuals, rivals)


@dataclass(frozen=True, eq=False)
class LargerVariant(Effect):
    """What a larger one of the robot's nested models adds to the one that was used."""

    model: ParallelRobot
    adds: tuple[str, ...] = ()
    """What it and the variants between add, in words."""
    sizes = ()
    size_unit = ""

    @property
    def name(self) -> str:  # type: ignore[override]
        """The variant's name."""
        return self.model.variant

    @property
    def title(self) -> str:  # type: ignore[override]
        """All that the variant adds to the model that was used."""
        return listed(self.adds) if self.adds else f"the {len(self.model.names)}-parameter model"

    @property
    def advice(self) -> str:  # type: ignore[override]
        """Which variant to use."""
        return f'Use the {len(self.model.names)}-parameter model: variant = "{self.model.variant}" in [robot].'

    def columns(self, excitation: Excitation) -> Columns:
        """The columns of the larger model that the model does not have: of its own, only rounding errors are left."""
        values = self.model.regressor(excitation.q, excitation.dq, excitation.ddq)
        own = excitation.of_motion.get(REGRESSOR)
        if own is None:
            own = excitation.regressor(excitation.q, excitation.dq, excitation.ddq)
        place = {name: k for k, name in enumerate(excitation.robot.names)}
        added = [
            k
            for k, name in enumerate(self.model.names)
            if name not in place or not _is_same(values[:, :, k], own[:, :, place[name]])
        ]
        names, units = (tuple(each[k] for k in added) for each in (self.model.names, self.model.units))
        return Columns(names, units, values[:, :, added])

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> None:
        """Not in the confusion table: adequacy of variants has its own."""


def _is_same(x: Array, y: Array) -> bool:
    """Are two columns equal to rounding?"""
    return bool(abs(x - y).max(initial=0.0) <= _ROUNDING * abs(y).max(initial=0.0))


def larger_variants(robot: DynamicModel) -> tuple[Effect, ...]:
    """The robot's nested models beyond the one that was used, as effects."""
    variants = list(getattr(robot, "variants", ()))
    names = [getattr(one, "variant", "") for one in variants]
    here = names.index(getattr(robot, "variant", "")) if getattr(robot, "variant", "") in names else len(names)
    larger = variants[here + 1 :]
    adds = [str(getattr(one, "adds", "")) for one in larger]
    return tuple(LargerVariant(one, tuple(filter(None, adds[: k + 1]))) for k, one in enumerate(larger))


def _ranked(rows: EffectRows, effects: Iterable[Effect]) -> tuple[Cause, ...]:
    causes = [cause for effect in effects if (cause := _best(rows, effect)) is not None]
    return tuple(sorted(causes, key=lambda cause: (not cause.is_present, -cause.score)))


def _rivals(rows: EffectRows, ranked: Sequence[Cause]) -> tuple[Cause, ...]:
    """The effects present that the likeliest one does not refute: in a model with the rival, it adds nothing.

    The likelihood ratio of two models that are not nested has no χ² distribution; that of both effects together against
    one of them has.
    """
    present = [cause for cause in ranked if cause.is_present]
    if len(present) < 2 or not present[0].names:
        return ()
    first, *others = present
    rivals: list[Cause] = []
    for other in others:
        is_far = first.trials * p_of_ratio(first.ratio - other.ratio, first.dof) < LEVEL
        if not other.names or is_far or any(_includes(rows, other, one) for one in (first, *rivals)):
            continue
        added = _added(rows, first, other)
        if added is None or added.p >= LEVEL:
            rivals.append(other)
    return tuple(rivals)


def _includes(rows: EffectRows, cause: Cause, other: Cause) -> bool:
    """Is an effect another one and more, as a drift is an offset and more?"""
    return _added(rows, other, cause) is None and _added(rows, cause, other) is not None


def _added(rows: EffectRows, cause: Cause, other: Cause) -> Cause | None:
    """What an effect adds to a model with another one; None where that one explains all that it can."""
    return next(iter(rows.with_effect(other).fits([cause.effect], rows.excitation, [cause.trials])), None)


def _best(rows: EffectRows, effect: Effect) -> Cause | None:
    """The best of the effect's alternatives, fitted again at its own values where it is large."""
    every = effect.alternatives(rows.excitation)
    fits = rows.fits(every, rows.excitation, [len(every) * one.trials for one in every])
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
        again = rows.fits([best.effect], rows.excitation_with(best), [best.trials])
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


def _refined(rows: EffectRows, forms: Forms, fit: Cause) -> Cause:
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
        found = next(iter(rows.fits([best.effect], rows.excitation, [fit.trials])), fit)
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
