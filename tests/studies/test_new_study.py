"""New studies: of single recordings for every robot, of repeats where the recordings repeat."""

import re

import numpy as np
import pytest

from gough import InputError
from gough.cli.app import run
from gough.data import Recording, write_recording
from gough.data.periodicity import is_one_motion, period_of
from gough.papers.new_study import repetition, write_new_study
from gough.robots import ROBOTS
from gough.studies import DesignStudy, IdentificationStudy
from gough.studies.mechanism_file import Stated
from gough.studies.mechanism_text import mechanism_text
from tests.studies.test_urdf_and_mjcf import ARM, CLOSED, FIVE_BAR, MOTORS


@pytest.fixture
def files(tmp_path):
    (tmp_path / "bars.toml").write_text(mechanism_text(ROBOTS["five-bar"]().mechanism))
    (tmp_path / "arm.urdf").write_text(ARM)
    (tmp_path / "bars.xml").write_text(FIVE_BAR.format(CLOSED + MOTORS))
    return tmp_path


BESIDE = Stated(platform="load", pose=("x", "y"), home=("0 mm", 0.4))


@pytest.mark.parametrize("repeats", [None, True, False])
@pytest.mark.parametrize(("name", "stated"), [("bars.toml", None), ("arm.urdf", None), ("bars.xml", BESIDE)])
def test_a_study_of_any_mechanism_file_is_written_in_both_ways(files, name, stated, repeats):
    write_new_study(files / "new", str(files / name), repeats=repeats, stated=stated)
    study = IdentificationStudy.read(files / "new" / "study.toml")
    assert study.table.robot.file == f"../{name}"
    assert (study.table.repeats is not None) == (repeats is True)
    assert study.channels == (("q1", "q2"), ("tau1", "tau2"))
    assert study.table.design is not None
    if stated is not None:
        assert study.robot.home.tolist() == [0.0, 0.4]
    readme = (files / "new" / "README.md").read_text()
    assert "Channels of this robot: q1, q2, tau1, tau2." in readme
    assert "robot.geometry" not in readme


@pytest.mark.parametrize("family", [*ROBOTS])
def test_every_family_has_a_study_of_single_recordings(tmp_path, family):
    write_new_study(tmp_path / "new", family)
    study = IdentificationStudy.read(tmp_path / "new" / "study.toml")
    assert study.table.repeats is None
    assert study.premises == ()


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("family", [*ROBOTS])
def test_every_family_has_a_design_at_hand(tmp_path, family, repeats):
    """What is commented out is what `gough design` takes."""
    write_new_study(tmp_path / "new", family, repeats=repeats)
    path = tmp_path / "new" / "study.toml"
    before, head, after = path.read_text().partition("[design]")
    path.write_text(
        before.removesuffix("# ") + re.sub(r"(?m)^# (?=\[|\w+ = )", "", head + after).replace("sigma =", "# sigma =")
    )
    problem = DesignStudy.read(path).problem
    assert problem.limits.margin == 0.5
    assert problem.limits.speeds is not None


def recording(path, q, rate=100.0):
    names = [f"{letter}{k + 1}" for letter in ("q", "tau") for k in range(q.shape[1])]
    noise = np.random.default_rng(len(q)).normal(size=q.shape)
    write_recording(
        path, Recording(names, ["rad"] * q.shape[1] + ["N·m"] * q.shape[1], np.hstack([q, q + 0.05 * noise]), rate)
    )
    return path


def swing(period, duration, rate=100.0):
    t = np.arange(0, duration, 1 / rate)
    turns = 2 * np.pi * np.column_stack([t, t]) / period
    return np.sin(turns * [1, 2]) + 0.5 * np.cos(turns * [3, 1])


def test_recordings_decide_whether_the_study_is_about_repeats(files):
    robot = str(files / "bars.toml")
    periodic = recording(files / "periodic.csv", swing(2.5, 12.0))
    once = recording(files / "once.csv", swing(2.5, 4.0))
    uneven = recording(files / "uneven.csv", swing(2.5037, 12.0))
    first, second = (recording(files / f"run{k}.csv", swing(9.0, 9.0) + 1e-3 * k) for k in (1, 2))
    assert repetition([periodic]).reason == "periodic.csv: the motion repeats every 2.5 s."
    assert repetition([once]).periods is None
    assert "no whole number of samples" in repetition([uneven]).reason
    for k, (named, period) in enumerate([([periodic], 2.5), ([first, second], None)]):
        write_new_study(files / f"repeats{k}", robot, recordings=named)
        study = IdentificationStudy.read(files / f"repeats{k}" / "study.toml")
        assert study.table.repeats.period == period
        assert [source.file for source in study.table.data.recordings] == [f"../{path.name}" for path in named]
        assert study.table.data.validation == []
        assert study.repeated_motion().n_repeats == (3 if period else 2)
    for k, named in enumerate([[once], [uneven], [periodic, once], [files / "none.csv"]]):
        write_new_study(files / f"single{k}", robot, recordings=named)
        study = IdentificationStudy.read(files / f"single{k}" / "study.toml")
        assert study.table.repeats is None
        assert len(study.table.data.recordings) == len(named)
    write_new_study(files / "asked", robot, recordings=[periodic], repeats=False)
    assert IdentificationStudy.read(files / "asked" / "study.toml").motion().n_samples > 100


def test_the_command_says_what_it_decided(files, capsys):
    periodic = recording(files / "periodic.csv", swing(2.5, 12.0))
    new = ["new", str(files / "a"), "--robot", str(files / "bars.toml")]
    assert run([*new, "--recording", str(periodic)]) == 0
    assert "periodic.csv: the motion repeats every 2.5 s." in " ".join(capsys.readouterr().out.split())
    assert 'period = "2.5 s"' in (files / "a" / "study.toml").read_text()
    beside = ["--platform", "load", "--pose", "x, y", "--home", "0, 0.4"]
    assert run(["new", str(files / "b"), "--robot", str(files / "bars.xml"), *beside]) == 0
    assert 'pose = ["x", "y"]' in (files / "b" / "study.toml").read_text()
    assert run(["new", str(files / "d"), "--robot", str(files / "bars.xml")]) == 0  # the pose is that of the motors
    assert (files / "d" / "study.toml").exists()
    assert run(["new", str(files / "c"), "--robot", "h4", "--pose", "x"]) == 2
    assert run(["new", str(files / "c"), "--robot", "h4", "--example", "--recording", str(periodic)]) == 2
    assert not (files / "c").exists()


def test_a_period_is_found_under_noise_and_not_where_there_is_none(rng):
    for _ in range(20):
        rate, period = rng.choice([100.0, 200.0]), rng.integers(100, 700) / 100
        t = np.arange(0, period * rng.uniform(3.1, 8), 1 / rate)
        waves = [
            sum(rng.normal(size=2) @ [np.sin(k * w), np.cos(k * w)] / k for k in (1, 2, 3))
            for w in [2 * np.pi * t / period] * 4
        ]
        x = np.column_stack([*waves, t]) + 0.02 * rng.normal(size=(len(t), 5))
        assert period_of(x, rate) == pytest.approx(period, rel=1e-9)
        walk = rng.normal(size=(len(t), 3)).cumsum(axis=0)
        assert period_of(walk, rate) is None
        frequencies = rng.uniform(0.1, 2, (3, 6))
        beats = np.stack([np.sin(2 * np.pi * np.outer(t, f)).sum(axis=1) for f in frequencies], axis=1)
        assert period_of(beats, rate) is None
    assert period_of(np.zeros((100, 2)), 100.0) is None
    assert period_of(np.zeros((0, 2)), 100.0) is None
    assert period_of(np.full((100, 1), np.nan), 100.0) is None
    assert not is_one_motion([np.zeros((50, 2))] * 2)


def test_an_unknown_file_is_refused_before_a_folder_is_made(tmp_path):
    with pytest.raises(InputError, match=r"none\.urdf cannot be read"):
        write_new_study(tmp_path / "new", str(tmp_path / "none.urdf"))
    assert not (tmp_path / "new").exists()
