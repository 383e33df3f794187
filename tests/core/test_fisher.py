"""Tails of Fisher's distribution where they have closed forms."""

import flint
import numpy as np
import pytest

from gough.core.fisher import above, below


@pytest.mark.parametrize("ratio", [1e-6, 0.3, 1.0, 4.0, 80.0])
@pytest.mark.parametrize("dof", [0.5, 3.0, 1e3, 1e9, 1e16, 1e20, 1e37, 1e200, np.inf])
def test_two_degrees_of_freedom(ratio, dof):
    """P(F > x) = (1 + 2x/n)^(-n/2), and exp(-x) for n → ∞."""
    wanted = np.exp(-ratio if dof > 1e30 else -dof / 2 * np.log1p(2 * ratio / dof))
    assert above(2.0, dof, ratio) == pytest.approx(wanted, rel=1e-11)
    assert below(2.0, dof, ratio) == pytest.approx(1 - wanted, rel=1e-9, abs=1e-16)


def test_ordinary_degrees_of_freedom(rng):
    """Against the incomplete beta function of another library, in 100 digits."""
    a, b, ratio = rng.uniform(0.5, 1e3, 300), rng.uniform(0.5, 1e3, 300), np.exp(rng.normal(0, 2, 300))
    with flint.ctx.workdps(100):
        for each in zip(a, b, ratio, strict=True):
            d, n, x = map(flint.arb, each)
            under = (d * x / (d * x + n)).beta_lower(d / 2, n / 2, regularized=True)
            assert above(*each) == pytest.approx(float(1 - under), rel=1e-10, abs=1e-95)
            assert below(*each) == pytest.approx(float(under), rel=1e-10, abs=1e-95)


def test_ends():
    assert above(3.0, 5.0, np.array([0.0, np.inf])).tolist() == [1.0, 0.0]
    assert below(3.0, np.inf, np.array([0.0, np.inf])).tolist() == [0.0, 1.0]
    assert np.isnan([above(0.0, 5.0, 1.0), above(5.0, 0.0, 1.0), below(3.0, 5.0, np.nan), above(3.0, 5.0, -1.0)]).all()
