"""Normal equations of maximum likelihood: sums of squares with their gradient and information."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from gough.core.arrays import Array, Integers, Mask
from gough.core.errors import AssumptionError, InputError
from gough.methods.statistical.whitening import inverse_root
from gough.problem import Equations, NonlinearProblem


class Normal(NamedTuple):
    """A sum of squared whitened residuals u near some θ: ‖u − J δ‖² for a small step δ."""

    squares: float
    """‖u‖²; infinite where the equations cannot be evaluated."""
    gradient: Array
    """Jᵀ u."""
    information: Array
    """JᵀJ."""


@runtime_checkable
class StructuredEquations(Equations, Protocol):
    """Equations m = h(θ), linear in the first unknowns, with normal equations of their own that are faster."""

    @property
    def n_linear(self) -> int:
        """Number of unknowns, the first ones, that enter linearly."""
        ...

    def normal(self, theta: Array, measured: Array, roots: Array) -> Normal:
        """The normal equations at θ; `roots` as from `inverse_roots`."""
        ...

    def linear_normal(self, theta: Array, measured: Array, roots: Array) -> Normal:
        """The same in the linear unknowns alone, the others held: needs no derivatives."""
        ...

    def gradient(self, theta: Array, measured: Array, roots: Array) -> tuple[float, Array]:
        """Sum of squares and gradient alone: several times cheaper than with the information."""
        ...

    def whitened_residuals(self, theta: Array, measured: Array, roots: Array) -> tuple[Array, Array]:
        """Residuals (samples, n), plain and multiplied by the roots."""
        ...


class Target(Protocol):
    """A likelihood to be maximized."""

    @property
    def n_linear(self) -> int: ...

    @property
    def n_rows(self) -> int:
        """Number of residuals that count."""
        ...

    def normal(self, theta: Array) -> Normal: ...

    def linear_normal(self, theta: Array) -> Normal: ...

    def nearby(self, theta: Array, normal: Normal) -> Normal:
        """The normal equations at a θ near that of `normal`, whose information may stand for this one's."""
        ...

    def squares(self, theta: Array) -> float:
        """The sum of squares alone."""
        ...

    def residuals(self, theta: Array) -> tuple[Array, Array]:
        """The residuals (samples, n) at θ: as they are, and made independent and of unit variance."""
        ...


def sample_covariances(problem: NonlinearProblem) -> Array:
    """The stated covariance of what was measured: (q, q), or (samples, q, q) where samples differ."""
    C, (n_samples, q) = problem.noise.covariance, problem.measured.shape
    if C is None:
        raise AssumptionError(
            "MaximumLikelihood weighs all measurements against each other, so it needs their covariance: "
            "Gaussian(covariance), for instance from repeats of the motion (noise_from_repeats)"
        )
    if C.ndim == 0:
        return C * np.eye(q)
    if C.ndim == 1 and C.size == n_samples * q:
        return C.reshape(n_samples, q, 1) * np.eye(q)
    if C.shape not in {(q, q), (n_samples, q, q)}:
        raise InputError(f"the noise of {q} measurements cannot have a covariance of shape {C.shape}")
    return C


def inverse_roots(C: Array, n_samples: int, kept: Mask | None) -> tuple[Array, float]:
    """L with LᵀL = C⁻¹ for each sample, and Σ ln det C: of the rows that are kept; zero in the others."""
    if kept is None or kept.all():
        logdet = np.linalg.slogdet(C)[1]
        return inverse_root(C), float(np.sum(logdet) * (1 if C.ndim == 3 else n_samples))
    n = kept.shape[1]
    roots, total = np.zeros((n_samples, n, n)), 0.0
    pattern = kept @ (1 << np.arange(n))
    for bits in np.unique(pattern[pattern > 0]):
        alike: Integers = np.flatnonzero(pattern == bits)
        rows = np.flatnonzero(kept[alike[0]])
        part = (C if C.ndim == 2 else C[alike])[..., rows[:, None], rows]
        whole = np.zeros((*part.shape[:-2], n, n))
        whole[..., rows[:, None], rows] = inverse_root(part)
        roots[alike] = whole
        total += float(np.sum(np.linalg.slogdet(part)[1]) * (1 if C.ndim == 3 else len(alike)))
    return roots, total


@dataclass(frozen=True, eq=False)
class StructuredTarget:
    """The likelihood of equations that bring their own normal equations."""

    problem: NonlinearProblem
    equations: StructuredEquations
    roots: Array

    @property
    def n_linear(self) -> int:
        return self.equations.n_linear

    @property
    def n_rows(self) -> int:
        kept = self.problem.kept
        return self.problem.measured.size if kept is None else int(kept.sum())

    def normal(self, theta: Array) -> Normal:
        return self.equations.normal(theta, self.problem.measured, self.roots)

    def linear_normal(self, theta: Array) -> Normal:
        return self.equations.linear_normal(theta, self.problem.measured, self.roots)

    def nearby(self, theta: Array, normal: Normal) -> Normal:
        squares, gradient = self.equations.gradient(theta, self.problem.measured, self.roots)
        return Normal(squares, gradient, normal.information)

    def squares(self, theta: Array) -> float:
        u = self.residuals(theta)[1]
        return float(np.vdot(u, u)) if np.isfinite(u).all() else np.inf

    def residuals(self, theta: Array) -> tuple[Array, Array]:
        return self.equations.whitened_residuals(theta, self.problem.measured, self.roots)


@dataclass(frozen=True, eq=False)
class GeneralTarget:
    """The likelihood of any f(θ, m) = 0: what was measured moves to the nearest m̂ that satisfies the equations.

    For a given θ, m̂ minimizes (m − m̂)ᵀ Σ⁻¹ (m − m̂) subject to f(θ, m̂) = 0, sample by sample: the misclosure
    w = f(θ, m̂) + J_m (m − m̂) has covariance C = J_m Σ J_mᵀ, and m̂ = m − Σ J_mᵀ C⁻¹ w, repeated. At its end wᵀ C⁻¹ w is
    that minimum, and its gradient by θ needs the derivatives at m̂ only.
    """

    problem: NonlinearProblem
    covariances: Array
    max_projections: int = 20
    n_linear = 0

    @cached_property
    def n_rows(self) -> int:
        if self.problem.kept is not None:
            return int(self.problem.kept.sum())
        assert self.problem.unknowns.nominal is not None
        return self.problem.equations.residuals(self.problem.unknowns.nominal, self.problem.measured).size

    def normal(self, theta: Array) -> Normal:
        """The normal equations at θ, with m̂ found anew."""
        p = len(theta)
        with np.errstate(all="ignore"):
            projected = self._projected(theta)
        if projected is None:
            return Normal(np.inf, np.zeros(p), np.eye(p))
        u, A = projected[0].reshape(-1), projected[1].reshape(-1, p)
        return Normal(float(u @ u), -A.T @ u, A.T @ A)

    def linear_normal(self, theta: Array) -> Normal:
        return self.normal(theta)

    def nearby(self, theta: Array, normal: Normal) -> Normal:
        del normal
        return self.normal(theta)

    def squares(self, theta: Array) -> float:
        projected = self._projected(theta)
        return np.inf if projected is None else float(np.vdot(projected[0], projected[0]))

    def residuals(self, theta: Array) -> tuple[Array, Array]:
        projected = self._projected(theta)
        assert projected is not None
        return self.problem.equations.residuals(theta, self.problem.measured), projected[0][..., 0]

    def _projected(self, theta: Array) -> tuple[Array, Array] | None:
        """Whitened misclosure and ∂f/∂θ at m̂; None where the equations fail."""
        f, m = self.problem.equations, self.problem.measured
        near, last = m, np.inf
        sigma = np.sqrt(np.diagonal(self.covariances, axis1=-2, axis2=-1))
        for _ in range(self.max_projections):
            J_theta, J_m = f.jacobians(theta, near)
            w = f.residuals(theta, near)[..., None] + J_m @ (m - near)[..., None]
            across = self.covariances @ np.swapaxes(J_m, -1, -2)
            if not (np.isfinite(w).all() and np.isfinite(across).all() and np.isfinite(J_theta).all()):
                return None
            L, _ = inverse_roots(J_m @ across, len(m), self.problem.kept)
            u = L @ w
            moved = m - (across @ np.swapaxes(L, -1, -2) @ u)[..., 0]
            change = float((abs(moved - near) / sigma).max())
            if change <= 1e-9 or not change < last:
                break
            near, last = moved, change
        return u, L @ J_theta
