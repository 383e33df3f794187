"""The tables of [DACP06] as printed, digit by digit, and what can be said of them without any data."""

from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.core.rotations import angle_between
from gough.geometry.gauges import Procrustes, regauged
from gough.robots import GoughPlatform

ROBOT = GoughPlatform.deltalab()
"""[DACP06, Table 1]."""

READING_SIGMA = ("0.0077", "0.0127", "0.0117", "0.0102", "0.0118", "0.0190")
"""[DACP06, Table 2]: standard deviations of the six readings, mm."""

POSE_SIGMA = (
    ("α", "9.23e-03"),
    ("β", "1.19e-02"),
    ("γ", "8.94e-03"),
    ("x", "6.33e-05"),
    ("y", "2.30e-05"),
    ("z", "6.08e-05"),
)
"""[DACP06, Table 3]: standard deviations of Euler angles (degrees) and positions (m)."""


def _table(text: str) -> tuple[tuple[str, ...], ...]:
    """A row for each leg: a, b, l as printed, mm."""
    return tuple(tuple(line.split()) for line in text.strip().splitlines())


TABLE_1 = _table("""
-223.1792 -151.9573 0 -19.9938 -193.9723 0 345
223.1792 -151.9573 0 19.9938 -193.9723 0 345
243.1885 -117.3002 0 177.9818 79.6710 0 345
20.0093 269.2575 0 157.9880 114.3013 0 345
-20.0093 269.2575 0 -157.9880 114.3013 0 345
-243.1885 -117.3002 0 -177.9818 79.6710 0 345
""")
"""The blueprint as printed, mm."""
TABLE_4 = _table("""
-220.7358 -148.9040 -1.3908 -20.5951 -191.2210 0.2772 334.5216
220.1908 -148.9040 -1.3908 18.2577 -191.2210 0.2772 334.0422
240.5155 -116.3502 -1.3908 176.4621 78.6322 0.2772 337.5156
20.5843 264.2345 3.1014 156.3954 110.6810 -0.7735 333.2639
-18.3513 265.3592 3.9762 -155.1999 112.7371 -0.7923 334.7650
-242.2035 -115.4354 -2.9053 -175.3203 80.3917 0.7341 337.3083
""")
"""x_c as printed, mm."""
TABLE_5 = _table("""
-226.4666 -148.8772 7.1414 -24.6547 -191.3399 -5.5916 345.6908
226.7834 -148.8772 7.1414 15.9240 -191.3399 -5.5916 345.8367
244.1771 -121.0730 7.1414 178.4731 75.4911 -5.5916 345.9741
17.7684 270.0970 -16.0551 158.2606 109.7645 -2.2261 347.0417
-17.9290 267.6828 -12.0433 -153.4852 113.8857 9.4908 343.6362
-244.3333 -118.9524 6.6741 -174.5178 83.5386 9.5100 345.9276
""")
"""x_cσ as printed, mm."""

LEAST_SQUARES: Array = np.array(TABLE_4, dtype=np.float64).reshape(-1) / 1000
"""x_c, m [DACP06, Table 4]: a, b, l of each leg."""
WEIGHTED: Array = np.array(TABLE_5, dtype=np.float64).reshape(-1) / 1000
"""x_cσ, m [DACP06, Table 5]."""


class ValidationErrors(NamedTuple):
    """Mean and standard deviation of errors of predicted poses: mm, and degrees."""

    position: float
    position_sd: float
    orientation: float
    orientation_sd: float


VALIDATION = {
    "before": ("1.32", "0.62", "0.34", "0.27"),
    "x_c": ("0.67", "0.4", "0.26", "0.27"),
    "x_cσ": ("1.10", "0.45", "0.26", "0.27"),
}
"""[DACP06, Table 6]: in the order of `ValidationErrors`, with the units of its second and third row in their places."""

EPSILON_CERTIFIED = ("27.38", "26.93", "32.78", "33.42", "25.46", "24.01")
"""ε_cert by leg, mm [DACP06, Table 7]: with less, no solution exists in x_c ± 100 mm."""
EPSILON = ("27.53", "26.96", "33.12", "33.48", "25.53", "24.24")
"""ε by leg, mm: with this much a point is exhibited."""


class Apart(NamedTuple):
    """How far two geometries are apart, in mm."""

    rms: float
    largest: float
    parameter: str
    """Where it is largest."""


def apart(one: Array, other: Array) -> Apart:
    """The distance of two geometries, each in the gauge that brings its joints next to the blueprint's.

    Examples:
        >>> apart(LEAST_SQUARES, WEIGHTED).largest > 6
        True
    """
    d = 1e3 * (regauged(ROBOT, one, gauge=Procrustes()).parameters - regauged(ROBOT, other).parameters)
    k = int(abs(d).argmax())
    return Apart(float(np.sqrt((d**2).mean())), float(abs(d[k])), ROBOT.names[k])


class Moved(NamedTuple):
    """How far the platform goes where its legs are wrong."""

    position: float
    """Mean distance over configurations and errors, m."""
    orientation: float
    """Mean angle, rad."""


def moved_by(epsilon: float, *, seed: int = 1, configurations: int = 64) -> Moved:
    """Errors of predicted poses of the blueprint's platform from leg errors that are uniform within ± ε (m).

    Examples:
        >>> far = moved_by(5e-4)
        >>> bool(4e-4 < far.position < 8e-4)
        True
    """
    rng = np.random.default_rng(seed)
    readings = rng.uniform(0.035, 0.105, (configurations, 6))
    right = ROBOT.forward(ROBOT.nominal, readings)
    wrong = ROBOT.forward(ROBOT.nominal, readings + epsilon * rng.uniform(-1, 1, readings.shape), right)
    far = np.linalg.norm(wrong.position - right.position, axis=1).mean()
    return Moved(float(far), float(angle_between(wrong.rotation, right.rotation).mean()))


def epsilon_of(position: float) -> float:
    """The ε (m) whose uniform leg errors move predicted positions by so much (m) on average.

    Examples:
        >>> bool(5e-4 < epsilon_of(0.67e-3) < 1e-3)
        True
    """
    return 1e-4 * position / moved_by(1e-4).position
