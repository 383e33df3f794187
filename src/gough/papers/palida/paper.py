"""Statistical approach for bias-free identification of a parallel manipulator affected by large noise [AHG]."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.progress import OnProgress, Phase, Progress
from gough.core.threads import one_blas_thread
from gough.dynamics import series_order
from gough.papers.closed_loop import can_be_controlled
from gough.papers.palida import figures, tables, text
from gough.papers.palida.benchmark import MOTIONS, WITHOUT, judged
from gough.papers.palida.control import control_figure, control_table, estimates_for_control, followed_circle
from gough.papers.palida.printed import inconsistencies
from gough.papers.palida.robot import (
    DESIGNS,
    GM,
    GM_TOP,
    GM_WIDE,
    LS,
    LS_TOP,
    LS_WIDE,
    STATISTICAL,
    WIDE,
    Repetition,
    Size,
    base_model,
    campaigns,
    designs,
)
from gough.papers.palida.tables import Results
from gough.papers.reproduction import Reproduction
from gough.report import Drawing
from gough.simulate import MonteCarlo, Spread

FEW = 20
"""Repetitions by default: about two minutes of one core."""
_PREPARE, _DESIGN, _ORDER, _REPEAT, _JUDGE, _CONTROL, _DRAW = 3, 8, 8, 1, 8, 12, 6
"""About how many seconds each part takes, so that the time left can be told; repeating is per repetition."""


@dataclass
class _Course:
    """How far a reproduction is, in seconds of a usual machine."""

    total: int
    on_step: Callable[[Phase], object]
    done: int = 0

    def begin(self, what: str, seconds: int) -> None:
        """Something begins that takes so long."""
        self.on_step(Phase(self.done + 1, self.total, what))
        self.done += seconds

    def within(self, what: str, part: float, seconds: int) -> None:
        """Part of the current phase that is done."""
        self.on_step(Phase(int(self.done - (1 - part) * seconds) + 1, self.total, what))

    def skip(self, seconds: int) -> None:
        """So much is there already."""
        self.total -= seconds


def reproduce(
    seed: int = 1,
    on_step: Callable[[Phase], object] = lambda _: None,
    *,
    repetitions: int = FEW,
    executor: Any = None,
    folder: Path | None = None,
    size: Size | None = None,
) -> Reproduction:
    """Tables I to III, section V, figures 2 and 4 to 7, and feedforward on the circle, of a simulated PaLiDA.

    Args:
        seed: Of trajectories' start and noise.
        on_step: Told of each phase when it begins, and how far the repetitions are.
        repetitions: Of each experiment; the paper has 100.
        executor: Where designs and repetitions run, of `gough.campaigns`; here by default.
        folder: Where results are kept as they come: a run that was interrupted goes on from them.
        size: Of the experiments.
    """
    size = size or Size()
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    total = _PREPARE + _DESIGN * len(DESIGNS) + _ORDER + 4 * _REPEAT * repetitions + _JUDGE + _CONTROL + _DRAW
    course = _Course(total, on_step)
    with one_blas_thread():
        results = _results(course, seed, size, repetitions=repetitions, executor=executor, folder=folder)
        course.begin("drawing", _DRAW)
        return _reproduction(results)


def _results(
    course: _Course, seed: int, size: Size, *, repetitions: int, executor: Any, folder: Path | None
) -> Results:
    course.begin("computing base parameters", _PREPARE)
    model = base_model()
    begun: list[str] = []

    def on_design(name: str, stage: str) -> None:
        if name not in begun:
            begun.append(name)
            course.begin(f"designing a trajectory: {name}, {stage}", _DESIGN)
        else:
            course.within(f"designing a trajectory: {name}, {stage}", 0.5, _DESIGN)

    designed = designs(seed, size, folder, on_design, executor)
    course.skip(_DESIGN * (len(DESIGNS) - len(begun)))
    experiments = {
        name: Repetition(design.series, readings=size.readings, periods=size.periods)
        for name, design in designed.items()
    }
    course.begin("choosing the order of the path", _ORDER)
    first = experiments[STATISTICAL](np.random.default_rng([seed, 0]))
    order = series_order(model.robot, first.motion, size.orders)
    requested = campaigns(experiments, order=order.order, repetitions=repetitions, seed=seed)
    spreads = _repeated(course, requested, executor, folder)
    course.begin("the circle and its mirror image", _JUDGE)
    verdicts = judged(experiments[STATISTICAL], order=order.order, turns=size.turns, seed=seed)
    course.begin("feedforward on the circle in closed loop", _CONTROL)
    followed = None
    if can_be_controlled():
        estimates = estimates_for_control(first, order.order)
        followed = followed_circle(model, designed[STATISTICAL].series, estimates)
    bound = experiments[STATISTICAL].bound(order.order)
    noise = {
        label: experiments[STATISTICAL].acceleration_noise(first, cut_off)
        for labels, cut_off in (((LS, GM), None), ((LS_WIDE, GM_WIDE), WIDE), ((LS_TOP, GM_TOP), first.highest))
        for label in labels
    }
    return Results(model, designed, experiments, first.motion, order, spreads, bound, verdicts, noise, size, followed)


def _repeated(
    course: _Course, requested: Mapping[str, MonteCarlo], executor: Any, folder: Path | None
) -> dict[tuple[str, str], Spread]:
    spreads: dict[tuple[str, str], Spread] = {}
    for name, campaign in requested.items():
        path = None if folder is None else folder / f"campaign-{name}-{campaign.digest[:8]}.jsonl"
        spreads |= campaign.run(path, executor=executor, on_progress=_campaign_display(course, name, campaign)).spreads
    return spreads


def _campaign_display(course: _Course, name: str, campaign: MonteCarlo) -> OnProgress:
    """Show how far a campaign is; repetitions that were done before it began take no time."""
    begun: list[Progress] = []

    def show(far: Progress) -> None:
        what = far.stage or f"repeating experiments ({name}): {far.done} of {far.of}"
        each = _REPEAT * campaign.repetitions / far.of
        if not begun:
            begun.append(far)
            course.skip(int(each * far.done))
            course.begin(what, _REPEAT * campaign.repetitions - int(each * far.done))
        else:
            left = far.of - begun[0].done
            seconds = _REPEAT * campaign.repetitions - int(each * begun[0].done)
            course.within(what, (far.done - begun[0].done) / left, seconds)

    return show


def _reproduction(results: Results) -> Reproduction:
    numbers = tables.numbers(results)
    return Reproduction(
        paper="AHG",
        title=(
            "Statistical approach for bias-free identification of a parallel manipulator affected by large "
            "measurement noise"
        ),
        about=text.about(numbers),
        tables=(
            tables.table_1(results.model),
            tables.trajectories(results),
            tables.table_2(results),
            tables.gains(results),
            tables.table_3(results),
            tables.errors(results),
            tables.causes(results),
            tables.coverage(results),
            tables.section_5(results.judged),
            *((control_table(numbers["closed_loop"]["runs"]),) if "closed_loop" in numbers else ()),
        ),
        inconsistencies=inconsistencies(),
        differences=text.differences(numbers),
        drawings=_drawings(results),
        numbers=numbers,
    )


def _drawings(results: Results) -> tuple[Drawing, ...]:
    circle = MOTIONS[0]
    return (
        figures.trajectory(results.model.robot, results.designed[STATISTICAL].series),
        figures.noise(results.motion),
        figures.covariances(results.motion),
        figures.distributions(results.spreads, results.model.symbols),
        figures.residuals(results.judged.verdicts[WITHOUT, circle], results.judged.motions[circle]),
        *(() if results.followed is None else (control_figure(results.followed),)),
    )


__all__ = ["FEW", "reproduce"]
