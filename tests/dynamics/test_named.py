"""Methods by name."""

import inspect
import json

import numpy as np
import pytest

import gough.methods
from gough import Box, Claim, Estimate, InputError, LinearProblem, Status, Unknowns
from gough.dynamics import DEFAULT_METHODS, METHODS, Identified, estimates_from_json, identify, method_named
from gough.dynamics.example import random_motion
from gough.dynamics.named import ByMethod, chosen_methods
from gough.dynamics.results import SavedEstimates
from gough.estimates import Stats
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


@pytest.fixture(scope="module")
def identified():
    return identify(*random_motion(1), methods=["least squares", "gauss-markov", "hull"], compare=False)


SPELLINGS = ("Gauss–Markov", "gauss-markov", "Gauss-Markov", "gauss_markov", "GAUSS MARKOV", "gm")


@pytest.mark.parametrize("name", SPELLINGS)
def test_an_answer_is_addressed_by_any_spelling(identified, name):
    model = identified["Gauss–Markov"]
    assert identified[name] is identified.estimates[name] is identified.succeeded[name] is model
    assert np.array_equal(identified.parameters(name), identified.parameters("Gauss–Markov"))
    first = model.unknowns.names[0]
    assert identified.interval(first, method=name) == model.interval(first)
    assert identified.interval(first, 0.5, method=name) == model.interval(first, 0.5) != model.interval(first)


def test_an_unknown_method_is_refused_where_it_is_asked_for(identified):
    first = identified.names[0]
    for asked in (
        lambda: identified.interval(first, method="gaus-markov"),
        lambda: identified.parameters("gaus-markov"),
    ):
        with pytest.raises(InputError, match="did you mean 'Gauss–Markov'"):
            asked()
    with pytest.raises(InputError, match="least squares"):
        identified.interval(first, method="maximum likelihood")


def test_json_has_ascii_names_and_comes_back(identified):
    data = json.loads(identified.to_json())
    assert list(data) == ["least-squares", "gauss-markov", "hull"]
    assert [each["title"] for each in data.values()] == list(identified.estimates)
    again = Identified.from_json(identified.to_json())
    assert dict(again.estimates) == dict(identified.estimates)
    assert again["gauss-markov"] == identified["Gauss–Markov"] == Estimate.from_dict(data["gauss-markov"])


def test_json_of_older_versions_is_read(identified):
    old = {label: estimate.to_dict() for label, estimate in identified.estimates.items()}
    assert "Gauss–Markov" in old
    assert estimates_from_json(json.dumps(old)) == dict(identified.estimates)


def test_json_whose_titles_do_not_tell_methods_apart_is_refused(identified):
    data = json.loads(identified.to_json())
    data["hull"]["title"] = "least squares"
    with pytest.raises(InputError, match="stand more than once"):
        estimates_from_json(json.dumps(data))
    data["hull"]["title"] = 3
    with pytest.raises(InputError, match="titles are no text"):
        estimates_from_json(json.dumps(data))


def test_labels_of_ones_own_never_share_a_key():
    labels = ["Hull", "hull", "a b", "a-b", "Müller", "--", "", "Gauss–Markov, fitted path"]
    values = ByMethod({label: i for i, label in enumerate(labels)})
    assert list(values.keyed()) == ["Hull", "hull", "a b", "a-b", "Müller", "--", "", "gauss-markov-fitted-path"]
    assert [values[label] for label in labels] == list(range(len(labels)))
    assert values["gauss-markov-fitted-path"] == 7
    assert "HULL" not in values  # it fits two labels
    assert "A_B" not in values
    assert 3 not in values


def test_a_parameter_comes_before_another_spelling_of_a_method():
    region = Box([1.0, 3.0], [2.0, 5.0])
    estimate = Estimate(region, Claim.PROOF, Status.OK, Unknowns(["gm", "mass"]), "LinearHull()", Stats(10))
    answer = SavedEstimates({"Gauss–Markov": estimate, "mass": estimate})
    assert answer["gm"] == 1.5
    assert answer["gauss-markov"] is estimate
    assert answer["mass"] is estimate  # a label as it is written comes first
