"""What a description refuses, and what it is told: each mistake has its own words."""

from dataclasses import replace

import numpy as np
import pytest

from gough import InputError
from gough.robots import FiveBar, Hexapod, Par4, ThreeRRR
from gough.robots.mechanism import (
    Body,
    Closure,
    Cogging,
    Freedom,
    Friction,
    Inertia,
    Joint,
    Limits,
    MechanismModel,
    Placement,
    Platform,
)
from gough.robots.mechanism.examination import examine
from gough.robots.mechanism.parts import HELD
from gough.robots.mechanism.placement import facing, roll_pitch_yaw, turned

PLANAR = ThreeRRR().mechanism


def with_joint(mechanism, name, **changes):
    joints = tuple(replace(joint, **changes) if joint.name == name else joint for joint in mechanism.joints)
    return replace(mechanism, joints=joints)


def with_closure(mechanism, name, **changes):
    closures = tuple(replace(each, **changes) if each.name == name else each for each in mechanism.closures)
    return replace(mechanism, closures=closures)


def refusal(make):
    with pytest.raises(InputError) as refused:
        make()
    return str(refused.value)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Inertia(-1.0), "mass must not be negative, but is -1 kg"),
        (lambda: Inertia(float("nan")), "mass must be a finite number of kg"),
        (lambda: Inertia(1.0, moments=(1, 1, -1)), "about some axis the moment would be negative"),
        (lambda: Inertia(1.0, (0.1, 0.2, 0.0), symmetry="x"), "symmetry 'x' leaves no sy, Ixy"),
        (lambda: Inertia(1.0, symmetry="cube"), "symmetry must be one of none, x, y, z"),
        (lambda: Inertia(1.0, center=(1, 2)), "center must be three finite numbers"),
        (lambda: Joint("q", "revolut", "base", "a"), "there is no kind 'revolut'; did you mean 'revolute'?"),
        (lambda: Joint("q", "revolute", "base", "a", axis=(0, 0, 0)), "axis of joint 'q' has no length"),
        (lambda: Joint("u", "universal", "base", "a", second_axis=(0, 0, 2)), "the two axes of joint 'u' are parallel"),
        (lambda: Joint("u", "universal", "base", "a", freedoms=(Freedom(),)), "it has 2 freedoms, not 1"),
        (lambda: Limits(1.0, 0.5), "limits must have lower < upper"),
        (lambda: Limits(speed=-1.0), "the limit of speed must be positive"),
        (lambda: Friction("a", dry=-0.1), "dry friction must not be negative"),
        (lambda: Cogging(0.0), "the period of cogging must be positive"),
        (lambda: Cogging(0.1, (1, 1)), "the harmonics of cogging must be different numbers"),
        (lambda: Closure("c", ("a", "b"), directions=("x", "w")), "'w' is no direction"),
        (lambda: Closure("c", ("a", "a")), "closure 'c' holds 'a' to itself"),
        (lambda: Platform("a", ("z", "x")), "the pose must be some of x, y, z, roll, pitch, yaw, in this order"),
        (lambda: Platform("a", ("x",), (0.0, 1.0)), "home must have 1 numbers, not 2"),
        (lambda: Placement(rotation=((1, 0, 0), (0, 1, 0), (0, 0, -1))), "orthogonal 3 x 3 matrix with determinant 1"),
    ],
)
def test_parts_that_cannot_be_are_refused(make, said):
    assert said in refusal(make)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bodies": (*PLANAR.bodies, PLANAR.bodies[0])}, "two of them are called 'proximal1': each body needs a name"),
        ({"joints": (*PLANAR.joints, PLANAR.joints[1])}, "two of them are called 'q1': each joint needs a name"),
        ({"bodies": PLANAR.bodies[1:]}, "joint 'q1': no body is called 'proximal1'; did you mean 'proximal3'?"),
        ({"joints": PLANAR.joints[1:]}, "body 'platform' has no joint: give it one, of kind 'free'"),
        (
            {"joints": (*PLANAR.joints, Joint("extra", "revolute", "platform", "distal1"))},
            "body 'distal1' is the child of 2 joints (elbow1, extra): keep one, and make the others closures",
        ),
        ({"bodies": (*PLANAR.bodies, Body("base", Inertia(1.0)))}, "'base' is the fixed frame"),
        ({"actuated": ("q1", "q2", "q9")}, "actuated: no coordinate is called 'q9'"),
        (
            {"actuated": ("q1", "q2"), "actuators": ()},
            "the pose of 'platform' has 3 coordinates (x, y, yaw), but there are 2 actuators",
        ),
        ({"actuated": ()}, "has no actuated coordinate"),
        ({"platform": Platform("plattform", ("x", "y", "yaw"))}, "platform: no body is called 'plattform'; did you"),
        (
            {"platform": Platform("platform", ("x", "y", "elbo1"))},
            "pose: no coordinate is called 'elbo1'; did you mean",
        ),
        ({"name": " "}, "a mechanism needs a name"),
    ],
)
def test_names_that_do_not_fit_are_refused_with_the_nearest(change, said):
    assert said in refusal(lambda: replace(PLANAR, **change))


def test_a_circle_of_joints_is_refused():
    bodies = (Body("a", Inertia(1.0)), Body("b", Inertia(1.0)))
    joints = (Joint("q", "revolute", "b", "a"), Joint("p", "revolute", "a", "b"))
    said = refusal(lambda: replace(PLANAR, bodies=bodies, joints=joints, closures=(), platform=Platform("a", ("x",))))
    assert "body 'a' is its own ancestor: its joints lead in a circle" in said


def test_identical_bodies_must_be_identical():
    bodies = (*PLANAR.bodies[:-1], replace(PLANAR.bodies[-1], inertia=Inertia(9.0, symmetry="planar")))
    assert "are both of group 'distal', but their inertias differ" in refusal(lambda: replace(PLANAR, bodies=bodies))


def test_shared_friction_must_be_of_one_kind_and_size():
    hexapod = Hexapod().mechanism
    said = refusal(lambda: with_joint(hexapod, "q1", freedoms=(Freedom(friction=Friction("u", dry=0.5)),)))
    assert "share the friction r_u, but one turns and the other slides" in said
    said = refusal(lambda: with_joint(hexapod, "q1", freedoms=(Freedom(friction=Friction("2", dry=1.0)),)))
    assert "share the friction r_2, but it is 1 and 40" in said


def test_cogging_needs_a_drive():
    said = refusal(lambda: with_joint(PLANAR, "elbow1", freedoms=(Freedom(cogging=Cogging(0.1)),)))
    assert "'elbow1' has cogging, but no actuator drives it" in said


def test_a_mechanism_that_does_not_close_says_which_loop_and_by_how_much():
    far = with_joint(PLANAR, "q2", placement=Placement((2.0, 0.0, 0.0)))
    said = refusal(lambda: MechanismModel(far))
    assert said.startswith("3-RRR does not close at home: the gaps are pin2 ")
    assert "Check lengths, placements and the home pose" in said


def test_mixed_units_are_suspected_where_lengths_differ_a_thousandfold():
    far = with_joint(PLANAR, "q2", placement=Placement((450.0, 0.0, 0.0)))
    said = refusal(lambda: MechanismModel(far))
    assert "are units mixed? Write them out" in said
    assert "450 m ('q2')" in said


def test_where_other_starts_would_close_they_are_named():
    """Stretched arms are a dead point from which no first step leads anywhere."""
    stretched = with_joint(PLANAR, "q1", freedoms=(replace(PLANAR.joints[1].freedoms[0], start=np.pi / 2),))
    stretched = with_joint(stretched, "elbow1", freedoms=(Freedom(start=0.0),))
    said = refusal(lambda: MechanismModel(stretched))
    assert "It would close with other values to start from, such as" in said
    assert "elbow1 = " in said


def test_too_many_freedoms_are_named():
    """Struts with a ball joint at each end spin about themselves."""
    loose = Hexapod().mechanism
    for k in range(1, 7):
        loose = with_joint(loose, f"cardan{k}", kind="spherical", freedoms=())
    said = refusal(lambda: MechanismModel(loose))
    assert (
        "6-UPS has 12 freedoms but 6 actuators (30 coordinates, 18 closure equations of which 18 are independent)"
        in said
    )
    assert "with the actuators held still, cardan" in said


def test_too_few_freedoms_are_refused():
    held = with_closure(PLANAR, "pin1", directions=("x", "y", "rz"))
    said = refusal(lambda: MechanismModel(held))
    assert "3-RRR has 2 freedoms but 3 actuators" in said
    assert "Grübler's count gives 2" in said


def test_closures_that_repeat_one_another_must_be_meant():
    """In space a planar mechanism is over-constrained: its links keep themselves in their plane."""
    spatial = with_closure(PLANAR, "pin1", directions=HELD["point"])
    said = refusal(lambda: MechanismModel(spatial))
    assert "3-RRR is over-constrained: pin1 z of its closures follow from the others" in said
    meant = MechanismModel(replace(spatial, redundant=True))
    assert np.abs(meant.inverse([0.05, 0.0, 0.1]) - MechanismModel(PLANAR).inverse([0.05, 0.0, 0.1])).max() < 1e-14
    said = refusal(lambda: MechanismModel(replace(Par4().mechanism, redundant=False)))
    assert "Par4 is over-constrained: hinge4 z, " in said


def test_a_singular_home_is_refused():
    turned_home = replace(Hexapod().mechanism, platform=Platform("platform", home=(0, 0, 0.8, 0, 0, np.pi / 2)))
    said = refusal(lambda: MechanismModel(turned_home))
    assert "is singular at home: the actuators do not hold" in said


def test_an_open_chain_is_a_mechanism_too():
    bar = Inertia(2.0, (0.0, 0.0, -0.5), symmetry="none")
    swing = Joint("q1", "revolute", "base", "rod", axis=(0, 1, 0))
    pendulum = replace(
        PLANAR,
        bodies=(Body("rod", bar),),
        joints=(swing,),
        closures=(),
        actuated=("q1",),
        actuators=(),
        platform=Platform("rod", ("q1",), (0.3,)),
        gravity=(0.0, 0.0, -9.81),
    )
    robot = MechanismModel(pendulum)
    torque = robot.regressor([[0.3]], [[0.0]], [[2.0]]) @ robot.nominal
    assert torque[0, 0] == pytest.approx(2.0 * 0.25 * 2.0 + 2.0 * 9.81 * 0.5 * np.sin(0.3))  # m l² q̈ + m g l sin q
    assert robot.forward([0.7]) == pytest.approx([0.7])
    assert robot.regressor_kernel().replay([0.3], [0.0], [2.0])["regressor"] @ robot.nominal == pytest.approx(torque[0])


def test_the_examination_says_what_there_is():
    found = examine(MechanismModel(FiveBar().mechanism))
    said = str(found)
    assert "five-bar: 5 bodies, 6 coordinates, 4 closure equations, 4 of them independent." in said
    assert "Mobility: 2, as many as actuators (Grübler's count: 2)." in said
    y = found.reaches[1]
    assert y.ends == ("singularity", "out of reach")
    assert y.upper == pytest.approx(np.sqrt(0.6**2 - 0.1**2), abs=0.02)  # both legs stretched
    assert found.warnings == ()


def test_the_examination_warns_of_a_home_beyond_its_limits():
    outside = with_joint(PLANAR, "q1", freedoms=(replace(PLANAR.joints[1].freedoms[0], limits=Limits(0.0, 0.5)),))
    found = examine(MechanismModel(outside))
    assert found.beyond == ("q1",)
    assert "Note: home is beyond the limits of q1." in str(found)


def test_the_examination_names_impossible_bodies():
    bodies = tuple(
        replace(b, inertia=Inertia(1.0, moments=(1.0, 1.0, 3.0), symmetry="none")) if b.name == "platform" else b
        for b in PLANAR.bodies
    )
    found = examine(MechanismModel(replace(PLANAR, bodies=bodies)))
    assert found.impossible == ("platform",)


def test_rotations_follow_each_other():
    assert Placement(rotation=turned("z", 0.5)) @ Placement(rotation=turned("z", -0.5)) == Placement()
    R = np.array(roll_pitch_yaw(0.1, 0.2, 0.3))
    z, y, x = (np.array(turned(axis, angle)) for axis, angle in (("z", 0.3), ("y", 0.2), ("x", 0.1)))
    assert np.abs(R - z @ y @ x).max() < 1e-15
    F = np.array(facing((1, 0, 0), (0.2, 0, 1)))
    assert F[:, 2] == pytest.approx(np.array([0.2, 0, 1]) / np.sqrt(1.04))
    assert np.linalg.det(F) == pytest.approx(1.0)


def test_inertia_about_the_origin_is_that_about_the_center():
    ours = Inertia(2.0, (0.1, -0.2, 0.3), (0.05, 0.06, 0.07), (0.001, -0.002, 0.003))
    values = dict(zip(ours.terms, ours.values, strict=True))
    same = Inertia.about_origin(
        2.0,
        tuple(values[k] for k in ("sx", "sy", "sz")),
        tuple(values[k] for k in ("Ixx", "Iyy", "Izz")),
        tuple(values[k] for k in ("Ixy", "Ixz", "Iyz")),
    )
    assert same.center == pytest.approx(ours.center)
    assert same.moments == pytest.approx(ours.moments)
    assert same.products == pytest.approx(ours.products)
