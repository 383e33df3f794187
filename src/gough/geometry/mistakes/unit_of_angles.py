"""Rotation vectors in another unit than stated."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gough.core.arrays import Array
from gough.core.rotations import exp, log, nearest_rotation
from gough.data import Poses
from gough.geometry.alignment import modeled_poses
from gough.geometry.blueprint_evidence import readings_of
from gough.geometry.frames import procrustes
from gough.geometry.mistake import Campaign, Corrected, Mistake, Stated

_DEGREE = np.pi / 180
_LARGEST = np.radians(60.0)
"""Platforms of parallel robots hardly tilt by more."""
_TURNS = 29
"""Full turns that 180 degrees lose if they are read as radians."""
_FEWEST = 4
_ROUNDS = 200


class UnitOfAngles(Mistake):
    """Degrees of the orientation for radians, or the reverse."""

    name = "unit of angles"
    title = "a wrong unit of the orientation angles"
    advice = "State the unit of the orientation in the head of its columns or in [poses] units."

    def corrected(self, stated: Stated) -> Iterator[Corrected]:
        """Angles times 180/π, and their inverse; of degrees read as radians, full turns are lost and sought again."""
        R = stated.poses.rotation
        if R is None or not stated.model.has_orientation:
            return
        v = log(R)
        large = v / _DEGREE
        if float(np.linalg.norm(large, axis=1).max()) < np.pi:
            poses = replace(stated.poses, rotation=exp(large))
            yield Corrected(poses, "radians were taken for degrees in the orientations")
        if not float(np.linalg.norm(v, axis=1).max()) > 0.3:
            return
        small = exp(_unwound(stated, v)) if stated.in_robot_frame else _unwound_elsewhere(stated, v)
        if small is not None:
            words = "degrees were taken for radians in the orientations"
            yield Corrected(replace(stated.poses, rotation=small), words, trials=9 if stated.in_robot_frame else 57)

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses | None:  # noqa: ARG002
        """Degrees are read as radians."""
        R = campaign.poses.rotation
        if R is None or not campaign.model.has_orientation:
            return None
        return replace(campaign.poses, rotation=exp(log(R) / _DEGREE))


def _unwound(stated: Stated, v: Array) -> Array:
    """Rotation vectors whose full turns were lost: at each pose, those with which the blueprint has its readings."""
    angle = np.linalg.norm(v, axis=1, keepdims=True)
    axis = v / np.maximum(angle, 1e-12)
    best, chosen = np.full(len(v), np.inf), np.zeros(v.shape)
    for turns in range(-9, 10):
        trial = (angle + 2 * np.pi * turns) * _DEGREE * axis
        q = readings_of(stated.model, stated.blueprint, replace(stated.poses, rotation=exp(trial)))
        if q is None:
            continue
        away = (stated.poses.readings - q).std(axis=1)  # zeros of the sensors may all be off
        away[np.linalg.norm(trial, axis=1) > _LARGEST] = np.inf
        better = away < best
        best[better], chosen[better] = away[better], trial[better]
    return chosen


def _unwound_elsewhere(stated: Stated, v: Array) -> Array | None:
    """Rotations (N, 3, 3) whose full turns were lost, in an instrument's frame; None where the blueprint does not fit.

    Positions are right, so that they alone show where the base is and which point of the platform is tracked. How the
    target is turned on the platform follows from the turns of any pose: all are tried, and the best for all is taken.
    """
    modeled = modeled_poses(stated.model, stated.blueprint, stated.poses.readings)
    if modeled is None or modeled[1].sum() < _FEWEST:
        return None
    there, arrived = modeled
    base = _tracked(there.position[arrived], there.rotation[arrived], stated.poses.position[arrived])
    seen = base @ there.rotation[arrived]  # orientation of the platform in the instrument's frame
    angle = np.linalg.norm(v, axis=1)
    axis = v / np.maximum(angle, 1e-12)[:, None]
    turns = (angle[:, None] + 2 * np.pi * np.arange(-_TURNS, _TURNS + 1)) * _DEGREE
    trials = exp((turns[..., None] * axis[:, None]).reshape(-1, 3)).reshape(*turns.shape, 3, 3)
    some = trials[arrived]
    best, mark = np.inf, np.eye(3)
    for each in some[0]:
        guess = seen[0].T @ each
        far, near = _nearest(some, seen @ guess)
        guess = nearest_rotation(np.einsum("nji,njk->ik", seen, near))  # that of all poses
        far, _ = _nearest(some, seen @ guess)
        if (total := float(np.median(far))) < best:
            best, mark = total, guess
    result = trials[:, _TURNS].copy()
    result[arrived] = _nearest(some, seen @ mark)[1]
    return result


def _tracked(position: Array, rotation: Array, seen: Array) -> Array:
    """The base's rotation in the instrument's frame, from positions of a point whose place on the platform is unknown.

    The frame as the modeled points fit best, and the place of the point as this frame shows it, in turn.
    """
    offset = np.zeros(3)
    motion, left = procrustes(position, seen)
    for _ in range(_ROUNDS):
        missing = (seen - motion.t) @ motion.R - position
        offset = np.einsum("nij,ni->j", rotation, missing) / len(position)
        motion, now = procrustes(position + rotation @ offset, seen)
        if now > (1 - 1e-4) * left:
            break
        left = now
    return motion.R


def _nearest(trials: Array, expected: Array) -> tuple[Array, Array]:
    """Of the rotations (N, M, 3, 3) tried at each pose, the nearest to the expected one: its angle, and itself."""
    trace = np.einsum("nmij,nij->nm", trials, expected)
    k = trace.argmax(axis=1)
    n = np.arange(len(trials))
    return np.arccos(np.clip((trace[n, k] - 1) / 2, -1, 1)), trials[n, k]


MISTAKE = UnitOfAngles()
