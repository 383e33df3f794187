"""geometry.toml: what a calibration found is read back exactly, and is the robot of every other command."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.data import Poses, write_poses
from gough.export import RobotModel
from gough.geometry import MachineGeometry, calibrate, geometry_text, machine_geometry
from gough.geometry.machine import with_values
from gough.robots import (
    CableRobot,
    GoughPlatform,
    H4Kinematics,
    LinearDelta,
    Par4Kinematics,
    PlanarRRR,
    RodDelta,
    RotaryDelta,
)
from gough.studies import CalibrationStudy, PoseSelectionStudy
from gough.studies.geometry_file import read_geometry
from gough.studies.mechanism_file import read_mechanism_robot

DELTALAB = GoughPlatform.deltalab()
FAMILIES = [
    DELTALAB,
    replace(DELTALAB, gains=True, gain=0.07, reading_unit="rev"),
    LinearDelta(),
    RotaryDelta(),
    PlanarRRR(),
    H4Kinematics(),
    Par4Kinematics(),
    RodDelta(),
    CableRobot.hangprinter(),
    CableRobot.maslow(gains=True, gain=0.04, reading_unit="rev", buildup=1e-4, elongation=1e-5),
    CableRobot([[0, 0], [1, 0], [1, 1], [0, 1]], points=[[-0.1, 0], [0.1, 0], [0.1, 0.1], [0, 0.1]], length=0.5),
]


@pytest.mark.parametrize("blueprint", FAMILIES, ids=lambda model: f"{model.name}-{len(model.names)}")
def test_every_family_is_read_back_exactly(tmp_path, rng, blueprint):
    n = len(blueprint.names)
    model = with_values(blueprint, blueprint.nominal + rng.normal(0, 1e-4, n))
    root = rng.normal(size=(n, n))
    C = 1e-10 * root @ root.T
    C[0] = C[:, 0] = 0.0  # held
    path = tmp_path / "geometry.toml"
    path.write_text(geometry_text(MachineGeometry(model, (C + C.T) / 2, None, np.full(len(model.chains), 1e-4), 50)))
    back = read_geometry(path)
    assert back.model == model
    assert (back.model.nominal == model.nominal).all()
    assert (back.covariance == (C + C.T) / 2).all()
    assert model.names[0] not in back.sigma()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A calibrated platform: poses.csv, study.toml, geometry.toml."""
    place, rng = tmp_path_factory.mktemp("geometry"), np.random.default_rng(2)
    truth = DELTALAB.nominal + rng.normal(0, 1e-3, 42)
    p, R = rng.normal([0, 0, 0.35], 0.03, (30, 3)), exp(rng.normal(0, 0.15, (30, 3)))
    poses = Poses(p + rng.normal(0, 1e-5, p.shape), R, DELTALAB.inverse(truth, p, R))
    write_poses(place / "poses.csv", poses)
    answer = calibrate(DELTALAB, poses)
    (place / "geometry.toml").write_text(geometry_text(machine_geometry(answer)))
    (place / "study.toml").write_text(
        '[robot]\nfile = "geometry.toml"\n[poses]\nfile = "poses.csv"\nexclude = [3, "line 9"]\n'
        '[noise]\nposition = "0.01 mm"\norientation = 1e-5\nreadings = "0.001 mm"\n'
        '[calibration]\nfixed = ["a*", "b*"]\n[calibration.tolerance]\n"l*" = "2 mm"\n'
        '[certify]\naround = "1 mm"\nposition = "0.1 mm"\norientation = 1e-4\nreadings = "0.1 mm"\nchains = [1]\n'
        "[selection]\ncount = 8\ndraws = 60\nstarts = 1\n"
        '[selection.limits]\nreadings = [0, "140 mm"]\n'
    )
    return place, answer


def test_a_study_calibrates_from_it(folder):
    place, answer = folder
    study = CalibrationStudy.read(place / "study.toml")
    assert (study.model.nominal == answer.parameters).all()
    found = study.calibrate()
    assert len(found.poses) == 28
    assert found.poses.notes == ("Left out as stated: poses 3 (line 5), 7 (line 9).",)
    assert found.estimate.unknowns.names == DELTALAB.zeros
    assert found.rms[0] < 3e-5


def test_other_commands_read_it(folder):
    place, answer = folder
    certified = CalibrationStudy.read(place / "study.toml").certify()
    assert any("another file" in note or "leaves out poses" in note for note in certified.notes)
    assert len(PoseSelectionStudy.read(place / "study.toml").choose().selection.poses) == 8
    assert len(read_mechanism_robot(place / "geometry.toml").actuators) == 6
    model = RobotModel.of_geometry(read_geometry(place / "geometry.toml"))
    assert (model.geometry.parameters == answer.parameters).all()
    assert RobotModel.from_json(model.to_json()).geometry.model == model.geometry.model


def test_what_cannot_be_is_refused_with_the_line(folder, tmp_path):
    place, _ = folder
    text = (place / "geometry.toml").read_text()
    for old, new, message in (
        ("spare = ", "spares = ", "spares"),
        ('names = ["a1x"', 'names = ["a9x"', "no parameter of the DeltaLab platform is called 'a9x'"),
        ("rows = [\n  [", "rows = [\n  [1.0, ", "have 42 to 1 numbers"),
        ('family = "gough"', 'family = "gouh"', "line 6"),
        ("closure = [", "closure = [0, 0, 0, 0, 0, 0]\n# [", r"\[calibrated\] closure: a chain without closure errors"),
    ):
        assert old in text
        bad = tmp_path / "geometry.toml"
        bad.write_text(text.replace(old, new, 1))
        with pytest.raises(InputError, match=message):
            read_geometry(bad)
    study = tmp_path / "study.toml"
    study.write_text('[robot]\nfile = "geometry.toml"\nfamily = "gough"\n[poses]\nfile = "poses.csv"\n')
    with pytest.raises(InputError, match="either family"):
        CalibrationStudy.read(study)
    study.write_text('[robot]\nfile = "nowhere.toml"\n[poses]\nfile = "poses.csv"\n')
    with pytest.raises(InputError, match=r"line 2, .robot. file: .*nowhere\.toml"):
        CalibrationStudy.read(study)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('fixed = ["a*", "b*"]', 'fixed = ["a*", "l1"]', r"line 13, .*: 'l1' is fixed, and has a value in tolerance"),
        ('"l*" = "2 mm"', '"l*" = "2 mm"\nl1 = "1 mm"', r"line 14, .*l1: 'l1' has two values in tolerance"),
        ('fixed = ["a*", "b*"]', "folds = 3", r"line 11, \[calibration\] folds: .poses. validation states poses"),
    ],
)
def test_contradictions_of_a_study_are_refused_with_the_line(folder, old, new, message):
    place, _ = folder
    head, *rows = (place / "poses.csv").read_text().splitlines(keepends=True)
    (place / "first.csv").write_text(head + "".join(rows[:20]))
    (place / "others.csv").write_text(head + "".join(rows[20:]))
    text = (place / "study.toml").read_text().replace('exclude = [3, "line 9"]', 'validation = "others.csv"')
    assert old in text
    assert 'file = "poses.csv"' in text
    text = text.replace('file = "poses.csv"', 'file = "first.csv"')
    (place / "other.toml").write_text(text.replace(old, new))
    with pytest.raises(InputError, match=message):
        CalibrationStudy.read(place / "other.toml").calibrate()


def test_poses_are_left_out_of_their_own_file_alone(folder):
    place, _ = folder
    lines = (place / "poses.csv").read_text().splitlines(keepends=True)
    (place / "few.csv").write_text("".join(lines[:8]))
    text = (place / "study.toml").read_text().replace('"line 9"]', '"line 29"]\nvalidation = "few.csv"')
    (place / "validated.toml").write_text(text)
    study = CalibrationStudy.read(place / "validated.toml")
    assert len(study.poses()) == 28
    assert len(study.validation()) == 7


def test_chains_of_an_h4_that_differ_have_no_dynamic_model(tmp_path):
    model = with_values(H4Kinematics(), H4Kinematics().nominal + 1e-4)
    path = tmp_path / "geometry.toml"
    path.write_text(geometry_text(MachineGeometry(model)))
    with pytest.raises(InputError, match="join both results in gough export"):
        read_mechanism_robot(path)
