"""Which gough, Python and numerical libraries a process has: results are recorded only from equal ones."""

import hashlib
import os
import platform
import socket
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from gough import __version__

_TEXT_ONLY = ("cli", "report")
"""Packages that present results and compute none."""


class Version(NamedTuple):
    """What the bits of a result depend on, besides the processor.

    Examples:
        >>> this_version().difference(this_version()._replace(gough="0.0.9"))
        'gough 0.0.9 instead of 0.1.0'
    """

    gough: str
    sources: str
    """Digest of gough's sources, without the packages that only present results."""
    python: str
    """Major and minor version."""
    numpy: str
    scipy: str

    def difference(self, other: tuple[str, ...]) -> str:
        """What `other` has in place of this; empty where they are equal."""
        for name, own, found in zip(self._fields, self, other, strict=True):
            if own != found and name == "sources":
                return f"gough {other[0]} with other sources (digest {found[:8]} instead of {own[:8]})"
            if own != found:
                return f"{name} {found} instead of {own}"
        return ""


@cache
def this_version() -> Version:
    """The version of this process, from the files at its first call."""
    python = ".".join(platform.python_version_tuple()[:2])
    return Version(__version__, sources(), python, _installed("numpy"), _installed("scipy"))


def sources(*parts: str) -> str:
    """Digest of the source files of gough, or of some of its folders and files, such as "dynamics".

    Examples:
        >>> sources("core") == sources("core"), sources("core") == sources("campaigns")
        (True, False)
    """
    root = Path(__file__).parents[1]
    chosen = [root / part for part in parts] or [each for each in root.iterdir() if each.name not in _TEXT_ONLY]
    files = sorted(file for each in chosen for file in ([each] if each.suffix == ".py" else each.rglob("*.py")))
    hashed = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        hashed.update(f"{file.relative_to(root).as_posix()}:{len(content)}:".encode() + content)
    return hashed.hexdigest()[:32]


def place() -> str:
    """The name of this process for messages.

    Examples:
        >>> str(os.getpid()) in place()
        True
    """
    return f"process {os.getpid()} on {socket.gethostname()}"


def _installed(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "none"
