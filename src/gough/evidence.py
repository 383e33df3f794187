"""Evidence: data from which the answer of a method can be proven again, independently of the method.

These are plain data and assert nothing: `gough.checker` makes certificates of them, and checks those exactly.
"""

from dataclasses import dataclass
from typing import Union

from gough.core.arrays import Array, ArrayValue


@dataclass(frozen=True)
class Evidence:
    """direction · θ ≥ some value, because of weights on rows: what a certificate is made of, in exact fractions.

    Examples:
        >>> Evidence(("mass",), (1.0,), rows=(17,), weights=("1/4",)).rows
        (17,)
    """

    names: tuple[str, ...]
    factors: tuple[float, ...]
    """The direction: a factor for each of the names; nothing for a contradiction."""
    rows: tuple[int, ...]
    weights: tuple[str, ...]
    """A fraction for each of the rows, such as `-3/4`."""


@dataclass(frozen=True)
class Halves:
    """The box is split in two along one unknown; each half has links of its own, and the next link uses their union."""

    name: str
    at: float
    below: tuple["Link", ...]
    above: tuple["Link", ...]


@dataclass(frozen=True)
class Reach:
    """|θ| ≤ bounds for all names at once: these rows prove smaller bounds from any bounds, so that none are assumed."""

    names: tuple[str, ...]
    bounds: tuple[float, ...]
    evidence: tuple[Evidence, ...]
    """For each of the names, weights with which the rows nearly isolate it."""


Link = Union[Evidence, Halves, Reach]  # noqa: UP007 - names within it are not known yet
"""A link of a chain: each may use the box that the ones before it leave."""


@dataclass(frozen=True)
class RelaxedSide:
    """direction · θ ≥ value for every θ that violates at most q rows: each cut proves it unless one of its rows is."""

    names: tuple[str, ...]
    factors: tuple[float, ...]
    value: float
    cuts: tuple[Evidence, ...]
    contradictions: tuple[Evidence, ...]
    """Rows that no θ of the box satisfies together."""


@dataclass(frozen=True, eq=False)
class EllipsoidRound(ArrayValue):
    """Σ weights (half² − (middle − d·θ)²) ≥ 0 over strips |middle − d·θ| ≤ half, which puts θ into an ellipsoid."""

    rows: tuple[int, ...]
    """Number of the row whose d it is, or −1 − j for the unknown θ_j itself."""
    middle: Array
    """Without what flat unknowns, for which the factor has a row of zeros, add to d·θ."""
    half: Array
    weights: Array
    center: Array
    factor: Array
    """The strips imply θ = center + factor·w with |w| ≤ 1, with a little room for rounding."""
    below: tuple[Evidence, ...] = ()
    above: tuple[Evidence, ...] = ()
    """What bounds each d·θ from below and above; if empty, its row, the box or an earlier round does."""


@dataclass(frozen=True)
class LiftedCut:
    """sign · h[axis] ≥ value, or a contradiction where the sign is 0: multipliers ≥ 0 on rows A y ≤ b prove it.

    h = θ − center in a box, y = [h, products of h].
    """

    axis: int
    sign: float
    value: float
    rows: tuple[int, ...]
    """Equation by equation, then the envelopes in their order."""
    weights: tuple[float, ...]
    shares: tuple[float, ...]
    """The weights in units of the rows' lengths, which compare."""


@dataclass(frozen=True)
class LiftedStage:
    """A box of an iteration: the expansion's center and radius, and what was proven there."""

    center: tuple[float, ...]
    radius: tuple[float, ...]
    cuts: tuple[LiftedCut, ...]
    part: int | None = None
    """Which block of unknowns it is about, where equations come in blocks; None: all of them together."""


@dataclass(frozen=True)
class LiftedTree:
    """Boxes one after the other, and then perhaps two halves of what is left, each with a tree of its own."""

    stages: tuple[LiftedStage, ...]
    axis: int = 0
    at: float = 0.0
    """Point at which `axis` is halved."""
    halves: tuple["LiftedTree", ...] = ()
    """Below and above; nothing where it is not halved."""
