"""A two-axis identification problem whose noise is correlated between motors and, if asked, low-pass filtered."""

import numpy as np
from scipy.signal import butter, sosfiltfilt

THETA = np.array([0.5, 2.0, 1.0, 9.0, 0.4, 3.0, 1.5, 8.0])
COVARIANCE = np.array([[1.0, 0.5], [0.5, 4.0]]) * 0.01
GROUPS = ("motor 1", "motor 2")


def regressor(n_samples):
    """Two actuators, eight unknowns: inertia-like, friction-like and gravity-like columns of a periodic motion."""
    t = np.linspace(0, 10, n_samples)
    columns = []
    for shift in (0.0, 1.0):
        q = np.sin(2 * np.pi * 0.7 * t + shift) + 0.5 * np.sin(2 * np.pi * 1.3 * t)
        dq, ddq = np.gradient(q, t), np.gradient(np.gradient(q, t), t)
        columns.append(np.column_stack([ddq, dq, np.sign(dq), np.cos(q)]))
    W = np.zeros((n_samples, 2, 8))
    W[:, 0, :4], W[:, 1, 4:] = columns
    W[:, 0, 4:], W[:, 1, :4] = 0.3 * columns[1], 0.3 * columns[0]  # coupling
    return W.reshape(-1, 8)


def noise(rng, n_samples, cutoff):
    e = rng.normal(size=(n_samples + 400, 2)) @ np.linalg.cholesky(COVARIANCE).T
    if cutoff:
        e = sosfiltfilt(butter(4, cutoff, output="sos"), e, axis=0)
    return e[200:-200].reshape(-1)
