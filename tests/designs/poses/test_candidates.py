"""Candidates: every limit is kept by all of them, by formulas of their own; refusals say which limit is to blame."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import exp, log
from gough.designs.poses import Camera, PoseLimits, candidates
from gough.robots import GoughPlatform, H4Kinematics, LinearDelta, PlanarRRR, PlatformPoses, RotaryDelta
from tests.geometry.simulated import EXTREMAL, ROBOT

ANGLES = np.radians([0, 60, 120, 180, 240, 300])
LEGS = PoseLimits(readings=(0.0, 0.14))


def test_all_64_extremal_configurations_assemble():
    found = candidates(ROBOT, LEGS, sources=["extremal"])
    assert found.is_extremal.all()
    np.testing.assert_allclose(found.poses.readings, EXTREMAL, atol=1e-15)
    again = ROBOT.inverse(ROBOT.nominal, found.poses.position, found.poses.rotation)
    np.testing.assert_allclose(again, EXTREMAL, atol=1e-10)


@pytest.mark.parametrize(("source", "n"), [("random", 50), ("low-discrepancy", 50), ("grid", 64)])
def test_sources_are_repeatable_and_within_range(source, n):
    first, second = (candidates(ROBOT, LEGS, sources=[source], count=50, levels=2) for _ in range(2))
    assert first == second
    assert len(first) == first.tried == n
    assert (first.poses.readings >= 0).all()
    assert (first.poses.readings <= 0.14).all()
    if source != "grid":
        assert candidates(ROBOT, LEGS, sources=[source], count=50, seed=2) != first


def test_limits_are_kept_by_formulas_of_their_own():
    camera = Camera(
        [0.0, 0.0, 1.5], [0.0, 0.0, -1.0], np.radians(10), target=[0.0, 0.0, 0.02], incidence=np.radians(15)
    )
    limits = PoseLimits(
        readings=(0.0, 0.14),
        pose={"x": (-0.06, 0.05), "tilt": (0.0, np.radians(14)), "turn": (0.0, 0.4)},
        base_cone=np.radians(16),
        platform_cone=np.radians(20),
        margin=0.3,
        camera=camera,
    )
    found = candidates(ROBOT, limits, count=300)
    assert 20 < len(found) < 364
    assert found.is_extremal.sum() == 64  # each drawn back to where the limits allow it
    assert all(name in str(found) for name in ("cone at the base", "range of tilt", "camera's view"))
    p, R = found.poses.position, found.poses.rotation
    assert (p[:, 0] > -0.06 - 1e-8).all()
    assert (np.arccos(R[:, 2, 2]) < np.radians(14) + 1e-8).all()
    assert (np.linalg.norm(log(R), axis=1) < 0.4 + 1e-8).all()

    def legs(pose):
        d = pose.position[:, None] + np.einsum("nij,lj->nli", pose.rotation, ROBOT.platform) - ROBOT.base
        return d / np.linalg.norm(d, axis=2, keepdims=True)

    home = ROBOT.forward(ROBOT.nominal, np.full((1, 6), 0.07))
    here, there = legs(PlatformPoses(p, R)), legs(home)
    assert (np.arccos((here * there).sum(axis=2)) < np.radians(16) + 1e-8).all()
    own = np.einsum("nji,nlj->nli", R, here)
    assert (np.arccos((own * (there @ home.rotation)).sum(axis=2)) < np.radians(20) + 1e-8).all()
    line = p + R @ [0.0, 0.0, 0.02] - [0.0, 0.0, 1.5]
    line /= np.linalg.norm(line, axis=1, keepdims=True)
    assert (np.arccos(-line[:, 2]) < np.radians(10) + 1e-8).all()
    assert (np.arccos(-(line * R[:, :, 2]).sum(axis=1)) < np.radians(15) + 1e-8).all()


def test_what_a_camera_sees():
    eye = np.eye(3)[None]
    camera = Camera([0, 0, 1], [0, 0, -2], half_angle=0.2, radius=0.05, distance=(0.3, 1.2), incidence=0.5)

    def seen(position, turn=(0.0, 0.0, 0.0)):
        return bool(camera.sees(PlatformPoses(np.array([position], dtype=float), exp(np.array(turn)) @ eye))[0])

    assert seen([0, 0, 0])
    assert seen([0.14, 0, 0])  # 0.139 rad off the middle and 0.05 rad of radius
    assert not seen([0.16, 0, 0])
    assert not seen([0, 0, 0.8])  # too near
    assert not seen([0, 0, -0.3])  # too far
    assert not seen([0, 0, 0], (0.6, 0, 0))  # turned away
    assert not seen([0, 0, 2])  # behind


def test_poses_in_a_box():
    limits = PoseLimits(
        pose={"x": (-0.05, 0.05), "y": (0, 0.02), "z": (0.3, 0.4), "tilt": (0, 0.2), "heading": (-1, 1)}
    )
    found = candidates(ROBOT, limits, sources=["random"], count=400)
    assert 200 < len(found) <= 400  # some are near a singularity
    assert 0.15 < np.arccos(found.poses.rotation[:, 2, 2]).max() <= 0.2 + 1e-9
    assert abs(found.poses.position[:, 1] - 0.01).max() <= 0.01
    with pytest.raises(InputError, match="heading is missing"):
        candidates(ROBOT, PoseLimits(pose={k: v for k, v in limits.pose.items() if k != "heading"}), sources=["random"])
    corners = candidates(ROBOT, limits, sources=["extremal"])
    assert corners.is_extremal.all()
    assert set(corners.poses.position[:, 0].round(9)) == {-0.05, 0.05}
    assert corners.poses.rotation[:, 0, 2].min() < -0.1 < 0.1 < corners.poses.rotation[:, 0, 2].max() or (
        corners.poses.rotation[:, 1, 2].min() < -0.1 < 0.1 < corners.poses.rotation[:, 1, 2].max()
    )  # tilted to opposite sides


@pytest.mark.parametrize(
    ("model", "box"),
    [
        (LinearDelta(), {"x": (-0.3, 0.3), "y": (-0.1, 0.1), "z": (0.0, 0.1)}),
        (RotaryDelta(), {"x": (-0.1, 0.1), "y": (-0.1, 0.1), "z": (-0.8, -0.6)}),
        (H4Kinematics(), {"x": (-0.1, 0.1), "y": (-0.1, 0.1), "z": (-0.6, -0.4), "heading": (-0.3, 0.3)}),
        (PlanarRRR(), {"x": (-0.1, 0.1), "y": (-0.1, 0.1), "heading": (-0.3, 0.3)}),
    ],
    ids=lambda m: getattr(m, "name", ""),
)
def test_other_robots(model, box):
    """Boxes partly out of reach; from readings and from poses."""
    found = candidates(model, PoseLimits(pose=box), sources=["low-discrepancy"], count=80)
    assert 20 < len(found) <= 80
    again = model.forward(model.nominal, found.poses.readings, PlatformPoses(found.poses.position, _turns(found)))
    assert abs(again.position - found.poses.position).max() < 1e-9
    readings = found.poses.readings
    limits = PoseLimits(readings=(readings.min(axis=0), readings.max(axis=0)))
    back = candidates(model, limits, count=20)
    assert back.is_extremal.any()
    expected = model.inverse(model.nominal, back.poses.position, back.poses.rotation)
    off = expected - back.poses.readings
    if model.reading_unit == "rad":
        off = np.angle(np.exp(1j * off))
    assert abs(off).max() < 1e-8


def _turns(found):
    n = len(found)
    return np.repeat(np.eye(3)[None], n, axis=0) if found.poses.rotation is None else found.poses.rotation


def test_refusals():
    with pytest.raises(InputError, match=r"none of 164 configurations.*164 break the range of z"):
        candidates(ROBOT, PoseLimits(readings=(0.0, 0.14), pose={"z": (2.0, 3.0)}), count=100)
    with pytest.raises(InputError, match="did you mean 'random'"):
        candidates(ROBOT, LEGS, sources=["randon"])
    with pytest.raises(InputError, match="has 6 chains, but 3 ranges"):
        candidates(ROBOT, PoseLimits(readings=([0.0] * 3, [0.1] * 3)))
    with pytest.raises(InputError, match="in the middle of their ranges"):
        candidates(ROBOT, PoseLimits(readings=(-0.34, -0.30)))
    flat = GoughPlatform.of_circles(0.3, 0.2, ANGLES, ANGLES, 0.4)  # base and platform alike: it gives way everywhere
    box = {"x": (-0.1, 0.1), "y": (-0.1, 0.1), "z": (0.3, 0.4), "tilt": (0.0, 0.1), "heading": (-0.1, 0.1)}
    with pytest.raises(InputError, match="a singular configuration"):
        candidates(flat, PoseLimits(pose=box), sources=["random"], count=10)
    for wrong in (
        {"readings": (0.1, 0.0)},
        {"pose": {"x": (1.0, 0.0)}},
        {"margin": 0.0},
        {"base_cone": 4.0},
        {"pose": {"tild": (0.0, 1.0)}},
    ):
        with pytest.raises(InputError):
            PoseLimits(**wrong)
    for wrong in ({"half_angle": 2.0}, {"direction": [0, 0, 0]}, {"position": [0, 0]}, {"incidence": 0.0}):
        with pytest.raises(InputError):
            Camera(**({"position": [0, 0, 1], "direction": [0, 0, -1], "half_angle": 0.3} | wrong))
