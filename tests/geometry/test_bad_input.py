"""What people get wrong, robot by robot: each is refused, or calibrated with the likely cause in words."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.data import Poses
from gough.estimates import EstimationError
from gough.geometry import calibrate
from gough.geometry.geometric import geometric
from gough.robots import (
    GoughPlatform,
    H4Geometry,
    H4Kinematics,
    LinearDelta,
    Par4Geometry,
    Par4Kinematics,
    PlanarRRR,
    RotaryDelta,
)
from tests.geometry import test_robots
from tests.geometry.simulated import EXTREMAL, ROBOT, measured, truth

SEEDED_AS = "tests/calibration/test_bad_input.py"


def seen(model, rng):
    if model.has_orientation:
        return test_robots.seen(model, rng, 80)[1]
    height = 0.1 if isinstance(model, LinearDelta) else -0.7
    p = rng.uniform([-0.1, -0.1, height - 0.05], [0.1, 0.1, height + 0.05], (60, 3))
    theta = model.nominal + 5e-4 * rng.normal(size=len(model.names))
    return Poses(p + 1e-5 * rng.normal(size=p.shape), None, model.inverse(theta, p)).with_noise(1e-5)


def words(model, poses):
    try:
        return " ".join(calibrate(model, poses).verdicts)
    except (EstimationError, InputError) as error:
        return str(error)


ROBOTS = [LinearDelta(), RotaryDelta(), H4Kinematics(), PlanarRRR()]
each_robot = pytest.mark.parametrize("model", ROBOTS, ids=lambda m: m.name)


@each_robot
def test_what_is_right_raises_no_suspicion(model, rng):
    assert calibrate(model, seen(model, rng)).suspects == ()


@each_robot
@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda s: replace(s, position=1e3 * s.position), "taken for metres in the positions"),
        (lambda s: replace(s, readings=s.readings[:, [1, 0, *range(2, s.n_chains)]]), "order 2, 1"),
    ],
    ids=["mm for m", "two chains swapped"],
)
def test_units_and_orders_of_other_machines(model, change, cause, rng):
    assert cause in words(model, change(seen(model, rng)))


@pytest.mark.parametrize("model", [RotaryDelta(), H4Kinematics()], ids=lambda m: m.name)
def test_degrees_for_radians(model, rng):
    poses = seen(model, rng)
    assert "degrees were taken for radians" in words(model, replace(poses, readings=np.degrees(poses.readings)))


def test_poses_of_the_base_in_the_platforms_frame(rng):
    """They fit as well, with base and platform exchanged: only the blueprint tells."""
    _, poses = measured(truth(rng), EXTREMAL, rng)
    back = np.swapaxes(poses.rotation, 1, 2)
    around = replace(poses, rotation=back, position=-(back @ poses.position[..., None])[..., 0])
    assert "must be turned around" in words(ROBOT, around)


def test_swapped_axes_of_an_instrument(rng):
    _, poses = measured(truth(rng), EXTREMAL, rng)
    assert "x and y of the positions are swapped" in words(ROBOT, replace(poses, position=poses.position[:, [1, 0, 2]]))


def test_too_few_poses_and_copies(rng):
    _, poses = measured(truth(rng), EXTREMAL, rng)
    with pytest.raises(InputError, match=r"6 poses give 36 equations for 42 unknowns: measure at least 7"):
        geometric(ROBOT, poses.select(range(6)))
    copies = poses.select([0] * 30 + list(range(1, 4))).without_copies()
    assert len(copies) == 4
    assert "copy of pose 0" in copies.notes[0]
    with pytest.raises(InputError, match="4 poses give 24 equations"):
        calibrate(ROBOT, copies)


@pytest.mark.parametrize(
    "make",
    [
        lambda: H4Kinematics(H4Geometry(arm=0.48, rod=0.26)),
        lambda: Par4Kinematics(Par4Geometry(rod=0.3)),
        lambda: PlanarRRR(arm=0.1, rod=0.1),
        lambda: LinearDelta(radius=160.0),
        lambda: RotaryDelta(arm=0.7, rod=0.26),
    ],
)
def test_blueprints_that_cannot_be_assembled_are_refused(make):
    with pytest.raises(InputError, match="cannot be assembled"):
        make()


def test_a_blueprint_that_cannot_be_assembled_at_the_readings_is_told(rng):
    _, poses = measured(truth(rng), EXTREMAL, rng)
    short = GoughPlatform(ROBOT.base, ROBOT.platform, 0.05)
    found = calibrate(short, poses)
    assert "cannot be assembled at these readings" in " ".join(found.suspects)
    assert found.rms[1] < 1e-4
    assert calibrate(short, poses, frames="instrument").rms[1] < 1e-4  # zeros of the readings are found too
