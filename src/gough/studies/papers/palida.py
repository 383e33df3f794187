"""Statistical approach for bias-free identification of a parallel manipulator affected by large noise [AHG]."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gough.assemble import series_order
from gough.core.threads import one_blas_thread
from gough.experiments import MonteCarlo, Progress, Spread
from gough.identification import Bias, Step
from gough.report import Drawing
from gough.report.words import listed
from gough.studies.papers import palida_figures as figures
from gough.studies.papers import palida_tables as tables
from gough.studies.papers.palida_benchmark import MOTIONS, WITH, WITHOUT, judged
from gough.studies.papers.palida_machine import (
    CUT_OFF,
    DESIGNS,
    DETERMINISTIC,
    FAIR,
    GM,
    HALL,
    LS,
    ML,
    ON_PATH,
    STATISTICAL,
    Repetition,
    Size,
    base_model,
    campaigns,
    designs,
)
from gough.studies.papers.palida_printed import REPETITIONS, TABLES, inconsistencies, less_certain
from gough.studies.papers.palida_tables import Results
from gough.studies.papers.reproduction import Reproduction

FEW = 20
"""Repetitions by default: about a minute and a half of one core."""
_PREPARE, _DESIGN, _ORDER, _REPEAT, _JUDGE, _DRAW = 3, 8, 8, 2, 8, 6
"""About how many seconds each part takes, so that the time left can be told; repeating is per repetition."""


@dataclass
class _Course:
    """How far a reproduction is, in seconds of a usual machine."""

    total: int
    on_step: Callable[[Step], object]
    done: int = 0

    def begin(self, what: str, seconds: int) -> None:
        """Something begins that takes so long."""
        self.on_step(Step(self.done + 1, self.total, what))
        self.done += seconds

    def within(self, what: str, part: float, seconds: int) -> None:
        """What began last has come so far."""
        self.on_step(Step(int(self.done - (1 - part) * seconds) + 1, self.total, what))

    def skip(self, seconds: int) -> None:
        """So much is there already."""
        self.total -= seconds


def reproduce(
    seed: int = 1,
    on_step: Callable[[Step], object] = lambda _: None,
    *,
    repetitions: int = FEW,
    executor: Executor | None = None,
    folder: Path | None = None,
    size: Size | None = None,
) -> Reproduction:
    """Tables I to III, section V and figures 2 and 4 to 7 beside those of a simulated PaLiDA.

    Args:
        seed: Of trajectories' start and noise.
        on_step: Told of each phase when it begins, and how far the repetitions are.
        repetitions: Of each experiment; the paper has 100.
        executor: Runs repetitions elsewhere.
        folder: Where results are kept as they come: a run that was interrupted goes on from them.
        size: Of the experiments.
    """
    size = size or Size()
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    total = _PREPARE + _DESIGN * len(DESIGNS) + _ORDER + 2 * _REPEAT * repetitions + _JUDGE + _DRAW
    course = _Course(total, on_step)
    with one_blas_thread():
        results = _results(course, seed, size, repetitions=repetitions, executor=executor, folder=folder)
        course.begin("drawing", _DRAW)
        return _reproduction(results, size)


def _results(
    course: _Course, seed: int, size: Size, *, repetitions: int, executor: Executor | None, folder: Path | None
) -> Results:
    course.begin("finding what can be told apart", _PREPARE)
    model = base_model()
    begun: list[str] = []

    def on_design(name: str, stage: str) -> None:
        if name not in begun:
            begun.append(name)
            course.begin(f"designing a trajectory: {name}, {stage}", _DESIGN)
        else:
            course.within(f"designing a trajectory: {name}, {stage}", 0.5, _DESIGN)

    designed = designs(seed, size, folder, on_design)
    course.skip(_DESIGN * (len(DESIGNS) - len(begun)))
    experiments = {
        name: Repetition(found.series, readings=size.readings, periods=size.periods) for name, found in designed.items()
    }
    course.begin("choosing the order of the path", _ORDER)
    first = experiments[STATISTICAL](np.random.default_rng([seed, 0])).motion
    order = series_order(model.robot, first, size.orders)
    asked = campaigns(experiments, order=order.order, repetitions=repetitions, seed=seed)
    spreads = _repeated(course, asked, executor, folder)
    course.begin("the circle and its mirror image", _JUDGE)
    verdicts = judged(experiments[STATISTICAL], order=order.order, turns=size.turns, seed=seed)
    bound = experiments[STATISTICAL].bound(order.order)
    return Results(model, designed, experiments, first, order, spreads, bound, verdicts)


def _repeated(
    course: _Course, asked: Mapping[str, MonteCarlo], executor: Executor | None, folder: Path | None
) -> dict[tuple[str, str], Spread]:
    spreads: dict[tuple[str, str], Spread] = {}
    for name, campaign in asked.items():
        path = None if folder is None else folder / f"campaign-{name}-{campaign.digest[:8]}.jsonl"
        spreads |= campaign.run(path, executor=executor, on_progress=_shown(course, name, campaign)).spreads
    return spreads


def _shown(course: _Course, name: str, campaign: MonteCarlo) -> Callable[[Progress], None]:
    """Shows how far a campaign is; what it finds done when it begins takes no time."""
    begun: list[Progress] = []

    def show(far: Progress) -> None:
        what = f"repeating experiments ({name}): {far.done} of {far.total}"
        each = _REPEAT * campaign.repetitions / far.total
        if not begun:
            begun.append(far)
            course.skip(int(each * far.done))
            course.begin(what, _REPEAT * campaign.repetitions - int(each * far.done))
        else:
            left = far.total - begun[0].done
            seconds = _REPEAT * campaign.repetitions - int(each * begun[0].done)
            course.within(what, (far.done - begun[0].done) / left, seconds)

    return show


def _reproduction(results: Results, size: Size) -> Reproduction:
    return Reproduction(
        paper="AHG",
        title=(
            "Statistical approach for bias-free identification of a parallel manipulator affected by large "
            "measurement noise"
        ),
        about=_about(results, size),
        tables=(
            tables.table_1(results.model),
            tables.trajectories(results),
            tables.table_2(results),
            tables.table_3(results),
            tables.errors(results),
            tables.honesty(results),
            tables.section_5(results.judged),
        ),
        inconsistencies=inconsistencies(),
        differences=(*_on_designs(results, size), *_on_estimators(results), *_on_circles(results)),
        drawings=_drawings(results),
        numbers=tables.numbers(results),
    )


def _drawings(results: Results) -> tuple[Drawing, ...]:
    circle = MOTIONS[0]
    return (
        figures.trajectory(results.model.robot, results.designed[STATISTICAL].series),
        figures.noise(results.motion),
        figures.covariances(results.motion),
        figures.distributions(results.spreads, results.model.symbols),
        figures.residuals(results.judged.verdicts[WITHOUT, circle], results.judged.motions[circle]),
    )


def _about(results: Results, size: Size) -> tuple[str, ...]:
    noise = results.motion.noise.sigma[len(results.motion.coordinates) :]
    return (
        (
            "A simulated PaLiDA of 19 bodies whose true parameters are the paper's a-priori values, and its maximum "
            f"likelihood for friction. Forces err by σ = {noise.min():.0f} to {noise.max():.0f} N, the paper's "
            f"variances; strut lengths by about {1e3 * HALL:g} mm. Both are correlated."
        ),
        (
            f"Every repetition records {size.periods} periods of {size.readings} readings, {results.n} repetitions of "
            f"each experiment (the paper: {REPETITIONS}). LS and GM filter strut lengths at {CUT_OFF:g} Hz and "
            f"differentiate them; ML and GM on the fitted path take a Fourier series. {results.order.reason}"
        ),
    )


def _on_designs(results: Results, size: Size) -> tuple[str, ...]:
    lines = []
    ours = results.spreads[STATISTICAL, ML].sd
    for rival in (DETERMINISTIC, FAIR):
        counts = []
        for label in (ML, LS):
            ratio = results.spreads[rival, label].sd / results.spreads[STATISTICAL, label].sd
            mean = float(np.exp(np.log(ratio).mean()))
            counts.append(f"{int((ratio > 1).sum())} of {len(ratio)} by {tables.ESTIMATORS[label]} ({mean:.2f} times)")
        lines.append(
            f"Standard deviations are smaller with the D-optimal trajectory than with that of least {rival} for "
            f"{listed(counts)}, geometric means in brackets; in print, by least squares, for "
            f"{len(TABLES) - len(less_certain())}."
        )
    lines.append(
        "A design by Fisher's information is made for an estimator that attains it. Least squares does not: noise of "
        "accelerations adds to its errors, the more the larger the motion is. So it shows the gain in part only."
    )
    lines.append(
        "The condition number of W in SI units compares kg with kg·m²: another choice of units, another trajectory. "
        "With columns of unit length it is a fair rival, and still says nothing about how large the motion is."
    )
    places = results.places
    printed = np.array([TABLES[symbol].statistical for symbol in places])
    found = np.array([ours[i] for i in places.values()])
    seconds = size.periods * results.designed[STATISTICAL].series.period
    needed = seconds * float(np.median((found / printed) ** 2))
    lines.append(
        f"The paper prints neither geometry nor the length of its recordings. Here {seconds:.3g} s make a repetition; "
        f"the printed σ_s would take {needed:.0f} s in the median, since σ falls with the root of the length."
    )
    return tuple(lines)


def _on_estimators(results: Results) -> tuple[str, ...]:
    worst = {label: float(abs(results.spreads[STATISTICAL, label].bias_in_sd).max()) for label in tables.ESTIMATORS}
    ml, path = results.spreads[STATISTICAL, ML], results.spreads[STATISTICAL, ON_PATH]
    far = {label: float(abs(results.spreads[STATISTICAL, label].bias / ml.sd).max()) for label in (LS, GM)}
    p_1, p_2 = results.places["p_1"], results.places["p_2"]
    sd = results.bound_sd
    correlation = results.bound[p_1, p_2] / (sd[p_1] * sd[p_2])
    tested = "no more than chance explains" if ml.is_unbiased else "more than chance explains"
    lines = [
        (
            f"Least squares is biased by up to {worst[LS]:.0f} of its standard deviations, {far[LS]:.0f} of those of "
            f"maximum likelihood, and Gauss–Markov by {worst[GM]:.0f} and {far[GM]:.0f}: noise of differentiated strut "
            "lengths is in their regressor, which no weights cure. Maximum likelihood is off by "
            f"{worst[ML]:.2f} at most over {ml.n} repetitions, {tested}."
        ),
        (
            f"Gauss–Markov on the Fourier series through the strut lengths, which needs no iteration, is off by "
            f"{worst[ON_PATH]:.2f}; its standard deviations are "
            f"{float(np.exp(np.log(path.sd / ml.sd).mean())):.2f} times those of maximum likelihood."
        ),
        (
            f"p_1 is badly known in either: β stays near 90°, so that p_1 and p_2 act alike (correlation "
            f"{correlation:.2f}). Its σ is {sd[p_1]:.2g} kg·m², its value {results.model.truth[p_1]:g}."
        ),
        "Table III prints one estimate each; ours are means, so that bias and chance can be told apart.",
    ]
    return tuple(lines)


def _on_circles(results: Results) -> tuple[str, ...]:
    found = results.judged
    blamed = {
        motion: [name for name, bias in zip(v.actuators, v.bias, strict=True) if bias is Bias.LARGE]
        for motion, v in ((motion, found.verdicts[WITHOUT, motion]) for motion in MOTIONS)
    }
    circle = found.verdicts[WITHOUT, MOTIONS[0]]
    words = [line for line, bias in zip(circle.verdicts, circle.bias, strict=True) if bias is Bias.LARGE]
    knowing = all(found.verdicts[WITH, motion].is_unbiased for motion in MOTIONS)
    without, with_ = (getattr(found.answers[model].stats, "chi_squared", float("nan")) for model in (WITHOUT, WITH))
    return (
        (
            "Drives 3 and 4 of the machine on the circle cog, so much that the mean square is the printed model error. "
            f"The verdict names {listed(blamed[MOTIONS[0]]) or 'none'}: {' '.join(words)}"
        ),
        (
            f"On the mirrored circle it names {listed(blamed[MOTIONS[1]]) or 'none'}: forces that depend on the "
            "position alone act there as well, where a stroke spans a few pitches. The paper's model error falls "
            "there: its cogging depends on more, as it suspects, or its strokes are short."
        ),
        (
            f"χ²/dof of the identification itself is {without:.2f} without cogging in the model, {with_:.3f} with it: "
            "the missing effect is seen before any benchmark is run. A model with cogging leaves "
            f"{'no drive' if knowing else 'some drives'} biased on either circle."
        ),
    )


__all__ = ["FEW", "reproduce"]
