"""Extended URDF: a URDF file of the tree that remains when loops are cut, and a YAML file of the frames to join."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, takewhile
from math import isfinite
from pathlib import Path
from typing import Any

from gough.core.errors import InputError, nearest, require
from gough.core.files import read_text
from gough.core.yaml_text import parsed_yaml
from gough.robots.mechanism.description import require_known
from gough.robots.mechanism.imports.parts import Imported
from gough.robots.mechanism.imports.urdf import UrdfTree, read_tree
from gough.robots.mechanism.parts import BASE, FREEDOMS, HELD, Closure, Freedom, Joint, Kind
from gough.robots.mechanism.placement import Vector, vector

KEYS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type", "armature", "gravity", "start")
"""The keys of the YAML file [BMM25, §3]; armature, gravity and start are those of the export of gough."""
_HELD = {"3d": HELD["point"], "6d": HELD["frame"]}
_KINDS: dict[str, Kind] = {"spherical": "spherical", "fixed": "fixed", "cardan": "universal"}


def read_extended_urdf(path: str | Path) -> Imported:
    """Bodies, joints, closures and motors of a YAML file and the URDF file beside it that has the same name.

    `closed_loop` lists pairs of frames that coincide, each by the name of a joint or link of the URDF file, and `type`
    whether they share their origin (3d) or all of their placement (6d, the default). `name_mot` lists the actuated
    joints. `joint_name` and `joint_type` replace joints: SPHERICAL, FIXED, or CARDAN, a turn about x and one about y.
    `start` has coordinates of a closed position, from which the search for home begins; `armature` has the inertias of
    rotors.

    Raises:
        InputError: a file cannot be read, or names what the other does not have.
    """
    path = Path(path)
    try:
        stated = parsed_yaml(read_text(path), "description of an Extended URDF")
        for key in map(str, stated):
            require(key in KEYS, f"the key '{key}' is not known{nearest(key, KEYS)} (known: {', '.join(KEYS)})")
        pairs = _pairs(stated)
    except InputError as error:
        raise error if str(error).startswith(str(path)) else InputError(f"{path}: {error}") from error
    tree = read_tree(_beside(path))
    try:
        return _joined(tree, stated, pairs)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _beside(path: Path) -> Path:
    """The URDF file of the same name, or the only one in the folder."""
    same = path.with_suffix(".urdf")
    if same.is_file():
        return same
    others = sorted(path.parent.glob("*.urdf"))
    require(
        len(others) == 1,
        f"{path}: the URDF file of the tree is expected beside it as {same.name}"
        + (f"; there are {', '.join(other.name for other in others)}" if others else ""),
    )
    return others[0]


def _pairs(stated: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """First frame, second frame and type of each closure."""
    pairs: Any = stated.get("closed_loop")
    require(
        _is_list(pairs) and all(_is_list(pair, str) and len(pair) == 2 for pair in pairs),
        "'closed_loop' must be a list of pairs of frames, such as [[loop1_A, loop1_B]]",
    )
    kinds = stated.get("type", ["6d"] * len(pairs))
    require(_is_list(kinds, str), "'type' must be a list of 3d and 6d, one for each pair of 'closed_loop'")
    require(len(kinds) == len(pairs), f"'closed_loop' has {len(pairs)} pairs, but 'type' has {len(kinds)} entries")
    for kind in kinds:
        require(kind.lower() in _HELD, f"'type' must be 3d or 6d, not '{kind}'")
    return [(first, second, kind.lower()) for (first, second), kind in zip(pairs, kinds, strict=True)]


def _joined(tree: UrdfTree, stated: Mapping[str, Any], pairs: Sequence[tuple[str, str, str]]) -> Imported:
    joints = tuple(_replaced(tree.imported.joints, stated))
    coordinates = [name for joint in joints for name in joint.coordinates]
    motors = stated.get("name_mot", [])
    require(_is_list(motors, str), "'name_mot' must be a list of joints")
    for name in motors:
        require_known(name, coordinates, "'name_mot': no coordinate is called")
    require(len(set(motors)) == len(motors), "'name_mot' names a joint twice")
    closures = tuple(
        Closure(name, (_body(tree, first), _body(tree, second)), directions=_HELD[kind])
        for name, (first, second, kind) in zip(_names(pairs), pairs, strict=True)
    )
    return replace(
        tree.imported,
        joints=tuple(_with_freedoms(joints, stated, coordinates)),
        closures=(*tree.imported.closures, *closures),
        actuated=tuple(motors),
        gravity=_gravity(stated.get("gravity", list(tree.imported.gravity))),
    )


def _names(pairs: Sequence[tuple[str, str, str]]) -> list[str]:
    """What the two frames of a closure have in common, as loop1 of loop1_A and loop1_B, where that tells them apart."""
    stems = [_common([first, second]).rstrip("_-.:/ ") for first, second, _ in pairs]
    apart = all(stems) and len(set(stems)) == len(stems)
    return stems if apart else [f"loop{k}" for k in range(1, len(pairs) + 1)]


def _common(names: Sequence[str]) -> str:
    """The letters with which all names begin."""
    return "".join(letters[0] for letters in takewhile(lambda each: len(set(each)) == 1, zip(*names, strict=False)))


def unlisted_loops(path: str | Path) -> str:
    """A sentence on frames that are named like those of the closures but that no pair of `closed_loop` names.

    Empty where there are none. Models that programs write have frames loop1_A, loop1_B, …; a pair that the YAML file
    leaves out is probably forgotten.
    """
    path = Path(path)
    try:
        pairs = _pairs(parsed_yaml(read_text(path), "description of an Extended URDF"))
        tree = read_tree(_beside(path))
    except InputError:
        return ""
    listed = {frame for first, second, _ in pairs for frame in (first, second)}
    stem = _common(sorted(listed)).rstrip("0123456789_-.:/ ")
    if not stem:
        return ""
    names = {joint.name for joint in tree.imported.joints} | {body.name for body in tree.imported.bodies}
    names = {name for name in names if name.startswith(stem)}
    found = [(a, b) for a, b in combinations(sorted(names - listed), 2) if a[:-1] == b[:-1]]
    if not found:
        return ""
    missing = ", ".join(f"[{a}, {b}]" for a, b in found)
    return f"The URDF file has frames of another closure, which 'closed_loop' does not list: add {missing}?"


def _body(tree: UrdfTree, frame: str) -> str:
    """The body whose frame is that of a joint or link of the URDF file: a joint's is that of its child."""
    children = {joint.name: joint.child for joint in tree.imported.joints}
    links = {tree.root: BASE, **{body.name: body.name for body in tree.imported.bodies}}
    if frame in children and frame in links and children[frame] != links[frame]:
        raise InputError(f"'{frame}' is the name of a joint and of another link: which frame is meant is not stated")
    require_known(frame, [*children, *links], "'closed_loop': no joint or link is called")
    return children.get(frame) or links[frame]


def _replaced(joints: Sequence[Joint], stated: Mapping[str, Any]) -> list[Joint]:
    names, kinds = stated.get("joint_name", []), stated.get("joint_type", [])
    known = ", ".join(kind.upper() for kind in _KINDS)
    require(
        _is_list(names, str) and _is_list(kinds, str) and len(names) == len(kinds),
        f"'joint_name' and 'joint_type' must be lists of equal length, of joints and of {known}",
    )
    changed: dict[str, Kind] = {}
    for name, kind in zip(names, kinds, strict=True):
        require_known(name, [joint.name for joint in joints], "'joint_name': no joint is called")
        require(kind.lower() in _KINDS, f"'joint_type' must be one of {known}, not '{kind}'")
        changed[name] = _KINDS[kind.lower()]
    return [
        Joint(joint.name, changed[joint.name], joint.parent, joint.child, joint.placement, (1, 0, 0), (0, 1, 0))
        if joint.name in changed
        else joint
        for joint in joints
    ]


def _with_freedoms(joints: Sequence[Joint], stated: Mapping[str, Any], coordinates: Sequence[str]) -> list[Joint]:
    """The joints with the inertias of rotors and the starts of their coordinates."""
    rotors = _table(stated, "armature", coordinates, "inertias that are not negative", lambda value: value >= 0)
    starts = _table(stated, "start", coordinates, "finite numbers", isfinite)

    def freedom(name: str, known: Freedom) -> Freedom:
        return replace(known, rotor=rotors.get(name, known.rotor), start=starts.get(name, known.start))

    return [
        replace(joint, freedoms=tuple(map(freedom, joint.coordinates, joint.freedoms)))
        if FREEDOMS[joint.kind]
        else joint
        for joint in joints
    ]


def _table(
    stated: Mapping[str, Any], key: str, coordinates: Sequence[str], what: str, is_fine: Callable[[float], bool]
) -> dict[str, float]:
    """Numbers by coordinate under a key of the file."""
    table = stated.get(key, {})
    is_table = isinstance(table, Mapping) and all(
        isinstance(value, int | float) and is_fine(value) for value in table.values()
    )
    require(is_table, f"'{key}' must be a table of joints and of {what}")
    for name in table:
        require_known(name, coordinates, f"'{key}': no coordinate is called")
    return {name: float(value) for name, value in table.items()}


def _gravity(value: Any) -> Vector:
    return vector(value, "'gravity'")


def _is_list(value: Any, kind: type = object) -> bool:
    return isinstance(value, list) and all(isinstance(each, kind) for each in value)
