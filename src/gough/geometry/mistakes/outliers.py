"""Poses that are measured wrong."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gough.data import Poses
from gough.geometry.mistake import Campaign, Corrected, Mistake, Stated

_MOST = 3
"""Poses that are left out at once where no calibration is found."""


class Outliers(Mistake):
    """Single poses that do not fit the others; each is tested against the calibration without it."""

    name = "outliers"
    title = "poses that do not fit the others"
    advice = "Look at the images or readings of these poses; repeat them or leave them out (exclude in [poses])."
    sizes = (20.0, 100.0)
    size_unit = "standard deviations of closure errors"

    def corrected(self, stated: Stated) -> Iterator[Corrected]:
        """Without the worst poses, where these spoil the calibration."""
        n, worst = len(stated.rows), stated.worst()
        for m in range(1, min(_MOST, n // 4) + 1):
            gone = worst[:m]
            if not gone:
                return
            which = " and ".join(stated.whole.label(int(stated.rows[k])) for k in sorted(gone))
            words = f"{'poses' if m > 1 else 'pose'} {which} {'are' if m > 1 else 'is'} left out"
            kept = stated.whole.select(np.delete(stated.rows, gone))
            yield Corrected(kept, words, trials=n**m, left_out=tuple(int(stated.rows[k]) for k in gone))

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses:
        """Two positions are off."""
        position = campaign.poses.position.copy()
        for k in rng.choice(len(position), 2, replace=False):
            direction = rng.normal(size=3)
            position[k] += size * campaign.sigma * direction / np.linalg.norm(direction)
        return replace(campaign.poses, position=position)


MISTAKE = Outliers()
