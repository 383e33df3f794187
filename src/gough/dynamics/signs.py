"""Signs: single pieces of evidence for or against a model, each a test with a stated level."""

from dataclasses import dataclass

from gough.core.errors import require
from gough.core.tables import Cell, Column, Table, table

LEVEL = 0.001
"""Probability with which one test rejects a model that is true."""
HELD_OUT = "held out against fitted"
COVERAGE = "coverage of intervals on held-out rows"


@dataclass(frozen=True)
class Sign:
    """The result of one test of a model against data.

    Examples:
        >>> Sign("noise level", against=False, statistic="χ²/dof = 0.98", p=0.7).against
        False
    """

    about: str
    """What was tested, in a few words: the first column of the table of evidence."""
    against: bool
    """Does the test reject the model?"""
    statistic: str = ""
    """The number that was tested, in words: `χ²/dof = 0.98`."""
    p: float | None = None
    """Probability of a result at least as far from the model's, if the model is true; None where it has none."""
    sentences: tuple[str, ...] = ()
    """What a reader must know of it."""

    def __post_init__(self) -> None:
        require(self.p is None or 0 <= self.p <= 1, f"p is a probability, not {self.p}")


def table_of_signs(signs: tuple[Sign, ...]) -> Table:
    """A row for each test: what it was about, its number, p, and whether it rejects the model."""
    columns = [
        Column("evidence", "label"),
        Column("result", "words"),
        Column("p"),
        Column("against the model", "label"),
    ]
    rows: list[list[str | Cell]] = [
        [sign.about, sign.statistic or "—", chance(sign.p), "yes" if sign.against else "no"] for sign in signs
    ]
    return table(columns, rows, "." * len(columns), "Evidence")


def chance(p: float | None) -> str:
    """A probability in two digits; one that is very small is given as a bound."""
    if p is None:
        return "—"
    return f"{p:.2g}" if p > 1e-12 else "< 1e-12"


def p_equals(p: float) -> str:
    """A probability in a sentence: `p = 0.02` or `p < 1e-12`."""
    text = chance(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"
