"""Pose selection: which configurations to measure for a calibration, within limits, and how many."""

from gough.designs.poses.candidates import SOURCES, Candidates, candidates
from gough.designs.poses.criteria import CRITERIA
from gough.designs.poses.how_many import Curve, choose_poses, how_many
from gough.designs.poses.information import PoseInformation, pose_information
from gough.designs.poses.limits import Camera, PoseLimits
from gough.designs.poses.problem import PoseProblem
from gough.designs.poses.selection import ObservabilityIndices, Rival, Selection, rivals, select
from gough.designs.poses.workspace import Accuracy

__all__ = [
    "CRITERIA",
    "SOURCES",
    "Accuracy",
    "Camera",
    "Candidates",
    "Curve",
    "ObservabilityIndices",
    "PoseInformation",
    "PoseLimits",
    "PoseProblem",
    "Rival",
    "Selection",
    "candidates",
    "choose_poses",
    "how_many",
    "pose_information",
    "rivals",
    "select",
]
