"""The comparison of simplified models with the full mechanism."""

from dataclasses import replace

import numpy as np
import pytest

from gough.simulate.multibody import H4Mechanism, Par4Mechanism, compare
from tests.simulate.multibody.motions import NEEDS, rms, swing

pytest.importorskip("pinocchio", reason=NEEDS)


def test_errors_are_what_they_say():
    mechanism = H4Mechanism()
    motion = swing(mechanism)
    found = compare(mechanism, *motion)
    full = mechanism.efforts(*motion)
    paper, weighed, _ = mechanism.robot.variants
    for model, robot in ((found.models[1], paper), (found.models[2], weighed)):
        error = robot.regressor_kernel()(*motion) @ mechanism.parameters(robot.variant) - full
        assert model.rms == pytest.approx(rms(error))
        assert model.largest == pytest.approx(np.abs(error).max())
        assert found.ratios(model) == pytest.approx((rms(error) / np.abs(full).max(), rms(error) / rms(full)))


def test_the_robots_own_variant_is_without_effect():
    mechanism = Par4Mechanism()
    motion = swing(mechanism)
    simple = replace(mechanism, robot=replace(mechanism.robot, variant="paper"))
    assert compare(simple, *motion) == compare(mechanism, *motion)


def test_it_prints_a_table():
    lines = str(compare(H4Mechanism(), *swing(H4Mechanism()))).splitlines()
    assert lines[0].split("  ")[0] == "H4, error in %"
    assert [line.split("  ")[0] for line in lines[2:]] == [
        "rods ignored",
        "rods halved",
        "+ weight of arms and rods",
        "+ inertia of rods",
    ]
