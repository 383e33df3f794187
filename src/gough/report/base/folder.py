"""A folder of results that never costs anybody a file, and never holds results of two runs without saying so.

gough writes only into a folder that is new, empty, or holds nothing but what gough itself wrote there and nobody has
changed since. Which files those are, a manifest in the folder tells by their SHA-256. While a command works, the folder
is locked against other processes; the lock ends with the process, however that ends. New files are complete before
the first old one is replaced, and as long as they are replaced a notice stands in the folder.
"""

import json
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from socket import gethostname
from threading import current_thread, main_thread

from gough.campaigns import LEDGERS
from gough.core.errors import InputError
from gough.core.files import naming
from gough.core.text import visible

MANIFEST = "gough-manifest.json"
NOTICE = "UNFINISHED.txt"
LOCK = ".gough-lock"
_TEMPORARY = ".gough-unfinished-"
_NOTICE_TEXT = (
    "gough was stopped while it replaced the results in this folder: files of two runs may be mixed.\n"
    "Run the same command again; it replaces them all and removes this notice.\n"
)


@dataclass(frozen=True)
class ResultsFolder:
    """A folder that this process alone may write to; `results_folder` makes it."""

    path: Path
    besides: tuple[str, ...] = LEDGERS

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write `files` by their names relative to the folder; remove what an earlier run wrote and this one does not.

        All files are complete on the disk before the first one gets its name. The manifest then admits both the old
        and the new contents, so that a run that is killed anywhere leaves a folder that the next run may use.
        """
        folder = self.path
        require_ours(folder, besides=self.besides)
        before = _manifest(folder)
        after = {name: [_digest(content)] for name, content in files.items()}
        both = {name: sorted({*before.get(name, ()), *after.get(name, ())}) for name in {*before, *after}}
        staged: dict[str, Path] = {}
        try:
            for name, content in files.items():
                staged[name] = folder / f"{_TEMPORARY}{token_hex(8)}"
                with naming(folder / name, staged[name]):
                    staged[name].write_bytes(content)
            with _undisturbed():
                _write(folder / MANIFEST, _manifest_text(both))
                _write(folder / NOTICE, _NOTICE_TEXT.encode())
                for name, complete in staged.items():
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    complete.replace(folder / name)
                self._remove_old(before, files)
                _write(folder / MANIFEST, _manifest_text(after))
                (folder / NOTICE).unlink()
        finally:
            for complete in staged.values():
                complete.unlink(missing_ok=True)

    def _remove_old(self, before: Mapping[str, list[str]], files: Mapping[str, bytes]) -> None:
        for file in list(_files(self.path)):
            name = file.relative_to(self.path).as_posix()
            if name not in files and (name in before or file.name.startswith(_TEMPORARY)):
                file.unlink()
        for parent in {(self.path / name).parent for name in before} - {self.path}:
            if parent.is_dir() and not any(parent.iterdir()):  # also one that a killed run made and did not fill
                parent.rmdir()


@contextmanager
def results_folder(folder: Path, *, besides: Sequence[str] = LEDGERS) -> Iterator[ResultsFolder]:
    """The folder for the results of a command, made, tried and locked before the work begins.

    A folder that is made here and stays empty, because the work fails, is removed again.

    Raises:
        InputError: it cannot be written to, holds what gough did not write, or another process writes to it.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as place:
        ...     with results_folder(Path(place) / "results") as results:
        ...         results.write({"a.txt": b"1", "figures/b.txt": b"2"})
        ...     sorted(p.name for p in results.path.iterdir())
        ['a.txt', 'figures', 'gough-manifest.json']
    """
    require_ours(folder, besides=besides)
    with locked_folder(folder):
        require_ours(folder, besides=besides)  # what another process wrote until it released the lock
        yield ResultsFolder(folder, tuple(besides))


@contextmanager
def empty_folder(folder: Path) -> Iterator[None]:
    """A new or empty folder, made and locked, for files that the user will own."""
    _require_empty(folder)
    with locked_folder(folder):
        _require_empty(folder)
        yield


def _require_empty(folder: Path) -> None:
    if folder.exists() or folder.is_symlink():
        if not folder.is_dir():
            raise InputError(f"{folder} is a file; give the name of a new folder")
        if any(each.name != LOCK for each in folder.iterdir()):
            raise InputError(f"{folder} is not empty; nothing was touched. Give the name of a new folder")


def write_folder(folder: Path, files: Mapping[str, bytes], *, besides: Sequence[str] = LEDGERS) -> None:
    """Write `files` by their names relative to `folder`; remove what an earlier run wrote and this one does not.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as place:
        ...     write_folder(Path(place), {"a.txt": b"1", "figures/b.txt": b"2"})
        ...     write_folder(Path(place), {"a.txt": b"3"})
        ...     sorted(p.name for p in Path(place).iterdir())
        ['a.txt', 'gough-manifest.json']
    """
    with results_folder(folder, besides=besides) as results:
        results.write(files)


def require_ours(folder: Path, *, besides: Sequence[str] = LEDGERS) -> None:
    """Raise InputError if results written to `folder` could overwrite or mix with anything that is not gough's.

    Files whose names match a pattern of `besides` may be there too: they are never written here.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as place:
        ...     (Path(place) / "thesis.tex").write_text("years of work")
        ...     try:
        ...         require_ours(Path(place))
        ...     except InputError as error:
        ...         print(str(error).replace(place, "here").split(";")[0])
        13
        'here' holds 'thesis.tex', which gough did not write
    """
    if not folder.exists() and not folder.is_symlink():
        return
    if not folder.is_dir():
        raise InputError(f"'{folder}' is a file, not a folder: choose another place for the results")
    known = _manifest(folder)
    for file in _files(folder):
        name = file.relative_to(folder).as_posix()
        if (
            name in (MANIFEST, LOCK)
            or (name == NOTICE and file.read_bytes() == _NOTICE_TEXT.encode())
            or file.name.startswith(_TEMPORARY)
            or any(fnmatch(name, each) for each in besides)
        ):
            continue
        if name not in known:
            raise InputError(
                f"'{folder}' holds '{name}', which gough did not write; nothing was touched. "
                "Choose a new or empty folder"
            )
        if file.is_symlink() or _digest(file.read_bytes()) not in known[name]:
            raise InputError(
                f"'{folder}' holds '{name}', which was changed after gough wrote it; nothing was touched. "
                "Move it away, or choose another folder"
            )


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """The folder, made where it is not there, while no other process may write results to it.

    The lock is a record lock of the system: it ends with the process that holds it, and forked workers do not inherit
    it. Where the system has no such locks, folders are not locked.

    Raises:
        InputError: another process holds the lock, or the folder cannot be written to.
    """
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = _locked(folder)
    except InputError:
        raise
    except (OSError, ValueError) as error:  # a name with the character NUL is a ValueError
        _remove_empty(made)
        why = getattr(error, "strerror", None) or error
        raise InputError(f"'{folder}' cannot be written to: {why}; choose another folder") from error
    try:
        yield
    finally:
        (folder / LOCK).unlink(missing_ok=True)
        os.close(lock)
        _remove_empty(made)


def _locked(folder: Path) -> int:
    """The open lock file. Its holder removes it, so a lock on a file that has lost its name counts for nothing."""
    path = folder / LOCK
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _take(lock, folder)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock), path.stat()):
                    os.ftruncate(lock, 0)
                    os.write(lock, json.dumps({"process": os.getpid(), "host": gethostname()}).encode())
                    return lock
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)


def _take(lock: int, folder: Path) -> None:
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as error:
        raise InputError(
            f"'{folder}' is being written by another gough ({_holder(lock)}); nothing was touched. Wait until that one "
            "has ended, or choose another folder"
        ) from error


def _holder(lock: int) -> str:
    try:
        noted = json.loads(os.read(lock, 1000))
        return visible(f"process {int(noted['process'])} on {noted['host']}")
    except (OSError, ValueError, KeyError, TypeError):
        return "a process that has just begun"


def _remove_empty(folders: Sequence[Path]) -> None:
    with suppress(OSError, ValueError):  # it is not empty, or was never made
        for folder in folders:
            folder.rmdir()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ctrl-C and a request to end wait for the few moments in which files are renamed.

    A mask of signals would not do: another thread of this process would get them, and Python tells the main one.
    """
    if current_thread() is not main_thread():  # handlers belong to that one
        yield
        return
    waiting: list[int] = []
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    for each, handler in before.items():
        if callable(handler):
            signal.signal(each, lambda number, _: waiting.append(number))
    try:
        yield
    finally:
        for each, handler in before.items():
            if callable(handler):
                signal.signal(each, handler)
        for number in waiting[:1]:
            signal.raise_signal(number)


def _files(folder: Path) -> Iterator[Path]:
    """Everything in it that is not a real folder, in a fixed order; links are not followed."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        else:
            yield path


def _manifest(folder: Path) -> dict[str, list[str]]:
    """The digests that each file of ours may have; empty where there is no manifest, or none of ours."""
    try:
        data = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return {str(name): [str(digest) for digest in digests] for name, digests in data["files"].items()}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"'{folder / MANIFEST}' is damaged, so gough cannot tell which files are its own; nothing was touched. "
            "Choose another folder"
        ) from error


def _manifest_text(files: Mapping[str, list[str]]) -> bytes:
    content = {"about": "Files written by gough; it replaces them only while they are unchanged.", "files": files}
    return (json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def _write(path: Path, content: bytes) -> None:
    """All of it or nothing: written under a temporary name, then renamed."""
    temporary = path.with_name(f"{_TEMPORARY}{token_hex(8)}")
    try:
        with naming(path, temporary), temporary.open("xb") as file:
            file.write(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
