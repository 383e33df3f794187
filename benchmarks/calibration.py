"""Geometric calibration of a Gough platform: time against scipy with finite differences, errors against predicted σ.

The DeltaLab platform in its 64 extremal configurations, with the noise of [DACP06, Tables 2 and 3].
"""

import sys
from statistics import median
from time import process_time

import numpy as np
from scipy.optimize import least_squares
from scipy.sparse import csr_matrix

from gough.core.threads import one_blas_thread
from gough.data import Poses
from gough.geometry import calibrate, held_out
from gough.geometry.descent import approach
from gough.geometry.geometric import geometric
from gough.report.calibration.page import calibration_documents
from tests.geometry.simulated import ANGLE, EXTREMAL, POSITION, READING, ROBOT, measured, truth

RUNS = 200
REPETITIONS = 5
RIVAL = 1000
"""Poses up to which scipy solves the sparse problem."""


@one_blas_thread()
def scipys(poses: Poses, covariance):
    """The same weighted problem as scipy's users write it: whitened residuals, Jacobian by finite differences.

    The weights are re-evaluated between rounds, as they must not be differentiated.
    """

    def equations(x):
        rows = x.reshape(6, 7)
        turned = np.einsum("nij,lj->nli", poses.rotation, rows[:, 3:6])
        d = poses.position[:, None] + turned - rows[:, :3]
        return d, turned, poses.readings + rows[:, 6]

    def whitener(x):
        d, turned, length = equations(x)
        J = np.zeros((len(poses), 6, 12))
        J[..., :3], J[..., 3:6] = 2 * d, 2 * np.cross(turned, d)
        J[:, range(6), range(6, 12)] = -2 * length
        return np.linalg.inv(np.linalg.cholesky(J @ covariance @ np.swapaxes(J, 1, 2)))

    x = ROBOT.nominal
    for _ in range(10):
        L = whitener(x)

        def residuals(y, L=L):
            d, _, length = equations(y)
            return (L @ ((d**2).sum(axis=2) - length**2)[..., None]).ravel()

        last, x = x, least_squares(residuals, x, x_scale=1e-3, xtol=1e-12, ftol=1e-12, gtol=1e-12).x
        if abs(x - last).max() < 1e-9:
            break
    return x


def processor_seconds(work) -> float:
    """Median over calls, after one to warm up: processor time, since others use the machine too."""
    work()
    times = []
    for _ in range(REPETITIONS):
        start = process_time()
        for _ in range(5):
            work()
        times.append((process_time() - start) / 5)
    return median(times)


def speed(rng) -> None:
    covariance = np.diag(np.concatenate([POSITION, ANGLE, READING]) ** 2)
    for n in (64, 704):
        readings = np.resize(EXTREMAL, (n, 6))
        _, poses = measured(truth(rng), readings, rng)
        problem = geometric(ROBOT, poses)
        ours, rival = approach(problem, ROBOT.nominal).theta, scipys(poses, covariance)
        sigma = calibrate(ROBOT, poses).estimate.region.sigma
        work = {
            "scipy least_squares, finite differences": lambda p=poses: scipys(p, covariance),
            "gough, the solution": lambda p=problem: approach(p, ROBOT.nominal),
            "gough calibrate: σ, χ², verdicts, structure": lambda p=poses: calibrate(ROBOT, p),
        }
        times = {name: processor_seconds(call) for name, call in work.items()}
        slowest = next(iter(times.values()))
        print(f"six legs, weighted, {n} poses (answers agree to {abs((ours - rival) / sigma).max():.1e} σ)")
        for name, t in times.items():
            print(f"  {name:<45} {1e3 * t:8.1f} ms   {slowest / t:6.1f}×")


@one_blas_thread()
def scipys_sparse(poses: Poses):
    """Plain least squares of the legs' closure errors, with the exact Jacobian as a sparse matrix."""
    N, legs = len(poses), np.arange(6)
    rows = np.repeat(np.arange(6 * N), 7)
    columns = np.tile(np.arange(42), N)

    def parts(x):
        of = x.reshape(6, 7)
        d = poses.position[:, None] + np.einsum("nij,lj->nli", poses.rotation, of[:, 3:6]) - of[:, :3]
        return d, np.linalg.norm(d, axis=2), of

    def residuals(x):
        _, length, of = parts(x)
        return (length - of[:, 6] - poses.readings).ravel()

    def jacobian(x):
        d, length, _ = parts(x)
        u = d / length[..., None]
        J = np.empty((N, len(legs), 7))
        J[..., :3], J[..., 3:6], J[..., 6] = -u, np.einsum("nij,nli->nlj", poses.rotation, u), -1.0
        return csr_matrix((J.ravel(), (rows, columns)), shape=(6 * N, 42))

    options = {"tr_solver": "lsmr", "xtol": 1e-12, "ftol": 1e-12, "gtol": 1e-12, "x_scale": "jac"}
    return least_squares(residuals, ROBOT.nominal, jacobian, method="trf", **options).x


def scale(rng) -> None:
    """Processor time from 10³ to 10⁵ poses, and the size of the page."""
    seconds, counts = [], (1000, 10_000, 100_000)
    for n in counts:
        _, poses = measured(truth(rng), rng.uniform(0, 0.14, (n, 6)), rng)
        plain = Poses(poses.position, poses.rotation, poses.readings)
        problem = geometric(ROBOT, plain, form="length")
        start = process_time()
        ours = approach(problem, ROBOT.nominal).theta
        solution = process_time() - start
        rivals = ""
        if n <= RIVAL:  # its iterations are too many for more
            start = process_time()
            rival = scipys_sparse(plain)
            seconds_of_scipy = process_time() - start
            rivals = (
                f"; unweighted solution {solution:.2f} s, scipy sparse {seconds_of_scipy:.2f} s "
                f"({seconds_of_scipy / solution:.0f}×, agree to {1e6 * abs(ours - rival).max():.2g} µm)"
            )
        start = process_time()
        found = calibrate(ROBOT, poses)
        calibrated = process_time() - start
        start = process_time()
        files = calibration_documents("Scale", (), found)
        page = process_time() - start
        seconds.append(calibrated + page)
        print(
            f"  {n:>7} poses: calibrate with verdicts {calibrated:6.2f} s, page {page:5.2f} s, report.html "
            f"{len(files['report.html']) / 1e6:.2f} MB{rivals}"
        )
    slope = np.log(seconds[-1] / seconds[-2]) / np.log(counts[-1] / counts[-2])
    print(f"  growth exponent from 10⁴ to 10⁵ poses: {slope:.2f}")


def honesty(rng) -> None:
    theta = truth(rng)
    _, others = measured(theta, rng.uniform(0, 0.14, (64, 6)), rng)
    rows = {"least squares": [], "weighted": []}
    spread = {"least squares": [], "weighted": []}
    inside, checks, chi = [], [], []
    for run in range(RUNS):
        _, poses = measured(theta, EXTREMAL, rng)
        plain = Poses(poses.position, poses.rotation, poses.readings)
        for name, given in (("least squares", plain), ("weighted", poses)):
            found = calibrate(ROBOT, given)
            rows[name].append(found.parameters - theta)
            spread[name].append(found.estimate.region.sigma)
        half = found.estimate.region.interval().width / 2
        inside.append(abs(found.parameters - theta) <= half)
        chi.append(found.estimate.stats.chi_squared)
        if run < 10:
            checks.append(held_out(ROBOT, others, ROBOT.nominal, found.parameters))
    for name, errors in rows.items():
        rms, predicted = np.sqrt(np.mean(np.square(errors), axis=0)), np.sqrt(np.mean(np.square(spread[name]), axis=0))
        ratio = rms / predicted
        print(
            f"  {name:<14} error/σ over {RUNS} runs: {np.sqrt(np.mean(ratio**2)):.3f} "
            f"(42 parameters: {ratio.min():.2f}–{ratio.max():.2f}); rms {1e3 * np.sqrt(np.mean(rms**2)):.4f} mm"
        )
    print(f"  95 % intervals hold {100 * np.mean(inside):.1f} % of the true values; χ²/dof {np.mean(chi):.3f}")
    before, after = (np.mean([getattr(c, f"position_{w}").mean() for c in checks]) for w in ("before", "after"))
    turned = [np.mean([getattr(c, f"orientation_{w}").mean() for c in checks]) for w in ("before", "after")]
    print(
        f"  64 other poses, mean error: {1e3 * before:.3f} → {1e3 * after:.3f} mm, "
        f"{np.degrees(turned[0]):.3f} → {np.degrees(turned[1]):.3f}°"
    )


def main() -> None:
    rng = np.random.default_rng(1)
    print(__doc__.splitlines()[0])
    if "--scale" in sys.argv:
        scale(rng)
        return
    speed(rng)
    honesty(rng)


if __name__ == "__main__":
    main()
