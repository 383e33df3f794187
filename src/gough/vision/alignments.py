"""Which spots in line are the dots of a diagonal, compiled by numba; importing this module imports numba."""

from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.compiled_kernels import compiled
from gough.vision.targets import LONG

_MOST_IN_LINE = 16
_MOST_FOUND = 2000
_STRAYS, _MISSING = 1, 2
_PERSPECTIVE = 6.0
"""The near end of a diagonal looks at most so many times larger than its far end."""


@compiled
def alignments(points: Array, tolerance: float, long: Array, short: Array) -> Array:
    """Rows (diagonal, dots matched, root mean square error, spot of each dot or −1), of all that may be a diagonal.

    Four points in line have one invariant, their cross-ratio [DACP06, §2.3.1]: three spots fix the projection of a
    diagonal onto the line, and each further spot must be where that projection puts a dot. Spots nearer than
    `tolerance` (pixels) to the line through two others are in line with them.
    """
    out = np.full((_MOST_FOUND, 3 + LONG), -1.0)
    count, n = 0, len(points)
    place, which = np.empty(_MOST_IN_LINE), np.empty(_MOST_IN_LINE, np.int64)
    for i in range(n):
        for j in range(i + 1, n):
            k, length = _between(points, i, j, tolerance, place, which)
            if k < 4:
                continue
            for turned in range(2):
                if turned:
                    for a in range(k // 2):
                        place[a], place[k - 1 - a] = place[k - 1 - a], place[a]
                        which[a], which[k - 1 - a] = which[k - 1 - a], which[a]
                    for a in range(k):
                        place[a] = 1 - place[a]
                for diagonal in range(2):
                    dots = short if diagonal else long
                    count = _matches(place[:k], which[:k], dots, tolerance / length, out, count, diagonal)
                    if count >= _MOST_FOUND:
                        return out
    return out[:count]


@compiled
def _between(  # noqa: PLR0917 - numba knows no keywords
    points: Array, i: int, j: int, tolerance: float, place: Array, which: Any
) -> tuple[int, float]:
    """The spots on the way from spot i to spot j in order, with their place from 0 to 1; how many, and how far."""
    du, dv = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1]
    square = du * du + dv * dv
    length = np.sqrt(square)
    place[0], which[0] = 0.0, i
    k = 1
    if length < 8 * tolerance:
        return 0, length
    for m in range(len(points)):
        a, b = points[m, 0] - points[i, 0], points[m, 1] - points[i, 1]
        if m in (i, j) or abs(a * dv - b * du) > tolerance * length:
            continue
        s = (a * du + b * dv) / square
        if 0 < s < 1:
            if k >= _MOST_IN_LINE - 1:
                return 0, length
            at = k
            while place[at - 1] > s:
                place[at], which[at] = place[at - 1], which[at - 1]
                at -= 1
            place[at], which[at] = s, m
            k += 1
    place[k], which[k] = 1.0, j
    return k + 1, length


@compiled
def _matches(  # noqa: PLR0917 - numba knows no keywords
    place: Array, which: Any, dots: Array, tolerance: float, out: Array, count: int, diagonal: int
) -> int:
    """Write each way in which spots in line may be dots a … c of a diagonal; how many rows there are then."""
    k = len(place)
    middle = k // 2
    s = place[middle]
    for a in range(len(dots) - 3):
        for c in range(a + 3, len(dots)):
            if k - _STRAYS > c - a + 1 or k < c - a + 1 - _MISSING:
                continue
            span = dots[c] - dots[a]
            for b in range(a + 1, c):
                r = (dots[b] - dots[a]) / span
                w = r * (1 - s) / (s * (1 - r))  # the projection r ↦ r / (r + w (1 − r)) keeps both ends
                if not 1 / _PERSPECTIVE < w < _PERSPECTIVE or count >= len(out):
                    continue
                row = out[count]
                row[3:] = -1
                matched, total = 0, 0.0
                for d in range(a, c + 1):
                    r = (dots[d] - dots[a]) / span
                    expected = r / (r + w * (1 - r))
                    for m in range(k):
                        gap = abs(place[m] - expected)
                        if gap < tolerance:
                            row[3 + d] = which[m]
                            matched, total = matched + 1, total + gap * gap
                            break
                if matched >= max(4, k - _STRAYS, c - a + 1 - _MISSING):
                    row[0], row[1], row[2] = diagonal, matched, np.sqrt(total / matched) / tolerance
                    count += 1
    return count
