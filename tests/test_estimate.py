"""Estimates: table, JSON and back, marginals, claims, strictness."""

import json
import subprocess
import sys
from dataclasses import dataclass
from math import inf

import numpy as np
import pytest

import gough.estimate  # noqa: F401 - the module behind the function of the same name
from gough import (
    Box,
    Claim,
    ConfidenceEllipsoid,
    Ellipsoid,
    Estimate,
    EstimationError,
    FitStats,
    InputError,
    LinearProblem,
    Stats,
    Status,
    Unknowns,
    estimate,
)
from gough.estimate import LiftedStats
from gough.evidence import LiftedCut, LiftedStage

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
    lines = example().table().splitlines()
    assert lines[0].split() == ["unknown", "unit", "value", "±", "(99%)", "σ", "σ/|value|"]
    assert lines[2].split()[:2] == ["mass", "kg"]
    assert lines[2].endswith("100 %")
    assert len(lines) == 5


def test_table_of_a_box_has_its_sides():
    lines = example(REGIONS[0]).table().splitlines()
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
from gough import *
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
