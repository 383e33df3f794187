"""Tracking errors: what a motion keeps where its actuators are not exactly at their designed positions."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from gough.core.arrays import Array, ArrayValue, Mask
from gough.core.errors import InputError
from gough.designs.excitation.equations import displaced_kernel, spread_kernel
from gough.designs.excitation.limits import Channel
from gough.kernels import Kernel
from gough.robots.mechanism.closed_chain import ClosedChain
from gough.robots.model import DynamicModel

PER_HARMONIC = 60
"""Samples in a period of the highest harmonic at which tracking errors are followed."""
MOST = 10.0
"""Up to how many times the stated tracking error a singularity is looked for."""
_INTERIOR = 16
"""Random tracking errors beside the corners."""
_CORNERED = 8
"""Up to so many actuators all corners are followed; of more, as many random ones as 8 have."""
_STEP = 0.5
"""Share of the stated tracking error by which the actuators are displaced at a time."""
_NEWTON = 8
_CLOSED = 1e-10
"""Distance of the actuators' positions, in rad or m, at which Newton's method ends."""
_HALVINGS = 12
_BLOCK = 50_000
"""Displaced samples that are followed at a time."""


_remembered = lru_cache(maxsize=16)(displaced_kernel)
"""Designs of one robot with the same limits share this kernel: to trace it takes longer than to use it once."""


class Displaced(NamedTuple):
    """A robot whose actuators are displaced."""

    state: Array
    """See `Neighborhood.states`."""
    h: Array
    """(N, channels); 0 for what depends on velocities."""
    lost: Mask
    """Samples whose pose was not found on the way: it leads through a singularity, or over the edge of the reach."""


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """The poses that a robot takes if its actuators deviate from their designed positions.

    Examples:
        >>> from gough.designs.excitation import MotionLimits
        >>> from gough.robots import Delta
        >>> robot = Delta()
        >>> channels = MotionLimits(speeds=8.0, efforts=10.0).channels(robot, robot.home)
        >>> around = Neighborhood(robot, channels, np.full(3, 0.02))
        >>> moved = around.follow(around.states(robot.home[None]), np.full((1, 3), 0.02))
        >>> bool(np.abs(robot.inverse(moved.state) - robot.inverse(robot.home) - 0.02).max() < 1e-9), moved.lost[0]
        (True, np.False_)
    """

    robot: DynamicModel
    channels: Sequence[Channel]
    errors: Array
    """Greatest tracking error of each actuator (n,), rad or m."""

    @cached_property
    def kernel(self) -> Kernel:
        """See `displaced_kernel`."""
        robot: Any = self.robot
        return (_remembered if isinstance(robot, Hashable) else displaced_kernel)(robot, tuple(self.channels))

    @cached_property
    def spreading(self) -> Kernel:
        """See `spread_kernel`."""
        return spread_kernel(self.robot, self.channels, self.errors)

    def __getstate__(self) -> dict[str, Any]:
        """The kernels travel too: to trace them again takes longer than to send them."""
        assert self.kernel
        assert self.spreading
        return self.__dict__.copy()

    def states(self, x: Array) -> Array:
        """The state at poses (N, m): all coordinates of a mechanism, NaN where it does not close; else the pose."""
        return self.robot.look(x) if isinstance(self.robot, ClosedChain) else x

    def spread(self, x: Array) -> Array:
        """By how much tracking errors change the channels (N, channels) at poses (N, m), to first order."""
        if not self.errors.any():
            return np.zeros((len(x), len(self.channels)))
        return self.spreading(self.states(x)).reshape(len(x), len(self.channels))

    @cached_property
    def directions(self) -> Array:
        """Tracking errors (K, n) that are tried at every sample, in shares of the greatest: corners, then others."""
        rng = np.random.default_rng(0)
        n = len(self.errors)
        if n <= _CORNERED:
            corners = np.array(list(product((-1.0, 1.0), repeat=n)))
        else:
            corners = rng.choice((-1.0, 1.0), (2**_CORNERED, n))
        return np.concatenate([corners, rng.uniform(-1.0, 1.0, (_INTERIOR, n))])

    def follow(self, state: Array, error: Array) -> Displaced:
        """The states that continue these (N, …) while the actuators deviate by up to error (N, n) in small steps."""
        state = state.copy()
        begin = self._look(state)["positions"]
        lost: Mask = np.asarray(~np.isfinite(begin).all(axis=1))
        unit = np.where(self.errors > 0, self.errors, np.inf)
        n_steps = max(1, int(np.ceil((np.abs(error) / unit).max(initial=0.0) / _STEP - 1e-9)))
        h = np.zeros((len(state), len(self.channels)))
        for k in range(1, n_steps + 1):
            h, failed = self._moved(state, begin + error * (k / n_steps))
            lost |= failed
        return Displaced(state, h, lost)

    def values(self, x: Array) -> Array:
        """The channels (N, channels) at poses (N, m) without tracking errors; 0 for what depends on velocities."""
        return self._look(self.states(x))["h"]

    def extremes(self, x: Array) -> tuple[Array, Array]:
        """The least and greatest values (N, channels) over tracking errors; infinitely far where a pose is lost.

        Channels that depend on velocities are 0.
        """
        along = np.array([one.follows_positions for one in self.channels])
        state = self.states(x)
        here = self._look(state)
        low, high = here["h"].copy(), here["h"].copy()
        if not self.errors.any():
            return low, high
        for rows in self._blocks(len(x)):
            moved = self.follow(*self._all(state[rows]))
            shape = (-1, len(self.directions), len(self.channels))
            h = np.where(moved.lost[:, None] & along, np.nan, moved.h).reshape(shape)
            low[rows] = np.nan_to_num(h.min(axis=1), nan=-np.inf)
            high[rows] = np.nan_to_num(h.max(axis=1), nan=np.inf)
        for i, one in enumerate(self.channels):
            if one.kind == "position":  # exactly, and not what Newton's method leaves of it
                q, error = here["positions"][:, one.index], self.errors[one.index]
                low[:, i], high[:, i] = q - error, q + error
        return low, high

    def first_singularity(self, x: Array) -> tuple[float, int, Array]:
        """The smallest share of the tracking error that leads to a singularity at a sample; the sample; and the error.

        All directions at all poses (N, m) are followed together until one is lost. The share is infinite where none is
        up to `MOST`.
        """
        best: tuple[float, int, Array] = (np.inf, 0, np.zeros_like(self.errors))
        state = self.states(x)
        for rows in self._blocks(len(x)):
            at, error = self._all(state[rows])
            q, share = self._look(at)["positions"], 0.0
            while share < min(MOST, best[0]):
                ahead = at.copy()
                lost = self._moved(ahead, q + (share + _STEP) * error)[1]
                if lost.any():
                    reached, which = self._bisected(at[lost], q[lost], error[lost], share)
                    k = int(np.flatnonzero(lost)[which])
                    best = min(best, (reached, rows.start + k // len(self.directions), reached * error[k]), key=_first)
                    break
                at, share = ahead, share + _STEP
        return best

    def _bisected(self, state: Array, q: Array, error: Array, share: float) -> tuple[float, int]:
        """The smallest share, between `share` and one step more, at which one of the samples is lost; and which one."""
        low, high = np.full(len(state), share), np.full(len(state), share + _STEP)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            ahead = state.copy()
            lost = self._moved(ahead, q + middle[:, None] * error)[1]
            low, high = np.where(lost, low, middle), np.where(lost, middle, high)
            state = np.where(lost[:, None], state, ahead)
        which = int(np.argmin(low))
        return float(low[which]), which

    def _moved(self, state: Array, q: Array) -> tuple[Array, Mask]:
        """Move states, in place, to positions q by Newton's method; the channels there, and which samples failed."""
        margins = [i for i, one in enumerate(self.channels) if one.kind == "margin"]
        looked = self._look(state, q)
        for _ in range(_NEWTON):
            far = np.abs(looked["away"]).max(axis=1) > _CLOSED
            if not far.any():
                break
            state[far] += looked["step"][far]
            for name, values in self._look(state[far], q[far]).items():
                looked[name][far] = values
        with np.errstate(invalid="ignore"):
            met = np.abs(looked["away"]).max(axis=1) <= _CLOSED
            clear = (looked["h"][:, margins] > 0).all(axis=1) & np.isfinite(looked["h"]).all(axis=1)
        return looked["h"], ~(met & clear)

    def _look(self, state: Array, q: Array | None = None) -> dict[str, Array]:
        values = self.kernel.evaluate(state, np.zeros((len(state), len(self.errors))) if q is None else q)
        return {name: each.reshape(len(state), -1) for name, each in values.items()}

    def _all(self, state: Array) -> tuple[Array, Array]:
        """Every state with every direction."""
        error = self.directions * self.errors
        return np.repeat(state, len(error), axis=0), np.tile(error, (len(state), 1))

    def _blocks(self, n: int) -> Iterator[slice]:
        size = max(1, _BLOCK // len(self.directions))
        return (slice(begin, min(begin + size, n)) for begin in range(0, n, size))


def _first(one: tuple[float, int, Array]) -> tuple[float, int]:
    return one[:2]


@dataclass(frozen=True, eq=False)
class TrackingCheck(ArrayValue):
    """How near tracking errors bring a motion to singularities. Made by `check_tracking`.

    Margins are shares of the margin at home. Instants are times since the beginning; negative ones count from the end.
    They are the smallest that were found at the corners of the tracking errors and at random errors between them, at
    many instants: a dense check, not a proof.
    """

    robot: DynamicModel
    errors: Array
    """Tracking errors (n,) that the limits state, rad or m."""
    nominal: float
    """Least margin without tracking errors."""
    nominal_time: float
    least: float
    """Least margin with tracking errors up to `errors`; 0 where they reach a singularity."""
    least_time: float
    singular: Array
    """The smallest tracking errors (n,), with their signs, that reach a singularity or the edge of the reach; infinite
    where none up to `looked` does."""
    singular_time: float
    looked: Array
    """The greatest tracking errors (n,) that were tried."""
    exceeded: tuple[str, ...] = ()
    """Limits of positions, joints, pose, margin and reach that some tracking error up to `errors` exceeds."""

    @property
    def is_clear(self) -> bool:
        """Does no tracking error up to `errors` reach a singularity?"""
        return self.least > 0

    @property
    def holds(self) -> bool:
        """Does no tracking error up to `errors` reach a singularity or exceed a limit?"""
        return self.is_clear and not self.exceeded

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> tuple[str, ...]:
        """The answer in sentences."""
        without = f"{_share(self.nominal)} of that at home ({_instant(self.nominal_time)})"
        if not self.errors.any():
            first = f"The smallest distance to singularity is {without}, without tracking errors."
        elif self.is_clear:
            first = (
                f"With tracking errors up to {tracking_text(self.robot, self.errors)} the smallest distance to "
                f"singularity is {_share(self.least)} of that at home ({_instant(self.least_time)}); without tracking "
                f"errors it is {without}."
            )
        else:
            first = (
                f"With tracking errors up to {tracking_text(self.robot, self.errors)} the robot reaches a singularity; "
                f"without tracking errors the smallest distance to singularity is {without}."
            )
        with_errors = ", with these tracking errors," if self.errors.any() else ""
        limits = (
            [f"The motion exceeds{with_errors} the limits of: {', '.join(self.exceeded)}."] if self.exceeded else []
        )
        return first, self.tolerated(), *limits

    def tolerated(self) -> str:
        """Which tracking error reaches a singularity first, as a sentence."""
        if not np.isfinite(self.singular).all():
            return f"No tracking error up to {tracking_text(self.robot, self.looked)} reaches a singularity."
        size = tracking_text(self.robot, self.singular)
        return f"A tracking error of {size} reaches a singularity at {_instant(self.singular_time)}."

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, in SI units."""
        reached = bool(np.isfinite(self.singular).all())
        return {
            "errors": self.errors.tolist(),
            "margin": self.nominal,
            "margin_time": self.nominal_time,
            "margin_with_errors": self.least,
            "margin_with_errors_time": self.least_time,
            "singular_errors": self.singular.tolist() if reached else None,
            "singular_time": self.singular_time if reached else None,
            "errors_tried": self.looked.tolist(),
            "limits_exceeded": list(self.exceeded),
        }


def check_tracking(around: Neighborhood, times: Array, x: Array, default: Array) -> TrackingCheck:
    """How near tracking errors bring poses (N, m) to singularities.

    Args:
        around: The robot, what is limited, and the tracking errors.
        times: Instants (N,) of the poses.
        x: The poses, or joint positions.
        default: Proportions (n,) of the tracking errors to look for a singularity with, if none are stated.

    Raises:
        InputError: the robot cannot take one of the poses.
    """
    (margin,) = (i for i, one in enumerate(around.channels) if one.kind == "margin")
    home = around.channels[margin].size
    still = around.values(x)[:, margin]
    bad = np.flatnonzero(~(still > 0))
    if len(bad):
        raise InputError(
            f"{around.robot.name} is in a singularity, beyond one, or out of reach at {_instant(float(times[bad[0]]))} "
            "without any tracking error: change the trajectory there"
        )
    extremes = around.extremes(x)
    low = extremes[0][:, margin]
    exceeded = tuple(
        one.name
        for i, one in enumerate(around.channels)
        if one.follows_positions and not max(one.beyond(values[:, i]).max() for values in extremes) <= 0
    )
    stated = around if around.errors.any() else replace(around, errors=default)
    share, which, error = stated.first_singularity(x)
    nominal, least = int(np.argmin(still)), int(np.argmin(low))
    return TrackingCheck(
        around.robot,
        around.errors,
        float(still[nominal] / home),
        float(times[nominal]),
        max(0.0, float(low[least] / home)),
        float(times[least]),
        error if np.isfinite(share) else np.full_like(error, np.inf),
        float(times[which]),
        MOST * stated.errors,
        exceeded,
    )


def _share(value: float) -> str:
    return f"{100 * value:.2g} %"


def _instant(time: float) -> str:
    return f"t = {time:.4g} s" if time >= 0 else f"{-time:.4g} s before the end"


def tracking_text(robot: DynamicModel, errors: Array) -> str:
    """Tracking errors (n,) with units, once where all are alike.

    Examples:
        >>> from gough.robots import Delta
        >>> tracking_text(Delta(), np.array([0.02, 0.02, 0.03]))
        '20, 20, 30 mrad'
    """
    units = {"rad": "mrad", "m": "mm"}
    texts = [(f"{1e3 * abs(float(e)):.3g}", units[u]) for e, u in zip(errors, robot.coordinate_units, strict=True)]
    if len(set(texts)) == 1:
        return " ".join(texts[0])
    if len({unit for _, unit in texts}) == 1:
        return f"{', '.join(value for value, _ in texts)} {texts[0][1]}"
    return ", ".join(" ".join(each) for each in texts)
