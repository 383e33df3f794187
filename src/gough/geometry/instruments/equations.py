"""All residuals of a calibration and their derivatives, in standard deviations, pose by pose."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array, ArrayValue, Mask
from gough.core.rotations import exp, log
from gough.geometry.instruments.kinds import kernel
from gough.geometry.instruments.layout import Layout
from gough.geometry.instruments.measurements import Instrument, Measurements, Numbers
from gough.kernels import Kernel
from gough.robots.kinematics import KinematicModel, PlatformPoses, all_derivatives

_NEWTON = 12
_CLOSE = 1e-9
"""A step of predicted readings this small, in their standard deviations, ends Newton's method: it is quadratic."""


@dataclass(frozen=True, eq=False)
class State(ArrayValue):
    """Values of all unknowns: those of the layout with its reference rotations, and the poses."""

    theta: Array
    references: Array
    poses: PlatformPoses


class Rows(NamedTuple):
    """Residuals of one instrument, or of the readings, and their derivatives; all divided by standard deviations.

    A residual is what was measured less what is predicted. Zero rows were not measured.
    """

    residual: Array
    """(rows, m)."""
    by_x: Array
    """(rows, m, k): by the unknowns in `columns`."""
    by_pose: Array
    """(rows, m, d): by the freedoms of the pose."""
    by_other: Array | None = None
    """Of distances between two poses, by the second one."""


@dataclass(frozen=True, eq=False)
class Linearized(ArrayValue):
    """Everything at one state."""

    readings: Rows
    """In standard deviations; errors that are correlated are not yet whitened."""
    whitening: Array | None
    """(chains, chains): makes the residuals of the readings of a pose independent; None: they are."""
    instruments: tuple[Rows, ...]
    prior: Array
    """(P,): departures from the start over their standard deviations."""

    @cached_property
    def cost(self) -> float:
        """Sum of squares; infinite where something cannot be predicted."""
        chains = self.readings.residual
        chains = chains if self.whitening is None else chains @ self.whitening.T
        parts = (chains, *(rows.residual for rows in self.instruments), self.prior)
        total = sum(float((part * part).sum()) for part in parts)
        return total if np.isfinite(total) else np.inf


@dataclass(frozen=True, eq=False)
class Equations(ArrayValue):
    """The residuals of a robot's readings and of all instruments, as functions of a state.

    A reading is predicted from the pose: it solves the chain's equation f(x, pose, reading) = 0, by Newton's method
    from the one that was read. Its derivatives are −(∂f/∂x)/(∂f/∂reading).
    """

    model: KinematicModel
    measurements: Measurements
    layout: Layout
    start: Array
    """(P,): where the prior is centered."""
    prior: Array
    """(P,): one over standard deviations of the start; zero where nothing is known."""
    start_references: Array

    @cached_property
    def chain_columns(self) -> Numbers:
        """(chains, k)."""
        return np.asarray(self.model.columns)

    @cached_property
    def columns(self) -> tuple[Numbers, ...]:
        """For each instrument (sessions, k)."""
        return tuple(self.layout.columns(i) for i in range(len(self.measurements.instruments)))

    @cached_property
    def measured_rows(self) -> tuple[Numbers, ...]:
        """For each instrument the rows with something measured."""
        return tuple(np.flatnonzero(one.is_measured.any(axis=1)) for one in self.measurements.instruments)

    @cached_property
    def first_poses(self) -> tuple[Numbers, ...]:
        """For each instrument the poses of its rows; of distances between two, the first."""
        return tuple(
            rows if one.pairs is None else one.pairs[rows, 0]
            for one, rows in zip(self.measurements.instruments, self.measured_rows, strict=True)
        )

    @cached_property
    def row_sessions(self) -> tuple[Numbers, ...]:
        """For each instrument the sessions of its rows."""
        number = self.measurements.session_numbers
        return tuple(number[poses] for poses in self.first_poses)

    @cached_property
    def _whitening(self) -> tuple[Array, ...]:
        """For each instrument (rows, m, m), or (1, m, m) where all channels of all rows were measured.

        Lᵀ L is the inverse of the covariance of what was measured; rows and columns of what was not are zero.
        """
        return tuple(
            _whitening(one.covariances(rows), one.is_measured[rows])
            for one, rows in zip(self.measurements.instruments, self.measured_rows, strict=True)
        )

    @cached_property
    def _reading_whitening(self) -> Array | None:
        """Lᵀ L is the inverse of the correlation of the readings' errors; None: they are independent."""
        C = self.measurements.reading_sigma
        if C is None or C.ndim == 1:
            return None
        deviations = self.measurements.reading_deviations
        return np.asarray(np.linalg.inv(np.linalg.cholesky(C / np.outer(deviations, deviations))))

    def linearized(self, state: State) -> Linearized:
        """Residuals and derivatives at a state."""
        with np.errstate(all="ignore"):
            readings = self._readings(state)
            instruments = tuple(self._instrument(i, state) for i in range(len(self.measurements.instruments)))
        return Linearized(readings, self._reading_whitening, instruments, self.prior * self.departure(state))

    def departure(self, state: State) -> Array:
        """(P,): unknowns less their start; rotation vectors for those that turn."""
        away = state.theta - self.start
        for number, slot in enumerate(self.layout.slots):
            if slot.turn:
                away[list(slot.turn)] = log(state.references[number] @ self.start_references[number].T)
        return away

    def moved(self, state: State, step: Array, pose_steps: Array) -> State:
        """The state after a step of all unknowns, and of the freedoms of all poses (N, d)."""
        theta, references = self.layout.moved(state.theta, state.references, step)
        whole = np.zeros((len(pose_steps), 6))
        whole[:, list(self.model.freedoms)] = pose_steps
        position = state.poses.position + whole[:, :3]
        rotation = state.poses.rotation
        if self.model.has_orientation:
            rotation = exp(whole[:, 3:]) @ rotation
        return replace(state, theta=theta, references=references, poses=PlatformPoses(position, rotation))

    @cached_property
    def _chain_inputs(self) -> tuple[Array, Mask]:
        """Readings with zeros for missing ones, and which are there."""
        there = np.isfinite(self.measurements.readings)
        return np.where(there, self.measurements.readings, 0.0), there

    def _readings(self, state: State) -> Rows:
        read, there = self._chain_inputs
        N, n = read.shape
        sigma = self.measurements.reading_deviations
        derivatives = all_derivatives(self._chain_kernel)
        x = np.broadcast_to(state.theta[self.chain_columns], (N, *self.chain_columns.shape))
        if self.measurements.loads is not None:
            x = np.concatenate([x, self.measurements.loads[..., None]], axis=2)
        x, k = x.reshape(N * n, -1), self.chain_columns.shape[1]
        position, rotation = (np.repeat(each, n, axis=0) for each in state.poses)
        predicted = read.reshape(-1)
        is_linear = bool(getattr(self.model, "reading_is_linear", False))
        for _ in range(_NEWTON):
            f = derivatives.evaluate(x, position, rotation, np.zeros(3), predicted)
            step = f["residual"] / f["by_reading"]
            if is_linear:
                predicted = predicted - step
                break
            size = float(np.max(abs(step.reshape(N, n)) / sigma, where=there, initial=0.0))
            if not size > _CLOSE:
                break
            predicted = predicted - step
        weight = (there / sigma)[..., None]
        slope = f["by_reading"].reshape(N, n, 1)
        residual = (read - predicted.reshape(N, n)) * weight[..., 0]
        residual[~there] = 0.0
        by_x, by_pose = (_weighted(f[name].reshape(N, n, -1) / slope, weight, there) for name in ("by_x", "by_pose"))
        return Rows(residual, by_x[..., :k], by_pose[..., list(self.model.freedoms)])

    @property
    def _chain_kernel(self) -> Kernel:
        """The equation of a chain as a length; under load where loads are stated."""
        if self.measurements.loads is None:
            return self.model.chain_kernel("length")
        loaded: Kernel = self.model.loaded_kernel()  # type: ignore[attr-defined]
        return loaded

    def _instrument(self, i: int, state: State) -> Rows:
        one, rows = self.measurements.instruments[i], self.measured_rows[i]
        kind, m = one.of_kind, len(one.channels)
        session = self.row_sessions[i]
        references = state.references[self.layout.of_instrument[i]]
        several = len(self.measurements.session_names) > 1
        x = state.theta[self.columns[i]][session] if several else state.theta[self.columns[i][0]]
        outputs = observed(one, rows, x, references[session] if several else references[0], state.poses)
        values = np.zeros((len(rows), m))
        values[:, : one.values.shape[1]] = one.values[rows]
        residual = np.where(one.is_measured[rows], values - outputs["value"].reshape(len(rows), m), 0.0)
        if kind.is_angle:
            residual = (residual + np.pi) % (2 * np.pi) - np.pi
        L = self._whitening[i]

        def whitened(name: str) -> Array:
            return -(L @ outputs[name].reshape(len(rows), m, -1))

        free = list(self.model.freedoms)
        other = whitened("by_other")[..., free] if kind.is_pair else None
        residual = (L @ residual[..., None])[..., 0]
        return Rows(residual, whitened("by_x"), whitened("by_pose")[..., free], other)


def observed(one: Instrument, rows: Numbers, x: Array, references: Array, poses: PlatformPoses) -> dict[str, Array]:
    """What an instrument's kernel gives for some of its rows, and for each of its points.

    Args:
        one: The instrument.
        rows: Numbers of its rows.
        x: Its local parameters (k,), or those of each row (rows, k).
        references: Reference rotations of its parts (parts, 3, 3), or of each row (rows, parts, 3, 3).
        poses: All poses.
    """
    K = one.n_points
    ends = [rows] if one.pairs is None else list(one.pairs[rows].T)
    inputs = [_each(x, K, ndim=1)]
    inputs += [_each(references[..., part, :, :], K, ndim=2) for part in range(references.shape[-3])]
    for end in ends:
        inputs += [np.repeat(poses.position[end], K, axis=0), np.repeat(poses.rotation[end], K, axis=0), np.zeros(3)]
    if one.rotation is not None:
        seen = one.rotation[rows]
        there = np.asarray(np.isfinite(seen).all(axis=(1, 2)))
        inputs.append(np.where(there[:, None, None], seen, np.eye(3)))
    if one.points is not None:
        inputs.append(np.tile(one.points, (len(rows), 1)))
    return kernel(one.kind).evaluate(*inputs)


def _each(values: Array, count: int, *, ndim: int) -> Array:
    """Values of each row, repeated for each of its points; values of all rows as they are."""
    return values if values.ndim == ndim or count == 1 else np.repeat(values, count, axis=0)


def _weighted(values: Array, weight: Array, there: Mask) -> Array:
    """Derivatives of residuals: those of −prediction, over standard deviations; zero where nothing was read."""
    values = values * weight
    if not there.all():
        values[~there] = 0.0
    return np.asarray(values)


def _whitening(C: Array, there: Mask) -> Array:
    """Whitening of covariances (rows, m, m), or (1, m, m) of all rows, for each pattern of what was measured."""
    m = C.shape[-1]
    patterns, which = np.unique(there, axis=0, return_inverse=True)
    which = which.reshape(-1)
    matrices = np.zeros((len(patterns) if len(C) == 1 else len(there), m, m))
    for k, pattern in enumerate(patterns):
        kept = np.flatnonzero(pattern)
        rows = np.array([k]) if len(C) == 1 else np.flatnonzero(which == k)
        own = C[:1] if len(C) == 1 else C[rows]
        part = np.linalg.inv(np.linalg.cholesky(own[:, kept[:, None], kept]))
        matrices[np.ix_(rows, kept, kept)] = part
    return matrices if len(C) > 1 or len(patterns) == 1 else matrices[which]
