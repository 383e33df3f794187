"""Images of targets whose truth is known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.core.errors import require
from gough.vision.lens import Camera
from gough.vision.opencv import opencv
from gough.vision.targets import CircleGrid, DotTarget

Image = npt.NDArray[Any]
_SIDE_POINTS = 24
_COARSE = 12.0
"""Scattered light is computed at so many points along its standard deviation."""


@dataclass(frozen=True)
class Conditions:
    """Light, lens and disturbances of an image; levels are those of 8 bits, lengths are pixels.

    Examples:
        >>> Conditions(blur=1.2, noise=4.0).white
        200.0
    """

    white: float = 200.0
    """Level of white paper or dots in the middle of the image."""
    black: float = 25.0
    """Level of black paper or dots."""
    around: float | None = None
    """What is not the sheet; as its ground by default."""
    blur: float = 0.7
    """Standard deviation of the lens's point-spread function, on top of the pixel's own square."""
    noise: float = 2.0
    """Standard deviation of each pixel."""
    vignetting: float = 0.0
    """Part of the light that is lost in the corners, growing with the square of the distance from the middle."""
    gradient: tuple[float, float] = (0.0, 0.0)
    """Relative change of the light over the image's width and height."""
    glare: float = 0.0
    """Part of the light that lens and housing scatter over a tenth of the image's width: veiling glare."""
    gloss: tuple[float, float, float, float] | None = None
    """Highlight of a lamp on the sheet: u, v of its middle, its standard deviation, and the level that it adds there to
    white and black alike."""
    gamma: float = 1.0
    """Exponent γ of the response: a pixel of the level x is written as 255 (x/255)^(1/γ). Noise is added before."""
    occluders: tuple[tuple[float, float, float, float, float], ...] = ()
    """Rectangles in front of the target: u, v of the middle, width, height, level."""
    other_dots: tuple[tuple[float, float, float, float], ...] = ()
    """Round spots that are not the target's: u, v, radius, level."""


@dataclass(frozen=True)
class Rendering:
    """An image with its truth."""

    image: Image
    centers: Array
    """(n, 2): the pixels of the target's points."""
    centroids: Array
    """(n, 2): of the dots' images, without light's unevenness; they differ from the centers by perspective."""


def render(  # noqa: PLR0917 - a pose is two arguments
    camera: Camera,
    target: DotTarget | CircleGrid,
    rotation: Any,
    position: Any,
    conditions: Conditions | None = None,
    rng: np.random.Generator | None = None,
) -> Rendering:
    """The image of a target at a pose (m, camera's frame), in bytes; without `rng` there is no noise.

    Examples:
        >>> from gough.vision import design_target
        >>> camera = Camera((160, 120), [150.0, 150.0], [79.5, 59.5])
        >>> picture = render(camera, design_target(0.2, 0.2), np.diag([1.0, -1.0, -1.0]), [0.0, 0.0, 0.3])
        >>> picture.image.shape, picture.image.dtype, picture.image.max()
        ((120, 160), dtype('uint8'), np.uint8(199))
    """
    made = conditions or Conditions()
    R, t = np.ascontiguousarray(rotation, dtype=float), np.ascontiguousarray(position, dtype=float)
    require(bool(np.isfinite(camera.project(R, t, _outline(target))).all()), "the target's z must be positive")
    covered, centroids = _covered(camera, target, R, t, made)
    dots, ground = (made.white, made.black) if target.bright else (made.black, made.white)
    scene = _background(camera, target, R, t, made)
    scene = scene + covered * np.float32(dots - ground)
    if made.gloss is not None:
        scene += _highlight(camera, target, R, t, made)
    if made.glare > 0:
        scene = (1 - made.glare) * scene + made.glare * _scattered(scene, camera.size[0] / 10)
    if rng is not None and made.noise > 0:
        scene += rng.standard_normal(scene.shape, dtype=np.float32) * np.float32(made.noise)
    if made.gamma != 1:
        scene = 255 * (np.clip(scene, 0, 255) / 255) ** (1 / made.gamma)
    image = np.clip(np.rint(scene), 0, 255).astype(np.uint8)
    return Rendering(image, camera.project(R, t, target.points), centroids)


def _covered(
    camera: Camera, target: DotTarget | CircleGrid, R: Array, t: Array, made: Conditions
) -> tuple[Image, Array]:
    """How much of each pixel's light comes from dots, and the centroids of their images."""
    from gough.vision import coverage, optics  # noqa: PLC0415 - numba

    images = optics.discs(camera.parameters, R, t, target.points, target.radius)
    covered = np.zeros((camera.size[1], camera.size[0]))
    hidden = np.array([[u - w / 2, u + w / 2, v - h / 2, v + h / 2] for u, v, w, h, _ in made.occluders]).reshape(-1, 4)
    cells, weights = coverage.blur_weights(made.blur)
    args = camera.parameters, R, t, target.points, target.radius, images, cells, weights, hidden, _light(camera, made)
    coverage.cover(covered, *args)
    return covered.astype(np.float32), images[:, :2]


def _background(camera: Camera, target: DotTarget | CircleGrid, R: Array, t: Array, made: Conditions) -> Image:
    """Everything that is not a dot of the target, blurred."""
    ground = made.black if target.bright else made.white
    scene: Image = np.full((camera.size[1], camera.size[0]), ground if made.around is None else made.around, np.float32)
    even = made.vignetting == 0 and made.gradient == (0.0, 0.0)
    if made.around is None and not made.other_dots and not made.occluders and even:
        return scene
    cv = opencv()
    if made.around is not None:
        corners = np.rint(camera.project(R, t, _outline(target)) * 256).astype(np.int32)
        cv.fillPoly(scene, [corners], ground, cv.LINE_AA, 8)
    for u, v, radius, level in made.other_dots:
        cv.circle(scene, (round(u * 256), round(v * 256)), round(radius * 256), level, -1, cv.LINE_AA, 8)
    for u, v, w, h, level in made.occluders:
        rows = slice(max(0, round(v - h / 2)), max(0, round(v + h / 2)))
        scene[rows, max(0, round(u - w / 2)) : max(0, round(u + w / 2))] = level
    if not even:
        scene *= _lit(_light(camera, made), camera.size)
    return cv.GaussianBlur(scene, (0, 0), made.blur) if made.blur > 0 else scene


def _highlight(camera: Camera, target: DotTarget | CircleGrid, R: Array, t: Array, made: Conditions) -> Image:
    """What a glossy sheet adds to the image: a smooth spot, on the sheet alone."""
    assert made.gloss is not None
    u, v, spread, level = made.gloss
    du, dv = np.arange(camera.size[0]) - u, np.arange(camera.size[1])[:, None] - v
    sheet = np.zeros((camera.size[1], camera.size[0]), np.float32)
    cv = opencv()
    corners = np.rint(camera.project(R, t, _outline(target)) * 256).astype(np.int32)
    cv.fillPoly(sheet, [corners], 1.0, cv.LINE_AA, 8)
    spot: Image = (sheet * level * np.exp(-(du**2 + dv**2) / (2 * spread**2))).astype(np.float32)
    return spot


def _scattered(scene: Image, spread: float) -> Image:
    """A scene blurred by a Gaussian so wide that few points describe it."""
    cv = opencv()
    rows, columns = scene.shape
    coarse = max(1, round(spread / _COARSE))
    small = cv.resize(scene, (-(-columns // coarse), -(-rows // coarse)), interpolation=cv.INTER_AREA)
    small = cv.GaussianBlur(small, (0, 0), spread / coarse, borderType=cv.BORDER_REPLICATE)
    smooth: Image = cv.resize(small, (columns, rows), interpolation=cv.INTER_CUBIC)
    return smooth


def _light(camera: Camera, made: Conditions) -> Array:
    return np.array([made.vignetting, *made.gradient, *camera.size], dtype=float)


def _lit(light: Array, size: tuple[int, int]) -> Image:
    from gough.vision import coverage  # noqa: PLC0415 - numba

    u, v = np.arange(size[0], dtype=float)[None], np.arange(size[1], dtype=float)[:, None]
    return coverage.lit.py_func(light, u, v).astype(np.float32)  # type: ignore[attr-defined] # the same formula, on arrays


def _outline(target: DotTarget | CircleGrid) -> Array:
    """Points along the sheet's edge (n, 3)."""
    w, h = target.size[0] / 2, target.size[1] / 2
    corners = np.array([[-w, -h], [w, -h], [w, h], [-w, h]])
    s = np.linspace(0, 1, _SIDE_POINTS, endpoint=False)[:, None]
    sides = [a + s * (b - a) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)]
    return np.column_stack([np.vstack(sides), np.zeros(4 * _SIDE_POINTS)])
