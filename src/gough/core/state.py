"""States that are saved and taken up again: JSON with a digest, so that a changed file is noticed."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from gough.core.errors import InputError, require
from gough.core.files import new_file


def save_state(path: str | Path, kind: str, state: dict[str, Any], *, overwrite: bool = False) -> None:
    """Write plain data under the name of its kind, completely or not at all.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     save_state(f"{folder}/a.json", "counter 1", {"count": 3})
        ...     load_state(f"{folder}/a.json", "counter 1")
        {'count': 3}
    """
    document = {"format": kind, "sha256": _digest(state), "state": state}
    with new_file(path, overwrite=overwrite) as file:
        file.write(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1).encode())


def load_state(path: str | Path, kind: str) -> dict[str, Any]:
    """The data that `save_state` wrote; InputError if the file is not complete, unchanged and of this kind."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        damaged = document["format"] != kind or document["sha256"] != _digest(document["state"])
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is no saved '{kind}', or only a part of one") from error
    require(not damaged, f"{path} is no saved '{kind}', or it was changed or damaged")
    state: dict[str, Any] = document["state"]
    return state


def _digest(state: Any) -> str:
    return sha256(json.dumps(state, ensure_ascii=False, sort_keys=True).encode()).hexdigest()
