"""One five-bar as SDF with a loop, as URDF with <constraint>, and as MJCF: the same robot."""

import numpy as np
import pytest

from gough import InputError
from gough.robots import efforts
from gough.robots.mechanism import MechanismModel
from gough.robots.mechanism.imports import read_description
from gough.robots.mechanism.imports.joints import CLOSING, closing
from gough.robots.mechanism.placement import Placement

# Cranks of 0.25 m at ±0.1 m, upright at zero; rods of 0.3 m that meet at (0, 0.25 + √0.08). Frames of links are odd on
# purpose in SDF: at their centers, and turned.
UP = 0.25 + np.sqrt(0.3**2 - 0.1**2)
TURN = np.arctan2(np.sqrt(0.08), 0.1)
MASS = {"crank": 0.5, "rod": 0.3}
LENGTH = {"crank": 0.25, "rod": 0.3}


def moment(part):
    return MASS[part] * LENGTH[part] ** 2 / 12


def urdf(constraint=""):
    def link(name, part):
        along = LENGTH[part] / 2
        return (
            f'<link name="{name}"><inertial><origin xyz="{along} 0 0"/><mass value="{MASS[part]}"/><inertia ixx="0" '
            f'ixy="0" ixz="0" iyy="{moment(part)}" iyz="0" izz="{moment(part)}"/></inertial></link>'
        )

    def joint(name, parent, child, x, yaw):
        return (
            f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{x} 0 0" rpy="0 0 {yaw}"/><axis xyz="0 0 1"/>'
            '<limit lower="-2" upper="2" effort="9" velocity="9"/></joint>'
        )

    parts = [link("left", "crank"), link("right", "crank"), link("rod1", "rod"), link("rod2", "rod")]
    joints = [
        joint("q1", "floor", "left", -0.1, np.pi / 2),
        joint("q2", "floor", "right", 0.1, np.pi / 2),
        joint("p1", "left", "rod1", 0.25, TURN - np.pi / 2),
        joint("p2", "right", "rod2", 0.25, np.pi / 2 - TURN),
    ]
    return f'<robot name="bars"><link name="floor"/>{"".join(parts + joints)}{constraint}</robot>'


CONSTRAINT = (
    '<constraint name="pin" type="{}"><parent link="rod1"/><parent_origin xyz="0.3 0 0"/><parent_axis xyz="0 0 1"/>'
    '<child link="rod2"/><child_origin xyz="0.3 0 0"/><child_axis xyz="0 0 1"/></constraint>'
)


def sdf(version="1.9", pin="revolute", swap=False):
    """Links stand at their centers of mass; joints state where they are relative to the child, or to the model."""

    def link(name, part, x, y, yaw):
        return (
            f'<link name="{name}"><pose>{x} {y} 0 0.3 0 {yaw}</pose><inertial><mass>{MASS[part]}</mass>'
            f"<pose>0 0 0 -0.3 0 0</pose><inertia><ixx>0</ixx><iyy>{moment(part)}</iyy><izz>{moment(part)}</izz>"
            "</inertia></inertial></link>"
        )

    def joint(name, kind, parent, child, at):
        x, y = at
        if swap and name != "pin":
            parent, child = child, parent
            axis = '<axis><xyz expressed_in="__model__">0 0 -1</xyz></axis>'
        else:
            axis = '<axis><xyz expressed_in="__model__">0 0 1</xyz></axis>'
        return (
            f'<joint name="{name}" type="{kind}"><pose relative_to="__model__">{x} {y} 0 0.1 0.2 0.4</pose>'
            f"<parent>{parent}</parent><child>{child}</child>{axis}</joint>"
        )

    slope, half = TURN, UP / 2 + 0.125
    links = [
        link("left", "crank", -0.1, 0.125, np.pi / 2),
        link("right", "crank", 0.1, 0.125, np.pi / 2),
        link("rod1", "rod", -0.05, half, slope),
        link("rod2", "rod", 0.05, half, np.pi - slope),
    ]
    joints = [
        joint("pin", pin, "rod1", "rod2", (0, UP)),
        joint("q1", "revolute", "world", "left", (-0.1, 0)),
        joint("q2", "revolute", "world", "right", (0.1, 0)),
        joint("p1", "revolute", "left", "rod1", (-0.1, 0.25)),
        joint("p2", "revolute", "right", "rod2", (0.1, 0.25)),
    ]
    world = "<gravity>0 0 -9.81</gravity>"
    return f'<sdf version="{version}"><world>{world}<model name="bars">{"".join(links + joints)}</model></world></sdf>'


def robot(tmp_path, name, text, actuated=("q1", "q2")):
    (tmp_path / name).write_text(text)
    mechanism = read_description(tmp_path / name, actuated).completed(actuated=actuated)
    return MechanismModel(mechanism)


def test_a_five_bar_is_the_same_in_every_description(tmp_path, rng):
    drawn = {
        "a.urdf": urdf(CONSTRAINT.format("revolute")),
        "b.sdf": sdf(swap=True),
        "c.sdf": sdf(pin="ball"),
    }
    q, dq, ddq = 0.2 * rng.normal(size=(3, 20, 2))
    found = {}
    for name, text in drawn.items():
        made = robot(tmp_path, name, text)
        found[name] = efforts(made, made.nominal, q, dq, ddq)
        assert np.abs(found[name] - found["a.urdf"]).max() < 1e-10 * np.abs(found["a.urdf"]).max()


def test_an_actuated_joint_is_not_where_a_loop_is_cut(tmp_path):
    made = read_description(_written(tmp_path, "a.sdf", sdf()), ("pin", "q1"))
    assert {closure.name for closure in made.closures}.isdisjoint({"pin", "q1"})
    every = ("pin", "q1", "q2", "p1", "p2")
    with pytest.raises(InputError, match="the actuated joints alone form a loop"):
        read_description(_written(tmp_path, "a.sdf", sdf()), every)


def _written(folder, name, text):
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize("kind", CLOSING)
def test_a_closing_joint_leaves_the_freedoms_of_its_kind(kind):
    freedoms = {"fixed": 0, "prismatic": 1, "cylindrical": 2, "planar": 3, "universal": 2, "spherical": 3, "ball": 3}
    made = closing(
        "j", kind, ("a", "b"), (Placement(), Placement()), ((0, 0, 1), (0, 0, 1) if kind != "universal" else (1, 0, 0))
    )
    assert len(made.directions) == 6 - freedoms.get(kind, 1)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.urdf", urdf(CONSTRAINT.format("helical")), r"line 1, <constraint name='pin'>: a joint of type 'helical'"),
        ("a.urdf", urdf(CONSTRAINT.format("fixed").replace("rod2", "rod9")), "there is no link 'rod9'"),
        ("a.urdf", urdf(CONSTRAINT.format("fixed").replace('<child link="rod2"/>', "")), "<child link='…'/> is requ"),
        ("a.urdf", urdf(CONSTRAINT.format("fixed").replace("rod2", "rod1")), "holds 'rod1' to itself"),
        ("a.urdf", urdf('<loop name="l"/>'), "loops of URDF\\+ are not read"),
        ("a.urdf", urdf('<coupling name="l"/>'), "gears and belts"),
        ("a.sdf", sdf().replace('type="revolute"', 'type="screw"', 1), "joints of type 'screw' are not known"),
        ("a.sdf", sdf().replace("<parent>rod1</parent>", "<parent>rod7</parent>"), "there is no link 'rod7'; did you"),
        ("a.sdf", sdf().replace("<mass>0.3</mass>", "<mass>x</mass>", 1), "'mass' must be numbers"),
        ("a.sdf", sdf().replace('version="1.9"', 'version="new"'), "the version must be such as 1.9"),
        ("a.sdf", '<sdf version="1.9"><model name="m"/></sdf>', "the model has no <link>"),
        ("a.sdf", '<sdf version="1.9"/>', "one <model> is expected, but there are 0"),
        ("a.sdf", '<sdf version="1.9"><model name="m"><link name="a"/><link name="b"/></model></sdf>', "no joint"),
        ("a.sdf", sdf().replace("__model__", "nowhere", 1), "there is no frame 'nowhere'"),
        ("a.sdf", sdf().replace("<pose>-0.1 0.125", '<pose relative_to="left">-0.1 0.125'), "in a circle"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_one_line(tmp_path, name, text, said):
    with pytest.raises(InputError, match=said) as refused:
        read_description(_written(tmp_path, name, text))
    assert "\n" not in str(refused.value)
