"""A folder of results that never costs anybody a file.

gough writes only into a folder that is new, empty, or holds nothing but what gough itself wrote there and nobody has
changed since. Which files those are, a manifest in the folder tells by their SHA-256.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from gough.core.errors import InputError

MANIFEST = "gough-manifest.json"
_TEMPORARY = ".gough-unfinished-"


def require_ours(folder: Path, *, besides: Sequence[str] = ()) -> None:
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
        if name == MANIFEST or file.name.startswith(_TEMPORARY) or any(fnmatch(name, each) for each in besides):
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


def write_folder(folder: Path, files: Mapping[str, bytes], *, besides: Sequence[str] = ()) -> None:
    """Write `files` by their names relative to `folder`; remove what an earlier run wrote and this one does not.

    The manifest first admits both the old and the new contents, so that a run that is interrupted anywhere leaves a
    folder that the next run may use. `besides` as for `require_ours`.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as place:
        ...     write_folder(Path(place), {"a.txt": b"1", "figures/b.txt": b"2"})
        ...     write_folder(Path(place), {"a.txt": b"3"})
        ...     sorted(p.name for p in Path(place).iterdir())
        ['a.txt', 'gough-manifest.json']
    """
    require_ours(folder, besides=besides)
    folder.mkdir(parents=True, exist_ok=True)
    before = _manifest(folder)
    after = {name: [_digest(content)] for name, content in files.items()}
    both = {name: sorted({*before.get(name, ()), *after.get(name, ())}) for name in {*before, *after}}
    _write(folder / MANIFEST, _manifest_text(both))
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        _write(folder / name, content)
    for file in list(_files(folder)):
        name = file.relative_to(folder).as_posix()
        if name not in files and (name in before or file.name.startswith(_TEMPORARY)):
            file.unlink()
            if file.parent != folder and not any(file.parent.iterdir()):
                file.parent.rmdir()
    _write(folder / MANIFEST, _manifest_text(after))


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
    except (ValueError, KeyError, TypeError, AttributeError) as error:
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
        with temporary.open("xb") as file:
            file.write(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
