"""Offset and drift between two clocks: estimates with ± against cross-correlation, and what they do to parameters.

A five-bar moves along a Fourier series. Positions and efforts are recorded by two computers: efforts are late by a
known time and drift. Truth is evaluated at the shifted instants; nothing is interpolated.
"""

import argparse

import numpy as np
from scipy.signal import correlate
from scipy.stats import binom
from scipy.stats import t as student

from benchmarks._campaign import add_options, results_of
from gough import Estimate, estimate
from gough.campaigns import Campaign
from gough.core.arrays import Array
from gough.core.tables import table
from gough.data import MeasuredMotion, Recording, default_steps, prepare
from gough.dynamics import base_values, recorded, reduced
from gough.dynamics.clock_errors import with_clock_errors
from gough.dynamics.clocks import compare_clocks, prepare_corrected
from gough.dynamics.excitation import model_efforts
from gough.methods import WeightedLeastSquares, identifiability
from gough.robots import FiveBar, efforts
from gough.simulate import FourierSeries

RATE, SECONDS, NOISE = 200.0, 12.0, 0.02
CELLS = tuple((late, drift) for drift in (0.0, 10e-6, 100e-6) for late in (0.0, 0.3e-3, 1e-3, 5e-3))
SCORED = 50
"""Trials of each cell in which parameters are identified without and with the correction."""
ROBOT = FiveBar.demo()
EFFORTS = ("tau1", "tau2")
STEPS = default_steps(RATE)
PATH = FourierSeries.random(np.random.default_rng(5), offset=[2.0, 1.1], amplitude=0.5, frequency=0.25)


def simulated(seed: int, late: float, drift: float) -> Recording:
    rng = np.random.default_rng([seed, round(1e6 * late), round(1e6 * drift)])  # each cell has noise of its own
    t = np.arange(int(SECONDS * RATE)) / RATE
    middle = t[-1] / 2
    happened = (t - late + drift * middle) / (1 + drift)
    tau = efforts(ROBOT, ROBOT.nominal, *PATH.at(happened)[-3:])
    tau = tau + NOISE * np.abs(tau).max(axis=0) * rng.normal(size=tau.shape)
    q = PATH.at(t)[-3] + 1e-5 * rng.normal(size=tau.shape)
    return Recording([*ROBOT.coordinates, *EFFORTS], ["rad", "rad", "N·m", "N·m"], np.hstack([q, tau]), RATE)


def plainly_prepared(recording: Recording) -> MeasuredMotion:
    return prepare(recording, ROBOT.coordinates, dict(zip(ROBOT.actuators, EFFORTS, strict=True)), STEPS)


def identified(motion: MeasuredMotion) -> tuple[Estimate, Estimate, Array, Array]:
    """Base parameters, the same with the errors of the clocks in σ, the truth, and all parameters of the fit."""
    problem = recorded(ROBOT, motion)
    known = identifiability(problem, rtol=1e-6)
    base, method = reduced(problem, known), WeightedLeastSquares()
    answer = estimate(base, method)
    fitted = np.zeros(len(ROBOT.names))
    fitted[list(known.kept)] = answer.value
    return answer, with_clock_errors(answer, method, base, motion), base_values(known, ROBOT.nominal), fitted


def scores(answer: Estimate, truth: Array) -> tuple[float, float]:
    """The worst error of a parameter in σ, and the share of parameters that are inside of their 95 % intervals."""
    z = np.abs(answer.value - truth) / np.sqrt(np.diag(answer.region.covariance))
    return float(z.max()), float(np.mean(z <= student.ppf(0.975, answer.region.dof)))


def by_correlation(recording: Recording, fitted: Array) -> float:
    """The lag of the highest correlation of measured efforts with those of the fitted model, by a parabola."""
    full = plainly_prepared(recording).full_rate
    assert full is not None
    model = model_efforts(ROBOT, fitted, (full.q, full.dq, full.ddq))
    measured = recording.columns(EFFORTS)
    lags = []
    for x, y in zip(measured.T, model.T, strict=True):
        c = correlate(x - x.mean(), y - y.mean(), mode="full", method="fft")
        k = int(np.argmax(c))
        before, at, after = c[k - 1 : k + 2]
        lags.append((k - len(y) + 1 + 0.5 * (before - after) / (before - 2 * at + after)) / RATE)
    return float(np.mean(lags))


def trial(late: float, drift: float, seed: int, scored: int) -> dict[str, float]:
    """Errors of offset and drift with their ±; and, up to the seed `scored`, what happens to the parameters."""
    recording = simulated(seed, late, drift)
    found = compare_clocks(ROBOT, recording, ROBOT.coordinates, EFFORTS, STEPS)
    result = {
        "late": found.late - late, "late_95": found.late_95, "drift": found.drift - drift, "drift_95": found.drift_95
    }  # fmt: skip
    if seed >= scored:
        return result
    before, _, truth, fitted = identified(plainly_prepared(recording))
    result["correlation"] = by_correlation(recording, fitted) - late
    result["worst"], result["inside"] = scores(before, truth)
    motion = prepare_corrected(ROBOT, recording, ROBOT.coordinates, EFFORTS, STEPS, clocks=found)
    without, answer, truth, _ = identified(motion)
    result["worst_without"], result["inside_without"] = scores(without, truth)
    result["worst_corrected"], result["inside_corrected"] = scores(answer, truth)
    return result


def rms(trials: list[dict[str, float]], name: str) -> float:
    return float(np.sqrt(np.mean([each[name] ** 2 for each in trials if name in each])))


def mean(trials: list[dict[str, float]], name: str) -> float:
    return float(np.mean([each[name] for each in trials if name in each]))


def row(trials: list[dict[str, float]]) -> list[str]:
    held = [100 * np.mean([abs(each[x]) <= each[f"{x}_95"] for each in trials]) for x in ("late", "drift")]
    worst = (np.median([each[x] for each in trials if x in each]) for x in ("worst", "worst_corrected"))
    inside = (100 * mean(trials, x) for x in ("inside", "inside_without", "inside_corrected"))
    return [
        str(len(trials)), *(f"{x:.1f}" for x in held), f"{1e3 * rms(trials, 'late'):.2f}",
        f"{1e3 * rms(trials, 'correlation'):.2f}", f"{1e6 * rms(trials, 'drift'):.0f}", *(f"{x:.1f}" for x in worst),
        *(f"{x:.1f}" for x in inside),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--first", type=int, default=50_000, help="first seed")
    parser.add_argument("--cells", type=int, default=len(CELLS))
    add_options(parser, "clocks.jsonl")
    given = parser.parse_args()
    cells = CELLS[: given.cells]
    tasks = {
        f"{late} {drift} {seed}": (late, drift, given.first + seed, given.first + SCORED)
        for late, drift in cells
        for seed in range(given.trials)
    }
    results = results_of(Campaign(trial, tasks), given)
    each = {cell: [results[f"{cell[0]} {cell[1]} {seed}"] for seed in range(given.trials)] for cell in cells}
    rows = [[f"{1e3 * late:g}", f"{1e6 * drift:g}", *row(found)] for (late, drift), found in each.items()]
    rows.append(["all", "", *row(list(results.values()))])
    heads = ["delay ms", "drift ppm", "trials", "late in ± %", "drift in ± %", "late rms ms", "correlation rms ms"]
    heads += ["drift rms ppm", "worst σ", "corrected", "in ± %", "without clocks", "with clocks"]
    print(table(heads, rows, "r" * len(heads)))
    for count in (given.trials, len(results)):
        low, high = 100 * binom.ppf([0.025, 0.975], count, 0.95) / count
        print(
            f"exact 95 % intervals hold in {low:.1f} to {high:.1f} % of {count} trials, in 95 of 100 such experiments"
        )


if __name__ == "__main__":
    main()
