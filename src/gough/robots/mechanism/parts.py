"""The parts of a mechanism: bodies, joints, closures, and what is known of the drives and the friction."""

from dataclasses import dataclass
from math import isfinite
from typing import Literal

from gough.core.errors import InputError, nearest, require
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.placement import STILL, Placement, Vector, unit, vector

BASE = "base"
"""The name of the fixed frame; no body may have it."""

Kind = Literal["revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "free", "fixed"]

FREEDOMS: dict[str, tuple[tuple[str, str], ...]] = {
    "revolute": (("", "turn"),),
    "prismatic": (("", "slide"),),
    "cylindrical": (("slide", "slide"), ("turn", "turn")),
    "universal": (("1", "turn"), ("2", "turn")),
    "spherical": (("x", "turn"), ("y", "turn"), ("z", "turn")),
    "planar": (("x", "slide"), ("y", "slide"), ("yaw", "turn")),
    "free": (
        ("x", "slide"), ("y", "slide"), ("z", "slide"), ("roll", "turn"), ("pitch", "turn"), ("yaw", "turn"),
    ),
    "fixed": (),
}  # fmt: skip
"""For each kind of joint its coordinates: what is added to the joint's name, and whether it turns or slides."""

DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
HELD: dict[str, tuple[str, ...]] = {
    "point": ("x", "y", "z"),
    "frame": DIRECTIONS,
    "revolute": ("x", "y", "z", "rx", "ry"),
    "universal": ("x", "y", "z", "rz"),
    "planar point": ("x", "y"),
}
"""Closures that have a name, and the directions that they hold."""


@dataclass(frozen=True)
class Limits:
    """Limits of position, speed, acceleration and effort of a coordinate; infinite by default.

    Examples:
        >>> Limits(0.4, 1.1, speed=2.0).middle
        0.75
    """

    lower: float = -float("inf")
    upper: float = float("inf")
    speed: float = float("inf")
    acceleration: float = float("inf")
    effort: float = float("inf")

    def __post_init__(self) -> None:
        require(self.lower < self.upper, f"limits must have lower < upper, but they are {self.lower:g}, {self.upper:g}")
        for name in ("speed", "acceleration", "effort"):
            require(getattr(self, name) > 0, f"the limit of {name} must be positive, but is {getattr(self, name):g}")

    @property
    def is_bounded(self) -> bool:
        """Whether both ends of the range are known."""
        return isfinite(self.lower) and isfinite(self.upper)

    @property
    def middle(self) -> float:
        """Middle of the range; zero where an end is open."""
        return (self.lower + self.upper) / 2 if self.is_bounded else 0.0


@dataclass(frozen=True)
class Friction:
    """Friction of one coordinate: dry r · sign, viscous v · speed and a constant offset o, with their nominal values.

    None leaves a term out. Coordinates that share a `group` share its coefficients.

    Examples:
        >>> Friction("α", dry=0.4).parameters
        {'r_α': 0.4}
    """

    group: str
    """The suffix of its parameters: r_<group>, v_<group>, o_<group>."""
    dry: float | None = None
    viscous: float | None = None
    offset: float | None = None

    def __post_init__(self) -> None:
        require(bool(self.group), "friction needs a group, by which its parameters are called")
        for name, value in (("dry", self.dry), ("viscous", self.viscous)):
            require(value is None or value >= 0, f"{name} friction must not be negative, but is {value}")

    @property
    def parameters(self) -> dict[str, float]:
        """The names and nominal values of the terms that there are."""
        terms = {"r": self.dry, "v": self.viscous, "o": self.offset}
        return {f"{letter}_{self.group}": value for letter, value in terms.items() if value is not None}


@dataclass(frozen=True)
class Cogging:
    """Forces of a drive that repeat with its position: for each harmonic k a cos and a sin of 2π k q / period.

    The magnets of a direct drive pull it into steps; [AHG, §V] blames this for the bias of two of its actuators.

    Examples:
        >>> Cogging(period=0.03, harmonics=(1, 2)).harmonics
        (1, 2)
    """

    period: float
    harmonics: tuple[int, ...] = (1,)

    def __post_init__(self) -> None:
        require(self.period > 0 and isfinite(self.period), f"the period of cogging must be positive, not {self.period}")
        distinct = len(set(self.harmonics)) == len(self.harmonics) > 0
        require(distinct and min(self.harmonics) >= 1, "the harmonics of cogging must be different numbers from 1")


@dataclass(frozen=True)
class Freedom:
    """Start, limits, friction and drive of one coordinate of a joint.

    Examples:
        >>> Freedom(start=0.9, limits=Limits(0.5, 1.2)).friction is None
        True
    """

    start: float | None = None
    """Start of the search for the home position; the middle of the limits, or zero, by default."""
    limits: Limits | None = None
    friction: Friction | None = None
    rotor: float | None = None
    """Inertia of a motor's rotor as felt by this coordinate, beyond that of the bodies; None: no such parameter."""
    cogging: Cogging | None = None


@dataclass(frozen=True)
class Body:
    """A rigid body. Its frame is that of its joint, moved by the joint's coordinates.

    Examples:
        >>> Body("slider1", Inertia(2.0, symmetry="center"), group="3").parameters
        ('m_3', 'Ixx_3', 'Iyy_3', 'Izz_3')
    """

    name: str
    inertia: Inertia
    group: str = ""
    """Bodies of one group are identical: they share their parameters. Its own name by default."""

    @property
    def tied(self) -> str:
        """The group."""
        return self.group or self.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return tuple(f"{term}_{self.tied}" for term in self.inertia.terms)


@dataclass(frozen=True)
class Joint:
    """The joint between a body and its parent, about and along axes of a frame at `placement` in the parent.

    Coordinates by kind: revolute, prismatic: one about or along `axis`. cylindrical: both. universal: a turn about
    `axis`, then one about `second_axis`, which turns with the first. spherical: turns about x, y, z, one after the
    other. planar: x, y and a turn about z. free: x, y, z, roll, pitch, yaw with R = R_z(yaw) R_y(pitch) R_x(roll).

    Examples:
        >>> hook = Joint("hook1", "universal", "base", "stator1", axis=(0, 1, 0), second_axis=(1, 0, 0))
        >>> hook.coordinates
        ('hook1_1', 'hook1_2')
    """

    name: str
    kind: Kind
    parent: str
    child: str
    placement: Placement = STILL
    axis: Vector = (0.0, 0.0, 1.0)
    """In the joint's frame; any length but zero."""
    second_axis: Vector = (1.0, 0.0, 0.0)
    """Second axis of a universal joint."""
    freedoms: tuple[Freedom, ...] = ()
    """One for each coordinate; nothing is known of them by default."""

    def __post_init__(self) -> None:
        if self.kind not in FREEDOMS:
            raise InputError(
                f"joint '{self.name}': there is no kind '{self.kind}'{nearest(self.kind, FREEDOMS)} "
                f"(known: {', '.join(FREEDOMS)})"
            )
        for field in ("axis", "second_axis"):
            object.__setattr__(self, field, unit(getattr(self, field), f"{field} of joint '{self.name}'"))
        n = len(FREEDOMS[self.kind])
        if not self.freedoms:
            object.__setattr__(self, "freedoms", (Freedom(),) * n)
        require(
            len(self.freedoms) == n,
            f"joint '{self.name}' is {self.kind}: it has {n} freedoms, not {len(self.freedoms)}",
        )
        if self.kind == "universal":
            across = sum(a * b for a, b in zip(self.axis, self.second_axis, strict=True))
            require(
                abs(across) < 0.999, f"the two axes of joint '{self.name}' are parallel: it would be a revolute one"
            )

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of its coordinates."""
        return tuple(f"{self.name}_{word}" if word else self.name for word, _ in FREEDOMS[self.kind])


@dataclass(frozen=True)
class Closure:
    """Two frames, of two bodies, that stay together in the given directions of the first: what makes a loop.

    x, y, z hold the second origin on the first in these directions; rx, ry, rz hold the attitude. rx and ry without rz
    leave a turn about z (a hinge); rz alone keeps the x axis of the first frame at a right angle to the y axis of the
    second (a universal joint, whose cross lies along these axes); all three hold the frames parallel.

    Examples:
        >>> Closure("ball1", ("slider1", "platform"), (Placement(), Placement((0.1, 0.0, 0.0)))).directions
        ('x', 'y', 'z')
    """

    name: str
    bodies: tuple[str, str]
    placements: tuple[Placement, Placement] = (STILL, STILL)
    directions: tuple[str, ...] = HELD["point"]

    def __post_init__(self) -> None:
        for direction in self.directions:
            if direction not in DIRECTIONS:
                raise InputError(
                    f"closure '{self.name}': '{direction}' is no direction (known: {', '.join(DIRECTIONS)})"
                )
        distinct = len(set(self.directions)) == len(self.directions) > 0
        require(distinct, f"closure '{self.name}' must hold some directions, each named once")
        require(self.bodies[0] != self.bodies[1], f"closure '{self.name}' holds '{self.bodies[0]}' to itself")

    @classmethod
    def at_points(cls, name: str, bodies: tuple[str, str], points: tuple[Vector, Vector]) -> "Closure":
        """A ball joint between a point of one body and a point of another."""
        first, second = (Placement(vector(point, f"a point of closure '{name}'")) for point in points)
        return cls(name, bodies, (first, second))


@dataclass(frozen=True)
class Platform:
    """The body whose pose is controlled, and the coordinates of that pose.

    Examples:
        >>> Platform("plate", ("x", "y", "z"), (0.0, 0.0, -0.7)).home
        (0.0, 0.0, -0.7)
    """

    body: str
    pose: tuple[str, ...] = ("x", "y", "z", "roll", "pitch", "yaw")
    """The coordinates that determine all others: some of x, y, z, roll, pitch, yaw of the body in the base frame, then
    perhaps coordinates of joints by name; as many as there are actuators."""
    home: tuple[float, ...] = ()
    """A pose well inside the workspace; zero by default."""
    tool: Placement = STILL
    """The frame on the body whose pose is meant."""

    def __post_init__(self) -> None:
        known = [word for word, _ in FREEDOMS["free"]]
        others = [word for word in self.pose if word not in known]
        in_order = list(self.pose) == [*(word for word in known if word in self.pose), *others]
        require(
            in_order and bool(self.pose),
            f"the pose must be some of {', '.join(known)}, in this order and each once, then coordinates of joints",
        )
        if not self.home:
            object.__setattr__(self, "home", (0.0,) * len(self.pose))
        require(len(self.home) == len(self.pose), f"home must have {len(self.pose)} numbers, not {len(self.home)}")
        require(all(isfinite(value) for value in self.home), "home must be finite")

    @property
    def words(self) -> tuple[str, ...]:
        """Those coordinates of the pose that are the body's."""
        known = [word for word, _ in FREEDOMS["free"]]
        return tuple(word for word in self.pose if word in known)
