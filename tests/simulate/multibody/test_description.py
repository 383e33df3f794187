"""The description of a tree moves as mechanics says, before any engine sees it."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.simulate.multibody.description import Body, Closure, Joint, Solid, Tree, turn

POINT = Solid(1.0, (1.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def link(name, parent, position=(0.0, 0.0, 0.0)):
    return Body(name, parent, (Joint(f"{name}_turn", "turn", "z"),), POINT, position)


def test_a_double_pendulum_has_the_energy_of_the_textbook(rng):
    tree = Tree("double", (link("a", ""), link("b", "a", (1.0, 0.0, 0.0))))
    q, dq = rng.normal(size=(2, 7, 2))
    # in a level plane: v_b² = ω_1² + (ω_1 + ω_2)² + 2 ω_1 (ω_1 + ω_2) cos q_2, for lengths and masses of one
    first, both = dq[:, 0], dq.sum(axis=1)
    expected = first**2 / 2 + (first**2 + both**2 + 2 * first * both * np.cos(q[:, 1])) / 2
    assert tree.energy(q, dq) == pytest.approx(expected)


def test_a_slide_on_a_turn_is_seen_from_the_base(rng):
    joints = (Joint("turn", "turn", "z", armature=0.3), Joint("slide", "slide", "x"))
    solid = Solid(2.0, (0.0, 0.0, 0.0), (0.1, 0.2, 0.4))
    tree = Tree("polar", (Body("bead", "", joints, solid, heading=0.7),))
    q, dq = rng.normal(size=(2, 5, 2))
    assert tree.motion(q, dq)["bead"].position == pytest.approx(
        q[:, 1:] * np.column_stack([np.cos(0.7 + q[:, 0]), np.sin(0.7 + q[:, 0]), np.zeros(5)])
    )
    expected = (0.3 + 0.4 + 2.0 * q[:, 1] ** 2) * dq[:, 0] ** 2 / 2 + 2.0 * dq[:, 1] ** 2 / 2
    assert tree.energy(q, dq) == pytest.approx(expected)


def test_weights_are_the_slope_of_the_potential_energy(rng):
    joints = (Joint("pan", "turn", "z"), Joint("tilt", "turn", "y"), Joint("reach", "slide", "x"))
    tree = Tree("crane", (Body("boom", "", joints, POINT), link("hook", "boom", (0.5, 0.0, 0.1))))
    q = rng.normal(size=(6, 4))
    step, still = 1e-6 * np.eye(4), np.zeros_like(q)
    slopes = [(tree.energy(q + e, still) - tree.energy(q - e, still)) / 2e-6 for e in step]
    assert tree.weights(q) == pytest.approx(np.column_stack(slopes), abs=1e-8)  # differences of 1e-6: 1e-16/1e-6


def test_the_closure_jacobian_is_the_slope_of_the_gaps(rng):
    bodies = (link("a", ""), link("b", "a", (1.0, 0.0, 0.0)), link("c", "", (0.3, 0.2, 0.0)))
    ends = ((1.0, 0.0, 0.0), (0.8, 0.1, 0.2))
    tree = Tree("loop", bodies, (Closure("pin", ("b", "c"), ends),))
    q = rng.normal(size=(4, 3))
    slopes = [(tree.gaps(q + e) - tree.gaps(q - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    assert tree.closure_jacobian(q) == pytest.approx(np.stack(slopes, axis=-1)[:, 0], abs=1e-9)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_turns_are_right_handed(axis):
    i = "xyz".index(axis)
    unit = np.eye(3)
    assert turn(np.pi / 2, axis) @ unit[(i + 1) % 3] == pytest.approx(unit[(i + 2) % 3])
    assert turn(0.3, axis) @ unit[i] == pytest.approx(unit[i])


def test_what_cannot_be_a_tree_is_refused():
    a, b, c = link("a", ""), link("b", "a"), link("c", "")
    cases = [
        ((b, a), (), (), "must follow its parent"),
        ((a, c, b), (), (), "must follow its parent"),
        ((a, a), (), (), "two bodies"),
        ((a, Body("d", "", a.joints, POINT)), (), (), "two joints"),
        ((a,), (), ("b_turn",), "actuated"),
        ((a,), (Closure("x", ("a", "z"), ((0.0, 0.0, 0.0),) * 2),), (), "unknown body"),
    ]
    for bodies, closures, actuated, message in cases:
        with pytest.raises(InputError, match=message):
            Tree("wrong", bodies, closures, actuated)
    with pytest.raises(InputError, match="negative"):
        Solid(-1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    with pytest.raises(InputError, match="finite"):
        Solid(1.0, (0.0, np.nan, 0.0), (1.0, 1.0, 1.0))
