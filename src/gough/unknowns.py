"""The unknowns of a problem: labelled axes of parameter space, with what is known about them beforehand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core.arguments import refused
from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import InputError, nearest, require
from gough.core.text import require_encodable
from gough.region import Box, ConfidenceEllipsoid


def require_prior(prior: Any) -> Box | ConfidenceEllipsoid:
    """Refuse what is neither bounds nor a belief."""
    if not isinstance(prior, Box | ConfidenceEllipsoid):
        expected = "a Box (bounds) or a ConfidenceEllipsoid (belief)"
        raise refused("prior", prior, expected, "gough.Box(lower, upper) with one number for each unknown")
    return prior


@dataclass(frozen=True, eq=False)
class Unknowns(ArrayValue):
    """Names, units, nominal values and prior knowledge of the parameters that are to be found.

    Examples:
        >>> unknowns = Unknowns(["mass", "fv_1"], units=["kg", "N·m·s/rad"], prior=Box([0, 0], [5, np.inf]))
        >>> unknowns.index("fv_1")
        1
        >>> unknowns.index("fv1")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: no unknown is called 'fv1'; did you mean 'fv_1'?
    """

    names: tuple[str, ...]
    """One name per unknown, all different."""
    units: tuple[str, ...] = ()
    """Unit of each unknown, for tables; empty means none is stated."""
    nominal: Array | None = None
    """The blueprint's values: starting point of iterations and column of the report."""
    prior: Box | ConfidenceEllipsoid | None = None
    """Prior knowledge: bounds (a side may be infinite; equal sides fix the unknown), or a Gaussian belief."""

    def __post_init__(self) -> None:
        require(not isinstance(self.names, str), "names must be a sequence of names, not one string")
        names = tuple(self.names)
        require(all(isinstance(n, str) and n.strip() for n in names), "names must be non-empty strings")
        require_encodable(names, "name of an unknown")
        twice = sorted({n for n in names if names.count(n) > 1}) if len(set(names)) < len(names) else []
        require(not twice, f"names must differ, but {', '.join(map(repr, twice))} stands more than once")
        units = tuple(self.units) or ("",) * len(names)
        require(len(units) == len(names), f"{len(names)} unknowns have {len(units)} units; give one each, or none")
        require_encodable(units, "unit")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "units", units)
        if self.nominal is not None:
            nominal = array(self.nominal, "nominal", ndim=1)
            require(len(nominal) == len(names), f"{len(names)} unknowns have {len(nominal)} nominal values")
            require(bool(np.isfinite(nominal).all()), "nominal values must be finite")
            object.__setattr__(self, "nominal", nominal)
        if self.prior is None:
            object.__setattr__(self, "prior", Box.unbounded(len(names)))
        prior = require_prior(self.prior)
        axes = len(prior)
        require(axes == len(names), f"{len(names)} unknowns have a prior with {axes} axes")
        require(not (isinstance(prior, Box) and prior.is_empty), "the prior is empty: no value would be allowed")

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Any:
        return iter(self.names)

    @property
    def bounds(self) -> Box:
        """The prior as a Box: all of space where the prior is a belief, because a belief excludes nothing."""
        return self.prior if isinstance(self.prior, Box) else Box.unbounded(len(self))

    @property
    def is_fixed(self) -> Any:
        """Mask of the unknowns that the prior fixes: those with equal sides."""
        return self.bounds.lower == self.bounds.upper

    def index(self, name: str) -> int:
        """Number of the axis with that name."""
        if name not in self.names:
            raise InputError(f"no unknown is called '{name}'{nearest(name, self.names)}")
        return self.names.index(name)

    def select(self, names: Sequence[str]) -> "Unknowns":
        """These unknowns only, in this order."""
        if tuple(names) == self.names:
            return self
        axes = [self.index(name) for name in names]
        assert self.prior is not None
        return Unknowns(
            tuple(names),
            tuple(self.units[i] for i in axes),
            None if self.nominal is None else self.nominal[axes],
            self.prior.project(axes),
        )
