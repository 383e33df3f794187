"""`gough calibrate`: studies that run, and studies that are refused with the line that is wrong."""

import json
import re

import numpy as np
import pytest
import typer

from gough.cli.calibrate import calibrate
from gough.core.errors import InputError
from gough.data import write_poses
from gough.studies.calibration import CalibrationStudy
from tests.geometry.simulated import EXTREMAL, measured, truth

STUDY = """
[robot]
family = "gough"
blueprint = "deltalab"

[poses]
file = "poses.csv"
validation = "others.csv"

[noise]
position = ["0.0633 mm", "0.023 mm", "0.0608 mm"]
orientation = ["0.00923 deg", "0.0119 deg", "0.00894 deg"]
readings = ["0.0077 mm", "0.0127 mm", "0.0117 mm", "0.0102 mm", "0.0118 mm", "0.019 mm"]
"""
PRINTER = """
[printer]
kinematics: delta
delta_radius = 160
[stepper_a]
microsteps: 16
rotation_distance: 40
position_endstop: 400
arm_length: 345
[stepper_b]
microsteps: 16
rotation_distance: 40
[stepper_c]
microsteps: 16
rotation_distance: 40
#*# [delta_calibrate]
"""


def run(*arguments):
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(calibrate)
    try:
        app(args=[str(a) for a in arguments])
    except SystemExit as ended:
        return ended.code
    return 0


@pytest.fixture
def study(tmp_path, rng):
    theta = truth(rng)
    write_poses(tmp_path / "poses.csv", measured(theta, EXTREMAL, rng)[1])
    write_poses(tmp_path / "others.csv", measured(theta, rng.uniform(0, 0.14, (30, 6)), rng)[1])
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def test_a_study_runs_and_writes_its_results(study, capsys):
    assert run(study) == 0
    printed = capsys.readouterr().out
    assert "χ²/dof" in printed
    assert "mean position error [mm]" in printed
    folder = study.parent / "results"
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Closure of the chains" in page
    assert not re.search(r'(?:src|href)="https?:', page)
    data = json.loads((folder / "calibration.json").read_text(encoding="utf-8"))
    assert data["refuted"] is False
    assert len(data["parameters"]) == 42
    assert (folder / "figures" / "validation.svg").is_file()
    assert run(study, "--json") == 0  # into the same folder: what gough wrote itself it may replace
    assert json.loads(capsys.readouterr().out)["poses"] == 64


def test_a_refuted_model_has_exit_code_one(study):
    study.write_text(STUDY.replace("mm", "µm").replace("deg", "arcsec"))
    assert run(study) == 1


def test_exchanged_readings_get_one_verdict(study, capsys):
    """The validation poses are read in the same way: that they are predicted better is no advice to use the result."""
    for name in ("poses.csv", "others.csv"):
        path = study.parent / name
        rows = [line.split(",") for line in path.read_text().splitlines()]
        i, j = (k for k, head in enumerate(rows[0]) if head.split()[0] in {"l2", "l3"})
        for row in rows[1:]:
            row[i], row[j] = row[j], row[i]
        path.write_text("\n".join(",".join(row) for row in rows))
    assert run(study) == 1
    assert "This does not confirm the geometry" in capsys.readouterr().out
    page = (study.parent / "results" / "report.html").read_text(encoding="utf-8")
    first = page.index("see the next verdict")
    assert first < page.index("in the order 1, 3, 2, 4, 5, 6") < page.index("This does not confirm the geometry")
    assert "Use the calibrated parameters" not in page
    assert "This does not confirm" in " ".join(
        json.loads((study.parent / "results" / "calibration.json").read_text(encoding="utf-8"))["verdicts"]
    )


def test_other_options_of_a_study(study, rng):
    text = re.sub(r"\[noise\].*", "", STUDY, flags=re.DOTALL).replace('validation = "others.csv"\n', "")
    study.write_text(text + '[calibration]\nframes = "instrument"\nfolds = 4\nrobust = true\n')
    found = CalibrationStudy.read(study).calibrate()
    assert len(found.validation.position_after) == 64
    assert found.frames is not None


def test_a_printers_configuration_is_enough(tmp_path, capsys):
    from gough.robots import LinearDelta

    true = LinearDelta(radius=0.1612, endstop=[0.4011, 0.4002, 0.3993], angle=np.radians([210.2, 329.9, 90]))
    points = [(0, 0), (0.1, 0), (-0.05, 0.09), (-0.05, -0.09), (0.05, 0.09), (0.05, -0.09), (-0.1, 0)]
    readings = true.inverse(true.nominal, [(x, y, 0.01) for x, y in points])
    lines = []
    for i, steps in enumerate(readings / (0.04 / 3200)):
        lines += [f"#*# height{i} = 10", f"#*# height{i}_pos = {steps[0]:.3f},{steps[1]:.3f},{steps[2]:.3f}"]
    path = tmp_path / "printer.cfg"
    path.write_text(PRINTER + "\n".join(lines) + "\n")
    assert run(path) == 0
    assert "161.2" in capsys.readouterr().out
    results = tmp_path / "results-printer"  # each printer of a folder has its own
    block = (results / "klipper.cfg").read_text()
    assert float(re.search(r"delta_radius = (\S+)", block)[1]) == pytest.approx(161.2, abs=1e-4)
    assert "For printer.cfg" in (results / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.replace("family", "familie"), "did you mean 'family'"),
        (lambda t: t.replace('"gough"', '"hexapod"'), "line 3.*must be 'gough'"),
        (lambda t: t.replace('"deltalab"', '"deltalap"'), "did you mean 'deltalab'"),
        (lambda t: t.replace("poses.csv", "pose.csv"), "line 7.*no such file"),
        (lambda t: t.replace("[poses]", "[other]"), "no such key"),
        (lambda t: t.split("[poses]")[0], r"needs the tables \[robot\] and \[poses\]"),
        (lambda t: t.replace("0.0633 mm", "0.0633 deg"), "line 11.*measures rad"),
        (lambda t: t + '[calibration]\nfixed = ["a1q"]\n', "did you mean 'a1"),
        (
            lambda t: t.replace('file = "poses.csv"', 'file = "poses.csv"\nunits = {position = "deg"}'),
            "line 8, .poses.units. position.*deg",
        ),
        (
            lambda t: t.replace('file = "poses.csv"', 'file = "poses.csv"\ncolumns = {x = "px"}'),
            "line 8, .poses.columns. x: .*no column 'px'",
        ),
        (lambda t: re.sub("readings = .*", 'readings = "1 deg"', t), ".noise. readings: '1 deg'"),
        (
            lambda t: t.replace('file = "poses.csv"', 'file = "poses"'),
            "poses cannot be read: there is no such file; did",
        ),
        (lambda t: t + '[printer]\nfile = "printer.cfg"\n', "leave out"),
        (
            lambda t: t.replace("others.csv", "poses.csv"),
            r"line 8, .poses. validation: 64 of 64 validation poses take part .*first is pose 0 \(line 2\)",
        ),
    ],
)
def test_refusals_name_the_line(study, change, message):
    study.write_text(change(STUDY))
    with pytest.raises(InputError, match=f"(?s){message}"):
        CalibrationStudy.read(study).calibrate()


def test_nothing_is_overwritten(study):
    folder = study.parent / "results"
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="did not write"):
        run(study)
    assert sorted(p.name for p in folder.iterdir()) == ["thesis.tex"]


def test_a_platform_of_circles_and_gains(tmp_path, study):
    text = """
[robot]
family = "gough"
gains = true
reading_unit = "rev"
[robot.geometry]
base_radius = "410 mm"
platform_radius = "219.075 mm"
base_angles = ["200 deg", "220 deg", "320 deg", "340 deg", "440 deg", "460 deg"]
platform_angles = ["154 deg", "266 deg", "274 deg", "386 deg", "394 deg", "506 deg"]
length = "640 mm"
gain = 0.071
[poses]
file = "poses.csv"
"""
    study.write_text(text)
    model = CalibrationStudy.read(study).model
    assert len(model.names) == 48
    assert model.units[7] == "m/rev"
    assert np.linalg.norm(model.base, axis=1) == pytest.approx(0.41)
    study.write_text(text.replace('length = "640 mm"\n', ""))
    with pytest.raises(InputError, match="lacks 'length'"):
        CalibrationStudy.read(study)
