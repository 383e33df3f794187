"""Mechanisms as TOML text, as `read_mechanism` takes it."""

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from gough.robots.mechanism import Body, Closure, Freedom, Joint, Mechanism, Placement
from gough.robots.mechanism.parts import HELD, Limits
from gough.robots.mechanism.placement import AXES, STILL, UNTURNED


def mechanism_text(mechanism: Mechanism) -> str:
    r"""The mechanism as a TOML file: SI units, every body and joint on its own.

    Examples:
        >>> from gough.robots import FiveBar
        >>> print("\n".join(mechanism_text(FiveBar().mechanism).splitlines()[:4]))
        [mechanism]
        name = "five-bar"
        actuated = ["q1", "q2"]
        actuators = ["motor 1", "motor 2"]
    """
    platform = mechanism.platform
    head: dict[str, Any] = {"name": mechanism.name, "actuated": mechanism.actuated}
    if mechanism.actuators != mechanism.actuated:
        head["actuators"] = mechanism.actuators
    head["gravity"] = mechanism.gravity
    if mechanism.redundant:
        head["redundant"] = True
    stand: dict[str, Any] = {"body": platform.body, "pose": platform.pose, "home": platform.home}
    if platform.tool != STILL:
        stand["tool"] = _frame(platform.tool)
    tables = [("[mechanism]", head), ("[platform]", stand)]
    tables += [("[[bodies]]", _body(body)) for body in mechanism.bodies]
    tables += [("[[joints]]", _joint(joint)) for joint in mechanism.joints]
    tables += [("[[closures]]", _closure(closure)) for closure in mechanism.closures]
    return "\n".join(f"{title}\n{_lines(entries)}" for title, entries in tables)


def _body(body: Body) -> dict[str, Any]:
    inertia = body.inertia
    entries: dict[str, Any] = {"name": body.name}
    if body.group:
        entries["group"] = body.group
    entries["mass"] = inertia.mass
    for key in ("center", "moments", "products"):
        if any(getattr(inertia, key)):
            entries[key] = getattr(inertia, key)
    if inertia.symmetry != "none":
        entries["symmetry"] = inertia.symmetry
    return entries


def _joint(joint: Joint) -> dict[str, Any]:
    entries: dict[str, Any] = {"name": joint.name, "kind": joint.kind, "parent": joint.parent, "child": joint.child}
    entries |= _frame(joint.placement)
    if joint.kind in {"revolute", "prismatic", "cylindrical", "universal"}:
        entries["axis"] = _axis(joint.axis)
    if joint.kind == "universal":
        entries["second_axis"] = _axis(joint.second_axis)
    freedoms = [_freedom(freedom) for freedom in joint.freedoms]
    if freedoms and all(each == freedoms[0] for each in freedoms):
        return entries | freedoms[0]
    return entries | ({"freedoms": freedoms} if freedoms else {})


def _freedom(freedom: Freedom) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    if freedom.start is not None:
        entries["start"] = freedom.start
    if freedom.limits is not None:
        entries["limits"] = _limits(freedom.limits)
    if (friction := freedom.friction) is not None:
        terms = {"dry": friction.dry, "viscous": friction.viscous, "offset": friction.offset}
        entries["friction"] = {"group": friction.group} | {k: v for k, v in terms.items() if v is not None}
    if freedom.rotor is not None:
        entries["rotor"] = freedom.rotor
    if freedom.cogging is not None:
        entries["cogging"] = {"period": freedom.cogging.period, "harmonics": freedom.cogging.harmonics}
    return entries


def _limits(limits: Limits) -> dict[str, float]:
    keys = ("lower", "upper", "speed", "acceleration", "effort")
    return {key: value for key in keys if isfinite(value := getattr(limits, key))}


def _closure(closure: Closure) -> dict[str, Any]:
    entries: dict[str, Any] = {"name": closure.name, "bodies": closure.bodies}
    if all(place.rotation == UNTURNED for place in closure.placements):
        entries["points"] = [place.position for place in closure.placements]
    else:
        entries["frames"] = [_frame(place) for place in closure.placements]
    kinds = {held: kind for kind, held in HELD.items()}
    kind = kinds.get(closure.directions)
    if kind is None:
        return entries | {"directions": closure.directions}
    return entries if kind == "point" else entries | {"kind": kind}


def _frame(placement: Placement) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    if any(placement.position):
        entries["position"] = placement.position
    if placement.rotation != UNTURNED:
        entries["rotation"] = {"rows": placement.rotation}
    return entries


def _axis(axis: tuple[float, float, float]) -> Any:
    return next((name for name, known in AXES.items() if known == axis), axis)


def _lines(entries: Mapping[str, Any]) -> str:
    return "".join(f"{key} = {_value(value)}\n" for key, value in entries.items())


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, Iterable):
        return "[" + ", ".join(_value(each) for each in value) + "]"
    return repr(value + 0.0) if isinstance(value, float) else repr(value)
