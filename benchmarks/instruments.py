"""Calibration by instruments: self-calibrated cables against scipy, growth to 100 000 poses, nested models.

Arguments: names of parts (speed, growth, nested) and the number of printers of nested models (100 by default).
`benchmarks.instrument_coverage` measures the coverage of each kind.
"""

import sys
from dataclasses import replace
from functools import partial
from time import process_time

import numpy as np
from scipy.optimize import least_squares
from scipy.sparse import lil_array

from benchmarks._timing import seconds
from gough.core.threads import one_blas_thread
from gough.geometry.instruments import Measurements, calibrate_by_instruments, calibrate_nested
from gough.robots import CableRobot, RodDelta
from gough.robots.kinematics import PlatformPoses
from tests.geometry.instruments.campaigns import CAMPAIGNS, Campaign, plan
from tests.geometry.instruments.test_nested import HELD as HELD_RODS
from tests.geometry.instruments.test_nested import PRINTER, bent, measured

MACHINE = CableRobot.hangprinter()
SIGMA = 2e-4
HELD = ("a1x", "a1y", "a1z", "a2y", "a2z", "a4y")
"""Coordinates that fix the frame: scipy has no other convention."""
FREE = [i for i, name in enumerate(MACHINE.names) if name not in HELD]


def campaign(n: int, seed: int = 1):
    """A Hangprinter whose anchors are 3 cm off, at places that nobody measured."""
    rng = np.random.default_rng(seed)
    truth = MACHINE.nominal.copy()
    truth[FREE] += rng.normal(0, 0.03, len(FREE))
    p = rng.uniform([-0.7, -0.7, 0.0], [0.7, 0.7, 1.5], (n, 3))
    return truth, p, MACHINE.inverse(truth, p) + rng.normal(0, SIGMA, (n, 4))


def residuals(x, readings):
    """Readings less those of anchors, zeros and places, all in one vector."""
    theta = MACHINE.nominal.copy()
    theta[FREE] = x[: len(FREE)]
    rows = theta.reshape(4, 4)
    p = x[len(FREE) :].reshape(-1, 3)
    away = np.linalg.norm(p[:, None] - rows[:, :3], axis=2) - rows[:, 3]
    return ((readings - away) / SIGMA).ravel()


def pattern(n: int):
    """Which residuals depend on which unknowns."""
    S = lil_array((4 * n, len(FREE) + 3 * n))
    for cable in range(4):
        S[cable::4, [k for k, i in enumerate(FREE) if i // 4 == cable]] = 1
    for k in range(n):
        S[4 * k : 4 * k + 4, len(FREE) + 3 * k : len(FREE) + 3 * k + 3] = 1
    return S


@one_blas_thread()
def scipys(readings, *, sparse: bool):
    """The whole problem by scipy, dense or with its sparse solver, derivatives by finite differences."""
    start = np.concatenate([MACHINE.nominal[FREE], MACHINE.forward(MACHINE.nominal, readings).position.ravel()])
    options = {"jac_sparsity": pattern(len(readings)), "tr_solver": "lsmr"} if sparse else {}
    return least_squares(
        residuals, start, args=(readings,), x_scale="jac", xtol=1e-12, ftol=1e-12, gtol=1e-12, max_nfev=200, **options
    )


def ours(readings):
    """The same minimum by elimination of the poses."""
    return calibrate_by_instruments(MACHINE, Measurements(readings, SIGMA), fixed=HELD)


def speed() -> None:
    print("Hangprinter, anchors and zeros unknown, readings alone: time against scipy, one thread")
    for n, sparse in ((100, False), (300, False), (300, True), (1000, True)):
        _, _, readings = campaign(n)
        rival, answer = scipys(readings, sparse=sparse), ours(readings)
        stats = answer.estimate.stats
        worse = 2 * rival.cost - stats.chi_squared * stats.dof
        off = abs((answer.parameters[FREE] - rival.x[: len(FREE)]) / answer.estimate.region.sigma).max()
        slow = seconds(partial(scipys, readings, sparse=sparse), 1, process_time)
        quick = seconds(partial(ours, readings), 3, process_time)
        print(
            f"  {n:5d} poses, scipy {'sparse' if sparse else 'dense '}: {slow:8.2f} s, gough {quick:6.3f} s, "
            f"{slow / quick:7.1f}×; scipy's Σ minus ours {worse:.1e}, parameters {off:.1e} σ apart"
        )


def growth() -> None:
    print("Growth with the number of poses")
    sizes, times = (1000, 10_000, 100_000), []
    for n in sizes:
        _, _, readings = campaign(n)
        times.append(seconds(partial(ours, readings), 1, process_time))
    exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(f"  cables: {', '.join(f'{n} poses {t:.2f} s' for n, t in zip(sizes, times, strict=True))}", end="; ")
    print(f"exponent {exponent:.2f}")
    times = []
    for n in sizes:
        campaign_of = many_points(n)
        data = campaign_of.drawn(np.random.default_rng(1))
        times.append(seconds(partial(calibrate_by_instruments, campaign_of.model, data), 1, process_time))
    exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(
        f"  hexapod, one reflector: {', '.join(f'{n} poses {t:.2f} s' for n, t in zip(sizes, times, strict=True))}",
        end="; ",
    )
    print(f"exponent {exponent:.2f}")


def many_points(n: int) -> Campaign:
    """The campaign with one reflector, with poses repeated n times in all."""
    few = CAMPAIGNS["point"]()
    p, R = (np.resize(each, (n, *each.shape[1:])) for each in few.poses)
    tracker = few.plan.instruments[0]
    tracker = replace(tracker, values=np.zeros((n, 3)))
    poses = PlatformPoses(p, R)
    return replace(few, poses=poses, plan=plan(few.model, poses, tracker))


def nested(campaigns: int) -> None:
    """How often straight printers are called bent, and bent ones straight."""
    groups = {name: RodDelta.NESTED[name] for name in ("lean of the towers", "unequal rods")}
    for words, lean, mismatch in (("straight", 0.0, 0.0), ("lean of 2 mrad", 2e-3, 0.0), ("rods 0.2 mm", 0.0, 2e-4)):
        found = []
        for seed in range(campaigns):
            rng = np.random.default_rng(seed)
            answer = calibrate_nested(PRINTER, measured(bent(rng, lean, mismatch), rng, n=40), groups, fixed=HELD_RODS)
            found.append([name in answer.nested.needed for name in groups])
        share = 100 * np.mean(found, axis=0)
        print(
            f"  {words:16s} lean found in {share[0]:5.1f} %, unequal rods in {share[1]:5.1f} % of {campaigns}",
            flush=True,
        )


def main() -> None:
    numbers = [int(each) for each in sys.argv[1:] if each.isdigit()]
    chosen = [each for each in sys.argv[1:] if not each.isdigit()] or ["speed", "growth", "nested"]
    print(__doc__.splitlines()[0])
    if "speed" in chosen:
        speed()
    if "growth" in chosen:
        growth()
    if "nested" in chosen:
        print("Nested models of a delta printer, 40 poses of a reflector with σ = 0.02 mm, tests at the level 0.001")
        nested(numbers[0] if numbers else 100)


if __name__ == "__main__":
    main()
