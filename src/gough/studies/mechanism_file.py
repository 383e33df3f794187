"""Mechanisms from TOML files: bodies, joints and closures with units, repeated legs, and errors with their line."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf
from pathlib import Path
from typing import Any

from gough.core.errors import InputError, nearest, require
from gough.core.files import is_file, read_toml
from gough.core.toml_places import Place
from gough.robots.mechanism import (
    Body,
    Closure,
    Cogging,
    Freedom,
    Friction,
    Inertia,
    Joint,
    Limits,
    Mechanism,
    MechanismModel,
    Placement,
    Platform,
)
from gough.robots.mechanism.description import require_known
from gough.robots.mechanism.imports import SUFFIXES, Imported, read_description, read_mjcf, read_urdf
from gough.robots.mechanism.imports.extended_urdf import unlisted_loops
from gough.robots.mechanism.parameters import UNITS
from gough.robots.mechanism.parts import BASE, FREEDOMS
from gough.robots.mechanism.placement import AXES, Rotation, Vector, facing, rotation, turned
from gough.studies.mechanism_tables import (
    BodyTable,
    ClosureTable,
    FileTable,
    FreedomTable,
    FrictionTable,
    JointTable,
    LegsTable,
    LimitsTable,
)
from gough.studies.quantities import quantity
from gough.studies.toml import TomlFile

_TURN = re.compile(r"\s*(-?[xyz])\s+(.+)")
_TEXT = re.compile(r"([-+0-9.eE,\s]+?)\s*([^-+0-9.,\s].*)?")
_LENGTHS = {"turn": "rad", "slide": "m"}
_KEYS = "actuated, platform, pose, home and fixed"
_REPEATED = ("bodies", "joints", "closures")
"""Tables that [[legs]] repeats."""


@dataclass(frozen=True)
class Stated:
    """Actuators and platform of a mechanism in a file of another program; what is empty is taken from the file."""

    actuated: tuple[str, ...] = ()
    """Names of the actuated coordinates."""
    platform: str = ""
    """Name of the platform's body."""
    pose: tuple[str, ...] = ()
    """Coordinates of the platform: of its body, or of joints."""
    home: tuple[Any, ...] = ()
    """A value of each, in SI units or as text with a unit."""
    fixed: tuple[str, ...] = ()
    """Names of joints that are held still, such as idle ones."""

    @property
    def is_empty(self) -> bool:
        """Is nothing stated?"""
        return self == Stated()


def read_mechanism(path: str | Path, stated: Stated | None = None) -> Mechanism:
    """The mechanism in a TOML file, or in a URDF, MJCF, SDF or Extended-URDF file with what is stated beside it.

    Raises:
        InputError: no such file, no TOML or XML, an unknown or missing key, a value or a name that cannot be; with the
            line. Or the file leaves open what actuators and platform are; with the candidates.
    """
    given = stated or Stated()
    if Path(path).suffix.lower() not in SUFFIXES:
        require(given.is_empty, f"{path} states actuators and platform itself: leave {_KEYS} out")
        return _calibrated(path) or MechanismFile.read(path).mechanism
    imported = read_description(path, given.actuated)
    keys = {"actuated": given.actuated, "platform": given.platform, "pose": given.pose}
    try:
        drawn = imported.held(given.fixed).completed(**keys)  # type: ignore[arg-type]
        if not given.home:
            return drawn
        wanted = drawn.platform.pose
        require(len(given.home) == len(wanted), f"home must be {len(wanted)} numbers, of {', '.join(wanted)}")
        motions = {**dict(FREEDOMS["free"]), **drawn.motions}
        home = [
            quantity(value, _LENGTHS[motions[name]], bare=True) for value, name in zip(given.home, wanted, strict=True)
        ]
        return replace(drawn, platform=replace(drawn.platform, home=tuple(home)))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def is_geometry(path: str | Path) -> bool:
    """Whether a TOML file is a geometry.toml of a calibration: a robot, and no mechanism or study."""
    if not is_file(Path(path)):
        return False
    try:
        return set(read_toml(Path(path))[0]) == {"robot", "calibrated"}
    except InputError:
        return False


def _calibrated(path: str | Path) -> Mechanism | None:
    """The mechanism of a calibrated geometry; None where the file is another one."""
    if not is_geometry(path):
        return None
    from gough.studies.geometry_file import read_geometry  # noqa: PLC0415 - robots of studies build on this module

    model = read_geometry(path).model
    held = getattr(model, "calibrated", None) is None
    require(
        held,
        f"{path}: chains of a {model.name} that differ have no dynamic model: state family and dimensions in the "
        "study, and join both results in gough export",
    )
    return model.mechanism


def read_mechanism_robot(path: str | Path, stated: Stated | None = None) -> MechanismModel:
    """The mechanism in a file as a robot.

    Raises:
        InputError: as `read_mechanism`; or it does not close, or its degrees of freedom are not its actuators.
    """
    plain = Path(path).suffix.lower() not in SUFFIXES and (stated is None or stated.is_empty)
    if plain and not is_geometry(path):
        return MechanismFile.read(path).robot
    mechanism = read_mechanism(path, stated)
    try:
        return MechanismModel(mechanism)
    except InputError as error:
        is_yaml = Path(path).suffix.lower() in {".yaml", ".yml"}
        hint = f" {found}" if is_yaml and (found := unlisted_loops(path)) else ""
        raise InputError(f"{path}: {error}{hint}") from error


@dataclass(frozen=True, eq=False)
class MechanismFile:
    """A mechanism file. Names of files in it are relative to its folder."""

    file: TomlFile
    table: FileTable

    @classmethod
    def read(cls, path: str | Path) -> "MechanismFile":
        """The tables of a file, with all legs expanded."""
        file = written_out(TomlFile.read(path))
        return cls(file, file.validated(FileTable))

    @cached_property
    def robot(self) -> MechanismModel:
        """The mechanism as a robot; refused if it does not close or its degrees of freedom are not its actuators."""
        mechanism = self.mechanism
        with self.file.at():
            return MechanismModel(mechanism)

    @cached_property
    def mechanism(self) -> Mechanism:
        """The mechanism that the file describes."""
        bodies, joints, closures = self._parts
        bodies = self._tied(bodies)
        self._check_names(bodies, joints, closures)
        table = self.table.mechanism
        motions = {
            name: motion
            for joint in joints
            for name, (_, motion) in zip(joint.coordinates, FREEDOMS[joint.kind], strict=True)
        }
        for name in table.actuated:
            with self.file.at("mechanism", "actuated"):
                require_known(name, motions, "no coordinate is called")
            self._require_limits(name, joints)
        platform = self._platform(motions, [body.name for body in bodies])
        with self.file.at("mechanism", "gravity"):
            gravity = self._imported.gravity if table.gravity is None else _vector(table.gravity, "m/s²")
        with self.file.at():
            return Mechanism(
                table.name,
                bodies,
                joints,
                closures,
                tuple(table.actuated),
                platform,
                gravity,
                table.redundant,
                tuple(table.actuators),
            )

    @cached_property
    def _imported(self) -> Imported:
        """The contents of the URDF or MJCF file that this file names; nothing where it names none."""
        imported = Imported("", (), ())
        table = self.table.mechanism
        for read, key, name in ((read_urdf, "urdf", table.urdf), (read_mjcf, "mjcf", table.mjcf)):
            if name is not None:
                with self.file.at("mechanism", key):
                    require(not imported.bodies, "give either urdf or mjcf")
                    imported = read(self.file.path.parent / name)
        return imported

    @cached_property
    def _parts(self) -> tuple[tuple[Body, ...], tuple[Joint, ...], tuple[Closure, ...]]:
        """Bodies, joints and closures: first those of the URDF or MJCF file, then those of this file."""
        imported = self._imported
        return (
            (*imported.bodies, *(self._body(k, body) for k, body in enumerate(self.table.bodies))),
            (*imported.joints, *(self._joint(k, joint) for k, joint in enumerate(self.table.joints))),
            (*imported.closures, *(self._closure(k, closure) for k, closure in enumerate(self.table.closures))),
        )

    def _body(self, k: int, table: BodyTable) -> Body:
        place = ("bodies", k)
        with self.file.at(*place, "mass"):
            mass = quantity(table.mass, "kg")
            require(mass >= 0, f"mass must not be negative, but is {mass:g} kg")
        parts: dict[str, Vector] = {}
        for key, unit in (("center", "m"), ("moments", "kg·m²"), ("products", "kg·m²")):
            with self.file.at(*place, key):
                parts[key] = _vector(getattr(table, key), unit)
        with self.file.at(*place):
            try:
                inertia = Inertia(mass, parts["center"], parts["moments"], parts["products"], table.symmetry)
            except InputError as error:
                raise InputError(f"body '{table.name}': {error}") from error
            return Body(table.name, inertia, table.group)

    def _joint(self, k: int, table: JointTable) -> Joint:
        place = ("joints", k)
        axes = []
        for key in ("axis", "second_axis"):
            with self.file.at(*place, key):
                axes.append(_axis(getattr(table, key), key))
        at = self._frame(table.position, table.rotation, place)
        kinds = [motion for _, motion in FREEDOMS[table.kind]]
        joint_only = Joint(table.name, table.kind, table.parent, table.child)
        if table.freedoms:
            with self.file.at(*place, "freedoms"):
                require(
                    len(table.freedoms) == len(kinds),
                    f"a {table.kind} joint has {len(kinds)} coordinates, but {len(table.freedoms)} are listed",
                )
        freedoms = []
        for i, (name, motion) in enumerate(zip(joint_only.coordinates, kinds, strict=True)):
            freedom, below = (table.freedoms[i], (*place, "freedoms", i)) if table.freedoms else (table, place)
            freedoms.append(self._freedom(freedom, name, motion, below))
        with self.file.at(*place):
            return Joint(table.name, table.kind, table.parent, table.child, at, axes[0], axes[1], tuple(freedoms))

    def _freedom(self, table: FreedomTable, name: str, motion: str, place: Place) -> Freedom:
        length, units = _LENGTHS[motion], UNITS[motion]
        start = self._quantity(table.start, length, (*place, "start"))
        rotor = self._quantity(table.rotor, units["J"], (*place, "rotor"))
        cogging = None
        if table.cogging is not None:
            with self.file.at(*place, "cogging"):
                cogging = Cogging(quantity(table.cogging.period, length), tuple(table.cogging.harmonics))
        limits = self._limits(table.limits, motion, (*place, "limits"))
        return Freedom(start, limits, self._friction(table.friction, name, motion, place), rotor, cogging)

    def _limits(self, table: LimitsTable | None, motion: str, place: Place) -> Limits | None:
        if table is None:
            return None
        length = _LENGTHS[motion]
        keys = {"lower": length, "upper": length, "speed": f"{length}/s", "acceleration": f"{length}/s²"}
        keys["effort"] = UNITS[motion]["r"]
        read = {key: self._quantity(getattr(table, key), unit, (*place, key)) for key, unit in keys.items()}
        with self.file.at(*place):
            known = {key: value for key, value in read.items() if value is not None}
            return Limits(**{"lower": -inf, **known})

    def _friction(self, table: FrictionTable | None, name: str, motion: str, place: Place) -> Friction | None:
        if table is None:
            return None
        place = (*place, "friction")
        units = UNITS[motion]
        read = [
            self._quantity(getattr(table, key), units[letter], (*place, key))
            for key, letter in (("dry", "r"), ("viscous", "v"), ("offset", "o"))
        ]
        with self.file.at(*place):
            require(any(value is not None for value in read), "say at least one of dry, viscous, offset")
            return Friction(table.group or name, *read)

    def _closure(self, k: int, table: ClosureTable) -> Closure:
        place = ("closures", k)
        with self.file.at(*place):
            require(
                table.points is None or table.frames is None, "give points or frames, not both: a frame has a position"
            )
        if table.frames is not None:
            first, second = (
                self._frame(frame.position, frame.rotation, (*place, "frames", i))
                for i, frame in enumerate(table.frames)
            )
        else:
            with self.file.at(*place, "points"):
                points = table.points or [(0.0, 0.0, 0.0)] * 2
                first, second = (Placement(_vector(point, "m")) for point in points)
        with self.file.at(*place):
            return Closure(table.name, (table.bodies[0], table.bodies[1]), (first, second), table.held)

    def _platform(self, motions: Mapping[str, str], bodies: Sequence[str]) -> Platform:
        table = self.table.platform
        with self.file.at("platform", "body"):
            require_known(table.body, bodies, "no body is called")
        with self.file.at("platform", "pose"):
            known = {**dict(FREEDOMS["free"]), **motions}
            for word in table.pose:
                require_known(word, known, "no coordinate of a pose is called")
        with self.file.at("platform", "home"):
            require(
                len(table.home) == len(table.pose), f"home must have {len(table.pose)} numbers, one for each of pose"
            )
            home = [quantity(v, _LENGTHS[known[word]]) for v, word in zip(table.home, table.pose, strict=True)]
        tool = self._frame(table.tool.position, table.tool.rotation, ("platform", "tool"))
        with self.file.at("platform"):
            return Platform(table.body, tuple(table.pose), tuple(home), tool)

    def _frame(self, position: Any, turns: Any, place: Place) -> Placement:
        with self.file.at(*place, "position"):
            at = _vector(position, "m")
        with self.file.at(*place, "rotation"):
            return Placement(at, _rotation(turns))

    def _quantity(self, value: Any, unit: str, place: Place) -> float | None:
        if value is None:
            return None
        with self.file.at(*place):
            return quantity(value, unit)

    def _tied(self, bodies: tuple[Body, ...]) -> tuple[Body, ...]:
        groups: dict[str, str] = {}
        for group, members in self.table.groups.items():
            with self.file.at("groups", group):
                for name in members:
                    require_known(name, [body.name for body in bodies], "no body is called")
                    groups[name] = group
        return tuple(replace(body, group=groups.get(body.name, body.group)) for body in bodies)

    def _check_names(self, bodies: Sequence[Body], joints: Sequence[Joint], closures: Sequence[Closure]) -> None:
        """Refuse duplicate and unknown names, with the line; of two equal names, that of the second."""
        for key, parts in (
            ("bodies", [body.name for body in bodies]),
            ("joints", [joint.name for joint in joints]),
            ("closures", [closure.name for closure in closures]),
        ):
            seen: set[str] = set()
            own = len(parts) - len(getattr(self.table, key))
            for k, name in enumerate(parts):
                with self.file.at(key, max(k - own, 0), "name"):
                    require(name not in seen, f"'{name}' is there twice: each needs a name of its own")
                    require(key != "bodies" or name != BASE, f"'{BASE}' is the fixed frame: choose another name")
                seen.add(name)
        known = [BASE, *(body.name for body in bodies)]
        for k, joint in enumerate(self.table.joints):
            for word in ("parent", "child"):
                with self.file.at("joints", k, word):
                    require_known(getattr(joint, word), known, "no body is called")
        for k, closure in enumerate(self.table.closures):
            with self.file.at("closures", k, "bodies"):
                for name in closure.bodies:
                    require_known(name, known, "no body is called")

    def _require_limits(self, name: str, joints: Sequence[Joint]) -> None:
        """Require limits of an actuator's position."""
        joint = next(joint for joint in joints if name in joint.coordinates)
        freedom = joint.freedoms[joint.coordinates.index(name)]
        own = [table.name for table in self.table.joints]
        place: Place = ("joints", own.index(joint.name)) if joint.name in own else ("mechanism", "actuated")
        with self.file.at(*place):
            require(
                freedom.limits is not None and freedom.limits.is_bounded,
                f"'{name}' is actuated, but its limits are missing: say how far it goes, as in "
                f'limits = {{ lower = "{"-90 deg" if joint.kind == "revolute" else "400 mm"}", upper = … }}',
            )


def _vector(value: Any, unit: str) -> Vector:
    """Three quantities: a list, or text such as "0 140 0 mm"."""
    if isinstance(value, str):
        match = _TEXT.fullmatch(value.strip())
        numbers = re.split(r"[,\s]+", match[1].strip()) if match else []
        value = [f"{each} {match[2] or ''}" if match else each for each in numbers]
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise InputError(f'must be three numbers in {unit}, or text such as "0 140 0 {unit}", but is {value!r}')
    x, y, z = (quantity(each, unit) for each in value)
    return (x, y, z)


def _axis(value: Any, what: str) -> Vector:
    """An axis: x, y, z, -x, -y, -z, or three numbers of any common size."""
    if isinstance(value, str):
        require_known(value, AXES, "no axis is called")
        return AXES[value]
    x, y, z = _vector(value, "")
    require(abs(x) + abs(y) + abs(z) > 1e-12, f"{what} has no length: it points nowhere")
    return (x, y, z)


def _rotation(value: Any) -> Rotation:
    """Successive rotations ("z 30 deg") about axes of the rotated frame; or the directions of x and z."""
    if isinstance(value, Mapping) and set(value) == {"rows"}:
        a, b, c = (_vector(row, "") for row in value["rows"])
        return Placement(rotation=(a, b, c)).rotation
    if isinstance(value, Mapping):
        require(set(value) == {"x", "z"}, "say where both axes point, as in { x = [1, 0, 0], z = [0, 0, 1] }")
        return facing(_axis(value["x"], "x"), _axis(value["z"], "z"))
    turns = [value] if isinstance(value, str) else value
    if not isinstance(turns, list | tuple):
        raise InputError(f'must be turns such as ["z 30 deg", "x 90 deg"], but is {value!r}')
    total = Placement()
    for each in turns:
        match = _TURN.fullmatch(each) if isinstance(each, str) else None
        if match is None:
            raise InputError(f'a turn is an axis and an angle, such as "z 30 deg", not {each!r}')
        total @= Placement(rotation=turned(AXES[match[1]], quantity(match[2], "rad")))
    return rotation(total.matrix)


def written_out(file: TomlFile) -> TomlFile:
    """The file with the tables of every [[legs]] repeated for each of its names.

    In the tables of a leg, "{leg}" inside any text is the leg's name; a text that is nothing but "{key}" is the leg's
    entry of the list `key` of [[legs]].
    """
    data = file.tables
    complete = {key: value for key, value in data.items() if key != "legs"}
    origins: dict[tuple[str, int], Place] = {}
    plain = {key: list(data.get(key, [])) if isinstance(data.get(key, []), list) else data[key] for key in _REPEATED}
    counts = dict.fromkeys(_REPEATED, 0)
    groups = data.get("legs", [])
    with file.at("legs"):
        require(isinstance(groups, list), "write [[legs]], with two brackets: there may be several")
    for i, raw in enumerate(groups):
        part = replace(file, written=partial(_in_legs, i))
        table = part.validated(LegsTable, raw)
        lists = _lists(table, part)
        for n, leg in enumerate(table.names):
            values = {key: entries[n] for key, entries in lists.items()}
            for key in _REPEATED:
                for j, template in enumerate(getattr(table, key)):
                    origin = (key, counts[key] + j)
                    with part.at(*origin):
                        plain[key].append(_filled(template, leg, values))
                    origins[key, len(plain[key]) - 1] = ("legs", i, *origin)
        for key in _REPEATED:
            counts[key] += len(getattr(table, key))

    def written(place: Place) -> Place:
        head = (place[0], place[1]) if len(place) > 1 else ()
        origin = origins.get(head) if len(head) == 2 else None  # type: ignore[arg-type]
        return place if origin is None else (*origin, *place[2:])

    tables = {**complete, **{key: value for key, value in plain.items() if value}}
    return replace(file, tables=tables, written=written)


def _in_legs(i: int, place: Place) -> Place:
    return ("legs", i, *place)


def _lists(table: LegsTable, part: TomlFile) -> dict[str, list[Any]]:
    """The lists of [[legs]] with an entry for each leg."""
    lists = dict(table.model_extra or {})
    for key, entries in lists.items():
        with part.at(key):
            require(key != "leg", "'leg' is the leg's name: call the list otherwise")
            require(isinstance(entries, list), "must be a list with an entry for each leg")
            n, wanted = len(entries), len(table.names)
            require(n == wanted, f"must have an entry for each of {wanted} legs, but has {n}")
    return lists


def _filled(template: Any, leg: str, values: Mapping[str, Any]) -> Any:
    if isinstance(template, Mapping):
        return {key: _filled(value, leg, values) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, leg, values) for value in template]
    if not isinstance(template, str) or "{" not in template:
        return template
    if template.startswith("{") and template.endswith("}") and template != "{leg}":
        key = template[1:-1]
        if key not in values:
            raise InputError(
                f"[[legs]] has no list '{key}'{nearest(key, values)} (known: {', '.join(values) or 'none'})"
            )
        return values[key]
    return template.replace("{leg}", leg)
