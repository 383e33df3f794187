"""Closed-loop control of a complete simulated robot by the exported model of its identification."""

from gough.control.enclosure import Enclosure, enclose_feedforward
from gough.control.motions import MOTIONS, DesiredMotion, desired_motion
from gough.control.study import Comparison, ControlStudy, Outcome, control

__all__ = [
    "MOTIONS",
    "Comparison",
    "ControlStudy",
    "DesiredMotion",
    "Enclosure",
    "Outcome",
    "control",
    "desired_motion",
    "enclose_feedforward",
]
