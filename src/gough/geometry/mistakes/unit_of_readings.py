"""Readings in another unit than stated."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gough.data import Poses
from gough.geometry.mistake import Campaign, Corrected, Mistake, Stated, wrong_lengths

_ANGLES = (
    (np.pi / 180, "degrees were taken for radians"),
    (180 / np.pi, "radians were taken for degrees"),
    (2 * np.pi, "turns were taken for radians"),
)
_TURNS = 4 * np.pi
"""An actuated arm of a parallel robot does not turn further."""


class UnitOfReadings(Mistake):
    """Millimetres or inches for metres, degrees for radians, or the reverse."""

    name = "unit of readings"
    title = "a wrong unit of the readings"
    advice = "State the unit of the readings in the head of their columns or in [poses] units."

    def corrected(self, stated: Stated) -> Iterator[Corrected]:
        """In the other units of the same quantity."""
        factors = {"m": tuple(wrong_lengths()), "rad": _ANGLES}.get(stated.model.reading_unit, ())
        travel = float(np.ptp(stated.poses.readings, axis=0).max())
        for factor, words in factors:
            if stated.model.reading_unit == "rad" and factor > 1 and factor * travel > _TURNS:
                continue  # zeros and so many turns would explain any readings
            poses = replace(stated.poses, readings=stated.poses.readings * factor)
            yield Corrected(poses, f"{words} in the readings", stretch=factor)

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses:  # noqa: ARG002
        """Millimetres are read as metres, degrees as radians."""
        factor = 180 / np.pi if campaign.model.reading_unit == "rad" else 1e3
        return replace(campaign.poses, readings=campaign.poses.readings * factor)


MISTAKE = UnitOfReadings()
