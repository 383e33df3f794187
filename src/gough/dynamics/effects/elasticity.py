"""Elastic drives: the encoder is on the motor, and the link lags behind it by the torque that the gear transmits."""

from dataclasses import dataclass, replace

import numpy as np

from gough.core.arrays import Array, Integers, Mask
from gough.core.errors import InputError
from gough.data.filters import low_passed, memory
from gough.dynamics.effect import Columns, Effect, Excitation, Planted, Truth

ROTORS = (0.0, 0.5, 0.9)
"""Parts of an actuator's smallest inertia that may be on the motor's side of the spring."""
_ENOUGH = 0.999
"""Part of the power of the load that is kept where it is differentiated twice; the rest holds more noise than load."""
_DISTORTED = 1e-3
"""Part that the low-pass of the preparation removes of the fastest load: a larger one looks like a compliance."""
_STEP = 1e-6
"""Displacement of finite differences, as a part of the range of positions and of the largest velocity."""
_SOME = 500
"""Samples at which columns of the regressor are compared."""
_SAME = 1e-9
"""Part of the largest entry of a column by which equal ones may differ."""
_ORDER = 4


@dataclass(frozen=True)
class Elasticity(Effect):
    """effort(q) = drive(q) + load(q − c · load): the link is at q − c · load if the motor is at q, with compliances c.

    To first order, column i is the derivative of the load's efforts along the displacement −load_i of coordinate i,
    with its first and second derivatives in time. The drive's friction and rotor are on the motor's side. Rigid-body
    efforts are even in the velocity and friction is odd, by which both are separated.

    A low-pass whose cutoff is close to the motion removes a part of the acceleration that grows with the frequency, as
    an elastic drive does: compliances are not sought there.
    """

    rotor: float = 0.0
    """Part of the actuator's smallest inertia that is on the motor's side."""
    is_shared: bool = False
    """Have all drives the same compliance?"""

    name = "elasticity"
    title = "elastic drives"
    advice = (
        "Measure the position behind the gear, keep the motion well below the drives' natural frequencies, or tighten "
        'belts and couplings. use = ["elasticity"] in [effects] estimates the compliance of each drive.'
    )
    sizes = (0.001, 0.004, 0.015)
    size_unit = "of the rms displacement"

    def alternatives(self, excitation: Excitation) -> tuple[Effect, ...]:
        """Several inertias of the rotor, which the model does not separate from the link; drives alike or not."""
        alike = len(set(excitation.robot.effort_units)) == 1 and excitation.n > 1
        forms = (True, False) if alike else (False,)
        return tuple(replace(self, rotor=rotor, is_shared=form) for rotor in ROTORS for form in forms)

    def columns(self, excitation: Excitation) -> Columns | None:
        """One compliance for each actuator, or one for all."""
        every = excitation.once(f"compliances {self.rotor}", lambda: self._each(excitation))
        if every is None or not self.is_shared:
            return every
        return Columns(("compliance",), every.units[:1], every.values.sum(axis=2, keepdims=True))

    def _each(self, excitation: Excitation) -> Columns | None:
        n, at = excitation.n, excitation.coarse
        rotors = self.rotor * excitation.once("inertias", lambda: _inertias(excitation))
        load = excitation.once("load", lambda: excitation.interpolated(_rigid(excitation, *_coarse(excitation))))
        load = load - rotors * excitation.ddq
        if _is_distorted(excitation, load):
            return None
        try:
            by = excitation.once("rigid derivatives", lambda: _derivatives(excitation))
        except InputError:  # at the very edge of what the robot reaches
            return None
        displaced = _smooth(excitation, load)
        first = excitation.derivative(displaced)
        second = excitation.derivative(first)
        values = np.zeros_like(by[0])
        for one, shift in zip(by, (displaced, first, second), strict=True):
            values -= one * shift[at, None, :]
        i = np.arange(n)
        values[:, i, i] += rotors * second[at]
        robot = excitation.robot
        units = tuple(f"{q}/({e})" for q, e in zip(robot.coordinate_units, robot.effort_units, strict=True))
        return Columns(tuple(f"compliance_{i + 1}" for i in range(n)), units, excitation.interpolated(values))

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted:  # noqa: ARG002
        """All drives have springs that give way by this part of the rms displacement of the motor."""
        drive = truth.drive_efforts(truth.q, truth.dq, truth.ddq)
        moved = (truth.q, truth.dq, truth.ddq)
        load = truth.efforts(*moved) - drive
        swing = np.sqrt(((truth.q - truth.q.mean(axis=0)) ** 2).mean(axis=0))
        compliance = size * swing / np.sqrt((load**2).mean(axis=0))
        for _ in range(4):  # the link's position depends on the load, and the load on the link's position
            shift = -compliance * load
            first = _along(truth, shift)
            moved = (truth.q + shift, truth.dq + first, truth.ddq + _along(truth, first))
            load = truth.efforts(*moved) - truth.drive_efforts(*moved)
        return Planted(truth.q, drive + load)


def _coarse(excitation: Excitation) -> tuple[Array, Array, Array]:
    at = excitation.coarse
    return excitation.q[at], excitation.dq[at], excitation.ddq[at]


def _rigid(excitation: Excitation, q: Array, dq: Array, ddq: Array) -> Array:
    """Efforts of the model without friction: their even part in the velocity."""
    even = excitation.once("even parameters", lambda: _even(excitation), is_of_motion=True)
    if even is not None:
        return excitation.plain_efforts(q, dq, ddq, chosen=even)
    return (excitation.plain_efforts(q, dq, ddq) + excitation.plain_efforts(q, -dq, ddq)) / 2


def _even(excitation: Excitation) -> Mask | None:
    """Which parameters' efforts are even in the velocity; None where some are neither even nor odd."""
    q, dq, ddq = (x[:: max(1, len(x) // _SOME)] for x in _coarse(excitation))
    W = excitation.plain.regressor(np.tile(q, (2, 1)), np.concatenate([dq, -dq]), np.tile(ddq, (2, 1)))
    forth, back = np.split(np.asarray(W), 2)
    least = _SAME * abs(W).max(axis=(0, 1))
    even = abs(forth - back).max(axis=(0, 1)) <= least
    odd = abs(forth + back).max(axis=(0, 1)) <= least
    return np.asarray(even, dtype=np.bool_) if (even | odd).all() else None


def _derivatives(excitation: Excitation) -> tuple[Array, Array, Array]:
    """Derivatives (coarse samples, actuators, coordinates) of the rigid efforts by q, q̇ and q̈."""
    motion = _coarse(excitation)
    rigid = _rigid(excitation, *motion)
    found = tuple(np.empty((*rigid.shape, excitation.n)) for _ in motion)
    for k, x in enumerate(motion):
        size = np.ptp(x, axis=0) if k == 0 else abs(x).max(axis=0)
        steps = np.where(size > 0, (_STEP, _STEP, 1.0)[k] * size, 1.0)  # linear in q̈
        for i, step in enumerate(steps.tolist()):
            moved = [other.copy() if other is x else other for other in motion]
            moved[k][:, i] += step
            found[k][:, :, i] = (_rigid(excitation, *moved) - rigid) / step
    return found[0], found[1], found[2]


def _inertias(excitation: Excitation) -> Array:
    """Smallest inertia (actuators,) that each actuator accelerates along the motion."""
    q = excitation.q[excitation.coarse]
    q = q[:: max(1, len(q) // 200)]
    n = excitation.n
    pushes = np.repeat(np.concatenate([np.zeros((1, n)), np.eye(n)]), len(q), axis=0)
    efforts = excitation.plain_efforts(np.tile(q, (n + 1, 1)), np.zeros_like(pushes), pushes)
    held, *pushed = np.split(efforts, n + 1)
    return np.array([max(float((each - held)[:, i].min()), 0.0) for i, each in enumerate(pushed)])


def _highest(excitation: Excitation, load: Array, part: Integers) -> float:
    """Frequency, Hz, below which nearly all power of the load in one recording is."""
    x = load[part] - load[part].mean(axis=0)
    power = (abs(np.fft.rfft(x * np.hanning(len(part))[:, None], axis=0)) ** 2).cumsum(axis=0)
    return max(int((power < _ENOUGH * power[-1]).sum(axis=0).max()), 1) * excitation.rate / len(part)


def _is_distorted(excitation: Excitation, load: Array) -> bool:
    """Has the low-pass removed more of the load than an elastic drive may change?"""
    highest = max(_highest(excitation, load, part) for part in excitation.pieces)
    return (highest / excitation.cutoff) ** (2 * excitation.order) > _DISTORTED


def _smooth(excitation: Excitation, load: Array) -> Array:
    """The load without the high frequencies that hold next to none of its power."""
    result = load.copy()
    for part in excitation.pieces:
        cutoff = 2 * _highest(excitation, load, part)
        if cutoff < 0.4 * excitation.rate and len(part) > memory(cutoff, _ORDER, excitation.rate):
            result[part] = low_passed(load[part], cutoff, _ORDER, excitation.rate)
    return result


def _along(truth: Truth, x: Array) -> Array:
    """Derivative in time, within each recording, by splines of degree 5."""
    from scipy.interpolate import make_interp_spline  # noqa: PLC0415 - start-up time

    result = np.empty_like(x)
    for part in np.split(np.arange(len(x)), np.flatnonzero(np.diff(truth.recording)) + 1):
        t = np.arange(len(part)) / truth.rate
        result[part] = make_interp_spline(t, x[part], k=5).derivative()(t)
    return result


EFFECT = Elasticity()
