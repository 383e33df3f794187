"""What certificates about chains of deltas, H4, Par4 and planar 3-RRR state, and the evidence."""

from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

from gough.checker.certificate import require_digest
from gough.checker.leg_proofs import LegCut, LegLink, checked_links, double
from gough.checker.limits import brief, exact
from gough.core.errors import require


@dataclass(frozen=True)
class ChainBound:
    """Every consistent chain lies in the box that the boxes, each cut by weighted rows, end with.

    Of n rows, poses and then conditions, row k bounds equation k from above, row n + k from below; rows from 2 n on are
    the four planes or tangents of each product.
    """

    links: tuple[LegLink, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", checked_links(self.links))


@dataclass(frozen=True)
class ChainEmpty:
    """No chain of the prior is consistent: the boxes leave nothing."""

    links: tuple[LegLink, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "links", checked_links(self.links, empty=False))


@dataclass(frozen=True)
class ChainWitness:
    """A chain that fits: rational numbers, since its conditions hold exactly."""

    values: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(exact(x, "a value of a witness") for x in self.values))
        require(len(self.values) > 0, "a witness has a value for each unknown")


ChainProof = ChainBound | ChainEmpty | ChainWitness
CHAIN_PARTS = (*get_args(ChainProof), *get_args(LegLink), LegCut)
"""All types that a proof about a chain is made of."""


@dataclass(frozen=True)
class ChainCertificate:
    """A statement about one chain with its evidence, and the digest of the question that it answers.

    Examples:
        >>> ChainCertificate("sha256:" + 64 * "0", 2, ChainBound(())).kind
        'ChainBound'
    """

    problem: str
    chain: int
    proof: ChainProof
    more: float = 0.0
    """By how much more than stated every reading may be off, in the readings' unit; less if it is negative."""

    def __post_init__(self) -> None:
        whole = isinstance(self.chain, int) and not isinstance(self.chain, bool) and self.chain > 0
        require(whole, "a certificate names its chain, from 1 on")
        require_digest(self.problem)
        require(isinstance(self.proof, ChainProof), f"a certificate about a chain has a proof, not {brief(self.proof)}")
        object.__setattr__(self, "more", double(self.more, "what readings may be off by"))

    @property
    def kind(self) -> str:
        """The name of its proof's class."""
        return type(self.proof).__name__

    @property
    def links(self) -> tuple[LegLink, ...]:
        """Its boxes."""
        return () if isinstance(self.proof, ChainWitness) else self.proof.links
