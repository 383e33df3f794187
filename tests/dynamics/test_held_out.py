"""Residuals of data that a fit has not seen, against fits by numpy."""

import numpy as np
import pytest

from gough import LinearProblem, Unknowns
from gough.dynamics.held_out import BlockedRows, gain, residuals
from gough.problem import Groups


@pytest.fixture
def problem(rng):
    position = np.sort(rng.choice(4000, size=3000, replace=False))
    W = rng.normal(size=(3000, 3)) * [1.0, 100.0, 0.01]
    y = W @ [1.0, -0.02, 30.0] + rng.normal(size=3000)
    return LinearProblem(W, y, Unknowns(["a", "b", "c"]), groups=Groups(("one", "two"), position))


def test_blocks_are_contiguous_even_and_split_no_sample(problem):
    rows = BlockedRows.of(problem, np.ones(2))
    assert (np.diff(rows.block) >= 0).all()
    sample = problem.groups.position // 2
    for value in np.unique(sample):
        assert len(np.unique(rows.block[sample == value])) == 1
    counts = np.bincount(rows.block)
    assert len(counts) == 10
    assert counts.max() < 1.2 * counts.min()


def test_each_block_is_predicted_from_the_others(problem):
    scale = np.array([0.5, 2.0])
    rows = BlockedRows.of(problem, scale)
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
    rows = BlockedRows.of(problem, scale)
    twice = BlockedRows(np.hstack([rows.W, rows.W[:, :1]]), rows.y, rows.group, rows.block)
    assert residuals(twice, None)[0] == pytest.approx(residuals(rows, None)[0], rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(("shown", "most"), [(10, 1.3), (5, 1.4), (1, 10.0)])
def test_the_error_of_a_gain_is_what_repetition_shows(rng, shown, most):
    """An effect that only some of 10 blocks show, noise that remembers; the gain's scatter over 2000 repetitions."""
    block = np.repeat(np.arange(10), 100)
    effect = np.where(block < shown, 0.2, 0.01) * rng.normal(size=1000)
    gains, errors = [], []
    for _ in range(2000):
        noise = np.convolve(rng.normal(size=1003), [0.5] * 4, mode="valid")
        part, error = gain(noise + effect, noise, block)
        assert part == pytest.approx(1 - (noise**2).sum() / ((noise + effect) ** 2).sum())
        gains.append(part)
        errors.append(error)
    assert np.mean(gains) == pytest.approx((effect**2).sum() / (1000 + (effect**2).sum()), rel=0.1)
    ratio = np.sqrt(np.mean(np.square(errors))) / np.std(gains)
    assert 0.9 < ratio < most  # conservative where few blocks tell


def test_a_model_that_only_fits_noise_gains_nothing_for_certain(rng):
    """Ten useless columns, each block predicted from the others: a gain of three errors must be rare."""
    sure = 0
    for _ in range(200):
        W = rng.normal(size=(500, 11))
        y = W[:, 0] + rng.normal(size=500)
        unknowns = [Unknowns([f"θ{i}" for i in range(p)]) for p in (1, 11)]
        small, large = (
            residuals(BlockedRows.of(LinearProblem(W[:, : len(u)], y, u), np.ones(1)), None)[0] for u in unknowns
        )
        part, error = gain(small, large, np.arange(500) // 50)
        sure += part > 3 * error
    assert sure <= 2


def test_nothing_gained_of_nothing():
    assert gain(np.zeros(4), np.zeros(4), np.array([0, 0, 1, 1]))[0] == 0
