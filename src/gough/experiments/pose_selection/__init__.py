"""Pose selection: which configurations to measure for a calibration, within limits, and how many."""

from gough.experiments.pose_selection.candidates import SOURCES, Candidates, candidates
from gough.experiments.pose_selection.criteria import CRITERIA
from gough.experiments.pose_selection.how_many import Curve, choose_poses, how_many
from gough.experiments.pose_selection.indices import ObservabilityIndices
from gough.experiments.pose_selection.information import PoseInformation, pose_information
from gough.experiments.pose_selection.limits import Camera, PoseLimits
from gough.experiments.pose_selection.problem import PoseProblem
from gough.experiments.pose_selection.search import Progress
from gough.experiments.pose_selection.selection import Rival, Selection, rivals, select
from gough.experiments.pose_selection.workspace import Accuracy

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
    "Progress",
    "Rival",
    "Selection",
    "candidates",
    "choose_poses",
    "how_many",
    "pose_information",
    "rivals",
    "select",
]
