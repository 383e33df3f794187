"""Optimal design of experiments: the motion that tells most about a robot's parameters, within its limits."""

from gough.experiments.design.criteria import (
    CRITERIA,
    AOptimal,
    Condition,
    Criterion,
    DOptimal,
    EOptimal,
    ScaledCondition,
    criterion_named,
)
from gough.experiments.design.limits import Channel, MotionLimits
from gough.experiments.design.problem import DesignProblem
from gough.experiments.design.result import Attempt, Design
from gough.experiments.design.search import Progress, design, optimize

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
    "Progress",
    "ScaledCondition",
    "criterion_named",
    "design",
    "optimize",
]
