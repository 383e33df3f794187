"""A wrong gain of one chain's reading."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from gough.core.arrays import Array
from gough.data import Poses
from gough.geometry.mistake import Alternative, Campaign, Fitted, Mistake, one_chain, percent_error


class Gain(Mistake):
    """(1 + e) · reading of one chain: a spindle's lead, an encoder's count, a scale of a sensor."""

    name = "gain"
    title = "a wrong gain of one reading"
    advice = "Measure the gain of this sensor, or estimate it: gains = true for a Gough platform."
    sizes = (0.002, 0.01)
    size_unit = "of the reading"

    def columns(self, fitted: Fitted) -> Iterator[Alternative]:
        """The reading about its mean; the rest is a zero."""
        columns = fitted.of_chains(fitted.poses.readings - fitted.poses.readings.mean(axis=0))
        for chain, name in enumerate(fitted.model.chains):
            yield Alternative(columns[chain], partial(_words, name), chain, largest=0.7)

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses:
        """One chain's readings are too large or too small."""
        factor = np.ones(campaign.poses.n_chains)
        factor[one_chain(rng, len(factor))] += size * rng.choice([-1.0, 1.0])
        return replace(campaign.poses, readings=campaign.poses.readings * factor)


def _words(chain: str, values: Array, sigma: Array) -> str:
    # f(q (1 + e)) = 0: the reading must be multiplied by 1 + e to close, so that it is too small by e
    return f"The readings of {chain} have a wrong gain: they must be corrected by {percent_error(values[0], sigma[0])}"


MISTAKE = Gain()
