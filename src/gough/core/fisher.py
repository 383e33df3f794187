"""Tails of Fisher's distribution for any degrees of freedom."""

import numpy as np

from gough.core.arrays import Array

_EXACT = 1e30
"""Degrees of freedom from which a variance is known exactly: the distribution is then that of χ²."""


def above(dof: float | Array, other_dof: float | Array, ratio: float | Array) -> Array:
    """Probability of a ratio of mean squares at least as large; `other_dof` of the denominator may be infinite.

    Examples:
        >>> round(float(above(1.0, 1.0, 1.0)), 12)
        0.5
        >>> print(f"{above(10.0, 1e20, 2.0):.6f} {above(10.0, np.inf, 2.0):.6f}")
        0.029253 0.029253
    """
    return _tail(dof, other_dof, ratio, upper=True)


def below(dof: float | Array, other_dof: float | Array, ratio: float | Array) -> Array:
    """Probability of a ratio of mean squares at most as large; `other_dof` of the denominator may be infinite."""
    return _tail(dof, other_dof, ratio, upper=False)


def _tail(dof: float | Array, other_dof: float | Array, ratio: float | Array, *, upper: bool) -> Array:
    """By incomplete beta functions, since SciPy's `fdtrc` before 1.17 is 1 for 1e20 degrees of freedom.

    With B(a, b, t) the regularized incomplete beta function, the tail below is B(a, b, t) for t = y / (y + b), and
    1 - B(b, a, 1 - t): the one of t and 1 - t that is below one half is computed without cancellation.
    """
    from scipy.special import betainc, betaincc, chdtr, chdtrc  # noqa: PLC0415 - start-up time

    is_exact = np.asarray(other_dof) > _EXACT
    a = np.asarray(dof) / 2
    y = np.asarray(a * ratio)
    exact = chdtrc(dof, 2 * y) if upper else chdtr(dof, 2 * y)
    if is_exact.all():
        return np.asarray(np.where(a > 0, exact, np.nan))
    b = np.where(is_exact, 1.0, other_dof) / 2
    near, far = (betaincc, betainc) if upper else (betainc, betaincc)
    with np.errstate(invalid="ignore"):  # an infinite ratio
        estimated = np.where(y < b, near(a, b, y / (y + b)), far(b, a, b / (y + b)))
    return np.asarray(np.where((a > 0) & (b > 0), np.where(is_exact, exact, estimated), np.nan))
