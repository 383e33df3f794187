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
    assert planted is not None
    found = causes_of(truth().robot, measured(planted), effects=[effect])
    (cause,) = found.ranked
    assert cause.removes > 0.99


@every_effect
def test_it_is_named_where_it_is_planted(effect):
    rng = np.random.default_rng(2)
    planted = effect.plant(truth(), effect.sizes[-1], rng)
    found = causes_of(truth().robot, measured(planted, rng), most=1)
    assert found.likeliest is not None
    assert found.likeliest.effect.name == effect.name


def test_nothing_is_named_where_nothing_is_planted():
    assert causes_of(truth().robot, measured(None, np.random.default_rng(3))).likeliest is None
