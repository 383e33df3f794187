"""Optimal design of experiments: the most informative motion for a robot's parameters, within its limits."""

from gough.designs.excitation.criteria import (
    CRITERIA,
    AOptimal,
    Condition,
    Criterion,
    DOptimal,
    EOptimal,
    ScaledCondition,
    criterion_named,
)
from gough.designs.excitation.limits import Channel, MotionLimits
from gough.designs.excitation.problem import DesignProblem
from gough.designs.excitation.result import Attempt, Design
from gough.designs.excitation.search import design, optimize
from gough.designs.excitation.tracking import TrackingCheck

__all__ = [
    "CRITERIA",
    "AOptimal",
    "Attempt",
    "Channel",
    "Condition",
    "Criterion",
    "DOptimal",
    "Design",
    "DesignProblem",
    "EOptimal",
    "MotionLimits",
    "ScaledCondition",
    "TrackingCheck",
    "criterion_named",
    "design",
    "optimize",
]
