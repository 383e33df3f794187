"""All estimators beside each other, for a robot with all parameters visible and for one with combinations."""

from dataclasses import replace

import numpy as np
import pytest

from gough import InputError
from gough.identification import identify_repeated
from tests.assemble.periodic_data import ROBOTS, experiment


@pytest.mark.parametrize("name", ROBOTS)
def test_estimators_beside_each_other(name):
    of = experiment(ROBOTS[name], positions=3e-3, efforts=0.1)
    steps = []
    found = identify_repeated(of.robot, of.run(np.random.default_rng(1)), orders=[2, 3, 4], on_step=steps.append)
    assert found.order.order == 3
    assert [step.number for step in steps] == [1, 2, 3, 4, 5]
    assert list(found.estimates)[-1] == "maximum likelihood"
    assert len({e.unknowns.names for e in found.estimates.values()}) == 1
    assert not found.refused
    assert found.disagreement["least squares"] < 1e-4
    assert found.disagreement["instrumental variables"] > 1e-3
    assert found.disagreement["maximum likelihood"] == 1
    assert "than their own uncertainty allows: least squares" in str(found)
    assert "Positions and efforts err independently: not refuted" in str(found)
    with pytest.raises(InputError, match="no estimate is called 'ML'"):
        found["ML"]


def test_common_errors_of_positions_and_efforts_are_named_and_lost_readings_borne():
    of = experiment(ROBOTS["five-bar"])
    motion = of.run(np.random.default_rng(1))
    common = np.random.default_rng(2).normal(size=(5, 200, 1))
    q, efforts = motion.q + 1e-3 * common, motion.efforts + 0.2 * common
    q[2, 7, 1] = np.nan
    together = replace(motion, q=q, efforts=efforts)
    found = identify_repeated(of.robot, together, orders=[3], independent=False)
    assert any("err together" in words and "independent = false" in words for words in found.verdicts)
    assert found.likeliest.stats.chi_squared == pytest.approx(1.0, abs=0.15)
