"""A camera calibrated from images of a target whose own errors are estimated too."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest, require
from gough.core.files import read_toml
from gough.core.text import counted
from gough.core.threads import one_blas_thread
from gough.vision.adjustment import Adjustment, View, adjust
from gough.vision.detector import ImageRefused, Sighting, homography
from gough.vision.lens import BROWN, Camera, NoiseLevel
from gough.vision.lens_models import LENSES, Lens, LensChoice, compare, fit_lenses, lens_named, pattern_probability
from gough.vision.pose import first_guess, pose_of
from gough.vision.response import Response
from gough.vision.targets import AnyTarget, DotTarget, target_of, target_text

_FEWEST_VIEWS = 4
_LEAST_TILT = np.radians(12)
_FOCAL_KNOWN = 0.005
"""Relative standard deviation of the focal length beyond which a calibration is refused."""
_ODD_VIEW = 4.0
"""A view whose residuals are so many times larger than those of the others is left out."""


@dataclass(frozen=True)
class CalibratedCamera:
    """A camera with the evidence for it, as `calibrate_camera` finds it; `str()` of it is an account."""

    camera: Camera
    target: AnyTarget
    """With its points where they were found to be, if they were released."""
    views: tuple[View, ...]
    """Poses and residuals of the images that were used."""
    names: tuple[str, ...]
    """Names of the images."""
    rejected: tuple[tuple[str, str], ...]
    """Names of the other images, and why they were not used."""
    noise: float
    """Standard deviation of a coordinate of a dot's centroid, pixels."""
    released: float
    """Root mean square by which dots were found beside their places in the description, m; 0 where not released."""
    choice: LensChoice | None = None
    """Models of the lens compared, and whether the one that was used is adequate."""
    response: Response | None = None
    """Whether levels are proportional to light, as the edges of dots show it; None where that was not estimated."""

    @property
    def rms(self) -> float:
        """Root mean square of the residuals' coordinates, pixels; NaN without views."""
        if not self.views:
            return float("nan")
        return float(np.sqrt(np.mean(np.concatenate([view.residuals.ravel() for view in self.views]) ** 2)))

    def __str__(self) -> str:
        sigma = self.camera.sigma
        assert sigma is not None
        rows = [
            f"{n} = {v:.6g} ± {s:.2g}"
            for n, v, s in zip(self.camera.names, self.camera.parameters, sigma, strict=True)
            if s
        ]
        seen = counted(sum(len(v.residuals) for v in self.views), "dot" if self.target.radius else "corner")
        lines = [
            f"{len(self.views)} images, {seen}, residuals {self.rms:.4f} px.",
            ", ".join(rows[:4]),
            ", ".join(rows[4:]) or "no distortion estimated",
        ]
        if self.choice is not None:
            lines.append(self.choice.verdict)
        if self.response is not None:
            lines.append(self.response.verdict)
        if self.released:
            lines.append(f"Dots lie {1e6 * self.released:.0f} µm (root mean square) beside their described places.")
        lines += [f"{name}: left out, {why}" for name, why in self.rejected]
        return "\n".join(lines)


@one_blas_thread()
def calibrate_camera(
    sightings: Sequence[Sighting],
    target: AnyTarget,
    size: tuple[int, int],
    *,
    names: Sequence[str] = (),
    estimated: Sequence[str] | None = None,
    lens: str | None = None,
    release: bool = True,
    print_sigma: float = 1e-4,
) -> CalibratedCamera:
    """Focal lengths, center and distortion of a camera, from sightings of one target in many poses.

    The places of the dots are released: paper shrinks and printers err. Their errors are estimated with the prior
    that each is `print_sigma`, without shift, turn or change of size as a whole: the size of the target is what the
    description says, and the meter of all poses hangs on it.

    Dots are left out as in the measurement of a pose: beside stray light, pulled by a neighbor, hidden, or outliers.

    Args:
        sightings: What each image shows, as `find_target` gives it.
        target: Whose points these are.
        size: Width and height of the images, pixels.
        names: Names of the images.
        estimated: Which coefficients of Brown's model are estimated, instead of a model of the lens.
        lens: Model of the lens, one of `gough.vision.lens_models.LENSES`. By default the images choose: the model that
            best predicts images that it was not fitted to.
        release: Whether the places of dots are estimated (of a `DotTarget` only).
        print_sigma: Standard deviation of the places of dots on the sheet, m.

    Raises:
        InputError: the views are too few, or too much alike to determine the focal length.

    Examples:
        >>> from gough.core.rotations import exp
        >>> from gough.vision import design_target
        >>> truth = Camera((640, 480), [600.0, 600.0], [320.0, 240.0], [-0.1])
        >>> target, rng = design_target(0.2, 0.2), np.random.default_rng(1)
        >>> def seen():
        ...     R, t = exp(rng.normal(0, 0.4, 3)) @ np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, 0.4])
        ...     exact = expected(truth, target, R, t)
        ...     return Sighting(np.arange(45), exact + rng.normal(0, 0.01, (45, 2)), np.full(45, 0.01))
        >>> lens = calibrate_camera([seen() for _ in range(12)], target, (640, 480)).camera
        >>> bool(abs(lens.focal - 600).max() < 0.3), bool(abs(lens.center - [320, 240]).max() < 0.3)
        (True, True)
    """
    names = tuple(names) or tuple(f"image {k + 1}" for k in range(len(sightings)))
    forced = _forced(estimated, lens)
    require(len(sightings) >= _FEWEST_VIEWS, f"{len(sightings)} usable images: a camera needs at least {_FEWEST_VIEWS}")
    views, kept, rejected = _first_views(sightings, target, _first_camera(sightings, target, size), names)
    _require_different(views)
    sigma = print_sigma if release and isinstance(target, DotTarget) else None
    nominal, radius = target.points, target.radius
    rough = _rough(_first_camera(sightings, target, size), target, views, sigma)
    usable = [(seen, name) for seen, name, good in zip(sightings, names, kept, strict=True) if good]
    views, _, odd = _without_misfits(rough, usable, target)
    _require_different(views)
    fits = fit_lenses(rough.camera, nominal, radius, views, sigma, start=rough.points)
    compared = compare(fits)
    used = forced or max(compared, key=lambda fit: fit.score).lens
    if used.name not in fits or forced is not None:
        free = used.free
        fits[used.name] = adjust(used.start(rough.camera), nominal, radius, views, free, sigma, start=rough.points)
    views, places, odd = _without_misfits(fits[used.name], usable, target)
    _require_different(views)
    adjusted = adjust(fits[used.name].camera, nominal, radius, views, used.free, sigma, start=fits[used.name].points)
    _require_focal(adjusted)
    choice = LensChoice(used, compared, pattern_probability(adjusted, nominal, used, sigma))
    moved = adjusted.points - nominal
    placed = replace(target, points=adjusted.points) if isinstance(target, DotTarget) and sigma else target
    return CalibratedCamera(
        adjusted.camera,
        placed,
        adjusted.views,
        tuple(usable[k][1] for k in places),
        (*rejected, *odd),
        adjusted.noise,
        float(np.sqrt((moved**2).sum(axis=1).mean())),
        choice,
    )


def _forced(estimated: Sequence[str] | None, lens: str | None) -> Lens | None:
    """The model that was asked for; None where the images choose."""
    if estimated is None:
        return None if lens is None else lens_named(lens)
    require(lens is None, "state the lens model or its coefficients, not both")
    for name in estimated:
        require(name in BROWN, f"no term of distortion is called '{name}'{nearest(name, BROWN)} ({', '.join(BROWN)})")
    terms = tuple(name for name in BROWN if name in estimated)
    same = [known for known in LENSES.values() if known.kind == "brown" and known.terms == terms]
    return same[0] if same else Lens("+".join(terms) or "none", "brown", terms, "as asked for")


def _rough(camera: Camera, target: Any, views: Sequence[View], sigma: float | None) -> Adjustment:
    """A first fit that knows most lenses; outliers are still in it."""
    fits: list[Adjustment] = []
    refused: InputError | None = None
    for name in ("k3", "fisheye"):
        lens = LENSES[name]
        start = lens.start(fits[0].camera if fits else camera)
        try:
            fits.append(adjust(start, target.points, target.radius, views, lens.free, sigma))
        except InputError as error:
            refused = error
    if not fits:
        assert refused is not None
        raise refused
    return min(fits, key=lambda fit: fit.cost)


def expected(camera: Camera, target: Any, rotation: Array, position: Array) -> Array:
    """Pixels (n, 2) where the dots' centroids, or the corners, of a target at a pose are seen."""
    from gough.vision import optics  # noqa: PLC0415 - numba

    R, t = np.ascontiguousarray(rotation, dtype=float), np.ascontiguousarray(position, dtype=float)
    if target.radius == 0:
        return camera.project(R, t, target.points)
    return optics.discs(camera.parameters, R, t, np.ascontiguousarray(target.points), target.radius)[:, :2]


def anchored(target: DotTarget, first: int, second: int, distance: float) -> DotTarget:
    """A target stretched so that two of its dots, counted from 0, are as far apart as was measured (m).

    Examples:
        >>> from gough.vision import design_target
        >>> target = anchored(design_target(0.2, 0.2), 0, 6, 0.2550)
        >>> round(float(np.linalg.norm(target.points[6] - target.points[0])), 9)
        0.255
    """
    n = len(target.points)
    require(
        0 <= first < n and 0 <= second < n and first != second, f"the target's dots are 0 to {n - 1}, and two differ"
    )
    stretch = distance / float(np.linalg.norm(target.points[second] - target.points[first]))
    require(
        0.9 < stretch < 1.1, f"{distance:g} m is {stretch:.3g} times the described distance: the wrong dots, or unit"
    )
    width, height = target.size
    return replace(target, points=target.points * stretch, size=(width * stretch, height * stretch))


def _first_camera(sightings: Sequence[Sighting], target: Any, size: tuple[int, int]) -> Camera:
    """Focal length from the homographies, with square pixels and the center in the middle [ZHA00, §3.1]."""
    middle, scale = (np.array(size) - 1) / 2, max(size)
    plane = target.points[:, :2] / np.abs(target.points[:, :2]).max()
    A, b = [], []
    for seen in sightings:
        h, k = homography(plane[seen.which], (seen.pixels - middle) / scale)[:, :2].T
        norm = h @ h + k @ k
        A += [(h[0] * k[0] + h[1] * k[1]) / norm, (h[0] ** 2 + h[1] ** 2 - k[0] ** 2 - k[1] ** 2) / norm]
        b += [-h[2] * k[2] / norm, -(h[2] ** 2 - k[2] ** 2) / norm]
    inverse_square = float(np.dot(A, b) / np.dot(A, A))
    focal = scale * (1 / np.sqrt(inverse_square) if inverse_square > 0.02 else 1.2)
    return Camera(size, np.full(2, focal), middle)


def _first_views(
    sightings: Sequence[Sighting], target: Any, camera: Camera, names: Sequence[str]
) -> tuple[list[View], list[bool], list[tuple[str, str]]]:
    views, kept, rejected = [], [], []
    for seen, name in zip(sightings, names, strict=True):
        R, t = first_guess(seen, target, camera)
        good = t[2] > 0
        kept.append(good)
        if good:
            views.append(View(seen, R, t, seen.pixels))
        else:
            rejected.append((name, "no pose puts the target before the camera"))
    return views, kept, rejected


def _require_different(views: Sequence[View]) -> None:
    """The focal length shows only in perspective: views must be tilted, and not all to one side."""
    require(len(views) >= _FEWEST_VIEWS, f"{len(views)} usable images: a camera needs at least {_FEWEST_VIEWS}")
    normals = np.array([view.rotation[:, 2] for view in views])
    widest = float(np.arccos(np.clip(normals @ normals.T, -1, 1)).max())
    if widest < _LEAST_TILT:
        raise InputError(
            f"the views are too much alike: the target is tilted by at most {np.degrees(widest):.0f}° between them. "
            "Take images with the target tilted by 20° to 45° to all sides, and in all corners"
        )


def _require_focal(adjusted: Adjustment) -> None:
    sigma = adjusted.camera.sigma
    assert sigma is not None
    unsure = float((sigma[:2] / adjusted.camera.focal).max())
    if unsure > _FOCAL_KNOWN:
        raise InputError(
            f"these views determine the focal length to ±{100 * unsure:.1f} % only: they are too few or too much "
            "alike. Tilt the target by 20° to 45° to all sides, and fill the image with it"
        )


def _without_misfits(
    adjusted: Adjustment, usable: Sequence[tuple[Sighting, str]], target: Any
) -> tuple[list[View], list[int], list[tuple[str, str]]]:
    """Views with the dots that a measurement of a pose keeps, their places in `usable`, and why others are left out."""
    placed: Any = _Placed(adjusted.points, target.radius, bright=target.bright)
    views, places, odd = [], [], []
    for k, (seen, name) in enumerate(usable):
        try:
            pose = pose_of(seen, placed, adjusted.camera)
        except ImageRefused as refused:
            odd.append((name, str(refused)))
            continue
        own = replace(target, points=adjusted.points) if isinstance(target, DotTarget) else target
        pixels = expected(adjusted.camera, own, pose.rotation, pose.position)[pose.which] + pose.residuals
        spots = None if seen.spots is None else seen.spots.select(np.isin(seen.which, pose.which))
        kept = Sighting(pose.which, pixels, pose.weight, spots)
        views.append(View(kept, pose.rotation, pose.position, pixels, pose.residuals))
        places.append(k)
    rms = np.array([np.sqrt((view.residuals**2).mean()) for view in views])
    typical = float(np.median(rms)) if len(rms) else 0.0
    good = rms <= max(_ODD_VIEW * typical, 0.02)
    odd += [
        (usable[place][1], f"residuals of {size:.2g} px where others have {typical:.2g} px")
        for place, size, fits in zip(places, rms, good, strict=True)
        if not fits
    ]
    chosen = np.flatnonzero(good).tolist()
    return [views[k] for k in chosen], [places[k] for k in chosen], odd


@dataclass(frozen=True)
class _Placed:
    """Dots where they were found to be."""

    points: Array
    radius: float
    bright: bool


__all__ = ["CalibratedCamera", "ImageRefused", "anchored", "calibrate_camera", "expected"]


_NOISE = ("noise", "residual_ratio", "residual_spread", "residual_freedom")
_KEYS = ("size", "focal", "center", "lens", "distortion", "covariance", *_NOISE, "dots_sigma", "response", "target")


def camera_text(calibrated: CalibratedCamera) -> str:
    """A calibrated camera as TOML.

    Examples:
        >>> from gough.vision import CircleGrid
        >>> camera = Camera((640, 480), [600.0, 600.0], [319.5, 239.5])
        >>> calibrated = CalibratedCamera(camera, CircleGrid(4, 5, 0.02, 0.004), (), (), (), 0.01, 0.0)
        >>> print(camera_text(calibrated).splitlines()[1])
        size = [640, 480]  # pixels
    """
    head = f"# {len(calibrated.views)} images, residuals {calibrated.rms:.4f} px"
    camera = calibrated.camera
    if camera.noise is None:
        camera = replace(camera, noise=NoiseLevel(calibrated.noise, 1.0, 0.0, 1.0))
    return "\n".join([head, camera_toml(camera), "[target]", target_text(calibrated.target)])


def camera_toml(camera: Camera) -> str:
    """A camera as TOML, without the target that it was calibrated with.

    Examples:
        >>> print(camera_toml(Camera((640, 480), [600.0, 600.0], [319.5, 239.5])).splitlines()[1])
        focal = [600.0, 600.0]  # fx, fy in pixels
    """
    lines = [
        f"size = {list(camera.size)}  # pixels",
        f"focal = {camera.focal.tolist()}  # fx, fy in pixels",
        f"center = {camera.center.tolist()}  # cx, cy; the center of the first pixel is 0, 0",
        *([] if camera.lens == "brown" else [f'lens = "{camera.lens}"']),
        f"distortion = {camera.distortion.tolist()}  # {', '.join(camera.names[4:])} as in OpenCV",
    ]
    if camera.response != 1:
        lines.append(f"response = {camera.response!r}  # levels are proportional to light^(1/response)")
    if camera.noise is not None:
        level = camera.noise
        lines += [
            f"noise = {level.sigma!r}  # standard deviation of a dot's centroid, pixels",
            f"residual_ratio = {level.ratio!r}  # residuals over what the noise of the pixels predicts",
            f"residual_spread = {level.spread!r}  # standard deviation of its logarithm between images, beyond chance",
            f"residual_freedom = {level.freedom!r}  # degrees of freedom",
            f"dots_sigma = {camera.dots_sigma!r}  # standard deviation of the places of the target's dots, m",
        ]
    if camera.covariance is not None:
        lines += [f"covariance = [  # of {', '.join(camera.names)}"]
        lines += [f"    {row}," for row in camera.covariance.tolist()] + ["]"]
    return "\n".join([*lines, ""])


def read_camera(path: str | Path) -> tuple[Camera, AnyTarget | None]:
    r"""The camera in a TOML file, and the target it was calibrated with, if the file states it.

    Raises:
        InputError: the file cannot be read, or is no camera; the message names what is missing.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "camera.toml")
        ...     _ = file.write_text("size = [640, 480]\nfocal = [600.0, 600.0]\ncenter = [319.5, 239.5]\n")
        ...     read_camera(file)[0].focal
        array([600., 600.])
    """
    data = read_toml(path)[0]
    camera = camera_of(data, str(path))
    target = data.get("target")
    return camera, None if target is None else target_of(target, f"{path}, [target]")


def camera_of(data: Mapping[str, Any], where: str) -> Camera:
    """The camera in a table of a TOML file; messages name the place `where`.

    Raises:
        InputError: it is no camera; the message names what is missing.

    Examples:
        >>> camera_of({"size": [640, 480], "focal": [600.0, 600.0], "center": [319.5, 239.5]}, "rig.toml").size
        (640, 480)
    """
    for name in data:
        require(name in _KEYS, f"{where}: a camera has no '{name}'{nearest(name, _KEYS)}")
    for name in ("size", "focal", "center"):
        require(name in data, f"{where} is no camera: it states no {name}")
    try:
        level = NoiseLevel(*(float(data[name]) for name in _NOISE)) if all(name in data for name in _NOISE) else None
        return Camera(
            tuple(data["size"]),
            data["focal"],
            data["center"],
            _array(data.get("distortion", [])),
            data.get("covariance"),
            str(data.get("lens", "brown")),
            level,
            float(data.get("dots_sigma", 0.0)),
            float(data.get("response", 1.0)),
        )
    except (InputError, TypeError, ValueError) as error:
        raise InputError(f"{where}: {error}") from error


def _array(values: Any) -> Array:
    return np.asarray(values, dtype=float)
