"""The circle on which an identified model proves itself: a motion that was not used to identify it."""

from typing import Any

import numpy as np

from gough.core.arrays import array
from gough.core.errors import require
from gough.simulate.trajectories import FourierSeries


def benchmark_circle(
    center: Any,
    radius: float,
    *,
    rate: float,
    speed: float = 1.0,
    inclination: float = np.radians(30.0),
    mirrored: bool = False,
) -> FourierSeries:
    """A circle at constant speed, in a plane through the x axis inclined by 30° [AHG, §V], as a series of one harmonic.

    Args:
        center: A pose; its first three coordinates are x, y and z, the others stay as they are.
        radius: In m.
        rate: Samples a second; the speed is changed a little so that a period is a whole number of them.
        speed: About so many m/s.
        inclination: Angle between the plane and the horizontal, in rad.
        mirrored: The plane is inclined to the other side: the mirror image of the motion.

    Examples:
        >>> circle = benchmark_circle([0.0, 0.0, -0.43, 0.0], 0.08, rate=1000.0)
        >>> circle.at([0.0]).q.round(3)
        array([[ 0.08,  0.  , -0.43,  0.  ]])
        >>> round(float(np.linalg.norm(circle.at([0.1]).dq)), 2)
        1.0
    """
    middle = array(center, "center", ndim=1)
    require(len(middle) >= 3, f"a circle in space needs a center with x, y and z, but it has {len(middle)} coordinates")
    for name, value in (("radius", radius), ("speed", speed), ("rate", rate)):
        require(bool(np.isfinite(value)) and value > 0, f"{name} must be positive, but it is {value}")
    n = round(2 * np.pi * radius / speed * rate)
    require(n >= 8, f"one turn has {n} samples at {rate:g} Hz: raise the rate, or lower the speed")
    frequency = rate / n
    v = 2 * np.pi * frequency * radius
    mu, nu = np.zeros((2, len(middle), 1))
    nu[0] = -v  # x = radius · cos ωt
    mu[1], mu[2] = v * np.cos(inclination), v * np.sin(inclination) * (-1 if mirrored else 1)
    return FourierSeries(middle, mu, nu, frequency)
