"""Robots as studies name them: dynamic and kinematic models of a family with its dimensions, or a mechanism file."""

from collections.abc import Mapping
from dataclasses import Field, fields, replace
from inspect import signature
from math import degrees
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.errors import InputError, nearest, require
from gough.robots import (
    BY_INSTRUMENTS,
    KINEMATICS,
    ROBOTS,
    CableRobot,
    DynamicModel,
    GoughPlatform,
    KinematicModel,
    PlanarRRR,
    RodDelta,
)
from gough.robots.arguments import with_variant
from gough.studies.calibration_schema import KinematicRobotTable
from gough.studies.mechanism_file import Stated, read_mechanism_robot
from gough.studies.quantities import nested, quantity


def robot(family: str, dimensions: Mapping[str, Any] | None = None, variant: str | None = None) -> DynamicModel:
    """The robot of this family; dimensions that are not given, and the variant, have their defaults.

    Examples:
        >>> robot("h4", {"arm": "250 mm"}).geometry.arm
        0.25
        >>> robot("palida").coordinate_units[0]
        'm'
        >>> robot("h4", {"arms": 0.25})
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: no dimension of h4 is called 'arms'; did you mean 'arm'? (known: arm, rod, d, h, \
base, alpha)
    """
    require_family(family)
    stated = {name: _dimension(family, name, value) for name, value in (dimensions or {}).items()}
    make, geometry = ROBOTS[family], geometry_of(family)
    # a five-bar is nothing but its geometry
    return with_variant(make(**stated) if geometry is make else make(geometry=geometry(**stated)), variant)


def require_family(family: str) -> None:
    """Refuse an unknown family, and suggest the nearest known one."""
    if family not in ROBOTS:
        known = ", ".join(ROBOTS)
        raise InputError(f"no robot is called '{family}'{nearest(family, ROBOTS)} (known: {known}, or give a file)")


def robot_from_file(path: Path, variant: str | None = None, stated: Stated | None = None) -> DynamicModel:
    """The mechanism of a file (TOML, URDF or MJCF) as a robot; of the last two with what is stated beside it."""
    return with_variant(read_mechanism_robot(path, stated), variant)


def effort_letter(of: DynamicModel) -> str:
    """Prefix of the channels of efforts: F1, F2, … for forces, else tau1, tau2, …

    Examples:
        >>> effort_letter(robot("h4")), effort_letter(robot("6-ups"))
        ('tau', 'F')
    """
    return "F" if set(of.effort_units) == {"N"} else "tau"


def geometry_of(family: str) -> Any:
    """The class of a family's dimensions: that of its `geometry`, or the family's own."""
    make = ROBOTS[family]
    parameter = signature(make).parameters.get("geometry")
    return make if parameter is None else type(parameter.default)


def dimensions_of(family: str) -> dict[str, Field[Any]]:
    """The dimensions of a family by name: fields whose metadata hold their unit and meaning."""
    return {each.name: each for each in fields(geometry_of(family)) if "unit" in each.metadata}


def dimension_text(value: Any, unit: str) -> str:
    """A length in mm, an angle in degrees; lists in brackets.

    Examples:
        >>> dimension_text(0.25, "m"), dimension_text((0.5, 0.25), "m"), dimension_text(1.0, "1")
        ('250 mm', '[500 mm, 250 mm]', '1')
    """
    if np.ndim(value):
        return f"[{', '.join(dimension_text(each, unit) for each in value)}]"
    written_unit, factor = {"m": (" mm", 1e3), "rad": (" deg", degrees(1.0))}.get(unit, ("", 1.0))
    return f"{round(factor * value, 9) + 0.0:g}{written_unit}"


def not_stated(left: Mapping[str, str], table: str) -> tuple[str, ...]:
    """A sentence that lists dimensions taken from the library; nothing if there are none.

    Examples:
        >>> not_stated({"rod": "700 mm"}, "robot.geometry")[0].split(". ")[0]
        'Not stated in [robot.geometry], taken from the library: rod = 700 mm'
        >>> not_stated({}, "robot.geometry")
        ()
    """
    listed = ", ".join(f"{name} = {value}" for name, value in left.items())
    warning = "If the robot's dimensions differ, the results may be wrong without any other sign: state them."
    return (f"Not stated in [{table}], taken from the library: {listed}. {warning}",) if left else ()


def left_out(family: str, dimensions: Mapping[str, Any]) -> dict[str, str]:
    """The dimensions of a family that are not given, with their defaults as text.

    Examples:
        >>> left_out("five-bar", {"base": "180 mm", "distal": "330 mm"})["proximal"]
        '[250 mm, 250 mm]'
    """
    holder, known = geometry_of(family)(), dimensions_of(family)
    return {
        name: dimension_text(getattr(holder, name), each.metadata["unit"])
        for name, each in known.items()
        if name not in dimensions
    }


def _dimension(family: str, name: str, value: Any) -> Any:
    known = dimensions_of(family)
    if name not in known:
        raise InputError(
            f"no dimension of {family} is called '{name}'{nearest(name, known)} (known: {', '.join(known)})",
            key=("geometry", name),
        )
    unit = known[name].metadata["unit"]
    try:
        if isinstance(value, list):
            many = value and not isinstance(known[name].default, int | float)
            require(bool(many), "must be one number" if value else "the list is empty")
            return tuple(quantity(each, unit) for each in value)
        return quantity(value, unit)
    except InputError as error:
        raise InputError(f"{error}", key=("geometry", name)) from error


_GOUGH = {"base": "m", "platform": "m", "length": "m", "gain": "1"}
_CIRCLES = {"base_radius": "m", "platform_radius": "m", "base_angles": "rad", "platform_angles": "rad"}
_LINEAR = {"radius": "m", "arm": "m", "endstop": "m", "angle": "rad"}
_ROTARY = {"radius": "m", "arm": "m", "rod": "m", "angle": "rad", "height": "m", "zero": "rad"}
_PLANAR = {"arm": "m", "rod": "m", "zero": "rad", "elbow": "1"}
_POINTS = {"base": "m", "platform": "m"}
_CHAINS = {"linear-delta": _LINEAR, "rotary-delta": _ROTARY, "3-rrr": _POINTS | _PLANAR}
"""Kinematic models by family: units of their dimensions, and the class."""
_CABLES = {"anchors": "m", "points": "m", "length": "m", "home": "m"}
_CABLES |= {"gain": "1", "buildup": "1", "elongation": "1/N"}
"""Dimensions of cable robots; gain and buildup are metres per unit of reading and per its square."""
_RODS = _LINEAR | {"effector": "m", "spacing": "m"}
_BENT = {"lean": "rad", "mismatch": "m", "side": "m"}
"""Dimensions of a rod delta that may be left out: its towers are upright then, and its rods equal."""
_ROBOTS = ("h4", "par4")
"""Kinematic models with the dimensions of the dynamic model of the same family."""
BLUEPRINTS = {"deltalab": GoughPlatform.deltalab}
"""Built-in blueprints."""


def kinematic_model(table: KinematicRobotTable) -> KinematicModel:
    """The kinematic model that a table [robot] describes.

    Examples:
        >>> kinematic_model(KinematicRobotTable(family="linear-delta", geometry={"radius": "160 mm"})).radius
        0.16
        >>> kinematic_model(KinematicRobotTable(family="linear-delta", geometry={"radios": 0.16}))
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: no dimension of linear-delta is called 'radios'; did you mean 'radius'? \
(known: radius, arm, endstop, angle)
    """
    geometry = table.geometry
    require(table.family is not None, "the table [robot] states no family")
    assert table.family is not None
    named: dict[str, Any] = {} if table.name is None else {"name": table.name}
    if table.family == "cables":
        require(table.blueprint is None, "no blueprint of a cable robot is built in: give its geometry")
        require("anchors" in geometry, "the geometry of a cable robot lacks 'anchors'")
        return CableRobot(**_dimensions("cables", geometry, _CABLES), **_sensors(table), **named)
    if table.family == "rod-delta":
        missing = [name for name in _RODS if name not in geometry]
        require(not missing, f"the geometry of a rod-delta lacks {', '.join(missing)}")
    in_table = table.family in _ROBOTS or not table.chains
    require(in_table, f"chains are for {' and '.join(_ROBOTS)}: state the dimensions of a {table.family}")
    if table.family != "gough":
        require(table.blueprint is None, f"no blueprint of a {table.family} is built in: give its geometry")
        own = not table.model_fields_set & {"gains", "reading_unit"}
        require(
            own,
            f"gains and reading_unit are for Gough platforms and cables, not for a {table.family}: leave them out",
        )
        return _with_chains(_named(_of_chains(table.family, geometry), named), table.chains)
    if table.blueprint is not None:
        if table.blueprint not in BLUEPRINTS:
            raise InputError(f"no blueprint is called '{table.blueprint}'{nearest(table.blueprint, BLUEPRINTS)}")
        require(not geometry, "give either a blueprint or a geometry, not both")
        metres = table.reading_unit == "m"
        require(metres, "legs of a built-in blueprint read metres: leave out reading_unit, state units of [poses]")
        built_in: KinematicModel = _named(replace(BLUEPRINTS[table.blueprint](), gains=table.gains), named)
        return built_in
    options: dict[str, Any] = {**_sensors(table), **named}
    circles = "base_radius" in geometry
    values = _dimensions("gough", geometry, _CIRCLES | {"length": "m", "gain": "1"} if circles else _GOUGH)
    for name in (
        ("base_radius", "platform_radius", "base_angles", "platform_angles") if circles else ("base", "platform")
    ):
        require(name in values, f"the geometry of a Gough platform lacks '{name}'")
    require("length" in values, "the geometry of a Gough platform lacks 'length': of its legs at reading zero")
    return GoughPlatform.of_circles(**values, **options) if circles else GoughPlatform(**values, **options)


def _named(model: Any, named: Mapping[str, str]) -> Any:
    return replace(model, **named) if named else model


def _with_chains(model: Any, chains: Mapping[str, list[float]]) -> Any:
    """The robot with calibrated parameters of its chains, where they are stated."""
    if not chains:
        return model
    for stem in (*model.STEMS, *chains):
        require(
            stem in model.STEMS and len(chains.get(stem, ())) == len(model.chains),
            f"[robot.chains] must state {', '.join(model.STEMS)}, each {len(model.chains)} numbers; '{stem}' is wrong",
        )
    return replace(model, calibrated=np.column_stack([chains[stem] for stem in model.STEMS]))


def _sensors(table: KinematicRobotTable) -> dict[str, Any]:
    return {"gains": table.gains, "reading_unit": table.reading_unit}


def _of_chains(family: str, dimensions: Mapping[str, Any]) -> KinematicModel:
    """The kinematic model of a robot other than a Gough platform."""
    if family in _ROBOTS:
        geometry = robot(family, dimensions).geometry  # type: ignore[attr-defined]
        of_robot: KinematicModel = KINEMATICS[family](geometry)
        return of_robot
    if family == "3-rrr" and "base_radius" in dimensions:
        require("platform_radius" in dimensions, "the geometry of a planar 3-RRR lacks 'platform_radius'")
        return PlanarRRR.of_circles(**_dimensions(family, dimensions, _CIRCLES | _PLANAR))
    if family == "rod-delta":
        return RodDelta(**_dimensions(family, dimensions, _RODS | _BENT))
    made: KinematicModel = KINEMATICS[family](**_dimensions(family, dimensions, _CHAINS[family]))
    return made


def kinematic_dimensions_left_out(table: KinematicRobotTable) -> dict[str, str]:
    """The dimensions that a study about geometry does not state, with the library's values as text."""
    family, geometry = table.family, table.geometry
    if family is None or family in {"gough", *BY_INSTRUMENTS}:
        return {}  # all are required, or those of a named blueprint
    if family in _ROBOTS:
        return left_out(family, geometry)
    units, known = _CHAINS[family], fields(KINEMATICS[family])
    circles = {"base", "platform"} if "base_radius" in geometry else set()
    values = {each.name: each.default_factory() if callable(each.default_factory) else each.default for each in known}
    left = {
        name: dimension_text(values[name], unit) for name, unit in units.items() if name not in {*geometry, *circles}
    }
    angles = {"base_angles", "platform_angles"} - set(geometry) if circles else set()
    default = signature(PlanarRRR.of_circles).parameters
    return left | {name: dimension_text(default[name].default, "rad") for name in sorted(angles)}


def _dimensions(family: str, geometry: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
    result = {}
    for name, value in geometry.items():
        if name not in known:
            raise InputError(
                f"no dimension of {family} is called '{name}'{nearest(name, known)} (known: {', '.join(known)})",
                key=("geometry", name),
            )
        try:
            result[name] = nested(value, known[name])
        except InputError as error:
            raise InputError(f"{error}", key=("geometry", name)) from error
    return result
