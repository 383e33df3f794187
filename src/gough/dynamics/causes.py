"""What residuals of an actuator look like: friction, inertia, or a ripple along its stroke."""

import numpy as np

from gough.core.arrays import Array

SHARE = 0.5
"""Part of the mean square that an explanation must take to be named."""
WAVES = 60
"""Wave numbers along the stroke that are tried for a ripple."""


def likely_cause(residuals: Array, q: Array, dq: Array, ddq: Array) -> str:
    """The explanation that takes most of the residuals of one actuator, in words; empty if none takes half.

    Examples:
        >>> t = np.linspace(0, 2 * np.pi, 200, endpoint=False)
        >>> q, dq, ddq = np.sin(t), np.cos(t), -np.sin(t)
        >>> likely_cause(0.3 * np.sign(dq), q, dq, ddq), likely_cause(np.sin(40 * q), q, dq, ddq)
        ('like friction', 'like a ripple of period 0.16 along its stroke, as cogging is')
    """
    total = float(residuals @ residuals)
    if total == 0 or len(residuals) < 20:
        return ""
    shares = {
        "like friction": _share(residuals, np.sign(dq), dq),
        "like inertia": _share(residuals, ddq),
        "like an offset": _share(residuals, np.ones_like(q)),
    }
    stroke = float(np.ptp(q))
    if stroke > 0:
        numbers = 2 * np.pi / stroke * np.arange(2, 2 * WAVES) / 2
        k = _best_wave(residuals, q, numbers)
        if k > 2.2 * numbers[0]:  # a wave or two along the stroke is any slow effect
            words = f"like a ripple of period {2 * np.pi / k:.2g} along its stroke, as cogging is"
            shares[words] = _share(residuals, np.sin(k * q), np.cos(k * q))
    words, share = max(shares.items(), key=lambda item: item[1])
    return words if share >= SHARE else ""


def _best_wave(residuals: Array, q: Array, numbers: Array) -> float:
    """The wave number that explains most, among those given and then around the best of them."""

    def best(tried: Array) -> float:
        return float(tried[np.argmax([_share(residuals, np.sin(k * q), np.cos(k * q)) for k in tried])])

    near = numbers[1] - numbers[0]
    return best(best(numbers) + np.linspace(-near, near, 21))


def _share(residuals: Array, *columns: Array) -> float:
    """Part of the residuals' square that a combination of the columns takes."""
    A = np.column_stack(columns)
    fit = A @ np.linalg.lstsq(A, residuals, rcond=None)[0]
    return 1 - float(((residuals - fit) ** 2).sum()) / float(residuals @ residuals)
