"""A bounding ellipsoid that follows a stream of rows, in constant memory and microseconds each."""

from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from gough.core import codec
from gough.core.arrays import Array, array
from gough.core.errors import require
from gough.core.files import load_state, save_state
from gough.core.threads import one_blas_thread
from gough.estimates import Claim, Estimate, Stats, Status
from gough.methods.ellipsoids.batch import DETERMINANT
from gough.methods.ellipsoids.bounding import bounded_prior
from gough.region import Box, ConfidenceEllipsoid, Ellipsoid
from gough.unknowns import Unknowns

_FORMAT = "gough ellipsoid stream 1"
_SMALLEST_STEP = 1e-100
"""Least share of the prior by which an unknown that moves is taken to move."""
_NO_SQUARES = "The region is the box around the ellipsoid: squares of its axes are beyond the range of doubles."
_COUNTS = ("n_rows", "n_updates", "n_missed")
_FLOATS = frozenset((float, np.float64))
_FLOAT64 = np.dtype(np.float64)
_ENTRY = (8,)
"""Strides of a row without gaps."""


class EllipsoidStream:
    """The recursion of `BoundingEllipsoid`, row by row as they are measured; it *changes* with every row.

    Constraint: |y − dᵀθ| ≤ e of each row, and the prior. Kept: every θ that satisfies all rows so far, in exact
    arithmetic (ENCLOSURE). A row does nothing where the ellipsoid cannot shrink by it. Not idempotent: the same row
    again may shrink it further.

    A row that misses the ellipsoid is left out and counted; after more than `misses` of them nothing is taken in any
    more and `estimate()` says INCONSISTENT, so that the ellipsoid cannot collapse around a wrong center. That verdict
    is one of floating point (VALUE); `HullStream` proves it. A `radius` is no knowledge about θ: where it stands for a
    prior, the region holds the θ within it only, and the claim is VALUE.

    Examples:
        >>> from gough import Box, Unknowns
        >>> stream = EllipsoidStream(Unknowns(["mass", "fv"], prior=Box([0, 0], [10, 10])))
        >>> stream.update([1.0, 0.0], 2.0, 0.1), stream.update([0.0, 1.0], 3.0, 0.1)
        (True, True)
        >>> stream.update([1.0, 1.0], 5.0, 9.0)  # says nothing new
        False
        >>> stream.n_rows, stream.n_updates, stream.n_missed
        (3, 2, 0)
        >>> stream.estimate().value.round(2)
        array([2., 3.])
    """

    @np.errstate(all="ignore")
    def __init__(
        self, unknowns: Unknowns, *, criterion: float = DETERMINANT, cut: bool = True, misses: int = 0,
        radius: float | None = None,
    ) -> None:  # fmt: skip
        require(0 <= criterion <= 1, f"the criterion is a weight from 0 to 1, not {criterion}")
        require(misses >= 0, f"misses must be 0 or more, not {misses}")
        box = bounded_prior(unknowns, radius)
        fixed = [name for name, w in zip(unknowns.names, box.width, strict=True) if not w > 0]
        require(not fixed, f"a stream has no place for fixed unknowns: leave out {', '.join(fixed)}")
        self.unknowns = unknowns
        self.criterion, self.cut, self.misses, self.radius = float(criterion), bool(cut), int(misses), radius
        half = box.width / 2 * (1 + 2.0**-50)
        scale = np.ldexp(1.0, np.frexp(half)[1])  # powers of two: no digit is lost
        self._row = _kernels().stream_row
        # the smallest ellipsoid around the box has semi-axes √p times its halves
        self._begin(np.diag(scale / (np.sqrt(len(unknowns)) * half)), np.zeros(len(unknowns)), box.center, scale)

    def _begin(self, U: Array, center: Array, origin: Array, scale: Array, counts: tuple[int, ...] = (0, 0, 0)) -> None:
        """Lay the state out as the kernels expect it."""
        kernels, p = _kernels(), len(self.unknowns)
        n = -(-p // 4) * 4
        self._state = np.zeros(kernels.HEAD + n * n + 9 * n)
        self._state[: kernels.MISSES + 1] = (p, self.criterion, self.cut, self.misses, *counts)
        X, vectors, *parts = kernels.stream_parts(self._state)
        X[:p, :p] = U
        kernels.inverse_diagonal(X, p, vectors)
        for part, values in zip(parts, (center, origin, scale), strict=True):
            part[:p] = values

    def _parts(self) -> tuple[Array, Array, Array, Array]:
        """The triangle U, center, origin and scale."""
        p = len(self.unknowns)
        X, _, center, origin, scale = _kernels().stream_parts(self._state)
        return X[:p, :p].copy(), center[:p].copy(), origin[:p].copy(), scale[:p].copy()

    @property
    def n_rows(self) -> int:
        """Rows that were taken in."""
        return int(self._state[_kernels().ROWS])

    @property
    def n_updates(self) -> int:
        """Rows by which the ellipsoid shrank."""
        return int(self._state[_kernels().UPDATES])

    @property
    def n_missed(self) -> int:
        """Rows that missed the ellipsoid."""
        return int(self._state[_kernels().MISSES])

    @property
    def is_inconsistent(self) -> bool:
        """Whether more rows missed the ellipsoid than allowed."""
        return self.n_missed > self.misses

    @property
    def n_skipped(self) -> int:
        """Rows that changed nothing, those that missed among them."""
        return self.n_rows - self.n_updates

    def update(self, d: Any, y: float, e: float) -> bool:
        """Take in |y − dᵀθ| ≤ e; says whether the ellipsoid shrank."""
        if type(d) is not np.ndarray or d.dtype is not _FLOAT64:
            d = array(d, "d", ndim=1)
        elif d.strides != _ENTRY:
            d = np.ascontiguousarray(d) if d.ndim == 1 else array(d, "d", ndim=1)
        if type(y) not in _FLOATS:
            y = float(array(y, "y", ndim=0))
        if type(e) not in _FLOATS:
            e = float(array(e, "e", ndim=0))
        kind = self._row(self._state, d, y, e)
        if kind < 0:
            self._refuse(d, y, e)
        return bool(kind == 1)

    def update_many(self, D: Any, y: Any, e: Any) -> int:
        """Take in rows one after the other; says how many shrank the ellipsoid."""
        rows, values = array(D, "D", ndim=2, copy=False), array(y, "y", ndim=1, copy=False)
        bounds = np.array(np.broadcast_to(array(e, "e", ndim=(0, 1)), values.shape))
        fits = rows.shape == (len(values), len(self.unknowns))
        require(fits, f"D must be ({len(values)}, {len(self.unknowns)}) for {len(values)} values, not {rows.shape}")
        for k in np.flatnonzero(
            ~(np.isfinite(rows).all(axis=1) & np.isfinite(values) & (bounds >= 0) & (bounds < np.inf))
        ):
            self._refuse(rows[k], float(values[k]), float(bounds[k]))
        before = self.n_updates
        _kernels().stream_rows(self._state, np.ascontiguousarray(rows), np.ascontiguousarray(values), bounds)
        return self.n_updates - before

    @np.errstate(all="ignore")
    def inflate(self, half: Any) -> None:
        """Let each unknown have moved by at most `half`: the ellipsoid becomes one around its sum with that box.

        Kept: every θ + δ with θ in the ellipsoid and |δ| ≤ half. The box lies in the ellipsoid of semi-axes √p · half,
        and (1 + κ) P + (1 + 1/κ) Q holds the sum of ellipsoids of P and Q for every κ > 0; κ has the least trace.

        Examples:
            >>> from gough import Box, Unknowns
            >>> stream = EllipsoidStream(Unknowns(["mass"], prior=Box([0], [2])))
            >>> stream.inflate([0.5])
            >>> stream.estimate().region.hull().lower.round(6)
            array([-0.5])
        """
        moved = array(half, "half", ndim=1)
        p = len(self.unknowns)
        require(moved.shape == (p,), f"{p} unknowns move by {p} numbers, not by {moved.shape}")
        require(bool(((moved >= 0) & (moved < np.inf)).all()), "unknowns move by numbers ≥ 0")
        if not moved.any():
            return
        U, center, origin, scale = self._parts()
        root = np.linalg.inv(U)
        # what is smaller would vanish when it is squared
        step = np.sqrt(p) * np.where(moved > 0, np.maximum(moved / scale, _SMALLEST_STEP), 0.0)
        kappa = float(np.linalg.norm(step) / np.linalg.norm(root))
        # factors, not their squares: a flat ellipsoid keeps its digits
        factors = np.vstack([np.sqrt(1 + kappa) * root.T, np.sqrt(1 + 1 / kappa) * np.diag(step)])
        triangle = np.asarray(np.linalg.qr(factors[:, ::-1], mode="r"))
        triangle *= np.where(np.diag(triangle) < 0, -1.0, 1.0)[:, None]
        grown = np.array(np.linalg.inv(triangle.T[::-1, ::-1] * (1 + 1e-12)), dtype=np.float64)
        self._begin(grown, center, origin, scale, (self.n_rows, self.n_updates, self.n_missed))

    @np.errstate(all="ignore")
    def hull(self) -> Box:
        """The smallest box around the ellipsoid, in exact arithmetic; no axis is squared on the way.

        Examples:
            >>> from gough import Box, Unknowns
            >>> EllipsoidStream(Unknowns(["mass"], prior=Box([0], [2e-200]))).hull().upper
            array([2.e-200])
        """
        U, center, origin, scale = self._parts()
        half = np.linalg.norm(np.linalg.inv(U), axis=1) * (1 + 1e-12)
        lower, upper = (origin + scale * (center + sign * half) for sign in (-1, 1))
        return Box(np.nextafter(lower, -np.inf), np.nextafter(upper, np.inf))

    def _refuse(self, d: Array, y: float, e: float) -> None:
        p = len(self.unknowns)
        require(d.shape == (p,), f"a row has {p} entries, one per unknown, but d has shape {d.shape}")
        require(bool(np.isfinite(d).all()) and isfinite(y), "a row has NaN or infinite entries: leave it out")
        require(0 <= e < np.inf, f"an error bound must be a number ≥ 0, not {e}")

    @np.errstate(all="ignore")
    @one_blas_thread()
    def estimate(self) -> Estimate:
        """The ellipsoid of all rows so far; the box around it where squares of its axes are no doubles."""
        stats, name = Stats(self.n_rows), "EllipsoidStream"
        if self.is_inconsistent:
            note = f"{self.n_missed} rows missed the ellipsoid of the rows before them, but {self.misses} are allowed."
            note += " This is not proven; HullStream can prove it."
            if not self.unknowns.bounds.is_bounded:
                note += f" θ beyond the radius {self.radius} were not looked at."
            empty = Box.empty(len(self.unknowns))
            return Estimate(empty, Claim.VALUE, Status.INCONSISTENT, self.unknowns, name, stats, (note,))
        U, center, origin, scale = self._parts()
        root = np.linalg.inv(U)
        P, exponent = root @ root.T, np.frexp(scale)[1] - 1  # of powers of two: products with them are exact
        shape = np.ldexp((P + P.T) / 2, exponent[:, None] + exponent)
        region: Ellipsoid | Box = Ellipsoid(origin + scale * center, np.where(np.isfinite(shape), shape, 0.0))
        claim, notes = Claim.ENCLOSURE, tuple[str, ...]()
        if not (np.ldexp(shape, -exponent[:, None] - exponent) == (P + P.T) / 2).all():
            region, notes = self.hull(), (_NO_SQUARES,)
        if self.n_missed:
            claim = Claim.VALUE
            left_out = "rows missed the ellipsoid and were left out; an outlier may be among the rest."
            notes += (f"{self.n_missed} {left_out}",)
        if not self.unknowns.bounds.is_bounded:
            claim = Claim.VALUE
            notes += (f"Holds the consistent θ within the radius {self.radius} of the nominal values, no others.",)
        return Estimate(region, claim, Status.OK, self.unknowns, name, stats, notes)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the state as JSON, exactly; `load` takes up where this one was left."""
        U, center, _, _ = self._parts()
        state = {
            "unknowns": codec.encode(self.unknowns),
            "options": {"criterion": self.criterion, "cut": self.cut, "misses": self.misses, "radius": self.radius},
            "counts": {name: getattr(self, name) for name in _COUNTS},
            "U": codec.encode(U),
            "c": codec.encode(center),
        }
        save_state(path, _FORMAT, state, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> "EllipsoidStream":
        """The stream that was saved; InputError if the file is not complete and unchanged."""
        state = load_state(path, _FORMAT)
        types = {c.__name__: c for c in (Unknowns, Box, ConfidenceEllipsoid)}
        stream = cls(codec.decode(state["unknowns"], types), **state["options"])
        _, _, origin, scale = stream._parts()
        counts = tuple(state["counts"][name] for name in _COUNTS)
        stream._begin(np.array(state["U"]), np.array(state["c"]), origin, scale, counts)
        return stream


def _kernels() -> Any:
    from gough.methods.ellipsoids import recursion  # noqa: PLC0415 - numba

    return recursion
