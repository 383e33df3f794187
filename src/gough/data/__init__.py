"""Data on disk: read and written exactly, refused clearly; recordings become measured motions."""

from gough.data.filters import advised_cutoff
from gough.data.klipper import KlipperDelta, klipper_block, read_klipper
from gough.data.motion import ClockErrors, Dropout, FullRate, MeasuredMotion, StepReport
from gough.data.pose_files import read_poses, write_poses
from gough.data.poses import Poses, Repeatability, averaged
from gough.data.preparation import prepare
from gough.data.problems import read_problem, read_table, write_problem
from gough.data.recording import Recording
from gough.data.recording_files import read_recording, write_recording
from gough.data.resampling import join_recordings
from gough.data.steps import (
    Decimate,
    Differentiate,
    DropMissing,
    EffortFromDriveSignal,
    LowPass,
    MaskReversals,
    MaskWhere,
    Step,
    Trim,
    default_steps,
)

__all__ = [
    "ClockErrors",
    "Decimate",
    "Differentiate",
    "DropMissing",
    "Dropout",
    "EffortFromDriveSignal",
    "FullRate",
    "KlipperDelta",
    "LowPass",
    "MaskReversals",
    "MaskWhere",
    "MeasuredMotion",
    "Poses",
    "Recording",
    "Repeatability",
    "Step",
    "StepReport",
    "Trim",
    "advised_cutoff",
    "averaged",
    "default_steps",
    "join_recordings",
    "klipper_block",
    "prepare",
    "read_klipper",
    "read_poses",
    "read_problem",
    "read_recording",
    "read_table",
    "write_poses",
    "write_problem",
    "write_recording",
]
