"""Estimates: table, JSON and back, marginals, claims, strictness."""

import json
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import gough.estimates  # noqa: F401 - the module behind the function of the same name
from gough import (
    AssumptionError,
    Box,
    Claim,
    ConfidenceEllipsoid,
    Ellipsoid,
    Estimate,
    EstimationError,
    InputError,
    Intersection,
    Interval,
    LinearProblem,
    Status,
    Unknowns,
    estimate,
)
from gough.core.text import signs
from gough.estimates import FitStats, LiftedStats, Stats
from gough.evidence import LiftedCut, LiftedStage
from gough.methods import LeastSquares

UNKNOWNS = Unknowns(["mass", "inertia", "fv"], ["kg", "kg·m²", "N·m·s"], [1, 2, 3], Box([0, -inf, 0], [inf, inf, 9]))
REGIONS = [
    Box([0.1, -1, 2], [0.3, inf, 2]),
    Box.empty(3),
    Ellipsoid([1e-300, 1 / 3, 1e300], np.diag([1e-310, 0.1, 7.0])),
    ConfidenceEllipsoid([0.1, 0.2, 0.3], np.diag([0.01, 1e-9, 2.0]), 0.99, 17.5),
]
STATS = [
    Stats(5, ("mass",)),
    FitStats(
        5, dof=inf, groups=("x",), residual_rms=np.array([0.1]), autocorrelation=np.array([np.nan]), chi_squared=1.1
    ),
    LiftedStats(5, steps=1, stages=(LiftedStage((0.1,), (1.0,), (LiftedCut(0, -1.0, 0.2, (3,), (1 / 3,), (1.0,)),)),)),
]


def example(region=REGIONS[3], status=Status.OK, claim=Claim.CONFIDENCE, stats=STATS[1]):
    return Estimate(region, claim, status, UNKNOWNS, "Some(level=0.9)", stats, ("A note.",))


@pytest.mark.parametrize("region", REGIONS, ids=lambda r: type(r).__name__)
@pytest.mark.parametrize("stats", STATS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("status", Status)
def test_json_returns_every_bit(region, stats, status):
    before = example(region, status, Claim.PROOF, stats)
    text = before.to_json()
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    after = Estimate.from_json(text)
    assert after == before
    assert after.to_json() == text


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda d: d.update(clam=1), "did you mean 'claim'"),
        (lambda d: d.update(claim="PROVEN"), "Claim 'PROVEN'"),
        (lambda d: d["region"].update(type="Bx"), "did you mean 'Box'"),
        (lambda d: d["region"].update(lower=["a", 1, 2]), "expected numbers"),
        (lambda d: d.pop("unknowns"), "not given: unknowns"),
        (lambda d: d.update(type="Stats"), "Stats has no field"),
    ],
)
def test_damaged_data_is_refused(damage, why):
    data = json.loads(example(REGIONS[0]).to_json())
    damage(data)
    with pytest.raises(InputError, match=why):
        Estimate.from_dict(data)


def test_truncated_json_is_refused():
    with pytest.raises(InputError, match="not a complete JSON"):
        Estimate.from_json(example().to_json()[:-20])
    with pytest.raises(InputError, match="expected an Estimate"):
        Estimate.from_dict({"type": "Stats", "n_rows": 1})


def test_table_has_names_units_and_sigma():
    lines = str(example().table()).splitlines()
    assert lines[0].split() == ["unknown", "unit", "value", "±", "(99%)", "σ", "σ/|value|"]
    assert lines[2].split()[:2] == ["mass", "kg"]
    assert lines[2].endswith("100 %")
    assert len(lines) == 5


def test_table_of_a_box_has_its_sides():
    lines = str(example(REGIONS[0]).table()).splitlines()
    assert lines[0].split() == ["unknown", "unit", "value", "±", "lower", "upper"]
    assert "∞" in lines[3]
    assert str(example(REGIONS[1])).count("—") >= 3


def test_marginal_by_name():
    part = example().marginal("fv", "mass")
    assert part.unknowns.names == ("fv", "mass")
    assert part.value.tolist() == [0.3, 0.1]
    assert part["mass"] == 0.1
    with pytest.raises(InputError, match="did you mean 'mass'"):
        part["mas"]


BOX, ELLIPSOID = Box([0.1, 0.0, -1.0], [0.3, 1.0, inf]), Ellipsoid([0.2, 0.5, 0.0], np.diag([0.09, 1e-30, 4.0]))


@pytest.mark.parametrize("region", [BOX, ELLIPSOID, Intersection(BOX, ELLIPSOID)], ids=lambda r: type(r).__name__)
def test_interval_of_a_guaranteed_set_is_its_hull_bit_for_bit(region):
    answer, hull = example(region, claim=Claim.PROOF, stats=STATS[0]), region.hull()
    for i, name in enumerate(UNKNOWNS.names):
        assert answer.interval(name) == (hull.lower[i], hull.upper[i])
        assert type(answer.interval(name).lower) is float


def test_interval_of_an_ellipsoid_encloses_its_exact_extent():
    center, square = 1 / 3, 0.1
    low, high = example(
        Ellipsoid([center, 0.0, 0.0], np.diag([square, 1.0, 1.0])), claim=Claim.PROOF, stats=STATS[0]
    ).interval("mass")
    for side in (low, high):  # (side − center)² ≥ square, in exact fractions
        assert (Fraction(side) - Fraction(center)) ** 2 >= Fraction(square)


def test_no_proven_interval_is_computed_where_the_processor_does_not_follow_the_standard(monkeypatch):
    monkeypatch.setattr("gough.core.floating.defect", lambda: "it flushes")
    for region in (ELLIPSOID, Intersection(BOX, ELLIPSOID)):
        with pytest.raises(AssumptionError, match="interval of 'mass' cannot be proven here, because it flushes"):
            example(region, claim=Claim.PROOF, stats=STATS[0]).interval("mass")
        example(region, claim=Claim.ENCLOSURE, stats=STATS[0]).interval("mass")
    assert example(BOX, claim=Claim.PROOF, stats=STATS[0]).interval("mass") == (0.1, 0.3)  # nothing is computed


def test_interval_of_a_confidence_region_is_that_of_one_unknown():
    from scipy import stats

    answer = example()  # 17.5 degrees of freedom, level 0.99
    for level in (None, 0.5):
        half = stats.t.ppf(0.5 + (level or 0.99) / 2, 17.5) * 0.1
        lower, upper = answer.interval("mass", level)
        assert (lower, upper) == pytest.approx((0.1 - half, 0.1 + half), rel=1e-12)
    assert answer.interval("mass").upper < answer.region.hull().upper[0]  # the joint region is wider
    assert answer.marginal("mass").interval("mass") == answer.interval("mass")


def test_interval_of_an_empty_set_is_empty():
    interval = example(Box.empty(3), Status.INCONSISTENT, Claim.PROOF, STATS[0]).interval("mass")
    assert interval.is_empty
    assert not any(x in interval for x in (-inf, 0.0, inf))
    assert str(interval) == "empty"


def test_interval_is_refused_where_there_is_none():
    with pytest.raises(AssumptionError, match="claims VALUE"):
        example(Box([1, 1, 1], [1, 1, 1]), claim=Claim.VALUE).interval("mass")
    with pytest.raises(InputError, match="did you mean 'mass'"):
        example().interval("mas")
    with pytest.raises(InputError, match="no confidence level"):
        example(BOX, claim=Claim.PROOF).interval("mass", 0.95)
    for level in (0.0, 1.0, 95, np.nan):
        with pytest.raises(InputError, match="between 0 and 1"):
            example().interval("mass", level)


def test_interval_of_what_the_data_do_not_determine_says_so():
    W = np.random.default_rng(1).normal(size=(50, 2))
    problem = LinearProblem(W[:, [0, 1, 1]], W @ [1.0, 2.0], Unknowns(["m", "k", "fv"]))
    answer = estimate(problem, LeastSquares(), strict=False)
    assert answer.status is Status.SINGULAR
    for ask in (answer.interval, answer.__getitem__, answer.marginal):
        with pytest.raises(InputError, match=r"do not determine 'fv' by itself; they determine m, "):
            ask("fv")
    assert answer.interval("m").lower <= answer["m"] <= answer.interval("m").upper


def test_an_interval_contains_its_ends_and_unpacks():
    lower, upper = interval = Interval(0.1, 0.3)
    assert lower in interval
    assert upper in interval
    assert np.nextafter(0.3, 1) not in interval
    assert interval.__contains__(np.nan) is False
    low, high = (Fraction(side) for side in str(interval).split(" … "))
    assert low <= Fraction(0.1) < Fraction(0.3) <= high


@pytest.mark.parametrize("region", REGIONS, ids=lambda r: type(r).__name__)
def test_notebooks_show_the_table_escaped(region):
    names = ["<b>mass</b>", 'in"ertia', "f&v"]
    answer = Estimate(region, Claim.PROOF, Status.OK, Unknowns(names), "Some()", STATS[0], ("a < b & c.",))
    html = answer._repr_html_()
    parsed = ET.fromstring(f"<div>{html}</div>")
    rows = [[cell.text or "" for cell in row] for row in parsed.iter("tr")]
    assert [row[0].strip() for row in rows] == ["unknown", *names]
    table = answer.table()
    assert [row[1:] for row in rows[1:]] == [[signs(text) for text in texts[2:]] for texts in table.texts]
    assert rows[0] == [head for head in table.heads if head != "unit"]
    assert [p.text for p in parsed.iter("p")] == [answer.summary(), "a < b & c."]
    assert [element.tag for element in parsed.iter("b")] == []


@dataclass(frozen=True)
class Fake:
    answer: Estimate

    def estimate(self, problem):
        return self.answer


PROBLEM = LinearProblem(np.eye(3), np.ones(3), UNKNOWNS)


@pytest.mark.parametrize("status", [s for s in Status if s is not Status.OK])
def test_strict_raises_and_carries_the_answer(status):
    answer = example(status=status)
    with pytest.raises(EstimationError, match="Some") as caught:
        estimate(PROBLEM, Fake(answer))
    assert caught.value.estimate == answer
    assert status.value in str(caught.value)
    assert estimate(PROBLEM, Fake(answer), strict=False) == answer


def test_claims_are_ordered():
    assert Claim.VALUE < Claim.CONFIDENCE < Claim.ENCLOSURE < Claim.PROOF
    assert min(Claim.PROOF, Claim.CONFIDENCE) is Claim.CONFIDENCE


UPWARD = """
import ctypes, numpy as np
from gough import Bounded, Box, LinearProblem, Unknowns, estimate
from gough.methods import Fixpoint
problem = LinearProblem([[1.0]], [1.0], Unknowns(["a"], prior=Box([0], [9])), Bounded(0.5))
print(estimate(problem, Fixpoint()).claim.name)
ctypes.CDLL(None).fesetround(0x800)  # upward, on x86-64
answer = estimate(problem, Fixpoint())
print(answer.claim.name, answer.notes[-1])
"""


@pytest.mark.skipif("linux" not in sys.platform, reason="the constant of fesetround is that of Linux on x86-64")
def test_proof_is_not_claimed_where_the_processor_does_not_round_to_nearest():
    import platform

    if platform.machine() != "x86_64":
        pytest.skip("the constant of fesetround is that of x86-64")
    done = subprocess.run([sys.executable, "-c", UPWARD], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first == "PROOF"
    assert second.startswith("ENCLOSURE Claims ENCLOSURE instead of PROOF, because the processor rounds upward")
