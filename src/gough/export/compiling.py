"""Compile exported C and run it: the figures that an export prints are those of the user's own compiler."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from gough.core.errors import GoughError
from gough.kernels.compiler import CompilationError, find_compiler

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic")
_SECONDS = 600.0


class ExportError(GoughError):
    """An export that the other program does not read, or whose results differ from those of gough.

    Examples:
        >>> issubclass(ExportError, GoughError)
        True
    """


def compiler_path() -> str:
    """The path of the C compiler.

    Raises:
        ExportError: there is none.
    """
    try:
        return find_compiler().path
    except CompilationError as error:
        raise ExportError(
            f"the export cannot be verified: {error}. Install a C compiler (gcc or clang), name one by the environment "
            "variable CC, or write the files unverified by --no-verify; nothing was written"
        ) from error


def built(folder: Path, sources: Sequence[str], target: str, options: Sequence[str] = ()) -> Path:
    """Compile C files of a folder to a program or library there.

    Raises:
        ExportError: the compiler refuses them, or warns.
    """
    language = () if any(option.startswith("-std") for option in options) else ("-std=c99",)
    linked = () if "-c" in options else ("-lm",)
    command = [compiler_path(), *language, "-O1", *WARNINGS, *options, *sources, "-o", target, *linked]
    done = _run(command, folder)
    if done.returncode != 0 or done.stderr.strip():
        words = " ".join(done.stderr.split())[:400]
        raise ExportError(f"the compiler does not accept the exported C ({words}): nothing was written")
    return folder / target


def figures(folder: Path, program: Path) -> dict[str, float]:
    """What the test program prints: the largest relative error of each function.

    Raises:
        ExportError: it crashes, prints something else, or finds return values that are wrong.
    """
    done = _run([str(program)], folder)
    try:
        lines = (line.split() for line in done.stdout.splitlines())
        found = {name: float(value) for name, value in lines}
        assert found["worst"] >= 0
    except (ValueError, KeyError, AssertionError) as error:
        raise ExportError(f"the test program failed with exit code {done.returncode}: nothing was written") from error
    wrong = sum(value for name, value in found.items() if name.endswith("_statuses"))
    if wrong:
        raise ExportError(f"{wrong:g} return values of the exported C are not those of gough: nothing was written")
    return found


def write_sources(folder: Path, files: Mapping[str, str]) -> None:
    """Write texts to a temporary folder, to be compiled there.

    Raises:
        ExportError: a file cannot be written.
    """
    for file, text in files.items():
        try:
            (folder / file).write_text(text, encoding="utf-8")
        except OSError as error:
            raise ExportError(
                f"the temporary file {folder / file} cannot be written: {error.strerror}; free some space, or name "
                "another folder by the environment variable TMPDIR. Nothing was written"
            ) from error


def vector_errors(files: Mapping[str, str], name: str, options: Sequence[str] = ()) -> dict[str, float]:
    """Compile exported files with their test program, run it, and return the largest relative errors."""
    with TemporaryDirectory(prefix="gough-export-") as place:
        folder = Path(place)
        write_sources(folder, files)
        program = built(folder, [f"{name}.c", f"{name}_test.c"], "test", options)
        return figures(folder, program)


def _run(command: Sequence[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(  # noqa: S603 - the compiler that the user's PATH or CC names, and what it made
            command, cwd=folder, text=True, capture_output=True, timeout=_SECONDS, check=False,
            env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        raise ExportError(f"{command[0]} could not be run: {error}; nothing was written") from error
