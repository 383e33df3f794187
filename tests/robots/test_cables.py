"""Cable and belt machines: their equations, and their calibration from readings alone."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.geometry.instruments import Instrument, Measurements, calibrate_by_instruments
from gough.robots import CableRobot
from gough.robots.kinematics import PlatformPoses, all_derivatives, evaluate_chains

CORNERS = np.array([[x, y, z] for x in (-2.0, 2.0) for y in (-1.5, 1.5) for z in (0.0, 2.5)])
EYES = 0.1 * np.array([[x, y, z] for x in (1, -1) for y in (1, -1) for z in (1, -1)])
MACHINES = {
    "Hangprinter": CableRobot.hangprinter(),
    "spools": CableRobot.hangprinter(gain=0.05, gains=True, buildup=-2e-5, reading_unit="rad"),
    "Maslow": CableRobot.maslow(),
    "two belts": CableRobot.maslow(belts=2),
    "platform": CableRobot(CORNERS, EYES, name="eight cables"),
    "plate": CableRobot(CORNERS[::2, :2], EYES[::2, :2], home=[0.0, 0.0]),
}
each_machine = pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)


def somewhere(machine, rng, n=20):
    home = machine._home().position[0]
    p = home + rng.uniform(-0.4, 0.4, (n, 3)) * np.isin([0, 1, 2], machine.freedoms)
    turn = rng.uniform(-0.15, 0.15, (n, 3)) * np.isin([3, 4, 5], machine.freedoms)
    return PlatformPoses(p, exp(turn))


@each_machine
def test_forward_is_the_inverse_of_inverse_and_both_close_the_chains(machine, rng):
    theta = machine.nominal + 1e-3 * rng.normal(size=len(machine.names)) * (np.array(machine.units) == "m")
    poses = somewhere(machine, rng)
    readings = machine.inverse(theta, *poses)
    found = machine.forward(theta, readings)
    assert abs(found.position - poses.position).max() < 1e-9
    assert abs(found.rotation - poses.rotation).max() < 1e-8
    closed = evaluate_chains(all_derivatives(machine.chain_kernel("length")), machine.columns, theta, poses, readings)
    assert abs(closed["residual"]).max() < 1e-12
    squared = evaluate_chains(machine.chain_kernel("squared"), machine.columns, theta, poses, readings)
    assert abs(squared["residual"]).max() < 1e-11


@pytest.mark.parametrize("name", ["Hangprinter", "Maslow"])
def test_readings_alone_show_the_anchors(name, rng):
    machine = MACHINES[name]
    dim = machine.dimensions
    truth = machine.nominal + rng.normal(0, 0.03, len(machine.names))
    poses = somewhere(machine, rng, 150)
    data = Measurements(machine.inverse(truth, *poses) + rng.normal(0, 2e-4, (150, 4)), 2e-4)
    answer = calibrate_by_instruments(machine, data)
    assert not answer.refuted
    apart = []
    for theta in (machine.nominal, truth, answer.parameters):
        a = theta.reshape(4, -1)[:, :dim]
        apart.append(np.linalg.norm(a[:, None] - a, axis=2))
    assert abs(apart[2] - apart[1]).max() < 0.2 * abs(apart[0] - apart[1]).max()
    assert answer.freedoms.directions.shape[1] == dim * (dim + 1) // 2


def test_unknown_gains_leave_the_scale_free_until_a_distance_is_measured(rng):
    machine = replace(MACHINES["spools"], buildup=None)
    truth = machine.nominal + rng.normal(0, 1, 20) * np.tile([0.02, 0.02, 0.02, 0.02, 1e-4], 4)
    poses = somewhere(machine, rng, 120)
    data = Measurements(machine.inverse(truth, *poses) + rng.normal(0, 2e-3, (120, 4)), 2e-3)
    answer = calibrate_by_instruments(machine, data)
    words = [motion.words for motion in answer.freedoms.motions]
    assert words == ["the frame of the base", "the scale of all lengths"]
    length = np.linalg.norm(poses.position[0] - poses.position[1])
    tape = Instrument("tape", "apart", [length], 1e-3, pairs=[[0, 1]])
    again = calibrate_by_instruments(machine, replace(data, instruments=[tape]))
    assert [motion.words for motion in again.freedoms.motions] == ["the frame of the base"]
    size = [np.ptp(theta.reshape(4, 5)[:, :3], axis=0).max() for theta in (again.parameters, truth)]
    assert size[0] == pytest.approx(size[1], rel=5e-3)


def test_elongation_is_found_from_loads(rng):
    machine = CableRobot.hangprinter(elongation=0.0)
    truth = machine.nominal.copy()
    truth[-1] = 5e-5
    poses = somewhere(machine, rng, 150)
    loads = rng.uniform(5, 60, (150, 4))
    stretched = np.linalg.norm(poses.position[:, None] - machine.anchors, axis=2)
    readings = stretched / (1 + 5e-5 * loads) - machine.length + rng.normal(0, 1e-4, (150, 4))
    data = Measurements(readings, 1e-4, loads=loads)
    answer = calibrate_by_instruments(machine, data, fixed=["l*"])
    assert not answer.refuted
    lower, upper = answer.interval("elongation", level=0.999)
    assert lower < 5e-5 < upper < 7e-5
    with pytest.raises(InputError, match="state the loads"):
        calibrate_by_instruments(machine, replace(data, loads=None))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: CableRobot(np.zeros((4, 4))), r"a point \(x, y, z\) or \(x, y\)"),
        (lambda: CableRobot(np.zeros((2, 3))), "3 freedoms need at least 3 cables"),
        (lambda: CableRobot(CORNERS, EYES[:3]), "one for each of 8 anchors"),
        (lambda: CableRobot(CORNERS, gain=0.0), "a gain of zero"),
        (lambda: CableRobot(CORNERS, length=[1.0, 2.0]), "one for each of 8 cables"),
        (lambda: CableRobot(CORNERS, gain=np.arange(1.0, 9.0)).chain_kernel(), "different known gains"),
        (lambda: CableRobot(CORNERS, home=[0.0, 0.0]), "home must be 3 finite numbers"),
        (lambda: CableRobot.maslow(belts=3), "two or four belts"),
        (lambda: CableRobot(CORNERS).mechanism, "no mechanism"),
        (lambda: CableRobot(CORNERS).mode_candidates(None, None), "assembly modes"),
        (lambda: CableRobot(CORNERS).loaded_kernel(), "do not stretch"),
    ],
)
def test_machines_that_cannot_be_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()
