"""The Par4 identified as in [NCPP], where the truth is known: gains, six parameters against one for each chain."""

from dataclasses import replace

import numpy as np
import pytest

from gough.data import default_steps, prepare
from gough.dynamics import Finding, gain_from_static_tests, identify
from gough.simulate import par4
from tests.dynamics.compared import compared


@pytest.fixture(scope="module")
def laboratory():
    """A robot whose chains differ, under cascade control; gains from its static tests."""
    campaign = par4(np.random.default_rng(1))
    tests = campaign.static_tests
    gains = [gain_from_static_tests(tests.voltages, tests.forces[:, i], tests.lever) for i in range(4)]
    return campaign, gains


@pytest.fixture(scope="module")
def motions(laboratory):
    campaign, gains = laboratory
    voltages = {name: f"V{i + 1}" for i, name in enumerate(campaign.robot.actuators)}
    steps = default_steps(1000.0, gain=tuple(g.gain for g in gains))
    runs = (campaign.experiment.run(np.random.default_rng(2)), campaign.validation.run(np.random.default_rng(3)))
    return [prepare(run.recording, campaign.robot.coordinates, voltages, steps) for run in runs]


def test_gains_are_found_from_static_forces(laboratory):
    """[NCPP, eq. (24)]: each within its 95 % interval or little beyond, four of four within 1 %."""
    campaign, gains = laboratory
    for truth, found in zip(campaign.gain, gains, strict=True):
        assert abs(found.gain - truth) < 4 * found.fit.region.sigma[0]
        assert found.gain == pytest.approx(truth, rel=0.01)


@pytest.fixture(scope="module")
def found(laboratory, motions):
    motion, other = motions
    return identify(laboratory[0].robot, motion, methods=["weighted", "Gauss–Markov", "hull", "ellipsoid"],
                    validation=other)  # fmt: skip


def test_parameters_are_off_by_what_the_gains_are(laboratory, found):
    """Half a percent in a gain is half a percent in every parameter of that motor: σ does not know of it."""
    truth = laboratory[0].truth
    answer = found["weighted"]
    allowed = 4.5 * answer.region.sigma + 0.01 * abs(truth)
    assert (abs(answer.value - truth) < allowed).all()
    assert truth in found["hull"].region
    assert truth in found["ellipsoid"].region


def test_six_parameters_are_too_few_for_chains_that_differ(laboratory, motions, found):
    motion, other = motions
    assert found.adequacy.recommended == "rods"
    six, adequacy = compared(replace(laboratory[0].robot, variant="paper"), motion, other)
    assert len(six["weighted"].value) == 6
    assert adequacy.finding is Finding.INADEQUATE
    assert adequacy.recommended == "rods"
    assert "lacks differences between the chains and the inertia of the rods" in adequacy.verdict
    assert adequacy.fits[0].overall > 1.5 * adequacy.fits[-1].overall


def test_prediction_on_another_trajectory(found):
    """The paper's figure 7 in numbers: rms over peak, and every measured torque within the exact bounds."""
    assert found.validation.predictions["weighted"].relative_rms.max() < 0.015
    assert (found.validation.exact.covered == 1).all()
