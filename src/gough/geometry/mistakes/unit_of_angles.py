"""Rotation vectors in another unit than stated."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gough.core.arrays import Array
from gough.core.rotations import exp, log
from gough.data import Poses
from gough.geometry.blueprint_evidence import readings_of
from gough.geometry.mistake import Campaign, Corrected, Mistake, Stated

_DEGREE = np.pi / 180
_LARGEST = np.radians(60.0)
"""Platforms of parallel robots hardly tilt by more."""


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
        if stated.in_robot_frame and float(np.linalg.norm(v, axis=1).max()) > 0.3:
            small = _unwound(stated, v)
            yield Corrected(
                replace(stated.poses, rotation=exp(small)),
                "degrees were taken for radians in the orientations",
                trials=9,
            )

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


MISTAKE = UnitOfAngles()
