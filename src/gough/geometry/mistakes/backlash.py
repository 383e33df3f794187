"""Backlash of one chain: its reading depends on the direction that it came from."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from gough.core.arrays import Array
from gough.core.text import number
from gough.data import Poses
from gough.geometry.mistake import Alternative, Campaign, Fitted, Mistake, one_chain


def travel(readings: Array) -> Array:
    """The direction (N, chains) that each reading came from: ±1, and 0 at the first pose.

    Examples:
        >>> travel(np.array([[1.0], [2.0], [1.5]])).tolist()
        [[0.0], [1.0], [-1.0]]
    """
    return np.asarray(np.sign(np.diff(readings, axis=0, prepend=readings[:1])))


class Backlash(Mistake):
    """Poses are taken to be in the order in which they were driven to."""

    name = "backlash"
    title = "backlash of one chain"
    advice = "Approach all poses from the same side, or remove the play of this drive; poses must be in driven order."
    sizes = (5.0, 20.0)
    size_unit = "standard deviations of closure errors"

    def columns(self, fitted: Fitted) -> Iterator[Alternative]:
        """Half the play, with the sign of the travel."""
        columns = fitted.of_chains(travel(fitted.poses.readings))
        for chain, name in enumerate(fitted.model.chains):
            words = partial(_words, name, fitted.model.reading_unit)
            yield Alternative(columns[chain], words, chain)

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses:
        """One chain's reading is half the play ahead."""
        chain = one_chain(rng, campaign.poses.n_chains)
        readings = campaign.poses.readings.copy()
        readings[:, chain] += size * campaign.sigma * travel(campaign.poses.readings)[:, chain]
        return replace(campaign.poses, readings=readings)


def _words(chain: str, unit: str, values: Array, sigma: Array) -> str:
    factor, shown = (1e3, "mm") if unit == "m" else (180 / np.pi, "°") if unit == "rad" else (1.0, unit)
    play = number(2 * factor * abs(values[0]), digits=3)
    return (
        f"The readings of {chain} depend on the direction of travel, as with a backlash of {play} ± "
        f"{number(4 * factor * sigma[0], digits=2)} {shown}"
    )


MISTAKE = Backlash()
