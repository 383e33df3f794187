"""YAML, read with PyYAML where it is installed."""

from collections.abc import Mapping
from typing import Any

from gough.core.errors import InputError, require


def parsed_yaml(text: str | bytes, what: str) -> Mapping[str, Any]:
    """The table that a YAML text is.

    Args:
        text: The text.
        what: What the file should be, for the message: "a camera file of ROS or Kalibr".

    Raises:
        InputError: PyYAML is not installed, the text is no YAML, or it is no table of keys and values.
    """
    try:
        import yaml  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
    except ImportError as error:
        raise InputError(
            "YAML files are read with PyYAML, which is not installed: pip install gough[formats]"
        ) from error
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date such as 2024-13-45
        raise InputError(f"it is no YAML: {str(error).splitlines()[0]}{_line(error)}") from error
    require(isinstance(data, Mapping), f"it is no {what}: keys and values are expected")
    assert isinstance(data, Mapping)
    return data


def _line(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    return "" if mark is None else f" (line {mark.line + 1})"
