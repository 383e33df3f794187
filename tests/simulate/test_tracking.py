"""Laws of motion control on a double integrator, whose motion is known exactly."""

import numpy as np
import pytest

from gough import InputError
from gough.robots.model import JointMotion
from gough.simulate import LAWS, Loop, PredictiveLaw, Tuned, track

MASS = np.array([2.0, 0.5])


class Masses:
    """Two masses on a line each, and their model."""

    def __init__(self, q=(0.0, 0.0), dq=(0.0, 0.0)):
        self.q, self.dq = np.array(q, dtype=float), np.array(dq, dtype=float)
        self.received = []

    def read(self):
        return self.q.copy(), self.dq.copy()

    def advance(self, efforts, seconds):
        self.received.append(efforts)
        a = efforts / MASS
        self.q = self.q + seconds * self.dq + seconds**2 / 2 * a
        self.dq = self.dq + seconds * a

    def torque(self, q, dq, ddq, *, friction):
        return MASS * ddq

    def gravity(self, q):
        return np.zeros(2)

    def friction(self, q, dq):
        return np.zeros(2)

    def restart(self, q):
        pass


def swing(rate=1000.0, seconds=0.5):
    t = np.arange(round(seconds * rate))[:, None] / rate
    w = np.array([6.0, 9.0])
    return JointMotion(0.3 * (1 - np.cos(w * t)), 0.3 * w * np.sin(w * t), 0.3 * w**2 * np.cos(w * t))


def tuned(loop):
    return Tuned(Masses(), loop, MASS)


def run(law, loop, seed=0, reference=None):
    robot = Masses()
    tracked = track(robot, law, tuned(loop), swing(loop.rate) if reference is None else reference, rng(seed))
    return tracked, robot


def rng(seed):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("law", ["feedforward", "computed-torque", "predictive"])
def test_with_the_true_model_errors_are_those_of_sampling(law):
    errors = []
    for rate in (500.0, 1000.0, 2000.0):
        tracked, _ = run(law, Loop(rate=rate, velocity_cutoff=None))
        errors.append(abs(tracked.error[: round(0.4 * rate)]).max())  # the motion is taken to stop beyond its end
    assert errors[0] < 2e-3
    if law == "predictive":  # it previews the motion: its error is that of a line of accelerations over the horizon
        assert max(errors) < 2e-5
    else:
        assert errors[1] < 0.6 * errors[0]  # a held effort lags by half a period: of first order
        assert errors[2] < 0.6 * errors[1]


def test_the_predictive_law_follows_accelerations_that_are_lines_exactly():
    law, T = PredictiveLaw.tuned(Loop()), 1e-3
    v = np.linspace(1.0, -2.0, 300)  # held from sample to sample
    dq = np.concatenate([[0.0], np.cumsum(v * T)])
    q = np.concatenate([[0.0], np.cumsum(dq[:-1] * T + v * T**2 / 2)])
    reference = JointMotion(*(np.repeat(each[:, None], 2, axis=1) for each in (q, dq, np.append(v, v[-1]))))
    tracked, _ = run("predictive", Loop(velocity_cutoff=None), reference=reference)
    inside = slice(0, 300 - max(law.points))  # beyond its end the motion is taken to stop
    assert abs(tracked.error[inside]).max() < 1e-12


def test_efforts_never_exceed_the_limit_and_saturation_is_counted():
    limit = np.array([5.0, 1.25])
    tracked, robot = run("pd", Loop(limit=limit, effort_noise=0.5), seed=3)
    assert (abs(np.array(robot.received)) <= limit).all()
    assert (abs(tracked.efforts) == limit)[tracked.saturated].all()
    assert (abs(tracked.efforts) < limit)[~tracked.saturated].all()
    assert 0 < tracked.saturation <= 1


def test_a_delay_degrades_tracking():
    errors = [run("computed-torque", Loop(delay=delay, bandwidth=10.0))[0].rms_error.max() for delay in (0, 2, 5)]
    assert errors[0] < errors[1] < errors[2]


def test_the_same_seed_gives_the_same_motion():
    loop = Loop(position_noise=1e-5, effort_noise=0.01, resolution=1e-4)
    first, same, other = (run("pd", loop, seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(first.q, same.q)
    assert not np.array_equal(first.q, other.q)


def test_a_robot_that_no_longer_follows_is_reported():
    tracked, _ = run("pd", Loop(delay=40, bandwidth=25.0))
    assert tracked.lost_at is not None
    assert 0 < tracked.lost_at < 0.5
    assert np.isnan(tracked.q[-1]).all()
    assert np.isfinite(tracked.rms_error).all()


def test_encoder_steps_reach_the_law():
    fine, coarse = (run("pd", Loop(resolution=step))[0] for step in (0.0, 5e-3))
    assert not np.array_equal(fine.efforts, coarse.efforts)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="there is no controller 'computed_torque'; did you mean 'computed-torque'"):
        run("computed_torque", Loop())
    for options, words in (
        ({"rate": 0.0}, "rate must be"),
        ({"delay": -1}, "delay must be 0, 1, 2"),
        ({"limit": [5.0, -1.0]}, "limit must not be negative"),
        ({"effort_noise": np.inf}, "effort_noise must be finite"),
        ({"velocity_cutoff": 0.0}, "velocity_cutoff must be positive"),
    ):
        with pytest.raises(InputError, match=words):
            Loop(**options)
    with pytest.raises(InputError, match="there are 2 actuators, but 3 limits"):
        run("pd", Loop(limit=[1.0, 2.0, 3.0]))
    with pytest.raises(InputError, match="two different points"):
        PredictiveLaw(1e-3, (5,), 0.9)
    assert set(LAWS) == {"pd", "pd-gravity", "feedforward", "computed-torque", "predictive"}
