"""The planar five-bar: two motors, two proximal and two distal links, one end point.

Motor i turns the proximal link A_i B_i by q_i from the x axis; the distal link B_i P joins elbow B_i to the end
point P. Link frames have their origin in the joint nearer to the motor, and their x axis along the link. In the
comments, e is the unit vector along a link, n = e turned by +90°, l and r are lengths of proximal and distal links.

    geometry = (base, l_1, l_2, r_1, r_2, side): motors at (∓base/2, 0); side is +1 if P lies left of the line from
    B_1 to B_2, else -1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from math import pi
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots._geometry import length
from gough.robots.controller import ControllerEquations, EffortEquations
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.parts import BASE, HELD, Body, Closure, Freedom, Friction, Joint, Limits, Platform
from gough.robots.mechanism.placement import Placement
from gough.robots.physical import PhysicalLimits, RigidBody, limits_by_unit
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
        """The name of the robot in reports."""
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

    @property
    def physical(self) -> PhysicalLimits:
        """Four links that move in a plane; the load's mass and friction cannot be negative."""
        links = (
            RigidBody(f"link {k}", {"m": f"m_{k}", "sx": f"mx_{k}", "sy": f"my_{k}", "Izz": f"I_{k}"})
            for k in (1, 2, 3, 4)
        )
        return PhysicalLimits(limits_by_unit(self.names[16:], self.units[16:]), tuple(links))

    @cached_property
    def mechanism(self) -> Mechanism:
        """Four links, a payload on the first distal one, and a closure at the end point.

        Its parameters are those of this model in the same order: m, sx, sy, Izz for m, mx, my, I of each link; dry
        before viscous friction.
        """
        reach = [0.83 * (a + b) for a, b in zip(self.proximal, self.distal, strict=True)]
        home = np.array([0.0, self.side * (min(reach) ** 2 - self.base**2 / 4) ** 0.5])
        q = self.inverse(home)
        turns = np.arctan2(*(home - self.elbow_positions(q)).T[::-1]) - q
        values = self.nominal
        joints = []
        for i in (0, 1):
            k = str(i + 1)
            viscous, dry = values[17 + 2 * i : 19 + 2 * i].tolist()
            motor = Freedom(float(q[i]), Limits(-pi, 2 * pi), Friction(k, dry=dry, viscous=viscous))
            at = Placement(((2 * i - 1) * self.base / 2, 0.0, 0.0))
            elbow = Placement((self.proximal[i], 0.0, 0.0))
            bend = Freedom(float(turns[i]))
            joints += [
                Joint(f"q{k}", "revolute", BASE, f"proximal{k}", at, freedoms=(motor,)),
                Joint(f"elbow{k}", "revolute", f"proximal{k}", f"distal{k}", elbow, freedoms=(bend,)),
            ]
        ends = [Placement((length, 0.0, 0.0)) for length in self.distal]
        joints.append(Joint("hand", "fixed", "distal1", "load", ends[0]))
        links = [Inertia.in_plane(m, (mx, my), inertia) for m, mx, my, inertia in values[:16].reshape(4, 4).tolist()]
        names = ("proximal1", "proximal2", "distal1", "distal2")
        bodies = [Body(name, link, str(k)) for k, (name, link) in enumerate(zip(names, links, strict=True), start=1)]
        bodies.append(Body("load", Inertia(float(values[16]), symmetry="point")))
        return Mechanism(
            self.name,
            tuple(bodies),
            tuple(joints),
            (Closure("end", ("load", "distal2"), (Placement(), ends[1]), HELD["planar point"]),),
            actuated=self.coordinates,
            platform=Platform("load", ("x", "y"), tuple(home.tolist())),
            gravity=(*self.gravity, 0.0),
            actuators=self.actuators,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Only the fields are pickled; what follows from them is computed anew."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

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
        solution = kernels()["inverse"].evaluate(position, self._geometry, np.array(self.elbows, dtype=float))
        for i in range(2):
            refuse_where(solution["reach"][..., i] < 0, f"the end point is out of reach of motor {i + 1}")
        side = self.side * solution["meeting"]
        refuse_where(side <= -self.least_margin, "the end point is reached only in the other assembly mode")
        refuse_where(side < self.least_margin, "the distal links are aligned: the end point is a singular pose")
        return solution["q"]

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

    def controller_equations(self) -> ControllerEquations:
        """Kinematics and dynamics as kernels of end point and motor angles, for a controller.

        Examples:
            >>> FiveBar.demo().controller_equations().coordinates
            ('x', 'y', 'q1', 'q2')
        """
        geometry, g = ex.vector(*self._geometry.tolist()), self.gravity
        elbows, at_home = ex.vector(*map(float, self.elbows)), np.array(self.mechanism.platform.home)

        def states(x: Expression) -> dict[str, Expression]:
            solution = inverse(x, geometry, elbows)
            # the other assembly mode has the same motor angles: it is out of reach
            same = ex.where(self.side * solution["meeting"] > 0, 0.0, float("nan"))
            return {"s": ex.vector(x, solution["q"] + same)}

        def joint(s: Expression, *motion: Expression) -> dict[str, Expression]:
            dq, ddq, theta, weight = motion
            W = regressor(s[2:], dq, ddq, geometry, ex.vector(*g) * weight)
            return {"rigid": W[:, :-4] @ theta[:-4], "friction": W[:, -4:] @ theta[-4:]}

        def columns(chosen: Sequence[int]) -> Kernel:
            def look(s: Expression, dq: Expression, ddq: Expression) -> dict[str, Expression]:
                W = regressor(s[2:], dq, ddq, geometry, ex.vector(*g))
                return {"W": ex.matrix(*(W[:, k] for k in chosen))}

            return trace(look, name="columns", inputs={"s": 4, "dq": 2, "ddq": 2})

        sizes: dict[str, int | tuple[int, ...]] = {"s": 4, "dq": 2, "ddq": 2, "theta": len(self.names), "weight": ()}
        return ControllerEquations(
            coordinates=("x", "y", "q1", "q2"),
            home=np.append(at_home, self.inverse(at_home)),
            actuated=(2, 3),
            pose=(0, 1),
            scale=np.ones(4),
            forward=trace(lambda q: {"s": ex.vector(pose(q, geometry).end, q)}, name="forward", inputs={"q": 2}),
            inverse=trace(states, name="states", inputs={"x": 2}),
            complete=None,
            jacobian=trace(lambda s: {"J": _jacobian(s[2:], geometry)}, name="jacobian", inputs={"s": 4}),
            margin=trace(lambda s: margin(s[2:], geometry), name="margin", inputs={"s": 4}),
            least_margin=self.least_margin,
            efforts=EffortEquations(
                trace(joint, name="joint_efforts", inputs=sizes),
                None,
                columns,
                tuple(name[:2] in ("fv", "fc") for name in self.names),
            ),
        )

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


GEOMETRY = 6


@dataclass(frozen=True)
class FiveBarPose:
    """The mechanism at motor angles q."""

    proximal: tuple[Expression, Expression]
    """e of each proximal link."""
    distal: tuple[Expression, Expression]
    """e of each distal link."""
    elbows: tuple[Expression, Expression]
    end: Expression


def direction(angle: Expression) -> Expression:
    """The unit vector e at this angle."""
    return ex.vector(ex.cos(angle), ex.sin(angle))


def turned(v: Expression) -> Expression:
    """The plane vector v turned by +90°."""
    return ex.vector(-v[1], v[0])


def motors(geometry: Expression) -> tuple[Expression, Expression]:
    """The motor axes A_1 and A_2."""
    return ex.vector(-geometry[0] / 2, 0.0), ex.vector(geometry[0] / 2, 0.0)


def pose(q: Expression, geometry: Expression) -> FiveBarPose:
    """Forward kinematics: P is where the circles of radius r_i about the elbows meet, on the chosen side."""
    proximal = (direction(q[0]), direction(q[1]))
    a_1, a_2 = motors(geometry)
    b_1, b_2 = a_1 + geometry[1] * proximal[0], a_2 + geometry[2] * proximal[1]
    end = _meeting(b_1, b_2, geometry[3], geometry[4], geometry[5])
    return FiveBarPose(proximal, ((end - b_1) / geometry[3], (end - b_2) / geometry[4]), (b_1, b_2), end)


def _meeting(a: Expression, b: Expression, r_a: Expression, r_b: Expression, side: Expression) -> Expression:
    """The point at distances r_a from a and r_b from b, left (side = 1) or right (-1) of the line from a to b.

    Its foot on that line follows from the law of cosines in the triangle, its height from Pythagoras.
    """
    across = b - a
    squared = ex.dot(across, across)
    along = (squared + r_a**2 - r_b**2) / (2 * squared)
    height = ex.sqrt(r_a**2 / squared - along**2)
    return a + along * across + side * height * turned(across)


def closure(q: Expression, position: Expression, geometry: Expression) -> Expression:
    """The closure equations |P - B_i|² - r_i², zero where the mechanism is assembled."""
    a_1, a_2 = motors(geometry)
    d_1 = position - a_1 - geometry[1] * direction(q[0])
    d_2 = position - a_2 - geometry[2] * direction(q[1])
    return ex.vector(ex.dot(d_1, d_1) - geometry[3] ** 2, ex.dot(d_2, d_2) - geometry[4] ** 2)


def margin(q: Expression, geometry: Expression) -> Expression:
    """The sine of the angle between the distal links, or minus √|1 - cos²| where they cannot meet."""
    a_1, a_2 = motors(geometry)
    across = a_2 + geometry[2] * direction(q[1]) - a_1 - geometry[1] * direction(q[0])
    return _sine(geometry[3], geometry[4], ex.dot(across, across))


def _sine(a: Expression, b: Expression, c_squared: Expression) -> Expression:
    """The sine of the angle opposite side c in a triangle; negative, -√(cos² - 1), if a, b, c make no triangle."""
    cosine = (a**2 + b**2 - c_squared) / (2 * a * b)  # law of cosines
    squared = (1 - cosine) * (1 + cosine)
    return ex.sign(squared) * ex.sqrt(ex.absolute(squared))


def inverse(position: Expression, geometry: Expression, elbows: Expression) -> dict[str, Expression]:
    """Motor angles for an end point, elbow i left (+1) or right (-1) of the line from motor i to the end point.

    Also `reach`, for each chain the sine of the angle at its elbow (negative: out of reach), and `meeting`, the sine of
    the angle from the second distal link to the first, whose sign is the side on which P then lies.
    """
    angles, reaches, distal = [], [], []
    for i, motor in enumerate(motors(geometry)):
        length, rod = geometry[1 + i], geometry[3 + i]
        elbow = _meeting(motor, position, length, rod, elbows[i])
        chord = position - motor
        angles.append(ex.atan2(elbow[1] - motor[1], elbow[0] - motor[0]))
        reaches.append(_sine(length, rod, ex.dot(chord, chord)))
        distal.append((position - elbow) / rod)
    return {"q": ex.vector(*angles), "reach": ex.vector(*reaches), "meeting": ex.cross(distal[0], distal[1])}


def _distal_rates(of: FiveBarPose, geometry: Expression, w: Expression) -> Expression:
    """(x_1, x_2) with r_1 x_1 n_1 - r_2 x_2 n_2 = w: the closure equation, differentiated.

    Each unknown follows by projection on the other link. The denominator vanishes where the links are aligned.
    """
    e_1, e_2 = of.distal
    sine = ex.dot(turned(e_1), e_2)
    return ex.vector(ex.dot(w, e_2) / (geometry[3] * sine), ex.dot(w, e_1) / (geometry[4] * sine))


@dataclass(frozen=True)
class FiveBarMotion:
    """First and second derivatives of a pose; matrices have a column per motor."""

    elbow_jacobians: tuple[Expression, Expression]
    elbow_accelerations: tuple[Expression, Expression]
    turning_jacobians: tuple[Expression, Expression]
    """Gradients by q of the angle of each distal link."""
    turning_rates: Expression
    turning_accelerations: Expression
    end_jacobian: Expression
    end_acceleration: Expression


def motion(at: FiveBarPose, dq: Expression, ddq: Expression, geometry: Expression) -> FiveBarMotion:
    """Velocities and accelerations of all links, by differentiating B_1 + r_1 e_1 = B_2 + r_2 e_2 twice in time."""
    zero = ex.vector(0.0, 0.0)
    lengths = (geometry[1], geometry[2])
    tangents = [length * turned(e) for length, e in zip(lengths, at.proximal, strict=True)]
    J_1, J_2 = ex.matrix(tangents[0], zero), ex.matrix(zero, tangents[1])
    accelerations = [
        tangents[i] * ddq[i] - lengths[i] * at.proximal[i] * dq[i] ** 2 for i in range(2)
    ]  # centripetal and tangential acceleration on a circle
    by_motor = [_distal_rates(at, geometry, (J_2 - J_1)[:, i]) for i in range(2)]
    turning = (ex.vector(by_motor[0][0], by_motor[1][0]), ex.vector(by_motor[0][1], by_motor[1][1]))
    rates = ex.vector(ex.dot(turning[0], dq), ex.dot(turning[1], dq))
    e_1, e_2 = at.distal
    centripetal = geometry[3] * rates[0] ** 2 * e_1 - geometry[4] * rates[1] ** 2 * e_2
    spins = _distal_rates(at, geometry, accelerations[1] - accelerations[0] + centripetal)
    n_1 = turned(e_1)
    return FiveBarMotion(
        elbow_jacobians=(J_1, J_2),
        elbow_accelerations=(accelerations[0], accelerations[1]),
        turning_jacobians=turning,
        turning_rates=rates,
        turning_accelerations=spins,
        end_jacobian=J_1 + geometry[3] * n_1 @ turning[0].T,
        end_acceleration=accelerations[0] + geometry[3] * (spins[0] * n_1 - rates[0] ** 2 * e_1),
    )


def regressor(q: Expression, dq: Expression, ddq: Expression, geometry: Expression, gravity: Expression) -> Expression:
    """Torques per unit of each parameter, by the principle of virtual power (d'Alembert, Jourdain).

    Columns: (m, mx, my, I) of proximal links 1 and 2 and distal links 1 and 2, the payload's mass, and for each motor
    viscous and dry friction.
    """
    at = pose(q, geometry)
    moving = motion(at, dq, ddq, geometry)
    still = ex.matrix(ex.vector(0.0, 0.0), ex.vector(0.0, 0.0))
    units = (ex.vector(1.0, 0.0), ex.vector(0.0, 1.0))
    columns = []
    for i in range(2):
        columns += _body(still, -gravity, at.proximal[i], turning=units[i], rate=dq[i], spin=ddq[i])
    for i in range(2):
        columns += _body(
            moving.elbow_jacobians[i],
            moving.elbow_accelerations[i] - gravity,
            at.distal[i],
            turning=moving.turning_jacobians[i],
            rate=moving.turning_rates[i],
            spin=moving.turning_accelerations[i],
        )
    columns.append(moving.end_jacobian.T @ (moving.end_acceleration - gravity))
    for i in range(2):
        columns += [units[i] * dq[i], units[i] * ex.sign(dq[i])]
    return ex.matrix(*columns)


def _body(
    J: Expression, a: Expression, e: Expression, *, turning: Expression, rate: Expression, spin: Expression
) -> list[Expression]:
    """The columns of mass, first moments (mx, my) and moment of inertia about the origin of a body's frame.

    A point ρ of the body moves by δr = J δq + Sρ (turning · δq) and accelerates by a + spin Sρ - rate² ρ, where J and
    a - gravity (here `a`) belong to the frame's origin and S turns by 90°. Summing acceleration · δr over the body's
    mass, with Sρ · ρ = 0, leaves the terms below.
    """
    n = turned(e)
    return [
        J.T @ a,
        J.T @ (spin * n - rate**2 * e) + turning * ex.dot(a, n),
        J.T @ (-spin * e - rate**2 * n) - turning * ex.dot(a, e),
        turning * spin,
    ]


def _jacobian(q: Expression, geometry: Expression) -> Expression:
    return motion(pose(q, geometry), ex.vector(0.0, 0.0), ex.vector(0.0, 0.0), geometry).end_jacobian


def _forward(q: Expression, geometry: Expression) -> dict[str, Expression]:
    at = pose(q, geometry)
    return {"position": at.end, "elbows": ex.matrix(*at.elbows).T}


@cache
def kernels() -> dict[str, Kernel]:
    """The equations, traced once for all five-bars: the geometry is an input."""
    shape = {"geometry": GEOMETRY}
    return {
        "forward": trace(_forward, name="five_bar_forward", inputs={"q": 2, **shape}),
        "inverse": trace(inverse, name="five_bar_inverse", inputs={"position": 2, **shape, "elbows": 2}),
        "closure": trace(closure, name="five_bar_closure", inputs={"q": 2, "position": 2, **shape}),
        "margin": trace(margin, name="five_bar_margin", inputs={"q": 2, **shape}),
        "jacobian": trace(_jacobian, name="five_bar_jacobian", inputs={"q": 2, **shape}),
        "regressor": trace(
            regressor, name="five_bar_regressor", inputs={"q": 2, "dq": 2, "ddq": 2, **shape, "gravity": 2}
        ),
    }
