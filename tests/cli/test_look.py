"""`gough look`: what a person sees of a recording."""

import json
import math
import tomllib

import numpy as np
import pytest

from gough.cli.app import run
from gough.data import read_recording


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "run.csv"
    rows = "".join(f"{k / 500},{k % 7},{k % 5}\n" for k in range(100))
    path.write_text(f"time,q1 [deg],tau1 [N·m]\n{rows}")
    return path


def test_text(recording, capsys):
    assert run(["look", str(recording)]) == 0
    shown = capsys.readouterr().out
    assert "500.0 Hz by column 'time', 0.1980 s" in shown
    assert "0 gaps (0 samples lost)" in shown
    proposal = tomllib.loads(shown[shown.index("[data]") :])
    assert proposal["data"]["columns"] == {"q1": "q1", "tau1": "tau1"}


def test_what_lost_samples_cost(tmp_path, capsys):
    rows = "".join(f"{k / 500},{k % 7},{k % 5}\n" for k in range(100) if not 40 <= k < 50)
    (tmp_path / "run.csv").write_text(f"time,q1 [deg],tau1 [N·m]\n{rows}")
    assert run(["look", str(tmp_path / "run.csv")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "1 gaps (10 samples lost, which raises σ of what is estimated by 5.4%)" in shown  # √(100/90)


def test_json(recording, capsys):
    assert run(["look", str(recording), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["groups"][0]["clock"]["rate"] == 500.0
    assert [channel["unit"] for channel in data["groups"][0]["channels"]] == ["deg", "N·m"]


def test_a_channel_without_numbers_is_json_too(tmp_path, capsys):
    path = tmp_path / "blank.csv"
    path.write_text("time,q1,u\n0,,1\n1,,1\n2,,1\n")
    assert run(["look", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["groups"][0]["channels"][0]["missing"] == 3
    assert run(["look", str(path)]) == 0


def test_bad_input(tmp_path, capsys):
    assert run(["look", str(tmp_path / "none.mcap")]) == 2
    assert "there is no such file" in capsys.readouterr().err


def test_a_column_that_cannot_be_read_keeps_its_place(tmp_path, capsys):
    rows = "".join(f"{k / 500},{k % 7},{'inf' if k == 30 else k % 5},{k % 3},1,1,1\n" for k in range(100))
    (tmp_path / "run.csv").write_text(f"time,q1 [deg],q2 [deg],q3,tau1,tau2,tau3\n{rows}")
    assert run(["look", str(tmp_path / "run.csv")]) == 0
    shown = capsys.readouterr().out
    assert "row 31 (line 32), column 'q2 [deg]' holds 'inf', which is infinite" in " ".join(shown.split())
    assert 'q2 = "q2"  # mend its cells first' in shown
    proposal = tomllib.loads(shown[shown.index("[data]") :])["data"]
    assert proposal["columns"] == {name: name for name in ("q1", "q2", "q3", "tau1", "tau2", "tau3")}
    assert proposal["units"] == {"q1": "deg", "q2": "deg"}
    assert "# no unit is known of q3, tau1, tau2, tau3: SI units are assumed" in shown


@pytest.mark.parametrize(("unit", "kind"), [("V", "V"), ("mA", "A")])
def test_voltages_and_currents_ask_for_a_gain(unit, kind, tmp_path, capsys):
    rows = "".join(f"{k / 500},{k % 7},{k % 5}\n" for k in range(100))
    (tmp_path / "run.csv").write_text(f"time,q1 [rad],i1 [{unit}]\n{rows}")
    assert run(["look", str(tmp_path / "run.csv")]) == 0
    shown = capsys.readouterr().out
    proposal = tomllib.loads(shown[shown.index("[data]") :])
    assert proposal["data"]["columns"] == {"q1": "q1", "V1": "i1"}
    assert proposal["data"]["units"] == {"q1": "rad", "V1": unit}
    assert f"gain = 1.0  # effort per {kind}" in shown


def test_a_position_that_stops_within_one_sample_is_told(tmp_path, capsys):
    rows = "".join(f"{k / 500},{math.sin(min(k, 400) / 100):.6f},{k % 5}\n" for k in range(600))
    (tmp_path / "run.csv").write_text(f"time,q1 [rad],tau1 [N·m]\n{rows}")
    assert run(["look", str(tmp_path / "run.csv")]) == 0
    said = "Column 'q1 [rad]' holds -0.7568 for 0.4000 s from row 401 on, though it moved at 3.45"
    assert said in " ".join(capsys.readouterr().out.split())


def test_positions_that_are_too_large_for_radians_are_suspected_of_degrees(tmp_path, capsys):
    rows = "".join(f"{k / 500},{90 * math.sin(k / 100):.4f},{math.sin(k / 90):.4f},{k % 5}\n" for k in range(600))
    (tmp_path / "run.csv").write_text(f"time,q1,q2,tau1\n{rows}")
    assert run(["look", str(tmp_path / "run.csv")]) == 0
    shown = capsys.readouterr().out
    assert tomllib.loads(shown[shown.index("[data]") :])["data"]["units"] == {"q1": "deg"}
    assert "Column 'q1' states no unit and reaches 90.00: an angle in degrees, or a length in mm?" in shown
    assert "Column 'q2'" not in shown


@pytest.mark.parametrize(("name", "unit"), [("I1", "A"), ("V1", "V"), ("motor.current", "A")])
def test_names_tell_voltages_and_currents_where_units_do_not(name, unit, tmp_path, capsys):
    rows = "".join(f"{k / 500},{k % 7},{k % 5}\n" for k in range(100))
    (tmp_path / "run.csv").write_text(f"time,q1,{name}\n{rows}")
    assert run(["look", str(tmp_path / "run.csv")]) == 0
    shown = capsys.readouterr().out
    proposal = tomllib.loads(shown[shown.index("[data]") :])
    assert proposal["data"]["columns"] == {"q1": "q1", "V1": name}
    assert proposal["data"]["units"] == {"V1": unit}
    assert proposal["efforts"] == {"gain": 1.0}


def test_shares_are_no_efforts(tmp_path, capsys):
    rows = "".join(f"{k / 500},{k % 7},{k % 5}\n" for k in range(100))
    (tmp_path / "run.csv").write_text(f"time,q1 [rad],tau1 [%]\n{rows}")
    assert run(["look", str(tmp_path / "run.csv")]) == 0
    shown = capsys.readouterr().out
    assert tomllib.loads(shown[shown.index("[data]") :])["data"]["units"] == {"q1": "rad"}
    assert "# tau1 is in %, a share: multiply it by what 100 % stands for" in " ".join(shown.split())
    assert "channel 'tau1' is in %, a share" in read_recording(tmp_path / "run.csv").remarks[0]


@pytest.mark.parametrize(
    ("heads", "proposed", "said"),
    [
        ("qx,qy,qz,qw", ["qw", "qx", "qy", "qz"], "scalar first"),
        ("q1,q2,q3,q4", ["q4", "q1", "q2", "q3"], "scalar last in the file:"),
        ("qw,qx,qy,qz", ["qz", "qw", "qx", "qy"], "scalar last in the file, against their names:"),
    ],
)
def test_quaternions_with_the_scalar_last_are_found_by_their_numbers(heads, proposed, said, tmp_path, capsys):
    rows = ""
    for k in range(30):
        turn = 0.2 * np.array([math.sin(k), math.cos(k), math.sin(2 * k)])
        q = np.append(turn, 1.0) / np.linalg.norm(np.append(turn, 1.0))
        rows += (
            ",".join(f"{each:.9f}" for each in (0.1 * math.sin(k), 0.1 * math.cos(k), 0.5, *q, k / 100, k / 90)) + "\n"
        )
    (tmp_path / "poses.csv").write_text(f"x,y,z,{heads},l1,l2\n{rows}")
    assert run(["look", str(tmp_path / "poses.csv")]) == 0
    shown = capsys.readouterr().out
    tables = tomllib.loads(shown[shown.index("[measurements]") :])
    assert tables["instruments"][0]["orientation"] == proposed
    assert tables["measurements"]["readings"] == ["l1", "l2"]
    assert said in " ".join(shown.split())
