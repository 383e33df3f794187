"""Certificates: what each proves, how large its file is, how long the exact check takes; p = 14."""

import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks._dynamics import dynamics_problem
from benchmarks.outliers import spoilt
from gough import Bounded, estimate
from gough.checker import certificate_of, check, load, save
from gough.methods import BoundingEllipsoid, HullAndEllipsoid, LinearHull, RelaxedHull, TightEllipsoid, outliers


def seconds(work):
    """Processor time: a shared machine makes the clock on the wall useless here."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def report(what, problem, answer, folder) -> None:
    made, certificate = seconds(lambda: certificate_of(problem, answer))
    path = Path(folder, "c.json")
    save(certificate, path, overwrite=True)
    checked, verdict = seconds(lambda: check(load(path), problem))
    rows = f"{len(verdict.rows)} of {problem.n_rows} rows"
    size = f"{path.stat().st_size / 1e3:.0f} kB"
    print(f"  {what:58} {size:>8}  made in {made:5.2f} s  checked in {checked:5.2f} s  {rows}", end="")
    print("" if verdict else f"  DOES NOT HOLD: {verdict.reason}")


def main() -> None:
    print("certificates, p = 14, processor seconds")
    rng = np.random.default_rng(3)
    with TemporaryDirectory() as folder:
        for n_rows in (2000, 100_000):
            problem, _ = dynamics_problem(n_rows)
            for method in (LinearHull(), TightEllipsoid(), HullAndEllipsoid(), BoundingEllipsoid(rounds=1)):
                name = f"{type(method).__name__}, N = {n_rows}"
                report(name, problem, estimate(problem, method), folder)
            report(f"BoundingEllipsoid, N = {n_rows}", problem, estimate(problem, BoundingEllipsoid()), folder)
            recursive = estimate(problem, BoundingEllipsoid(rounds=0, cut=False))
            weighed = len(recursive.stats.rounds[0].rows)
            report(f"recursion, N = {n_rows}, {weighed} strips weighed", problem, recursive, folder)
        problem, _ = dynamics_problem(2000)
        uncertain = replace(problem, noise=Bounded(problem.noise.radius, 0.002 * abs(problem.W)))
        report("LinearHull, W ± 0.2 %", uncertain, estimate(uncertain, LinearHull()), folder)
        for q in (1, 3, 5):
            bad, _ = spoilt(problem, q, rng)
            report(f"outliers, {q} planted", bad, outliers(bad), folder)
            report(f"RelaxedHull({q}), {q} planted", bad, estimate(bad, RelaxedHull(q)), folder)
        for q in (1, 2, 3):
            report(f"RelaxedHull({q}), none planted", problem, estimate(problem, RelaxedHull(q)), folder)


if __name__ == "__main__":
    main()
