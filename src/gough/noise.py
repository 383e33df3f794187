"""Stated noise of measurements: a covariance, or a bound that no error exceeds."""

from dataclasses import dataclass
from math import inf

import numpy as np

from gough.core.arrays import Array, ArrayValue, array, first_not_finite
from gough.core.errors import require


@dataclass(frozen=True, eq=False)
class Gaussian(ArrayValue):
    """Errors are Gaussian with mean zero.

    `covariance` is one of
        None         its size is not known and is estimated from the residuals
        scalar       one variance for all rows
        (N,)         a variance per row
        (n, n)       one covariance for the n rows of each sample (n actuators, rows in the order sample by sample)
        (S, n, n)    the same, different for each of the S samples
        (N, N)       the covariance of all rows
    A block is never expanded to N × N.

    Examples:
        >>> Gaussian(0.01).covariance
        array(0.01)
        >>> Gaussian([[1.0, 2.0], [2.0, 1.0]])
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: the covariance must be positive definite, but it is not
    """

    covariance: Array | None = None
    dof: float = inf
    """Number of independent errors that a block of the covariance was estimated from; infinite where it is known."""

    def __post_init__(self) -> None:
        require(self.dof > 0, f"degrees of freedom must be positive, but dof = {self.dof}")
        if self.covariance is None:
            return
        C = array(self.covariance, "the covariance", ndim=(0, 1, 2, 3))
        object.__setattr__(self, "covariance", C)
        bad = None if C.ndim == 0 else first_not_finite(C)
        require(bad is None and (C.ndim > 0 or bool(np.isfinite(C))), f"the covariance is NaN or infinite at {bad}")
        if C.ndim <= 1:
            require(bool((C > 0).all()), "variances must be positive")
            return
        require(C.shape[-1] == C.shape[-2], f"a covariance must be square, but its shape is {C.shape}")
        transposed = np.swapaxes(C, -1, -2)
        require(bool((abs(C - transposed) <= 1e-12 * abs(C).max()).all()), "the covariance is not symmetric")
        try:
            np.linalg.cholesky(C)
        except np.linalg.LinAlgError:
            require(condition=False, message="the covariance must be positive definite, but it is not")

    @property
    def block(self) -> int:
        """Number n of rows that each covariance block spans: 1 where rows are independent."""
        return 1 if self.covariance is None or self.covariance.ndim < 2 else self.covariance.shape[-1]


@dataclass(frozen=True, eq=False)
class Bounded(ArrayValue):
    """No error exceeds `radius`: |y − W θ| ≤ radius, row by row.

    `regressor` is the radius of W itself, entry by entry, or None where W is exact. Both are copied if the caller can
    still write to them, and every entry must be exactly a double: a bound is never rounded on the way in.

    Examples:
        >>> Bounded(0.5).radius
        array(0.5)
        >>> Bounded([0.1, -0.1])
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: an error bound must be a number ≥ 0, but radius[1] = -0.1
    """

    radius: Array
    regressor: Array | None = None

    def __post_init__(self) -> None:
        radius = array(self.radius, "the error bound", ndim=(0, 1))
        object.__setattr__(self, "radius", radius)
        _require_radii(radius, "radius")
        if self.regressor is not None:
            regressor = array(self.regressor, "the radius of W", ndim=(0, 2))
            object.__setattr__(self, "regressor", regressor)
            _require_radii(regressor, "regressor")


Noise = Gaussian | Bounded


def _require_radii(radii: Array, field: str) -> None:
    wrong = np.argwhere(~((radii >= 0) & (radii < np.inf)))
    if wrong.size or (radii.ndim == 0 and not 0 <= radii < np.inf):
        where = f"{field}{wrong[0].tolist()}" if radii.ndim else field
        value = radii[tuple(wrong[0])] if radii.ndim else radii
        require(condition=False, message=f"an error bound must be a number ≥ 0, but {where} = {value}")
