"""Experiments: what to move, machines whose parameters are known, and how they are recorded."""

from gough.experiments.benchmark_circle import benchmark_circle
from gough.experiments.calibration_campaign import (
    CalibrationCampaign,
    Faults,
    MeasuredCampaign,
    PoseNoise,
    extremal_readings,
)
from gough.experiments.closed_loop import ClosedLoop, Followed
from gough.experiments.control import Cascade, Controller, JointPI, Law
from gough.experiments.demos import DEMOS, Campaign, Demo, delta, five_bar, h4, par4
from gough.experiments.demos_periodic import PeriodicCampaign, palida, palida_excitation
from gough.experiments.excitation import Limits, SlowThenFast, condition
from gough.experiments.instruments import Instruments, Ripple
from gough.experiments.machine import Machine, Mechanism
from gough.experiments.monte_carlo import Campaigned, MonteCarlo, Progress
from gough.experiments.noise import EffortNoise, Errors, UniformNoise
from gough.experiments.periodic import PeriodicExperiment, white
from gough.experiments.pick_and_place import PickAndPlace
from gough.experiments.simulated_instruments import SimulatedInstruments
from gough.experiments.spread import Spread
from gough.experiments.static_tests import StaticForceTests, static_force_tests
from gough.experiments.trajectories import FourierSeries, Motion, Periodic, Trajectory
from gough.experiments.trajectories_export import as_recording
from gough.experiments.trajectories_pose import Circle, PolynomialPath, Ramped
from gough.experiments.virtual import SimulatedRecording, TrueMotion, VirtualExperiment

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
    "Machine",
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
