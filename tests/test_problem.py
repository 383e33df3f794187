"""Unknowns, noise and problems: what is refused at the door, and what selecting rows means."""

import itertools

import numpy as np
import pytest

from gough import (
    Bounded,
    Box,
    ConfidenceEllipsoid,
    Gaussian,
    Groups,
    InputError,
    LinearProblem,
    NonlinearProblem,
    Unknowns,
)

AB = Unknowns(["a", "b"])
W, Y = np.arange(8.0).reshape(4, 2), np.arange(4.0)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"names": "ab"}, "not one string"),
        ({"names": ["a", "a"]}, "'a' stands more than once"),
        ({"names": ["a", " "]}, "non-empty"),
        ({"names": ["a"], "units": ["kg", "m"]}, "2 units"),
        ({"names": ["a"], "nominal": [1, 2]}, "2 nominal"),
        ({"names": ["a"], "nominal": [np.nan]}, "finite"),
        ({"names": ["a"], "prior": Box([0, 0], [1, 1])}, "2 axes"),
        ({"names": ["a"], "prior": Box.empty(1)}, "empty"),
        ({"names": ["a"], "prior": (0, 1)}, "Box"),
    ],
)
def test_bad_unknowns_are_refused(arguments, why):
    with pytest.raises(InputError, match=why):
        Unknowns(**arguments)


@pytest.mark.parametrize("position", [[0, 2, 1, 3], [-1, 0], [0, 0], []])
def test_row_positions_rise(position):
    with pytest.raises(InputError, match="rise"):
        Groups(("x",), np.array(position, dtype=int))


def test_unknowns_select_keeps_everything():
    prior = ConfidenceEllipsoid([1, 2, 3], np.diag([1.0, 4.0, 9.0]))
    unknowns = Unknowns(["a", "b", "c"], ["kg", "m", "s"], [1, 2, 3], prior)
    some = unknowns.select(["c", "a"])
    assert some == Unknowns(["c", "a"], ["s", "kg"], [3, 1], ConfidenceEllipsoid([3, 1], np.diag([9.0, 1.0])))
    assert unknowns.bounds == Box.unbounded(3)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((W[:, :1], Y), "column per unknown"),
        ((W, Y[:3]), "row per entry"),
        ((np.ones((4, 0)), Y, Unknowns([])), "at least one unknown"),
        ((W[:0], Y[:0]), "at least one row"),
        ((np.where(W == 5, np.nan, W), Y), "row 2, column 'b'"),
        ((W, np.where(Y == 3, np.inf, Y)), "inf in row 3"),
        ((W, Y, AB, Gaussian([1.0, 2.0])), "4 rows need as many variances"),
        ((W, Y, AB, Gaussian(np.eye(3))), "3|multiple"),
        ((W, Y, AB, Bounded([1.0])), "as many error bounds"),
        ((W, Y, AB, Bounded(1.0, np.ones((3, 2)))), "shape of W"),
        ((W, Y, AB, 0.1), "gough.Gaussian or gough.Bounded"),
        ((W, Y, ["a", "b"]), "gough.Unknowns"),
        ((W, Y, AB, Gaussian(), ("x", "y", "z")), "multiple of 3"),
        ((W, Y, AB, Gaussian(), ("x", "x")), "differ"),
        ((W, Y, AB, Gaussian(), Groups(("x",), np.array([0, 2]))), "place 2 rows"),
        ((W, Y, AB, Gaussian(np.ones((1, 2, 2)) + np.eye(2)), ("x", "y")), r"\(2, 2, 2\)"),
    ],
)
def test_bad_problems_are_refused(arguments, why):
    arguments = (*arguments, AB)[:3] if len(arguments) == 2 else arguments
    with pytest.raises(InputError, match=why):
        LinearProblem(*arguments)


@pytest.mark.parametrize(
    ("covariance", "why"),
    [
        (0.0, "positive"),
        ([1.0, -1.0], "positive"),
        (np.nan, "NaN"),
        ([[1, 0], [1, 1]], "symmetric"),
        ([[1, 2], [2, 1]], "definite"),
        (np.ones((2, 3)), "square"),
    ],
)
def test_bad_covariances_are_refused(covariance, why):
    with pytest.raises(InputError, match=why):
        Gaussian(covariance)


@pytest.mark.parametrize(
    ("radius", "why"), [(-1.0, "radius = -1"), ([0.0, np.nan], r"radius\[1\] = nan"), (np.inf, "inf")]
)
def test_bad_bounds_are_refused(radius, why):
    with pytest.raises(InputError, match=why):
        Bounded(radius)


def test_a_block_covariance_names_its_rows():
    problem = LinearProblem(W, Y, AB, Gaussian(np.eye(2)))
    assert problem.groups.names == ("row 1 of 2", "row 2 of 2")
    assert problem.groups.of_row(4).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    "noise",
    [
        Gaussian(),
        Gaussian(2.0),
        Gaussian([1.0, 2.0, 3.0, 4.0]),
        Gaussian(np.diag([1.0, 2.0])),
        Gaussian(np.array([np.diag([1.0, 2.0]), np.diag([3.0, 4.0])])),
        Gaussian(np.diag([1.0, 2.0, 3.0, 4.0])),
        Bounded([1.0, 2.0, 3.0, 4.0], np.arange(8.0).reshape(4, 2)),
    ],
    ids=lambda n: f"{type(n).__name__}-{getattr(n, 'covariance', getattr(n, 'radius', None)) is not None}",
)
def test_selecting_rows_selects_their_noise(noise):
    problem = LinearProblem(W, Y, AB, noise, groups=("x", "y"))
    part = problem.select([False, True, True, True])
    assert part.n_rows == 3
    assert part.groups.position.tolist() == [1, 2, 3]
    assert part.groups.of_row(3).tolist() == [1, 0, 1]
    again = part.select([1, 2])
    assert again.groups.position.tolist() == [2, 3]
    if isinstance(noise, Bounded):
        assert again.noise == Bounded([3.0, 4.0], W[2:])
    elif noise.covariance is not None and noise.covariance.ndim == 1:
        assert again.noise == Gaussian([3.0, 4.0])


def test_selecting_nothing_is_refused():
    with pytest.raises(InputError, match="no row is left"):
        LinearProblem(W, Y, AB).select(np.zeros(4, dtype=bool))
    with pytest.raises(InputError, match="one entry per row"):
        LinearProblem(W, Y, AB).select([True, False])


@pytest.mark.parametrize("size", [1, 3, 7, 50])
def test_blocks_split_no_sample_where_rows_are_masked(size):
    rng = np.random.default_rng(size)
    whole = LinearProblem(np.ones((300, 1)), np.arange(300.0), Unknowns(["a"]), groups=("x", "y", "z"))
    problem = whole.select(rng.random(300) < 0.6)
    slices = list(problem.blocks(size=size))
    assert [s.start for s in slices] == [0, *(s.stop for s in slices[:-1])]
    assert slices[-1].stop == problem.n_rows
    samples = [problem.groups.positions(s) // 3 for s in slices]
    assert all(len(s) > 0 for s in samples)
    assert all(a[-1] < b[0] for a, b in itertools.pairwise(samples))


def test_blocks_cover_all_rows_and_split_no_sample():
    problem = LinearProblem(np.ones((12, 2)), np.ones(12), AB, groups=("x", "y", "z"))
    slices = list(problem.blocks(size=7))
    assert [s.start for s in slices] == [0, 6]
    assert slices[-1].stop == 12


def test_a_memory_map_is_not_copied(tmp_path):
    np.save(tmp_path / "W.npy", W)
    mapped = np.load(tmp_path / "W.npy", mmap_mode="r")
    problem = LinearProblem(mapped, Y, AB)
    assert np.shares_memory(problem.W, mapped)


class Circle:
    """x² + y² = r² with x and y measured."""

    def residuals(self, theta, measured):
        return (measured**2).sum(axis=1, keepdims=True) - theta[0] ** 2

    def jacobians(self, theta, measured):
        return np.full((len(measured), 1, 1), -2 * theta[0]), 2 * measured[:, None, :]


def test_linearize_pushes_the_noise_through():
    points = np.array([[3.0, 4.0], [5.0, 0.0]])
    problem = NonlinearProblem(Circle(), points, Unknowns(["r"]), Gaussian(0.01))
    tangent = problem.linearize([5.0])
    assert tangent.noise.covariance[:, 0, 0] == pytest.approx([4 * 25 * 0.01] * 2)
    assert tangent.residuals([5.0]) == pytest.approx([0, 0])
    assert tangent.W == pytest.approx(np.full((2, 1), -10.0))


def test_nonlinear_problems_refuse_nan():
    with pytest.raises(InputError, match="sample 1, column 0"):
        NonlinearProblem(Circle(), [[1, 2], [np.nan, 2]], Unknowns(["r"]), Gaussian(1.0))
