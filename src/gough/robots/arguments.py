"""Robots as arguments of public functions: models are taken, names and classes are refused with the line to write.

A name does not state dimensions, and results are wrong without any other sign where the robot's differ from those of
the library: so a robot is always an object.
"""

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, partial
from inspect import getattr_static
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.arguments import described, refused
from gough.core.arrays import Array, array
from gough.core.errors import InputError, nearest, require
from gough.robots import KINEMATICS, ROBOTS, DynamicModel, GoughPlatform, KinematicModel

_FOR_DYNAMICS = "a dynamic model, for identify and design"
_FOR_GEOMETRY = "a kinematic model, for calibrate, certify and choose_poses"


def dynamic_model(value: Any, what: str = "robot") -> DynamicModel:
    """The value, if it is a robot for identification and design.

    Raises:
        InputError: it is something else; the message says what to write.

    Examples:
        >>> dynamic_model("h4")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: robot must be a dynamic model, but it is the text 'h4': write gough.robots.H4(), \
with the dimensions of your robot
    """
    if _is(value, DynamicModel):
        model: DynamicModel = value
        return model
    if _is(value, KinematicModel):
        line = _line(value, KINEMATICS, ROBOTS)
        raise InputError(f"{what} must be {_FOR_DYNAMICS}, but it is {described(value)}, {_FOR_GEOMETRY}: write {line}")
    raise _refused(what, value, "a dynamic model", ROBOTS)


def kinematic_model(value: Any, what: str = "robot") -> KinematicModel:
    """The value, if it is a robot for calibration, certification and the choice of poses.

    Raises:
        InputError: it is something else; the message says what to write.

    Examples:
        >>> from gough.robots import LinearDelta
        >>> kinematic_model(LinearDelta)
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: robot must be a kinematic model, but it is the class LinearDelta, not an object \
of it: write gough.robots.LinearDelta(), with the dimensions of your robot
    """
    if _is(value, KinematicModel):
        model: KinematicModel = value
        return model
    if _is(value, DynamicModel):
        line = _line(value, ROBOTS, KINEMATICS)
        raise InputError(f"{what} must be {_FOR_GEOMETRY}, but it is {described(value)}, {_FOR_DYNAMICS}: write {line}")
    raise _refused(what, value, "a kinematic model", KINEMATICS)


def finite_parameters(robot: KinematicModel, values: Any, what: str = "parameters") -> Array:
    """A finite number for each parameter of a robot; `robot.nominal` where `values` is None."""
    theta = array(robot.nominal if values is None else values, what, ndim=1)
    n = len(robot.names)
    require(len(theta) == n, f"{what} must have {n} parameters, not {len(theta)}: take robot.nominal and change some")
    require(bool(np.isfinite(theta).all()), f"{what} must be finite numbers: take robot.nominal and change some")
    return theta


def _is(value: Any, protocol: type) -> bool:
    """Has the value all members of a protocol? Properties are not evaluated: some build a mechanism."""
    return not isinstance(value, type) and all(_has(value, name) for name in _members(protocol))


@cache
def _members(protocol: type) -> tuple[str, ...]:
    return tuple(name for name in dir(protocol) if not name.startswith("_"))


def _has(value: Any, name: str) -> bool:
    missing = object()
    return hasattr(type(value), name) or getattr_static(value, name, missing) is not missing or hasattr(value, name)


def _refused(what: str, value: Any, expected: str, families: Mapping[str, Any]) -> InputError:
    if isinstance(value, str | Path) and Path(value).suffix == ".toml":
        study = f'gough.Study.read("{value}") for a study'
        mechanism = f'gough.studies.robots.robot_from_file(Path("{value}")) for a mechanism'
        return refused(what, value, expected, study if families is KINEMATICS else f"{study}, {mechanism}")
    return refused(what, value, expected, _line(value, families, families))


def _line(value: Any, here: Mapping[str, Any], there: Mapping[str, Any]) -> str:
    """The line that makes a robot of the family that is meant, as far as the value shows which, or of any family."""
    names = [family for family, kind in here.items() if kind is value or kind is type(value)]
    names += get_close_matches(value, there, n=1) if isinstance(value, str) else []
    calls = [_call(there[family]) for family in names if family in there]
    others = dict.fromkeys(_call(kind).partition("(")[0].rpartition(".")[2] for kind in there.values())
    del others[there["h4"].__name__]
    line = calls[0] if calls else f"{_call(there['h4'])} (or {', '.join(others)})"
    return f"{line}, with the dimensions of your robot"


def _call(kind: Any) -> str:
    """The line that makes a robot of a family."""
    if isinstance(kind, partial):
        options = ", ".join(f"{name}={value!r}" for name, value in kind.keywords.items())
        return f"gough.robots.{kind.func.__name__}({options})"
    options = "base=…, platform=…, length=…" if kind is GoughPlatform else ""
    return f"gough.robots.{kind.__name__}({options})"


def with_variant(of: DynamicModel, variant: str | None) -> DynamicModel:
    """The robot with another of its nested models; None leaves it the most detailed one."""
    if variant is None:
        return of
    known = [one.variant for one in getattr(of, "variants", ())]
    require(bool(known), f"{of.name} has one model only: leave the variant out")
    if variant not in known:
        raise InputError(f"{of.name} has no variant '{variant}'{nearest(variant, known)} (known: {', '.join(known)})")
    return replace(of, variant=variant)  # type: ignore[type-var]
