"""Poses or rotations that lead the other way round."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gough.data import Poses
from gough.geometry.mistake import Campaign, Corrected, Mistake, Stated


class TurnedAround(Mistake):
    """Rotations from the base to the platform, or the base's pose in the platform's frame."""

    name = "turned around"
    title = "rotations or poses that lead the other way round"
    advice = "Transpose the rotations (conjugate the quaternions), or invert the poses."

    def corrected(self, stated: Stated) -> Iterator[Corrected]:
        """Rotations transposed; poses inverted."""
        poses = stated.poses
        if poses.rotation is None or not stated.model.has_orientation:
            return
        back = np.swapaxes(poses.rotation, 1, 2)
        yield Corrected(
            replace(poses, rotation=back),
            "the rotations lead from the base to the platform, and must be turned around",
        )
        yield Corrected(
            replace(poses, rotation=back, position=-(back @ poses.position[..., None])[..., 0]),
            "the poses are those of the base in the platform's frame, and must be turned around",
        )

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses | None:  # noqa: ARG002
        """Rotations are transposed."""
        R = campaign.poses.rotation
        if R is None or not campaign.model.has_orientation:
            return None
        return replace(campaign.poses, rotation=np.swapaxes(R, 1, 2))


MISTAKE = TurnedAround()
