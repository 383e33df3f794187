"""Effects that a rigid-body model may lack: each is a small nested model, and a way to plant it in a simulation."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from gough.core.arrays import Array, Integers, Mask
from gough.core.errors import require
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots.controller import ControllerEquations
from gough.robots.model import DynamicModel

T = TypeVar("T")
_SURE = 3.0
"""Standard deviations below zero from which on a parameter counts as negative."""
_SOME, _SAME = 200, 1e-6
"""Samples at which a model is compared with an effect, and the part that is left if it has that effect."""
REGRESSOR = "regressor"
"""Name in `Excitation.of_motion` of the model's regressor at all samples, where it is not too large to be kept."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns that an effect adds to the regressor, with the names and units of its parameters."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    """(samples, actuators, parameters): efforts per unit of each parameter; see also `actuators`."""
    actuators: tuple[int, ...] = ()
    """Where each parameter acts on one actuator alone, its number, counted from 0; `values` is then (samples,
    parameters)."""

    def __post_init__(self) -> None:
        k, ndim = len(self.names), 2 if self.actuators else 3
        fits = len(self.units) == k and self.values.ndim == ndim and self.values.shape[-1] == k
        fits &= len(self.actuators) in (0, k)
        require(fits, f"{k} names, {len(self.units)} units and columns of shape {self.values.shape} do not fit")

    def of(self, k: int, n: int) -> Array:
        """Efforts (samples, n) of all n actuators per unit of one parameter."""
        if not self.actuators:
            return self.values[:, :, k]
        result = np.zeros((len(self.values), n))
        result[:, self.actuators[k]] = self.values[:, k]
        return result

    def and_also(self, other: "Columns") -> "Columns":
        """These columns, and others of the same kind."""
        values = np.concatenate([self.values, other.values], axis=-1)
        return Columns(self.names + other.names, self.units + other.units, values, self.actuators + other.actuators)


@dataclass(frozen=True, eq=False)
class Excitation:
    """A motion at the rate of its recording and what the model predicts for it: what effects are computed from.

    Arrays are (samples, coordinates or actuators). Positions have passed the low-pass of the preparation; efforts of
    effects have not, since the engine filters all columns alike.
    """

    robot: DynamicModel
    """The model that was used."""
    parameters: Array
    """Values of all its parameters that have the fitted efforts; single ones may have no meaning of their own."""
    rate: float
    """Samples a second."""
    time: Array
    """(samples,) seconds since the first sample; recordings that were joined follow each other."""
    recording: Integers
    """(samples,) number of the recording that each sample belongs to: derivatives must not reach across."""
    q: Array
    dq: Array
    ddq: Array
    efforts: Array
    """Efforts that the fitted model predicts, unfiltered: dry friction jumps."""
    residuals: Array
    """Measured minus predicted efforts, both filtered; NaN at samples that are masked or were decimated away."""
    regressor: Callable[[Array, Array, Array], Array]
    """The robot's regressor (samples, actuators, parameters) of another motion, block by block."""
    cutoff: float = np.inf
    """Hz of the low-pass that positions and efforts have passed; infinite: none."""
    order: int = 4
    """Order of the low-pass in one direction."""
    at: Mapping[str, float] = field(default_factory=dict)
    """Values of the effect's parameters that were estimated so far; empty at first. An effect that is not linear in
    them returns secants: columns · values are then its efforts at these values exactly."""
    of_motion: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    """What was computed before from robot and motion alone, see `once` and `sharing`."""
    known: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    """What was computed before, see `once`."""

    def once(self, name: str, compute: Callable[[], T], *, is_of_motion: bool = False) -> T:
        """What `compute` returns, computed once for this excitation: alternatives share it.

        Args:
            name: What is computed.
            compute: Computes it.
            is_of_motion: Does it depend on robot and motion alone, not on parameters, efforts and residuals? Then it is
                also kept for other parameters of the same robot and motion.
        """
        known = self.of_motion if is_of_motion else self.known
        if name not in known:
            known[name] = compute()
        result: T = known[name]
        return result

    def sharing(self, of_motion: dict[str, Any]) -> "Excitation":
        """The excitation with what was computed before from the same robot and motion, for other parameters."""
        result = replace(self)
        object.__setattr__(result, "of_motion", of_motion)
        return result

    @property
    def plain(self) -> DynamicModel:
        """The robot's own model, without effects that the model includes already."""
        robot: DynamicModel = getattr(self.robot, "robot", self.robot)
        return robot

    def plain_efforts(
        self, q: Array, dq: Array, ddq: Array, robot: DynamicModel | None = None, *, chosen: Mask | None = None
    ) -> Array:
        """Efforts of the robot's own model, or of a similar robot, for samples of any motion.

        Args:
            q: Positions.
            dq: Velocities.
            ddq: Accelerations.
            robot: Another robot with the same parameters.
            chosen: Which parameters are not zero; default: all.
        """
        own = self.parameters[: len(self.plain.names)]
        if chosen is not None:
            own = np.where(chosen, own, 0.0)
        return np.asarray((robot or self.plain).regressor(q, dq, ddq) @ own)

    @property
    def n(self) -> int:
        """Number of actuators."""
        return self.efforts.shape[1]

    def model(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Efforts of the fitted model for another motion."""
        return np.asarray(self.regressor(q, dq, ddq) @ self.parameters)

    def derivative(self, x: Array) -> Array:
        """Derivative of a signal (samples, …) by central differences, within each recording."""
        result = np.empty_like(x)
        for part in self.pieces:
            result[part] = np.gradient(x[part], 1 / self.rate, axis=0) if len(part) > 1 else 0.0
        return result

    @cached_property
    def coarse(self) -> Integers:
        """Samples at which smooth columns may be computed: at the rate of the residuals' rows, ends included.

        The rows have been decimated to several times the cutoff of the low-pass, so that nothing is lost between them.
        """
        rows = np.flatnonzero(np.isfinite(self.residuals).any(axis=1))
        step = max(1, int(np.diff(rows).min())) if len(rows) > 1 else 1
        return np.concatenate([np.unique(np.append(part[::step], part[-1])) for part in self.pieces])

    @property
    def pieces(self) -> list[Integers]:
        """The samples of each recording."""
        return np.split(np.arange(len(self.recording)), np.flatnonzero(np.diff(self.recording)) + 1)

    def interpolated(self, values: Array) -> Array:
        """A smooth signal (samples, …) from its values at the `coarse` samples, by splines of degree 5."""
        from scipy.interpolate import make_interp_spline  # noqa: PLC0415 - start-up time

        if len(values) == len(self.recording):
            return values
        result = np.empty((len(self.recording), *values.shape[1:]))
        for part in self.pieces:
            chosen = (self.coarse >= part[0]) & (self.coarse <= part[-1])
            at = self.coarse[chosen]
            degree = 5 if len(at) > 5 else min(3, len(at) - 1)
            result[part] = make_interp_spline(at, values[chosen], k=degree)(part)
        return result

    def per_actuator(self, name: str, units: Sequence[str], columns: Array) -> Columns:
        """One parameter for each actuator, whose column (samples,) acts on that actuator alone.

        Args:
            name: Name of the parameter; the number of the actuator, counted from 1, is appended.
            units: Unit of the parameter for each actuator.
            columns: (samples, actuators).
        """
        numbers = tuple(range(self.n))
        return Columns(tuple(f"{name}{k + 1}" for k in numbers), tuple(units), columns, numbers)


@dataclass(frozen=True, eq=False)
class Instant:
    """One instant of a motion as expressions: what effects are computed from in a controller."""

    robot: DynamicModel
    equations: ControllerEquations
    s: Expression
    """The state of the controller, see `ControllerEquations`."""
    dq: Expression
    ddq: Expression
    efforts: Expression
    """Efforts (actuators,) of the robot's own model."""

    @property
    def q(self) -> list[Expression]:
        """Positions of the actuators."""
        return [self.s[k] for k in self.equations.actuated]

    def regressor(self, names: Sequence[str]) -> Expression:
        """The regressor's columns (actuators, names) of some parameters of the robot."""
        efforts = self.equations.efforts
        assert efforts is not None
        kernel = efforts.regressor([self.robot.names.index(name) for name in names])
        flat = kernel.function.call([self.s, self.dq, self.ddq])[0]
        n, k = len(self.equations.actuated), len(names)
        return ex.matrix(*(ex.vector(*(flat[i * k + j] for i in range(n))) for j in range(k)))

    def per_actuator(self, name: str, columns: Sequence[Expression]) -> dict[str, Expression]:
        """One parameter for each actuator, on which it acts alone."""
        n = len(columns)
        return {
            f"{name}{i + 1}": ex.vector(*(column if k == i else 0.0 for k in range(n)))
            for i, column in enumerate(columns)
        }


class Truth(Protocol):
    """A simulated experiment into which an effect is planted: a prescribed motion and an independent engine.

    Arrays are (samples, actuators), at the rate of the recording, without noise.
    """

    robot: DynamicModel
    """gough's model of the robot, for names and units; its equations are not used."""
    rate: float
    time: Array
    recording: Integers
    q: Array
    dq: Array
    ddq: Array

    def efforts(self, q: Array, dq: Array, ddq: Array) -> Array:
        """Inverse dynamics by Pinocchio or MuJoCo, with the friction of the drives."""
        ...

    def drive_efforts(self, q: Array, dq: Array, ddq: Array) -> Array:
        """The part of `efforts` that accelerates the rotors and overcomes the drives' friction."""
        ...

    def with_length(self, name: str, factor: float) -> "Truth":
        """The same experiment with a robot that has one dimension multiplied by a factor."""
        ...

    @property
    def lengths(self) -> tuple[str, ...]:
        """Names of the dimensions that `with_length` can change."""
        ...

    def with_payload(self, mass: float) -> "Truth":
        """The same experiment with a mass, in kg, fixed to the platform or the last link."""
        ...

    def passive_friction(self, coefficient: float) -> Array:
        """Additional efforts of the actuators caused by viscous friction in every passive joint, in N·m·s/rad."""
        ...


@dataclass(frozen=True, eq=False)
class Planted:
    """What a robot with a planted effect would measure, without noise: positions and efforts."""

    q: Array
    efforts: Array
    step: float = 0.0
    """Step of the encoders; 0: none."""


class Effect(ABC):
    """An effect that a model may lack. A file in `gough.dynamics.effects` defines one as `EFFECT`.

    `columns` makes it a nested model: efforts = regressor · parameters + columns · effect's parameters, to first
    order. `plant` makes an experiment in which it is present, for the confusion table.
    """

    name: str
    """What studies, tables and reports call it; ASCII."""
    title: str
    """What it is, in a few words with an article: `a delay of the efforts`."""
    advice: str
    """What to do about it, in one or two sentences."""
    needs: str = ""
    """What must be so that its parameters can be estimated, as a sentence for who asks for it where they cannot."""
    sizes: tuple[float, ...]
    """Sizes to plant, rising, in `size_unit`; the smallest is hard to find, the largest obvious."""
    size_unit: str

    nonnegative: tuple[str, ...] = ()
    """Beginnings of the names of parameters that cannot be negative."""
    invisible: str = ""
    """The part of the effect that no recording shows, as a sentence for answers in which nothing is found."""
    is_refitted: bool = False
    """Is it fitted again at its own values even where it is small, since `columns` then have nuisance parameters?"""

    controller: str = ""
    """What a controller does about parameters that `at_instant` does not have, in sentences."""
    correction: str = ""
    """What must be changed in the study, in a sentence, before a controller can use the model; empty: nothing."""
    has_memory: bool = False
    """Does it depend on time or on the motion before? Then `at_instant` has a part of its parameters at most."""
    is_in_mass: bool = False
    """Is it part of the mass matrix that a controller computes?"""
    is_default: bool = True
    """Is it part of the efforts that a controller computes unless it asks for another choice?"""

    def at_instant(self, instant: Instant) -> Mapping[str, Expression]:  # noqa: ARG002 - for overriders
        """Efforts (actuators,) per unit of each parameter, of those that are functions of one instant of the motion.

        They are `columns` again, for exported controllers; tests compare both.
        """
        return {}

    def alternatives(self, excitation: Excitation) -> "tuple[Effect, ...]":  # noqa: ARG002 - for overriders
        """The forms to choose from by their fit, such as frequencies of a ripple; each has `columns` of its own."""
        return (self,)

    def nearer(self) -> "tuple[Effect, ...]":
        """Forms near this one, itself with a smaller step first, of which the best fit is taken, again and again.

        They refine numbers that `alternatives` scanned in steps: after the first come pairs, one below and one above in
        each number. None where nothing was scanned, or the step is small.
        """
        return ()

    @property
    def numbers(self) -> tuple[float, ...]:
        """The number of each actuator that makes this form, where its columns are those of `of_actuator`; else none.

        Forms that `nearer` returns are then compared without the columns of actuators whose number is the same.
        """
        return ()

    def of_actuator(self, excitation: Excitation, i: int, value: float) -> Array:
        """Columns (samples, k) of the i-th actuator for its number, of an effect that has `numbers`."""
        raise NotImplementedError

    def with_numbers(self, values: tuple[float, ...]) -> "Effect":
        """The form with other `numbers`."""
        raise NotImplementedError

    def number_range(self, excitation: Excitation, i: int) -> tuple[float, float] | None:  # noqa: ARG002 - overriders
        """Between what values the number of the i-th actuator is taken as equally likely; None: as found, to ±."""
        return None

    trials: int = 1
    """Number of further alternatives that were scanned before these were chosen by their fit."""

    @abstractmethod
    def columns(self, excitation: Excitation) -> Columns | None:
        """The nested model; None where the effect does not exist for this robot or motion."""

    def signs(self, excitation: Excitation) -> Array | None:  # noqa: ARG002 - for overriders
        """Factors (actuators,) ±1 that the measured efforts are multiplied by before the fit; None for none."""
        return None

    def is_possible(self, values: Mapping[str, float], sigma: Mapping[str, float]) -> bool:
        """Can this effect have such parameters? Of those that cannot be negative, the most significant one decides.

        Args:
            values: The estimated parameters by name.
            sigma: Their standard deviations.
        """
        limited = [name for name in values if self.nonnegative and name.startswith(self.nonnegative)]
        worst = max(limited, key=lambda name: abs(values[name]) / max(sigma[name], 1e-300), default=None)
        return worst is None or values[worst] > -_SURE * sigma[worst]

    def caveat(self, excitation: Excitation, values: Mapping[str, float]) -> str:  # noqa: ARG002 - for overriders
        """What must be known about these values of the effect's parameters, in sentences; empty: nothing.

        Args:
            excitation: What the columns were computed from.
            values: The estimated parameters by name.
        """
        return ""

    def is_indicative(self, excitation: Excitation, values: Mapping[str, float]) -> bool:  # noqa: ARG002 - overriders
        """Are these values so uncertain that a model with the effect leaves residuals that imitate other effects?

        Args:
            excitation: What the columns were computed from.
            values: The estimated parameters by name.
        """
        return False

    @abstractmethod
    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted | None:
        """The experiment with this effect; None where the robot cannot have it."""


def is_absorbed(truth: Truth, efforts: Array) -> bool:
    """Does the robot's model have efforts (samples, actuators) like these, up to rounding?"""
    some = slice(None, None, max(1, len(truth.q) // _SOME))
    W = np.asarray(truth.robot.regressor(truth.q[some], truth.dq[some], truth.ddq[some]))
    W, own = W.reshape(-1, W.shape[2]), efforts[some].reshape(-1)
    return bool(np.linalg.norm(own - W @ np.linalg.lstsq(W, own)[0]) < _SAME * np.linalg.norm(own))


def multiplied(values: Sequence[float], by: float) -> list[tuple[float, ...]]:
    """The values with each of them in turn divided, then multiplied, by a factor.

    Examples:
        >>> multiplied([1.0, 3.0], 2.0)
        [(0.5, 3.0), (2.0, 3.0), (1.0, 1.5), (1.0, 6.0)]
    """
    return [
        tuple(value * factor if i == k else value for i, value in enumerate(values))
        for k in range(len(values))
        for factor in (1 / by, by)
    ]
