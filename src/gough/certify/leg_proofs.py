"""What certificates about legs state, and the evidence: boxes with weighted rows, and exhibited measurements."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Union

from gough.core.errors import require
from gough.core.rational import rational

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
        require(self.side in SIDES, f"the side of a cut is one of {', '.join(SIDES)}, not {self.side!r:.20}")
        for row, weight in self.weights:
            whole = isinstance(row, int) and not isinstance(row, bool) and row >= 0
            require(whole, f"a row has a whole number from 0, not {row!r:.20}")
            require(rational(weight, f"the weight of row {row}") >= 0, f"the weight of row {row} is negative")
        rational(self.bound, "a bound")


@dataclass(frozen=True)
class LegStage:
    """A box center ± radius in which the equations of a leg are expanded, and the cuts found there."""

    center: tuple[float, ...]
    radius: tuple[float, ...]
    cuts: tuple[LegCut, ...]
    leg: int | None = None
    """The leg's number; None: all legs that the certificate speaks about, with the errors of poses shared."""

    def __post_init__(self) -> None:
        fits = len(self.center) == len(self.radius) and bool(self.center)
        require(fits, "a stage has a center and a radius for each unknown")
        require(all(rational(r, "a radius") >= 0 for r in self.radius), "a radius must not be negative")
        require(all(abs(rational(c, "a center")) >= 0 for c in self.center), "a center must be finite")


@dataclass(frozen=True)
class LegSplit:
    """What is left is halved along one unknown; each half has a chain of its own, and their union goes on."""

    unknown: str
    at: float
    below: tuple["LegLink", ...]
    above: tuple["LegLink", ...]

    def __post_init__(self) -> None:
        rational(self.at, "where a box is halved")


LegLink = Union[LegStage, LegSplit]  # noqa: UP007 - a name within it is not known yet
"""A link of a chain: each may use the box that the ones before it leave."""


@dataclass(frozen=True)
class LegBound:
    """Every consistent leg lies in the box that the chain ends with."""

    links: tuple[LegLink, ...]


@dataclass(frozen=True)
class LegEmpty:
    """No leg of the prior is consistent."""

    links: tuple[LegLink, ...]


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
        require(len(self.move) == len(self.turn), "a witness has as many errors of orientation as of position")
        for row in (*self.move, *self.turn):
            require(len(row) == 3, f"an error of a pose has 3 numbers, not {len(row)}")
        for value in (*self.values, *(x for row in (*self.move, *self.turn) for x in row)):
            rational(value, "a number of a witness")
        require(all(_whole(pose) for pose in self.left_out), "poses that are left out have whole numbers from 0 on")


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
        require(all(_whole(pose) for pose in self.outliers), "outliers are poses with whole numbers from 0 on")


LegProof = LegBound | LegEmpty | LegWitness | LegOutliers


@dataclass(frozen=True)
class LegCertificate:
    """A statement about legs with its evidence, and the digest of the question that it answers.

    Examples:
        >>> LegCertificate("sha256:" + 64 * "0", (3,), LegEmpty(()), more=1e-3).kind
        'LegEmpty'
    """

    problem: str
    legs: tuple[int, ...]
    """The legs that it speaks about; one that speaks about several shares the errors of poses between them."""
    proof: LegProof
    more: float = 0.0
    """By how much more than stated every reading may be off, m; less if it is negative."""

    def __post_init__(self) -> None:
        require(bool(self.legs) and all(_whole(leg) for leg in self.legs), "a certificate names the legs it is about")
        require(len(set(self.legs)) == len(self.legs), "a certificate names each leg once")
        rational(self.more, "what readings may be off by")

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


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
