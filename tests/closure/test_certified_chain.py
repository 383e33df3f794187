"""Chains of deltas, H4, Par4 and 3-RRR: the truth is kept at zero tolerance, boxes contract from decimetres."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.certified_chain import ROBOTS, TOLERANCES, inner_hull, measured, needed, problem_of
from gough import Box, Claim, Status, estimate
from gough.closure.certified_chain import (
    Tolerances,
    certified_chain,
    chain_names,
    chain_parameters,
    quadratic_unknowns,
)
from gough.core.errors import InputError
from gough.core.intervals import Interval
from gough.methods import LiftedHull
from gough.robots import GoughPlatform, LinearDelta, RotaryDelta

each_robot = pytest.mark.parametrize("model", ROBOTS, ids=lambda m: m.name)


@each_robot
def test_the_unknowns_satisfy_the_chains(model, rng):
    poses = measured(model, rng, 20)
    for chain in range(1, len(model.chains) + 1):
        problem, truth = problem_of(model, poses, 0.1, rng, chain)
        assert len(chain_names(model, chain)) == len(truth)
        assert needed(problem, truth).max() <= 0
        for condition in problem.conditions:
            assert abs(sum(c * truth[i] * truth[j] for (i, j), c in condition.items())) < 1e-16


@each_robot
def test_the_truth_is_kept_and_the_start_does_not_matter(model, rng):
    poses = measured(model, rng, 30)
    regions = []
    for around in (0.1, 0.3) if len(model.chains) == 3 else (0.1,):
        problem, truth = problem_of(model, poses, around, rng, chain=2)
        answer = estimate(problem, LiftedHull())
        assert answer.claim is Claim.PROOF
        assert truth in answer.region
        regions.append(answer.region)
    np.testing.assert_allclose(regions[0].width, regions[-1].width, rtol=0.02, atol=1e-6)
    assert model.nominal[model.columns[1]] in chain_parameters(model, 2, regions[0])


@each_robot
def test_own_parameters_are_enclosed_wherever_angles_point(model, rng, monkeypatch):
    """Zeros beyond a quarter turn, and angles at atan2's branch cut, lose neither the truth nor what is known of it."""
    drawn, nominal = np.flatnonzero([unit == "rad" for unit in model.units]), model.nominal
    for trial in range(120):
        near = nominal.copy()
        near[drawn] = rng.choice([0.5 * np.pi, np.pi, -np.pi, rng.uniform(-6, 6)], len(drawn))
        monkeypatch.setattr(type(model), "nominal", property(lambda _, near=near: near))
        truth = near + rng.uniform(-1e-3, 1e-3, len(near))
        width = (1e-9, 1e-5, 1e-2, 0.5)[trial % 4]
        chain = int(rng.integers(1, len(model.chains) + 1))
        center, row = quadratic_unknowns(model, truth, chain), truth[model.columns[chain - 1]]
        box = Box.around(center + width * rng.uniform(-0.9, 0.9, len(center)), width)
        own = chain_parameters(model, chain, box)
        assert row in own
        if width < 1e-3:
            assert own.width.max() < 100 * width
        with_angles = [model.units[place] == "rad" for place in model.columns[chain - 1]]
        assert (abs(own.center - near[model.columns[chain - 1]])[with_angles] <= np.pi).all()


def test_boxes_are_near_an_inner_hull(rng):
    model = LinearDelta()
    problem, _ = problem_of(model, measured(model, rng, 40), 0.2, rng)
    ratio = LiftedHull().estimate(problem).region.width / inner_hull(model, problem)
    assert ratio.min() > 0.999
    assert ratio.max() < 1.001


@each_robot
def test_rows_hold_for_every_consistent_chain(model, rng):
    """Chains that fit with room, anywhere in a box, satisfy all inequalities of its relaxation exactly."""
    poses = measured(model, rng, 15)
    problem, _ = problem_of(model, poses, 0.02, rng)
    center, radius = problem.prior.center, problem.prior.width / 2
    rows = problem.relaxation(center, radius)
    first, second = np.array(problem.products).T
    columns = model.columns[0]
    tried = 0
    for size in np.geomspace(1e-6, 1e-3, 60):
        theta = model.nominal.copy()
        theta[columns] += size * rng.normal(size=len(columns))
        x = quadratic_unknowns(model, theta, 1)
        if needed(problem, x).max() > 0:
            continue
        tried += 1
        h = Interval(x) - center
        y = np.concatenate([h.mid, (h[first] * h[second]).mid])
        assert (rows.A @ y <= rows.b + 1e-15).all()
    assert tried > 5


@each_robot
def test_a_wrong_pose_is_refuted(model, rng):
    poses = measured(model, rng, 60)
    off = poses.position.copy()
    off[21] += 0.01
    problem, _ = problem_of(model, replace(poses, position=off), 0.1, rng)
    answer = LiftedHull().estimate(problem)
    assert answer.status is Status.INCONSISTENT
    assert answer.region.is_empty
    assert chain_parameters(model, 1, answer.region).is_empty


def test_exact_data_and_idle_readings():
    """Without tolerances the truth, whose numbers are exact here, stays; rows of one pose alone prove nothing else."""
    model = LinearDelta(radius=0.125, arm=0.3125, angle=(0.0, 2.0, 4.0))
    truth = np.array([0.125, 0.0, 0.6875, 0.3125])
    p = np.array([[0.125, 0.1875, 0.25], [0.125, -0.1875, 0.25], [0.3125, 0.25, 0.5], [0.125, 0.0, 0.25]])
    readings = np.zeros((4, 3))
    readings[:, 0] = [0.1875, 0.1875, 0.1875, 0.125]
    assert (abs(((p + readings[:, :1] * [0, 0, 1] - truth[:3]) ** 2).sum(axis=1) - 0.3125**2) < 1e-12).all()
    poses = measured(model, np.random.default_rng(0), 4)
    poses = replace(poses, position=p, readings=readings)
    problem = certified_chain(model, poses, 1, Box.around(truth, 0.05), Tolerances(0.0, 0.0))
    assert truth in LiftedHull().estimate(problem).region
    alone = LiftedHull().estimate(problem.select([0]))
    assert truth in alone.region
    assert alone.status is Status.OK


def test_hostile_input(rng):
    model = RotaryDelta()
    poses = measured(model, rng, 10)
    truth = quadratic_unknowns(model, model.nominal, 1)
    with pytest.raises(InputError, match="no chain 4"):
        certified_chain(model, poses, 4, Box.around(truth, 0.1), TOLERANCES)
    with pytest.raises(InputError, match="10 unknowns"):
        certified_chain(model, poses, 1, Box.around(truth[:4], 0.1), TOLERANCES)
    with pytest.raises(InputError, match="negative"):
        certified_chain(model, poses, 1, Box.around(truth, 0.1), Tolerances(-1e-4, 0.0))
    with pytest.raises(InputError, match="is a length"):
        certified_chain(model, poses, 1, Box.around(truth, 5.0), TOLERANCES)
    with pytest.raises(InputError, match="certified_leg"):
        certified_chain(
            GoughPlatform.deltalab(),
            replace(poses, readings=np.zeros((10, 6))),
            1,
            Box.around(np.zeros(7), 1.0),
            TOLERANCES,
        )
    endless = Box(np.append(np.full(9, -np.inf), 0.0), np.full(10, np.inf))
    answer = LiftedHull().estimate(certified_chain(model, poses, 1, endless, TOLERANCES))
    assert answer.status is not Status.INCONSISTENT
    huge = Box(np.append(truth[:-1] - 1e6, 0.0), truth + 1e6)
    assert truth in LiftedHull(max_steps=3).estimate(certified_chain(model, poses, 1, huge, TOLERANCES)).region
