"""A rig: cameras and targets whose places to one another are fixed, and how well these are known.

Frames. The world is the first target that is fixed to the base or, without one, the first camera that stands still. The
platform is the first target that moves with it. With X_j the world in camera j, G_i the platform in the world in frame
i, and Y_k target k on the platform or in the world, camera j sees target k at X_j G_i Y_k or, at the base, at X_j Y_k.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.core.rigid import IDENTITY, RigidMotion
from gough.vision.covariances import root
from gough.vision.lens import Camera
from gough.vision.pose import MeasuredPose
from gough.vision.targets import AnyTarget, DotTarget, why_ambiguous

AXES = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True)
class RigCamera:
    """A camera of a rig.

    Examples:
        >>> RigCamera("left", Camera((640, 480), [600.0, 600.0], [319.5, 239.5])).is_moving
        False
    """

    name: str
    camera: Camera
    is_moving: bool = False
    """Whether it may be somewhere else in each frame: then it must see a target at the base, or serve others."""
    world: RigidMotion = IDENTITY
    """X: from the world's frame to the camera's."""


@dataclass(frozen=True)
class RigTarget:
    """A target of a rig.

    Examples:
        >>> from gough.vision import design_target
        >>> RigTarget("floor", design_target(0.2, 0.2), is_fixed=True).dots_sigma
        0.0
    """

    name: str
    target: AnyTarget
    is_fixed: bool = False
    """Whether it is fixed to the base; else it moves with the platform."""
    dots_sigma: float = 0.0
    """Standard deviation of the places of its dots, m."""
    size_sigma: float = 0.0
    """Relative standard deviation of its size."""
    place: RigidMotion = IDENTITY
    """Y: from the target's frame to that of the platform or, where it is fixed, to that of the world."""


@dataclass(frozen=True, eq=False)
class Rig:
    """Cameras and targets, and the covariance of all that is known of them.

    Examples:
        >>> from gough.vision import design_target
        >>> lens = Camera((640, 480), [600.0, 600.0], [319.5, 239.5])
        >>> plate = RigTarget("plate", design_target(0.2, 0.2))
        >>> rig = Rig((RigCamera("left", lens), RigCamera("right", lens)), (plate,))
        >>> rig.world, rig.platform, len(rig.layout.names)
        ('camera left', 'target plate', 37)
    """

    cameras: tuple[RigCamera, ...]
    targets: tuple[RigTarget, ...]
    covariance: Array | None = None
    """(q, q) of the errors of all parameters, in the order of `layout.names`; None where the places are not known."""

    def __post_init__(self) -> None:
        require(len(self.cameras) > 0, "a rig has at least one camera")
        require(len(self.targets) > 0, "a rig has at least one target")
        names = [*(each.name for each in self.cameras), *(each.name for each in self.targets)]
        twice = sorted({name for name in names if names.count(name) > 1})
        require(not twice, f"cameras and targets of a rig need different names: {', '.join(twice)} is used twice")
        for each in self.targets:
            require(each.dots_sigma >= 0, f"the dots' standard deviation of target {each.name} must not be negative")
            require(0 <= each.size_sigma < 0.1, f"the relative size deviation of {each.name} must be from 0 to 0.1")
            dots = isinstance(each.target, DotTarget)
            require(dots or each.dots_sigma == 0, f"target {each.name}: only targets of dots have a dots_sigma")
            alone = dots or each.size_sigma == 0 or len(self.targets) == 1
            require(alone, f"target {each.name}: of several targets, only those of dots may have an uncertain size")
            ambiguous = why_ambiguous(each.target)
            require(not ambiguous, f"target {each.name}: {ambiguous}")
        moves = any(not each.is_fixed for each in self.targets)
        require(moves, "a rig needs a target on the platform: all targets are stated as fixed to the base")
        anchored = any(each.is_fixed for each in self.targets) or any(not each.is_moving for each in self.cameras)
        require(anchored, "all cameras move: a target fixed to the base is needed, since poses are relative to it")

    @property
    def base(self) -> int | None:
        """Number of the target that is the world's frame; None where a camera is."""
        return next((k for k, each in enumerate(self.targets) if each.is_fixed), None)

    @property
    def first_camera(self) -> int | None:
        """Number of the camera that is the world's frame; None where a target is."""
        return None if self.base is not None else next(j for j, each in enumerate(self.cameras) if not each.is_moving)

    @property
    def first_target(self) -> int:
        """Number of the target that is the platform's frame."""
        return next(k for k, each in enumerate(self.targets) if not each.is_fixed)

    @property
    def world(self) -> str:
        """Whose frame the world is."""
        if self.base is not None:
            return f"target {self.targets[self.base].name}"
        assert self.first_camera is not None
        return f"camera {self.cameras[self.first_camera].name}"

    @property
    def platform(self) -> str:
        """Whose frame the platform is."""
        return f"target {self.targets[self.first_target].name}"

    @cached_property
    def layout(self) -> "Layout":
        """Where each parameter stands in the vector of all."""
        return Layout.of(self.cameras, self.targets)

    def coordinates(self) -> tuple[Array, Array]:
        """T (q, k) and w (k,): parameters are those stated plus T z, and z has the prior N(0, 1) where w is 1."""
        if self.covariance is not None:
            T = root(self.covariance)
            return T, np.ones(T.shape[1])
        size, layout = len(self.layout.names), self.layout
        blocks: list[tuple[slice, Array, float]] = []
        for j, camera in enumerate(self.cameras):
            if camera.camera.covariance is not None:
                blocks.append((layout.lens[j], root(camera.camera.covariance), 1.0))
            if not camera.is_moving and j != self.first_camera:
                blocks.append((layout.camera[j], np.eye(6), 0.0))
        for k, target in enumerate(self.targets):
            if k not in {self.base, self.first_target}:
                blocks.append((layout.target[k], np.eye(6), 0.0))
            n = layout.dots[k].stop - layout.dots[k].start
            if target.dots_sigma > 0:
                blocks.append((layout.dots[k], target.dots_sigma * np.eye(n), 1.0))
            if target.size_sigma > 0:
                blocks.append((layout.size[k], np.array([[target.size_sigma]]), 1.0))
        T = np.zeros((size, sum(block.shape[1] for _, block, _ in blocks)))
        at = 0
        for rows, block, _ in blocks:
            T[rows, at : at + block.shape[1]] = block
            at += block.shape[1]
        return T, np.concatenate([np.full(block.shape[1], w) for _, block, w in blocks] or [np.zeros(0)])


@dataclass(frozen=True)
class Layout:
    """Where the parameters of cameras and targets stand in the vector of all of them."""

    names: tuple[str, ...]
    lens: tuple[slice, ...]
    """Parameters of the lens of each camera."""
    camera: tuple[slice, ...]
    """Position and left rotation vector of X of each camera."""
    target: tuple[slice, ...]
    """Position and left rotation vector of Y of each target."""
    dots: tuple[slice, ...]
    """Coordinates x and y of the dots of each target, where these are uncertain; else empty."""
    size: tuple[slice, ...]
    """Relative size of each target."""

    @classmethod
    def of(cls, cameras: Sequence[RigCamera], targets: Sequence[RigTarget]) -> "Layout":
        names: list[str] = []
        places: dict[str, list[slice]] = {"lens": [], "camera": [], "target": [], "dots": [], "size": []}

        def add(what: str, of: str, parts: Sequence[str]) -> None:
            places[what].append(slice(len(names), len(names) + len(parts)))
            names.extend(f"{of}.{part}" for part in parts)

        for each in cameras:
            add("lens", each.name, each.camera.names)
            add("camera", each.name, AXES)
        for sheet in targets:
            add("target", sheet.name, AXES)
            count = len(sheet.target.points) if sheet.dots_sigma > 0 else 0
            add("dots", sheet.name, [f"dot{k}{axis}" for k in range(count) for axis in "xy"])
            add("size", sheet.name, ["size"])
        return cls(tuple(names), **{what: tuple(each) for what, each in places.items()})


@dataclass(frozen=True)
class RigSighting:
    """A target that a camera saw in a frame; all are numbers that count from 0."""

    frame: int
    camera: int
    target: int
    pose: MeasuredPose


@dataclass(frozen=True)
class Sightings:
    """What all cameras saw in all frames.

    Examples:
        >>> Sightings(("c001", "c002"), ()).of_frame
        ((), ())
    """

    frames: tuple[str, ...]
    """Names of the frames."""
    seen: tuple[RigSighting, ...]
    missed: tuple[tuple[str, str], ...] = field(default=())
    """Images that show no target, and why."""

    @cached_property
    def of_frame(self) -> tuple[tuple[RigSighting, ...], ...]:
        """The sightings of each frame."""
        groups: list[list[RigSighting]] = [[] for _ in self.frames]
        for each in self.seen:
            groups[each.frame].append(each)
        return tuple(map(tuple, groups))
