"""Numbers in sentences about identifications."""

from collections.abc import Callable, Sequence

import numpy as np

from gough.core import outward
from gough.core.arrays import Array
from gough.core.text import listed
from gough.data import MeasuredMotion

_MOST_ROWS = 5
"""Rows of a contradiction that are named."""


def as_given(value: float, *, digits: int = 0) -> str:  # noqa: ARG001 - the other ways to show a number round
    """The shortest decimal that is read as this number: what was given is repeated, not rounded.

    Examples:
        >>> as_given(0.06)
        '0.06'
    """
    return f"{value!r}".removesuffix(".0")


def measured_rows(motion: MeasuredMotion, rows: Sequence[int]) -> str:
    """Some rows of a problem, counted from 0, by actuator and by row of the recordings that the motion is made of.

    Examples:
        >>> from gough.dynamics.example import random_motion
        >>> measured_rows(random_motion(1)[1], [0, 2, 5])
        'motor 1 in rows 1, 2 and motor 2 in row 3 of recording'
    """
    places = np.argwhere(motion.kept)[list(rows)].tolist()
    by_place: dict[tuple[int, int], list[str]] = {}
    for sample, i in places[:_MOST_ROWS]:
        by_place.setdefault((int(motion.source[sample]), i), []).append(str(abs(motion.rows[sample])))
    sources = {int(motion.source[sample]) for sample, _ in places}
    texts = []
    for (source, i), numbers in by_place.items():
        where = f" of {motion.sources[source]}" if len(sources) > 1 else ""
        texts.append(f"{motion.actuators[i]} in row{'s' * (len(numbers) > 1)} {', '.join(numbers)}{where}")
    if len(rows) > _MOST_ROWS:
        more = len(rows) - _MOST_ROWS
        texts.append(f"{more} more row{'s' * (more > 1)}")
    return listed(texts) if len(sources) > 1 else f"{listed(texts)} of {motion.sources[sources.pop()]}"


def by_actuator(values: Array, units: Sequence[str], names: Sequence[str], rounded: Callable[..., str]) -> str:
    """One number where all actuators have about the same, else one for each, or for each by name if units differ.

    `rounded` makes text of a number: `number` rounds to nearest, those of `outward` to a side, where the one number is
    the least or the greatest; `as_given` does not round.
    """
    texts = [rounded(float(v), digits=3) for v in values]
    if len(set(units)) > 1:
        return listed([f"{text} {u} ({n})" for text, u, n in zip(texts, units, names, strict=True)])
    if float(values.max()) <= (1.0 if rounded is as_given else 1.02) * float(values.min()):
        one = {outward.at_most: values.max(), outward.at_least: values.min(), as_given: values.max()}.get(
            rounded, values.mean()
        )
        return f"{rounded(float(one), digits=3)} {units[0]}"
    return f"{', '.join(texts)} {units[0]} ({names[0]} to {names[-1]})"


def largest(values: Array) -> float:
    """The largest of the finite values; NaN where there is none."""
    finite = values[np.isfinite(values)]
    return float(finite.max()) if finite.size else float("nan")
