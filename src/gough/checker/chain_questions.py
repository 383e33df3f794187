"""What certificates about chains speak about: distances between points that are affine in the unknowns, and a prior."""

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from gough.core import intervals as iv
from gough.core.arrays import Array, ArrayValue
from gough.core.errors import require
from gough.core.intervals import Interval
from gough.region import Box

Condition = tuple[tuple[int, int, float], ...]
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
ARRAYS = ("p", "A", "D", "B", "tolerance", "bend", "blur")


@dataclass(frozen=True, eq=False)
class ChainQuestion(ArrayValue):
    """Which x of the prior have |d| = l in every pose, d = p + A x + Σ ε_e (D_e + B_e x) + ρ, |ε_e| ≤ tolerance?

    l is the last unknown, and |ρ| ≤ blur + Σ bend_j |x_j| is what a linear error leaves out, and what was rounded when
    p, A, D and B were computed. All numbers are doubles, taken exactly. `chain_question` makes it from a problem.

    Examples:
        >>> arrays = [np.zeros(shape) for shape in ((1, 3), (1, 3, 1), (1, 1, 3), (1, 1, 3, 1), (1, 1), (1, 1), 1)]
        >>> arrays[0][0, 2] = 0.5
        >>> question = ChainQuestion(2, ("rod_2",), Box([0.4], [0.6]), *arrays, ((0, 0),), reading=0)
        >>> question.n_poses, question.digest()[:15]
        (1, 'sha256:d4e742d1')
    """

    chain: int
    names: tuple[str, ...]
    prior: Box
    p: Array
    """(N, 3)."""
    A: Array
    """(N, 3, n)."""
    D: Array
    """(N, E, 3)."""
    B: Array
    """(N, E, 3, n)."""
    tolerance: Array
    """(N, E)."""
    bend: Array
    """(N, n)."""
    blur: Array
    """(N,)."""
    products: tuple[tuple[int, int], ...]
    """Pairs i ≤ j of unknowns whose products are columns of the rows; other products count by their size."""
    conditions: tuple[Condition, ...] = ()
    """Each is Σ coefficient · x_i x_j = 0 over its (i, j, coefficient)."""
    reading: int = 0
    """Which error is the reading's."""
    reading_unit: str = "m"
    """If it is rad, the reading turns vectors, and |ρ| grows with the square of its tolerance."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        for name in ARRAYS:
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=float))
        n, (N, E) = len(self.names), self._size()
        require(len(set(self.names)) == n > 0, "unknowns have different names")
        named = all(_NAME.fullmatch(name) for name in self.names)
        require(named, "names of unknowns are letters, digits and underscores")  # they are printed in statements
        require(len(self.prior) == n, f"the chain has {n} unknowns, but the prior has {len(self.prior)} axes")
        require(self.prior.is_bounded and not self.prior.is_empty, "the prior must have finite sides, and not be empty")
        require(bool(self.prior.lower[-1] >= 0), f"{self.names[-1]} is a length: its prior must not be negative")
        shapes = ((N, 3), (N, 3, n), (N, E, 3), (N, E, 3, n), (N, E), (N, n), (N,))
        for name, shape in zip(ARRAYS, shapes, strict=True):
            values = getattr(self, name)
            require(values.shape == shape, f"{name} must be {shape}, but it is {values.shape}")
            require(bool(np.isfinite(values).all()), f"{name} must be finite")
        for name in ("tolerance", "bend", "blur"):
            require(bool((getattr(self, name) >= 0).all()), f"{name} must not be negative")
        pairs = [*self.products, *((i, j) for condition in self.conditions for i, j, _ in condition)]
        require(all(0 <= i <= j < n for i, j in pairs), "products are pairs i ≤ j of unknowns")
        require(len(set(self.products)) == len(self.products), "a product stands more than once")
        for condition in self.conditions:  # a term that stands twice would count twice
            pairs = [(i, j) for i, j, _ in condition]
            require(0 < len(set(pairs)) == len(pairs), "a condition has terms, and a product stands once in it")
            finite = all(np.isfinite(c) and c for _, _, c in condition)
            require(finite, "coefficients of a condition are finite, and none is zero")
        require(0 <= self.reading < E, f"there is no error {self.reading}")
        require(self.reading_unit in {"m", "rad"}, "readings are in m or rad")

    def _size(self) -> tuple[int, int]:
        require(self.tolerance.ndim == 2 and self.tolerance.size > 0, "tolerances are a table: poses by errors")
        return self.tolerance.shape[0], self.tolerance.shape[1]

    @property
    def n_poses(self) -> int:
        """Number of measurements."""
        return len(self.tolerance)

    @property
    def n_rows(self) -> int:
        """Measurements, then conditions."""
        return self.n_poses + len(self.conditions)

    @property
    def turned(self) -> tuple[int, ...]:
        """The unknowns that the reading turns."""
        if self.reading_unit != "rad":
            return ()
        return tuple(np.flatnonzero(self.B[:, self.reading].any(axis=(0, 1))).tolist())

    def digest(self) -> str:
        """SHA-256 of everything: names, shapes and little-endian doubles."""
        h = sha256(b"gough chain 1\n")
        words = (self.chain, self.names, self.products, self.conditions, self.reading, self.reading_unit)
        h.update(f"{words!r}\n".encode())
        arrays = {"lower": self.prior.lower, "upper": self.prior.upper}
        for name, values in (arrays | {name: getattr(self, name) for name in ARRAYS}).items():
            h.update(f"{name} {values.shape}\n".encode())
            h.update(np.ascontiguousarray(values, dtype="<f8").data)
        return f"sha256:{h.hexdigest()}"


def chain_question(problem: Any, chain: int = 1, *, reading: int = 3, reading_unit: str = "m") -> ChainQuestion:
    """The question that a quadratic chain asks: middles of its intervals, and their radii as part of ρ.

    `reading` is the place of the reading among the errors.

    Examples:
        >>> from gough.closure import Tolerances, certified_chain, quadratic_unknowns
        >>> from gough.data import Poses
        >>> from gough.robots import LinearDelta
        >>> printer, p = LinearDelta(), np.array([[0.0, 0.0, 0.1], [0.05, 0.0, 0.1]])
        >>> prior = Box.around(quadratic_unknowns(printer, printer.nominal, 1), 0.1)
        >>> poses = Poses(p, None, printer.inverse(printer.nominal, p))
        >>> question = chain_question(certified_chain(printer, poses, 1, prior, Tolerances(1e-4, 1e-5)))
        >>> question.names, bool(question.blur.max() < 1e-15)
        (('tower_x_1', 'tower_y_1', 'carriage_1', 'arm_1'), True)
    """
    t = Interval(problem.tolerance) + 1.0  # readings may be off by up to 1 m or 1 rad more than stated
    middles = {name: getattr(problem, name).mid for name in ("p", "A", "D", "B")}
    away = {name: Interval(abs(getattr(problem, name) - middle).upper) for name, middle in middles.items()}
    blur = iv.sum(away["p"]) + iv.sum(t * iv.sum(away["D"]))
    by_error = _summed(away["B"], 2)
    weighted = iv.rearrange(lambda end: end[..., None], t) * by_error
    bend = Interval(problem.bend) + _summed(away["A"], 1) + _summed(weighted, 1)
    conditions = tuple(tuple((i, j, float(c)) for (i, j), c in each.items()) for each in problem.conditions)
    return ChainQuestion(
        chain,
        problem.names,
        problem.unknowns.bounds,
        **middles,
        tolerance=problem.tolerance,
        bend=bend.upper,
        blur=blur.upper,
        products=tuple((int(i), int(j)) for i, j in problem.products),
        conditions=conditions,
        reading=reading,
        reading_unit=reading_unit,
    )


def _summed(x: Interval, axis: int) -> Interval:
    return iv.sum(iv.rearrange(lambda end: np.moveaxis(end, axis, -1), x))
