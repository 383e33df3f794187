"""Many starts, one design: a random motion, improved until it is best and made to keep its limits at all times."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from gough.campaigns import digest, executor_of, this_version
from gough.core.arguments import action, verb, whole
from gough.core.arrays import Array
from gough.core.errors import InputError, nearest, require
from gough.core.progress import OnProgress
from gough.core.threads import one_blas_thread
from gough.designs.excitation.augmented import Prices, one_round
from gough.designs.excitation.limits import MotionLimits
from gough.designs.excitation.measure import course, followed
from gough.designs.excitation.problem import DesignProblem
from gough.designs.excitation.result import Attempt, Design
from gough.designs.excitation.tracking import tracking_text
from gough.designs.starts import OnStage, Starts
from gough.robots.model import DynamicModel
from gough.simulate.trajectories import require_count

_TOLERANCE = 2e-3
"""By how much of its size a limit may be exceeded at a sample before the correction."""
_SETTLED = 0.05
"""Change of the criterion in a round below which a search ends: 0.2 % of a standard deviation for 24 parameters."""
_ROUNDS, _STEPS = 8, 400
_CORRECTIONS, _FEW = 12, 40
_COARSE, _FINER, _FINEST = 0.15, 3, 9
"""Where limits are exceeded between samples by more than this share, so many times as many are taken, and at most."""
_HALVINGS, _FEW_HALVINGS = 12, 6
_BACK = 0.9
"""By which a motion that cannot be followed is made smaller at a time."""
_LEAST = 0.3
"""A motion that exceeds limits even at this share of its size is given up."""


def optimize(
    problem: DesignProblem,
    *,
    starts: int = 10,
    seed: int = 0,
    executor: Any = None,
    workers: int = 1,
    path: str | Path | None = None,
    on_progress: OnProgress = lambda _: None,
) -> Design:
    """The best motion of several starts; the same seed gives the same motion, whatever the executor.

    Each start is a random feasible series. An augmented Lagrangian improves it, by exact derivatives;
    then limits are verified between samples as well, and the motion is corrected until it keeps them strictly.

    Ctrl-C stops the search, and the best motion so far is the answer; it keeps the limits like any other. In this
    process the running start is stopped too; starts in other processes are finished, unless Ctrl-C is pressed twice.

    Args:
        problem: What to design.
        starts: Number of random starts.
        seed: Random seed of the starts.
        executor: Where starts run: an executor of `gough.campaigns` or `concurrent.futures`; here by default.
        workers: Number of processes of this machine, where no executor is given.
        path: A file, or a folder for it, to which each finished start is appended; a search that was stopped resumes
            from it.
        on_progress: Called with a `Progress` now and then.

    Raises:
        InputError: no start found a motion that keeps the limits, or the file belongs to another search.
        KeyboardInterrupt: the search was stopped before it had found one.

    Examples:
        >>> from gough.designs.excitation import MotionLimits
        >>> from gough.robots import Delta
        >>> problem = DesignProblem(Delta(), MotionLimits(speeds=8.0, efforts=10.0), sigma=0.2, n_harmonics=2)
        >>> designed = optimize(problem, starts=1)
        >>> designed.is_stopped, bool(designed.worst < 0)
        (False, True)
    """
    _require_search(starts, seed, on_progress)
    done, stopped = Starts(
        attempt,
        (problem, seed),
        starts,
        fingerprint(problem, seed),
        executor=executor,
        workers=workers,
        on_progress=on_progress,
        before=lambda: _compile(problem),
    ).run(path)
    if not any(np.isfinite(each.value) for each in done):
        if stopped:
            raise KeyboardInterrupt
        errors = tracking_text(problem.robot, problem.tracking)
        raise InputError(
            f"none of {starts} starts found a motion of {problem.robot.name} that keeps its limits at all times"
            f"{f' with tracking errors of {errors}' if problem.tracking.any() else ''}: "
            "loosen the limits, lower the frequency, or take more starts"
            f"{', or state a smaller tracking error if your controller keeps it' if problem.tracking.any() else ''}"
        )
    return Design(problem, tuple(done), stopped)


def _require_search(starts: Any, seed: Any, on_progress: Any) -> None:
    require_count(starts, "starts")
    whole(seed, "seed")
    action(on_progress, "on_progress")


def fingerprint(problem: DesignProblem, seed: int) -> str:
    """A digest of all that decides the result of a start; of the robot, its regressor and limits on a small motion."""
    parts = {field.name: getattr(problem, field.name) for field in fields(problem) if field.name != "robot"}
    seen = problem.evaluate(_small_motion(problem))
    return digest((this_version(), seed, problem.robot.name, problem.robot.names, parts, seen.W, seen.h))


def _small_motion(problem: DesignProblem) -> Array:
    return np.append(np.full(problem.space.n - 1, 0.01), 1.0)


def _compile(problem: DesignProblem) -> None:
    """Compile the kernels of a problem once, here, and not in every worker at the same time."""
    problem.lagrangian(_small_motion(problem), lambda h: (0.0, np.zeros_like(h)))


@verb()
@np.errstate(all="ignore")
def design(
    robot: DynamicModel,
    limits: MotionLimits | Mapping[str, Any],
    *,
    starts: int = 10,
    seed: int = 0,
    executor: Any = None,
    workers: int = 1,
    path: str | Path | None = None,
    on_progress: OnProgress = lambda _: None,
    **options: Any,
) -> Design:
    """The periodic trajectory within limits that identifies the robot's base parameters best.

    Short for `optimize(DesignProblem(robot, limits, **options), ...)`.

    Args:
        robot: The model whose parameters are to be identified.
        limits: Limits of positions, speeds, accelerations, efforts and pose: `MotionLimits`, or a mapping of its names.
        starts: Number of random starts.
        seed: Random seed; the same seed gives the same trajectory.
        executor: Where starts run: an executor of `gough.campaigns` or `concurrent.futures`; here by default.
        workers: Number of processes of this machine, where no executor is given.
        path: A file, or a folder for it, to which each finished start is appended; a search that was stopped resumes
            from it.
        on_progress: Called with a `Progress` now and then.
        options: Further fields of `DesignProblem`, such as `sigma`, `criterion`, `n_harmonics` and `frequency`.

    Raises:
        InputError: an option is unknown, or no start found a trajectory within the limits.

    Examples:
        >>> from gough.designs.excitation import MotionLimits
        >>> from gough.robots import Delta
        >>> designed = design(Delta(), MotionLimits(speeds=8.0, efforts=10.0), n_harmonic=2)
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: no option of a design is called 'n_harmonic'; did you mean 'n_harmonics'?
    """
    known = [field.name for field in fields(DesignProblem) if field.name not in {"robot", "limits"}]
    for name in options:
        require(name in known, f"no option of a design is called '{name}'{nearest(name, known)}")
    _require_search(starts, seed, on_progress)
    executor_of(executor, workers)  # refuses what is none before anything is computed
    problem = DesignProblem(robot, limits, **options)  # type: ignore[arg-type] # it makes limits of a mapping
    return optimize(
        problem, starts=starts, seed=seed, executor=executor, workers=workers, path=path, on_progress=on_progress
    )


def attempt(problem: DesignProblem, seed: int, number: int, on_stage: OnStage = lambda *_: None) -> Attempt:
    """One start: a task that can be sent to another process."""
    begin = perf_counter()
    run = _Start(problem, on_stage)
    with one_blas_thread():
        start = random_start(problem, np.random.default_rng([seed, number]))
        first = problem.value(start)
        stopped = False
        try:
            z = run.improve(start)
        except KeyboardInterrupt:
            stopped, z = True, run.z
        strict_z = _best_strict(problem, z, start, first)
    if strict_z is None:
        return Attempt(number, None, np.inf, first, perf_counter() - begin, run.prices.evaluations, stopped)
    value = problem.value(strict_z)
    series = problem.series(strict_z)
    return Attempt(number, series, value, first, perf_counter() - begin, run.prices.evaluations, stopped)


def random_start(problem: DesignProblem, rng: np.random.Generator) -> Array:
    """A random motion, made as large as the limits allow at its samples."""
    space = problem.space
    z = space.drawn(rng)
    low, high = 0.0, 2.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if problem.violation(problem.evaluate(space.shrunk(z, middle, middle)).h) < 0:
            low = middle
        else:
            high = middle
    share = low or high / 2
    return space.shrunk(z, share, share)


@dataclass
class _Start:
    """The state of one start, so that a stopped one keeps its best motion."""

    problem: DesignProblem
    on_stage: OnStage

    def __post_init__(self) -> None:
        assert self.problem.n_samples is not None
        self.n_samples = self.problem.n_samples
        self.prices = Prices.free(self.n_samples, len(self.problem.channels))
        self.ratios = self.problem.space.bounds[-1]
        self.z = np.zeros(self.problem.space.n)

    def improve(self, z: Array) -> Array:
        """Optimize at the samples, then between them."""
        self.z = z
        self._rounds(_ROUNDS, _STEPS, "searching")
        frequency = self.problem.whole_frequency(self.problem.series(self.z).frequency)
        ratio = 2 * np.pi * frequency / self.problem.space.pulsation
        self.ratios = (ratio, ratio)
        self.z = np.append(self.z[:-1], ratio)
        for _ in range(_CORRECTIONS):
            below, above = excess(self.problem, self.z)
            if max(below.max(), above.max()) <= 0:
                below, above = tracking_excess(self.problem, self.z)
                if max(below.max(), above.max()) <= 0:
                    break
                series = self.problem.series(self.z)
                moved = series.at(np.arange(len(below)) / len(below) * series.period)
                self.prices.tighten_to(below, above, self.problem.room(*moved[1:]))
                self._rounds(1, _FEW, "tracking errors")
                continue
            if max(below.max(), above.max()) > _COARSE and len(self.prices.upper) < _FINEST * self.n_samples:
                self.problem, self.prices = self.problem.refined(_FINER), self.prices.refined(_FINER)
                self._draw_back()
                self._rounds(_ROUNDS, _STEPS, "finer samples")
                continue
            self.prices.tighten(below, above)
            self._rounds(1, _FEW, "limits between samples")
        return self.z

    def _draw_back(self) -> None:
        """Make the motion smaller until the robot can follow it: between the samples it had, it could not."""
        for _ in range(_HALVINGS):
            if np.isfinite(self.problem.lagrangian(self.z, lambda h: (0.0, np.zeros_like(h)))[0]):
                return
            self.z = self.problem.space.shrunk(self.z, _BACK, _BACK)

    def _rounds(self, most: int, steps: int, stage: str) -> None:
        def seen(z: Array) -> None:
            self.z = z.copy()

        for _ in range(most):
            before = self.problem.value(self.z)
            self.z, settled = one_round(
                self.problem, self.z, self.prices, self.ratios, steps=steps, tolerance=_TOLERANCE, seen=seen
            )
            self.on_stage(stage, self.problem.value(self.z))
            if settled and abs(self.problem.value(self.z) - before) < _SETTLED:
                break


def excess(problem: DesignProblem, z: Array) -> tuple[Array, Array]:
    """How far values lie below and above their limits (N, channels), in units of their sizes, at and between samples.

    Infinite where the robot cannot follow.
    """
    try:
        low, high = course(problem.parameters, problem.neighborhood, problem.series(z))
    except InputError:
        return (np.full((1, len(problem.channels)), np.inf),) * 2
    return _beyond(problem, low, high)


def tracking_excess(problem: DesignProblem, z: Array) -> tuple[Array, Array]:
    """How far values lie below and above their limits (N, channels) with tracking errors, as followed."""
    return _beyond(problem, *followed(problem.neighborhood, problem.series(z)))


_Check = Callable[[DesignProblem, Array], tuple[Array, Array]]
_BOTH: tuple[_Check, ...] = (excess, tracking_excess)


def _beyond(problem: DesignProblem, low: Array, high: Array) -> tuple[Array, Array]:
    sizes = np.array([one.size for one in problem.channels])
    least, most = problem.ends
    with np.errstate(invalid="ignore"):  # a limit that is infinite is kept, however far a value is
        below, above = least - low / sizes, high / sizes - most
    return np.where(np.isinf(least), -np.inf, below), np.where(np.isinf(most), -np.inf, above)


def _best_strict(problem: DesignProblem, z: Array, start: Array, first: float) -> Array | None:
    """The motion that was found, made strict; the one it began with where that is better."""
    feasible = strict(problem, z)
    if feasible is not None and problem.value(feasible) <= first:
        return feasible
    kept = [each for each in (feasible, strict(problem, start)) if each is not None]
    return min(kept, key=problem.value, default=None)


def strict(problem: DesignProblem, z: Array) -> Array | None:
    """The motion made just so much smaller that it keeps all limits at all times; None where that does not help.

    Tracking errors are looked at to first order, and then followed, which takes longer, where that suffices not.
    """
    if _keeps(problem, z, 1.0, towards_home=False, checks=_BOTH):
        return z
    for towards_home in (False, True):
        share = _largest(problem, z, 1.0, _HALVINGS, towards_home=towards_home, checks=_BOTH[:1])
        if share is not None and not _keeps(problem, z, share, towards_home=towards_home, checks=_BOTH[1:]):
            share = _largest(problem, z, share, _FEW_HALVINGS, towards_home=towards_home, checks=_BOTH)
        if share is not None:
            return _smaller(problem, z, share, towards_home=towards_home)
    return None


def _largest(
    problem: DesignProblem, z: Array, high: float, halvings: int, *, towards_home: bool, checks: tuple[_Check, ...]
) -> float | None:
    """The largest share of its size, below `high`, at which a motion keeps its limits; None where none does."""
    low = _LEAST
    if not _keeps(problem, z, low, towards_home=towards_home, checks=checks):
        return None
    if _keeps(problem, z, high, towards_home=towards_home, checks=checks):
        return high
    for _ in range(halvings):
        middle = 1 - np.sqrt((1 - low) * max(1 - high, 1e-6))  # halves the logarithm: little is lost as a rule
        if not low < middle < high:
            break
        if _keeps(problem, z, middle, towards_home=towards_home, checks=checks):
            low = middle
        else:
            high = middle
    return low


def _smaller(problem: DesignProblem, z: Array, share: float, *, towards_home: bool) -> Array:
    return problem.space.shrunk(z, share, share if towards_home else 1.0)


def _keeps(problem: DesignProblem, z: Array, share: float, *, towards_home: bool, checks: tuple[_Check, ...]) -> bool:
    smaller = _smaller(problem, z, share, towards_home=towards_home)
    return all(max(each.max() for each in check(problem, smaller)) <= 0 for check in checks)
