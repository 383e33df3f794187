"""Is the model good enough for these data? The robot's nested models, judged on held-out data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any

import numpy as np

from gough.core import outward
from gough.core.arrays import Array
from gough.core.errors import InputError, nearest, require
from gough.core.tables import Cell, Column, Table, table
from gough.core.text import listed, number, percent
from gough.core.threads import one_blas_thread
from gough.data import MeasuredMotion
from gough.dynamics.bounds import residual_scale, rounded_up, with_bounds
from gough.dynamics.held_out import (
    BLOCKS,
    BlockedRows,
    gain,
    gain_of_general_terms,
    joined,
    residuals,
    solved,
    triangles,
)
from gough.dynamics.recorded import recorded
from gough.dynamics.reduce import reduced
from gough.dynamics.text import largest
from gough.methods import identifiability, minimal_bound
from gough.problem import LinearProblem
from gough.robots.model import DynamicModel

SURE = 3.0
"""A larger model is called better if its gain exceeds zero by so many standard errors …"""
WORTHWHILE = 0.002
"""… and this part of the mean square: below it parameters move by about their σ."""
POSSIBLE = 0.05
"""A recording is undecided if a gain in mean square beyond this is compatible with the scatter."""
LEFT = 0.10
"""An effect is missing from all variants if general terms remove more than this part of the mean square."""
_ROWS_PER_UNKNOWN = 5
_NAMED = 3
"""Parameters that are named where many are off."""


@dataclass(frozen=True, eq=False)
class VariantFit:
    """Residuals of one of a robot's nested models on fitted and held-out data. Arrays have an entry per actuator."""

    variant: str
    """Its name, `robot.variant`."""
    adds: str
    """What it adds to the variant before, in words; empty for the first."""
    n_parameters: int
    rank: int
    """Parameters, or combinations of them, that the fitted data determine."""
    fitted_rms: Array
    """Root mean square of the residuals on the data that it was fitted to."""
    rms: Array
    """Root mean square of the residuals on held-out data."""
    peak: Array
    """Largest |residual| on held-out data."""
    smallest_bound: Array
    """Some parameters, within the prior or not, explain every fitted row with errors of this size, which is about the
    smallest in proportion to the residual rms."""
    overall: float
    """Root mean square over all held-out rows of all actuators, each in units of `Adequacy.unit`."""
    gain: float
    """Part of the mean square of the variant before that this one removes from held-out data; 0 for the first."""
    gain_sigma: float
    """Standard error of `gain`, from the scatter of residuals between blocks of time."""

    @property
    def is_determined(self) -> bool:
        """Do the data determine all of its parameters?"""
        return self.rank == self.n_parameters

    @property
    def is_better(self) -> bool:
        """Does it predict held-out data better than the variant before, beyond the scatter between blocks?"""
        return _is_better(self.gain, self.gain_sigma)

    @property
    def may_be_better(self) -> bool:
        """May it predict better, given the scatter between blocks?"""
        return _may_be_better(self.gain, self.gain_sigma)


class Finding(Enum):
    """Result of a comparison of models, about the one that was used; the value is a text for people.

    Examples:
        >>> Finding.UNDECIDED.value
        'this recording does not decide between the models'
    """

    ADEQUATE = "the model that was used is adequate"
    INADEQUATE = "the model that was used leaves out an effect that the data show"
    LARGER_THAN_NEEDED = "a simpler model predicts as well"
    UNDECIDED = "this recording does not decide between the models"


@dataclass(frozen=True, eq=False)
class Adequacy:
    """The robot's variants, simplest first, judged on data that they were not fitted to.

    `str()` of it is a table with the verdict.

    Examples:
        >>> from gough.dynamics import adequacy_of
        >>> from gough.dynamics.example import random_motion
        >>> adequacy = adequacy_of(*random_motion(1, n_samples=2000))
        >>> adequacy.recommended, adequacy.fits[0].rank, adequacy.held_out
        ('five-bar', 15, 'each of 10 blocks of 2 s in turn')
    """

    fits: tuple[VariantFit, ...]
    used: str
    """The variant that the identification used."""
    recommended: str | None
    """The variant to use; None where the recording does not decide."""
    finding: Finding
    held_out: str
    """What was held out, in words, e.g. `the validation recording`."""
    generic: float
    """Overall rms of the largest variant after general terms in position, velocity and acceleration are added."""
    generic_gain: float
    """Part of the largest variant's held-out mean square that the general terms remove; about 0 if noise is left."""
    generic_sigma: float
    """Standard error of `generic_gain`."""
    unit: str
    """Unit of the overall numbers: that of the efforts, or empty where these differ and rms is relative."""
    actuators: tuple[str, ...]
    shifts: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Where another variant is recommended: how far each parameter that both have is off in the variant used, as a part
    of the recommended variant's value, and in units of the σ that was printed for it (NaN without one)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "shifts", MappingProxyType(dict(self.shifts)))

    def fit(self, variant: str) -> VariantFit:
        """The fit of one variant, by name."""
        for one in self.fits:
            if one.variant == variant:
                return one
        known = [one.variant for one in self.fits]
        raise InputError(f"no variant is called '{variant}'{nearest(variant, known)} (known: {', '.join(known)})")

    @property
    def sentences(self) -> tuple[str, ...]:
        """Held-out residuals of each variant, the effect that is missing, and which variant to use."""
        sentences = [_what_is_left(self)]
        unused = [fit for fit in self.fits if not fit.is_determined]
        if unused:
            names = listed([f"the {_model(fit)}" for fit in unused])
            sentences.append(f"The recording does not determine every parameter of {names}.")
        sentences += _advice(self)
        if self.finding is Finding.INADEQUATE:
            sentences += _structural(self)
        return tuple(sentences)

    @property
    def verdict(self) -> str:
        """The sentences as one text."""
        return " ".join(self.sentences)

    def table(self) -> Table:
        """A row for each variant: parameters, rms on fitted and on held-out data, and errors that suffice.

        The last are not called ε*, which is about the prior and in proportion to the bounds that were given.
        """
        most = max(fit.overall for fit in self.fits) or 1.0
        columns = [
            Column("model", "label"),
            Column("adds", "words", is_detail=True),
            Column("parameters"),
            Column("rms, fitted", is_detail=True),
            Column("rms, held out", unit=self.unit),
            Column("removes"),
            Column("largest residual", is_detail=True),
            Column("errors that suffice"),
        ]
        rows: list[list[str | Cell]] = []
        for i, fit in enumerate(self.fits):
            chosen = (("used", self.used), ("recommended", self.recommended))
            marks = ", ".join(mark for mark, name in chosen if name == fit.variant)
            rows.append(
                [
                    Cell(fit.variant, marks),
                    fit.adds or "—",
                    str(fit.n_parameters) if fit.is_determined else f"{fit.rank} of {fit.n_parameters}",
                    number(float(np.sqrt((fit.fitted_rms**2).mean())), digits=3),
                    Cell(number(fit.overall, digits=3), share=fit.overall / most),
                    _gain(fit.gain, fit.gain_sigma) if i else "—",
                    number(largest(fit.peak), digits=3),
                    outward.at_most(largest(fit.smallest_bound), digits=3),
                ]
            )
        general = Cell(number(self.generic, digits=3), share=self.generic / most)
        gain = _gain(self.generic_gain, self.generic_sigma)
        smooth = "any smooth function of position, velocity and acceleration, for comparison"
        rows.append(["with general terms", smooth, "—", "—", general, gain, "—", "—"])
        return table(columns, rows, "." * len(columns), "Nested models on held-out data")

    def __str__(self) -> str:
        return f"{self.table()}\n{self.verdict}"


def _gain(gain: float, sigma: float) -> str:
    """Part of the mean square that is removed; below zero, nothing is."""
    return f"{100 * gain:.3g} ± {100 * sigma:.2g} %" if gain > 0 else "nothing"


def variants_of(robot: DynamicModel) -> Sequence[DynamicModel]:
    """The robot's nested models, simplest first; a robot without variants is its own."""
    return tuple(getattr(robot, "variants", ())) or (robot,)


def variant_name(robot: DynamicModel) -> str:
    """What a variant is called; the robot's name where it has none."""
    return str(getattr(robot, "variant", "") or robot.name)


@dataclass(frozen=True, eq=False)
class _Judged:
    """One variant with its residuals."""

    model: DynamicModel
    problem: LinearProblem
    fitted: BlockedRows
    judged: BlockedRows | None
    unseen: Array
    seen: Array

    @property
    def held_out(self) -> BlockedRows:
        return self.fitted if self.judged is None else self.judged

    def gain_of(self, other: "_Judged") -> tuple[float, float]:
        """Part of the held-out mean square that another variant removes, and its standard error."""
        return gain(self.unseen, other.unseen, self.held_out.block)


@one_blas_thread()
def adequacy_of(
    robot: DynamicModel,
    motion: MeasuredMotion,
    validation: MeasuredMotion | None = None,
    *,
    sigma: Mapping[str, float] | None = None,
    with_bound: bool = True,
) -> Adequacy | None:
    """The robot's variants fitted to `motion` and judged on data that the fit has not seen.

    Held out is the validation motion if there is one, else each of ten blocks of time in turn. The simplest variant
    that no larger one beats for certain is recommended, where certain means by three standard errors of the scatter
    between blocks, and by 0.2 % of the mean square. Whether the largest leaves more than noise is asked of general
    terms in position, velocity and acceleration. Priors play no part in it. None if there are too few rows to hold any
    out.

    Args:
        robot: The variant that was used.
        motion: What it was identified from.
        validation: Another trajectory.
        sigma: Printed standard deviations of the parameters of the variant used, to tell how little they say where it
            is inadequate.
        with_bound: Also compute the smallest error bound that explains every row. The finding does not depend on it;
            without it, `VariantFit.smallest_bound` is NaN.

    Examples:
        >>> from gough.dynamics.example import random_motion
        >>> print(adequacy_of(*random_motion(1, n_samples=2000)).finding.value)
        the model that was used is adequate
    """
    variants = variants_of(robot)
    names = [variant_name(v) for v in variants]
    require(variant_name(robot) in names, f"'{variant_name(robot)}' is not among the robot's variants: {names}")
    widest = max(len(v.names) for v in variants)
    for held in (motion, validation):
        if held is not None and held.n_rows < _ROWS_PER_UNKNOWN * BLOCKS * widest // len(robot.actuators):
            return None
    here = names.index(variant_name(robot))
    problems = [recorded(v, motion) for v in variants]
    scale = residual_scale(problems[here])
    all_judged = [_judge(v, p, validation, scale) for v, p in zip(variants, problems, strict=True)]
    fits = tuple(
        _fit(j, scale, all_judged[i - 1] if i else None, with_bound=with_bound) for i, j in enumerate(all_judged)
    )
    general = gain_of_general_terms(all_judged[-1].problem, motion, scale)
    best = _recommended(all_judged)
    finding = _finding(all_judged, here, best, general)
    if finding is Finding.INADEQUATE:
        best = max(here, best)
    return Adequacy(
        fits=fits,
        used=variant_name(robot),
        recommended=None if finding is Finding.UNDECIDED else names[best],
        finding=finding,
        held_out=_held_out(motion, validation),
        generic=fits[-1].overall * float(np.sqrt(max(1 - general[0], 0.0))),
        generic_gain=general[0],
        generic_sigma=general[1],
        unit=robot.effort_units[0] if _is_uniform(robot) else "",
        actuators=robot.actuators,
        shifts=_shifts(all_judged[here], all_judged[best], sigma or {}) if best != here else {},
    )


def _judge(model: DynamicModel, problem: LinearProblem, validation: MeasuredMotion | None, scale: Array) -> _Judged:
    fitted = BlockedRows.of(problem, scale)
    judged = None if validation is None else BlockedRows.of(recorded(model, validation), scale)
    unseen, seen = residuals(fitted, judged)
    return _Judged(model, problem, fitted, judged, unseen, seen)


def _fit(judged: _Judged, scale: Array, before: _Judged | None, *, with_bound: bool) -> VariantFit:
    model, rows = judged.model, judged.held_out
    analysis = identifiability(judged.problem)
    n = len(model.actuators)
    smallest = np.full(n, np.nan)
    if with_bound:
        problem = judged.problem if analysis.is_full_rank else reduced(judged.problem, analysis)
        smallest = rounded_up(minimal_bound(with_bounds(problem, scale)).upper, scale)
    part, error = (0.0, 0.0) if before is None else before.gain_of(judged)
    return VariantFit(
        variant=variant_name(model),
        adds=str(getattr(model, "adds", "")),
        n_parameters=len(model.names),
        rank=analysis.rank,
        fitted_rms=scale * _rms(judged.seen, judged.fitted.group, n),
        rms=scale * _rms(judged.unseen, rows.group, n),
        peak=scale * np.array([abs(judged.unseen[rows.group == g]).max(initial=0.0) for g in range(n)]),
        smallest_bound=smallest,
        overall=_overall(judged.unseen, rows, scale, model),
        gain=part,
        gain_sigma=error,
    )


def _rms(values: Array, group: Any, n: int) -> Array:
    count = np.maximum(np.bincount(group, minlength=n), 1)
    result: Array = np.sqrt(np.bincount(group, values**2, minlength=n) / count)
    return result


def _is_uniform(model: DynamicModel) -> bool:
    """Have all efforts the same unit?"""
    return len(set(model.effort_units)) == 1


def _overall(values: Array, rows: BlockedRows, scale: Array, model: DynamicModel) -> float:
    """Root mean square over all rows, in the unit of the efforts, or of their scale where units differ."""
    unit = scale[rows.group] if _is_uniform(model) else 1.0
    return float(np.sqrt(((unit * values) ** 2).mean()))


def _is_better(part: float, error: float) -> bool:
    """Is a gain worthwhile, and larger than the scatter between blocks explains?"""
    return part > max(WORTHWHILE, SURE * error)


def _may_be_better(part: float, error: float) -> bool:
    """Is a worthwhile gain compatible with the scatter between blocks?"""
    return part + 2 * error > POSSIBLE


def _is_left(part: float, error: float) -> bool:
    """Do general terms remove so much that the residual is not just noise?"""
    return part > max(LEFT, SURE * error)


def _recommended(judged: Sequence[_Judged]) -> int:
    """The simplest variant that no larger one beats for certain."""
    for i, one in enumerate(judged):
        if not any(_is_better(*one.gain_of(larger)) for larger in judged[i + 1 :]):
            return i
    return len(judged) - 1


def _finding(judged: Sequence[_Judged], used: int, best: int, general: tuple[float, float]) -> Finding:
    if best > used or _is_left(*general):
        return Finding.INADEQUATE
    if any(_may_be_better(*judged[best].gain_of(one)) for one in judged[best + 1 :]):
        return Finding.UNDECIDED
    return Finding.LARGER_THAN_NEEDED if best < used else Finding.ADEQUATE


def _held_out(motion: MeasuredMotion, validation: MeasuredMotion | None) -> str:
    if validation is not None:
        return "the validation trajectory"
    seconds = motion.n_samples / motion.rate / BLOCKS
    return f"each of {BLOCKS} blocks of {seconds:.2g} s in turn"


def _shifts(used: _Judged, best: _Judged, sigma: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """How far off each shared parameter is in the variant used, by the best variant's value, and by printed σ."""
    here, there = (
        dict(zip(one.model.names, solved(joined(triangles(one.fitted))).tolist(), strict=True)) for one in (used, best)
    )
    shared = [name for name in here if there.get(name)]
    return {
        name: (
            (here[name] - there[name]) / abs(there[name]),
            (here[name] - there[name]) / sigma.get(name, np.nan),
        )
        for name in shared
    }


def _what_is_left(adequacy: Adequacy) -> str:
    """The 14-parameter model leaves 0.31 N·m rms …; adding … brings it to 0.12 and … to 0.101. General terms …"""
    first, *others = adequacy.fits
    unit = f" {adequacy.unit}" if adequacy.unit else " times its own residual"
    what = f"The {_model(first)} leaves {_three(first.overall)}{unit} rms on held-out data ({adequacy.held_out})"
    smallest = np.minimum.accumulate([fit.overall for fit in adequacy.fits])
    helps = [fit for fit, before in zip(others, smallest, strict=False) if fit.is_better and fit.overall < before]
    maybe = [fit for fit in others if fit not in helps and fit.may_be_better]
    idle = [_adds(fit) for fit in others if fit not in helps and fit not in maybe]
    steps = [f"{_adds(fit)} {'' if i else 'brings it '}to {_three(fit.overall)}" for i, fit in enumerate(helps)]
    text = f"{what}; adding {listed(steps)}" if steps else what
    left = _is_left(adequacy.generic_gain, adequacy.generic_sigma)
    text += "".join(f"; {_adds(fit)} may bring it to {_three(fit.overall)}" for fit in maybe)
    if idle:
        text += f"; with {listed(idle)} there is no improvement over a smaller model"
    general = "General terms in position, velocity and acceleration"
    if not left:
        part = f"only {percent(adequacy.generic_gain)}" if adequacy.generic_gain > 0 else "none"
        rest = (
            "" if maybe else f" {general} remove {part} of the mean square that the {_model(adequacy.fits[-1])} leaves."
        )
        return f"{text}.{rest}"
    lacking = "no variant has" if others else "the model lacks"
    return f"{text}. {general} would bring it to {_three(adequacy.generic)}: an effect is left that {lacking}."


def _adds(fit: VariantFit) -> str:
    return fit.adds or f"the {_model(fit)}"


def _advice(adequacy: Adequacy) -> list[str]:
    used = adequacy.fit(adequacy.used)
    if adequacy.recommended is None:
        which = [_adds(f) for f in adequacy.fits[1:] if f.may_be_better and not f.is_better]
        open_question = f"whether {listed(which)} must be modeled" if which else "which of the models is needed"
        why = "the difference is within the scatter between blocks of time"
        return [f"This recording does not decide {open_question}: {why}. Record longer, or with more acceleration."]
    best = adequacy.fit(adequacy.recommended)
    match adequacy.finding:
        case Finding.INADEQUATE if best is not used:
            return [_lacking(adequacy, used, best)]
        case Finding.INADEQUATE:
            return [f"The {_model(used)} leaves an effect out, and so do the other variants."]
        case Finding.LARGER_THAN_NEEDED:
            return [f"Of the variants, the {_model(best)} is enough: the {_model(used)} predicts no better."]
    if used is adequacy.fits[-1]:
        return [f"Of the variants, use the {_model(used)}."] if len(adequacy.fits) > 1 else []
    return [f"No larger variant predicts better than the {_model(used)}."]


def _lacking(adequacy: Adequacy, used: VariantFit, best: VariantFit) -> str:
    """The effects that improve the prediction, and the smallest variant that has them.

    Variants are nested: one that has a needed effect may also have an effect that improves nothing, which is then not
    called missing. Where only several effects together improve the prediction for certain, all of them are named.
    """
    steps = [fit for fit in _between(adequacy, used, best) if fit.adds]
    needed = [fit for fit in steps if fit.is_better] or steps
    missing = listed([fit.adds for fit in needed]) if needed else "an effect"
    gained = percent(1 - (best.overall / used.overall) ** 2)
    also = [fit.adds for fit in steps if fit not in needed]
    has = (
        f", the smallest variant with {'it' if len(needed) == 1 else 'them'}; it also has {listed(also)}"
        if also
        else ""
    )
    part = f"the {_model(best)} removes {gained} of the mean square that the {_model(used)} leaves"
    return f"The {_model(used)} lacks {missing}: {part}. Use the {_model(best)}{has}."


def _structural(adequacy: Adequacy) -> list[str]:
    """A printed σ accounts for noise, not for what the model leaves out."""
    text = "The printed σ do not include this error: they account for noise, not for effects that the model leaves out."
    off = {name: part for name, (part, sigmas) in adequacy.shifts.items() if abs(sigmas) > SURE}
    worst = sorted(off, key=lambda name: -abs(off[name]))[:_NAMED]
    if not worst:
        return [text]
    parts = [f"{name} {'is off ' if i == 0 else ''}by {_signed(100 * off[name])} %" for i, name in enumerate(worst)]
    sigmas = [abs(adequacy.shifts[name][1]) for name in worst]
    times = (
        f"{min(sigmas):.2g} to {max(sigmas):.2g} times their σ" if len(worst) > 1 else f"{sigmas[0]:.2g} times its σ"
    )
    return [f"{text} Of the parameters that the recommended model has too, {listed(parts)}: {times}."]


def _signed(percent: float) -> str:
    return f"{percent:+.0f}".replace("-", "−")


def _between(adequacy: Adequacy, used: VariantFit, best: VariantFit) -> list[VariantFit]:
    """The variants after the one used, up to the best."""
    fits = list(adequacy.fits)
    return fits[fits.index(used) + 1 : fits.index(best) + 1]


def _model(fit: VariantFit) -> str:
    return f"{fit.n_parameters}-parameter model"


def _three(value: float) -> str:
    return number(value, digits=3)
