"""The exceptions of gough.

    GoughError
    ├── InputError        what the user gave cannot be used: shape, unit, name, NaN, file
    │   └── BeyondLimit   a certificate is larger than the checker accepts; it is not judged
    ├── AssumptionError   the method needs something the problem does not state
    └── EstimationError   the method ran, and its answer is not OK; carries that answer (gough.estimate)

A message says what is wrong, the likely reason, and what to do; it names file, row and column where there is one.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from math import isfinite


class GoughError(Exception):
    """Anything gough refuses on purpose. Catch this one to catch them all."""


class InputError(GoughError, ValueError):
    """An argument or a file cannot be used; the message says what, where and what to do.

    Attributes:
        key: Where a table of a study was being read, the keys below it that the message is about.
    """

    def __init__(self, message: str = "", *, key: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.key = key


class BeyondLimit(InputError):  # noqa: N818 - it says what is the matter
    """A certificate is larger than the checker accepts; it was not judged."""


class AssumptionError(GoughError):
    """The method needs something that the problem does not state."""


def require(condition: bool, message: str) -> None:  # noqa: FBT001 - reads as a sentence: require(x > 0, "...")
    """Raise InputError(message) unless `condition` holds."""
    if not condition:
        raise InputError(message)


def require_positive(value: float, what: str, unit: str = "") -> None:
    """Refuse a number that is not positive and finite.

    Examples:
        >>> require_positive(0.0, "rate", "Hz")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: rate must be positive, in Hz, but is 0.0
    """
    require(isfinite(value) and value > 0, f"{what} must be positive,{unit and f' in {unit},'} but is {value}")


def nearest(word: str, known: Iterable[str]) -> str:
    """`"; did you mean 'x'?"` for the closest known word, or an empty string.

    Examples:
        >>> nearest("fv1", ["fv_1", "fc_1", "mass"])
        "; did you mean 'fv_1'?"
    """
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""
