"""Residuals of data that a fit has not seen, against fits by numpy."""

import numpy as np
import pytest

from gough import LinearProblem, Unknowns
from gough.identification.held_out import Rows, gain, residuals
from gough.problem import Groups


@pytest.fixture
def problem(rng):
    position = np.sort(rng.choice(4000, size=3000, replace=False))
    W = rng.normal(size=(3000, 3)) * [1.0, 100.0, 0.01]
    y = W @ [1.0, -0.02, 30.0] + rng.normal(size=3000)
    return LinearProblem(W, y, Unknowns(["a", "b", "c"]), groups=Groups(("one", "two"), position))


def test_blocks_are_contiguous_even_and_split_no_sample(problem):
    rows = Rows.of(problem, np.ones(2))
    assert (np.diff(rows.block) >= 0).all()
    sample = problem.groups.position // 2
    for value in np.unique(sample):
        assert len(np.unique(rows.block[sample == value])) == 1
    counts = np.bincount(rows.block)
    assert len(counts) == 10
    assert counts.max() < 1.2 * counts.min()


def test_each_block_is_predicted_from_the_others(problem):
    scale = np.array([0.5, 2.0])
    rows = Rows.of(problem, scale)
    unseen, seen = residuals(rows, None)
    weight = 1 / scale[problem.groups.of_row(problem.n_rows)]
    W, y = problem.W * weight[:, None], problem.y * weight
    for b in range(10):
        others, here = rows.block != b, rows.block == b
        theta = np.linalg.lstsq(W[others], y[others], rcond=None)[0]
        assert unseen[here] == pytest.approx(y[here] - W[here] @ theta, rel=1e-9, abs=1e-9)
    theta = np.linalg.lstsq(W, y, rcond=None)[0]
    assert seen == pytest.approx(y - W @ theta, rel=1e-9, abs=1e-9)


def test_columns_that_say_the_same_do_no_harm(problem):
    scale = np.ones(2)
    rows = Rows.of(problem, scale)
    twice = Rows(np.hstack([rows.W, rows.W[:, :1]]), rows.y, rows.group, rows.block)
    assert residuals(twice, None)[0] == pytest.approx(residuals(rows, None)[0], rel=1e-8, abs=1e-8)


def test_the_error_of_a_gain_is_what_repetition_shows(rng):
    """Two models whose residuals share their noise, 10 blocks; the gain's scatter over 2000 repetitions."""
    gains, errors = [], []
    for _ in range(2000):
        noise = rng.normal(size=(10, 40))
        effect = rng.normal(size=(10, 40))
        before, after = ((noise + 0.5 * effect) ** 2).sum(axis=1), (noise**2).sum(axis=1)
        part, error = gain(before, after)
        gains.append(part)
        errors.append(error)
    assert np.mean(gains) == pytest.approx(0.2, abs=0.01)
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(gains), rel=0.1)


def test_nothing_gained_of_nothing():
    assert gain(np.zeros(3), np.zeros(3)) == (0.0, np.inf)
