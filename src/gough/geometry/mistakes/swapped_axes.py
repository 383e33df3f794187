"""Axes of the positions in another order."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gough.data import Poses
from gough.geometry.mistake import Campaign, Corrected, Mistake, Stated


class SwappedAxes(Mistake):
    """Two columns of the positions are exchanged."""

    name = "swapped axes"
    title = "two axes of the positions that are swapped"
    advice = "Exchange these two columns."

    def corrected(self, stated: Stated) -> Iterator[Corrected]:
        """Each pair of axes."""
        for i, j in ((0, 1), (0, 2), (1, 2)):
            position = stated.poses.position.copy()
            position[:, [i, j]] = position[:, [j, i]]
            words = f"{'xyz'[i]} and {'xyz'[j]} of the positions are swapped"
            yield Corrected(replace(stated.poses, position=position), words)

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses:  # noqa: ARG002
        """A pair by chance."""
        i, j = rng.choice(3, 2, replace=False)
        position = campaign.poses.position.copy()
        position[:, [i, j]] = position[:, [j, i]]
        return replace(campaign.poses, position=position)


MISTAKE = SwappedAxes()
