"""Nested models of a delta: leaning towers and unequal rods are found where they are, and not where they are not."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.geometry.instruments import (
    Instrument,
    Measurements,
    calibrate_by_instruments,
    calibrate_nested,
    shared_readings,
)
from gough.robots import LinearDelta, RodDelta

PRINTER = RodDelta()
HELD = ("effector", "side_*")
TIP = [0.0, 0.0, -0.04]


def measured(truth, rng, sigma=2e-5, n=80):
    """A reflector below the effector, at readings that a linear delta would need."""
    simple = LinearDelta()
    p = rng.uniform([-0.1, -0.1, 0.0], [0.1, 0.1, 0.15], (n, 3))
    q = simple.inverse(simple.nominal, p)
    poses = PRINTER.forward(truth, np.repeat(q, 2, axis=1))
    seen = poses.position + poses.rotation @ TIP + rng.normal(0, sigma, (n, 3))
    readings, covariance = shared_readings(q + rng.normal(0, 1e-5, q.shape), 1e-5, PRINTER.reading_of_chain)
    return Measurements(readings, covariance, [Instrument("tracker", "point", seen, 2e-5, point=TIP)])


def bent(rng, lean=0.0, mismatch=0.0):
    truth = PRINTER.nominal.copy()
    truth[:10] += rng.normal(0, 5e-4, 10)
    truth[10:16] = rng.normal(0, lean, 6)
    truth[16:19] = rng.normal(0, mismatch, 3)
    return truth


def test_without_lean_and_mismatch_it_is_a_linear_delta(rng):
    simple = LinearDelta()
    p = rng.uniform([-0.1, -0.1, 0.0], [0.1, 0.1, 0.15], (20, 3))
    theta = simple.nominal + rng.normal(0, 1e-3, 10)
    whole = np.concatenate([theta, PRINTER.nominal[10:]])
    readings = PRINTER.inverse(whole, p)
    assert abs(readings - np.repeat(simple.inverse(theta, p), 2, axis=1)).max() < 1e-13
    found = PRINTER.forward(whole, readings)
    assert abs(found.position - p).max() < 1e-10
    assert abs(found.rotation - np.eye(3)).max() < 1e-9


@pytest.mark.parametrize(
    ("lean", "mismatch", "needed"),
    [
        (0.0, 0.0, ("arms",)),
        (2e-3, 0.0, ("arms", "lean of the towers")),
        (2e-3, 2e-4, ("arms", "lean of the towers", "unequal rods")),
        (0.0, 2e-4, ("arms", "unequal rods")),
    ],
)
def test_what_is_bent_is_found(lean, mismatch, needed, rng):
    truth = bent(rng, lean, mismatch)
    data = measured(truth, rng)
    answer = calibrate_nested(PRINTER, data, PRINTER.NESTED, fixed=HELD)
    assert answer.nested.needed == needed
    assert not answer.refuted
    free = [i for i, name in enumerate(PRINTER.names) if name in answer.estimate.names]
    error = (answer.parameters - truth)[free] / answer.estimate.region.sigma
    assert 0.3 < np.sqrt((error**2).mean()) < 1.8
    assert f"need {needed[0]}" in answer.nested.words


def test_the_test_does_not_depend_on_the_size_of_the_stated_noise(rng):
    """Noise that is three times as large as stated: χ² refutes it, but nothing is blamed on the towers."""
    data = measured(bent(rng), rng, sigma=8e-5)
    answer = calibrate_nested(PRINTER, data, PRINTER.NESTED, fixed=HELD)
    assert answer.refuted
    assert "lean of the towers" not in answer.nested.needed
    assert "unequal rods" not in answer.nested.needed


def test_the_sum_of_squares_is_that_of_exactly_equal_readings(rng):
    """A shared sensor is the limit of readings that differ by less and less."""
    data = measured(bent(rng, 1e-3, 1e-4), rng, n=40)
    one = calibrate_by_instruments(PRINTER, data, fixed=HELD)
    tight = data.reading_sigma - np.diag(0.75 * 1e-6 * data.reading_sigma.diagonal())
    two = calibrate_by_instruments(PRINTER, Measurements(data.readings, tight, data.instruments), fixed=HELD)
    assert one.estimate.stats.chi_squared == pytest.approx(two.estimate.stats.chi_squared, rel=1e-5)
    assert abs((one.parameters - two.parameters)[:19] / one.estimate.region.sigma).max() < 1e-2


def test_groups_that_cannot_be_are_refused(rng):
    data = measured(bent(rng), rng, n=20)
    with pytest.raises(InputError, match="mapping of names"):
        calibrate_nested(PRINTER, data, [])
    with pytest.raises(InputError, match="has no parameters"):
        calibrate_nested(PRINTER, data, {"lean": []})
    with pytest.raises(InputError, match="no parameter matches 'bend_"):
        calibrate_nested(PRINTER, data, {"lean": ["bend_*"]}, fixed=HELD)
    with pytest.raises(InputError, match="positive lengths"):
        RodDelta(spacing=0.0)
    with pytest.raises(InputError, match="there are 3 sensors"):
        shared_readings(np.zeros((4, 2)), 1e-5, PRINTER.reading_of_chain)
