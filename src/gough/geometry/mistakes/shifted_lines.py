"""Readings that belong to another line of the file."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gough.data import Poses
from gough.geometry.mistake import Campaign, Corrected, Mistake, Stated


class ShiftedLines(Mistake):
    """The readings of each pose stand one line too early or too late, or the poses are in the opposite order."""

    name = "shifted lines"
    title = "readings that belong to another line than their pose"
    advice = "Join poses and readings by time or number again."

    def corrected(self, stated: Stated) -> Iterator[Corrected]:
        """One line earlier, one later, and the opposite order."""
        whole, rows = stated.whole, stated.rows
        if len(whole) < 3:
            return
        for shift, words in ((-1, "one line after it"), (1, "one line before it")):
            joined = rows[rows < len(whole) - 1] if shift < 0 else rows[rows > 0]
            poses = replace(whole.select(joined), readings=whole.readings[joined - shift])
            yield Corrected(poses, f"the readings of each pose stand {words}")
        poses = replace(whole.select(rows), readings=whole.readings[::-1][rows])
        yield Corrected(poses, "the readings are in the opposite order of the poses")

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses:  # noqa: ARG002
        """Readings one line late."""
        return replace(campaign.poses, readings=np.roll(campaign.poses.readings, 1, axis=0))


MISTAKE = ShiftedLines()
