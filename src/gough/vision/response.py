"""The response of a camera: whether levels are proportional to light, from the edges of dots.

The light of a pixel is G + (L − G) T, with the light G of the ground and L of a dot, and the part T of the pixel that
sees the dot: a disc's image, blurred by the point-spread function and by the pixel. Its level is proportional to
light^(1/γ). Blur, averaged over all directions of an outline, leaves an edge as steep on its bright side as on its dark
one; an exponent does not. So γ is estimated although neither the point-spread function nor the true size of printed
dots is known: T has a closed form in the frequency domain, with a Gaussian of any covariance times
1 + c₂ z² + c₃ z³ + c₄ z⁴, z = s² |k|² (a series of Gram and Charlier), and the size is free. The light of ground and
dot and the place are free for each dot.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.vision.lens import Camera
from gough.vision.sightings import Sighting
from gough.vision.spots import Image

_DOTS, _PIXELS = 10, 15_000
"""Dots of an image whose edges are fitted at most, and pixels of their windows."""
_LEAST_DOTS = 3
_FINER = 2
"""Points of the transform in a pixel, along each axis: half the width of a common point-spread function."""
_SERIES = (2, 3, 4)
"""Powers of z by which a point-spread function differs from a Gaussian one."""
_STEPS, _SETTLED, _MOST_DAMPING = 40, 1e-6, 1e6
_STEEPEST = 1.4
"""Largest logarithm of γ."""
_MISFIT = 4.0
"""Residuals beside the noise of the ground beyond which an image tells nothing: its dots have another shape. A response
makes the noise of dots another than that of the ground, by a factor of three with γ 2.2."""
_SHAPE = 0.05
"""Relative standard deviation of γ that point-spread functions leave which the series does not describe."""
_SURE = 3.3
"""Standard deviations of log γ beyond which a linear response is refuted: level 0.001."""
_KNOWN = 0.12
"""Relative standard deviation of γ beyond which images do not show that a response is linear."""


class ResponseFinding(Enum):
    """Whether a camera's levels are proportional to light; the value is a text for people.

    Examples:
        >>> ResponseFinding.LINEAR.value
        'a linear response is adequate'
    """

    LINEAR = "a linear response is adequate"
    CURVED = "a linear response leaves out an effect that the images show"
    UNKNOWN = "the images do not tell whether the response is linear"


@dataclass(frozen=True)
class Response:
    """The exponent of a response as the edges of dots show it.

    Examples:
        >>> print(Response(2.2, 0.06, 8).verdict)
        Response: a linear response leaves out an effect that the images show: γ = 2.20 ± 0.13; it is used.
        >>> Response(1.3, 0.2, 1).finding.name, Response(1.02, 0.06, 8).used
        ('UNKNOWN', 1.0)
    """

    gamma: float
    """Levels are proportional to light^(1/γ)."""
    sigma: float
    """Relative standard deviation of γ."""
    images: int
    """Number of images."""

    @property
    def finding(self) -> ResponseFinding:
        """Whether a linear response is adequate."""
        if abs(np.log(self.gamma)) > _SURE * self.sigma:
            return ResponseFinding.CURVED
        return ResponseFinding.LINEAR if self.sigma <= _KNOWN else ResponseFinding.UNKNOWN

    @property
    def used(self) -> float:
        """The exponent that is released: 1 where the images do not refute a linear response."""
        return self.gamma if self.finding is ResponseFinding.CURVED else 1.0

    @property
    def verdict(self) -> str:
        """The finding, its evidence, and what follows."""
        text = f"Response: {self.finding.value}: γ = {self.gamma:.2f} ± {self.gamma * self.sigma:.2f}"
        return f"{text}; it is used." if self.finding is ResponseFinding.CURVED else f"{text}."


class Shot(NamedTuple):
    """An image in which dots were found, with the pose of the target."""

    gray: Image
    seen: Sighting
    rotation: Array
    position: Array


def estimate_response(shots: Iterable[Shot], target: Any, camera: Camera) -> Response | None:
    """The exponent of the response from some images of dots; None where no image has enough whole dots.

    Each image is fitted by itself; their scatter beyond what the pixels' noise explains is part of the standard
    deviation.
    """
    fits = [fit for shot in shots if (fit := _fitted(shot, target, camera)) is not None]
    if not fits:
        return None
    logs, variances = np.array(fits).T
    w = 1 / variances
    mean = float(w @ logs / w.sum())
    excess = float(w @ (logs - mean) ** 2) - (len(fits) - 1)
    between = max(excess / max(w.sum() - (w**2).sum() / w.sum(), 1e-300), 0.0) if len(fits) > 1 else 0.0
    w = 1 / (variances + between)
    sigma = float(np.hypot(1 / np.sqrt(w.sum()), _SHAPE))
    return Response(float(np.exp(w @ logs / w.sum())), sigma, len(fits))


class _Windows(NamedTuple):
    """Pixels around dots of one image."""

    levels: Array
    """(dots, n, n)."""
    mask: Array
    """(dots, n, n): 1 for pixels of the dot and the ground around it, 0 for others."""
    moments: Array
    """(dots, 3): second moments uu, uv, vv of the discs' images without blur."""
    places: Array
    """(dots, 2): of the centroids in the windows."""


def _fitted(shot: Shot, target: Any, camera: Camera) -> tuple[float, float] | None:
    """The logarithm of γ and its variance from one image."""
    windows = _windows(shot, target, camera)
    if windows is None:
        return None
    width = max(float(shot.seen.edge) ** 2 if np.isfinite(shot.seen.edge) else 0.5, 0.1)
    common = np.array([0.0, 0.0, width, 0.0, width, *(0.0 for _ in _SERIES)])
    own = _first_levels(windows)
    model = _model(windows, common, own)
    damping = 1e-3
    for _ in range(_STEPS):
        step, steps = _step(model, damping)
        moved, places = common + step, own + steps
        fits = abs(moved[0]) < _STEEPEST and abs(moved[1]) < 0.3 and moved[2] * moved[4] > moved[3] ** 2 + 1e-4
        trial = _model(windows, moved, places) if fits and min(moved[2], moved[4]) > 0.01 else None
        if trial is None or not trial.cost <= model.cost:
            damping = max(8 * damping, 1e-4)
            if damping > _MOST_DAMPING:
                return None
            continue
        is_settled = model.cost - trial.cost < _SETTLED * model.cost
        common, own, model, damping = moved, places, trial, damping / 5
        if is_settled:
            break
    else:
        return None
    normal = _eliminated(model, 0.0)[0]
    freedom = windows.mask.sum() - common.size - own.size
    square = float(model.cost / freedom)
    variance = float(np.linalg.inv(normal)[0, 0] * square)
    assert shot.seen.spots is not None
    fits = square < (_MISFIT * max(float(np.median(shot.seen.spots.noise)), 0.5)) ** 2
    return (float(common[0]), variance) if fits and np.isfinite(variance) and variance > 0 else None


def _windows(shot: Shot, target: Any, camera: Camera) -> _Windows | None:
    """Windows around whole dots, spread over the image."""
    from gough.vision import optics  # noqa: PLC0415 - numba

    seen, spots = shot.seen, shot.seen.spots
    assert spots is not None
    pose = np.ascontiguousarray(shot.rotation), np.ascontiguousarray(shot.position)
    points = np.ascontiguousarray(target.points[seen.which])
    moments = optics.discs(camera.parameters, *pose, points, target.radius)[:, 3:6]
    margin = 3 * max(float(np.median(spots.edge)), 0.5) + 1.5
    half = int(np.ceil(2 * np.sqrt(moments[:, [0, 2]].max()) + margin)) + 1
    middle = np.rint(seen.pixels).astype(int)
    inside = ((middle - half >= 0) & (middle + half < np.array(shot.gray.shape[::-1]))).all(axis=1)
    usable = np.flatnonzero(inside & (spots.saturated == 0) & (spots.stray == 0))
    wanted = int(np.clip(_PIXELS // (2 * half + 1) ** 2, _LEAST_DOTS, _DOTS))
    if len(usable) < _LEAST_DOTS:
        return None
    chosen = usable[np.linspace(0, len(usable) - 1, min(wanted, len(usable))).astype(int)]
    levels, masks = [], []
    for k in chosen.tolist():
        u, v = middle[k]
        levels.append(shot.gray[v - half : v + half + 1, u - half : u + half + 1].astype(float))
        near = np.flatnonzero(np.abs(seen.pixels - seen.pixels[k]).max(axis=1) < 4 * half)
        rows, columns = np.mgrid[v - half : v + half + 1, u - half : u + half + 1]
        covers = {j: _covers(moments[j], margin, columns - seen.pixels[j, 0], rows - seen.pixels[j, 1]) for j in near}
        others = [covers[j] for j in near if j != k]
        masks.append(covers[k] & ~np.any(others, axis=0) if others else covers[k])
    places = seen.pixels[chosen] - middle[chosen] + half
    return _Windows(np.array(levels), np.array(masks, dtype=float), moments[chosen], places)


def _covers(moments: Array, grown: float, u: Array, v: Array) -> Any:
    """Whether offsets are within an ellipse with these second moments, grown by a length along its axes."""
    values, axes = np.linalg.eigh(4 * np.array([[moments[0], moments[1]], [moments[1], moments[2]]]))
    p, q = (axes[0, k] * u + axes[1, k] * v for k in (0, 1))
    long, short = np.sqrt(np.maximum(values, 0)) + grown
    return (p / long) ** 2 + (q / short) ** 2 < 1


def _first_levels(windows: _Windows) -> Array:
    """(dots, 4): levels of ground and dot, and the place: the middle of the window is in the dot, its rim is ground."""
    n = windows.levels.shape[1]
    rows, columns = np.mgrid[:n, :n]
    out = np.empty((len(windows.levels), 4))
    for k, (levels, mask) in enumerate(zip(windows.levels, windows.mask, strict=True)):
        u, v = columns - windows.places[k, 0], rows - windows.places[k, 1]
        core = _covers(windows.moments[k] / 4, 0.0, u, v)
        rim = (mask > 0) & ~_covers(windows.moments[k], 2.0, u, v)
        dot = float(np.median(levels[core] if core.any() else levels[n // 2, n // 2]))
        out[k] = float(np.median(levels[rim])) if rim.any() else dot / 8, dot, *windows.places[k]
    return out


class _Model(NamedTuple):
    """Expected levels, and their slopes by what images share and by what is free for each dot."""

    residuals: Array
    """(dots, pixels)."""
    by_common: Array
    """(dots, pixels, 5 + series): by log γ, log of the size, covariance of the Gaussian, coefficients of the series."""
    by_own: Array
    """(dots, pixels, 4): by the levels of ground and dot, and the place."""
    cost: float


def _model(windows: _Windows, common: Array, own: Array) -> _Model:
    gamma, parts = float(np.exp(common[0])), _coverage(windows, common, own)
    T = parts[0]
    least = 1e-3 * float(windows.levels.max())
    ground, dot = (np.maximum(own[:, k], least)[:, None, None] for k in (0, 1))
    dark, light = ground**gamma, dot**gamma
    linear = np.maximum(dark + (light - dark) * T, (0.1 * least) ** gamma)
    level = linear ** (1 / gamma)
    slope = level / (gamma * linear)
    by_gamma = (
        slope * gamma * (dark * np.log(ground) * (1 - T) + light * np.log(dot) * T) - level * np.log(linear) / gamma
    )
    by_part = slope * (light - dark)
    by_ground, by_dot = slope * gamma * dark / ground * (1 - T), slope * gamma * light / dot * T
    mask = windows.mask
    shape = len(mask), -1
    common_slopes = [by_gamma, *(by_part * part for part in parts[1:-2])]
    own_slopes = [by_ground, by_dot, by_part * parts[-2], by_part * parts[-1]]
    residuals = ((windows.levels - level) * mask).reshape(shape)
    return _Model(
        residuals,
        np.stack([(each * mask).reshape(shape) for each in common_slopes], axis=2),
        np.stack([(each * mask).reshape(shape) for each in own_slopes], axis=2),
        float((residuals**2).sum()),
    )


def _coverage(windows: _Windows, common: Array, own: Array) -> list[Array]:
    """The part of each pixel that sees the dot, and its slopes by size, Gaussian, series and place."""
    from scipy.fft import irfft2, next_fast_len  # noqa: PLC0415 - start-up time
    from scipy.special import j1, jv  # noqa: PLC0415

    n = windows.levels.shape[1]
    count = next_fast_len(n + 4) * _FINER
    ku = 2 * np.pi * np.fft.rfftfreq(count, 1 / _FINER)[None, None, :]
    kv = 2 * np.pi * np.fft.fftfreq(count, 1 / _FINER)[None, :, None]
    uu, uv, vv = (each[:, None, None] * np.exp(2 * common[1]) for each in windows.moments.T)
    x = np.sqrt(np.maximum(4 * (uu * ku**2 + 2 * uv * ku * kv + vv * kv**2), 1e-12))
    area = 4 * np.pi * np.sqrt(uu * vv - uv**2)
    disc = area * 2 * j1(x) / x
    width, distance = (common[2] + common[4]) / 2, ku**2 + kv**2
    z = width * distance
    quadratic = common[2] * ku**2 + 2 * common[3] * ku * kv + common[4] * kv**2
    spread = np.exp(-quadratic / 2) * np.sinc(ku / 2 / np.pi) * np.sinc(kv / 2 / np.pi)
    factor: Any = 1 + sum(c * z**power for c, power in zip(common[5:], _SERIES, strict=True))
    by_z: Any = sum(power * c * z ** (power - 1) for c, power in zip(common[5:], _SERIES, strict=True))
    at = np.exp(-1j * (ku * own[:, 2, None, None] + kv * own[:, 3, None, None]))
    plain = spread * at
    seen = disc * factor * plain
    by_size = (2 * disc - 2 * area * jv(2, x)) * factor * plain
    by_width = [
        disc * plain * (by_z * share * distance - product * factor / 2)
        for product, share in ((ku**2, 0.5), (2 * ku * kv, 0.0), (kv**2, 0.5))
    ]
    by_series = [disc * plain * z**power for power in _SERIES]
    spectra = [seen, by_size, *by_width, *by_series, -1j * ku * seen, -1j * kv * seen]
    last = n * _FINER
    return [irfft2(each, (count, count), axes=(1, 2))[:, :last:_FINER, :last:_FINER] * _FINER**2 for each in spectra]


def _eliminated(model: _Model, damping: float) -> tuple[Array, Array, Array]:
    """Normal matrix and right side of what images share, and (dots, 4, 1 + shared) what brings the others back."""
    J, K, r = model.by_common, model.by_own, model.residuals
    U = np.einsum("dpi,dpj->dij", K, K)
    U = U + damping * U * np.eye(4)
    V, g = np.einsum("dpi,dpj->dij", K, J), np.einsum("dpi,dp->di", K, r)
    back = np.linalg.solve(U, np.concatenate([g[..., None], V], axis=2))
    normal = np.einsum("dpi,dpj->ij", J, J) - np.einsum("dki,dkj->ij", V, back[:, :, 1:])
    right = np.einsum("dpi,dp->i", J, r) - np.einsum("dki,dk->i", V, back[:, :, 0])
    return normal, right, back


def _step(model: _Model, damping: float) -> tuple[Array, Array]:
    """Changes of what images share, and of what is free for each dot (dots, 4): damped Gauss-Newton."""
    normal, right, back = _eliminated(model, damping)
    step = np.linalg.solve(normal * (1 + damping * np.eye(len(normal))), right)
    return np.asarray(step, dtype=float), np.asarray(back[:, :, 0] - back[:, :, 1:] @ step)
