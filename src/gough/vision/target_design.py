"""Targets designed: spacings whose cross-ratios are as far apart as they can be."""

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.vision.targets import LONG, SHORT, DotTarget

_SAMPLES, _STARTS, _ROUNDS, _TRIALS = 4000, 4, 60, 100
_APART = 3.7
"""Centers of neighboring dots are at least so many radii apart: their blurred edges do not meet."""
_LINED_UP = 0.3
"""Least distance of a dot from a line through three others, in radii, where the design has a choice."""


def design_target(
    width: float,
    height: float,
    *,
    radius: float | None = None,
    dots: int = 45,
    bright: bool = True,
    seed: int = 0,
) -> DotTarget:
    """A target of the given size (m) whose diagonals cannot be confused.

    The places of the dots on both diagonals maximize the smallest gap between the four cross-ratios, each gap in
    units of what equal errors of the dots' places would do to it. The other dots fill the sheet.

    Args:
        width: Width of the sheet, m.
        height: Height of the sheet, m.
        radius: Radius of the dots, m; a fortieth of the shorter side by default.
        dots: Number of dots.
        bright: White dots on black; else black dots on white, which need less ink.
        seed: Random seed of the layout; two targets in one room should differ.

    Examples:
        >>> target = design_target(0.2, 0.15, dots=30)
        >>> len(target.points), target.radius, np.abs(target.points).max(axis=0).round(4).tolist()
        (30, 0.00375, [0.0925, 0.0675, 0.0])
    """
    require(min(width, height) > 0 and max(width, height) < 100, "width and height must be lengths in m")
    radius = min(width, height) / 40 if radius is None else radius
    half = np.array([width, height]) / 2 - 2 * radius
    require(radius > 0 and bool((half > 10 * radius).all()), f"dots of {radius:g} m are too large for this sheet")
    require(dots >= LONG + SHORT + 4, f"a target needs {LONG + SHORT} dots on its diagonals and at least 4 others")
    room = 4 * float(half.prod()) / (0.87 * (_APART * radius) ** 2)  # hexagons are the densest
    require(dots < room, f"there is no room for {dots} dots of {radius:g} m: take fewer or smaller ones")
    rng = np.random.default_rng(seed)
    long, short = _spacings(rng, half, _APART * radius)
    diagonals = np.vstack([np.outer(long, half), np.outer(short, half * [1, -1])])
    points = _filled(rng, diagonals, half, dots, radius)
    return DotTarget(np.column_stack([points, np.zeros(dots)]), radius, (width, height), bright)


def _spacings(rng: np.random.Generator, half: Array, apart: float) -> tuple[Array, Array]:
    """Places in [−1, 1] along the long and the short diagonal, by random search and climbing."""
    inner = LONG + SHORT - 4
    samples = rng.uniform(-1, 1, (_SAMPLES, inner))
    values = _smallest_gap(samples, half, apart)
    champion, score = samples[0], -np.inf
    for start in np.argsort(values)[-_STARTS:]:
        place, value, step = samples[start], float(values[start]), 0.2
        for _ in range(_ROUNDS):
            trials = place + step * rng.normal(size=(_TRIALS, inner))
            gaps = _smallest_gap(trials, half, apart)
            k = int(gaps.argmax())
            if gaps[k] > value:
                place, value = trials[k], float(gaps[k])
            else:
                step *= 0.85
        if value > score:
            champion, score = place, value
    require(np.isfinite(score), "no place for 7 and 6 dots on the diagonals: make the dots smaller")
    long, short = _places(champion[None])
    return long[0].round(4), short[0].round(4)


def _places(inner: Array) -> tuple[Array, Array]:
    ends = np.ones((len(inner), 1))
    parts = np.sort(inner[:, : LONG - 2], axis=1), np.sort(inner[:, LONG - 2 :], axis=1)
    long, short = (np.hstack([-ends, part, ends]) for part in parts)
    return long, short


def _smallest_gap(inner: Array, half: Array, apart: float) -> Array:
    """Least difference of two of the four cross-ratios of each trial, in standard deviations; −∞ if dots touch."""
    long, short = _places(inner)
    ratios = [_ratio_and_sigma(t) for t in (long[:, :4], long[:, -4:], short[:, :4], short[:, -4:])]
    gaps = [
        abs(ratios[i][0] - ratios[j][0]) / np.hypot(ratios[i][1], ratios[j][1])
        for i in range(4)
        for j in range(i + 1, 4)
    ]
    diagonal = float(np.linalg.norm(half))
    free = (np.diff(long, axis=1).min(axis=1) * diagonal > apart) & (
        np.diff(short, axis=1).min(axis=1) * diagonal > apart
    )
    crossing = (long[:, :, None] - short[:, None]) * half[0], (long[:, :, None] + short[:, None]) * half[1]
    free &= np.hypot(*crossing).min(axis=(1, 2)) > apart
    free &= (abs(long[:, 0]) == 1) & (abs(inner).max(axis=1) < 1)
    return np.where(free, np.min(gaps, axis=0), -np.inf)


def _ratio_and_sigma(t: Array) -> tuple[Array, Array]:
    """The cross-ratio of each row, and its standard deviation if the places' is one."""
    a, b, c, d = t.T
    with np.errstate(all="ignore"):
        ratio = (c - a) * (d - b) / ((c - b) * (d - a))
        slopes = (
            1 / (d - a) - 1 / (c - a),
            1 / (c - b) - 1 / (d - b),
            1 / (c - a) - 1 / (c - b),
            1 / (d - b) - 1 / (d - a),
        )
        return ratio, abs(ratio) * np.sqrt(np.sum(np.square(slopes), axis=0))


def _filled(rng: np.random.Generator, diagonals: Array, half: Array, dots: int, radius: float) -> Array:
    """The diagonals and further dots, each as far from the others as can be, and in line with few of them."""
    points = diagonals
    while len(points) < dots:
        trials = rng.uniform(-half, half, (5 * _TRIALS, 2))
        distance = np.linalg.norm(trials[:, None] - points[None], axis=2).min(axis=1)
        in_line = _in_line(trials, points, _LINED_UP * radius)
        score = np.where(distance > _APART * radius, distance / (1 + in_line / 8), 0.0)
        k = int(score.argmax())
        require(score[k] > 0, f"there is no room for {dots} dots of {radius:g} m: take fewer or smaller ones")
        points = np.vstack([points, trials[k].round(4)])
    return points


def _in_line(trials: Array, points: Array, within: float) -> Array:
    """How many pairs of dots have a line that passes so near to each trial."""
    i, j = np.triu_indices(len(points), 1)
    along = points[j] - points[i]
    normal = np.column_stack([-along[:, 1], along[:, 0]]) / np.linalg.norm(along, axis=1)[:, None]
    offsets = trials @ normal.T - (points[i] * normal).sum(axis=1)
    return np.asarray((abs(offsets) < within).sum(axis=1))
