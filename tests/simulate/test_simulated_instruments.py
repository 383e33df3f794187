"""IDIM-IV: instruments from closed-loop simulations with the present parameters."""

from dataclasses import replace

import numpy as np
import pytest

from gough import InputError, LinearProblem, Unknowns, estimate
from gough.data import Decimate, Differentiate, EffortFromDriveSignal, LowPass, MaskReversals, Trim, prepare
from gough.dynamics import recorded
from gough.methods import InstrumentalVariables, WeightedLeastSquares
from gough.robots import H4
from gough.simulate import Instruments, SimulatedInstruments, h4

STEPS = (
    EffortFromDriveSignal(1.5),
    LowPass(80.0),
    Differentiate(),
    MaskReversals(0.5, 0.05),
    Trim(0.1),
    Decimate(5),
)


@pytest.fixture(scope="module")
def experiment():
    """An H4 under control whose encoders are coarse, so that differentiated positions are noisy."""
    campaign = h4(np.random.default_rng(1), robot=H4(variant="paper"), seconds=(1.0, 3.0), candidates=2)
    return replace(campaign.experiment, instruments=Instruments(gain=1.5, encoder_counts=20000, noise=0.05))


def test_unbiased_where_least_squares_is_not(experiment):
    robot, truth = experiment.robot, experiment.parameters
    recording = experiment.run(np.random.default_rng(3)).recording
    efforts = dict(zip(robot.actuators, ("V1", "V2", "V3", "V4"), strict=True))
    motion = prepare(recording, list(robot.coordinates), efforts, STEPS)
    problem = recorded(robot, motion)
    method = InstrumentalVariables(SimulatedInstruments(experiment, motion.rate, motion.start), rtol=0.02)
    usual, simulated = estimate(problem, WeightedLeastSquares()), estimate(problem, method)
    sigma = simulated.region.sigma
    assert abs((usual.value - truth) / sigma).max() > 8
    assert abs((simulated.value - truth) / sigma).max() < 4


def test_rows_beyond_the_experiment_are_refused(experiment):
    unknowns = Unknowns(experiment.robot.names)
    rows = LinearProblem(np.ones((40, 14)), np.ones(40), unknowns, groups=experiment.robot.actuators)
    with pytest.raises(InputError, match="check rate and start"):
        SimulatedInstruments(experiment, rate=100.0, start=1e3)(rows, experiment.parameters)
    with pytest.raises(InputError, match="state columns"):
        SimulatedInstruments(experiment, rate=100.0, columns=(0, 1))(rows, experiment.parameters)
