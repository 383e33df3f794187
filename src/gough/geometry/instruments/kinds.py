"""The kinds of instruments: what each measures of a pose, as traced expressions with all derivatives.

A kind has local parameters x: where the instrument stands, where its target sits on the platform, which surface is
touched. Rotations among them are small turns after a reference matrix, as those of poses are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from gough.core.errors import InputError, nearest
from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.robots.kinematics import turned


@dataclass(frozen=True)
class Part:
    """A group of local parameters: a point, a placement, a plane."""

    name: str
    """The key that states it: `frame`, `point`, …"""
    suffixes: tuple[str, ...]
    """Names of its parameters behind that of the instrument."""
    units: tuple[str, ...]
    turns: bool = False
    """Whether its last three parameters are a turn after a reference rotation."""


FRAME = Part("frame", ("x", "y", "z", "rx", "ry", "rz"), ("m",) * 3 + ("rad",) * 3, turns=True)
"""The robot's base in the instrument's frame."""
TARGET = Part("target", tuple(f"target_{c}" for c in FRAME.suffixes), FRAME.units, turns=True)
"""The tracked target in the platform's frame."""
POINT = Part("point", ("point_x", "point_y", "point_z"), ("m",) * 3)
"""A point in the platform's frame: a reflector, the tip of a probe, the eye of a wire."""
MOUNT = Part("mount", ("mount_rx", "mount_ry", "mount_rz"), ("rad",) * 3, turns=True)
"""The orientation of a sensor in the platform's frame."""
UP = Part("up", ("up_x", "up_y"), ("", ""))
"""Horizontal components of the vertical in the robot's frame, where its vertical component is 1."""
OFFSET = Part("offset", ("offset",), ("rad",))
"""Reading of a heading sensor where the platform is not turned."""
ANCHOR = Part("anchor", ("anchor_x", "anchor_y", "anchor_z"), ("m",) * 3)
"""A point in the robot's frame, to which distances are measured."""
PLANE = Part("plane", ("slope_x", "slope_y", "height"), ("", "", "m"))
"""Slopes of a plane along the axes of a reference whose third one is its normal, and its distance from the origin."""
SPHERE = Part("sphere", ("center_x", "center_y", "center_z", "radius"), ("m",) * 4)
"""Center of a sphere in the robot's frame, and its radius."""
CAMERA = Part("camera", ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2", "k3"), ("px",) * 4 + ("",) * 5)
"""Focal lengths, center and Brown's distortion [BRO71] of a camera, in OpenCV's conventions."""


@dataclass(frozen=True)
class Kind:
    """What an instrument measures."""

    name: str
    about: str
    """What it measures, in words."""
    channels: tuple[str, ...]
    """Names of its columns."""
    units: tuple[str, ...]
    parts: tuple[Part, ...]
    value: Callable[..., Any]
    """The measured value, from (parts …, position, rotation): rotations of parts are matrices."""
    is_angle: bool = False
    """Whether differences of 2π count for nothing."""
    has_rotation: bool = False
    """Whether its last three channels are the turn from a measured orientation."""
    is_pair: bool = False
    """Whether it relates two poses."""
    is_contact: bool = False
    """Whether nothing but zero is measured, where no column is stated."""
    is_image: bool = False
    """Whether it sees several known points of a target, each with these channels."""

    @property
    def size(self) -> int:
        """Number of local parameters."""
        return sum(len(part.suffixes) for part in self.parts)

    @property
    def words(self) -> str:
        """Its name with an article: a point, an image."""
        return f"{'an' if self.name[0] in 'aeiou' else 'a'} {self.name}"

    def channels_of(self, points: int) -> tuple[str, ...]:
        """Names of the columns of so many points: those of the kind; u1, v1, u2, v2, … of several.

        Examples:
            >>> kind_called("image").channels_of(2)
            ('u1', 'v1', 'u2', 'v2')
        """
        if points == 1:
            return self.channels
        return tuple(f"{channel}{k + 1}" for k in range(points) for channel in self.channels)

    def __repr__(self) -> str:
        return f"Kind({self.name})"


def _turn_between(seen: Any, predicted: Any) -> Any:
    """The turn from a predicted orientation to the measured one: Cayley's vector, the inverse of `turned`."""
    E = seen @ predicted.T
    return 2 * ex.vector(E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]) / (1 + E[0, 0] + E[1, 1] + E[2, 2])


def _pose(frame: Any, target: Any, position: Any, rotation: Any) -> Any:
    (t, Z), (s, Y) = frame, target
    return Z @ (position + rotation @ s) + t, Z @ rotation @ Y


def _point(frame: Any, point: Any, position: Any, rotation: Any) -> Any:
    t, Z = frame
    return Z @ (position + rotation @ point) + t


def _tilts(up: Any, mount: Any, _position: Any, rotation: Any) -> Any:
    """Angles of the sensor's x and y axes above the horizontal."""
    axes = rotation @ mount[1]
    n = ex.vector(up[0], up[1], 1.0)
    n = n / ex.norm(n)
    return ex.vector(ex.asin(ex.dot(n, axes[:, 0])), ex.asin(ex.dot(n, axes[:, 1])))


def _heading(offset: Any, _position: Any, rotation: Any) -> Any:
    return ex.atan2(rotation[1, 0], rotation[0, 0]) + offset


def _distance(anchor: Any, point: Any, position: Any, rotation: Any) -> Any:
    return ex.norm(position + rotation @ point - anchor)


def _apart(point: Any, position: Any, rotation: Any, position_2: Any, rotation_2: Any) -> Any:
    return ex.norm(position + rotation @ point - position_2 - rotation_2 @ point)


def _plane(plane: Any, point: Any, position: Any, rotation: Any) -> Any:
    (slopes, height), reference = plane
    n = reference @ ex.vector(-slopes[0], -slopes[1], 1.0)
    return ex.dot(n / ex.norm(n), position + rotation @ point) - height


def _sphere(sphere: Any, point: Any, position: Any, rotation: Any) -> Any:
    return ex.norm(position + rotation @ point - sphere[0:3]) - sphere[3]


def distorted(camera: Any, ray: Any) -> Any:
    """The pixel of a point (x, y) at distance 1 before a camera, by Brown's model [BRO71]."""
    fx, fy, cx, cy, k1, k2, p1, p2, k3 = ex.components(camera)
    x, y = ray[0], ray[1]
    s = x * x + y * y
    radial = 1 + s * (k1 + s * (k2 + s * k3))
    u = x * radial + 2 * p1 * x * y + p2 * (s + 2 * x * x)
    v = y * radial + p1 * (s + 2 * y * y) + 2 * p2 * x * y
    return ex.vector(fx * u + cx, fy * v + cy)


def _image(camera: Any, frame: Any, target: Any, *place: Any) -> Any:
    (t, Z), (s, Y), (position, rotation, point) = frame, target, place
    q = Z @ (position + rotation @ (s + Y @ point)) + t
    return distorted(camera, ex.vector(q[0] / q[2], q[1] / q[2]))


_XYZ, _M3 = ("x", "y", "z"), ("m",) * 3
KINDS = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            Kind(
                "pose",
                "position and orientation of a target",
                (*_XYZ, "rx", "ry", "rz"),
                (*_M3, "rad", "rad", "rad"),
                (FRAME, TARGET),
                _pose,
                has_rotation=True,
            ),
            Kind("point", "position of a point of the platform", _XYZ, _M3, (FRAME, POINT), _point),
            Kind("tilts", "two tilt angles of the platform", ("tilt_x", "tilt_y"), ("rad",) * 2, (UP, MOUNT), _tilts),
            Kind("heading", "heading of the platform", ("heading",), ("rad",), (OFFSET,), _heading, is_angle=True),
            Kind(
                "distance",
                "distance of a point of the platform from a fixed point",
                ("distance",),
                ("m",),
                (ANCHOR, POINT),
                _distance,
            ),
            Kind(
                "apart",
                "distance between two places of a point of the platform",
                ("distance",),
                ("m",),
                (POINT,),
                _apart,
                is_pair=True,
            ),
            Kind(
                "plane",
                "distance of a point of the platform from a plane",
                ("height",),
                ("m",),
                (PLANE, POINT),
                _plane,
                is_contact=True,
            ),
            Kind(
                "sphere",
                "distance of a point of the platform from a sphere",
                ("height",),
                ("m",),
                (SPHERE, POINT),
                _sphere,
                is_contact=True,
            ),
            Kind(
                "image",
                "pixels of known points of a target",
                ("u", "v"),
                ("px", "px"),
                (CAMERA, FRAME, TARGET),
                _image,
                is_image=True,
            ),
        )
    }
)
"""The kinds of instruments by name."""


def kind_called(name: str) -> Kind:
    """The kind with this name.

    Examples:
        >>> kind_called("tilts").channels
        ('tilt_x', 'tilt_y')
    """
    if name not in KINDS:
        raise InputError(f"no kind of instrument is called '{name}'{nearest(name, KINDS)} (known: {', '.join(KINDS)})")
    return KINDS[name]


@lru_cache(maxsize=16)
def kernel(name: str) -> Kernel:
    """The kernel of a kind: `value` and its derivatives `by_x`, `by_pose` and, of pairs, `by_other`.

    Inputs: x (k), a reference rotation for each part (3, 3), position, rotation and turn of one pose or of two, and
    `seen` (3, 3) where an orientation is measured, or `point` (3) of a target that a camera sees.
    """
    kind = kind_called(name)
    poses = ("", "_2") if kind.is_pair else ("",)
    inputs: dict[str, int | tuple[int, ...]] = {"x": kind.size}
    inputs |= {f"reference_{part.name}": (3, 3) for part in kind.parts}
    for end in poses:
        inputs |= {f"position{end}": 3, f"rotation{end}": (3, 3), f"turn{end}": 3}
    if kind.has_rotation:
        inputs["seen"] = (3, 3)
    if kind.is_image:
        inputs["point"] = 3

    def function(x: Any, *rest: Any) -> Any:
        references, places = rest[: len(kind.parts)], rest[len(kind.parts) :]
        arguments, first = [], 0
        for part, reference in zip(kind.parts, references, strict=True):
            arguments.append(_argument(part, x[first : first + len(part.suffixes)], reference))
            first += len(part.suffixes)
        turns = []
        for k in range(len(poses)):
            position, rotation, turn = places[3 * k : 3 * k + 3]
            arguments += [position, turned(turn, rotation)]
            turns.append(ex.vector(position, turn))
        value = kind.value(*arguments, *(places[-1:] if kind.is_image else ()))
        if kind.has_rotation:
            value = ex.vector(value[0], -_turn_between(places[-1], value[1]))
        outputs = {"value": value, "by_x": ex.derivative(value, x), "by_pose": ex.derivative(value, turns[0])}
        if kind.is_pair:
            outputs["by_other"] = ex.derivative(value, turns[1])
        return outputs

    return trace(function, name=f"instrument_{name}", inputs=inputs)


@lru_cache(maxsize=1)
def lens_kernel() -> Kernel:
    """The pixel of a ray (x, y) at distance 1 before a camera, and its derivatives: `value` (2) and `by_ray` (2, 2)."""

    def function(camera: Any, ray: Any) -> Any:
        value = distorted(camera, ray)
        return {"value": value, "by_ray": ex.derivative(value, ray)}

    return trace(function, name="instrument_lens", inputs={"camera": 9, "ray": 2})


def _argument(part: Part, x: Any, reference: Any) -> Any:
    """A part as the expressions of kinds take it: placements as (position, rotation), planes with their reference."""
    if part.turns:
        n = len(part.suffixes) - 3
        return (x[0:n] if n else None), turned(x[n : n + 3], reference)
    return ((x[0:2], x[2]), reference) if part is PLANE else x
