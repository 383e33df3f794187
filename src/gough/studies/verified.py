"""The verified checker `gough-proof-check`, extracted from the Coq proofs in `proofs/`, beside the Python checker."""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gough.checker import load, load_chains, load_question, save, save_chains, save_question
from gough.checker.certificate import FORMAT, digest
from gough.checker.chain_files import CERTIFICATES
from gough.checker.chain_proofs import JointEmpty
from gough.checker.folders import FolderVerdict
from gough.checker.height_folders import height_files
from gough.checker.height_proofs import KIND as HEIGHTS
from gough.checker.manifest import MANIFEST
from gough.core.errors import GoughError, InputError
from gough.core.progress import OnProgress, Progress
from gough.core.sealed import kind_of_file
from gough.data import read_problem, read_table, write_problem
from gough.studies.checking import FileVerdict, check

PROGRAM = "gough-proof-check"
_MISSING = (
    f"the verified checker {PROGRAM} is not installed: run make proofs in a clone of gough, which needs Coq and OCaml, "
    "or put the program of a release on the PATH; without --verified the Python checker answers"
)
_SECONDS = 600


@dataclass(frozen=True)
class ProgramVerdict:
    """What the verified checker answers about one certificate. It is true (`if verdict:`) if the certificate holds."""

    holds: bool
    lines: tuple[str, ...]
    """Its answer: the statement, read from the files, and the verdict."""

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True)
class TwoVerdicts:
    """The verdicts of both checkers on the same files. They are true (`if verdicts:`) if both say that all holds."""

    python: FileVerdict | FolderVerdict
    verified: Mapping[str, ProgramVerdict]
    """The verified checker's verdict on each certificate, by the name of its file."""
    without_theorem: tuple[str, ...] = ()
    """Certificates of a folder about whose kind the verified checker has no theorem: only the Python checker judges."""

    def __bool__(self) -> bool:
        return bool(self.python) and bool(self.verified) and all(self.verified.values())

    @property
    def disagreements(self) -> tuple[str, ...]:
        """Certificates that the Python checker accepts and the verified one refuses.

        The other way round need not be one: the Python checker also compares digests, manifests and sources. Its reason
        tells whether it is.
        """
        ours = _verdicts(self.python)
        return tuple(name for name, each in self.verified.items() if ours[name] and not each)

    @property
    def lines(self) -> tuple[str, ...]:
        """Both verdicts as text, line by line."""
        lines = ["Python checker:", *(f"  {line}" for line in self.python.lines), ""]
        lines.append(f"Verified checker ({PROGRAM}, extracted from proofs in Coq):")
        for each in self.verified.values():
            alone = len(self.verified) == 1
            lines += [f"  {line}" for line in (each.lines if alone else (each.lines[-1],))]
        good = sum(map(bool, self.verified.values()))
        lines.append(f"  {good} of {len(self.verified)} certificates hold.")
        if self.without_theorem:
            lines.append(f"  It has no theorem about {', '.join(self.without_theorem)}: Python alone judges.")
        if not self.python and good:
            lines.append(
                "  What the Python checker refuses does not hold: it also compares digests, manifest and sources."
            )
            lines.append(
                "  If the reason that it gives is none of these, the checkers disagree: report the files as a bug."
            )
        if self.disagreements:
            which = ", ".join(self.disagreements)
            lines.append(f"The checkers disagree about {which}: do not rely on it, and report the files as a bug.")
        return tuple(lines)

    def to_dict(self) -> dict[str, Any]:
        """Both verdicts as plain data."""
        verified = {name: {"holds": each.holds, "lines": each.lines} for name, each in self.verified.items()}
        program = {"program": PROGRAM, "certificates": verified, "disagreements": self.disagreements}
        program["without_theorem"] = self.without_theorem
        return {**self.python.to_dict(), "verified": program}


def check_by_both(
    path: Path, problem: Path | None = None, *, study: Path | None = None, on_progress: OnProgress = lambda _: None
) -> TwoVerdicts:
    """Verify a certificate, or all certificates of a folder, by the Python checker and by the verified one.

    The Python checker compares digests and manifests, and derives questions from the sources; the verified one checks
    each certificate about the question file that it belongs to.

    Raises:
        InputError: there is nothing to check, a file cannot be read, or the verified checker is not installed.
    """
    program = installed()
    if program is None:
        raise InputError(_MISSING)
    heights = height_files(path) if path.is_dir() else path.is_file() and kind_of_file(path) == HEIGHTS
    if heights:
        raise InputError(
            f"{path} has certificates of probed heights, about which the verified checker has no theorem: leave out "
            "--verified, and gough check verifies them in exact rationals"
        )
    python = check(path, problem, study=study, on_progress=on_progress)
    files, verified = dict(_files(python)), dict[str, ProgramVerdict]()
    beyond = tuple(name for name, own in files.items() if path.is_dir() and _is_beyond(own[0]))
    for done, (name, own) in enumerate(files.items()):
        on_progress(Progress(done, len(files), f"{name} by {PROGRAM}"))
        if name not in beyond:
            verified[name] = ask(program, *own)
    return TwoVerdicts(python, verified, beyond)


def _is_beyond(certificate: Path) -> bool:
    """Is it about chains and of a kind without a theorem?"""
    return kind_of_file(certificate) in CERTIFICATES and isinstance(load_chains(certificate).proof, JointEmpty)


def installed() -> Path | None:
    """The verified checker beside this Python or on the PATH; None where there is none."""
    for place in (str(Path(sys.executable).parent), None):
        if program := shutil.which(PROGRAM, path=place):
            return Path(program)
    return None


def ask(program: Path, certificate: Path, problem: Path) -> ProgramVerdict:
    """The verdict of the verified checker on one certificate.

    Problems in .npz or .csv files are written as JSON for it, and files of older formats in the present one.

    Raises:
        InputError: the program refuses the files.
    """
    with TemporaryDirectory() as folder:
        command = [str(program), *map(str, _present_format(certificate, problem, Path(folder)))]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603
        except subprocess.TimeoutExpired as error:
            raise InputError(
                f"{PROGRAM} did not end within {_SECONDS} s: prove {certificate} in smaller parts"
            ) from error
        except OSError as error:
            raise InputError(f"{program} cannot be run: {error.strerror}") from error
    said, refused = (text.decode(errors="replace") for text in (done.stdout, done.stderr))  # UTF-8 in every locale
    if done.returncode not in {0, 1}:
        reason = (refused or said).strip().splitlines() or [f"it ended with exit code {done.returncode}"]
        raise InputError(f"{PROGRAM}: {reason[-1].removeprefix(f'{PROGRAM}: ')}")
    return ProgramVerdict(done.returncode == 0, tuple(said.splitlines()))


def _present_format(certificate: Path, problem: Path, folder: Path) -> tuple[Path, Path]:
    """Copies of both files in a folder, or the files themselves: as JSON, and in the present format."""
    copies = folder / "certificate" / certificate.name, folder / "problem" / f"{problem.stem}.json"
    for copy in copies:
        copy.parent.mkdir()
    if kind_of_file(certificate) in CERTIFICATES:
        known = load_chains(certificate)
        if isinstance(known.proof, JointEmpty):
            raise InputError(_unknown(known.kind, certificate))
        save_chains(known, copies[0])
        save_question(load_question(problem), copies[1])
        return copies
    about = load(certificate)
    if about.version > FORMAT:
        raise InputError(_unknown(about.kind, certificate))
    if about.version != FORMAT:
        save(replace(about, version=FORMAT), copies[0])
        certificate = copies[0]
    if problem.suffix.lower() != ".json":
        read = (read_table if problem.suffix.lower() == ".csv" else read_problem)(problem)
        write_problem(read, copies[1])
        if digest(read_problem(copies[1])) != digest(read):
            raise GoughError(f"{problem} was not written as JSON without a change")
        problem = copies[1]
    return certificate, problem


def _unknown(kind: str, certificate: Path) -> str:
    known = f"{PROGRAM} does not know certificates of kind {kind}, so that it cannot judge {certificate}"
    return f"{known}: check it without --verified"


def _verdicts(python: FileVerdict | FolderVerdict) -> dict[str, bool]:
    if isinstance(python, FileVerdict):
        return {python.certificate.name: bool(python)}
    return {name: bool(verdict) for name, verdict in python.verdicts.items()}


def _files(python: FileVerdict | FolderVerdict) -> Iterator[tuple[str, tuple[Path, Path]]]:
    """The certificates that the Python checker read, and the files that they are about."""
    if isinstance(python, FileVerdict):
        assert python.problem is not None  # files are checked here
        if python.problem.name != MANIFEST:  # which stands for a question that could not be read
            yield python.certificate.name, (python.certificate, python.problem)
        return
    for name in python.verdicts:
        yield name, (python.folder / name, python.folder / python.about[name])
