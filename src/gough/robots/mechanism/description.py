"""A mechanism: bodies on a tree of joints, and the closures that make loops of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from gough.core.errors import InputError, nearest, require
from gough.robots.mechanism.parts import BASE, FREEDOMS, Body, Closure, Freedom, Joint, Platform
from gough.robots.mechanism.placement import STILL, Vector, vector

_PLATFORM = Platform("platform")


@dataclass(frozen=True)
class Mechanism:
    """Any mechanism of rigid bodies: one description for kinematics, dynamics, drawing and other programs.

    Every body has one joint to its parent; closures hold bodies of different branches together. The pose of the
    platform is part of the description: as many coordinates of it as there are actuators determine everything else.

    Examples:
        >>> from gough.robots.mechanism import Freedom, Inertia, Limits, Placement
        >>> bar = Inertia(1.0, (0.5, 0.0, 0.0), (0.0, 0.1, 0.1), symmetry="planar")
        >>> swing = Joint("q1", "revolute", "base", "arm", freedoms=(Freedom(limits=Limits(-1.0, 1.0)),))
        >>> tip = Platform("arm", ("y",), (0.0,), Placement((1.0, 0.0, 0.0)))
        >>> Mechanism("pendulum", (Body("arm", bar),), (swing,), actuated=("q1",), platform=tip).coordinates
        ('q1',)
    """

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    closures: tuple[Closure, ...] = ()
    actuated: tuple[str, ...] = ()
    """Names of the coordinates that actuators drive, in the order of the actuators."""
    platform: Platform = _PLATFORM
    gravity: Vector = (0.0, 0.0, -9.81)
    """Acceleration of free fall, in the base frame."""
    redundant: bool = False
    """May closures repeat one another? A mechanism of this kind moves only because its parts fit exactly."""
    actuators: tuple[str, ...] = ()
    """Names of the actuators; those of their coordinates by default."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "gravity", vector(self.gravity, "gravity"))
        self._check_names()
        self._check_tree()
        self._check_tied()
        self._check_actuators()

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Names of all coordinates of the tree."""
        return tuple(name for joint in self.joints for name in joint.coordinates)

    @cached_property
    def freedoms(self) -> dict[str, Freedom]:
        """Start, limits, friction and drive of each coordinate, by its name."""
        return {
            name: freedom
            for joint in self.joints
            for name, freedom in zip(joint.coordinates, joint.freedoms, strict=True)
        }

    @cached_property
    def motions(self) -> dict[str, str]:
        """For each coordinate by its name, whether it is a turn or a slide."""
        return {
            name: motion
            for joint in self.joints
            for name, (_, motion) in zip(joint.coordinates, FREEDOMS[joint.kind], strict=True)
        }

    @property
    def rows(self) -> tuple[str, ...]:
        """The closure equations by name: closure and direction."""
        return tuple(f"{closure.name} {direction}" for closure in self.closures for direction in closure.directions)

    @property
    def moves_platform(self) -> bool:
        """Whether the coordinates of the pose are among those of the platform's own joint."""
        joint, platform = self.joint_of(self.platform.body), self.platform
        words = [word for word, _ in FREEDOMS[joint.kind]]
        stands = joint.parent == BASE and joint.placement == STILL and platform.tool == STILL
        return stands and joint.kind in {"free", "planar"} and set(platform.words) <= set(words)

    def body(self, name: str) -> Body:
        """The body of this name."""
        return next(body for body in self.bodies if body.name == name)

    def joint_of(self, body: str) -> Joint:
        """The joint between a body and its parent."""
        return next(joint for joint in self.joints if joint.child == body)

    def way_to(self, body: str) -> tuple[Joint, ...]:
        """The joints from the base to a body."""
        way: list[Joint] = []
        while body != BASE:
            way.append(self.joint_of(body))
            body = way[-1].parent
        return tuple(reversed(way))

    def _check_names(self) -> None:
        require(bool(self.name.strip()), "a mechanism needs a name")
        bodies = [body.name for body in self.bodies]
        require(bool(bodies), f"mechanism '{self.name}' has no body")
        require(BASE not in bodies, f"'{BASE}' is the fixed frame: give the body another name")
        for what, names in (
            ("body", bodies),
            ("joint", [joint.name for joint in self.joints]),
            ("closure", [closure.name for closure in self.closures]),
            ("coordinate", list(self.coordinates)),
        ):
            require_distinct(names, what)
        for joint in self.joints:
            require_known(joint.parent, [BASE, *bodies], f"joint '{joint.name}': no body is called")
            require_known(joint.child, bodies, f"joint '{joint.name}': no body is called")
        for closure in self.closures:
            for name in closure.bodies:
                require_known(name, [BASE, *bodies], f"closure '{closure.name}': no body is called")
        require_known(self.platform.body, bodies, "platform: no body is called")

    def _check_tree(self) -> None:
        children = [joint.child for joint in self.joints]
        for body in self.bodies:
            n = children.count(body.name)
            require(
                n > 0,
                f"body '{body.name}' has no joint: give it one, of kind 'free' if only closures hold it",
            )
            joints = ", ".join(joint.name for joint in self.joints if joint.child == body.name)
            one = f"body '{body.name}' is the child of {n} joints ({joints}): keep one, and make the others closures"
            require(n == 1, one)
        for body in self.bodies:
            above, seen = self.joint_of(body.name).parent, {body.name}
            while above != BASE:
                require(
                    above not in seen,
                    f"body '{body.name}' is its own ancestor: its joints lead in a circle, not to '{BASE}'",
                )
                seen.add(above)
                above = self.joint_of(above).parent

    def _check_tied(self) -> None:
        first: dict[str, Body] = {}
        for body in self.bodies:
            other = first.setdefault(body.tied, body)
            require(
                other.inertia == body.inertia,
                f"bodies '{other.name}' and '{body.name}' are both of group '{body.tied}', but their inertias differ",
            )
        known: dict[str, tuple[str, float, str]] = {}
        for name, freedom in self.freedoms.items():
            for parameter, value in (freedom.friction.parameters if freedom.friction else {}).items():
                other_name, other_value, motion = known.setdefault(parameter, (name, value, self.motions[name]))
                both = f"'{other_name}' and '{name}' share the friction {parameter}, but"
                require(motion == self.motions[name], f"{both} one turns and the other slides")
                require(other_value == value, f"{both} it is {other_value:g} and {value:g}")

    def _check_actuators(self) -> None:
        require(bool(self.actuated), f"mechanism '{self.name}' has no actuated coordinate")
        require_distinct(self.actuated, "actuated coordinate")
        for name in self.actuated:
            require_known(name, self.coordinates, "actuated: no coordinate is called")
        if not self.actuators:
            object.__setattr__(self, "actuators", self.actuated)
        n = len(self.actuated)
        require(len(self.actuators) == n, f"actuators must be {n} names, one per actuated coordinate")
        require_distinct(self.actuators, "actuator")
        for name, freedom in self.freedoms.items():
            driven = name in self.actuated
            require(driven or freedom.cogging is None, f"'{name}' has cogging, but no actuator drives it")
        words = [word for word, _ in FREEDOMS["free"]]
        for word in self.platform.pose:
            require_known(word, (*words, *self.coordinates), "pose: no coordinate is called")
        m = len(self.platform.pose)
        require(
            m == n,
            f"the pose of '{self.platform.body}' has {m} coordinates ({', '.join(self.platform.pose)}), but there are "
            f"{n} actuators ({', '.join(self.actuated)}): a pose must have one for each",
        )


def require_distinct(names: Sequence[str], what: str) -> None:
    """Refuse a name that is empty or occurs twice."""
    seen: set[str] = set()
    for name in names:
        require(bool(name.strip()), f"a {what} has no name")
        require(name not in seen, f"two of them are called '{name}': each {what} needs a name of its own")
        seen.add(name)


def require_known(name: str, known: Iterable[str], message: str) -> None:
    """Refuse a name that is not among the known ones, with the nearest of them."""
    words = list(known)
    if name not in words:
        raise InputError(f"{message} '{name}'{nearest(name, words)} (known: {', '.join(words)})")
