"""Certified geometry: which legs or chains can satisfy the closure equations within stated tolerances."""

from gough.closure.certification import ModelError, SourceFiles, certify
from gough.closure.certified_chain import Tolerances, certified_chain, chain_names, chain_parameters, quadratic_unknowns
from gough.closure.certified_leg import LegProblem, certified_leg
from gough.closure.certified_printer import CertifiedPrinter, certify_printer
from gough.closure.certified_probes import HeightTolerance, ProbedHeights, height_tolerance
from gough.closure.chain_problem import ChainProblem
from gough.closure.findings import (
    Bracket,
    CertificateFile,
    Certification,
    ChainFinding,
    Finding,
    JointFinding,
    ParameterRange,
    WithoutPoses,
)
from gough.closure.joint import JointProblem
from gough.closure.joint_hull import JointHull
from gough.closure.outliers import RelaxedTolerance, WrongPoses, relaxed_tolerance, wrong_poses
from gough.closure.quadratic_chain import QuadraticChain
from gough.closure.tolerance import (
    ChainTolerance,
    JointTolerance,
    joint_tolerance,
    minimal_tolerance,
    poses_to_blame,
)

__all__ = [
    "Bracket",
    "CertificateFile",
    "Certification",
    "CertifiedPrinter",
    "ChainFinding",
    "ChainProblem",
    "ChainTolerance",
    "Finding",
    "HeightTolerance",
    "JointFinding",
    "JointHull",
    "JointProblem",
    "JointTolerance",
    "LegProblem",
    "ModelError",
    "ParameterRange",
    "ProbedHeights",
    "QuadraticChain",
    "RelaxedTolerance",
    "SourceFiles",
    "Tolerances",
    "WithoutPoses",
    "WrongPoses",
    "certified_chain",
    "certified_leg",
    "certify",
    "certify_printer",
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
