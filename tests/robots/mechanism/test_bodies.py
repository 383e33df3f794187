"""The bodies of a mechanism move as mechanics says, before any engine sees them."""

import numpy as np
import pytest

from gough.robots.mechanism import Body, Freedom, Inertia, Joint, Mechanism, Placement, Platform
from gough.robots.mechanism.bodies import body_motions, energy, turnings, turns, weights
from gough.robots.mechanism.placement import turned

POINT = Inertia(1.0, (1.0, 0.0, 0.0))


def link(name, parent, position=(0.0, 0.0, 0.0)):
    return Body(name, POINT), Joint(f"{name}_turn", "revolute", parent, name, Placement(position))


def tree(*links, gravity=(0.0, 0.0, -9.81)):
    bodies, joints = zip(*links, strict=True)
    pose = tuple(name for joint in joints for name in joint.coordinates)
    return Mechanism("tree", bodies, joints, actuated=pose, platform=Platform(bodies[0].name, pose), gravity=gravity)


def test_a_double_pendulum_has_the_energy_of_the_textbook(rng):
    double = tree(link("a", "base"), link("b", "a", (1.0, 0.0, 0.0)))
    q, dq = rng.normal(size=(2, 7, 2))
    # in a level plane: v_b² = ω_1² + (ω_1 + ω_2)² + 2 ω_1 (ω_1 + ω_2) cos q_2, for lengths and masses of one
    first, both = dq[:, 0], dq.sum(axis=1)
    expected = first**2 / 2 + (first**2 + both**2 + 2 * first * both * np.cos(q[:, 1])) / 2
    assert energy(double, q, dq) == pytest.approx(expected)


def test_a_slide_on_a_turn_is_seen_from_the_base(rng):
    wheel = Body("wheel", Inertia(0.0, symmetry="massless"))
    rotor = Joint(
        "turn", "revolute", "base", "wheel", Placement(rotation=turned("z", 0.7)), freedoms=(Freedom(rotor=0.3),)
    )
    bead = Body("bead", Inertia(2.0, moments=(0.1, 0.2, 0.4)))
    slide = Joint("slide", "prismatic", "wheel", "bead", axis=(1.0, 0.0, 0.0))
    polar = tree((wheel, rotor), (bead, slide))
    q, dq = rng.normal(size=(2, 5, 2))
    assert body_motions(polar, q, dq)["bead"].position == pytest.approx(
        q[:, 1:] * np.column_stack([np.cos(0.7 + q[:, 0]), np.sin(0.7 + q[:, 0]), np.zeros(5)])
    )
    expected = (0.3 + 0.4 + 2.0 * q[:, 1] ** 2) * dq[:, 0] ** 2 / 2 + 2.0 * dq[:, 1] ** 2 / 2
    assert energy(polar, q, dq) == pytest.approx(expected)


def test_turnings_are_those_of_the_motions(rng):
    rail = Joint("rail", "prismatic", "base", "cart", Placement(rotation=turned("x", 0.3)), axis=(0.0, 1.0, 0.0))
    wrist = Joint("wrist", "spherical", "b", "tool", Placement((0.2, 0.0, 0.1), turned("y", -0.8)))
    arm = tree(
        (Body("cart", POINT), rail), link("a", "cart"), link("b", "a", (1.0, 0.0, 0.0)), (Body("tool", POINT), wrist)
    )
    s, *rates = rng.normal(size=(4, 5, len(arm.coordinates)))
    found = turnings(arm, s, rates)
    for k, each in enumerate(rates):
        for name, moving in body_motions(arm, s, each).items():
            np.testing.assert_array_equal(found[name][:, :, k], moving.turning)


def test_products_of_inertia_count(rng):
    """A dumbbell across the axes: the same energy as its two masses."""
    a = np.array([0.3, 0.4, 0.0])
    moments = 2 * (a @ a * np.eye(3) - np.outer(a, a))
    solid = Inertia(2.0, (0.0, 0.0, 0.0), tuple(np.diag(moments)), tuple(moments[[0, 0, 1], [1, 2, 2]]))
    dumbbell = tree((Body("bell", solid), Joint("ball", "spherical", "base", "bell")), gravity=(0.0, 0.0, 0.0))
    q, dq = rng.normal(size=(2, 6, 3))
    frame = body_motions(dumbbell, q, dq)["bell"]
    speeds = [frame.at(tuple(side * a))[1] for side in (1, -1)]
    assert energy(dumbbell, q, dq) == pytest.approx(sum((v**2).sum(axis=1) / 2 for v in speeds))


def test_weights_are_the_slope_of_the_potential_energy(rng):
    pan = Body("post", Inertia(0.0, symmetry="massless")), Joint("pan", "revolute", "base", "post")
    tilt = Body("arm", Inertia(0.0, symmetry="massless")), Joint("tilt", "revolute", "post", "arm", axis=(0, 1, 0))
    boom = Body("boom", POINT), Joint("reach", "prismatic", "arm", "boom", axis=(1, 0, 0))
    crane = tree(pan, tilt, boom, link("hook", "boom", (0.5, 0.0, 0.1)), gravity=(0.3, -0.2, -9.7))
    q = rng.normal(size=(6, 4))
    step, still = 1e-6 * np.eye(4), np.zeros_like(q)
    slopes = [(energy(crane, q + e, still) - energy(crane, q - e, still)) / 2e-6 for e in step]
    assert weights(crane, q) == pytest.approx(np.column_stack(slopes), abs=1e-8)  # differences of 1e-6: 1e-16/1e-6


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_turns_are_right_handed(axis):
    unit = np.eye(3)
    assert turns(np.array([np.pi / 2]), axis)[0] @ unit[(axis + 1) % 3] == pytest.approx(unit[(axis + 2) % 3])
    assert turns(np.array([0.3]), axis)[0] @ unit[axis] == pytest.approx(unit[axis])
