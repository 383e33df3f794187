"""Criteria of an experiment: functions of its Fisher information, with their derivatives."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest


@runtime_checkable
class Criterion(Protocol):
    """A number to be made small, of the information matrix M (p, p) of the parameters.

    Examples:
        >>> criterion: Criterion = DOptimal()
        >>> criterion.value(np.eye(2), np.ones(2))
        -0.0
    """

    name: ClassVar[str]
    """Name in studies."""
    meaning: ClassVar[str]
    """Text for reports."""
    is_weighted: ClassVar[bool]
    """Is M the Fisher information WᵀΣ⁻¹W? Deterministic criteria take WᵀW."""

    def value(self, M: Array, typical: Array) -> float:
        """The criterion, for parameters whose typical sizes are `typical` (p,)."""
        ...

    def derivative(self, M: Array, typical: Array) -> Array:
        """∂value/∂M (p, p), symmetric."""
        ...


@dataclass(frozen=True)
class DOptimal:
    """-ln det F: the volume of the confidence ellipsoid of the estimate [AHG, eq. (11)].

    Units and regroupings of the parameters add a constant only.

    Examples:
        >>> round(float(np.exp(-DOptimal().value(np.diag([4.0, 9.0]), np.ones(2)))), 9)
        36.0
    """

    name: ClassVar[str] = "D"
    meaning: ClassVar[str] = "−ln det F"
    is_weighted: ClassVar[bool] = True

    def value(self, M: Array, typical: Array) -> float:  # noqa: ARG002 - only other criteria depend on units
        """The criterion."""
        C, d = _correlation(M)
        sign, logarithm = np.linalg.slogdet(C)
        return float(-logarithm - 2 * np.log(d).sum()) if sign > 0 else np.inf

    def derivative(self, M: Array, typical: Array) -> Array:  # noqa: ARG002
        """-F⁻¹."""
        return -_inverse(M)


@dataclass(frozen=True)
class AOptimal:
    """ln tr F⁻¹, parameters in shares of their typical sizes: the sum of the relative variances.

    Examples:
        >>> float(np.exp(AOptimal().value(np.diag([4.0, 4.0]), np.ones(2))))
        0.5
    """

    name: ClassVar[str] = "A"
    meaning: ClassVar[str] = "ln tr F⁻¹, relative"
    is_weighted: ClassVar[bool] = True

    def value(self, M: Array, typical: Array) -> float:
        """The criterion."""
        try:
            variances = np.diag(_inverse(M)) / typical**2
        except np.linalg.LinAlgError:
            return np.inf
        return float(np.log(variances.sum())) if (variances > 0).all() else np.inf

    def derivative(self, M: Array, typical: Array) -> Array:
        """By d tr(T⁻¹ F⁻¹ T⁻¹) = -tr(T⁻¹ F⁻¹ dF F⁻¹ T⁻¹)."""
        inverse = _inverse(M)
        scaled = inverse / typical
        return np.asarray(-(scaled @ scaled.T) / (np.diag(inverse) / typical**2).sum())


@dataclass(frozen=True)
class EOptimal:
    """-ln λ_min(F), parameters in shares of their typical sizes: the longest axis of the confidence ellipsoid.

    Examples:
        >>> float(EOptimal().value(np.diag([4.0, 1.0]), np.ones(2)))
        -0.0
    """

    name: ClassVar[str] = "E"
    meaning: ClassVar[str] = "−ln λ_min(F), relative"
    is_weighted: ClassVar[bool] = True

    def value(self, M: Array, typical: Array) -> float:
        """The criterion."""
        least = np.linalg.eigvalsh(M * np.outer(typical, typical))[0]
        return float(-np.log(least)) if least > 0 else np.inf

    def derivative(self, M: Array, typical: Array) -> Array:
        """By the vector of the least eigenvalue; one of many where that is multiple."""
        values, vectors = np.linalg.eigh(M * np.outer(typical, typical))
        v = typical * vectors[:, 0]
        return -np.outer(v, v) / values[0]


@dataclass(frozen=True)
class Condition:
    """ln cond W, columns in SI units: the deterministic rival of [AHG, §IV.C]. It depends on the choice of units.

    Examples:
        >>> float(np.exp(Condition().value(np.diag([4.0, 1.0]), np.ones(2))))
        2.0
    """

    name: ClassVar[str] = "condition"
    meaning: ClassVar[str] = "ln cond W"
    is_weighted: ClassVar[bool] = False

    def value(self, M: Array, typical: Array) -> float:  # noqa: ARG002
        """The criterion."""
        values = np.linalg.eigvalsh(M)
        return float(np.log(values[-1] / values[0]) / 2) if values[0] > 0 else np.inf

    def derivative(self, M: Array, typical: Array) -> Array:  # noqa: ARG002
        """By the vectors of both eigenvalues."""
        return _spread(M)


@dataclass(frozen=True)
class ScaledCondition:
    """ln cond W, each column scaled to length 1: the fair deterministic rival, whatever the units.

    Examples:
        >>> float(np.exp(ScaledCondition().value(np.diag([4.0, 1.0]), np.ones(2))))
        1.0
    """

    name: ClassVar[str] = "scaled condition"
    meaning: ClassVar[str] = "ln cond W, unit columns"
    is_weighted: ClassVar[bool] = False

    def value(self, M: Array, typical: Array) -> float:
        """The criterion."""
        return Condition().value(_correlation(M)[0], typical)

    def derivative(self, M: Array, typical: Array) -> Array:  # noqa: ARG002
        """Through C_ij = M_ij / √(M_ii M_jj)."""
        C, d = _correlation(M)
        by_C = _spread(C)
        return np.asarray(by_C / np.outer(d, d) - np.diag((by_C * C).sum(axis=1) / d**2))


CRITERIA: Mapping[str, Criterion] = MappingProxyType(
    {each.name: each for each in (DOptimal(), AOptimal(), EOptimal(), Condition(), ScaledCondition())}
)
"""All criteria, by the names that studies use."""


def criterion_named(name: str) -> Criterion:
    """The criterion of that name.

    Examples:
        >>> criterion_named("D")
        DOptimal()
        >>> criterion_named("scaled conditon")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: no criterion is called 'scaled conditon'; did you mean 'scaled condition'? \
(known: D, A, E, condition, scaled condition)
    """
    if name not in CRITERIA:
        raise InputError(f"no criterion is called '{name}'{nearest(name, CRITERIA)} (known: {', '.join(CRITERIA)})")
    return CRITERIA[name]


def _correlation(M: Array) -> tuple[Array, Array]:
    """M with its diagonal scaled to 1, and the roots of the diagonal: so the units of the parameters cost no digits."""
    d = np.sqrt(np.diag(M))
    d = np.where(d > 0, d, 1.0)
    return M / np.outer(d, d), d


def _inverse(M: Array) -> Array:
    C, d = _correlation(M)
    return np.asarray(np.linalg.inv(C) / np.outer(d, d))


def _spread(M: Array) -> Array:
    """The derivative of half the logarithm of the greatest eigenvalue over the least."""
    values, vectors = np.linalg.eigh(M)
    last, first = vectors[:, -1], vectors[:, 0]
    return np.asarray((np.outer(last, last) / values[-1] - np.outer(first, first) / values[0]) / 2)
