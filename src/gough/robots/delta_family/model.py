"""The model that H4, Par4 and Delta share: arms on motors, pairs of rods, and a platform that keeps its attitude."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import cos, sin, sqrt
from typing import Any, ClassVar, Self

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import InputError, nearest, require
from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.robots.controller import ControllerEquations
from gough.robots.delta_family.controller import controller_equations
from gough.robots.delta_family.description import ArmGeometry, ArmParts, Top, arm_mechanism
from gough.robots.delta_family.equations import Family, kernel, regressor_of_motors, regressor_of_pose
from gough.robots.delta_family.search import PoseSearch
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.drawing import draw, segments
from gough.robots.model import CoordinateMotion, JointMotion, PoseMotion
from gough.robots.physical import Limit, PhysicalLimits, limits_by_unit
from gough.robots.refusal import refuse_where

Parameter = tuple[str, str, float]
"""Name, unit and nominal value."""


def chain_parameters(
    masses: tuple[Parameter, ...], values: tuple[float, float, float, float], n_chains: int
) -> tuple[Parameter, ...]:
    """Parameters after [NCPP, eq. (23)], for chains alike (n_chains = 1) or each on its own, with nominal `values`."""
    chain = (("i_act", "kg·m²"), ("gS_arm", "N·m"), ("f_c", "N·m"), ("f_v", "N·m·s/rad"))
    numbers = [""] if n_chains == 1 else [str(i + 1) for i in range(n_chains)]
    inertia, *others = (
        [(f"{name}{number}", unit, value) for number in numbers]
        for (name, unit), value in zip(chain, values, strict=True)
    )
    return (*inertia, *masses, *(parameter for group in others for parameter in group))


@dataclass(frozen=True)
class DeltaFamily(ABC):
    """A robot whose platform hangs from arms by pairs of parallel rods: made as H4, Par4 or Delta.

    Poses and motor angles may be given for one sample (a vector) or for many (a leading axis of N samples). A sample
    with a NaN is missing: its results are NaN, and it is never refused.
    """

    geometry: ArmGeometry
    variant: str = "rods"
    gravity: float = 9.81
    """Acceleration of gravity, along -z."""
    least_margin: float = 1e-3
    """Poses with a smaller margin or reach are refused."""
    parts: ArmParts = field(kw_only=True)
    """The masses of the full mechanism; the equations of this model do not contain them."""

    ADDS: ClassVar[dict[str, str]]
    """For each variant, simplest first, the effect that it adds to the one before, as text."""
    FAMILY: ClassVar[Family]
    """The equations."""
    HANGING: ClassVar[float]
    """By this angle all arms hang at home, about."""

    def __post_init__(self) -> None:
        self._check()

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the robot in reports."""

    @abstractmethod
    def _columns(self, variant: str) -> tuple[Parameter, ...]:
        """The columns of a variant's regressor."""

    @property
    @abstractmethod
    def _top(self) -> Top:
        """The platform of the full mechanism."""

    @property
    @abstractmethod
    def _lumped(self) -> dict[str, float]:
        """The parameters of all variants by name, summed up from the parts; without friction."""

    @property
    def home(self) -> Array:
        """The pose in which all arms hang alike, well inside the workspace."""
        of = self.geometry
        middle = -of.turning * np.mean(of.TURNED, axis=0) + 0.0
        height = home_height(of.arm, of.rod, of.radius, hanging=self.HANGING)
        return np.array([*middle, height, 0.0][: self.FAMILY.n_pose])

    @cached_property
    def mechanism(self) -> Mechanism:
        """The full mechanism: every arm, rod and joint, with the masses of `parts` and the nominal friction."""
        of = self.geometry
        blueprint = of.blueprint
        blueprint[:, :2] += of.fixed
        return arm_mechanism(
            self.name,
            blueprint,
            self.parts,
            self._top,
            friction=self.friction,
            gravity=self.gravity,
            redundant=self._is_redundant,
        )

    @property
    def friction(self) -> list[tuple[float, float]]:
        """Nominal dry and viscous friction of each motor."""
        nominal = {name.lower(): value for name, _, value in self._columns("rods")}
        return [(nominal[f"f_c{k}"], nominal[f"f_v{k}"]) for k in range(1, self.FAMILY.n_motors + 1)]

    @property
    def _is_redundant(self) -> bool:
        """Whether closures of the full mechanism repeat one another."""
        return False

    def with_parts(self, **changes: Any) -> Self:
        """The same robot with other masses, inertias or spacing of the rods: see `parts`.

        Examples:
            >>> from gough.robots import H4
            >>> H4().with_parts(rod_mass=0.05).parts.rod_mass
            0.05
        """
        return replace(self, parts=replace(self.parts, **changes))

    def parameters_of_parts(self) -> Array:
        """The parameters of this variant, summed up from `parts`; friction is zero.

        Half of each rod goes to its elbow, half to the platform [NCPP, §IV.A]. The variant "rods" is then exact, except
        for the turning of the rods about their own axes. Its `m_rod` is the mass of a uniform slender rod, and
        6 (m/4 - I/L²) of any other rod of mass m and length L whose inertia about its center, across itself, is I.
        """
        lumped = self._lumped
        unknown = [name for name in self.names if name not in lumped and not name.lower().startswith("f_")]
        assert not unknown, f"no rule sums up {unknown}"
        return np.array([lumped.get(name, 0.0) for name in self.names])

    @property
    def _parameters(self) -> tuple[Parameter, ...]:
        return self._columns(self.variant)

    @property
    def actuators(self) -> tuple[str, ...]:
        """The rows of the regressor."""
        return self._numbered("motor ")

    @property
    def effort_units(self) -> tuple[str, ...]:
        """The units of the motor torques."""
        return ("N·m",) * self.FAMILY.n_motors

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the motor angles."""
        return self._numbered("q")

    @property
    def coordinate_units(self) -> tuple[str, ...]:
        """The units of the motor angles."""
        return ("rad",) * self.FAMILY.n_motors

    @property
    def pose_names(self) -> tuple[str, ...]:
        """The names of the pose coordinates."""
        return ("x", "y", "z", "θ")[: self.FAMILY.n_pose]

    @property
    def pose_units(self) -> tuple[str, ...]:
        """The units of the pose coordinates."""
        return ("m", "m", "m", "rad")[: self.FAMILY.n_pose]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the regressor."""
        return tuple(name for name, _, _ in self._parameters)

    @property
    def units(self) -> tuple[str, ...]:
        """The units of the parameters."""
        return tuple(unit for _, unit, _ in self._parameters)

    @property
    def nominal(self) -> Array:
        """Plausible values of the parameters."""
        return np.array([value for _, _, value in self._parameters])

    @property
    def physical(self) -> PhysicalLimits:
        """Masses, inertias and friction cannot be negative; the weight of an arm can, if it has a counterweight.

        Since m_rod stands for the product of inertia between a rod's ends, it is positive if the rod's mass lies
        between its joints.
        """
        weights = tuple(name for name in self.names if name.startswith("gS_arm"))
        limits = limits_by_unit(self.names, self.units, free=(*weights, "m_rod"))
        rod = (Limit("m_rod", "mass", "the rods have mass beyond their joints"),) if "m_rod" in self.names else ()
        return PhysicalLimits((*limits, *rod))

    @property
    def variants(self) -> tuple[Self, ...]:
        """The same robot with each of its nested dynamic models, simplest first."""
        return tuple(replace(self, variant=variant) for variant in self.ADDS)

    @property
    def adds(self) -> str:
        """The effect that this variant adds to the one before, as text; empty for the first."""
        return self.ADDS[self.variant]

    def inverse(self, x: Any) -> Array:
        """Motor angles (N, motors) in (-π, π] for poses, with each elbow on the outer side.

        Raises:
            InputError: a pose is out of reach or too near a singularity; the message names the first such sample.
        """
        self._refuse(x)
        return kernel(self.FAMILY, "inverse")(x, self.geometry.numbers)

    def forward(self, q: Any, guess: Any = None) -> Array:
        """Poses for motor angles (N, motors), by Newton's method on the inverse kinematics [PRV03i, eq. (10)].

        The search starts at `guess` (one pose, or one per sample), or at home; a step that leaves the workspace,
        crosses a singularity or comes no closer is halved. It ends where rounding does.

        Raises:
            InputError: no pose is found, or it is too near a singularity; the message names the first such sample.
        """
        angles = self._read(q, "q", self.FAMILY.n_motors)
        start = self._read(self.home if guess is None else guess, "guess", self.FAMILY.n_pose)
        step, descent = (kernel(self.FAMILY, name) for name in ("newton", "descent"))
        search = PoseSearch(step, descent, self.geometry.numbers, self._signs[0])
        x = search.poses(np.atleast_2d(angles), start).reshape(*angles.shape[:-1], self.FAMILY.n_pose)
        self._refuse(x)
        return x

    def jacobian(self, x: Any) -> Array:
        """J (N, pose coordinates, motors) with ẋ = J q̇ [PRV03i, eq. (11)]."""
        self._refuse(x)
        return kernel(self.FAMILY, "jacobian")(x, self.geometry.numbers)

    def joint_motion(self, x: Any, dx: Any, ddx: Any) -> JointMotion:
        """Motor angles, velocities and accelerations for a motion of the platform, in closed form."""
        self._refuse(x)
        motion = kernel(self.FAMILY, "joint_motion").evaluate(x, dx, ddx, self.geometry.numbers)
        return JointMotion(motion["q"], motion["dq"], motion["ddq"])

    def pose_motion(self, q: Any, dq: Any, ddq: Any, guess: Any = None) -> PoseMotion:
        """Poses, velocities and accelerations for a motion of the motors; derivatives in closed form."""
        x = self.forward(q, guess)
        motion = kernel(self.FAMILY, "pose_motion").evaluate(x, dq, ddq, self.geometry.numbers)
        return PoseMotion(x, motion["dx"], motion["ddx"])

    def reach(self, x: Any) -> Array:
        """Distance of each chain from the edge of its workspace (N, motors): 1 is best, 0 is the edge.

        It is the sine of the angle between the arm and the line from its motor to its rods' end, both seen in the
        plane in which the arm turns; negative out of reach.
        """
        return self._margins(x)["reach"]

    def margin(self, x: Any) -> Array:
        """Distance from singularity (N,): zero at one, negative beyond it or out of reach.

        The smaller of two numbers without units. The first measures how firmly the motors hold the position and θ: up
        to a factor 2, the smallest singular value of J_x, rows divided by the rods' length and the column of θ by h.
        The second measures in the same way how firmly the pairs of rods hold the platform's attitude, which J_x does
        not contain: without it the platform tips over although J_x is regular.
        """
        margins = self._margins(x)
        reach = margins["reach"].min(axis=-1)
        return np.where(reach < 0, reach, (margins["margins"] * self._signs).min(axis=-1))

    def regressor(self, q: Any, dq: Any, ddq: Any) -> Array:
        """Motor torques per unit of each parameter (N, motors, parameters), from motor angles and derivatives.

        Raises:
            InputError: a pose is not found or too near a singularity; the message names the first such sample.
        """
        x = self.forward(q)
        return regressor_of_motors(self.FAMILY, self.variant)(x, dq, ddq, self.geometry.numbers, self.gravity)

    def regressor_kernel(self) -> Kernel:
        """The regressor of this very robot as a kernel of x, dx, ddx: to simulate, differentiate, enclose, export as C.

        Unlike `regressor` it refuses no pose: out of reach its values are NaN. Dry friction is a plain sign of dq.
        """
        every = regressor_of_pose(self.FAMILY, self.variant)
        return every.bind(geometry=self.geometry.numbers, gravity=self.gravity)

    def inverse_kernel(self) -> Kernel:
        """The motor angles of this very robot as a kernel of the pose; NaN out of reach."""
        return kernel(self.FAMILY, "inverse").bind(geometry=self.geometry.numbers)

    def joint_motion_kernel(self) -> Kernel:
        """The motors' motion `q`, `dq`, `ddq` as a kernel of x, dx, ddx."""
        return kernel(self.FAMILY, "joint_motion").bind(geometry=self.geometry.numbers)

    def margin_kernel(self) -> Kernel:
        """The margins as a kernel of the pose, positive on the side of home: `margin` is the smallest of them."""
        return self._of_pose("margins", "margin", self._signs)

    def reach_kernel(self) -> Kernel:
        """The `reach` of each motor as a kernel of the pose."""
        return self._of_pose("reach", "reach", np.ones(self.FAMILY.n_motors))

    def controller_equations(self) -> ControllerEquations:
        """Kinematics and dynamics as kernels of pose and motor angles, for a controller."""
        is_friction = tuple(name.lower().startswith("f_") for name in self.names)
        home = np.append(self.home, self.inverse(self.home))
        return controller_equations(
            self.FAMILY,
            self.variant,
            self.geometry.numbers,
            self.gravity,
            home=home,
            sides=self._signs,
            is_friction=is_friction,
            least_margin=self.least_margin,
        )

    def all_coordinates(self, x: Any) -> Array:
        """All coordinates of the full mechanism (N, coordinates) at poses, named by `mechanism.coordinates`."""
        self._refuse(x)
        return kernel(self.FAMILY, "all_coordinates")(x, self.geometry.numbers)

    def coordinate_motion(self, x: Any, dx: Any, ddx: Any) -> CoordinateMotion:
        """The motion of all coordinates of the full mechanism for a motion of the platform, in closed form."""
        self._refuse(x)
        motion = kernel(self.FAMILY, "coordinate_motion").evaluate(x, dx, ddx, self.geometry.numbers)
        return CoordinateMotion(motion["s"], motion["ds"], motion["dds"], motion["by_pose"])

    @property
    def segments(self) -> tuple[str, ...]:
        """The kind of each segment of `skeleton`: base, arm, rod or platform."""
        return tuple(segment.kind for segment in segments(self.mechanism))

    def skeleton(self, x: Any) -> Array:
        """End points (N, segments, 2, 3) of the segments that draw the robot, in the base frame."""
        s = kernel(self.FAMILY, "all_coordinates")(x, self.geometry.numbers)
        drawn = draw(self.mechanism, np.atleast_2d(s))
        return drawn if np.ndim(x) == 2 else drawn[0]

    def __getstate__(self) -> dict[str, Any]:
        """Only the fields are pickled; what follows from them is computed anew."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def _numbered(self, word: str) -> tuple[str, ...]:
        return tuple(f"{word}{i + 1}" for i in range(self.FAMILY.n_motors))

    def _read(self, value: Any, what: str, n: int) -> Array:
        values = array(value, what, ndim=(1, 2), copy=False)
        require(
            values.shape[-1] == n,
            f"{what} of {self.name} must have {n} numbers in each sample, but its shape is {values.shape}",
        )
        return values

    def _of_pose(self, output: str, name: str, factors: Array) -> Kernel:
        """One output of the margins' kernel, times constants, with this geometry."""
        every = kernel(self.FAMILY, "margins").bind(geometry=self.geometry.numbers)
        k = [port.name for port in every.outputs].index(output)
        times = ex.vector(*factors.tolist())
        return trace(lambda x: every.function.call([x])[k] * times, name=name, inputs={"x": self.FAMILY.n_pose})

    def _margins(self, x: Any) -> dict[str, Array]:
        return kernel(self.FAMILY, "margins").evaluate(x, self.geometry.numbers)

    @cached_property
    def _signs(self) -> Array:
        """The signs of the margins at home: beyond a singularity they are the opposite."""
        return np.sign(self._margins(self.home)["margins"])

    def _refuse(self, x: Any) -> None:
        """Raise InputError for the first pose that is out of reach or nearly singular."""
        margins = self._margins(x)
        reach, margin = margins["reach"], (margins["margins"] * self._signs).min(axis=-1)
        if not ((reach < self.least_margin).any() or (margin < self.least_margin).any()):
            return
        for i in range(self.FAMILY.n_motors):
            own = reach[..., i]
            refuse_where(own < 0, f"the pose is out of reach of motor {i + 1}: check the units (m, rad)")
            refuse_where(
                own < self.least_margin, f"the chain of motor {i + 1} is stretched or folded: the edge of reach"
            )
        refuse_where(margin < 0, "the pose lies beyond a singularity: the robot gets there only in another assembly")
        refuse_where(margin < self.least_margin, "the pose is singular: motors and rods do not hold the platform")

    def _check(self) -> None:
        """Refuse an unknown variant, and a robot that is singular at home."""
        if self.variant not in self.ADDS:
            known = ", ".join(f"'{variant}'" for variant in self.ADDS)
            raise InputError(
                f"{self.name} has no variant '{self.variant}'{nearest(self.variant, self.ADDS)} (known: {known})"
            )
        n = self.FAMILY.n_motors
        require(len(self.parts.rotor_inertia) == n, f"rotor_inertia must be {n} numbers, one per motor")
        require(bool(np.isfinite(self.gravity)), f"gravity must be a finite acceleration in m/s², not {self.gravity}")
        require(0 < self.least_margin < 1, f"least_margin must lie between 0 and 1, but it is {self.least_margin}")
        every = kernel(self.FAMILY, "margins").interpreted(self.home, self.geometry.numbers)  # needs no compiler
        margins = every["margins"]
        require(
            bool(np.abs(margins).min() >= self.least_margin),
            f"{self.name} is singular at home with these headings alpha of its motors (margins "
            f"{', '.join(f'{value:.2g}' for value in margins)}): the motors or the rods do not hold its platform",
        )


def home_height(arm: float, rod: float, offset: float, hanging: float) -> float:
    """The height z of the pose in which all arms hang by the angle `hanging`, to two digits.

    `offset` is the horizontal distance from an arm's motor to its rods' end, which is inside the motor.
    """
    across = offset + arm * cos(hanging)
    require(
        rod > abs(across),
        f"the robot cannot be assembled: rods of {rod:g} m do not bridge the {across:.3g} m from the elbows to the "
        "platform; check that arm is the link on the motor and rod the link on the platform",
    )
    return float(f"{-arm * sin(hanging) - sqrt(rod**2 - across**2):.2g}")
