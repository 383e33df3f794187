"""Expanded uncertainties U(95) of measured poses and points, as instruments export them, made covariances."""

from collections.abc import Callable

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.rotations import log

COVERAGE = 1.959963984540054
"""Coverage factor of an expanded uncertainty of 95 % of a normal distribution [JCGM08, §G.1.3]; many programs use 2."""
_STEP = 1e-6


def standard_deviations(expanded: Array, coverage: float, place: Callable[[int], str]) -> Array:
    """Standard deviations of expanded uncertainties U (N, k): U over the coverage factor; NaN where a cell is empty.

    Args:
        expanded: The columns.
        coverage: U over the standard uncertainty.
        place: What to call a row in a message.

    Raises:
        InputError: an uncertainty is not positive: programs write 0 where they know none.

    Examples:
        >>> standard_deviations(np.array([[2e-5, 4e-5]]), 2.0, str)
        array([[1.e-05, 2.e-05]])
    """
    require(
        0 < coverage < np.inf, f"a coverage factor is a positive number, such as 1.96 or 2, but {coverage} is stated"
    )
    bad = np.argwhere(expanded <= 0)
    if bad.size:
        raise InputError(
            f"{place(int(bad[0][0]))}: an expanded uncertainty is {expanded[tuple(bad[0])]:g}, but must be positive: "
            "leave the columns of uncertainties out, and state the standard deviations instead"
        )
    return np.asarray(expanded / coverage)


def rotation_covariance(rotations: Callable[[Array], Array], values: Array, deviations: Array) -> Array:
    """Covariances (N, 3, 3) of left rotation vectors whose coordinates (N, k) have independent errors.

    To first order: J diag(σ²) Jᵀ, with J by central differences of log(R(x ± h) R(x)ᵀ), whatever the coordinates are.

    Args:
        rotations: Rotation matrices (N, 3, 3) of coordinates (N, k): Euler angles, rotation vectors, quaternions.
        values: The coordinates.
        deviations: Their standard deviations, of the same shape.

    Examples:
        >>> from gough.core.euler import from_euler
        >>> angles, sigma = np.array([[0.1, -0.2, 1.5]]), np.array([[0.0, 0.0, 1e-3]])
        >>> rotation_covariance(lambda x: from_euler(x, "fixed xyz"), angles, sigma)[0].round(9)
        array([[0.e+00, 0.e+00, 0.e+00],
               [0.e+00, 0.e+00, 0.e+00],
               [0.e+00, 0.e+00, 1.e-06]])
    """
    back = np.swapaxes(rotations(values), 1, 2)
    J = np.empty((len(values), 3, values.shape[1]))
    for k in range(values.shape[1]):
        h = _STEP * np.eye(values.shape[1])[k]
        J[:, :, k] = (log(rotations(values + h) @ back) - log(rotations(values - h) @ back)) / (2 * _STEP)
    root = J * deviations[:, None, :]
    C = root @ np.swapaxes(root, 1, 2)
    return np.asarray((C + np.swapaxes(C, 1, 2)) / 2)
