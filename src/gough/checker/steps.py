"""Links of linear proofs: each proves something of every consistent θ, and may use the box that earlier links leave."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Union

import numpy as np

from gough.checker.limits import DEPTH, exact, require_within
from gough.core.errors import require
from gough.core.sealed import brief

Coefficients = tuple[tuple[str, Fraction], ...]
Weights = tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class Step:
    """direction · θ ≥ value for every consistent θ, proven by weights on rows.

    Row k with weight λ gives λ W_k θ ≥ λ y_k − |λ| (e_k + D_k |θ|). What the weighted rows leave of the direction is
    multiplied by the sides of the box: the prior, tightened by the links before this one.

    Examples:
        >>> Step({"mass": 1}, 1.5, {17: 0.25})
        Step(direction=(('mass', Fraction(1, 1)),), value=Fraction(3, 2), weights=((17, Fraction(1, 4)),))
    """

    direction: Coefficients
    """Name and coefficient of the unknowns in it; a mapping is taken too. Empty for 0 ≥ value, a contradiction."""
    value: Fraction
    weights: Weights = ()
    """Number of a row, counted from 0, and its weight λ; a mapping is taken too."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", coefficients(self.direction, "direction"))
        object.__setattr__(self, "value", exact(self.value, "the value of a bound"))
        object.__setattr__(self, "weights", row_weights(self.weights))

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows that it rests on."""
        return support(self.weights)


@dataclass(frozen=True)
class Split:
    """Two cases: θ[name] ≤ at, with a chain of its own, and θ[name] ≥ at. What holds in both goes on.

    Where W is uncertain, |θ| is linear on each side of 0, and the union of both cases is smaller than the box before.

    Examples:
        >>> Split("mass", 0, below=[Step({"mass": 1}, -2, {3: 1})]).rows
        (3,)
    """

    name: str
    at: Fraction
    below: tuple["Link", ...] = ()
    above: tuple["Link", ...] = ()
    depth: int = field(init=False, repr=False, compare=False)
    """How many splits stand within each other, this one included."""

    def __post_init__(self) -> None:
        require(isinstance(self.name, str), f"a split goes along an unknown's name, not {brief(self.name)}")
        object.__setattr__(self, "name", str(self.name))
        object.__setattr__(self, "at", exact(self.at, "the place of a split"))
        object.__setattr__(self, "below", links(self.below))
        object.__setattr__(self, "above", links(self.above))
        inner = (link.depth for link in (*self.below, *self.above) if isinstance(link, Split))
        object.__setattr__(self, "depth", 1 + max(inner, default=0))
        require_within(self.depth, DEPTH, "cases are nested", " deep")

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows that it rests on."""
        return rows_of((*self.below, *self.above))


@dataclass(frozen=True)
class Reach:
    """|θ| ≤ bounds, all at once, where nothing was known before.

    Weighted rows give |θ_i| ≤ r_i + Σ_j G_ij |θ_j|. If b > 0 and r + G b < b for all of them then |θ| ≤ b: were
    s = |θ_i| / b_i the largest of these ratios and above 1, then s b_i ≤ r_i + s (G b)_i < s b_i.

    Examples:
        >>> Reach({"mass": 9.0}, {"mass": {17: 0.25}}).rows
        (17,)
    """

    bounds: Coefficients
    weights: tuple[tuple[str, Weights], ...]
    """For each of the names, weights with which the rows nearly isolate it; mappings are taken too."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", coefficients(self.bounds, "bounds"))
        each = tuple((str(name), row_weights(weights)) for name, weights in pairs(self.weights, "weights"))
        object.__setattr__(self, "weights", each)
        names = sorted(name for name, _ in self.bounds)
        require(len(names) > 0, "the bounds of a reach name at least one unknown")
        low = [name for name, bound in self.bounds if bound <= 0]
        require(not low, f"the bounds of a reach are positive, but that of '{', '.join(low)}' is not")
        require(sorted(name for name, _ in each) == names, "the weights of a reach go by the names of its bounds")

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows that it rests on."""
        return tuple(sorted({row for _, weights in self.weights for row in support(weights)}))


Link = Union[Step, Split, Reach]  # noqa: UP007 - names within it are not known yet
"""What a chain is made of."""


def steps_of(chain: Iterable[Link]) -> Iterator[Step]:
    """The steps that hold without a case distinction: what a chain states."""
    return (link for link in chain if isinstance(link, Step))


def links(given: Iterable[Link]) -> tuple[Link, ...]:
    """A chain, made sure of its links' types."""
    chain = tuple(given)
    fits = all(isinstance(link, Step | Split | Reach) for link in chain)
    require(fits, "a proof is a chain of values of type Step, Split or Reach")
    return chain


def rows_of(chain: Iterable[Link]) -> tuple[int, ...]:
    """Rows that a chain rests on."""
    return tuple(sorted({row for link in chain for row in link.rows}))


def support(weights: Weights) -> tuple[int, ...]:
    """Rows whose weight is not 0."""
    return tuple(sorted(row for row, weight in weights if weight))


def coefficients(given: Any, what: str) -> Coefficients:
    """Names with their exact numbers, from a mapping or from pairs; no name may stand twice."""
    each = [(name, exact(x, f"{what}['{name!s:.40}']")) for name, x in pairs(given, what)]
    require(all(isinstance(name, str) for name, _ in each), f"the {what} of a proof goes by names of unknowns")
    twice = sorted(name for name, count in Counter(name for name, _ in each).items() if count > 1)
    require(not twice, f"the {what} of a proof has '{', '.join(twice)}' more than once")
    return tuple((str(name), x) for name, x in each)


def row_weights(given: Any) -> Weights:
    """Row numbers with their exact weights, from a mapping or from pairs; no row may stand twice."""
    each = [(row_number(row), exact(x, f"the weight of row {brief(row)}")) for row, x in pairs(given, "weights")]
    rows = {row for row, _ in each}
    require(len(rows) == len(each), "a row of a proof has one weight, but one row stands more than once")
    return tuple(each)


def row_number(row: Any) -> int:
    """A row's number, made sure of."""
    whole = isinstance(row, int | np.integer) and not isinstance(row, bool)
    require(whole and int(row) >= 0, f"a row is counted from 0 by whole numbers, but one is {brief(row)}")
    return int(row)


def pairs(given: Any, what: str) -> Iterable[tuple[Any, Any]]:
    """Keys and values of a mapping, or of a list of pairs."""
    if isinstance(given, Mapping):
        return given.items()
    fits = isinstance(given, list | tuple) and all(isinstance(p, list | tuple) and len(p) == 2 for p in given)
    require(fits, f"{what} must be a mapping or pairs, but it is {brief(given)}")
    return [(key, value) for key, value in given]
