"""A whole identification of an H4 from its recording, by phases; every method against the truth; repeated experiments.

python -m benchmarks.identify [runs]
"""

import importlib.util
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from gough import Claim, Status, estimate
from gough.core.tables import table
from gough.data import default_steps, prepare, read_recording, write_recording
from gough.dynamics import METHODS, identify
from gough.methods import LinearHull, minimal_bound
from gough.noise import Bounded
from gough.region import ConfidenceEllipsoid
from gough.robots import H4
from gough.simulate import h4
from tests.dynamics.monte_carlo import bounded_problem, containment, exact_rows, repeated_experiments

STATISTICAL = ("least squares", "weighted", "Gauss–Markov", "robust", "Tukey")


class Phases:
    """Seconds of each phase, under its name."""

    def __init__(self):
        self.seconds, self._last = {}, (perf_counter(), "")

    def begin(self, what):
        now = perf_counter()
        start, name = self._last
        if name:
            self.seconds[name] = now - start
        self._last = (now, what)


def timed(campaign, runs, decimated):
    """Read, prepare and identify, as `gough identify` does."""
    phases = Phases()
    robot = campaign.robot
    voltages = {name: f"V{i + 1}" for i, name in enumerate(robot.actuators)}
    steps = default_steps(1000.0, gain=1.5)
    steps = steps if decimated else steps[:-1]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.csv" for name in ("motion", "validation")]
        for path, run in zip(paths, runs, strict=True):
            write_recording(path, run.recording)
        phases.begin("reading two CSV files")
        recordings = [read_recording(path) for path in paths]
    phases.begin("preparing: filter, derivatives, mask")
    motion, other = (prepare(r, robot.coordinates, voltages, steps) for r in recordings)
    found = identify(robot, motion, validation=other, on_step=lambda step: phases.begin(step.what))
    phases.begin("")
    return found, phases.seconds


def print_phases(campaign, runs):
    timed(campaign, runs, decimated=True)  # compiles kernels
    (found, thin), (full, all_rows) = (timed(campaign, runs, decimated) for decimated in (True, False))
    names = list(dict.fromkeys([*thin, *all_rows]))
    rows = [[name, f"{thin.get(name, 0):.2f}", f"{all_rows.get(name, 0):.2f}"] for name in names]
    rows.append(["together", f"{sum(thin.values()):.2f}", f"{sum(all_rows.values()):.2f}"])
    heads = ["phase, s", f"{found.problem.n_rows} rows (every 10th sample)", f"{full.problem.n_rows} rows (all)"]
    print(table(heads, rows, "lrr"))
    return found


def print_against_truth(campaign):
    runs = (campaign.experiment.run(np.random.default_rng(2)), campaign.validation.run(np.random.default_rng(3)))
    found = print_phases(campaign, runs)
    robot, truth = campaign.robot, campaign.truth
    prepared = found.motion
    every = identify(robot, prepared, methods=[name for name in METHODS if name not in ("relaxed hull", "rows")],
                     compare=False)  # fmt: skip
    rows = []
    for name, answer in every.estimates.items():
        error = 100 * abs(answer.value / truth - 1)
        if isinstance(answer.region, ConfidenceEllipsoid):
            judged = f"at most {abs((answer.value - truth) / answer.region.sigma).max():.1f} σ off"
        else:
            judged = "holds the truth" if truth in answer.region else "does not hold the truth"
        size = np.median(answer.intervals().width / 2 / abs(truth))
        numbers = [f"{np.median(error):.2f} %", f"{error.max():.1f} %", f"{100 * size:.3g} %"]
        rows.append([name, answer.claim.name, *numbers, judged])
    full = "yes" if campaign.experiment.simulated.mechanism else "no"
    print(f"\nEvery method against the truth, full mechanism: {full}")
    print(table(["method", "claim", "median error", "largest error", "median ±", ""], rows, "llrrrl"))
    print()
    print(found.adequacy)
    print()
    print(found.validation)


def print_sigma(robot, runs):
    print(f"\nPrinted over empirical σ, {runs} experiments")
    rows = []
    for name, repeated in repeated_experiments(robot, STATISTICAL, runs=runs).items():
        ratio, bias = repeated.ratio, 100 * abs(repeated.bias(robot.nominal))
        rows.append([name, f"{np.sqrt((ratio**2).mean()):.2f}", f"{ratio.min():.2f}", f"{ratio.max():.2f}",
                     f"{bias.max():.2f} %"])  # fmt: skip
    print(table(["method", "rms", "least", "most", "largest bias"], rows, "lrrrr"))


def print_sets(robot, runs):
    held = containment(robot, runs=runs).sum(axis=0)
    print(
        f"\nBounded errors, bound true, {runs} runs: the hull holds the truth in {held[0]}, the ellipsoid in {held[1]}"
    )
    W, rng = exact_rows(robot), np.random.default_rng(9)
    tried = max(runs // 10, 1)
    problems = [bounded_problem(robot, W, rng) for _ in range(tried)]
    print(f"and when it is not, {tried} runs (ε* is {np.mean([minimal_bound(p).upper for p in problems]):.4f} of it)")
    rows = []
    for factor in (0.95, 0.98, 0.985, 0.99, 0.995, 1.0, 1.5):
        answers = [
            estimate(
                type(p)(p.W, p.y, p.unknowns, Bounded(factor * p.noise.radius), p.groups), LinearHull(), strict=False
            )
            for p in problems
        ]
        refuted = sum(a.status is Status.INCONSISTENT for a in answers)
        wrong = sum(a.status is Status.OK and robot.nominal not in a.region for a in answers)
        assert all(a.claim is Claim.PROOF for a in answers)
        rows.append([f"{factor:g}", str(refuted), str(wrong), str(tried - refuted - wrong)])
    print(table(["bound / true bound", "refuted", "box without the truth", "box with the truth"], rows, "rrrr"))


def main(runs: int = 200) -> None:
    complete = importlib.util.find_spec("pinocchio") is not None
    campaign = h4(np.random.default_rng(1), mechanism=complete)
    print("An H4 identified from 20 s at 1 kHz of 4 motors, validated on 10 s")
    print_against_truth(campaign)
    print_sigma(H4(), runs)
    print_sets(H4(), runs)


if __name__ == "__main__":
    main(*(int(x) for x in sys.argv[1:2]))
