"""A robot's model together with effects of the catalogue, whose parameters are then estimated like its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.text import listed
from gough.core.threads import one_blas_thread
from gough.data import MeasuredMotion
from gough.dynamics.cause import Cause
from gough.dynamics.causes import causes_of
from gough.dynamics.effect import Effect, Excitation
from gough.dynamics.effects import chosen_effects
from gough.dynamics.excitation import excitation_of, model_efforts, through_low_pass
from gough.dynamics.recorded import recorded
from gough.region import Box, ConfidenceEllipsoid
from gough.robots.model import DynamicModel

_ROUNDS = 10
_SETTLED = 1e-4
"""Change of an effect's parameters, relative to the largest, at which their secants no longer change."""
_INDEPENDENT = 1e-9


_SLOPE = 1e-3
"""Relative change of a number of a form by which efforts are differentiated …"""
_NEAR = 0.02
"""… and the largest by which it is corrected at a time: forms have been refined to about so much."""
_CORRECTIONS = 4


class EffectError(InputError):
    """An effect that the data, or the robot, do not allow to estimate."""


@dataclass(frozen=True, eq=False)
class FormSlopes:
    """How the efforts change with the numbers that make the forms of effects, by a relative change of each."""

    names: tuple[tuple[str, ...], ...]
    """The effects' parameters that each number belongs to."""
    members: tuple[tuple[int, tuple[int, ...]], ...]
    """Which effect, and the actuators that have this number."""
    rows: Array
    """(rows that are kept, numbers)."""


@dataclass(frozen=True, eq=False)
class FormNumber:
    """One number that makes the form of an effect at one actuator."""

    of: int
    """Which of the model's effects."""
    actuator: int
    names: tuple[str, ...]
    """The effect's parameters at this actuator."""
    value: float
    limits: tuple[float, float]
    """Between what values it is taken as equally likely, in its logarithm."""
    effect: Effect
    excitation: Excitation
    motion: MeasuredMotion

    def rows(self, values: Sequence[float]) -> list[Array]:
        """For each value of the number, the effect's columns (rows that are kept, k)."""
        columns = [self.effect.of_actuator(self.excitation, self.actuator, value) for value in values]
        passed = through_low_pass(np.hstack(columns)[:, None], self.motion)[:, 0]
        sample, group = np.nonzero(self.motion.kept)
        own = np.where((group == self.actuator)[:, None], passed[sample], 0.0)
        return np.split(own, len(values), axis=1)


@dataclass(frozen=True, eq=False)
class WithEffects:
    """A dynamic model whose efforts are those of a robot and of effects: linear in the parameters of both.

    Effects that are not linear are replaced by their secants at `values`, found by `with_effects`. Everything else,
    such as kinematics and drawing, is the robot's.
    """

    robot: DynamicModel
    effects: tuple[Effect, ...]
    reference: DynamicModel
    """The model whose efforts the effects are computed from; it is the robot, or one of its variants."""
    parameters: Array
    """Parameters of the reference."""
    values: Mapping[str, float]
    """The effects' parameters that are estimated, with the values at which secants are taken."""
    effect_units: Mapping[str, str]
    rate: float
    """Samples a second of what `regressor` is given."""
    caveats: tuple[str, ...] = ()
    """What must be known about the effects' parameters, in sentences."""
    indicative: tuple[str, ...] = ()
    """Titles of effects whose values are indicative only: what they leave may imitate other effects."""
    _known: dict[int, tuple[MeasuredMotion, Array]] = field(default_factory=dict, repr=False)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "robot":
            raise AttributeError(name)
        return getattr(self.robot, name)

    @property
    def name(self) -> str:
        """The name of the robot in reports."""
        return self.robot.name

    @property
    def actuators(self) -> tuple[str, ...]:
        """Names of the actuators."""
        return self.robot.actuators

    @property
    def effort_units(self) -> tuple[str, ...]:
        """Units of the actuators' efforts."""
        return self.robot.effort_units

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the measured positions."""
        return self.robot.coordinates

    @property
    def coordinate_units(self) -> tuple[str, ...]:
        """Units of the measured positions."""
        return self.robot.coordinate_units

    @property
    def names(self) -> tuple[str, ...]:
        """The robot's parameters, then the effects'."""
        return (*self.robot.names, *self.values)

    @property
    def units(self) -> tuple[str, ...]:
        """Units of all parameters."""
        return (*self.robot.units, *(self.effect_units[name] for name in self.values))

    @property
    def nominal(self) -> Array:
        """The robot's nominal parameters; effects are nominally absent."""
        return np.append(self.robot.nominal, np.zeros(len(self.values)))

    @property
    def variants(self) -> tuple["WithEffects", ...]:
        """The robot's nested models, each with the same effects."""
        models = tuple(getattr(self.robot, "variants", ())) or (self.robot,)
        return tuple(replace(self, robot=model, _known={}) for model in models)

    def regressor(self, q: Any, dq: Any, ddq: Any) -> Array:
        """The regressor (N, actuators, parameters); samples follow each other at `rate`, as some effects need time."""
        moved = [np.atleast_2d(np.asarray(x, dtype=float)) for x in (q, dq, ddq)]
        own = np.asarray(self.robot.regressor(*moved))
        n = len(moved[0])
        excitation = Excitation(
            robot=self.reference,
            parameters=self.parameters,
            rate=self.rate,
            time=np.arange(n) / self.rate,
            recording=np.zeros(n, dtype=np.int64),
            q=moved[0],
            dq=moved[1],
            ddq=moved[2],
            efforts=model_efforts(self.reference, self.parameters, (moved[0], moved[1], moved[2])),
            residuals=np.full((n, len(self.actuators)), np.nan),
            regressor=self.reference.regressor,
            at=self.values,
        )
        W = np.concatenate([own, self._columns(excitation)], axis=2)
        return W if np.ndim(q) == 2 else W[0]

    def columns_of(self, motion: MeasuredMotion) -> Array:
        """The effects' columns (samples, actuators, k) of a motion, through its low-pass."""
        known = self._known.get(id(motion))
        if known is None:
            excitation = replace(excitation_of(self.reference, motion, self.parameters), at=self.values)
            known = (motion, through_low_pass(self._columns(excitation), motion))
            self._known[id(motion)] = known
        return known[1]

    def form_slopes(self, motion: MeasuredMotion) -> FormSlopes:
        """How the efforts of a motion change with the numbers of forms; a number that all actuators share is one."""
        excitation = replace(excitation_of(self.reference, motion, self.parameters), at=self.values)
        names, members, slopes = [], [], []
        for k, effect in enumerate(self.effects):
            numbers, columns = effect.numbers, effect.columns(excitation) if effect.numbers else None
            if columns is None:
                continue
            every = tuple(range(len(numbers)))
            for together in [every] if len(set(numbers)) == 1 else [(i,) for i in every]:
                own = [
                    [name for name, g in zip(columns.names, columns.actuators, strict=True) if g == i] for i in every
                ]
                slope = np.zeros(excitation.efforts.shape)
                for i in together:
                    values = np.array([self.values.get(name, 0.0) for name in own[i]])
                    low, high = (effect.of_actuator(excitation, i, numbers[i] * f) for f in (1 - _SLOPE, 1 + _SLOPE))
                    slope[:, i] = (high - low) @ values / (2 * _SLOPE)
                names.append(tuple(name for i in together for name in own[i]))
                members.append((k, together))
                slopes.append(slope)
        rows = np.zeros((motion.n_rows, 0))
        if slopes:
            rows = through_low_pass(np.stack(slopes, axis=2), motion)[motion.kept]
        return FormSlopes(tuple(names), tuple(members), rows)

    def form_numbers(self, motion: MeasuredMotion) -> list["FormNumber"]:
        """The numbers of forms that are estimated, with their ranges; not those that are known but for a small ±."""
        excitation = replace(excitation_of(self.reference, motion, self.parameters), at=self.values)
        found = []
        for k, effect in enumerate(self.effects):
            columns = effect.columns(excitation) if effect.numbers else None
            for i, value in enumerate(effect.numbers if columns is not None else ()):
                limits = effect.number_range(excitation, i)
                if columns is None or limits is None:
                    continue
                own = [name for name, g in zip(columns.names, columns.actuators, strict=True) if g == i]
                found.append(FormNumber(k, i, tuple(own), value, limits, effect, excitation, motion))
        return found

    def _columns(self, excitation: Excitation) -> Array:
        """Columns of the effects' parameters by name; 0 where an effect does not occur in a motion."""
        found: dict[str, Array] = {}
        for effect in self.effects:
            columns = effect.columns(excitation)
            if columns is not None:
                found |= {name: columns.of(k, excitation.n) for k, name in enumerate(columns.names)}
        nothing = np.zeros(excitation.efforts.shape)
        every = [found.get(name, nothing) for name in self.values]
        return np.stack(every, axis=2) if every else np.zeros((*nothing.shape, 0))

    @cached_property
    def premise(self) -> str:
        """What the answer rests on."""
        titles = listed([effect.title for effect in self.effects])
        return (
            f"The model includes {titles}. Forms of effects, such as wave numbers, and secants of effects that are not "
            "linear are estimated from this motion. Guaranteed sets are conditional on them; ± includes the "
            "uncertainty of forms, that of wave numbers where the ripple stands out of its ±."
            + "".join(f" {caveat}" for caveat in self.caveats)
        )


@one_blas_thread()
def with_effects(
    robot: DynamicModel,
    motion: MeasuredMotion,
    effects: Sequence[str | Effect],
    *,
    prior: Box | ConfidenceEllipsoid | None = None,
) -> WithEffects:
    """The robot's model with effects of the catalogue, their forms and secants chosen by this motion.

    Args:
        robot: The model that is extended.
        motion: What was measured.
        effects: Effects by name, or as objects.
        prior: Parameters of the robot that are fixed are not fitted.

    Raises:
        InputError: no effect has that name, or the effect does not exist for this robot or motion, or cannot be told
            from the model's own parameters.

    Examples:
        >>> from gough.dynamics.example import random_motion
        >>> with_effects(*random_motion(1), ["offset"]).names[-2:]
        ('offset_1', 'offset_2')
    """
    model = WithEffects(robot, (), robot, np.asarray(robot.nominal), {}, {}, _rate(motion))
    left = list(chosen_effects(effects))
    while left:  # the likeliest first: which axis has a wrong scale is seen where larger effects are in the model
        known, room = (model, with_room(prior, len(model.names))) if model.effects else (robot, prior)
        found = causes_of(known, motion, prior=room, effects=left, force=True)
        cause = next((each for each in found.ranked if each.names), None)
        if cause is None:
            why = left[0].needs or (
                f"It does not exist for {robot.name} or for this motion, or the model's own parameters have the same "
                "effect."
            )
            raise EffectError(f"the effect '{left[0].name}' cannot be estimated here. {why.removesuffix('.')}")
        model = _extended(model, motion, cause, prior)
        if not set(cause.names) & set(model.values):
            raise EffectError(
                f"the effect '{cause.effect.name}' cannot be estimated here: at the values that fit best, the robot "
                "does not reach the positions, or other parameters have the same effect. Leave it out of use in "
                "[effects]"
            )
        left = [effect for effect in left if effect.name != cause.effect.name]
    excitation = excitation_of(model.reference, motion, model.parameters)
    caveats = (effect.caveat(excitation, model.values) for effect in model.effects)
    rough = [effect.title for effect in model.effects if effect.is_indicative(excitation, model.values)]
    return replace(model, caveats=tuple(filter(None, caveats)), indicative=tuple(rough))


def with_room(prior: Box | ConfidenceEllipsoid | None, n: int) -> Box | ConfidenceEllipsoid | None:
    """A prior of the robot's parameters as one of the first of n.

    Raises:
        InputError: it is a belief.
    """
    if prior is None:
        return None
    if not isinstance(prior, Box):
        raise InputError("a belief about the parameters cannot be combined with effects: state bounds instead")
    more = np.full(n - len(prior.lower), np.inf)
    return Box(np.append(prior.lower, -more), np.append(prior.upper, more))


def _rate(motion: MeasuredMotion) -> float:
    return motion.rate if motion.full_rate is None else motion.full_rate.rate


def _extended(
    model: WithEffects, motion: MeasuredMotion, cause: Cause, prior: Box | ConfidenceEllipsoid | None
) -> WithEffects:
    """The model with one more effect; its secants are moved until they are those at the estimate."""
    values = {**model.values, **dict(zip(cause.names, cause.values.tolist(), strict=True))}
    units = {**model.effect_units, **dict(zip(cause.names, cause.units, strict=True))}
    model = replace(model, effects=(*model.effects, cause.effect), values=values, effect_units=units, _known={})
    for _ in range(_ROUNDS):
        theta = _fitted(model, motion, prior)
        own = len(model.robot.names)
        new = dict(zip(model.values, theta[own:].tolist(), strict=True))
        new = {name: value for name, value in new.items() if np.isfinite(value)}
        size = max((abs(value) for value in new.values()), default=0.0) or 1.0
        change = max((abs(value - model.values[name]) for name, value in new.items()), default=0.0)
        model = replace(model, parameters=theta[:own], values=new, _known={})
        if change <= _SETTLED * size:
            break
    return _corrected(model, motion, prior)


def _corrected(model: WithEffects, motion: MeasuredMotion, prior: Box | ConfidenceEllipsoid | None) -> WithEffects:
    """The model with the numbers of its forms moved to the best fit, by Gauss–Newton steps."""
    own, group = len(model.robot.names), np.nonzero(motion.kept)[1]
    for _ in range(_CORRECTIONS):
        slopes = model.form_slopes(motion)
        if not slopes.names or not model.values:
            break
        problem = recorded(model, motion)
        theta = _fitted(model, motion, prior)
        free = np.isfinite(theta)
        r = problem.y - problem.W[:, free] @ theta[free]
        scale = np.sqrt(np.bincount(group, r**2) / np.bincount(group))
        weight = 1 / np.where(scale > 0, scale, 1.0)[group]
        A = np.column_stack([problem.W[:, free], slopes.rows]) * weight[:, None]
        size = np.linalg.norm(A, axis=0)
        size = np.where(size > 0, size, 1.0)
        moved = (np.linalg.lstsq(A / size, r * weight, rcond=1e-9)[0] / size)[-len(slopes.names) :]
        moved = np.clip(moved, -_NEAR, _NEAR)
        tried = _with_numbers(model, slopes, moved)
        theta = _fitted(tried, motion, prior)
        free = np.isfinite(theta)
        after = problem.y - recorded(tried, motion).W[:, free] @ theta[free]
        if ((after * weight) ** 2).sum() >= ((r * weight) ** 2).sum():
            break
        new = dict(zip(tried.values, theta[own:].tolist(), strict=True))
        new = {name: value for name, value in new.items() if np.isfinite(value)}
        model = replace(tried, parameters=theta[:own], values=new, _known={})
        if abs(moved).max() < _SETTLED:
            break
    return model


def _with_numbers(model: WithEffects, slopes: FormSlopes, moved: Array) -> WithEffects:
    """The model with the numbers of its forms changed by parts of themselves."""
    numbers = [list(effect.numbers) for effect in model.effects]
    for (k, together), by in zip(slopes.members, moved.tolist(), strict=True):
        for i in together:
            numbers[k][i] *= 1 + by
    effects = tuple(
        effect.with_numbers(tuple(values)) if values else effect
        for effect, values in zip(model.effects, numbers, strict=True)
    )
    return replace(model, effects=effects, _known={})


def _fitted(model: WithEffects, motion: MeasuredMotion, prior: Box | ConfidenceEllipsoid | None) -> Array:
    """Weighted least squares of all parameters; NaN for an effect's that the others determine."""
    problem = recorded(model, motion)
    group = np.nonzero(motion.kept)[1]
    W, y = problem.W, problem.y
    own = len(model.robot.names)
    theta = np.zeros(W.shape[1])
    free = np.ones(W.shape[1], dtype=bool)
    if isinstance(prior, Box):
        fixed = np.flatnonzero(prior.lower == prior.upper)
        theta[fixed], free[fixed] = prior.lower[fixed], False
        y = y - W @ theta
    theta[own:][~_are_new(W[:, free], own - int((~free).sum()))] = np.nan
    free[own:] &= np.isfinite(theta[own:])
    scale = np.ones(len(model.actuators))
    for _ in range(3):
        A = W[:, free] / scale[group, None]
        size = np.linalg.norm(A, axis=0)
        size = np.where(size > 0, size, 1.0)
        theta[free] = np.linalg.lstsq(A / size, y / scale[group], rcond=1e-9)[0] / size
        r = y - W[:, free] @ theta[free]
        scale = np.maximum(
            np.sqrt(np.bincount(group, r**2) / np.bincount(group)), 1e-12 * np.abs(y).max(initial=1e-300)
        )
    return theta


def _are_new(W: Array, own: int) -> Any:
    """For each column beyond the first `own`: is it independent of all columns before it?"""
    size = np.linalg.norm(W, axis=0)
    scaled = W / np.where(size > 0, size, 1.0)
    U, s, _ = np.linalg.svd(scaled[:, :own], full_matrices=False)
    basis = [U[:, s > _INDEPENDENT * s.max(initial=1e-300)]]
    new = np.zeros(W.shape[1] - own, dtype=bool)
    for k in range(own, W.shape[1]):
        left = scaled[:, k]
        for part in basis:
            left = left - part @ (part.T @ left)
        length = float(np.linalg.norm(left))
        if length > 1e-4:
            new[k - own] = True
            basis.append((left / length)[:, None])
    return new
