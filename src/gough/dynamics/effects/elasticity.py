"""Elastic drives: the encoder is on the motor, and the link lags behind it by the torque that the gear transmits."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.errors import InputError
from gough.core.text import number
from gough.data.filters import low_passed, memory
from gough.dynamics.effect import Columns, Effect, Excitation, Planted, Truth
from gough.dynamics.rigid_efforts import coarse_motion, rigid_derivatives, rigid_efforts

ROTORS = (0.0, 0.5, 0.9)
"""Parts of an actuator's smallest inertia that may be on the motor's side of the spring: where the search begins."""
_MOST_ROTOR = 0.98
_SURE_ROTOR = 0.9
"""A larger estimated part is a sign of soft drives: natural frequencies are computed with this one."""
_SHARE = "rotor_share"
_ITERATIONS = 12
_CONTRACTS = 0.8
"""Ratio of successive changes above which that iteration counts as diverging."""
_PLANTED = 0.03
"""Last change of the load, relative to its largest value, up to which planted springs count as solved."""
_FAR = 3.0
"""Natural frequency over the load's highest frequency from which on compliances are estimated well."""
_SETTLED = 1e-6
"""Change of the load, relative to its largest value, at which the link's position is found."""
_ENOUGH = 0.999
"""Part of the power of the load that is kept where it is differentiated twice; the rest holds more noise than load."""
_DISTORTED = 1e-3
"""Part that the low-pass of the preparation removes of the fastest load: a larger one looks like a compliance."""
_ORDER = 4


@dataclass(frozen=True)
class Elasticity(Effect):
    """effort(q) = drive(q) + load(q − c · load): the link is at q − c · load if the motor is at q, with compliances c.

    To first order, column i is the derivative of the load's efforts along the displacement −load_i of coordinate i,
    with its first and second derivatives in time. At compliances that are known, the link's position is computed, and
    the columns are secants. The drive's friction and rotor are on the motor's side. Rigid-body efforts are even in the
    velocity and friction is odd, by which both are separated.

    A low-pass whose cutoff is close to the motion removes a part of the acceleration that grows with the frequency, as
    an elastic drive does: compliances are not sought there.
    """

    rotor: float = 0.0
    """Part of the actuator's smallest inertia that is on the motor's side, where it is not estimated."""
    is_shared: bool = False
    """Have all drives the same compliance?"""
    title: str = "elastic drives"

    name = "elasticity"
    advice = (
        "Measure the position behind the gear, keep the motion well below the drives' natural frequencies, or tighten "
        'belts and couplings. use = ["elasticity"] in [effects] estimates one compliance for all drives (compliance), '
        "or one for each (compliance_1, …) where the data tell them apart: compare with what you know of each gear."
    )
    is_refitted = True
    nonnegative = ("compliance",)
    has_memory = True
    controller = (
        "Efforts are those of links at the given positions. The motor is ahead of its link by compliance · effort: add "
        "this to the reference of the motor, and keep motions well below the natural frequency of the drives."
    )
    sizes = (0.001, 0.004, 0.015)
    size_unit = "of the rms displacement"

    def alternatives(self, excitation: Excitation) -> tuple[Effect, ...]:
        """Several inertias of the rotor, which the model does not separate from the link; drives alike or not."""
        alike = len(set(excitation.robot.effort_units)) == 1 and excitation.n > 1
        forms = (True, False) if alike else (False,)
        titles = {True: "elastic drives, with one compliance for all", False: self.title}
        return tuple(
            replace(self, rotor=rotor, is_shared=form, title=titles[form]) for rotor in ROTORS for form in forms
        )

    def columns(self, excitation: Excitation) -> Columns | None:
        """One compliance for each actuator, or one for all; at compliances that are known, the rotor's part too."""
        n, robot = excitation.n, excitation.robot
        units = tuple(f"{q}/({e})" for q, e in zip(robot.coordinate_units, robot.effort_units, strict=True))
        names = ("compliance",) if self.is_shared else tuple(f"compliance_{i + 1}" for i in range(n))
        c = np.array([excitation.at.get(name, 0.0) for name in names])
        every = np.broadcast_to(c, n)
        share = min(max(excitation.at.get(_SHARE, self.rotor), 0.0), _MOST_ROTOR)
        values = self._each(excitation, every, share)
        if values is None:
            return None
        if not c.any():
            return Columns(names, units[: len(names)], excitation.interpolated(self._summed(values)))
        # with columns S(share) of the compliances: c S(share) = c S(0) + share · c (S(other) − S(0)) / other
        other = share or ROTORS[1]
        none = self._each(excitation, every, 0.0)
        some = values if share else self._each(excitation, every, other)
        if none is None or some is None:
            return None
        by_share = ((some - none) @ every / other)[:, :, None]
        both = np.concatenate([self._summed(none), by_share], axis=2)
        return Columns((*names, _SHARE), (*units[: len(names)], "1"), excitation.interpolated(both))

    def _summed(self, values: Array) -> Array:
        return values.sum(axis=2, keepdims=True) if self.is_shared else values

    def _each(self, excitation: Excitation, c: Array, share: float) -> Array | None:
        """Columns (coarse samples, actuators, actuators) of the compliance of each drive, secants at c."""
        return excitation.once(f"compliances {share} {c.tolist()}", lambda: _secants(excitation, c, share))

    def caveat(self, excitation: Excitation, values: Mapping[str, float]) -> str:
        """That the compliance is indicative only, where a natural frequency is close to the motion."""
        share = min(max(values.get(_SHARE, self.rotor), 0.0), _SURE_ROTOR)
        links = (1 - share) * excitation.once("inertias", lambda: _inertias(excitation))
        c = np.array([values.get("compliance", values.get(f"compliance_{i + 1}", 0.0)) for i in range(excitation.n)])
        stiffness = 1 / np.maximum(c * links, 1e-300)  # over the link's inertia
        natural = float(np.sqrt(stiffness.min())) / (2 * np.pi)
        highest = excitation.once("highest of the load", lambda: _highest_of_load(excitation))
        if natural > _FAR * highest:
            return ""
        return (
            f"The natural frequency of the drives, about {number(natural, digits=2)} Hz, is close to the frequencies "
            f"of the load, up to {number(highest, digits=2)} Hz: the compliance is indicative only, and a model that "
            "includes it is not adequate. Move more slowly, or measure the position behind the gear."
        )

    def is_indicative(self, excitation: Excitation, values: Mapping[str, float]) -> bool:
        """Is a natural frequency close to the motion?"""
        return bool(self.caveat(excitation, values))

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted | None:  # noqa: ARG002
        """All drives have springs that give way by this part of the rms displacement of the motor.

        None where these are so soft that the motion reaches their natural frequency.
        """
        drive = truth.drive_efforts(truth.q, truth.dq, truth.ddq)
        moved = (truth.q, truth.dq, truth.ddq)
        load = truth.efforts(*moved) - drive
        swing = np.sqrt(((truth.q - truth.q.mean(axis=0)) ** 2).mean(axis=0))
        compliance = size * swing / np.sqrt((load**2).mean(axis=0))
        last = np.inf
        for _ in range(4):  # the link's position depends on the load, and the load on the link's position
            shift = -compliance * load
            first = _along(truth, shift)
            moved = (truth.q + shift, truth.dq + first, truth.ddq + _along(truth, first))
            new = truth.efforts(*moved) - truth.drive_efforts(*moved)
            change = float(abs(new - load).max())
            if change > last:  # differences in time enlarge errors at the ends
                break
            last, load = change, new
        return Planted(truth.q, drive + load) if last < _PLANTED * float(abs(load).max()) else None


def _secants(excitation: Excitation, c: Array, share: float) -> Array | None:
    """Columns (coarse samples, actuators, actuators); None where compliances are not sought."""
    n, at = excitation.n, excitation.coarse
    rotors = share * excitation.once("inertias", lambda: _inertias(excitation))
    load = _load(excitation) - rotors * excitation.ddq
    if _is_distorted(excitation, load):
        return None
    try:
        by = rigid_derivatives(excitation)
    except InputError:  # at the very edge of what the robot reaches
        return None
    link = _at_link(excitation, c, rotors, load) if c.any() else None
    shifts = _with_derivatives(excitation, load if link is None else link)
    values = np.zeros_like(by[0])
    for one, shift in zip(by, shifts, strict=True):
        values -= one * shift[at, None, :]
    i = np.arange(n)
    values[:, i, i] += rotors * shifts[2][at]
    if link is not None:  # what is not of first order, so that columns · c is the change of the efforts
        values += ((link - load)[at] - values @ c)[:, :, None] * (c / (c @ c))
    return values


def _load(excitation: Excitation) -> Array:
    """Efforts (samples, actuators) of the model without friction."""
    return excitation.once(
        "load", lambda: excitation.interpolated(rigid_efforts(excitation, *coarse_motion(excitation)))
    )


def _highest_of_load(excitation: Excitation) -> float:
    return max(_highest(excitation, _load(excitation), part) for part in excitation.pieces)


def _with_derivatives(excitation: Excitation, load: Array) -> tuple[Array, Array, Array]:
    """The load without its high frequencies, with its first and second derivative in time."""
    displaced = _smooth(excitation, load)
    first = excitation.derivative(displaced)
    return displaced, first, excitation.derivative(first)


def _at_link(excitation: Excitation, c: Array, rotors: Array, load: Array) -> Array | None:
    """The load (samples, actuators) at the position of the link; None where the drives are too soft to find it.

    The position of the link depends on the load, and the load on that position: both are found by iteration, which
    converges if the load's frequencies are below the natural frequency.
    """
    at, motion = excitation.coarse, coarse_motion(excitation)
    size, last = abs(load).max(), np.inf
    for _ in range(_ITERATIONS):
        moved = [x - (c * shift)[at] for x, shift in zip(motion, _with_derivatives(excitation, load), strict=True)]
        try:
            new = excitation.interpolated(rigid_efforts(excitation, *moved) - rotors * moved[2])
        except InputError:  # the link would be where the robot cannot be
            return None
        change, load = abs(new - load).max(), new
        if change <= _SETTLED * size:
            return load
        if change > _CONTRACTS * last:
            return None
        last = change
    return load


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
