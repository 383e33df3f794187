"""Residuals of a nonlinear fit: their size by group, and what their memory does to the covariance of the answer."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.methods.statistical.residuals import Fitted, NoiseModel, covariance, noise_model
from gough.methods.statistical.whitening import stated
from gough.problem import Mask, NonlinearProblem

SCREEN = 4.5
"""An autocorrelation beyond so many of its standard deviations, among a few hundred, is not chance."""
MAX_LAG = 20


@dataclass(frozen=True, eq=False)
class Remembered:
    """What residuals show, and the covariance that follows."""

    covariance: Array
    groups: tuple[str, ...]
    rms: Array
    """Of each group, in its unit."""
    lag_one: Array
    length: int
    notes: tuple[str, ...]


def remembered(
    problem: NonlinearProblem, theta: Array, inverse_information: Array, u: Array, prior: Array | None
) -> Remembered:
    """The covariance of an answer θ whose whitened residuals are u (samples, n): wider where they remember.

    White residuals leave the inverse information as it is. A first look at single autocorrelations is cheap; where one
    stands out, the noise is modelled as for linear problems, on the tangent problem.
    """
    f = problem.equations.residuals(theta, problem.measured)
    kept = np.ones(f.shape, dtype=bool) if problem.kept is None else problem.kept
    names = problem.groups.names if problem.groups else tuple(f"equation {i + 1}" for i in range(f.shape[1]))
    count = np.maximum(kept.sum(axis=0), 1)
    rms = np.sqrt((np.where(kept, f, 0.0) ** 2).sum(axis=0) / count)
    rho, scores = _autocorrelations(u, kept)
    lag_one = rho[0] if len(rho) else np.zeros(f.shape[1])
    white = Remembered(inverse_information, names, rms, lag_one, 0, ())
    if not (scores > SCREEN).any():
        return white
    fit, noise = _modelled(problem, theta, inverse_information)
    if not noise.length:
        return white
    known = replace(noise, covariance=np.eye(len(noise.covariance)))
    lags = noise.length // 2
    note = f"Residuals are autocorrelated over {lags} samples; σ accounts for it." if lags > 1 else _ONE_LAG
    return replace(
        white, covariance=covariance(fit, known, prior=prior), length=noise.length, notes=(note, *_limit(noise))
    )


_ONE_LAG = "Residuals are autocorrelated over neighboring samples; σ accounts for it."


def _limit(noise: NoiseModel) -> tuple[str, ...]:
    if not noise.at_limit:
        return ()
    return ("The autocorrelation is longer than can be estimated: take σ as a lower limit, or decimate the data.",)


def _autocorrelations(u: Array, kept: Mask) -> tuple[Array, Array]:
    """ρ (lags, n), and |ρ| in units of its standard deviation under white noise."""
    present = kept.astype(np.float64)
    v = np.where(kept, u, 0.0)
    power = np.maximum((v**2).sum(axis=0), 1e-300)
    rho, scores = [], []
    for lag in range(1, min(MAX_LAG, len(u) // 4) + 1):
        pairs = (present[lag:] * present[:-lag]).sum(axis=0)
        rho.append((v[lag:] * v[:-lag]).sum(axis=0) / power)
        scores.append(abs(rho[-1]) * present.sum(axis=0) / np.sqrt(np.maximum(pairs, 1)))
    return np.array(rho), np.array(scores)


def _modelled(problem: NonlinearProblem, theta: Array, inverse_information: Array) -> tuple[Fitted, NoiseModel]:
    tangent = problem.linearize(theta)
    columns: Any = np.flatnonzero(~problem.unknowns.is_fixed)
    scale = np.sqrt(inverse_information.diagonal())
    T = scale[:, None] * np.linalg.cholesky(inverse_information / np.outer(scale, scale))
    fit = Fitted(tangent, stated(tangent, "MaximumLikelihood"), theta, columns, T)
    return fit, noise_model(fit)
