"""Trajectories with exact velocities and accelerations: periodic series, paths from rest to rest, pick and place."""

from gough.simulate.trajectories.paths import Circle, Joined, PolynomialPath, Ramped
from gough.simulate.trajectories.pick_and_place import PickAndPlace
from gough.simulate.trajectories.series import (
    FourierSeries,
    Motion,
    Periodic,
    Trajectory,
    as_recording,
    benchmark_circle,
    instants,
    require_count,
)

__all__ = [
    "Circle",
    "FourierSeries",
    "Joined",
    "Motion",
    "Periodic",
    "PickAndPlace",
    "PolynomialPath",
    "Ramped",
    "Trajectory",
    "as_recording",
    "benchmark_circle",
    "instants",
    "require_count",
]
