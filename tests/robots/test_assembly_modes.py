"""Assembly modes: as many as a blind search finds, each proven; which one a pose belongs to; singularities told."""

from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import angle_between, enclosed_rotation, exp
from gough.data import Poses
from gough.geometry import held_out
from gough.robots import (
    GoughPlatform,
    H4Kinematics,
    LinearDelta,
    Par4Kinematics,
    PlanarRRR,
    PlatformPoses,
    RotaryDelta,
    assembly_modes,
    nearest_other_mode,
)
from gough.robots._soma import SOLUTIONS, _start, all_poses
from gough.robots.kinematics import PoseFinder, all_derivatives

DELTALAB = GoughPlatform.deltalab()
SMALL = [LinearDelta(), RotaryDelta(), PlanarRRR(), H4Kinematics(), Par4Kinematics()]
MOST = {"linear delta": 2, "rotary delta": 2, "planar 3-RRR": 6, "H4": 8, "Par4": 8}
HOMES = {"linear delta": 0.1, "rotary delta": -0.7, "planar 3-RRR": 0.0, "H4": -0.43, "Par4": -0.85}


def somewhere(model, rng, n, spread=0.08):
    free = np.isin(range(6), model.freedoms)
    p = [0, 0, HOMES[model.name]] + free[:3] * rng.uniform(-spread, spread, (n, 3))
    return PlatformPoses(p, exp(free[3:] * rng.uniform(-0.5, 0.5, (n, 3))))


def blind_search(model, theta, reading, rng, starts):
    """Newton's method from everywhere: how many different poses does it find?"""
    free = np.isin(range(6), model.freedoms)
    p = free[:3] * rng.uniform(-1.2, 1.2, (starts, 3))
    finder = PoseFinder(all_derivatives(model.chain_kernel("length")), model.columns, model.freedoms, 0.1)
    p, R, good = finder.newton(
        theta, np.repeat(reading[None], starts, axis=0), p, exp(free[3:] * rng.uniform(-3, 3, p.shape))
    )
    good &= abs(p).max(axis=1) < 5
    found = []
    for position, rotation in zip(p[good], R[good], strict=True):
        if not any(abs(position - q).max() + angle_between(rotation, S) < 1e-5 for q, S in found):
            found.append((position, rotation))
    return len(found)


@pytest.mark.parametrize("model", SMALL, ids=lambda m: m.name)
def test_as_many_as_a_blind_search_finds_and_each_is_proven(model, rng):
    theta = model.nominal + 1e-3 * rng.normal(size=len(model.names))
    poses = somewhere(model, rng, 4)
    readings = model.inverse(theta, *poses)
    modes = assembly_modes(model, theta, readings)
    assert modes.complete.all()
    assert modes.is_proven.all()
    assert (modes.count <= MOST[model.name]).all()
    assert modes.count.tolist() == [blind_search(model, theta, r, rng, 400) for r in readings]
    chosen = modes.belonging(poses)
    assert (chosen.distance < 1e-11).all()
    assert not chosen.is_ambiguous.any()
    assert (chosen.other > modes.alone[chosen.mode]).all()


def test_planar_machines_with_six_modes(rng):
    """Six do occur; random robots have fewer."""
    model, most = PlanarRRR(rod=0.5), []
    for _ in range(6):
        rows = model.blueprint.copy()
        rows[:, 5:] = 0.25 * rng.normal(size=(3, 2))
        most.append(int(assembly_modes(model, rows.reshape(-1), rng.uniform(-3, 3, (25, 3))).count.max()))
    assert max(most) == 6


def test_forty_paths_of_the_platform(rng):
    """A calibrated robot is a general one: 40 complex poses, an even number of them real, as a blind search finds."""
    theta = DELTALAB.nominal + 2e-3 * rng.normal(size=42)
    readings = rng.uniform(0, 0.14, (2, 6))
    modes = assembly_modes(DELTALAB, theta, readings)
    assert modes.complete.all()
    assert modes.is_proven.all()
    assert (modes.count % 2 == 0).all()
    assert modes.count[0] == blind_search(DELTALAB, theta, readings[0], rng, 1000)
    assert abs(DELTALAB.inverse(theta, *modes.poses) - readings[modes.sample]).max() < 1e-12
    here = DELTALAB.forward(theta, readings)
    assert (modes.belonging(here).distance < 1e-9).all()


def test_the_symmetric_blueprint_sends_paths_to_infinity(rng):
    rows = DELTALAB.rows(DELTALAB.nominal)
    found = all_poses(rows[:, :3], rows[:, 3:6], rows[:, 6] + rng.uniform(0, 0.14, (1, 6)))
    assert found.infinite.sum() == 12
    assert found.arrived.sum() == 28


def test_the_start_of_the_paths():
    robot, x = _start()
    assert x.shape == (SOLUTIONS, 8)
    e, g = x[:, :4], x[:, 4:]
    assert abs((e * g).sum(axis=1)).max() < 1e-14
    same = abs(x.conj() @ x.T) - np.eye(SOLUTIONS)
    assert same.max() < 0.999
    assert robot.a.shape == (1, 6, 3)


def test_a_proof_holds_for_the_exact_pose():
    """The truth, a pose of which the readings are computed in higher precision, lies in the box that is given."""
    with localcontext(prec=60):
        check_exactly()


def check_exactly():
    p, q = [Decimal(v) for v in (0.01, -0.02, 0.33)], [Decimal(v) for v in (1.0, 0.0625, -0.03125, 0.0)]
    n = sum(v * v for v in q)
    w, x, y, z = q
    R = [
        [(w * w + x * x - y * y - z * z) / n, 2 * (x * y - w * z) / n, 2 * (x * z + w * y) / n],
        [2 * (x * y + w * z) / n, (w * w - x * x + y * y - z * z) / n, 2 * (y * z - w * x) / n],
        [2 * (x * z - w * y) / n, 2 * (y * z + w * x) / n, (w * w - x * x - y * y + z * z) / n],
    ]
    box = enclosed_rotation(np.array([[1.0, 0.0625, -0.03125, 0.0]]))
    assert all(box.lower[0, i, j] <= R[i][j] <= box.upper[0, i, j] for i in range(3) for j in range(3))
    rows = DELTALAB.rows(DELTALAB.nominal)
    readings = []
    for row in rows:
        a, b, length = [Decimal(v) for v in row[:3]], [Decimal(v) for v in row[3:6]], Decimal(row[6])
        d = [sum(R[i][j] * b[j] for j in range(3)) + p[i] - a[i] for i in range(3)]
        readings.append(float(sum(v * v for v in d).sqrt() - length))
    modes = assembly_modes(DELTALAB, DELTALAB.nominal, [readings])
    near = int(modes.belonging(PlatformPoses(np.array([[0.01, -0.02, 0.33]]), box.mid)).mode[0])
    assert abs(modes.poses.position[near] - [0.01, -0.02, 0.33]).max() <= modes.error[near] <= 1e-9


def test_what_cannot_be_assembled_has_no_mode():
    for model in SMALL:
        readings = np.full((1, len(model.chains)), 0.1)
        readings[0, 0] = 30.0 if model.reading_unit == "m" else 3.0
        modes = assembly_modes(model, model.nominal, readings)
        if model.reading_unit == "m":
            assert modes.count.tolist() == [0]
            assert modes.belonging(PlatformPoses(np.zeros((1, 3)), np.eye(3)[None])).mode.tolist() == [-1]
    with pytest.raises(InputError, match="chains"):
        assembly_modes(DELTALAB, DELTALAB.nominal, [[0.1]])


def test_modes_that_meet_are_told(rng):
    """Level arms: what lies below and what lies above are one centimetre apart, and errors of 2 mm are doubtful."""
    flat = LinearDelta(arm=0.1601)
    p = np.column_stack([rng.uniform(-1e-5, 1e-5, (6, 2)), np.full(6, 0.1)])
    readings = flat.inverse(flat.nominal, p)
    near = nearest_other_mode(flat, flat.nominal, readings, PlatformPoses(p, np.repeat(np.eye(3)[None], 6, axis=0)))
    modes = assembly_modes(flat, flat.nominal, readings)
    assert near == pytest.approx(modes.belonging(PlatformPoses(p, None)).other, rel=1e-6)
    seen = Poses(p + np.array([0, 0, 7e-3]), None, readings)
    check = held_out(flat, seen, flat.nominal, flat.nominal)
    assert check.ambiguous == tuple(range(6))
    assert "next to a singularity" in str(check)
    calm = LinearDelta()
    check = held_out(calm, replace(seen, readings=calm.inverse(calm.nominal, p)), calm.nominal, calm.nominal)
    assert check.ambiguous == ()
