"""The page of a calibration: verdicts, geometry before and after, residuals, predicted poses, proofs."""

from collections.abc import Sequence

import numpy as np

from gough.closure import ChainFinding, Finding
from gough.core import outward
from gough.core.arrays import Array
from gough.core.rotations import log
from gough.core.text import number
from gough.estimates import FitStats
from gough.geometry import Calibrated, CalibratedPrinter, HeldOut
from gough.geometry.frames import Frames
from gough.report.base.curves import Curves
from gough.report.base.drawing import Drawing
from gough.report.base.html import Html, tag
from gough.report.base.numbers import signed
from gough.report.base.page import Section, bullets, number_cards, page, paragraphs
from gough.report.base.words import determined
from gough.report.calibration.figures import (
    bed_figure,
    closure_figure,
    joint_figure,
    posture_figure,
    probe_figure,
    validation_figure,
)
from gough.report.calibration.tables import (
    certified_table,
    chain_table,
    held_out_table,
    leg_table,
    parameter_table,
    printer_table,
    text_table,
    uncertainty_table,
)
from gough.report.calibration.workspace_map import FILE, map_data, map_figure, slices
from gough.report.identification.sections import HINT
from gough.robots import GoughPlatform

__all__ = ["calibration_documents", "headline", "printer_documents"]

_PROOF = (
    "Each measurement may be anywhere within its tolerance. A box holds every leg that fits then, whatever the errors "
    "are: it is proven, rounding included. ε is the least by which the tolerance of every reading must grow "
    "for some leg to fit: positive if no leg fits, ≤ 0 if the stated tolerances suffice. Legs are sought within a box "
    "about the calibrated values; nothing is proven about legs outside it."
)
_GAUGE = (
    "In the blueprint's frames, with the joints as near to the blueprint's as they can be: no joint is more at home "
    "than the others, and only what can be measured shows. Δ is the change against the blueprint."
)
_TRUTH = (
    " Last in each cell, the error of this fit against the truth in standard deviations. The verdicts above are about "
    "the parameters in the instrument's frames, whose errors differ from these."
)


def calibration_documents(
    title: str,
    lead: tuple[str, ...],
    found: Calibrated,
    *,
    truth: Array | None = None,
    against: Sequence[str] = (),
    legs: Sequence[ChainFinding] = (),
    faults: Sequence[Sequence[str]] = (),
    more: Sequence[Section] = (),
    drawings: Sequence[Drawing] = (),
    data: str | None = None,
) -> dict[str, bytes]:
    """The files by name: report.html, calibration.json, workspace-map.json, figures/*.

    Args:
        title: Of the page.
        lead: Paragraphs below it.
        found: The calibration.
        truth: True parameters, where they are known.
        against: Sentences on how the answers compare with the truth.
        legs: What is proven of each leg.
        faults: Rows on what was noticed when something went wrong: fault, χ²/dof, legs, together, ε, pose, error.
        more: Further sections, and `drawings` their figures.
        drawings: Figures of further sections, live on the page and as files.
        data: The text of calibration.json, if there is more to say than `found` does.
    """
    maps = slices(found)
    made = {d.name: d for d in [*_drawings(found), *([map_figure(found, maps)] if maps else [])]}
    shown = {name: drawing.html() for name, drawing in made.items()}
    parts = (
        Section("Verdicts", (_verdicts(found, against),)),
        Section("Predicted poses", _predicted(found, shown)),
        Section("Geometry", _geometry(found, truth, shown)),
        Section("What is proven", _proven(legs, faults)),
        Section("Closure of the chains", _closure(found, shown)),
        Section("What the poses determine", (*_determined(found), shown.get("map", ""))),
        Section("Where the instrument stands", _frames(found.frames)),
        *more,
    )
    kept = tuple(part for part in parts if any(part.blocks))
    everything = [*made.values(), *drawings]
    files = _files(title, lead, kept, cards=_cards(found, legs), drawings=everything, data=data or found.to_json())
    return files | {FILE: map_data(found, maps)} if maps else files


def printer_documents(title: str, lead: tuple[str, ...], found: CalibratedPrinter) -> dict[str, bytes]:
    """The files by name: report.html, calibration.json, klipper.cfg with the block to paste, figures/*."""
    before, after = found.rms
    spare = len(found.residuals_after) - len(found.estimate.unknowns)
    cards = number_cards(
        (
            f"{number(1e3 * after, digits=3)} mm",
            f"residual as found, rms; {number(1e3 * before, digits=3)} as configured",
        ),
        (str(len(found.residuals_after)), f"probed points and distances; {spare} more than unknowns"),
        (str(len(found.estimate.unknowns)), f"of {len(found.model.names)} dimensions found, the rest kept"),
    )
    bed, drawing = bed_figure(found), probe_figure(found)
    parts = (
        Section("Verdicts", (bullets(*found.verdicts) or paragraphs("Nothing speaks against this calibration."),)),
        Section("Geometry", (printer_table(found),)),
        Section("Residuals", (bed.html(), drawing.html())),
        Section(
            "For printer.cfg", (paragraphs("In place of the same keys after SAVE_CONFIG:"), tag("pre", found.block))
        ),
        Section("What the probed points determine", (paragraphs(*determined(found.identifiability)),)),
    )
    files = _files(title, lead, parts, cards=cards, drawings=[bed, drawing], data=found.to_json())
    return files | {"klipper.cfg": f"{found.block}\n".encode()}


def _drawings(found: Calibrated) -> list[Drawing]:
    made: list[Drawing | None] = [closure_figure(found), posture_figure(found)]
    if found.validation is not None:
        made.append(validation_figure(found.validation))
    if isinstance(found.model, GoughPlatform):
        made.append(joint_figure(found))
    return [drawing for drawing in made if drawing is not None]


def headline(found: Calibrated) -> tuple[str, str]:
    """The verdict in a sentence, and its color: good, bad or plain.

    A calibration is never confirmed, only not refuted.
    """
    stats = found.estimate.stats
    if found.suspects:
        return "Something is probably wrong with the data; read the next line before any number.", "bad"
    if found.refuted:
        return (
            "Refuted: the residuals are larger than the stated noise explains. The geometry below is the best fit of a "
            "model that lacks something, or of noise that was stated too small; its ± do not hold."
        ), "bad"
    if isinstance(stats, FitStats) and stats.chi_squared is not None:
        return "Not refuted: the stated noise explains the residuals.", "good"
    return (
        "No noise was stated, so that nothing could be refuted: what the residuals show was taken for it. State the "
        "instrument's repeatability to put the model to the test."
    ), "plain"


def _verdicts(found: Calibrated, against: Sequence[str]) -> Html:
    words, kind = headline(found)
    items = [*(tag("li", premise, class_="bad") for premise in found.premises), tag("li", words, class_=kind)]
    if found.validation is not None:
        items.append(_improvement(found.validation))
    items += [tag("li", verdict, class_="plain") for verdict in found.verdicts[len(found.premises) :]]
    if against:
        items.append(tag("li", "Against the truth:", bullets(*against)))
    return tag("ul", *items, class_="verdicts")


def _improvement(check: HeldOut) -> Html:
    after = float(check.position_after.mean())
    n = len(check.position_after)
    shown = f"{number(1e3 * after, digits=3)} mm"
    if check.position_before is None:
        return tag("li", f"{n} poses that took no part are predicted to {shown} on average.", class_="plain")
    before = float(check.position_before.mean())
    worse = int((check.position_after > check.position_before).sum())
    told = f" {worse} of them are predicted worse than before." if worse else ""
    return tag(
        "li",
        f"On {n} poses that took no part, the mean position error goes from {number(1e3 * before, digits=3)} mm to "
        f"{shown}.{told}",
        class_="good" if after < before else "bad",
    )


def _cards(found: Calibrated, legs: Sequence[ChainFinding]) -> Html:
    before, after = found.rms
    shown = []
    check = found.validation
    if check is not None:
        known = (
            ""
            if check.position_before is None
            else f"; {number(1e3 * float(check.position_before.mean()), digits=3)} before"
        )
        mean = number(1e3 * float(check.position_after.mean()), digits=3)
        shown.append((f"{mean} mm", f"mean error of predicted positions{known}"))
    shown.append(
        (f"{number(1e3 * after, digits=3)} mm", f"closure of the chains, rms; {number(1e3 * before, digits=3)} before")
    )
    stats = found.estimate.stats
    if isinstance(stats, FitStats) and stats.chi_squared is not None:
        words = "refuted by χ²" if found.refuted else "not refuted"
        shown.append((f"{stats.chi_squared:.2f}", f"χ² per degree of freedom: {words}"))
    n = len(found.identifiability.names)
    shown.append((f"{found.identifiability.rank} of {n}", f"parameters determined by {len(found.poses)} poses"))
    if legs:
        refuted = sum(leg.finding is Finding.REFUTED for leg in legs)
        largest = max(leg.epsilon.upper for leg in legs)
        shown.append(
            (
                f"≤ {outward.at_most(max(largest, 0.0), times=1000, digits=3)} mm",
                f"ε of every leg; {refuted} of {len(legs)} legs refuted",
            )
        )
    return number_cards(*shown)


def _predicted(found: Calibrated, shown: dict[str, Html]) -> tuple[str, ...]:
    if found.validation is None:
        return ()
    words = "Poses that took no part in the calibration, predicted from the robot's own readings."
    return (paragraphs(words), held_out_table(found.validation), shown["validation"])


def _geometry(found: Calibrated, truth: Array | None, shown: dict[str, Html]) -> tuple[str, ...]:
    everything = parameter_table(found, truth)
    if not isinstance(found.model, GoughPlatform):
        return (everything,)
    told = "" if truth is None else _TRUTH
    details = tag("details", tag("summary", "Every parameter in the instrument's frames"), everything)
    hint = tag("p", "Drag to turn it; play, or point at a pose in the figure of residuals.", class_="hint")
    parts = (paragraphs(_GAUGE + told), leg_table(found, truth), shown["joints"], details, hint, shown["robot"])
    return tuple(parts)


def _proven(legs: Sequence[ChainFinding], faults: Sequence[Sequence[str]]) -> tuple[str, ...]:
    if not legs:
        return ()
    blocks: list[str] = [paragraphs(_PROOF), certified_table(legs)]
    if faults:
        heads = ["with …", "χ²/dof", "legs refuted", "together", "ε, mm", "ε of", "heaviest pose", "position after, mm"]
        words = (
            "The same campaign with something wrong that the model does not know. All legs together share the errors "
            "of the poses, and may be refuted where each leg by itself is not. ε is that of the worst leg where a leg "
            "is refuted by itself, else that of all legs together:"
        )
        blocks += [paragraphs(words), text_table(heads, faults, "What is noticed of faults")]
    return tuple(blocks)


def _closure(found: Calibrated, shown: dict[str, Html]) -> tuple[str, ...]:
    words = (
        "By how much each chain fails to close, as a length. r is the correlation of what is left: with the reading it "
        "hints at a wrong gain, with the direction of travel at backlash."
    )
    return (paragraphs(words), chain_table(found), tag("p", HINT, class_="hint"), shown["closure"])


def _determined(found: Calibrated) -> tuple[str, ...]:
    known = found.identifiability
    weakest = f"Weakest direction: {known.weakest}."
    words = "What the uncertainty of the parameters makes of a pose that is predicted from exact readings:"
    return (paragraphs(*determined(known), weakest, words), uncertainty_table(found))


def _frames(frames: Frames | None) -> tuple[str, ...]:
    if frames is None:
        return ()
    left = f"{number(1e3 * frames.position_rms, digits=3)} mm and {number(np.degrees(frames.rotation_rms), digits=3)}°"
    words = (
        f"Found by hand–eye calibration with the blueprint's geometry: {left} (rms) are left, since the robot is not "
        "its blueprint. The calibration needs them to begin with; its answer does not depend on them."
    )
    rows = []
    for name, motion in (("base in the instrument's frame", frames.base), ("platform in the target's", frames.target)):
        values = [*(f"{1e3 * v:.2f}" for v in motion.t), *(f"{v:.3f}" for v in np.degrees(log(motion.R[None])[0]))]
        rows.append([name, *(signed(v) for v in values)])
    heads = ["", "x, mm", "y, mm", "z, mm", "rx, °", "ry, °", "rz, °"]
    return (paragraphs(words), text_table(heads, rows, "Frames"))


def _files(
    title: str, lead: tuple[str, ...], parts: tuple[Section, ...], *, cards: Html, drawings: list[Drawing], data: str
) -> dict[str, bytes]:
    curves = Curves()
    figures = {drawing.name: drawing.live(curves) for drawing in drawings if drawing.live is not None}
    html = page(title, lead, parts, cards=cards, figures=figures, curves=curves)
    files = {"report.html": html.encode(), "calibration.json": f"{data}\n".encode()}
    for drawing in drawings:
        files |= {f"figures/{drawing.name}.svg": drawing.svg(), f"figures/{drawing.name}.png": drawing.png()}
    return files
