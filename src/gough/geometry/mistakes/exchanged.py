"""Two poses whose readings are exchanged."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gough.data import Poses
from gough.geometry.mistake import Campaign, Corrected, Mistake, Stated

_TRIED = 4
"""Poses of which pairs are exchanged."""
_FEWEST = 4


class Exchanged(Mistake):
    """Two outliers that fit if each has the readings of the other."""

    name = "exchanged poses"
    title = "two poses whose readings are exchanged"
    advice = "Exchange the readings of these two lines."

    def corrected(self, stated: Stated) -> Iterator[Corrected]:
        """Each pair of the worst poses."""
        worst = stated.worst()[:_TRIED]
        if len(stated.rows) < _FEWEST:
            return
        for i, a in enumerate(worst):
            for b in worst[:i]:
                readings = stated.poses.readings.copy()
                readings[[a, b]] = readings[[b, a]]
                names = " and ".join(stated.whole.label(int(stated.rows[k])) for k in sorted((a, b)))
                yield Corrected(
                    replace(stated.poses, readings=readings),
                    f"the readings of poses {names} are exchanged",
                    trials=len(stated.rows) ** 2 // 2,
                )

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses:  # noqa: ARG002
        """Two lines by chance."""
        i, j = rng.choice(len(campaign.poses), 2, replace=False)
        readings = campaign.poses.readings.copy()
        readings[[i, j]] = readings[[j, i]]
        return replace(campaign.poses, readings=readings)


MISTAKE = Exchanged()
