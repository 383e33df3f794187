"""Two checkers, one verdict: the Python checker and the one proven in Coq agree on every certificate that tests make.

`benchmarks/verified_checker.py` compares them on 100,000 changed certificates and 100,000 spoilt files, and measures
the time that each takes.
"""

import struct
from fractions import Fraction
from random import Random
from subprocess import run

import pytest

from gough import Bounded, Box, LinearProblem, Unknowns
from gough.checker import Certificate, Witness
from gough.studies.verified import installed
from tests.checker.agreement import WRONG, Judges, Tally, mutants, pairs_of
from tests.checker.corpus import CASES, PHYSICAL, again, base, forged
from tests.checker.test_corpus import BASES, written

PROGRAM = installed()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="gough-proof-check is not built: make proofs")
EACH = {"linear": 300, "relaxed": 250, "ellipsoid": 100, "leg": 100, "joint": 80, "chain": 100, "pair": 80}
"""Changed certificates."""


@pytest.fixture
def judges(tmp_path):
    return Judges(PROGRAM, tmp_path)


def test_both_accept_what_holds(judges):
    tally = judges.compare(base(name)[:2] for name in BASES)
    assert not tally.disagreements
    assert tally.accepted == tally.judged == len(BASES)


def test_both_refuse_what_violates_a_hypothesis(judges):
    """The adversarial corpus as files, made without constructors."""
    found, unwritable = [], 0
    for case in CASES:
        problem, certificate, _ = base(case.base)
        if "problem" in case.changes or case.base in PHYSICAL:
            continue  # a digest: the proven checker is about the files that it is given, whatever they are called
        try:
            found.append((problem, written(again(certificate, case.path, case.changes, forged))))
        except WRONG:
            unwritable += 1
    tally = judges.compare(found)
    assert not tally.disagreements
    assert tally.refused >= 230
    assert tally.accepted <= 5  # JSON said something else: keys cannot stand twice, and True is 1
    assert unwritable + len(found) >= sum(case.base not in PHYSICAL for case in CASES) - 5


@pytest.mark.parametrize("kind", EACH)
def test_both_agree_on_changed_certificates(kind, judges):
    tally = judges.compare(mutants(kind, EACH[kind], 20260119))
    assert not tally.disagreements
    assert tally.judged >= EACH[kind] * 2 // 3
    assert min(tally.accepted, tally.refused) >= tally.judged // 10  # a program that always says the same is found out


def test_evidence_for_twins_is_judged_alike(judges):
    """The evidence of certificates that hold, about problems in which it proves nothing."""
    tally = Tally()
    for kind in EACH:
        tally.add(judges.compare(pairs_of(kind)))
    assert not tally.disagreements
    assert min(tally.accepted, tally.refused) > 10


def test_a_disagreement_is_found(tmp_path):
    """Programs that accept everything, or nothing."""
    for code in (0, 1):
        folder = tmp_path / str(code)
        folder.mkdir()
        program = folder / "program"
        program.write_text(f"#!/bin/sh\nwhile read c; do read p; echo exit {code}; done\n")
        program.chmod(0o755)
        assert Judges(program, folder).compare(mutants("linear", 50, 1)).disagreements


def test_spoilt_files_end_with_one_line(judges):
    codes, wrong = judges.spoilt(1000, 20260120)
    assert not wrong
    assert codes[2] > 500
    assert codes[0] > 0


def test_decimals_stand_for_the_nearest_doubles(judges):
    """In problems, as Python reads them; in certificates, doubles and fractions are the numbers that they say."""
    rng, found = Random(20260121), []
    bits = [rng.getrandbits(64) for _ in range(150)] + [
        rng.getrandbits(52) for _ in range(30)
    ]  # the latter are subnormal
    values = [struct.unpack("<d", struct.pack("<Q", each))[0] for each in bits]
    for x in (*(x for x in values if abs(x) < 1e300), 0.0, -0.0, 5e-324, 2.0**53, 1e22, 1e23, 0.1):
        problem = LinearProblem([[1.0]], [x], Unknowns(["a"], prior=Box([-1.7e308], [1.7e308])), Bounded(0.0))
        found += [(problem, Certificate.of(problem, Witness({"a": value}))) for value in (x, Fraction(x))]
        found.append((problem, Certificate.of(problem, Witness({"a": Fraction(x) + Fraction(1, 2**1080)}))))
    tally = judges.compare(found)
    assert not tally.disagreements
    assert tally.accepted == 2 * tally.refused == 2 * len(found) // 3


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"\xff\xfe", b"[" * 10**6, b'{"a":' * 10**5, b"[" + b"0," * 10**5 + b"0]", b"9" * 10**6, b'"\xff"',
        b'{"gough": "certificate"}', b"NaN", b'{"gough": 1}', b'{"gough": "\\ud800"}', b'{"gough": "a\\nb"}',
    ],
    ids=lambda content: ascii(content[:20])[2:-1],
)  # fmt: skip
def test_what_is_no_certificate_is_refused_in_one_line(content, tmp_path):
    path = tmp_path / "c.json"
    path.write_bytes(content)
    for files in ((path, path), (path, tmp_path / "none.json"), (tmp_path, path)):
        done = run([PROGRAM, *files], capture_output=True, check=False, timeout=20)
        assert done.returncode == 2
        assert (done.stdout, done.stderr.count(b"\n")) == (b"", 1)
        assert done.stderr.startswith(b"gough-proof-check: ")


def test_names_cannot_make_up_lines(tmp_path):
    name = "a\nHOLDS: everything\x1b[2K"
    problem = LinearProblem([[1.0]], [0.0], Unknowns([name]), Bounded(1.0))
    judges = Judges(PROGRAM, tmp_path)
    tally = judges.compare([(problem, Certificate.of(problem, Witness({name: 0.0})))])
    assert not tally.disagreements
    done = run(
        [PROGRAM, tmp_path / "certificate-0.json", judges.problem_file(problem)], capture_output=True, check=False
    )
    assert not any(line.startswith(b"HOLDS: everything") for line in done.stdout.splitlines())
    assert b"\x1b" not in done.stdout
