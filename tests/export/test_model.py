"""model.json: written by identifications and calibrations, read back exactly, refused where it is damaged."""

import json

import numpy as np
import pytest

from gough import calibrate
from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.data import Poses
from gough.dynamics import identify
from gough.dynamics.example import random_motion
from gough.export import RobotModel, model_files
from gough.export.exporting import export
from gough.export.robot_data import DYNAMIC, KINEMATIC, robot_from_data, robot_to_data
from gough.robots import KINEMATICS, ROBOTS, GoughPlatform, H4Kinematics, PlanarRRR
from gough.robots.mechanism import MechanismModel
from tests.compiler import HAS_COMPILER
from tests.export.models import geometric_model, named_model


@pytest.fixture(scope="module")
def identified():
    return identify(*random_motion(1), methods=["weighted", "hull"], compare=False)


@pytest.mark.parametrize("key", ROBOTS)
def test_robots_return_from_data_as_they_were(key):
    robot = ROBOTS[key]()
    for each in (robot, MechanismModel(robot.mechanism)):
        data = json.loads(json.dumps(robot_to_data(each)))
        assert robot_from_data(data, DYNAMIC) == each


@pytest.mark.parametrize("key", KINEMATICS)
def test_kinematic_models_return_from_data(key):
    made = {"gough": GoughPlatform.deltalab, "3-rrr": lambda: PlanarRRR.of_circles(0.5, 0.1, arm=0.35, rod=0.35)}
    model = made.get(key, KINEMATICS[key])()
    data = json.loads(json.dumps(robot_to_data(model)))
    same = robot_from_data(data, KINEMATIC)
    assert same.names == model.names
    assert (same.nominal == model.nominal).all()
    assert robot_to_data(same) == data


def test_a_model_has_the_efforts_of_its_identification(identified):
    model = RobotModel.from_json(model_files(identified)["model.json"].decode())
    dynamics, motion = model.dynamics, identified.motion
    theta = dynamics.parameters()
    assert (theta == identified.parameters(identified.recommended)).all()
    assert dynamics.recommended == identified.recommended
    assert not dynamics.is_complete
    W = dynamics.robot.regressor(motion.q, motion.dq, motion.ddq)
    assert np.allclose(W @ theta, identified.efforts(motion.q, motion.dq, motion.ddq), rtol=1e-14)
    assert (dynamics.seen.q[1] >= motion.q[motion.kept.any(axis=1)]).all()


def test_another_method_may_be_exported(identified):
    model = RobotModel.of(identified)
    hull = model.with_method("Hull")
    assert hull.dynamics.recommended == "hull"
    assert (hull.dynamics.parameters() == identified.parameters("hull")).all()
    with pytest.raises(InputError, match="no estimate is by 'hul'; did you mean 'hull'"):
        model.with_method("hul")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.update(format="other"), "not a model that gough wrote"),
        (lambda d: d.update(version=2), "its version is 2, but this gough reads version 1"),
        (lambda d: d["dynamics"].update(parameters=["a"]), "the estimate of another robot"),
        (lambda d: d["dynamics"].update(robot={"type": "Body"}), "cannot be read|must be"),
        (lambda d: d["dynamics"].update(robot={"type": "Spy"}), r"unknown type 'Spy' of the robot \(known: H4, Par4"),
        (lambda d: d["dynamics"].pop("seen"), "not a complete model"),
        (lambda d: d["dynamics"]["seen"].update(q=[[0.0]]), "expected numbers of the shape"),
        (lambda d: d["dynamics"]["seen"].update(q=[["nan", 0.0], [0.0, 0.0]]), "expected finite numbers"),
        (lambda d: d["dynamics"].update(recommended="none"), "no recommended estimate"),
        (lambda d: d["dynamics"].update(columns=["m_1"]), "not those of its robot's parameters"),
        (lambda d: d["dynamics"].update(fixed={"mass": 1.0}), "does not have"),
        (lambda d: d.update(dynamics=None), "needs dynamics or geometry"),
        (lambda d: d.update(dynamics=3), "not a complete model"),
        (lambda d: d.pop("seal"), "it lacks the key 'seal'"),
        (lambda d: d["dynamics"].update(headline="better"), "its content was changed after gough wrote it"),
        (lambda d: d["dynamics"]["seen"]["q"][0].__setitem__(0, -9.0), "its content was changed after gough wrote it"),
    ],
)
def test_damaged_models_are_refused(identified, change, words):
    data = json.loads(RobotModel.of(identified).to_json())
    change(data)
    with pytest.raises(InputError, match=words):
        RobotModel.from_json(json.dumps(data))


def test_results_of_two_robots_do_not_make_a_model(tmp_path):
    dynamics, geometry = named_model("h4"), geometric_model(H4Kinematics(), np.array([[0.2] * 4, [0.8] * 4]))
    places = []
    for name, model in (("a", dynamics), ("b", geometry), ("c", named_model("delta"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.json").write_text(model.to_json())
        places.append(tmp_path / name)
    both = RobotModel.read(places[1], places[0])
    assert both.dynamics.robot.name == both.geometry.model.name == "H4"
    again = RobotModel.from_json(both.to_json())
    assert (again.geometry.parameters == geometry.geometry.parameters).all()
    with pytest.raises(InputError, match="of another robot \\(Delta\\) than the calibration \\(H4\\)"):
        RobotModel.read(places[2], places[1])
    with pytest.raises(InputError, match="these are of the same kind"):
        RobotModel.read(places[0], places[2])


def test_a_calibration_in_the_frame_of_its_instrument_has_a_home(rng):
    """Poses are measured from a place one metre away, turned by half a turn: searches begin at a measured pose."""
    robot, n = GoughPlatform.deltalab(), 24
    position = np.array([0.0, 0.0, 0.33]) + rng.uniform(-0.02, 0.02, (n, 3))
    rotation = exp(rng.uniform(-0.1, 0.1, (n, 3)))
    readings = robot.inverse(robot.nominal, position, rotation) + 1e-5 * rng.normal(size=(n, 6))
    away = exp(np.array([np.pi - 0.2, 0.1, 0.3]))
    poses = Poses(position @ away.T + [1.0, 0.2, -0.3], away @ rotation, readings)
    model = RobotModel.of(calibrate(robot, poses))
    assert abs(model.geometry.home.position[0] - [1.0, 0.2, -0.3]).max() < 0.5
    same = RobotModel.from_json(model.to_json())
    assert (same.geometry.home.rotation == model.geometry.home.rotation).all()
    files = export(same, "c", verify=HAS_COMPILER).files
    assert "deltalab_platform.h" in files


def test_unknown_forms_and_names_are_refused():
    model = named_model("five-bar")
    with pytest.raises(InputError, match="there is no export to 'C'"):
        export(model, "C")
    with pytest.raises(InputError, match="'4h' cannot name"):
        export(model, "c", name="4h")


def test_json_is_read_again():
    done = export(named_model("five-bar"), "json")
    (name,) = done.files
    assert name == "five_bar.json"
    assert RobotModel.from_json(done.files[name].decode()).dynamics.robot == ROBOTS["five-bar"]()
    assert all(each.is_close for each in done.comparisons)
