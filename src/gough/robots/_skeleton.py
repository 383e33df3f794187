"""Segments that draw a robot of the Delta family."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array


def directions(alpha: Sequence[float]) -> tuple[Array, Array]:
    """For each motor (motors, 3), the horizontal unit vector along the arm at q = 0, and the axis."""
    c, s, zero = np.cos(alpha), np.sin(alpha), np.zeros(len(alpha))
    return np.column_stack([c, s, zero]), np.column_stack([-s, c, zero])


@dataclass(frozen=True)
class Skeleton:
    """The fixed parts of the drawing. The rods of a leg are drawn at some distance, which no equation knows."""

    motors: Array
    """P (motors, 3)."""
    attachments: Array
    """a (motors, 3), the fixed part of the rods' attachment."""
    spread: Array
    """From the middle of a pair to one of its rods (motors, 3)."""
    platform: Array
    """The platform's segments (segments, 2, motors): their end points as weights of the rods' ends."""

    @property
    def segments(self) -> tuple[str, ...]:
        """The kind of each segment."""
        n = len(self.motors)
        return ("base",) * n + ("arm",) * (2 * n) + ("rod",) * (2 * n) + ("platform",) * (n + len(self.platform))

    def draw(self, ends: Array, elbows: Array) -> Array:
        """The segments (N, segments, 2, 3), for the ends of the rods and the elbows as seen from the attachments."""
        A, B = ends + self.attachments, elbows + self.attachments
        P = np.broadcast_to(self.motors, B.shape)
        w = np.broadcast_to(self.spread, B.shape)
        pairs = [
            (P, np.roll(P, -1, axis=-2)),
            (P, B),
            (B - w, B + w),
            (B - w, A - w),
            (B + w, A + w),
            (A - w, A + w),
        ]
        drawn = np.concatenate([np.stack(pair, axis=-2) for pair in pairs], axis=-3)
        return np.concatenate([drawn, np.einsum("skm,...mi->...ski", self.platform, A)], axis=-3)
