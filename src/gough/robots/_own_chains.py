"""Robots whose chains are alike, each with parameters of its own: what follows from that."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.kernels import Kernel
from gough.robots._candidates import Candidates
from gough.robots.kinematics import (
    Columns,
    PlatformPoses,
    PoseFinder,
    as_guess,
    checked,
    checked_readings,
)
from gough.robots.mechanism.description import Mechanism


class OwnChains(ArrayValue, ABC):
    """Names, columns and forward kinematics, from a table of parameters with a row for each chain."""

    name: str
    STEMS: ClassVar[tuple[str, ...]]
    """Names of a chain's parameters, without its number."""
    UNITS: ClassVar[tuple[str, ...]]
    FREEDOMS: ClassVar[tuple[int, ...]]
    WORD: ClassVar[str] = "arm"
    """The word for a chain."""
    LARGEST: ClassVar[float] = 0.1
    """Longest step of the search for a pose (m)."""

    @property
    @abstractmethod
    def blueprint(self) -> Array:
        """(chains, k): the nominal parameters, chain by chain."""

    @property
    @abstractmethod
    def mechanism(self) -> Mechanism:
        """The robot of the blueprint as bodies, joints and closures."""

    @abstractmethod
    def home(self, parameters: Any) -> PlatformPoses:
        """One pose from which searches begin."""

    @abstractmethod
    def chain_kernel(self, form: str = "squared") -> Kernel:
        """The residual of one chain."""

    @abstractmethod
    def inverse(self, parameters: Any, position: Any, rotation: Any = None) -> Array:
        """Readings (N, chains) at poses."""

    @abstractmethod
    def mode_candidates(self, parameters: Array, readings: Array) -> Candidates:
        """Poses that may be assembly modes."""

    @property
    def chains(self) -> tuple[str, ...]:
        """The chains, counted from 1."""
        return tuple(f"{self.WORD} {i + 1}" for i in range(len(self.blueprint)))

    @property
    def names(self) -> tuple[str, ...]:
        """Chain by chain."""
        return tuple(f"{stem}_{i + 1}" for i in range(len(self.blueprint)) for stem in self.STEMS)

    @property
    def units(self) -> tuple[str, ...]:
        """Metres and radians."""
        return self.UNITS * len(self.blueprint)

    @property
    def zeros(self) -> tuple[str, ...]:
        """The motors' zeros."""
        return tuple(f"zero_{i + 1}" for i in range(len(self.blueprint)))

    @property
    def nominal(self) -> Array:
        """The blueprint."""
        return self.blueprint.reshape(-1)

    @property
    def columns(self) -> Columns:
        """Each chain has parameters of its own."""
        n, k = self.blueprint.shape
        return np.arange(n * k).reshape(n, k)

    @property
    def freedoms(self) -> tuple[int, ...]:
        """The degrees of freedom of the platform."""
        return self.FREEDOMS

    @property
    def has_orientation(self) -> bool:
        """Whether it turns."""
        return max(self.FREEDOMS) > 2

    @property
    def reading_unit(self) -> str:
        """Radians."""
        return "rad"

    def rows(self, parameters: Any) -> Array:
        """Parameters (chains, k)."""
        return checked(self, parameters).reshape(len(self.blueprint), -1)

    def forward(self, parameters: Any, readings: Any, guess: PlatformPoses | None = None) -> PlatformPoses:
        """Poses at readings (N, chains), by Newton's method from a guess: by default the blueprint's home."""
        theta, values = checked(self, parameters), checked_readings(self, readings)
        start = as_guess(self.home(theta) if guess is None else guess, len(values))
        at_start = self.inverse(theta, start.position, start.rotation)
        finder = PoseFinder.of(self, self.LARGEST)
        return finder.find(theta, values, start, at_start, same_side=guess is None)
