"""Every effect of the catalogue: its columns are what it does to the efforts, and the engine names it."""

from functools import cache

import numpy as np
import pytest

from gough.data import MeasuredMotion
from gough.dynamics.causes import causes_of
from gough.dynamics.effects import catalogue
from tests.simulate.multibody.motions import NEEDS

pytest.importorskip("pinocchio", reason=NEEDS)
every_effect = pytest.mark.parametrize("effect", catalogue().values(), ids=lambda effect: effect.name)


@cache
def truth():
    from gough.simulate.multibody import experiment

    return experiment("five-bar", seconds=8.0)


def measured(planted=None, rng=None):
    return MeasuredMotion.concatenate(*truth().measured(planted, rng))


@every_effect
def test_it_is_described(effect):
    assert effect.name.isascii()
    assert effect.title.split()[0] in {"a", "an", "different", "the", "other"} or effect.title[0].islower()
    assert effect.advice.endswith(".")
    assert list(effect.sizes) == sorted(set(effect.sizes))
    assert effect.sizes[0] > 0


@every_effect
def test_its_columns_are_the_derivative_of_what_is_planted(effect):
    """Without noise, the columns and the model's own leave of a small planted effect only terms of higher order."""
    planted = effect.plant(truth(), effect.sizes[0], np.random.default_rng(1))
    if planted is None:
        pytest.skip("the five-bar's own parameters have this effect")
    found = causes_of(truth().robot, measured(planted), effects=[effect])
    (cause,) = found.ranked
    assert cause.removes > 0.99


@every_effect
def test_it_is_named_where_it_is_planted(effect):
    rng = np.random.default_rng(2)
    planted = effect.plant(truth(), effect.sizes[-1], rng)
    if planted is None:
        pytest.skip("the five-bar's own parameters have this effect")
    found = causes_of(truth().robot, measured(planted, rng), most=1)
    assert found.likeliest is not None
    assert found.likeliest.effect.name == effect.name


def test_nothing_is_named_where_nothing_is_planted():
    assert causes_of(truth().robot, measured(None, np.random.default_rng(3))).likeliest is None


def springs(size):
    """Compliances that `Elasticity.plant` gives the drives."""
    of = truth()
    load = of.efforts(of.q, of.dq, of.ddq) - of.drive_efforts(of.q, of.dq, of.ddq)
    swing = np.sqrt(((of.q - of.q.mean(axis=0)) ** 2).mean(axis=0))
    return size * swing / np.sqrt((load**2).mean(axis=0))


@pytest.mark.parametrize("size", [0.015, 0.02])
def test_compliances_are_measured_with_the_rotor_that_is_not_known(size):
    effect = catalogue()["elasticity"]
    planted = effect.plant(truth(), size, np.random.default_rng(1))
    (cause,) = causes_of(truth().robot, measured(planted, np.random.default_rng(4)), effects=[effect]).ranked
    known = dict(zip(cause.names, zip(cause.values, cause.sigma, strict=True), strict=True))
    value, sigma = known["rotor_share"]
    assert 0 < value < 0.6
    true = springs(size)
    for i in range(2):
        value, sigma = known.get("compliance", known.get(f"compliance_{i + 1}"))
        spread = np.ptp(true) / 2 if "compliance" in known else 0.0
        assert abs(value - true[i]) < 4 * sigma + spread
        assert sigma < 0.5 * true[i]
    assert not cause.caveat


def test_soft_drives_are_named_with_a_caveat():
    effect = catalogue()["elasticity"]
    planted = effect.plant(truth(), 0.12, np.random.default_rng(1))
    found = causes_of(truth().robot, measured(planted, np.random.default_rng(4)), most=1)
    assert found.likeliest is not None
    assert found.likeliest.effect.name == "elasticity"
    assert "natural frequency" in found.likeliest.caveat
