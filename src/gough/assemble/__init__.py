"""Robot and data become a problem."""

from gough.assemble.base_parameters import base_parameters
from gough.assemble.by_repeat import ByRepeat, by_repeat
from gough.assemble.certified_chain import (
    Tolerances,
    certified_chain,
    chain_names,
    chain_parameters,
    quadratic_unknowns,
)
from gough.assemble.certified_leg import LegProblem, certified_leg
from gough.assemble.certified_probes import HeightTolerance, ProbedHeights, height_tolerance
from gough.assemble.dynamic import dynamic
from gough.assemble.errors_in_variables import errors_in_variables
from gough.assemble.fitted_path import on_fitted_path
from gough.assemble.frames import Frames, Motion, hand_eye, procrustes, refined
from gough.assemble.gauges import CentroidGauge, Gauge, PointGauge, Procrustes, Regauged, regauged
from gough.assemble.geometric import geometric
from gough.assemble.joint_hull import JointHull
from gough.assemble.joint_legs import JointProblem
from gough.assemble.joint_tolerance import JointTolerance, joint_tolerance
from gough.assemble.leg_outliers import RelaxedTolerance, WrongPoses, relaxed_tolerance, wrong_poses
from gough.assemble.leg_tolerance import LegTolerance, minimal_tolerance, poses_to_blame
from gough.assemble.path_order import path_order
from gough.assemble.probed import probed
from gough.assemble.quadratic_chain import QuadraticChain
from gough.assemble.recorded import recorded
from gough.assemble.reduce import base_values, reduced
from gough.assemble.regressors import measured_regressor
from gough.assemble.repeated_motion import RepeatedMotion, periods, runs
from gough.assemble.series_order import OrderChoice, series_order

__all__ = [
    "ByRepeat",
    "CentroidGauge",
    "Frames",
    "Gauge",
    "HeightTolerance",
    "JointHull",
    "JointProblem",
    "JointTolerance",
    "LegProblem",
    "LegTolerance",
    "Motion",
    "OrderChoice",
    "PointGauge",
    "ProbedHeights",
    "Procrustes",
    "QuadraticChain",
    "Regauged",
    "RelaxedTolerance",
    "RepeatedMotion",
    "Tolerances",
    "WrongPoses",
    "base_parameters",
    "base_values",
    "by_repeat",
    "certified_chain",
    "certified_leg",
    "chain_names",
    "chain_parameters",
    "dynamic",
    "errors_in_variables",
    "geometric",
    "hand_eye",
    "height_tolerance",
    "joint_tolerance",
    "measured_regressor",
    "minimal_tolerance",
    "on_fitted_path",
    "path_order",
    "periods",
    "poses_to_blame",
    "probed",
    "procrustes",
    "quadratic_unknowns",
    "recorded",
    "reduced",
    "refined",
    "regauged",
    "relaxed_tolerance",
    "runs",
    "series_order",
    "wrong_poses",
]
