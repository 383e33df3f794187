"""The files of a report: one page, its figures, every estimate, and all verdicts as data."""

import json
from collections.abc import Callable

from gough.report.curves import Curves
from gough.report.page import page
from gough.report.report import Report
from gough.report.sections import cards, sections
from gough.report.summary import summary


def documents(report: Report, *, on_file: Callable[[str], object] = len) -> dict[str, bytes]:
    """The files by name: report.html, estimate.json, report.json, figures/*.

    `on_file` is told the name of each as soon as it is made, for a progress display.

    Examples:
        >>> import numpy as np
        >>> from gough.data import MeasuredMotion
        >>> from gough.identification import identify
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
        "estimate.json": lambda: _json({label: e.to_dict() for label, e in report.estimates.items()}),
        "report.json": lambda: _json(summary(report)),
        "report.html": lambda: to_html(report).encode(),
    }
    for drawing in report.drawings:
        makers |= {f"figures/{drawing.name}.svg": drawing.svg, f"figures/{drawing.name}.png": drawing.png}
    files = {}
    for name, make in makers.items():
        files[name] = make()
        on_file(name)
    return files


def to_html(report: Report) -> str:
    """The page: complete, self-contained, and readable without its script.

    Examples:
        >>> import numpy as np
        >>> from gough.data import MeasuredMotion
        >>> from gough.identification import identify
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
    return page(report.title, report.lead, sections(report, drawn), cards=cards(report), figures=figures, curves=curves)


def _json(data: object) -> bytes:
    return (json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()
