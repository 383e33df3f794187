"""Nothing that estimates or contracts may stay outside the laws."""

import dataclasses
import inspect

import gough.methods
from tests.laws.problems import CONTRACTORS, SET_METHODS, STATISTICAL_METHODS

ELSEWHERE = {
    "HullStream": "takes rows, not problems; its tests are in methods/test_hull_stream.py",
    "EllipsoidStream": "takes rows, not problems; its tests are in methods/test_bounding_ellipsoid.py",
    "MaximumLikelihood": "solves nonlinear problems; its laws are in methods/test_maximum_likelihood.py",
    "IntervalNewton": "contracts nonlinear problems; its laws are in methods/test_interval_newton.py",
    "LiftedHull": "solves quadratic problems; its laws are in methods/test_lifted.py",
    "GaussNewton": "solves nonlinear problems; its laws are in test_repeated.py",
}


def test_every_method_and_contractor_is_registered():
    public = {name: getattr(gough.methods, name) for name in gough.methods.__all__}
    solving = {
        name
        for name, value in public.items()
        if inspect.isclass(value) and (hasattr(value, "estimate") or hasattr(value, "contract"))
    }
    registered = {type(m).__name__ for m in [*STATISTICAL_METHODS, *SET_METHODS, *CONTRACTORS]}
    assert solving - set(ELSEWHERE) == registered
    assert set(ELSEWHERE) <= solving


def test_methods_are_frozen_values():
    for value in [*STATISTICAL_METHODS, *SET_METHODS, *CONTRACTORS]:
        assert dataclasses.is_dataclass(value)
        assert type(value).__dataclass_params__.frozen
        assert value == dataclasses.replace(value)
