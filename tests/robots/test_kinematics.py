"""Geometric models: derivatives against differences, forward against inverse, refusals."""

import itertools

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import angle_between, exp
from gough.robots import (
    GoughPlatform,
    H4Kinematics,
    LinearDelta,
    Par4Kinematics,
    PlanarRRR,
    PlatformPoses,
    RotaryDelta,
)
from gough.robots.compiled_chains import chains_at
from gough.robots.kinematics import all_derivatives, evaluate_chains

EXTREMAL = np.array(list(itertools.product([0.0, 0.14], repeat=6)))
MODELS = [
    GoughPlatform.deltalab(),
    GoughPlatform(*(getattr(GoughPlatform.deltalab(), f) for f in ("base", "platform", "length")), gains=True),
    LinearDelta(),
    RotaryDelta(),
    H4Kinematics(),
    Par4Kinematics(),
    PlanarRRR(),
]
HOMES = {"linear delta": [0, 0, 0.1], "rotary delta": [0, 0, -0.7], "H4": [0, 0, -0.43], "Par4": [0, -0.06, -0.85]}


def some_poses(model, rng, n=40):
    if isinstance(model, GoughPlatform):
        return rng.normal([0, 0, 0.35], 0.02, (n, 3)), exp(0.15 * rng.normal(size=(n, 3)))
    home = np.array(HOMES.get(model.name, [0, 0, 0]))
    p = home + 0.03 * rng.normal(size=(n, 3)) * np.isin([0, 1, 2], model.freedoms)
    return p, exp(np.outer(0.2 * rng.normal(size=n) * (5 in model.freedoms), [0, 0, 1]))


def spoilt(model, rng):
    return model.nominal + 0.003 * rng.normal(size=len(model.names))


@pytest.mark.parametrize("model", MODELS, ids=lambda m: f"{m.name} {len(m.names)}")
@pytest.mark.parametrize("n", [1, 7, 20])
def test_compiled_chains_have_the_same_bits_whatever_order_arrays_have_in_memory(model, n, rng):
    p, R = some_poses(model, rng, n)
    readings = model.inverse(model.nominal, p, R)
    p[n // 2, 0] = np.nan
    readings[-1, 1] = np.nan
    kernel, theta = all_derivatives(model.chain_kernel("length")), spoilt(model, rng)
    expected = evaluate_chains(kernel, model.columns, theta, PlatformPoses(p, R), readings)
    for order in ("C", "F"):
        arrays = (np.array(each, order=order) for each in (p, R, readings))
        found = chains_at(kernel, model.columns, theta, *arrays)
        for one, other in zip(found, expected.values(), strict=True):
            np.testing.assert_array_equal(one, other.reshape(one.shape))


@pytest.mark.parametrize("model", MODELS, ids=lambda m: f"{m.name} {len(m.names)}")
@pytest.mark.parametrize("form", ["squared", "length"])
def test_readings_satisfy_the_equations_and_derivatives_are_differences(model, form, rng):
    theta = spoilt(model, rng)
    p, R = some_poses(model, rng)
    readings = model.inverse(theta, p, R)
    kernel = all_derivatives(model.chain_kernel(form))

    def f(theta, p, R, readings):
        return evaluate_chains(kernel, model.columns, theta, PlatformPoses(p, R), readings)

    here = f(theta, p, R, readings)
    assert abs(here["residual"]).max() < 1e-14
    h = 1e-6
    for j in range(len(theta)):
        step = h * (np.arange(len(theta)) == j)
        difference = (f(theta + step, p, R, readings)["residual"] - f(theta - step, p, R, readings)["residual"]) / (
            2 * h
        )
        exact = np.zeros_like(difference)
        for chain, columns in enumerate(model.columns):
            if j in columns:
                exact[:, chain] = here["by_x"][:, chain, list(columns).index(j)]
        assert abs(exact - difference).max() < 1e-8
    for j in range(6 if model.has_orientation else 3):
        dp, dw = (h * (np.arange(3) == j), np.zeros(3)) if j < 3 else (np.zeros(3), h * (np.arange(3) == j - 3))
        ends = [f(theta, p + s * dp, exp(s * dw) @ R, readings)["residual"] for s in (1, -1)]
        assert abs(here["by_pose"][..., j] - (ends[0] - ends[1]) / (2 * h)).max() < 1e-8
    ends = [f(theta, p, R, readings + s * h)["residual"] for s in (1, -1)]
    assert abs(here["by_reading"] - (ends[0] - ends[1]) / (2 * h)).max() < 1e-8


@pytest.mark.parametrize("model", MODELS, ids=lambda m: f"{m.name} {len(m.names)}")
def test_forward_inverts_inverse(model, rng):
    theta = spoilt(model, rng)
    p, R = some_poses(model, rng, 500)
    found = model.forward(theta, model.inverse(theta, p, R))
    assert abs(found.position - p).max() < 1e-11
    assert angle_between(found.rotation, R).max() < 1e-9


def test_all_extremal_configurations_assemble():
    robot = GoughPlatform.deltalab()
    found = robot.forward(robot.nominal, EXTREMAL)
    assert abs(robot.inverse(robot.nominal, *found) - EXTREMAL).max() < 1e-12
    assert (found.position[:, 2] > 0.2).all()


@pytest.mark.parametrize("model", MODELS[:3], ids=lambda m: f"{m.name} {len(m.names)}")
def test_what_cannot_be_assembled_is_refused_by_its_number(model, rng):
    p, R = some_poses(model, rng, 5)
    readings = model.inverse(model.nominal, p, R)
    readings[3, 0] += 5.0
    with pytest.raises(InputError, match="sample 3"):
        model.forward(model.nominal, readings)
    with pytest.raises(InputError, match="chains"):
        model.forward(model.nominal, readings[:, :2])


def test_rods_that_do_not_meet():
    robot = RotaryDelta(arm=0.26, rod=0.3)
    with pytest.raises(InputError, match="sample 1"):
        robot.forward(robot.nominal, [[0.9, 0.9, 0.9], [0.0, 0.0, 0.0]])


def test_blueprints_that_cannot_be(rng):
    with pytest.raises(InputError, match="joints"):
        GoughPlatform(np.zeros((6, 3)), np.zeros((5, 3)), 0.3)
    short = GoughPlatform(GoughPlatform.deltalab().base, GoughPlatform.deltalab().platform, 0.05)
    with pytest.raises(InputError, match="cannot be assembled"):
        short.forward(short.nominal, np.zeros((1, 6)))
    with pytest.raises(InputError, match="cannot be assembled"):
        LinearDelta(radius=160.0)
    with pytest.raises(InputError, match="cannot be assembled"):
        RotaryDelta(arm=0.7, rod=0.26)
    with pytest.raises(InputError, match="pose 0"):
        LinearDelta().inverse(LinearDelta().nominal, [100.0, 0.0, 10.0])


def test_klippers_convention_of_the_endstop():
    """At the endstops, with x = y = 0, the nozzle is at the height `endstop`."""
    printer = LinearDelta(endstop=0.42)
    assert abs(printer.forward(printer.nominal, np.zeros((1, 3))).position - [[0, 0, 0.42]]).max() < 1e-12
