"""One chain of a delta, H4, Par4 or 3-RRR, from boxes of decimetres: widths, steps, time, truth kept, faults."""

import itertools
import sys
import time

import numpy as np
from scipy.optimize import linprog

from gough import Box, Status
from gough.closure import JointProblem, joint_tolerance, minimal_tolerance, wrong_poses
from gough.closure.certified_chain import Tolerances, certified_chain, quadratic_unknowns
from gough.core.rotations import exp
from gough.data import Poses
from gough.methods.nonlinear.lifted import LiftedHull
from gough.robots import H4Kinematics, LinearDelta, Par4Kinematics, PlanarRRR, RotaryDelta

ROBOTS = (LinearDelta(), RotaryDelta(), PlanarRRR(), H4Kinematics(), Par4Kinematics())
HOMES = {"linear delta": 0.1, "rotary delta": -0.7, "planar 3-RRR": 0.0, "H4": -0.43, "Par4": -0.85}
TOLERANCES = Tolerances(1e-4, 3e-5, 1e-4)
EDGE = 0.999


def measured(model, rng, n=100):
    """Poses and readings with uniform errors within the tolerances."""
    free = np.isin(range(6), model.freedoms)
    p = [0, 0, HOMES[model.name]] + free[:3] * rng.uniform(-0.1, 0.1, (n, 3)) * (0.8 if free[:3].sum() == 2 else 1.0)
    angle = rng.uniform(-0.6, 0.6, n) * free[5]
    q = model.inverse(model.nominal, p, exp(np.outer(angle, [0, 0, 1])))
    off = [EDGE * rng.uniform(-1, 1, shape) for shape in (p.shape, n, q.shape)]
    seen = exp(np.outer(angle + TOLERANCES.orientation * off[1] * free[5], [0, 0, 1]))
    return Poses(p + TOLERANCES.position * off[0], seen, q + TOLERANCES.reading * off[2])


def problem_of(model, poses, around, rng, chain=1):
    truth = quadratic_unknowns(model, model.nominal, chain)
    box = Box.around(truth + around * rng.uniform(-0.5, 0.5, len(truth)), around)
    lower = np.append(box.lower[:-1], max(box.lower[-1], 0.0))
    return certified_chain(model, poses, chain, Box(lower, box.upper), TOLERANCES), truth


def needed(problem, x):
    """For each measurement, by how much the rod is too short, then too long, at the best errors: ≤ 0 where it fits."""
    d = problem.p.mid + problem.A.mid @ x
    D = problem.D.mid + problem.B.mid @ x
    along = np.sign(np.einsum("ni,nei->ne", d, D)) * problem.tolerance
    shift = np.einsum("ne,nei->ni", along, D)
    near, far = (np.linalg.norm(d + sign * shift, axis=1) for sign in (-1, 1))
    return np.concatenate([near - x[-1], x[-1] - far])


def inner_hull(model, problem, chain=1):
    """Widths of a box spanned by consistent chains: each pushed along an unknown by linear programs."""
    columns = model.columns[chain - 1]
    start = model.nominal.copy()

    def unknowns(theta):
        full = start.copy()
        full[columns] = theta
        return quadratic_unknowns(model, full, chain)

    ends = []
    for axis in range(len(problem.names)):
        for sign in (1.0, -1.0):
            ends.append(_pushed(lambda t: needed(problem, unknowns(t)), unknowns, start[columns], axis, sign))
    return np.ptp(np.array(ends), axis=0)


def _pushed(needs, unknowns, theta, axis, sign):
    trust, h = 5e-3, 1e-7
    for _ in range(60):
        here, x = needs(theta), unknowns(theta)
        steps = h * np.eye(len(theta))
        slope = np.array([(needs(theta + s) - here) / h for s in steps]).T
        cost = np.array([-sign * (unknowns(theta + s)[axis] - x[axis]) / h for s in steps])
        found = linprog(cost, slope, -here - 1e-12, bounds=[(-trust, trust)] * len(theta), method="highs")
        if found.status != 0:
            trust /= 2
            continue
        for part in (1.0, 0.99, 0.9, 0.5):
            moved = theta + part * found.x
            if needs(moved).max() <= 0:
                break
        else:
            trust /= 3
            continue
        gain = sign * (unknowns(moved)[axis] - x[axis])
        theta = moved
        if gain < 1e-9:
            break
    return unknowns(theta)


def contraction() -> None:
    print("Lifted hull of chain 1, 100 poses, ± 0.1 mm, ± 0.03 mm or mrad of reading, ± 0.1 mrad of heading")
    for model in ROBOTS:
        rng = np.random.default_rng(1)
        poses, inner = measured(model, rng), None
        for around in (0.1, 0.3):
            problem, truth = problem_of(model, poses, around, rng)
            began = time.process_time()
            answer = LiftedHull().estimate(problem)
            took = time.process_time() - began
            inner = inner_hull(model, problem) if inner is None else inner
            ratio, kept = answer.region.width / inner, "kept" if truth in answer.region else "LOST"
            print(
                f"  {model.name:12s} {len(truth):2d} unknowns, {len(problem.products):2d} products, "
                f"± {1e3 * around:3.0f} mm: {answer.stats.steps:2d} steps, {took:5.2f} s, widths "
                f"{ratio.min():.3f} … {ratio.max():.3f} of the inner hull, truth {kept}"
            )


def containment(runs: int) -> None:
    for model in ROBOTS:
        kept, began = 0, time.process_time()
        for seed in range(runs):
            rng = np.random.default_rng(seed)
            chain = 1 + seed % len(model.chains)
            problem, truth = problem_of(model, measured(model, rng, 60), (0.01, 0.1, 0.3)[seed % 3], rng, chain)
            region = LiftedHull().estimate(problem).region
            kept += not region.is_empty and truth in region
        each = (time.process_time() - began) / runs
        print(f"  {model.name:12s} truth contained at zero tolerance in {kept} of {runs} runs; {each:.2f} s each")


def faults() -> None:
    print("Faults, ± 100 mm: refuted?")
    for model in ROBOTS:
        rng = np.random.default_rng(2)
        poses = measured(model, rng)
        bad = poses.position.copy()
        bad[21] += [0.002, 0.002, 0.002]
        for name, seen in {
            "none": poses,
            "pose 21 off by 2 mm": Poses(bad, poses.rotation, poses.readings),
            "readings 2 % large": Poses(poses.position, poses.rotation, poses.readings * 1.02),
        }.items():
            problem, _ = problem_of(model, seen, 0.1, np.random.default_rng(3))
            answer = LiftedHull().estimate(problem)
            verdict = "refuted" if answer.status is Status.INCONSISTENT else "not refuted"
            print(f"  {model.name:12s} {name:22s} {verdict}")


def confusion(seeds: int = 3, n: int = 16) -> None:
    print(
        f"Wrong poses of chain 1, {n} poses, ± 10 mm: named, of those planted; good poses named; at least so many wrong"
    )
    for model in ROBOTS:
        for size, planted in ((0.0, 0), *itertools.product((1e-3, 2e-3, 5e-3), (1, 2))):
            named = wrongly = at_least = 0
            for seed in range(seeds):
                rng = np.random.default_rng([seed, planted])
                poses, bad = measured(model, rng, n), rng.choice(n, planted, replace=False)
                off = poses.position.copy()
                off[bad] += size * np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0]])[:planted]
                problem, _ = problem_of(model, Poses(off, poses.rotation, poses.readings), 0.01, rng)
                good = [k for k in range(n) if k not in bad][:4]
                result = wrong_poses(problem, max(planted, 1), (*bad.tolist(), *good))
                assert result.at_least <= planted
                named += len(set(result.named) & set(bad.tolist()))
                wrongly += len(set(result.named) & set(good))
                at_least += result.at_least
            print(
                f"  {model.name:12s} {planted} planted, {1e3 * size:.0f} mm on each axis: {named} of {planted * seeds} "
                f"named, {wrongly} of {4 * seeds} good ones; at least {at_least} of {planted * seeds} proven wrong",
                flush=True,
            )


def together() -> None:
    print("All chains together, 30 poses, ± 5 mm, readings off by up to so much more than stated: ε alone, ε together")
    for model, off in itertools.product(ROBOTS, (0.0, 1e-4, 2e-4)):
        rng = np.random.default_rng(3)
        poses = measured(model, rng, 30)
        poses = Poses(poses.position, poses.rotation, poses.readings + rng.uniform(-off, off, poses.readings.shape))
        parts = tuple(problem_of(model, poses, 0.005, rng, k + 1)[0] for k in range(len(model.chains)))
        began = time.process_time()
        alone = [minimal_tolerance(part) for part in parts]
        middle = time.process_time()
        bracket = joint_tolerance(JointProblem(parts), np.concatenate([each.point for each in alone]))
        print(
            f"  {model.name:12s} {1e3 * off:.1f} mm or mrad: alone ≤ {1e3 * max(each.upper for each in alone):.4f} "
            f"in {middle - began:.2f} s, together {1e3 * bracket.lower:.4f} … {1e3 * bracket.upper:.4f} "
            f"in {time.process_time() - middle:.2f} s"
        )


def main(runs: int = 100) -> None:
    contraction()
    faults()
    together()
    confusion()
    containment(runs)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
