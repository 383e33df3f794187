"""Rotations against scipy's, and their laws, near the identity and near half a turn too."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gough.core import rotations as ro


def vectors(rng):
    axes = rng.normal(size=(300, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    angles = np.concatenate(
        [rng.uniform(0, np.pi, 150), 10.0 ** rng.uniform(-12, -3, 75), np.pi - 10.0 ** rng.uniform(-9, -3, 75)]
    )
    return axes * angles[:, None]


def test_matrices_and_vectors_are_scipys(rng):
    w = vectors(rng)
    R = ro.exp(w)
    assert abs(R - Rotation.from_rotvec(w).as_matrix()).max() < 1e-14
    assert abs(ro.exp(ro.log(R)) - R).max() < 1e-13
    assert abs(ro.log(R[:225]) - w[:225]).max() < 1e-12
    assert ro.is_rotation(R, 1e-12).all()


def test_quaternions_are_scipys(rng):
    q = rng.normal(size=(300, 4))
    R = ro.from_quaternion(q)
    assert abs(R - Rotation.from_quat(q[:, [1, 2, 3, 0]]).as_matrix()).max() < 1e-14
    back = ro.to_quaternion(R)
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    assert abs(back - q * np.sign(q[:, :1])).max() < 1e-14


def test_leading_axes_of_any_shape(rng):
    w = rng.normal(size=(4, 5, 3))
    assert ro.exp(w).shape == (4, 5, 3, 3)
    assert ro.log(ro.exp(w[0, 0])).shape == (3,)
    assert ro.angle_between(ro.exp(w), ro.exp(w)).max() < 1e-7


@pytest.mark.parametrize("flip", [1.0, -1.0])
def test_nearest_rotation_is_right_handed(rng, flip):
    M = rng.normal(size=(50, 3, 3))
    M[:, 0] *= flip
    R = ro.nearest_rotation(M)
    assert ro.is_rotation(R, 1e-12).all()
    for _ in range(20):
        other = ro.exp(0.1 * rng.normal(size=(50, 3))) @ R
        assert (((other - M) ** 2).sum((1, 2)) >= ((R - M) ** 2).sum((1, 2)) - 1e-12).all()
