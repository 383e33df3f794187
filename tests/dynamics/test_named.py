"""Methods by name."""

import inspect

import pytest

import gough.methods
from gough import InputError, LinearProblem
from gough.dynamics import DEFAULT_METHODS, METHODS, method_named
from gough.dynamics.named import chosen_methods
from gough.methods import LeastSquares


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("gauss-markov", "Gauss–Markov"),
        ("Gauss_Markov", "Gauss–Markov"),
        ("GM", "Gauss–Markov"),
        ("gauss-seidel", "Gauss–Seidel"),
        ("Least Squares", "least squares"),
        ("WLS", "weighted"),
        ("tight-ellipsoid", "tight ellipsoid"),
        ("tukey", "Tukey"),
        ("relaxed_hull", "relaxed hull"),
    ],
)
def test_spelling_does_not_matter(given, name):
    label, method = method_named(given)
    assert label == name
    assert method is METHODS[name]


@pytest.mark.parametrize(
    ("given", "near"), [("hul", "hull"), ("gaus-markov", "Gauss–Markov"), ("elipsoid", "ellipsoid")]
)
def test_an_unknown_name_says_the_nearest(given, near):
    with pytest.raises(InputError, match=f"did you mean '{near}'"):
        method_named(given)


def test_every_method_of_the_library_has_a_name():
    """Methods for linear problems, found by what `estimate` takes; contractors count by the Fixpoint they stand in."""
    linear = {
        name
        for name, value in vars(gough.methods).items()
        if inspect.isclass(value)
        and hasattr(value, "estimate")
        and getattr(inspect.signature(value.estimate).parameters.get("problem"), "annotation", None) is LinearProblem
    }
    asks_for_more = {"InstrumentalVariables", "TotalLeastSquares"}  # instruments, covariances of W
    assert linear - asks_for_more == {type(method).__name__ for method in METHODS.values()}
    assert set(DEFAULT_METHODS) <= set(METHODS)


def test_methods_of_ones_own_keep_their_label():
    own = {"mine": LeastSquares(level=0.99)}
    assert chosen_methods(own) == own


@pytest.mark.parametrize("wrong", ["hull", [], {}, [3]])
def test_what_is_no_list_of_names_is_refused(wrong):
    with pytest.raises(InputError):
        chosen_methods(wrong)
