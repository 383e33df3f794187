"""The page of a recalibration: what explains the poses of a day, and what was compared."""

from gough.core.text import number
from gough.geometry.days import Recalibrated
from gough.geometry.results import frame_table
from gough.report.base.page import Page, Section, Verdict
from gough.report.calibration.machine import geometry_files

_CRITERION = (
    "Each hypothesis has its own unknowns; the calibrated geometry stays. It is rejected if its closure errors are "
    "larger than those that the calibration left, by an F test at the level {level:g}. Of those not rejected, the one "
    "with the fewest unknowns is chosen, and among as many unknowns the one with the smallest χ². Of the zeros and "
    "gains of single chains the best is listed."
)


def recalibration_documents(title: str, lead: tuple[str, ...], answer: Recalibrated) -> dict[str, bytes]:
    """The files by name: report.html, recalibration.json, geometry.toml, and firmware files of a linear delta."""
    nothing = next(each for each in answer.hypotheses if not each.unknowns)
    cards = (
        (answer.chosen.name, f"{len(answer.chosen.unknowns)} unknowns; of {len(answer.hypotheses)} explanations"),
        (
            f"{number(1e3 * answer.chosen.rms, digits=3)} mm",
            f"closure of the chains, rms; {number(1e3 * nothing.rms, digits=3)} with the calibration as it was",
        ),
        (str(len(answer.poses)), "poses of the day"),
    )
    good = "good" if answer.is_explained else "bad"
    step = (
        "Use geometry.toml as the robot of the next studies."
        if answer.is_explained
        else "Measure more poses and calibrate again; do not use geometry.toml."
    )
    first = Verdict(answer.words, good, step)  # type: ignore[arg-type]
    others = tuple(Verdict(text) for text in answer.verdicts if text != answer.words)
    placed = answer.chosen.frames
    sections = (
        Section("What explains the day", (_CRITERION.format(level=answer.level), answer.table())),
        Section("Changes", (answer.changes(),) if answer.chosen.unknowns else ()),
        Section("Frames", (frame_table(placed),) if placed is not None else ()),
        Section("Validation poses", (answer.validation.table(),) if answer.validation is not None else ()),
    )
    page = Page(title, lead, cards, (first, *others), sections)
    files = page.files() | {"recalibration.json": f"{answer.to_json()}\n".encode()}
    return files | (geometry_files(answer.geometry) if answer.is_explained else {})
