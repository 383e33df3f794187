"""Certified geometry: which legs or chains can satisfy the closure equations within stated tolerances."""

from gough.closure.certified_chain import Tolerances, certified_chain, chain_names, chain_parameters, quadratic_unknowns
from gough.closure.certified_leg import LegProblem, certified_leg
from gough.closure.certified_probes import HeightTolerance, ProbedHeights, height_tolerance
from gough.closure.joint_hull import JointHull
from gough.closure.joint_legs import JointProblem
from gough.closure.joint_tolerance import JointTolerance, joint_tolerance
from gough.closure.leg_outliers import RelaxedTolerance, WrongPoses, relaxed_tolerance, wrong_poses
from gough.closure.leg_tolerance import LegTolerance, minimal_tolerance, poses_to_blame
from gough.closure.quadratic_chain import QuadraticChain

__all__ = [
    "HeightTolerance",
    "JointHull",
    "JointProblem",
    "JointTolerance",
    "LegProblem",
    "LegTolerance",
    "ProbedHeights",
    "QuadraticChain",
    "RelaxedTolerance",
    "Tolerances",
    "WrongPoses",
    "certified_chain",
    "certified_leg",
    "chain_names",
    "chain_parameters",
    "height_tolerance",
    "joint_tolerance",
    "minimal_tolerance",
    "poses_to_blame",
    "quadratic_unknowns",
    "relaxed_tolerance",
    "wrong_poses",
]
