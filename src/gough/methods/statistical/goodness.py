"""Is the sum of squares what the stated noise makes it?"""

from math import isinf

from gough.noise import Gaussian


def goodness(ratio: float, dof: float, noise: Gaussian) -> tuple[float, float]:
    """χ²/dof freed from the bias of an estimated covariance, and its two-sided probability.

    A covariance of n channels from ν errors makes the weighted squares larger by ν/(ν − n − 1) in the mean, and lets
    them follow Fisher's distribution with n ν degrees of freedom in the denominator instead of χ².

    Examples:
        >>> ratio, p = goodness(1.0, 100.0, Gaussian(1.0))
        >>> ratio, round(p, 2)
        (1.0, 0.96)
    """
    from scipy.special import chdtr, chdtrc, fdtr, fdtrc  # noqa: PLC0415 - start-up time

    n = noise.block
    if isinf(noise.dof) or noise.dof <= n + 1:
        tail = min(chdtr(dof, ratio * dof), chdtrc(dof, ratio * dof))
        return ratio, float(min(1.0, 2 * tail))
    ratio *= (noise.dof - n - 1) / noise.dof
    tail = min(fdtr(dof, n * noise.dof, ratio), fdtrc(dof, n * noise.dof, ratio))
    return ratio, float(min(1.0, 2 * tail))


def widening(noise: Gaussian) -> float:
    """Factor on the covariance of an answer whose weights come from an estimated covariance.

    Its inverse overstates the information by ν/(ν − n − 1) in the mean, and weights that err cost about as much again.

    Examples:
        >>> widening(Gaussian(1.0)), round(widening(Gaussian([[1.0, 0.0], [0.0, 1.0]], dof=100.0)), 3)
        (1.0, 1.063)
    """
    n = noise.block
    return 1.0 if isinf(noise.dof) or noise.dof <= n + 1 else (noise.dof / (noise.dof - n - 1)) ** 2


def verdict(ratio: float, p: float) -> str:
    """The sentence on χ² that a reader needs."""
    words = "the stated noise explains the residuals"
    if p < 0.001:
        larger = "larger than the stated noise: an effect is missing from the model, or the noise is understated"
        words = f"residuals are {larger if ratio > 1 else 'smaller than the stated noise: it is overstated'}"
    chance = f"p = {p:.2g}" if p > 1e-12 else "p < 1e-12"
    return f"χ²/dof = {ratio:.3f} ({chance}): {words}."
