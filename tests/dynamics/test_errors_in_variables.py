"""Maximum likelihood over parameters and path: derivatives, structure, rivals, order, and refusals."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize

from gough import Box, Claim, InputError, Status, estimate
from gough.dynamics import base_values, by_repeat, errors_in_variables, on_fitted_path, reduced, series_order
from gough.methods import (
    GaussMarkov,
    GaussNewton,
    InstrumentalVariables,
    LeastSquares,
    MaximumLikelihood,
    TotalLeastSquares,
    cramer_rao_bound,
    identifiability,
)
from gough.methods.nonlinear.normal_equations import inverse_roots
from gough.robots import FiveBar, Palida
from gough.robots.mechanism import MechanismModel
from gough.simulate import FourierSeries, PeriodicExperiment, white
from tests.dynamics.periodic_data import ROBOTS, correlated, experiment

every_robot = pytest.mark.parametrize("name", ROBOTS)


@pytest.fixture(scope="module", params=ROBOTS)
def case(request):
    """An experiment, its recording and its problem."""
    of = experiment(ROBOTS[request.param])
    motion = of.run(np.random.default_rng(2))
    return of, motion, errors_in_variables(of.robot, motion, order=3)


def truth_of(of, motion):
    linear = on_fitted_path(of.robot, motion, order=3)
    return base_values(identifiability(linear), of.truth)


def test_derivatives_are_those_of_finite_differences(case):
    _, _, problem = case
    theta, f = problem.unknowns.nominal, problem.equations
    J, by_measured = f.jacobians(theta, problem.measured)
    assert (by_measured == np.eye(J.shape[1])).all()
    kept = np.ones(J.shape[:2], dtype=bool) if problem.kept is None else problem.kept
    for i in range(len(theta)):
        h = np.zeros(len(theta))
        h[i] = 1e-6 * max(abs(theta[i]), 0.01)
        moved = [f.residuals(theta + s * h, problem.measured) for s in (1, -1)]
        difference = (moved[0] - moved[1]) / (2 * h[i])
        scale = abs(J[:, :, i]).max()
        assert abs(difference - J[:, :, i])[kept].max() <= 1e-6 * scale, problem.unknowns.names[i]


def test_normal_equations_are_those_of_the_jacobian(case):
    _, _, problem = case
    theta, f = problem.unknowns.nominal * 1.001, problem.equations
    roots, _ = inverse_roots(problem.noise.covariance, len(problem.measured), problem.kept)
    J = roots @ -f.jacobians(theta, problem.measured)[0]
    u = (roots @ f.residuals(theta, problem.measured)[..., None]).reshape(-1)
    J = J.reshape(len(u), -1)
    normal = f.normal(theta, problem.measured, roots)
    squares, gradient = f.gradient(theta, problem.measured, roots)
    scale = np.linalg.norm(J, axis=0)
    assert squares == normal.squares == pytest.approx(u @ u)
    for found in (gradient, normal.gradient):
        assert found / scale == pytest.approx(J.T @ u / scale, abs=1e-9 * np.linalg.norm(u))
    assert normal.information / np.outer(scale, scale) == pytest.approx(J.T @ J / np.outer(scale, scale), abs=1e-11)


def test_normal_equations_do_not_depend_on_what_was_asked_before(case):
    """The path of the last call is kept; other parameters on it, and other paths, give the bits of fresh equations."""
    _, _, problem = case
    f, nominal = problem.equations, problem.unknowns.nominal
    roots, _ = inverse_roots(problem.noise.covariance, len(problem.measured), problem.kept)
    other_parameters, other_path = nominal.copy(), nominal.copy()
    other_parameters[: f.n_linear] *= 1.01
    other_path[f.n_linear :] *= 1.001
    for theta in (nominal, other_parameters, other_path, nominal):
        fresh = replace(f)
        for name in ("linear_normal", "normal", "gradient"):
            kept, anew = (getattr(each, name)(theta, problem.measured, roots) for each in (f, fresh))
            for a, b in zip(kept, anew, strict=True):
                np.testing.assert_array_equal(a, b)


def test_equals_what_general_methods_make_of_the_same_problem(case):
    """Gauss–Newton with a dense Jacobian, and another's optimizer with finite differences."""
    _, _, problem = case
    ours = estimate(problem, MaximumLikelihood())
    dense = estimate(problem, GaussNewton(GaussMarkov()))
    assert abs(ours.value - dense.value) == pytest.approx(0, abs=1e-6 * ours.region.sigma.min())
    roots, _ = inverse_roots(problem.noise.covariance, len(problem.measured), problem.kept)
    scale = np.sqrt(np.diag(problem.equations.normal(problem.unknowns.nominal, problem.measured, roots).information))

    def whitened(z):
        return (roots @ problem.equations.residuals(z / scale, problem.measured)[..., None]).ravel()

    theirs = scipy.optimize.least_squares(whitened, problem.unknowns.nominal * scale, xtol=1e-12, ftol=1e-12)
    assert ours.stats.chi_squared * ours.stats.dof <= 2 * theirs.cost * (1 + 1e-6)
    away = theirs.x[: len(ours.value)] / scale[: len(ours.value)] - ours.value
    assert abs(away / ours.region.sigma).max() < 1e-2  # forward differences


def test_finds_the_truth_within_its_sigma(case):
    of, motion, problem = case
    answer = estimate(problem, MaximumLikelihood())
    assert answer.claim is Claim.CONFIDENCE
    assert answer.status is Status.OK
    assert (abs(answer.value - truth_of(of, motion)) < 4.5 * answer.region.sigma).all()
    assert answer.stats.chi_squared == pytest.approx(1.0, abs=0.15)
    path = problem.equations.harmonics.path(answer.stats.nuisance.reshape(-1, 7))
    exact = of.motion()
    assert path.x == pytest.approx(exact.q, abs=2e-3)
    assert abs(path.ddx - exact.ddq).max() < 0.05 * abs(exact.ddq).max()


def test_the_last_steps_end_where_more_of_them_lead(case):
    _, _, problem = case
    answer, further = (estimate(problem, MaximumLikelihood(rtol=rtol)) for rtol in (1e-6, 1e-11))
    assert abs((answer.value - further.value) / further.region.sigma).max() < 1e-7
    assert answer.region.sigma == pytest.approx(further.region.sigma, rel=1e-3)
    assert answer.stats.chi_squared == pytest.approx(further.stats.chi_squared, rel=1e-9)


def test_unbiased_and_efficient_where_differentiation_is_biased():
    """Repeated experiments: least squares far off, maximum likelihood within chance, its σ the Cramér–Rao bound."""
    of = experiment(ROBOTS["h4"], positions=3e-3, rate=60.0, periods=4)
    motion = of.run(np.random.default_rng(0))
    exact = errors_in_variables(of.robot, motion, order=3)
    bound = np.sqrt(cramer_rao_bound(exact, exact.unknowns.nominal).diagonal())
    errors = {"ML": [], "LS": []}
    inside = []
    for seed in range(40):
        motion = of.run(np.random.default_rng(seed))
        answer = estimate(errors_in_variables(of.robot, motion, order=3), MaximumLikelihood())
        inside.append(of.truth in answer.region)
        errors["ML"].append(answer.value - of.truth)
        if seed < 8:
            usual = estimate(by_repeat(of.robot, motion, order=15).problem, LeastSquares())
            errors["LS"].append(usual.value - of.truth)
    sd = np.std(errors["ML"], axis=0)
    bias = {name: abs(np.mean(own, axis=0) / sd).max() for name, own in errors.items()}
    assert bias["ML"] < 0.6  # chance gives 0.16, the worst of 14 up to 0.45
    assert bias["LS"] > 5
    assert sd == pytest.approx(bound, rel=0.35)
    assert np.sqrt(np.mean((sd / bound) ** 2)) == pytest.approx(1.0, abs=0.1)
    assert np.mean(inside) >= 0.85


def test_rivals_against_noisy_regressors():
    """In units of the σ that instrumental variables print, which is true."""
    of = experiment(ROBOTS["h4"], positions=3e-3, periods=8)
    rows = by_repeat(of.robot, of.run(np.random.default_rng(5)), order=20)
    methods = (InstrumentalVariables(rows.instruments), TotalLeastSquares(rows.covariance), LeastSquares())
    instrumental, total, usual = (estimate(rows.problem, method) for method in methods)
    sigma = instrumental.region.sigma
    assert abs((instrumental.value - of.truth) / sigma).max() < 4
    assert abs((total.value - of.truth) / sigma).max() < 4
    assert abs((usual.value - of.truth) / sigma).max() > 6


def test_hexapod_in_its_base_parameters():
    """PaLiDA: 24 combinations of 33 parameters, all near the truth; the gradient is that of finite differences."""
    robot = MechanismModel(Palida().mechanism)
    series = FourierSeries.random(
        np.random.default_rng(3), offset=robot.home, amplitude=[0.15, 0.15, 0.12, 0.4, 0.4, 0.4], frequency=0.5
    )
    noise = [white(correlated(6, size, seed)) for seed, size in ((1, 1e-4), (2, 10.0))]
    of = PeriodicExperiment(robot, series, 50.0, 6, *noise)
    motion = of.run(np.random.default_rng(1))
    problem = errors_in_variables(robot, motion, order=5)
    answer = estimate(problem, MaximumLikelihood())
    truth = base_values(identifiability(on_fitted_path(robot, motion, order=5)), of.truth)
    assert len(answer.unknowns) == 24
    assert (abs(answer.value - truth) < 4.5 * answer.region.sigma).all()
    assert answer.stats.chi_squared == pytest.approx(1.0, abs=0.15)
    roots, _ = inverse_roots(problem.noise.covariance, len(problem.measured), problem.kept)
    theta = problem.unknowns.nominal
    direction = np.random.default_rng(1).normal(size=len(theta)) * 1e-7 * np.maximum(abs(theta), 1e-3)
    sides = [problem.equations.gradient(theta + s * direction, problem.measured, roots)[0] for s in (1, -1)]
    _, gradient = problem.equations.gradient(theta, problem.measured, roots)
    assert (sides[1] - sides[0]) / 4 == pytest.approx(gradient @ direction, rel=1e-4)


def test_gauss_markov_on_the_fitted_path_is_nearly_as_good_at_low_noise(case):
    of, motion, problem = case
    linear = on_fitted_path(of.robot, motion, order=3)
    found = identifiability(linear)
    cheap = estimate(linear if found.is_full_rank else reduced(linear, found), GaussMarkov())
    ours = estimate(problem, MaximumLikelihood())
    assert (abs(cheap.value - ours.value) < 1.0 * ours.region.sigma).all()


def test_order_is_found_and_too_few_harmonics_are_refuted():
    of = experiment(ROBOTS["five-bar"], order=4)
    choice = series_order(of.robot, of.run(np.random.default_rng(3)), orders=[2, 3, 4, 5, 6])
    assert choice.order == 4
    assert not choice.is_refuted
    assert choice.estimates[3].stats.chi_squared > 2
    assert choice.estimates[6].stats.chi_squared == pytest.approx(1.0, abs=0.1)
    assert "4, chosen" in str(choice)
    assert choice.problem is choice.problems[4]
    assert len({problem.kept is None for problem in choice.problems.values()}) == 1


def test_a_wrong_model_is_refuted_at_every_order():
    of = experiment(ROBOTS["five-bar"], positions=1e-4, efforts=0.02)
    motion = of.run(np.random.default_rng(3))
    rippled = replace(motion, efforts=motion.efforts + 0.1 * np.sin(12 * motion.q))
    choice = series_order(of.robot, rippled, orders=[3, 4])
    assert choice.is_refuted
    assert "χ² refutes every order" in choice.reason
    assert any("refuted" in note for note in choice.estimate.notes)


def test_lost_readings_slow_rows_and_fixed_parameters():
    of = experiment(ROBOTS["h4"])
    motion = of.run(np.random.default_rng(4))
    q = motion.q.copy()
    q[np.random.default_rng(1).random(q.shape[:2]) < 0.1] = np.nan
    q[:, 17] = np.nan
    mass, inertia = of.robot.names.index("M_nac"), of.robot.names.index("I_bc")
    lower, upper = np.full(14, -np.inf), np.full(14, np.inf)
    lower[mass] = upper[mass] = of.truth[mass]
    problem = errors_in_variables(
        of.robot, replace(motion, q=q), order=3, slower_than=0.1, prior=Box(lower, upper), independent=False
    )
    assert not problem.kept[17].any()
    answer = estimate(problem, MaximumLikelihood())
    assert "M_nac" not in answer.unknowns.names
    rest = np.delete(of.truth, mass)
    assert (abs(answer.value - rest) < 4.5 * answer.region.sigma).all()
    assert answer.stats.chi_squared == pytest.approx(1.0, abs=0.2)
    assert answer.stats.n_rows == problem.kept.sum()
    upper[inertia] = 0.9 * of.truth[inertia]
    low = estimate(errors_in_variables(of.robot, motion, order=3, prior=Box(lower, upper)), MaximumLikelihood())
    assert low["I_bc"] == upper[inertia]
    assert low.stats.prior_limited == ("I_bc",)


def test_friction_that_may_point_either_way_is_left_out():
    """A reversal exactly on a sample: its effort may jump within the path's uncertainty."""
    robot = ROBOTS["five-bar"]
    of = replace(experiment(robot), series=FourierSeries([2.0, 1.1], [[0.5], [0.4]], [[0.0], [0.1]], 0.5))
    problem = errors_in_variables(robot, of.run(np.random.default_rng(1)), order=2)
    left_out = {(int(k), int(i)) for k, i in np.argwhere(~problem.kept)}
    assert {(50, 2), (150, 2)} <= left_out  # motor 1 turns back at a quarter and three quarters of the period
    assert len(left_out) < 12
    assert problem.kept[:, :2].all()


def test_stated_covariances_take_the_place_of_repeats():
    of = experiment(ROBOTS["five-bar"])
    one = of.run(np.random.default_rng(1)).select([0])
    with pytest.raises(InputError, match="one repeat only"):
        errors_in_variables(of.robot, one, order=3)
    stated = {"positions_covariance": of.positions.covariance, "efforts_covariance": of.efforts.covariance}
    problem = errors_in_variables(of.robot, one, order=3, **stated)
    assert problem.noise.dof == np.inf
    assert estimate(problem, MaximumLikelihood()).stats.chi_squared == pytest.approx(1.0, abs=0.2)


def test_refusals_say_what_where_and_what_to_do():
    of = experiment(ROBOTS["h4"])
    motion = of.run(np.random.default_rng(1))
    robot = of.robot
    wrong = np.eye(4)
    wrong[0, 1] = wrong[1, 0] = 1.5
    with pytest.raises(
        InputError, match=r"covariance of the efforts is not positive definite.*'motor 1' and 'motor 2'"
    ):
        errors_in_variables(robot, motion, order=3, efforts_covariance=wrong)
    with pytest.raises(InputError, match="variance of 'q2' must be positive"):
        errors_in_variables(robot, motion, order=3, positions_covariance=[1, 0, 1, 1])
    with pytest.raises(InputError, match="cannot show harmonic 60"):
        errors_in_variables(robot, motion, order=60)
    with pytest.raises(InputError, match=r"H4 cannot be where it was measured.*zero and direction"):
        errors_in_variables(robot, replace(motion, q=motion.q + 1.5), order=3)
    with pytest.raises(InputError, match="coordinates"):
        errors_in_variables(ROBOTS["five-bar"], motion, order=3)
    with pytest.raises(InputError, match="fixes every parameter"):
        errors_in_variables(robot, motion, order=3, prior=Box(of.truth, of.truth))
    with pytest.raises(InputError, match="slower than 1000"):
        errors_in_variables(robot, motion, order=3, slower_than=1e3)
    with pytest.raises(InputError, match="at least twice"):
        by_repeat(robot, motion.select([0]), order=3)
    with pytest.raises(InputError, match="orders must rise"):
        series_order(robot, motion, orders=[3, 2])


def test_actuators_may_be_called_like_their_coordinates():
    class Namesake(FiveBar):
        actuators = FiveBar().coordinates

    of = experiment(Namesake())
    motion = of.run(np.random.default_rng(2))
    first, second = FiveBar().coordinates
    assert motion.channels == (first, second, f"effort of {first}", f"effort of {second}")
    assert errors_in_variables(of.robot, motion, order=3).groups.names == motion.channels
    assert motion.recording().names == motion.channels


def test_repeats_that_cancel_one_another_are_refused():
    of = experiment(FiveBar(), order=1, periods=4)
    motion = of.run(np.random.default_rng(2))
    half = motion.n_samples // 2
    turned = [np.concatenate([each[:2], np.roll(each[2:], half, axis=1)]) for each in (motion.q, motion.efforts)]
    with pytest.raises(InputError, match=r"check the period, 2 s, .* cancel one another"):
        series_order(of.robot, replace(motion, q=turned[0], efforts=turned[1]), orders=[1, 2])
