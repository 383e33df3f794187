"""The same certificate judged by both checkers: the Python one, and `gough-proof-check`, which is proven in Coq.

The files are written as they are, without constructors, so that the readers of both have to refuse what they must.
"""

from pathlib import Path
from subprocess import run

from gough.checker import ChainCertificate, check, check_chains, load, load_chains
from gough.checker.chain_files import _plain, render_question, rendered
from gough.checker.files import _lines, sealed
from gough.checker.limits import BeyondLimit
from gough.checker.records import plain
from gough.core.errors import InputError
from gough.data import write_problem

WRONG = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError)
"""What writing may raise about values that never met their constructors."""


def text_of(certificate):
    """The text of a certificate's file, whatever is in it; None where it cannot be written."""
    try:
        if isinstance(certificate, ChainCertificate):
            head = {
                "gough": "chain certificate",
                "version": 3,
                "kind": certificate.kind,
                "problem": certificate.problem,
            }
            about = {"chains": certificate.chains, "more": certificate.more}
            return rendered({**head, **about, **_plain(certificate.proof)})
        head = {"gough": "certificate", "version": 2, "kind": certificate.kind, "problem": certificate.problem}
        lines = [f' "{key}": {_lines(value)}' for key, value in {**head, **plain(certificate.proof)}.items()]
        return sealed("{\n" + ",\n".join(lines))
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
            if isinstance(load_kind(problem), str):
                path.write_text(render_question(problem), encoding="utf-8")
            else:
                write_problem(problem, path)
            self._problems[id(problem)] = (problem, path)
        return self._problems[id(problem)][1]

    def python(self, path: Path, problem) -> bool | None:
        """Whether the Python checker accepts; None if the file is beyond a limit."""
        try:
            if isinstance(load_kind(problem), str):
                return check_chains(load_chains(path), problem).holds
            return check(load(path), problem).holds
        except BeyondLimit:
            return None
        except InputError:
            return False

    def verified(self, path: Path, problem) -> bool:
        """Whether the verified checker accepts."""
        command = [self._program, path, self.problem_file(problem)]
        done = run(command, capture_output=True, check=False, timeout=120)
        assert done.returncode in {0, 1, 2}, done
        return done.returncode == 0

    def differ(self, certificate, problem) -> tuple[bool | None, bool] | None:
        """Both verdicts where they differ."""
        text = text_of(certificate)
        if text is None:
            return None
        path = self._folder / "certificate.json"
        path.write_text(text, encoding="utf-8")
        ours = self.python(path, problem)
        if ours is None:
            return None
        theirs = self.verified(path, problem)
        return None if ours == theirs else (ours, theirs)


def load_kind(problem):
    """The word of a question about chains; None for linear problems."""
    return getattr(problem, "word", None)
