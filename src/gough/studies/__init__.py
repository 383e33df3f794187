"""Studies: one TOML file that says robot, data, methods and outputs."""

from gough.studies.scaffold import readme_text, study_text
from gough.studies.study import Study

__all__ = ["Study", "readme_text", "study_text"]
