"""Positions in another unit than stated."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gough.data import Poses
from gough.geometry.mistake import Campaign, Corrected, Mistake, Stated, wrong_lengths


class UnitOfPositions(Mistake):
    """Millimetres or inches for metres, or the reverse."""

    name = "unit of positions"
    title = "a wrong unit of the positions"
    advice = (
        "State the unit of the positions in the head of their columns or in [poses] units, and that of the blueprint's "
        'lengths with them, as in "140 mm".'
    )

    def corrected(self, stated: Stated) -> Iterator[Corrected]:
        """In the other unit."""
        for factor, words in wrong_lengths():
            C, common = stated.poses.covariance, stated.poses.common
            if C is not None:
                scale = np.repeat([factor, 1.0], 3)[: C.shape[-1]]
                C = C * scale[:, None] * scale
                common = None if common is None else common * scale[:, None]
            poses = replace(stated.poses, position=stated.poses.position * factor, covariance=C, common=common)
            yield Corrected(poses, f"{words} in the positions")
            if stated.model.reading_unit == "m":
                both = replace(poses, readings=poses.readings * factor)
                true, _, stated_unit = words.partition(" were taken for ")
                reverse = f"{stated_unit} for {true} in the blueprint"
                yield Corrected(both, f"{words} in positions and readings, or {reverse}", factor)

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses:  # noqa: ARG002
        """Millimetres are read as metres."""
        return replace(campaign.poses, position=campaign.poses.position * 1e3)


MISTAKE = UnitOfPositions()
