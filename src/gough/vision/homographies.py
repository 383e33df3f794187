"""Plane to image without distortion: homographies by least squares."""

import numpy as np

from gough.core.arrays import Array


def homography(plane: Array, image: Array) -> Array:
    """The (3, 3) matrix that maps points of a plane (n, 2) to an image (n, 2), by least squares; both of size 1."""
    n = len(plane)
    A = np.zeros((2 * n, 9))
    A[:n, 0:2], A[:n, 2] = plane, 1
    A[n:, 3:5], A[n:, 5] = plane, 1
    A[:n, 6:8], A[:n, 8] = -image[:, :1] * plane, -image[:, 0]
    A[n:, 6:8], A[n:, 8] = -image[:, 1:] * plane, -image[:, 1]
    return np.linalg.eigh(A.T @ A)[1][:, 0].reshape(3, 3)


def weights(H: Array, plane: Array) -> Array:
    """Denominators of a homography at points of the plane (n, 2)."""
    return np.asarray(plane @ H[2, :2] + H[2, 2])


def mapped(H: Array, plane: Array) -> Array:
    """Images (n, 2) of points of the plane (n, 2)."""
    return np.asarray((plane @ H[:2, :2].T + H[:2, 2]) / weights(H, plane)[:, None])


def is_mirrored(plane: Array, image: Array) -> bool:
    """Whether a view is not of the front: there v points down where y points up.

    Examples:
        >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> is_mirrored(corners, corners * [1, -1]), is_mirrored(corners, corners)
        (False, True)
    """
    A = np.linalg.lstsq(np.column_stack([plane, np.ones(len(plane))]), image, rcond=None)[0]
    return bool(np.linalg.det(A[:2]) > 0)


class PlaneMap:
    """A smooth map from a plane to the pixels of points that were seen, with its slopes."""

    def __init__(self, plane: Array, image: Array) -> None:
        self._origin, self._unit = plane.mean(axis=0), float(np.abs(plane - plane.mean(axis=0)).max())
        self._middle, self._scale = image.mean(axis=0), float(np.abs(image - image.mean(axis=0)).max())
        self._H = homography((plane - self._origin) / self._unit, (image - self._middle) / self._scale)

    def __call__(self, plane: Array) -> Array:
        """Pixels (n, 2) of points of the plane (n, 2)."""
        return mapped(self._H, (plane - self._origin) / self._unit) * self._scale + self._middle

    def slopes(self, plane: Array) -> Array:
        """(n, 2, 2): change of the pixels where x and y of the plane change by one."""
        step = 1e-4 * self._unit
        changes = [(self(plane + move) - self(plane - move)) / (2 * step) for move in (step * np.eye(2))]
        return np.stack(changes, axis=2)
