"""Poses that miss by far more than the others."""

import numpy as np

from gough.core.arrays import Array
from gough.core.text import number

_FAR = 8.0
"""Times the usual error, over all chains of a pose: normal errors reach two, those of few poses three."""
_FLOOR = 1e-9
"""m: errors below are rounding."""
_NAMED = 5


def outlying(left: Array) -> tuple[int, ...]:
    """Numbers of the poses whose closure errors (N, chains) are far beyond the usual, worst first.

    The usual error of each chain is its median, which outliers do not move; a pose is judged by all its chains.

    Examples:
        >>> left = np.full((20, 6), 1e-4)
        >>> left[7] = 5e-3
        >>> outlying(left)
        (7,)
    """
    return tuple(int(k) for k in np.argsort(-_sizes(left)) if _sizes(left)[k] > _FAR)


def outlier_words(left: Array) -> str:
    """What to do about poses that miss by far; empty where none does."""
    worst = outlying(left)
    if not worst:
        return ""
    sizes = _sizes(left)
    names = ", ".join(str(k) for k in worst[:_NAMED]) + (", …" if len(worst) > _NAMED else "")
    rms = 1e3 * float(np.sqrt((left[worst[0]] ** 2).mean()))
    several = len(worst) > 1
    which = f"Poses {names} miss by up to" if several else f"Pose {names} misses by"
    what, them = ("bad measurements", "them") if several else ("a bad measurement", "it")
    return (
        f"{which} {number(rms, digits=3)} mm (rms over the chains), {sizes[worst[0]]:.0f} times the usual: probably "
        f"{what}. Leave {them} out and look whether anything changes, or calibrate with robust = true."
    )


def _sizes(left: Array) -> Array:
    """Root mean square over the chains, each counted in its usual error."""
    usual = np.maximum(np.median(abs(left), axis=0) / 0.6744897501960817, _FLOOR)
    return np.asarray(np.sqrt(((left / usual) ** 2).mean(axis=1)))
