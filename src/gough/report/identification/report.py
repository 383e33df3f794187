"""A report on an identification: the answers, the truth where it is known, and the figures made from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import GoughError, require
from gough.core.tables import Cell, Table, table
from gough.core.text import percent, short_labels
from gough.dynamics import Identified, Prediction, base_values
from gough.dynamics.named import ByMethod
from gough.dynamics.validation import validated
from gough.estimates import Estimate
from gough.methods.statistical.whitening import Unweighted, triangle
from gough.problem import LinearProblem
from gough.region import ConfidenceEllipsoid
from gough.report.base.charts import on_grid
from gough.report.base.drawing import FAINT, INK, SERIES, WIDTH, Drawing
from gough.report.base.home_view import home_figure
from gough.report.base.intervals import bounded_box, interval_figure
from gough.report.base.panels import MARK, PAD, segments
from gough.report.base.regions import correlation_figure, memory_figure, pair_figure, weakest_pair
from gough.report.base.robot_view import FRAMES, Postures, robot_figure
from gough.report.base.scales import Scale, with_margin
from gough.report.base.sheet import SIZE, Sheet, text_width
from gough.report.identification.efforts import Comparison, effort_figure, motion_figure


@dataclass(frozen=True, eq=False)
class Excitation:
    """Excitation of the columns of W, each scaled to unit length, so that units do not matter."""

    names: tuple[str, ...]
    singular_values: Array
    """Falling; the first over the last is the condition number."""
    own: Array
    """For each parameter, the length of what is left of its column after all others have been projected out: 1 where
    no other parameter has a like effect, 0 where others imitate it perfectly."""

    def table(self) -> Table:
        """Own part of each parameter's effect, the smallest first."""
        labels = short_labels(self.names)
        order = np.argsort(self.own, kind="stable")
        rows = [[labels[i], Cell(percent(self.own[i]), share=float(self.own[i]))] for i in order]
        return table(["parameter", "own part of its effect"], rows, "lr", "Own part of the effect of each parameter")


def excitation(problem: LinearProblem) -> Excitation:
    """How well the rows of a problem tell its unknowns apart.

    Examples:
        >>> import gough
        >>> W = [[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]
        >>> excited = excitation(gough.LinearProblem(W, [0, 0, 0], gough.Unknowns(["a", "b", "c"])))
        >>> excited.own.round(3)
        array([0.707, 0.707, 1.   ])
    """
    R = triangle(problem, Unweighted())[:-1, :-1]
    norms = np.linalg.norm(R, axis=0)
    scaled = R / np.where(norms > 0, norms, 1.0)
    _, values, vectors = np.linalg.svd(scaled)
    with np.errstate(divide="ignore"):
        own = 1 / np.sqrt(((vectors / values[:, None]) ** 2).sum(axis=0))
    return Excitation(problem.unknowns.names, values, np.where(norms > 0, np.nan_to_num(own), 0.0).round(12))


def excitation_figure(excitation: Excitation) -> Drawing:
    """Singular values beside what each parameter has for its own."""
    labels = short_labels(excitation.names)
    n = len(labels)
    sheet = _excitation_drawn(excitation.singular_values, excitation.own, labels)
    weakest = labels[int(excitation.own.argmin())]
    return Drawing(
        "excitation",
        sheet,
        f"Singular values of the scaled regressor, and the own part of each of {n} parameters' effects; the smallest "
        f"is that of {weakest}.",
        "Left: singular values after scaling each column to unit length; the largest over the smallest is the "
        "condition number. Right: the part of each parameter's effect on the efforts that no combination of the others "
        f"can imitate; the smallest is that of {weakest}.",
    )


def _excitation_drawn(singular: Array, own: Array, labels: Sequence[str]) -> Sheet:
    """Two panels side by side, a row per singular value and per parameter."""
    n, row = len(labels), 17.3
    sheet = Sheet(72 * WIDTH, row * n + 54.0)
    top, bottom = sheet.height - 24.0, sheet.height - 24.0 - row * n
    places = top - row * (np.arange(n) + 0.5)
    beside = max(map(text_width, labels), default=0.0) + 4 * PAD
    start = PAD + text_width(str(n)) + 2 * MARK
    split = start + 0.38 * (sheet.width - start - beside)
    with np.errstate(divide="ignore"):
        powers = np.where(singular > 0, np.log10(singular), np.nan)
    ends = with_margin(*(float(side(powers)) for side in (np.nanmin, np.nanmax))) if singular.any() else (-1.0, 1.0)
    columns = (
        Scale.of_powers(ends, (start, split), per_number=2.5 * SIZE),
        Scale.linear((0.0, 1.0), (split + beside, sheet.width - PAD - SIZE), per_number=3 * SIZE),
    )
    numbers = [str(k + 1) for k in range(n)]
    titles = "singular values", "own part of each effect"
    for scale, names, title in zip(columns, (numbers, labels), titles, strict=True):
        left = scale.points[0]
        sheet.write(left, top + 0.8 * SIZE, title, INK)
        at = scale(scale.ticks).tolist()
        segments(sheet, [((x, bottom), (x, top)) for x in at], FAINT, 0.5)
        for x, label in zip(at, scale.labels, strict=True):
            sheet.write(x, bottom - 2 * MARK, label, INK, across="center", up="top")
        for y, name in zip(places.tolist(), names, strict=True):
            sheet.write(left - 2 * MARK, y, name, INK, across="right", up="middle")
        segments(sheet, [((left, top), (left, bottom)), ((left, bottom), (scale.points[1], bottom))], FAINT, 0.8)
    sheet.stroke(columns[0](powers), places, SERIES[0])
    sheet.dots(columns[0](powers), places, SERIES[0], 2.0)
    half, (zero, *_) = 0.31 * row, columns[1].points
    bars = zip(columns[1](own).tolist(), places.tolist(), strict=True)
    boxes = [np.array([(zero, y - half), (zero, y + half), (x, y + half), (x, y - half)]) for x, y in bars]
    sheet.area(boxes, SERIES[0])
    return sheet


CLOCK = "fit"
"""Figures of the identified motion share it."""


@dataclass(frozen=True, eq=False)
class Report:
    """A report on the identification of one robot.

    Examples:
        >>> from gough.data import MeasuredMotion
        >>> from gough.dynamics import identify
        >>> from gough.robots import FiveBar, efforts
        >>> rng, robot = np.random.default_rng(1), FiveBar.demo()
        >>> q, dq, ddq = [2.0, 1.0] + 0.3 * rng.normal(size=(300, 2)), *rng.normal(size=(2, 300, 2))
        >>> torque = efforts(robot, robot.nominal, q, dq, ddq) + rng.uniform(-0.1, 0.1, size=(300, 2))
        >>> motion = MeasuredMotion(
        ...     100.0, q, dq, ddq, torque, torque == torque,
        ...     coordinates=robot.coordinates, coordinate_units=robot.coordinate_units,
        ...     actuators=robot.actuators, effort_units=robot.effort_units,
        ... )
        >>> identified = identify(robot, motion, methods=["weighted", "hull"], compare=False)
        >>> report = Report("A five-bar", ["Simulated."], identified, robot.nominal)
        >>> report.reference, [drawing.name for drawing in report.drawings][:2]
        ('weighted', ['parameters', 'fit'])
    """

    title: str
    lead: tuple[str, ...]
    """Paragraphs on the robot and its data."""
    identified: Identified
    truth: Array | None = None
    """Where the robot is simulated: given as true values of its parameters, kept as those of the problem's unknowns."""
    poses: Array | None = None
    """Poses of the platform for each sample of the motion, where they are known; else found by forward kinematics."""
    reference: str = ""
    """The method whose prediction, residuals and correlations are shown; empty means the recommended one."""

    def __post_init__(self) -> None:
        motion, estimates = self.identified.motion, self.identified.estimates
        require(not isinstance(self.lead, str), "lead must be a sequence of paragraphs, not one string")
        object.__setattr__(self, "lead", tuple(self.lead))
        if self.truth is not None:
            object.__setattr__(self, "truth", _of_unknowns(self.identified, array(self.truth, "truth", ndim=1)))
        if self.poses is not None:
            poses = array(self.poses, "poses", ndim=2)
            require(len(poses) == motion.n_samples, f"poses must have a row for each of {motion.n_samples} samples")
            object.__setattr__(self, "poses", poses)
        if self.reference:
            known = ", ".join(estimates)
            require(self.reference in estimates, f"no estimate is called '{self.reference}'; there are: {known}")
            object.__setattr__(self, "reference", ByMethod(estimates).title(self.reference))
        else:
            object.__setattr__(self, "reference", _best(self.identified))

    @property
    def estimates(self) -> Mapping[str, Estimate]:
        """By the name of the method, in the order of the tables."""
        return self.identified.estimates

    @property
    def chosen(self) -> Estimate:
        """The reference method's estimate."""
        return self.estimates[self.reference]

    @cached_property
    def excitation(self) -> Excitation:
        """How well the motion shows each unknown."""
        return excitation(self.identified.problem)

    @cached_property
    def best_set(self) -> str:
        """The method with the smallest guaranteed region; empty where there is none."""
        sizes = {
            label: estimate.region.log_volume()
            for label, estimate in self.identified.succeeded.items()
            if bounded_box(estimate) is not None
        }
        return min(sizes, key=lambda label: sizes[label]) if sizes else ""

    @cached_property
    def fit(self) -> Comparison | None:
        """Measured and predicted efforts of the motion that was identified from; None where no method has a value."""
        identified = self.identified
        wanted = {label: identified.estimates[label] for label in (self.reference, self.best_set) if label}
        again = validated(replace(identified, estimates=wanted), identified.motion, samples=0)
        return self._comparison(
            again.predictions, identified.motion, identified.bound, smallest=identified.smallest_bound
        )

    @cached_property
    def validation(self) -> Comparison | None:
        """Measured and predicted efforts of the validation trajectory; None where there is none."""
        validation = self.identified.validation
        if validation is None:
            return None
        predictions = {
            label: validation.predictions[label]
            for label in (self.reference, self.best_set)
            if label in validation.predictions
        }
        return self._comparison(predictions, validation.motion, validation.bound, exact=validation.exact)

    def _comparison(
        self, predictions: Mapping[str, Prediction], motion: Any, bound: Array, **more: Any
    ) -> Comparison | None:
        return Comparison(motion, self.reference, predictions, bound, **more) if self.reference in predictions else None

    @cached_property
    def residuals(self) -> Array | None:
        """Measured − predicted efforts (instants, actuators) on the even grid of instants; NaN where left out."""
        if self.fit is None:
            return None
        motion = self.identified.motion
        left_over = motion.efforts - self.fit.predictions[self.reference].efforts
        n = int(motion.positions[-1]) + 1
        return on_grid(np.where(motion.kept, left_over, np.nan), motion.positions, n).T

    @cached_property
    def postures(self) -> Postures | None:
        """The robot along the motion; None where it cannot be drawn or its pose is not found."""
        return _postures(self.identified, self.poses)

    @cached_property
    def drawings(self) -> tuple[Drawing, ...]:
        """Its figures, in the order of the page."""
        return tuple(_drawings(self))


def _of_unknowns(identified: Identified, truth: Array) -> Array:
    """True values of the problem's unknowns, combinations among them, from those of the robot's parameters."""
    names, analysis = identified.robot.names, identified.identifiability
    n = len(identified.problem.unknowns)
    if len(truth) == n and n != len(names):
        return truth
    require(len(truth) == len(names), f"truth must have {len(names)} entries, one for each parameter of the robot")
    return base_values(analysis, [truth[names.index(name)] for name in analysis.names])


def _best(identified: Identified) -> str:
    """The recommended method; else the first statistical one that succeeded; else any with values; else nothing."""
    if identified.recommendation is not None:
        return identified.recommended
    good = identified.succeeded
    beliefs = [label for label, e in good.items() if isinstance(e.region, ConfidenceEllipsoid)]
    finite = [label for label, e in identified.estimates.items() if np.isfinite(e.value).all()]
    return next(iter([*beliefs, *good, *finite]), "")


def _drawings(report: Report) -> list[Drawing]:
    identified, truth = report.identified, report.truth
    motion = identified.motion
    drawings = [interval_figure(report.estimates, truth)] if report.estimates else []
    if report.fit is not None:
        drawings.append(effort_figure("fit", report.fit, where="the motion that was identified from"))
    if report.validation is not None:
        drawings.append(effort_figure("validation", report.validation, where="another motion"))
    drawings += [excitation_figure(report.excitation), motion_figure(motion, CLOCK)]
    if report.residuals is not None:
        drawings.append(memory_figure(report.residuals, motion.actuators, rate=motion.rate))
    if report.reference and len(report.chosen.value) > 1 and isinstance(report.chosen.region, ConfidenceEllipsoid):
        drawings.append(correlation_figure(report.chosen))
        drawings.append(pair_figure(identified.succeeded, weakest_pair(report.chosen), truth=truth))
    if (home := home_figure(identified.robot)) is not None:
        drawings.append(home)
    if report.postures is not None:
        drawings.append(robot_figure(identified.robot.name, report.postures, CLOCK))
    return drawings


def _postures(identified: Identified, poses: Array | None) -> Postures | None:
    robot: Any = identified.robot
    motion = identified.motion
    last = int(motion.positions[-1])
    n = min(FRAMES, last + 1)
    instants = np.linspace(0, last, n)
    # where the grid has a gap, the robot stays where it was last seen
    samples = np.searchsorted(motion.positions, instants, side="right") - 1
    samples = np.maximum(samples, 0)
    step = (last / max(n - 1, 1)) / motion.rate
    return postures(robot, motion.q[samples], None if poses is None else poses[samples], (motion.start, step))


def postures(robot: Any, q: Array, poses: Array | None, clock: tuple[float, float]) -> Postures | None:
    """A robot at positions q, at instants from a start on by a step; None where it cannot be drawn there."""
    if not hasattr(robot, "skeleton"):
        return None
    try:
        x = robot.forward(q) if poses is None else poses
        segments = robot.skeleton(x)
    except GoughError:
        return None
    kinds, names, units = tuple(robot.segments), tuple(robot.pose_names), tuple(robot.pose_units)
    return Postures(*clock, kinds, segments, np.asarray(x), names, units)
