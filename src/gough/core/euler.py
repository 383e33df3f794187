"""Euler angles of any named convention as rotation matrices."""

from functools import reduce
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.rotations import exp

SEQUENCES = ("xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz")
"""Axes of the three turns, first turn first."""
CONVENTIONS = (
    '"fixed xyz" (roll about x, then pitch about y, then yaw about z, all axes fixed), "moving zyx" (yaw, pitch, roll, '
    'each about an axis that moves along), "moving zxz", …: fixed or moving, and the axes of the turns in their order, '
    f'one of {", ".join(SEQUENCES)}. Lower case alone, "xyz", means fixed axes, upper case alone, "ZYX", moving ones'
)
"""The conventions in words, for messages."""


def axes_of(convention: Any) -> tuple[str, bool]:
    """The axes of the three turns in their order, and whether they move along with the body.

    Raises:
        InputError: the convention is not one; the message lists all.

    Examples:
        >>> axes_of("fixed xyz"), axes_of("moving ZYX"), axes_of("xyz"), axes_of("ZXZ")
        (('xyz', False), ('zyx', True), ('xyz', False), ('zxz', True))
        >>> axes_of("xYz")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: 'xYz' is no convention of Euler angles: write "fixed xyz" (roll about x, ...
    """
    words = convention.split() if isinstance(convention, str) else []
    letters = words[-1] if words else ""
    moves = {"fixed": False, "moving": True}.get(" ".join(words[:-1]))
    if len(words) == 1 and (letters.islower() or letters.isupper()):
        moves = letters.isupper()
    if moves is None or letters.lower() not in SEQUENCES:
        raise InputError(f"{convention!r} is no convention of Euler angles: write {CONVENTIONS}", key=("euler",))
    return letters.lower(), moves


def from_euler(angles: Any, convention: str) -> Array:
    """Rotation matrices (..., 3, 3) of Euler angles (..., 3), rad, in the order of the turns.

    Examples:
        >>> (from_euler([np.pi / 2, 0.0, np.pi / 2], "fixed xyz") @ [0.0, 1.0, 0.0]).round(12) + 0.0
        array([0., 0., 1.])
    """
    axes, moves = axes_of(convention)
    turns = [
        exp(np.asarray(angles, dtype=float)[..., k, None] * np.eye(3)["xyz".index(axis)]) for k, axis in enumerate(axes)
    ]
    return reduce(np.matmul, turns if moves else turns[::-1])
