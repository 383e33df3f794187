"""Boards of all kinds beside OpenCV's own detectors on the same images: how often found, how exact, how long.

Images are of a ray caster that shares no code with the detectors (tests/vision/scenes.py), with noise, blur, tilt and,
where the board allows it, a bar before it. Real photographs are added where $GOUGH_DATA or ../shared/data has a folder
`opencv-samples` with left*.jpg and right*.jpg of OpenCV's samples.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path
from time import process_time

import cv2
import numpy as np

from gough.core.rotations import exp, log
from gough.core.tables import table
from gough.core.threads import one_blas_thread
from gough.vision import (
    AprilGrid,
    ArucoGrid,
    Camera,
    CharucoBoard,
    Chessboard,
    CircleGrid,
    ImageRefused,
    find_target,
    read_image,
)
from gough.vision.camera import expected
from gough.vision.pose import pose_of
from tests.vision.scenes import shoot

CAMERA = Camera((480, 360), [450.0, 450.0], [240.0, 178.0], [-0.12, 0.03])
FACING = np.diag([1.0, -1.0, -1.0])
BOARDS = {
    "chessboard": Chessboard(10, 7, 0.02),
    "ChArUco": CharucoBoard(7, 5, 0.03, 0.022),
    "ChArUco, legacy": CharucoBoard(7, 6, 0.028, 0.02, legacy=True),
    "ArUco grid": ArucoGrid(5, 4, 0.032, 0.01, "6X6_250"),
    "AprilGrid": AprilGrid(4, 3, 0.04, 0.012),
    "circles": CircleGrid(7, 6, 0.025, 0.007),
    "circles, staggered": CircleGrid(4, 11, 0.015, 0.005, staggered=True),
}
STOP = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 40, 1e-3)


def by_opencv(image, board):
    """Numbers and pixels of the points by OpenCV's own detectors; None where it finds nothing."""
    if isinstance(board, Chessboard):
        size = board.columns - 1, board.rows - 1
        found, corners = cv2.findChessboardCorners(image, size, flags=3)
        if not found:
            return None
        return np.arange(len(corners)), cv2.cornerSubPix(image, corners, (5, 5), (-1, -1), STOP).reshape(-1, 2)
    if isinstance(board, CircleGrid):
        kind = cv2.CALIB_CB_ASYMMETRIC_GRID if board.staggered else cv2.CALIB_CB_SYMMETRIC_GRID
        found, centers = cv2.findCirclesGrid(image, (board.columns, board.rows), flags=kind)
        return (np.arange(len(centers)), centers.reshape(-1, 2)) if found else None
    name = "DICT_APRILTAG_36h11" if isinstance(board, AprilGrid) else f"DICT_{board.dictionary}"
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, name))
    if isinstance(board, CharucoBoard):
        made = cv2.aruco.CharucoBoard((board.columns, board.rows), board.square, board.marker, dictionary)
        made.setLegacyPattern(board.legacy)
        corners, numbers, _, _ = cv2.aruco.CharucoDetector(made).detectBoard(image)
        return None if numbers is None or len(numbers) < 8 else (numbers.ravel(), corners.reshape(-1, 2))
    parameters = cv2.aruco.DetectorParameters()
    parameters.markerBorderBits = getattr(board, "border", 1)
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    quads, numbers, _ = cv2.aruco.ArucoDetector(dictionary, parameters).detectMarkers(image)
    if numbers is None or len(numbers) < 2:
        return None
    turned = 2 if isinstance(board, AprilGrid) else 0
    which = (4 * numbers.reshape(-1, 1) + np.arange(4)).ravel()
    return which, np.vstack([np.roll(quad.reshape(4, 2), turned, axis=0) for quad in quads])


def views(n, board, seed):
    """Images with their poses: noise, blur and tilt vary; every third has a bar where the board allows it."""
    rng = np.random.default_rng(seed)
    partial = not isinstance(board, Chessboard | CircleGrid)
    for k in range(n):
        R, t = exp(rng.normal(0, 0.35, 3)) @ FACING, np.array([0, 0, 0.34]) + rng.normal(0, 0.008, 3)
        bars = ((rng.uniform(120, 360), 180, 30, 400),) if partial and k % 3 == 2 else ()
        made = {"blur": rng.uniform(0.5, 1.6), "noise": rng.uniform(1, 8), "hidden": bars}
        yield shoot(CAMERA, board, R, t, rng, light=rng.uniform(-0.5, 0.5, 2), **made), R, t


def own_order(pixels, true):
    """OpenCV may begin a grid at another corner: the order that fits."""
    return min(
        (true, true[::-1]), key=lambda order: np.median(abs(order - pixels)) if len(order) == len(pixels) else 9e9
    )


def squared_error(seen, board, R, t):
    """Error of the pose in units of its covariance, 6 on average; of boards that look alike upside down, the better."""
    pose = pose_of(seen, board, CAMERA)
    turns = [np.eye(3)] if getattr(board, "is_unique", True) else [np.eye(3), np.diag([-1.0, -1.0, 1.0])]
    rotation = min((log(pose.rotation @ (R @ turn).T) for turn in turns), key=np.linalg.norm)
    error = np.concatenate([pose.position - t, rotation])
    return error @ np.linalg.solve(pose.covariance, error)


def trial(name, board, n, seed):
    found, error, squares, times = [0, 0], [[], []], [], [[], []]
    for image, R, t in views(n, board, seed):
        true = expected(CAMERA, board, R, t)
        for k in (0, 1):
            start = process_time()
            try:
                seen = by_opencv(image, board) if k == 0 else find_target(image, board)
            except ImageRefused:
                seen = None
            times[k].append(process_time() - start)
            if seen is None:
                continue
            which, pixels = seen if k == 0 else (seen.which, seen.pixels)
            places = own_order(pixels, true[which])
            gaps = pixels - places
            if np.median(abs(gaps)) > 20:  # a chessboard or grid numbered from another corner of a mirrored order
                found[k] += 1
                continue
            found[k] += 1
            error[k].append(gaps)
            if k == 1:
                with suppress(ImageRefused):
                    squares.append(squared_error(seen, board, R, t))
    rms = [f"{np.sqrt(np.mean(np.vstack(each) ** 2)):.4f}" if each else "—" for each in error]
    ratio = np.median(times[1]) / np.median(times[0])
    nes = f"{np.mean(squares):.2f} ± {np.std(squares) / np.sqrt(len(squares)):.2f}" if squares else "—"
    return [name, str(n), str(found[0]), str(found[1]), *rms, nes, f"{1e3 * np.median(times[1]):.0f}", f"{ratio:.1f}"]


def photographs():
    """OpenCV's stereo samples of a 9 × 6 chessboard: 10 × 7 squares."""
    for base in (os.environ.get("GOUGH_DATA", ""), "../shared/data", "../../shared/data"):
        folder = Path(base or ".", "opencv-samples")
        files = sorted([*folder.glob("left[01]*.jpg"), *folder.glob("right[01]*.jpg")])
        if files:
            break
    else:
        print("\nNo photographs: put OpenCV's samples/data/left*.jpg into ../shared/data/opencv-samples.")
        return
    board, found = Chessboard(10, 7, 0.025), [0, 0]
    for file in files:
        image = cv2.cvtColor(read_image(file), cv2.COLOR_BGR2GRAY) if read_image(file).ndim == 3 else read_image(file)
        found[0] += by_opencv(image, board) is not None
        try:
            found[1] += len(find_target(image, board)) > 0
        except ImageRefused as refused:
            print(f"  {file.name}: {refused}")
    print(f"\n{len(files)} photographs of a chessboard: OpenCV finds {found[0]}, gough {found[1]}.")


@one_blas_thread()
def main(n="30", seed="3", kind=""):
    """All boards, or those whose names begin with `kind`."""
    cv2.setNumThreads(1)
    print("Boards: gough beside OpenCV's detectors on the same images\n")
    heads = ["board", "images", "OpenCV", "gough", "rms px OpenCV", "rms px gough", "error² / cov", "ms", "ratio"]
    chosen = {name: board for name, board in BOARDS.items() if name.startswith(kind)}
    rows = [trial(name, board, int(n), int(seed)) for name, board in chosen.items()]
    print(table(heads, rows, "l" + "r" * 8))
    photographs()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
