"""Random small problems around points that lie exactly on the edge of the bounds: how many does each method lose?

python -m benchmarks.containment [trials [seed]]

A trial is one θ that satisfies all rows and the prior in exact arithmetic, looked for in the answer of one contractor
or method that claims PROOF. The rows of a problem are the narrowest around some such points, so that each side of each
row goes through one of them. For contractors a dozen problems that share no unknown are stacked into one, which costs
little more than a few of them. An answer that does not move proves little, so the share of boxes that shrank is shown.
"""

import sys
import time
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np

from gough import Bounded, Box, Claim, Ellipsoid, LinearProblem, Unknowns, estimate
from gough.methods import (
    BoundingEllipsoid,
    Fixpoint,
    Form,
    GaussSeidel,
    HullAndEllipsoid,
    HullStream,
    LinearHull,
    RelaxedHull,
    RowContractor,
    Then,
    TightEllipsoid,
)
from gough.methods.ellipsoids.batch import TRACE

STACKED = 12
POINTS = 12


@dataclass
class Trials:
    """One method, how many of all trials it gets, and what became of them."""

    method: object
    share: float
    stacked: int = 1
    uncertain: bool = True
    """Can it take a W that is known to ± D only?"""
    outliers: int = 0
    count: int = field(default=0, init=False)
    lost: int = field(default=0, init=False)
    shrank: int = field(default=0, init=False)
    seconds: float = field(default=0.0, init=False)


def all_trials() -> list[Trials]:
    return [
        Trials(RowContractor(), 0.25, STACKED),
        Trials(GaussSeidel(), 0.12, STACKED),
        Trials(GaussSeidel(normalize=True), 0.06, STACKED),
        Trials(GaussSeidel(precondition=False), 0.06, STACKED),
        Trials(Then(GaussSeidel(), RowContractor()), 0.04, STACKED),
        Trials(LinearHull(), 0.2, STACKED, uncertain=False),
        Trials(LinearHull(), 0.04),
        Trials(Fixpoint(RowContractor()), 0.02, STACKED),
        Trials(Fixpoint(GaussSeidel()), 0.02, STACKED),
        Trials(RelaxedHull(1), 0.02, outliers=1),
        Trials(RelaxedHull(2), 0.01, outliers=2),
        Trials(HullStream(Unknowns(["a"])), 0.02, uncertain=False),
        Trials(BoundingEllipsoid(cut=False, rounds=0), 0.05),
        Trials(BoundingEllipsoid(rounds=0, form=Form.STANDARD, cut=False, passes=2), 0.02),
        Trials(BoundingEllipsoid(), 0.02),
        Trials(BoundingEllipsoid(criterion=TRACE), 0.01),
        Trials(TightEllipsoid(), 0.03, uncertain=False),
        Trials(HullAndEllipsoid(), 0.01, uncertain=False),
    ]


def edge_block(rng: np.random.Generator, *, uncertain: bool) -> tuple[np.ndarray, ...]:
    """(W, D, points, e, y, lower, upper) of so few bits that all is exact, with the least e that keeps every point."""
    p, n_rows, n_points = int(rng.integers(1, 4)), int(rng.integers(1, 9)), int(rng.integers(1, POINTS + 1))
    W = rng.integers(-15, 16, (n_rows, p)).astype(float)
    D = rng.integers(0, 4, (n_rows, p)) * (2.0 ** -int(rng.integers(0, 6)) if uncertain else 0.0)
    middle = rng.integers(-(2**16), 2**16, p) * 2.0**-10
    points = middle + rng.integers(-(2**10), 2**10, (n_points, p)) * 2.0 ** -int(rng.integers(4, 16))
    reach, blur = W @ points.T, D @ abs(points).T
    top = (reach - blur).max(axis=1)
    bottom = np.minimum((reach + blur).min(axis=1), top)
    room = rng.integers(0, 2**10, n_rows) * 2.0**-10 * (rng.random(n_rows) < 0.2)
    lower, upper = points.min(axis=0), points.max(axis=0)
    wider = rng.integers(0, 2**16, (2, p)) * 2.0**-8 * (rng.random((2, p)) < 0.9)
    return W, D, points, (top - bottom) / 2 + room, (top + bottom) / 2, lower - wider[0], upper + wider[1]


def edge_problem(
    rng: np.random.Generator, *, stacked: int = 1, uncertain: bool = False, outliers: int = 0
) -> tuple[LinearProblem, list[tuple[slice, np.ndarray]]]:
    """A problem, and for unknowns that belong together the points it must keep; powers of two as units of the rows."""
    blocks = [edge_block(rng, uncertain=uncertain) for _ in range(stacked)]
    rows, columns = (np.cumsum([0, *(b[0].shape[i] for b in blocks)]) for i in (0, 1))
    W, D = np.zeros((2, rows[-1], columns[-1]))
    for i, block in enumerate(blocks):
        here = slice(rows[i], rows[i + 1]), slice(columns[i], columns[i + 1])
        W[here], D[here] = block[0], block[1]
    e, y, lower, upper = (np.concatenate([b[i] for b in blocks]) for i in (3, 4, 5, 6))
    unit = np.ldexp(1.0, int(rng.integers(-300, 300)) + rng.integers(-20, 20, len(y)))
    wrong = rng.permutation(len(y))[:outliers]
    y[wrong] += rng.integers(1, 100, len(wrong))
    noise = Bounded(e * unit, D * unit[:, None]) if uncertain else Bounded(e * unit)
    unknowns = Unknowns([f"p_{i}" for i in range(len(lower))], prior=Box(lower, upper))
    kept = [(slice(a, b), block[2]) for (a, b), block in zip(pairwise(columns), blocks, strict=True)]
    return LinearProblem(W * unit[:, None], y * unit, unknowns, noise), kept


def region_of(method, problem: LinearProblem):
    """The answer, and whether it claims PROOF."""
    if hasattr(method, "contract"):
        return method.contract(problem, problem.unknowns.bounds), method.claim is Claim.PROOF
    if isinstance(method, HullStream):
        stream = HullStream(problem.unknowns)
        stream.update_many(problem.W, problem.y, problem.noise.radius)
        answer = stream.estimate()
    else:
        answer = estimate(problem, method, strict=False)
    return answer.region, answer.claim is Claim.PROOF


def holds(region, points: np.ndarray) -> np.ndarray:
    """Which of the points are in the region, in exact arithmetic?"""
    if isinstance(region, Ellipsoid):
        return np.array([in_ellipsoid(region, theta) for theta in points])
    if hasattr(region, "ellipsoid"):
        return holds(region.box, points) & holds(region.ellipsoid, points)
    return ((region.lower <= points) & (points <= region.upper)).all(axis=1)


def in_ellipsoid(region: Ellipsoid, theta: np.ndarray) -> bool:
    """(θ − c)ᵀ P⁻¹ (θ − c) ≤ 1 by elimination in fractions; where P is 0, θ = c."""
    left = [Fraction(a) - Fraction(b) for a, b in zip(theta.tolist(), region.center.tolist(), strict=True)]
    P = [[Fraction(v) for v in row] for row in region.shape.tolist()]
    total = Fraction(0)
    for k in range(len(left)):
        if P[k][k] == 0:
            if left[k] != 0:
                return False
            continue
        total += left[k] ** 2 / P[k][k]
        for i in range(k + 1, len(left)):
            factor = P[i][k] / P[k][k]
            left[i] -= factor * left[k]
            P[i] = [a - factor * b for a, b in zip(P[i], P[k], strict=True)]
    return total <= 1


def try_once(trials: Trials, rng: np.random.Generator) -> None:
    uncertain = trials.uncertain and rng.random() < 0.3
    stacked = trials.stacked if rng.random() < 0.95 else 1
    problem, kept = edge_problem(rng, stacked=stacked, uncertain=uncertain, outliers=trials.outliers)
    start = time.perf_counter()
    region, proof = region_of(trials.method, problem)
    trials.seconds += time.perf_counter() - start
    assert proof, f"{trials.method} claims less than a proof"
    shrank = region.hull().width < problem.unknowns.bounds.width
    for block, points in kept:
        part = region if len(kept) == 1 else region.project(range(block.start, block.stop))
        trials.count += len(points)
        trials.lost += int((~holds(part, points)).sum())
        trials.shrank += len(points) * bool(shrank[block].any())


def main(n_trials: int = 20_000, seed: int = 12) -> int:
    rng, table = np.random.default_rng(seed), all_trials()
    start, shown = time.perf_counter(), 0
    order = np.array([one.share / one.stacked for one in table])  # a call makes as many trials as it has problems
    while (done := sum(one.count for one in table)) < n_trials:
        try_once(table[rng.choice(len(table), p=order / order.sum())], rng)
        if done >= shown + 50_000:
            shown = done
            lost = sum(one.lost for one in table)
            print(f"  {done:9,} trials, {lost} lost, {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    lost = sum(one.lost for one in table)
    seconds = time.perf_counter() - start
    print(f"Containment at zero tolerance: {done:,} trials, {lost} lost, {seconds:.0f} s")
    for one in table:
        each, share = one.seconds / max(one.count, 1) * 1e3, one.shrank / max(one.count, 1)
        what = type(one.method).__name__ if isinstance(one.method, HullStream) else repr(one.method)
        print(f"  {what:70.70s} {one.count:8,} trials, {one.lost} lost, {share:4.0%} shrank, {each:6.2f} ms each")
    return lost


if __name__ == "__main__":
    sys.exit(min(main(*(int(x) for x in sys.argv[1:3])), 1))
