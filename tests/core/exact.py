"""Exact rational linear algebra, and matrices of hostile scales."""

import numpy as np
from flint import fmpq, fmpq_mat


def rational(x):
    """The exact rational matrix of a float matrix."""
    x = np.atleast_2d(x)
    return fmpq_mat(*x.shape, [fmpq(*value.as_integer_ratio()) for value in x.ravel().tolist()])


def is_within(exact, mid, rad):
    """Whether |exact - mid| <= rad entry by entry, exactly; an infinite radius holds everything."""
    mid, rad = np.atleast_2d(mid), np.atleast_2d(rad)
    assert (exact.nrows(), exact.ncols()) == mid.shape == rad.shape
    for i, j in np.argwhere(np.isfinite(rad)).tolist():
        distance = abs(exact[i, j] - fmpq(*mid[i, j].item().as_integer_ratio()))
        if distance > fmpq(*rad[i, j].item().as_integer_ratio()):
            return False
    return True


def hostile(rng, rows, columns, low=-1074, high=1023):
    """A matrix whose entries have all magnitudes between 2^low and 2^high, zeros among them."""
    x = np.ldexp(rng.uniform(0.5, 1, (rows, columns)), rng.integers(low, high, (rows, columns)))
    return x * rng.choice([-1.0, 0.0, 1.0], (rows, columns), p=[0.45, 0.1, 0.45])


def cancelling(rng, rows, columns):
    """A (rows, 2 columns) and B (2 columns, 3) whose product cancels all but the last bits."""
    a, b = rng.standard_normal((rows, columns)), rng.standard_normal((columns, 3))
    return np.hstack([a, -a * (1 + 2.0**-50)]), np.vstack([b, b])


def pairs(rng):
    """Pairs of matrices to multiply, named by what makes them hard."""
    column = np.ldexp(1.0, rng.integers(-300, 300, 6))
    plain = rng.standard_normal((5, 6)), rng.standard_normal((6, 4))
    return {
        "plain": plain,
        "cancelling": cancelling(rng, 4, 5),
        "units": (plain[0] * column, plain[1] / column[:, None]),
        "all magnitudes": (hostile(rng, 5, 6), hostile(rng, 6, 4)),
        "half of all magnitudes": (hostile(rng, 5, 6, -530, 490), hostile(rng, 6, 4, -530, 490)),
        "results underflow": (hostile(rng, 5, 6, -540, -500), hostile(rng, 6, 4, -540, -500)),
        "subnormal times huge": (hostile(rng, 5, 6, -1074, -1023), hostile(rng, 6, 4, 900, 1000)),
        "nearly overflow": (hostile(rng, 5, 6, 400, 512), hostile(rng, 6, 4, 400, 512)),
        "integers": (rng.integers(-9, 9, (5, 6)).astype(float), rng.integers(-9, 9, (6, 4)).astype(float)),
    }
