"""Boards of squares and markers: found in images of an independent ray caster, and refused with the cause."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import exp, log
from gough.vision import (
    AprilGrid,
    ArucoGrid,
    Camera,
    CharucoBoard,
    Chessboard,
    CircleGrid,
    ImageRefused,
    calibrate_camera,
    find_target,
    measure_pose,
)
from gough.vision.board_pattern import black_rectangles

cv2 = pytest.importorskip("cv2")
from tests.vision.scenes import shoot  # noqa: E402 - needs OpenCV

CAMERA = Camera((360, 270), [340.0, 340.0], [180.0, 134.0], [-0.12, 0.03])
FACING = np.diag([1.0, -1.0, -1.0])
BOARDS = {
    "chessboard": Chessboard(10, 7, 0.02),
    "charuco": CharucoBoard(7, 5, 0.03, 0.02),
    "legacy charuco": CharucoBoard(7, 6, 0.028, 0.019, legacy=True),
    "aruco": ArucoGrid(4, 3, 0.045, 0.015, "4X4_50"),
    "aprilgrid": AprilGrid(3, 2, 0.055, 0.016),
    "staggered circles": CircleGrid(4, 11, 0.015, 0.005, staggered=True),
}


def pose(rng, tilt=0.25):
    return exp(rng.normal(0, tilt, 3)) @ FACING, np.array([0.0, 0.0, 0.33]) + rng.normal(0, 0.005, 3)


@pytest.fixture(scope="module")
def images():
    """Two noisy images of each board, with their poses."""
    rng = np.random.default_rng(5)
    return {
        name: [(shoot(CAMERA, board, R, t, rng, noise=5.0), R, t) for R, t in (pose(rng), pose(rng))]
        for name, board in BOARDS.items()
    }


@pytest.mark.parametrize("name", BOARDS)
def test_corners_are_where_they_are_and_say_how_well(name, images):
    """Squared errors in units of their variances are 1 on average: of 2 images, with n coordinates, within 4.5 σ."""
    board, squares = BOARDS[name], []
    for image, R, t in images[name]:
        seen = find_target(image, board, CAMERA)
        assert len(seen) > 0.75 * len(board.points)
        if board.radius:
            continue  # centroids are tested with the renderer
        errors = seen.pixels - CAMERA.project(R, t, board.points)[seen.which]
        assert abs(errors).max() < 0.7
        squares.append((errors / seen.sigma[:, None]) ** 2)
    if squares:
        values = np.concatenate(squares).ravel()
        assert np.mean(values) == pytest.approx(1.0, abs=4.5 * np.sqrt(3 / len(values)) + 0.15)


@pytest.mark.parametrize("name", BOARDS)
def test_poses_of_boards(name, images):
    for image, R, t in images[name]:
        measured = measure_pose(image, BOARDS[name], CAMERA)
        error = np.concatenate([measured.position - t, log(measured.rotation @ R.T)])
        assert abs(error[:2]).max() < 2e-4
        assert error @ np.linalg.solve(measured.covariance, error) < 35


def test_corners_beside_those_of_opencv(images):
    """The errors are smaller than those of cv2.cornerSubPix from the same starts."""
    board = BOARDS["chessboard"]
    for image, R, t in images["chessboard"]:
        true = CAMERA.project(R, t, board.points)
        seen = find_target(image, board, CAMERA)
        stop = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 40, 1e-4)
        starts = (true + 0.3).astype(np.float32).reshape(-1, 1, 2)
        theirs = cv2.cornerSubPix(image, starts, (5, 5), (-1, -1), stop).reshape(-1, 2) - true
        ours = seen.pixels - true[seen.which]
        assert np.sqrt((ours**2).mean()) < 0.7 * np.sqrt((theirs**2).mean())


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize(("columns", "rows"), [(7, 5), (6, 4), (5, 6)])
def test_what_is_black_on_a_charuco_board_is_what_opencv_draws(columns, rows, legacy):
    board = CharucoBoard(columns, rows, 0.04, 0.028, "4X4_50", legacy)
    drawn = cv2.aruco.CharucoBoard(
        (columns, rows), 0.04, 0.028, cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    )
    drawn.setLegacyPattern(legacy)
    theirs = drawn.generateImage((columns * 120, rows * 120))
    ours = np.full_like(theirs, 255)
    for left, bottom, right, top in black_rectangles(board) / 0.04 * 120:
        a, b = (round(v + columns * 60) for v in (left, right))
        c, d = (round(rows * 60 - v) for v in (top, bottom))
        ours[c:d, a:b] = 0
    assert (ours != theirs).mean() < 0.002


def test_tags_are_those_of_the_april_tag_library():
    """Tag 0 of 36h11 has the code 0xd5d628584 row by row from the top left, the first bit the highest."""
    grid = AprilGrid(2, 1, 1.0, 0.5, border=1)
    left, top = grid.points[0, :2]
    bits = np.ones((8, 8), int)
    for a, b, c, d in black_rectangles(grid):
        if a > left - 0.01 and c < left + 1.01 and d < top + 0.01 and b > top - 1.01:
            rows = slice(round((top - d) * 8), round((top - b) * 8))
            bits[rows, round((a - left) * 8) : round((c - left) * 8)] = 0
    code = int("".join(map(str, bits[1:-1, 1:-1].ravel())), 2)
    assert code == 0xD5D628584


def test_a_camera_is_calibrated_with_a_chessboard():
    rng, board = np.random.default_rng(9), BOARDS["chessboard"]
    sightings = []
    for tilt in [(0.5, 0.0), (-0.5, 0.1), (0.0, 0.5), (0.1, -0.5), (0.35, 0.35)]:
        image = shoot(CAMERA, board, exp([*tilt, 0.1]) @ FACING, np.array([*rng.normal(0, 0.01, 2), 0.33]), rng)
        sightings.append(find_target(image, board))
    calibrated = calibrate_camera(sightings, board, CAMERA.size)
    off = (calibrated.camera.parameters[:4] - CAMERA.parameters[:4]) / calibrated.camera.sigma[:4]
    assert abs(off).max() < 4.5
    assert calibrated.rms < 0.02


@pytest.mark.parametrize("board", [Chessboard(9, 7, 0.02), CircleGrid(7, 6, 0.02, 0.006)])
def test_boards_that_look_alike_upside_down_measure_no_pose(board):
    with pytest.raises(InputError, match="looks the same upside down"):
        measure_pose(np.zeros((270, 360), np.uint8), board, CAMERA)


def with_other(board, **changes):
    return type(board)(**{**{k: v for k, v in vars(board).items() if k != "points"}, **changes})


CAUSES = {
    "dictionary": ("charuco", {"dictionary": "4X4_50"}, "markers of dictionary 5X5 are seen, but the file says 4X4_50"),
    "legacy": ("legacy charuco", {"legacy": False}, "legacy = true"),
    "columns and rows": ("charuco", {"columns": 5, "rows": 7}, "are columns and rows exchanged"),
    "tags": ("aprilgrid", {"border": 1}, "border = 2"),
    "numbers": ("aruco", {"first": 30}, "markers 0 to 11 of 4X4_50 are seen, but the board has 30 to 41"),
    "inner corners": ("chessboard", {"columns": 9, "rows": 6}, "count squares, not inner corners"),
    "squares": ("chessboard", {"columns": 8, "rows": 6}, "10 × 7 squares is seen, but the file says 8 × 6"),
    "circles": (
        "staggered circles",
        {"staggered": False, "columns": 7, "rows": 6},
        "check columns, rows and staggered",
    ),
}


@pytest.mark.parametrize(("name", "changes", "message"), CAUSES.values(), ids=CAUSES.keys())
def test_a_wrong_description_is_named(name, changes, message, images):
    with pytest.raises(ImageRefused, match=message):
        find_target(images[name][0][0], with_other(BOARDS[name], **changes))


@pytest.mark.parametrize("name", ["charuco", "aprilgrid", "aruco"])
def test_boards_with_markers_may_be_partly_hidden_but_not_mirrored(name, images):
    image, R, t = images[name][0]
    covered = image.copy()
    covered[:, :120] = 110
    seen = find_target(covered, BOARDS[name], CAMERA)
    assert 8 <= len(seen) < len(BOARDS[name].points)
    assert abs(seen.pixels - CAMERA.project(R, t, BOARDS[name].points)[seen.which]).max() < 0.9
    with pytest.raises(ImageRefused, match="mirror"):
        find_target(np.ascontiguousarray(image[:, ::-1]), BOARDS[name], CAMERA)
