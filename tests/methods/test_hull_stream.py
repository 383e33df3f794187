"""A stream ends where the batch does, forgets without losing the truth, and survives a restart."""

import numpy as np
import pytest

from gough import Box, Claim, InputError, Status, Unknowns, estimate
from gough.methods import HullStream, LinearHull
from gough.methods.bounded.constraint_generation import Vertex
from tests.methods.test_linear_hull import dense_problem


def stream_of(problem, **options):
    stream = HullStream(problem.unknowns, **options)
    e = np.broadcast_to(problem.noise.radius, problem.y.shape)
    for rows in np.array_split(np.arange(problem.n_rows), 37):
        stream.update_many(problem.W[rows], problem.y[rows], e[rows])
    return stream


def test_equals_the_batch_hull_with_200_rows_remembered(rng):
    problem, theta = dense_problem(rng, 10_000, 6, prior=Box([-1e3] * 6, [1e3] * 6))
    stream = stream_of(problem, keep=200)
    answer, batch = stream.estimate(), estimate(problem, LinearHull())
    assert answer.claim is Claim.PROOF
    assert theta in answer.region
    assert (answer.region.width <= 1.01 * batch.region.width).all()
    assert stream.n_rows == 10_000
    assert stream.n_hulls < 25


def test_a_short_memory_widens_and_never_loses(rng):
    for _ in range(10):
        problem, theta = dense_problem(rng, 600, 3, prior=Box([-1e3] * 3, [1e3] * 3))
        answer = stream_of(problem, keep=6, block=20).estimate()
        assert theta in answer.region
        assert (answer.region.width >= estimate(problem, LinearHull()).region.width * (1 - 1e-6)).all()


def test_a_contradiction_is_found(rng):
    problem, _ = dense_problem(rng, 300, 3, prior=Box([-1e3] * 3, [1e3] * 3))
    stream = stream_of(problem)
    stream.update(problem.W[0], problem.y[0] + 5.0, 0.1)
    answer = stream.estimate()
    assert answer.status is Status.INCONSISTENT
    assert answer.region.is_empty


def test_restored_state_goes_on_bit_for_bit(rng, tmp_path):
    problem, _ = dense_problem(rng, 1000, 3, prior=Box([-1e3] * 3, [1e3] * 3))
    first = problem.select(np.arange(500))
    stream = stream_of(first)
    stream.save(tmp_path / "state.json")
    again = HullStream.load(tmp_path / "state.json")
    for other in (stream, again):
        other.update_many(problem.W[500:], problem.y[500:], 0.1)
    assert stream.estimate() == again.estimate()
    with pytest.raises(InputError, match="exists"):
        stream.save(tmp_path / "state.json")


def test_damaged_states_are_refused(rng, tmp_path):
    problem, _ = dense_problem(rng, 100, 2, prior=Box([-9] * 2, [9] * 2))
    path = tmp_path / "state.json"
    stream_of(problem).save(path)
    text = path.read_text()
    for damaged in (text[:-30], text.replace('"n_rows": 100', '"n_rows": 101'), text.replace("hull", "bull", 1), "[]"):
        path.write_text(damaged)
        with pytest.raises(InputError, match="no saved 'gough hull stream 1'"):
            HullStream.load(path)
    with pytest.raises(InputError, match="cannot be read"):
        HullStream.load(tmp_path / "none.json")


def test_bad_rows_are_refused_whole():
    stream = HullStream(Unknowns(["a", "b"]))
    with pytest.raises(InputError, match="row 1 has NaN"):
        stream.update_many([[1, 2], [np.nan, 1]], [1, 2], 0.1)
    with pytest.raises(InputError, match="negative"):
        stream.update([1, 2], 1, -0.1)
    with pytest.raises(InputError, match="must be"):
        stream.update([1, 2, 3], 1, 0.1)
    assert stream.n_rows == 0
    with pytest.raises(InputError, match="remembered rows"):
        HullStream(Unknowns(["a", "b"]), keep=3)


def test_a_contradiction_that_cannot_be_proven_loses_nothing(rng, monkeypatch):
    """The linear programs see one and no proof is found: the box stays, and the stream goes on."""
    from gough.methods.bounded import linear_hull

    problem, theta = dense_problem(rng, 60, 3, prior=Box([-1e3] * 3, [1e3] * 3))
    stream = HullStream(problem.unknowns, keep=20, block=10)
    stream.update_many(problem.W[:20], problem.y[:20], 0.1)
    before = stream.estimate().region
    nothing = linear_hull.Extremes((), Vertex(theta, np.arange(3), np.zeros(3)), np.arange(20))
    with monkeypatch.context() as spoilt:
        spoilt.setattr(linear_hull, "extremes", lambda *_: nothing)
        stream.update_many(problem.W[20:40], problem.y[20:40], 0.1)
        stream.update_many(problem.W[20:40], problem.y[20:40], 0.1)
        assert stream.estimate().region == before
    stream.update_many(problem.W[40:], problem.y[40:], 0.1)
    answer = stream.estimate()
    assert theta in answer.region
    assert answer.region <= before
