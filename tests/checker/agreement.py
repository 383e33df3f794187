"""The same certificate judged by both checkers: the Python one, and `gough-proof-check`, which is proven in Coq.

The files are written as they are, without constructors, so that the readers of both have to refuse what they must. The
proven checker judges many of them in one process.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from resource import RLIMIT_AS, setrlimit
from subprocess import run

from gough import GoughError, LinearProblem
from gough.checker import ChainCertificate, check, check_chains, load, load_chains, load_question
from gough.checker.certificate import digest
from gough.checker.chain_boxes import Space
from gough.checker.chain_files import _plain, render_question, rendered
from gough.checker.chain_questions import question_of
from gough.checker.files import _lines, sealed
from gough.checker.limits import BeyondLimit, bounded_work
from gough.checker.records import plain
from gough.core.errors import InputError
from gough.core.sealed import parsed
from gough.data import read_problem, write_problem
from tests.checker import corpus
from tests.checker.mutations import mutant
from tests.checker.test_mutations import WORK, WRONG, about_legs, about_pairs, best, best_cuts, certificates, parts
from tests.fuzz.mutators import JSON, spoil

TOGETHER = 500
"""Files that one process of the proven checker judges."""
MEMORY = 500 << 20
"""Bytes that it may take for spoilt files."""
UNUSED = {"nominal": None, "groups": ["all"], "position": None}
"""Entries of linear problems that no statement is about, which the proven checker does not read."""


@dataclass
class Tally:
    """How often both checkers judged, and where they differ."""

    judged: int = 0
    accepted: int = 0
    refused: int = 0
    unwritable: int = 0
    """Certificates that JSON has no way to write."""
    beyond_limit: int = 0
    """Certificates that the Python checker does not judge because they are too large."""
    texts: set[int] = field(default_factory=set)
    disagreements: list[tuple[str, str, bool, bool]] = field(default_factory=list)
    """The certificate's text, the problem's text, whether Python accepts it and whether the proven checker does."""

    def add(self, other: "Tally") -> None:
        """Count another tally's cases as well."""
        for name in ("judged", "accepted", "refused", "unwritable", "beyond_limit"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.texts |= other.texts
        self.disagreements += other.disagreements

    def __str__(self) -> str:
        words = f"{self.judged} judged ({len(self.texts)} different), {self.accepted} accepted by both, "
        words += f"{self.refused} refused by both, {len(self.disagreements)} disagreements"
        return f"{words}; {self.unwritable} not writable as JSON, {self.beyond_limit} beyond a limit of Python's"


def text_of(certificate):
    """The text of a certificate's file, whatever is in it; None where it cannot be written."""
    chains = isinstance(certificate, ChainCertificate)
    kind, version = ("chain certificate", 3) if chains else ("certificate", 2)
    entries = {"gough": kind, "version": version, "kind": certificate.kind, "problem": certificate.problem}
    try:
        if chains:
            entries |= {"chains": certificate.chains, "more": certificate.more, **_plain(certificate.proof)}
        else:
            entries |= plain(certificate.proof, version)
        return sealed("{\n" + ",\n".join(f' "{key}": {_lines(value)}' for key, value in entries.items()))
    except WRONG:
        return None


class Judges:
    """Both checkers, with a folder for the files."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._program, self._folder, self._problems = program, folder, {}

    def problem_file(self, problem) -> Path:
        """The file of a problem or question, written once."""
        if id(problem) not in self._problems:
            path = self._folder / f"problem-{len(self._problems)}.json"
            if is_about_chains(problem):
                path.write_text(render_question(question_of(problem)), encoding="utf-8")
            else:
                write_problem(problem, path)
            self._problems[id(problem)] = (problem, path)
        return self._problems[id(problem)][1]

    def python(self, path: Path, problem) -> bool | None:
        """Whether the Python checker accepts; None if the file is beyond a limit."""
        try:
            if is_about_chains(problem):
                return check_chains(load_chains(path), problem).holds
            return check(load(path), problem).holds
        except BeyondLimit:
            return None
        except InputError:
            return False

    def verified(self, files: list[tuple[Path, Path]]) -> list[int]:
        """The exit code of the proven checker on each pair of a certificate and a problem.

        It must end within seconds, take little memory, and write one line for each file that it cannot read.
        """
        lines = "".join(f"{certificate}\n{problem}\n" for certificate, problem in files)
        command, bytes_most = [self._program, "--batch"], (MEMORY, MEMORY)
        done = run(
            command, input=lines.encode(), capture_output=True, check=True, timeout=300,
            preexec_fn=lambda: setrlimit(RLIMIT_AS, bytes_most),
        )  # fmt: skip
        codes = [int(line[5:]) for line in done.stdout.splitlines() if line.startswith(b"exit ")]
        assert len(codes) == len(files)
        assert done.stderr.count(b"\n") == codes.count(2)
        return codes

    def spoilt(self, count: int, seed: int) -> tuple[Counter[int], list[tuple[bytes, bytes, str]]]:
        """Exit codes of so many files that are spoilt at random, and which are accepted though Python refuses them."""
        rng, codes, wrong = Random(seed), Counter(), []
        found = [corpus.base(name)[:2] for name in (*corpus.LINEAR, *corpus.legs(), *corpus.chains(), *corpus.pairs())]
        pairs = [
            (text_of(certificate).encode(), self.problem_file(problem).read_bytes()) for problem, certificate in found
        ]
        sides = list(zip(*pairs, strict=True))
        for begin in range(0, count, TOGETHER):
            files = []
            for i in range(min(TOGETHER, count - begin)):
                texts, side = list(rng.choice(pairs)), rng.randrange(2)
                texts[side] = spoil([texts[side], *rng.sample(sides[side], rng.choice((0, 0, 2)))], rng, JSON)
                files.append((self._folder / f"certificate-{i}.json", self._folder / f"spoilt-{i}.json"))
                for path, text in zip(files[-1], texts, strict=True):
                    path.write_bytes(text)
            for pair, code in zip(files, self.verified(files), strict=True):
                codes[code] += 1
                texts = [path.read_bytes() for path in pair]
                if code == 0 and (why := self._refused(*pair)):
                    wrong.append((*texts, why))
        return codes, wrong

    @staticmethod
    def _refused(certificate: Path, problem: Path) -> str:
        """Why Python refuses the files once their seals and digests, and what no statement is about, are put right."""
        try:
            about, proof = (parsed(path.read_bytes().decode(), "JSON") for path in (problem, certificate))
            linear = about.get("gough") == "linear problem"
            if linear:
                about |= {**UNUSED, "units": ["1"] * len(about["names"])}
            _write(problem, about)
            read = read_problem(problem) if linear else load_question(problem)
            _write(certificate, proof | {"problem": digest(read) if linear else read.digest()})
            verdict = check(load(certificate), read) if linear else check_chains(load_chains(certificate), read)
        except (InputError, UnicodeDecodeError) as error:  # the theorems need no limit of quaternions, NumPy does
            return "" if "has the largest component" in str(error) else str(error)
        return "" if verdict else verdict.reason

    def compare(self, pairs: Iterable[tuple[object, object]]) -> Tally:
        """Both verdicts on pairs of a problem and a certificate, or the text of one."""
        tally, pairs = Tally(), iter(pairs)
        while some := list(islice(pairs, TOGETHER)):
            files, ours = [], []
            for problem, certificate in some:
                text = certificate if isinstance(certificate, str) else text_of(certificate)
                if text is None:
                    tally.unwritable += 1
                    continue
                path = self._folder / f"certificate-{len(files)}.json"
                path.write_text(text, encoding="utf-8")
                verdict = self.python(path, problem)
                if verdict is None:
                    tally.beyond_limit += 1
                    continue
                tally.texts.add(hash((text, id(problem))))
                files.append((path, self.problem_file(problem)))
                ours.append(verdict)
            for (certificate, problem), python, code in zip(files, ours, self.verified(files), strict=True):
                tally.judged += 1
                if python != (code == 0):
                    texts = certificate.read_text("utf-8"), problem.read_text("utf-8")
                    tally.disagreements.append((*texts, python, code == 0))
                elif python:
                    tally.accepted += 1
                else:
                    tally.refused += 1
        return tally


def _write(path: Path, data) -> None:
    path.write_text(rendered({key: value for key, value in data.items() if key != "seal"}), encoding="utf-8")


def is_about_chains(problem) -> bool:
    """Is it a question about chains, or a linear problem?"""
    return not isinstance(problem, LinearProblem)


def pairs_of(kind) -> list[tuple[object, object]]:
    """Problems or questions with certificates about them."""
    if kind in {"linear", "relaxed", "ellipsoid"}:
        return certificates(kind)
    if kind in {"leg", "joint"}:
        return about_legs(kind)
    return list(corpus.chains().values()) if kind == "chain" else [*corpus.pairs().values(), *about_pairs()]


def mutants(kind, count, seed) -> Iterator[tuple[object, object]]:
    """Problems with changed certificates of a kind, about half of which state the most that their evidence proves."""
    found, rng = pairs_of(kind), Random(seed)
    donors = parts(found)
    for _ in range(count):
        problem, certificate = rng.choice(found)
        changed = mutant(rng, certificate, donors, *size_of(problem))
        if rng.random() < 0.5:
            yield problem, changed
            continue
        try:
            with bounded_work(WORK):
                if is_about_chains(problem):
                    changed = best_cuts(changed, Space.of(problem, changed.chains, changed.more))
                else:
                    changed = best(changed, problem)
        except (*WRONG, GoughError):
            pass
        yield problem, changed


def size_of(problem):
    """Names of unknowns and number of rows, for made-up parts."""
    if not is_about_chains(problem):
        return list(problem.unknowns.names), problem.n_rows
    each = problem.equations[0]
    return list(problem.names), 2 * each.n_equations + 4 * len(each.products)
