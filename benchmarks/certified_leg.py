"""Legs of a Gough platform from boxes of centimetres to metres: widths, steps, time, faults alone and together."""

import itertools
import sys
import time
from statistics import median

import numpy as np
from scipy.optimize import linprog

from gough import Box, Status
from gough.checker import chain_certificate, check_chains
from gough.checker.chain_files import render_chains
from gough.checker.leg_equations import LegMeasurements, PlatformMeasurements
from gough.checker.of_chain import outlier_certificate
from gough.closure import (
    JointHull,
    JointProblem,
    LegProblem,
    joint_tolerance,
    minimal_tolerance,
    relaxed_tolerance,
    wrong_poses,
)
from gough.closure.fits import excess as needed
from gough.core import outward
from gough.core.rotations import exp, to_quaternion
from gough.methods import GaussSeidel
from gough.methods.nonlinear.interval_newton import IntervalNewton
from gough.methods.nonlinear.lifted import LiftedHull
from gough.robots.gough_platform import GoughPlatform

POSITION = 3e-3 * np.array([6.33e-2, 2.30e-2, 6.08e-2])
ROTATION = 3 * np.deg2rad([9.23e-3, 1.19e-2, 8.94e-3])
READING = 3e-3 * np.array([0.0077, 0.0127, 0.0117, 0.0102, 0.0118, 0.0190])
EDGE = 0.999
ROBOT = GoughPlatform.deltalab()
EXTREMAL = ROBOT.forward(ROBOT.nominal, np.array(list(itertools.product([0.0, 0.14], repeat=6))))


def measured(seed, n=64, leg=1, backlash=0.0, scale=0.0, bad=None):  # noqa: PLR0917
    """Measurements with uniform errors within three of the paper's sigma, and the truth."""
    rng, some = np.random.default_rng(seed), np.arange(n) % 64
    p, R = EXTREMAL.position[some], EXTREMAL.rotation[some]
    reading, t = ROBOT.inverse(ROBOT.nominal, p, R)[:, leg - 1], READING[leg - 1]
    p_seen = p + EDGE * rng.uniform(-1, 1, p.shape) * POSITION
    R_seen = exp(EDGE * rng.uniform(-1, 1, p.shape) * ROTATION) @ R
    seen = (reading + EDGE * rng.uniform(-1, 1, n) * t + rng.uniform(-backlash, backlash, n)) * (1 + scale)
    if bad is not None:
        p_seen[bad] += [0.0, 0.0, 5e-3]
    data = LegMeasurements(to_quaternion(R_seen), p_seen, seen, POSITION, ROTATION, t)
    return data, ROBOT.nominal[7 * leg - 7 : 7 * leg], rng


def inner_hull(problem, start):
    """A box spanned by consistent points: each pushed along an axis by linear programs, kept only if it fits."""
    lower, upper = start.copy(), start.copy()
    for axis, sign in itertools.product(range(7), (1.0, -1.0)):
        x = _pushed(problem, start, axis, sign)
        lower[axis], upper[axis] = min(lower[axis], x[axis]), max(upper[axis], x[axis])
    return upper - lower


def _pushed(problem, start, axis, sign):
    x, trust = start.copy(), 5e-3
    step = np.full(7, 1e-7)
    for _ in range(40):
        here = needed(problem, x)
        slope = np.array([(needed(problem, x + h) - here) / step[0] for h in np.diag(step)]).T
        cost = np.zeros(7)
        cost[axis] = -sign
        found = linprog(cost, slope, -here - 1e-12, bounds=[(-trust, trust)] * 7, method="highs")
        if found.status != 0:
            trust /= 2
            continue
        for part in (1.0, 0.999, 0.99, 0.9, 0.5):
            point = x + part * found.x
            if needed(problem, point).max() <= 0:
                break
        else:
            trust /= 3
            continue
        if abs(point - x).max() < 1e-9:
            break
        x = point
    return x


def seconds(work, repetitions):
    """Median processor time of a call, after one to warm up: others use this machine too."""
    work()
    times = []
    for _ in range(repetitions):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return median(times)


def contraction() -> None:
    print("Lifted hull of leg 1, tolerances of three sigma; widths over an inner hull of consistent points")
    for n in (64, 704):
        data, truth, rng = measured(1, n)
        off = rng.uniform(-0.5, 0.5, 7)
        inner = None
        for around in (0.01, 0.1, 1.0, 10.0):
            problem = LegProblem(data, Box.around(truth + off * around, around))
            time_taken = seconds(lambda p=problem: LiftedHull().estimate(p), 3)
            answer = LiftedHull().estimate(problem)
            inner = inner_hull(problem, truth) if inner is None else inner
            ratio, kept = answer.region.width / inner, "kept" if truth in answer.region else "LOST"
            print(
                f"  N = {n:4d}, ± {around * 1e3:6.0f} mm: {answer.stats.steps:2d} steps, {time_taken:5.2f} s, "
                f"widths {ratio.min():.4f} … {ratio.max():.4f} of the inner hull (target ≤ 1.05), truth {kept}"
            )


def steps_of(contractor, problem, most=50):
    """Steps until no side gains a thousandth, the last box, and the processor time."""
    box, began, steps, gaining = problem.prior, time.process_time(), 0, True
    while gaining and steps < most:
        last, box, steps = box, contractor.contract(problem, box), steps + 1
        gaining = not box.is_empty and bool((box.width < 0.999 * last.width).any())
    return steps, box, time.process_time() - began


def rivals() -> None:
    print("Repeated to the end: the paper's interval Newton with each of its enclosures, beside the lifted hull")
    print("  widths over an inner hull of consistent points: median … largest; — : no side of the box gained")
    methods = {"Krawczyk (12)": IntervalNewton(krawczyk=True), "Beaumont/Oettli–Prager": IntervalNewton()}
    methods |= {"Gauss–Seidel": IntervalNewton(GaussSeidel()), "lifted hull": LiftedHull()}
    for n in (64, 704):
        data, truth, rng = measured(1, n)
        off = rng.uniform(-0.5, 0.5, 7)
        inner = inner_hull(LegProblem(data, Box.around(truth, 0.1)), truth)
        for around in (0.002, 0.005, 0.01, 0.1, 1.0):
            problem = LegProblem(data, Box.around(truth + off * around, around))
            for name, method in methods.items():
                steps, box, took = steps_of(method, problem)
                ratio = box.width / inner
                gained = bool((box.width < 0.999 * problem.prior.width).any())
                widths = f"{np.median(ratio):8.3f} … {ratio.max():8.3f}" if gained else "       —            "
                kept = "kept" if truth in box else "LOST"
                where = f"N = {n:3d}, ± {around * 1e3:4.0f} mm, {name:23s}"
                print(f"  {where} {widths}, {steps:2d} steps, {took:6.2f} s, {kept}", flush=True)


def measured_platform(seed, n=64, backlash=0.0, scale=0.0, bad=None):
    """All legs at the same poses, whose errors they share."""
    rng, some = np.random.default_rng(seed), np.arange(n) % 64
    p, R = EXTREMAL.position[some], EXTREMAL.rotation[some]
    readings = ROBOT.inverse(ROBOT.nominal, p, R)
    p_seen = p + EDGE * rng.uniform(-1, 1, p.shape) * POSITION
    R_seen = exp(EDGE * rng.uniform(-1, 1, p.shape) * ROTATION) @ R
    noise = EDGE * rng.uniform(-1, 1, readings.shape) * READING + rng.uniform(-backlash, backlash, readings.shape)
    if bad is not None:
        p_seen[bad] += [0.0, 0.0, 5e-3]
    return PlatformMeasurements(
        to_quaternion(R_seen), p_seen, (readings + noise) * (1 + scale), POSITION, ROTATION, READING
    )


def joint() -> None:
    print("All legs together, ± 100 mm: what single legs refute, what only the joint test does, and the joint ε")
    cases = [{}, {"backlash": 1e-4}, {"backlash": 2e-4}, {"backlash": 5e-4}, {"scale": 2e-3}, {"scale": 3e-3}]
    for fault in (*cases, {"scale": 5e-3}, {"bad": 21}):
        data, priors = measured_platform(2, **fault), (Box.around(leg, 0.1) for leg in ROBOT.nominal.reshape(6, 7))
        problem = JointProblem(tuple(LegProblem(data.leg(i), prior, i + 1) for i, prior in enumerate(priors)))
        found = [minimal_tolerance(part) for part in problem.parts]
        alone = sum(each.is_inconsistent for each in found)
        began = time.process_time()
        answer = JointHull(bounds=False).estimate(problem)
        test, began = time.process_time() - began, time.process_time()
        together = joint_tolerance(problem, np.array([each.point for each in found]))
        took = time.process_time() - began
        verdict = "refuted" if answer.status is Status.INCONSISTENT else "not refuted"
        lower = max(together.lower, *(each.lower for each in found)) if together.upper > 0 else -np.inf
        text = f"  {fault!s:22s} {alone} of 6 legs refuted alone; together {verdict}, {test:.2f} s; "
        text += f"joint ε {outward.between(lower, together.upper, times=1000)} mm, {took:.1f} s"
        if answer.status is Status.INCONSISTENT:
            certificate = chain_certificate(problem, answer)
            began = time.process_time()
            holds = check_chains(certificate, problem).holds
            text += f"; certificate {len(render_chains(certificate)) / 1e3:.0f} kB, "
            text += f"check {time.process_time() - began:.1f} s, {holds}"
        print(text, flush=True)


def known_lengths() -> None:
    print("A scale wrong by 0.5 % and leg 1 alone: what the accuracy of the blueprint adds (N = 64)")
    data, truth, _ = measured(2, scale=5e-3)
    for around in (0.1, 0.01, 2e-3, 1e-3, 5e-4):
        found = minimal_tolerance(LegProblem(data, Box.around(truth, around)))
        print(f"  ± {1e3 * around:5.1f} mm: ε {outward.between(found.lower, found.upper, times=1000)} mm", flush=True)


def wrong() -> None:
    print("Poses that may be wrong: named with proof, and ε without them (leg 1, ± 100 mm)")
    for fault, q in (({"bad": [21]}, 1), ({"bad": [21, 40]}, 2), ({"bad": [21, 40]}, 1), ({"backlash": 5e-4}, 1)):
        data, truth, _ = measured(2, **fault)
        problem = LegProblem(data, Box.around(truth, 0.1))
        began = time.process_time()
        relaxed = relaxed_tolerance(problem, q)
        found = wrong_poses(problem, q, relaxed.left_out)
        took = time.process_time() - began
        proof = outlier_certificate(problem, found.contradictions, at_least=found.at_least, q=q, outliers=found.named)
        began = time.process_time()
        holds = check_chains(proof, problem).holds
        print(
            f"  {fault}, q = {q}: at least {found.at_least}, named {found.named}, left out {relaxed.left_out}, "
            f"ε {outward.between(relaxed.lower, relaxed.upper, times=1000)} mm, {took:.1f} s; certificate "
            f"{len(render_chains(proof)) / 1e3:.0f} kB, check {time.process_time() - began:.2f} s, {holds}",
            flush=True,
        )


def containment(runs: int) -> None:
    kept, began = 0, time.process_time()
    for seed in range(runs):
        around = (0.01, 0.1, 1.0, 10.0)[seed % 4]
        data, truth, rng = measured(1000 + seed, leg=1 + seed % 6)
        problem = LegProblem(data, Box.around(truth + rng.uniform(-0.5, 0.5, 7) * around, around))
        kept += truth in LiftedHull().estimate(problem).region
    each = (time.process_time() - began) / runs
    print(f"Truth contained at zero tolerance in {kept} of {runs} runs from ± 10 mm … 10 m; {each:.2f} s each")


def faults() -> None:
    print("Faults in a box of ± 100 mm: emptiness, and the bracket of the smallest extra tolerance ε")
    cases = {
        "none": {},
        "backlash 0.5 mm": {"backlash": 5e-4},
        "backlash 0.5 mm, N = 704": {"backlash": 5e-4, "n": 704},
    }
    cases |= {"scale 0.5 %": {"scale": 5e-3}, "scale 2 %": {"scale": 0.02}, "pose 21 off by 5 mm": {"bad": 21}}
    for name, fault in cases.items():
        data, truth, _ = measured(2, **fault)
        problem = LegProblem(data, Box.around(truth, 0.1))
        began = time.process_time()
        status = LiftedHull().estimate(problem).status
        refuted, began = time.process_time() - began, time.process_time()
        found = minimal_tolerance(problem)
        bracket = time.process_time() - began
        verdict = "refuted" if status is Status.INCONSISTENT else "not refuted"
        print(
            f"  {name:25s} {verdict:11s} {refuted:5.2f} s; "
            f"ε {outward.between(found.lower, found.upper, times=1000)} mm, "
            f"{(found.upper - found.lower) * 1e6:.2f} µm wide, {bracket:.2f} s, {found.boxes} boxes, "
            f"heaviest poses {[pose for pose, _ in found.poses[:3]]}"
        )


def certificates() -> None:
    print("Certificates: size, and exact check")
    for name, around, fault in (
        ("box", 0.01, {}),
        ("box", 1.0, {}),
        ("empty", 0.1, {"scale": 0.02}),
        ("empty", 0.1, {"bad": 21}),
    ):
        data, truth, _ = measured(2, **fault)
        problem = LegProblem(data, Box.around(truth, around))
        certificate = chain_certificate(problem, LiftedHull().estimate(problem))
        began = time.process_time()
        holds = check_chains(certificate, problem).holds
        took, size = time.process_time() - began, len(render_chains(certificate).encode()) / 1e3
        print(f"  {name:5s} from ± {around * 1e3:.0f} mm, {fault}: {size:.1f} kB, {took:.2f} s, holds: {holds}")


def main(runs: int = 500) -> None:
    contraction()
    rivals()
    faults()
    joint()
    known_lengths()
    wrong()
    certificates()
    containment(runs)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
