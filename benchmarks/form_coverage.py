"""Coverage of 95 % intervals in models with an effect whose form is estimated: Stribeck speeds, presliding distances.

The rival is the textbook's covariance, which takes the form as known. Recordings of 20 s of a robot that moves in
Pinocchio have the effect planted in all actuators; the model includes it, as with `use` in `[effects]`.

    python -m benchmarks.form_coverage [seeds] [first seed]
"""

import sys
from time import process_time

import numpy as np

from gough import estimate
from gough.core.threads import one_blas_thread
from gough.dynamics import recorded, reduced, with_effects
from gough.dynamics.effects import catalogue
from gough.dynamics.form_errors import with_form_errors
from gough.methods import LeastSquares, WeightedLeastSquares, identifiability
from gough.simulate.multibody import experiment

CASES = (
    ("five-bar", "stribeck", 0.04),
    ("five-bar", "stribeck", 0.15),
    ("five-bar", "hysteresis", 0.005),
    ("five-bar", "hysteresis", 0.02),
    ("delta", "stribeck", 0.04),
    ("delta", "hysteresis", 0.02),
)
SECONDS, RATE, INSIDE = 20.0, 250.0, 1.96
FRICTION = ("f_", "fc_", "fv_")


def solved(model, motion, method):
    problem = recorded(model, motion)
    analysis = identifiability(problem)
    problem = problem if analysis.is_full_rank else reduced(problem, analysis)
    return problem, estimate(problem, method)


@one_blas_thread()
def coverage(robot: str, name: str, size: float, seeds: range) -> str:
    """A row of the table: what part of the intervals of the effect, the friction and all parameters hold the truth."""
    of, began = experiment(robot, seconds=SECONDS, rate=RATE), process_time()
    _, exact = solved(of.robot, of.measured()[0], LeastSquares())
    truth = dict(zip(exact.unknowns.names, exact.value.tolist(), strict=True))
    rms = np.sqrt((of.efforts(of.q, of.dq, of.ddq) ** 2).mean(axis=0))
    truth |= {f"{name}_{i + 1}": float(size * each) for i, each in enumerate(rms)}
    planted, method, inside = catalogue()[name].plant(of, size, np.random.default_rng(0)), WeightedLeastSquares(), []
    for seed in seeds:
        motion = of.measured(planted, np.random.default_rng([seed, 3]))[0]
        model = with_effects(of.robot, motion, [name])
        problem, given = solved(model, motion, method)
        free = with_form_errors(given, method, problem, model, motion)
        off = abs(given.value - np.array([truth[each] for each in given.unknowns.names]))
        inside.append([off < INSIDE * answer.region.sigma for answer in (given, free)])
    held = np.array(inside).mean(axis=0)  # (form known or not, parameters)
    names = given.unknowns.names
    groups = [(name,), FRICTION, ("",)]
    shown = [held[:, [k for k, each in enumerate(names) if each.startswith(group)]].mean(axis=1) for group in groups]
    cells = " | ".join(f"{free:.1%} ({known:.1%})" for known, free in shown)
    each = (process_time() - began) / len(seeds)
    return f"| `{name}`, {size:g} | {robot} | {len(seeds)} | {cells} | {each:.2f} s |"


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    count, first = (*numbers, *(2, 7000)[len(numbers) :])
    print(
        "| effect, size | robot | seeds | effect (form taken as known) | friction | all parameters | processor time |"
    )
    print("|---|---|---|---|---|---|---|")
    for case in CASES:
        print(coverage(*case, range(first, first + count)), flush=True)


if __name__ == "__main__":
    main()
