"""Quasi-Newton descent with a full matrix, for functions with kinks and with places where they are infinite.

A few dozen unknowns are few enough for the whole inverse Hessian, which learns a valley in fewer steps than a limited
memory does. The line search asks for a decrease and a slope that has become flatter, by bisection: it needs no
smoothness beyond that, and an infinite value only halves the step [LO13, §2.2].
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array

_DECREASE, _FLATTER = 1e-4, 0.9
_TRIALS = 25
_WINDOW = 8
"""Over so many steps the decrease is looked at before a search ends."""

Function = Callable[[Array], tuple[float, Array]]


class Point(NamedTuple):
    """Where a search stands."""

    x: Array
    value: float
    gradient: Array


def minimize(
    function: Function, x: Array, *, steps: int, decrease: float, seen: Callable[[Array], object] = lambda _: None
) -> Array:
    """A local minimum by the method of Broyden, Fletcher, Goldfarb and Shanno [LO13, algorithm 2.1].

    Args:
        function: Value and gradient; the value may be infinite away from x.
        x: Where to begin; the value is finite there.
        steps: Largest number of steps.
        decrease: Ends where the last steps together gained less.
        seen: Told of every step.

    Examples:
        >>> bowl = lambda x: (float(x @ x + abs(x[0])), 2 * x + np.array([np.sign(x[0]), 0.0]))
        >>> bool(np.abs(minimize(bowl, np.array([3.0, 4.0]), steps=100, decrease=1e-12)).max() < 1e-6)
        True
    """
    at = Point(x, *function(x))
    H: Array | None = None
    past = [at.value]
    for _ in range(steps):
        size = float(np.linalg.norm(at.gradient))
        if size == 0:
            break
        direction = -at.gradient / size if H is None else -(H @ at.gradient)
        found = _line_search(function, at, direction)
        if found is None:
            if H is None:
                break
            H = None  # what was learned does not hold here: once more along the gradient
            continue
        H = _learned(H, found.x - at.x, found.gradient - at.gradient)
        at = found
        seen(at.x)
        past.append(at.value)
        if len(past) > _WINDOW and past[-1 - _WINDOW] - at.value < decrease:
            break
    return at.x


def _line_search(function: Function, at: Point, direction: Array) -> Point | None:
    """A step that decreases the value and flattens the slope; else the best that decreases it, or None."""
    slope = float(at.gradient @ direction)
    if slope >= 0:
        return None
    low, high, t = 0.0, np.inf, 1.0
    best: Point | None = None
    for _ in range(_TRIALS):
        x = at.x + t * direction
        here = Point(x, *function(x))
        if not here.value < at.value + _DECREASE * t * slope:
            high = t
        else:
            if best is None or here.value < best.value:
                best = here
            if float(here.gradient @ direction) >= _FLATTER * slope:
                return here
            low = t
        t = (low + high) / 2 if np.isfinite(high) else 2 * t
    return best


def _learned(H: Array | None, s: Array, y: Array) -> Array | None:
    """The inverse Hessian after a step s that changed the gradient by y."""
    curvature = float(s @ y)
    if curvature <= 1e-12 * float(np.linalg.norm(s) * np.linalg.norm(y)):
        return H
    if H is None:
        H = np.eye(len(s)) * (curvature / float(y @ y))
    Hy = H @ y
    return np.asarray(
        H
        + np.outer(s, s) * ((curvature + float(y @ Hy)) / curvature**2)
        - (np.outer(Hy, s) + np.outer(s, Hy)) / curvature
    )
