"""Images of boards by a ray caster that shares no code with the renderer: what is black decides, ray by ray."""

import cv2
import numpy as np

from gough.vision import CircleGrid
from gough.vision.board_pattern import black_rectangles

FINE = 6
"""Rays along each side of a pixel."""
WHITE, BLACK = 200.0, 30.0


def is_black(board, x, y):
    """Whether points of the board's plane are black: inside one of its circles, or one of its black rectangles."""
    if isinstance(board, CircleGrid):
        black = np.zeros(x.shape, bool)
        order = np.argsort(x)
        ends = np.searchsorted(x[order], board.points[:, :1] + [-board.radius, board.radius])
        for (a, b), (px, py) in zip(ends, board.points[:, :2], strict=True):
            rows = order[a:b]
            black[rows] |= (x[rows] - px) ** 2 + (y[rows] - py) ** 2 < board.radius**2
        return black ^ board.bright
    left, bottom, right, top = black_rectangles(board).T
    lines = [np.unique(np.concatenate(ends).round(9)) for ends in ((left, right), (bottom, top))]
    cells = np.zeros((len(lines[0]) + 1, len(lines[1]) + 1), bool)  # between the lines of all edges, and outside
    for k in range(len(left)):
        a, b = np.searchsorted(lines[0], (left[k].round(9), right[k].round(9))) + 1
        c, d = np.searchsorted(lines[1], (bottom[k].round(9), top[k].round(9))) + 1
        cells[a:b, c:d] = True
    return cells[np.searchsorted(lines[0], x), np.searchsorted(lines[1], y)]


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
