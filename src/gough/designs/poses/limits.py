"""Limits of a configuration: ranges, cones of ball joints, distance to singularity, a camera's view."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import pi
from typing import Any, NamedTuple

import numpy as np

from gough.core.arguments import instance, pair, ranges, real
from gough.core.arrays import Array, ArrayValue, Mask, array
from gough.core.errors import InputError, nearest, require
from gough.core.rotations import log
from gough.robots.kinematics import KinematicModel, PlatformPoses, all_derivatives, evaluate_chains

POSE_NAMES = ("x", "y", "z", "tilt", "heading", "turn")
"""What of a pose may be limited: position; angle between the platform's z axis and the base's; angle of its x axis in
the base's x-y plane; angle of the whole rotation."""
Range = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Camera(ArrayValue):
    """A camera that stands still and must see a target on the platform: in its cone of view, from the front.

    Examples:
        >>> camera = Camera(position=[0.0, 0.0, 2.0], direction=[0.0, 0.0, -1.0], half_angle=0.3)
        >>> above = PlatformPoses(np.array([[0.0, 0.0, 1.0], [0.9, 0.0, 1.0]]), np.repeat(np.eye(3)[None], 2, axis=0))
        >>> camera.sees(above).tolist()
        [True, False]
    """

    position: Array
    """(3), m, in the frame of the poses."""
    direction: Array
    """(3), where it looks."""
    half_angle: float
    """Half of the opening angle of its cone of view, rad."""
    target: Array = field(default_factory=lambda: np.zeros(3))
    """(3), the target's middle in the platform's frame, m."""
    normal: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    """(3), where the target faces, in the platform's frame."""
    incidence: float = pi / 3
    """Largest angle between the target's normal and the line to the camera, rad."""
    radius: float = 0.0
    """Radius of the target, m: all of it must be in view."""
    distance: Range = (0.0, np.inf)
    """Least and greatest distance of the target, m: where the image is sharp."""

    def __post_init__(self) -> None:
        for name in ("position", "direction", "target", "normal"):
            vector = array(getattr(self, name), name, ndim=1)
            require(vector.shape == (3,), f"the camera's {name} must be a vector of 3, not of {vector.size}")
            require(bool(np.isfinite(vector).all()), f"the camera's {name} must be finite")
            if name in ("direction", "normal"):
                size = float(np.linalg.norm(vector))
                require(size > 0, f"the camera's {name} is the zero vector")
                vector = vector / size
            object.__setattr__(self, name, vector)
        for name in ("half_angle", "incidence", "radius"):
            object.__setattr__(self, name, real(getattr(self, name), f"the camera's {name}"))
        require(0 < self.half_angle < pi / 2, f"half_angle must be between 0 and 90°, but is {self.half_angle:g} rad")
        require(0 < self.incidence <= pi / 2, f"incidence must be between 0 and 90°, but is {self.incidence:g} rad")
        require(self.radius >= 0, f"the target's radius must not be negative, but is {self.radius:g}")
        low, high = ranges({"distance": self.distance}, "camera")["distance"]
        object.__setattr__(self, "distance", (low, high))
        require(0 <= low < high, f"the range of distances must have 0 ≤ lower < upper, but is {low:g} to {high:g}")

    def sees(self, poses: PlatformPoses) -> Mask:
        """Whether the whole target is in view, from the front."""
        middle = poses.position + poses.rotation @ self.target
        line = middle - self.position
        far = np.linalg.norm(line, axis=1)
        safe = np.maximum(far, 1e-300)
        off = _angle(line @ self.direction / safe) + np.arcsin(np.minimum(self.radius / safe, 1.0))
        facing = _angle(-np.einsum("ni,ni->n", poses.rotation @ self.normal, line) / safe)
        low, high = self.distance
        seen = (off <= self.half_angle) & (facing <= self.incidence) & (low <= far) & (far <= high) & (far > 0)
        return np.asarray(seen)


class Posture(NamedTuple):
    """A robot at N configurations, with what limits ask of it."""

    poses: PlatformPoses
    readings: Array
    J: Array
    """∂f/∂pose (N, chains, 6) of the chains' closure as lengths."""
    by_reading: Array
    """∂f/∂reading (N, chains)."""

    @classmethod
    def of(cls, model: KinematicModel, parameters: Array, poses: PlatformPoses, readings: Array) -> "Posture":
        kernel = all_derivatives(model.chain_kernel("length"))
        values = evaluate_chains(kernel, model.columns, parameters, poses, readings)
        return cls(poses, readings, values["by_pose"], values["by_reading"])


@dataclass(frozen=True, eq=False)
class PoseLimits(ArrayValue):
    """Limits of every configuration. SI units; readings in the robot's own unit.

    State the readings' ranges, or ranges of the pose, or both: candidates are drawn within them.

    Examples:
        >>> limits = PoseLimits(readings=(0.0, 0.14), pose={"tilt": (0.0, 0.4)}, platform_cone=0.5)
        >>> limits.margin
        0.1
        >>> PoseLimits(pose={"tild": (0.0, 0.4)})
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: no coordinate of a pose is called 'tild'; did you mean 'tilt'? \
(known: x, y, z, tilt, heading, turn)
    """

    readings: tuple[Any, Any] | None = None
    """Least and greatest reading: one for all chains, or one each."""
    pose: Mapping[str, Range] = field(default_factory=dict)
    """Least and greatest x, y, z (m), tilt, heading, turn (rad)."""
    base_cone: float = pi
    """Largest angle of each rod to its axis at the base (or carriage), rad: what its ball joint allows there. Only
    for joints that do not turn with an arm."""
    platform_cone: float = pi
    """Largest angle of each rod to its axis on the platform, rad."""
    base_axes: Array | None = None
    """(chains, 3): the middle of the joints' cones, from base to platform; the rods' directions at home by default."""
    platform_axes: Array | None = None
    """(chains, 3) in the platform's frame; the same."""
    margin: float = 0.1
    """Least distance to singularity, as a share of that at home: of the platform, where it would give way though all
    readings are held, and of each chain, where its reading would not determine the pose."""
    camera: Camera | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "pose", ranges(self.pose, "pose"))
        for name, (low, high) in self.pose.items():
            if name not in POSE_NAMES:
                known = ", ".join(POSE_NAMES)
                raise InputError(
                    f"no coordinate of a pose is called '{name}'{nearest(name, POSE_NAMES)} (known: {known})"
                )
            require(low <= high, f"the range of {name} must have lower ≤ upper, but is {low:g} to {high:g}")
        for name in ("base_cone", "platform_cone", "margin"):
            object.__setattr__(self, name, real(getattr(self, name), name))
        for name in ("base_axes", "platform_axes"):
            if getattr(self, name) is not None:
                axes = array(getattr(self, name), name, ndim=2)
                good = axes.shape[1] == 3 and bool(np.isfinite(axes).all())
                require(good, f"{name} must be 3 finite numbers for each chain, but its shape is {axes.shape}")
                object.__setattr__(self, name, axes)
        if self.camera is not None:
            instance(self.camera, "camera", Camera, "a Camera", "gough.designs.poses.Camera(position, direction, 0.3)")
        for name in ("base_cone", "platform_cone"):
            require(0 < getattr(self, name) <= pi, f"{name} must be between 0 and 180°, but is {getattr(self, name):g}")
        require(
            0 < self.margin < 1, f"margin is a share of what it is at home, between 0 and 1, but is {self.margin:g}"
        )
        if self.readings is not None:
            ends = [array(end, "readings", ndim=(0, 1)) for end in pair(self.readings, "readings")]
            fits = ends[0].shape == ends[1].shape or 0 in (ends[0].ndim, ends[1].ndim)
            ordered = fits and bool((ends[0] < ends[1]).all())
            require(ordered, "the range of readings must have lower < upper for each chain")
            object.__setattr__(self, "readings", tuple(ends))

    def ends(self, model: KinematicModel) -> tuple[Array, Array] | None:
        """Least and greatest reading of each chain."""
        n = len(model.chains)
        for name in ("base_axes", "platform_axes"):
            axes = getattr(self, name)
            fits = axes is None or len(axes) in (1, n)
            require(fits, f"{name} must have a vector for each of {n} chains of the {model.name}")
        if self.readings is None:
            return None
        for end in self.readings:
            require(end.size in (1, n), f"{model.name} has {n} chains, but {end.size} ranges of readings are stated")
        return tuple(np.broadcast_to(end, (n,)).astype(float) for end in self.readings)  # type: ignore[return-value]

    def broken(self, model: KinematicModel, posture: Posture, home: Posture) -> dict[str, Mask]:
        """Which configurations break which limit, by the words for it."""
        poses = posture.poses
        result = {}
        ends = self.ends(model)
        if ends is not None:
            slack = 1e-9 * (ends[1] - ends[0])
            outside = (posture.readings < ends[0] - slack) | (posture.readings > ends[1] + slack)
            result["range of readings"] = outside.any(axis=1)
        for name, (low, high) in self.pose.items():
            value = coordinate(poses, name)
            result[f"range of {name}"] = (value < low - 1e-9) | (value > high + 1e-9)
        if self.base_cone < pi:
            axes = _directions(home)[0] if self.base_axes is None else _units(self.base_axes)
            result["cone at the base"] = _beyond(_directions(posture), axes, self.base_cone)
        if self.platform_cone < pi:
            own = (_directions(home) @ home.poses.rotation)[0]
            axes = own if self.platform_axes is None else _units(self.platform_axes)
            result["cone on the platform"] = _beyond(_directions(posture) @ poses.rotation, axes, self.platform_cone)
        result["distance to singularity"] = distance(model, posture, home) < self.margin
        if self.camera is not None:
            result["camera's view"] = ~self.camera.sees(poses)
        return {name: np.asarray(mask) for name, mask in result.items()}


def coordinate(poses: PlatformPoses, name: str) -> Array:
    """One of POSE_NAMES for each pose.

    Examples:
        >>> poses = PlatformPoses(np.zeros((1, 3)), np.array([[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]]))
        >>> [float(coordinate(poses, name)[0].round(3)) for name in ("z", "tilt", "heading", "turn")]
        [0.0, 0.0, 1.571, 1.571]
    """
    R = poses.rotation
    match name:
        case "tilt":
            return _angle(R[:, 2, 2])
        case "heading":
            return np.asarray(np.arctan2(R[:, 1, 0], R[:, 0, 0]))
        case "turn":
            return np.linalg.norm(log(R), axis=1)
    return poses.position[:, "xyz".index(name)]


def distance(model: KinematicModel, posture: Posture, home: Posture) -> Array:
    """How far from singularity (N,): 1 at home, 0 at one, negative beyond one of a chain.

    The lesser of two: the least singular value of ∂f/∂pose, with turns measured by the displacements that they cause at
    the joints, and ∂f/∂reading of the worst chain; each as a share of that at home.
    """

    def least(J: Array) -> Array:
        free = list(model.freedoms)
        return np.linalg.svd((J * weights)[..., free], compute_uv=False)[..., -1]

    arm = float(np.sqrt((home.J[..., 3:] ** 2).sum(axis=-1).mean())) or 1.0
    weights = np.repeat([1.0, 1.0 / arm], 3)
    chains = (posture.by_reading / home.by_reading).min(axis=1)
    return np.minimum(least(posture.J) / least(home.J), chains)


def _directions(posture: Posture) -> Array:
    """Unit vectors along the rods (N, chains, 3), in the base's frame: what the closure's gradient by position is."""
    return _units(posture.J[..., :3])


def _units(vectors: Array) -> Array:
    v = np.asarray(vectors, dtype=float)
    return np.asarray(v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-300))


def _beyond(directions: Array, axes: Array, cone: float) -> Any:
    return (_angle((directions * axes).sum(axis=-1)) > cone).any(axis=1)


def _angle(cosine: Array) -> Array:
    return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)))
