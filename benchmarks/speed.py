"""Speed beside goals, in one run: work, ours, a named rival, the ratio before, now, and the goal.

Every row calls what another benchmark measures with. Times are processor times, the least of some calls, on one thread;
"before" are ratios or times that were measured before the last changes of the code, on a quiet machine.

python -m benchmarks speed                  the table, some minutes
python -m benchmarks.speed identify         phases of an identification of H4, hexapod and an arm of seven axes
"""

import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks import (
    bounding_ellipsoid,
    calibration,
    certified_chain,
    many_parameters,
    maximum_likelihood,
    mechanism,
    outliers,
    waiting,
)
from benchmarks._dynamics import dynamics_problem, mapped_problem
from benchmarks._palida_by_hand import COLUMNS
from benchmarks.waiting import phases
from gough import estimate
from gough.closure import JointProblem, joint_tolerance, minimal_tolerance
from gough.core.threads import one_blas_thread
from gough.data import Poses
from gough.dynamics import errors_in_variables
from gough.geometry import calibrate
from gough.geometry.descent import approach
from gough.geometry.geometric import geometric
from gough.methods import EllipsoidStream, LeastSquares, LinearHull, MaximumLikelihood, RelaxedHull, minimal_bound
from gough.robots import H4Kinematics, Palida


class Row(NamedTuple):
    """One line of the table."""

    work: str
    ours: str
    rival: str
    before: str
    now: str
    goal: str


def least(work: Callable[[], Any], times: int = 5) -> float:
    """The least processor time of a call, after one that compiles and loads."""
    work()
    taken = []
    for _ in range(times):
        start = process_time()
        work()
        taken.append(process_time() - start)
    return min(taken)


def in_words(seconds: float) -> str:
    """A time with a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def stream(n: int = 5000) -> Iterator[Row]:
    linear = bounding_ellipsoid.problem(n, 14)
    rows = list(zip(linear.W, linear.y, strict=True))

    def one_by_one() -> None:
        each = EllipsoidStream(linear.unknowns, cut=False)
        for d, y in rows:
            each.update(d, y, bounding_ellipsoid.BOUND)

    ours, rival = least(one_by_one) / n, least(lambda: bounding_ellipsoid.plain(linear), 3) / n
    yield Row(
        "EllipsoidStream.update, p = 14", in_words(ours), f"the recursion in NumPy {in_words(rival)}", "5.6 µs",
        f"{in_words(ours)}, {rival / ours:.0f} ×", "1.5 µs",
    )  # fmt: skip


def relaxed() -> Iterator[Row]:
    problem, _ = dynamics_problem(2000)
    estimate(dynamics_problem(200)[0], RelaxedHull(1))
    taken = []
    for _ in range(3):
        start = process_time()
        answer = estimate(problem, RelaxedHull(5))
        taken.append(process_time() - start)
    ours = min(taken)
    certified = "with a certificate" if answer.stats.sides else "no certificate"
    hull = least(lambda: estimate(problem, LinearHull()), 3)
    yield Row(
        "RelaxedHull(5), 2000 × 14", in_words(ours), f"LinearHull, no row dropped {in_words(hull)}",
        "7.6 s, no certificate", f"{in_words(ours)}, {certified}", "2 s",
    )  # fmt: skip
    rng = np.random.default_rng(1)
    small, _ = outliers.spoilt(dynamics_problem(100, 4)[0], 0, rng)
    ours, rival = least(lambda: estimate(small, RelaxedHull(1)), 3), least(lambda: mixed_integer(small), 1)
    yield Row(
        "RelaxedHull(1), 100 × 4", in_words(ours), f"scipy.optimize.milp, unproven {in_words(rival)}", "-",
        f"{rival / ours:.0f} ×", "-",
    )  # fmt: skip


def mixed_integer(problem: Any) -> Any:
    return outliers.mixed_integer_box(problem, 1)


def likelihood() -> Iterator[Row]:
    """Means over several recordings: scipy takes 3 to 10 sets of finite differences, as rounding will have it."""
    for name, experiment, recordings, before in (
        ("H4", maximum_likelihood.h4_experiment(rate=500.0), 10, "19 ×"),
        ("PaLiDA", maximum_likelihood.palida_experiment(), 10, "20 ×"),
    ):
        ours, rival, shares = 0.0, 0.0, []
        for seed in range(7, 7 + recordings):
            with one_blas_thread():  # from the start: threads that wait for work count as processor time
                motion = experiment.run(np.random.default_rng(seed))
                problem = errors_in_variables(experiment.robot, motion, order=maximum_likelihood.ORDER)
                cost = maximum_likelihood.SameCost(problem)
                cost(cost.start)
                own = least(lambda p=problem: estimate(p, MaximumLikelihood()))
                start = process_time()
                maximum_likelihood.by_scipy(cost)
                theirs = process_time() - start
            ours, rival, shares = ours + own / recordings, rival + theirs / recordings, [*shares, theirs / own]
        size = f"{problem.measured.size} rows, {len(cost.start)} unknowns, {recordings} recordings"
        yield Row(
            f"MaximumLikelihood, {name}, {size}", in_words(ours), f"scipy least_squares {in_words(rival)}", before,
            f"{rival / ours:.0f} ×; single ones {min(shares):.0f} to {max(shares):.0f}", "30 ×",
        )  # fmt: skip


def calibrations() -> Iterator[Row]:
    rng = np.random.default_rng(1)
    covariance = np.diag(np.concatenate([calibration.POSITION, calibration.ANGLE, calibration.READING]) ** 2)
    for n, before in ((64, ("38 ×", "2.7 ×")), (704, ("46 ×", "5.3 ×"))):
        readings = np.resize(calibration.EXTREMAL, (n, 6))
        poses: Poses = calibration.measured(calibration.truth(rng), readings, rng)[1]
        problem = geometric(calibration.ROBOT, poses)
        rival = least(lambda p=poses: calibration.scipys(p, covariance), 3)
        alone = least(lambda p=problem: approach(p, calibration.ROBOT.nominal), 10)
        whole = least(lambda p=poses: calibrate(calibration.ROBOT, p))
        of = f"scipy least_squares {in_words(rival)}"
        yield Row(f"six legs, {n} poses: solution", in_words(alone), of, before[0], f"{rival / alone:.0f} ×", "25 ×")
        yield Row(
            f"six legs, {n} poses: σ, χ², all verdicts", in_words(whole), of, before[1], f"{rival / whole:.1f} ×",
            "10 ×",
        )  # fmt: skip


def hull(n_rows: int = 1_000_000) -> Iterator[Row]:
    problem, _ = dynamics_problem(n_rows)
    with one_blas_thread():
        rival = least(lambda: estimate(problem, LeastSquares()), 3)
        ours = least(lambda: estimate(problem, LinearHull()), 3)
        reading = least(lambda: np.dot(problem.W.ravel(order="K"), problem.W.ravel(order="K")), 5)
    gigabytes = problem.W.nbytes / reading / 1e9
    yield Row(
        f"LinearHull, {n_rows:.0e} × 14", in_words(ours), f"our LeastSquares {in_words(rival)}", "4.9 of it",
        f"{ours / rival:.2f} of it; one reading of W {in_words(reading)} ({gigabytes:.0f} GB/s)", "1.5 of it",
    )  # fmt: skip


def hull_from_a_file(n_rows: int = 10_000_000) -> Iterator[Row]:
    with TemporaryDirectory() as folder, one_blas_thread():
        problem, theta = mapped_problem(Path(folder) / "W.npy", n_rows)
        rival = least(lambda: estimate(problem, LeastSquares()), 2)
        ours = least(lambda: estimate(problem, LinearHull()), 2)
        tracemalloc.start()
        assert theta in estimate(problem, LinearHull()).region
        part = tracemalloc.get_traced_memory()[1] / problem.W.nbytes
        tracemalloc.stop()
    yield Row(
        f"LinearHull, {n_rows:.0e} × 14, a file of {problem.W.nbytes / 1e9:.2f} GB", in_words(ours),
        f"our LeastSquares {in_words(rival)}", "-", f"{ours / rival:.2f} of it; memory {part:.1%} of the file",
        "1.5 of it, 5 %",
    )  # fmt: skip


def regressor() -> Iterator[Row]:
    robot = Palida()
    x, dx, ddx = mechanism.poses(robot)
    kernel, n = robot.with_only(COLUMNS).regressor_kernel(), mechanism.N_LOOP
    loops = mechanism.loops(robot, x[:n], dx[:n], ddx[:n])
    ours = least(lambda: kernel(x, dx, ddx), 9) / len(x)
    for name, key, before in (("loop", "complete", "84 ×"), ("loop, closures given", "given", "34 ×")):
        rival = least(loops[key], 3) / n
        yield Row(
            "regressor of PaLiDA, 24 columns", f"{in_words(ours)} a sample", f"Pinocchio, {name} {in_words(rival)}",
            before, f"{rival / ours:.0f} ×", "100 ×",
        )  # fmt: skip


def together() -> Iterator[Row]:
    model, off = H4Kinematics(), 2e-4
    rng = np.random.default_rng(3)
    poses = certified_chain.measured(model, rng, 30)
    poses = Poses(poses.position, poses.rotation, poses.readings + rng.uniform(-off, off, poses.readings.shape))
    parts = tuple(certified_chain.problem_of(model, poses, 0.005, rng, k + 1)[0] for k in range(len(model.chains)))
    alone = least(lambda: [minimal_tolerance(part) for part in parts], 1)
    start = np.concatenate([minimal_tolerance(part).point for part in parts])
    for thorough in (False, True):
        began = process_time()
        bracket = joint_tolerance(JointProblem(parts), start, thorough=thorough)
        ours, width = process_time() - began, f"{1e6 * (bracket.upper - bracket.lower):.1f} µm"
        yield Row(
            f"joint ε of H4's four chains, 30 poses{', thorough' if thorough else ''}", in_words(ours),
            f"each chain alone {in_words(alone)}", "31 µm, 25 s" if thorough else "31 µm, 2.8 s",
            f"{width} wide in {in_words(ours)}", "1 µm, 10 s",
        )  # fmt: skip


def many() -> Iterator[Row]:
    """Sixty parameters: ε* and the hull, each with how it grows."""
    size = (30_000, 60)
    problem = many_parameters.made(np.random.default_rng(1), *size)
    one_end, _ = many_parameters.timed(lambda: many_parameters.by_highs(problem))
    works = (
        ("ε*", minimal_bound, many_parameters.made, ("27 min, no answer", "2 s"), in_words(one_end)),
        (
            "hull for 1.5 ε*",
            LinearHull().estimate,
            many_parameters.wide,
            ("21 s", "20 s"),
            f"120 times {in_words(one_end)}",
        ),
    )
    for name, work, problem_of, (before, goal), rival in works:
        for along, sizes in many_parameters.SIZES.items():
            seconds = many_parameters.grown(work, problem_of, sizes, 1)
            power, steps = many_parameters.exponents(sizes, along, seconds)
            if along == "parameters":
                ours = in_words(seconds[sizes.index(size)])
                highs = f"HiGHS, interior points, unproven {rival}"
                yield Row(f"{name}, {size[0]} × {size[1]}, every end proven", ours, highs, before, ours, goal)
            ends = sizes[0][along == "parameters"], sizes[-1][along == "parameters"]
            yield Row(
                f"{name}: {ends[0]} to {ends[1]} {along}", " ".join(in_words(s) for s in seconds), "-", "-",
                f"exponent {power:.2f}, at most {max(steps):.1f} in a step", "2.5" if along == "parameters" else "1.05",
            )  # fmt: skip


UNASKED = ("identifying: hull", "identifying: ellipsoid", "identifying: tight ellipsoid", "comparing", "testing")
"""How the phases of an identification begin that are not its statistical part."""


def extras() -> Iterator[Row]:
    for name, before in (("h4", "2.4"), ("hexapod", "4.9"), ("arm", "3.0")):
        spent = {True: 0.0, False: 0.0}
        for (start, what), (end, _) in pairwise(phases(name, 8.0)[0]):
            spent[what.startswith(UNASKED)] += end - start
        yield Row(
            f"what an identification adds unasked, {name}", in_words(spent[True]),
            f"its statistical part {in_words(spent[False])}", f"{before} of it",
            f"{spent[True] / spent[False]:.1f} of it", "3 of it",
        )  # fmt: skip


COMPILED = """
import contextlib, io, resource, sys
from gough.cli.app import run
with contextlib.redirect_stdout(io.StringIO()):
    run(["demo", sys.argv[1], "--out", sys.argv[2]])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)
"""


def compiler(robot: str, folder: str) -> float:
    """Processor time of the C compiler in the first demo of a robot."""
    environment = waiting.surroundings(XDG_CACHE_HOME=f"{folder}/{robot}-cache")
    command = [sys.executable, "-c", COMPILED, robot, f"{folder}/{robot}"]
    return float(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def commands() -> Iterator[Row]:
    """Each a process of its own, its children included."""
    gough = (sys.executable, "-m", "gough_command")
    numpy = waiting.least(sys.executable, "-c", "import numpy")
    whole = waiting.least(sys.executable, "-c", "import numpy, scipy.signal, matplotlib.figure")
    peers = f"import of NumPy, scipy.signal, matplotlib {in_words(whole)}"
    ours = in_words(waiting.least(*gough, "--help"))
    yield Row("gough --help", ours, f"import of NumPy {in_words(numpy)}", "1.9 s", ours, "0.3 s")
    with TemporaryDirectory() as folder:
        ours = in_words(waiting.least(*gough, "demo", "--out", f"{folder}/demo", times=2))
        yield Row("gough demo, with its report", ours, peers, "17 s", ours, "6 s")
        waiting.spent(*gough, "new", f"{folder}/study", "--robot", "h4", "--example")
        ours = in_words(waiting.after_imports(Path(folder) / "study" / "study.toml"))
        yield Row("gough identify of an H4, 20 s at 1 kHz, after imports", ours, peers, "6.0 s", ours, "2 s")
        for robot, before in (("h4", "3.0 s"), ("palida", "6.2 s")):
            ours = in_words(compiler(robot, folder))
            yield Row(f"C compiler in the first demo of {robot}", ours, "-", before, ours, "3 s")
    ours = in_words(waiting.installed().until_demo)
    yield Row("a new environment, pip install, the first demo", ours, "-", "100 s", ours, "60 s")


def table() -> None:
    print("| work | ours | rival | before | now | goal |\n|---|---|---|---|---|---|", flush=True)
    for part in (
        stream, relaxed, likelihood, calibrations, hull, hull_from_a_file, regressor, together, many, extras, commands,
    ):  # fmt: skip
        for row in part():
            print(f"| {' | '.join(row)} |", flush=True)


def identify(seconds: float = 8.0) -> None:
    for name in ("h4", "hexapod", "arm"):
        marks, found = phases(name, seconds)
        n_rows, p = found.problem.W.shape
        print(f"{name}, {n_rows} rows, {p} parameters; left out: {', '.join(found.left_out) or 'nothing'}")
        for (start, what), (end, _) in pairwise(marks):
            print(f"  {what:45} {end - start:8.2f} s", flush=True)


def main(what: str = "") -> None:
    if what == "identify":
        identify()
    else:
        table()


if __name__ == "__main__":
    main(*sys.argv[1:2])
