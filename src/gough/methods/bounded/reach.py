"""A first bounded box for problems whose prior is open, with evidence that a certificate can be made of."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from gough.core.arrays import Array
from gough.core.rational import integers, over_common_denominator
from gough.evidence import Reach
from gough.methods.bounded.exact_bound import Multipliers, evidence
from gough.noise import Bounded
from gough.problem import Integers, LinearProblem
from gough.region import Box

_ROOM = 2.0**-12
"""Part by which a bound is taken larger, so that the smaller one that follows from it is smaller for certain."""
_MOST = 2000
"""Rows that are used at most."""


def reach(problem: LinearProblem, box: Box) -> tuple[Box, Reach] | None:
    """The box, its open unknowns bounded by |θ| ≤ b, and the proof; None where none was found.

    Constraint: |y − W θ| ≤ e + D |θ|. Kept: every consistent θ of the box. Does nothing where no rows isolate the open
    unknowns well enough against their own uncertainty. Idempotent: a box that is bounded stays as it is.

    Rows weighted by an approximate left inverse B of W give |θ| ≤ r + G |θ| with G = |1 − B W| + |B| D, and thus
    |θ| ≤ b wherever r + G b < b: see `gough.checker.Reach`. This is tested in rational arithmetic.
    """
    names = problem.unknowns.names
    open_axes = np.flatnonzero(~np.isfinite(box.width))
    # others take part if they can be isolated too: what is known of them may be wide
    for axes in (np.arange(len(names)), open_axes):
        for rows in _choices(problem, axes):
            found = _bounds(problem, box, open_axes, rows, axes)
            if found is None:
                continue
            b, weights = found
            lower, upper = np.full(len(names), -np.inf), np.full(len(names), np.inf)
            lower[open_axes], upper[open_axes] = -b, b
            used = tuple(
                evidence((names[j],), (1.0,), Multipliers(tuple(rows.tolist()), tuple(exact)))
                for j, exact in zip(open_axes, weights, strict=True)
            )
            proof = Reach(tuple(names[j] for j in open_axes), tuple(b.tolist()), used)
            return box & Box(lower, upper), proof
    return None


def _choices(problem: LinearProblem, axes: Integers) -> Iterator[Integers]:
    """Few rows that span these axes, then more of them."""
    from scipy.linalg import qr  # noqa: PLC0415 - start-up time

    n_rows, p = problem.n_rows, len(axes)
    some = np.unique(np.linspace(0, n_rows - 1, min(n_rows, _MOST)).astype(np.int64))
    W = problem.W[some][:, axes]
    size = abs(W).max(axis=0, initial=0.0)
    if n_rows < p or not size.all():
        return
    scaled = W / size
    length = abs(scaled).max(axis=1)
    order = qr((scaled / np.where(length > 0, length, 1.0)[:, None]).T, mode="r", pivoting=True)[1]
    for count in sorted({p, min(4 * p, len(some)), len(some)}):
        spread = some[order[:p]] if count == p else some[:: max(1, len(some) // count)]
        yield np.union1d(some[order[:p]], spread)


def _bounds(
    problem: LinearProblem, box: Box, open_axes: Integers, rows: Integers, axes: Integers
) -> tuple[Array, list[list[Fraction]]] | None:
    W = problem.W[rows][:, axes]
    size = abs(W).max(axis=0)
    with np.errstate(all="ignore"):
        B = np.linalg.pinv(W / size) / size[:, None] if size.all() else np.full(W.T.shape, np.nan)
    if not np.isfinite(B).all():
        return None
    weights = [[Fraction(x) for x in row] for row in B[np.isin(axes, open_axes)].tolist()]
    r, G = _system(problem, box, open_axes, rows, weights)
    with np.errstate(all="ignore"):
        try:
            b = np.linalg.solve(np.eye(len(G)) - G.astype(float), r.astype(float))
        except (np.linalg.LinAlgError, OverflowError):
            return None
        b = (1 + _ROOM) * (b + _ROOM * abs(b).max(initial=0.0) * (b <= 0)) + 1e-300
    if not (np.isfinite(b).all() and (b > 0).all()):
        return None
    exact = np.array([Fraction(x) for x in b.tolist()], dtype=object)
    return (b, weights) if (r + G @ exact < exact).all() else None


def _system(
    problem: LinearProblem, box: Box, open_axes: Integers, rows: Integers, weights: list[list[Fraction]]
) -> tuple[Array, Array]:
    """R and G of |θ| ≤ r + G |θ| for the open unknowns, exactly; the others are in r with what the box says."""
    noise, p = problem.noise, len(box)
    assert isinstance(noise, Bounded)
    e, D = (
        np.broadcast_to(noise.radius, problem.y.shape),
        np.zeros((1, 1)) if noise.regressor is None else noise.regressor,
    )
    parts = [problem.W[rows], problem.y[rows, None], e[rows, None], np.broadcast_to(D, problem.W.shape)[rows]]
    data, exponent = integers(np.hstack(parts))
    shut = np.setdiff1d(np.arange(p), open_axes)
    most, power = integers(np.maximum(abs(box.lower), abs(box.upper))[shut])
    greatest = [int(x) * Fraction(2) ** power for x in most]
    r, G = np.empty(len(open_axes), dtype=object), np.empty((len(open_axes), len(open_axes)), dtype=object)
    for i, (axis, exact) in enumerate(zip(open_axes, weights, strict=True)):
        numerators, denominator = over_common_denominator(exact)
        unit = Fraction(2) ** exponent / denominator
        taken, blurred = numerators @ data[:, :p], abs(numerators) @ data[:, p + 2 :]
        parts_of = [abs((j == axis) - unit * int(taken[j])) + unit * int(blurred[j]) for j in range(p)]
        r[i] = unit * (abs(int(numerators @ data[:, p])) + int(abs(numerators) @ data[:, p + 1]))
        r[i] += sum((parts_of[j] * x for j, x in zip(shut, greatest, strict=True)), Fraction(0))
        G[i] = [parts_of[j] for j in open_axes]
    return r, G
