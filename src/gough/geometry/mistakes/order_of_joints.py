"""Joints of the base, or of the platform, in another order in the blueprint than on the machine."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from gough.core.arrays import Array
from gough.data import Poses
from gough.geometry.mistake import Campaign, Corrected, Mistake, Stated
from gough.geometry.mistakes.order_of_readings import assigned, in_words, incongruence, likeness, orders_like
from gough.robots.gough_platform import GoughPlatform

_BODIES = (("base", slice(0, 3)), ("platform", slice(3, 6)))
_SOME = 8
"""Poses between which turns are compared, where the frames are not known."""
_TRIED = 2
"""Orders of each body, two or three joints exchanged, that are tried then."""


class OrderOfJoints(Mistake):
    """The joints of one body of a Gough platform are permuted among its legs; those of the other are not.

    The same order for both bodies is another order of the readings (`OrderOfReadings`).
    """

    name = "order of joints"
    title = "joints of one body in another order in the blueprint"
    advice = "Look at the machine which joints each leg connects, and correct the blueprint; the readings may stay."

    def corrected(self, stated: Stated) -> Iterator[Corrected]:
        """In the order in which readings and legs are correlated best; without known frames, two or three exchanged."""
        model = stated.model
        if not isinstance(model, GoughPlatform):
            return
        rows = model.rows(stated.blueprint)
        lengths = None if stated.predicted is None else _lengths(rows, stated.poses)
        for body, part in _BODIES:
            if lengths is not None:
                order = _ordered(lengths, stated.poses.readings, body)
                orders = [] if order == tuple(range(len(rows))) else [order]
            else:
                orders = _exchanged(stated, model, rows, part)
            for order in orders:
                blueprint = model.parameters(_permuted(rows, part, order))
                words = f"the blueprint's joints of the {body} alone are taken in the order {in_words(order)}"
                yield Corrected(stated.poses, words, trials=orders_like(order), blueprint=blueprint)

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses | None:  # noqa: ARG002
        """Two joints of one body are exchanged on the machine."""
        model, poses = campaign.model, campaign.poses
        if not isinstance(model, GoughPlatform) or poses.rotation is None:
            return None
        rows, order = model.rows(campaign.theta), list(range(len(model.base)))
        i, j = rng.choice(len(order), 2, replace=False)
        order[i], order[j] = order[j], order[i]
        other = model.parameters(_permuted(rows, _BODIES[rng.integers(2)][1], tuple(order)))
        here, there = (model.inverse(theta, poses.position, poses.rotation) for theta in (campaign.theta, other))
        return replace(poses, readings=poses.readings + there - here)


def _lengths(rows: Array, poses: Poses) -> Array:
    """(N, base, platform) distances of every joint of the base from every one of the platform."""
    joints = rows[:, 3:6]
    if poses.rotation is not None:
        joints = joints @ np.swapaxes(poses.rotation, 1, 2)
    places = poses.position[:, None] + joints
    return np.asarray(np.linalg.norm(places[:, None] - rows[:, None, :3], axis=-1))


def _ordered(lengths: Array, readings: Array, body: str) -> tuple[int, ...]:
    """Which joint of the body each leg has, while it keeps that of the other."""
    n = readings.shape[1]
    legs = lengths if body == "base" else np.swapaxes(lengths, 1, 2)  # (N, joint of the body, joint of the other)
    cost = np.column_stack([likeness(legs[:, :, k], readings[:, [k]])[:, 0] for k in range(n)])
    return assigned(cost.T)


def _exchanged(stated: Stated, model: GoughPlatform, rows: Array, part: slice) -> list[tuple[int, ...]]:
    """Two or three joints, exchanged so that the blueprint turns between poses by about the angles measured.

    This does not depend on the frames.
    """
    N = len(stated.poses)
    some = np.unique(np.linspace(0, N - 1, min(N, _SOME)).astype(int))
    found: list[tuple[float, tuple[int, ...]]] = []
    for chosen in _moved(len(rows)):
        order = list(range(len(rows)))
        for k, other in zip(chosen, (*chosen[1:], chosen[0]), strict=True):
            order[k] = other
        blueprint = model.parameters(_permuted(rows, part, tuple(order)))
        away = incongruence(stated, blueprint, stated.poses.readings[some], some)
        if away is not None and np.isfinite(away[0]):
            found.append((float(away[0]), tuple(order)))
    return [order for _, order in sorted(found)[:_TRIED]]


def _moved(n: int) -> Iterator[tuple[int, ...]]:
    """Joints that take one another's places, the last that of the first: all pairs, and all cycles of three.

    Examples:
        >>> len(list(_moved(6))), list(_moved(3))
        (55, [(0, 1), (0, 2), (1, 2), (0, 1, 2), (0, 2, 1)])
    """
    yield from combinations(range(n), 2)
    for i, j, k in combinations(range(n), 3):
        yield from ((i, j, k), (i, k, j))


def _permuted(rows: Array, part: slice, order: tuple[int, ...]) -> Array:
    rows = rows.copy()
    rows[:, part] = rows[list(order), part]
    return rows


MISTAKE = OrderOfJoints()
