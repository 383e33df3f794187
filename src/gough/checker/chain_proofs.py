"""What certificates about kinematic chains state, and the evidence: boxes with weighted rows, exhibited values.

A leg of a Gough platform is a chain, and so is each chain of a delta, H4, Par4 or planar 3-RRR.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import Any, Union, get_args

from gough.checker.certificate import require_digest
from gough.checker.limits import DEPTH, exact, require_within
from gough.core.errors import require
from gough.core.rational import as_double
from gough.core.sealed import brief

SIDES = ("lower", "upper", "empty")


@dataclass(frozen=True)
class ChainCut:
    """A bound on one unknown, or a contradiction (side "empty"), proven by weights ≥ 0 on rows of its stage.

    A chain with n equations (poses, then conditions) has 2 n rows for them: row k bounds equation k from above, row
    n + k from below. The four planes or tangents of each product follow, in the order of the equations' `products`. In
    a stage about several chains, the rows of one chain follow those of another.

    Examples:
        >>> ChainCut("a1x", "lower", -0.2, ((5, 1.5), (9, 0.25))).side
        'lower'
    """

    unknown: str
    side: str
    bound: float
    """Bound of the unknown, m; 0 for a contradiction."""
    weights: tuple[tuple[int, float], ...]

    def __post_init__(self) -> None:
        require(isinstance(self.unknown, str), f"a cut names its unknown, not {brief(self.unknown)}")
        require(self.side in SIDES, f"the side of a cut is one of {', '.join(SIDES)}, not {brief(self.side)}")
        object.__setattr__(self, "bound", double(self.bound, "a bound"))
        require(self.side != "empty" or self.bound == 0, "a contradiction has no bound: 0 stands for it")
        for row, _ in self.weights:
            require(_whole(row), f"a row has a whole number from 0, not {brief(row)}")
        weights = tuple((int(row), double(weight, f"the weight of row {row}")) for row, weight in self.weights)
        object.__setattr__(self, "weights", weights)
        negative = [row for row, weight in weights if weight < 0]
        require(not negative, f"the weight of row {negative[:1]} is negative: a row is an inequality")
        require(len({row for row, _ in weights}) == len(weights), "a row of a cut has one weight")


@dataclass(frozen=True)
class ChainStage:
    """A box center ± radius in which the equations of a chain are expanded, and the cuts found there."""

    center: tuple[float, ...]
    radius: tuple[float, ...]
    cuts: tuple[ChainCut, ...]
    chain: int | None = None
    """The chain's number; None: all chains that the certificate is about, with the errors of poses shared."""

    def __post_init__(self) -> None:
        for name in ("center", "radius"):
            object.__setattr__(self, name, doubles(getattr(self, name), f"a {name}"))
        object.__setattr__(self, "cuts", tuple(self.cuts))
        fits = len(self.center) == len(self.radius) and bool(self.center)
        require(fits, "a stage has a center and a radius for each unknown")
        require(all(r >= 0 for r in self.radius), "a radius must not be negative")
        require(all(isinstance(cut, ChainCut) for cut in self.cuts), "the cuts of a stage are of type ChainCut")
        number = self.chain is None or (_whole(self.chain) and self.chain > 0)
        require(number, "a stage names its chain, counted from 1, or none")


@dataclass(frozen=True)
class ChainSplit:
    """What is left is halved along one unknown; each half has links of its own, and their union goes on."""

    unknown: str
    at: float
    below: tuple["ChainLink", ...]
    above: tuple["ChainLink", ...]
    depth: int = field(init=False, repr=False, compare=False)
    """How many halvings stand within each other, this one included."""

    def __post_init__(self) -> None:
        require(isinstance(self.unknown, str), f"a box is halved along an unknown's name, not {brief(self.unknown)}")
        object.__setattr__(self, "at", double(self.at, "where a box is halved"))
        for name in ("below", "above"):
            object.__setattr__(self, name, checked_links(getattr(self, name)))
        inner = (link.depth for link in (*self.below, *self.above) if isinstance(link, ChainSplit))
        object.__setattr__(self, "depth", 1 + max(inner, default=0))
        require_within(self.depth, DEPTH, "boxes are halved", " times in a row")


ChainLink = Union[ChainStage, ChainSplit]  # noqa: UP007 - a name within it is not known yet
"""Each link may use the box that the links before it leave."""


def checked_links(links: Any, *, empty: bool = True) -> tuple[ChainLink, ...]:
    """The links as a tuple; they must have the right types."""
    links = tuple(links)
    require(
        all(isinstance(link, ChainStage | ChainSplit) for link in links), "links are of type ChainStage or ChainSplit"
    )
    require(empty or len(links) > 0, "a contradiction needs at least one box")
    return links


@dataclass(frozen=True)
class ChainBound:
    """Every consistent chain lies in the box that the links end with."""

    links: tuple[ChainLink, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", checked_links(self.links))


@dataclass(frozen=True)
class ChainEmpty:
    """No chain of the prior is consistent: the links leave nothing."""

    links: tuple[ChainLink, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", checked_links(self.links, empty=False))


@dataclass(frozen=True)
class ChainWitness:
    """Chains that fit: values of their unknowns and, where several chains share them, errors of every pose.

    Values are rational numbers, because conditions must hold exactly.
    """

    values: tuple[Fraction, ...]
    """Values of all unknowns, chain after chain."""
    errors: tuple[tuple[Fraction, ...], ...] = ()
    """Errors of each pose that all chains share. Legs: δ in m, then v of the quaternion (1, v), which turns by
    2 atan |v| about v. Rods: δ and the heading, as far as the equations have them. Empty: one rod, errors not shown."""
    left_out: tuple[int, ...] = ()
    """Poses at which the chains need not fit."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(exact(x, "a value of a witness") for x in self.values))
        errors = tuple(tuple(exact(x, "an error of a pose") for x in row) for row in self.errors)
        object.__setattr__(self, "errors", errors)
        object.__setattr__(self, "left_out", tuple(self.left_out))
        require(len(self.values) > 0, "a witness has a value for each unknown")
        require(len({len(row) for row in errors}) <= 1, "each pose of a witness has as many errors as the others")
        require(all(_whole(pose) for pose in self.left_out), "poses that are left out have whole numbers from 0 on")
        require(len(set(self.left_out)) == len(self.left_out), "a pose is left out once")


@dataclass(frozen=True)
class ChainOutliers:
    """At least so many poses are wrong, whatever the chain; if at most q are, these ones are among them.

    Each contradiction consists of links that leave nothing, so that no chain fits all the poses it uses. The checker
    itself goes through all choices of poses that might meet every contradiction.
    """

    at_least: int
    q: int
    outliers: tuple[int, ...]
    contradictions: tuple[tuple[ChainLink, ...], ...]

    def __post_init__(self) -> None:
        for name in ("at_least", "q"):
            require(_whole(getattr(self, name)), f"{name} must be a whole number from 0 on")
        for name in ("outliers", "contradictions"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(
            self, "contradictions", tuple(checked_links(each, empty=False) for each in self.contradictions)
        )
        require(all(_whole(pose) for pose in self.outliers), "outliers are poses with whole numbers from 0 on")
        require(len(set(self.outliers)) == len(self.outliers), "an outlier is named once")
        require(bool(self.at_least or self.outliers), "it states nothing: at_least is 0, and no outlier is named")
        require(len(self.contradictions) > 0, "a proof needs at least one contradiction")


@dataclass(frozen=True)
class NumberedCut:
    """A bound on a quantity that has a number, or a contradiction (side "empty"), proven by weights ≥ 0 on rows.

    Examples:
        >>> NumberedCut(3, "upper", 0.5, ((7, 1.0),)).side
        'upper'
    """

    number: int
    side: str
    bound: float
    """0 for a contradiction."""
    weights: tuple[tuple[int, float], ...]

    def __post_init__(self) -> None:
        require(_whole(self.number), f"what a cut bounds has a whole number from 0, not {brief(self.number)}")
        same = ChainCut("", self.side, self.bound, self.weights)
        object.__setattr__(self, "bound", same.bound)
        object.__setattr__(self, "weights", same.weights)


@dataclass(frozen=True)
class ChainFrame:
    """Coordinates z of a chain, x = center + axes · z, and bounds of them and of what errors of poses multiply.

    The bounds are proven by weighted rows of the chain alone in the box center ± radius: of z_j with the number j, and
    of 2 d·D for the shared error e of pose k, of S, with the number n + S k + e.
    """

    center: tuple[float, ...]
    radius: tuple[float, ...]
    axes: tuple[tuple[float, ...], ...]
    """Row i has what each z_j adds to x_i."""
    inverse: tuple[tuple[float, ...], ...]
    """About the inverse of `axes`."""
    cuts: tuple[NumberedCut, ...]

    def __post_init__(self) -> None:
        for name in ("center", "radius"):
            object.__setattr__(self, name, doubles(getattr(self, name), f"a {name}"))
        for name in ("axes", "inverse"):
            object.__setattr__(self, name, tuple(doubles(row, f"a number of {name}") for row in getattr(self, name)))
        object.__setattr__(self, "cuts", tuple(self.cuts))
        n = len(self.center)
        square = all(len(rows) == n and all(len(row) == n for row in rows) for rows in (self.axes, self.inverse))
        require(
            n > 0 and len(self.radius) == n and square,
            "a frame has a radius, a coordinate and an axis for each unknown",
        )
        require(all(r >= 0 for r in self.radius), "a radius must not be negative")
        fits = all(isinstance(cut, NumberedCut) and cut.side != "empty" for cut in self.cuts)
        require(fits, "what a frame bounds are lower and upper sides")


@dataclass(frozen=True)
class JointEmpty:
    """No chains of the prior are consistent together: links leave a box, and stages in other coordinates nothing."""

    links: tuple[ChainLink, ...]
    frames: tuple[ChainFrame, ...]
    """One for each chain."""
    stages: tuple[tuple[NumberedCut, ...], ...]
    """Cuts of coordinates, chain after chain, and of errors of poses after them; all of a stage use the box before."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", checked_links(self.links))
        object.__setattr__(self, "frames", tuple(self.frames))
        object.__setattr__(self, "stages", tuple(map(tuple, self.stages)))
        require(all(isinstance(frame, ChainFrame) for frame in self.frames), "coordinates are of type ChainFrame")
        cuts = all(isinstance(cut, NumberedCut) for stage in self.stages for cut in stage)
        require(cuts, "the cuts of a stage are of type NumberedCut")


ChainProof = ChainBound | ChainEmpty | JointEmpty | ChainWitness | ChainOutliers
CHAIN_PARTS = (*get_args(ChainProof), *get_args(ChainLink), ChainCut, ChainFrame, NumberedCut)
"""All types that a proof about chains is made of."""


@dataclass(frozen=True)
class ChainCertificate:
    """A statement about chains with its evidence, and the digest of the question that it answers.

    Examples:
        >>> ChainCertificate("sha256:" + 64 * "0", (3,), ChainBound(()), more=1e-3).kind
        'ChainBound'
    """

    problem: str
    chains: tuple[int, ...]
    """Numbers of the chains that it is about; a certificate about several shares the errors of poses between them."""
    proof: ChainProof
    more: float = 0.0
    """By how much more than stated every reading may be off, in the readings' unit; less if it is negative."""

    def __post_init__(self) -> None:
        require_digest(self.problem)
        object.__setattr__(self, "chains", tuple(self.chains))
        numbers = bool(self.chains) and all(_whole(chain) and chain > 0 for chain in self.chains)
        require(numbers, "a certificate names the chains it is about, counted from 1")
        require(len(set(self.chains)) == len(self.chains), "a certificate names each chain once")
        require(isinstance(self.proof, ChainProof), f"a certificate about chains has a proof, not {brief(self.proof)}")
        object.__setattr__(self, "more", double(self.more, "what readings may be off by"))

    @property
    def kind(self) -> str:
        """The name of its proof's class."""
        return type(self.proof).__name__

    @property
    def evidence(self) -> tuple[tuple[ChainLink, ...], ...]:
        """The sequences of boxes in it."""
        match self.proof:
            case ChainOutliers(contradictions=contradictions):
                return contradictions
            case ChainBound(links) | ChainEmpty(links) | JointEmpty(links):
                return (links,)
            case ChainWitness():
                return ()


def stages_of(links: Iterable[ChainLink]) -> Iterator[ChainStage]:
    """All boxes of a sequence of links, those of halves included."""
    for link in links:
        if isinstance(link, ChainSplit):
            yield from stages_of((*link.below, *link.above))
        else:
            yield link


def double(value: Any, what: str) -> float:
    """The number as a double, which it must be: all that is derived from it has powers of two as denominators."""
    if type(value) is float and isfinite(value):
        return value
    number = as_double(exact(value, what))
    require(number is not None, f"{what} must be a double, but it is {brief(value)}")
    assert number is not None
    return number


def doubles(values: Any, what: str) -> tuple[float, ...]:
    """Several of them."""
    return tuple(double(value, what) for value in values)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
