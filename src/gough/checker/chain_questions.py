"""What certificates about chains refer to: the equations of some chains, and where their unknowns are sought."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from typing import Any, Protocol

import numpy as np

from gough.checker.box_rows import BoxRows, Numbers
from gough.checker.dyadic import Dyadic
from gough.checker.leg_equations import LegMeasurements
from gough.checker.rod_equations import ARRAYS, RodEquations
from gough.core.arrays import Array, ArrayValue
from gough.core.errors import require
from gough.region import Box

LEG_ARRAYS = ("quaternion", "position", "readings", "position_tolerance", "rotation_tolerance", "reading_tolerance")


class Equations(Protocol):
    """The equations of one chain, one for each pose and condition: `LegMeasurements` and `RodEquations` have this."""

    @property
    def word(self) -> str:
        """What statements call such a chain: leg or chain."""
        ...

    @property
    def n_poses(self) -> int: ...

    @property
    def n_equations(self) -> int:
        """Poses, then conditions."""
        ...

    @property
    def n_unknowns(self) -> int: ...

    @property
    def products(self) -> Sequence[tuple[int, int]]:
        """Pairs of unknowns whose products are columns of the rows."""
        ...

    @property
    def conditions(self) -> Sequence[Any]:
        """Each is Σ coefficient · x_i x_j = 0 over its (i, j, coefficient)."""
        ...

    @property
    def reading_unit(self) -> str: ...

    @property
    def reading_tolerance(self) -> Array:
        """(N,): of the chain's own reading."""
        ...

    @property
    def shared_tolerance(self) -> Array:
        """(N, S): of the errors of a pose that all chains share."""
        ...

    def names_of(self, chain: int) -> tuple[str, ...]:
        """The unknowns of the chain with this number."""
        ...

    def rows(self, center: Numbers, radius: Numbers, more: Dyadic, *, shared: bool) -> BoxRows:
        """Rows in a box, readings being uncertain by `more` than stated; `shared` errors of poses are columns."""
        ...

    def scale(self, k: int) -> float:
        """What rows of pose k are multiplied by."""
        ...

    def require_fits(self, values: Sequence[Fraction], k: int, more: Dyadic, errors: Sequence[Fraction]) -> None:
        """Raise NotProven unless these values fit pose k with exhibited shared errors; none: for some errors."""
        ...


@dataclass(frozen=True, eq=False)
class ChainQuestion(ArrayValue):
    """Which values of the unknowns within the prior are consistent with the equations of all chains, or of some?

    A chain is consistent if for every pose there are errors within their tolerances with which its equation holds.
    Chains are consistent together if in each pose the same errors of the pose serve all of them.

    Examples:
        >>> from gough.checker.leg_equations import PlatformMeasurements
        >>> data = PlatformMeasurements([[1, 0, 0, 0]], [[0, 0, 0.4]], [[0.1, 0.2]], 1e-4, 1e-4, 1e-5)
        >>> question = ChainQuestion((1, 2), data.legs, Box.around(np.zeros(14), 1.0))
        >>> question.names[:7], question.digest()[:15]
        (('a1x', 'a1y', 'a1z', 'b1x', 'b1y', 'b1z', 'l1'), 'sha256:87b6874b')
    """

    chains: tuple[int, ...]
    """Their numbers, from 1."""
    equations: tuple[LegMeasurements | RodEquations, ...]
    """The equations of each chain: all are legs, or all close over rods."""
    prior: Box
    """Bounds of the unknowns of chain after chain."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "chains", tuple(self.chains))
        object.__setattr__(self, "equations", tuple(self.equations))
        whole = all(isinstance(chain, int) and not isinstance(chain, bool) and chain > 0 for chain in self.chains)
        require(whole and len(set(self.chains)) == len(self.chains), "chains have different whole numbers from 1 on")
        n = len(self.chains)
        require(n == len(self.equations) > 0, f"there are equations of {len(self.equations)} chains, but {n} numbers")
        kinds = {type(each) for each in self.equations}
        require(kinds in ({LegMeasurements}, {RodEquations}), "chains are all legs, or all close over rods")
        size, axes = len(self.names), len(self.prior)
        require(len(set(self.names)) == size, "unknowns have different names")
        require(axes == size, f"the chains have {size} unknowns, but the prior has {axes} axes")
        require(self.prior.is_bounded and not self.prior.is_empty, "the prior must have finite sides, and not be empty")
        first = self.equations[0]
        for each in self.equations[1:]:  # errors of a pose that chains share have one tolerance
            same = np.array_equal(each.shared_tolerance, first.shared_tolerance)
            require(same, "chains with shared errors of poses have the same tolerances of them")
            require(each.reading_unit == first.reading_unit, "readings of all chains have one unit")
        for each in self.legs:
            same = all(np.array_equal(getattr(each, x), getattr(self.legs[0], x)) for x in ("quaternion", "position"))
            require(same, "legs of one platform are measured in the same poses")
        for start, rod in zip(self.starts, self.rods, strict=False):
            positive = bool(self.prior.lower[start + rod.n_unknowns - 1] >= 0)
            require(positive, f"{rod.names[-1]} is a length: its prior must not be negative")

    @property
    def legs(self) -> tuple[LegMeasurements, ...]:
        """The equations, if they are those of legs."""
        return tuple(each for each in self.equations if isinstance(each, LegMeasurements))

    @property
    def rods(self) -> tuple[RodEquations, ...]:
        """The equations, if they are those of chains that close over rods."""
        return tuple(each for each in self.equations if isinstance(each, RodEquations))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The unknowns of chain after chain."""
        pairs = zip(self.chains, self.equations, strict=True)
        return tuple(name for chain, each in pairs for name in each.names_of(chain))

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The place of each chain's first unknown."""
        sizes = [each.n_unknowns for each in self.equations]
        return tuple(sum(sizes[:i]) for i in range(len(sizes)))

    @property
    def n_poses(self) -> int:
        """Number of poses."""
        return self.equations[0].n_poses

    @property
    def word(self) -> str:
        """What statements call the chains: leg or chain."""
        return self.equations[0].word

    def only(self, chain: int) -> "ChainQuestion":
        """The question about one of the chains."""
        i = self.chains.index(chain)
        place = slice(self.starts[i], self.starts[i] + self.equations[i].n_unknowns)
        prior = Box(self.prior.lower[place], self.prior.upper[place])
        return ChainQuestion((chain,), (self.equations[i],), prior)

    def arrays(self) -> dict[str, Array]:
        """The measurements of legs by name, readings and their tolerances as columns."""
        first = self.legs[0]
        columns = {"readings": "reading", "reading_tolerance": "reading_tolerance"}
        return {
            name: np.stack([getattr(leg, columns[name]) for leg in self.legs], axis=1)
            if name in columns
            else getattr(first, name)
            for name in LEG_ARRAYS
        }

    def digest(self) -> str:
        """SHA-256 of everything: numbers, names, shapes and little-endian doubles.

        Several chains over rods are digested one by one, and then their digests.
        """
        if len(self.rods) > 1:
            h = sha256(b"gough chains 3\n")
            for chain in self.chains:
                h.update(f"{self.only(chain).digest()}\n".encode())
            return f"sha256:{h.hexdigest()}"
        arrays = {"lower": self.prior.lower, "upper": self.prior.upper}
        if self.legs:
            h = sha256(f"gough platform 1\nlegs {self.chains}\n".encode())
            arrays |= self.arrays()
        else:
            (rod,) = self.rods
            words = (self.chains[0], rod.names, rod.products, rod.conditions, rod.reading, rod.reading_unit)
            h = sha256(f"gough chain 1\n{words!r}\n".encode())
            arrays |= {name: getattr(rod, name) for name in ARRAYS}
        for name, values in arrays.items():
            h.update(f"{name} {values.shape}\n".encode())
            h.update(np.ascontiguousarray(values, dtype="<f8").data)
        return f"sha256:{h.hexdigest()}"


def question_of(problem: Any) -> ChainQuestion:
    """The question that a problem of one chain, or of several together (its `parts`), asks.

    Examples:
        >>> data = LegMeasurements([[1, 0, 0, 0]], [[0, 0, 0]], [0], 0, 0, 0)
        >>> question_of(ChainQuestion((3,), (data,), Box.around(np.zeros(7), 1.0))).names[-1]
        'l3'
    """
    if isinstance(problem, ChainQuestion):
        return problem
    parts = getattr(problem, "parts", None)
    if parts is not None:
        return together(*map(question_of, parts))
    data = getattr(problem, "data", None)
    equations = data if isinstance(data, LegMeasurements) else RodEquations.of(problem)
    return ChainQuestion((problem.chain,), (equations,), problem.unknowns.bounds)


def together(*questions: ChainQuestion) -> ChainQuestion:
    """One question about the chains of several."""
    sides = [np.concatenate([getattr(each.prior, side) for each in questions]) for side in ("lower", "upper")]
    chains = tuple(chain for each in questions for chain in each.chains)
    equations = tuple(one for each in questions for one in each.equations)
    return ChainQuestion(chains, equations, Box(*sides))
