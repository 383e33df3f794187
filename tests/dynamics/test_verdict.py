"""The verdict from all tests: adequate models are called so; planted effects are named, measured and switched on."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.data import Dropout, MeasuredMotion, Recording, default_steps, prepare
from gough.dynamics import Finding, Sign, causes_of, identify, verdict_of, with_effects
from gough.dynamics.causes import larger_variants
from gough.dynamics.effect_rows import found_by_blocks
from gough.dynamics.effects import catalogue
from gough.dynamics.recorded import recorded
from gough.dynamics.verdict import sign_of_spectrum
from gough.region import Box
from gough.robots import Delta, efforts

RATE, ROBOT = 500.0, Delta()
NOISE = 0.05


def moved(seed: int, seconds: float = 20.0):
    """A smooth motion of a Delta around home: positions of its motors with their derivatives."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * RATE)) / RATE
    x, dx, ddx = np.zeros((3, len(t), 3))
    for j, reach in enumerate((0.12, 0.12, 0.08)):
        for w in 2 * np.pi * 0.34 * np.arange(1, 6):
            size, phase = reach * rng.normal() / 3, rng.uniform(0, 2 * np.pi)
            x[:, j] += size * np.sin(w * t + phase)
            dx[:, j] += size * w * np.cos(w * t + phase)
            ddx[:, j] -= size * w**2 * np.sin(w * t + phase)
    return ROBOT.joint_motion(ROBOT.home + x, dx, ddx)


def torques(motion, parameters=ROBOT.nominal):
    return efforts(ROBOT, parameters, motion.q, motion.dq, motion.ddq)


def measured(q, torque, seed: int, held: slice = slice(0)) -> MeasuredMotion:
    """A recording, prepared; motor 2 repeats a position in some samples."""
    rng = np.random.default_rng(seed)
    noisy = torque + NOISE * rng.normal(size=torque.shape)
    names = ["q1", "q2", "q3", "tau1", "tau2", "tau3"]
    samples = np.hstack([q + 1e-6 * rng.normal(size=q.shape), noisy])
    samples[held, 1] = samples[held, 1][:1]
    recording = Recording(names, ["rad"] * 3 + ["N·m"] * 3, samples, rate=RATE)
    channels = dict(zip(ROBOT.coordinates, names[:3], strict=True)), dict(zip(ROBOT.actuators, names[3:], strict=True))
    return prepare(recording, *channels, default_steps(RATE))


def late(torque, seconds: float):
    t = np.arange(len(torque)) / RATE
    return np.stack([np.interp(t - seconds, t, one) for one in torque.T], axis=1)


@pytest.fixture(scope="module")
def motion():
    return moved(1)


def test_clean_data_are_adequate(motion):
    other = moved(2)
    answer = identify(
        ROBOT,
        measured(motion.q, torques(motion), 1),
        methods=["least squares"],
        validation=measured(other.q, torques(other), 2),
    )
    verdict = answer.verdict
    assert verdict is not None
    assert verdict.finding is Finding.ADEQUATE
    assert not verdict.against
    assert verdict.cause is None
    assert not answer.is_refuted
    assert "ADEQUATE" in verdict.headline
    assert len(verdict.signs) >= 3


def test_a_delay_is_named_measured_and_switched_on(motion):
    planted = 0.004
    data = measured(motion.q, late(torques(motion), planted), 3)
    answer = identify(ROBOT, data, methods=["least squares"])
    assert answer.verdict.finding is Finding.INADEQUATE
    assert answer.is_refuted
    cause = answer.verdict.cause
    assert cause.effect.name == "delay"
    assert np.all(abs(cause.values - planted) < 4 * cause.sigma)
    assert cause.worst[0].startswith("f_v")  # a delay looks like negative viscous friction
    assert abs(cause.worst[2]) > 10
    assert cause.effect.title in answer.verdict.headline
    mended = identify(ROBOT, data, methods=["least squares"], effects=["delay"])
    assert mended.verdict.finding is Finding.ADEQUATE
    truth = dict(zip(ROBOT.names, ROBOT.nominal, strict=True)) | {f"delay_{i}": planted for i in (1, 2, 3)}
    estimate = mended["least squares"]
    z = [(estimate[n] - truth[n]) / s for n, s in zip(estimate.unknowns.names, estimate.region.sigma, strict=True)]
    assert max(np.abs(z)) < 4
    wrong = answer["least squares"]
    assert abs(wrong["f_v1"] - truth["f_v1"]) > 5 * abs(estimate["f_v1"] - truth["f_v1"])


def test_the_wave_number_of_a_ripple_is_refined_between_those_that_are_scanned(motion):
    for wave in (57.3, 60.0, 61.4):
        data = measured(motion.q, torques(motion) + 0.3 * np.sin(wave * motion.q), 8)
        (cause,) = causes_of(ROBOT, data, effects=[catalogue()["cogging"]]).steps
        assert np.array(cause.effect.waves) == pytest.approx(wave, abs=0.1)
        assert np.hypot(cause.values[:3], cause.values[3:]) == pytest.approx(0.3, abs=0.01)


def test_a_payload_of_the_validation_does_not_move_the_parameters(motion):
    other = moved(2)
    heavier = ROBOT.nominal + 0.3 * (np.array(ROBOT.names) == "m_plate")
    data, held = measured(motion.q, torques(motion), 1), measured(other.q, torques(other, heavier), 2)
    verdict = identify(ROBOT, data, methods=["least squares"], validation=held).verdict
    assert verdict.cause.effect.name == "payload"
    assert max(abs(sigmas) for _, sigmas in verdict.cause.shifts.values()) < 1e-6
    assert "Without it" not in verdict.text
    both = causes_of(ROBOT, MeasuredMotion.concatenate(data, held), effects=[verdict.cause.effect])
    assert abs(both.likeliest.worst[2]) > 10
    with pytest.raises(InputError, match="at least two"):
        identify(ROBOT, data, methods=["least squares"], validation=held, effects=["payload"])


def test_negated_efforts_are_named_in_the_verdict_and_not_called_unexplained(motion):
    verdict = identify(ROBOT, measured(motion.q, -torques(motion), 9), methods=["least squares"]).verdict
    assert verdict.finding is Finding.INADEQUATE
    assert "With all efforts negated" in verdict.headline
    assert "With all efforts negated the parameters are physically possible" in verdict.text


def test_what_is_left_after_the_first_effect_is_sought_too(motion):
    data = measured(motion.q, late(torques(motion) + np.array([0.3, 0.0, 0.0]), 0.004), 4)
    found = [step.effect.name for step in causes_of(ROBOT, data).steps]
    assert set(found[:2]) == {"delay", "offset"}


def test_a_smaller_variant_than_needed_competes_with_the_effects(motion):
    uneven = ROBOT.nominal * np.where(np.array(ROBOT.names) == "i_act1", 1.3, 1.0)
    data = measured(motion.q, torques(motion, uneven), 5)
    answer = identify(Delta(variant="common"), data, methods=["least squares"])
    assert answer.verdict.finding is Finding.INADEQUATE
    assert answer.verdict.cause.effect.name in {"per chain", "rods"}
    assert "variant" in answer.verdict.cause.effect.advice


def test_the_spectrum_of_noise_is_flat_and_that_of_a_missing_effect_is_not(motion):
    data = measured(motion.q, torques(motion), 6)
    rng = np.random.default_rng(7)
    flat = []
    for _ in range(40):
        noise = measured(motion.q, np.zeros_like(motion.q), int(rng.integers(1 << 30)))
        flat.append(sign_of_spectrum(data, np.where(noise.kept, noise.efforts, np.nan)).p)
    assert min(flat) > 0.001
    assert 0.2 < np.mean(flat) < 0.9
    slow = 0.02 * np.sin(2 * np.pi * 1.1 * data.times)[:, None]
    with_effect = np.where(noise.kept, noise.efforts + slow, np.nan)
    assert sign_of_spectrum(data, with_effect).against


def test_a_verdict_is_adequate_only_if_no_sign_is_against():
    fine, bad = Sign("one", against=False), Sign("other", against=True, statistic="3 times", sentences=("Why.",))
    assert verdict_of(None, None, (fine,)).finding is Finding.ADEQUATE
    verdict = verdict_of(None, None, (fine, bad))
    assert verdict.finding is Finding.INADEQUATE
    assert verdict.against == (bad,)
    assert "other (3 times)" in verdict.text
    assert "Why." in verdict.text
    assert "yes" in str(verdict)


def test_no_further_cause_is_named_where_an_effect_in_the_model_is_indicative_only(motion):
    causes = causes_of(ROBOT, measured(motion.q, late(torques(motion), 0.005), 3), effects=[catalogue()["delay"]])
    named = verdict_of(None, causes, ())
    assert named.cause.effect.name == "delay"
    doubted = verdict_of(None, causes, (), indicative=["elastic drives"])
    assert doubted.finding is Finding.INADEQUATE
    assert doubted.cause is None
    assert "It includes elastic drives with values that are indicative only" in doubted.headline
    assert "delay" not in str(doubted.table()) + doubted.text + str(doubted.outline)


def test_a_mistake_that_explains_the_data_takes_the_place_of_a_cause(motion):
    causes = causes_of(ROBOT, measured(motion.q, late(torques(motion), 2e-3), 1), most=1)
    sentence = "With the efforts of motor 1 and motor 2 exchanged the parameters are physically possible."
    verdict = verdict_of(None, causes, (), mistake=sentence)
    assert causes.likeliest.effect.name == "delay"
    assert verdict.has_mistake
    assert (verdict.cause, verdict.rivals, verdict.likely) == (None, (), "")
    assert verdict.headline == f"The model is NOT ADEQUATE; a mistake in the data is likely. {sentence}"
    assert [label for label, _ in verdict.outline] == ["Finding", "Intervals"]
    assert verdict_of(None, causes, ()).cause is causes.likeliest


def test_a_dropout_is_named_first_and_no_effect_that_it_imitates(motion):
    data = measured(motion.q, torques(motion), 1, held=slice(4000, 4400))
    verdict = identify(ROBOT, data, methods=["least squares"]).verdict
    assert verdict.finding is Finding.INADEQUATE
    assert verdict.headline == (
        "The model is NOT ADEQUATE; a dropout in the data is the likely cause: channel 'q2' of the recording drops out "
        "(it holds its value for 0.8000 s from row 4001 on)."
    )
    assert verdict.text.startswith(verdict.headline)
    assert (verdict.cause, verdict.likely) == (None, "")
    assert [label for label, _ in verdict.outline] == ["Finding", "What to do", "Intervals"]


def test_the_headline_tells_of_a_dropout_that_no_test_sees_and_of_none_that_is_left_out():
    seen, left_out = (Dropout("a.csv", "q1", "held", 7, 0.1, 0.5, is_left_out=each) for each in (False, True))
    fine = Sign("one", against=False)
    assert verdict_of(None, None, (fine,), dropouts=[left_out]).headline == verdict_of(None, None, (fine,)).headline
    told = verdict_of(None, None, (fine,), dropouts=[seen]).headline
    assert told.startswith("The model is ADEQUATE: none of the tests rejects it, although channel 'q1' of a.csv drops")


def test_a_larger_variant_is_named_by_all_that_it_adds():
    titles = [each.title for each in larger_variants(Delta(variant="common"))]
    assert titles == ["differences between the chains", "differences between the chains and the inertia of the rods"]


def test_the_outline_has_finding_size_and_advice_by_label(motion):
    causes = causes_of(ROBOT, measured(motion.q, late(torques(motion), 0.005), 3), effects=[catalogue()["delay"]])
    verdict = verdict_of(None, causes, ())
    labels = [label for label, _ in verdict.outline]
    assert labels == ["Finding", "Size", "Effect", "What to do", "Intervals"]
    parts = dict(verdict.outline)
    assert parts["Finding"] == verdict.headline
    assert parts["Size"] == f"{causes.likeliest.size}."
    assert parts["What to do"] == causes.likeliest.effect.advice
    assert all(text in verdict.text for text in parts.values())


@pytest.mark.parametrize(("k", "n"), [(1, 40), (2, 40), (3, 25)])
def test_the_size_that_the_test_by_blocks_finds_is_found_in_nine_of_ten_draws(k, n):
    """Against draws of a mean and of a scatter matrix: Hotelling's test as the verdict makes it."""
    from scipy.stats import f

    rng, draws = np.random.default_rng(1), 4000
    z = rng.normal(size=(draws, k))
    z[:, 0] += found_by_blocks(k, n, float(n), 0.001)
    parts = rng.normal(size=(draws, n - 1, k))
    scatter = np.einsum("dik,dil->dkl", parts, parts) / (n - 1)
    T = np.einsum("dk,dk->d", z, np.linalg.solve(scatter, z[:, :, None])[:, :, 0])
    found = f.sf(T * (n - k) / (k * (n - 1)), k, n - k) < 0.001
    assert 0.905 < found.mean() < 0.935  # 92 %, so that both tests together find nine of ten


def test_an_extended_model_has_the_prior_of_the_robot_and_its_own_parameters(motion):
    data = measured(motion.q, torques(motion) + 0.2, 8)
    lower, upper = np.full(len(ROBOT.names), -np.inf), np.full(len(ROBOT.names), np.inf)
    m = ROBOT.names.index("m_plate")
    lower[m] = upper[m] = ROBOT.nominal[m]
    answer = identify(ROBOT, data, methods=["weighted", "hull"], effects=["offset"], prior=Box(lower, upper))
    assert answer.fixed == {"m_plate": ROBOT.nominal[m]}
    box, estimate = answer["hull"].region.hull(), answer["weighted"]
    names = list(answer["hull"].unknowns.names)
    for i in (1, 2, 3):
        assert abs(estimate[f"offset_{i}"] - 0.2) < 0.05
        assert box.lower[names.index(f"offset_{i}")] <= 0.2 <= box.upper[names.index(f"offset_{i}")]
    assert any("offset" in note for note in answer.notes)
    assert any("conditional on them" in note for note in answer["hull"].notes)
    assert not any("conditional on them" in note for note in estimate.notes)


def test_efforts_of_an_extended_model_are_those_with_the_effect(motion):
    data = measured(motion.q, late(torques(motion), 0.004), 9)
    model = with_effects(ROBOT, data, ["delay"])
    values = np.append(ROBOT.nominal, [0.004] * 3)
    inside = slice(50, -50)
    predicted = efforts(model, values, motion.q, motion.dq, motion.ddq)
    error = abs(predicted - late(torques(motion), 0.004))[inside]
    assert np.median(error) < 0.005  # secants at the estimated delay
    assert np.median(abs(torques(motion) - late(torques(motion), 0.004))[inside]) > 0.02


@pytest.mark.parametrize(
    ("effects", "message"),
    [
        (["dellay"], "did you mean 'delay'"),
        (["delay", "delay"], "listed twice"),
        (["payload"], "cannot be estimated here"),
    ],
)
def test_effects_that_cannot_be_are_refused(motion, effects, message):
    data = measured(motion.q, torques(motion), 10)
    with pytest.raises(InputError, match=message):
        with_effects(ROBOT, data, effects)


def test_a_common_gain_is_not_estimated(motion):
    data = measured(motion.q, torques(motion) * [1.05, 1.0, 1.0], 11)
    names = with_effects(ROBOT, data, ["gain"]).names[len(ROBOT.names) :]
    assert len(names) == 2
    common = causes_of(ROBOT, measured(motion.q, torques(motion) * 1.2, 12))
    assert common.likeliest is None


def test_an_adequate_model_states_which_effects_the_data_do_not_exclude(motion):
    verdict = identify(ROBOT, measured(motion.q, torques(motion), 1), methods=["least squares"]).verdict
    hidden = {one.effect: one for one in verdict.causes.hidden}
    assert list(hidden) == sorted(hidden, key=lambda name: -hidden[name].sigmas)
    assert hidden["offset"].sigmas > 3
    assert f"offset ({hidden['offset'].name} up to" in verdict.text
    assert "A gain that all actuators share" in verdict.text


def test_an_effect_that_is_not_excluded_is_the_worst_of_those_that_are_found_in_nine_of_ten_cases(motion):
    """For offsets, whose columns are known: no direction of the same visibility moves a parameter further."""
    data = measured(motion.q, torques(motion), 1)
    found = causes_of(ROBOT, data, effects=[catalogue()["offset"]])
    (hidden,) = found.hidden
    problem, group = recorded(ROBOT, data), np.nonzero(data.kept)[1]
    E = np.eye(3)[group]
    theta = np.linalg.lstsq(problem.W, problem.y)[0]
    scale = np.sqrt(np.bincount(group, (problem.y - problem.W @ theta) ** 2) / np.bincount(group))[group, None]
    Q, R = np.linalg.qr(problem.W / scale)
    visible = E / scale - Q @ (Q.T @ (E / scale))
    inverse = np.linalg.inv(R)
    variance = len(group) / found.independent
    sigma = np.sqrt(variance) * np.linalg.norm(inverse, axis=1)
    moves = abs(inverse @ Q.T @ (E / scale)) / sigma[:, None]
    # an offset of one actuator alone, and the worst of many offsets of all three
    limit = np.sqrt(variance) * (np.sqrt(3 * np.log(found.independent)) + 1.2816)
    single = moves * limit / np.linalg.norm(visible, axis=0)
    directions = np.random.default_rng(0).normal(size=(3, 200_000))
    shifts = abs(inverse @ Q.T @ (E / scale) @ directions) / sigma[:, None]
    every = (shifts * limit / np.linalg.norm(np.linalg.qr(visible, mode="r") @ directions, axis=0)).max()
    assert single.max() < hidden.sigmas * 1.02
    assert hidden.sigmas == pytest.approx(every, rel=0.02)
    assert hidden.parameter.startswith("gS_arm")
