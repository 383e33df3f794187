"""Poses in another frame than the robot's."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.core.text import number
from gough.data import Poses
from gough.geometry.alignment import moved_to_robot
from gough.geometry.mistake import Alternative, Campaign, Corrected, Fitted, Mistake, Stated
from gough.geometry.rigid_columns import at_base


class Frame(Mistake):
    """The frame of the instrument is not that of the base, as was stated."""

    name = "frame"
    title = "poses in another frame than the robot's"
    advice = 'State frames = "instrument" in [calibration].'
    sizes = (1.0,)
    size_unit = ""

    def corrected(self, stated: Stated) -> Iterator[Corrected]:
        """Poses moved into the robot's frame, as the blueprint fits best."""
        if not stated.in_robot_frame:
            return
        try:
            moved = moved_to_robot(stated.model, stated.blueprint, stated.poses)
        except (InputError, np.linalg.LinAlgError):
            return
        words = "the frame of the instrument is estimated: the poses are not in the robot's frame"
        yield Corrected(moved, words, trials=100)

    def columns(self, fitted: Fitted) -> Iterator[Alternative]:
        """A rigid motion of the base, where the parameters do not absorb it."""
        yield Alternative(at_base(fitted), _words)

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses:  # noqa: ARG002
        """The instrument stands elsewhere."""
        R, t = exp(rng.normal(0, 1.0, 3)), rng.normal(0, 0.5, 3)
        rotation = None if campaign.poses.rotation is None else R @ campaign.poses.rotation
        if not campaign.model.has_orientation or 3 not in campaign.model.freedoms:
            R = exp(np.array([0.0, 0.0, rng.normal(0, 1.0)]))  # tilted poses are refused
            rotation = None if campaign.poses.rotation is None else R @ campaign.poses.rotation
        return replace(campaign.poses, position=campaign.poses.position @ R.T + t, rotation=rotation)


def _words(values: Array, sigma: Array) -> str:  # noqa: ARG001
    far, turned = 1e3 * float(np.linalg.norm(values[:3])), np.degrees(float(np.linalg.norm(values[3:])))
    return (
        f"The poses are not in the robot's frame, which is {number(far, digits=2)} mm and {number(turned, digits=2)}° "
        "away from the one that was stated"
    )


MISTAKE = Frame()
