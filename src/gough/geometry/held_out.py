"""Validation poses, which take no part in a calibration, predicted before and after it."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.errors import InputError, require
from gough.core.rotations import angle_between
from gough.core.tables import Table, table
from gough.core.text import counted, number
from gough.data import Poses
from gough.robots.assembly_modes import nearest_other_mode
from gough.robots.kinematics import KinematicModel, PlatformPoses


@dataclass(frozen=True, eq=False)
class HeldOut(ArrayValue):
    """Distance and angle between measured poses and those that the robot's readings predict.

    `str()` of it is the table of [DACP06, Table 6] (whose units of rows 2 and 3 are swapped in print).
    """

    position_before: Array | None
    """(N,) m; None where the blueprint cannot be assembled at these readings."""
    position_after: Array
    orientation_before: Array | None
    """(N,) rad; zeros where the platform does not turn."""
    orientation_after: Array
    length_before: Array
    """(N, chains): error of the closure of each chain as a length, m."""
    length_after: Array
    other_mode: Array
    """(N,) m: from each predicted pose to another assembly mode near it, after; infinite where none is found."""
    labels: tuple[str, ...] = ()
    """Number of each pose, from 0, with its place in a file."""

    @property
    def ambiguous(self) -> tuple[int, ...]:
        """Poses half way to another assembly mode or further, so that the measured one is not certain."""
        return tuple(np.flatnonzero(~(self.position_after < self.other_mode / 2)).tolist())

    @property
    def words(self) -> str:
        """Ambiguous poses and what to do about them; empty without any."""
        if not self.ambiguous:
            return ""
        first = self.ambiguous[0]
        label = self.labels[first] if self.labels else str(first)
        return (
            f"At {len(self.ambiguous)} of {len(self.other_mode)} validation poses (the first is pose {label}) another "
            f"assembly mode is {number(1e3 * self.other_mode[first], digits=3)} mm away: the robot is next to a "
            "singularity there, and prediction errors may be those of the other mode. Validate with other poses."
        )

    @property
    def is_better(self) -> bool | None:
        """Whether the mean position error decreases; None where there is none before."""
        before = self.position_before
        return None if before is None else bool(self.position_after.mean() < before.mean())

    @property
    def summary(self) -> str:
        """How the mean position error changes, in words."""
        poses = f"{counted(len(self.position_after), 'pose')} that took no part in the calibration"
        after = f"{number(1e3 * float(self.position_after.mean()), digits=3)} mm"
        if self.position_before is None:
            return f"The mean position error on {poses} is {after}."
        before = f"{number(1e3 * float(self.position_before.mean()), digits=3)} mm"
        worse = int((self.position_after > self.position_before).sum())
        if self.is_better:
            more = f" That of {worse} of them increases." if worse else ""
            return f"On {poses}, the mean position error decreases from {before} to {after}.{more}"
        return (
            f"On {poses}, the mean position error increases from {before} to {after}: the calibrated parameters "
            "predict these poses worse than the parameters before."
        )

    @property
    def improvement(self) -> Array | None:
        """Percent by which each position error shrinks."""
        if self.position_before is None:
            return None
        return 100 * (1 - self.position_after / np.maximum(self.position_before, 1e-300))

    def rows(self) -> list[tuple[str, float | None, float]]:
        """Words, before and after: in mm and degrees."""
        mm, degree = 1e3, 180 / np.pi
        result = []
        for what, unit, factor, before, after in (
            ("position", "mm", mm, self.position_before, self.position_after),
            ("orientation", "°", degree, self.orientation_before, self.orientation_after),
        ):
            if what == "orientation" and not after.any():
                continue
            for word, of in (("mean", np.mean), ("standard deviation of", np.std), ("largest", np.max)):
                known = None if before is None else float(of(before)) * factor
                result.append((f"{word} {what} error [{unit}]", known, float(of(after)) * factor))
        rms = [float(np.sqrt((e**2).mean())) * mm for e in (self.length_before, self.length_after)]
        return [*result, ("closure of the chains, rms [mm]", rms[0], rms[1])]

    def table(self) -> Table:
        """Mean, deviation and largest error of predicted poses, before and after, and the factor between them."""
        rows = []
        for what, before, after in self.rows():
            rows.append([what, "—" if before is None else number(before), number(after), _change(before, after)])
        heads = [counted(len(self.position_after), "pose"), "before", "after", "change"]
        return table(heads, rows, "lrrr", "Errors of predicted poses")

    def __str__(self) -> str:
        return f"{self.table()}\n{self.words}" if self.words else str(self.table())


def _change(before: float | None, after: float) -> str:
    """The factor between two errors in words.

    Examples:
        >>> _change(0.4, 0.1), _change(0.02, 1.1), _change(None, 1.0)
        ('4 × smaller', '55 × larger', '—')
    """
    if before is None or before <= 0 or after <= 0:
        return "—"
    return f"{before / after:.3g} × smaller" if after <= before else f"{after / before:.3g} × larger"


def held_out(model: KinematicModel, poses: Poses, before: Array, after: Array, *, scale: float = 1.0) -> HeldOut:
    """Errors of predicted poses with two sets of parameters; positions are multiplied by `scale` first.

    Examples:
        >>> from gough.robots import LinearDelta
        >>> printer = LinearDelta()
        >>> p = np.array([[0.0, 0.0, 0.1], [0.05, 0.0, 0.1]])
        >>> poses = Poses(p, None, printer.inverse(printer.nominal, p))
        >>> check = held_out(printer, poses, printer.nominal + 1e-3, printer.nominal)
        >>> bool((check.position_before > 5e-4).all()), bool(check.position_after.max() < 1e-12)
        (True, True)
    """
    rotation = np.repeat(np.eye(3)[None], len(poses), axis=0) if poses.rotation is None else poses.rotation
    seen = PlatformPoses(poses.position * scale, rotation)
    try:
        first: tuple[Array | None, Array | None] = _errors(model, model.forward(before, poses.readings, seen), seen)
    except InputError:
        first = (None, None)
    predicted = model.forward(after, poses.readings, seen)
    second = _errors(model, predicted, seen)
    lengths = [closure(model, theta, seen, poses.readings) for theta in (before, after)]
    other = nearest_other_mode(model, after, poses.readings, predicted)
    return HeldOut(
        first[0],
        second[0],
        first[1],
        second[1],
        lengths[0],
        lengths[1],
        other,
        tuple(map(poses.label, range(len(poses)))),
    )


def require_held_out(poses: Poses, validation: Poses) -> None:
    """Refuse validation poses that take part in the calibration: their errors are residuals, not those of predictions.

    A pose takes part if another one has the same position and the same readings in double precision.

    Raises:
        InputError: a pose is in both; with its place.

    Examples:
        >>> poses = Poses([[0.0, 0.0, 0.3], [0.01, 0.0, 0.3]], None, [[0.1, 0.2, 0.3], [0.1, 0.2, 0.4]])
        >>> require_held_out(poses.select([0]), poses.select([1]))
        >>> require_held_out(poses, poses.select([1]))
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: 1 of 1 validation pose takes part in the calibration too (the first is pose 0): \
validation needs other poses; leave them out of one of the files, or state no validation
    """
    taken = {_measured(poses, k) for k in range(len(poses))}
    both = [k for k in range(len(validation)) if _measured(validation, k) in taken]
    require(
        not both,
        f"{len(both)} of {counted(len(validation), 'validation pose')} {'takes' if len(both) == 1 else 'take'} part in "
        f"the calibration too (the first is pose {validation.label(both[0]) if both else ''}): validation needs other "
        "poses; leave them out of one of the files, or state no validation",
    )


def _measured(poses: Poses, k: int) -> bytes:
    """Position and readings of a pose; negative zeros as zeros."""
    return bytes((np.concatenate([poses.position[k], poses.readings[k]]) + 0.0).data)


def closure(model: KinematicModel, theta: Array, seen: PlatformPoses, readings: Array) -> Array:
    """By how much the chains do not close (N, chains), as lengths in m."""
    kernel, n = model.chain_kernel("length"), readings.shape[1]
    x = np.broadcast_to(theta[model.columns], (len(readings), *model.columns.shape)).reshape(readings.size, -1)
    position, rotation = (np.repeat(each, n, axis=0) for each in seen)
    return kernel(x, position, rotation, np.zeros(3), readings.reshape(-1)).reshape(readings.shape)


def _errors(model: KinematicModel, predicted: PlatformPoses, seen: PlatformPoses) -> tuple[Array, Array]:
    far = np.linalg.norm(predicted.position - seen.position, axis=1)
    turned = angle_between(predicted.rotation, seen.rotation) if model.has_orientation else np.zeros(len(far))
    return far, turned
