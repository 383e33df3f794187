"""Standard deviations that are not stated: variance components of readings and instruments, by restricted likelihood.

With P = Σ⁻¹ − Σ⁻¹ J (Jᵀ Σ⁻¹ J)⁻¹ Jᵀ Σ⁻¹ the restricted likelihood [PT71] of independent groups of errors has, in the
logarithms of their variances, the slopes (‖v_g‖² − r_g)/2 and Fisher's information ‖(I − H)_gh‖²/2: v_g are the
residuals of a group in standard deviations, H is the projection onto the columns of the whitened Jacobian J, those of
all poses too, and r_g = n_g − tr H_gg is the redundancy of the group.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.errors import InputError, require
from gough.core.text import listed, number, plus_minus, shown_unit
from gough.geometry.instruments.descent import Arrived, Decomposed, descend
from gough.geometry.instruments.elimination import Elimination
from gough.geometry.instruments.equations import State
from gough.geometry.instruments.measurements import Measurements

_MOST_POSES = 4096
"""Poses, evenly chosen, that noise is estimated from: more do not change its second digit."""
_FIRST = 1e-4
"""Standard deviation to begin with, as a share of the range of what was measured."""
_RATIOS = 4
"""First rounds, in which each variance is multiplied by ‖v‖²/r; then Fisher's scoring."""
_ROUNDS = 30
_SETTLED = 1e-3
"""Change of the logarithms of variances at which the rounds end."""
_WEAK = 0.5
"""Relative standard deviation of an estimated σ beyond which only its order of magnitude is known …"""
_FEWEST = 5.0
"""… which is refused if the variance of some unknown then has fewer degrees of freedom."""
_UNSEEN = 1e-2
"""Redundancy of a group below which its noise is not seen beside that of the others: it is not made smaller."""
_BLIND = 0.25
"""Information on the logarithm of a variance that counts at least: without any, it is known to e² at best."""
_UNITS = {"m": "lengths", "rad": "angles", "px": "pixels"}


class Component(NamedTuple):
    """Errors with one unknown standard deviation: of the readings, or of channels of an instrument with one unit."""

    name: str
    instrument: int
    """Number of the instrument; −1: the readings."""
    channels: tuple[int, ...]
    unit: str


@dataclass(frozen=True, eq=False)
class NoiseEstimates(ArrayValue):
    """Standard deviations that were estimated with the robot's parameters."""

    components: tuple[Component, ...]
    sigma: Array
    relative: Array
    """Standard deviations of `sigma` as shares of it."""
    dof: float
    """Degrees of freedom of the least certain variance of the parameters [SAT46]."""

    @property
    def words(self) -> str:
        """What was estimated, in sentences."""
        texts = []
        for component, sigma, relative in zip(self.components, self.sigma, self.relative, strict=True):
            unit, factor = shown_unit(component.unit)
            if relative >= _WEAK:
                most = factor * float(sigma * np.exp(2 * relative))
                texts.append(f"{component.name} at most {number(most, digits=1)} {unit}")
                continue
            value, spread = plus_minus(factor * float(sigma), 2 * factor * float(sigma * relative))
            texts.append(f"{component.name} {value} ± {spread} {unit}")
        several = len(texts) > 1
        return (
            f"Noise that is not stated is estimated from the residuals: {listed(texts)} (standard deviation"
            f"{'s' * several}, 95 %). Residuals do not test {'them' if several else 'it'}: compare with what the "
            "instruments should do, or state sigma to test it."
        )


def unknown_components(measurements: Measurements) -> tuple[Component, ...]:
    """The groups of errors whose standard deviation is not stated."""
    found = []
    if measurements.reading_sigma is None:
        found.append(Component("readings", -1, tuple(range(measurements.readings.shape[1])), ""))
    for i, one in enumerate(measurements.instruments):
        if one.sigma is not None:
            continue
        units = dict.fromkeys(one.units)
        for unit in units:
            channels = tuple(k for k, own in enumerate(one.units) if own == unit)
            name = f"{one.name}, {_UNITS.get(unit, unit)}" if len(units) > 1 else one.name
            found.append(Component(name, i, channels, unit))
    return tuple(found)


def with_deviations(measurements: Measurements, components: tuple[Component, ...], sigma: Array) -> Measurements:
    """The measurements with these standard deviations in place of those that are not stated."""
    instruments, own = list(measurements.instruments), measurements.reading_sigma
    deviations = {i: np.ones(len(instruments[i].channels)) for i in {each.instrument for each in components} - {-1}}
    for component, value in zip(components, sigma.tolist(), strict=True):
        if component.instrument < 0:
            own = np.array(value)
        else:
            deviations[component.instrument][list(component.channels)] = value
    for i, values in deviations.items():
        instruments[i] = replace(instruments[i], sigma=values)
    return replace(measurements, reading_sigma=own, instruments=tuple(instruments))


def estimated_noise(
    prepared: Callable[[Measurements], tuple[Elimination, State]],
    measurements: Measurements,
    components: tuple[Component, ...],
) -> tuple[Measurements, NoiseEstimates]:
    """The measurements with estimated standard deviations, and how well these are known.

    Args:
        prepared: The equations of measurements whose noise is stated, with their start.
        measurements: What was measured.
        components: The groups of errors whose standard deviation is not stated.

    Raises:
        InputError: the measurements do not determine the standard deviations; the message names them.
    """
    step = -(-len(measurements) // _MOST_POSES)
    chosen = measurements.select(np.arange(0, len(measurements), step)) if step > 1 else measurements
    sigma = np.array([_first_sigma(chosen, each) for each in components])
    elimination, state = prepared(with_deviations(chosen, components, sigma))
    unit = elimination.equations.model.reading_unit
    components = tuple(each._replace(unit=unit) if each.instrument < 0 else each for each in components)
    for round_ in range(_ROUNDS):
        data = with_deviations(chosen, components, sigma)
        elimination = Elimination(replace(elimination.equations, measurements=data))
        arrived = descend(elimination, state)
        state = arrived.state
        if not np.isfinite(arrived.linearized.cost):
            raise InputError(
                "the readings cannot be predicted at the blueprint's poses: check units, order and sign of the readings"
            )
        sums = _sums(elimination, arrived, components)
        change = sums.step(scoring=round_ >= _RATIOS)
        sigma = sigma * np.exp(change / 2)
        if round_ >= _RATIOS and abs(change).max() < _SETTLED:
            break
    relative = np.sqrt(_uncertainty(sums.information).diagonal()) / 2
    weak = [each.name for each, r in zip(components, relative.tolist(), strict=True) if not r < _WEAK]
    if (weak and sums.dof < _FEWEST) or abs(change).max() >= _SETTLED:
        names = weak or [each.name for each in components]
        raise InputError(
            f"the measurements do not determine the noise of {listed(names)}, which is not stated: state "
            f"{'sigma of at least one of them' if len(names) > 1 else 'its sigma'}, or measure more poses"
        )
    return with_deviations(measurements, components, sigma), NoiseEstimates(components, sigma, relative, sums.dof)


def _first_sigma(measurements: Measurements, component: Component) -> float:
    """A standard deviation to begin with."""
    if component.unit in {"rad", "px"}:  # those of instruments
        return {"rad": 1e-4, "px": 0.1}[component.unit]
    if component.instrument < 0:
        values = measurements.readings
    else:
        values = measurements.instruments[component.instrument].values
    values = values[np.isfinite(values)]
    size = float(np.ptp(values)) if values.size else 0.0
    return _FIRST * (size or 1.0)


class _Sums(NamedTuple):
    """Slopes and information of the restricted likelihood in the logarithms of variances."""

    squares: Array
    redundancy: Array
    information: Array
    dof: float

    def step(self, *, scoring: bool) -> Array:
        """A change of the logarithms towards the maximum, at most by a factor e⁴ (σ: e²), or e² in scoring."""
        with np.errstate(all="ignore"):
            ratio = np.log(np.maximum(self.squares, 1e-300) / np.maximum(self.redundancy, 1e-12))
        if not scoring:
            return np.clip(ratio, -4.0, 12.0)
        slope = (self.squares - self.redundancy) / 2
        change = np.clip(np.linalg.pinv(self.information, hermitian=True) @ slope, -2.0, 2.0)
        return np.where((self.redundancy < _UNSEEN) & (change < 0), 0.0, change)


def _sums(elimination: Elimination, arrived: Arrived, components: tuple[Component, ...]) -> _Sums:
    """The sums over all groups of poses; memory is that of one block."""
    svd, G = Decomposed.of(arrived.reduced.triangle), len(components)
    T = svd.right[: svd.rank].T / svd.values[: svd.rank] / svd.scale[:, None]
    squares, redundancy = np.zeros(G), np.zeros(G)
    own, cross, moments = np.zeros((G, G)), np.zeros((G, G)), np.zeros((G, svd.rank, svd.rank))
    d = elimination.n_freedoms
    for batch, A in elimination.blocks(arrived.linearized):
        size = d * batch.poses.shape[1]
        sources = elimination.sources(batch)
        groups = [
            np.flatnonzero((sources[:, 0] == each.instrument) & np.isin(sources[:, 1], each.channels))
            for each in components
        ]
        rows = np.moveaxis(A, 2, 0)  # (poses, rows, columns)
        Q = np.linalg.qr(rows[..., :size])[0]
        M = np.eye(A.shape[0]) - Q @ np.swapaxes(Q, 1, 2)
        W = (M @ rows[..., size:-1]) @ T
        measured = (rows != 0).any(axis=2)
        for g, here in enumerate(groups):
            squares[g] += float((rows[:, here, -1] ** 2).sum())
            redundancy[g] += float((np.einsum("nkk->nk", M)[:, here] * measured[:, here]).sum())
            redundancy[g] -= float((W[:, here] ** 2).sum())
            moments[g] += np.einsum("nki,nkj->ij", W[:, here], W[:, here])
            for h, there in enumerate(groups):
                between = M[:, here][:, :, there] * measured[:, here, None] * measured[:, None, there]
                own[g, h] += float((between**2).sum())
                cross[g, h] += float(np.einsum("nki,nkl,nli->", W[:, here], between, W[:, there], optimize=True))
    information = (own - 2 * cross + np.einsum("gij,hji->gh", moments, moments)) / 2
    variance = (T @ T.T).diagonal()
    shares = np.einsum("pi,gij,pj->gp", T, moments, T, optimize=True) / np.maximum(variance, 1e-300)
    spread = np.einsum("gp,gh,hp->p", shares, _uncertainty(information), shares)
    dof = 2 / float(spread.max(initial=1e-300))
    return _Sums(squares, redundancy, information, max(dof, 1.0))


def _uncertainty(information: Array) -> Array:
    """The covariance of the logarithms of variances; a direction without information counts as known to e² at best."""
    values, vectors = np.linalg.eigh(information)
    return np.asarray((vectors / np.maximum(values, _BLIND)) @ vectors.T)


def require_stated(measurements: Measurements, why: str) -> None:
    """Refuse noise that is not stated."""
    unknown = unknown_components(measurements)
    require(not unknown, f"{why}: state sigma of {listed([each.name for each in unknown])}")
