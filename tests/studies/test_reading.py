"""One function reads a study of any kind, and refuses what is none."""

import pytest

from gough import InputError, read_study
from gough.studies import CalibrationStudy, DesignStudy, PoseSelectionStudy, Study, study_text

ROBOT = '[robot]\nfamily = "delta"\n'
DESIGN = "[design]\n[design.limits]\nspeeds = 8.0\nefforts = 10.0\n"
MACHINE = '[machine]\nfamily = "linear-delta"\n'
POSES = '[poses]\nfile = "poses.csv"\n'
NOISE = '[noise]\nposition = "0.05 mm"\n'
DATA = '[data]\nrecordings = [{ file = "recording.csv" }]\n'


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (study_text("delta"), Study),
        (ROBOT + DATA, Study),
        (ROBOT + DATA + DESIGN, Study),
        (ROBOT + DESIGN, DesignStudy),
        (MACHINE + POSES, CalibrationStudy),
        (MACHINE + POSES + NOISE + "[selection]\n", CalibrationStudy),
        ('[printer]\nfile = "printer.cfg"\n', CalibrationStudy),
        (MACHINE + NOISE, PoseSelectionStudy),
        (MACHINE + NOISE + "[selection]\ncount = 12\n", PoseSelectionStudy),
    ],
)
def test_the_tables_say_which_kind_it_is(tmp_path, text, kind):
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    assert type(read_study(tmp_path / "study.toml")) is kind
    assert type(read_study(str(tmp_path / "study.toml"))) is kind


def test_a_printer_configuration_is_a_calibration(tmp_path):
    (tmp_path / "printer.cfg").write_text("", encoding="utf-8")
    assert type(read_study(tmp_path / "printer.cfg")) is CalibrationStudy


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it has no table. A study of dynamics has a table"),
        ("[robots]\n", r"it has \[robots\]\. A study of dynamics has a table \[robot\]"),
        ("[mechanism]\n", "describes a mechanism, not a study"),
        (ROBOT, r"data: this key is required"),
        (ROBOT + DATA + MACHINE, "there is no such key"),
        (POSES, r"needs the tables \[machine\] and \[poses\]"),
        ('[machine]\nfamily = "hexapot"\n', "line 2"),
        ("[robot\n", "is not valid TOML"),
    ],
)
def test_what_is_no_study_is_refused(tmp_path, text, why):
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=why):
        read_study(tmp_path / "study.toml")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_study(tmp_path / "study.toml")
