"""A frame that moved between two poses."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gough.core.arrays import Array
from gough.core.rotations import exp
from gough.core.text import number
from gough.data import Poses
from gough.geometry.mistake import Alternative, Campaign, Fitted, Mistake
from gough.geometry.rigid_columns import at_base, at_platform


class MovedFrame(Mistake):
    """From some pose on, the instrument stands elsewhere, or the target sits elsewhere on the platform."""

    name = "moved frame"
    title = "a frame that moved between two poses"
    advice = "Calibrate the poses before and after it separately, or measure again with everything fastened."
    sizes = (5.0, 20.0)
    size_unit = "standard deviations of closure errors"

    def columns(self, fitted: Fitted) -> Iterator[Alternative]:
        """A rigid motion of the base, or of the platform, from a pose on."""
        yield Alternative(at_base(fitted), _of_instrument, from_pose=True)
        if fitted.model.has_orientation:
            yield Alternative(at_platform(fitted), _of_target, from_pose=True)

    def make(self, campaign: Campaign, size: float, rng: np.random.Generator) -> Poses:
        """The instrument is pushed at some pose in the middle."""
        poses = campaign.poses
        first = int(rng.integers(len(poses) // 3, len(poses) - len(poses) // 3 + 1))
        direction = rng.normal(size=3)
        t = size * campaign.sigma * direction / np.linalg.norm(direction)
        turn = exp(rng.normal(0, 1, 3) * size * campaign.sigma / 0.5)
        after = np.arange(len(poses)) >= first
        position = np.where(after[:, None], poses.position @ turn.T + t, poses.position)
        rotation = None
        if poses.rotation is not None:
            rotation = np.where(after[:, None, None], turn @ poses.rotation, poses.rotation)
        return replace(poses, position=position, rotation=rotation)


def _of_instrument(values: Array, sigma: Array) -> str:  # noqa: ARG001
    return f"The frame of the instrument moved by {_sizes(values)}"


def _of_target(values: Array, sigma: Array) -> str:  # noqa: ARG001
    return f"The target moved on the platform by {_sizes(values)}"


def _sizes(values: Array) -> str:
    far, turned = 1e3 * float(np.linalg.norm(values[:3])), np.degrees(float(np.linalg.norm(values[3:])))
    return f"about {number(far, digits=2)} mm and {number(turned, digits=2)}°"


MISTAKE = MovedFrame()
