"""Calibrations from poses with independent errors: false alarms of autocorrelation, and coverage of 95 % intervals.

A linear delta in random poses, with and without stated noise, and the heights that a delta printer probes.
"""

import numpy as np

from gough.data import KlipperDelta, Poses
from gough.geometry import calibrate, calibrate_printer
from gough.robots import LinearDelta

RUNS = 200
ROBOT = LinearDelta()
SIGMA = 2e-5
"""m, of positions and readings."""


def delta(rng, *, stated: bool, sweep: bool = False, n: int = 30):
    """A calibration from n poses, and the true parameters."""
    truth = ROBOT.nominal + rng.normal(0, 1e-3, len(ROBOT.names))
    p = rng.uniform([-0.1, -0.1, 0.0], [0.1, 0.1, 0.15], (n, 3))
    p = p[np.argsort(p[:, 0])] if sweep else p
    readings = ROBOT.inverse(truth, p) + rng.normal(0, SIGMA, p.shape)
    poses = Poses(p + rng.normal(0, SIGMA, p.shape), None, readings)
    return calibrate(ROBOT, poses.with_noise(SIGMA, None, SIGMA) if stated else poses), truth


def printer(rng, n: int = 40):
    """A calibration from n probed heights, and the true parameters."""
    free = rng.normal(0, 1e-4, len(ROBOT.names)) * [name.startswith(("endstop", "radius")) for name in ROBOT.names]
    truth = ROBOT.nominal + free
    xy = rng.uniform(-0.1, 0.1, (n, 2))
    readings = ROBOT.inverse(truth, np.column_stack([xy, np.zeros(n)]))
    none, zero = np.zeros(0), np.zeros((0, 2, 3))
    heights = rng.normal(0, SIGMA, n)
    probes = KlipperDelta(ROBOT.radius, ROBOT.angle, ROBOT.arm, ROBOT.endstop, heights, readings, none, zero)
    return calibrate_printer(probes), truth


def main() -> None:
    """Print both numbers for each kind of data."""
    cases = {
        "poses, noise stated": lambda rng: delta(rng, stated=True),
        "poses, noise not stated": lambda rng: delta(rng, stated=False),
        "poses sorted by x": lambda rng: delta(rng, stated=False, sweep=True),
        "probed heights": printer,
    }
    for words, make in cases.items():
        alarms, inside, total = 0, 0, 0
        for seed in range(RUNS):
            found, truth = make(np.random.default_rng(seed))
            alarms += any("autocorrelated" in note for note in found.estimate.notes)
            for name in found.estimate.unknowns.names:
                inside += truth[ROBOT.names.index(name)] in found.estimate.interval(name)
                total += 1
        print(f"{words:24} autocorrelation reported in {alarms / RUNS:6.1%}; 95 % intervals hold {inside / total:6.1%}")


if __name__ == "__main__":
    main()
