"""What the page says, section by section."""

from collections.abc import Mapping

from gough.core import outward
from gough.dynamics import Finding
from gough.estimates import Claim
from gough.region import ConfidenceEllipsoid
from gough.report.base import words
from gough.report.base.html import Html, tag
from gough.report.base.labels import short_labels
from gough.report.base.page import Section, bullets, number_cards, paragraphs
from gough.report.base.tables import combinations, fit_table, method_list, parameter_table
from gough.report.identification import accounts
from gough.report.identification.report import Report

_JUDGED = {
    Finding.ADEQUATE: "adequate",
    Finding.INADEQUATE: "not adequate",
    Finding.LARGER_THAN_NEEDED: "larger than needed",
    Finding.UNDECIDED: "undecided",
}
HINT = (
    "Drag across a figure to zoom, double-click for the whole view. Click a figure and the wheel zooms it too; Shift "
    "and drag, or two fingers, move it. With the keyboard: arrows, + and −, 0."
)

BOUNDS = (
    "ε* is the smallest error bound with which any parameters{within} explain every row: with a smaller one the "
    "model{prior} is refuted by these data. Sets hold every parameter vector that explains all rows within the error "
    "bound, and nothing is promised where an error exceeds it."
)


def sections(report: Report, drawn: Mapping[str, Html]) -> tuple[Section, ...]:
    """All sections that have something to say; `drawn` holds the figures by name."""
    made = [
        Section("In short", (_verdicts(report),)),
        Section("Parameters", _parameters(report, drawn)),
        Section("The robot along its trajectory", _robot(drawn)),
        Section("Does the model explain the data?", _fit(report, drawn)),
        Section("Does the model lack anything?", _adequacy(report)),
        Section("Does it predict another trajectory?", _validation(report, drawn)),
        Section("How large are the errors?", _bounds(report)),
        Section("What the data can show", _excitation(report, drawn)),
        Section("How the data were prepared", _preparation(report)),
        Section("Autocorrelation of the residuals", tuple(drawn[name] for name in ("memory",) if name in drawn)),
        Section("What is hard to tell apart", tuple(drawn[name] for name in ("correlation", "pair") if name in drawn)),
        Section("How it was computed", _methods(report)),
    ]
    return tuple(section for section in made if any(section.blocks))


def cards(report: Report) -> Html:
    """The few numbers to see first."""
    found = report.identified
    shown = [(f"{found.found.rank} of {len(found.found.names)}", "parameters or combinations determined")]
    if report.fit is not None:
        shown.append((accounts.percent(_worst_part(report)), f"of the peak effort is left, rms, by {report.reference}"))
    units = set(found.motion.effort_units)
    unit = f" {units.pop()}" if len(units) == 1 else ""
    if found.minimal.lower > 0:
        least = outward.at_least(accounts.largest(found.proved_bound), digits=3)
        within = " within the prior" if found.has_prior else ""
        what = f"ε*: no parameters{within} explain every row with smaller errors, as is proved"
        shown.append((f"{least}{unit}", what))
    else:
        enough = outward.at_most(accounts.largest(found.smallest_bound), digits=3)
        shown.append((f"{enough}{unit}", "ε*: some parameters explain every row with errors of this size"))
    if found.adequacy is not None:
        shown.append((_JUDGED[found.adequacy.finding], "is the model, judged on data it was not fitted to"))
    if report.validation is not None:
        one = report.validation.predictions[report.reference]
        shown.append(
            (accounts.percent(accounts.largest(one.relative_rms)), "of the peak is the rms error on another trajectory")
        )
    truth = report.truth
    if truth is not None and report.reference and isinstance(report.chosen.region, ConfidenceEllipsoid):
        worst = abs(words.in_sigma(report.chosen, truth)).max()
        shown.append((f"{worst:.1f} σ", f"worst error against the truth, {report.reference}"))
    return number_cards(*shown)


def _worst_part(report: Report) -> float:
    assert report.fit is not None
    return accounts.largest(report.fit.predictions[report.reference].relative_rms)


def _verdicts(report: Report) -> Html:
    found = report.identified
    items = []
    for verdict in found.verdicts:
        kind = "plain"
        if found.adequacy is not None and verdict == found.adequacy.verdict:
            kind = {Finding.ADEQUATE: "good", Finding.INADEQUATE: "bad"}.get(found.adequacy.finding, "plain")
        if verdict == " ".join(found.premises):
            kind = "bad"
        items.append(tag("li", verdict, class_=kind))
    truth = report.truth
    if truth is not None:
        known = [words.against_truth(label, e, truth) for label, e in report.estimates.items()]
        items.append(tag("li", "Against the truth:", bullets(*known)))
    return tag("ul", *items, class_="verdicts")


def _parameters(report: Report, drawn: Mapping[str, Html]) -> tuple[str, ...]:
    if not report.estimates:
        return (paragraphs("No method could be used; the reasons stand below."),)
    legend = "Values with the half-width of their interval."
    if report.truth is not None:
        legend += (
            " Below, for beliefs the error against the truth in standard deviations, for sets whether they hold it."
        )
    hidden = words.near_zero(report.chosen) if report.reference else ""
    names = report.identified.problem.unknowns.names
    table = parameter_table(report.estimates, report.truth)
    return (paragraphs(legend), table, combinations(names), paragraphs(hidden), drawn["parameters"])


def _robot(drawn: Mapping[str, Html]) -> tuple[str, ...]:
    hint = tag("p", "Drag to turn it; play, or point at a moment in the figures of efforts below.", class_="hint")
    return (hint, drawn["robot"]) if "robot" in drawn else ()


def _fit(report: Report, drawn: Mapping[str, Html]) -> tuple[str, ...]:
    if report.fit is None:
        return ()
    units = report.identified.motion.effort_units
    hint = tag("p", HINT, class_="hint")
    return (paragraphs(*report.chosen.notes), fit_table(report.estimates, units), hint, drawn["fit"])


def _adequacy(report: Report) -> tuple[str, ...]:
    adequacy = report.identified.adequacy
    if adequacy is None:
        return ()
    how = (
        f"The robot's models, from the simplest to the largest, fitted on one part of the data and judged on another: "
        f"{adequacy.held_out}. Of each, the root mean square of what it leaves there. With the errors that suffice, in "
        "proportion to the residual rms of each actuator, some parameters, within the prior or not, explain every "
        "fitted row; the largest is shown."
    )
    shifts = accounts.shift_table(adequacy)
    more = tag(
        "details", tag("summary", f"How far each parameter is off, against the {adequacy.recommended} model"), shifts
    )
    return (paragraphs(how), accounts.adequacy_table(adequacy), more if shifts else Html())


def _validation(report: Report, drawn: Mapping[str, Html]) -> tuple[str, ...]:
    validation = report.identified.validation
    if validation is None:
        return ()
    how = (
        "Efforts on a trajectory that was not used. Inside: for a confidence, within the interval of a reading; for a "
        "set, within the model's range widened by the error bound."
    )
    return (paragraphs(how), accounts.validation_table(validation), drawn.get("validation", Html()))


def _bounds(report: Report) -> tuple[str, ...]:
    found = report.identified
    proved = outward.between(found.minimal.lower, found.minimal.upper, digits=6)
    what = "the given bound" if found.bound_is_given else "its residual rms"
    rests = f"It rests on {len(found.minimal.rows)} rows of {found.problem.n_rows}." if found.minimal.rows else ""
    told = {"within": " within the prior", "prior": " or the prior"} if found.has_prior else {"within": "", "prior": ""}
    return (
        paragraphs(
            BOUNDS.format(**told),
            f"For each actuator, ε* is {what} times a factor that is proved to lie in {proved}. {rests}",
        ),
        accounts.bound_table(found),
    )


def _excitation(report: Report, drawn: Mapping[str, Html]) -> tuple[str, ...]:
    found, seen = report.identified.found, report.excitation
    weakest = short_labels(seen.names)[int(seen.own.argmin())]
    least = (
        f"Least of all shows {weakest}: others can imitate all but {accounts.percent(seen.own.min())} of its effect."
    )
    direction = f"Weakest direction: {found.weakest}."
    return (
        paragraphs(*words.determined(found), least, direction),
        drawn["excitation"],
        tag("details", tag("summary", "As a table"), accounts.excitation_table(seen)),
        drawn["motion"],
    )


def _preparation(report: Report) -> tuple[str, ...]:
    motion = report.identified.motion
    size = (
        f"{motion.n_samples} samples of {len(motion.actuators)} actuators, {motion.rate:.6g} a second, make "
        f"{motion.kept.size} rows, of which {motion.n_rows} are used."
    )
    return (paragraphs(size), accounts.preparation_table(motion), accounts.kept_table(motion))


def _methods(report: Report) -> tuple[str, ...]:
    claims = bullets(
        *(f"{claim.name.lower()}: {meaning}" for claim, meaning in words.CLAIMS.items() if _is_claimed(report, claim))
    )
    files = "The numbers are in estimate.json and report.json, the figures in the folder figures, all beside this page."
    return (method_list(report.estimates, report.identified.refused), claims, paragraphs(files))


def _is_claimed(report: Report, claim: Claim) -> bool:
    return any(estimate.claim is claim for estimate in report.estimates.values())
