"""Likelihood ratios of many forms of an effect, which differ in one number of each actuator, from sums over the rows.

A column that acts on one actuator enters the fit by its products with itself, with the residuals and with the model's
basis. They are computed once for each actuator and number, whatever the numbers of the other actuators are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gough.core.arrays import Array, Integers
from gough.dynamics.effect import Effect, Excitation


@dataclass(frozen=True, eq=False)
class FormFit:
    """What one form of an effect explains."""

    effect: Effect
    values: Array
    """The effect's parameters: the first of all actuators, then the second of all."""
    ratio: float
    """Twice the logarithm of the likelihood ratio against the model without the effect."""


@dataclass(frozen=True, eq=False)
class _Products:
    """Sums over the rows of one actuator, of its columns (rows, k) for one number."""

    own: Array
    """(k, k) with each other."""
    residuals: Array
    """(k,) with the residuals."""
    basis: Array
    """(rank, k) with the model's basis."""


@dataclass(frozen=True, eq=False)
class Forms:
    """The rows of a fit, and what was computed of an effect's forms so far."""

    basis: Array
    """(rows, rank) orthonormal columns of the model."""
    residuals: Array
    """(rows,) what the model leaves, in units of the scale."""
    group: Integers
    """(rows,) number of the actuator."""
    independent: Array
    """Number of independent rows of each actuator."""
    excitation: Excitation
    rows_of: Callable[[Array, Sequence[int]], list[Array]]
    """Columns (samples, m) through the low-pass, at the rows of the actuator that each acts on, weighted."""
    visible: float
    """Least share of a column that is left after the model's own are taken out."""
    known: dict[tuple[int, float], _Products] = field(default_factory=dict)

    def fits(self, forms: Sequence[Effect]) -> list[FormFit | None]:
        """Each form with the model; None where it cannot be told from the model's own parameters."""
        self._compute([(i, value) for form in forms for i, value in enumerate(form.numbers)], forms[0])
        return [self._fit(form) for form in forms]

    def _compute(self, wanted: Sequence[tuple[int, float]], effect: Effect) -> None:
        new = [key for key in dict.fromkeys(wanted) if key not in self.known]
        if not new:
            return
        columns = [effect.of_actuator(self.excitation, i, value) for i, value in new]
        width = columns[0].shape[1]
        rows = self.rows_of(np.hstack(columns), [i for i, _ in new for _ in range(width)])
        for at, key in enumerate(new):
            E = np.column_stack(rows[at * width : (at + 1) * width])
            r, B = self._residuals_of[key[0]], self._basis_of[key[0]]
            self.known[key] = _Products(E.T @ E, E.T @ r, B.T @ E)

    def _fit(self, form: Effect) -> FormFit | None:
        parts = [self.known[i, value] for i, value in enumerate(form.numbers)]
        n, k = len(parts), len(parts[0].residuals)
        b = np.hstack([part.basis for part in parts])  # actuator by actuator, k columns each
        gram = -b.T @ b
        for i, part in enumerate(parts):
            gram[i * k : (i + 1) * k, i * k : (i + 1) * k] += part.own
        size = np.sqrt(np.concatenate([part.own.diagonal() for part in parts]))
        size = np.where(size > 0, size, 1.0)
        squares, V = np.linalg.eigh(gram / size / size[:, None])
        seen = squares > self.visible**2
        if not seen.any():
            return None
        V = V[:, seen]
        moments = np.concatenate([part.residuals for part in parts])  # residuals hold nothing of the basis
        values = V @ ((V.T @ (moments / size)) / squares[seen]) / size
        c = b @ values
        own = values.reshape(n, k)
        left = self._before + 2 * self._moments @ c + np.einsum("gij,i,j->g", self._squares, c, c)
        for i, part in enumerate(parts):
            left[i] += own[i] @ (part.own @ own[i] - 2 * part.residuals - 2 * part.basis.T @ c)
        ratio = self.independent * np.log(np.maximum(self._before, 1e-20) / np.maximum(left, 1e-20))
        return FormFit(form, own.T.ravel(), float(ratio.sum()))

    @cached_property
    def _basis_of(self) -> list[Array]:
        return [self.basis[self.group == g] for g in range(len(self.independent))]

    @cached_property
    def _residuals_of(self) -> list[Array]:
        return [self.residuals[self.group == g] for g in range(len(self.independent))]

    @cached_property
    def _before(self) -> Array:
        return np.array([r @ r for r in self._residuals_of])

    @cached_property
    def _moments(self) -> Array:
        return np.stack([B.T @ r for B, r in zip(self._basis_of, self._residuals_of, strict=True)])

    @cached_property
    def _squares(self) -> Array:
        return np.stack([B.T @ B for B in self._basis_of])
