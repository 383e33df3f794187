"""Readings of the chains in another order than the blueprint's."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

import numpy as np

from gough.core.arrays import Array
from gough.data import Poses
from gough.geometry.alignment import modeled_poses
from gough.geometry.mistake import Campaign, Corrected, Mistake, Stated

_ALL = 4
"""So many chains are tried in all orders."""


class OrderOfReadings(Mistake):
    """The columns of the readings are permuted."""

    name = "order of readings"
    title = "readings in another order than the chains of the blueprint"
    advice = "Take the columns of the readings in this order."

    def corrected(self, stated: Stated) -> Iterator[Corrected]:
        """In the order in which readings and blueprint are correlated best; of few chains, in all orders."""
        n = stated.poses.n_chains
        every = list(permutations(range(n)))[1:] if n <= 6 else []
        if n <= _ALL:
            orders = every
        elif stated.predicted is not None:
            orders = [_assigned(stated.predicted, stated.poses.readings)]
        else:
            orders = [order for order in _congruent(stated, every) if order]
        for order in orders:
            if order == tuple(range(n)):
                continue
            words = ", ".join(str(i + 1) for i in order)
            poses = replace(stated.poses, readings=stated.poses.readings[:, order])
            yield Corrected(poses, f"the readings are taken in the order {words}", trials=1 if n <= _ALL else 719)

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses:  # noqa: ARG002
        """Any order but the right one."""
        n = campaign.poses.n_chains
        order = np.arange(n)
        while (order == np.arange(n)).all():
            order = rng.permutation(n)
        return replace(campaign.poses, readings=campaign.poses.readings[:, order])


def _assigned(predicted: Array, readings: Array) -> tuple[int, ...]:
    """Which column of the readings follows each chain of the blueprint."""
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - start-up time

    a, b = (each - each.mean(axis=0) for each in (predicted, readings))
    a, b = (each / np.maximum(np.linalg.norm(each, axis=0), 1e-300) for each in (a, b))
    with np.errstate(divide="ignore"):
        cost = np.log(np.maximum(1 - (a.T @ b) ** 2, 1e-12))
    return tuple(int(i) for i in linear_sum_assignment(cost)[1])


def _congruent(stated: Stated, orders: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Orders in which the blueprint turns between poses by the angles that were measured, whatever the frames."""
    R = stated.poses.rotation
    if R is None:
        return []
    some = np.unique(np.linspace(0, len(R) - 1, min(len(R), 8)).astype(int))
    readings = np.concatenate([stated.poses.readings[some][:, order] for order in orders])
    modeled = modeled_poses(stated.model, stated.blueprint, readings)
    if modeled is None:
        return []
    poses, arrived = modeled
    B = poses.rotation.reshape(len(orders), len(some), 3, 3)
    i, j = np.triu_indices(len(some), 1)
    seen = _angles(R[some][i], R[some][j])
    away = np.sqrt(((_angles(B[:, i], B[:, j]) - seen) ** 2).mean(axis=1))
    away[~arrived.reshape(len(orders), -1).all(axis=1)] = np.inf
    best = np.argsort(away)[:6]
    return [orders[k] for k in best if np.isfinite(away[k])]


def _angles(R: Array, S: Array) -> Array:
    trace = np.einsum("...ij,...ij->...", R, S)
    return np.asarray(np.arccos(np.clip((trace - 1) / 2, -1, 1)))


MISTAKE = OrderOfReadings()
