"""A mechanism taken apart into single turns and slides: the form in which its equations are written."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.parts import BASE, FREEDOMS, Closure, Freedom, Joint
from gough.robots.mechanism.placement import STILL, UNTURNED, Placement, Rotation, Vector, facing, rotation

TOOL = "pose"
"""The name of the frame that shows the pose where no joint has its coordinates."""


@dataclass(frozen=True)
class JointStep:
    """A constant placement, then a turn about an axis of the new frame or a slide along it."""

    before: Placement
    turns: bool
    axis: int
    """0, 1, 2 for x, y, z."""
    sign: float
    """-1 if the coordinate counts the other way."""
    coordinate: int
    """The number of the coordinate."""


@dataclass(frozen=True)
class Link:
    """A body: how its frame follows from its parent's."""

    body: str
    parent: int
    """Position of the parent among the links; -1 is the base."""
    steps: tuple[JointStep, ...]
    after: Placement
    """From the frame after the last step to that of the body."""


@dataclass(frozen=True)
class Structure:
    """All links, each after its parent, all coordinates, and the closures with the links that they hold."""

    links: tuple[Link, ...]
    coordinates: tuple[str, ...]
    motions: tuple[str, ...]
    """turn or slide, for each coordinate."""
    freedoms: tuple[Freedom, ...]
    closures: tuple[tuple[Closure, int, int], ...]
    actuated: tuple[int, ...]
    pose: tuple[int, ...]

    @property
    def n(self) -> int:
        """The number of coordinates."""
        return len(self.coordinates)

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """The closure equations by name."""
        return tuple(f"{c.name} {direction}" for c, _, _ in self.closures for direction in c.directions)

    def others(self, known: tuple[int, ...]) -> tuple[int, ...]:
        """The coordinates that are not among the known ones."""
        return tuple(k for k in range(self.n) if k not in known)

    def way(self, link: int) -> tuple[int, ...]:
        """The links from the base to this one."""
        path: list[int] = []
        while link >= 0:
            path.append(link)
            link = self.links[link].parent
        return tuple(reversed(path))

    def moving(self, link: int) -> tuple[int, ...]:
        """The coordinates that move a link."""
        return tuple(step.coordinate for k in self.way(link) for step in self.links[k].steps)


@lru_cache(maxsize=64)
def structure(mechanism: Mechanism) -> Structure:
    """The mechanism in single steps; a tool frame is added where the pose is no joint's."""
    names, motions = list(mechanism.coordinates), [mechanism.motions[name] for name in mechanism.coordinates]
    freedoms = [mechanism.freedoms[name] for name in names]
    links: list[Link] = []
    where = {BASE: -1}
    joints = list(mechanism.joints)
    while joints:
        joint = next(joint for joint in joints if joint.parent in where)
        joints.remove(joint)
        numbers = [names.index(name) for name in joint.coordinates]
        steps, after = _steps(joint, numbers)
        where[joint.child] = len(links)
        links.append(Link(joint.child, where[joint.parent], steps, after))
    closures = [(closure, where[closure.bodies[0]], where[closure.bodies[1]]) for closure in mechanism.closures]
    platform = mechanism.platform
    own = mechanism.joint_of(platform.body).name
    if not mechanism.moves_platform and platform.words:
        own, kinds = TOOL, dict(FREEDOMS["free"])
        numbered = {word: len(names) + k for k, word in enumerate(platform.words)}
        names += [f"{TOOL}_{word}" for word in platform.words]
        motions += [kinds[word] for word in platform.words]
        freedoms += [Freedom()] * len(platform.words)
        links.append(Link(TOOL, -1, _pose_steps(numbered, Placement()), Placement()))
        held = tuple({"roll": "rx", "pitch": "ry", "yaw": "rz"}.get(word, word) for word in platform.words)
        pose_shown = Closure(TOOL, (TOOL, platform.body), (Placement(), platform.tool), held)
        closures.append((pose_shown, len(links) - 1, where[platform.body]))
    pose = [names.index(f"{own}_{word}" if word in platform.words else word) for word in platform.pose]
    actuated = tuple(names.index(name) for name in mechanism.actuated)
    return Structure(
        tuple(links), tuple(names), tuple(motions), tuple(freedoms), tuple(closures), actuated, tuple(pose)
    )


def _steps(joint: Joint, numbers: list[int]) -> tuple[tuple[JointStep, ...], Placement]:
    words = [word for word, _ in FREEDOMS[joint.kind]]
    if joint.kind in {"free", "planar"}:
        return _pose_steps(dict(zip(words, numbers, strict=True)), joint.placement), Placement()
    axes: list[Vector] = {
        "cylindrical": [joint.axis, joint.axis],
        "universal": [joint.axis, joint.second_axis],
        "spherical": list(UNTURNED),
        "fixed": [],
    }.get(joint.kind, [joint.axis])
    before, steps = joint.placement, []
    for axis, number, (_, motion) in zip(axes, numbers, FREEDOMS[joint.kind], strict=True):
        aligned, k, sign = _aligned(axis)
        steps.append(JointStep(before @ Placement(rotation=aligned), motion == "turn", k, sign, number))
        before = Placement(rotation=rotation(np.array(aligned).T))
    return tuple(steps), before


def _pose_steps(numbers: dict[str, int], before: Placement) -> tuple[JointStep, ...]:
    """Slides along x, y, z, then turns about z, y, x: R = R_z(yaw) R_y(pitch) R_x(roll), of the coordinates given."""
    order = (("x", 0), ("y", 1), ("z", 2), ("yaw", 2), ("pitch", 1), ("roll", 0))
    steps = []
    for word, axis in order:
        if word in numbers:
            steps.append(JointStep(before, len(word) > 1, axis, 1.0, numbers[word]))
            before = STILL
    return tuple(steps)


def _aligned(axis: Vector) -> tuple[Rotation, int, float]:
    """A frame of which one axis lies along the given one: which of its axes, and whether it points the other way."""
    for k in range(3):
        if abs(axis[k]) == 1.0:
            return UNTURNED, k, axis[k]
    least = min(range(3), key=lambda k: abs(axis[k]))
    return facing(UNTURNED[least], axis), 2, 1.0
