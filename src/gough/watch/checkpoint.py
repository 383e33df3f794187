"""Checkpoints: the state of a watch and the position of its source, in one file that is written completely or not."""

import io
import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.errors import InputError, require
from gough.core.files import new_file

FORMAT = "gough watch checkpoint 2"
_ARRAY = "array"


def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write nested dictionaries and lists of numbers, texts and arrays; an older file is replaced at once."""
    arrays: list[Any] = []
    plain = _plain(state, arrays)
    body = io.BytesIO()
    np.savez(body, **{f"a{k}": array for k, array in enumerate(arrays)})
    content = body.getvalue()
    head = json.dumps({"format": FORMAT, "sha256": sha256(content).hexdigest(), "state": plain}).encode()
    with new_file(path, overwrite=True) as file:
        file.write(b"%d\n" % len(head) + head + content)
        file.flush()
        os.fsync(file.fileno())


def load_checkpoint(path: Path) -> dict[str, Any]:
    """The state that `save_checkpoint` wrote.

    Raises:
        InputError: the file is not complete, was changed, or is no checkpoint.
    """
    try:
        data = path.read_bytes()
        size, _, rest = data.partition(b"\n")
        require(size.isdigit() and len(size) < 12, "no checkpoint")
        head = json.loads(rest[: int(size)])
        content = rest[int(size) :]
        require(head["format"] == FORMAT and head["sha256"] == sha256(content).hexdigest(), "no checkpoint")
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = [file[f"a{k}"] for k in range(len(file.files))]
        state: dict[str, Any] = _restored(head["state"], arrays)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except (InputError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"{path} is no checkpoint of gough watch, or it is damaged: delete it to begin anew"
        ) from error
    return state


def _plain(value: Any, arrays: list[Any]) -> Any:
    """JSON with places of arrays; infinities are texts."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {_ARRAY: len(arrays) - 1}
    if isinstance(value, dict):
        return {"items": [[key, _plain(each, arrays)] for key, each in value.items()]}
    if isinstance(value, list | tuple):
        return [_plain(each, arrays) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": repr(value)}
    assert value is None or isinstance(value, bool | int | float | str), f"no place for {type(value)} in a checkpoint"
    return value


def _restored(value: Any, arrays: list[Any]) -> Any:
    if isinstance(value, list):
        return [_restored(each, arrays) for each in value]
    if not isinstance(value, dict):
        return value
    if _ARRAY in value:
        return arrays[value[_ARRAY]]
    if "float" in value:
        return float(value["float"])
    return {key: _restored(each, arrays) for key, each in value["items"]}
