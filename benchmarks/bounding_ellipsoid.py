"""Bounding ellipsoids: time per update against plain NumPy on the same data, widths by effort, the price of a proof.

The NumPy rival is [PRV03e, eq. (30)] with its δ corrected, as one would write it: matrices, solve, outer. BLAS gets one
thread, which is what suits the rival best.
"""

from time import perf_counter

import numpy as np

from gough import Bounded, Box, LinearProblem, Unknowns, estimate
from gough.core.threads import one_blas_thread
from gough.methods import BoundingEllipsoid, EllipsoidStream, Form, LinearHull
from gough.methods.ellipsoids.batch import TRACE, refine
from gough.methods.ellipsoids.bounding import bounded_prior
from gough.methods.ellipsoids.bounding import recursion as compiled_recursion
from gough.methods.ellipsoids.proof import prove
from gough.methods.ellipsoids.strips import centered, strips_of

BOUND = 0.05


def problem(n, p, seed=7):
    """A regressor like a robot's: Fourier motion, products, friction; columns scaled by 1e-3 to 1e3."""
    rng = np.random.default_rng(seed)
    t, k = np.linspace(0, 20, n), np.arange(1, 6)[:, None]
    q, v, a = [], [], []
    for j in range(4):
        w = 2 * np.pi * 0.05 * k * (1 + 0.1 * j)
        c, s = rng.normal(size=(2, 5, 1)) / k
        q.append((c * np.sin(w * t) + s * np.cos(w * t)).sum(axis=0))
        v.append((w * (c * np.cos(w * t) - s * np.sin(w * t))).sum(axis=0))
        a.append((-w * w * (c * np.sin(w * t) + s * np.cos(w * t))).sum(axis=0))
    columns = [a[0], a[1] * np.cos(q[1]), a[2] * np.sin(q[2]), v[0] ** 2 * np.sin(q[1]), v[1] ** 2 * np.cos(q[2])]
    columns += [v[2] * v[0], np.cos(q[0]), np.sin(q[1]), np.cos(q[1] + q[2]), np.sign(v[0]), v[0], np.sign(v[1]), v[1]]
    columns += [np.ones(n), *(np.sin((i + 2) * q[i % 4]) * a[(i + 1) % 4] for i in range(p))]
    W = np.array(columns[:p]).T
    W += 0.02 * rng.normal(size=W.shape) * W.std(axis=0).clip(0.1)
    scale = 10.0 ** rng.uniform(-3, 3, p)
    W, theta = W * scale, rng.uniform(0.5, 3, p) * rng.choice([-1, 1], p) / scale
    y = W @ theta + rng.uniform(-BOUND, BOUND, n)
    prior = Box(theta - 10 * abs(theta) - 1 / scale, theta + 12 * abs(theta) + 1 / scale)
    return LinearProblem(W, y, Unknowns([f"p_{i}" for i in range(p)], prior=prior), Bounded(BOUND))


def plain(linear):
    """The recursion in NumPy, uncut, determinant criterion."""
    prior, p = linear.unknowns.bounds, len(linear.unknowns)
    c, M = prior.center, np.diag(1 / (p * (prior.width / 2) ** 2))
    for d, y in zip(linear.W / BOUND, linear.y / BOUND, strict=True):
        g, e = d @ np.linalg.solve(M, d), y - d @ c
        if p * (1 - e**2) >= g:
            continue
        a1, a2, a3 = (p - 1) * g**2, g * (2 * p - 1 - g + e**2), p * (1 - e**2) - g
        alpha = 1 / (1 + (-a2 + np.sqrt(a2 * a2 - 4 * a1 * a3)) / (2 * a1))
        N = alpha * M + (1 - alpha) * np.outer(d, d)
        c = np.linalg.solve(N, alpha * M @ c + (1 - alpha) * d * y)
        M = N / (1 - alpha * (1 - alpha) * e**2 / (alpha + (1 - alpha) * g))
    return c, np.linalg.inv(M)


def timed(work, repetitions=5):
    """The result and the least time of a call, after one to warm up."""
    result, times = work(), []
    for _ in range(repetitions):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return result, min(times)


def taken_in(linear):
    stream = EllipsoidStream(linear.unknowns, cut=False)
    stream.update_many(linear.W, linear.y, BOUND)
    return stream.estimate().region


def strips(linear):
    box = bounded_prior(linear.unknowns, None)
    mid, half, free = centered(linear, linear.noise, box)
    return strips_of(linear.W, mid, half, free, box)


def speed(p, n=5000):
    linear = problem(n, p)
    with one_blas_thread():
        scaled = strips(linear)
        (c, P), slow = timed(lambda: plain(linear), 3)
        times = [
            timed(lambda form=form: compiled_recursion(scaled, BoundingEllipsoid(cut=False, rounds=0, form=form)))[1]
            for form in Form
        ]
    region = taken_in(linear)
    width = np.sqrt(P.diagonal())
    shape = abs((region.shape - P) / np.outer(width, width)).max()
    difference = max(shape, abs((region.center - c) / width).max())
    rows = list(zip(linear.W, linear.y, strict=True))

    def one_by_one():
        stream = EllipsoidStream(linear.unknowns, cut=False)
        for d, y in rows:
            stream.update(d, y, BOUND)

    _, single = timed(one_by_one, 3)
    print(f"  p = {p}: NumPy {slow / n * 1e6:.1f} µs; disagreement {difference:.1e}")
    for name, seconds in zip(("standard", "factorized", "row by row"), (*times, single), strict=True):
        print(f"    {name:10s} {seconds / n * 1e6:5.2f} µs  {slow / seconds:5.0f} times faster")


def widths(n, p=14):
    linear = problem(n, p)
    hull, seconds = timed(lambda: estimate(linear, LinearHull()), 1)
    exact = hull.region.hull().width
    print(f"  N = {n}: exact hull by linear programming, {seconds:.2f} s")
    for name, method in {
        "1 pass": BoundingEllipsoid(cut=False, rounds=0),
        "10 passes": BoundingEllipsoid(cut=False, rounds=0, passes=10),
        "10 passes, cutting": BoundingEllipsoid(rounds=0, passes=10),
        "batch": BoundingEllipsoid(cut=False),
        "batch, cut, repeated": BoundingEllipsoid(),
        "  the same, trace": BoundingEllipsoid(criterion=TRACE),
    }.items():
        answer, seconds = timed(lambda method=method: estimate(linear, method), 1)
        ratio = np.median(answer.region.hull().width / exact)
        print(f"    {name:22s} {ratio:7.1f} times the hull  {seconds:6.3f} s  {answer.claim.name}")


def price_of_proof(n=100_000, p=14):
    linear = problem(n, p)
    with one_blas_thread():
        scaled = strips(linear)
        run = compiled_recursion(scaled, BoundingEllipsoid(cut=False))
        batch = refine(scaled, run.weights, 0.0, 1, 1e-3)
        for name, weights in (("recursion", run.weights), ("batch", batch.weights)):
            used = np.flatnonzero(weights)
            D, mid, half, w = scaled.take(used), scaled.mid[used], scaled.half[used], weights[used]
            proved, seconds = timed(lambda D=D, mid=mid, half=half, w=w: prove(D, mid, half, w).ellipsoid())
            root = np.linalg.inv(np.linalg.qr(np.sqrt(w)[:, None] * D, mode="r"))
            s = (w * (half**2 - (mid - D @ proved.center) ** 2)).sum()
            inflation = np.sqrt(proved.shape.diagonal() / (s * (root * root).sum(axis=1))).max() - 1
            print(f"  {name:9s} {len(used):6d} strips in use: inflation {inflation:.1e}, {1e3 * seconds:.1f} ms")


def main() -> None:
    """Print times per update, widths by effort, and inflation and time of the proof."""
    print("Recursion, 5000 rows, determinant")
    for p in (14, 24):
        speed(p)
    print("Median width of the ellipsoid's box, p = 14")
    for n in (2000, 100_000):
        widths(n)
    print("Proof of an ellipsoid, N = 100000, p = 14")
    price_of_proof()


if __name__ == "__main__":
    main()
