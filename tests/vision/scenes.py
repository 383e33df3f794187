"""Images of boards by a ray caster that shares no code with the renderer: what is black decides, ray by ray."""

import cv2
import numpy as np

from gough.vision import CircleGrid
from gough.vision.board_pattern import black_rectangles

FINE = 6
"""Rays along each side of a pixel."""
WHITE, BLACK = 200.0, 30.0


def is_black(board, x, y):
    """Whether points of the board's plane are black, by a map with cells of 1/40 of its smallest feature."""
    if isinstance(board, CircleGrid):
        black = np.zeros(x.shape, bool)
        for px, py in board.points[:, :2]:
            black |= (x - px) ** 2 + (y - py) ** 2 < board.radius**2
        return black ^ board.bright
    rectangles = black_rectangles(board)
    black = np.zeros(x.shape, bool)
    order = np.lexsort((y, x))
    xs = x[order]
    for left, bottom, right, top in rectangles:
        a, b = np.searchsorted(xs, [left, right])
        rows = order[a:b]
        black[rows[(y[rows] >= bottom) & (y[rows] < top)]] = True
    return black


def shoot(camera, board, R, t, rng=None, *, blur=0.7, noise=2.0, around=WHITE, hidden=(), light=(0.0, 0.0)):
    """An image of a board; `hidden` are rectangles u, v, width, height before it."""
    width, height = camera.size
    u, v = np.meshgrid(np.arange(-1.0, width + 1), np.arange(-1.0, height + 1))
    rays = camera.rays(np.column_stack([u.ravel(), v.ravel()]))
    x, y, w = np.linalg.solve(np.column_stack([R[:, :2], t]), np.column_stack([rays, np.ones(len(rays))]).T)
    size = (width + 2) * FINE, (height + 2) * FINE  # between rays of neighboring pixels the map is as good as linear
    x, y = (cv2.resize((a / w).reshape(u.shape), size)[FINE:-FINE, FINE:-FINE].ravel() for a in (x, y))
    on = (abs(x) < board.size[0] / 2) & (abs(y) < board.size[1] / 2)
    values = np.full(len(x), float(around))
    ground = BLACK if isinstance(board, CircleGrid) and board.bright else WHITE
    margin = (abs(x) < board.size[0] * 0.56) & (abs(y) < board.size[1] * 0.56)
    values[margin] = ground
    values[on] = np.where(is_black(board, x[on], y[on]), BLACK, WHITE)
    image = values.reshape(height * FINE, width * FINE)
    for a, b, across, down in hidden:
        rows, columns = (
            (max(0, int((m - n / 2) * FINE)), int((m + n / 2) * FINE)) for m, n in ((b, down), (a, across))
        )
        image[slice(*rows), slice(*columns)] = 110.0
    if blur > 0:
        image = cv2.GaussianBlur(image, (0, 0), blur * FINE)
    image = image.reshape(height, FINE, width, FINE).mean(axis=(1, 3))
    i, j = np.indices(image.shape)
    image *= 1 + light[0] * (j / width - 0.5) + light[1] * (i / height - 0.5)
    if rng is not None:
        image += rng.normal(0, noise, image.shape)
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)
