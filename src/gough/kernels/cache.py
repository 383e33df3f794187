"""Compiled kernels kept between runs in the user's cache directory, and never loaded unless they are what was written.

An entry is a shared object named by the hash of all that made it, and beside it a seal: the SHA-256 of that name and
the file's bytes. A file that was truncated, altered, renamed or put there by something else has no matching seal; it is
compiled anew. The directory must belong to the user and be writable by nobody else.
"""

import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path

from gough.kernels.compiler import CompilationError, Compiler


def cache_directory() -> Path:
    """Where compiled kernels are kept: GOUGH_CACHE, else `gough` in the user's cache directory.

    Examples:
        >>> cache_directory().name
        'kernels'
    """
    if chosen := os.environ.get("GOUGH_CACHE"):
        return Path(chosen).absolute() / "kernels"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "gough" / "kernels"
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification says to ignore a relative path.
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "gough" / "kernels"


def compiled(source: str, compiler: Compiler) -> Path:
    """The path of the verified shared object of this C text, compiled now if it is not in the cache.

    Raises:
        CompilationError: the compiler failed, or the directory cannot be used or trusted.
    """
    flags = compiler.flags()
    key = hashlib.sha256("\0".join((source, compiler.identity(flags))).encode()).hexdigest()[:40]
    try:
        directory = _private_directory(cache_directory())
        path = directory / f"{key}.so"
        if not _is_sealed(path):
            _publish(source, flags, compiler, path)
    except (OSError, RuntimeError) as error:  # RuntimeError: the user has no home directory
        raise CompilationError(f"the cache directory cannot be used: {error}") from error
    return path


def _private_directory(path: Path) -> Path:
    """Create the directory if needed, and refuse one into which someone else could put a file."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise CompilationError(f"{path} is not a directory")
    if status.st_uid != os.geteuid():
        raise CompilationError(f"the cache directory {path} belongs to another user")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise CompilationError(f"others may write into the cache directory {path}; chmod 700 it")
    for parent in path.parents:
        mode = parent.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise CompilationError(f"anyone may replace the cache directory, because {parent} is world-writable")
    return path


def _seal_path(path: Path) -> Path:
    return path.with_suffix(".sha256")


def _seal(path: Path, content: bytes) -> str:
    return hashlib.sha256(path.stem.encode() + b"\0" + content).hexdigest()


def _is_sealed(path: Path) -> bool:
    try:
        return not path.is_symlink() and _seal_path(path).read_text() == _seal(path, path.read_bytes())
    except (FileNotFoundError, UnicodeDecodeError, IsADirectoryError):
        return False


def _publish(source: str, flags: tuple[str, ...], compiler: Compiler, path: Path) -> None:
    """Compile beside the final place and rename: another process sees the old entry or the new one, never half of one.

    Two processes may publish at once. Each renames whole files; should one's object meet the other's seal and differ,
    the next reader compiles again.
    """
    with tempfile.TemporaryDirectory(prefix="building-", dir=path.parent) as scratch:
        built, seal = Path(scratch) / path.name, Path(scratch) / _seal_path(path).name
        compiler.build(source, flags, built)
        seal.write_text(_seal(path, built.read_bytes()))
        built.replace(path)
        seal.replace(_seal_path(path))
