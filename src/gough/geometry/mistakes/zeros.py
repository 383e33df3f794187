"""Zeros of the sensors that were held, but are others."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gough.core.arrays import Array
from gough.core.text import listed
from gough.data import Poses
from gough.geometry.mistake import Alternative, Campaign, Fitted, Mistake


class Zeros(Mistake):
    """The robot was switched off, or homed elsewhere, since the zeros were found. Free zeros are no mistake."""

    name = "zeros"
    title = "zeros of the readings that are not those that were held"
    advice = "Take the zeros out of fixed, so that they are found anew."
    sizes = (20.0,)
    size_unit = "standard deviations of closure errors"

    def columns(self, fitted: Fitted) -> Iterator[Alternative]:
        """The zeros that are fixed, together."""
        held = [k for k, name in enumerate(fitted.fixed) if name in fitted.model.zeros]
        if held:
            names = [fitted.fixed[k] for k in held]

            def words(values: Array, sigma: Array) -> str:
                off = [name for name, v, s in zip(names, values, sigma, strict=True) if abs(v) > 3 * s] or names
                return f"The zeros of the readings are not those that were held: {listed(off)} moved"

            yield Alternative(fitted.by_fixed[..., held], words)

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses:
        """All zeros are lost."""
        shift = size * campaign.sigma * rng.normal(size=campaign.poses.n_chains)
        return replace(campaign.poses, readings=campaign.poses.readings + shift)


MISTAKE = Zeros()
