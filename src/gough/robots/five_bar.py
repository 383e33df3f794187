"""The planar five-bar: two motors, two proximal and two distal links, one end point."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.kernels import Kernel
from gough.robots._five_bar_equations import kernels
from gough.robots._geometry import length
from gough.robots.refusal import refuse_where

_BODIES = tuple(
    (f"{symbol}_{body}", unit)
    for body in (1, 2, 3, 4)
    for symbol, unit in (("m", "kg"), ("mx", "kg·m"), ("my", "kg·m"), ("I", "kg·m²"))
)
_FRICTION = tuple(
    (f"{symbol}_{motor}", unit) for motor in (1, 2) for symbol, unit in (("fv", "N·m·s/rad"), ("fc", "N·m"))
)
_PARAMETERS = (*_BODIES, ("m_load", "kg"), *_FRICTION)


@dataclass(frozen=True)
class FiveBar:
    """A planar five-bar (RRRRR) with both motors on the x axis, at (∓base/2, 0), in a vertical plane by default.

    Motor angles q are measured from the x axis, positive from x to y. Parameters of the dynamic model: for each body
    its mass m, first moments (mx, my) in a frame at the joint nearer to the motor with x along the link, and moment of
    inertia I about that joint; the payload's mass m_load at the end point; viscous and dry friction fv, fc of each
    motor. Bodies 1 and 2 are the proximal links of motors 1 and 2 (with rotor), 3 and 4 the distal links.

    Examples:
        >>> robot = FiveBar.demo()
        >>> robot.forward([2.0, 1.0]).round(4)
        array([0.026 , 0.4911])
        >>> robot.inverse([0.0, 0.5]).round(4)
        array([2.0424, 1.0992])
        >>> robot.regressor([2.0, 1.0], [1.0, 0.0], [0.0, 0.0]).shape
        (2, 21)
    """

    base: float = length(0.2, "distance between the motor axes")
    proximal: tuple[float, float] = length((0.25, 0.25), "lengths of the links on motors 1 (left) and 2 (right)")
    distal: tuple[float, float] = length((0.35, 0.35), "lengths of the links from elbows 1 and 2 to the end point")
    side: int = 1
    """Assembly mode: +1 if the end point lies left of the line from elbow 1 to elbow 2 (above it), -1 if right."""
    elbows: tuple[int, int] = (1, -1)
    """Working mode: elbow i lies left (+1) or right (-1) of the line from motor i to the end point."""
    gravity: tuple[float, float] = (0.0, -9.81)
    """Acceleration of gravity in the plane; (0, 0) for a horizontal robot."""
    least_margin: float = 1e-3
    """Poses with a smaller singularity margin are refused."""

    def __post_init__(self) -> None:
        lengths = np.array([*_pair(self.proximal, "proximal"), *_pair(self.distal, "distal")])
        require(bool(np.all(np.isfinite(lengths) & (lengths > 0))), "the lengths of all four links must be positive")
        require(np.isfinite(self.base) and self.base >= 0, "base must be a distance, zero or positive")
        require(self.base < lengths.sum(), "base is longer than all links together: the robot cannot be assembled")
        require(self.side in (-1, 1), "side must be +1 or -1")
        require(all(elbow in (-1, 1) for elbow in _pair(self.elbows, "elbows")), "elbows must be +1 or -1 each")
        require(bool(np.all(np.isfinite(_pair(self.gravity, "gravity")))), "gravity must be two finite numbers")
        require(0 < self.least_margin < 1, "least_margin is a sine: between 0 and 1")

    @classmethod
    def demo(cls) -> "FiveBar":
        """A bench-top robot with links of 0.25 m and 0.35 m, for examples and tests."""
        return cls()

    @property
    def name(self) -> str:
        """What the robot is called in reports."""
        return "five-bar"

    @property
    def actuators(self) -> tuple[str, ...]:
        """The rows of the regressor."""
        return ("motor 1", "motor 2")

    @property
    def effort_units(self) -> tuple[str, ...]:
        """The units of the motor torques."""
        return ("N·m", "N·m")

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the motor angles."""
        return ("q1", "q2")

    @property
    def coordinate_units(self) -> tuple[str, ...]:
        """The units of the motor angles."""
        return ("rad", "rad")

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the regressor."""
        return tuple(name for name, _ in _PARAMETERS)

    @property
    def units(self) -> tuple[str, ...]:
        """The units of the parameters."""
        return tuple(unit for _, unit in _PARAMETERS)

    @property
    def nominal(self) -> Array:
        """Parameters of a robot of this size made of aluminum tubes with bearings at their ends.

        Tubes weigh 0.6 kg/m (proximal) and 0.3 kg/m (distal) and lie 1 mm beside the line between their joints; the
        bearings at the outer joints weigh 0.15 kg and 0.08 kg; rotor and gear add 0.004 kg m².
        """
        bodies: list[float] = []
        for lengths, density, bearing, rotor in ((self.proximal, 0.6, 0.15, 4e-3), (self.distal, 0.3, 0.08, 0.0)):
            for link in lengths:
                tube = density * link
                inertia = tube * link**2 / 3 + bearing * link**2 + rotor  # slender rod, and a point at its end
                bodies += [tube + bearing, tube * link / 2 + bearing * link, 1e-3 * tube, inertia]
        return np.array([*bodies, 0.25, 0.08, 0.30, 0.07, 0.25])

    def forward(self, q: Any) -> Array:
        """The end point (N, 2) for motor angles (N, 2)."""
        self._refuse(q)
        return kernels()["forward"].evaluate(q, self._geometry)["position"]

    def elbow_positions(self, q: Any) -> Array:
        """The elbows (N, 2, 2): elbow, coordinate.

        Examples:
            >>> FiveBar.demo().elbow_positions([np.pi, 0.0]).round(3)
            array([[-0.35,  0.  ],
                   [ 0.35,  0.  ]])
        """
        return kernels()["forward"].evaluate(q, self._geometry)["elbows"]

    def inverse(self, position: Any) -> Array:
        """Motor angles (N, 2) in (-π, π] for end points (N, 2), in the robot's assembly and working mode.

        Raises:
            InputError: out of reach, too near a singularity, or reached only in the other assembly mode.
        """
        found = kernels()["inverse"].evaluate(position, self._geometry, np.array(self.elbows, dtype=float))
        for i in range(2):
            refuse_where(found["reach"][..., i] < 0, f"the end point is out of reach of motor {i + 1}")
        side = self.side * found["meeting"]
        refuse_where(side <= -self.least_margin, "the end point is reached only in the other assembly mode")
        refuse_where(side < self.least_margin, "the distal links are aligned: the end point is a singular pose")
        return found["q"]

    def closure(self, q: Any, position: Any) -> Array:
        """The closure equations |P - B_i|² - r_i² (N, 2), in m², zero where the mechanism is assembled.

        Examples:
            >>> robot = FiveBar.demo()
            >>> bool(np.abs(robot.closure([2.0, 1.0], robot.forward([2.0, 1.0]))).max() < 1e-15)
            True
        """
        return kernels()["closure"](q, position, self._geometry)

    def jacobian(self, q: Any) -> Array:
        """∂P/∂q (N, 2, 2): rows are coordinates of the end point, columns are motors.

        Examples:
            >>> FiveBar.demo().jacobian([2.0, 1.0]).shape
            (2, 2)
        """
        self._refuse(q)
        return kernels()["jacobian"](q, self._geometry)

    def margin(self, q: Any) -> Array:
        """Distance from singularity (N,): the sine of the angle between the distal links.

        1 is best; 0 is a parallel singularity, where motor torques cannot hold the end point; negative if the elbows
        are too far apart, or too close together, for the distal links to meet.

        Examples:
            >>> FiveBar.demo().margin([[2.0, 1.0], [3.1, 0.0]]).round(3)
            array([0.977, 0.04 ])
        """
        return kernels()["margin"](q, self._geometry)

    def regressor(self, q: Any, dq: Any, ddq: Any) -> Array:
        """Motor torques per unit of each parameter (N, 2, 21) for motor angles, velocities, accelerations (N, 2).

        Raises:
            InputError: a pose is singular or cannot be assembled; the message names the first such sample.
        """
        self._refuse(q)
        return kernels()["regressor"](q, dq, ddq, self._geometry, self.gravity)

    def regressor_kernel(self) -> Kernel:
        """The regressor of this very robot as a kernel of q, dq, ddq: to differentiate, enclose or export as C.

        Unlike `regressor`, it refuses no pose: where the links cannot meet, its values are NaN.

        Examples:
            >>> [port.name for port in FiveBar.demo().regressor_kernel().inputs]
            ['q', 'dq', 'ddq']
        """
        return kernels()["regressor"].bind(geometry=self._geometry, gravity=self.gravity)

    def margin_kernel(self) -> Kernel:
        """The `margin` of this very robot as a kernel of q.

        Examples:
            >>> round(float(FiveBar.demo().margin_kernel()([2.0, 1.0])), 3)
            0.977
        """
        return kernels()["margin"].bind(geometry=self._geometry)

    @property
    def _geometry(self) -> Array:
        return np.array([self.base, *self.proximal, *self.distal, self.side], dtype=float)

    def _refuse(self, q: Any) -> None:
        margin = self.margin(q)
        refuse_where(margin < 0, "the distal links cannot meet: check the units (rad) and the order of the motors")
        refuse_where(
            margin < self.least_margin,
            "the distal links are aligned (parallel singularity): no torque holds the end point there",
        )


def _pair(value: Any, what: str) -> tuple[Any, Any]:
    require(isinstance(value, tuple) and len(value) == 2, f"{what} must be a tuple of two numbers")
    return (value[0], value[1])
