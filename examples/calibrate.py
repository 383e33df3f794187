"""Geometry of a hexapod from 40 measured poses: 42 parameters with confidence intervals."""

import numpy as np

from gough import calibrate
from gough.core.rotations import exp
from gough.data import Poses
from gough.robots import GoughPlatform

# The robot is off its blueprint by about 1 mm. Poses are measured with σ = 0.01 mm and 0.01 mrad.
blueprint, rng = GoughPlatform.deltalab(), np.random.default_rng(1)
truth = blueprint.nominal + rng.normal(0, 1e-3, len(blueprint.names))
position, rotation = rng.normal([0, 0, 0.35], 0.03, (40, 3)), exp(rng.normal(0, 0.15, (40, 3)))
readings = blueprint.inverse(truth, position, rotation)
seen = Poses(
    position + rng.normal(0, 1e-5, position.shape),
    exp(rng.normal(0, 1e-5, position.shape)) @ rotation,
    readings + rng.normal(0, 1e-6, readings.shape),
).with_noise(position=1e-5, orientation=1e-5, readings=1e-6)

calibrated = calibrate(blueprint, seen)
print(calibrated)

assert not calibrated.refuted
inside = [true in calibrated.interval(name) for name, true in zip(blueprint.names, truth, strict=True)]
print(f"{sum(inside)} of {len(inside)} true parameters lie in their 95 % intervals.")
assert sum(inside) >= 36  # 40 on average; fewer than 36 of 42 with probability below 1 % if they were independent
assert calibrated.rms[1] < 0.05 * calibrated.rms[0]
