"""Friction in passive joints, such as the universal and ball joints of rods and struts."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.dynamics.effect import Columns, Effect, Excitation, Instant, Planted, Truth
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots.mechanism.bodies import turnings
from gough.robots.mechanism.closed_chain import ClosedChain, MechanismModel
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.inverse_dynamics import follow_actuators
from gough.robots.model import DynamicModel

_VIRTUAL = {"free", "planar", "fixed"}
"""Kinds of joints that no bearing makes: they place a platform that closures hold."""
_LETTERS = {"viscous": "v", "dry": "r"}
_NO_TURN = 1e-30
"""rad/s, so that a direction is computed also where nothing turns; a number of single precision, too."""


@dataclass(frozen=True)
class PassiveFriction(Effect):
    """effort + (∂s/∂q)ᵀ (v ṡ + r sign ṡ), with the coordinates s of the passive joints, all with the same coefficients.

    Coordinates whose friction the model has already are left out. Joints that close the loops of a mechanism have no
    coordinates: s is then the relative turn of the two bodies.
    """

    form: Literal["viscous", "dry", "both"] = "viscous"

    name = "passive-friction"
    title = "friction in the passive joints"
    advice = (
        "Check bearings and preload of the passive joints. State their friction in the mechanism file, or use a "
        'variant with passive friction; use = ["passive-friction"] in [effects] estimates one coefficient for all.'
    )
    nonnegative = ("passive_",)
    controller = (
        "Efforts are without the friction of passive joints, since the equations of this robot for a controller have "
        "no coordinates of them. Identify its mechanism from a file instead, which has them."
    )
    sizes = (0.003, 0.01, 0.03)
    size_unit = "of the rms effort"

    def alternatives(self, excitation: Excitation) -> tuple[Effect, ...]:  # noqa: ARG002
        """Viscous, dry, or both."""
        return (self, replace(self, form="dry"), replace(self, form="both"))

    def columns(self, excitation: Excitation) -> Columns | None:
        """A coefficient for joints that turn, and one for those that slide."""
        every = excitation.once(self.name, lambda: _columns(excitation), is_of_motion=True)
        if every is None or self.form == "both":
            return every
        chosen = [k for k, name in enumerate(every.names) if self.form in name]
        if not chosen:
            return None
        names, units = (tuple(part[k] for k in chosen) for part in (every.names, every.units))
        return Columns(names, units, every.values[:, :, chosen])

    def at_instant(self, instant: Instant) -> dict[str, Expression]:
        """Friction of coordinates and closures by its power: Σ (∂v/∂q̇)ᵀ (v or its direction), with their speeds v."""
        robot: Any = instant.robot
        kernel = instant.equations.speeds
        if kernel is None:
            return {}
        ds, turns = kernel.function.call([instant.s, instant.dq])
        mechanism: Mechanism = robot.mechanism  # only mechanisms have such a kernel
        found: dict[str, Expression] = {}
        rates = ex.derivative(ex.vector(ds, turns), instant.dq)
        for form, letter in _LETTERS.items():
            for kind in ("turn", "slide") if self.form in (form, "both") else ():
                chosen = [k for k in _passive(robot, letter) if mechanism.motions[mechanism.coordinates[k]] == kind]
                along = {k: ds[k] if form == "viscous" else ex.sign(ds[k]) for k in chosen}
                for c in range(len(mechanism.closures) if kind == "turn" else 0):
                    turn = turns[3 * c : 3 * c + 3]
                    size = ex.maximum(ex.norm(turn), _NO_TURN) if form == "dry" else 1.0
                    along |= {ds.shape[0] + 3 * c + i: turn[i] / size for i in range(3)}
                if along:
                    name = f"passive_{form}" if kind == "turn" else f"passive_{form}_slide"
                    found[name] = sum(rates[k, :].T * value for k, value in along.items())
        return found

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted | None:  # noqa: ARG002
        """Viscous friction in all passive joints that takes this part of the rms effort."""
        added = truth.passive_friction(1.0)
        if not added.any():
            return None
        efforts = truth.efforts(truth.q, truth.dq, truth.ddq)
        return Planted(truth.q, efforts + size * np.sqrt((efforts**2).mean() / (added**2).mean()) * added)


def _passive(robot: DynamicModel, letter: str) -> list[int]:
    """Passive coordinates of the mechanism whose friction (`v` or `r`) is not among the model's parameters."""
    mechanism = getattr(robot, "mechanism", None)
    if mechanism is None:
        return []
    modeled = {
        name
        for each in getattr(robot, "parameters", ())
        if each.part == "passive" and each.term == letter
        for name in each.members
    }
    real = {name for joint in mechanism.joints if joint.kind not in _VIRTUAL for name in joint.coordinates}
    left = real - modeled - set(mechanism.actuated)
    return [k for k, name in enumerate(mechanism.coordinates) if name in left]


def _columns(excitation: Excitation) -> Columns | None:
    """Efforts of viscous and dry friction with the coefficient 1, of turns and of slides."""
    robot: Any = excitation.plain
    passive = {form: _passive(robot, letter) for form, letter in _LETTERS.items()}
    if not any(passive.values()) and not getattr(getattr(robot, "mechanism", None), "closures", ()):
        return None
    mechanism = robot.mechanism
    try:
        s, ds, by = _all_coordinates(excitation, robot)
    except InputError:  # the robot's own model has found the pose by other means
        return None
    used = sorted({k for chosen in passive.values() for k in chosen})
    speed, rate = excitation.interpolated(ds[:, used]), excitation.interpolated(by[:, used])
    turning, turning_rate = _turns(excitation, mechanism, s, ds, by)
    size = np.maximum(np.linalg.norm(turning, axis=2, keepdims=True), 1e-300)
    of_closures = {"viscous": turning, "dry": turning / size}
    names, units, columns = [], [], []
    for form in _LETTERS:
        along = speed if form == "viscous" else np.sign(speed)
        for motion_kind, (effort, length) in {"turn": ("N·m", "rad"), "slide": ("N", "m")}.items():
            motions = [mechanism.motions[mechanism.coordinates[k]] for k in used]
            chosen = [j for j, k in enumerate(used) if k in passive[form] and motions[j] == motion_kind]
            total = np.einsum("tki,tk->ti", rate[:, chosen], along[:, chosen])
            if motion_kind == "turn":
                total += np.einsum("tcxi,tcx->ti", turning_rate, of_closures[form])
            if total.any():
                names.append(f"passive_{form}" if motion_kind == "turn" else f"passive_{form}_slide")
                units.append(f"{effort}·s/{length}" if form == "viscous" else effort)
                columns.append(total)
    return Columns(tuple(names), tuple(units), np.stack(columns, axis=2)) if columns else None


def _all_coordinates(excitation: Excitation, robot: Any) -> tuple[Array, Array, Array]:
    """All coordinates (coarse samples, n), their speeds, and their derivatives by the actuators' positions."""
    at = excitation.coarse
    q, dq, ddq = excitation.q[at], excitation.dq[at], excitation.ddq[at]
    if hasattr(robot, "coordinate_motion") and not isinstance(robot, ClosedChain):
        motion = robot.pose_motion(q, dq, ddq)
        coordinates = robot.coordinate_motion(*motion)
        return coordinates.s, coordinates.ds, coordinates.by_pose @ robot.jacobian(motion.x)
    # without kernels: to trace and compile those of a mechanism takes longer than all that is computed here
    chain = robot if isinstance(robot, ClosedChain) else MechanismModel(robot.mechanism)
    near = excitation.once("coordinates", lambda: chain.coordinates_at(q), is_of_motion=True)
    s, by = follow_actuators(chain.mechanism, near)
    return s, np.einsum("nki,ni->nk", by, dq), by


def _turns(excitation: Excitation, mechanism: Mechanism, s: Array, ds: Array, by: Array) -> tuple[Array, Array]:
    """Relative angular velocities (samples, closures, 3) of bodies that closures hold together, and their derivatives
    by the actuators' speeds (samples, closures, 3, actuators).
    """
    turning = turnings(mechanism, s, [ds, *(by[:, :, i] for i in range(by.shape[2]))])
    relative = [turning[b] - turning[a] for a, b in (c.bodies for c in mechanism.closures)]
    each = np.stack(relative, axis=1) if relative else np.zeros((len(s), 0, 3, 1 + by.shape[2]))
    passed = excitation.interpolated(each)
    return passed[..., 0], passed[..., 1:]


EFFECT = PassiveFriction()
