"""The interface that the answers of all verbs share."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gough.core.errors import InputError, nearest, require
from gough.core.text import visible
from gough.region import Box, Interval

if TYPE_CHECKING:
    from gough.core.tables import Table


class Answer(ABC):
    """Base of what `estimate`, `identify`, `calibrate`, `certify`, `check`, `design` and `choose_poses` return.

    `answer["mass"]` is the value of one parameter and `answer.interval("mass")` its interval; `answer.names` lists the
    parameters. `print(answer)` shows the table with headline and notes, notebooks show it as HTML. `to_json` and the
    class method `from_json` keep an answer in a file; what `certify` and `check` prove is not restored from JSON, since
    a file is no proof: their certificates are checked again. `report` writes a page with figures. A value lies in its
    interval.
    """

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The parameters that can be asked for by name."""

    @abstractmethod
    def __getitem__(self, name: str) -> Any:
        """The value of one parameter."""

    @abstractmethod
    def interval(self, name: str, level: float | None = None) -> Interval:
        """The interval of one parameter; `level` is the confidence level, where the answer has one."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, in SI units."""

    @abstractmethod
    def table(self) -> "Table":
        """The table: `print` shows it as aligned text, notebooks as HTML."""

    def headlines(self) -> Sequence[str]:
        """Sentences above the table."""
        return ()

    def remarks(self) -> Sequence[str]:
        """Sentences below the table."""
        return ()

    def __str__(self) -> str:
        return "\n".join([*self.headlines(), str(self.table()), *self.remarks()])

    def _repr_html_(self) -> str:
        """The headlines, the table and the remarks for a notebook."""
        from gough.core.html import tag  # noqa: PLC0415 - start-up time
        from gough.core.tables import html_table  # noqa: PLC0415 - start-up time

        above = (tag("p", line) for line in self.headlines())
        return "\n".join([*above, html_table(self.table(), self.remarks())])

    def to_json(self) -> str:
        """`to_dict` as text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)

    def report(self, folder: str | Path, *, title: str = "") -> Path:
        """Write the page, figures and JSON to a folder and return the path of the page; see `gough.write_report`."""
        # reports are made of answers: `gough` itself imports them at their first use
        written: Path = import_module("gough").write_report(self, folder, title=title)
        return written


class ProvenIntervals(Answer):
    """Base of answers with intervals that are proven, by name: verdicts of a check, and bounds of bodies."""

    intervals: Mapping[str, Interval]

    @property
    def names(self) -> tuple[str, ...]:
        """What an interval is proven of."""
        return tuple(self.intervals)

    def __getitem__(self, name: str) -> float:
        """The middle of a proven interval; where one end is infinite, the other end."""
        lower, upper = self.interval(name)
        return float(Box(np.array([lower]), np.array([upper])).center[0])

    def interval(self, name: str, level: float | None = None) -> Interval:
        """The proven interval of this name.

        Raises:
            InputError: no interval of this name is proven, or `level` is given, which a proof does not have.
        """
        require(level is None, "a proven interval has no confidence level: leave level out")
        require(name in self.intervals, f"no interval of '{visible(name)}' is proven{self._why_unproven(name)}")
        return self.intervals[name]

    def _why_unproven(self, name: str) -> str:
        """The end of the message about a name of which no interval is proven."""
        return nearest(name, self.intervals)


def position_of(name: str, names: Sequence[str], what: str) -> int:
    """Number of the entry with this name; InputError names the nearest one.

    Examples:
        >>> position_of("mass", ("mass", "friction"), "parameter")
        0
    """
    if name not in names:
        raise InputError(f"no {what} is called '{name}'{nearest(name, names)}")
    return names.index(name)


def predicted_interval(value: float, sigma: float, level: float | None) -> Interval:
    """The interval value ± k σ of a Gaussian with this probability, 0.95 by default.

    Examples:
        >>> lower, upper = predicted_interval(1.0, 0.1, None)
        >>> round(lower, 3), round(upper, 3)
        (0.804, 1.196)
    """
    from scipy.special import ndtri  # noqa: PLC0415 - start-up time

    level = 0.95 if level is None else level
    require(0 < level < 1, f"a confidence level lies between 0 and 1, but level = {level}")
    half = float(ndtri((1 + level) / 2)) * sigma
    return Interval(value - half, value + half)


def read_json(text: str) -> Any:
    """The data of a JSON document; InputError where it is not complete.

    Examples:
        >>> read_json('{"mass": 1.5}')
        {'mass': 1.5}
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits, and lists in lists in lists
        raise InputError(f"not a complete JSON document: {error}") from error
