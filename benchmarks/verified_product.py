"""Verified matrix products against plain ones and against ball arithmetic, on the same data in one run.

Ratios, not times: `verified / plain` says what a proof costs (target: at most 6), `arb / verified` what BLAS buys
(target: at least 50). `arb / plain` is what could be had without any proof. The verified enclosure is checked to hold
the exact rational product, in sampled entries.
"""

from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, ctx

from benchmarks._timing import seconds
from gough.core.midrad import MidRad
from gough.core.products import matmul

SIZE = 200
REPETITIONS = 41
SAMPLED = 40


def as_arb(x: MidRad) -> arb_mat:
    pairs = zip(x.mid.ravel().tolist(), x.rad.ravel().tolist(), strict=True)
    return arb_mat(*x.shape, [arb(mid, rad) for mid, rad in pairs])


def contains_exact(result: MidRad, A: np.ndarray, B: np.ndarray, rng: np.random.Generator) -> bool:
    """Whether |A B - mid| <= rad in sampled entries, exactly."""
    for i, j in rng.integers(SIZE, size=(SAMPLED, 2)):
        exact = sum(Fraction(a) * Fraction(b) for a, b in zip(A[i].tolist(), B[:, j].tolist(), strict=True))
        if abs(exact - Fraction(result.mid[i, j].item())) > Fraction(result.rad[i, j].item()):
            return False
    return True


def main() -> None:
    """Print the ratios for products of numbers, of numbers and sets, and of sets."""
    # The C library returns memory to the system eagerly until a process has freed one large block, as any that read a
    # recording has; page faults would otherwise double all times but those of the plain product.
    np.zeros(2**21)
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((2, SIZE, SIZE))
    P, Q = (MidRad(x, 1e-9 * np.abs(x)) for x in (A, B))
    zero = np.zeros_like(A)
    cases = {
        "point x point": (A, B, MidRad(A, zero), MidRad(B, zero)),
        "point x set": (A, Q, MidRad(A, zero), Q),
        "set x set": (P, Q, P, Q),
    }
    ctx.prec = 53
    print(f"n = {SIZE}, median of {REPETITIONS} runs")
    titles = ("plain @", "verified", "arb_mat", "verified/plain", "arb/verified", "arb/plain", "holds")
    print(" " * 14 + "".join(f"{title:>15}" for title in titles))
    for name, (left, right, left_ball, right_ball) in cases.items():
        x, y = as_arb(left_ball), as_arb(right_ball)
        plain = seconds(lambda: A @ B, REPETITIONS)
        verified = seconds(lambda left=left, right=right: matmul(left, right), REPETITIONS)
        ball = seconds(lambda x=x, y=y: x * y, 5)
        sound = contains_exact(matmul(left, right), A, B, rng)
        times = "".join(f"{1e3 * t:12.2f} ms" for t in (plain, verified, ball))
        ratios = "".join(f"{ratio:15.1f}" for ratio in (verified / plain, ball / verified, ball / plain))
        print(f"{name:14}{times}{ratios}{'yes' if sound else 'NO':>15}")


if __name__ == "__main__":
    main()
