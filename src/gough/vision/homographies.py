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


_BENDS = np.linspace(-0.3, 0.6, 10)
_FEWEST = 12
"""Points from which the bend of the lens is estimated."""
_INVERSIONS = 6


class PlaneMap:
    """A smooth map from a plane to the pixels of points that were seen, with its slopes and curvatures.

    A homography, and a lens whose distortion grows with the square of the distance from the middle of the image.
    """

    def __init__(self, plane: Array, image: Array, middle: Array) -> None:
        self._origin, self._unit = plane.mean(axis=0), float(np.abs(plane - plane.mean(axis=0)).max())
        self._middle, self._scale = middle, float(np.linalg.norm(middle))
        places, seen = (plane - self._origin) / self._unit, (image - middle) / self._scale
        self._bend = 0.0
        if len(plane) >= _FEWEST:
            misfits = [self._misfit(places, seen, bend) for bend in _BENDS]
            k = int(np.clip(np.argmin(misfits), 1, len(_BENDS) - 2))
            a, b, c = misfits[k - 1 : k + 2]
            shift = 0.5 * (a - c) / max(a - 2 * b + c, 1e-300)
            self._bend = float(_BENDS[k] + np.clip(shift, -1, 1) * (_BENDS[1] - _BENDS[0]))
        self._H = homography(places, self._flat(seen, self._bend))

    @staticmethod
    def _flat(seen: Array, bend: float) -> Array:
        return np.asarray(seen * (1 + bend * (seen**2).sum(axis=1, keepdims=True)))

    def _misfit(self, places: Array, seen: Array, bend: float) -> float:
        """Sum of squares of what a homography leaves, relative to the size of the image."""
        flat = self._flat(seen, bend)
        gaps = mapped(homography(places, flat), places) - flat
        return float((gaps**2).sum())

    def __call__(self, plane: Array) -> Array:
        """Pixels (n, 2) of points of the plane (n, 2)."""
        ideal = mapped(self._H, (plane - self._origin) / self._unit)
        seen = ideal
        for _ in range(_INVERSIONS):
            seen = ideal / (1 + self._bend * (seen**2).sum(axis=1, keepdims=True))
        return np.asarray(seen * self._scale + self._middle)

    def slopes(self, plane: Array) -> Array:
        """(n, 2, 2): change of the pixels where x and y of the plane change by one."""
        step = 1e-4 * self._unit
        changes = [(self(plane + move) - self(plane - move)) / (2 * step) for move in (step * np.eye(2))]
        return np.stack(changes, axis=2)

    def bends(self, plane: Array, normals: Array) -> Array:
        """(n, 2): half the curvature of the images of lines along x and y, towards their normals (n, 2, 2)."""
        step, out = 0.02 * self._unit, []
        for k, move in enumerate(step * np.eye(2)):
            after, before = self(plane + move), self(plane - move)
            along = ((after - before) ** 2).sum(axis=1) / 4
            unit = normals[:, k] / np.linalg.norm(normals[:, k], axis=1, keepdims=True)
            out.append(((after + before - 2 * self(plane)) * unit).sum(axis=1) / (2 * along))
        return np.stack(out, axis=1)
