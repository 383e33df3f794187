"""Quaternions with the scalar in another place than stated."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gough.core.rotations import from_quaternion, to_quaternion
from gough.data import Poses
from gough.geometry.mistake import Campaign, Corrected, Mistake, Stated


class QuaternionOrder(Mistake):
    """Scalar first for scalar last, or the reverse."""

    name = "quaternion order"
    title = "quaternions read with the scalar in the wrong place"
    advice = (
        "Rename columns qw, qx, qy, qz to qx, qy, qz, qw, in this order, where the scalar is last in fact, or the "
        'reverse where it is first: their names decide. Of columns q1, …, q4, state quaternion = "wxyz" or "xyzw" in '
        "[poses]."
    )

    def corrected(self, stated: Stated) -> Iterator[Corrected]:
        """The scalar in the other place."""
        if stated.poses.rotation is None or not stated.model.has_orientation:
            return
        q = to_quaternion(stated.poses.rotation)
        for shift, words in ((1, "scalar last but read as scalar first"), (-1, "scalar first but read as scalar last")):
            rotation = from_quaternion(np.roll(q, shift, axis=1))
            yield Corrected(replace(stated.poses, rotation=rotation), f"the quaternions are {words}")

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses | None:  # noqa: ARG002
        """Scalar first is read as scalar last."""
        R = campaign.poses.rotation
        if R is None or not campaign.model.has_orientation:
            return None
        return replace(campaign.poses, rotation=from_quaternion(np.roll(to_quaternion(R), 1, axis=1)))


MISTAKE = QuaternionOrder()
