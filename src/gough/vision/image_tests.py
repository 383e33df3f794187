"""Measured images tested against the calibration of their camera: noise, scale, center, distortion, motion, turn.

One image cannot show everything: a longer focal length looks much like a target that is nearer. So each image is tested
by itself, then all images together, in which only one camera is possible. Errors of the calibration itself, of the
camera and of the dots' places, are part of both tests: images contradict a calibration beyond its own uncertainty.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.text import counted, listed
from gough.vision.adjustment import View, adjust
from gough.vision.detector import Sighting
from gough.vision.lens import Camera
from gough.vision.pose import MeasuredPose, first_guess

IMAGE_LEVEL, RUN_LEVEL = 1e-4, 1e-3
"""Probability that a good image, and that a good set of images, is called wrong."""
_POWER = 0.95
_NOISIER = 1.15
"""Images may be so much noisier than those of the calibration beyond chance: light and exposure differ."""
_ENOUGH = 24
"""Images from which the cause of a contradiction is found."""
_FAR_OFF = 0.2
"""Median residual, pixels, from which on an image without a pose counts as a contradiction."""
_CLOSE = 10.0
"""Causes whose log-likelihoods differ by less than half of this are not told apart."""
_TESTS = ("focal", "center", "distortion", "motion")
_MOTION = slice(5, 11)


@dataclass(frozen=True)
class ImageTest:
    """One image against the calibration."""

    noise: float
    """Root mean square of the residuals over what the calibration predicts."""
    probability: float
    """The smallest of the tests' probabilities under a right calibration."""
    cause: str
    """What is wrong, where that is less than the level allows; else empty."""


@dataclass(frozen=True)
class RunTest:
    """One change of the camera that all images together would show."""

    name: str
    estimate: Array
    sigma: Array
    probability: float
    """Probability of so large an estimate with a right calibration."""
    detectable: float
    """Size of the change that is found with probability 95 %; NaN where it shows in no image."""


@dataclass(frozen=True)
class CalibrationTest:
    """All images of a run against the calibration; `str()` of it is the verdict."""

    images: tuple[ImageTest, ...]
    together: tuple[RunTest, ...]
    contradiction: str
    """What all images together contradict, and the most likely cause; empty if nothing."""
    depth: float
    """Median distance of the target, m."""
    is_noise_known: bool

    @property
    def rejected(self) -> tuple[int, ...]:
        """Numbers of images that contradict the calibration by themselves, where most of the others agree with it."""
        return () if self.contradiction else tuple(k for k, image in enumerate(self.images) if image.cause)

    def __str__(self) -> str:
        if self.contradiction:
            return f"The images contradict the calibration of the camera: {self.contradiction}"
        lines = []
        if not self.is_noise_known:
            lines.append("The camera file states no noise: the noise of the images was not compared with it.")
        sizes = {test.name: test.detectable for test in self.together}
        limits = []
        if np.isfinite(sizes.get("focal", np.nan)):
            z = 1000 * self.depth * sizes["focal"]
            limits.append(f"of the focal length by {100 * sizes['focal']:.2g} % ({z:.2g} mm in z)")
        if np.isfinite(sizes.get("center", np.nan)):
            limits.append(f"of the center by {sizes['center']:.2g} px")
        agree = f"{counted(len(self.images), 'image')} tested against the calibration"
        if limits:
            lines.append(f"{agree}; a change {listed(limits)} would be found with probability 95 %.")
        else:
            lines.append(f"{agree}; they do not show a change of the focal length: tilt the target in some images.")
        return "\n".join(lines)


def check_images(
    measured: Sequence[MeasuredPose], target: Any, camera: Camera, unmeasured: Sequence[Sighting] = ()
) -> CalibrationTest:
    """Test measured images against the calibration of their camera.

    Each image by itself at the level 10⁻⁴, all together at 10⁻³. A contradiction of more than half of the images, or of
    all together, is one of the camera; its cause is the change that explains the images best.

    Args:
        measured: Poses with their residuals.
        target: Whose poses they are.
        camera: That measured them.
        unmeasured: The target in images that gave no pose: a wrong camera may be the reason.

    Examples:
        >>> from dataclasses import replace
        >>> from gough.vision.poses import _example
        >>> pose, target, camera = _example()
        >>> bool(check_images([pose], target, camera).contradiction)
        False
    """
    parts = [_Part.of(pose, target, camera) for pose in measured]
    images = tuple(_one(part, camera) for part in parts)
    bad = [image for image in images if image.cause]
    depth = float(np.median([pose.position[2] for pose in measured])) if measured else float("nan")
    known = camera.noise is not None
    far = _far(unmeasured, target, camera)
    if 2 * (len(bad) + len(far)) > len(images) + len(unmeasured):
        views = [*views_of(measured, target, camera), *far]
        return CalibrationTest(images, (), explain(views, target, camera), depth, known)
    rest = [part for part, image in zip(parts, images, strict=True) if not image.cause]
    together = _together(rest)
    contradiction = ""
    if any(test.probability < RUN_LEVEL / len(_TESTS) for test in together):
        agreeing = [pose for pose, image in zip(measured, images, strict=True) if not image.cause]
        contradiction = explain(views_of(agreeing, target, camera), target, camera)
    return CalibrationTest(images, together, contradiction, depth, known)


@dataclass(frozen=True)
class _Part:
    """One image: normal equations for changes, with its pose and, where asked, the calibration's errors eliminated."""

    cost: float
    freedom: int
    matrix: Array
    """(11 + q + d, …): changes of focal, center (2), distortion (2), motion (6); then errors of camera and dots."""
    right: Array
    shift: float
    """Pixels by which the motion of 1 along x moves dots from the first row to the last."""

    @classmethod
    def of(cls, pose: MeasuredPose, target: Any, camera: Camera) -> "_Part":
        from gough.vision import optics  # noqa: PLC0415 - numba

        points = np.ascontiguousarray(target.points[pose.which])
        R, t = np.ascontiguousarray(pose.rotation), np.ascontiguousarray(pose.position)
        pixels, by_pose, by_camera, by_point = optics.slopes(camera.parameters, R, t, points)
        m = len(points)
        rows = (pixels[:, 1] - (camera.size[1] - 1) / 2) / camera.size[1]
        changes = np.concatenate(
            [
                by_camera[:, :, :2] @ camera.focal[:, None],
                by_camera[:, :, 2:4],
                by_camera[:, :, 4:6],
                by_pose * rows[:, None, None],
            ],
            axis=2,
        )
        errors = by_camera @ _factor(camera)
        dots = np.zeros((m, 2, target.points.size if camera.dots_sigma > 0 else 0))
        if camera.dots_sigma > 0:
            places = 3 * pose.which[:, None] + np.arange(3)
            dots[np.arange(m)[:, None, None], np.arange(2)[:, None], places[:, None, :]] = camera.dots_sigma * by_point
        ratio = camera.noise.ratio if camera.noise is not None else 1.0
        w = np.repeat(1 / (pose.weight * ratio), 2)[:, None]
        S = np.concatenate([changes, errors, dots], axis=2).reshape(2 * m, -1) * w
        P, r = by_pose.reshape(2 * m, 6) * w, pose.residuals.ravel() * w[:, 0]
        Q = np.linalg.qr(P)[0]
        S, r = S - Q @ (Q.T @ S), r - Q @ (Q.T @ r)
        return cls(float(r @ r), 2 * m - 6, S.T @ S, S.T @ r, float(np.abs(by_pose[:, 0, 0]).mean()))


def _factor(camera: Camera) -> Array:
    """F with F Fᵀ the covariance of the camera."""
    if camera.covariance is None:
        return np.zeros((len(camera.parameters), 0))
    d = np.sqrt(np.maximum(camera.covariance.diagonal(), 1e-300))
    values, vectors = np.linalg.eigh(camera.covariance / d / d[:, None])
    seen = values > 1e-12
    return np.asarray(d[:, None] * vectors[:, seen] * np.sqrt(values[seen]))


_CHANGES = {"focal": slice(0, 1), "center": slice(1, 3), "distortion": slice(3, 5), "motion": _MOTION}
_COUNT = 11


def _without_errors(matrix: Array, right: Array, cost: float) -> tuple[Array, Array, float]:
    """Normal equations of the changes, with the calibration's own errors (of variance 1) eliminated; and the cost."""
    A = matrix[_COUNT:, _COUNT:] + np.eye(len(right) - _COUNT)
    back = np.linalg.solve(A, np.column_stack([matrix[_COUNT:, :_COUNT], right[_COUNT:]]))
    B, own = matrix[:_COUNT, _COUNT:], right[_COUNT:]
    M, g = matrix[:_COUNT, :_COUNT] - B @ back[:, :-1], right[:_COUNT] - B @ back[:, -1]
    return M, g, cost - float(own @ back[:, -1])


def _gain(matrix: Array, right: Array, rows: slice) -> tuple[float, int, Array, Array]:
    """How much the best change lowers the cost, the number of its parameters, that change, and its covariance."""
    M, g = matrix[rows, rows], right[rows]
    d = 1 / np.sqrt(np.maximum(M.diagonal(), 1e-300))
    values, vectors = np.linalg.eigh(M * d * d[:, None])
    seen = values > 1e-9
    inverse = d[:, None] * (vectors[:, seen] / values[seen]) @ vectors[:, seen].T * d
    change = inverse @ g
    return float(g @ change), int(seen.sum()), change, inverse


def _probability(gain: float, number: int, cost: float, freedom: float) -> float:
    if number == 0:
        return 1.0
    left = max(cost - gain, 1e-300) / max(freedom - number, 1.0)
    from scipy.special import fdtrc  # noqa: PLC0415 - start-up time

    return float(fdtrc(number, max(freedom - number, 1.0), max(gain / number / left, 0.0)))


def _one(part: _Part, camera: Camera) -> ImageTest:
    """The tests of one image: its noise, and each change by itself."""
    from scipy.special import fdtrc  # noqa: PLC0415 - start-up time

    matrix, right, cost = _without_errors(part.matrix, part.right, part.cost)
    noise = float(np.sqrt(cost / part.freedom))
    found = {}
    for name in _TESTS:
        gain, number, change, _ = _gain(matrix, right, _CHANGES[name])
        found[name] = (_probability(gain, number, cost, part.freedom), change, gain)
    least = min(found, key=lambda name: found[name][0])
    level = IMAGE_LEVEL / (len(_TESTS) + 1)
    cause = ""
    if found[least][0] < level:
        largest = max(found, key=lambda name: found[name][2] - 2 * len(found[name][1]))
        cause = f"it contradicts the calibration: {_in_words(largest, found[largest][1], part.shift)}"
    probability = found[least][0]
    if camera.noise is not None:
        allowed = max(_NOISIER, float(np.exp(3 * camera.noise.spread)))
        chance = float(fdtrc(part.freedom, camera.noise.freedom, (noise / allowed) ** 2))
        probability = min(probability, chance)
        if chance < level and not cause:
            cause = (
                f"its dots are {noise:.1f} times farther from their predicted places than in the calibration, and no "
                "change of the camera explains it: another or a bent target, or a disturbed image"
            )
    return ImageTest(noise, probability, cause)


def _in_words(name: str, change: Array, shift: float) -> str:
    if name == "focal":
        return f"a focal length changed by {100 * change[0]:+.2f} % explains it (focus or zoom)"
    if name == "center":
        return (
            f"a center shifted by {change[0]:+.1f}, {change[1]:+.1f} px explains it (region of interest, turned image)"
        )
    if name == "distortion":
        return f"another distortion explains it (k1 {change[0]:+.3f}, k2 {change[1]:+.3f})"
    moved = shift * float(np.hypot(*change[:2]))
    return f"motion during the exposure of its rows explains it ({moved:.1f} px from first to last: rolling shutter)"


def _together(parts: Sequence[_Part]) -> tuple[RunTest, ...]:
    """Each change, the same in all images; motions are of each image by itself."""
    if not parts:
        return ()
    matrix, right = sum(part.matrix for part in parts), sum(part.right for part in parts)
    cost, freedom = sum(part.cost for part in parts), sum(part.freedom for part in parts)
    M, g, left = _without_errors(np.asarray(matrix), np.asarray(right), cost)
    scale = left / freedom
    out = []
    level = RUN_LEVEL / len(_TESTS)
    from scipy.special import ndtri  # noqa: PLC0415 - start-up time

    reach = float(ndtri(1 - level / 2) + ndtri(_POWER))
    for name in _TESTS[:-1]:
        gain, number, change, covariance = _gain(M, g, _CHANGES[name])
        sigma = np.sqrt(np.maximum(covariance.diagonal() * scale, 0.0))
        probability = _probability(gain, number, left, freedom)
        detectable = reach * float(sigma.max()) if number == len(sigma) else float("nan")
        out.append(RunTest(name, change, sigma, probability, detectable))
    gains = [_gain(*_without_errors(part.matrix, part.right, part.cost)[:2], _MOTION) for part in parts]
    number = sum(each[1] for each in gains)
    out.append(
        RunTest(
            "motion", np.zeros(0), np.zeros(0), _probability(sum(e[0] for e in gains), number, left, freedom), np.nan
        )
    )
    return tuple(out)


def views_of(measured: Sequence[MeasuredPose], target: Any, camera: Camera) -> list[View]:
    """Measured images as views for an adjustment."""
    from gough.vision.camera import expected  # noqa: PLC0415 - it imports this module's neighbors

    views = []
    for pose in measured:
        pixels = expected(camera, target, pose.rotation, pose.position)[pose.which] + pose.residuals
        views.append(
            View(Sighting(pose.which, pixels, pose.weight), pose.rotation, pose.position, pixels, pose.residuals)
        )
    return views


def _far(sightings: Sequence[Sighting], target: Any, camera: Camera) -> list[View]:
    """Sightings most of whose points are far from where this camera sees them, with the best pose for them."""
    far = []
    for seen in sightings:
        R, t = first_guess(seen, target, camera)
        if not (t[2] > 0 and np.isfinite(R).all()):
            continue
        try:
            fit = adjust(
                replace(camera, covariance=None),
                target.points,
                target.radius,
                [View(seen, R, t, seen.pixels)],
                np.zeros(len(camera.parameters), bool),
                None,
            )
        except (InputError, np.linalg.LinAlgError):
            continue
        if float(np.median(np.abs(fit.views[0].residuals))) > _FAR_OFF:
            far.append(fit.views[0])
    return far


@dataclass(frozen=True)
class _Explanation:
    """A change of the camera fitted to all images."""

    text: str
    cost: float
    number: int
    advice: str = "Calibrate the camera as it is used now"


def explain(views: Sequence[View], target: Any, camera: Camera) -> str:
    """The change that explains images best which contradict a calibration, and others that explain them as well.

    Each is fitted to all images at once; costs are compared with log n for each parameter.
    """
    step = -(-len(views) // _ENOUGH)
    views = list(views)[::step]
    n = sum(view.pixels.size - 6 for view in views)
    found = _explanations(views, target, camera)
    if not found:
        return "no pose and no change of the camera explains them: is it this target, and this camera?"
    smallest = min(each.cost / max(n - each.number, 1) for each in found)
    scale = max(smallest, 1e-12)
    scores = [each.cost / scale + each.number * np.log(n) for each in found]
    best = int(np.argmin(scores))
    ratio = np.sqrt(found[best].cost / max(n - found[best].number, 1))
    expected_ratio = camera.noise.ratio if camera.noise is not None else ratio
    others = [each.text for each, score in zip(found, scores, strict=True) if 0 < score - scores[best] < _CLOSE]
    text = found[best].text
    if others:
        text += f". Almost as well: {'; '.join(others)}"
    if ratio > 1.5 * expected_ratio:
        text += (
            f". It explains only part: residuals are still {ratio / expected_ratio:.1f} times those of the calibration"
        )
    return f"{text}. {found[best].advice}"


def _explanations(views: Sequence[View], target: Any, camera: Camera) -> list[_Explanation]:
    out = []
    bare = replace(camera, covariance=None)
    p = len(camera.parameters)

    def fitted(columns: Sequence[int], seen: Sequence[View]) -> tuple[Camera, float, tuple[View, ...]] | None:
        free = np.isin(np.arange(p), columns)
        try:
            fit = adjust(bare, target.points, target.radius, seen, free, None)
        except (InputError, np.linalg.LinAlgError):
            return None
        return fit.camera, fit.cost, fit.views

    as_is = fitted((), views)
    turned = fitted((), _turned(views, camera))
    if turned is not None:
        text = "the images are turned by 180° relative to those of the calibration"
        out.append(_Explanation(text, turned[1], 0, "Turn them back, or calibrate with such images"))
    for columns in ((0, 1), (2, 3), (4, 5, 6, 7)):
        fit = fitted(columns, views)
        if fit is not None:
            out.append(_Explanation(_changed(columns, camera, fit[0]), fit[1], len(columns)))
    whole = fitted(tuple(range(p)) if p <= 9 else tuple(range(9)), views)
    if whole is not None and len(views) >= 4:
        text = f"another camera or lens: {_changed((0, 1, 2, 3), camera, whole[0])}"
        out.append(_Explanation(text, whole[1], min(p, 9)))
    if as_is is not None:
        moved = [_moved(view, target, as_is[0]) for view in as_is[2]]
        shift = float(np.median([each[1] for each in moved]))
        text = f"the target moves while the rows are exposed (rolling shutter), {shift:.2g} px from first to last row"
        cost = as_is[1] - sum(each[0] for each in moved)
        out.append(_Explanation(text, cost, 6 * len(views), "Stop the robot for each image, or use a global shutter"))
    return [each for each in out if np.isfinite(each.cost)]


def _turned(views: Sequence[View], camera: Camera) -> list[View]:
    """The views as if the images were turned back by 180°."""
    half = np.diag([-1.0, -1.0, 1.0])
    last = np.array(camera.size) - 1.0
    return [
        View(
            replace(view.seen, pixels=last - view.seen.pixels),
            half @ view.rotation,
            half @ view.position,
            last - view.pixels,
        )
        for view in views
    ]


def _changed(columns: Sequence[int], camera: Camera, found: Camera) -> str:
    new, old = found.parameters, camera.parameters
    parts = []
    if 0 in columns:
        x, y = 100 * (new[:2] / old[:2] - 1)
        same = abs(x - y) < 0.1 * max(abs(x), abs(y))
        size = f"{(x + y) / 2:+.2f} %" if same else f"{x:+.2f} % in x and {y:+.2f} % in y"
        parts.append(f"the focal length is changed by {size} (focus, zoom, or scaled images)")
    if 2 in columns:
        u, v = new[2:4] - old[2:4]
        parts.append(f"the center is shifted by {u:+.1f}, {v:+.1f} px (another region of interest)")
    if 4 in columns:
        values = ", ".join(f"{camera.names[k]} = {new[k]:.4g} instead of {old[k]:.4g}" for k in (4, 5))
        parts.append(f"the distortion is another one ({values})")
    return " and ".join(parts)


def _moved(view: View, target: Any, camera: Camera) -> tuple[float, float]:
    """By how much motion during the exposure of the rows lowers the cost of a view, and its size in pixels."""
    sigma = view.seen.sigma
    pose = MeasuredPose(
        rotation=view.rotation,
        position=view.position,
        covariance=np.eye(6),
        which=view.seen.which,
        residuals=view.residuals,
        left_out=view.seen.which[:0],
        weight=sigma,
        noise=1.0,
    )
    part = _Part.of(pose, target, replace(camera, covariance=None, noise=None, dots_sigma=0.0))
    gain, _, change, _ = _gain(part.matrix, part.right, _MOTION)
    return gain, part.shift * float(np.hypot(*change[:2]))
