"""Experiments: what to move, robots whose parameters are known, and how they are recorded."""

from gough.simulate.calibration_campaign import (
    CalibrationCampaign,
    Faults,
    MeasuredCampaign,
    PoseNoise,
    extremal_readings,
)
from gough.simulate.closed_loop import ClosedLoop, Followed
from gough.simulate.control import Cascade, Controller, JointPI, Law
from gough.simulate.demos import (
    DEMOS,
    Campaign,
    Demo,
    PeriodicCampaign,
    delta,
    five_bar,
    h4,
    palida,
    palida_excitation,
    par4,
)
from gough.simulate.excitation import Limits, SlowThenFast, condition
from gough.simulate.instruments import Instruments, Ripple
from gough.simulate.monte_carlo import Campaigned, MonteCarlo
from gough.simulate.noise import EffortNoise, Errors, UniformNoise
from gough.simulate.periodic import PeriodicExperiment, white
from gough.simulate.simulated_robot import EffortModel, SimulatedRobot
from gough.simulate.spread import Spread
from gough.simulate.static_tests import StaticForceTests, static_force_tests
from gough.simulate.tracking import LAWS, Loop, PredictiveLaw, TorqueModel, Tracked, Tuned, track
from gough.simulate.trajectories import (
    Circle,
    FourierSeries,
    Motion,
    Periodic,
    PickAndPlace,
    PolynomialPath,
    Ramped,
    Trajectory,
    as_recording,
    benchmark_circle,
)
from gough.simulate.virtual import SimulatedInstruments, SimulatedRecording, TrueMotion, VirtualExperiment

__all__ = [
    "DEMOS",
    "LAWS",
    "CalibrationCampaign",
    "Campaign",
    "Campaigned",
    "Cascade",
    "Circle",
    "ClosedLoop",
    "Controller",
    "Demo",
    "EffortModel",
    "EffortNoise",
    "Errors",
    "Faults",
    "Followed",
    "FourierSeries",
    "Instruments",
    "JointPI",
    "Law",
    "Limits",
    "Loop",
    "MeasuredCampaign",
    "MonteCarlo",
    "Motion",
    "Periodic",
    "PeriodicCampaign",
    "PeriodicExperiment",
    "PickAndPlace",
    "PolynomialPath",
    "PoseNoise",
    "PredictiveLaw",
    "Ramped",
    "Ripple",
    "SimulatedInstruments",
    "SimulatedRecording",
    "SimulatedRobot",
    "SlowThenFast",
    "Spread",
    "StaticForceTests",
    "TorqueModel",
    "Tracked",
    "Trajectory",
    "TrueMotion",
    "Tuned",
    "UniformNoise",
    "VirtualExperiment",
    "as_recording",
    "benchmark_circle",
    "condition",
    "delta",
    "extremal_readings",
    "five_bar",
    "h4",
    "palida",
    "palida_excitation",
    "par4",
    "static_force_tests",
    "track",
    "white",
]
