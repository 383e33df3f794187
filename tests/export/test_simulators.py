"""MJCF and URDF: read back by MuJoCo and Pinocchio with the efforts of gough; refused where bodies are not known."""

from ast import literal_eval
from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.export import RobotModel
from gough.export.exporting import export
from gough.robots import ROBOTS
from gough.robots.mechanism.imports.mjcf import read_mjcf
from tests.export.models import dynamic_model, geometric_model, named_model


def program(form):
    pytest.importorskip({"mjcf": "mujoco", "urdf": "pinocchio"}[form])


@pytest.mark.parametrize("form", ["mjcf", "urdf"])
@pytest.mark.parametrize("key", ["h4", "par4", "delta", "five-bar", "3-rrr", "6-ups"])
def test_the_other_program_has_the_efforts_of_gough(key, form):
    program(form)
    done = export(named_model(key), form, bodies="nominal")
    errors = {each.what.split(", ")[1]: each.error for each in done.comparisons}
    assert set(errors) == {"efforts", "closures in m", "friction"}
    assert max(errors.values()) < 1e-9
    assert {each.states for each in done.comparisons} == {200}


@pytest.mark.parametrize("form", ["mjcf", "urdf"])
def test_bodies_that_the_data_do_not_determine_are_refused(form):
    with pytest.raises(InputError, match=r"not its single bodies.*--bodies nominal"):
        export(named_model("five-bar"), form)
    dynamics = named_model("3-rrr").dynamics
    assert export(RobotModel(dynamics), form, verify=False).notes == ()
    fewer = dynamic_model(dynamics.robot.with_only(dynamics.robot.names[1:]))
    with pytest.raises(InputError, match="not its single bodies"):
        export(fewer, form)


def test_impossible_bodies_are_refused():
    model = named_model("3-rrr")
    dynamics = model.dynamics
    title, estimate = dynamics.estimate_of()
    values = estimate.value.copy()
    values[dynamics.columns.index("m_platform")] = -0.1
    spoiled = replace(estimate, region=replace(estimate.region, center=values))
    wrong = RobotModel(replace(dynamics, estimates={title: spoiled}))
    with pytest.raises(InputError, match="body 'platform' is not physically possible"):
        export(wrong, "urdf")
    values = estimate.value.copy()
    values[dynamics.columns.index("r_1")] = -0.1
    spoiled = replace(estimate, region=replace(estimate.region, center=values))
    with pytest.raises(InputError, match="friction of 'q1' is not physically possible"):
        export(RobotModel(replace(dynamics, estimates={title: spoiled})), "mjcf")
    with pytest.raises(InputError, match="body 'stator1' is not physically possible"):
        export(named_model("palida"), "mjcf", bodies="nominal")


def test_a_model_that_no_rigid_bodies_have_is_refused():
    """The variant “paper” of an H4 has rods without inertia: bodies with its efforts have negative moments."""
    model = dynamic_model(replace(ROBOTS["h4"](), variant="paper"))
    with pytest.raises(InputError, match="body 'rod1a' is not physically possible"):
        export(model, "urdf", bodies="nominal", verify=False)


def test_closures_without_a_constraint_and_calibrations_are_refused():
    with pytest.raises(InputError, match="holds x, y, z, rz"):
        export(named_model("6-ucu"), "mjcf")
    from gough.robots import LinearDelta

    model = geometric_model(LinearDelta(), np.array([[0.05] * 3, [0.2] * 3]))
    with pytest.raises(InputError, match="a calibration has no masses"):
        export(model, "urdf")


def test_the_mjcf_is_read_by_gough_with_friction_and_armature(tmp_path):
    text = export(named_model("h4"), "mjcf", bodies="nominal", verify=False).files["h4.xml"].decode()
    assert text.count("<connect") == 8
    for word in ("armature=", "frictionloss=", "damping="):
        assert word in text
    (tmp_path / "h4.xml").write_text(text)
    assert read_mjcf(tmp_path / "h4.xml")


def test_the_closures_file_has_the_form_of_extended_urdf():
    files = export(named_model("five-bar"), "urdf", bodies="nominal", verify=False).files
    lines = dict(line.split(": ", 1) for line in files["five_bar.yaml"].decode().splitlines())
    assert literal_eval(lines["closed_loop"]) == [["closedloop1_A", "closedloop1_B"]]
    assert literal_eval(lines["type"]) == ["3d"]
    assert literal_eval(lines["name_mot"]) == ["q1", "q2"]
    urdf = files["five_bar.urdf"].decode()
    assert all(f'<link name="closedloop1_{end}"' in urdf for end in "AB")


@pytest.mark.parametrize("form", ["mjcf", "urdf"])
def test_bodies_that_can_exist_complete_what_the_data_do_not_determine(form, rng):
    program(form)
    pytest.importorskip("cvxpy")
    from gough.dynamics import PhysicalOptions, identify, possible_bodies
    from gough.robots import FiveBar
    from gough.robots.mechanism import MechanismModel
    from tests.dynamics.test_bodies import measured

    robot = MechanismModel(FiveBar.demo().mechanism)
    data = measured(robot, robot.nominal, rng, sigma=1e-3)
    answer = identify(robot, data, methods=["least-squares"], compare=False)
    with pytest.raises(InputError, match=r"add the table \[physical\]"):
        export(RobotModel.of(answer), form)
    answer = replace(answer, possible=possible_bodies(answer, PhysicalOptions(ranges=False)))
    model = RobotModel.of(answer)
    assert RobotModel.from_json(model.to_json()).dynamics.possible == answer.possible.values
    done = export(model, form)
    assert max(each.error for each in done.comparisons) < 1e-9
    assert "can exist" in done.notes[0]


def test_joints_of_an_exported_robot_stick():
    """Half of the dry friction does not move a joint of the Delta: MuJoCo's default constraint creeps."""
    mujoco = pytest.importorskip("mujoco")
    done = export(named_model("delta"), "mjcf", bodies="nominal", verify=False)
    (text,) = (content for name, content in done.files.items() if name.endswith(".xml"))
    model = mujoco.MjModel.from_xml_string(text.decode())
    model.opt.gravity[:] = 0
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.ctrl[:] = 0.5 * model.dof_frictionloss[model.dof_frictionloss > 0].min()
    start = data.qpos.copy()
    mujoco.mj_step(model, data, round(0.5 / model.opt.timestep))
    assert abs(data.qpos - start).max() < 1e-6
