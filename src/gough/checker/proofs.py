"""What certificates state about a bounded-error problem, each with the evidence that proves it.

The problem is |y_k − W_k θ| ≤ e_k + D_k |θ| for every row k (D is the radius of W, often absent), with θ in the prior
box; a θ that satisfies all of it is *consistent*. Rows are numbered from 0. Every number is an exact rational, so a
statement means the same on every computer.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, get_args

import numpy as np

from gough.checker.limits import exact
from gough.checker.physical_proofs import BodyTerms, PhysicalBound, PhysicalEmpty, PhysicalStep
from gough.checker.steps import (
    Coefficients,
    Link,
    Weights,
    coefficients,
    links,
    row_number,
    row_weights,
    rows_of,
    steps_of,
    support,
)
from gough.core.errors import require
from gough.core.sealed import brief


@dataclass(frozen=True)
class Witness:
    """The problem is consistent: `theta` satisfies every row and the prior.

    Examples:
        >>> Witness({"mass": 1.5}).theta
        (('mass', Fraction(3, 2)),)
    """

    theta: Coefficients

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", coefficients(self.theta, "theta"))
        require(len(self.theta) > 0, "a witness gives a value to each unknown")

    @property
    def rows(self) -> tuple[int, ...]:
        """None in particular: it rests on all."""
        return ()


@dataclass(frozen=True)
class Bound:
    """Every consistent θ satisfies direction · θ ≥ value, for each of the steps.

    The steps are a chain: where a direction has one unknown only, its bound tightens the box for the links after it.
    Among them there may be links of other kinds, a `Split` or a `Reach`, that serve the steps after them.

    Examples:
        >>> from gough.checker import Step
        >>> Bound([Step({"mass": 1}, 1.5, {17: 0.25})]).rows
        (17,)
    """

    steps: tuple[Link, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", links(self.steps))
        require(any(True for _ in steps_of(self.steps)), "a proof needs at least one step")

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows that the proof rests on."""
        return rows_of(self.steps)


@dataclass(frozen=True)
class Empty:
    """No θ satisfies all rows and the prior: the steps end in 0 ≥ value > 0, or in bounds that exclude each other.

    Examples:
        >>> from gough.checker import Step
        >>> Empty([Step({}, 1.0, {3: 1.0, 8: -1.0})]).rows
        (3, 8)
    """

    steps: tuple[Link, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", links(self.steps))
        require(len(self.steps) > 0, "a proof needs at least one step")

    @property
    def rows(self) -> tuple[int, ...]:
        """The culprits: rows that contradict each other, or the prior."""
        return rows_of(self.steps)


@dataclass(frozen=True)
class Strip:
    """|middle − d · θ| ≤ half for every consistent θ, with the weight that it has in an ellipsoid.

    Examples:
        >>> Strip(17, middle=3.0, half=0.5, weight=0.25).rows
        (17,)
    """

    of: int | str
    """d: the regressor of the row with this number, or one unknown by its name."""
    middle: Fraction
    half: Fraction
    weight: Fraction
    below: Weights | int | None = None
    """What proves d · θ ≥ middle − half: the row itself (for an unknown, the box) if nothing is given; weights on
    rows; or the round of this number, counted from 0, whose ellipsoid reaches no further."""
    above: Weights | int | None = None
    """What proves d · θ ≤ middle + half; the weights prove −d · θ ≥ −middle − half."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", str(self.of) if isinstance(self.of, str) else row_number(self.of))
        for name in ("middle", "half", "weight"):
            object.__setattr__(self, name, exact(getattr(self, name), f"the {name} of a strip"))
        for name in ("half", "weight"):
            require(getattr(self, name) >= 0, f"the {name} of a strip must not be negative")
        for name in ("below", "above"):
            side = getattr(self, name)
            if isinstance(side, int):
                object.__setattr__(self, name, _count(side, "a round", "a number"))
            elif side is not None:
                object.__setattr__(self, name, row_weights(side))

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows that it rests on."""
        sides = [support(side) for side in (self.below, self.above) if isinstance(side, tuple)]
        own = isinstance(self.of, int) and (self.below is None or self.above is None)
        return tuple(sorted({*([self.of] if own and isinstance(self.of, int) else []), *sum(sides, ())}))


@dataclass(frozen=True)
class Round:
    """(θ − center)ᵀ shape⁻¹ (θ − center) ≤ 1 for every consistent θ, by weighted strips.

    Σ weight (half² − (middle − d · θ)²) ≥ 0 holds in all strips. If it never exceeds 1 − (θ − center)ᵀ shape⁻¹
    (θ − center), then the latter is not negative either [BGFB94, §2.6.3].
    """

    center: Coefficients
    """Values by the names of all unknowns."""
    shape: tuple[tuple[Fraction, ...], ...]
    """The lower triangle, row by row, in the order of the center. A row of zeros is an unknown that the box fixes."""
    strips: tuple[Strip, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", coefficients(self.center, "center"))
        rows = tuple(tuple(exact(x, "an entry of shape") for x in row) for row in self.shape)
        object.__setattr__(self, "shape", rows)
        object.__setattr__(self, "strips", tuple(self.strips))
        fits = [len(row) for row in rows] == list(range(1, len(self.center) + 1))
        require(fits, f"the shape of {len(self.center)} unknowns is a lower triangle of as many rows")
        require(all(isinstance(strip, Strip) for strip in self.strips), "the strips of a round are of type Strip")
        # necessary for a semidefinite shape, and cheap; the check of the strips decides the rest
        minors = all(
            rows[i][i] >= 0 and all(rows[i][j] ** 2 <= rows[i][i] * rows[j][j] for j in range(i))
            for i in range(len(rows))
        )
        require(minors, "the shape of an ellipsoid must be positive semidefinite")


@dataclass(frozen=True)
class Inside:
    """Every consistent θ lies in the ellipsoid of the last round, and in the box that the steps establish.

    Each round is a complete ellipsoid; a later one may use the reach of earlier ones to narrow its strips.

    Examples:
        >>> strips = [Strip("mass", middle=1, half=2, weight=Fraction(1, 4))]
        >>> Inside([], [Round({"mass": 1}, [[4]], strips)]).ellipsoid.center
        (('mass', Fraction(1, 1)),)
    """

    steps: tuple[Link, ...]
    rounds: tuple[Round, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", links(self.steps))
        object.__setattr__(self, "rounds", tuple(self.rounds))
        require(len(self.rounds) > 0, "an ellipsoid needs at least one round")
        require(all(isinstance(one, Round) for one in self.rounds), "the rounds of an ellipsoid are of type Round")
        for number, one in enumerate(self.rounds):
            sources = (side for strip in one.strips for side in (strip.below, strip.above) if isinstance(side, int))
            late = max(sources, default=-1)
            require(late < number, f"a strip of round {number} refers to round {late}, which is not before it")

    @property
    def ellipsoid(self) -> Round:
        """What is stated: the last round."""
        return self.rounds[-1]

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows that the proof rests on."""
        strips = {row for one in self.rounds for strip in one.strips for row in strip.rows}
        return tuple(sorted({*strips, *rows_of(self.steps)}))


@dataclass(frozen=True)
class RelaxedStep:
    """direction · θ ≥ value for every θ of the box that violates at most q rows.

    Each cut proves it for all θ that violate none of its rows; a contradiction is a cut that no θ satisfies at all. If
    no q rows meet every cut, then each θ satisfies all rows of some cut.

    Examples:
        >>> RelaxedStep({"a": 1}, 1.5, [{0: 1.0}, {3: 0.5, 4: 0.5}]).rows
        (0, 3, 4)
    """

    direction: Coefficients
    """Empty, with no cuts but contradictions, for "no θ violates at most q rows"."""
    value: Fraction
    cuts: tuple[Weights, ...]
    contradictions: tuple[Weights, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", coefficients(self.direction, "direction"))
        object.__setattr__(self, "value", exact(self.value, "the value of a bound"))
        object.__setattr__(self, "cuts", tuple(row_weights(cut) for cut in self.cuts))
        object.__setattr__(self, "contradictions", tuple(row_weights(cut) for cut in self.contradictions))

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows that it rests on."""
        return _all_rows((*self.cuts, *self.contradictions))


@dataclass(frozen=True)
class RelaxedBound:
    """Every θ of the prior that violates at most q rows satisfies direction · θ ≥ value, for each of the steps.

    Examples:
        >>> RelaxedBound(1, [RelaxedStep({"a": 1}, 1.5, [{0: 1.0}, {3: 0.5, 4: 0.5}])]).rows
        (0, 3, 4)
    """

    q: int
    steps: tuple[RelaxedStep, ...]
    contradictions: tuple[Weights, ...] = ()
    """Cuts that no θ of the prior satisfies: they serve every step."""

    def __post_init__(self) -> None:
        _check_relaxed(self)
        require(len(self.steps) > 0, "a proof needs at least one step")

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows that the proof rests on."""
        return tuple(sorted({*_all_rows(self.contradictions), *(row for step in self.steps for row in step.rows)}))


@dataclass(frozen=True)
class RelaxedEmpty:
    """Every θ of the prior violates more than q rows: the steps end in contradictions that no q rows meet.

    Examples:
        >>> RelaxedEmpty(0, [], [{0: 1.0, 1: -1.0}]).rows
        (0, 1)
    """

    q: int
    steps: tuple[RelaxedStep, ...]
    contradictions: tuple[Weights, ...] = ()

    def __post_init__(self) -> None:
        _check_relaxed(self)
        require(bool(self.steps or self.contradictions), "a proof needs at least one step or contradiction")

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows that the proof rests on."""
        return tuple(sorted({*_all_rows(self.contradictions), *(row for step in self.steps for row in step.rows)}))


@dataclass(frozen=True)
class Violated:
    """Every θ of the prior violates at least `at_least` rows; one that violates at most q violates each of `outliers`.

    Each contradiction is a set of rows that no θ of the prior satisfies together: every θ violates one of them.

    Examples:
        >>> Violated(1, 1, [2], [{0: 1.0, 2: -1.0}, {1: 1.0, 2: -1.0}]).rows
        (0, 1, 2)
    """

    at_least: int
    q: int
    outliers: tuple[int, ...]
    contradictions: tuple[Weights, ...]

    def __post_init__(self) -> None:
        for name in ("at_least", "q"):
            object.__setattr__(self, name, _count(getattr(self, name), name))
        object.__setattr__(self, "outliers", tuple(row_number(row) for row in self.outliers))
        object.__setattr__(self, "contradictions", tuple(row_weights(cut) for cut in self.contradictions))
        require(bool(self.at_least or self.outliers), "it states nothing: at_least is 0, and no outlier is named")
        require(len(set(self.outliers)) == len(self.outliers), "an outlier is named once")
        require(len(self.contradictions) > 0, "a proof needs at least one contradiction")

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows that the proof rests on."""
        return _all_rows(self.contradictions)


Proof = Witness | Bound | Empty | Inside | RelaxedBound | RelaxedEmpty | Violated | PhysicalBound | PhysicalEmpty
PARTS = (*get_args(Proof), *get_args(Link), Strip, Round, RelaxedStep, PhysicalStep, BodyTerms)
"""All types that a proof is made of."""


def _check_relaxed(proof: "RelaxedBound | RelaxedEmpty") -> None:
    object.__setattr__(proof, "q", _count(proof.q, "q"))
    object.__setattr__(proof, "steps", tuple(proof.steps))
    object.__setattr__(proof, "contradictions", tuple(row_weights(cut) for cut in proof.contradictions))
    require(all(isinstance(step, RelaxedStep) for step in proof.steps), "the steps must be of type RelaxedStep")


def _count(value: Any, what: str, kind: str = "a number of rows") -> int:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    require(whole and int(value) >= 0, f"{what} is {kind}, 0 or more, but it is {brief(value)}")
    return int(value)


def _all_rows(cuts: Iterable[Weights]) -> tuple[int, ...]:
    return tuple(sorted({row for cut in cuts for row in support(cut)}))
