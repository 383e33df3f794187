"""Bodies, joints and closures from a file of another program."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.robots.mechanism.assembly import is_closed_at_pose, nearest_closed, starting
from gough.robots.mechanism.bodies import body_motions
from gough.robots.mechanism.description import Mechanism, require_known
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.parts import BASE, FREEDOMS, Body, Closure, Freedom, Joint, Platform
from gough.robots.mechanism.placement import Vector, exact
from gough.robots.mechanism.structure import structure


@dataclass(frozen=True)
class Imported:
    """Bodies, joints and closures of a file; the user adds the platform and the actuators.

    Examples:
        >>> Imported("empty", (), ()).closures
        ()
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    closures: tuple[Closure, ...] = ()
    actuated: tuple[str, ...] = ()
    """Coordinates that the file's actuators drive."""
    gravity: Vector = (0.0, 0.0, -9.81)

    def mechanism(
        self,
        platform: Platform,
        *,
        closures: tuple[Closure, ...] = (),
        actuated: tuple[str, ...] = (),
        redundant: bool = False,
    ) -> Mechanism:
        """The mechanism, with closures beyond those of the file, and other actuated coordinates if they are given."""
        return Mechanism(
            self.name,
            self.bodies,
            self.joints,
            (*self.closures, *closures),
            actuated or self.actuated,
            platform,
            self.gravity,
            redundant,
        )

    def completed(
        self,
        *,
        actuated: Sequence[str] = (),
        platform: str = "",
        pose: Sequence[str] = (),
        home: Sequence[float] = (),
    ) -> Mechanism:
        """The mechanism with what is stated of actuators and platform; what is not is taken from the file.

        By default the actuated coordinates are those of the file's actuators, or all where there are no loops; the
        platform is the only free body, or the last body of an open chain; its pose is that of the free body, or the
        actuated coordinates; and home is the position in which the file describes the mechanism, or the closed one that
        was found next to it. Where neither a
        platform nor a pose is stated and no body is free, the actuated coordinates are the pose, and the body that the
        first closure holds stands for the platform. Closures may be redundant.

        Raises:
            InputError: the file does not determine what is not stated; the message lists the candidates.
        """
        driven = tuple(actuated) or self.actuated or self._all_coordinates()
        body = platform or self._platform(is_posed=bool(pose))
        require_known(body, [each.name for each in self.bodies], "platform: no body is called")
        coordinates = tuple(pose) or self._pose(body, driven, is_stated=bool(platform))
        # MJCF has no closure of a point in a plane: in its planar mechanisms a direction is always redundant
        drawn = self.mechanism(Platform(body, coordinates), actuated=driven, redundant=bool(self.closures))
        if self.closures and not home:
            drawn = _closed(drawn)
        return replace(drawn, platform=Platform(body, coordinates, tuple(home) or _reference(drawn)))

    def held(self, names: Sequence[str]) -> "Imported":
        """The same with joints of these names fixed at zero: idle ones, such as the spin of a rod about its own axis.

        Raises:
            InputError: there is no such joint, or an actuator drives it.
        """
        for name in names:
            require_known(name, [joint.name for joint in self.joints], "fixed: no joint is called")
            driven = [each for joint in self.joints if joint.name == name for each in joint.coordinates]
            require(not set(driven) & set(self.actuated), f"fixed: '{name}' is actuated")
        joints = tuple(
            replace(joint, kind="fixed", freedoms=()) if joint.name in names else joint for joint in self.joints
        )
        return replace(self, joints=joints)

    def _all_coordinates(self) -> tuple[str, ...]:
        candidates = [name for joint in self.joints if len(joint.coordinates) == 1 for name in joint.coordinates]
        if self.closures or len(candidates) < sum(len(joint.coordinates) for joint in self.joints):
            raise InputError(
                "the file names no actuators: state the actuated coordinates (--actuated, or actuated in "
                f"[robot]), some of {', '.join(candidates) or 'none: it has no joint that turns or slides'}"
            )
        return tuple(candidates)

    def _platform(self, *, is_posed: bool) -> str:
        free = [joint.child for joint in self.joints if joint.kind == "free"]
        parents = {joint.parent for joint in self.joints}
        last = [body.name for body in self.bodies if body.name not in parents] if not self.closures else []
        for only in (free, last):
            if len(only) == 1:
                return only[0]
        if self.closures and not free and not is_posed:
            return next(name for name in reversed(self.closures[0].bodies) if name != BASE)
        names = ", ".join(free or last or [body.name for body in self.bodies])
        raise InputError(
            "the file does not state which body is the platform: state it (--platform, or platform in "
            f"[robot]), one of {names}"
        )

    def _pose(self, body: str, actuated: tuple[str, ...], *, is_stated: bool) -> tuple[str, ...]:
        is_free = any(joint.kind == "free" for joint in self.joints)
        if not self.closures or not (is_stated or is_free):
            return actuated
        words, n = tuple(word for word, _ in FREEDOMS["free"]), len(actuated)
        if n == len(words) and any(joint.child == body and joint.kind == "free" for joint in self.joints):
            return words
        joints = ", ".join(name for joint in self.joints for name in joint.coordinates)
        raise InputError(
            f"{n} coordinates of the platform '{body}' determine its pose, one for each actuator: state "
            f"them (--pose, or pose in [robot]), some of {', '.join(words)} of the body, or of the joints' coordinates "
            f"{joints}"
        )


def _closed(mechanism: Mechanism) -> Mechanism:
    """The mechanism with a closed position near that of its file for starts, where the file draws it open."""
    home = replace(mechanism, platform=replace(mechanism.platform, home=_reference(mechanism)))
    at = structure(home)
    if is_closed_at_pose(home):
        return mechanism
    found = dict(zip(at.coordinates, nearest_closed(home, starting(home)).tolist(), strict=True))
    joints = [
        replace(
            joint,
            freedoms=tuple(
                replace(freedom, start=found[name])
                for name, freedom in zip(joint.coordinates, joint.freedoms, strict=True)
            ),
        )
        for joint in mechanism.joints
    ]
    return replace(mechanism, joints=tuple(joints))


def _reference(mechanism: Mechanism) -> tuple[float, ...]:
    """The coordinates of the pose in the position in which a file describes a mechanism; within limits if it is not."""
    at = {name: _start(freedom) for name, freedom in mechanism.freedoms.items()}
    s = np.array([list(at.values())])
    frame = body_motions(mechanism, s, np.zeros_like(s))[mechanism.platform.body]
    R = frame.rotation[0]
    roll, pitch, yaw = np.arctan2(R[2, 1], R[2, 2]), -np.arcsin(np.clip(R[2, 0], -1, 1)), np.arctan2(R[1, 0], R[0, 0])
    words = dict(zip((word for word, _ in FREEDOMS["free"]), (*frame.position[0], roll, pitch, yaw), strict=True))
    return tuple(float({**words, **at}[name]) + 0.0 for name in mechanism.platform.pose)


def _start(freedom: Freedom) -> float:
    if freedom.start is not None:
        return freedom.start
    limits = freedom.limits
    return 0.0 if limits is None or limits.lower <= 0 <= limits.upper else limits.middle


def rigid_body(mass: float, center: Array, inertia: Array) -> Inertia:
    """From the inertia matrix about the center of mass, in the axes of the body's frame."""
    if mass == 0 and not inertia.any():
        return Inertia(0.0, symmetry="massless")
    moments = (inertia[0, 0], inertia[1, 1], inertia[2, 2])
    products = (inertia[0, 1], inertia[0, 2], inertia[1, 2])
    return Inertia(mass, exact(center), exact(np.array(moments)), exact(np.array(products)))
