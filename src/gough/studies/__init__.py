"""Studies: TOML files that state robot, data, methods and outputs, and what they ask for."""

from typing import TYPE_CHECKING

from gough.core.first_use import on_first_use as _on_first_use

if TYPE_CHECKING:
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

if not TYPE_CHECKING:  # or else type checkers would accept any name
    __getattr__, __dir__ = _on_first_use(
        globals(),
        {
            "CalibrationStudy": "gough.studies.calibration",
            "DesignStudy": "gough.studies.design",
            "FileVerdict": "gough.studies.checking",
            "IdentificationStudy": "gough.studies.identification",
            "InstrumentStudy": "gough.studies.instruments",
            "PoseSelectionStudy": "gough.studies.pose_selection",
            "Study": "gough.studies.study",
            "check": "gough.studies.checking",
            "read_study": "gough.studies.study",
            "readme_text": "gough.studies.scaffold",
            "study_text": "gough.studies.scaffold",
        },
    )
