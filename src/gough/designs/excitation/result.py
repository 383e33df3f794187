"""The answer of a design: the motion, the predicted standard deviations, the distance to limits, and all starts."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gough.answers import Answer, position_of, predicted_interval
from gough.core.arrays import Array, ArrayValue
from gough.core.codec import finite_or_none
from gough.core.errors import InputError, require
from gough.core.tables import Table, table
from gough.core.text import number
from gough.data import Recording, write_recording
from gough.designs.excitation.criteria import CRITERIA
from gough.designs.excitation.measure import DENSE, extremes, measured
from gough.designs.excitation.problem import DesignProblem
from gough.designs.excitation.tracking import PER_HARMONIC, TrackingCheck, check_tracking
from gough.region import Interval
from gough.robots.model import PoseMotion
from gough.simulate.trajectories import FourierSeries, Joined, Periodic, Ramped, as_recording

_SHOWN = 12
"""Limits that `str()` shows: the nearest ones."""
_PHASES = 24
_LASTS = (1, 2, 4)
"""Periods that an entry may last."""
_TIMES = 60
"""Instants of an entry at which it is tested first."""


@dataclass(frozen=True, eq=False)
class Attempt(ArrayValue):
    """The result of one start.

    Examples:
        >>> Attempt(1, None, np.inf, -10.0, 0.5, 200).series is None
        True
    """

    number: int
    series: FourierSeries | None
    """The motion; None where none keeps the limits."""
    value: float
    """The criterion; infinite where there is no motion."""
    first: float
    """The criterion at the random start."""
    seconds: float
    evaluations: int
    """Number of evaluations of the criterion with its gradient."""
    is_stopped: bool = False


@dataclass(frozen=True, eq=False)
class Design(Answer, ArrayValue):
    """A motion that keeps the limits at all times, the best that was found. Made by `optimize`.

    `print` shows the predicted accuracy and the nearest limits. `design["mass"]` is the value that was assumed for a
    base parameter, and `design.interval("mass")` the confidence interval that an identification from this motion is
    predicted to have, around that value. `to_json` and `from_json` keep it in a file, for the same problem.

    Examples:
        >>> from gough.designs.excitation import MotionLimits
        >>> from gough.robots import Delta
        >>> problem = DesignProblem(Delta(), MotionLimits(speeds=8.0, efforts=10.0), sigma=0.2, n_harmonics=2)
        >>> series = FourierSeries(problem.home, [[0.2, 0.1]] * 3, [[0.0, 0.1]] * 3, frequency=0.5)
        >>> designed = Design(problem, (Attempt(1, series, problem.value(problem.space.vector(series)), 0.0, 0.0, 0),))
        >>> designed.sigma.shape, bool(designed.worst < 0), designed.recording(100.0).duration
        ((14,), True, 1.99)
        >>> Design.from_json(designed.to_json(), problem) == designed
        True
    """

    problem: DesignProblem
    attempts: tuple[Attempt, ...]
    is_stopped: bool = False
    """Was the search stopped before its end?"""

    @property
    def names(self) -> tuple[str, ...]:
        """The base parameters."""
        return self.problem.names

    def __getitem__(self, name: str) -> float:
        """The value that was assumed for a base parameter."""
        return float(self.problem.base_values[self._number(name)])

    def interval(self, name: str, level: float | None = None) -> Interval:
        """The assumed value ± what the noise of an identification from this motion makes of it, 95 % by default."""
        return predicted_interval(self[name], float(self.sigma[self._number(name)]), level)

    def _number(self, name: str) -> int:
        return position_of(name, self.names, "base parameter")

    @property
    def best(self) -> Attempt:
        """The start with the least criterion."""
        return min(self.attempts, key=lambda each: (each.value, each.number))

    @property
    def series(self) -> FourierSeries:
        """The motion, in the pose of a parallel robot or the joints of another."""
        series = self.best.series
        assert series is not None
        return series

    @property
    def value(self) -> float:
        """The criterion."""
        return self.best.value

    def criterion(self, name: str) -> float:
        """Another criterion of the same motion, by its name."""
        return self.problem.value(self.problem.space.vector(self.series), CRITERIA[name])

    @cached_property
    def sigma(self) -> Array:
        """The standard deviations that Gauss-Markov estimates of the base parameters will have (p,).

        Roots of the diagonal of the Cramér-Rao bound F⁻¹ [AHG, eq. (9)], for the stated number of samples; infinite
        where the motion excites so little that F cannot be inverted.
        """
        W = self.problem.evaluate(self.problem.space.vector(self.series)).W
        F = self.problem.information(W)
        d = np.sqrt(np.diag(F))
        C = F / np.outer(d, d) if (d > 0).all() else np.zeros_like(F)
        if np.linalg.matrix_rank(C, hermitian=True) < len(C):
            return np.full(len(C), np.inf)
        return np.asarray(np.sqrt(np.diag(np.linalg.inv(C))) / d)

    @cached_property
    def extremes(self) -> tuple[Array, Array]:
        """Least and greatest value of everything that is limited (channels,), between samples too."""
        of = self.problem
        return extremes(of.parameters, of.neighborhood, self.series)

    @cached_property
    def tracking(self) -> TrackingCheck:
        """How near tracking errors bring the motion to singularities, with its entry from rest and its end.

        Times count from the first sample of `recording(ramps=True)`, negative ones from the last.
        """
        of, motion = self.problem, self.trajectory()
        step = self.series.period / (PER_HARMONIC * self.series.n_harmonics)
        ramp = getattr(motion, "ramp", 0.0)
        times = np.arange(0.0, ramp + self.series.period, step)
        leaving = -np.arange(step, ramp, step)
        instants = np.concatenate([times, motion.duration + leaving])
        x = motion.at(instants).q if isinstance(motion, Periodic) else motion.at(instants).x
        return check_tracking(of.neighborhood, np.concatenate([times, leaving]), x, of.default_tracking)

    @property
    def worst(self) -> float:
        """How near the motion comes to a limit, in shares of its range; positive beyond one."""
        return float(max(self.beyond))

    def trajectory(self, periods: int = 1) -> Ramped | Joined | Periodic:
        """Whole periods, entered from rest at home and left to rest at home, within the limits too.

        The motion grows out of home within one to eight periods; where that breaks a limit it is entered and left by a
        polynomial, at whatever phase allows it. Where nothing keeps the limits, the periods alone are the answer: the
        motion must then be entered in another way.
        """
        of = self.problem
        step = self.series.period / (DENSE * self.series.n_harmonics)
        for motion in _entries(self.series, of.home, periods, self._holds):
            times = np.arange(0.0, motion.ramp + step, step)
            if all(self._keeps(motion.at(part)) for part in (times, motion.duration - times)):
                return motion
        return Periodic(self.series, periods)

    def recording(self, rate: float | None = None, *, periods: int = 1, ramps: bool = False) -> Recording:
        """The motion sampled, as channels of the pose and of the actuators; by default at the problem's rate."""
        chosen = rate or self.problem.rate or self.series.frequency * 20 * self.series.n_harmonics
        motion = self.trajectory(periods) if ramps else Periodic(self.series, periods)
        return as_recording(self.problem.robot, motion, chosen)

    def write(self, path: Path, rate: float | None = None, *, periods: int = 1, overwrite: bool = False) -> None:
        """The motion with ramps as a file: CSV, Parquet, .mat or .npz by its suffix."""
        write_recording(path, self.recording(rate, periods=periods, ramps=True), overwrite=overwrite)

    def _holds(self, part: PoseMotion) -> list[bool]:
        """For each instant, whether the search's own equations see all limits kept."""
        return self.problem.holds(part.x, part.dx, part.ddx).tolist()

    def _keeps(self, part: PoseMotion) -> bool:
        of = self.problem
        try:
            values = measured(of.robot, of.parameters, of.channels, (part.x, part.dx, part.ddx))
        except InputError:
            return False
        spread, every = of.neighborhood.spread(part.x), DENSE // PER_HARMONIC
        looks = [(values - spread, values + spread), of.neighborhood.extremes(part.x[::every])]
        is_known = np.array([one.follows_positions for one in of.channels])
        return all(
            bool((one.beyond(v) <= 0).all())
            for k, look in enumerate(looks)
            for extreme in look
            for one, v, known in zip(of.channels, extreme.T, is_known, strict=True)
            if known or k == 0
        )

    @property
    def beyond(self) -> list[float]:
        """By how much of its range the motion exceeds each limit; negative where room is left."""
        low, high = self.extremes
        channels = zip(self.problem.channels, low, high, strict=True)
        return [float(max(one.beyond(least), one.beyond(most))) for one, least, most in channels]

    def __str__(self) -> str:
        return "\n".join([*self.headlines(), "", str(self.table()), "", str(self.limit_table(_SHOWN))])

    def headlines(self) -> tuple[str, ...]:
        of, series = self.problem, self.series
        kept = [each for each in self.attempts if each.series is not None]
        return (
            f"{of.robot.name}: {of.criterion.meaning} = {self.value:.2f} "
            f"(random starts {min(each.first for each in kept):.2f} to {max(each.first for each in kept):.2f}), "
            f"{len(kept)} of {len(self.attempts)} starts keep the limits"
            + ("; stopped early" if self.is_stopped else ""),
            f"{series.n_harmonics} harmonics of {series.frequency:.6g} Hz, {of.n_variables} unknowns",
            f"σ predicted for {of.recorded} samples with effort errors of {self._errors()}",
            *self.tracking.lines(),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, in SI units: criteria, the motion, predicted σ, limits and all starts."""
        of, (low, high) = self.problem, self.extremes
        sigma = zip(of.names, self.sigma.tolist(), strict=True)
        return {
            "robot": of.robot.name,
            "criterion": {name: finite_or_none(self.criterion(name)) for name in CRITERIA},
            "chosen": of.criterion.name,
            "is_stopped": self.is_stopped,
            "series": _series_data(self.series),
            "periods_begin": getattr(self.trajectory(), "ramp", 0.0),
            "sigma": {name: finite_or_none(sd) for name, sd in sigma},
            "tracking": self.tracking.to_dict(),
            "limits": {
                one.name: {
                    "unit": one.unit,
                    "least": least,
                    "greatest": most,
                    "from": finite_or_none(one.lower),
                    "to": finite_or_none(one.upper),
                }
                for one, least, most in zip(of.channels, low.tolist(), high.tolist(), strict=True)
            },
            "starts": [
                {
                    "number": each.number,
                    "first": finite_or_none(each.first),
                    "value": finite_or_none(each.value),
                    "series": None if each.series is None else _series_data(each.series),
                    "seconds": each.seconds,
                    "evaluations": each.evaluations,
                    "is_stopped": each.is_stopped,
                }
                for each in self.attempts
            ],
        }

    @classmethod
    def from_json(cls, text: str, problem: DesignProblem) -> "Design":
        """The design that `to_json` wrote, of the problem that it was found for.

        Raises:
            InputError: the text is no such document, or was written for another problem: its robot, the criterion of
                its motions or the limits differ.
        """
        try:
            data = json.loads(text)
            robot, stopped = data["robot"], bool(data["is_stopped"])
            attempts = tuple(
                Attempt(
                    each["number"],
                    None if each["series"] is None else FourierSeries(**each["series"]),
                    _infinite_or(each["value"]),
                    _infinite_or(each["first"]),
                    each["seconds"],
                    each["evaluations"],
                    each["is_stopped"],
                )
                for each in data["starts"]
            )
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise InputError(f"not a design that this version of gough wrote: {error}") from error
        require(robot == problem.robot.name, f"the design is of the robot '{robot}', not of '{problem.robot.name}'")
        require(any(each.series is not None for each in attempts), "the design has no motion")
        for each in attempts:
            if each.series is not None:
                shape, wanted = each.series.mu.shape, (len(problem.home), problem.n_harmonics)
                words = f"its motion has {shape} amplitudes there and {wanted} here"
                require(shape == wanted, f"the design was found for another problem: {words}")
                value = problem.value(problem.space.vector(each.series))
                same = abs(value - each.value) <= 1e-6 * max(1.0, abs(value))
                words = f"its criterion is {each.value:.6g} there and {value:.6g} here"
                require(same, f"the design was found for another problem: {words}")
        design = cls(problem, attempts, stopped)
        words = f"by {100 * design.worst:.3g} % of the range"
        require(design.worst <= 0, f"the design was found for other limits: it exceeds those of this problem {words}")
        return design

    def _errors(self) -> str:
        """Standard deviations of the efforts' errors, once where all are alike."""
        units, sigma = self.problem.robot.effort_units, np.sqrt(np.diag(self.problem.sigma))
        return ", ".join(dict.fromkeys(f"{number(sd)} {unit}" for sd, unit in zip(sigma, units, strict=True)))

    def table(self) -> Table:
        """Base parameters with their predicted standard deviations."""
        units = [self.problem.robot.units[i] for i in self.problem.identifiability.kept]
        cells = zip(self.problem.names, units, self.problem.base_values, self.sigma, strict=True)
        rows = []
        for name, unit, value, sd in cells:
            share = f"{100 * sd / abs(value):.2g} %" if value and sd < np.inf else "—"
            rows.append([name, unit, number(value), number(sd, digits=2), share])
        heads = ["parameter", "unit", "nominal", "σ predicted", "share"]
        return table(heads, rows, "lurrr", "Predicted standard deviations")

    def limit_table(self, count: int | None = None) -> Table:
        """Limits with the extremes of the motion, the nearest first; all of them by default."""
        low, high = self.extremes
        beyond = self.beyond
        order = np.argsort(beyond)[::-1][:count]
        rows = []
        for i in order:
            one = self.problem.channels[i]
            ends = (number(one.lower), number(one.upper))
            rows.append([one.name, one.unit, number(low[i]), number(high[i]), *ends, f"{-100 * beyond[i]:.2f} %"])
        heads = ["limit", "unit", "least", "greatest", "allowed from", "to", "room left"]
        return table(heads, rows, "lurrrrr", "Limits")


def _infinite_or(value: float | None) -> float:
    return np.inf if value is None else float(value)


def _series_data(series: FourierSeries) -> dict[str, Any]:
    """The fields of a series as plain numbers."""
    return {
        "frequency": series.frequency,
        "offset": series.offset.tolist(),
        "mu": series.mu.tolist(),
        "nu": series.nu.tolist(),
    }


def _entries(
    series: FourierSeries, home: Array, periods: int, holds: Callable[[PoseMotion], list[bool]]
) -> Iterator[Ramped | Joined]:
    """Ways to enter a motion, the plainest first: growing out of home, then by polynomials at any phase.

    Polynomials that break a limit at a few instants are left out; `holds` decides for each of these.
    """
    for n in (1, 2, 4, 8):
        yield Ramped(series, home, periods, n * series.period)
    phases = np.arange(_PHASES) / _PHASES * series.period
    every = [Joined(series, home, periods, n * series.period, float(phase)) for n in _LASTS for phase in phases]
    looks = [each.at(np.concatenate([u := np.linspace(0, each.ramp, _TIMES), each.duration - u])) for each in every]
    kept = holds(PoseMotion(*(np.concatenate(part) for part in zip(*looks, strict=True))))
    for each, flags in zip(every, np.reshape(kept, (len(every), -1)), strict=True):
        if flags.all():
            yield each
