"""Probed heights of delta printers: proven brackets of ε with certificates, against scipy's minimax fit.

    python -m benchmarks.height_certificates                         # simulated printers
    python -m benchmarks.height_certificates printer.cfg another.cfg

scipy's SLSQP minimizes the largest miss of a height over parameters near the calibrated ones, from these and from five
random starts; it proves nothing. Its ε must not lie below the bracket.
"""

import sys
from pathlib import Path
from time import process_time

import numpy as np
from scipy.optimize import minimize

from gough.checker.height_check import check_heights
from gough.closure import ProbedHeights, height_tolerance
from gough.closure.height_certificates import height_certificates
from gough.core.threads import one_blas_thread
from gough.data import KlipperDelta, read_klipper
from gough.geometry import calibrate_printer
from gough.geometry.printers import CalibratedPrinter
from gough.robots import LinearDelta

AROUND, WIDTH = 1e-3, 1e-6
"""Half the width of the box of geometries, and the width of the bracket at which the search ends, m."""
STARTS = 5


def simulated(seed: int) -> KlipperDelta:
    """Seven heights of a printer near its configuration, with an error of 0.01 mm."""
    rng = np.random.default_rng(seed)
    conf = LinearDelta()
    mine = conf.nominal + rng.normal(0, 3e-4, 10) * [1, 1, 1, 1, 5, 5, 0, 0, 0, 0]
    ring = np.arange(6) * np.pi / 3
    p = np.vstack([0.1 * np.column_stack([np.cos(ring), np.sin(ring), np.zeros(6)]), np.zeros((1, 3))])
    none = np.zeros(0)
    heights = p[:, 2] + rng.normal(0, 1e-5, 7)
    return KlipperDelta(
        conf.radius, conf.angle, conf.arm, conf.endstop, heights, conf.inverse(mine, p), none, none.reshape(0, 2, 3)
    )


@one_blas_thread()
def scipys(calibrated: CalibratedPrinter, rng: np.random.Generator) -> float:
    """The smallest largest miss, in m, by sequential quadratic programming: min ε with −ε ≤ z_i − h_i ≤ ε."""
    probes, model, theta = calibrated.probes, calibrated.model, calibrated.parameters
    scale = np.array([1e-3, 1e-3, 1e-3, 1e-3, 1e-2, 1e-2])

    def misses(x):
        at = theta.copy()
        at[:6] += scale * x[:6]
        return 1e3 * (model.forward(at, probes.height_readings).position[:, 2] - probes.heights)

    within = [
        {"type": "ineq", "fun": lambda x: x[6] - misses(x)},
        {"type": "ineq", "fun": lambda x: x[6] + misses(x)},
    ]
    best = np.inf
    for k in range(1 + STARTS):
        start = np.zeros(6) if k == 0 else rng.uniform(-0.5, 0.5, 6)
        first = np.append(start, abs(misses(np.append(start, 0.0))).max())
        found = minimize(
            lambda x: x[6], first, method="SLSQP", constraints=within, bounds=[(-1, 1)] * 6 + [(0, None)],
            options={"ftol": 1e-12, "maxiter": 300},
        )  # fmt: skip
        best = min(best, float(abs(misses(found.x)).max()))
    return best / 1e3


def compared(name: str, probes: KlipperDelta, path: Path | None) -> None:
    """One line: both answers and the ratio of their processor times."""
    calibrated = calibrate_printer(probes)
    problem = ProbedHeights(probes, calibrated.parameters, AROUND, 0.0)
    height_tolerance(problem, width=1.0)  # compiled before it is timed
    began = process_time()
    bracket = height_tolerance(problem, width=WIDTH)
    proven = process_time() - began
    made = checked = float("nan")
    if path is not None:
        files = {path.name: path.read_bytes()}
        began = process_time()
        certificates = height_certificates(problem, bracket, files)
        made = process_time() - began
        began = process_time()
        for one in (certificates.lower, certificates.upper):
            assert one is not None
            assert check_heights(one, files)
        checked = process_time() - began
    began = process_time()
    rival = scipys(calibrated, np.random.default_rng(1))
    fitted = process_time() - began
    inside = bracket.lower <= rival * (1 + 1e-6)
    print(
        f"  {name}: ε {1e6 * bracket.lower:.3f} … {1e6 * bracket.upper:.3f} µm in {proven:.2f} s, certificates "
        f"{made:.2f} s, check {checked:.2f} s; scipy {1e6 * rival:.3f} µm in {fitted:.2f} s, without proof "
        f"({'not below the lower end' if inside else 'BELOW THE LOWER END'}); gough/scipy {proven / fitted:.1f}",
        flush=True,
    )


def main() -> None:
    print(__doc__.splitlines()[0])
    paths = [Path(each) for each in sys.argv[1:]]
    for path in paths:
        compared(path.name, read_klipper(path), path)
    if not paths:
        for seed in range(5):
            compared(f"simulated {seed}", simulated(seed), None)


if __name__ == "__main__":
    main()
