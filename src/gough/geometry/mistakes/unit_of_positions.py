"""Positions in another unit than stated."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gough.data import Poses
from gough.geometry.mistake import Campaign, Corrected, Mistake, Stated


class UnitOfPositions(Mistake):
    """Millimetres for metres, or the reverse."""

    name = "unit of positions"
    title = "a wrong unit of the positions"
    advice = "State the unit of the positions in the head of their columns or in [poses] units."

    def corrected(self, stated: Stated) -> Iterator[Corrected]:
        """In the other unit."""
        for factor, words in ((1e-3, "millimetres were taken for metres"), (1e3, "metres were taken for millimetres")):
            C, common = stated.poses.covariance, stated.poses.common
            if C is not None:
                scale = np.repeat([factor, 1.0], 3)[: C.shape[-1]]
                C = C * scale[:, None] * scale
                common = None if common is None else common * scale[:, None]
            poses = replace(stated.poses, position=stated.poses.position * factor, covariance=C, common=common)
            yield Corrected(poses, f"{words} in the positions")
            if stated.model.reading_unit == "m":
                both = replace(poses, readings=poses.readings * factor)
                yield Corrected(both, f"{words} in positions and readings, or the reverse in the blueprint", factor)

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses:  # noqa: ARG002
        """Millimetres are read as metres."""
        return replace(campaign.poses, position=campaign.poses.position * 1e3)


MISTAKE = UnitOfPositions()
