"""Effects of the catalogue in exports: the same efforts as their columns, switches, and what a controller is told."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from gough.control import ControlStudy
from gough.core.errors import InputError
from gough.dynamics import identify
from gough.dynamics.effects import catalogue
from gough.dynamics.example import random_motion
from gough.export import RobotModel
from gough.export.c_source import FLOAT_TOLERANCE, c_files, sections_of
from gough.export.compiling import vector_errors
from gough.export.exporting import export
from gough.robots import ROBOTS
from gough.robots.mechanism import MechanismModel
from tests.compiler import needs_compiler
from tests.export.models import Compiled, dynamic_model, with_values

KNOWN = catalogue()


def instant_effects(robot):
    """Every effect that is a function of one instant, in a form with numbers of its own."""
    n = len(robot.actuators)
    mass = [name for name, unit in zip(robot.names, robot.units, strict=True) if unit == "kg"][-1]
    return [
        KNOWN["offset"],
        KNOWN["gain"],
        KNOWN["asymmetry"],
        KNOWN["friction"],
        KNOWN["rotor"],
        replace(KNOWN["stribeck"], speeds=tuple(np.linspace(0.2, 0.5, n).tolist())),
        replace(KNOWN["cogging"], waves=tuple(np.linspace(20.0, 31.0, n).tolist())),
        replace(KNOWN["payload"], parameters=(mass,)),
        replace(KNOWN["passive-friction"], form="both"),
    ]


@cache
def full_files(key):
    return c_files(full_model(key), "robot")


@cache
def full_model(key, kind="both"):
    robot = ROBOTS[key]()
    effects = instant_effects(robot)
    return dynamic_model(robot, kind, effects=effects, values=with_values(effects, robot))


@needs_compiler
@pytest.mark.parametrize("key", ["delta", "3-rrr"])
def test_compiled_effects_equal_their_columns(key):
    """Switch by switch; passive joints of the delta have no coordinates in the state of its equations."""
    files, sections = full_files(key)
    errors = vector_errors(files, "robot")
    assert {"robot_torque", "robot_torque_switched", "robot_torque_bounds", "robot_mass_matrix"} <= set(errors)
    assert errors["worst"] < 2e-12
    assert vector_errors(files, "robot", ["-DROBOT_FLOAT"])["worst"] < FLOAT_TOLERANCE
    words = {term.word for term in sections[0].effects.terms}
    assert ("PASSIVE_FRICTION" in words) == (key != "delta")
    for word in words - {"FRICTION"}:
        assert f"ROBOT_WITH_{word} = " in files["robot.h"]


def test_each_switch_changes_the_efforts():
    section = full_files("3-rrr")[1][0]
    n, dynamics = len(section.equations.actuated), section.dynamics
    switched = section.vectors["switched"]
    bodies = np.where(section.equations.efforts.is_friction, 0.0, dynamics.robot_parameters())
    rigid = dynamics.robot.regressor(*(section.vectors[key] for key in ("q", "dq", "ddq"))) @ bodies
    for k in range(switched.shape[1] // n):
        away = np.abs(switched[:, k * n : (k + 1) * n] - rigid).max()
        assert away > 1e-3 * section.vectors.scale("tau"), k


def test_bounds_scale_friction_only_where_it_is_switched_on():
    robot = ROBOTS["five-bar"]()
    model = dynamic_model(robot, "box", effects=[KNOWN["gain"]], values={"gain_1": 0.1, "gain_2": 0.2})
    section = sections_of(model, "bar")[0]
    reference = np.array([model.dynamics.effect_reference[name] for name in robot.names])
    q = section.equations.home[2:]
    dq, ddq = np.array([0.5, -0.7]), np.array([3.0, 4.0])
    is_friction = np.array(section.equations.efforts.is_friction)
    kernel = section.effects.regressor(["gain_1", "gain_2"])
    for rubbing in (0.0, 1.0):
        kept = np.where(is_friction, rubbing * reference, reference)
        wanted = robot.regressor(q[None], dq[None], ddq[None])[0] @ kept
        found = kernel.replay(section.equations.home, dq, ddq, rubbing)["W"]
        assert np.allclose(found, np.diag(wanted), rtol=1e-12)


@needs_compiler
def test_a_payload_is_added_on_request_only(tmp_path):
    """It is that of one recording: the same efforts as a larger parameter of the robot."""
    robot = ROBOTS["five-bar"]()
    payload = replace(KNOWN["payload"], parameters=("m_load",))
    model = dynamic_model(robot, effects=[payload], values={"m_load in recording 2": 0.25})
    files, sections = c_files(model, "bar")
    compiled, vectors = Compiled(files, "bar", tmp_path), sections[0].vectors
    assert "BAR_WITH_PAYLOAD = 2" in files["bar.h"]
    assert "BAR_WITH_ALL = 1, /* all but payload */" in files["bar.h"]
    table, state = compiled.identified(len(robot.names) + 1 + 6 * 2 + 1), np.zeros(4)
    heavier = table.copy()
    heavier[robot.names.index("m_load")] += 0.25
    motion = [np.ascontiguousarray(vectors[key][0]) for key in ("q", "dq", "ddq")]
    found = {}
    for name, own, switches in (("without", table, 1), ("with", table, 3), ("heavier", heavier, 1)):
        found[name] = np.zeros(2)
        compiled("start", state)
        assert compiled("torque", own, *motion, switches, state, found[name]) < 16
    assert np.allclose(found["with"], found["heavier"], rtol=1e-12)
    assert np.abs(found["with"] - found["without"]).max() > 1e-3


@pytest.mark.parametrize("name", list(KNOWN))
def test_every_effect_of_the_catalogue_is_exported_told_or_refused(name):
    effect = KNOWN[name]
    robot = ROBOTS["five-bar"]()
    if name in ("stribeck", "cogging", "payload", "sign"):
        return  # without numbers of their own there is no such effect, see the tests above; a sign has no parameter
    values = {} if effect.correction else with_values([effect], robot)
    model = dynamic_model(robot, "value", effects=[effect], values=values or {"own": 0.1})
    if effect.correction:
        with pytest.raises(InputError, match="an export cannot contain"):
            export(model, "c", verify=False)
        return
    done = export(model, "c", verify=False)
    header = done.files["five_bar.h"].decode()
    section = sections_of(model, "five_bar")[0]
    told = any(effect.title in note for note in done.notes)
    assert told or effect.at_instant(section.effects._symbols())
    if told:
        assert effect.controller
        assert " ".join(f"Not exported: {effect.title}".split()) in " ".join(header.replace("\n * ", " ").split())


def test_forms_survive_the_file():
    model = full_model("3-rrr")
    again = RobotModel.from_json(model.to_json())
    assert again.to_json() == model.to_json()
    for first, second in zip(model.dynamics.effects, again.dynamics.effects, strict=True):
        assert type(first) is type(second)
        assert getattr(first, "__dict__", {}) == getattr(second, "__dict__", {})


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"speeds": [', '"speeds": [1.0, ', "expected numbers of the shape"),
        ('"type": "Stribeck"', '"type": "Cogging"', "has no field|that of another"),
        ('"stribeck"', '"striebeck"', "no effect is called 'striebeck'"),
    ],
)
def test_spoiled_forms_are_refused(old, new, why):
    text = full_model("3-rrr").to_json()
    assert old in text
    with pytest.raises(InputError, match=why):
        RobotModel.from_json(text.replace(old, new, 1))


def test_a_model_of_an_earlier_version_is_identified_again():
    data = full_model("3-rrr").to_dict()
    data["dynamics"]["effect_parameters"] = list(data["dynamics"]["effect_parameters"])
    with pytest.raises(InputError, match="run gough identify again"):
        RobotModel.from_json(json.dumps(data))


@needs_compiler
def test_an_identified_offset_is_in_the_exported_efforts():
    """From the identification on: the exported efforts are those of the answer."""
    robot, motion = random_motion(1)
    answer = identify(robot, motion, methods=["weighted"], compare=False, effects=["offset"])
    model = RobotModel.from_json(RobotModel.of(answer).to_json())
    vectors = sections_of(model, "bar")[0].vectors
    wanted = answer.efforts(*(vectors[key] for key in ("q", "dq", "ddq")))
    assert np.abs(wanted - vectors["tau"]).max() < 1e-12 * np.abs(wanted).max()
    study = ControlStudy.of(model)
    assert study.left_out == ("offset",)
    assert study.dynamics.effects == ()
    assert [each.tolerance for each in export(model, "c").comparisons] == [1e-9, 1e-2]


def test_friction_of_drives_goes_into_simulators():
    pytest.importorskip("mujoco")
    robot = ROBOTS["3-rrr"]()
    frictionless = replace(
        robot.mechanism,
        joints=tuple(
            replace(joint, freedoms=tuple(replace(each, friction=None) for each in joint.freedoms))
            for joint in robot.mechanism.joints
        ),
    )
    plain = MechanismModel(frictionless)
    effects = [KNOWN["friction"], KNOWN["offset"]]
    model = dynamic_model(plain, "value", effects=effects, values=with_values(effects, plain))
    done = export(model, "mjcf", bodies="nominal")
    assert {each.what.split(", ")[1] for each in done.comparisons} == {"efforts", "closures in m", "friction"}
    text = done.files[f"{done.name}.xml"].decode()
    assert f'frictionloss="{model.dynamics.effect_values()["dry_1"]!r}"' in text
    assert any("no such term: offset" in note for note in done.notes)
