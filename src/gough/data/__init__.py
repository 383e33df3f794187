"""Data on disk: read and written exactly, refused clearly; recordings become measured motions."""

from gough.data.files import read_recording, write_recording
from gough.data.motion import FullRate, MeasuredMotion, StepReport
from gough.data.preparation import prepare
from gough.data.problems import read_problem, write_problem
from gough.data.recording import Recording
from gough.data.steps import (
    Decimate,
    Differentiate,
    DropMissing,
    EffortFromVoltage,
    LowPass,
    MaskReversals,
    MaskWhere,
    Step,
    Trim,
    default_steps,
)
from gough.data.tables import read_table

__all__ = [
    "Decimate",
    "Differentiate",
    "DropMissing",
    "EffortFromVoltage",
    "FullRate",
    "LowPass",
    "MaskReversals",
    "MaskWhere",
    "MeasuredMotion",
    "Recording",
    "Step",
    "StepReport",
    "Trim",
    "default_steps",
    "prepare",
    "read_problem",
    "read_recording",
    "read_table",
    "write_problem",
    "write_recording",
]
