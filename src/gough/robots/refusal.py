"""Refusing samples by number."""

from typing import Any

import numpy as np

from gough.core.errors import InputError


def refuse_where(bad: Any, why: str) -> None:
    """Raise InputError naming the first sample for which `bad` holds. NaN compares false: missing samples pass."""
    wrong = np.flatnonzero(bad)
    if wrong.size == 0:
        return
    if np.ndim(bad) == 0:
        raise InputError(why)
    raise InputError(f"sample {wrong[0]}: {why} ({wrong.size} of {np.size(bad)} samples)")
