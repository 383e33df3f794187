"""A wrong scale of the instrument's positions."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gough.core.arrays import Array
from gough.data import Poses
from gough.geometry.mistake import Alternative, Campaign, Fitted, Mistake, percent_error

_LARGEST = 0.3
"""A scale that is more off is another mistake, or a robot that shrinks to a point."""


class Scale(Mistake):
    """(1 + e) · positions: a camera's target or a motion-capture wand that is not as long as stated."""

    name = "scale"
    title = "a wrong scale of the instrument, or of all readings alike"
    advice = "Check the length of the instrument's target or wand, or estimate the scale: scale = true."
    sizes = (0.002, 0.01)
    size_unit = "of the positions"

    def columns(self, fitted: Fitted) -> Iterator[Alternative]:
        """Positions about their mean; the rest is a frame."""
        p = fitted.poses.position - fitted.poses.position.mean(axis=0)
        yield Alternative(fitted.by_pose[..., :3] @ p[..., None], _words, largest=_LARGEST)

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses:
        """Positions are too large or too small."""
        return replace(campaign.poses, position=campaign.poses.position * (1 + size * rng.choice([-1.0, 1.0])))


def _words(values: Array, sigma: Array) -> str:
    return (
        "The measured positions have a wrong scale against the readings: they must be corrected by "
        f"{percent_error(values[0], sigma[0])}"
    )


MISTAKE = Scale()
