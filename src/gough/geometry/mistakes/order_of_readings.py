"""Readings of the chains in another order than the blueprint's."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from math import comb, factorial

import numpy as np

from gough.core.arrays import Array, Integers
from gough.data import Poses
from gough.geometry.alignment import modeled_poses
from gough.geometry.mistake import Campaign, Corrected, Mistake, Stated

_ALL = 4
"""So many chains are tried in all orders."""


class OrderOfReadings(Mistake):
    """The columns of the readings are permuted."""

    name = "order of readings"
    title = "readings in another order than the chains of the blueprint"
    advice = (
        "The data do not show which of the two is wrong. Look at the machine: move one drive alone, and see which "
        "column of the file changes and which joints its chain connects. Correct only what is wrong, columns or "
        "blueprint."
    )

    def corrected(self, stated: Stated) -> Iterator[Corrected]:
        """In the order in which readings and blueprint are correlated best; of few chains, in all orders."""
        n = stated.poses.n_chains
        every = list(permutations(range(n)))[1:] if n <= 6 else []
        if n <= _ALL:
            orders = every
        elif stated.predicted is not None:
            orders = [assigned(likeness(stated.predicted, stated.poses.readings))]
        else:
            orders = [order for order in _congruent(stated, every) if order]
        for order in orders:
            if order == tuple(range(n)):
                continue
            poses = replace(stated.poses, readings=stated.poses.readings[:, order])
            back = in_words(np.argsort(order).tolist())
            words = (
                f"the readings are taken in the order {in_words(order)}, or, which is the same to the data, the chains "
                f"of the blueprint with all their joints in the order {back}"
            )
            yield Corrected(poses, words, trials=1 if n <= _ALL else orders_like(order))

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses:  # noqa: ARG002
        """Any order but the right one."""
        n = campaign.poses.n_chains
        order = np.arange(n)
        while (order == np.arange(n)).all():
            order = rng.permutation(n)
        return replace(campaign.poses, readings=campaign.poses.readings[:, order])


def orders_like(order: Sequence[int]) -> int:
    """Number of orders that move as many places, times that of such numbers: few moved ones are likelier.

    Examples:
        >>> orders_like((1, 0, 2, 3, 4, 5)), orders_like((5, 3, 4, 2, 0, 1))
        (75, 1325)
    """
    n, moved = len(order), sum(k != i for k, i in enumerate(order))
    deranged = round(sum((-1) ** k * factorial(moved) / factorial(k) for k in range(moved + 1)))
    return (n - 1) * comb(n, moved) * deranged


def in_words(order: Sequence[int]) -> str:
    """Numbers from 1, with commas."""
    return ", ".join(str(i + 1) for i in order)


def likeness(predicted: Array, readings: Array) -> Array:
    """(predicted, readings): how badly each column of readings follows each predicted one, as a logarithm."""
    a, b = (each - each.mean(axis=0) for each in (predicted, readings))
    a, b = (each / np.maximum(np.linalg.norm(each, axis=0), 1e-300) for each in (a, b))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(1 - (a.T @ b) ** 2, 1e-12)))


def assigned(cost: Array) -> tuple[int, ...]:
    """For each row the column, such that the sum of costs is smallest."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - start-up time

    return tuple(int(i) for i in linear_sum_assignment(cost)[1])


def _congruent(stated: Stated, orders: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Orders in which the blueprint turns between poses by the angles that were measured, whatever the frames."""
    R = stated.poses.rotation
    if R is None:
        return []
    some = np.unique(np.linspace(0, len(R) - 1, min(len(R), 8)).astype(int))
    readings = np.concatenate([stated.poses.readings[some][:, order] for order in orders])
    away = incongruence(stated, stated.blueprint, readings, some)
    if away is None:
        return []
    best = np.argsort(away)[:6]
    return [orders[k] for k in best if np.isfinite(away[k])]


def incongruence(stated: Stated, blueprint: Array, readings: Array, some: Integers) -> Array | None:
    """By how much a blueprint turns between poses by other angles than measured, whatever the frames; rms, rad.

    Args:
        stated: Poses whose orientations were measured.
        blueprint: Parameters to try.
        readings: (variants · poses, chains) readings at these poses, one variant after the other.
        some: Numbers of the poses.
    """
    modeled = modeled_poses(stated.model, blueprint, readings)
    R = stated.poses.rotation
    if modeled is None or R is None:
        return None
    poses, arrived = modeled
    B = poses.rotation.reshape(-1, len(some), 3, 3)
    i, j = np.triu_indices(len(some), 1)
    seen = _angles(R[some][i], R[some][j])
    away = np.sqrt(((_angles(B[:, i], B[:, j]) - seen) ** 2).mean(axis=1))
    away[~arrived.reshape(-1, len(some)).all(axis=1)] = np.inf
    return np.asarray(away)


def _angles(R: Array, S: Array) -> Array:
    trace = np.einsum("...ij,...ij->...", R, S)
    return np.asarray(np.arccos(np.clip((trace - 1) / 2, -1, 1)))


MISTAKE = OrderOfReadings()
