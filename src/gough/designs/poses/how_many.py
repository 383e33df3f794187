"""How many poses a target accuracy takes, and the choice of poses in one call."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gough.campaigns import executor_of
from gough.core.arguments import action, as_path, flag, one_of, real, record, texts, verb, whole
from gough.core.errors import InputError, require
from gough.core.progress import OnProgress, Progress
from gough.data import Poses
from gough.data.pose_files import poses_of
from gough.designs.poses.bounds import fewest
from gough.designs.poses.candidates import candidates
from gough.designs.poses.criteria import CRITERIA, VarianceCriterion
from gough.designs.poses.limits import PoseLimits
from gough.designs.poses.problem import PoseProblem
from gough.designs.poses.search import exchange, greedy
from gough.designs.poses.selection import Selection, in_order, select
from gough.designs.poses.workspace import Accuracy
from gough.robots.arguments import finite_parameters, kinematic_model
from gough.robots.kinematics import KinematicModel


@dataclass(frozen=True)
class Point:
    """Predicted accuracy with so many poses."""

    count: int
    accuracy: Accuracy
    sigma: float
    """Geometric mean of the parameters' standard deviations, as a share of that with the fewest poses."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Predicted accuracy against the number of poses, and the smallest number that meets a target."""

    points: tuple[Point, ...]
    target: float | None
    """Standard deviation of predicted positions, root mean square over the workspace, m."""
    selection: Selection | None
    """The smallest set found that meets the target; None where none of at most `most` poses does, or none is asked."""
    at_least: int | None
    """No fewer of the candidates, chosen in whatever way and measured as often as one likes, meet the target."""
    is_stopped: bool = False


def how_many(
    problem: PoseProblem,
    target: float | None = None,
    *,
    most: int = 64,
    executor: Any = None,
    on_progress: OnProgress = lambda _: None,
) -> Curve:
    """The accuracy of predicted positions against the number of poses, each set grown from the one before.

    Use it for a problem whose criterion is "pose": then the search minimizes what the target bounds. The smallest
    number is that of this search; `at_least` bounds it from below. In the end one pose fewer is tried from several
    starts, which run in the `executor`, if there is one.

    Examples:
        >>> from gough.designs.poses import PoseLimits, PoseProblem, candidates
        >>> from gough.robots import LinearDelta
        >>> limits = PoseLimits(pose={"x": (-0.08, 0.08), "y": (-0.08, 0.08), "z": (0.0, 0.1)})
        >>> drawn = candidates(LinearDelta(), limits, sources=["low-discrepancy"], count=100).with_noise(5e-5)
        >>> curve = how_many(PoseProblem.of(LinearDelta(), drawn, criterion="pose"), 4e-5, most=30)
        >>> len(curve.selection.rows) >= curve.at_least, curve.selection.accuracy.position <= 4e-5
        (True, True)
    """
    require(target is None or target > 0, f"the target must be positive, but is {target}")
    least = problem.needed
    most = max(most, least) if problem.repeats else min(max(most, least), len(problem.candidates))
    counts = _counts(least, most)
    growing = _Growing(problem)
    selection, stopped = None, False
    points: list[Point] = []
    try:
        for step, count in enumerate(counts):
            on_progress(Progress(step, len(counts), f"{count} poses"))
            points.append(_point(growing.of(count)))
            if selection is not None and count > 1.5 * len(selection.rows):
                break
            if target is not None and selection is None and points[-1].accuracy.position <= target:
                selection, more = _between(growing, points[-2].count if len(points) > 1 else least - 1, count, target)
                selection = _fewer(selection, target, executor)
                points = sorted({p.count: p for p in [*points, *more]}.values(), key=lambda p: p.count)
    except KeyboardInterrupt:
        stopped = True
        if not points:
            raise
    first = points[0].sigma
    curve = tuple(Point(p.count, p.accuracy, p.sigma / first) for p in points)
    return Curve(curve, target, selection, _at_least(problem, target), stopped)


@verb()
@np.errstate(all="ignore")
def choose_poses(
    robot: KinematicModel,
    limits: PoseLimits | Mapping[str, Any],
    *,
    count: int | None = None,
    target: float | None = None,
    position: Any = None,
    orientation: Any = None,
    readings: Any = None,
    criterion: str | None = None,
    parameters: Any = None,
    fixed: Sequence[str] = (),
    scale: bool = False,
    measured: Poses | str | Path | None = None,
    repeats: bool = False,
    draws: int = 2000,
    most: int = 64,
    starts: int = 3,
    seed: int = 1,
    executor: Any = None,
    workers: int = 1,
    path: str | Path | None = None,
    on_progress: OnProgress = lambda _: None,
) -> Selection:
    """The poses within limits from which a calibration of the robot is most accurate.

    Candidates are drawn by `candidates`; `select` chooses `count` of them, or `how_many` the fewest that meet `target`.

    Args:
        robot: The robot with its blueprint.
        limits: Limits of readings, joints, pose and camera: `PoseLimits`, or a mapping of its names.
        count: Number of poses; without it and without a target, twice the minimum.
        target: Required standard deviation of predicted positions, m, root mean square over the workspace.
        position: Standard deviation of measured positions, m: one number or one for each axis.
        orientation: Standard deviation of measured orientations, rad; None where they are not measured.
        readings: Standard deviation of the robot's readings.
        criterion: "D", "A", "E" or "pose" (accuracy of predicted positions); the default is "D", with a target "pose".
        parameters: The robot's parameters; the blueprint's by default.
        fixed: Parameters that the calibration keeps at their values.
        scale: Whether the calibration also estimates the scale of measured positions.
        measured: Poses that have been measured already, or a file of them; the chosen ones complement them.
        repeats: Whether a configuration may be chosen more than once.
        draws: Number of candidates beside the extremal ones.
        most: Largest number of poses to try for a target.
        starts: Number of starts of the search.
        seed: Random seed.
        executor: Where starts run: an executor of `gough.campaigns` or `concurrent.futures`; here by default.
        workers: Number of processes of this machine, where no executor is given.
        path: A file, or a folder for it, to which each finished start is appended, without a target; a search that was
            stopped resumes from it.
        on_progress: Called with a `Progress` now and then.

    Raises:
        InputError: count and target are both given, the limits leave too few candidates, or no set of at most `most`
            poses was found that meets the target.
        KeyboardInterrupt: the search was interrupted before it had found such a set.

    Examples:
        >>> from gough.designs.poses import PoseLimits
        >>> from gough.robots import LinearDelta
        >>> limits = PoseLimits(pose={"x": (-0.08, 0.08), "y": (-0.08, 0.08), "z": (0.0, 0.1)})
        >>> chosen = choose_poses(LinearDelta(), limits, count=8, position=5e-5, draws=100)
        >>> len(chosen.poses), chosen.poses.readings.shape
        (8, (8, 3))
    """
    require(count is None or target is None, "give either count, or target for the fewest poses that meet it")
    robot = kinematic_model(robot)
    how = 'gough.designs.poses.PoseLimits(pose={"x": (-0.1, 0.1), "y": (-0.1, 0.1), "z": (0.0, 0.1)})'
    limits = record(limits, "limits", PoseLimits, how)
    measured = None if measured is None else poses_of(robot, measured, "measured")
    theta = finite_parameters(robot, parameters)
    count = None if count is None else whole(count, "count", 1)
    target = None if target is None else real(target, "target", above=0)
    criterion = None if criterion is None else one_of(criterion, "criterion", tuple(CRITERIA))
    fixed, scale, repeats = texts(fixed, "fixed"), flag(scale, "scale"), flag(repeats, "repeats")
    draws, most, starts = whole(draws, "draws", 1, 1 << 24), whole(most, "most", 1), whole(starts, "starts", 1)
    seed = whole(seed, "seed")
    action(on_progress, "on_progress")
    place = executor_of(executor, workers)
    path = None if path is None else as_path(path, "path")
    drawn = candidates(robot, limits, count=draws, seed=seed, parameters=theta)
    problem = PoseProblem.of(
        robot,
        drawn.with_noise(position, orientation, readings),
        criterion=criterion or ("D" if target is None else "pose"),
        parameters=theta,
        fixed=fixed,
        scale=scale,
        measured=measured,
        repeats=repeats,
    )
    with place if executor is None else nullcontext(place) as where:
        if target is None:
            wanted = min(2 * problem.needed, len(problem.candidates)) if count is None else count
            return select(problem, wanted, starts=starts, seed=seed, executor=where, path=path, on_progress=on_progress)
        curve = how_many(problem, target, most=most, executor=where, on_progress=on_progress)
    if curve.selection is None:
        if curve.is_stopped:
            raise KeyboardInterrupt
        best = min(point.accuracy.position for point in curve.points)
        raise InputError(
            f"{curve.points[-1].count} poses predict positions to {best:.3g} m, not to {target:.3g} m: measure more "
            "accurately, widen the limits, or raise most"
        )
    return curve.selection


def _at_least(problem: PoseProblem, target: float | None) -> int | None:
    criterion = problem.criterion
    if target is None or not isinstance(criterion, VarianceCriterion) or criterion.name != "pose":
        return None
    return max(problem.needed, fewest(problem.information.Z, criterion, problem.information.known, target))


def _counts(least: int, most: int) -> list[int]:
    """Every number at first, then steps of a quarter."""
    counts = [least]
    while counts[-1] < most:
        counts.append(min(most, max(counts[-1] + 1, round(1.25 * counts[-1]))))
    return counts


class _Growing:
    """Sets of growing size, each begun with the largest smaller one that is known."""

    def __init__(self, problem: PoseProblem) -> None:
        self.problem = problem
        self.sets: dict[int, list[int]] = {}

    def of(self, count: int) -> Selection:
        information, problem = self.problem.information, self.problem
        if count not in self.sets:
            smaller = max((n for n in self.sets if n < count), default=0)
            now = greedy(
                information.Z,
                count,
                problem.criterion,
                information.known,
                first=self.sets.get(smaller, []),
                repeats=problem.repeats,
            )
            exchange(information.Z, now, problem.criterion, information.known, repeats=problem.repeats)
            self.sets[count] = now
        return Selection(problem, tuple(self.sets[count]))


def _between(growing: _Growing, low: int, high: int, target: float) -> tuple[Selection, list[Point]]:
    """The smallest set in (low, high] that meets the target, where high does: by halving."""
    seen = []
    while high - low > 1:
        middle = (low + high) // 2
        selection = growing.of(middle)
        seen.append(_point(selection))
        low, high = (low, middle) if selection.accuracy.position <= target else (middle, high)
    return growing.of(high), seen


def _fewer(selection: Selection, target: float, executor: Any) -> Selection:
    """One pose fewer, from several starts, as long as that meets the target."""
    while len(selection.rows) > selection.problem.needed:
        trial = select(selection.problem, len(selection.rows) - 1, executor=executor)
        if trial.accuracy.position > target:
            break
        selection = trial
    return in_order(selection)


def _point(selection: Selection) -> Point:
    value = float(np.exp(np.log(selection.sigma).mean()))
    return Point(len(selection.rows), selection.accuracy, value)
