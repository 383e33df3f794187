"""The regressor of a mechanism, by the principle of virtual power: efforts per unit of each parameter.

Every body's motion is computed in its own frame, from the base outwards, as in the Newton-Euler recursion
[LWP80, §III]; gravity is an acceleration of the base upwards. The wrench that a body needs is linear in its ten
parameters. Its power on the velocity that each coordinate gives to the body is a force on that coordinate, and those
forces, carried to the actuators by ∂s/∂q, are the efforts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots.mechanism._closing import Positions, carried, constant, spun
from gough.robots.mechanism._motion import MechanismMotion
from gough.robots.mechanism.parameters import Parameter
from gough.robots.mechanism.placement import STILL, UNTURNED, Placement
from gough.robots.mechanism.structure import JointStep, Structure

ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class _Frame:
    """A frame's motion, in its own axes."""

    turning: Expression
    spin: Expression
    """Angular acceleration."""
    acceleration: Expression
    """Acceleration of the origin minus gravity."""
    by: dict[int, tuple[Expression, Expression]] = field(default_factory=dict)
    """For each coordinate that moves it: velocity of the origin and angular velocity per unit of its speed."""

    def placed(self, at: Placement) -> "_Frame":
        """A frame that stands still in this one."""
        if at == STILL:
            return self
        back = constant(tuple(zip(*at.rotation, strict=True)))
        p = ex.vector(*at.position)
        moved = self.at(p) if at.position != ZERO else self
        return _Frame(
            back @ self.turning,
            back @ self.spin,
            back @ moved.acceleration,
            {k: (back @ v, back @ w) for k, (v, w) in moved.by.items()},
        )

    def at(self, p: Expression) -> "_Frame":
        """The frame with its origin moved to a point that is fixed in it."""
        w = self.turning
        acceleration = self.acceleration + ex.cross(self.spin, p) + ex.cross(w, ex.cross(w, p))
        return _Frame(w, self.spin, acceleration, {k: (v + ex.cross(u, p), u) for k, (v, u) in self.by.items()})

    def moved(self, step: JointStep, motion: MechanismMotion, at: Positions) -> "_Frame":
        """The frame after a turn or a slide."""
        e = ex.vector(*UNTURNED[step.axis])
        q, dq, ddq = (step.sign * each[step.coordinate] for each in (motion.s, motion.ds, motion.dds))
        nothing = ex.vector(*ZERO)
        if not step.turns:
            there = self.at(e * q)
            carried = there.acceleration + 2 * ex.cross(self.turning, e) * dq + e * ddq
            return _Frame(there.turning, there.spin, carried, {**there.by, step.coordinate: (step.sign * e, nothing)})

        def back(v: Expression) -> Expression:
            return spun(v, step, at, back=True)

        w = back(self.turning)
        by = {k: (back(v), back(u)) for k, (v, u) in self.by.items()}
        return _Frame(
            w + e * dq,
            back(self.spin) + e * ddq + ex.cross(w, e) * dq,
            back(self.acceleration),
            {**by, step.coordinate: (nothing, step.sign * e)},
        )

    def wrench(self, term: str) -> tuple[Expression, Expression]:
        """Force, and moment about the origin, per unit of one of the body's parameters (Newton, Euler)."""
        a, w, spin = self.acceleration, self.turning, self.spin
        if term == "m":
            return a, ex.vector(*ZERO)
        if term[0] == "s":
            e = ex.vector(*UNTURNED["xyz".index(term[1])])
            return ex.cross(spin, e) + ex.cross(w, ex.cross(w, e)), ex.cross(e, a)
        i, j = ("xyz".index(letter) for letter in term[1:])

        def product(v: Expression) -> Expression:
            """The unit inertia matrix of this term times v."""
            entries: list[Expression] = [0.0, 0.0, 0.0]
            entries[i] = v[j]
            entries[j] = v[i]
            return ex.vector(*entries)

        return ex.vector(*ZERO), product(spin) + ex.cross(w, product(w))

    def wrench_of(self, values: Mapping[str, Expression]) -> tuple[Expression, Expression]:
        """Force, and moment about the origin, that a body with these parameters needs."""
        a, w, spin = self.acceleration, self.turning, self.spin
        S = ex.vector(*(values.get(f"s{axis}", 0.0) for axis in "xyz"))
        xx, yy, zz, xy, xz, yz = (values.get(f"I{word}", 0.0) for word in ("xx", "yy", "zz", "xy", "xz", "yz"))
        inertia = ex.matrix(ex.vector(xx, xy, xz), ex.vector(xy, yy, yz), ex.vector(xz, yz, zz))
        force = values.get("m", 0.0) * a + ex.cross(spin, S) + ex.cross(w, ex.cross(w, S))
        return force, ex.cross(S, a) + inertia @ spin + ex.cross(w, inertia @ w)


def forces(
    at: Structure, motion: MechanismMotion, values: Sequence[tuple[Parameter, Expression]], gravity: Expression
) -> Expression:
    """Forces on all coordinates of the open tree, for parameters with values."""
    numbers = {link.body: k for k, link in enumerate(at.links)}
    total: list[Expression] = [0.0] * at.n
    bodies: dict[str, dict[str, Expression]] = {}
    for parameter, value in values:
        for member in parameter.members:
            if parameter.part == "bodies":
                bodies.setdefault(member, {})[parameter.term] = value
            else:
                k = at.coordinates.index(member)
                total[k] += value * _force(parameter, motion, k, 0.0)
    frames = _frames(at, motion, gravity) if bodies else []
    for body, own in bodies.items():
        frame = frames[numbers[body]]
        force, moment = frame.wrench_of(own)
        for k, (v, w) in frame.by.items():
            total[k] += ex.dot(v, force) + ex.dot(w, moment)
    return ex.vector(*total)


def regressor(
    at: Structure, motion: MechanismMotion, columns: Sequence[Parameter], gravity: Expression, friction_speed: float
) -> Expression:
    """Efforts per unit of each parameter (actuators, parameters).

    Dry friction is the sign of the velocity, or tanh(velocity / friction_speed) where that is positive.
    """
    frames = _frames(at, motion, gravity)
    numbers = {link.body: k for k, link in enumerate(at.links)}
    entries = []
    for parameter in columns:
        forces: dict[int, Expression] = {}
        for member in parameter.members:
            if parameter.part == "bodies":
                force, moment = frames[numbers[member]].wrench(parameter.term)
                own = {k: ex.dot(v, force) + ex.dot(w, moment) for k, (v, w) in frames[numbers[member]].by.items()}
            else:
                k = at.coordinates.index(member)
                own = {k: _force(parameter, motion, k, friction_speed)}
            for k, value in own.items():
                forces[k] = forces[k] + value if k in forces else value
        entries.append(_projected(motion, forces))
    return ex.matrix(*entries)


def relative_turns(at: Structure, motion: MechanismMotion) -> Expression:
    """Angular velocity (closures, 3) of the second body of each closure against the first, in the base frame."""
    frames, positions = _frames(at, motion, ex.vector(*ZERO)), Positions(motion.s)

    def turning(link: int) -> Expression:
        if link < 0:
            return ex.vector(*ZERO)
        return carried(at, link, frames[link].turning, positions, is_point=False)

    rows = [turning(second) - turning(first) for _, first, second in at.closures]
    return ex.matrix(*(ex.vector(*(row[k] for row in rows)) for k in range(3)))


def _projected(motion: MechanismMotion, forces: dict[int, Expression]) -> Expression:
    """(∂s/∂q)ᵀ forces."""
    total = ex.vector(*(0.0 for _ in range(motion.by_actuators.shape[1])))
    for k, force in forces.items():
        if not ex.is_zero(force):
            total += motion.by_actuators[k, :].T * force
    return total


def _force(parameter: Parameter, motion: MechanismMotion, k: int, friction_speed: float) -> Expression:
    """On one coordinate, per unit of a parameter of friction, a rotor or cogging."""
    speed, position = motion.ds[k], motion.s[k]
    match parameter.term:
        case "r":
            return ex.tanh(speed / friction_speed) if friction_speed > 0 else ex.sign(speed)
        case "v":
            return speed
        case "J":
            return motion.dds[k]
        case "cos":
            return ex.cos(parameter.wave * position)
        case "sin":
            return ex.sin(parameter.wave * position)
        case _:
            return ex.vector(1.0)


def _frames(at: Structure, motion: MechanismMotion, gravity: Expression) -> list[_Frame]:
    """The motion of every link's frame."""
    base = _Frame(ex.vector(*ZERO), ex.vector(*ZERO), -gravity)
    frames: list[_Frame] = []
    positions = Positions(motion.s)
    for link in at.links:
        frame = base if link.parent < 0 else frames[link.parent]
        for step in link.steps:
            frame = frame.placed(step.before).moved(step, motion, positions)
        frames.append(frame.placed(link.after))
    return frames
