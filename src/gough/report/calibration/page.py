"""The page of a calibration: verdicts, geometry before and after, residuals, predicted poses, proofs."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gough.closure import ChainFinding, Finding
from gough.core import outward
from gough.core.arrays import Array
from gough.core.html import Html, tag
from gough.core.tables import Table
from gough.core.text import number
from gough.estimates import FitStats
from gough.export import model_files
from gough.geometry import Calibrated, CalibratedPrinter, HeldOut
from gough.geometry.results import frame_table
from gough.report.base.drawing import Drawing
from gough.report.base.page import TURN, ZOOM, Block, Page, Section, Verdict, bullets, details, hint
from gough.report.base.words import determined
from gough.report.calibration.figures import (
    FILE,
    bed_figure,
    closure_figure,
    joint_figure,
    map_data,
    map_figure,
    posture_figure,
    probe_figure,
    slices,
    validation_figure,
)
from gough.report.calibration.machine import machine_files
from gough.report.calibration.tables import certified_table, leg_table, uncertainty_table
from gough.robots import GoughPlatform

__all__ = ["calibration_documents", "headline", "printer_documents"]

_PROOF = (
    "Each measurement may lie anywhere within its tolerance. A box contains every leg that then satisfies all poses: "
    "this is proven, rounding included. ε is the least by which the tolerance of every reading must grow for some leg "
    "to satisfy all poses: positive if no leg does, ≤ 0 if the stated tolerances suffice. Legs are sought within a box "
    "around the calibrated values; nothing is proven about legs outside it."
)
_FAULTS = (
    "The same campaign with a fault that the model does not describe. All legs together share the errors of the poses, "
    "and may be refuted where each leg alone is not. ε is that of the worst leg where a leg is refuted alone, else "
    "that of all legs together:"
)
_GAUGE = (
    "In the frames of the blueprint, placed such that the joints are as near to the blueprint's as possible in the "
    "least-squares sense. Small print: Δ is the change against the blueprint."
)
_TRUTH = (
    " Behind it, the error of this fit against the truth in standard deviations. The verdicts above are about the "
    "parameters in the instrument's frames, whose errors differ from these."
)
_CLOSURE = (
    "Closure error of each chain, as a length. r is the correlation of the residuals with the reading and with the "
    "direction of travel; it is marked where a test at the level 0.001 for all poses and chains finds a wrong gain or "
    "backlash."
)


def calibration_documents(
    title: str,
    lead: tuple[str, ...],
    calibrated: Calibrated,
    *,
    truth: Array | None = None,
    against: Sequence[str] = (),
    legs: Sequence[ChainFinding] = (),
    faults: Table | None = None,
    data: str | None = None,
) -> dict[str, bytes]:
    """The files by name: report.html, calibration.json, geometry.toml, model.json, workspace-map.json, figures/*.

    Args:
        title: Title of the page.
        lead: Paragraphs below it.
        calibrated: The calibration.
        truth: True parameters, where they are known.
        against: Sentences on how the answers compare with the truth.
        legs: What is proven of each leg.
        faults: The same campaign with faults.
        data: The text of calibration.json; by default the calibration as JSON.
    """
    maps = slices(calibrated) if calibrated.predicts else ()
    frames = _frames(calibrated)
    is_platform = isinstance(calibrated.model, GoughPlatform)
    validation = None if calibrated.validation is None else validation_figure(calibrated.validation)
    words = "Uncertainty of poses predicted from exact readings, by the covariance of the parameters:"
    sections = (
        Section("Predicted poses", _predicted(calibrated.validation, validation)),
        Section("Geometry", _platform(calibrated, truth) if is_platform else (calibrated.table(truth),)),
        Section("What is proven", _proven(legs, faults)),
        Section("Closure of the chains", (_CLOSURE, calibrated.chain_table(), hint(ZOOM), closure_figure(calibrated))),
        Section(
            "What the poses determine",
            (
                *determined(calibrated.identifiability),
                *((words, uncertainty_table(calibrated)) if calibrated.predicts else ()),
                map_figure(calibrated, maps) if maps else None,
            ),
        ),
        Section("Frames of the instrument", frames),
    )
    page = Page(title, lead, _cards(calibrated, legs), tuple(_verdicts(calibrated, against)), sections)
    files = page.files() | {"calibration.json": f"{data or calibrated.to_json()}\n".encode()} | model_files(calibrated)
    files |= machine_files(calibrated)
    return files | {FILE: map_data(calibrated, maps)} if maps else files


def printer_documents(title: str, lead: tuple[str, ...], calibrated: CalibratedPrinter) -> dict[str, bytes]:
    """The files by name: report.html, calibration.json, klipper.cfg with the block to paste, figures/*."""
    before, after = calibrated.rms
    spare = len(calibrated.residuals_after) - len(calibrated.estimate.unknowns)
    cards = (
        (
            f"{number(1e3 * after, digits=3)} mm",
            f"rms residual after; {number(1e3 * before, digits=3)} as configured",
        ),
        (str(len(calibrated.residuals_after)), f"probed points and distances; {spare} more than unknowns"),
        (
            str(len(calibrated.estimate.unknowns)),
            f"of {len(calibrated.model.names)} dimensions calibrated, the rest kept",
        ),
    )
    first = Verdict(
        f"The rms residual changes from {number(1e3 * before, digits=3)} mm to {number(1e3 * after, digits=3)} mm.",
        "good" if after < before else "bad",
        "Resolve the warnings below, if any. Then paste the block for printer.cfg, restart, and probe again to "
        "confirm.",
    )
    sections = (
        Section("Geometry", (calibrated.table(),)),
        Section("Residuals", (bed_figure(calibrated), probe_figure(calibrated))),
        Section("For printer.cfg", ("In place of the same keys after SAVE_CONFIG:", tag("pre", calibrated.block))),
        Section("What the probed points determine", determined(calibrated.identifiability)),
    )
    page = Page(title, lead, cards, (first, *map(Verdict, calibrated.verdicts)), sections)
    data = {"calibration.json": f"{calibrated.to_json()}\n".encode(), "klipper.cfg": f"{calibrated.block}\n".encode()}
    return page.files() | data | machine_files(calibrated)


def headline(calibrated: Calibrated) -> Verdict:
    """The verdict on the whole calibration, which is never confirmed, only not refuted."""
    stats = calibrated.estimate.stats
    if calibrated.suspects:
        return Verdict(
            "The data probably contain an error; see the next verdict.",
            "bad",
            "Correct what the next verdict names before you use any number below, then calibrate again.",
        )
    if calibrated.refuted:
        return Verdict(
            "Refuted: the residuals are larger than the stated noise explains. The geometry below is the best fit of a "
            "model that lacks an effect, or of noise that was stated too small; its ± do not hold.",
            "bad",
            "Look for a pattern in the closure errors of the chains; remove backlash, a wrong gain or outliers, or "
            "state the noise of the instrument as measured.",
        )
    if isinstance(stats, FitStats) and stats.chi_squared is not None:
        step = "Load the calibrated parameters into the controller, and measure a few other poses to confirm."
        return Verdict("Not refuted: the stated noise explains the residuals.", "good", step)
    return Verdict(
        "The noise was not stated: it was estimated from the residuals, so the model could not be tested.",
        "plain",
        "State the repeatability of the instrument in [noise] to test the model.",
    )


def _verdicts(calibrated: Calibrated, against: Sequence[str]) -> list[Verdict]:
    premise = "State these values in the study as measured on the robot, then calibrate again."
    first = headline(calibrated)
    verdicts = [Verdict(text, "bad", premise) for text in calibrated.premises]
    verdicts.append(replace(first, text=" ".join([first.text, *calibrated.estimate.notes])))
    correct = "Correct the file or the study accordingly, then calibrate again."
    verdicts += [Verdict(text, "bad", correct) for text in calibrated.suspects]
    if calibrated.validation is not None:
        verdicts.append(_improvement(calibrated, calibrated.validation))
    texts = calibrated.verdicts
    for some, kind, step in (
        (calibrated.poses.notes, "plain", "Compare this repeatability with the data sheet of the instrument."),
        (
            [each.words for each in calibrated.diagnosis.effects],
            "bad",
            "Correct this, then calibrate again: the ± of the geometry do not include it.",
        ),
        (
            [calibrated.validation.words] if calibrated.validation is not None else [],
            "plain",
            "Move these validation poses away from the singularity, or do not count them.",
        ),
    ):
        verdicts += [Verdict(text, kind, step) for text in some if text in texts]  # type: ignore[arg-type]
    if against:
        verdicts.append(Verdict(Html(f"Against the truth:{bullets(*against)}")))
    return verdicts


def _improvement(calibrated: Calibrated, check: HeldOut) -> Verdict:
    """What the validation poses show; nothing in favor of a geometry that the other verdicts refute."""
    text = calibrated.improvement
    if calibrated.suspects:
        return Verdict(text, "plain", "Use no number below before the verdict above is resolved.")
    if check.is_better is None:
        return Verdict(text, "plain", "Compare this error with what the task needs.")
    if check.is_better and calibrated.refuted:
        step = "Find what the residuals show first; until then the calibrated parameters are only the better guess."
        return Verdict(text, "plain", step)
    if check.is_better:
        return Verdict(text, "good", "Use the calibrated parameters instead of the blueprint's.")
    step = "Keep the blueprint's parameters; measure more poses, or state the noise, first."
    return Verdict(text, "bad", step)


def _cards(calibrated: Calibrated, legs: Sequence[ChainFinding]) -> tuple[tuple[str, str], ...]:
    before, after = (number(1e3 * rms, digits=3) for rms in calibrated.rms)
    cards = []
    check = calibrated.validation
    if check is not None:
        earlier = check.position_before
        known = "" if earlier is None else f"; {number(1e3 * float(earlier.mean()), digits=3)} before"
        mean = number(1e3 * float(check.position_after.mean()), digits=3)
        cards.append((f"{mean} mm", f"mean error of predicted positions{known}"))
    cards.append((f"{after} mm", f"closure of the chains, rms; {before} before"))
    stats = calibrated.estimate.stats
    if isinstance(stats, FitStats) and stats.chi_squared is not None:
        words = "refuted by χ²" if calibrated.exceeds_noise else "not refuted"
        cards.append((f"{stats.chi_squared:.2f}", f"χ² per degree of freedom: {words}"))
    n = len(calibrated.identifiability.names)
    cards.append(
        (f"{calibrated.identifiability.rank} of {n}", f"parameters determined by {len(calibrated.poses)} poses")
    )
    if legs:
        refuted = sum(leg.finding is Finding.REFUTED for leg in legs)
        upper = max(0.0, *(leg.epsilon.upper for leg in legs))
        largest = f"≤ {outward.at_most(upper, times=1000, digits=3)} mm" if np.isfinite(upper) else "not known"
        cards.append((largest, f"ε of every leg; {refuted} of {len(legs)} legs refuted"))
    return tuple(cards)


def _predicted(check: HeldOut | None, drawing: Drawing | None) -> tuple[Block, ...]:
    if check is None:
        return ()
    return ("Poses that were not used in the calibration, predicted from the robot's readings.", check.table(), drawing)


def _platform(calibrated: Calibrated, truth: Array | None) -> tuple[Block, ...]:
    more = details("Every parameter in the frames of the measurement", calibrated.table(truth))
    legend = _GAUGE if truth is None else _GAUGE + _TRUTH
    return (
        legend,
        leg_table(calibrated, truth),
        joint_figure(calibrated),
        more,
        hint(TURN),
        posture_figure(calibrated),
    )


def _proven(legs: Sequence[ChainFinding], faults: Table | None) -> tuple[Block, ...]:
    if not legs:
        return ()
    return (_PROOF, certified_table(legs), *((_FAULTS, faults) if faults is not None else ()))


def _frames(calibrated: Calibrated) -> tuple[Block, ...]:
    frames = calibrated.placed
    if frames is None:
        return ()
    left = f"{number(1e3 * frames.position_rms, digits=3)} mm and {number(np.degrees(frames.rotation_rms), digits=3)}°"
    if frames.covariance is not None:
        words = "Found from the poses, together with the parameters that were not held."
    elif isinstance(calibrated.model, GoughPlatform):
        words = (
            "The base is placed such that its calibrated joints are as near to the blueprint's as possible, and so is "
            f"the platform. Hand–eye calibration with the blueprint's geometry, which leaves {left} (rms), started the "
            "calibration; its result does not depend on it."
        )
    else:
        fit = f", since the blueprint fits best so; residuals {left} (rms)" if frames.position_rms else ", as stated"
        words = (
            f"Poses were moved into the robot's frame with these frames{fit}. The parameters are those in this frame. "
            "calibration.json has the frames with all digits, as a table [frames] of a study states them."
        )
    return (words, frame_table(frames))
