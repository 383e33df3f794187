"""A camera: how it projects, and how well that is known."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import require

_WIDEST = 1 << 20
"""Pixels; no sensor has more in a row."""
PARAMETERS = ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2", "k3")
BROWN = (*PARAMETERS[4:], "k4", "k5", "k6", "s1", "s2", "s3", "s4")
"""Coefficients of Brown's model and its extensions, in OpenCV's order."""
FISHEYE = ("k1", "k2", "k3", "k4")
KINDS = ("brown", "fisheye")
_LENGTHS = (5, 8, 12)
"""Numbers of coefficients that are kept: Brown's model, the rational one, and that with a thin prism."""


@dataclass(frozen=True)
class NoiseLevel:
    """How far dots were found beside their predicted places in the images that calibrated a camera.

    Examples:
        >>> NoiseLevel(0.012, 1.1, 0.0, 900).ratio
        1.1
    """

    sigma: float
    """Standard deviation of a coordinate of a dot's centroid, pixels."""
    ratio: float
    """Residuals over the standard deviations that the pixels' noise predicts for them, root mean square."""
    spread: float
    """Standard deviation of the logarithm of this ratio between images, beyond that of chance."""
    freedom: float
    """Degrees of freedom of the residuals."""

    def __post_init__(self) -> None:
        require(self.sigma > 0 and self.ratio > 0, "sigma and ratio of a camera's noise must be positive")
        require(self.spread >= 0 and self.freedom >= 1, "spread of a camera's noise is ≥ 0, its freedom ≥ 1")


@dataclass(frozen=True, eq=False)
class Camera(ArrayValue):
    """A camera with Brown's distortion [BRO71] or a fisheye lens [KB06], in OpenCV's conventions.

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
    """k1, k2, p1, p2, k3, then k4, k5, k6 of the rational model, s1 … s4 of a thin prism; k1 … k4 of a fisheye lens.

    Those left out are zero; there are 5, 8 or 12 of them, or 4 of a fisheye lens.
    """
    covariance: Array | None = None
    """(p, p) of the errors of `parameters`; None where it is not known."""
    lens: str = "brown"
    """"brown" or "fisheye"."""
    noise: NoiseLevel | None = None
    """Residuals of its calibration; None where they are not known."""
    dots_sigma: float = 0.0
    """Standard deviation of the places of the target's dots after the calibration, m."""
    response: float = 1.0
    """Exponent γ of its response: levels are proportional to light^(1/γ)."""

    def __post_init__(self) -> None:
        whole = len(self.size) == 2 and all(v == v // 1 and 0 < v <= _WIDEST for v in self.size)
        require(whole, f"a camera's size is its width and height in pixels, not {self.size}")
        object.__setattr__(self, "size", tuple(int(v) for v in self.size))
        for name, n in (("focal", 2), ("center", 2)):
            values = array(getattr(self, name), name, ndim=1)
            require(len(values) == n and bool(np.isfinite(values).all()), f"{name} of a camera must be two numbers")
            object.__setattr__(self, name, values)
        require(bool((self.focal > 0).all()), "focal lengths must be positive, in pixels")
        require(0.1 <= self.response <= 10, f"the exponent of a response is from 0.1 to 10, not {self.response}")
        require(self.lens in KINDS, f"a lens is of the kind {' or '.join(KINDS)}, not '{self.lens}'")
        k = array(self.distortion, "distortion", ndim=1)
        lengths, known = ((len(FISHEYE),), FISHEYE) if self.lens == "fisheye" else (_LENGTHS, BROWN)
        fits = len(k) <= lengths[-1] and bool(np.isfinite(k).all())
        require(fits, f"distortion of a {self.lens} lens is {', '.join(known)}: at most {lengths[-1]} numbers")
        full = next(n for n in lengths if n >= len(k))
        object.__setattr__(self, "distortion", np.pad(k, (0, full - len(k))))
        if self.covariance is not None:
            C = array(self.covariance, "covariance", ndim=2)
            n = 4 + full
            require(C.shape == (n, n), f"the covariance of this camera must be ({n}, {n}), not {C.shape}")
            object.__setattr__(self, "covariance", C)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of `parameters`."""
        return (*PARAMETERS[:4], *(FISHEYE if self.lens == "fisheye" else BROWN)[: len(self.distortion)])

    @property
    def parameters(self) -> Array:
        """fx, fy, cx, cy and the coefficients of the lens; their number tells `gough.vision.optics` the model."""
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
