"""Verdicts in sentences, for terminals and reports alike. Every number in them is in the results."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from gough.core import outward
from gough.core.arrays import Array
from gough.core.text import number
from gough.dynamics.adequacy import SURE, is_left, is_possible, is_sure
from gough.dynamics.results import Adequacy, Finding, GainEstimate, Identified, Validation, VariantFit
from gough.estimates import Status
from gough.region import ConfidenceEllipsoid

_WEAK = 1000.0
"""Condition from which on the weakest direction is worth a word."""
_NAMED = 3
"""Parameters that are named where many are off."""


def verdicts(identified: Identified) -> tuple[str, ...]:
    """What a reader must know, a paragraph each: what was not stated, data, bound, methods, model, prediction.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> verdicts(identify(*random_motion(1), methods=["hull"], compare=False))[0].split(";")[0]
        '15 of 21 parameters or combinations of them are determined by 600 rows'
    """
    paragraphs = [on_recordings(identified), on_data(identified), on_bound(identified), on_failures(identified)]
    if identified.adequacy is not None:
        paragraphs.append(on_adequacy(identified.adequacy))
    if identified.validation is not None:
        paragraphs.append(on_validation(identified.validation))
    return tuple(" ".join(sentences) for sentences in (identified.premises, *paragraphs, identified.notes) if sentences)


def on_recordings(identified: Identified) -> tuple[str, ...]:
    """What looks odd in the recordings, such as angles that may be in degrees."""
    return tuple(f"Check {line.step}: {remark}." for line in identified.motion.account for remark in line.remarks)


def on_data(identified: Identified) -> tuple[str, ...]:
    """What was used, and which parameters it determines."""
    motion, found = identified.motion, identified.found
    n_rows, complete = identified.problem.n_rows, motion.kept.size
    rows = f"{n_rows} rows" if n_rows == complete else f"{n_rows} rows ({_percent(1 - n_rows / complete)} are masked)"
    what = "parameters are" if found.is_full_rank else "parameters or combinations of them are"
    lines = [f"{found.rank} of {len(found.names)} {what} determined by {rows}; condition {found.condition:.3g}."]
    if found.not_identifiable:
        lines.append(f"Not by themselves: {listed(found.not_identifiable)}.")
    if found.condition > _WEAK:
        lines.append(f"Little is seen of {found.weakest}: excite it more, or fix a parameter by a prior.")
    if identified.fixed:
        known = [f"{name} = {number(value)}" for name, value in identified.fixed.items()]
        lines.append(f"Fixed by the prior: {listed(known)}.")
    return tuple(lines)


def on_bound(identified: Identified) -> tuple[str, ...]:
    """ε*, the bound that was used, and what that means for the sets."""
    units, names = identified.robot.effort_units, identified.robot.actuators
    enough = _by_actuator(identified.smallest_bound, units, names, outward.at_most)
    floor = f"Some parameters explain every row with errors of ε* = {enough}; that none need less is not proved"
    if identified.minimal.lower > 0:
        least = _by_actuator(identified.proved_bound, units, names, outward.at_least)
        within = " within the prior" if identified.has_prior else ""
        floor = f"No parameters{within} explain every row with errors below ε* = {least}, as is proved"
        if identified.minimal.lower < 0.99 * identified.minimal.upper:
            floor += f", and some do with errors of {enough}"
    # The sets are proved for the bound that was used; for a smaller one, as printed, they hold as well.
    used = _by_actuator(identified.bound, units, names, outward.at_least)
    if not identified.bound_is_given:
        bound = f"{identified.margin:g} ε* = {used}"
        condition = "it is taken from the data, so the sets are conditional on it"
        return (f"{floor}.", f"The error bound is {bound}: {condition}.")
    given = f"the given error bound of {_by_actuator(identified.bound, units, names, as_given)}"
    if identified.minimal.is_inconsistent:
        prior = ", or the prior is wrong" if identified.has_prior else ""
        return (
            f"{floor}: {given} is refuted.",
            f"Either errors are larger than stated, or the model is wrong, or some rows are outliers{prior}.",
        )
    ratio = 1 / identified.minimal.upper if identified.minimal.upper > 0 else np.inf
    lines = [f"{floor}; {given} is {number(ratio, digits=3)} times that."]
    if ratio < identified.margin:
        lines.append(
            "So near to ε* a set may be small and yet not hold the truth, because errors that fit the model by chance "
            "leave no trace; state a larger bound unless this one is certain."
        )
    return tuple(lines)


def on_failures(identified: Identified) -> tuple[str, ...]:
    """Methods that did not end well, each with its words."""
    lines = []
    for label, estimate in identified.estimates.items():
        if estimate.status is not Status.OK:
            lines.append(" ".join([f"{label} is {estimate.status.value}.", *estimate.notes]))
    lines += [f"{label} could not be used: {reason}" for label, reason in identified.refused.items()]
    return tuple(lines)


def on_adequacy(adequacy: Adequacy) -> tuple[str, ...]:
    """What each variant leaves on data that it has not seen, which effect is missing, which variant to use."""
    sentences = [_what_is_left(adequacy)]
    unused = [fit for fit in adequacy.fits if not fit.is_determined]
    if unused:
        names = listed([f"the {_model(fit)}" for fit in unused])
        sentences.append(f"The recording does not determine every parameter of {names}.")
    sentences += _advice(adequacy)
    if adequacy.finding is Finding.INADEQUATE:
        sentences += _structural(adequacy)
    return tuple(sentences)


def _what_is_left(adequacy: Adequacy) -> str:
    """The 14-parameter model leaves 0.31 N·m rms …; adding … brings it to 0.12 and … to 0.101. General terms …"""
    first, *others = adequacy.fits
    unit = f" {adequacy.unit}" if adequacy.unit else " times its own residual"
    what = f"The {_model(first)} leaves {_three(first.overall)}{unit} rms on data it has not seen ({adequacy.held_out})"
    helps = [fit for fit in others if _is_sure(fit)]
    maybe = [fit for fit in others if fit not in helps and is_possible(fit.gain, fit.gain_sigma)]
    idle = [_adds(fit) for fit in others if fit not in helps and fit not in maybe]
    steps = [f"{_adds(fit)} {'' if i else 'brings it '}to {_three(fit.overall)}" for i, fit in enumerate(helps)]
    text = f"{what}; adding {listed(steps)}" if steps else what
    left = is_left(adequacy.generic_gain, adequacy.generic_sigma)
    text += "".join(f"; {_adds(fit)} may bring it to {_three(fit.overall)}" for fit in maybe)
    if idle:
        text += f"; with {listed(idle)} there is no improvement over the model before"
    general = "General terms in position, velocity and acceleration"
    if not left:
        part = f"only {_percent(adequacy.generic_gain)}" if adequacy.generic_gain > 0 else "none"
        rest = (
            "" if maybe else f" {general} remove {part} of the mean square that the {_model(adequacy.fits[-1])} leaves."
        )
        return f"{text}.{rest}"
    lacking = "no variant has" if others else "the model lacks"
    return (
        f"{text}. {general} would bring it to {_three(adequacy.generic)}: "
        f"something is left that {lacking}, such as friction that is not just dry and viscous, elasticity, or a wrong "
        "geometry."
    )


def _is_sure(fit: VariantFit) -> bool:
    return is_sure(fit.gain, fit.gain_sigma)


def _adds(fit: VariantFit) -> str:
    return fit.adds or f"the {_model(fit)}"


def _advice(adequacy: Adequacy) -> list[str]:
    used = adequacy.fit(adequacy.used)
    if adequacy.recommended is None:
        which = [_adds(f) for f in adequacy.fits[1:] if is_possible(f.gain, f.gain_sigma) and not _is_sure(f)]
        open_question = f"whether {listed(which)} must be modeled" if which else "which of the models is needed"
        why = "the difference is within the scatter between blocks of time"
        return [f"This recording cannot tell {open_question}: {why}. Record longer, or with more acceleration."]
    best = adequacy.fit(adequacy.recommended)
    match adequacy.finding:
        case Finding.INADEQUATE if best is not used:
            return [_lacking(adequacy, used, best)]
        case Finding.INADEQUATE:
            return [f"So the {_model(used)} is not adequate, and no other variant is."]
        case Finding.LARGER_THAN_NEEDED:
            return [f"The {_model(best)} would do: the {_model(used)} predicts no better."]
    if used is adequacy.fits[-1]:
        return [f"Use the {_model(used)}." if len(adequacy.fits) > 1 else f"The {_model(used)} is adequate."]
    return [f"The {_model(used)} is adequate: a larger one predicts no better."]


def _lacking(adequacy: Adequacy, used: VariantFit, best: VariantFit) -> str:
    """The effects that improve the prediction, and the smallest variant that has them.

    Variants are nested: one that has a needed effect may also have an effect that improves nothing, which is then not
    called missing. Where only several effects together improve the prediction for certain, all of them are named.
    """
    steps = [fit for fit in _between(adequacy, used, best) if fit.adds]
    needed = [fit for fit in steps if _is_sure(fit)] or steps
    missing = listed([fit.adds for fit in needed]) if needed else "an effect"
    gained = _percent(1 - (best.overall / used.overall) ** 2)
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
    text = "The printed σ do not cover this: they account for the noise, not for effects that the model leaves out."
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


def on_validation(validation: Validation) -> tuple[str, ...]:
    """How well each method predicts, and how often measurements lie where they may."""
    sentences = list(validation.notes)
    if validation.predictions:
        sentences.append(_range_of_errors(validation))
    exact = validation.exact
    if exact is not None:
        outside = round(float(np.nansum((1 - exact.covered) * exact.n_rows)))
        where = f"at {len(exact.samples)} samples, evenly chosen"
        rows = f"{int(exact.n_rows.sum())} measured efforts {where}"
        verdict = "all lie" if outside == 0 else f"{outside} {'does' if outside == 1 else 'do'} not lie"
        sentences.append(f"Of {rows}, {verdict} within the exact bounds ± the error bound.")
        if outside:
            sentences.append(
                "The bound that explained the identified motion does not explain this one: it is too small, or the "
                "model lacks an effect that this motion shows."
            )
    sentences += _coverage(validation)
    return tuple(sentences)


def _range_of_errors(validation: Validation) -> str:
    units, names = validation.motion.effort_units, validation.motion.actuators
    worst = {label: float(np.nanmax(one.relative_rms)) for label, one in validation.predictions.items()}
    best, last = min(worst, key=lambda label: worst[label]), max(worst, key=lambda label: worst[label])
    rms = _by_actuator(validation.predictions[best].rms, units, names, number)
    text = f"On the validation trajectory {best} predicts to {rms} rms, {_percent(worst[best])} of the peak at worst"
    return f"{text}; {last} to {_percent(worst[last])}." if worst[last] > 1.2 * worst[best] else f"{text}."


def _coverage(validation: Validation) -> Iterable[str]:
    for label, one in validation.predictions.items():
        if one.kind != "confidence" or one.covered is None or one.expected is None:
            continue
        rows = validation.n_rows
        share = float(np.nansum(one.covered * rows) / max(rows.sum(), 1))
        yield f"{label}: {_percent(share)} of all rows lie within their {one.expected:.0%} intervals."
        return  # one is enough in words; the table has them all


def on_gain(gain: GainEstimate) -> tuple[str, ...]:
    """Gain with its interval, offset and linearity."""
    region = gain.fit.region
    assert isinstance(region, ConfidenceEllipsoid)
    half = float(region.interval().width[0] / 2)
    level = f"{region.level:.0%}"
    value = f"{number(gain.gain, half)} ± {number(half, digits=2)} N·m/V"
    sentences = [f"The gain is {value} ({level}, {gain.n_tests} static tests)."]
    if gain.hull is not None:
        if gain.hull.status is Status.OK:
            box = gain.hull.region.hull()
            sides = ", ".join(outward.sides(box.lower[0], box.upper[0]))
            sentences.append(f"If no force errs by more than its resolution, it lies in [{sides}] for certain.")
        else:
            sentences.append(
                "No straight line explains all forces within the resolution that was given: dry friction holds part of "
                "the torque back, or the amplifier is not linear."
            )
    if gain.offset_is_zero:
        sentences.append("The offset is zero within its interval.")
    else:
        sentences.append(
            f"The offset of {number(gain.offset, digits=3)} N·m is not zero: the arm's weight, or the amplifier's zero."
        )
    if np.isnan(gain.nonlinearity):
        sentences.append("Too few different voltages to see a curvature.")
    elif gain.nonlinearity_p < 0.001:
        sentences.append(
            f"Not linear: a cubic departs from the line by {_percent(gain.nonlinearity)} of the largest torque "
            f"(p = {gain.nonlinearity_p:.1g}); use voltages nearer to those of the experiment."
        )
    else:
        sentences.append(f"Linear as far as the tests show (p = {gain.nonlinearity_p:.2g}).")
    return tuple(sentences)


def listed(items: Sequence[str]) -> str:
    """`a, b and c`.

    Examples:
        >>> listed(["a", "b", "c"]), listed(["a"])
        ('a, b and c', 'a')
    """
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


def _between(adequacy: Adequacy, used: VariantFit, best: VariantFit) -> list[VariantFit]:
    """The variants after the one used, up to the best."""
    fits = list(adequacy.fits)
    return fits[fits.index(used) + 1 : fits.index(best) + 1]


def _model(fit: VariantFit) -> str:
    return f"{fit.n_parameters}-parameter model"


def _three(value: float) -> str:
    return number(value, digits=3)


def _percent(part: float) -> str:
    """Two digits, three where it is nearly all; never rounded up to all of it.

    Examples:
        >>> [_percent(part) for part in (1.0, 0.99999, 0.996, 0.5, 0.0123)]
        ['100 %', '99.9 %', '99.6 %', '50 %', '1.2 %']
    """
    if 0.99 < part < 1:
        return f"{np.floor(1000 * part) / 10:.1f} %"
    return f"{100 * part:.3g} %" if part >= 1 else f"{100 * part:.2g} %"


def as_given(value: float, *, digits: int = 0) -> str:  # noqa: ARG001 - the other ways to show a number round
    """The shortest decimal that is read as this number: what was given is repeated, not rounded.

    Examples:
        >>> as_given(0.06)
        '0.06'
    """
    return f"{value!r}".removesuffix(".0")


def _by_actuator(values: Array, units: Sequence[str], names: Sequence[str], shown: Callable[..., str]) -> str:
    """One number where all actuators have about the same, else one for each, or for each by name if units differ.

    `shown` rounds: `number` to nearest, the others to their side, where the one number is the least or the greatest.
    """
    texts = [shown(float(v), digits=3) for v in values]
    if len(set(units)) > 1:
        return listed([f"{text} {u} ({n})" for text, u, n in zip(texts, units, names, strict=True)])
    if float(values.max()) <= (1.0 if shown is as_given else 1.02) * float(values.min()):
        one = {outward.at_most: values.max(), outward.at_least: values.min(), as_given: values.max()}.get(
            shown, values.mean()
        )
        return f"{shown(float(one), digits=3)} {units[0]}"
    return f"{', '.join(texts)} {units[0]} ({names[0]} to {names[-1]})"
