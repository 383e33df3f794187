"""`gough demo`: the main job on a simulated robot."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from gough.assemble import base_values, dynamic, reduced
from gough.core.errors import InputError, nearest
from gough.estimate import Estimate, FitStats, Method, estimate
from gough.experiments.demos import DEMOS, Demo
from gough.experiments.virtual import VirtualExperiment
from gough.methods import (
    GaussMarkov,
    Identifiability,
    LeastSquares,
    RobustLeastSquares,
    WeightedLeastSquares,
    identifiability,
)
from gough.noise import Gaussian
from gough.problem import LinearProblem
from gough.report import Identification, documents, require_ours, write_folder
from gough.report.labels import spelled_out
from gough.report.terminal import definitions, parameter_tables, sentences
from gough.report.words import against_truth, determined, listed, near_zero

METHODS: Mapping[str, Method[LinearProblem]] = {
    "least squares": LeastSquares(),
    "weighted": WeightedLeastSquares(),
    "Gauss–Markov": GaussMarkov(),
    "robust": RobustLeastSquares(),
}
REFERENCE = "Gauss–Markov"
_PROSE = 88


def demo(
    robot: Annotated[str, typer.Argument(help=f"The robot: {', '.join(DEMOS)}.")] = "five-bar",
    out: Annotated[Path, typer.Option(help="Folder for the report: new, empty, or of an earlier run.")] = Path(
        "gough-demo"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Another seed, another robot, motion and noise.")] = 1,
    outliers: Annotated[float, typer.Option(min=0, max=1, help="Share of torque readings to spoil by 20 σ.")] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,  # noqa: FBT002 - typer reads flags so
) -> None:
    """Simulate a robot, identify it by every method, compare with the truth, and write a report."""
    if robot not in DEMOS:
        raise InputError(f"there is no demo called '{robot}'{nearest(robot, DEMOS)} (known: {', '.join(DEMOS)})")
    require_ours(out)
    with _progress() as progress:
        done = run(DEMOS[robot], seed=seed, outliers=outliers, progress=progress)
        step = progress.add_task("drawing the report", total=1 + 2 * len(done.report.drawings))
        write_folder(out, documents(done.report, on_file=lambda _: progress.advance(step)))
    page = out / "report.html"
    if as_json:
        typer.echo(json.dumps(_data(done, robot, seed, page), ensure_ascii=False, allow_nan=False, indent=1))
    else:
        _show(done, page)


@dataclass(frozen=True, eq=False)
class Done:
    """What a demo found."""

    experiment: VirtualExperiment
    singular: Estimate
    """The answer to the problem in all parameters, before it is reduced."""
    found: Identifiability
    report: Identification


def run(demo: Demo, *, seed: int, outliers: float = 0.0, periods: int = 8, progress: Progress) -> Done:
    """Simulate, check what can be known, and identify that by every method."""
    steps = progress.add_task("simulating", total=3 + len(METHODS))
    rng = np.random.default_rng(seed)
    experiment = demo.experiment(rng, periods=periods)
    experiment = replace(experiment, noise=replace(experiment.noise, outliers=outliers))
    recorded = experiment.run(rng)
    noise = Gaussian(experiment.noise.covariance)
    motion = (recorded.q, recorded.dq, recorded.ddq)
    problem = dynamic(experiment.robot, *motion, recorded.efforts, noise=noise)
    progress.update(steps, advance=1, description="checking what the data can show")
    found = identifiability(problem)
    progress.update(steps, advance=1, description="asking for every parameter")
    singular = estimate(problem, METHODS[REFERENCE], strict=False)
    base = reduced(problem, found)
    progress.advance(steps)
    estimates = {}
    for label, method in METHODS.items():
        progress.update(steps, description=f"identifying: {label}")
        estimates[label] = estimate(base, method)
        progress.advance(steps)
    report = Identification(
        title=f"Identification of a {demo.robot}",
        lead=(_about(demo, experiment, outliers),),
        problem=base,
        estimates=estimates,
        reference=REFERENCE,
        found=found,
        truth=base_values(found, experiment.parameters),
        rate=experiment.rate,
        effort_unit=demo.effort_unit,
    )
    return Done(experiment, singular, found, report)


def _about(demo: Demo, experiment: VirtualExperiment, outliers: float) -> str:
    """One paragraph on the robot and its data."""
    motion, noise, robot = experiment.motion, experiment.noise, experiment.robot
    duration, n_samples = (
        motion.period * experiment.periods,
        round(motion.period * experiment.rate) * experiment.periods,
    )
    sigma = np.sqrt(noise.covariance.diagonal())
    errors = [f"{s:.3g} {demo.effort_unit} ({name})" for s, name in zip(sigma, robot.actuators, strict=True)]
    remember = f", low-pass filtered at {noise.cutoff:g} Hz" if noise.cutoff else ""
    spoilt = f" {100 * outliers:.3g}% of all readings are spoilt by {noise.outlier_size:g} σ." if outliers else ""
    return (
        f"A simulated {demo.robot} has {len(robot.names)} dynamic parameters, {demo.truth}. It repeats a random motion "
        f"of {motion.period:g} s for {duration:g} s, sampled {experiment.rate:g} times a second: {n_samples} samples "
        f"of {len(robot.actuators)} efforts. Their errors have standard deviations of {listed(errors)}, correlated "
        f"between actuators{remember}.{spoilt} No method sees the truth."
    )


def _show(done: Done, page: Path) -> None:
    console = Console(highlight=False)
    report, found, chosen = done.report, done.found, done.report.chosen
    prose = min(console.width, _PROSE)
    console.print(sentences(report.lead), width=prose)
    _heading(console, "What the data can show")
    asked = f"Asked for all {len(found.names)} parameters, {REFERENCE} answers {done.singular.status.name}."
    console.print(sentences([asked, *determined(found)]), width=prose)
    console.print(definitions(spelled_out(chosen.unknowns.names)))
    _heading(console, "Parameters — value ± half of its 95% interval, and the error against the truth")
    assert report.truth is not None
    for table in parameter_tables(report.estimates, report.truth, width=console.width):
        console.print(table)
    _heading(console, "Verdict")
    verdicts = [against_truth(label, e, report.truth) for label, e in report.estimates.items()]
    for verdict in (*verdicts, near_zero(chosen), *(f"{REFERENCE}: {note}" for note in chosen.notes)):
        if verdict:
            console.print(sentences([verdict]), width=prose)
    _heading(console, "Report")
    console.print(str(page), style="bold", soft_wrap=True)


def _heading(console: Console, heading: str) -> None:
    console.print()
    console.print(heading, style="bold blue")


def _data(done: Done, robot: str, seed: int, page: Path) -> dict[str, object]:
    report, found = done.report, done.found
    assert report.truth is not None
    stats = report.chosen.stats
    assert isinstance(stats, FitStats)
    return {
        "robot": robot,
        "seed": seed,
        "status_in_all_parameters": done.singular.status.name,
        "parameters": list(found.names),
        "base_parameters": [{"name": b.name, "coefficients": b.coefficients.tolist()} for b in found.base],
        "condition": found.condition,
        "truth": dict(zip(report.problem.unknowns.names, report.truth.tolist(), strict=True)),
        "reference": report.reference,
        "chi_squared": stats.chi_squared,
        "chi_squared_p": stats.chi_squared_p,
        "estimates": {label: e.to_dict() for label, e in report.estimates.items()},
        "report": str(page),
    }


def _progress() -> Progress:
    """A progress display on stderr that leaves nothing behind, and does not show where nobody looks."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
