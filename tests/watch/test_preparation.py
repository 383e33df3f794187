"""Rows of a stream against the preparation of whole recordings, and whatever the pieces are."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.robots import H4, FiveBar
from gough.robots.following import FollowedRegressor
from gough.watch.clock import Break, Grid
from gough.watch.example import SimulatedStream
from gough.watch.filters import LinearPhase
from gough.watch.preparation import Preparation, PreparationOptions
from gough.watch.rows import Rows, Samples


def rows_of(stream: SimulatedStream, pieces: list[int], *, noise: bool = True) -> list[Rows]:
    times, values = stream.samples(0, sum(pieces), np.random.default_rng(3))
    n, names = len(stream.center), stream.robot.names
    if not noise:
        values[:, n:] = (stream.regressor @ stream.parameters)[: len(times)]
    prepared = Preparation(PreparationOptions(stream.rate), FollowedRegressor(stream.robot, names), n, len(names))
    result, at = [], 0
    for count in pieces:
        lost = np.zeros(count, dtype=bool)
        result.append(
            prepared.take(
                Samples(at, times[at : at + count], values[at : at + count, :n], values[at : at + count, n:], lost)
            )
        )
        at += count
    return result


def test_rows_of_an_exact_stream_have_the_true_parameters():
    stream = SimulatedStream(noise=0.0)
    (rows,) = rows_of(stream, [3000], noise=False)
    rest = rows.y - rows.W @ stream.parameters
    assert len(rows) > 200
    assert np.abs(rest[rows.kept]).max() < 1e-4  # what central differences at 1 kHz and the low-pass of positions cost


def test_pieces_do_not_matter():
    stream = SimulatedStream()
    (whole,) = rows_of(stream, [2000])
    parts = rows_of(stream, [1, 7, 400, 3, 1089, 500])
    for name in ("samples", "times", "y", "W", "kept", "q", "dq", "ddq"):
        together = np.concatenate([getattr(part, name) for part in parts])
        assert np.allclose(together, getattr(whole, name), rtol=1e-12, atol=1e-12), name


def test_a_row_belongs_to_the_instant_that_the_delay_states():
    stream = SimulatedStream()
    parts = rows_of(stream, [10] * 120)
    arrived = 0
    for part in parts:
        arrived += 10
        for sample in part.samples:
            late = (arrived - 1 - sample) / stream.rate
            assert 0.221 <= late < 0.221 + 2 * 10 / stream.rate


def test_a_restored_preparation_goes_on():
    stream, names = SimulatedStream(), FiveBar.demo().names
    times, values = stream.samples(0, 2000, np.random.default_rng(3))

    def part(a, b):
        return Samples(a, times[a:b], values[a:b, :2], values[a:b, 2:], np.zeros(b - a, dtype=bool))

    def new():
        regressor = FollowedRegressor(stream.robot, names)
        return Preparation(PreparationOptions(1000.0), regressor, 2, len(names))

    one, other = new(), new()
    one.take(part(0, 1003))
    other.restore(one.state())
    first, second = one.take(part(1003, 2000)), other.take(part(1003, 2000))
    assert np.array_equal(first.samples, second.samples)
    assert np.allclose(first.W, second.W, rtol=1e-12, atol=1e-12)
    assert np.array_equal(first.y, second.y)


def test_the_followed_regressor_is_that_of_the_robot():
    robot = H4()
    names = ("M_nac", "F_c2", "I_mot1")
    followed = FollowedRegressor(robot, names)
    t = np.arange(300) / 1000
    q = robot.inverse(np.asarray(robot.home)) + 0.2 * np.sin(9 * t[:, None] + np.arange(4))
    dq, ddq = np.gradient(q, 1e-3, axis=0), np.ones_like(q)
    expected = robot.regressor(q, dq, ddq)[:, :, [robot.names.index(name) for name in names]]
    found = np.concatenate([followed(q[k : k + 30], dq[k : k + 30], ddq[k : k + 30]) for k in range(0, 300, 30)])
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-9)
    far = followed(np.stack([q[0], q[1] + [3.0, -3.0, 3.0, -3.0]]), dq[:2], ddq[:2])
    assert np.isfinite(far[0]).all()
    assert np.isnan(far[1]).all()


def test_a_cutoff_needs_enough_samples():
    with pytest.raises(InputError, match="needs more than 40 samples a second"):
        LinearPhase(20.0, 4, rate=30.0)


def test_lost_samples_are_interpolated_or_break_the_stream():
    grid = Grid(1000.0, 1)
    times = np.array([0, 1, 2, 5, 6, 20, 21, 21, 22, 3]) / 1000
    parts = list(grid.take(times, np.column_stack([times, times])))
    breaks = [part for part in parts if isinstance(part, Break)]
    assert [round(part.seconds, 6) for part in breaks] == [0.013, -0.02]
    flags = np.concatenate([part.bridged for part in parts if isinstance(part, Samples)])
    assert grid.n_samples == len(flags) == 11
    assert flags.sum() == grid.n_bridged == 2
    assert grid.n_repeated == 1
    filled = np.concatenate([part.q[:, 0] for part in parts if isinstance(part, Samples)])[:6]
    assert np.allclose(filled, np.arange(6) / 1000)


def test_jitter_and_a_slow_clock_stay_on_the_grid():
    rng = np.random.default_rng(0)
    times = np.arange(20_000) / 1000 * (1 + 2e-5) + 1e-4 * rng.normal(size=20_000)
    grid = Grid(1000.0, 1)
    parts = list(grid.take(times, np.zeros((len(times), 2))))
    assert not any(isinstance(part, Break) for part in parts)
    assert grid.n_samples == len(times)
