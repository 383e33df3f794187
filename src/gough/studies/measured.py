"""What studies of measured images have in common, of one camera or of several: repeats, and what was not used."""

from collections.abc import Sequence

import numpy as np

from gough.data import Poses, averaged
from gough.data.poses import Repeatability

_LISTED = 12
"""Rejected images that are listed on the terminal."""
_REASONS = 10

Rejected = Sequence[tuple[str, str]]
"""Names of images, and why they are not used."""


def of_repeats(poses: Poses) -> tuple[Poses | None, Repeatability | None]:
    """Means of configurations that were visited more than once, and their scatter; None where there are none."""
    if poses.configuration is None or len(np.unique(poses.configuration)) == len(poses):
        return None, None
    return averaged(poses)


def first_reasons(rejected: Rejected) -> str:
    """Lines with the first images and their reasons, for an error message."""
    return "".join(f"\n{name}: {why}" for name, why in rejected[:_REASONS])


def repeats_and_rejected(scatter: Repeatability | None, title: str, rejected: Rejected) -> list[str]:
    """Lines about the scatter of repeats and about images that were not used, for the terminal."""
    lines = [] if scatter is None else ["", "Repeatability in m and rad:", str(scatter)]
    if rejected:
        lines += ["", title, *(f"  {name}: {why}" for name, why in rejected[:_LISTED])]
    if len(rejected) > _LISTED:
        lines.append(f"  … and {len(rejected) - _LISTED} more, in the report")
    return lines
