"""Certificates: statements about a bounded-error problem, each with the evidence that proves it.

The problem is |y_k − W_k θ| ≤ e_k + D_k |θ| for every row k (D is the radius of W, often absent), with θ in the prior
box; a θ that satisfies all of it is *consistent*. Rows are numbered from 0. Every number is an exact rational, so a
statement means the same on every computer.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any

import numpy as np

from gough.core.arrays import ROWS_PER_BLOCK, Array
from gough.core.errors import AssumptionError, require
from gough.core.rational import rational
from gough.noise import Bounded
from gough.problem import LinearProblem

FORMAT = 1
"""Version of the certificates that this gough writes, and the newest that it reads."""

Coefficients = tuple[tuple[str, Fraction], ...]
Weights = tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class Step:
    """direction · θ ≥ value for every consistent θ, proven by weights on rows.

    Row k with weight λ gives λ W_k θ ≥ λ y_k − |λ| (e_k + D_k |θ|). What the weighted rows leave of the direction is
    multiplied by the sides of the box: the prior, tightened by the steps before this one.

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
        object.__setattr__(self, "value", rational(self.value, "the value of a bound"))
        object.__setattr__(self, "weights", row_weights(self.weights))


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


@dataclass(frozen=True)
class Bound:
    """Every consistent θ satisfies direction · θ ≥ value, for each of the steps.

    The steps are a chain: where a direction has one unknown only, its bound tightens the box for the steps after it.

    Examples:
        >>> Bound([Step({"mass": 1}, 1.5, {17: 0.25})]).rows
        (17,)
    """

    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", _chain(self.steps))

    @property
    def rows(self) -> tuple[int, ...]:
        """Rows that the proof rests on."""
        return _rows(self.steps)


@dataclass(frozen=True)
class Empty:
    """No θ satisfies all rows and the prior: the steps end in 0 ≥ value > 0, or in bounds that exclude each other.

    Examples:
        >>> Empty([Step({}, 1.0, {3: 1.0, 8: -1.0})]).rows
        (3, 8)
    """

    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", _chain(self.steps))

    @property
    def rows(self) -> tuple[int, ...]:
        """The culprits: rows that contradict each other, or the prior."""
        return _rows(self.steps)


Proof = Witness | Bound | Empty


@dataclass(frozen=True)
class Certificate:
    """A statement with its evidence, and the digest of the problem that it speaks about.

    Examples:
        >>> from gough import Unknowns
        >>> problem = LinearProblem([[1.0]], [2.0], Unknowns(["mass"]), Bounded(0.5))
        >>> certificate = Certificate.of(problem, Witness({"mass": 2.25}))
        >>> certificate.kind, certificate.problem == digest(problem)
        ('Witness', True)
    """

    problem: str
    """Digest of the problem, see `digest`."""
    proof: Proof
    version: int = FORMAT

    @classmethod
    def of(cls, problem: LinearProblem, proof: Proof) -> "Certificate":
        """The certificate of `proof` about `problem`; it is not checked here."""
        return cls(digest(problem), proof)

    @property
    def kind(self) -> str:
        return type(self.proof).__name__


def bounds_of(problem: LinearProblem) -> Bounded:
    """The noise of a problem that states bounds; others have no consistent set to speak about."""
    if not isinstance(problem.noise, Bounded):
        raise AssumptionError(
            "A certificate speaks about error bounds, but this problem states Gaussian noise. "
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


def coefficients(given: Any, what: str) -> Coefficients:
    """Names with their exact numbers, from a mapping or from pairs; no name may stand twice."""
    pairs = [(name, rational(x, f"{what}['{name}']")) for name, x in _pairs(given, what)]
    names = [name for name, _ in pairs]
    require(all(isinstance(name, str) for name in names), f"the {what} of a proof goes by names of unknowns")
    twice = sorted({name for name in names if names.count(name) > 1})
    require(not twice, f"the {what} of a proof has '{', '.join(twice)}' more than once")
    return tuple(pairs)


def row_weights(given: Any) -> Weights:
    """Row numbers with their exact weights, from a mapping or from pairs; no row may stand twice."""
    pairs = [(row, rational(x, f"the weight of row {row!r:.20}")) for row, x in _pairs(given, "weights")]
    for row, _ in pairs:
        whole = isinstance(row, int | np.integer) and not isinstance(row, bool)
        require(whole and int(row) >= 0, f"a row is counted from 0 by whole numbers, but one is {row!r:.40}")
    rows = [int(row) for row, _ in pairs]
    require(len(set(rows)) == len(rows), "a row of a proof has one weight, but one row stands more than once")
    return tuple((int(row), weight) for row, weight in pairs)


def _pairs(given: Any, what: str) -> Iterable[tuple[Any, Any]]:
    if isinstance(given, Mapping):
        return given.items()
    fits = isinstance(given, list | tuple) and all(isinstance(p, list | tuple) and len(p) == 2 for p in given)
    require(fits, f"{what} must be a mapping or pairs, but it is {given!r:.40}")
    return [(key, value) for key, value in given]


def _chain(steps: Iterable[Step]) -> tuple[Step, ...]:
    chain = tuple(steps)
    require(len(chain) > 0, "a proof needs at least one step")
    require(all(isinstance(step, Step) for step in chain), "the steps of a proof are values of type Step")
    return chain


def _rows(steps: tuple[Step, ...]) -> tuple[int, ...]:
    return tuple(sorted({row for step in steps for row, weight in step.weights if weight}))
