"""One effect of the catalogue, fitted together with the model's own parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from gough.core.arrays import Array
from gough.core.text import number
from gough.dynamics.effect import Effect
from gough.dynamics.signs import LEVEL

WORTHWHILE = 0.002
"""Part of the mean square below which a significant effect counts only if it moves a parameter …"""
MOVED = 1.0
"""… by so many of its standard deviations."""


@dataclass(frozen=True)
class Hidden:
    """The largest size of an effect that may stay undetected, and what it does to the model's parameters."""

    effect: str
    name: str
    """The effect's parameter that counts most."""
    size: float
    """Size that is found in nine of ten recordings like this one; smaller ones may stay undetected."""
    unit: str
    parameter: str
    """The model's parameter that moves most."""
    sigmas: float
    """By how many of its σ."""
    values: Mapping[str, float] = field(default_factory=dict)
    """All parameters of the effect in that combination; their signs may all be changed."""

    def __str__(self) -> str:
        unit = "" if self.unit == "1" else f" {self.unit}"
        size, moved = number(self.size, digits=2), number(self.sigmas, digits=2)
        return f"{self.effect} ({self.name} up to {size}{unit} moves {self.parameter} by {moved} σ)"


@dataclass(frozen=True, eq=False)
class Cause:
    """One effect of the catalogue, fitted together with the model's own parameters."""

    effect: Effect
    names: tuple[str, ...]
    """The effect's parameters."""
    units: tuple[str, ...]
    values: Array
    sigma: Array
    """Standard deviations of `values`, with the uncertainty of numbers that the form was chosen by."""
    conditional: Array
    """Standard deviations of `values` if the form is right."""
    ratio: float
    """Twice the logarithm of the likelihood ratio against the model without the effect."""
    dof: int
    """Number of parameters that the effect adds and the data determine."""
    trials: int
    """Alternatives from which this form of the effect was chosen."""
    score: float
    """`ratio` less what chance and the number of parameters explain (Bayesian information criterion)."""
    p: float
    """Probability of such a ratio, or of one more extreme, if the effect is absent."""
    removes: float
    """Part of the mean square of the residuals that the effect removes."""
    shifts: Mapping[str, tuple[float, float]]
    """How far each of the model's parameters is off without the effect: as a part of its value, and in its σ."""
    residuals: Array
    """Of all rows, in units of their actuators' scale, with the effect in the model."""
    efforts: Array
    """What the effect adds to all rows, in these units."""
    caveat: str = ""
    """What must be known about the values, in sentences."""
    hidden: Hidden | None = None
    """How large the effect may be without being detected; None where it does not move the model's parameters."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "shifts", MappingProxyType(dict(self.shifts)))

    @property
    def is_present(self) -> bool:
        """Is the effect significant, and large enough to matter?"""
        moved = max((abs(sigmas) for _, sigmas in self.shifts.values()), default=0.0)
        worthwhile = self.removes > WORTHWHILE or moved > MOVED
        return self.p < LEVEL and self.score > 0 and worthwhile and not self.is_impossible

    @property
    def is_impossible(self) -> bool:
        """Are the values, beyond their ±, none that this effect can have? Then another effect is imitated."""
        values, sigma = (dict(zip(self.names, each.tolist(), strict=True)) for each in (self.values, self.sigma))
        return not self.effect.is_possible(values, sigma)

    @property
    def worst(self) -> tuple[str, float, float] | None:
        """The parameter that is most off without the effect: name, part of its value, number of σ."""
        if not self.shifts:
            return None
        name = max(self.shifts, key=lambda each: abs(self.shifts[each][1]))
        return name, *self.shifts[name]

    @property
    def size(self) -> str:
        """The parameters that stand out of their ±, in words: `delay_1 = 2.1 ± 0.1 ms`."""
        order = np.argsort(-abs(self.values) / np.maximum(self.sigma, 1e-300))
        sure = [k for k in order.tolist() if abs(self.values[k]) > 3 * self.sigma[k]][:3]
        more = int((abs(self.values) > 3 * self.sigma).sum()) - len(sure)
        parts = [
            f"{self.names[k]} = {number(self.values[k], digits=3)} ± {number(2 * self.sigma[k], digits=2)} "
            f"{'' if self.units[k] == '1' else self.units[k]}".rstrip()
            for k in sorted(sure)
        ]
        return ", ".join(parts).replace(" -", " −") + (f" and {more} more" if more > 0 else "")
