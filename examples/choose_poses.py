"""The poses to measure for the calibration of a delta printer, and whether they keep what they promise."""

import numpy as np

from gough import calibrate, choose_poses
from gough.data import Poses
from gough.designs.poses import PoseLimits
from gough.robots import LinearDelta

printer = LinearDelta()
limits = PoseLimits(pose={"x": (-0.08, 0.08), "y": (-0.08, 0.08), "z": (0.0, 0.1)})
chosen = choose_poses(printer, limits, count=12, position=5e-5, readings=1e-6, draws=200)
print(chosen)

# Calibrate 40 simulated robots from these poses: their errors scatter as promised.
rng = np.random.default_rng(1)
p, errors = chosen.poses.position, []
for _ in range(40):
    truth = printer.nominal + rng.normal(0, 5e-4, len(printer.names))
    readings = printer.inverse(truth, p)
    seen = Poses(p + rng.normal(0, 5e-5, p.shape), None, readings + rng.normal(0, 1e-6, p.shape))
    calibrated = calibrate(printer, seen.with_noise(position=5e-5, readings=1e-6))
    errors.append([calibrated[name] - true for name, true in zip(printer.names, truth, strict=True)])
promised = dict(zip(chosen.problem.information.names, chosen.sigma, strict=True))
for i, name in enumerate(printer.names):
    scatter = float(np.sqrt(np.mean([error[i] ** 2 for error in errors])))
    print(f"{name}: σ predicted {promised[name]:.3g}, observed {scatter:.3g}")
    assert 0.65 < scatter / promised[name] < 1.4  # beyond three standard deviations of an rms of 40 errors
