"""Offset and drift between two clocks: estimates with ± against cross-correlation, and what they do to parameters.

A five-bar moves along a Fourier series. Positions and efforts are recorded by two computers: efforts are late by a
known time and drift. Truth is evaluated at the shifted instants; nothing is interpolated.
"""

import argparse
from time import process_time

import numpy as np
from scipy.signal import correlate

from gough import estimate
from gough.core.arrays import Array
from gough.core.tables import table
from gough.data import Recording, default_steps, prepare
from gough.dynamics import base_values, recorded, reduced
from gough.dynamics.clocks import ClockEstimate, compare_clocks, corrected
from gough.dynamics.excitation import model_efforts
from gough.methods import WeightedLeastSquares, identifiability
from gough.robots import FiveBar, efforts
from gough.simulate import FourierSeries

RATE, SECONDS, NOISE = 200.0, 12.0, 0.02
CELLS = tuple((late, drift) for drift in (0.0, 10e-6, 100e-6) for late in (0.0, 0.3e-3, 1e-3, 5e-3))
SCORED = 20
"""Trials in which parameters are identified without and with the correction."""
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


def scores(recording: Recording) -> tuple[Array, Array]:
    """Errors of the base parameters in σ, and all parameters of the fit."""
    motion = prepare(recording, ROBOT.coordinates, dict(zip(ROBOT.actuators, EFFORTS, strict=True)), STEPS)
    problem = recorded(ROBOT, motion)
    known = identifiability(problem, rtol=1e-6)
    answer = estimate(reduced(problem, known), WeightedLeastSquares())
    fitted = np.zeros(len(ROBOT.names))
    fitted[list(known.kept)] = answer.value
    sigma = np.sqrt(np.diag(answer.region.covariance))
    return (answer.value - base_values(known, ROBOT.nominal)) / sigma, fitted


def by_correlation(recording: Recording, fitted: Array) -> float:
    """The lag of the highest correlation of measured efforts with those of the fitted model, by a parabola."""
    motion = prepare(recording, ROBOT.coordinates, dict(zip(ROBOT.actuators, EFFORTS, strict=True)), STEPS)
    full = motion.full_rate
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cells", type=int, default=len(CELLS))
    options, _ = parser.parse_known_args()
    rows, took = [], [0.0, 0.0]
    for late, drift in CELLS[: options.cells]:
        inside, errors, rival, worst, after = [], [], [], [], []
        for seed in range(options.first, options.first + options.trials):
            recording = simulated(seed, late, drift)
            began = process_time()
            found: ClockEstimate = compare_clocks(ROBOT, recording, ROBOT.coordinates, EFFORTS, STEPS)
            took[0] += process_time() - began
            inside.append((abs(found.late - late) <= found.late_95, abs(found.drift - drift) <= found.drift_95))
            errors.append((found.late - late, found.drift - drift))
            if len(worst) == SCORED:
                continue
            z, fitted = scores(recording)
            began = process_time()
            rival.append(by_correlation(recording, fitted) - late)
            took[1] += process_time() - began
            worst.append(np.abs(z).max())
            after.append(np.abs(scores(corrected(recording, EFFORTS, found))[0]).max())
        share = 100 * np.mean(inside, axis=0)
        rms = np.sqrt(np.mean(np.square(errors), axis=0))
        rows.append(
            [
                f"{1e3 * late:g}", f"{1e6 * drift:g}", f"{share[0]:.1f}", f"{share[1]:.1f}", f"{1e3 * rms[0]:.3f}",
                f"{1e3 * np.sqrt(np.mean(np.square(rival))):.3f}", f"{1e6 * rms[1]:.1f}",
                f"{np.median(worst):.1f}", f"{np.median(after):.1f}",
            ]
        )  # fmt: skip
        print(rows[-1], flush=True)
    heads = ["delay ms", "drift ppm", "late in ± %", "drift in ± %", "late rms ms", "correlation rms ms"]
    heads += ["drift rms ppm", "worst error in σ", "corrected"]
    print(table(heads, rows, "rrrrrrrrr"))
    print(f"{options.trials} trials a row; processor time of an estimate / of a correlation: {took[0] / took[1]:.1f}")


if __name__ == "__main__":
    main()
