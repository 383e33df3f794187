"""The page of an identification: verdicts with what to do next, parameters, fit, models, prediction, data."""

from collections.abc import Iterable, Mapping

from gough.core import outward
from gough.core.html import Html
from gough.core.text import on_factors, percent, short_labels
from gough.dynamics import Adequacy, Finding, Identified, IdentifiedRepeats
from gough.dynamics.signs import LEVEL
from gough.dynamics.text import largest
from gough.dynamics.verdict import Verdict as ModelVerdict
from gough.estimates import Claim, Estimate
from gough.region import ConfidenceEllipsoid
from gough.report.base import words
from gough.report.base.page import TURN, ZOOM, Block, Page, Section, Verdict, bullets, definitions, details, hint
from gough.report.identification.report import Report
from gough.report.identification.tables import bound_table, fit_table, kept_table, method_list, shift_table
from gough.robots.meanings import parameter_meanings

_JUDGED = {
    Finding.ADEQUATE: "adequate",
    Finding.INADEQUATE: "not adequate",
    Finding.LARGER_THAN_NEEDED: "larger than needed",
    Finding.UNDECIDED: "undecided",
}
_BOUNDS = (
    "ε* is the smallest error bound with which any parameters{within} explain every row: with a smaller one the "
    "model{prior} is refuted by these data. Sets contain every parameter vector that explains all rows within the "
    "error bound. Nothing is claimed if an error exceeds it."
)
FILES = "The numbers are in estimate.json and report.json, the figures in the folder figures, beside this page."
_WEAK = 1000.0
"""Condition number from which on a better motion is recommended."""


def identification_page(report: Report) -> Page:
    """The page of an identification."""
    drawn = {drawing.name: drawing for drawing in report.drawings}
    identified = report.identified
    motion = identified.motion
    size = (
        f"{motion.n_samples} samples of {len(motion.actuators)} actuators at {motion.rate:.6g} Hz give "
        f"{motion.kept.size} rows, of which {motion.n_rows} are used."
    )
    account = motion.account_table() if motion.account else None
    robot: tuple[Block, ...] = (hint(TURN), drawn["robot"]) if "robot" in drawn else ()
    fit: tuple[Block, ...] = ()
    if report.fit is not None:
        fit = (*report.chosen.notes, fit_table(report.estimates, motion.effort_units), hint(ZOOM), drawn["fit"])
    least = short_labels(report.excitation.names)[int(report.excitation.own.argmin())]
    own = f"Smallest own part of an effect: {percent(report.excitation.own.min())}, of {least}."
    sections = (
        Section(
            "Parameters", (*_parameters(report, drawn.get("parameters")), *meanings(identified), drawn.get("home"))
        ),
        Section("The robot along its trajectory", robot),
        Section("Fit", fit),
        Section("Possible bodies", possible_bodies_blocks(identified)),
        Section("Recommended method", _methods(identified)),
        Section("Verdict on the model", on_model(identified.verdict)),
        Section("Nested models", _adequacy(identified.adequacy)),
        Section("Prediction of another trajectory", _validation(report, drawn.get("validation"))),
        Section("Residuals against the noise", _noise(identified)),
        Section("Error bounds", _bounds(identified)),
        Section(
            "Excitation",
            (
                *words.determined(identified.identifiability),
                own,
                drawn["excitation"],
                details("As a table", report.excitation.table()),
                drawn["motion"],
            ),
        ),
        Section("Preparation of the data", (size, account, kept_table(motion))),
        Section("Autocorrelation of the residuals", (drawn.get("memory"),)),
        Section("Correlation of the parameters", (drawn.get("correlation"), drawn.get("pair"))),
        Section("Methods", (method_list(report.estimates, identified.refused), _claims(report.estimates), FILES)),
    )
    return Page(report.title, report.lead, _cards(report), tuple(_verdicts(report)), sections)


def _cards(report: Report) -> tuple[tuple[str, str], ...]:
    identified = report.identified
    cards = [
        *([(identified.recommended, "recommended method")] if identified.recommendation is not None else []),
        (
            f"{identified.identifiability.rank} of {len(identified.identifiability.names)}",
            "parameters or combinations determined",
        ),
    ]
    if report.fit is not None:
        worst = largest(report.fit.predictions[report.reference].relative_rms)
        cards.append((percent(worst), f"rms residual over peak effort, {report.reference}"))
    units = set(identified.motion.effort_units)
    unit = f" {units.pop()}" if len(units) == 1 else ""
    if identified.minimal.lower > 0:
        least = outward.at_least(largest(identified.proved_bound), digits=3)
        within = " within the prior" if identified.has_prior else ""
        cards.append((f"{least}{unit}", f"ε*: no parameters{within} explain every row with smaller errors (proven)"))
    else:
        enough = outward.at_most(largest(identified.smallest_bound), digits=3)
        cards.append((f"{enough}{unit}", "ε*: some parameters explain every row with errors of this size"))
    if identified.verdict is not None:
        cards.append((_JUDGED[identified.verdict.finding], _why(identified.verdict)))
    if report.validation is not None:
        one = report.validation.predictions[report.reference]
        cards.append((percent(largest(one.relative_rms)), "rms error over peak effort on another trajectory"))
    truth = report.truth
    if truth is not None and report.reference and isinstance(report.chosen.region, ConfidenceEllipsoid):
        worst = abs(words.in_sigma(report.chosen, truth)).max()
        cards.append((f"{worst:.1f} σ", f"largest error against the truth, {report.reference}"))
    return tuple(cards)


def _verdicts(report: Report) -> list[Verdict]:
    """The paragraphs of `Identified.verdicts`, each with what to do next."""
    identified = report.identified
    parts = [
        (identified.premises, "bad", "State these values in the study as measured on the robot, then identify again."),
        *([physics_part(identified)] if identified.is_impossible else []),
        (identified.on_recordings, "bad", "Compare units and signs of these channels with the data acquisition."),
        *([] if identified.verdict is None else [verdict_part(identified.verdict)]),
        (identified.on_data, "plain", _after_data(identified)),
        (identified.on_bound, "bad" if _refutes_bound(identified) else "plain", _after_bound(identified)),
        (identified.on_noise, _kind_of_noise(identified), _after_noise(identified)),
        (identified.on_failures, "bad", "Do not use these methods' values; the section on methods gives the reasons."),
        *([] if identified.is_impossible else [physics_part(identified)]),
        possible_part(identified),
    ]
    parts.append((identified.on_methods, "plain", _after_methods(identified)))
    if identified.adequacy is not None:
        parts.append((identified.adequacy.sentences, "plain", _after_adequacy(identified.adequacy)))
    if identified.validation is not None:
        parts.append((identified.validation.sentences, "plain", _after_validation(identified)))
    parts.append((identified.notes, "plain", ""))
    verdicts = [Verdict(" ".join(texts), kind, step) for texts, kind, step in parts if texts]  # type: ignore[arg-type]
    if report.truth is not None:
        verdicts.append(against(words.against_truth(label, e, report.truth) for label, e in report.estimates.items()))
    return verdicts


def _after_data(identified: Identified) -> str:
    if identified.identifiability.condition > _WEAK:
        return "Record a motion that excites this direction (gough design), or fix one of its parameters by a prior."
    if not identified.identifiability.is_full_rank:
        return (
            "Use the combinations to compute efforts. To separate a parameter, fix the others of its combination by a "
            "prior."
        )
    return "None: the motion determines every parameter."


def physics_part(identified: Identified | IdentifiedRepeats) -> tuple[tuple[str, ...], str, str]:
    """Whether the parameters are physically possible: sentences, kind of verdict, and what to do next."""
    if not identified.is_impossible:
        return (identified.on_physics, "good", "None: possible is not proven right, but no parameter is impossible.")
    assert identified.physics is not None
    step = (
        "Correct the sign or unit that is named, and identify again."
        if identified.physics.mistake
        else "Do not use these values. Check signs and units of all channels and the description; then look for an "
        "effect that the model lacks, such as a delay of the efforts or the inertia of a rotor."
    )
    return (identified.on_physics, "bad", step)


def possible_part(identified: Identified | IdentifiedRepeats) -> tuple[tuple[str, ...], str, str]:
    """The robot that can exist and has the estimate: sentences, kind of verdict, and what to do next."""
    possible, certified = identified.possible, identified.certified
    if possible is None:
        return ((), "plain", "")
    if possible.is_refuted or (certified is not None and certified.is_empty):
        step = "Check the stated groups and ellipsoids, signs and units; then look for an effect that the model lacks."
        return (identified.on_possible, "bad", step)
    step = "Use the complete parameters in simulators; for a claim about the robot, use those whose source is data."
    return (identified.on_possible, "plain", step)


def possible_bodies_blocks(identified: Identified | IdentifiedRepeats) -> tuple[Block, ...]:
    """Complete parameters of a robot that can exist, as tables."""
    possible = identified.possible
    if possible is None:
        return ()
    how = (
        "Complete parameters of a robot that can exist and makes the efforts of the estimate. Parameters whose source "
        "is data are determined by the efforts. The others come from the blueprint; they may have any value between "
        "the ends given, not all at once, without changing any effort."
    )
    blocks = (how, possible.table(), possible.body_table() if possible.bodies else None)
    certified = identified.certified
    if certified is None:
        return blocks
    checked = (
        "Intervals that the error bounds and physics prove together. The command gough check physical-certificate.json "
        "physical-problem.json verifies them in exact rationals."
    )
    return (*blocks, checked, None if certified.is_empty else certified.table())


def impossible_table(identified: Identified | IdentifiedRepeats) -> Block:
    """The parameters that are not physically possible, if there are any."""
    physics = identified.physics
    return None if physics is None or not physics.impossible else physics.table()


def _refutes_bound(identified: Identified) -> bool:
    return identified.bound_is_given and identified.minimal.is_inconsistent


def _after_bound(identified: Identified) -> str:
    if _refutes_bound(identified):
        return (
            "Find outliers in the figure of residuals and mask them; if there are none, use a larger model, or raise "
            "the bound above ε*."
        )
    if not identified.bound_is_given:
        return "State the largest error of the efforts (bound in [noise]); then the sets rest on it, not on the data."
    return "Check the stated bound against the data sheet of the sensors: every set rests on it."


def _why(verdict: ModelVerdict) -> str:
    """What a card says below the finding."""
    if verdict.cause is not None:
        return f"model; the likely cause is {verdict.likely}"
    if verdict.open_dropouts:
        return "model; a dropout in the data is the likely cause"
    if verdict.has_mistake:
        return "model; a mistake in the data is likely"
    n = len(verdict.against)
    tests = f"{n} of {len(verdict.signs)} tests {'rejects' if n == 1 else 'reject'} it"
    return f"model; {tests}" if n else f"model; none of {len(verdict.signs)} tests rejects it"


def verdict_part(verdict: ModelVerdict) -> tuple[tuple[str, ...], str, str]:
    """The verdict on the model: sentences, color, and what to do next."""
    kind = {Finding.ADEQUATE: "good", Finding.INADEQUATE: "bad"}.get(verdict.finding, "plain")
    return (verdict.sentences, kind, _after_verdict(verdict))


def _after_verdict(verdict: ModelVerdict) -> str:
    if verdict.finding is Finding.UNDECIDED:
        return "Record longer, or with more acceleration, and identify again."
    if verdict.finding is not Finding.INADEQUATE and not verdict.open_dropouts:
        return "Keep this model."
    if verdict.open_dropouts:
        return "Leave the rows of the dropout out, or record again, and identify again."
    if verdict.has_mistake:
        return "Correct the data or the study as stated, and identify again."
    if verdict.cause is None:
        return "Plot the residuals over position and velocity to find the effect that is missing, and extend the model."
    return "Confirm the cause at the robot, mend it or state it in [effects], and identify again."


def _kind_of_noise(identified: Identified) -> str:
    return "bad" if identified.noise_sign is not None and identified.noise_sign.against else "plain"


def _after_methods(identified: Identified) -> str:
    return f"Use the column {identified.recommended}; sets enclose parameters, and their centers are no estimates."


def _after_noise(identified: Identified) -> str:
    level, sign = identified.noise_level, identified.noise_sign
    if level is None:
        return ""
    if sign is not None and sign.against:
        return "Find what the model lacks. If the noise is larger than this for a known reason, state sigma in [noise]."
    return "None." if level.is_white.all() else "State sigma in [noise], the standard deviation of one reading."


def _after_adequacy(adequacy: Adequacy) -> str:
    if adequacy.finding in {Finding.ADEQUATE, Finding.UNDECIDED}:
        return ""
    if adequacy.recommended in {None, adequacy.used}:
        return "Plot the residuals over position and velocity to find the effect that is missing, and extend the model."
    return f'Identify again with variant = "{adequacy.recommended}" in [robot].'


def _after_validation(identified: Identified) -> str:
    assert identified.validation is not None
    exact = identified.validation.exact
    if exact is not None and (exact.covered < 1).any():
        return "Raise the error bound, or use a larger model, and identify again from both motions."
    return "Use the model on motions like these two; validate again before faster motions or other loads."


def against(sentences: Iterable[str]) -> Verdict:
    """A verdict on answers whose true values are known."""
    return Verdict(Html(f"Against the truth:{bullets(*sentences)}"))


def _parameters(report: Report, drawing: Block) -> tuple[Block, ...]:
    if not report.estimates:
        return ("No method could be used; the section on methods gives the reasons.",)
    legend = "Values with the half-width of their interval, each row in the unit below its name."
    if report.truth is not None:
        legend += " Small print: error against the truth in standard deviations, or whether a set contains the truth."
    zero = words.near_zero(report.chosen) if report.reference else ""
    combined = report.identified.regroupings
    table = report.identified.table(report.truth)
    impossible = impossible_table(report.identified)
    return (legend, table, definitions(combined), on_factors(combined.values()), zero, impossible, drawing)


def _methods(identified: Identified) -> tuple[Block, ...]:
    recommendation = identified.recommendation
    if recommendation is None:
        return ()
    how = (
        f"Statistical methods on held-out data: {recommendation.held_out}. Errors are root mean squares over those of "
        "the measured efforts. The mean square of held-out residuals is compared with what the fit predicts. Inside: "
        "rows within the intervals of a reading."
    )
    return (how, recommendation.table())


def on_model(verdict: ModelVerdict | None) -> tuple[Block, ...]:
    """The tests of a model and the effects that it may lack, as tables."""
    if verdict is None:
        return ()
    how = (
        f"The model is called adequate only if no test rejects it; each has the level {LEVEL:g}. Effects that "
        "the model may lack are added to it one by one and ranked by their likelihood ratio."
    )
    effects = None if verdict.causes is None else verdict.causes.table(most=len(verdict.causes.ranked))
    return (how, verdict.table(), effects)


def _noise(identified: Identified) -> tuple[Block, ...]:
    return () if identified.noise_level is None else (identified.noise_level.table(),)


def meanings(identified: Identified | IdentifiedRepeats) -> tuple[Block, ...]:
    """What each parameter is, to be opened, and how the user's own values compare."""
    known = parameter_meanings(identified.robot)
    compared = identified.compared_with_blueprint
    opened = details("What each parameter is", definitions(known)) if known else None
    return (None if compared is None else compared.sentence, opened)


def _adequacy(adequacy: Adequacy | None) -> tuple[Block, ...]:
    if adequacy is None:
        return ()
    how = (
        "The robot's models, from the simplest to the largest, are fitted to one part of the data and judged on "
        f"another: {adequacy.held_out}. The table gives the root mean square of the residuals there. With the errors "
        "that suffice, in proportion to the residual rms of each actuator, some parameters, within the prior or not, "
        "explain every fitted row; the largest is shown."
    )
    more = f"How far each parameter is off, against the {adequacy.recommended} model"
    return (how, adequacy.table(), details(more, shift_table(adequacy)) if adequacy.shifts else None)


def _validation(report: Report, drawing: Block) -> tuple[Block, ...]:
    validation = report.identified.validation
    if validation is None:
        return ()
    how = (
        "Efforts on a trajectory that was not used. Inside: for confidence regions, within the interval of a reading; "
        "for sets, within the model's range widened by the error bound."
    )
    return (how, validation.table(), drawing)


def _bounds(identified: Identified) -> tuple[Block, ...]:
    proved = outward.between(identified.minimal.lower, identified.minimal.upper, digits=6)
    what = "the given bound" if identified.bound_is_given else "its residual rms"
    rests = (
        f"{len(identified.minimal.rows)} rows of {identified.problem.n_rows} determine it."
        if identified.minimal.rows
        else ""
    )
    within, prior = (" within the prior", " or the prior") if identified.has_prior else ("", "")
    factor = f"For each actuator, ε* is {what} times a factor that is proven to lie in {proved}. {rests}"
    return (_BOUNDS.format(within=within, prior=prior), factor, bound_table(identified))


def _claims(estimates: Mapping[str, Estimate]) -> Html:
    made = {estimate.claim for estimate in estimates.values()}
    return bullets(*(f"{claim.name.lower()}: {words.CLAIMS[claim]}" for claim in Claim if claim in made))
