"""Functions compiled by numba, with a cache on disk that follows all their sources; importing it imports numba.

Numba keeps compiled code beside a module and compiles again if the file of that module changes. Code of other modules
that a function calls, and constants that it imports from them, are compiled into it: a change there would go unnoticed.
Here the cache is valid for one state of the module and of all modules of its package that it imports, directly or not.
"""

import re
import sys
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache

from gough.core.progress import compilation

F = TypeVar("F", bound=Callable[..., object])
_FROM = re.compile(r"^from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_IMPORT = re.compile(r"^import\s+([\w., ]+)", re.MULTILINE)


def compiled(function: F) -> F:
    """Compile a function by numba, with division as in numpy, and keep the machine code on disk.

    Examples:
        >>> @compiled
        ... def half(x: float) -> float:
        ...     return x / 2
        >>> half(3.0)
        1.5
    """
    return _cached(numba.njit(error_model="numpy")(function), function)


def compiled_loosely(function: F) -> F:
    """As `compiled`, but sums may be reordered: for results that are never trusted as they are.

    Examples:
        >>> @compiled_loosely
        ... def total(x: float, y: float) -> float:
        ...     return x + y
        >>> total(1.0, 2.0)
        3.0
    """
    return _cached(numba.njit(error_model="numpy", fastmath={"reassoc", "contract"})(function), function)


def _cached(dispatcher: Any, function: F) -> F:
    """The dispatcher with a cache on disk, stamped with all sources; without a file or a cache of this form, none.

    Its compiler runs in the context that shows it.
    """
    _show_compilation(dispatcher)
    stamp = source_digest(function.__module__)
    if stamp is not None:
        try:
            kept = FunctionCache(function)  # type: ignore[no-untyped-call]
            kept._cache_file._source_stamp = stamp  # noqa: SLF001 - numba offers no other way to a stamp of several files
        except (AttributeError, RuntimeError, OSError):  # another numba, or no folder to write to: compile each time
            return cast("F", dispatcher)
        dispatcher._cache = kept  # noqa: SLF001 - what njit(cache=True) sets
    return cast("F", dispatcher)


def _show_compilation(dispatcher: Any) -> None:
    compiler = getattr(dispatcher, "_compiler", None)
    compile_now = getattr(compiler, "compile", None)
    if compiler is None or compile_now is None:  # another numba
        return

    def shown(*signature: Any) -> Any:
        with compilation():
            return compile_now(*signature)

    compiler.compile = shown


def source_digest(module: str) -> str | None:
    """A digest of the source of a module and of all modules of its package that it imports; None without a file.

    Examples:
        >>> source_digest("gough.core.threads") == source_digest("gough.core.threads")
        True
    """
    package = sys.modules.get(module.partition(".")[0])
    home = getattr(package, "__file__", None)
    if home is None or "." not in module:
        return None
    root = Path(home).parent
    first = _file_of(root, module)
    if first is None:
        return None
    files, waiting = {first}, [first]
    while waiting:
        for name in _imported(waiting.pop()):
            file = _file_of(root, name)
            if file is not None and file not in files:
                files.add(file)
                waiting.append(file)
    whole = sha256()
    for file in sorted(files):
        whole.update(_digest(file, file.stat().st_mtime_ns))
    return whole.hexdigest()


def _file_of(root: Path, module: str) -> Path | None:
    """The source of a module of the package in `root`; None of another package's."""
    top, _, rest = module.partition(".")
    if top != root.name or not rest:
        return None
    base = root.joinpath(*rest.split("."))
    return next((file for file in (base.with_suffix(".py"), base / "__init__.py") if file.is_file()), None)


def _imported(file: Path) -> list[str]:
    """Names of what a file imports where it is loaded, as modules: `from a import b` may mean a, or a.b."""
    text = file.read_text(encoding="utf-8")
    names = [name.split(" as ")[0].strip() for line in _IMPORT.findall(text) for name in line.split(",")]
    for source, imported in _FROM.findall(text):
        parts = [part.split(" as ")[0].strip() for part in imported.split("#")[0].strip("() ").split(",")]
        names += [source, *(f"{source}.{part}" for part in parts if part)]
    return names


@cache
def _digest(file: Path, changed: int) -> bytes:  # noqa: ARG001 - read again after a change in the same process
    return sha256(file.read_bytes()).digest()
