"""What certificates about legs state, and the evidence: boxes with weighted rows, and exhibited measurements."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Union, get_args

from gough.checker.certificate import require_digest
from gough.checker.limits import DEPTH, brief, exact, require_within
from gough.core.errors import require
from gough.core.rational import as_double

SIDES = ("lower", "upper", "empty")


@dataclass(frozen=True)
class LegCut:
    """A bound on one unknown, or a contradiction (side "empty"), proven by weights ≥ 0 on rows of its stage.

    Of N poses, row k says that the distance of pose k is not too long, row N + k that it is not too short; rows from
    2 N on are the four planes or tangents of each product, in the order of `leg_rows.PRODUCTS`. If the stage is about
    several legs, each leg has so many rows, one leg after the other.

    Examples:
        >>> LegCut("a1x", "lower", -0.2, ((5, 1.5), (9, 0.25))).side
        'lower'
    """

    unknown: str
    side: str
    bound: float
    """Of the unknown, in m; 0 for a contradiction."""
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
class LegStage:
    """A box center ± radius in which the equations of a leg are expanded, and the cuts found there."""

    center: tuple[float, ...]
    radius: tuple[float, ...]
    cuts: tuple[LegCut, ...]
    leg: int | None = None
    """The leg's number; None: all legs that the certificate speaks about, with the errors of poses shared."""

    def __post_init__(self) -> None:
        for name in ("center", "radius"):
            object.__setattr__(self, name, doubles(getattr(self, name), f"a {name}"))
        object.__setattr__(self, "cuts", tuple(self.cuts))
        fits = len(self.center) == len(self.radius) and bool(self.center)
        require(fits, "a stage has a center and a radius for each unknown")
        require(all(r >= 0 for r in self.radius), "a radius must not be negative")
        require(all(isinstance(cut, LegCut) for cut in self.cuts), "the cuts of a stage are of type LegCut")
        require(self.leg is None or (_whole(self.leg) and self.leg > 0), "a stage names its leg, from 1 on, or none")


@dataclass(frozen=True)
class LegSplit:
    """What is left is halved along one unknown; each half has a chain of its own, and their union goes on."""

    unknown: str
    at: float
    below: tuple["LegLink", ...]
    above: tuple["LegLink", ...]
    depth: int = field(init=False, repr=False, compare=False)
    """How many halvings stand within each other, this one included."""

    def __post_init__(self) -> None:
        require(isinstance(self.unknown, str), f"a box is halved along an unknown's name, not {brief(self.unknown)}")
        object.__setattr__(self, "at", double(self.at, "where a box is halved"))
        for name in ("below", "above"):
            object.__setattr__(self, name, checked_links(getattr(self, name)))
        inner = (link.depth for link in (*self.below, *self.above) if isinstance(link, LegSplit))
        object.__setattr__(self, "depth", 1 + max(inner, default=0))
        require_within(self.depth, DEPTH, "boxes are halved", " times in a row")


LegLink = Union[LegStage, LegSplit]  # noqa: UP007 - a name within it is not known yet
"""A link of a chain: each may use the box that the ones before it leave."""


def checked_links(given: Any, *, empty: bool = True) -> tuple[LegLink, ...]:
    """A chain, made sure of its links' types."""
    links = tuple(given)
    require(all(isinstance(link, LegStage | LegSplit) for link in links), "a chain is made of LegStage and LegSplit")
    require(empty or len(links) > 0, "a contradiction needs at least one box")
    return links


@dataclass(frozen=True)
class LegBound:
    """Every consistent leg lies in the box that the chain ends with."""

    links: tuple[LegLink, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", checked_links(self.links))


@dataclass(frozen=True)
class LegEmpty:
    """No leg of the prior is consistent."""

    links: tuple[LegLink, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", checked_links(self.links, empty=False))


@dataclass(frozen=True)
class LegWitness:
    """A leg that fits, with errors of every pose at which it does.

    The errors are within their tolerances, and the distance that the leg spans then differs from l + reading by no more
    than the reading's tolerance: so some reading within its tolerance solves the equation.
    """

    values: tuple[float, ...]
    """a, b, l of each leg."""
    move: tuple[tuple[float, ...], ...]
    """Errors of positions δ, pose by pose, m."""
    turn: tuple[tuple[float, ...], ...]
    """Errors of orientations: v of the quaternion (1, v), which turns by 2 atan |v| about v."""
    left_out: tuple[int, ...] = ()
    """Poses at which it need not fit."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", doubles(self.values, "a value of a witness"))
        for name in ("move", "turn"):
            rows = tuple(doubles(row, "an error of a pose") for row in getattr(self, name))
            object.__setattr__(self, name, rows)
            require(all(len(row) == 3 for row in rows), "an error of a pose has 3 numbers")
        object.__setattr__(self, "left_out", tuple(self.left_out))
        require(bool(self.values) and len(self.values) % 7 == 0, "a witness has seven values for each leg")
        require(len(self.move) == len(self.turn), "a witness has as many errors of orientation as of position")
        fits = all(_whole(pose) and pose < len(self.move) for pose in self.left_out)
        require(fits, "poses that are left out have whole numbers from 0 on, and errors like all others")
        require(len(set(self.left_out)) == len(self.left_out), "a pose is left out once")


@dataclass(frozen=True)
class LegOutliers:
    """At least so many poses are wrong, whatever the leg; if at most q are, these ones are among them.

    Each contradiction is a chain that leaves nothing, so that no leg fits all the poses it uses. The checker itself
    goes through all choices of poses that might meet every contradiction.
    """

    at_least: int
    q: int
    outliers: tuple[int, ...]
    contradictions: tuple[tuple[LegLink, ...], ...]

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


LegProof = LegBound | LegEmpty | LegWitness | LegOutliers
LEG_PARTS = (*get_args(LegProof), *get_args(LegLink), LegCut)
"""All types that a proof about legs is made of."""


@dataclass(frozen=True)
class LegCertificate:
    """A statement about legs with its evidence, and the digest of the question that it answers.

    Examples:
        >>> LegCertificate("sha256:" + 64 * "0", (3,), LegBound(()), more=1e-3).kind
        'LegBound'
    """

    problem: str
    legs: tuple[int, ...]
    """The legs that it speaks about; one that speaks about several shares the errors of poses between them."""
    proof: LegProof
    more: float = 0.0
    """By how much more than stated every reading may be off, m; less if it is negative."""

    def __post_init__(self) -> None:
        require_digest(self.problem)
        object.__setattr__(self, "legs", tuple(self.legs))
        require(bool(self.legs) and all(_whole(leg) for leg in self.legs), "a certificate names the legs it is about")
        require(len(set(self.legs)) == len(self.legs), "a certificate names each leg once")
        require(isinstance(self.proof, LegProof), f"a certificate about legs has a proof, not {brief(self.proof)}")
        object.__setattr__(self, "more", double(self.more, "what readings may be off by"))
        values = len(self.proof.values) if isinstance(self.proof, LegWitness) else 7 * len(self.legs)
        require(values == 7 * len(self.legs), f"a witness of {len(self.legs)} legs has as many values: 7 for each")

    @property
    def kind(self) -> str:
        """The name of its proof's class."""
        return type(self.proof).__name__

    @property
    def chains(self) -> tuple[tuple[LegLink, ...], ...]:
        """Chains of boxes in it."""
        match self.proof:
            case LegOutliers(contradictions=chains):
                return chains
            case LegBound(links) | LegEmpty(links):
                return (links,)
            case LegWitness():
                return ()


def stages_of(links: Iterable[LegLink]) -> Iterator[LegStage]:
    """All boxes of a chain, those of its halves too."""
    for link in links:
        if isinstance(link, LegSplit):
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
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
