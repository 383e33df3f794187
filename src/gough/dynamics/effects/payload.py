"""A payload that differs between recordings: the platform carries another mass in one of them."""

from dataclasses import dataclass, replace

import numpy as np

from gough.core.arrays import Array, Mask
from gough.dynamics.effect import REGRESSOR, Columns, Effect, Excitation, Instant, Planted, Truth
from gough.dynamics.regressors import SAMPLES_PER_BLOCK
from gough.kernels.expression import Expression
from gough.robots.model import DynamicModel

_MASSES = ("m_plate", "m_load", "m_platform", "M_nac", "m_1")
"""Names of the platform's mass in the models of built-in robots that are not made from their mechanism."""
_MOST = 12
"""Recordings from which on pieces between gaps in the data are meant, not payloads."""


@dataclass(frozen=True)
class Payload(Effect):
    """effort + W_m · Δm in one recording, with W_m the column of the platform's mass.

    Where a center of mass off the platform's origin matters, all inertial parameters of the platform may differ.
    """

    recording: int = 1
    """Number of the recording, counted from 0."""
    parameters: tuple[str, ...] = ()
    """The parameters that differ; the platform's mass by default."""

    name = "payload"
    title = "a payload that differs between recordings"
    advice = (
        "Check that tool and payload are the same in all recordings, validation included; identify recordings with "
        'different payloads in separate studies, or all as [[data.recordings]] with use = ["payload"] in [effects], '
        "which estimates the difference."
    )
    needs = "It needs at least two [[data.recordings]]: parameters are not fitted to recordings for validation."
    is_default = False
    sizes = (0.003, 0.01, 0.05)
    size_unit = "of the platform's mass"

    def alternatives(self, excitation: Excitation) -> tuple[Effect, ...]:
        """Each recording that may differ from the others: mass only, or all inertial parameters of the platform."""
        n = int(excitation.recording.max()) + 1
        if not 2 <= n <= _MOST:
            return ()
        recordings = range(n) if n > 2 else (1,)  # of two, each differs from the other
        masses, every = platform_parameters(excitation.plain)
        forms = [(name,) for name in masses] + ([every] if len(every) > 1 else [])
        return tuple(replace(self, recording=k, parameters=form) for k in recordings for form in forms)

    def columns(self, excitation: Excitation) -> Columns | None:
        """The columns of these parameters, in this recording only."""
        robot = excitation.plain
        here = excitation.recording == self.recording
        names = self.parameters or platform_parameters(robot)[0][:1]
        if not names or here.all() or not here.any():
            return None
        chosen = [robot.names.index(name) for name in names]
        values = np.zeros((len(here), excitation.n, len(chosen)))
        every = sorted({name for form in platform_parameters(robot) for name in form} | set(names))
        W = excitation.once(f"payload {self.recording}", lambda: _columns(excitation, here, every), is_of_motion=True)
        values[here] = W[:, :, [every.index(name) for name in names]]
        labels = tuple(self._label(name) for name in names)
        return Columns(labels, tuple(robot.units[k] for k in chosen), values)

    def at_instant(self, instant: Instant) -> dict[str, Expression]:
        """The columns of these parameters: efforts with the payload of that recording."""
        W = instant.regressor(self.parameters)
        return {self._label(name): W[:, k] for k, name in enumerate(self.parameters)}

    def _label(self, name: str) -> str:
        return f"{name} in recording {self.recording + 1}"

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted | None:  # noqa: ARG002
        """The last recording has a payload."""
        masses, _ = platform_parameters(truth.robot)
        last = truth.recording == truth.recording.max()
        if last.all() or not masses:
            return None
        mass = size * float(truth.robot.nominal[truth.robot.names.index(masses[0])])
        motion = (truth.q, truth.dq, truth.ddq)
        loaded = truth.with_payload(mass).efforts(*motion)
        return Planted(truth.q, np.where(last[:, None], loaded, truth.efforts(*motion)))


def _columns(excitation: Excitation, here: Mask, names: list[str]) -> Array:
    """The regressor's columns of some parameters at some samples."""
    robot = excitation.plain
    chosen = [robot.names.index(name) for name in names]
    known = excitation.of_motion.get(REGRESSOR)
    if known is not None and robot is excitation.robot:
        return np.asarray(known[here][:, :, chosen])
    moved = [x[here] for x in (excitation.q, excitation.dq, excitation.ddq)]
    starts = range(0, len(moved[0]), SAMPLES_PER_BLOCK)
    blocks = (robot.regressor(*(x[k : k + SAMPLES_PER_BLOCK] for x in moved)) for k in starts)
    return np.concatenate([np.asarray(W)[:, :, chosen] for W in blocks])


def platform_parameters(robot: DynamicModel) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Parameters that are the platform's mass, and all its inertial ones; where it is not known, every mass."""
    body = _platform_body(robot)
    inertial = tuple(each.name for each in getattr(robot, "parameters", ()) if body in each.members)
    kilograms = tuple(name for name, unit in zip(robot.names, robot.units, strict=True) if unit == "kg")
    known = tuple(name for name in (inertial or _MASSES) if name in kilograms)
    return (known[:1] or kilograms), inertial


def _platform_body(robot: DynamicModel) -> str:
    """The body that a payload is fixed to; empty where the model has no mechanism."""
    mechanism = getattr(robot, "mechanism", None)
    return "" if mechanism is None else str(mechanism.platform.body)


EFFECT = Payload()
