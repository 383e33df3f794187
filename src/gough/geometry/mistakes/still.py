"""A platform that does not turn, or about one axis only."""

from dataclasses import replace

import numpy as np

from gough.core.rotations import exp, log
from gough.data import Poses
from gough.geometry.mistake import Campaign, Mistake
from gough.robots.kinematics import KinematicModel

NEEDED = np.radians(0.5)
"""Turns (rms) below this hardly separate the joints of the platform from those of the base."""


class Still(Mistake):
    """Where the platform stands, and where its joints are on it, cannot be separated without turns."""

    name = "still platform"
    title = "a platform that hardly turns"
    advice = "Measure poses that tilt in several directions, or hold the platform's joints at the blueprint (fixed)."

    def words(self, model: KinematicModel, poses: Poses) -> str:
        """The warning; empty where the platform turns, or cannot."""
        if poses.rotation is None or 3 not in model.freedoms or len(poses) < 3:
            return ""
        from gough.geometry.pose_sums import turns  # noqa: PLC0415 - numba

        vectors = turns(np.array(poses.rotation), len(poses) // 2)
        spread = np.sqrt(np.maximum(np.linalg.eigvalsh(vectors.T @ vectors)[::-1], 0.0) / len(poses))
        if spread[1] >= NEEDED:
            return ""
        about = f"turns by only {np.degrees(spread[0]):.2g}°" if spread[0] < NEEDED else "turns about one axis only"
        return (
            f"The platform {about} (rms) in these poses, so that its joints cannot be separated from those of the "
            "base: parameters with a wide ± have no meaning one by one"
        )

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses | None:  # noqa: ARG002
        """The platform keeps one orientation."""
        poses, model = campaign.poses, campaign.model
        if poses.rotation is None or 3 not in model.freedoms:
            return None
        noise = log(poses.rotation)
        R = np.repeat(np.eye(3)[None], len(poses), axis=0)
        readings = model.inverse(campaign.theta, poses.position, R)
        small = 1e-4 * noise / max(float(np.abs(noise).max()), 1e-12)
        return replace(poses, rotation=exp(small), readings=readings)


MISTAKE = Still()
