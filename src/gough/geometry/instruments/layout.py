"""The unknowns of a calibration in one vector: the robot's parameters, then the parts of all instruments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array, ArrayValue
from gough.core.errors import require
from gough.core.rotations import exp, from_quaternion
from gough.geometry.beliefs import matching, require_one_belief
from gough.geometry.instruments.kinds import Part
from gough.geometry.instruments.measurements import Instrument, Measurements, Numbers, Sought, checked_part
from gough.robots.kinematics import KinematicModel


@dataclass(frozen=True, eq=False)
class Slot(ArrayValue):
    """One part of one instrument, in one session or in all: where its parameters are, and its reference rotation."""

    instrument: str
    part: Part
    columns: tuple[int, ...]
    """Places of its parameters in the vector of unknowns."""
    session: int | None
    """Number of its session; None: all."""
    is_sought: bool
    has_guess: bool

    @property
    def turn(self) -> tuple[int, ...]:
        """Places of the turn after the reference rotation; none without one."""
        return self.columns[-3:] if self.part.turns else ()


@dataclass(frozen=True, eq=False)
class Layout(ArrayValue):
    """Names, units and slots of all unknowns."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    n_model: int
    """Parameters of the robot: the first ones."""
    is_free: npt.NDArray[np.bool_]
    slots: tuple[Slot, ...]
    of_instrument: tuple[Numbers, ...]
    """For each instrument (sessions, parts): numbers of its slots."""

    def columns(self, instrument: int) -> Numbers:
        """(sessions, k): the unknowns that are local parameters of an instrument."""
        rows = [np.concatenate([self.slots[s].columns for s in row]) for row in self.of_instrument[instrument]]
        return np.array(rows, dtype=np.int64)

    @cached_property
    def free(self) -> Numbers:
        """Numbers of the unknowns that are estimated."""
        return np.flatnonzero(self.is_free)

    def moved(self, theta: Array, references: Array, step: Array) -> tuple[Array, Array]:
        """Unknowns and reference rotations after a step of all unknowns: turns go into the references."""
        theta, references = theta + step, references.copy()
        for number, slot in enumerate(self.slots):
            if slot.turn:
                turn = list(slot.turn)
                references[number] = exp(theta[turn]) @ references[number]
                theta[turn] = 0.0
        return theta, references


def layout_of(
    model: KinematicModel, measurements: Measurements, start: Array, fixed: Sequence[str]
) -> tuple[Layout, Array, Array]:
    """The unknowns, their values at the start and the reference rotations of all slots (slots, 3, 3)."""
    names, units, values = list(model.names), list(model.units), start.tolist()
    slots: list[Slot] = []
    references: list[Array] = []
    known = {one.name: one for one in measurements.instruments}
    where: dict[tuple[str, str, int | None], int] = {}

    def enter(one: Instrument, part: Part, session: int | None) -> int:
        stated = getattr(one, part.name)
        if isinstance(stated, str):
            return enter(known[stated], part, session)
        sought = isinstance(stated, Sought)
        if not (sought and stated.each_session):
            session = None
        key = (one.name, part.name, session)
        if key not in where:
            guess = stated.guess if sought else stated
            local, reference = _local(part, guess, one.name)
            label = "" if session is None else f" ({measurements.session_names[session]})"
            first = len(names)
            names.extend(f"{one.name}.{suffix}{label}" for suffix in part.suffixes)
            units.extend(part.units)
            values.extend(local.tolist())
            columns = tuple(range(first, first + len(local)))
            where[key] = len(slots)
            slots.append(Slot(one.name, part, columns, session, sought, sought and stated.guess is not None))
            references.append(reference)
        return where[key]

    n = len(measurements.session_names)
    of = tuple(
        np.array([[enter(one, part, s) for part in one.of_kind.parts] for s in range(n)], dtype=np.int64).reshape(n, -1)
        for one in measurements.instruments
    )
    free = np.zeros(len(names), dtype=bool)
    free[: len(model.names)] = True
    for slot in slots:
        free[list(slot.columns)] = slot.is_sought
    for pattern in fixed:
        hits = [names.index(name) for name in matching([pattern], names)]
        for slot in slots:
            blind = slot.is_sought and not slot.has_guess and set(hits) & set(slot.columns)
            require(not blind, f"'{pattern}' is to be fixed, but has no value: state a guess of that {slot.part.name}")
        free[hits] = False
    layout = Layout(tuple(names), tuple(units), len(model.names), free, tuple(slots), of)
    return layout, np.array(values), np.array(references).reshape(-1, 3, 3)


def _local(part: Part, value: Any, name: str) -> tuple[Array, Array]:
    """Local parameters of a part, and its reference rotation; without a value those of a part at the origin."""
    n = len(part.suffixes)
    if value is None:
        return np.zeros(n), np.eye(3)
    value = checked_part(part, value, name)
    match part.name:
        case "frame" | "target":
            return np.append(value.position, np.zeros(3)), value.motion.R
        case "mount":
            return np.zeros(3), from_quaternion(value)
        case "up":
            return value[:2] / value[2], np.eye(3)
        case "offset":
            return np.reshape(value, (1,)), np.eye(3)
        case "plane":
            return np.array([0.0, 0.0, value[3]]), with_normal(value[:3])
        case _:
            return np.asarray(value), np.eye(3)


def with_normal(normal: Array) -> Array:
    """A rotation whose third axis is this unit vector, and whose others are as near to x and y as may be.

    Examples:
        >>> with_normal(np.array([0.0, 0.0, 1.0])).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    first = np.eye(3)[0] if abs(normal[0]) < 0.9 else np.eye(3)[1]
    first = first - normal * (normal @ first)
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(normal, first), normal])


def prior_rows(layout: Layout, deviations: Mapping[str, float], fixed: Sequence[str] = ()) -> Array:
    """(P,): one over the standard deviation of each parameter's start; zero where none is stated.

    Raises:
        InputError: no parameter has this name, one has two deviations or is fixed, or a deviation is not positive.
    """
    rows = np.zeros(len(layout.names))
    require_one_belief(fixed, deviations, layout.names, "prior")
    for pattern, sigma in deviations.items():
        hits = [layout.names.index(name) for name in matching([pattern], layout.names)]
        known = [layout.names[i] for i in hits if not layout.is_free[i]]
        require(not known, f"'{known[0] if known else ''}' is known: a prior is for parameters that are estimated")
        good = isinstance(sigma, int | float) and not isinstance(sigma, bool) and 0 < sigma < np.inf
        require(good, f"the standard deviation of '{pattern}' must be positive, but is {sigma!r}")
        rows[hits] = 1 / sigma
    return rows
