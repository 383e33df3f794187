"""A camera from corners of a board in twelve views; images by OpenCV's own projection, with Gaussian noise."""

import cv2
import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.peers.task import Task

SIZE, VIEWS, NOISE = (1024, 768), 12, 0.05
SQUARES, SIDE = (9, 8), 0.025
FOCAL, CENTER, DISTORTION = (672.0, 671.0), (515.0, 380.0), (-0.12, 0.03, 1e-3, -5e-4)


def board() -> np.ndarray:
    """Inner corners of the board, row by row, about its middle."""
    across, down = SQUARES[0] - 1, SQUARES[1] - 1
    x, y = np.meshgrid(np.arange(across), np.arange(down))
    points = np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], axis=1) * SIDE
    return points - points.mean(axis=0)


def recordings(seeds: range) -> Task:
    """Each recording has other views and other noise."""
    points, matrix = board(), np.array([[FOCAL[0], 0, CENTER[0]], [0, FOCAL[1], CENTER[1]], [0, 0, 1.0]])
    images = []
    for seed in seeds:
        rng, views = np.random.default_rng([17, seed]), []
        while len(views) < VIEWS:
            turn = Rotation.from_rotvec(rng.normal(0, 0.35, 3)).as_rotvec()
            place = rng.uniform([-0.06, -0.04, 0.26], [0.06, 0.04, 0.42])
            pixels = cv2.projectPoints(points, turn, place, matrix, np.array(DISTORTION))[0][:, 0]
            if ((pixels > 8) & (pixels < np.array(SIZE) - 9)).all():
                views.append(pixels + rng.normal(0, NOISE, pixels.shape))
        images.append(views)
    return Task(
        name="camera",
        kind="camera",
        data={"points": points, "pixels": np.array(images)},
        stated={"size": SIZE, "squares": SQUARES, "side": SIDE, "sigma": NOISE},
        truth={"theta": np.array([*FOCAL, *CENTER, *DISTORTION])},
    )
