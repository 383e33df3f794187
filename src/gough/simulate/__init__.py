"""Experiments: what to move, robots whose parameters are known, and how they are recorded."""

from gough.simulate.benchmark_circle import benchmark_circle
from gough.simulate.calibration_campaign import (
    CalibrationCampaign,
    Faults,
    MeasuredCampaign,
    PoseNoise,
    extremal_readings,
)
from gough.simulate.closed_loop import ClosedLoop, Followed
from gough.simulate.control import Cascade, Controller, JointPI, Law
from gough.simulate.demos import DEMOS, Campaign, Demo, delta, five_bar, h4, par4
from gough.simulate.demos_periodic import PeriodicCampaign, palida, palida_excitation
from gough.simulate.excitation import Limits, SlowThenFast, condition
from gough.simulate.instruments import Instruments, Ripple
from gough.simulate.monte_carlo import Campaigned, MonteCarlo, Progress
from gough.simulate.noise import EffortNoise, Errors, UniformNoise
from gough.simulate.periodic import PeriodicExperiment, white
from gough.simulate.pick_and_place import PickAndPlace
from gough.simulate.simulated_instruments import SimulatedInstruments
from gough.simulate.simulated_robot import Mechanism, SimulatedRobot
from gough.simulate.spread import Spread
from gough.simulate.static_tests import StaticForceTests, static_force_tests
from gough.simulate.trajectories import FourierSeries, Motion, Periodic, Trajectory
from gough.simulate.trajectories_export import as_recording
from gough.simulate.trajectories_pose import Circle, PolynomialPath, Ramped
from gough.simulate.virtual import SimulatedRecording, TrueMotion, VirtualExperiment

__all__ = [
    "DEMOS",
    "CalibrationCampaign",
    "Campaign",
    "Campaigned",
    "Cascade",
    "Circle",
    "ClosedLoop",
    "Controller",
    "Demo",
    "EffortNoise",
    "Errors",
    "Faults",
    "Followed",
    "FourierSeries",
    "Instruments",
    "JointPI",
    "Law",
    "Limits",
    "MeasuredCampaign",
    "Mechanism",
    "MonteCarlo",
    "Motion",
    "Periodic",
    "PeriodicCampaign",
    "PeriodicExperiment",
    "PickAndPlace",
    "PolynomialPath",
    "PoseNoise",
    "Progress",
    "Ramped",
    "Ripple",
    "SimulatedInstruments",
    "SimulatedRecording",
    "SimulatedRobot",
    "SlowThenFast",
    "Spread",
    "StaticForceTests",
    "Trajectory",
    "TrueMotion",
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
    "white",
]
