"""Static force tests: an arm pushes on a fixed force sensor while its amplifier gets one voltage after the other."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import require, require_positive


@dataclass(frozen=True, eq=False)
class StaticForceTests(ArrayValue):
    """Voltages and the forces they cause at the end of each arm [NCPP, §V.B]: data for the gains of the amplifiers.

    Examples:
        >>> tests = StaticForceTests(voltages=[1.0, 2.0], forces=[[5.0], [10.0]], lever=0.4, gains=[2.0])
        >>> tests.forces.shape
        (2, 1)
    """

    voltages: Array
    """(N,) in volts, the same for each actuator in turn."""
    forces: Array
    """(N, actuators) as the sensor shows them, in N."""
    lever: float
    """From the motor's axis to the sensor, in m."""
    gains: Array
    """The truth (actuators,) in N·m/V: what the tests are to find."""

    def __post_init__(self) -> None:
        for name, ndim in (("voltages", 1), ("forces", 2), ("gains", 1)):
            object.__setattr__(self, name, array(getattr(self, name), name, ndim=ndim))


def static_force_tests(
    rng: np.random.Generator,
    *,
    gains: Any,
    lever: float,
    voltages: Any = None,
    sigma: float = 0.5,
    friction: Any = 0.0,
    offset: Any = 0.0,
) -> StaticForceTests:
    """Virtual static force tests: force · lever = gain · V + offset + what dry friction holds back.

    A motor that stands still hides any torque up to its dry friction: in each test a share of it, drawn evenly between
    -1 and 1, is added. A dither, or an approach from both sides, makes that small.

    Args:
        rng: The source of randomness.
        gains: True gain of each actuator, N·m/V.
        lever: From the motor's axis to the force sensor, m.
        voltages: The voltages applied; None takes eleven from -5 to 5 V.
        sigma: Standard deviation of the force sensor's errors, N.
        friction: Dry friction of each motor that the test does not average out, N·m.
        offset: Torque at zero voltage, such as the weight of the arm, N·m.

    Examples:
        >>> tests = static_force_tests(np.random.default_rng(1), gains=[2.5, 2.6], lever=0.375, sigma=0.0)
        >>> (tests.forces[-1] * tests.lever / tests.voltages[-1]).round(9)
        array([2.5, 2.6])
    """
    G = array(gains, "gains", ndim=1)
    V = array(np.linspace(-5.0, 5.0, 11) if voltages is None else voltages, "voltages", ndim=1)
    require(bool(np.isfinite(G).all() and (G != 0).all()), "gains must be finite and not 0, in N·m/V")
    require(bool(np.isfinite(V).all()) and len(V) > 0, "voltages must be finite, at least one")
    require_positive(lever, "lever", "m")
    require(np.isfinite(sigma) and sigma >= 0, f"sigma must not be negative, but is {sigma}")
    require(bool((np.asarray(friction) >= 0).all()), "friction must not be negative")
    held = rng.uniform(-1.0, 1.0, (len(V), len(G))) * friction
    errors = sigma * rng.standard_normal((len(V), len(G)))
    return StaticForceTests(V, (np.outer(V, G) + offset + held) / lever + errors, float(lever), G)
