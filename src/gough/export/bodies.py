"""The single bodies of an identified robot: what simulators need, and what efforts alone do not always determine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.text import counted, listed
from gough.export.model import IdentifiedDynamics
from gough.export.vectors import Vectors
from gough.robots.mechanism import Body, Inertia, Joint, Mechanism, MechanismModel
from gough.robots.mechanism.closed_chain import ClosedChain
from gough.robots.mechanism.inertia import TERMS
from gough.robots.mechanism.parts import Freedom, Friction

_RANK = 1e-9
"""Directions of the parameters whose effect is this much smaller than that of others are not determined."""
_EXPLAINED = 1e-9
"""Relative error up to which bodies explain the identified efforts."""
_MOTIONS = 200
_TINY = 1e-14
"""Masses and moments below are none to MuJoCo."""


@dataclass(frozen=True, eq=False)
class CompleteMechanism:
    """A mechanism whose bodies, rotors and friction have the identified efforts."""

    model: MechanismModel
    values: Mapping[str, float]
    """All its parameters by name."""
    notes: tuple[str, ...]

    @property
    def mechanism(self) -> Mechanism:
        """The description with these values."""
        return self.model.mechanism


def complete_mechanism(
    dynamics: IdentifiedDynamics, vectors: Callable[[], Vectors], bodies: str = "", *, insist: bool = True
) -> CompleteMechanism:
    """The robot's mechanism with identified bodies.

    Args:
        dynamics: The identification.
        vectors: Makes motions at which efforts are compared, where they are needed.
        bodies: "nominal" takes what the data do not determine from the robot's description.
        insist: Refuse moments of inertia of which one exceeds the sum of the other two. With False such a body stays as
            it is if it cannot have a negative kinetic energy: equations of motion need no more, file formats do.

    Raises:
        InputError: the data do not determine single bodies, no rigid bodies have the identified efforts, or the bodies
            are not physically possible.
    """
    robot: Any = dynamics.robot
    model = MechanismModel(robot.mechanism)
    theta = dynamics.robot_parameters()
    whole = isinstance(robot, ClosedChain) and dynamics.is_complete and set(robot.names) == set(model.names)
    notes: tuple[str, ...] = ()
    idle: frozenset[str] = frozenset()
    if dynamics.possible and bodies != "nominal" and set(dynamics.possible) == set(model.names):
        values = dict(dynamics.possible)
        known = (
            "Bodies are those of a robot that can exist, nearest to the blueprint ([physical] of the study). The "
            "efforts of the actuators are the identified ones; forces inside the mechanism are not determined by the "
            "data."
        )
        notes = (known,)
    elif whole:
        values = dict(zip(robot.names, theta.tolist(), strict=True))
    elif bodies == "nominal":
        try:
            values, undetermined, idle = _nearest_to_nominal(model, dynamics, vectors())
        except InputError:  # bodies that the description takes to be identical need not be
            model = MechanismModel(_untied(robot.mechanism))
            values, undetermined, idle = _nearest_to_nominal(model, dynamics, vectors())
        known = (
            f"The data do not determine {counted(undetermined, 'direction')} of the {len(model.names)} parameters of "
            "single bodies: these are the nearest to the robot's description. The efforts of the actuators are the "
            "identified ones; forces inside the mechanism are not."
        )
        notes = (known,)
    else:
        missing = [name for name in robot.names if name not in {*dynamics.columns, *dynamics.fixed}]
        which = f" ({listed(missing[:4])}, … have no value of their own)" if missing else ""
        raise InputError(
            f"the data determine combinations of the parameters of the {robot.name}, not its single bodies{which}. A "
            "simulator needs every body: use --bodies nominal to take what is not determined from the description; "
            "export to c or fmu, which need no single bodies; or, for results of a study, add the table [physical] to "
            "it and run gough identify again, which finds bodies that can exist"
        )
    return CompleteMechanism(MechanismModel(_with_values(model, values, idle, insist=insist)), values, notes)


_OF_DRIVES = ("friction", "rotor")
"""Effects that a simulator has."""


def with_effects(of: CompleteMechanism, dynamics: IdentifiedDynamics) -> CompleteMechanism:
    """The mechanism with those effects that a simulator has: friction and rotors of the drives.

    Args:
        of: The mechanism of the robot's own model.
        dynamics: The identification, with its effects.

    Raises:
        InputError: friction or rotors are negative, or efforts without one of the effects would be wrong.
    """
    if not dynamics.effects:
        return of
    values, lost = dynamics.effect_values(), [each for each in dynamics.effects if each.name not in _OF_DRIVES]
    for effect in lost:
        require(
            not effect.correction,
            f"the model includes {effect.title}, which an export cannot contain. {effect.correction.rstrip('.')}",
        )
    notes = of.notes
    if lost:
        known = ", ".join(effect.name for effect in lost)
        notes += (f"Left out, because the form has no such term: {known}. Exports to c and fmu contain what they can.",)
    drives = {
        name: (values.get(f"dry_{k}"), values.get(f"viscous_{k}"), values.get(f"rotor_{k}"))
        for k, name in _numbered(of.mechanism)
    }
    joints = []
    for joint in of.mechanism.joints:
        pairs = zip(joint.coordinates, joint.freedoms, strict=True)
        joints.append(
            replace(joint, freedoms=tuple(_driven(name, each, *drives.get(name, ())) for name, each in pairs))
        )
    return replace(of, model=MechanismModel(replace(of.mechanism, joints=tuple(joints))), notes=notes)


def _numbered(mechanism: Mechanism) -> Iterator[tuple[int, str]]:
    return enumerate(mechanism.actuated, start=1)


def _driven(
    name: str, freedom: Freedom, dry: float | None = None, viscous: float | None = None, rotor: float | None = None
) -> Freedom:
    """The freedom with friction and rotor of its drive, where effects have identified them."""
    try:
        if rotor is not None:
            freedom = replace(freedom, rotor=(freedom.rotor or 0.0) + rotor)
        if (dry, viscous) != (None, None) and freedom.friction is None:
            freedom = replace(freedom, friction=Friction(name, dry=dry, viscous=viscous))
    except InputError as error:
        raise InputError(f"friction or rotor of '{name}' is not physically possible: {error}") from error
    return freedom


def _nearest_to_nominal(
    model: MechanismModel, dynamics: IdentifiedDynamics, vectors: Vectors
) -> tuple[dict[str, float], int, frozenset[str]]:
    """Parameters of all bodies with the identified efforts, nearest to the description in units of their size.

    Also the number of directions that the efforts do not determine, and the parameters without any effect.
    """
    q, dq, ddq = (vectors[key][:_MOTIONS] for key in ("q", "dq", "ddq"))
    W = np.asarray(model.regressor(q, dq, ddq))
    wanted = vectors["tau"][:_MOTIONS].reshape(-1)
    M = W.reshape(-1, len(model.names))
    size = _sizes(model)
    U, s, V = np.linalg.svd(M * size, full_matrices=False)
    rank = int((s > _RANK * s[0]).sum())
    missing = wanted - M @ model.nominal
    change = size * (V[:rank].T @ ((U[:, :rank].T @ missing) / s[:rank]))
    theta = model.nominal + change
    left = float(np.abs(wanted - M @ theta).max() / np.abs(wanted).max())
    if left > _EXPLAINED:
        variant = getattr(dynamics.robot, "variant", "")
        raise InputError(
            f"no rigid bodies have the efforts of the identified model{f' “{variant}”' if variant else ''} of the "
            f"{dynamics.robot.name}: {left:.1e} of them is left. Identify with the most detailed variant, or export to "
            "c or fmu"
        )
    reach = np.abs(M * size).max(axis=0)
    idle = frozenset(name for name, own in zip(model.names, reach, strict=True) if own <= _RANK * reach.max())
    return dict(zip(model.names, theta.tolist(), strict=True)), len(model.names) - rank, idle


def _untied(mechanism: Mechanism) -> Mechanism:
    """The mechanism with parameters of its own for each body."""
    return replace(mechanism, bodies=tuple(replace(body, group="") for body in mechanism.bodies))


def _sizes(model: MechanismModel) -> Array:
    """Usual sizes of the parameters: nominal values, or those of others with the same unit."""
    nominal, units = np.abs(model.nominal), np.array(model.units)
    usual = {unit: float(nominal[units == unit].max(initial=0.0)) or 1e-3 for unit in set(model.units)}
    return np.array(
        [value if value > 0 else 0.1 * usual[unit] for value, unit in zip(nominal, model.units, strict=True)]
    )


def _with_values(
    model: MechanismModel, values: Mapping[str, float], idle: frozenset[str], *, insist: bool
) -> Mechanism:
    """The mechanism with other inertias, rotors and friction."""
    of = model.mechanism
    return replace(
        of,
        bodies=tuple(_body(body, values, idle, insist=insist) for body in of.bodies),
        joints=tuple(_joint(joint, values) for joint in of.joints),
    )


def _body(body: Body, values: Mapping[str, float], idle: frozenset[str], *, insist: bool) -> Body:
    """The body with its values; mass and moments without any effect are raised where it would be impossible else."""
    terms = {term: values[f"{term}_{body.tied}"] for term in body.inertia.terms}
    moments = [term for term in ("Ixx", "Iyy", "Izz") if term in terms]
    free = [term for term in moments if f"{term}_{body.tied}" in idle]
    largest = max((terms[term] for term in moments if term not in free), default=0.0)
    reason, possible, formal = "", None, None
    heavier = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0) if f"m_{body.tied}" in idle and "m" in terms else (1.0,)
    others = (
        ({"m": factor * terms["m"]} if factor != 1.0 else {}) | raised
        for factor in heavier
        for raised in _raised(terms, free, largest)
    )
    for raised in others:
        try:
            inertia = _inertia(body.inertia, terms | raised)
        except InputError as error:
            reason = reason or str(error)
            continue
        if not inertia.is_possible:
            reason = reason or "a moment of inertia exceeds the sum of the other two"
            formal = formal or inertia
        elif _is_solid(inertia):
            return replace(body, inertia=inertia)
        else:
            possible = possible or inertia
    if possible is not None:
        return replace(body, inertia=possible)
    if formal is not None and not insist:
        return replace(body, inertia=formal)
    shown = ", ".join(f"{term} = {value:.3g}" for term, value in terms.items())
    raise InputError(
        f"body '{body.name}' is not physically possible ({shown}): {reason}. Simulators refuse such a body; export to "
        "c or fmu, or identify with bounds of its parameters"
    )


def _raised(terms: Mapping[str, float], free: Sequence[str], largest: float) -> Iterator[dict[str, float]]:
    """Other values of moments without effect, the smallest changes first."""
    yield {}
    # a flat plate and a thin rod are on the edge of what is possible: 1e-9 of the largest moment leads off it
    moments = [term for term in ("Ixx", "Iyy", "Izz") if term in terms]
    top = max(moments, key=lambda term: terms[term], default="")
    for factor, each in ((1e-9, moments), *((size, free) for size in (1e-6, 1e-3, 1e-2, 0.03, 0.1, 0.3))):
        for count in range(1, len(each) + 1):
            for chosen in combinations(each, count):
                yield {term: terms[term] + factor * terms[top] for term in chosen}
    for count in range(1, len(free) + 1):
        for chosen in combinations(free, count):
            yield {term: max(terms[term], largest) for term in chosen}


def _is_solid(inertia: Inertia) -> bool:
    """Whether a body has three moments that also MuJoCo accepts."""
    a, b, c = np.linalg.eigvalsh(inertia.matrix)
    return bool(inertia.mass > _TINY and a > _TINY and a + b > c)


def _inertia(nominal: Inertia, terms: Mapping[str, float]) -> Inertia:
    if nominal.symmetry == "massless":
        return nominal
    if nominal.symmetry == "point":
        return replace(nominal, mass=terms["m"])
    if nominal.symmetry == "planar":
        return Inertia.in_plane(terms["m"], (terms["sx"], terms["sy"]), terms["Izz"])
    m, sx, sy, sz, xx, yy, zz, xy, xz, yz = (terms.get(term, 0.0) for term in TERMS)
    return Inertia.about_origin(m, (sx, sy, sz), (xx, yy, zz), (xy, xz, yz), nominal.symmetry)


def _joint(joint: Joint, values: Mapping[str, float]) -> Joint:
    pairs = zip(joint.coordinates, joint.freedoms, strict=True)
    return replace(joint, freedoms=tuple(_freedom(name, freedom, values) for name, freedom in pairs))


def _freedom(name: str, freedom: Freedom, values: Mapping[str, float]) -> Freedom:
    friction = freedom.friction
    if friction is not None:
        known = {letter: values.get(f"{letter}_{friction.group}") for letter in "rvo"}
        try:
            friction = Friction(friction.group, dry=known["r"], viscous=known["v"], offset=known["o"])
        except InputError as error:
            raise InputError(f"the friction of '{name}' is not physically possible: {error}") from error
    rotor = freedom.rotor
    if rotor is not None:
        rotor = values[f"J_{name}"]
        if rotor < 0:
            raise InputError(f"the rotor of '{name}' is not physically possible: its inertia would be {rotor:.3g}")
    return replace(freedom, friction=friction, rotor=rotor)
