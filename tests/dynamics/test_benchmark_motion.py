"""The benchmark circle, and verdicts on models that are right, a little wrong, and wrong in one actuator."""

from dataclasses import replace

import numpy as np
import pytest

from gough import InputError, estimate
from gough.dynamics import Bias, all_parameters, benchmark, errors_in_variables
from gough.methods import MaximumLikelihood
from gough.robots import H4
from gough.simulate import PeriodicExperiment, benchmark_circle
from tests.dynamics.periodic_data import experiment

ROBOT = H4(variant="paper")


def circle(*, mirrored=False, seed=1, **noise):
    series = benchmark_circle(ROBOT.home, 0.08, rate=400.0, mirrored=mirrored)
    levels = {"positions": 1e-4, "efforts": 0.2, **noise}
    return PeriodicExperiment(ROBOT, series, 400.0, periods=6, **levels).run(np.random.default_rng(seed))


def judged(parameters, motion, **options):
    return benchmark(ROBOT, parameters, motion, order=2, slower_than=0.05, **options)


def test_the_circle_is_one_and_its_mirror_leans_the_other_way():
    one, other = (benchmark_circle(ROBOT.home, 0.08, rate=1000.0, mirrored=m).sample(1000.0) for m in (False, True))
    for motion in (one, other):
        away = motion.q - ROBOT.home
        assert np.linalg.norm(away, axis=1) == pytest.approx(0.08)
        assert np.linalg.norm(motion.dq, axis=1) == pytest.approx(1.0, rel=2e-3)
        normal = np.cross(away[0, :3], away[100, :3])
        assert abs(normal[2]) / np.linalg.norm(normal) == pytest.approx(np.cos(np.radians(30)))
    assert other.q * [1, 1, -1, 1] - one.q == pytest.approx(np.tile([0, 0, 0.86, 0], (len(one.q), 1)), abs=1e-3)
    with pytest.raises(InputError, match="x, y and z"):
        benchmark_circle([0.0, 1.0], 0.1, rate=100.0)
    with pytest.raises(InputError, match="raise the rate"):
        benchmark_circle(ROBOT.home, 0.01, rate=50.0)


def test_a_right_model_shows_no_error():
    """80 verdicts on the true model, 1 % of twenty motions may be called wrong."""
    seen = [b for seed in range(20) for b in judged(ROBOT.nominal, circle(seed=seed)).bias]
    assert seen.count(Bias.LARGE) == 0
    assert seen.count(Bias.INVISIBLE) >= len(seen) - 2


def test_an_identified_model_is_unbiased_on_circle_and_mirror():
    of = experiment(ROBOT, rate=200.0, efforts=0.2, positions=1e-4)
    problem = errors_in_variables(ROBOT, of.run(np.random.default_rng(1)), order=3)
    values, covariance = all_parameters(problem, estimate(problem, MaximumLikelihood()))
    for mirrored in (False, True):
        verdict = judged(values, circle(mirrored=mirrored), covariance=covariance)
        assert verdict.is_unbiased
        assert set(verdict.bias) == {Bias.INVISIBLE}


def test_a_missing_effect_is_small_or_large_against_the_noise():
    heavier = ROBOT.nominal * np.where(np.array(ROBOT.names) == "F_c2", 1.15, 1.0)
    small = judged(heavier, circle())
    assert small.bias[1] is Bias.SMALL
    assert small.is_unbiased
    large = judged(heavier, circle(efforts=0.02))
    assert large.bias == (Bias.INVISIBLE, Bias.LARGE, Bias.INVISIBLE, Bias.INVISIBLE)
    assert large.model_variance[1] == pytest.approx((0.15 * 1.095) ** 2, rel=0.05)
    assert "motor 2: biased" in str(large)
    assert "like friction" in large.verdicts[1]


def test_cogging_is_recognized():
    motion = circle(efforts=0.05)
    rippled = motion.efforts.copy()
    rippled[..., 2] += 0.3 * np.sin(80 * motion.q[..., 2])
    verdict = judged(ROBOT.nominal, replace(motion, efforts=rippled))
    assert verdict.bias[2] is Bias.LARGE
    assert "ripple of period 0.079" in verdict.verdicts[2]
    assert verdict.bias[0] is Bias.INVISIBLE


def test_uncertainty_of_the_path_is_not_an_error_of_the_model():
    verdict = judged(ROBOT.nominal, circle(positions=5e-3, efforts=0.02))
    assert set(verdict.bias) == {Bias.INVISIBLE}
    assert (verdict.expected_variance > 3 * 0.02**2 / 6).any()


def test_refusals():
    with pytest.raises(InputError, match="14 parameters, but 3"):
        judged(np.ones(3), circle())
    with pytest.raises(InputError, match="one repeat only"):
        judged(ROBOT.nominal, circle().select([0]))
