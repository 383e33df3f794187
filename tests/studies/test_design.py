"""A [design] table: read with units, refused with its line, left aside by identification."""

import json

import pytest

from gough.core.errors import InputError
from gough.data import read_recording
from gough.studies.design import DesignStudy
from gough.studies.schema import IdentificationTable

STUDY = """\
[robot]
family = "five-bar"

[design]
harmonics = 1
starts = 1
rate = "200 Hz"
duration = "6 s"
frequency = ["0.2 Hz", 0.5]
sigma = 0.1
home = ["117 deg", 1.09]

[design.limits]
speeds = ["360 deg/s", 6]
efforts = "5 N·m"
pose.q1 = ["60 deg", "180 deg"]
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def test_units_are_converted(study):
    problem = DesignStudy.read(study).problem
    channels = {channel.name: channel for channel in problem.channels}
    assert channels["speed of q1"].upper == pytest.approx(6.283185, rel=1e-6)
    assert channels["speed of q2"].upper == 6.0
    assert channels["q1"].lower == pytest.approx(1.047198, rel=1e-6)
    assert problem.frequency == pytest.approx((0.2, 0.5))
    assert problem.home[0] == pytest.approx(2.042035, rel=1e-6)
    assert problem.recorded == 1200


def test_the_answer_is_a_trajectory_within_the_limits(study, tmp_path):
    asked = DesignStudy.read(study)
    found = asked.design()
    files = asked.files(found)
    assert {"trajectory.csv", "design.json", "design.txt", "report.html", "figures/actuators.svg"} <= set(files)
    assert f"{len(found.problem.names)} base parameters" in files["report.html"].decode()
    (tmp_path / "trajectory.csv").write_bytes(files["trajectory.csv"])
    recording = read_recording(tmp_path / "trajectory.csv")
    assert recording.rate == pytest.approx(200.0)
    assert recording.duration >= 6.0 - 1 / 200
    assert abs(recording["dq2"]).max() <= 6.0
    told = json.loads(files["design.json"])
    assert told["chosen"] == "D"
    assert told["criterion"]["D"] == pytest.approx(found.value)
    assert told["limits"]["distance to singularity"]["to"] is None
    assert found.to_dict()["series"]["frequency"] == found.series.frequency


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "sigma = 0.1",
            'sigma = 0.1\ncriterion = "DD"',
            r"line \d+, \[design\] criterion: no criterion is called 'DD'",
        ),
        ("starts = 1", "start = 1", r"line 6, \[design\] start: there is no such key; did you mean 'starts'"),
        ('efforts = "5 N·m"', "", r"\[design\] limits|the limit 'efforts' of five-bar is missing"),
        ('efforts = "5 N·m"', 'efforts = "5 kg"', "'kg' cannot become 'N·m'"),
        ('efforts = "5 N·m"', "efforts = [1, 2, 3]", "a list of 2, not of 3"),
        ('pose.q1 = ["60 deg", "180 deg"]', 'pose.q1 = ["150 deg", "180 deg"]', "cannot stand at its home: q1"),
        ('home = ["117 deg", 1.09]', "", "states no home"),
        ("[design]\n", "[designs]\n", r"has no table \[design\]"),
    ],
)
def test_bad_tables_are_refused(study, old, new, message):
    assert old in STUDY
    text = STUDY.replace(old, new)
    study.write_text(text.replace("[design.limits]", "[designs.limits]") if "[designs]" in new else text)
    with pytest.raises(InputError, match=message):
        DesignStudy.read(study)


def test_identification_leaves_the_table_aside():
    assert IdentificationTable.model_fields["design"].default is None
