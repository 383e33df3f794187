"""Guaranteed sets of the parameters now, from rows of the past, where parameters move by a bounded amount a second."""

from collections import deque
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from gough.core.arrays import Array
from gough.methods.bounded.hull_stream import HullStream
from gough.methods.ellipsoids.stream import EllipsoidStream
from gough.region import Box
from gough.unknowns import Unknowns

_UP = 1 + 1e-9
"""Factor that covers rounding wherever a set is enlarged."""


class DriftingSet(Protocol):
    """A set that holds the parameters of now; it *changes* with every block of rows."""

    n_restarts: int
    """How often rows contradicted it, so that it began anew, or a part of it was empty."""

    def take(self, W: Array, y: Array, e: Array, time: float) -> None:
        """Take in rows |y − W θ(time)| ≤ e: bounds are those of the instant `time`, see `Consistency`."""
        ...

    def hull(self, time: float) -> Box:
        """A box around the parameters at a time; empty where the rows contradict each other."""
        ...


class InflatingEllipsoid:
    """A bounding ellipsoid that grows with time by the drift and shrinks with rows: constant memory.

    Constraint: the rows, the admitted box at the beginning, and |θ_j(t) − θ_j(s)| ≤ d_j |t − s|. Kept: every θ(now)
    that satisfies them, in exact arithmetic (ENCLOSURE). By induction: if θ(s) is in the ellipsoid, θ(t) is in its sum
    with the box of half-widths d (t − s), which `EllipsoidStream.inflate` encloses, and a row with the bound of the
    instant t removes no θ(t) that satisfies it. After rows that contradict it, it begins anew at the admitted box.
    """

    def __init__(self, unknowns: Unknowns, drift: Array | None, *, began: float | None = None) -> None:
        """Begin at the admitted box; where the watch `began` earlier, the box has grown since."""
        self._unknowns, self._drift = unknowns, drift
        self._began = self._time = began
        self.n_restarts = 0
        self._stream = EllipsoidStream(unknowns)

    def take(self, W: Array, y: Array, e: Array, time: float) -> None:
        self._advance(time)
        self._stream.update_many(W, y, e)
        if self._stream.is_inconsistent:
            self.n_restarts += 1
            self._stream, self._time = EllipsoidStream(self._unknowns), self._began
            self._advance(time)

    def _advance(self, time: float) -> None:
        """Grow by the time since the last rows."""
        self._began = time if self._began is None else self._began
        if self._drift is not None and self._time is not None and time > self._time:
            self._stream.inflate(self._drift * (time - self._time) * _UP)
        self._time = time

    def hull(self, time: float) -> Box:
        self._advance(time if self._time is None else max(time, self._time))
        return self._stream.hull() & grown(self._unknowns.bounds, self._drift, _since(self._began, time))


class WindowOfHulls:
    """The intersection of the hulls of the last pieces of the stream, each grown by the drift since then.

    Constraint and premise as for `InflatingEllipsoid`. Kept: every θ(now) that satisfies the rows of the window
    (PROOF): the hull of a piece that ended at t holds θ(t), hence the hull grown by d (now − t) holds θ(now), and
    so does the intersection. Rows of pieces before the window are forgotten. A piece whose rows contradict the
    admitted box leaves an empty box until it leaves the window.
    """

    def __init__(
        self, unknowns: Unknowns, drift: Array | None, *, window: float, pieces: int = 5, began: float | None = None
    ) -> None:
        self._unknowns, self._drift = unknowns, drift
        self._window, self._length = window, window / pieces
        self._began = began
        self.n_restarts = 0
        self._start = 0.0
        self._rows: list[tuple[Array, Array, Array, float]] = []
        self._boxes: deque[tuple[float, Box]] = deque()

    def take(self, W: Array, y: Array, e: Array, time: float) -> None:
        self._began = time if self._began is None else self._began
        if not self._rows:
            self._start = time
        self._rows.append((W, y, e, time))
        if time - self._start < self._length:
            return
        box = grown(self._unknowns.bounds, self._drift, time - self._began)
        names, units = self._unknowns.names, self._unknowns.units
        piece = HullStream(Unknowns(names, units, self._unknowns.nominal, box), block=1 << 30)
        for D, values, radius, at in self._rows:
            moved = 0.0 if self._drift is None else np.abs(D) @ self._drift * (time - at) * _UP
            piece.update_many(D, values, (radius + moved) * _UP)
        self._boxes.append((time, piece.estimate().region.hull()))
        self.n_restarts += self._boxes[-1][1].is_empty
        self._rows = []

    def hull(self, time: float) -> Box:
        while self._boxes and self._boxes[0][0] < time - self._window:
            self._boxes.popleft()
        box = grown(self._unknowns.bounds, self._drift, _since(self._began, time))
        for at, each in self._boxes:
            box = box & grown(each, self._drift, time - at)
        return box


def _since(began: float | None, time: float) -> float:
    """Seconds since a watch began; none before it did."""
    return 0.0 if began is None else time - began


def grown(box: Box, drift: Array | None, seconds: float) -> Box:
    """The box with sides moved out by the drift over so many seconds, rounded outward.

    Examples:
        >>> grown(Box([0.0], [1.0]), np.array([0.1]), 5.0).upper.round(6)
        array([1.5])
    """
    if drift is None or box.is_empty or seconds <= 0:
        return box
    moved = drift * seconds * _UP
    return Box(np.nextafter(box.lower - moved, -np.inf), np.nextafter(box.upper + moved, np.inf))


SETS: Mapping[str, Any] = {"ellipsoid": InflatingEllipsoid, "hulls": WindowOfHulls}
"""The sets by the name that a study gives them."""
