"""The page of a calibration by instruments: verdicts, geometry, residuals of each instrument, what is determined."""

from gough.estimates import FitStats
from gough.export import model_files
from gough.geometry.instruments import CalibratedByInstruments
from gough.report.base.page import Page, Section, Verdict
from gough.report.base.words import determined
from gough.report.calibration.machine import machine_files

__all__ = ["instrument_documents"]

_RESIDUALS = (
    "Residuals before: the blueprint at the poses that its readings give. After: with estimated parameters and poses. "
    "rms/σ is below 1 where measurements are used to determine the poses."
)
_PARTS = "Parameters of the instruments that were estimated with the robot; angles of frames are rotation vectors."


def instrument_documents(title: str, lead: tuple[str, ...], answer: CalibratedByInstruments) -> dict[str, bytes]:
    """The files by name: report.html, calibration.json and, of measurements, geometry.toml and model.json.

    A linear delta also gets klipper.cfg, marlin.gcode and reprapfirmware.g.
    """
    stats = answer.estimate.stats
    assert isinstance(stats, FitStats)
    own = len(answer.own)
    cards = (
        (str(len(answer.estimate.unknowns)), f"parameters estimated, {own} of them of the instruments"),
        (str(len(answer.measurements)), f"poses, {answer.measurements.n_measured} measured numbers"),
        (
            "—" if stats.chi_squared is None else f"{stats.chi_squared:.3f}",
            f"χ² per degree of freedom ({stats.dof:.0f} of them)",
        ),
    )
    sections = (
        Section("Geometry", (answer.table(),)),
        Section("Nested models", () if answer.nested is None else (answer.nested.words, answer.nested.table())),
        Section(
            "Instruments", (_RESIDUALS, answer.instrument_table(), *((_PARTS, answer.part_table()) if own else ()))
        ),
        Section("What the measurements determine", determined(answer.identifiability)),
    )
    page = Page(title, lead, cards, tuple(_verdicts(answer)), sections)
    files = page.files() | {"calibration.json": f"{answer.to_json()}\n".encode()}
    return files if answer.is_planned else files | model_files(answer) | machine_files(answer)


def _verdicts(answer: CalibratedByInstruments) -> list[Verdict]:
    premise = "State these values in the study as measured on the robot, then calibrate again."
    verdicts = [Verdict(text, "bad", premise) for text in answer.premises]
    verdicts.append(_headline(answer))
    if answer.freedoms.words:
        step = "Fix parameters, or state the frame of an instrument, if another frame is wanted."
        verdicts.append(Verdict(answer.freedoms.words, "plain", step))
    if answer.weak_words:
        step = "Compare ± with the accuracy that is needed before you use these parameters."
        verdicts.append(Verdict(answer.weak_words, "bad", step))
    if answer.outlier_words:
        verdicts.append(Verdict(answer.outlier_words, "bad", "Look at this measurement, and repeat it if it is wrong."))
    return verdicts


def _headline(answer: CalibratedByInstruments) -> Verdict:
    notes = " ".join(answer.estimate.notes)
    if answer.is_planned:
        if answer.freedoms.unexplained:
            return Verdict(
                f"The planned measurements do not determine all parameters. {notes}",
                "bad",
                "Add instruments or poses, or fix parameters, until every parameter is determined.",
            )
        return Verdict(
            "The planned measurements determine all parameters; ± below is to be expected if the noise is as stated.",
            "good",
            "Compare ± with the accuracy that is needed; add poses or instruments where it is too large.",
        )
    if answer.refuted:
        return Verdict(
            f"Refuted; ± does not hold. {notes}",
            "bad",
            "Look at the instrument with the largest rms/σ; state its noise as measured, or look for a missing effect.",
        )
    return Verdict(
        f"Not refuted. {notes}",
        "good",
        "Load the calibrated parameters into the controller, and measure a few other poses to confirm.",
    )
