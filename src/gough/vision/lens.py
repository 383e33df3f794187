"""A camera: how it projects, and how well that is known."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import require

_WIDEST = 1 << 20
"""Pixels; no sensor has more in a row."""
PARAMETERS = ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2", "k3")


@dataclass(frozen=True, eq=False)
class Camera(ArrayValue):
    """A pinhole camera with Brown's distortion [BRO71], in OpenCV's conventions.

    Examples:
        >>> camera = Camera((1024, 768), [672.0, 672.0], [511.5, 383.5], [-0.12, 0.03, 0.0, 0.0, 0.0])
        >>> pixel = camera.project(np.eye(3), [0.0, 0.0, 1.0], [[0.1, 0.05, 0.0]])
        >>> pixel.round(3)
        array([[578.6 , 417.05]])
        >>> camera.rays(pixel).round(9)
        array([[0.1 , 0.05]])
    """

    size: tuple[int, int]
    """Width and height in pixels; the center of the first pixel is (0, 0)."""
    focal: Array
    """fx, fy in pixels."""
    center: Array
    """cx, cy in pixels."""
    distortion: Array = field(default_factory=lambda: np.zeros(5))
    """k1, k2, p1, p2, k3; those left out are zero."""
    covariance: Array | None = None
    """(9, 9) of the errors of `parameters`; None where it is not known."""

    def __post_init__(self) -> None:
        whole = len(self.size) == 2 and all(v == v // 1 and 0 < v <= _WIDEST for v in self.size)
        require(whole, f"a camera's size is its width and height in pixels, not {self.size}")
        object.__setattr__(self, "size", tuple(int(v) for v in self.size))
        for name, n in (("focal", 2), ("center", 2)):
            values = array(getattr(self, name), name, ndim=1)
            require(len(values) == n and bool(np.isfinite(values).all()), f"{name} of a camera must be two numbers")
            object.__setattr__(self, name, values)
        require(bool((self.focal > 0).all()), "focal lengths must be positive, in pixels")
        k = array(self.distortion, "distortion", ndim=1)
        require(len(k) <= 5 and bool(np.isfinite(k).all()), "distortion is k1, k2, p1, p2, k3: at most five numbers")
        object.__setattr__(self, "distortion", np.pad(k, (0, 5 - len(k))))
        if self.covariance is not None:
            C = array(self.covariance, "covariance", ndim=2)
            require(C.shape == (9, 9), f"the covariance of a camera must be (9, 9), not {C.shape}")
            object.__setattr__(self, "covariance", C)

    @property
    def parameters(self) -> Array:
        """fx, fy, cx, cy, k1, k2, p1, p2, k3."""
        return np.concatenate([self.focal, self.center, self.distortion])

    @property
    def sigma(self) -> Array | None:
        """Standard deviations of `parameters`."""
        return None if self.covariance is None else np.sqrt(np.maximum(self.covariance.diagonal(), 0))

    def project(self, rotation: Any, position: Any, points: Any) -> Array:
        """Pixels (n, 2) of points (n, 3) of a target at a pose; NaN behind the camera."""
        from gough.vision import optics  # noqa: PLC0415 - numba

        return optics.project(self.parameters, _double(rotation), _double(position), _double(points))

    def rays(self, pixels: Any) -> Array:
        """Where the rays of pixels (n, 2) pierce the plane at distance 1 (n, 2); NaN where there is none."""
        from gough.vision import optics  # noqa: PLC0415 - numba

        return optics.rays(self.parameters, _double(pixels))


def _double(values: Any) -> Array:
    return np.ascontiguousarray(values, dtype=float)
