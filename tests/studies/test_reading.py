"""One function reads a study of any kind, and refuses what is none."""

import subprocess
import sys

import pytest

from gough import InputError, read_study
from gough.cli.app import run
from gough.studies import CalibrationStudy, DesignStudy, IdentificationStudy, PoseSelectionStudy, study_text

ROBOT = '[robot]\nfamily = "delta"\n'
DESIGN = "[design]\n[design.limits]\nspeeds = 8.0\nefforts = 10.0\n"
KINEMATIC = '[robot]\nfamily = "linear-delta"\n'
POSES = '[poses]\nfile = "poses.csv"\n'
NOISE = '[noise]\nposition = "0.05 mm"\n'
DATA = '[data]\nrecordings = [{ file = "recording.csv" }]\n'


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (study_text("delta"), IdentificationStudy),
        (ROBOT + DATA, IdentificationStudy),
        (ROBOT + DATA + DESIGN, IdentificationStudy),
        (ROBOT + DESIGN, DesignStudy),
        (KINEMATIC + POSES, CalibrationStudy),
        (KINEMATIC + POSES + NOISE + "[selection]\n", CalibrationStudy),
        ('[printer]\nfile = "printer.cfg"\n', CalibrationStudy),
        (KINEMATIC.replace("robot", "machine") + NOISE, PoseSelectionStudy),
        (KINEMATIC + NOISE + "[selection]\ncount = 12\n", PoseSelectionStudy),
    ],
)
def test_the_tables_say_which_kind_it_is(tmp_path, text, kind):
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    assert type(read_study(tmp_path / "study.toml")) is kind
    assert type(read_study(str(tmp_path / "study.toml"))) is kind


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        (
            IdentificationStudy,
            KINEMATIC + POSES,
            r"a study of calibration: it has \[poses\], but not \[data\]\. Run gough calibrate ",
        ),
        (
            IdentificationStudy,
            ROBOT + DESIGN,
            r"a study of the design of a motion: .*\[data\]\. Run gough design ",
        ),
        (
            CalibrationStudy,
            ROBOT + DATA,
            r"\[poses\] or \[printer\]\. Run gough identify .*study\.toml$",
        ),
        (CalibrationStudy, KINEMATIC + "[selection]\n", r"a study of the choice of poses: .*Run gough poses "),
        (PoseSelectionStudy, ROBOT + DATA, "a study of identification"),
        (DesignStudy, KINEMATIC + POSES, "a study of calibration"),
    ],
)
def test_a_study_of_another_kind_is_named_with_its_command(tmp_path, kind, text, words):
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        kind.read(tmp_path / "study.toml")


def test_a_study_names_its_own_calls(tmp_path):
    (tmp_path / "study.toml").write_text(KINEMATIC + POSES, encoding="utf-8")
    (tmp_path / "printer.cfg").write_text("", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"a study of calibration: call calibrate\(\) or certify\(\)\. identify\(\) needs"
    ):
        read_study(tmp_path / "study.toml").identify()
    with pytest.raises(InputError, match=r"printer\.cfg is a study of calibration: call calibrate\(\)"):
        read_study(tmp_path / "printer.cfg").design()
    (tmp_path / "other.toml").write_text(ROBOT + DATA, encoding="utf-8")
    with pytest.raises(InputError, match=r"a study of identification: call identify\(\)"):
        read_study(tmp_path / "other.toml").certify()


def test_a_folder_and_a_misspelt_name_get_an_example(tmp_path):
    (tmp_path / "study.toml").write_text(ROBOT + DATA, encoding="utf-8")
    (tmp_path / "studies.tom").mkdir()
    with pytest.raises(InputError, match=r"is a folder: give a file, such as .*study\.toml"):
        read_study(tmp_path)
    with pytest.raises(InputError, match=r"there is no such file; did you mean 'study\.toml'\?"):
        read_study(tmp_path / "studys.tom")


def test_a_printer_configuration_is_a_calibration(tmp_path):
    (tmp_path / "printer.cfg").write_text("", encoding="utf-8")
    assert type(read_study(tmp_path / "printer.cfg")) is CalibrationStudy


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it has no table. A study has a table"),
        ("[robots]\n", r"it has \[robots\]\. A study has a table \[robot\]"),
        ("[mechanism]\n", "describes a mechanism, not a study"),
        (ROBOT, r"add \[data\] to identify the robot"),
        (
            ROBOT + DATA + KINEMATIC.replace("robot", "machine"),
            r"line 5, machine: .* old name of \[robot\]",
        ),
        (POSES, r"needs the tables \[robot\] and \[poses\]"),
        ('[robot]\nfamily = "hexapot"\n[selection]\n', "line 2"),
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


@pytest.mark.parametrize(
    ("robot", "named"),
    [
        ('family = "rotary-delta"\ngeometry = {radius = 0.1, arm = 0.26, angle = 0, zero = 0}', "rod = 700 mm, height"),
        (
            'family = "h4"\ngeometry = {arm = 0.26, d = 0.06, h = 0.06, base = 0.14}',
            "rod = 480 mm, alpha = [0 deg, 180",
        ),
        (
            'family = "3-rrr"\ngeometry = {base_radius = 0.5, platform_radius = 0.1, arm = 1, rod = 1, zero = 0}',
            "elbow = 1, base_angles = [90 deg, 210 deg, 330 deg], platform_angles = [90 deg",
        ),
        ('family = "linear-delta"\ngeometry = {radius = 0.16, arm = 0.345, endstop = 0.4, angle = [0, 2, 4]}', ""),
        ('family = "gough"\nblueprint = "deltalab"', ""),
    ],
)
def test_dimensions_that_a_robot_takes_from_the_library_are_named(tmp_path, robot, named):
    file = tmp_path / "study.toml"
    file.write_text(f'[robot]\n{robot}\n[poses]\nfile = "poses.csv"\n')
    expected = (f"Not stated in [robot.geometry], taken from the library: {named}",) if named else ()
    said = CalibrationStudy.read(file).premises
    assert tuple(each[: len(expected[0])] for each in said) == expected


@pytest.mark.parametrize("more", ["--calibration=gough", "--robot=five-bar"])
def test_a_study_of_any_kind_is_read_by_a_program_that_has_loaded_nothing_else(more, tmp_path):
    """Kinds are known once their modules are loaded; here they are loaded by what is in the file."""
    assert run(["new", str(tmp_path / "new"), more, "--example"]) == 0
    code = f"import gough; print(type(gough.Study.read({str(tmp_path / 'new' / 'study.toml')!r})).__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() in {"CalibrationStudy", "IdentificationStudy"}, done.stderr
