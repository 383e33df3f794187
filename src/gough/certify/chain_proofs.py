"""What certificates about chains of deltas, H4, Par4 and planar 3-RRR state, and the evidence."""

from dataclasses import dataclass
from fractions import Fraction

from gough.certify.leg_proofs import LegLink
from gough.core.errors import require
from gough.core.rational import rational


@dataclass(frozen=True)
class ChainBound:
    """Every consistent chain lies in the box that the boxes, each cut by weighted rows, end with.

    Of n rows, poses and then conditions, row k bounds equation k from above, row n + k from below; rows from 2 n on are
    the four planes or tangents of each product.
    """

    links: tuple[LegLink, ...]


@dataclass(frozen=True)
class ChainEmpty:
    """No chain of the prior is consistent: the boxes leave nothing."""

    links: tuple[LegLink, ...]


@dataclass(frozen=True)
class ChainWitness:
    """A chain that fits: rational numbers, since its conditions hold exactly."""

    values: tuple[Fraction, ...]


ChainProof = ChainBound | ChainEmpty | ChainWitness


@dataclass(frozen=True)
class ChainCertificate:
    """A statement about one chain with its evidence, and the digest of the question that it answers.

    Examples:
        >>> ChainCertificate("sha256:" + 64 * "0", 2, ChainEmpty(())).kind
        'ChainEmpty'
    """

    problem: str
    chain: int
    proof: ChainProof
    more: float = 0.0
    """By how much more than stated every reading may be off, in the readings' unit; less if it is negative."""

    def __post_init__(self) -> None:
        whole = isinstance(self.chain, int) and not isinstance(self.chain, bool) and self.chain > 0
        require(whole, "a certificate names its chain, from 1 on")
        rational(self.more, "what readings may be off by")

    @property
    def kind(self) -> str:
        """The name of its proof's class."""
        return type(self.proof).__name__

    @property
    def links(self) -> tuple[LegLink, ...]:
        """Its boxes."""
        return () if isinstance(self.proof, ChainWitness) else self.proof.links
