"""The verdict on a model: adequate only if no test at hand rejects it, else the likely cause."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core import fisher
from gough.core.arrays import Array
from gough.core.tables import Table
from gough.core.text import counted, listed, number, percent
from gough.data import Dropout, MeasuredMotion
from gough.dynamics.adequacy import Adequacy, Finding
from gough.dynamics.cause import Cause
from gough.dynamics.causes import Causes
from gough.dynamics.noise_level import ABOUT as NOISE
from gough.dynamics.physics import ABOUT as PHYSICS
from gough.dynamics.signs import COVERAGE, HELD_OUT, LEVEL, Sign, table_of_signs

_WITHIN = 0.99
"""Part of the efforts' power that defines the band of the motion."""
_FLAT = 0.7
"""Up to this share of the cutoff the low-pass leaves white noise nearly flat."""
SPECTRUM = "spectrum of the residuals"
OTHER_MODELS = "held-out data, other models"
_DECIDING = {NOISE, SPECTRUM, HELD_OUT, COVERAGE, OTHER_MODELS}
"""Tests of which at least one must have been made to call a model adequate."""
_MOST = 0.5
"""Part of the excess over the noise level that the effects must remove to be called the cause."""
_LISTED = 3
"""Undetectable effects that are listed in the text."""
_ON_SIGMA = "The printed σ account for noise, not for effects that the model leaves out."
_ON_DROPOUTS = (
    "Leave these rows out (the remark on the recording has the line), or record again; only then does the rest show "
    "other causes."
)
_FEWEST = 20
"""Degrees of freedom that a part of the spectrum must have to be compared."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """The finding on a model, every test that it rests on, and the effects that may be missing. It prints as text."""

    finding: Finding
    signs: tuple[Sign, ...]
    causes: Causes | None = None
    mistake: str = ""
    """The mistake of signs or units that explains impossible parameters, as a sentence; empty where none was found."""
    excess: float = 0.0
    """Part of the mean square of the residuals that is above the noise level; 0 where no level is known."""
    remark: str = ""
    """What must be known to follow the advice, as a sentence."""
    missing: tuple[str, ...] = ()
    """Tests that these data do not allow."""
    indicative: tuple[str, ...] = ()
    """Effects in the model whose values are indicative only: what they leave may imitate others, so none is named."""
    dropouts: tuple[Dropout, ...] = ()
    """Stretches of the recordings without measurements, left out or not."""

    @property
    def against(self) -> tuple[Sign, ...]:
        """The tests that reject the model."""
        return tuple(sign for sign in self.signs if sign.against)

    @property
    def cause(self) -> Cause | None:
        """The likeliest effect that is missing; None where none is found, or a mistake or a dropout is likelier."""
        return None if self.has_mistake or self.open_dropouts else self._nearest

    @property
    def open_dropouts(self) -> tuple[Dropout, ...]:
        """Dropouts that take part as if they were measurements: what they leave in the residuals imitates effects."""
        return tuple(each for each in self.dropouts if not each.is_left_out)

    @property
    def _nearest(self) -> Cause | None:
        """The likeliest effect of the catalogue, whether or not a mistake explains the data better."""
        return None if self.causes is None or self.indicative else self.causes.likeliest

    @property
    def rivals(self) -> tuple[Cause, ...]:
        """Effects that these data do not distinguish from `cause`."""
        return () if self.causes is None or self.cause is None else self.causes.rivals

    @property
    def likely(self) -> str:
        """The likely cause, or causes, in words; empty where no effect is found."""
        if self.cause is None:
            return ""
        titles = [cause.effect.title for cause in (self.cause, *self.rivals)]
        end = ": these data do not distinguish them" if self.rivals else ""
        return f"{', or else '.join(titles)}{end}"

    @property
    def is_explained(self) -> bool:
        """Do the effects that were found remove most of what is above the noise level?"""
        if self.causes is None or self._nearest is None:
            return False
        left = float(np.prod([1 - cause.removes for cause in self.causes.steps]))
        return 1 - left > _MOST * self.excess

    @property
    def has_mistake(self) -> bool:
        """Does a mistake of units, order or signs explain the data better than an effect?"""
        is_sign = self._nearest is not None and self._nearest.effect.name == "sign" and self.is_explained
        return bool(self.mistake) and not is_sign

    @property
    def headline(self) -> str:
        """The verdict in one sentence, with the dropouts that take part."""
        if self.finding is Finding.INADEQUATE:
            return f"The model is NOT ADEQUATE{self._reason}"
        return f"{self._decision}, although {self._dropping}." if self.open_dropouts else f"{self._decision}."

    @property
    def _decision(self) -> str:
        """The headline without its stop, of a model that no test rejects."""
        match self.finding:
            case Finding.UNDECIDED if not _DECIDING & {sign.about for sign in self.signs}:
                return "UNDECIDED: these data are too few for the tests that a verdict needs; record longer"
            case Finding.UNDECIDED:
                return "UNDECIDED: this recording does not decide between the models"
            case Finding.LARGER_THAN_NEEDED:
                return "The model is ADEQUATE; a simpler one predicts as well"
        return "The model is ADEQUATE: none of the tests rejects it"

    @property
    def _dropping(self) -> str:
        """The dropouts that take part, as a clause."""
        more = len(self.open_dropouts) - _LISTED
        return listed([each.words for each in self.open_dropouts[:_LISTED]] + ([f"{more} more"] if more > 0 else []))

    @property
    def _reason(self) -> str:
        """Why the model is not adequate: the end of the headline."""
        abouts, cause = {sign.about for sign in self.against}, self.cause
        if self.open_dropouts:
            return f"; a dropout in the data is the likely cause: {self._dropping}."
        if self.has_mistake:
            return f"; a mistake in the data is likely. {self.mistake}"
        if self.indicative:
            return (
                f". It includes {listed(self.indicative)} with values that are indicative only; what these leave may "
                "imitate other effects, so no further cause is named."
            )
        if cause is not None and self.is_explained:
            return f"; the likely cause is {self.likely}."
        if cause is not None:
            return (
                ", and no effect of the catalogue explains most of the residuals. The nearest is "
                f"{cause.effect.title}, which removes {percent(cause.removes)} of their mean square: it may imitate "
                "another effect."
            )
        if PHYSICS in abouts:
            return ": its parameters are not physically possible."
        if abouts == {NOISE}:
            return (
                ", or the noise is larger than the noise level: residuals exceed it, and no effect of the catalogue "
                "explains them."
            )
        if abouts <= {NOISE, SPECTRUM, COVERAGE}:
            return (
                ", or the noise is not white (disturbances, outliers, jitter of the sampling times): no effect of the "
                "catalogue explains the residuals."
            )
        return "; no effect of the catalogue explains it."

    @property
    def sentences(self) -> tuple[str, ...]:
        """The headline, what rejects the model, the cause with its size, and what to do."""
        lines = [self.headline]
        if self.against:
            what = [f"{sign.about} ({sign.statistic})" if sign.statistic else sign.about for sign in self.against]
            lines.append(f"Against the model: {'; '.join(what)}.")
        # sentences on the noise and on physics are paragraphs of their own
        lines += [line for sign in self.against if sign.about not in (NOISE, PHYSICS) for line in sign.sentences]
        lines += [self.mistake] if self.mistake and not self.has_mistake else []
        if self.finding is not Finding.INADEQUATE:
            return (*lines, *self._tests_made, *self._not_excluded)
        if self.causes is not None and self.cause is not None:
            lines += [*_on_cause(self.cause, self.causes), *([self.remark] if self.remark else [])]
        lines += [_ON_DROPOUTS] if self.open_dropouts else []
        lines.append(_ON_SIGMA)
        return tuple(lines)

    @property
    def _tests_made(self) -> tuple[str, ...]:
        made = [sign.about for sign in self.signs]
        lines = [f"Tests made, each at the level {LEVEL:g}: {', '.join(made)}."] if made else []
        return (*lines, *([self._not_tested] if self.missing else []))

    @property
    def _not_tested(self) -> str:
        sigma = " To compare the residuals with the noise, state sigma in [noise], the standard deviation of a reading."
        return f"These data do not allow: {', '.join(self.missing)}.{sigma if NOISE in self.missing else ''}"

    @property
    def _not_excluded(self) -> tuple[str, ...]:
        """Effects that these tests cannot find although they move parameters."""
        if self.causes is None or not self.causes.ranked:
            return ()
        hidden = self.causes.hidden
        lines = []
        if hidden:
            most = "; ".join(map(str, hidden[:_LISTED]))
            more = f" and {counted(len(hidden) - _LISTED, 'other effect')}" if len(hidden) > _LISTED else ""
            lines.append(
                f"These data do not exclude small effects that parameters absorb: {most}{more}. A motion with more "
                "different poses and speeds, or a longer one, excludes more."
            )
        return (*lines, *(cause.effect.invisible for cause in self.causes.ranked if cause.effect.invisible))

    @property
    def outline(self) -> tuple[tuple[str, str], ...]:
        """The verdict for a terminal: finding, cause, size, consequence and what to do, a label and a text each.

        Statistics of the tests are in `table()`, and everything is in `sentences`.
        """
        parts = [("Finding", self.headline)]
        own = [line for sign in self.against if sign.about not in (NOISE, PHYSICS) for line in sign.sentences]
        own += [self.mistake] if self.mistake and not self.has_mistake else []
        parts += [("Tests", line) for line in own]
        if self.finding is not Finding.INADEQUATE:
            if self.missing:
                parts.append(("Not tested", self._not_tested))
            return (*parts, *(("Not excluded", line) for line in self._not_excluded))
        cause = self.cause
        if cause is not None and self.causes is not None:
            parts += [("Size", f"{cause.size}.")] if cause.size else []
            parts += [("Caution", cause.caveat)] if cause.caveat else []
            parts += [("Effect", line) for line in _consequence(cause)]
            parts.append(("What to do", cause.effect.advice))
            parts += [("", self.remark)] if self.remark else []
            parts += [("Or else", _on_rival(cause, rival)) for rival in self.rivals]
            parts += [("Next", line) for line in _further(self.causes)]
        parts += [("What to do", _ON_DROPOUTS)] if self.open_dropouts else []
        parts.append(("Intervals", _ON_SIGMA))
        return tuple(parts)

    @property
    def text(self) -> str:
        """The sentences as one text."""
        return " ".join(self.sentences)

    def table(self) -> Table:
        """A row for each test."""
        return table_of_signs(self.signs)

    def __str__(self) -> str:
        tables = [str(self.table()), *([str(self.causes.table())] if self.causes and self.causes.ranked else [])]
        return "\n".join([*tables, self.text])


def _on_cause(cause: Cause, causes: Causes) -> list[str]:
    lines = []
    if cause.size:
        lines.append(f"Estimated size: {cause.size}.")
    if cause.caveat:
        lines.append(cause.caveat)
    others = [one for one in causes.ranked[1:3] if one.is_present]
    if others:
        next_ones = ", ".join(f"{one.effect.name} {_with_parameters(one)}" for one in others)
        lines.append(f"Twice the log-likelihood ratio is {_with_parameters(cause)}; the next: {next_ones}.")
    rivals = [_on_rival(cause, rival) for rival in causes.rivals]
    return [*lines, *_consequence(cause), cause.effect.advice, *rivals, *_further(causes)]


def _on_rival(cause: Cause, rival: Cause) -> str:
    """Why an effect that explains the data less well is not excluded, its size, and what to do about it."""
    size = f", {rival.size}" if rival.size else ""
    return (
        f"The cause may also be {rival.effect.title}{size}: in a model with it, {cause.effect.name} is not "
        f"significant. A longer motion with more different poses may distinguish them. {rival.effect.advice}"
    )


def _consequence(cause: Cause) -> list[str]:
    """The parameter that is most off without the effect, as a sentence."""
    worst = cause.worst
    if worst is None or abs(worst[2]) <= 1:
        return []
    part = f"{percent(abs(worst[1]))}, " if abs(worst[1]) < 10 else ""
    return [f"Without it, {worst[0]} is off by {part}{number(abs(worst[2]), digits=2)} times the σ that noise causes."]


def _further(causes: Causes) -> list[str]:
    """Effects in what remains once the likeliest is in the model, as a sentence."""
    more = ", then ".join(step.effect.title for step in causes.steps[1:])
    return [f"With it in the model, what remains shows {more}."] if more else []


def _with_parameters(cause: Cause) -> str:
    """The ratio, which grows with the number of parameters even if the effect is absent."""
    return f"{number(cause.ratio, digits=3)} with {counted(cause.dof, 'parameter')}"


def verdict_of(
    adequacy: Adequacy | None,
    causes: Causes | None,
    signs: tuple[Sign, ...],
    *,
    mistake: str = "",
    excess: float = 0.0,
    expected: Sequence[str] = (),
    indicative: Sequence[str] = (),
    dropouts: Sequence[Dropout] = (),
) -> Verdict:
    """The verdict from nested models, the catalogue of effects, and all other tests.

    Args:
        adequacy: The robot's variants on held-out data; None where they were not compared.
        causes: The catalogue of effects; None where it was not tried.
        signs: The other tests.
        mistake: The mistake of signs or units that explains impossible parameters, as a sentence.
        excess: Part of the mean square of the residuals that is above the noise level.
        expected: Tests without any of which a model is not called adequate.
        indicative: Effects in the model whose values are indicative only.
        dropouts: Stretches of the recordings without measurements.
    """
    every = (
        *signs,
        *([sign_of_variants(adequacy)] if adequacy is not None else []),
        *([sign_of_effects(causes, is_named=not indicative)] if causes is not None else []),
    )
    made = {sign.about for sign in every}
    if any(sign.against for sign in every):
        finding = Finding.INADEQUATE
    elif expected and not made & set(expected):
        finding = Finding.UNDECIDED
    else:
        finding = Finding.ADEQUATE if adequacy is None else adequacy.finding
    missing = tuple(about for about in expected if about not in made)
    return Verdict(
        finding,
        every,
        causes,
        mistake,
        excess,
        missing=missing,
        indicative=tuple(indicative),
        dropouts=tuple(dropouts),
    )


def sign_of_variants(adequacy: Adequacy) -> Sign:
    """Do larger variants, or general terms, predict held-out data better?"""
    against = adequacy.finding is Finding.INADEQUATE
    used = adequacy.fit(adequacy.used)
    best = adequacy.fit(adequacy.recommended) if adequacy.recommended else used
    if best.n_parameters > used.n_parameters:
        what = f"the {best.n_parameters}-parameter model removes {percent(1 - (best.overall / used.overall) ** 2)}"
    else:
        part = percent(adequacy.generic_gain) if adequacy.generic_gain > 0 else "nothing"
        what = f"general terms remove {part}"
    return Sign(OTHER_MODELS, against, f"{what} of the mean square")


def sign_of_effects(causes: Causes, *, is_named: bool = True) -> Sign:
    """Is an effect of the catalogue present?

    Args:
        causes: The catalogue of effects.
        is_named: Is the likeliest one named?
    """
    cause = causes.likeliest
    if cause is None:
        return Sign("catalogue of effects", against=False, statistic=f"{len(causes.ranked)} effects, none", p=causes.p)
    about = cause.effect.name if is_named else "some explain residuals"
    what = f"{about}: 2 ln likelihood ratio {number(cause.ratio, digits=3)}"
    return Sign("catalogue of effects", against=True, statistic=what, p=cause.p)


def sign_of_spectrum(motion: MeasuredMotion, residuals: Array) -> Sign | None:
    """Have the residuals more power within the motion's band than noise has above it?

    White noise is flat below the cutoff of the low-pass; noise of positions grows with frequency. So more power at the
    motion's own frequencies than above them is an effect that the model leaves out, or noise with such a spectrum.

    Args:
        motion: The motion, with the efforts that were measured.
        residuals: (samples, actuators), NaN where rows are masked.

    Returns:
        The sign; None where the spectrum has no part above the motion's band.
    """
    full = motion.full_rate
    top = 0.35 * motion.rate if full is None else min(_FLAT * full.cutoff, 0.45 * motion.rate)
    inside = outside = within = beyond = 0.0
    band = 0.0
    for part in _stretches(motion):
        f = np.fft.rfftfreq(len(part), 1 / motion.rate)
        band = max(band, _band(f, motion.efforts[part]))
        for r in residuals[part].T:
            kept = np.isfinite(r)
            if kept.sum() < _FEWEST:
                continue
            power = abs(np.fft.rfft(np.where(kept, r, 0.0))) ** 2 / np.nanmean(r**2) / kept.sum()
            low, high = (f > 0) & (f <= band), (f > band) & (f <= top)
            share = kept.mean()
            inside, within = inside + float(power[low].sum()), within + 2 * share * int(low.sum())
            outside, beyond = outside + float(power[high].sum()), beyond + 2 * share * int(high.sum())
    if min(within, beyond) < _FEWEST or outside <= 0:
        return None
    ratio = (inside / within) / (outside / beyond)
    p = float(fisher.above(within, beyond, ratio))
    statistic = f"{number(ratio, digits=3)} times the power within {number(band, digits=2)} Hz as above it"
    return Sign(SPECTRUM, p < LEVEL, statistic, p)


def _stretches(motion: MeasuredMotion) -> list[Array]:
    """Numbers of the samples that follow each other without a gap."""
    return np.split(np.arange(motion.n_samples), np.flatnonzero(np.diff(motion.positions) != 1) + 1)


def _band(f: Any, efforts: Array) -> float:
    """The frequency below which nearly all power of the measured efforts lies."""
    power = (abs(np.fft.rfft(efforts - efforts.mean(axis=0), axis=0)) ** 2).sum(axis=1)
    total = np.cumsum(power)
    return float(f[int(np.searchsorted(total, _WITHIN * total[-1]))]) if total[-1] > 0 else 0.0
