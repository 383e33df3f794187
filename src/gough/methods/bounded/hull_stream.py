"""The hull of a stream of rows, updated online from the few rows that bound it."""

from pathlib import Path
from typing import Any

import numpy as np

from gough.core import codec
from gough.core.arrays import Array, array, first_not_finite
from gough.core.errors import require
from gough.core.files import load_state, save_state
from gough.core.threads import one_blas_thread
from gough.estimates import Claim, Estimate, Stats, Status, guarded
from gough.methods.bounded.linear_hull import Hull
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import Box, ConfidenceEllipsoid
from gough.unknowns import Unknowns

_FORMAT = "gough hull stream 1"


class HullStream:
    """The hull of all rows so far, from the rows that bound it; it *changes* with every row.

    Constraint: |y − dᵀθ| ≤ e of each row, and the prior. Kept: every θ that satisfies all rows so far, for the floats
    returned (PROOF), since leaving rows out only widens. A row does nothing where no vertex of the hull violates it.
    Not idempotent: a row that was forgotten may cut again.

    Rows wait until `block` of them are there. If some vertex of the hull violates one of them, the hull is computed
    anew from these and the remembered rows, and the `keep` rows with the least slack at its vertices are remembered.
    A few hundred are enough for the hull of all rows.

    Examples:
        >>> from gough import Box, Unknowns
        >>> stream = HullStream(Unknowns(["mass", "fv"], prior=Box([0, 0], [10, 10])))
        >>> stream.update([1.0, 0.0], 2.0, 0.5)
        >>> stream.update([1.0, 1.0], 5.0, 0.25)
        >>> box = stream.estimate().region
        >>> box.lower, box.upper
        (array([1.5 , 2.25]), array([2.5 , 3.75]))
    """

    def __init__(self, unknowns: Unknowns, *, keep: int = 200, block: int = 400) -> None:
        p = len(unknowns)
        require(keep >= 2 * p, f"a hull in {p} unknowns needs at least {2 * p} remembered rows, not {keep}")
        require(block >= 1, f"a block has at least one row, not {block}")
        self.unknowns, self.keep, self.block = unknowns, int(keep), int(block)
        self.n_rows = self.n_hulls = 0
        self._rows = np.zeros((0, p + 2))
        """Remembered rows: d, y, e."""
        self._waiting: list[Array] = []
        self._box = unknowns.bounds
        self._vertices: Array | None = None

    def update(self, d: Any, y: float, e: float) -> None:
        """Take in |y − dᵀθ| ≤ e."""
        self.update_many([d], [y], [e])

    def update_many(self, D: Any, y: Any, e: Any) -> None:
        """Take in rows, all or none of them."""
        rows, values = array(D, "D", ndim=2), array(y, "y", ndim=1)
        radius = np.broadcast_to(array(e, "e", ndim=(0, 1)), values.shape)
        fits = rows.shape == (len(values), len(self.unknowns))
        require(fits, f"D must be ({len(values)}, {len(self.unknowns)}) for {len(values)} values, not {rows.shape}")
        together = np.column_stack([rows, values, radius])
        bad = first_not_finite(together)
        require(bad is None, f"row {bad and bad[0]} has NaN or infinite entries: leave it out")
        require(bool((radius >= 0).all()), "error bounds must not be negative")
        self.n_rows += len(values)
        self._waiting.append(together)
        if sum(map(len, self._waiting)) >= self.block:
            self._digest()

    @np.errstate(all="ignore")
    @one_blas_thread()
    def _digest(self) -> None:
        """Let the waiting rows cut the hull."""
        new = np.concatenate([np.zeros((0, len(self.unknowns) + 2)), *self._waiting])
        self._waiting = []
        if self._box.is_empty or not len(new):
            return
        if self._vertices is not None:
            new = new[_slack(new, self._vertices) < 0]
            if not len(new):
                return
        rows = np.concatenate([self._rows, new])
        *_, y, e = rows.T
        hull = Hull(LinearProblem(rows[:, :-2], y, self.unknowns, Bounded(e)), self._box, tolerance=1e-9)
        self.n_hulls += 1
        self._box = hull.box
        if hull.box.is_empty:
            return
        if not hull.extremes.vertices:  # a contradiction that could not be proven: nothing tells which rows matter
            self._vertices, self._rows = None, rows[-self.keep :]
            return
        self._vertices = np.array([vertex.theta for vertex in hull.extremes.vertices])
        order = np.argsort(_slack(rows, self._vertices), kind="stable")[: self.keep]
        self._rows = rows[np.sort(order)]

    @np.errstate(all="ignore")
    def estimate(self) -> Estimate:
        """The hull of all rows so far."""
        self._digest()
        stats, name, box = Stats(self.n_rows), "HullStream", self._box
        if box.is_empty:
            note = "No θ satisfies all rows so far: some error exceeds its bound, the prior is wrong, or the model is."
            return guarded(Estimate(box, Claim.PROOF, Status.INCONSISTENT, self.unknowns, name, stats, (note,)))
        status = Status.OK if box.is_bounded else Status.UNBOUNDED
        return guarded(Estimate(box, Claim.PROOF, status, self.unknowns, name, stats))

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the state as JSON, exactly; `load` takes up where this one was left."""
        self._digest()
        state = {
            "unknowns": codec.encode(self.unknowns),
            "keep": self.keep,
            "block": self.block,
            "n_rows": self.n_rows,
            "n_hulls": self.n_hulls,
            "rows": self._rows.tolist(),
            "box": codec.encode(self._box),
            "vertices": None if self._vertices is None else self._vertices.tolist(),
        }
        save_state(path, _FORMAT, state, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> "HullStream":
        """The stream that `save` wrote; InputError if the file is not complete and unchanged."""
        state = load_state(path, _FORMAT)
        types = {c.__name__: c for c in (Unknowns, Box, ConfidenceEllipsoid)}
        stream = cls(codec.decode(state["unknowns"], types), keep=state["keep"], block=state["block"])
        stream.n_rows, stream.n_hulls = state["n_rows"], state["n_hulls"]
        stream._rows = np.array(state["rows"]).reshape(-1, len(stream.unknowns) + 2)
        stream._box = codec.decode(state["box"], types)
        stream._vertices = None if state["vertices"] is None else np.array(state["vertices"])
        return stream


def _slack(rows: Array, vertices: Array) -> Array:
    """Distance of each strip's sides from the farthest vertex, in units of the error bound; negative if outside."""
    *_, y, e = rows.T
    farthest = abs(rows[:, :-2] @ vertices.T - y[:, None]).max(axis=1)
    return (e - farthest) / np.where(e > 0, e, 1.0)
