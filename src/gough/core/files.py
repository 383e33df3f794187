"""Files written completely or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from gough.core.errors import InputError, require


@contextmanager
def new_file(path: str | Path, *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """A file open for writing that gets its name only once it is complete; an existing one stays unless asked.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     with new_file(f"{folder}/a.txt") as file:
        ...         _ = file.write(b"all of it")
        ...     Path(folder, "a.txt").read_text()
        'all of it'
    """
    target, exists = Path(path), f"{path} exists; give another name, or overwrite=True"
    require(overwrite or not target.exists(), exists)
    require(target.parent.is_dir(), f"{path} cannot be written: there is no folder {target.parent}")
    temporary = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        with temporary.open("xb") as file:
            yield file
        if not overwrite:
            target.touch(exist_ok=False)  # fails if another process was faster
        temporary.replace(target)
    except FileExistsError as error:
        raise InputError(exists) from error
    finally:
        temporary.unlink(missing_ok=True)
