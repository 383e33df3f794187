"""Effects found in repeats of a periodic motion: planted size, estimate and ±, by robot and sampling rate.

python -m benchmarks.repeats --seeds 10
"""

import argparse
from collections.abc import Callable

import numpy as np

from gough.core.arrays import Array
from gough.dynamics.periodic.identify import identify_repeated
from gough.dynamics.periodic.motion import RepeatedMotion
from gough.robots import Delta, FiveBar
from gough.robots.model import ParallelRobot
from gough.simulate import FourierSeries

HARMONICS, PERIODS = 4, 8
EFFORTS, POSITIONS = 0.003, 1e-5
"""Noise of a reading: of the efforts in parts of their rms, of the positions in rad."""
Efforts = Callable[[Array], tuple[Array, Array]]
"""Efforts and speeds of the actuators at given instants."""


def _delayed(size: float) -> Callable[[Efforts, Array], tuple[Array, Array]]:
    return lambda at, t: (at(t - size)[0], np.full(at(t)[0].shape[1], size))


def _added(size: float, of: Callable[[Array], Array]) -> Callable[[Efforts, Array], tuple[Array, Array]]:
    """A function of the speeds, the same for all actuators, times this part of the rms effort over its rms."""

    def planted(at: Efforts, t: Array) -> tuple[Array, Array]:
        efforts, speed = at(t)
        column = of(speed)
        each = size * np.sqrt((efforts**2).mean(axis=0) / (column**2).mean(axis=0))
        return efforts + each * column, each

    return planted


def _gained(size: float) -> Callable[[Efforts, Array], tuple[Array, Array]]:
    """The first actuator's effort is too large; gains are relative to their mean, or to a reference."""

    def planted(at: Efforts, t: Array) -> tuple[Array, Array]:
        efforts, _ = at(t)
        gain = np.zeros(efforts.shape[1])
        gain[0] = size
        return efforts * (1 + gain), gain

    return planted


CASES = {
    "delay, 0.5 ms": ("delay", _delayed(0.0005)),
    "delay, 2 ms": ("delay", _delayed(0.002)),
    "delay, 7.3 ms": ("delay", _delayed(0.0073)),
    "offset, 0.05 of the rms effort": ("offset", _added(0.05, np.ones_like)),
    "gain, 0.05": ("gain", _gained(0.05)),
    "asymmetry, 0.01 of the rms effort": ("asymmetry", _added(0.01, abs)),
    "none": ("", lambda at, t: (at(t)[0], np.zeros(0))),
}


def recorded(robot: FiveBar | Delta, rate: float, case: str, seed: int) -> tuple[RepeatedMotion, Array]:
    """Repeats with a planted effect, and its true parameters."""
    rng = np.random.default_rng(seed)
    parallel = robot if isinstance(robot, ParallelRobot) else None
    offset, amplitude = ([2.0, 1.1], 0.5) if parallel is None else (parallel.home, 0.06)
    series = FourierSeries.random(rng, offset=offset, amplitude=amplitude, frequency=0.5, n_harmonics=HARMONICS)
    kernel = robot.regressor_kernel()

    def at(t: Array) -> tuple[Array, Array]:
        path = series.at(t)[1:]
        moved = path if parallel is None else parallel.joint_motion(*path)
        return kernel(*path) @ robot.nominal, moved[1]

    t = np.arange(round(rate / 0.5)) / rate
    efforts, truth = CASES[case][1](at, t)
    x = series.at(t)[1]
    q = x if parallel is None else parallel.inverse(x)
    sigma = EFFORTS * np.sqrt((efforts**2).mean(axis=0))
    read = [
        values + size * rng.normal(size=(PERIODS, *values.shape)) for values, size in ((q, POSITIONS), (efforts, sigma))
    ]
    names = (robot.coordinates, robot.coordinate_units, robot.actuators, robot.effort_units)
    return RepeatedMotion(rate, *read, *names), truth


def found(robot: FiveBar | Delta, rate: float, case: str, seed: int) -> tuple[str, Array, Array, Array]:
    """The effect that is named first, and values, σ and true values of the planted one."""
    motion, truth = recorded(robot, rate, case, seed)
    causes = identify_repeated(robot, motion, orders=[HARMONICS]).causes
    first = "" if causes.likeliest is None else causes.likeliest.effect.name
    own = [cause for cause in causes.ranked if cause.effect.name == CASES[case][0]]
    if not own:
        return first, np.zeros(0), np.zeros(0), np.zeros(0)
    cause = own[0]
    values, sigma, true = cause.values, cause.sigma, truth
    if cause.effect.name == "gain":  # a factor against the others': one that all have in common is not determined
        every = np.zeros(len(truth))
        every[[int(name.rsplit("_", 1)[1]) - 1 for name in cause.names]] = values
        # two gains err against each other
        sigma = sigma.sum(keepdims=True) if len(every) == 2 else sigma.max(keepdims=True)
        values, true = (1 + every[:1]) / (1 + every[1:].mean()) - 1, truth[:1]
    return first, values, sigma, true


def main() -> None:
    parser = argparse.ArgumentParser(description="Effects found in repeats of a periodic motion.")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--rates", type=float, nargs="+", default=[200.0, 1000.0])
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES), metavar="case")
    given = parser.parse_args()
    print("| planted | robot, rate | named first | mean estimate over planted | median 2 σ over it | rms error in σ |")
    print("|---|---|---|---|---|---|")
    for case in given.cases:
        effect = CASES[case][0]
        for name, robot in (("five-bar", FiveBar.demo()), ("delta", Delta())):
            for rate in given.rates:
                every = [found(robot, rate, case, given.first + k) for k in range(given.seeds)]
                named = sum(one[0] == effect for one in every)
                line = f"| {case} | {name}, {rate:g} Hz | {named} of {given.seeds} |"
                if not effect:
                    print(f"{line} — | — | — |", flush=True)
                    continue
                values, sigma, true = (np.concatenate(part) for part in list(zip(*every, strict=True))[1:])
                size = (values / true).mean(), np.median(2 * sigma / abs(true))
                z = np.sqrt((((values - true) / sigma) ** 2).mean())
                print(f"{line} {size[0]:.3f} | {size[1]:.2g} | {z:.2f} |", flush=True)


if __name__ == "__main__":
    main()
