"""What certificates about legs speak about: measurements of a platform, and where its legs are sought."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Protocol

import numpy as np

from gough.core.arrays import ArrayValue
from gough.core.errors import require
from gough.core.leg_measurements import LegMeasurements, PlatformMeasurements
from gough.region import Box
from gough.unknowns import Unknowns

STEMS = ("a{}x", "a{}y", "a{}z", "b{}x", "b{}y", "b{}z", "l{}")


class LegQuestion(Protocol):
    """Which values of one leg within the prior are consistent with the measurements?"""

    @property
    def data(self) -> LegMeasurements: ...

    @property
    def unknowns(self) -> Unknowns: ...


@dataclass(frozen=True, eq=False)
class PlatformQuestion(ArrayValue):
    """Which legs within the prior are consistent with the measurements, all of them or some?

    Examples:
        >>> data = PlatformMeasurements([[1, 0, 0, 0]], [[0, 0, 0.4]], [[0.1, 0.2]], 1e-4, 1e-4, 1e-5)
        >>> question = PlatformQuestion(data, Box.around(np.zeros(14), 1.0), (1, 2))
        >>> question.names[:7], question.digest()[:15]
        (('a1x', 'a1y', 'a1z', 'b1x', 'b1y', 'b1z', 'l1'), 'sha256:87b6874b')
    """

    data: PlatformMeasurements
    prior: Box
    """Bounds of a, b and l of each leg, m."""
    legs: tuple[int, ...]
    """The legs' numbers, in the order of the readings."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "legs", tuple(self.legs))
        whole = all(isinstance(leg, int) and not isinstance(leg, bool) and leg > 0 for leg in self.legs)
        require(whole and len(set(self.legs)) == len(self.legs), "legs have different whole numbers from 1 on")
        n = len(self.legs)
        require(n == self.data.n_legs, f"there are readings of {self.data.n_legs} legs, but {n} numbers of legs")
        require(len(self.prior) == 7 * n, f"{n} legs have {7 * n} unknowns, but the prior has {len(self.prior)} axes")
        require(self.prior.is_bounded and not self.prior.is_empty, "the prior must have finite sides, and not be empty")

    @property
    def names(self) -> tuple[str, ...]:
        """a, b and l of leg after leg."""
        return tuple(stem.format(leg) for leg in self.legs for stem in STEMS)

    @cached_property
    def by_leg(self) -> dict[int, LegMeasurements]:
        """What was measured of each leg, by its number."""
        return {leg: self.data.leg(column) for column, leg in enumerate(self.legs)}

    def digest(self) -> str:
        """SHA-256 of legs, prior and measurements: names, shapes and little-endian doubles."""
        h = sha256(b"gough platform 1\n")
        h.update(f"legs {self.legs}\n".encode())
        names = ("quaternion", "position", "readings")
        arrays = {"lower": self.prior.lower, "upper": self.prior.upper}
        arrays |= {name: getattr(self.data, name) for name in (*names, *TOLERANCES)}
        for name, values in arrays.items():
            h.update(f"{name} {values.shape}\n".encode())
            h.update(np.ascontiguousarray(values, dtype="<f8").data)
        return f"sha256:{h.hexdigest()}"


TOLERANCES = ("position_tolerance", "rotation_tolerance", "reading_tolerance")


def question_of(problem: Any) -> PlatformQuestion:
    """The question that a problem of one leg, or of several, asks.

    Examples:
        >>> from gough.checker.leg_questions import question_of
        >>> question_of(PlatformQuestion(PlatformMeasurements([[1, 0, 0, 0]], [[0, 0, 0]], [[0]], 0, 0, 0),
        ...                              Box.around(np.zeros(7), 1.0), (3,))).names[-1]
        'l3'
    """
    if isinstance(problem, PlatformQuestion):
        return problem
    prior = problem.unknowns.bounds
    if isinstance(problem.data, LegMeasurements):
        return PlatformQuestion(PlatformMeasurements.of_leg(problem.data), prior, (problem.leg,))
    return PlatformQuestion(problem.data, prior, problem.legs)
