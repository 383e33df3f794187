"""Cogging and torque ripple: efforts of a motor that repeat with its position."""

from dataclasses import dataclass, replace
from math import pi, prod

import numpy as np

from gough.core.arrays import Array, Mask
from gough.dynamics.effect import Columns, Effect, Excitation, Instant, Planted, Truth
from gough.kernels import expression as ex
from gough.kernels.expression import Expression

_PERIODS = 2.0
"""Least number of periods within the range of positions: slower functions of the position have other causes."""
_FINE = 4
"""Wave numbers that are scanned for each independent one."""
_PEAKS = 3
_EXACT = 5e-4
"""Step of the wave number, as a part of it, at which it is not refined further."""
_MOST_TRIALS = 10**15


@dataclass(frozen=True)
class Cogging(Effect):
    """effort_i + a_i cos(k q_i) + b_i sin(k q_i), with a wave number k in periods per turn, or 2π/period of a slide.

    k is found by a periodogram of the residuals over the position, up to the wave number that the low-pass of the
    preparation leaves at low speeds. Gears make it any number. Either all actuators have the same, or each its own.
    """

    waves: tuple[float, ...] = ()
    """k of each actuator; empty: that of the highest peak."""
    trials: int = 1
    title: str = "torque ripple or cogging of the motors"
    step: float = 0.0
    """Distance of the wave numbers that were scanned; 0: they are known."""
    lowest: float = 0.0
    """Wave number below which no ripple is told from other effects."""
    unit: str = ""
    """What a period is counted per, for the title."""

    name = "cogging"
    advice = (
        "Compare the wave number with pole pairs, slots and gear ratio of the motor; record faster, so that the "
        'low-pass removes the ripple, or use = ["cogging"] in [effects], which estimates it.'
    )
    sizes = (0.003, 0.01, 0.05)
    size_unit = "of the rms effort"

    def alternatives(self, excitation: Excitation) -> tuple[Effect, ...]:
        """Wave numbers that are known from the mechanism, the highest peaks of all actuators, and of each its own."""
        turns = excitation.robot.coordinate_units[0] == "rad"
        farthest = float(np.ptp(excitation.q, axis=0).max())
        form = replace(self, unit="turn" if turns else "m", lowest=2 * pi * _PERIODS / max(farthest, 1e-300))
        found = [form.with_waves(waves) for waves in _known(excitation)]
        if len(set(excitation.robot.coordinate_units)) == 1:
            span = float(np.ptp(excitation.q, axis=0).max())
            k, powers = _periodogram(excitation, span)
            trials = _independent(k, span)
            scanned = replace(form, trials=trials, step=_step(k))
            found += [scanned.with_waves((peak,) * excitation.n) for peak in _peaks(k, powers.sum(axis=1), span)]
        if excitation.n > 1:
            waves, trials, step = _own(excitation)
            if waves:
                found.append(replace(form, trials=trials, step=step).with_waves(waves))
        return tuple(found)

    def nearer(self) -> "tuple[Effect, ...]":
        """Wave numbers half a step below and above: of all actuators, or of each by itself."""
        step = self.step / 2
        if not self.waves or step < _EXACT * max(self.waves):
            return ()
        waves = np.array(self.waves)
        alike = len(set(self.waves)) == 1
        moves = np.ones((1, len(waves))) if alike else np.eye(len(waves))
        tried = [np.maximum(waves + sign * step * move, self.lowest) for move in moves for sign in (-1, 1)]
        return (replace(self, step=step), *(self.with_waves(tuple(each.tolist())) for each in tried))

    def with_waves(self, waves: tuple[float, ...]) -> "Cogging":
        """The same with other wave numbers, and the title that states them."""
        if len(set(waves)) > 1:
            return replace(self, waves=waves)
        periods = waves[0] if self.unit == "turn" else waves[0] / (2 * pi)
        return replace(self, waves=waves, title=f"torque ripple or cogging, {periods:.3g} periods per {self.unit}")

    @property
    def numbers(self) -> tuple[float, ...]:
        """The wave numbers."""
        return self.waves

    def with_numbers(self, values: tuple[float, ...]) -> Effect:
        """The same with other wave numbers."""
        return self.with_waves(values)

    def of_actuator(self, excitation: Excitation, i: int, value: float) -> Array:
        """A cosine and a sine, for a wave number."""
        phase = value * excitation.q[:, i]
        return np.column_stack([np.cos(phase), np.sin(phase)])

    def columns(self, excitation: Excitation) -> Columns | None:
        """A cosine and a sine for each actuator."""
        if not self.waves:
            first = self.alternatives(excitation)[:1]
            return first[0].columns(excitation) if first else None
        units = excitation.robot.effort_units
        values = np.stack([self.of_actuator(excitation, i, wave) for i, wave in enumerate(self.waves)], axis=2)
        cosine = excitation.per_actuator("ripple_cos_", units, values[:, 0])
        return cosine.and_also(excitation.per_actuator("ripple_sin_", units, values[:, 1]))

    def at_instant(self, instant: Instant) -> dict[str, Expression]:
        """A cosine and a sine for each actuator."""
        phases = [wave * q for wave, q in zip(self.waves, instant.q, strict=True)]
        cosine = instant.per_actuator("ripple_cos_", [ex.cos(phase) for phase in phases])
        return {**cosine, **instant.per_actuator("ripple_sin_", [ex.sin(phase) for phase in phases])}

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted:
        """All motors, with the same number of periods, 4 to 10 within the largest range of positions."""
        efforts = truth.efforts(truth.q, truth.dq, truth.ddq)
        rms = np.sqrt((efforts**2).mean(axis=0))
        wave = 2 * pi * rng.uniform(4, 10) / float(np.ptp(truth.q, axis=0).max())
        phase = rng.uniform(0, 2 * pi, efforts.shape[1])
        return Planted(truth.q, efforts + size * rms * np.sqrt(2) * np.sin(wave * truth.q + phase))


def _known(excitation: Excitation) -> list[tuple[float, ...]]:
    """Wave numbers that the mechanism states but the model does not contain."""
    robot = excitation.plain
    mechanism = getattr(robot, "mechanism", None)
    if mechanism is None or any(each.part == "cogging" for each in getattr(robot, "parameters", ())):
        return []
    drives = [mechanism.freedoms[name].cogging for name in mechanism.actuated]
    if not all(drives):
        return []
    shared = set.intersection(*(set(drive.harmonics) for drive in drives))
    return [tuple(2 * pi * k / drive.period for drive in drives) for k in sorted(shared)]


def _periodogram(excitation: Excitation, span: float) -> tuple[Array, Array]:
    """Wave numbers (K,) and power (K, actuators) of the residuals at each, over what is expected of noise.

    Residuals are summed in bins of the position that are short against the period, and the sums are transformed.
    """
    kept = np.isfinite(excitation.residuals)
    highest = max(_highest(excitation, i, kept[:, i]) for i in range(excitation.n))
    size = 1 << int(np.ceil(np.log2(max(_FINE * highest * span / pi, 16))))
    width = span / size * 1.0001
    k = np.asarray(np.arange(_FINE * size // 2) * (2 * pi / (_FINE * size * width)), dtype=np.float64)
    powers = np.zeros((len(k), excitation.n))
    for i in range(excitation.n):
        x, r = excitation.q[kept[:, i], i], excitation.residuals[kept[:, i], i]
        if len(r) == 0 or not r.any():
            continue
        sums = np.bincount(((x - x.min()) / width).astype(int), r, minlength=size)
        powers[:, i] = abs(np.fft.fft(sums, _FINE * size)[: len(k)]) ** 2 / (r @ r)
        powers[k < 2 * pi * _PERIODS / max(float(np.ptp(x)), 1e-300), i] = 0.0
    scanned = k <= highest
    return k[scanned], powers[scanned]


def _highest(excitation: Excitation, i: int, kept: Mask) -> float:
    """The wave number whose frequency at low speed is at the end of what the rows of the residuals hold."""
    rows = np.flatnonzero(kept)
    if len(rows) < 2:
        return 0.0
    frequency = excitation.rate / float(np.diff(rows).min()) / 4
    speed = float(np.quantile(abs(excitation.dq[rows, i]), 0.25))
    return 2 * pi * frequency / max(speed, 1e-3 * float(abs(excitation.dq[:, i]).max()), 1e-300)


def _independent(k: Array, span: float) -> int:
    """Number of independent wave numbers; maxima between them count twice."""
    return max(1, int(2 * (k[-1] if len(k) else 0.0) * span / (2 * pi)))


def _peaks(k: Array, power: Array, span: float) -> list[float]:
    """The highest maxima that are separate."""
    found: list[float] = []
    left = power.copy()
    for _ in range(_PEAKS):
        j = int(left.argmax()) if len(left) else 0
        if len(left) == 0 or left[j] <= 0:
            break
        found.append(float(k[j]))
        left[abs(k - k[j]) < 2 * pi / span] = 0.0
    return found


def _step(k: Array) -> float:
    return float(k[1] - k[0]) if len(k) > 1 else 0.0


def _own(excitation: Excitation) -> tuple[tuple[float, ...], int, float]:
    """The highest peak of each actuator, the number of combinations that were scanned, and the step of the scan."""
    waves, trials = [], []
    spans = np.ptp(excitation.q, axis=0)
    if spans.min() <= 0:
        return (), 1, 0.0
    k, powers = _periodogram(excitation, float(spans.max()))
    for i, span in enumerate(spans.tolist()):
        best = _peaks(k, powers[:, i], span)[:1]
        if not best:
            return (), 1, 0.0
        waves.append(best[0])
        trials.append(_independent(k, span))
    return tuple(waves), min(prod(trials), _MOST_TRIALS), _step(k)


EFFECT = Cogging()
