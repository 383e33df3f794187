"""Calibration by instruments: self-calibrated cables against scipy, growth to 100 000 poses, coverage of each kind.

Arguments: number of campaigns for the coverage (200 by default) and first seed (0 by default), then names of parts
(speed, growth, coverage, noise, nested), and names of kinds, if the coverage of some alone is wanted.
"""

import sys
from dataclasses import replace
from functools import partial
from time import process_time

import numpy as np
from scipy.optimize import least_squares
from scipy.sparse import lil_array
from scipy.stats import chi2
from scipy.stats import f as f_distribution

from benchmarks._timing import seconds
from gough.core.threads import one_blas_thread
from gough.geometry import procrustes
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


def cables() -> Campaign:
    """The Hangprinter by its readings alone; its truth is in the frame in which it is nearest to the blueprint."""
    rng = np.random.default_rng(1)
    rows = (MACHINE.nominal + rng.normal(0, 0.03, 16)).reshape(4, 4)
    motion, _ = procrustes(rows[:, :3], MACHINE.anchors)
    rows[:, :3] = motion.of(rows[:, :3])
    p = rng.uniform([-0.7, -0.7, 0.0], [0.7, 0.7, 1.5], (60, 3))
    poses = PlatformPoses(p, np.repeat(np.eye(3)[None], len(p), axis=0))
    return Campaign(MACHINE, rows.reshape(-1), poses, Measurements(np.zeros((60, 4)), SIGMA))


KINDS = CAMPAIGNS | {"cables": cables}
BLIND = {
    "image": ("camera", "readings"),
    "point": ("tracker", "readings"),
    "cables": ("readings",),
    "plane": ("face1",),
}
"""Campaigns whose noise is estimated in `noise`, and what is not stated of it."""


def coverage(campaigns: int, names, blind=None, first: int = 0) -> None:
    print(
        f"Coverage over {campaigns} campaigns of each kind: joint 95 % region, 95 % intervals of all parameters, χ²/dof"
    )
    for name in names or KINDS:
        one = KINDS[name]()
        inside, intervals, chi = [], [], []
        for seed in range(first, first + campaigns):
            data = unstated(one.drawn(np.random.default_rng(seed)), (blind or {}).get(name, ()))
            answer = calibrate_by_instruments(one.model, data, start=one.start, fixed=one.fixed)
            free = [i for i, each in enumerate(one.model.names) if each in answer.estimate.names]
            error = answer.departure_from(one.truth)[free]
            C = answer.estimate.region.covariance[: len(free), : len(free)]
            s, V = np.linalg.eigh(C)
            seen = s > 1e-9 * s[-1]
            distance = float(((V.T @ error)[seen] ** 2 / s[seen]).sum())
            n, dof = int(seen.sum()), answer.estimate.region.dof
            inside.append(distance <= (chi2.isf(0.05, n) if np.isinf(dof) else n * f_distribution.isf(0.05, n, dof)))
            intervals.append(abs(error) <= answer.estimate.half_widths()[: len(free)])
            chi.append(answer.estimate.stats.chi_squared or np.nan)
        print(
            f"  {name:10s} {100 * np.mean(inside):5.1f} %   {100 * np.mean(intervals):5.1f} %   {np.mean(chi):.3f}",
            flush=True,
        )


def unstated(data: Measurements, names) -> Measurements:
    """The measurements without the noise of some instruments."""
    instruments = tuple(replace(one, sigma=None) if one.name in names else one for one in data.instruments)
    own = None if "readings" in names else data.reading_sigma
    return replace(data, reading_sigma=own, instruments=instruments)


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
    campaigns, first = (*numbers, *(200, 0)[len(numbers) :])[:2]
    names = [each for each in sys.argv[1:] if each in KINDS]
    chosen = [each for each in sys.argv[1:] if not each.isdigit() and each not in KINDS]
    chosen = chosen or (["coverage"] if names else ["speed", "growth", "coverage", "noise", "nested"])
    print(__doc__.splitlines()[0])
    if "speed" in chosen:
        speed()
    if "growth" in chosen:
        growth()
    if "coverage" in chosen:
        coverage(campaigns, names, first=first)
    if "noise" in chosen:
        print("Noise that is not stated:", "; ".join(f"{name}: {', '.join(of)}" for name, of in BLIND.items()))
        coverage(campaigns, names or BLIND, BLIND, first)
    if "nested" in chosen:
        print("Nested models of a delta printer, 40 poses of a reflector with σ = 0.02 mm, tests at the level 0.001")
        nested(max(campaigns // 2, 1))


if __name__ == "__main__":
    main()
