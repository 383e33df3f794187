"""Criteria against finite differences, exact values and what changes of units do to them."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.designs.excitation import CRITERIA, DesignProblem, MotionLimits
from gough.robots import Delta


def information(rng, p=5, decades=2.0):
    W = rng.normal(size=(40, p)) * 10.0 ** rng.uniform(-decades, decades, p)
    return W.T @ W


@pytest.mark.parametrize("criterion", CRITERIA.values(), ids=list(CRITERIA))
def test_derivatives(criterion, rng):
    # differences of eigenvalues err by the condition of M times 1e-16 over the step: few decades keep that below 1e-5
    M, typical = information(rng, decades=0.5), 10.0 ** rng.uniform(-1, 1, 5)
    d = np.sqrt(np.diag(M))
    change = rng.normal(size=(5, 5)) * np.outer(d, d)
    change += change.T
    step = 1e-7
    by_differences = (criterion.value(M + step * change, typical) - criterion.value(M - step * change, typical)) / (
        2 * step
    )
    derivative = criterion.derivative(M, typical)
    assert (derivative * change).sum() == pytest.approx(by_differences, rel=1e-5)
    np.testing.assert_allclose(derivative, derivative.T, rtol=1e-9, atol=1e-12 * np.abs(derivative).max())


def test_values_are_what_their_names_say(rng):
    W = rng.normal(size=(40, 4))
    M, one = W.T @ W, np.ones(4)
    covariance, sizes = np.linalg.inv(M), np.linalg.svd(W, compute_uv=False)
    values = {name: each.value(M, one) for name, each in CRITERIA.items()}
    assert values["D"] == pytest.approx(np.log(np.linalg.det(covariance)))
    assert values["A"] == pytest.approx(np.log(np.trace(covariance)))
    assert values["E"] == pytest.approx(np.log(np.linalg.eigvalsh(covariance)[-1]))
    assert values["condition"] == pytest.approx(np.log(sizes[0] / sizes[-1]))
    scaled = np.linalg.svd(W / np.linalg.norm(W, axis=0), compute_uv=False)
    assert values["scaled condition"] == pytest.approx(np.log(scaled[0] / scaled[-1]))


@pytest.mark.parametrize("name", ["D", "A", "E", "scaled condition"])
def test_units_do_not_matter(name, rng):
    """A parameter in grams instead of kilograms adds the same constant to all motions, or nothing."""
    units, typical = 10.0 ** rng.uniform(-3, 3, 5), np.ones(5)
    first, second = information(rng), information(rng)
    criterion = CRITERIA[name]
    before = criterion.value(first, typical) - criterion.value(second, typical)
    scaled = [M / np.outer(units, units) for M in (first, second)]
    after = criterion.value(scaled[0], typical * units) - criterion.value(scaled[1], typical * units)
    assert after == pytest.approx(before, rel=1e-6)


def test_units_matter_to_the_raw_condition(rng):
    M = information(rng)
    units = np.array([1e3, 1, 1, 1, 1])
    criterion = CRITERIA["condition"]
    changed = criterion.value(M / np.outer(units, units), np.ones(5))
    assert abs(changed - criterion.value(M, np.ones(5))) > 0.1


@pytest.mark.parametrize("criterion", CRITERIA.values(), ids=list(CRITERIA))
def test_what_tells_nothing_is_infinitely_bad(criterion):
    assert criterion.value(np.diag([1.0, 0.0]), np.ones(2)) == np.inf


def test_an_unknown_criterion_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="no criterion is called 'conditon'; did you mean 'condition'"):
        DesignProblem(Delta(), MotionLimits(speeds=8.0, efforts=10.0), criterion="conditon")
