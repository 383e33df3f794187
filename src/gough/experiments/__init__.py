"""Experiments: what to move, and recordings of robots whose parameters are known."""

from gough.experiments.demos import five_bar
from gough.experiments.trajectories import FourierSeries, Motion
from gough.experiments.virtual import EffortNoise, VirtualExperiment, VirtualRecording

__all__ = ["EffortNoise", "FourierSeries", "Motion", "VirtualExperiment", "VirtualRecording", "five_bar"]
