"""URDF and MJCF files are robots by themselves: what they leave open is stated beside them, or refused."""

import json

import numpy as np
import pytest

from gough import InputError
from gough.cli.app import run
from gough.robots.mechanism.imports import read_description
from gough.studies import IdentificationStudy
from gough.studies.mechanism_file import MechanismFile, Stated, read_mechanism, read_mechanism_robot

LINK = """<link name="{}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
  <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>"""
ARM = f"""<robot name="arm"><link name="floor"/>{LINK.format("upper")}{LINK.format("lower")}
  <joint name="q1" type="revolute"><parent link="floor"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="0.5" upper="1.5" effort="9" velocity="3"/></joint>
  <joint name="q2" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0.3 0 0"/>
    <axis xyz="0 1 0"/></joint></robot>"""
# Two cranks, two rods and a load where they meet: a five-bar whose rods are pinned at the load.
FIVE_BAR = """<mujoco model="bars"><option gravity="0 -9.81 0"/><default><geom density="2700"/></default><worldbody>
  <body name="left" pos="-0.1 0 0" euler="0 0 120"><joint name="q1" axis="0 0 1" range="-90 90"/>
    <geom type="capsule" size="0.01" fromto="0 0 0 0.25 0 0"/>
    <body name="rod1" pos="0.25 0 0" euler="0 0 -78.59"><joint name="p1" axis="0 0 1"/>
      <geom type="capsule" size="0.01" fromto="0 0 0 0.3 0 0"/>
      <body name="load" pos="0.3 0 0"><geom size="0.01"/><site name="end1"/></body></body></body>
  <body name="right" pos="0.1 0 0" euler="0 0 60"><joint name="q2" axis="0 0 1" range="-90 90"/>
    <geom type="capsule" size="0.01" fromto="0 0 0 0.25 0 0"/>
    <body name="rod2" pos="0.25 0 0" euler="0 0 78.59"><joint name="p2" axis="0 0 1"/>
      <geom type="capsule" size="0.01" fromto="0 0 0 0.3 0 0"/><site name="end2" pos="0.3 0 0"/></body></body>
  </worldbody>{}</mujoco>"""
CLOSED = '<equality><connect site1="end1" site2="end2"/></equality>'
MOTORS = '<actuator><motor joint="q1"/><motor joint="q2"/></actuator>'


@pytest.fixture
def files(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "open.xml").write_text(FIVE_BAR.format(""))
    (tmp_path / "bars.xml").write_text(FIVE_BAR.format(CLOSED))
    (tmp_path / "motors.xml").write_text(FIVE_BAR.format(CLOSED + MOTORS))
    return tmp_path


def test_an_open_chain_needs_nothing_beside_its_file(files):
    for name in ("arm.urdf", "arm.xml"):
        mechanism = read_mechanism(files / name)
        assert mechanism.actuated == ("q1", "q2")
        assert (mechanism.platform.body, mechanism.platform.pose) == ("lower", ("q1", "q2"))
        assert mechanism.platform.home == (1.0, 0.0)  # 0 is beyond the limits of q1: their middle


def test_home_is_the_position_in_which_the_file_draws_the_platform(files):
    stated = Stated(platform="lower", pose=("pitch", "q1"))
    mechanism = read_mechanism(files / "arm.urdf", stated)
    assert mechanism.platform.home == pytest.approx((1.0, 1.0), abs=1e-15)
    robot = read_mechanism_robot(files / "arm.urdf", stated)
    assert robot.inverse(robot.home) == pytest.approx([1.0, 0.0], abs=1e-9)
    given = read_mechanism(files / "arm.urdf", Stated(platform="lower", pose=("x", "q2"), home=("200 mm", "30 deg")))
    assert given.platform.home == pytest.approx((0.2, np.pi / 6))
    drawn = read_mechanism(files / "motors.xml", Stated(platform="load", pose=("x", "y"))).platform.home
    assert drawn == pytest.approx(
        (-0.1 + 0.25 * np.cos(2 * np.pi / 3) + 0.3 * np.cos(np.radians(41.41)), 0.4149), abs=1e-4
    )


@pytest.mark.parametrize(
    ("name", "stated", "said"),
    [
        ("bars.xml", {}, r"bars\.xml: the file names no actuators: .*some of q1, p1, q2, p2"),
        ("bars.xml", {"pose": ("x", "y"), "actuated": ("q1", "q2")}, "the platform: .*one of left, rod1, load, right"),
        (
            "motors.xml",
            {"platform": "rod1"},
            "2 coordinates of the platform 'rod1' .* x, y, z, roll, pitch, yaw of the b",
        ),
        ("motors.xml", {"platform": "rod3"}, "platform: no body is called 'rod3'; did you mean 'rod"),
        ("motors.xml", {"platform": "load", "pose": ("x", "q3")}, "no coordinate is called 'q3' .*, q1, p1, q2, p2"),
        ("motors.xml", {"platform": "load", "pose": ("x", "y"), "home": ("0.1",)}, "home must be 2 numbers, of x, y"),
        ("open.xml", {}, "which body is the platform: .*one of load, rod2"),
        ("arm.urdf", {"actuated": ("q1",), "pose": ("q1",)}, r"arm\.urdf: .*freedoms"),
        ("no.urdf", {}, "cannot be read"),
    ],
)
def test_what_a_file_leaves_open_is_refused_with_the_candidates(files, name, stated, said):
    with pytest.raises(InputError, match=said):
        read_mechanism_robot(files / name, Stated(**stated))


def test_a_file_that_is_neither_urdf_nor_mjcf_is_refused(tmp_path):
    (tmp_path / "page.xml").write_text("<html/>")
    with pytest.raises(InputError, match="the root element must be <robot> or <mujoco>"):
        read_description(tmp_path / "page.xml")


def test_joints_may_be_the_coordinates_of_the_platform(files):
    stated = Stated(platform="load", pose=("q1", "q2"))
    by_joints = read_mechanism_robot(files / "motors.xml", stated)
    assert by_joints.home.tolist() == [0.0, 0.0]
    assert by_joints.inverse([0.1, -0.2]) == pytest.approx([0.1, -0.2], abs=1e-12)


def test_without_a_platform_the_actuated_joints_are_the_pose(files):
    mechanism = read_mechanism(files / "motors.xml")
    assert mechanism.platform.pose == mechanism.actuated == ("q1", "q2")
    assert mechanism.platform.home == (0.0, 0.0)
    with pytest.raises(InputError, match="fixed: no joint is called 'q9'"):
        read_mechanism(files / "motors.xml", Stated(fixed=("q9",)))
    with pytest.raises(InputError, match="fixed: 'q1' is actuated"):
        read_mechanism(files / "motors.xml", Stated(fixed=("q1",)))


def test_the_command_examines_and_converts_them(files, capsys):
    path = str(files / "motors.xml")
    assert run(["mechanism", path, "--pose", "x, y"]) == 2
    assert "state it (--platform" in " ".join(capsys.readouterr().err.split())
    beside = ["--platform", "load", "--pose", "x, y", "--home=0, 400 mm"]
    assert run(["mechanism", path, *beside, "--write", str(files / "bars.toml")]) == 0
    told = capsys.readouterr().out
    assert "Actuated: q1, q2. Platform: load; home: x = 0.000, y = 0.4000." in told
    assert "Mobility: 2" in told
    assert run(["mechanism", path, *beside, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mobility"] == 2
    written = MechanismFile.read(files / "bars.toml").mechanism
    assert written.platform.home == (0.0, 0.4)
    assert written.gravity == (0.0, -9.81, 0.0)
    assert run(["mechanism", str(files / "bars.toml"), "--pose", "x"]) == 2
    assert "states actuators and platform itself" in " ".join(capsys.readouterr().err.split())
    assert run(["mechanism", "h4", "--pose", "x"]) == 2


def test_gravity_is_that_of_the_mjcf_file_unless_the_toml_file_states_it(files):
    head = """[mechanism]
name = "bars"
mjcf = "motors.xml"
actuated = ["q1", "q2"]
{}
[platform]
body = "load"
pose = ["q1", "q2"]
home = [0, 0]
"""
    for line, gravity in (("", (0, -9.81, 0)), ("gravity = [0, 0, -9]", (0, 0, -9))):
        (files / "bars.toml").write_text(head.format(line))
        assert read_mechanism(files / "bars.toml").gravity == gravity


STUDY = """[robot]
file = "motors.xml"
{}
[data]
recordings = [{{ file = "recording.csv" }}]
"""


def test_a_study_names_such_a_file(files):
    path = files / "study.toml"
    path.write_text(STUDY.format('platform = "load"\npose = ["x", "y"]\nhome = ["0 mm", 0.4]'))
    study = IdentificationStudy.read(path)
    assert study.robot.pose_names == ("x", "y")
    assert study.channels == (("q1", "q2"), ("tau1", "tau2"))
    path.write_text(STUDY.format('pose = ["x", "y"]'))
    with pytest.raises(InputError, match=r"study\.toml, line 2, \[robot\] file: .*motors\.xml: the file does"):
        IdentificationStudy.read(path)
    path.write_text(STUDY.format("").replace('file = "motors.xml"', 'family = "h4"\npose = ["x"]'))
    with pytest.raises(InputError, match="are for a URDF, SDF or MJCF file"):
        IdentificationStudy.read(path)
