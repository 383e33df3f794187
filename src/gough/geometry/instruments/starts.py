"""Where the search begins: poses by the blueprint, and parts of instruments that fit these poses best."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.rigid import RigidMotion
from gough.core.rotations import nearest_rotation
from gough.geometry.frames import hand_eye, procrustes
from gough.geometry.instruments.equations import Equations, State
from gough.geometry.instruments.kinds import CAMERA, FRAME, POINT, TARGET
from gough.geometry.instruments.layout import Slot, with_normal
from gough.geometry.instruments.measurements import Instrument, Measurements, Numbers
from gough.geometry.instruments.resection import rays_of, resected
from gough.robots.kinematics import KinematicModel, PlatformPoses

_STEPS = 60


def start_poses(model: KinematicModel, theta: Array, measurements: Measurements) -> PlatformPoses:
    """Poses where the blueprint puts the platform at the readings; missing readings are taken as in the pose before.

    Raises:
        InputError: the blueprint cannot be assembled at some readings.
    """
    readings = measurements.readings.copy()
    for chain in range(readings.shape[1]):
        there = np.flatnonzero(np.isfinite(readings[:, chain]))
        require(there.size > 0, f"the readings of {model.chains[chain]} are all missing")
        nearest = there[np.clip(np.searchsorted(there, np.arange(len(readings)), side="right") - 1, 0, None)]
        readings[:, chain] = readings[nearest, chain]
    find: Callable[[Array, Array], PlatformPoses] = getattr(model, "rough_poses", model.forward)
    try:
        return find(theta, readings)
    except InputError as error:
        raise InputError(f"the blueprint does not fit the readings: {error}") from error


def start_parts(equations: Equations, state: State) -> State:
    """The state with sought parts that have no guess where they fit the poses best."""
    theta, references = state.theta.copy(), state.references.copy()
    state = replace(state, theta=theta, references=references)
    for number, slot in enumerate(equations.layout.slots):
        if not slot.is_sought or slot.has_guess:
            continue
        for find in _FINDERS.get(slot.part.name, ()):
            if find(equations, state, number, slot):
                break
    return state


def _users(equations: Equations, number: int) -> list[tuple[int, Instrument, Numbers]]:
    """Instruments that use a slot, and their rows in its session that are measured completely."""
    users = []
    session = equations.layout.slots[number].session
    for i, one in enumerate(equations.measurements.instruments):
        if number not in equations.layout.of_instrument[i]:
            continue
        rows = equations.measured_rows[i]
        if session is not None:
            rows = rows[equations.row_sessions[i] == session]
        whole = one.is_measured[rows].all(axis=1)
        users.append((i, one, rows[whole]))
    return users


def _placed(equations: Equations, state: State, i: int, part: Any) -> tuple[Array, Array]:
    """Local parameters and reference of a part of an instrument, in its first session."""
    one = equations.measurements.instruments[i]
    slot = equations.layout.of_instrument[i][0, [p.name for p in one.of_kind.parts].index(part.name)]
    return state.theta[list(equations.layout.slots[slot].columns)], state.references[slot]


def _tips(equations: Equations, state: State, i: int, rows: Numbers) -> Array:
    """Places of an instrument's point in the robot's frame, as the poses have it."""
    point, _ = _placed(equations, state, i, POINT)
    return state.poses.position[rows] + state.poses.rotation[rows] @ point


def _frame(equations: Equations, state: State, number: int, slot: Slot) -> bool:
    """Points and poses in the instrument's frame, laid on those of the blueprint."""
    seen, modeled = [], []
    for i, one, rows in _users(equations, number):
        if one.kind == "image":
            if _by_images(equations, state, number, (i, one)):
                return True
        elif one.kind == "point":
            modeled.append(_tips(equations, state, i, rows))
            seen.append(one.values[rows])
        elif _by_poses(equations, state, number, (i, one, rows)):
            return True
    if not seen or sum(map(len, seen)) < 3:
        return False
    motion, _ = procrustes(np.concatenate(modeled), np.concatenate(seen))
    _put(state, number, slot, motion)
    return True


def _by_images(equations: Equations, state: State, number: int, user: tuple[int, Instrument]) -> bool:
    """The frame of a camera: from target poses if its target's place is sought, else from all points at once."""
    i, one = user
    layout = equations.layout
    slots = {layout.slots[s].part.name: int(s) for s in layout.of_instrument[i][0]}
    target = layout.slots[slots["target"]]
    session = layout.slots[number].session
    rows = equations.measured_rows[i]
    rows = rows if session is None else rows[equations.row_sessions[i] == session]
    if target.is_sought and not target.has_guess and _by_poses(equations, state, number, (i, one, rows)):
        return True
    assert one.points is not None
    local, reference = _placed(equations, state, i, TARGET)
    places = one.points @ reference.T + local[:3]
    tips = state.poses.position[rows, None] + places @ np.swapaxes(state.poses.rotation[rows], 1, 2)
    rays = _rays(equations, state, i, rows)
    there = np.isfinite(rays).all(axis=2)
    motion = resected(tips[there], rays[there])
    if motion is not None:
        _put(state, number, layout.slots[number], motion)
    return motion is not None


def _rays(equations: Equations, state: State, i: int, rows: Numbers) -> Array:
    """(rows, K, 2): rays to the points of a target; NaN where one is not seen."""
    one = equations.measurements.instruments[i]
    camera, _ = _placed(equations, state, i, CAMERA)
    return rays_of(camera, one.values[rows].reshape(-1, 2)).reshape(len(rows), -1, 2)


def _target_poses(equations: Equations, state: State, i: int, rows: Numbers) -> tuple[Numbers, RigidMotion]:
    """Poses of an instrument's target in its frame, as measured or as its points are seen, and their rows."""
    one = equations.measurements.instruments[i]
    if one.rotation is not None:
        return rows, RigidMotion(one.rotation[rows], one.values[rows])
    assert one.points is not None
    rays = _rays(equations, state, i, rows)
    kept, R, t = [], [], []
    for row, own in zip(rows.tolist(), rays, strict=True):
        there = np.isfinite(own).all(axis=1)
        motion = resected(one.points[there], own[there])
        if motion is not None:
            kept.append(row)
            R.append(motion.R)
            t.append(motion.t)
    return np.array(kept, dtype=np.int64), RigidMotion(np.array(R).reshape(-1, 3, 3), np.array(t).reshape(-1, 3))


def _by_poses(equations: Equations, state: State, number: int, user: tuple[int, Instrument, Numbers]) -> bool:
    """Frame and target of an instrument that measures poses, or points that show them."""
    i, _, rows = user
    rows, seen = _target_poses(equations, state, i, rows)
    if len(rows) < 3:
        return False
    layout = equations.layout
    modeled = RigidMotion(state.poses.rotation[rows], state.poses.position[rows])
    slots = {layout.slots[s].part.name: int(s) for s in layout.of_instrument[i][0]}
    target = layout.slots[slots["target"]]
    if target.is_sought and not target.has_guess and 3 in equations.model.freedoms:
        found = hand_eye(seen, modeled)
        _put(state, number, layout.slots[number], found.base)
        _put(state, slots["target"], target, found.target.inverse())
        return True
    local, reference = _placed(equations, state, i, TARGET)
    tips = modeled @ RigidMotion(reference, local[:3])
    spread = np.linalg.svd(tips.t - tips.t.mean(axis=0), compute_uv=False)
    if target.is_sought or spread[1] > 1e-3:
        motion, _ = procrustes(tips.t, seen.t)
    else:
        R = nearest_rotation(np.einsum("nij,nkj->ik", seen.R, tips.R))
        motion = RigidMotion(R, (seen.t - tips.t @ R.T).mean(axis=0))
    _put(state, number, layout.slots[number], motion)
    return True


def _target(equations: Equations, state: State, number: int, slot: Slot) -> bool:
    """The target's mean orientation on the platform, as the frame has it."""
    for i, one, rows in _users(equations, number):
        measured = equations.measured_rows[i] if one.kind == "image" else rows
        used, poses = _target_poses(equations, state, i, measured)
        if not len(used):
            continue
        local, reference = _placed(equations, state, i, FRAME)
        seen = RigidMotion(reference, local[:3]).inverse() @ poses
        inner = RigidMotion(state.poses.rotation[used], state.poses.position[used]).inverse() @ seen
        _put(state, number, slot, RigidMotion(nearest_rotation(inner.R.sum(axis=0)), inner.t.mean(axis=0)))
        return True
    return False


def _put(state: State, number: int, slot: Slot, motion: RigidMotion) -> None:
    state.theta[list(slot.columns)] = [*motion.t, 0.0, 0.0, 0.0]
    state.references[number] = motion.R


def _mount(equations: Equations, state: State, number: int, _slot: Slot) -> bool:
    """The rotation that brings the vertical, as the sensor has it, nearest to that in the platform's frame."""
    total = np.zeros((3, 3))
    for i, one, rows in _users(equations, number):
        sines = np.sin(one.values[rows])
        seen = np.column_stack([sines, np.sqrt(np.maximum(1 - (sines**2).sum(axis=1), 0.0))])
        up = state.theta[list(equations.layout.slots[equations.layout.of_instrument[i][0, 0]].columns)]
        vertical = np.array([*up, 1.0]) / np.sqrt(1 + up @ up)
        total += np.einsum("nji,j,nk->ik", state.poses.rotation[rows], vertical, seen)
    state.references[number] = nearest_rotation(total)
    return True


def _offset(equations: Equations, state: State, number: int, slot: Slot) -> bool:
    turns = []
    for _, one, rows in _users(equations, number):
        R = state.poses.rotation[rows]
        turns.append(one.values[rows, 0] - np.arctan2(R[:, 1, 0], R[:, 0, 0]))
    angle = np.concatenate(turns)
    state.theta[slot.columns[0]] = np.arctan2(np.sin(angle).sum(), np.cos(angle).sum())
    return True


def _anchor(equations: Equations, state: State, number: int, slot: Slot) -> bool:
    """From d² = |y|² − 2 y·a + |a|², linear in a and |a|²."""
    tips, distances = _gathered(equations, state, number)
    return _center(state, slot, tips, distances)


def _sphere(equations: Equations, state: State, number: int, slot: Slot) -> bool:
    """From |y|² − 2 y·c + |c|² = r², linear in c and |c|² − r²."""
    tips, heights = _gathered(equations, state, number)
    if not _center(state, slot, tips, np.zeros(len(tips))):
        return False
    center = state.theta[list(slot.columns[:3])]
    state.theta[slot.columns[3]] = float((np.linalg.norm(tips - center, axis=1) - heights).mean())
    return True


def _center(state: State, slot: Slot, tips: Array, distances: Array) -> bool:
    if len(tips) < 4:
        return False
    middle = tips.mean(axis=0)
    y = tips - middle
    rows = np.column_stack([-2 * y, np.ones(len(y))])
    found, *_ = np.linalg.lstsq(rows, distances**2 - (y**2).sum(axis=1), rcond=1e-9)
    state.theta[list(slot.columns[:3])] = middle + found[:3]
    return True


def _plane(equations: Equations, state: State, number: int, slot: Slot) -> bool:
    """The plane nearest to the points of contact; its normal points upward, or along y or x where it is upright."""
    tips, heights = _gathered(equations, state, number)
    if len(tips) < 3:
        return False
    normal = np.linalg.svd(tips - tips.mean(axis=0))[2][-1]
    for _ in range(_STEPS):
        before = normal
        feet = tips - heights[:, None] * normal
        normal = np.linalg.svd(feet - feet.mean(axis=0))[2][-1]
        normal *= np.sign(next(c for c in normal[::-1] if abs(c) > 1e-6))
        if abs(normal - before).max() < 1e-12:
            break
    state.references[number] = with_normal(normal)
    state.theta[list(slot.columns)] = [0.0, 0.0, float((tips @ normal - heights).mean())]
    return True


def _gathered(equations: Equations, state: State, number: int) -> tuple[Array, Array]:
    """Places of points, and what was measured there, of all instruments that use a slot."""
    parts = [(_tips(equations, state, i, rows), one.values[rows, 0]) for i, one, rows in _users(equations, number)]
    return np.concatenate([tips for tips, _ in parts]), np.concatenate([values for _, values in parts])


_FINDERS: dict[str, tuple[Callable[[Equations, State, int, Slot], bool], ...]] = {
    "frame": (_frame,),
    "target": (_target,),
    "mount": (_mount,),
    "offset": (_offset,),
    "anchor": (_anchor,),
    "plane": (_plane,),
    "sphere": (_sphere,),
}
"""How each part is found where it has no guess; others begin at the origin."""
