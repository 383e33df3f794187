"""How often an effect of the size that an answer calls detectable is detected.

Answers that call a model adequate list effects that the data do not exclude, with the size that nine of ten recordings
would show. Here that combination of parameters is planted in recordings of the same motion with other noise.

    python -m benchmarks.not_excluded --robots five-bar,delta --seeds 50
"""

import argparse
from functools import cache

import numpy as np

from benchmarks.verdicts import NOISE, truth
from gough.core.arrays import Array
from gough.core.threads import one_blas_thread
from gough.data import MeasuredMotion
from gough.dynamics import recorded
from gough.dynamics.cause import Cause, Hidden
from gough.dynamics.causes import causes_of
from gough.dynamics.effect import Planted
from gough.dynamics.effects import catalogue
from gough.dynamics.effects.delay import shifted
from gough.dynamics.effects.geometry import dimensions
from gough.dynamics.signs import LEVEL

EFFECTS = ("offset", "gain", "delay", "asymmetry", "geometry")


@one_blas_thread()
def sought(robot: str, effect: str, planted: Planted | None, seed: int) -> Cause:
    """The effect as it is fitted to two recordings with the noise of this seed."""
    of, rng = truth(robot), np.random.default_rng([seed, 15])
    both = MeasuredMotion.concatenate(*of.measured(planted, rng, effort_noise=NOISE))
    (cause,) = causes_of(of.robot, both, effects=[catalogue()[effect]], most=1).ranked
    return cause


def plant(robot: str, effect: str, values: dict[str, float]) -> Planted:
    """What is measured without noise if the effect has these parameters."""
    of = truth(robot)
    moved = (of.q, of.dq, of.ddq)
    efforts = of.efforts(*moved)
    by_number = np.zeros(efforts.shape[1])
    if effect == "geometry":
        ((name, by),) = values.items()
        (dimension,) = [one for one in dimensions(of.robot) if name == f"error of {one.name}"]
        theta = _parameters(robot)
        change = dimension.changed(of.robot, by).regressor(*moved) - of.robot.regressor(*moved)
        return Planted(of.q, efforts + change @ theta)
    for name, value in values.items():
        by_number[int(name.rsplit("_", 1)[1]) - 1] = value
    match effect:
        case "offset":
            return Planted(of.q, efforts + by_number)
        case "gain":
            return Planted(of.q, efforts * (1 + by_number))
        case "asymmetry":
            return Planted(of.q, efforts + by_number * abs(of.dq))
        case "delay":
            late = [shifted(x, d * of.rate, of.recording) for x, d in zip(efforts.T, by_number, strict=True)]
            return Planted(of.q, np.stack(late, axis=1))
    raise ValueError(effect)


@cache
def _parameters(robot: str) -> Array:
    """The model's parameters, by least squares from data without noise."""
    of = truth(robot)
    problem = recorded(of.robot, of.measured()[0])
    size = np.linalg.norm(problem.W, axis=0)
    size = np.where(size > 0, size, 1.0)
    return np.linalg.lstsq(problem.W / size, problem.y, rcond=1e-9)[0] / size


def main() -> None:
    parser = argparse.ArgumentParser(description="How often effects of the stated detectable size are detected.")
    parser.add_argument("--robots", default="five-bar,delta")
    parser.add_argument("--effects", default=",".join(EFFECTS))
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--first", type=int, default=20000, help="first seed")
    parser.add_argument("--factor", type=float, default=1.0, help="times the stated size")
    given = parser.parse_args()
    print("| robot | effect | stated size | moves | found | test by blocks decided |")
    print("|---|---|---|---|---|---|")
    for robot in given.robots.split(","):
        for effect in given.effects.split(","):
            hidden = sought(robot, effect, None, given.first - 1).hidden
            assert isinstance(hidden, Hidden)
            planted = plant(robot, effect, {name: given.factor * value for name, value in hidden.values.items()})
            causes = [sought(robot, effect, planted, given.first + k) for k in range(given.seeds)]
            found = sum(cause.is_present for cause in causes)
            by_blocks = sum(cause.score > 0 and cause.p >= LEVEL for cause in causes)
            moves = f"{hidden.parameter} by {given.factor * hidden.sigmas:.2g} σ"
            unit = "" if hidden.unit == "1" else f" {hidden.unit}"
            print(
                f"| {robot} | {effect} | {hidden.name} {given.factor * hidden.size:.2g}{unit} | "
                f"{moves} | {found} of {given.seeds} | {by_blocks} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
