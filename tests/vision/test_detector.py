"""Targets in images: found, numbered rightly, or refused with a reason."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import exp, log
from gough.vision import (
    Camera,
    CircleGrid,
    Conditions,
    ImageRefused,
    design_target,
    find_target,
    measure_pose,
    render,
)
from gough.vision.chessboards import seen_squares
from gough.vision.spots import find_spots

cv2 = pytest.importorskip("cv2")
CAMERA = Camera((480, 360), [400.0, 400.0], [239.5, 179.5], [-0.15, 0.04, 0.0, 0.0, 0.0])
TARGET = design_target(0.2, 0.2)
FACING = np.diag([1.0, -1.0, -1.0])


def view(rng, tilt=0.3, z=0.4):
    return exp(rng.normal(0, tilt, 3)) @ FACING, np.array([0.0, 0.0, z]) + rng.normal(0, 0.005, 3)


def error(pose, R, t):
    return np.concatenate([pose.position - t, log(pose.rotation @ R.T)])


@pytest.mark.parametrize("known", [True, False], ids=["camera known", "camera not known"])
def test_every_dot_gets_its_number(known, rng):
    for _ in range(3):
        R, t = view(rng)
        shown = render(CAMERA, TARGET, R, t, rng=rng)
        seen = find_target(shown.image, TARGET, CAMERA if known else None)
        assert len(seen) >= 43
        assert abs(seen.pixels - shown.centroids[seen.which]).max() < 0.06


HONEST = [
    Conditions(),
    Conditions(blur=1.4, vignetting=0.4, gradient=(0.4, -0.3)),
    Conditions(noise=6.0, around=150.0, white=240.0, black=60.0),
]


def test_covariances_are_honest(rng):
    """The squared error in units of the covariance is 6 on average: within three standard deviations for 48 images.

    Plain, in uneven light with blur, and with noise and bright surroundings.
    """
    squares = []
    for conditions in HONEST * 16:
        R, t = view(rng, tilt=0.25)
        pose = measure_pose(render(CAMERA, TARGET, R, t, conditions, rng).image, TARGET, CAMERA)
        e = error(pose, R, t)
        squares.append(e @ np.linalg.solve(pose.covariance, e))
    assert 6 - 3 * np.sqrt(12 / 48) < np.mean(squares) < 6.2 + 3 * np.sqrt(12.8 / 48)


def test_light_of_neighbors_is_no_slope_of_the_ground(rng):
    """Without noise, what blur does to narrow gaps between dots is small beside what noise would do to the pose."""
    R, t = view(rng, tilt=0.1)
    noisy = measure_pose(render(CAMERA, TARGET, R, t, Conditions(blur=1.8), rng).image, TARGET, CAMERA)
    e = error(measure_pose(render(CAMERA, TARGET, R, t, Conditions(blur=1.8)).image, TARGET, CAMERA), R, t)
    assert e @ np.linalg.solve(noisy.covariance, e) < 0.6


def test_dots_beside_dim_stray_light_are_left_out(rng):
    """A spot too dim to be found shines into the window of a dot, and shifts it by less than the residuals show."""
    R, t = view(rng, tilt=0.1)
    k = 30
    u, v = CAMERA.project(R, t, TARGET.points[[k]])[0]
    radius = 400 * TARGET.radius / t[2]
    made = Conditions(other_dots=((u + radius + 5.5, v, 2.5, 90.0),))
    pose = measure_pose(render(CAMERA, TARGET, R, t, made, rng).image, TARGET, CAMERA)
    assert k in pose.left_out


@pytest.mark.parametrize(("gap", "blur"), [(3.0, 1.2), (4.0, 1.2)])
def test_pull_of_a_neighbor(gap, blur):
    """What is predicted from both outlines is what moves the centroid, within half of it, while blur is narrow."""
    fine = 10
    v, u = (np.indices((60 * fine, 80 * fine)) + 0.5) / fine - 0.5
    distances = [np.hypot(u - u0, v - 30) for u0 in (30.0, 40.0 + gap)]
    discs = 200.0 * sum(distance < 5 for distance in distances)
    light = cv2.GaussianBlur(discs.reshape(60, fine, 80, fine).mean(axis=(1, 3)), (0, 0), blur)
    spots = find_spots(np.rint(20 + light).astype(np.uint8))
    left = spots.select(spots.center[:, 0].argsort()[:1])
    pull = left.center[0, 0] - 30
    assert left.leak[0] == pytest.approx(pull, rel=0.5)


def test_dark_dots_and_sixteen_bits_and_colors(rng):
    dark = design_target(0.2, 0.2, bright=False)
    R, t = view(rng)
    image = render(CAMERA, dark, R, t, Conditions(around=90.0), rng).image
    poses = [
        measure_pose(form, dark, CAMERA)
        for form in (image, image.astype(np.uint16) * 257, image.astype(np.uint16) * 16, np.dstack([image] * 3))
    ]
    for pose in poses:
        assert abs(error(pose, R, t)[:3]).max() < 2e-4
        assert abs(pose.position - poses[0].position).max() < 1e-5


def test_uneven_light_is_corrected(rng):
    """Without noise, only the correction stands between an uneven light and 0.01 px of systematic error."""
    R, t = view(rng, tilt=0.1)
    pose = measure_pose(
        render(CAMERA, TARGET, R, t, Conditions(vignetting=0.5, gradient=(0.6, 0.4))).image, TARGET, CAMERA
    )
    assert pose.rms < 0.008
    assert abs(error(pose, R, t)[:2]).max() < 4e-6


def test_what_is_hidden_is_left_out(rng):
    """A bar over half a dot: the dot is dropped, not believed; and other round things are no dots of the target."""
    for k in (20, 30, 40):
        R, t = view(rng, tilt=0.15)
        u, v = CAMERA.project(R, t, TARGET.points[[k]])[0]
        others = tuple((*rng.uniform([20, 20], [460, 340]), rng.uniform(2, 5), 190.0) for _ in range(10))
        made = Conditions(occluders=((u + 3, v, 6.0, 14.0, 120.0),), other_dots=others)
        pose = measure_pose(render(CAMERA, TARGET, R, t, made, rng).image, TARGET, CAMERA)
        assert k not in pose.which
        e = error(pose, R, t)
        assert e @ np.linalg.solve(pose.covariance, e) < 30


def _two(rng):
    R, _ = view(rng, tilt=0.05)
    left, right = (render(CAMERA, TARGET, R, [x, 0.0, 0.55]).image for x in (-0.14, 0.14))
    return np.maximum(left, right)


def _mirrored(rng):
    R, t = view(rng)
    return np.ascontiguousarray(render(CAMERA, TARGET, R, t).image[:, ::-1])


REFUSED = {
    "nothing": (lambda rng: np.full((360, 480), 90, np.uint8), "no contrast"),
    "darkness": (lambda rng: np.full((360, 480), 30, np.uint8), "too dark"),
    "noise": (lambda rng: rng.integers(0, 255, (360, 480)).astype(np.uint8), "not in it|not among them"),
    "white": (lambda rng: np.full((360, 480), 255, np.uint8), "over-exposed"),
    "saturated": (lambda rng: render(CAMERA, TARGET, *view(rng), Conditions(white=320.0)).image, "over-exposed: 100 %"),
    "out of focus": (lambda rng: render(CAMERA, TARGET, *view(rng), Conditions(blur=3.0)).image, "out of focus|not"),
    "another size": (lambda rng: np.zeros((100, 100), np.uint8), "100 × 100 pixels, but the camera 480 × 360"),
    "floating point": (lambda rng: np.zeros((360, 480)), "8 or 16 bits"),
    "no image": (lambda rng: np.zeros(7, np.uint8), "rows and columns"),
    "two targets": (_two, "twice"),
    "a mirror": (_mirrored, "as in a mirror"),
    "another target": (
        lambda rng: render(CAMERA, design_target(0.2, 0.2, seed=5), *view(rng)).image,
        "it is another target",
    ),
    "far away": (lambda rng: render(CAMERA, TARGET, FACING, [0.0, 0.0, 1.6]).image, "too far away"),
    "dark dots": (
        lambda rng: render(CAMERA, design_target(0.2, 0.2, bright=False), *view(rng)).image,
        "has black dots, but its file says white ones",
    ),
    "half of it": (lambda rng: render(CAMERA, TARGET, FACING, [0.25, 0.0, 0.4]).image, "partly outside"),
}


@pytest.mark.parametrize(("made", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_images_are_refused_with_a_reason(made, message, rng):
    with pytest.raises(ImageRefused, match=message):
        measure_pose(made(rng), TARGET, CAMERA)


def test_two_poses_that_cannot_be_told_apart_are_refused(rng):
    """Far away a tilt to the left looks like one to the right."""
    far = Camera((480, 360), [30000.0, 30000.0], [239.5, 179.5])
    shown = render(far, TARGET, exp([0.2, 0.0, 0.0]) @ FACING, [0.0, 0.0, 60.0], Conditions(noise=8.0), rng)
    with pytest.raises(ImageRefused, match="two poses"):
        measure_pose(shown.image, TARGET, far)


def test_another_camera_is_noticed(rng):
    R, t = view(rng)
    image = render(CAMERA, TARGET, R, t).image
    other = Camera((480, 360), [400.0, 400.0], [239.5, 179.5])
    try:
        pose = measure_pose(image, TARGET, other)
    except ImageRefused:
        return
    assert pose.noise > 0.1  # its covariance then says so


@pytest.mark.parametrize(
    "grid",
    [CircleGrid(7, 6, 0.03, 0.009), CircleGrid(4, 11, 0.018, 0.006, staggered=True)],
    ids=["symmetric", "staggered"],
)
def test_grids_of_circles(grid, rng):
    R, t = view(rng, tilt=0.15)
    shown = render(CAMERA, grid, R, t, rng=rng)
    seen = find_target(shown.image, grid, CAMERA)
    rows = seen.which if grid.is_unique or abs(seen.pixels[0] - shown.centroids[0]).max() < 1 else seen.which[::-1]
    assert abs(seen.pixels - shown.centroids[rows]).max() < 0.06
    if grid.is_unique:
        assert abs(error(measure_pose(shown.image, grid, CAMERA), R, t)[:3]).max() < 2e-4
    else:
        with pytest.raises(InputError, match="upside down"):
            measure_pose(shown.image, grid, CAMERA)


@pytest.mark.parametrize("around", [None, 140.0])
def test_dots_of_little_more_than_a_pixel_are_too_far(around, rng):
    for _ in range(4):
        R, t = view(rng, 0.25, 1.6)
        image = render(CAMERA, TARGET, R, t, Conditions(noise=2.5, blur=0.8, around=around), rng).image
        with pytest.raises(ImageRefused, match="too far away") as refused:
            find_target(image, TARGET, CAMERA)
        assert refused.value.cause == "too far"


def test_noise_of_a_bright_wall_does_not_hide_the_cause(rng):
    """Single bright pixels are no dots: what is partly outside is not called too far away."""
    for side in (-1, 1):
        R, t = view(rng, 0.1, 0.37)
        t[0] = side * 0.21
        made = Conditions(noise=4.0, vignetting=0.4, around=140.0)
        with pytest.raises(ImageRefused) as refused:
            find_target(render(CAMERA, TARGET, R, t, made, rng).image, TARGET, CAMERA)
        assert refused.value.cause == "partly outside"


def test_dots_are_no_chessboard(rng):
    """OpenCV finds corners of a small chessboard among dots; its squares are not dark and bright by turns."""
    squares = np.kron(np.indices((6, 7)).sum(axis=0) % 2, np.ones((40, 40))) * 160 + 40
    board = np.full((360, 480), 200.0)
    board[60:300, 100:380] = squares
    assert seen_squares(cv2.GaussianBlur(board, (0, 0), 0.8).astype(np.uint8)) == (7, 6)
    for _ in range(6):
        R, t = view(rng, 0.3, rng.uniform(0.4, 2.0))
        image = render(CAMERA, TARGET, R, t, Conditions(around=120.0), rng).image
        assert seen_squares(image) == (0, 0)
