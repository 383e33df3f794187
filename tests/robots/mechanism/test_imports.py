"""URDF and MJCF files become mechanisms with the dynamics that Pinocchio and MuJoCo give them, or are refused."""

import numpy as np
import pinocchio as pin
import pytest

from gough import InputError
from gough.robots import H4
from gough.robots.mechanism import Closure, MechanismModel, Placement, Platform
from gough.robots.mechanism.imports import read_mjcf, read_urdf
from gough.simulate.multibody import Multibody

ARM = """\
<robot name="arm">
  <link name="world"/>
  <link name="shoulder">
    <inertial>
      <origin xyz="0.1 0.02 -0.03" rpy="0.3 -0.2 0.5"/>
      <mass value="2.0"/>
      <inertia ixx="0.03" ixy="0.002" ixz="-0.001" iyy="0.02" iyz="0.003" izz="0.025"/>
    </inertial>
  </link>
  <link name="slide">
    <inertial><mass value="1.5"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.004"/></inertial>
  </link>
  <link name="bracket"/>
  <link name="hand">
    <inertial>
      <origin xyz="0 0.05 0.01"/>
      <mass value="0.7"/>
      <inertia ixx="0.003" ixy="0" ixz="0.0004" iyy="0.002" iyz="0" izz="0.003"/>
    </inertial>
  </link>
  <joint name="q1" type="revolute">
    <parent link="world"/><child link="shoulder"/>
    <origin xyz="0.1 -0.2 0.5" rpy="0.1 0.7 -0.4"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1.5" effort="20" velocity="3"/>
    <dynamics damping="0.4" friction="0.2"/>
  </joint>
  <joint name="q2" type="prismatic">
    <parent link="shoulder"/><child link="slide"/>
    <origin xyz="0.3 0 0" rpy="0 0.2 0"/>
    <axis xyz="1 0.5 -0.2"/>
    <limit lower="0" upper="0.4" effort="20" velocity="3"/>
  </joint>
  <joint name="weld" type="fixed">
    <parent link="slide"/><child link="bracket"/><origin xyz="0 0.1 0" rpy="1.2 0 0"/>
  </joint>
  <joint name="q3" type="continuous">
    <parent link="bracket"/><child link="hand"/><origin xyz="0 0 0.2"/>
  </joint>
</robot>
"""


@pytest.fixture
def urdf(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def test_a_urdf_file_has_the_dynamics_that_pinocchio_gives_it(urdf, rng):
    platform = Platform("hand", ("q1", "q2", "q3"), (0.2, 0.1, 0.3))
    robot = MechanismModel(read_urdf(urdf).mechanism(platform, actuated=("q1", "q2", "q3")), "bodies and drives")
    model = pin.buildModelFromUrdf(str(urdf))
    data = model.createData()
    q, dq, ddq = rng.uniform(-1, 1, (3, 40, 3))
    rigid = np.array([p.nominal if p.part == "bodies" else 0.0 for p in robot.parameters])
    ours = robot.regressor(q, dq, ddq) @ rigid
    # Pinocchio has a coordinate each for cosine and sine of a continuous joint
    theirs = [
        pin.rnea(model, data, np.array([a, b, np.cos(c), np.sin(c)]), v, w)
        for (a, b, c), v, w in zip(q, dq, ddq, strict=True)
    ]
    assert np.abs(ours - theirs).max() < 1e-12


def test_limits_and_friction_of_a_urdf_file_are_taken_over(urdf):
    q1, q2, _, q3 = read_urdf(urdf).joints
    limits = q1.freedoms[0].limits
    assert (limits.lower, limits.upper, limits.speed, limits.effort) == (-1.0, 1.5, 3.0, 20.0)
    assert q1.freedoms[0].friction.parameters == {"r_q1": 0.2, "v_q1": 0.4}
    assert q2.freedoms[0].friction is None
    assert q3.freedoms[0].limits is None


FOUR_BAR = """\
<robot name="four-bar">
  <link name="frame"/>
  {links}
  <joint name="crank" type="revolute">
    <parent link="frame"/><child link="a"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="1" velocity="1"/>
  </joint>
  <joint name="knee" type="continuous">
    <parent link="a"/><child link="b"/><origin xyz="0.2 0 0"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="rocker" type="continuous">
    <parent link="frame"/><child link="c"/><origin xyz="0.5 0 0"/><axis xyz="0 0 1"/>
  </joint>
</robot>
""".format(
    links="\n  ".join(
        f'<link name="{name}"><inertial><origin xyz="{x} 0 0"/><mass value="1"/>'
        '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>'
        for name, x in (("a", 0.1), ("b", 0.25), ("c", 0.2))
    )
)


def test_a_loop_said_beside_a_urdf_file_closes(tmp_path):
    path = tmp_path / "four_bar.urdf"
    path.write_text(FOUR_BAR)
    ends = (Placement((0.5, 0.0, 0.0)), Placement((0.4, 0.0, 0.0)))
    closure = Closure("pin", ("b", "c"), ends, ("x", "y"))
    read = read_urdf(path)
    robot = MechanismModel(read.mechanism(Platform("a", ("crank",), (1.0,)), closures=(closure,), actuated=("crank",)))
    crank = np.linspace(0.5, 1.5, 9)[:, None]
    s = dict(zip(robot.coordinate_names, robot.all_coordinates(crank).T, strict=True))
    knee = 0.2 * np.exp(1j * crank[:, 0]) + 0.5 * np.exp(1j * (crank[:, 0] + s["knee"]))
    assert np.abs(knee - (0.5 + 0.4 * np.exp(1j * s["rocker"]))).max() < 1e-14


CHANGES = [
    ('type="prismatic"', 'type="screw"', "line 28, <joint name='q2'>: joints of type 'screw' are not known"),
    ('<axis xyz="0 1 0"/>', '<mimic joint="q2"/>', "line 24, <mimic>: a joint that follows another by a gear"),
    ('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>', "line 24, <axis>: an axis of zero length"),
    ('<parent link="world"/>', '<parent link="wrld"/>', "line 22, <parent>: there is no link 'wrld'"),
    ('<mass value="2.0"/>', '<mass value="-2"/>', "line 4, <inertial>: mass must not be negative, but is -2 kg"),
    ('<mass value="2.0"/>', '<mass value="heavy"/>', "line 6, <mass>: 'value' must be numbers, but is 'heavy'"),
    ('lower="-1" upper="1.5"', 'lower="2" upper="1.5"', "line 25, <limit>: limits must have lower < upper"),
    ("</robot>", "", "is not valid XML: no element found"),
    ("<robot", '<!DOCTYPE robot [<!ENTITY a "b">]>\n<robot', "line 1: a document type is declared"),
]


@pytest.mark.parametrize(("old", "new", "said"), CHANGES)
def test_what_a_mechanism_cannot_express_is_refused_with_its_line(tmp_path, old, new, said):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.replace(old, new, 1))
    with pytest.raises(InputError) as refused:
        read_urdf(path)
    assert said in str(refused.value)


def test_the_h4_of_mujoco_is_the_h4_of_pinocchio(tmp_path, rng):
    full = Multibody(H4())
    path = tmp_path / "h4.xml"
    path.write_text(full.mjcf())
    read = read_mjcf(path)
    assert read.actuated == ("q1", "q2", "q3", "q4")
    pose = ("platform_x", "platform_y", "platform_z", "platform_yaw")
    mechanism = read.mechanism(Platform("crossbar", pose, tuple(full.robot.home.tolist())))
    robot = MechanismModel(mechanism)
    x = robot.home + rng.uniform(-1, 1, (20, 4)) * [0.1, 0.1, 0.05, 0.5]
    dx, ddx = rng.normal(size=(2, 20, 4))
    motion = full.robot.joint_motion(x, dx, ddx)
    found = robot.regressor(*motion) @ robot.nominal
    assert np.abs(found - full.efforts(x, dx, ddx)).max() < 1e-10


ROUGH = """\
<mujoco model="rough">
  <compiler angle="degree"/>
  <option gravity="0.5 0 -9"/>
  <default>
    <joint damping="0.3"/>
    <default class="stiff"><joint armature="0.02" frictionloss="0.1"/></default>
  </default>
  <worldbody>
    <body name="a" pos="0.1 0 0.2" euler="10 20 30">
      <joint name="j1" axis="1 1 0" pos="0.05 0 0.02" ref="15" range="-60 60"/>
      <joint name="j2" type="slide" axis="0 0 1" ref="0.1" class="stiff"/>
      <inertial pos="0.02 0.01 0.1" quat="0.9 0.1 -0.3 0.2" mass="1.2" diaginertia="0.02 0.03 0.015"/>
      <geom type="sphere" size="0.1"/>
      <body name="b" pos="0 0 0.3" axisangle="0 1 0 40">
        <joint name="j3" axis="0 1 0" pos="0 0.1 0"/>
        <inertial pos="0 0 0.1" mass="0.8" fullinertia="0.01 0.02 0.015 0.001 -0.002 0.0005"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="j1"/><motor joint="j2"/><motor joint="j3"/></actuator>
</mujoco>
"""


def test_frames_references_and_defaults_mean_what_they_mean_to_mujoco(tmp_path, rng):
    mujoco = pytest.importorskip("mujoco")
    from tests.robots.mechanism.mujoco_versions import TURN

    path = tmp_path / "rough.xml"
    path.write_text(ROUGH)
    read = read_mjcf(path)
    mechanism = read.mechanism(Platform("b", ("j1", "j2", "j3"), (0.3, 0.1, 0.0)))
    robot = MechanismModel(mechanism)
    model = mujoco.MjModel.from_xml_string(ROUGH)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT  # limits and dry friction
    data = mujoco.MjData(model)
    q, dq, ddq = rng.uniform(-1, 1, (3, 20, 3))
    theirs = []
    for k in range(20):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[k], dq[k], ddq[k]
        mujoco.mj_inverse(model, data)
        theirs.append(data.qfrc_inverse + data.qfrc_passive)
    dry = [p.term == "r" for p in robot.parameters]
    viscous = [p.term == "v" for p in robot.parameters]
    values = np.where(np.array(dry) | np.array(viscous), 0.0, robot.nominal)
    assert np.abs(robot.regressor(q, dq, ddq) @ values - theirs).max() < 1e-12 + TURN  # the inertia of b, 0.02 kg m²
    limits = mechanism.freedoms["j1"].limits
    assert limits.upper == pytest.approx(np.pi / 3)
    assert mechanism.freedoms["j2"].friction.parameters == {"r_j2": 0.1, "v_j2": 0.3}
    assert mechanism.freedoms["j1"].rotor is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('type="slide"', 'type="ballscrew"', "line 11, <joint name='j2'>: joints of type 'ballscrew' are not known"),
        ('pos="0 0.1 0"/>', 'stiffness="3"/>', "line 15, <joint name='j3'>: springs cannot be expressed"),
        ("<actuator>", "<tendon/><actuator>", "line 20, <tendon>: a mechanism has no such part"),
        ('<motor joint="j1"/>', '<motor joint="j1" gear="50"/>', "<motor>: the effort of a joint is identified"),
        ('<motor joint="j1"/>', '<motor joint="j7"/>', "<motor>: there is no hinge or slide 'j7'"),
        ('class="stiff"/>', 'class="stif"/>', "line 11, <joint name='j2'>: there is no default class 'stif'"),
        ('euler="10 20 30"', 'euler="10 20"', "line 9, <body name='a'>: 'euler' must be 3 finite numbers"),
        ("</worldbody>", "</worldbody><equality><joint joint1='j1'/></equality>", "only connect and weld"),
        (
            '<inertial pos="0 0 0.1" mass="0.8" fullinertia="0.01 0.02 0.015 0.001 -0.002 0.0005"/>',
            '<geom type="mesh" mesh="part"/>',
            "line 16, <geom>: the inertia of a geom of type mesh is not computed",
        ),
    ],
)
def test_what_cannot_be_expressed_of_mjcf_is_refused_with_its_line(tmp_path, old, new, said):
    assert old in ROUGH
    path = tmp_path / "rough.xml"
    path.write_text(ROUGH.replace(old, new, 1))
    with pytest.raises(InputError) as refused:
        read_mjcf(path)
    assert said in str(refused.value)
