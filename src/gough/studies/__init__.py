"""Studies: TOML files that state robot, data, methods and outputs, and what they ask for."""

from gough.studies.calibration import CalibrationStudy
from gough.studies.checking import FileVerdict, check
from gough.studies.design import DesignStudy
from gough.studies.identification import IdentificationStudy
from gough.studies.instruments import InstrumentStudy
from gough.studies.pose_selection import PoseSelectionStudy
from gough.studies.scaffold import readme_text, study_text
from gough.studies.study import Study, read_study

__all__ = [
    "CalibrationStudy",
    "DesignStudy",
    "FileVerdict",
    "IdentificationStudy",
    "InstrumentStudy",
    "PoseSelectionStudy",
    "Study",
    "check",
    "read_study",
    "readme_text",
    "study_text",
]
