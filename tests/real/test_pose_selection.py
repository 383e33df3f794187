"""Poses chosen from those that were measured of a real platform predict the others better than as many random ones."""

import numpy as np

from gough.designs.poses import Candidates, PoseProblem, select
from gough.geometry import calibrate, held_out
from tests.real.test_jugglebot import found, platform, poses  # noqa: F401 - fixtures


def test_twelve_chosen_poses_against_random_ones(found, platform, poses, rng):  # noqa: F811
    """0.4 mm of closure is what is left of all 108: it stands for the noise of the legs."""
    theta = found.parameters
    noisy = poses.with_noise(readings=4e-4 / theta[7::8])
    known = Candidates(noisy, np.zeros(len(poses), dtype=bool), len(poses))
    problem = PoseProblem.of(platform, known, parameters=theta)
    assert problem.needed == 8

    def error(rows):
        rest = np.setdiff1d(np.arange(len(poses)), rows)
        again = calibrate(platform, poses.select(list(rows)))
        check = held_out(platform, poses.select(rest), again.parameters, again.parameters)
        return np.sqrt((check.position_after**2).mean())

    chosen = error(select(problem, 12).rows)
    random = [error(rng.choice(len(poses), 12, replace=False)) for _ in range(7)]
    assert 1e3 * chosen < 1.3
    assert chosen < 0.85 * np.median(random)
