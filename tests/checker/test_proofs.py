"""The proofs in `proofs/` assume nothing but the axioms of Coq's real numbers, and the trusted code is small."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gough.studies.verified import installed

PROOFS = Path(__file__).parents[2] / "proofs"
THEORIES = {path.stem: path for path in sorted(PROOFS.glob("*.v"))}
ASSUMED = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
"""Axioms of Coq's real numbers."""
UNPROVEN = (
    "Admitted",
    "admit",
    "Axiom",
    "Axioms",
    "Parameter",
    "Parameters",
    "Conjecture",
    "bypass_check",
)
TRUSTED = 300
"""Lines of the parser and the reader together, without empty ones."""


def without_comments(text):
    """A theory's text; comments may be nested."""
    while (bare := re.sub(r"\(\*(?:(?!\(\*|\*\)).)*\*\)", " ", text, flags=re.DOTALL)) != text:
        text = bare
    return text


def sentences(path):
    """The sentences of a theory."""
    return re.split(r"\.\s", without_comments(path.read_text("utf-8")))


def stated(path):
    """Names of the theorems and lemmas of a theory."""
    pattern = r"\b(?:Theorem|Lemma|Corollary|Fact|Remark)\s+([\w']+)"
    return set(re.findall(pattern, without_comments(path.read_text("utf-8"))))


def listed():
    """Names of theorems in Axioms.v."""
    return set(re.findall(r"@?\b(\w+_(?:sound|form|is|whatever))\b", without_comments(THEORIES["Axioms"].read_text())))


@pytest.mark.parametrize("name", THEORIES)
def test_nothing_is_left_unproven(name):
    found = {word for sentence in sentences(THEORIES[name]) for word in re.findall(r"\w+", sentence)} & {*UNPROVEN}
    assert not found


def test_what_is_unproven_would_be_found():
    text = without_comments("(* Admitted (* nested *) Axiom *) Lemma a : False. admit. Admitted.")
    assert "Axiom" not in text
    assert re.findall(r"\w+", text)[-2:] == ["admit", "Admitted"]


def test_the_axioms_of_every_theorem_about_what_runs_are_printed():
    """A function that is extracted has a theorem `…_sound`, alone or in one that combines them."""
    found = re.findall(r"(\w+)\.((?:check|legs|rods)_\w+)\b", THEORIES["Extract"].read_text())
    extracted = [(theory, function) for theory, function in found if theory != "Files"]
    assert len(extracted) == 15
    for theory, function in extracted:
        theorem = f"{function.removeprefix('check_')}_sound"
        assert theorem in stated(THEORIES[theory])
        combined = f"{theory.lower()}_sound" if theory in {"Linear", "Relaxed"} else theorem
        assert combined in listed() & stated(THEORIES[theory])
        proof = without_comments(THEORIES[theory].read_text("utf-8")).partition(f"Theorem {combined} ")[2]
        assert combined == theorem or function in proof.partition("Qed.")[0]


def test_theorems_that_are_listed_exist():
    rows = re.findall(r"^\| (\[.*?) \|.*\| ([^|]*) \|$", (PROOFS / "README.md").read_text("utf-8"), re.MULTILINE)
    assert len(rows) >= 10
    for files, theorems in rows:
        names = {name for file in re.findall(r"\((\w+)\.v\)", files) for name in stated(THEORIES[file])}
        assert set(re.findall(r"`(\w+)`", theorems)) <= names, files
    everywhere = set.union(*map(stated, THEORIES.values()))
    assert listed() <= everywhere
    assert len(listed()) >= 14


def test_every_theory_is_explained():
    described = (PROOFS / "README.md").read_text("utf-8")
    assert {name for name in THEORIES if f"[{name}.v]({name}.v)" not in described} <= {"Axioms", "Extract"}


def test_the_reader_is_small():
    """The parser and the reader are trusted. What is printed is in main.ml."""
    lines = [line for name in ("json.ml", "reader.ml") for line in (PROOFS / "checker" / name).read_text().splitlines()]
    assert 0 < sum(bool(line.strip()) for line in lines) < TRUSTED
    assert max(map(len, lines)) <= 140


def built():
    """Are the theories compiled, none of them older than its source?"""
    compiled = [path.with_suffix(".vo") for path in THEORIES.values() if path.stem not in {"Axioms", "Extract"}]
    return all(path.exists() and path.stat().st_mtime >= path.with_suffix(".v").stat().st_mtime for path in compiled)


def can_build():
    """Are Coq, OCaml and zarith installed? `make test` builds the proofs then."""
    if shutil.which("coqc") is None or shutil.which("ocamlfind") is None:
        return False
    return subprocess.run(["ocamlfind", "query", "zarith"], capture_output=True, check=False).returncode == 0


with_tools = pytest.mark.skipif(not can_build(), reason="Coq, OCaml or zarith is not installed")


@with_tools
def test_the_program_is_built_where_it_can_be():
    """Otherwise all tests of the proven checker would skip unnoticed."""
    assert installed() is not None, "run make proofs"
    assert built(), "run make proofs"


@with_tools
def test_only_the_axioms_of_real_numbers_are_assumed(tmp_path):
    command = ["coqc", "-Q", ".", "Gough", "-o", tmp_path / "Axioms.vo", "Axioms.v"]
    done = subprocess.run(command, cwd=PROOFS, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.count("Axioms:\n") == THEORIES["Axioms"].read_text().count("Print Assumptions")
    found = set(re.findall(r"^([A-Za-z_][\w.']*)", done.stdout, re.MULTILINE)) - {"Axioms"}
    assert set() < found <= ASSUMED
