"""CSV files of OptiTrack Motive and Vicon Nexus: heads of several lines, units, missing frames."""

import numpy as np
import pytest

from gough import InputError
from gough.cli.app import run
from gough.data import read_recording

MOTIVE = """Format Version,1.23,Take Name,Take 1,Capture Frame Rate,100.000000,Rotation Type,Quaternion,Length Units,{units},Coordinate Space,Global
,,,,,,,,,
,Type,Rigid Body,Rigid Body,Rigid Body,Rigid Body,Rigid Body,Rigid Body,Rigid Body,Rigid Body
,Name,plate,plate,plate,plate,plate,plate,plate,plate
,ID,"1","1","1","1","1","1","1","1"
,,Rotation,Rotation,Rotation,Rotation,Position,Position,Position,Mean Marker Error
Frame,Time (Seconds),X,Y,Z,W,X,Y,Z,
"""  # noqa: E501
NEXUS = """Trajectories
100
,,arm:LASI,,,arm:RASI,,
Frame,Sub Frame,X,Y,Z,X,Y,Z
,,mm,mm,mm,mm,mm,mm
"""


def motive(units="Millimeters", rows=5, lost=()):
    lines = []
    for k in range(rows):
        numbers = ["0", "0", "0", "1", f"{100 + k}", "20", "30", "0.1"] if k not in lost else [""] * 8
        lines.append(",".join([str(k), f"{k / 100:.6f}", *numbers]))
    return MOTIVE.format(units=units) + "\n".join(lines) + "\n"


def test_rigid_bodies_of_motive_have_names_and_units(tmp_path):
    (tmp_path / "take.csv").write_text(motive())
    read = read_recording(tmp_path / "take.csv", columns={"x": "plate/Position/X", "qw": "plate/Rotation/W"})
    assert read.rate == 100.0
    assert read.units == ("m", "")
    np.testing.assert_allclose(read["x"], 0.1 + np.arange(5) / 1000, atol=1e-15)
    assert read["qw"].tolist() == [1.0] * 5
    (tmp_path / "take.csv").write_text(motive("Meters").replace("\n", "\r\n"))
    assert read_recording(tmp_path / "take.csv", columns={"x": "plate/Position/X"})["x"][0] == 100.0


def test_lost_frames_are_refused_or_masked(tmp_path):
    (tmp_path / "take.csv").write_text(motive(lost=(2,)))
    with pytest.raises(InputError, match=r"row 3 \(line 10\), column 'plate/Position/X \[mm\]' is blank"):
        read_recording(tmp_path / "take.csv", columns={"x": "plate/Position/X"})
    read = read_recording(tmp_path / "take.csv", columns={"x": "plate/Position/X"}, missing="mask")
    assert np.isnan(read["x"]).tolist() == [False, False, True, False, False]


def test_trajectories_of_nexus_have_rate_and_units(tmp_path):
    rows = "".join(f"{k + 1},0,{k},2,3,{4 + k},5,6\n" for k in range(6))
    (tmp_path / "trial.csv").write_text(NEXUS + rows)
    read = read_recording(tmp_path / "trial.csv", columns={"x": "arm:LASI/X", "z": "arm:RASI/Z"})
    assert (read.rate, read.units) == (100.0, ("m", "m"))
    np.testing.assert_allclose(read["x"], np.arange(6) / 1000)
    np.testing.assert_allclose(read["z"], 0.006)


def test_look_lists_them(tmp_path, capsys):
    (tmp_path / "take.csv").write_text(motive(rows=50))
    assert run(["look", str(tmp_path / "take.csv")]) == 0
    assert "plate/Position/X" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MOTIVE.format(units="Inches"), "'Length Units' must be one of meters"),
        ("Format Version,1.23,Length Units,Meters\n1,2\n", "has a line that begins with 'Frame'"),
        ("Format Version,1.23,Length Units,Meters\nFrame,Time (Seconds),X\n1,2,3\n", "lines of types, names"),
        (NEXUS.replace("100", "fast") + "1,0,1,2,3,4,5,6\n", "line 2 must be the rate"),
        (NEXUS + "1,0,1,2,3,4,5,6\n\nDevices\n1000\n", "several sections"),
        ("Trajectories\n100\n", "has a line that begins with 'Frame'"),
    ],
)
def test_files_that_are_not_as_they_should_be_are_refused_in_one_line(tmp_path, text, said):
    (tmp_path / "take.csv").write_text(text)
    with pytest.raises(InputError, match=said) as refused:
        read_recording(tmp_path / "take.csv", rate=100.0)
    assert "\n" not in str(refused.value)
