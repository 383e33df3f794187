"""The Adept cycle: the pick-and-place motion by which fast robots are compared."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import InputError, require, require_positive
from gough.robots.model import PoseMotion
from gough.simulate.trajectories.paths import rise
from gough.simulate.trajectories.series import instants, require_count

_FINE = 4001
"""Points of one way at which speed and acceleration are measured; between them they change by less than 1e-6."""


@dataclass(frozen=True, eq=False)
class PickAndPlace(ArrayValue):
    """25 mm up, 305 mm across, 25 mm down, and the same way back: the Adept cycle [NCPP, §III].

    Rise, transfer and descent are quintic polynomials of time, each from rest to rest. The transfer begins a little
    after the rise and ends a little before the descent does, so that the corners are rounded; speed and acceleration
    are continuous everywhere, and both ends of the way are points of rest. [NCPP] prints neither the profile nor the
    rounding; these two are ours, and meet its 5 m/s, 150 m/s² and 0.25 s.

    Examples:
        >>> adept = PickAndPlace([0.0, 0.0, -0.85, 0.0])
        >>> adept.at([0.0, 0.0625, 0.125]).x.round(4)
        array([[-0.1525,  0.    , -0.85  ,  0.    ],
               [ 0.    ,  0.    , -0.825 ,  0.    ],
               [ 0.1525,  0.    , -0.85  ,  0.    ]])
        >>> round(adept.peak_speed, 2), round(adept.peak_acceleration, 1)
        (4.97, 147.2)
    """

    center: Array
    """The pose midway between the two ends, at their height: (x, y, z) or (x, y, z, θ); z points up."""
    span: float = 0.305
    """Length of the transfer."""
    height: float = 0.025
    """Length of rise and descent."""
    cycle: float = 0.25
    """Seconds of the way forth and back."""
    speed: float = 5.0
    """Greatest speed of the platform that is allowed, m/s."""
    acceleration: float = 150.0
    """Greatest acceleration of the platform that is allowed, m/s²."""
    cycles: int = 4
    heading: float = 0.0
    """Direction of the transfer in the horizontal plane, from x towards y, rad."""
    turn: float = 0.0
    """By how much the platform turns during a transfer, rad; its mean angle is that of the center."""
    rise: float = 0.36
    """Share of one way that the rise takes, and the descent."""
    lag: float = 0.04
    """Share of one way by which the transfer begins after the rise, and ends before the descent."""

    def __post_init__(self) -> None:
        center = array(self.center, "center", ndim=1)
        object.__setattr__(self, "center", center)
        require(len(center) in (3, 4), f"center must be (x, y, z) or (x, y, z, θ), but has {len(center)} numbers")
        require(bool(np.isfinite(center).all()), "center must be finite")
        for name in ("span", "height", "cycle", "speed", "acceleration"):
            require_positive(getattr(self, name), name)
        require_count(self.cycles, "cycles")
        require(np.isfinite(self.heading) and np.isfinite(self.turn), "heading and turn must be finite")
        require(self.turn == 0 or len(center) == 4, "a platform without an angle cannot turn: set turn to 0")
        require(0 < self.rise <= 0.5, f"rise is a share of one way, at most 0.5, but is {self.rise}")
        require(0 <= self.lag < 0.5, f"lag is a share of one way, below 0.5, but is {self.lag}")
        self._refuse_if_too_fast()

    @property
    def duration(self) -> float:
        """Seconds of all cycles."""
        return self.cycle * self.cycles

    @property
    def peak_speed(self) -> float:
        """The greatest speed of the platform that occurs, m/s."""
        return self._peaks[0]

    @property
    def peak_acceleration(self) -> float:
        """The greatest acceleration of the platform that occurs, m/s²."""
        return self._peaks[1]

    @property
    def shortest_cycle(self) -> float:
        """The least cycle time at which a motion of this shape keeps the allowed speed and acceleration, in seconds.

        Examples:
            >>> round(PickAndPlace([0.0, 0.0, -0.85], cycle=1.0).shortest_cycle, 4)
            0.2486
        """
        # a motion stretched by s in time has speeds 1/s and accelerations 1/s² of what it had
        stretch = max(self.peak_speed / self.speed, np.sqrt(self.peak_acceleration / self.acceleration))
        return float(self.cycle * stretch)

    def at(self, times: Any) -> PoseMotion:
        """Poses, velocities and accelerations (N, 3 or 4) at the given times (N,)."""
        t = array(times, "times", ndim=1)
        way = self.cycle / 2
        count = np.floor(t / way)
        local = t - count * way
        back = np.mod(count, 2) == 1
        across = np.array(_quintic(local, start=self.lag * way, seconds=(1 - 2 * self.lag) * way))
        across[0] -= 0.5
        across[:, back] *= -1
        up = np.array(_quintic(local, start=0.0, seconds=self.rise * way))
        down = np.array(_quintic(local, start=(1 - self.rise) * way, seconds=self.rise * way))
        lifted = self.height * (up - down)
        moved = [across * self.span * np.cos(self.heading), across * self.span * np.sin(self.heading), lifted]
        if len(self.center) == 4:
            moved.append(across * self.turn)
        x, dx, ddx = np.stack(moved, axis=-1)
        return PoseMotion(self.center + x, dx, ddx)

    def sample(self, rate: float) -> PoseMotion:
        """The motion at `rate` samples a second."""
        return self.at(instants(self.duration, rate))

    @cached_property
    def _peaks(self) -> tuple[float, float]:
        """Greatest speed and acceleration of the platform's translation on one way."""
        _, dx, ddx = self.at(np.linspace(0.0, self.cycle / 2, _FINE, endpoint=False))
        return float(np.linalg.norm(dx[:, :3], axis=1).max()), float(np.linalg.norm(ddx[:, :3], axis=1).max())

    def _refuse_if_too_fast(self) -> None:
        if self.shortest_cycle > self.cycle * (1 + 1e-9):
            raise InputError(
                f"a cycle of {self.cycle:g} s needs {self.peak_speed:.3g} m/s and {self.peak_acceleration:.4g} m/s², "
                f"but {self.speed:g} m/s and {self.acceleration:g} m/s² are allowed; "
                f"take at least {self.shortest_cycle:.4f} s"
            )


def _quintic(times: Array, *, start: float, seconds: float) -> tuple[Array, Array, Array]:
    """From 0 at rest to 1 at rest within `seconds`, with acceleration 0 at both ends, and its two derivatives."""
    position, first, second = rise(np.clip((times - start) / seconds, 0.0, 1.0))
    return position, first / seconds, second / seconds**2
