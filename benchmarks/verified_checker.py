"""Two checkers: how long the one proven in Coq takes beside the Python one, and whether they agree on 100,000 files.

python -m benchmarks.verified_checker [times | mutations | spoilt ...]; all three by default. `gough-proof-check` has to
be built (`make proofs`). Files that the checkers disagree about are kept in a folder, which is printed.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from subprocess import DEVNULL, run
from tempfile import TemporaryDirectory, mkdtemp

import numpy as np

from benchmarks import certified_chain, certified_leg
from benchmarks._dynamics import dynamics_problem
from gough import Box, LinearProblem, estimate
from gough.checker import (
    certificate_of,
    chain_certificate,
    check,
    check_chains,
    load,
    load_chains,
    load_question,
    save,
    save_chains,
)
from gough.checker.chain_files import render_question
from gough.checker.chain_questions import question_of
from gough.checker.of_chain import outlier_certificate
from gough.closure import JointHull, JointProblem, LegProblem, wrong_poses
from gough.data import Poses, read_problem, write_problem
from gough.methods import BoundingEllipsoid, LiftedHull, LinearHull, RelaxedHull, TightEllipsoid
from gough.studies.verified import installed
from tests.checker.agreement import Judges, Tally, mutants
from tests.checker.test_mutations import EACH

Case = tuple[str, object, object]
"""What it is about, the problem, the certificate."""


def linear() -> Iterator[Case]:
    problem, _ = dynamics_problem(2000)
    for method in (LinearHull(), TightEllipsoid(), BoundingEllipsoid(), RelaxedHull(3)):
        yield f"{type(method).__name__}, p = 14, N = 2000", problem, certificate_of(problem, estimate(problem, method))


def legs() -> Iterator[Case]:
    for n, around in ((64, 0.01), (64, 1.0), (704, 10.0)):
        data, truth, _ = certified_leg.measured(2, n)
        problem = LegProblem(data, Box.around(truth, around))
        answer = LiftedHull().estimate(problem)
        yield f"box of a leg from ± {around:g} m, {n} poses", problem, chain_certificate(problem, answer)
    data, truth, _ = certified_leg.measured(2, scale=0.02)
    problem = LegProblem(data, Box.around(truth, 0.1))
    yield "a leg refuted, 64 poses", problem, chain_certificate(problem, LiftedHull().estimate(problem))
    data, truth, _ = certified_leg.measured(2, backlash=5e-4)
    problem = LegProblem(data, Box.around(truth, 0.1))
    found = wrong_poses(problem, 1, ())
    counts = {"at_least": found.at_least, "q": 1, "outliers": found.named}
    yield "at least two poses wrong, none named", problem, outlier_certificate(problem, found.contradictions, **counts)
    data = certified_leg.measured_platform(2, scale=3e-3)
    problem = JointProblem.of_legs(data, Box.around(certified_leg.ROBOT.nominal, 0.1), range(1, 7))
    answer = JointHull(bounds=False).estimate(problem)
    yield "six legs refuted together", problem, chain_certificate(problem, answer)


def rods() -> Iterator[Case]:
    for model in certified_chain.ROBOTS:
        rng = np.random.default_rng(1)
        problem, _ = certified_chain.problem_of(model, certified_chain.measured(model, rng), 0.1, rng)
        answer = LiftedHull().estimate(problem)
        yield f"box of a chain, {model.name}, 100 poses", problem, chain_certificate(problem, answer)
    for model in certified_chain.ROBOTS[1], certified_chain.ROBOTS[3]:
        rng = np.random.default_rng(3)
        poses = certified_chain.measured(model, rng, 30)
        off = poses.readings + rng.uniform(-5e-4, 5e-4, poses.readings.shape)
        poses = Poses(poses.position, poses.rotation, off)
        chains = range(1, len(model.chains) + 1)
        parts = [certified_chain.problem_of(model, poses, 0.005, rng, chain)[0] for chain in chains]
        problem = JointProblem(tuple(parts))
        answer = JointHull(bounds=False).estimate(problem)
        yield f"chains together, {model.name}, 30 poses", problem, chain_certificate(problem, answer)


def processor_time(work: Callable[[], object], clock: Callable[[], float], repetitions: int = 3) -> float:
    """The least of a few runs: others use this computer too."""
    times = []
    for _ in range(repetitions):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


def children() -> float:
    """Processor time of all programs that this one has run."""
    spent = getrusage(RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def times(program: Path) -> None:
    print("Certificates, both checkers from the files on: processor seconds, without the start of Python")
    with TemporaryDirectory() as folder:
        certificate_file, problem_file = Path(folder, "c.json"), Path(folder, "p.json")
        for what, problem, certificate in (*linear(), *legs(), *rods()):
            if isinstance(problem, LinearProblem):
                write_problem(problem, problem_file, overwrite=True)
                save(certificate, certificate_file, overwrite=True)
                python = lambda: check(load(certificate_file), read_problem(problem_file))  # noqa: E731
            else:
                problem_file.write_text(render_question(question_of(problem)), encoding="utf-8")
                save_chains(certificate, certificate_file, overwrite=True)
                python = lambda: check_chains(load_chains(certificate_file), load_question(problem_file))  # noqa: E731
            command = [program, certificate_file, problem_file]
            agree = bool(python()) == (run(command, stdout=DEVNULL, check=False).returncode == 0)
            ours = processor_time(python, time.process_time)
            theirs = processor_time(lambda command=command: run(command, stdout=DEVNULL, check=False), children)
            size = f"{certificate_file.stat().st_size / 1e3:.0f} kB"
            verdict = "" if agree else "  THEY DISAGREE"
            print(
                f"  {what:42} {certificate.kind:13} {size:>8}  Python {ours:5.2f} s, proven {theirs:5.2f} s, "
                f"ratio {theirs / ours:5.2f}{verdict}",
                flush=True,
            )


def mutations(program: Path) -> None:
    print("Changed certificates, judged by both checkers from their files on")
    total = Tally()
    with TemporaryDirectory() as folder:
        for kind, count in EACH.items():
            tally, round_ = Tally(), 0
            while tally.judged < count:
                tally.add(Judges(program, Path(mkdtemp(dir=folder))).compare(mutants(kind, 2000, 20261116 + round_)))
                round_ += 1
            print(f"  {kind:10} {tally}", flush=True)
            total.add(tally)
    print(f"  {'all':10} {total}")
    kept((certificate.encode(), problem.encode()) for certificate, problem, *_ in total.disagreements)


def spoilt(program: Path, count: int = 100_000) -> None:
    with TemporaryDirectory() as folder:
        codes, wrong = Judges(program, Path(folder)).spoilt(count, 20261117)
    print(
        f"{count} spoilt files: {codes[0]} hold, {codes[1]} do not, {codes[2]} are refused in one line by the reader;"
    )
    print(f"  {len(wrong)} hold that Python refuses once seals and digests are put right")
    kept((certificate, problem) for certificate, problem, _ in wrong)


def kept(files: Iterable[tuple[bytes, bytes]]) -> None:
    """Keep the files of a disagreement."""
    for number, pair in enumerate(files):
        folder = Path(mkdtemp(prefix=f"disagreement-{number}-"))
        for name, content in zip(("certificate.json", "problem.json"), pair, strict=True):
            (folder / name).write_bytes(content)
        print(f"  kept: {folder}")


PARTS = {"times": times, "mutations": mutations, "spoilt": spoilt}


def main(*chosen: str) -> None:
    program = installed()
    if program is None:
        print("gough-proof-check is not built: make proofs")
        return
    for part in chosen or PARTS:
        PARTS[part](program)


if __name__ == "__main__":
    main(*sys.argv[1:])
