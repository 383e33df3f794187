"""Two checkers, one verdict: the Python checker and the one proven in Coq agree on every certificate that tests make.

`benchmarks/verified_checker.py` compares them on 100,000 mutations, with the time that each takes.
"""

from random import Random

import pytest

from gough import GoughError
from gough.checker.limits import bounded_work
from gough.studies.verified import installed
from tests.checker import corpus
from tests.checker.agreement import Judges
from tests.checker.mutations import mutant
from tests.checker.test_mutations import WORK, WRONG, about_legs, best, certificates, parts

PROGRAM = installed()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="gough-proof-check is not built: make proofs")
KINDS = ("linear", "relaxed", "ellipsoid", "leg", "joint", "chain", "pair")
EACH = 150


@pytest.fixture
def judges(tmp_path):
    return Judges(PROGRAM, tmp_path)


def pairs(kind):
    """Problems or questions with certificates about them."""
    if kind in {"linear", "relaxed", "ellipsoid"}:
        return certificates(kind)
    if kind in {"leg", "joint"}:
        return about_legs(kind)
    return list((corpus.chains() if kind == "chain" else corpus.pairs()).values())


def size_of(problem):
    """Unknowns and rows, for made-up parts."""
    if hasattr(problem, "unknowns"):
        return list(problem.unknowns.names), problem.n_rows
    each = problem.equations[0]
    return list(problem.names), 2 * each.n_equations + 4 * len(each.products)


def mutants(kind, count, seed):
    """Changed certificates of a kind, about half of which state the most that their evidence proves."""
    found, rng = pairs(kind), Random(seed)
    donors = parts(found)
    for _ in range(count):
        problem, certificate = rng.choice(found)
        changed = mutant(rng, certificate, donors, *size_of(problem))
        if hasattr(problem, "unknowns"):
            try:
                with bounded_work(WORK):
                    changed = best(rng, changed, problem)
            except (*WRONG, GoughError):
                pass
        yield problem, changed


@pytest.mark.parametrize("kind", KINDS)
def test_both_accept_what_holds(kind, judges):
    for problem, certificate in pairs(kind):
        assert judges.differ(certificate, problem) is None, certificate


@pytest.mark.parametrize("kind", KINDS)
def test_both_agree_on_changed_certificates(kind, judges):
    for problem, changed in mutants(kind, EACH, 20260119):
        assert judges.differ(changed, problem) is None, changed
