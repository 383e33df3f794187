"""The page of a calibration: geometry before and after, verdicts, closure of the chains, predicted poses."""

import numpy as np

from gough.calibration import Calibrated, CalibratedPrinter, HeldOut
from gough.calibration.held_out import closure
from gough.calibration.results import half_widths, shown_unit
from gough.core.text import number
from gough.report.charts import Chart, Line, Panel
from gough.report.curves import Curves
from gough.report.drawing import Drawing
from gough.report.html import Html, tag
from gough.report.numbers import plus_minus, signed
from gough.report.page import Section, bullets, number_cards, page, paragraphs
from gough.report.static import drawn
from gough.report.tables import cell, row_head, table
from gough.robots.kinematics import PlatformPoses


def calibration_documents(title: str, lead: tuple[str, ...], found: Calibrated) -> dict[str, bytes]:
    """The files by name: report.html, calibration.json, figures/*."""
    drawings = [closure_figure(found)]
    if found.validation is not None:
        drawings.append(validation_figure(found.validation))
    before, after = found.rms
    cards = number_cards(
        ("closure before, rms", f"{number(1e3 * before, digits=3)} mm"),
        ("closure after, rms", f"{number(1e3 * after, digits=3)} mm"),
        *_validation_cards(found.validation),
        ("poses", str(len(found.poses))),
    )
    pictures = {drawing.name: drawing.html() for drawing in drawings}
    parts = [
        Section("Verdicts", (bullets(*found.verdicts) or paragraphs("Nothing speaks against this calibration."),)),
        Section("Geometry", (parameter_table(found),)),
        Section("Closure of the chains", (chain_table(found), pictures["closure"])),
        Section("What the poses determine", (tag("pre", str(found.identifiability)),)),
    ]
    if found.validation is not None:
        words = "Poses that took no part in the calibration, predicted from the machine's own readings."
        blocks = (paragraphs(words), held_out_table(found.validation), pictures["validation"])
        parts.insert(1, Section("Predicted poses", blocks))
    return _files(title, lead, tuple(parts), cards=cards, drawings=drawings, data=found.to_json())


def printer_documents(title: str, lead: tuple[str, ...], found: CalibratedPrinter) -> dict[str, bytes]:
    """The files by name: report.html, calibration.json, klipper.cfg with the block to paste, figures/*."""
    before, after = found.rms
    cards = number_cards(
        ("residual as configured, rms", f"{number(1e3 * before, digits=3)} mm"),
        ("residual as found, rms", f"{number(1e3 * after, digits=3)} mm"),
        ("probed points", str(len(found.residuals_after))),
    )
    half = dict(zip(found.estimate.unknowns.names, half_widths(found.estimate), strict=True))
    rows = []
    for i, (name, unit) in enumerate(zip(found.model.names, found.model.units, strict=True)):
        shown, factor = shown_unit(unit)
        plus = f"{half[name] * factor:.2g}" if name in half else "fixed"
        values = (found.model.nominal[i] * factor, found.parameters[i] * factor)
        rows.append([row_head(name, shown), *(cell(signed(f"{v:.4f}")) for v in values), cell(plus)])
    heads = ["parameter", "configured", "found", "± (95 %)"]
    drawing = _probe_figure(found)
    parts = (
        Section("Verdicts", (bullets(*found.verdicts),)),
        Section("Geometry", (table(heads, rows, "Geometry as configured and as found"),)),
        Section("Residuals", (drawing.html(),)),
        Section(
            "For printer.cfg", (paragraphs("In place of the same keys after SAVE_CONFIG:"), tag("pre", found.block))
        ),
        Section("What the probed points determine", (tag("pre", str(found.identifiability)),)),
    )
    files = _files(title, lead, parts, cards=cards, drawings=[drawing], data=found.to_json())
    return files | {"klipper.cfg": f"{found.block}\n".encode()}


def parameter_table(found: Calibrated) -> Html:
    """Every parameter before and after, with its interval."""
    half = dict(zip(found.estimate.unknowns.names, half_widths(found.estimate), strict=True))
    rows = []
    for i, (name, unit) in enumerate(zip(found.model.names, found.model.units, strict=True)):
        shown, factor = shown_unit(unit)
        width = half[name] * factor if name in half else np.nan
        before, after = found.start[i] * factor, found.parameters[i] * factor
        value = " ± ".join(plus_minus(after, width)) if name in half else f"{signed(number(after))} (fixed)"
        change = plus_minus(after - before, width)[0] if name in half else "—"
        rows.append([row_head(name, shown), cell(plus_minus(before, width)[0]), cell(value), cell(change)])
    return table(["parameter", "before", "after (95 %)", "change"], rows, "Geometry before and after")


def chain_table(found: Calibrated) -> Html:
    """Closure errors by chain, in mm."""
    rows = [
        [
            row_head(c.name),
            *(cell(number(1e3 * v, digits=3)) for v in (c.rms_before, c.rms_after, c.peak_after)),
            cell(str(c.peak_pose)),
            cell(signed(f"{c.follows_reading:.2f}")),
            cell(signed(f"{c.follows_travel:.2f}")),
        ]
        for c in found.chains
    ]
    heads = ["chain", "rms before, mm", "rms after, mm", "peak, mm", "at pose", "r(reading)", "r(travel)"]
    return table(heads, rows, "Closure of each chain")


def held_out_table(check: HeldOut) -> Html:
    """Mean, deviation and largest error of predicted poses, before and after."""
    rows = [[row_head(what), cell("—" if b is None else number(b)), cell(number(a))] for what, b, a in check.rows()]
    return table([f"{len(check.position_after)} poses", "before", "after"], rows, "Errors of predicted poses")


def closure_figure(found: Calibrated) -> Drawing:
    """What is left of every chain's closure at every pose."""
    poses, model = found.poses, found.model
    rotation = np.repeat(np.eye(3)[None], len(poses), axis=0) if poses.rotation is None else poses.rotation
    left = closure(model, found.parameters, PlatformPoses(poses.position * found.scale, rotation), poses.readings)
    lines = tuple(Line(name, 1e3 * left[:, k], k) for k, name in enumerate(model.chains))
    chart = Chart(
        0.0, 1.0, len(poses), "pose", "", (Panel("closure after calibration", "mm", lines, 220, symmetric=True),)
    )
    description = f"What is left of the closure of {', '.join(model.chains)} at each of {len(poses)} poses."
    caption = "Error of each chain's closure after calibration. Noise looks like noise; a pattern is a missing effect."
    return Drawing("closure", drawn(chart), description, caption, lambda curves: chart.live(description, curves))


def validation_figure(check: HeldOut) -> Drawing:
    """Position errors of held-out poses before and after, sorted [DACP06, Figure 5]."""
    lines = [Line("after", np.sort(1e3 * check.position_after), 0)]
    if check.position_before is not None:
        lines.append(Line("before", np.sort(1e3 * check.position_before), "quiet"))
    panels = [Panel("position error", "mm", tuple(lines), 180)]
    n = len(check.position_after)
    chart = Chart(1.0, 1.0, n, "poses, sorted by error", "", tuple(panels))
    description = f"Position errors of {n} predicted poses before and after calibration, in ascending order."
    caption = "Distance between measured poses and those predicted from the readings; each curve is sorted by itself."
    return Drawing("validation", drawn(chart), description, caption, lambda curves: chart.live(description, curves))


def _probe_figure(found: CalibratedPrinter) -> Drawing:
    pairs = (("as found", found.residuals_after, 0), ("as configured", found.residuals_before, 1))
    panels = tuple(Panel(what, "mm", (Line(what, 1e3 * r, k),), 120, symmetric=True) for what, r, k in pairs)
    chart = Chart(0.0, 1.0, len(found.residuals_after), "probed point", "", panels)
    description = "Residual of each probed point, with the geometry as found and as configured."
    caption = "Height (or distance) that the geometry predicts less the one that was met."
    return Drawing("residuals", drawn(chart), description, caption, lambda curves: chart.live(description, curves))


def _validation_cards(check: HeldOut | None) -> tuple[tuple[str, str], ...]:
    if check is None:
        return ()
    return (("predicted position, mean error", f"{number(1e3 * float(check.position_after.mean()), digits=3)} mm"),)


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
