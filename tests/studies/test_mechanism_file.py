"""Mechanism files: what they mean, that nothing is lost on the way back, and mistakes with file, line and key."""

import json
from pathlib import Path

import numpy as np
import pytest

from gough import InputError
from gough.cli.mechanism import mechanism as command
from gough.robots import ROBOTS, Hexapod
from gough.robots.mechanism import MechanismModel
from gough.studies.mechanism_file import MechanismFile, read_mechanism
from gough.studies.mechanism_text import mechanism_text

PLANAR = """\
[mechanism]
name = "planar"
actuated = ["q1", "q2", "q3"]
gravity = [0, "-9.81 m/s^2", 0]

[platform]
body = "plate"
pose = ["x", "y", "yaw"]
home = [0, "0 mm", "0 deg"]

[[bodies]]
name = "plate"
mass = "800 kg/1000"
moments = [0.003, 0.003, 0.006]
symmetry = "planar"

[[joints]]
name = "plate"
kind = "planar"
parent = "base"
child = "plate"

[[legs]]
names = ["1", "2", "3"]
motor = [[0, 0.45, 0], [-0.3897, -0.225, 0], [0.3897, -0.225, 0]]
end = ["0 120 0 mm", "-103.9 -60 0 mm", "103.9 -60 0 mm"]
angle = [-2.5586, -0.4642, 1.6302]

[[legs.bodies]]
name = "arm{leg}"
group = "arm"
mass = 0.4
center = "150 0 0 mm"
moments = [0, 0.003, 0.003]
symmetry = "planar"

[[legs.bodies]]
name = "rod{leg}"
group = "rod"
mass = 0.25
center = [0.15, 0, 0]
moments = [0, 0.0018, 0.0018]
symmetry = "planar"

[[legs.joints]]
name = "q{leg}"
kind = "revolute"
parent = "base"
child = "arm{leg}"
position = "{motor}"
start = "{angle}"
limits = { lower = "-180 deg", upper = "180 deg", effort = "20 N·m" }
friction = { group = "{leg}", dry = 0.3, viscous = "0.08 Nm s/rad" }

[[legs.joints]]
name = "elbow{leg}"
kind = "revolute"
parent = "arm{leg}"
child = "rod{leg}"
position = [0.3, 0, 0]
start = 1.97

[[legs.closures]]
name = "pin{leg}"
bodies = ["rod{leg}", "plate"]
points = [[0.3, 0, 0], "{end}"]
kind = "planar point"
"""


def written(tmp_path, text, name="planar.toml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_legs_are_written_once_and_units_are_understood(tmp_path):
    mechanism = read_mechanism(written(tmp_path, PLANAR))
    assert [body.name for body in mechanism.bodies] == ["plate", *(f"{w}{k}" for k in "123" for w in ("arm", "rod"))]
    assert mechanism.body("plate").inertia.mass == pytest.approx(0.8)
    assert mechanism.body("arm2").inertia.center == pytest.approx((0.15, 0, 0))
    assert mechanism.joint_of("arm3").placement.position == (0.3897, -0.225, 0.0)
    assert mechanism.closures[1].placements[1].position == pytest.approx((-0.1039, -0.06, 0.0))
    q1 = mechanism.freedoms["q1"]
    assert (q1.limits.lower, q1.limits.effort) == (pytest.approx(-np.pi), 20.0)
    assert q1.friction.parameters == {"r_1": 0.3, "v_1": 0.08}
    assert mechanism.gravity == (0.0, -9.81, 0.0)


def test_a_file_becomes_a_robot(tmp_path):
    robot = MechanismFile.read(written(tmp_path, PLANAR)).robot
    assert isinstance(robot, MechanismModel)
    assert np.abs(robot.forward(robot.inverse([0.05, -0.02, 0.1])) - [0.05, -0.02, 0.1]).max() < 1e-12


@pytest.mark.parametrize("name", ROBOTS)
def test_nothing_is_lost_between_a_mechanism_and_its_file(name, tmp_path):
    mechanism = ROBOTS[name]().mechanism
    assert read_mechanism(written(tmp_path, mechanism_text(mechanism))) == mechanism


MISTAKES = [
    ('name = "planar"', 'nme = "planar"', "line 2, [mechanism] nme: there is no such key; did you mean 'name'?"),
    ('body = "plate"\n', "", "line 6, [platform] body: this key is required"),
    ('mass = "800 kg/1000"', 'mass = "800 mm"', "line 13, [bodies] mass: '800 mm': 'mm' cannot become 'kg'"),
    ('mass = "800 kg/1000"', "mass = -1", "line 13, [bodies] mass: mass must not be negative, but is -1 kg"),
    ('mass = "800 kg/1000"', "mas = 1", "line 13, [bodies] mas: there is no such key; did you mean 'mass'?"),
    (
        "moments = [0.003, 0.003, 0.006]",
        "moments = [1, 2]",
        "line 14, [bodies] moments: must be three numbers in kg·m²",
    ),
    (
        "moments = [0.003, 0.003, 0.006]",
        "moments = [1, 2, -9]",
        "line 11, bodies: body 'plate': no body has the moments",
    ),
    ('symmetry = "planar"', 'symmetry = "flat"', "line 15, [bodies] symmetry: must be 'none', 'x'"),
    ('kind = "planar"', 'kind = "floating"', "line 19, [joints] kind: must be 'revolute', 'prismatic'"),
    ('child = "plate"', 'child = "plat"', "line 21, [joints] child: no body is called 'plat'; did you mean 'plate'?"),
    ('body = "plate"', 'body = "plates"', "line 7, [platform] body: no body is called 'plates'; did you mean 'plate'?"),
    ('"x", "y", "yaw"', '"x", "y", "yow"', "line 8, [platform] pose: no coordinate of a pose is called 'yow'; did you"),
    ('[0, "0 mm", "0 deg"]', "[0, 0]", "line 9, [platform] home: home must have 3 numbers, one for each of pose"),
    ('[0, "0 mm", "0 deg"]', '[0, 0, "1 mm"]', "line 9, [platform] home: '1 mm': 'mm' cannot become 'rad'"),
    ('"q1", "q2", "q3"', '"q1", "q2", "q4"', "line 3, [mechanism] actuated: no coordinate is called 'q4' (known: "),
    (
        'names = ["1", "2", "3"]',
        'names = ["1", "2"]',
        "line 25, [legs] motor: must have an entry for each of 2 legs, but",
    ),
    ('"{motor}"', '"{moter}"', "line 45, [legs] joints: [[legs]] has no list 'moter'; did you mean 'motor'?"),
    ('"{motor}"', "[1, 2]", "line 50, [legs.joints] position: must be three numbers in m"),
    (
        'lower = "-180 deg"',
        'lower = "-180 mm"',
        "line 52, [legs.joints.limits] lower: '-180 mm': 'mm' cannot become 'rad'",
    ),
    ('lower = "-180 deg"', 'lower = "200 deg"', "line 52, [legs.joints] limits: limits must have lower < upper"),
    (
        'limits = { lower = "-180 deg", upper = "180 deg", effort = "20 N·m" }\n',
        "",
        "'q1' is actuated, but its limits are",
    ),
    ("dry = 0.3", "drry = 0.3", "line 53, [legs.joints.friction] drry: there is no such key; did you mean 'dry'?"),
    ("dry = 0.3", "dry = -0.3", "line 53, [legs.joints] friction: dry friction must not be negative"),
    ('name = "arm{leg}"', 'name = "arm"', "line 30, [legs.bodies] name: 'arm' is there twice: each needs a name"),
    ('kind = "planar point"', 'kind = "ball"', "line 67, [legs.closures] kind: must be 'point', 'frame'"),
    ('kind = "planar point"', 'directions = ["x", "q"]', "[legs] closures: closure 'pin1': 'q' is no direction"),
    ('bodies = ["rod{leg}", "plate"]', 'bodies = ["rod{leg}"]', "line 65, [legs.closures] bodies: "),
    (
        '["rod{leg}", "plate"]',
        '["rod{leg}", "plte"]',
        "line 65, [legs.closures] bodies: no body is called 'plte'; did you",
    ),
    (
        "position = [0.3, 0, 0]",
        "axis = [0, 0, 0]",
        "line 60, [legs.joints] axis: axis has no length: it points nowhere",
    ),
    ("position = [0.3, 0, 0]", 'axis = "w"', "line 60, [legs.joints] axis: no axis is called 'w'"),
    ("position = [0.3, 0, 0]", 'rotation = "z"', "line 60, [legs.joints] rotation: a turn is an axis and an angle"),
    ("[[legs]]", "[legs]", "write [[legs]], with two brackets"),
]


@pytest.mark.parametrize(("old", "new", "said"), MISTAKES)
def test_mistakes_are_named_with_their_line(tmp_path, old, new, said):
    assert old in PLANAR
    path = written(tmp_path, PLANAR.replace(old, new, 1))
    with pytest.raises(InputError) as refused:
        read_mechanism(path)
    assert said in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_mechanism_that_does_not_close_names_its_file(tmp_path):
    path = written(tmp_path, PLANAR.replace("position = [0.3, 0, 0]", "position = [3, 0, 0]"))
    with pytest.raises(InputError, match=r"planar\.toml: planar does not close at home: the gaps are pin"):
        _ = MechanismFile.read(path).robot


FOUR_BAR = """\
[mechanism]
name = "four-bar"
urdf = "bars.urdf"
actuated = ["crank"]

[platform]
body = "coupler"
pose = ["crank"]
home = ["60 deg"]

[[closures]]
name = "pin"
bodies = ["coupler", "rocker"]
points = [[0.5, 0, 0], [0.4, 0, 0]]
directions = ["x", "y"]

[groups]
side = ["crank", "rocker"]
"""
BARS = """\
<robot name="bars">
  <link name="frame"/>
  {links}
  <joint name="crank" type="revolute">
    <parent link="frame"/><child link="crank"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="1" velocity="1"/>
  </joint>
  <joint name="knee" type="continuous">
    <parent link="crank"/><child link="coupler"/><origin xyz="0.2 0 0"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="pivot" type="continuous">
    <parent link="frame"/><child link="rocker"/><origin xyz="0.5 0 0"/><axis xyz="0 0 1"/>
  </joint>
</robot>
""".format(
    links="\n  ".join(
        f'<link name="{name}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>'
        '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>'
        for name in ("crank", "coupler", "rocker")
    )
)


def test_bodies_of_a_urdf_file_are_closed_and_tied_here(tmp_path):
    written(tmp_path, BARS, "bars.urdf")
    robot = MechanismFile.read(written(tmp_path, FOUR_BAR)).robot
    assert robot.mechanism.body("rocker").tied == "side"
    assert [name for name in robot.names if name.startswith("m_")] == ["m_side", "m_coupler"]


def test_mistakes_of_a_urdf_file_name_both_files(tmp_path):
    written(tmp_path, BARS.replace('type="continuous"', 'type="screw"', 1), "bars.urdf")
    with pytest.raises(InputError, match=r"planar\.toml, line 3, \[mechanism\] urdf: .*bars\.urdf, line 9, <joint"):
        read_mechanism(written(tmp_path, FOUR_BAR))


def test_the_command_prints_freedoms_workspace_and_base_parameters(tmp_path, capsys):
    command(str(written(tmp_path, PLANAR)), write=None, as_json=False)
    said = capsys.readouterr().out
    assert "planar: 7 bodies in 3 groups, 9 coordinates, 6 closure equations, 6 of them independent." in said
    assert "Mobility: 3, as many as actuators (Grübler's count: 3)." in said
    assert "Base parameters: 15 combinations of 18 parameters are identifiable." in said
    assert "Parameters without effect on the actuators: m_arm." in said


def test_the_command_speaks_json_and_writes_files(tmp_path, capsys):
    target = tmp_path / "copy.toml"
    command("6-ups", write=target, as_json=True)
    answer = json.loads(capsys.readouterr().out)
    assert (answer["mobility"], answer["grubler"]) == (6, 6)
    mass = next(each for each in answer["base_parameters"] if each["formula"] == "m_platform + 6·m_rod")
    assert (mass["unit"], mass["nominal"]) == ("kg", pytest.approx(48.0))
    assert read_mechanism(target) == Hexapod().mechanism


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(InputError, match=r"no mechanism of this name; did you mean 'palida'\?"):
        command("palid", write=None, as_json=False)
