"""Axes of the instrument that are mirrored or swapped."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gough.data import Poses
from gough.geometry.mistake import Campaign, Corrected, Mistake, Stated


class Mirrored(Mistake):
    """Positions, or positions and orientations, of a left-handed frame."""

    name = "mirrored"
    title = "a mirrored axis or left-handed frame"
    advice = "Change the sign of this axis in the file, and of the turns where they are mirrored too."

    def corrected(self, stated: Stated) -> Iterator[Corrected]:
        """Each axis mirrored, alone or with the orientations."""
        poses = stated.poses
        for axis, name in enumerate("xyz"):
            flip = np.where(np.arange(3) == axis, -1.0, 1.0)
            yield Corrected(
                replace(poses, position=poses.position * flip), f"the {name} axis of the positions is mirrored"
            )
            if poses.rotation is not None:
                both = replace(poses, position=poses.position * flip, rotation=flip[:, None] * poses.rotation * flip)
                words = f"the frames are mirrored (left-handed): {name} and the turns about the other axes change sign"
                yield Corrected(both, words)

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses:  # noqa: ARG002
        """One axis of the positions."""
        flip = np.ones(3)
        flip[rng.integers(3)] = -1.0
        return replace(campaign.poses, position=campaign.poses.position * flip)


MISTAKE = Mirrored()
