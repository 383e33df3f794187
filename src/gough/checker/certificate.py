"""Certificates: a statement with its proof, the digest of the problem that both are about, and the verdict on it."""

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from math import inf
from typing import Any, ClassVar

import numpy as np

from gough.answers import ProvenIntervals
from gough.checker.physical_proofs import PhysicalBound, PhysicalEmpty
from gough.checker.proofs import Proof
from gough.core.arrays import ROWS_PER_BLOCK, Array
from gough.core.codec import encode
from gough.core.errors import AssumptionError, require
from gough.core.rational import round_down
from gough.core.schema import kinds_of
from gough.core.sealed import brief
from gough.core.tables import Table, table
from gough.core.text import visible
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import Interval

FORMAT = 2
"""Version of the certificates that this gough writes; older ones are read too."""
EQUAL = 4
"""First version of the kinds about bodies that can exist that states groups of equal bodies."""
NEWEST = 4
"""Version of the kinds about bodies that can exist, and the newest that is read."""


@dataclass(frozen=True)
class Certificate:
    """A statement with its evidence, and the digest of the problem that it is about.

    Examples:
        >>> from gough import Unknowns
        >>> from gough.checker import Witness
        >>> problem = LinearProblem([[1.0]], [2.0], Unknowns(["mass"]), Bounded(0.5))
        >>> certificate = Certificate.of(problem, Witness({"mass": 2.25}))
        >>> certificate.kind, certificate.problem == digest(problem)
        ('Witness', True)
    """

    problem: str
    """Digest of the problem, see `digest`."""
    proof: Proof
    version: int = FORMAT
    """Version of its format; `of` takes the one that is written for the kind of the proof."""

    def __post_init__(self) -> None:
        require_digest(self.problem)
        require(isinstance(self.proof, Proof), f"a certificate has a proof, not {brief(self.proof)}")
        require_version(self.version)
        known = self.kind in kinds_of("certificate", self.version)
        require(known, f"certificates of format {self.version} know no kind {self.kind}")
        groups = getattr(self.proof, "equal", ())
        require(not groups or self.version >= EQUAL, f"certificates of format {self.version} know no equal bodies")

    @classmethod
    def of(cls, problem: LinearProblem, proof: Proof) -> "Certificate":
        """The certificate of `proof` about `problem`; it is not checked here."""
        return cls(digest(problem), proof, NEWEST if isinstance(proof, PhysicalBound | PhysicalEmpty) else FORMAT)

    @property
    def kind(self) -> str:
        return type(self.proof).__name__


class CheckedIntervals(ProvenIntervals):
    """Base of verdicts: intervals are proven if what was checked holds."""

    checked_thing: ClassVar[str]
    """What was checked, for messages."""

    @property
    @abstractmethod
    def is_proven(self) -> bool:
        """Whether all that was checked holds."""

    def __post_init__(self) -> None:
        if not self.is_proven:
            object.__setattr__(self, "intervals", {})  # nothing is proven, whatever was computed on the way

    def __bool__(self) -> bool:
        return self.is_proven

    def _why_unproven(self, name: str) -> str:
        return super()._why_unproven(name) if self else f", because the {self.checked_thing} does not hold"


@dataclass(frozen=True)
class Verdict(CheckedIntervals):
    """Whether a certificate holds, and why. A verdict is true (`if verdict:`) if it holds; `str()` puts it in words.

    "Does not hold" means that the evidence falls short; the statement might still be true. Where a bound holds,
    `verdict.interval("mass")` is the proven interval of an unknown and `verdict["mass"]` its middle. JSON keeps the
    account, and a verdict is not restored from it, since a file is no proof: keep the certificate, and check it again.
    """

    holds: bool
    reason: str
    """Why, as a sentence without its full stop."""
    kind: str
    statement: tuple[str, ...]
    """What the certificate states, in words, line by line."""
    rows: tuple[int, ...]
    """Rows that the proof rests on, counted from 0; empty for a witness, which rests on all of them."""
    checked: str
    """What was looked at, in words."""
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    """Where a bound holds: what is proven of each unknown within the prior, rounded outward."""

    checked_thing: ClassVar[str] = "certificate"

    @property
    def is_proven(self) -> bool:
        return self.holds

    def table(self) -> Table:
        """The statement, line by line."""
        return table(["statement"], [[line] for line in self.statement], "l", "Statement")

    def headlines(self) -> tuple[str, ...]:
        """The verdict, and what was checked."""
        answer = "The certificate holds" if self.holds else "The certificate does not hold"
        return (visible(f"{answer}: {self.reason}."), visible(f"Checked: {self.checked}."))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; infinite ends are the texts "inf" and "-inf"."""
        return {
            "holds": self.holds,
            "reason": self.reason,
            "kind": self.kind,
            "statement": list(self.statement),
            "rows": list(self.rows),
            "checked": self.checked,
            "intervals": {name: encode(tuple(interval)) for name, interval in self.intervals.items()},
        }

    def __str__(self) -> str:
        states = [f"  {line}" for line in self.statement]
        head = f"{self.kind} states:" if states else f"{self.kind}: what it states could not be established."
        verdict, checked = self.headlines()
        return "\n".join([*map(visible, (head, *states)), checked, verdict])


def rounded_intervals(
    names: Sequence[str], lower: Sequence[Fraction | None], upper: Sequence[Fraction | None]
) -> dict[str, Interval]:
    """Exact sides as intervals of doubles, rounded outward; None is a side at infinity.

    Examples:
        >>> rounded_intervals(["a"], [Fraction(1, 2)], [None])
        {'a': Interval(lower=0.5, upper=inf)}
    """
    low = (None if x is None else round_down(x) for x in lower)
    high = (None if x is None else round_down(-x) for x in upper)
    return {
        name: Interval(-inf if a is None else a, inf if b is None else -b)
        for name, a, b in zip(names, low, high, strict=True)
    }


def require_digest(value: Any) -> None:
    """Refuse what is no digest of a problem."""
    fits = isinstance(value, str) and re.fullmatch("sha256:[0-9a-f]{64}", value) is not None
    require(fits, 'problem must be a digest, "sha256:" and 64 hexadecimal digits')


def require_version(given: Any) -> None:
    """Refuse formats that this gough does not know."""
    require(type(given) is int and given >= 1, f"version must be a whole number from 1, but it is {brief(given)}")
    require(
        given <= NEWEST,
        f"the certificate has format {given}, from a newer gough; this one reads up to {NEWEST}. Update gough",
    )


def bounds_of(problem: LinearProblem) -> Bounded:
    """The noise of a problem that states bounds; others have no consistent set to certify."""
    if not isinstance(problem.noise, Bounded):
        raise AssumptionError(
            "A certificate is about error bounds, but this problem states Gaussian noise. "
            "State Bounded(radius) as its noise."
        )
    return problem.noise


def digest(problem: LinearProblem) -> str:
    """SHA-256 of everything that decides which θ are consistent, and of what its axes and rows are called.

    Hashed are, in this order: names, units, group names; the positions of the rows; the prior's sides; y; the radius
    of y; the radius of W; W. Each array is preceded by its name, type and shape and goes in as little-endian numbers
    in C order, each text by its length. Nominal values and a Gaussian belief exclude nothing and are left out. W is
    walked through by blocks of rows.

    Examples:
        >>> from gough import Unknowns
        >>> digest(LinearProblem([[1.0]], [2.0], Unknowns(["mass"]), Bounded(0.5)))[:23]
        'sha256:3ed7c74f9087a3a8'
    """
    noise, prior = bounds_of(problem), problem.unknowns.bounds
    h = sha256(b"gough linear problem 1\n")
    for texts in (problem.unknowns.names, problem.unknowns.units, problem.groups.names):
        h.update(b"%d texts\n" % len(texts))
        for text in texts:
            coded = text.encode("utf-8", "surrogatepass")
            h.update(b"%d:%s" % (len(coded), coded))
    _update(h, "position", problem.groups.position, "<i8")
    arrays: dict[str, Array | None] = {"prior_lower": prior.lower, "prior_upper": prior.upper, "y": problem.y}
    arrays |= {"radius": noise.radius, "regressor": noise.regressor, "W": problem.W}
    for name, values in arrays.items():
        _update(h, name, values, "<f8")
    return f"sha256:{h.hexdigest()}"


def _update(h: Any, name: str, values: Any, dtype: str) -> None:
    if values is None:
        h.update(f"{name} none\n".encode())
        return
    h.update(f"{name} {dtype} {values.shape}\n".encode())
    for start in range(0, len(values) if values.ndim else 1, ROWS_PER_BLOCK):
        block = values[start : start + ROWS_PER_BLOCK] if values.ndim else values
        h.update(np.ascontiguousarray(block, dtype=dtype).data)
