"""The comparison of simplified models with the full mechanism."""

import numpy as np
import pytest

from gough.robots import H4, Par4
from gough.simulate.multibody import Multibody, compare
from tests.simulate.multibody.motions import NEEDS, rms, swing

pytest.importorskip("pinocchio", reason=NEEDS)


def test_errors_are_what_they_say():
    whole = H4()
    motion = swing(whole)
    found = compare(whole, *motion)
    full = Multibody(whole).efforts(*motion)
    paper, weighed, _ = whole.variants
    for model, robot in ((found.models[1], paper), (found.models[2], weighed)):
        error = robot.regressor_kernel()(*motion) @ robot.parameters_of_parts() - full
        assert model.rms == pytest.approx(rms(error))
        assert model.largest == pytest.approx(np.abs(error).max())
        assert found.ratios(model) == pytest.approx((rms(error) / np.abs(full).max(), rms(error) / rms(full)))


def test_the_robots_own_variant_is_without_effect():
    motion = swing(Par4())
    assert compare(Par4(variant="paper"), *motion) == compare(Par4(), *motion)


def test_it_prints_a_table():
    lines = str(compare(H4(), *swing(H4()))).splitlines()
    assert lines[0].split("  ")[0] == "H4, error in %"
    assert [line.split("  ")[0] for line in lines[2:]] == [
        "rods ignored",
        "rods halved",
        "+ weight of arms and rods",
        "+ inertia of rods",
    ]
