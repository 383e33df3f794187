"""The files of a report: one page, its figures, every estimate, and all verdicts as data."""

import json
from collections.abc import Callable

from gough.core.arrays import Array
from gough.dynamics import Identified, IdentifiedRepeats
from gough.report.base.curves import Curves
from gough.report.base.page import page
from gough.report.identification.repeated import RepeatedReport
from gough.report.identification.repeated_summary import repeated_summary
from gough.report.identification.report import Report
from gough.report.identification.sections import cards, sections
from gough.report.identification.summary import summary


def report_on(
    title: str, lead: tuple[str, ...], found: Identified | IdentifiedRepeats, truth: Array | None = None
) -> Report | RepeatedReport:
    """The report that suits an identification.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> found = identify(*random_motion(1), methods=["weighted"], compare=False)
        >>> type(report_on("A five-bar", (), found)).__name__
        'Report'
    """
    if isinstance(found, IdentifiedRepeats):
        return RepeatedReport(title, lead, found, truth)
    return Report(title, lead, found, truth)


def documents(report: Report | RepeatedReport, *, on_file: Callable[[str], object] = len) -> dict[str, bytes]:
    """The files by name: report.html, estimate.json, report.json, figures/*.

    `on_file` is told the name of each as soon as it is made, for a progress display.

    Examples:
        >>> import numpy as np
        >>> from gough.data import MeasuredMotion
        >>> from gough.dynamics import identify
        >>> from gough.robots import FiveBar, efforts
        >>> robot, moved = FiveBar.demo(), np.random.default_rng(1).uniform(0.5, 1.5, size=(3, 100, 2))
        >>> torque = efforts(robot, robot.nominal, *moved)
        >>> names = robot.coordinates, robot.coordinate_units, robot.actuators, robot.effort_units
        >>> motion = MeasuredMotion(100.0, *moved, torque, torque == torque, None, *names)
        >>> report = Report("A five-bar", [], identify(robot, motion, methods=["weighted"], compare=False))
        >>> list(documents(report))[:5]
        ['estimate.json', 'report.json', 'report.html', 'figures/parameters.svg', 'figures/parameters.png']
    """
    makers: dict[str, Callable[[], bytes]] = {
        "estimate.json": lambda: _json(_found(report).to_dict()),
        "report.json": lambda: _json(
            repeated_summary(report) if isinstance(report, RepeatedReport) else summary(report)
        ),
        "report.html": lambda: to_html(report).encode(),
    }
    for drawing in report.drawings:
        makers |= {f"figures/{drawing.name}.svg": drawing.svg, f"figures/{drawing.name}.png": drawing.png}
    files = {}
    for name, make in makers.items():
        files[name] = make()
        on_file(name)
    return files


def to_html(report: Report | RepeatedReport) -> str:
    """The page: complete, self-contained, and readable without its script.

    Examples:
        >>> import numpy as np
        >>> from gough.data import MeasuredMotion
        >>> from gough.dynamics import identify
        >>> from gough.robots import FiveBar, efforts
        >>> robot, moved = FiveBar.demo(), np.random.default_rng(1).uniform(0.5, 1.5, size=(3, 100, 2))
        >>> torque = efforts(robot, robot.nominal, *moved)
        >>> names = robot.coordinates, robot.coordinate_units, robot.actuators, robot.effort_units
        >>> motion = MeasuredMotion(100.0, *moved, torque, torque == torque, None, *names)
        >>> report = Report("A five-bar", [], identify(robot, motion, methods=["weighted"], compare=False))
        >>> "<h1>A five-bar</h1>" in to_html(report)
        True
    """
    curves = Curves()
    figures = {drawing.name: drawing.live(curves) for drawing in report.drawings if drawing.live is not None}
    drawn = {drawing.name: drawing.html() for drawing in report.drawings}
    if isinstance(report, RepeatedReport):
        parts, numbers = report.sections(drawn), report.cards()
    else:
        parts, numbers = sections(report, drawn), cards(report)
    return page(report.title, report.lead, parts, cards=numbers, figures=figures, curves=curves)


def _found(report: Report | RepeatedReport) -> Identified | IdentifiedRepeats:
    return report.found if isinstance(report, RepeatedReport) else report.identified


def _json(data: object) -> bytes:
    return (json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()
