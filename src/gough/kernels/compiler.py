"""The C compiler of this computer, where there is one."""

import os
import platform
import shutil
import subprocess
import sys
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock

from gough.core.errors import GoughError
from gough.core.progress import compilation

_FLAGS = ("-std=c99", "-fPIC", "-shared", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
"""No fused operations and nothing like -ffast-math, so that all evaluators agree; errno is not read by anyone,
and nobody traps floating-point exceptions, so that compilers may round whole vectors."""
_LITTLE = ("-O1", "-ftree-slp-vectorize")
"""For functions without branches and loops, as fast as -O2, and compiled in two thirds of the time; roots of vectors
need the second."""
_WITHOUT = ("-fno-dse", "-fno-tree-dse", "-fno-tree-fre", "-fno-tree-ccp")
"""Passes of GCC that look for stores, values and constants that are not needed: kernels have none, since a trace
computes nothing twice. Without them a fifth of the time of compiling is saved, and the code is no slower."""
_TIMEOUT = 600.0


class CompilationError(GoughError):
    """The kernel could not be compiled or loaded; a plain call falls back to the NumPy replay.

    Examples:
        >>> issubclass(CompilationError, GoughError)
        True
    """


class CompilerWarning(UserWarning):
    """Kernels run as NumPy replay, several times slower than compiled ones, with the same results to rounding.

    Examples:
        >>> issubclass(CompilerWarning, UserWarning)
        True
    """


@dataclass(frozen=True)
class Compiler:
    """A C compiler and its version."""

    path: str
    version: str

    @property
    def is_gcc(self) -> bool:
        """Whether it is GCC, whatever its name: others refuse some of its flags."""
        return "Free Software Foundation" in self.version

    def flags(self) -> tuple[str, ...]:
        """The flags for kernels."""
        return (*_LITTLE, *(_WITHOUT if self.is_gcc else ()), *_FLAGS, *_vector_flags())

    def identity(self, flags: tuple[str, ...]) -> str:
        """Everything besides the source that determines the compiled code."""
        return "\n".join((self.path, self.version, *flags, sys.platform, platform.machine(), platform.libc_ver()[1]))

    def build(self, source: str, flags: tuple[str, ...], target: Path) -> None:
        """Compile C text into the shared object `target`.

        Raises:
            CompilationError: with the compiler's own words.
        """
        # Read from standard input: the result does not depend on the name of a temporary file.
        command = [self.path, *flags, "-x", "c", "-", "-o", str(target), "-lm"]
        try:
            with compilation():
                done = subprocess.run(  # noqa: S603 - the compiler the user's PATH or CC names
                    command, input=source, text=True, capture_output=True, timeout=_TIMEOUT, check=False
                )
        except (OSError, subprocess.SubprocessError) as error:
            raise CompilationError(f"{self.path} could not be run: {error}") from error
        if done.returncode != 0:
            raise CompilationError(f"{self.path} failed: {(done.stderr or done.stdout).strip()[:400]}")


def find_compiler() -> Compiler:
    """The compiler named by the environment variable CC, else cc, gcc or clang.

    Raises:
        CompilationError: there is none, or GOUGH_NO_COMPILER is set.
    """
    if os.environ.get("GOUGH_NO_COMPILER", "0") not in ("", "0"):
        raise CompilationError("GOUGH_NO_COMPILER is set")
    for name in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        path = shutil.which(name) if name else None
        if path:
            return _describe(path)
    raise CompilationError("no C compiler (cc, gcc or clang) was found")


@cache
def _describe(path: str) -> Compiler:
    try:
        done = subprocess.run(  # noqa: S603 - as in build
            [path, "--version"], text=True, capture_output=True, timeout=60.0, check=True
        )
    except subprocess.CalledProcessError as error:
        raise CompilationError(f"{path} --version ends with exit code {error.returncode}: no C compiler") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise CompilationError(f"{path} could not be run: {str(error).rstrip('.')}") from error
    return Compiler(path, done.stdout)


_WIDE = ("avx2", "avx512f", "avx512dq", "avx512vl")


@cache
def _vector_flags() -> tuple[str, ...]:
    """Flags for the wide registers of this processor; they are part of the name under which code is cached."""
    if platform.machine() != "x86_64":
        return ()
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as about:
            flags = next((line.split() for line in about if line.startswith("flags")), [])
    except OSError:
        return ()
    known = _WIDE if set(_WIDE) <= set(flags) else ("avx2",) if "avx2" in flags else ()
    return tuple(f"-m{name}" for name in known)


def doubles_in_a_register() -> int:
    """Doubles that a vector register of this processor holds; at least 4, which compilers make of two halves.

    Examples:
        >>> doubles_in_a_register() in (4, 8)
        True
    """
    return 8 if f"-m{_WIDE[1]}" in _vector_flags() else 4


_lock = Lock()
_warned: list[str] = []


def warn_once(reason: str) -> None:
    """Say, once per process, that kernels are not compiled."""
    with _lock:
        if _warned:
            return
        _warned.append(reason)
    warnings.warn(
        f"kernels run as NumPy replay, not as compiled code: {reason}. Results are the same to rounding, but slower; "
        "a C compiler and a private cache directory (GOUGH_CACHE) make them fast",
        CompilerWarning,
        stacklevel=4,
    )
