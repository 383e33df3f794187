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
_COUNTS = ("n_rows", "n_updates", "n_missed")


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
        p = len(unknowns)
        self.unknowns = unknowns
        self.criterion, self.cut, self.misses, self.radius = float(criterion), bool(cut), int(misses), radius
        self.n_rows = self.n_updates = self.n_missed = 0
        half = box.width / 2 * (1 + 2.0**-50)
        self._origin = box.center
        self._scale = np.ldexp(1.0, np.frexp(half)[1])  # powers of two: no digit is lost
        # the smallest ellipsoid around the box has semi-axes √p times its halves
        self._U = np.diag(self._scale / (np.sqrt(p) * half))
        self._c = np.zeros(p)
        self._row, self._y, self._e = np.zeros((1, p)), np.zeros(1), np.zeros(1)
        self._kinds = np.zeros(1, dtype=np.int64)
        self._unit, self._no_weights = np.ones(1), np.zeros(0)
        self._kernel = _kernel()

    @property
    def is_inconsistent(self) -> bool:
        """Whether more rows missed the ellipsoid than allowed."""
        return self.n_missed > self.misses

    @property
    def n_skipped(self) -> int:
        """Rows that changed nothing, those that missed among them."""
        return self.n_rows - self.n_updates

    @np.errstate(all="ignore")
    def update(self, d: Any, y: float, e: float) -> bool:
        """Take in |y − dᵀθ| ≤ e; says whether the ellipsoid shrank."""
        row = d if type(d) is np.ndarray and d.dtype == np.float64 else array(d, "d", ndim=1)
        y, e = (x if type(x) is float else float(array(x, what, ndim=0)) for x, what in ((y, "y"), (e, "e")))
        if row.shape != self._c.shape or not (e >= 0 and isfinite(row.dot(row) + y + e)):
            self._refuse(row, y, e)
        np.multiply(row, self._scale, out=self._row[0])
        self._y[0], self._e[0] = y - row.dot(self._origin), e
        self._take(self._row, self._y, self._e, self._kinds)
        shrank = self._kinds.item(0) == 1
        self.n_updates += shrank
        return shrank

    @np.errstate(all="ignore")
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
        mid = np.array([y_k - d.dot(self._origin) for d, y_k in zip(rows, values, strict=True)])
        kinds = np.zeros(len(values), dtype=np.int64)
        self._take(rows * self._scale, mid, bounds, kinds)
        updates = int((kinds == 1).sum())
        self.n_updates += updates
        return updates

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
        root = np.linalg.inv(self._U)
        P, Q = root @ root.T, p * np.diag((moved / self._scale) ** 2)
        kappa = float(np.sqrt(np.trace(Q) / np.trace(P)))
        total = (1 + kappa) * P + (1 + 1 / kappa) * Q
        inverse = np.linalg.inv((total + total.T) / 2 * (1 + 1e-12))
        self._U = np.ascontiguousarray(np.linalg.cholesky((inverse + inverse.T) / 2).T)

    def _take(self, D: Array, mid: Array, half: Array, kinds: Any) -> None:
        self.n_rows += len(mid)
        kinds[0] = 0
        if self.is_inconsistent:
            return
        allowed = self.misses - self.n_missed
        self.n_missed += self._kernel(
            self._U, self._c, D, mid, half, self.criterion, self.cut, allowed,
            self._unit, self._no_weights, 0, kinds,
        )  # fmt: skip

    def _refuse(self, d: Array, y: float, e: float) -> None:
        p = len(self.unknowns)
        require(d.shape == (p,), f"a row has {p} entries, one per unknown, but d has shape {d.shape}")
        require(bool(np.isfinite(d).all()) and isfinite(y), "a row has NaN or infinite entries: leave it out")
        require(0 <= e < np.inf, f"an error bound must be a number ≥ 0, not {e}")

    @np.errstate(all="ignore")
    @one_blas_thread()
    def estimate(self) -> Estimate:
        """The ellipsoid of all rows so far."""
        stats, name = Stats(self.n_rows), "EllipsoidStream"
        if self.is_inconsistent:
            note = f"{self.n_missed} rows missed the ellipsoid of the rows before them, but {self.misses} are allowed."
            note += " This is not proven; HullStream can prove it."
            if not self.unknowns.bounds.is_bounded:
                note += f" θ beyond the radius {self.radius} were not looked at."
            empty = Box.empty(len(self.unknowns))
            return Estimate(empty, Claim.VALUE, Status.INCONSISTENT, self.unknowns, name, stats, (note,))
        root = np.linalg.inv(self._U) * self._scale[:, None]
        P = root @ root.T
        region = Ellipsoid(self._origin + self._scale * self._c, (P + P.T) / 2)
        claim, notes = Claim.ENCLOSURE, tuple[str, ...]()
        if self.n_missed:
            claim = Claim.VALUE
            notes = (f"{self.n_missed} rows missed the ellipsoid and were left out; an outlier may be among the rest.",)
        if not self.unknowns.bounds.is_bounded:
            claim = Claim.VALUE
            notes += (f"Holds the consistent θ within the radius {self.radius} of the nominal values, no others.",)
        return Estimate(region, claim, Status.OK, self.unknowns, name, stats, notes)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the state as JSON, exactly; `load` takes up where this one was left."""
        state = {
            "unknowns": codec.encode(self.unknowns),
            "options": {"criterion": self.criterion, "cut": self.cut, "misses": self.misses, "radius": self.radius},
            "counts": {name: getattr(self, name) for name in _COUNTS},
            "U": codec.encode(self._U),
            "c": codec.encode(self._c),
        }
        save_state(path, _FORMAT, state, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> "EllipsoidStream":
        """The stream that was saved; InputError if the file is not complete and unchanged."""
        state = load_state(path, _FORMAT)
        types = {c.__name__: c for c in (Unknowns, Box, ConfidenceEllipsoid)}
        stream = cls(codec.decode(state["unknowns"], types), **state["options"])
        for name in _COUNTS:
            setattr(stream, name, state["counts"][name])
        stream._U, stream._c = np.array(state["U"]), np.array(state["c"])
        return stream


def _kernel() -> Any:
    from gough.methods.ellipsoids.recursion import factorized  # noqa: PLC0415 - numba

    return factorized
