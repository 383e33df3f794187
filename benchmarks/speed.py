"""Speed beside goals, in one run: work, a named rival, what an older gough reaches on this machine, now, and the goal.

Every row calls what another benchmark measures with. Times are processor times, the least of some calls, on one thread.
With `--before`, each part runs twice, with the gough of this tree and with that of another checkout (made by
`git worktree add`), one after the other in programs of their own: both columns are of the same machine and hour.

python -m benchmarks speed                              the table, a quarter of an hour
python -m benchmarks.speed --before ../gough-older      with a column of times of the gough in that folder
python -m benchmarks.speed hull regressor               some parts of it
python -m benchmarks.speed identify                     phases of an identification of H4, hexapod and a 7-axis arm
"""

import argparse
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks import (
    bounding_ellipsoid,
    calibration,
    certified_chain,
    maximum_likelihood,
    mechanism,
    outliers,
    waiting,
)
from benchmarks._dynamics import dynamics_problem, mapped_problem
from benchmarks._palida_by_hand import COLUMNS
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

HERE = Path(__file__).resolve().parents[1]


class Row(NamedTuple):
    """One line of the table: what is compared with the goal is stated as the goal is, or as a time and that."""

    work: str
    rival: str
    ours: str
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
        if seconds >= 0.9995 * size:  # not 1e+03 of the next
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
        "EllipsoidStream.update, p = 14", f"the recursion in NumPy {in_words(rival)}",
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
    certified = "with a certificate" if getattr(answer.stats, "sides", ()) else "no certificate"
    hull = least(lambda: estimate(problem, LinearHull()), 3)
    yield Row(
        "RelaxedHull(5), 2000 × 14", f"LinearHull, no row dropped {in_words(hull)}", f"{in_words(ours)}, {certified}",
        "2 s",
    )  # fmt: skip
    rng = np.random.default_rng(1)
    small, _ = outliers.spoilt(dynamics_problem(100, 4)[0], 0, rng)
    ours, rival = least(lambda: estimate(small, RelaxedHull(1)), 3), least(lambda: mixed_integer(small), 1)
    yield Row(
        "RelaxedHull(1), 100 × 4", f"scipy.optimize.milp, unproven {in_words(rival)}",
        f"{in_words(ours)}, {rival / ours:.0f} ×", "-",
    )  # fmt: skip


def mixed_integer(problem: Any) -> Any:
    return outliers.mixed_integer_box(problem, 1)


def likelihood() -> Iterator[Row]:
    """Means over several recordings: scipy takes 3 to 10 sets of finite differences, as rounding will have it."""
    for name, experiment, recordings in (
        ("H4", maximum_likelihood.h4_experiment(rate=500.0), 10),
        ("PaLiDA", maximum_likelihood.palida_experiment(), 10),
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
            f"MaximumLikelihood, {name}, {size}", f"scipy least_squares {in_words(rival)}",
            f"{in_words(ours)}, {rival / ours:.0f} ×; single ones {min(shares):.0f} to {max(shares):.0f}", "30 ×",
        )  # fmt: skip


def calibrations() -> Iterator[Row]:
    rng = np.random.default_rng(1)
    covariance = np.diag(np.concatenate([calibration.POSITION, calibration.ANGLE, calibration.READING]) ** 2)
    for n in (64, 704):
        readings = np.resize(calibration.EXTREMAL, (n, 6))
        poses: Poses = calibration.measured(calibration.truth(rng), readings, rng)[1]
        problem = geometric(calibration.ROBOT, poses)
        rival = least(lambda p=poses: calibration.scipys(p, covariance), 3)
        alone = least(lambda p=problem: approach(p, calibration.ROBOT.nominal), 10)
        whole = least(lambda p=poses: calibrate(calibration.ROBOT, p))
        of = f"scipy least_squares {in_words(rival)}"
        yield Row(f"six legs, {n} poses: solution", of, f"{in_words(alone)}, {rival / alone:.0f} ×", "25 ×")
        yield Row(f"six legs, {n} poses: σ, χ², all verdicts", of, f"{in_words(whole)}, {rival / whole:.1f} ×", "10 ×")


def hull(n_rows: int = 1_000_000) -> Iterator[Row]:
    problem, _ = dynamics_problem(n_rows)
    with one_blas_thread():
        rival = least(lambda: estimate(problem, LeastSquares()), 3)
        ours = least(lambda: estimate(problem, LinearHull()), 3)
        reading = least(lambda: np.dot(problem.W.ravel(order="K"), problem.W.ravel(order="K")), 5)
    gigabytes = problem.W.nbytes / reading / 1e9
    yield Row(
        f"LinearHull, {n_rows:.0e} × 14", f"our LeastSquares {in_words(rival)}",
        f"{in_words(ours)}, {ours / rival:.2f} of it; one reading of W {in_words(reading)} ({gigabytes:.0f} GB/s)",
        "1.5 of it",
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
        f"LinearHull, {n_rows:.0e} × 14, a file of {problem.W.nbytes / 1e9:.2f} GB",
        f"our LeastSquares {in_words(rival)}",
        f"{in_words(ours)}, {ours / rival:.2f} of it; memory {part:.1%} of the file", "1.5 of it, 5 %",
    )  # fmt: skip


def regressor() -> Iterator[Row]:
    robot = Palida()
    x, dx, ddx = mechanism.poses(robot)
    kernel, n = robot.with_only(COLUMNS).regressor_kernel(), mechanism.N_LOOP
    loops = mechanism.loops(robot, x[:n], dx[:n], ddx[:n])
    ours = least(lambda: kernel(x, dx, ddx), 9) / len(x)
    for work, key in (("", "complete"), (", closures given to the rival", "given")):
        rival = least(loops[key], 3) / n
        yield Row(
            f"regressor of PaLiDA, 24 columns{work}", f"Pinocchio, loop {in_words(rival)}",
            f"{in_words(ours)} a sample, {rival / ours:.0f} ×", "100 ×",
        )  # fmt: skip


def together() -> Iterator[Row]:
    model, off = H4Kinematics(), 2e-4
    rng = np.random.default_rng(3)
    poses = certified_chain.measured(model, rng, 30)
    poses = Poses(poses.position, poses.rotation, poses.readings + rng.uniform(-off, off, poses.readings.shape))
    parts = tuple(certified_chain.problem_of(model, poses, 0.005, rng, k + 1)[0] for k in range(len(model.chains)))
    alone = least(lambda: [minimal_tolerance(part) for part in parts], 1)
    start = np.concatenate([minimal_tolerance(part).point for part in parts])
    began = process_time()
    bracket = joint_tolerance(JointProblem(parts), start)
    ours, width = process_time() - began, f"{1e6 * (bracket.upper - bracket.lower):.1f} µm"
    yield Row(
        "joint ε of H4's four chains, 30 poses",
        f"each chain alone {in_words(alone)}", f"{width} wide in {in_words(ours)}", "1 µm, 10 s",
    )  # fmt: skip


def many(along: str) -> Iterator[Row]:
    """Sixty parameters: ε* and the hull, each with how it grows."""
    from benchmarks import many_parameters  # noqa: PLC0415 - an older gough need not have what it imports

    goal = "exponent 2.5" if along == "parameters" else "exponent 1.05"
    size = (30_000, 60)
    one_end, _ = many_parameters.timed(
        lambda: many_parameters.by_highs(many_parameters.made(np.random.default_rng(1), *size))
    )
    highs = f"HiGHS, interior points, unproven: {in_words(one_end)} an end"
    works = (("ε*", minimal_bound, many_parameters.made, "2 s"),
             ("hull for 1.5 ε*", LinearHull().estimate, many_parameters.wide, "20 s"))  # fmt: skip
    for name, work, problem_of, within in works:
        sizes = many_parameters.SIZES[along]
        seconds = many_parameters.grown(work, problem_of, sizes, 1)
        power, steps = many_parameters.exponents(sizes, along, seconds)
        if along == "parameters":
            ours = in_words(seconds[sizes.index(size)])
            yield Row(f"{name}, {size[0]} × {size[1]}, every end proven", highs, ours, within)
        of = ", ".join(str(each[along == "parameters"]) for each in sizes)
        each = ", ".join(in_words(s) for s in seconds)
        grows = f"exponent {power:.2f}, at most {max(steps):.1f} in a step"
        yield Row(f"{name}, {of} {along}", "-", f"{each}: {grows}", goal)


UNASKED = (
    "identifying: hull", "identifying: ellipsoid", "identifying: tight ellipsoid", "comparing", "predicting", "testing",
)  # fmt: skip
"""How the phases of an identification begin that are not its statistical part."""


def extras(name: str) -> Iterator[Row]:
    spent = {True: 0.0, False: 0.0}
    for (start, what), (end, _) in pairwise(waiting.phases(name, 8.0)[0]):
        spent[what.startswith(UNASKED)] += end - start
    yield Row(
        f"what an identification adds unasked, {name}", f"its statistical part {in_words(spent[False])}",
        f"{in_words(spent[True])}, {spent[True] / spent[False]:.1f} of it", "3 of it",
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
    yield Row("gough --help", f"import of NumPy {in_words(numpy)}", ours, "0.3 s")
    with TemporaryDirectory() as folder:
        ours = in_words(waiting.least(*gough, "demo", "--out", f"{folder}/demo", times=2))
        yield Row("gough demo, with its report", peers, ours, "6 s")
        waiting.spent(*gough, "new", f"{folder}/study", "--robot", "h4", "--example")
        ours = in_words(waiting.after_imports(Path(folder) / "study" / "study.toml"))
        yield Row("gough identify of an H4, 20 s at 1 kHz, after imports", peers, ours, "2 s")
        for robot in ("h4", "palida"):
            ours = in_words(compiler(robot, folder))
            yield Row(f"C compiler in the first demo of {robot}", "-", ours, "3 s")


def installation() -> Iterator[Row]:
    ours = in_words(waiting.installed().until_demo)
    yield Row("a new environment, pip install, the first demo", "-", ours, "60 s")


PARTS: dict[str, Callable[[], Iterator[Row]]] = {
    "stream": stream,
    "relaxed": relaxed,
    "likelihood": likelihood,
    "calibrations": calibrations,
    "hull": hull,
    "file": hull_from_a_file,
    "regressor": regressor,
    "joint": together,
    "parameters": partial(many, "parameters"),
    "rows": partial(many, "rows"),
    **{f"extras-{name}": partial(extras, name) for name in ("h4", "hexapod", "arm")},
    "commands": commands,
    "installation": installation,
}


class Run(NamedTuple):
    """The rows of a part that were computed in time, and why there are no more."""

    rows: dict[str, Row]
    end: str


def run(part: str, gough: Path, patience: float | None) -> Run:
    """A part in a program of its own, by the gough of a checkout; of an older one it may need what that lacks."""
    environment = os.environ | {"PYTHONPATH": f"{gough / 'src'}{os.pathsep}{HERE}"}
    command = [sys.executable, "-m", "benchmarks.speed", "--rows", part]
    with TemporaryFile("w+") as rows, TemporaryFile("w+") as errors:
        try:
            done = subprocess.run(command, stdout=rows, stderr=errors, env=environment, timeout=patience, check=False)
            end = f"not computed (exit code {done.returncode})" if done.returncode else ""
        except subprocess.TimeoutExpired:
            end = f"over {patience:.0f} s"
        rows.seek(0)
        errors.seek(0)
        if end and gough == HERE:
            print(errors.read(), file=sys.stderr)
        found = [Row(*json.loads(line)) for line in rows]
    return Run({row.work: row for row in found}, end)


def table(parts: Sequence[str], before: Path | None, patience: float) -> None:
    heads = ["work", "rival", *(["before"] if before else []), "now", "goal"]
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|", flush=True)
    for part in parts:
        now, older = run(part, HERE, None), run(part, before, patience) if before else None
        for work, row in now.rows.items():
            cells = [row.work, row.rival]
            if older:
                cells.append(older.rows[work].ours if work in older.rows else older.end)
            print(f"| {' | '.join([*cells, row.ours, row.goal])} |", flush=True)


def identify(seconds: float = 8.0) -> None:
    for name in ("h4", "hexapod", "arm"):
        marks, found = waiting.phases(name, seconds)
        n_rows, p = found.problem.W.shape
        print(f"{name}, {n_rows} rows, {p} parameters; left out: {', '.join(found.left_out) or 'nothing'}")
        for (start, what), (end, _) in pairwise(marks):
            print(f"  {what:45} {end - start:8.2f} s", flush=True)


def main(words: Sequence[str] = ()) -> None:
    reader = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__.splitlines()[0])
    reader.add_argument("parts", nargs="*", metavar="part", help=f"identify, or parts of the table: {', '.join(PARTS)}")
    reader.add_argument("--before", type=Path, metavar="FOLDER", help="a checkout of an older gough, for a column")
    reader.add_argument("--patience", type=float, default=600.0, help="seconds for each part by the older gough (600)")
    reader.add_argument("--rows", action="store_true", help="rows as lines of JSON, computed by this program itself")
    asked = reader.parse_args(words)
    if unknown := set(asked.parts) - PARTS.keys() - {"identify"}:
        reader.error(f"there is no part {', '.join(sorted(unknown))}")
    if asked.parts == ["identify"]:
        identify()
    elif asked.rows:
        with os.fdopen(os.dup(1), "w") as lines:
            os.dup2(2, 1)  # rivals write to standard output too, as HiGHS does
            for part in asked.parts:
                for row in PARTS[part]():
                    print(json.dumps(row), file=lines, flush=True)
    else:
        table(asked.parts or list(PARTS), asked.before and asked.before.resolve(), asked.patience)


if __name__ == "__main__":
    main(sys.argv[1:])
