"""Which model do the data ask for? Robots whose missing effect is known."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gough.dynamics import Adequacy, Finding, adequacy_of, causes_of, identify
from gough.dynamics.causes import larger_variants
from gough.dynamics.effect_rows import EffectRows
from gough.dynamics.regressors import measured_regressor
from gough.robots import H4
from tests.dynamics.h4_data import efforts_of, measured, variant


@pytest.fixture(scope="module")
def robot():
    return H4()


def parameters(robot, **changed):
    values = robot.nominal.copy()
    for name, value in changed.items():
        values[robot.names.index(name)] = value
    return values


@pytest.fixture(scope="module")
def complete(robot):
    """Data of a robot with rods of 40 g."""
    return measured(robot, efforts_of(robot, robot.nominal), np.random.default_rng(3))


@pytest.fixture(scope="module")
def other(robot):
    return measured(robot, efforts_of(robot, robot.nominal), np.random.default_rng(4), seed=1)


@pytest.mark.parametrize("validated", [False, True])
def test_the_missing_effects_are_named(robot, complete, other, validated):
    judged = adequacy_of(variant(robot, "paper"), complete, other if validated else None)
    assert judged.finding is Finding.INADEQUATE
    assert judged.recommended == "rods"
    assert "lacks the weight of the arms and the inertia of the rods" in judged.verdict
    assert "Use the 16-parameter model" in judged.verdict
    assert "do not include this error" in judged.verdict
    falling = [fit.overall for fit in judged.fits]
    assert falling[0] > 2 * falling[1] > 2.5 * falling[2]
    # 0.1 N·m at 1 kHz, low-passed at 20 Hz: about 0.1·√(2·20/1000) remain
    assert falling[2] == pytest.approx(0.1 * np.sqrt(0.04), rel=0.4)


def test_the_model_that_is_right_is_called_adequate(robot, complete):
    judged = adequacy_of(robot, complete)
    assert judged.finding is Finding.ADEQUATE
    assert judged.recommended == "rods"
    assert (
        "remove none of the mean square that the 16-parameter model leaves. Of the variants, use the 16-parameter"
        in (judged.verdict)
    )
    assert not judged.shifts


@pytest.mark.parametrize(("used", "finding"), [("rods", "LARGER_THAN_NEEDED"), ("arm gravity", "ADEQUATE")])
def test_a_larger_model_is_not_asked_for_without_need(robot, used, finding):
    light = measured(robot, efforts_of(robot, parameters(robot, m_rod=0.0)), np.random.default_rng(5))
    judged = adequacy_of(variant(robot, used), light)
    assert judged.finding.name == finding
    assert judged.recommended == "arm gravity"
    assert "with the inertia of the rods there is no improvement over a smaller model" in judged.verdict


def test_an_effect_that_improves_nothing_is_not_called_missing(robot, complete):
    """Nested variants: the one that is needed may also have an effect that is not."""
    judged = adequacy_of(variant(robot, "paper"), complete)
    first, weight, rods = judged.fits
    idle = replace(weight, overall=first.overall, gain=-0.001, gain_sigma=0.01)
    verdict = replace(judged, fits=(first, idle, rods)).verdict
    assert "with the weight of the arms there is no improvement over a smaller model" in verdict
    assert "lacks the inertia of the rods:" in verdict
    assert "Use the 16-parameter model, the smallest variant with it; it also has the weight of the arms." in verdict
    # only both together are certain: both are named
    unsure = replace(rods, gain=0.04, gain_sigma=0.02)
    assert "lacks the weight of the arms and the inertia" in replace(judged, fits=(first, idle, unsure)).verdict


def test_a_recording_that_cannot_tell_says_so(robot):
    noisy = measured(robot, efforts_of(robot, robot.nominal), np.random.default_rng(3), sigma=1.0)
    judged = adequacy_of(variant(robot, "arm gravity"), noisy.select(slice(1000, 1400)))
    assert judged.finding is Finding.UNDECIDED
    assert judged.recommended is None
    assert "does not decide" in judged.verdict


def test_too_few_rows_are_not_judged(robot, complete):
    assert adequacy_of(robot, complete.select(slice(0, 30))) is None


@pytest.mark.parametrize(
    "effect",
    [
        lambda joints: 0.3 * np.sign(joints.dq) * np.exp(-((joints.dq / 0.5) ** 2)),
        lambda joints: 0.2 * joints.q**2,
        lambda joints: 0.1 * np.sin(12 * joints.q),
    ],
    ids=["friction that falls with speed", "springs", "ripple"],
)
def test_what_no_variant_has_is_seen_by_general_terms(robot, effect):
    ideal = efforts_of(robot, robot.nominal)
    data = measured(robot, lambda joints: ideal(joints) + effect(joints), np.random.default_rng(6))
    judged = adequacy_of(robot, data)
    assert judged.finding is Finding.INADEQUATE
    assert judged.generic_gain > 0.15
    assert "an effect is left that no variant has" in judged.verdict
    assert "leaves an effect out" in judged.verdict


def test_shifts_say_how_far_the_printed_sigma_is_from_the_error(robot, complete):
    """EVIDENCE: inertias are off by tens of percent in the 14-parameter model, many times their σ."""
    found = identify(variant(robot, "paper"), complete, methods=["weighted"])
    shifts = found.adequacy.shifts
    sigma = dict(zip(found["weighted"].unknowns.names, found["weighted"].region.sigma, strict=True))
    truth = dict(zip(robot.names, robot.nominal, strict=True))
    for name in ("I_mot1", "I_mot2", "I_mot3", "M_nac"):
        part, sigmas = shifts[name]
        assert part == pytest.approx((found["weighted"][name] - truth[name]) / truth[name], abs=0.06)
        assert abs(sigmas) == pytest.approx(abs(part * truth[name]) / sigma[name], rel=0.1)
    assert shifts["I_mot2"][0] < -0.2
    assert "The printed σ do not include this error" in found.adequacy.verdict


@pytest.mark.parametrize(
    ("used", "added"), [("paper", {"m_rod", "S_arm"}), ("arm gravity", {"m_rod"}), ("rods", set())]
)
def test_the_size_of_what_a_variant_adds_is_that_of_its_own_parameters(robot, complete, used, added):
    smaller = variant(robot, used)
    effects = larger_variants(smaller)
    found = causes_of(smaller, complete, effects=effects)
    assert {cause.effect.name for cause in found.ranked} == {effect.name for effect in effects}
    if not added:
        return
    cause = found.likeliest
    assert cause.effect.name == "rods"
    assert set(cause.names) == added
    assert cause.dof == len(added)
    assert "more" not in cause.size
    assert all(f"{name} = " in cause.size for name in added)
    truth = dict(zip(robot.names, robot.nominal, strict=True))
    assert np.all(abs(cause.values - [truth[name] for name in cause.names]) < 5 * cause.sigma)
    # smaller variants add nothing to a model with the larger one
    assert [step.effect.name for step in found.steps] == ["rods"]


def test_a_parameter_that_a_variant_gives_another_meaning_is_one_that_it_adds(robot, complete):
    """The same name with another column is kept: the smaller model does not have its efforts."""
    smaller = variant(robot, "paper")
    (effect,) = [each for each in larger_variants(smaller) if each.name == "rods"]
    names = tuple("I_mot1" if name == "m_rod" else f"own {name}" for name in robot.names)
    renamed = SimpleNamespace(names=names, units=robot.units, variant="renamed", adds="", regressor=robot.regressor)
    columns = replace(effect, model=renamed).columns(EffectRows.of(smaller, complete).excitation)
    assert columns.names == names


def test_without_variants_general_terms_still_judge(five_bar, random_motion):
    judged = adequacy_of(five_bar, random_motion(n_samples=2000))
    assert [fit.variant for fit in judged.fits] == [five_bar.name]
    assert judged.finding is Finding.ADEQUATE
    assert judged.fits[0].rank < judged.fits[0].n_parameters
    assert "remove none" in judged.verdict or "remove only" in judged.verdict


def test_numbers_are_those_of_the_residuals(robot, complete, other):
    """rms, peak and ε* of the largest model, computed again from its weighted fit."""
    judged = adequacy_of(robot, complete, other)
    theta = identify(robot, complete, methods=["weighted"], compare=False)["weighted"].value
    error = other.efforts - measured_regressor(robot, other) @ theta
    for i, fit_rms in enumerate(judged.fits[-1].rms):
        assert fit_rms == pytest.approx(np.sqrt((error[:, i][other.kept[:, i]] ** 2).mean()), rel=0.01)
        assert judged.fits[-1].peak[i] == pytest.approx(abs(error[:, i][other.kept[:, i]]).max(), rel=0.05)
    assert (np.diff([fit.smallest_bound.max() for fit in judged.fits]) <= 1e-12).all()
    assert isinstance(judged, Adequacy)
    assert any("rms, held out" in head for head in judged.table().heads)


def test_units_that_differ_are_not_mixed(robot, complete):
    judged = adequacy_of(Mixed(), replace(complete, effort_units=("N", "N·m", "N·m", "N·m")))
    assert judged.unit == ""
    assert judged.fits[-1].overall == pytest.approx(1.0, rel=0.05)


class Mixed(H4):
    """An H4 that believes its first motor pushes."""

    @property
    def effort_units(self):
        return ("N", "N·m", "N·m", "N·m")

    @property
    def variants(self):
        return (self,)
