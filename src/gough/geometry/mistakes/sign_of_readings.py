"""Readings that count backwards."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gough.core.text import listed
from gough.data import Poses
from gough.geometry.mistake import Campaign, Corrected, Mistake, Stated, one_chain


class SignOfReadings(Mistake):
    """The readings of one chain, of several or of all have the other sign."""

    name = "sign of readings"
    title = "readings that count backwards"
    advice = "Multiply these readings by −1."

    def corrected(self, stated: Stated) -> Iterator[Corrected]:
        """All, each, and those that fall where the blueprint's rise."""
        n = stated.poses.n_chains
        flips = [(True,) * n, *(tuple(i == k for i in range(n)) for k in range(n))]
        if stated.predicted is not None:
            a, b = (each - each.mean(axis=0) for each in (stated.predicted, stated.poses.readings))
            falling = tuple(((a * b).sum(axis=0) < 0).tolist())
            if any(falling) and falling not in flips:
                flips.append(falling)
        for flip in flips:
            poses = replace(stated.poses, readings=stated.poses.readings * np.where(flip, -1.0, 1.0))
            whose = [name for name, each in zip(stated.model.chains, flip, strict=True) if each]
            what = "the readings" if all(flip) else f"the readings of {listed(whose)}"
            yield Corrected(poses, f"{what} have the other sign", trials=2 if flip in flips[: n + 1] else 2**n)

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses:  # noqa: ARG002
        """One chain counts backwards."""
        sign = np.ones(campaign.poses.n_chains)
        sign[one_chain(rng, len(sign))] = -1.0
        return replace(campaign.poses, readings=campaign.poses.readings * sign)


MISTAKE = SignOfReadings()
