"""Maps of the predicted accuracy of a calibrated robot over its workspace."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.errors import InputError, require
from gough.core.rotations import log, nearest_rotation
from gough.geometry.predicted_pose import readings_where_reached
from gough.geometry.results import Calibrated
from gough.region import ConfidenceEllipsoid
from gough.robots.kinematics import PlatformPoses

_BEYOND = 0.1
"""Share of the measured poses' extent by which a map exceeds it on each side."""
_AXES = "xyz"


@dataclass(frozen=True, eq=False)
class WorkspaceMap(ArrayValue):
    """Standard deviations of predicted poses over a grid of positions, all with one orientation.

    NaN where the robot cannot be, or where its readings would leave the range that was measured: predictions
    there are extrapolated.
    """

    axes: tuple[str, ...]
    """Those that vary: of a slice two, of a volume three."""
    grid: tuple[Array, ...]
    """Values of each, m."""
    at: PlatformPoses
    """(1): the position of the others, and the orientation of all."""
    position: Array
    """(grid…) m: root mean square distance between predicted and true position, for exact readings."""
    orientation: Array | None
    """(grid…) rad; None where the platform does not turn."""

    @property
    def worst(self) -> tuple[float, dict[str, float]]:
        """The largest standard deviation of a position, and where it is."""
        where = np.unravel_index(int(np.nanargmax(self.position)), self.position.shape)
        place = {name: float(values[i]) for name, values, i in zip(self.axes, self.grid, where, strict=True)}
        return float(self.position[where]), place

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, in SI units; null where there is no value."""
        fixed = dict(zip(_AXES, self.at.position[0].tolist(), strict=True))
        return {
            "axes": {name: values.tolist() for name, values in zip(self.axes, self.grid, strict=True)},
            "at": {name: value for name, value in fixed.items() if name not in self.axes},
            "rotation_vector": log(self.at.rotation)[0].tolist(),
            "position_sigma": _plain(self.position),
            "orientation_sigma": None if self.orientation is None else _plain(self.orientation),
        }


def workspace_map(calibrated: Calibrated, axes: str = "xy", *, resolution: int = 21, at: Any = None) -> WorkspaceMap:
    """A map of predicted uncertainty over the positions that were measured, from the parameters' covariance.

    Args:
        calibrated: The calibration; its estimate must state a covariance.
        axes: What varies: two of x, y, z for a slice, "xyz" for a volume.
        resolution: Positions along each axis.
        at: The position of the slice, m; the middle of the measured poses by default. The orientation is their mean.

    Examples:
        >>> from gough.geometry import calibrate
        >>> from gough.data import Poses
        >>> from gough.robots import LinearDelta
        >>> printer, rng = LinearDelta(), np.random.default_rng(1)
        >>> p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (30, 3))
        >>> seen = Poses(p + rng.normal(0, 1e-5, p.shape), None, printer.inverse(printer.nominal, p)).with_noise(1e-5)
        >>> workspace = workspace_map(calibrate(printer, seen), resolution=5)
        >>> workspace.position.shape, bool(workspace.position[2, 2] < 1e-5)
        ((5, 5), True)
    """
    known = [name for i, name in enumerate(_AXES) if i in calibrated.model.freedoms]
    wrong = [name for name in axes if name not in known]
    require(
        not wrong and len(set(axes)) == len(axes) > 0, f"axes are some of {', '.join(known)}, each once, not '{axes}'"
    )
    require(resolution >= 2, f"a map needs at least 2 positions along each axis, not {resolution}")
    if not isinstance(calibrated.estimate.region, ConfidenceEllipsoid):
        raise InputError(
            "a map of uncertainty needs a covariance of the parameters, which this estimate does not state"
        )
    seen = calibrated.poses.position * calibrated.scale
    low, high = seen.min(axis=0), seen.max(axis=0)
    room = _BEYOND * (high - low)
    center = (low + high) / 2 if at is None else np.asarray(at, dtype=float)
    rotation = (
        np.eye(3) if calibrated.poses.rotation is None else nearest_rotation(calibrated.poses.rotation.mean(axis=0))
    )
    places = [_AXES.index(name) for name in axes]
    grid = tuple(np.linspace(low[i] - room[i], high[i] + room[i], resolution) for i in places)
    shape = (resolution,) * len(axes)
    position = np.broadcast_to(center, (*shape, 3)).copy()
    for i, values in zip(places, np.meshgrid(*grid, indexing="ij"), strict=True):
        position[..., i] = values
    poses = PlatformPoses(position.reshape(-1, 3), np.broadcast_to(rotation, (position.size // 3, 3, 3)))
    sigma = _sigma(calibrated, poses)
    turns = any(freedom > 2 for freedom in calibrated.model.freedoms)
    return WorkspaceMap(
        tuple(axes),
        grid,
        PlatformPoses(center[None], rotation[None]),
        sigma[0].reshape(shape),
        sigma[1].reshape(shape) if turns else None,
    )


def _sigma(calibrated: Calibrated, poses: PlatformPoses) -> Array:
    """Standard deviations of positions and orientations (2, N); NaN where the readings leave the measured range."""
    readings, reached = readings_where_reached(calibrated.model, calibrated.parameters, poses)
    measured = calibrated.poses.readings
    with np.errstate(invalid="ignore"):
        inside = reached & ((readings >= measured.min(axis=0)) & (readings <= measured.max(axis=0))).all(axis=1)
    result = np.full((2, len(readings)), np.nan)
    if inside.any():
        result[:, inside] = calibrated.predicted_sigma(PlatformPoses(poses.position[inside], poses.rotation[inside]))
    return result


def _plain(values: Array) -> Any:
    """Nested lists, None for NaN."""
    return [_plain(row) for row in values] if values.ndim else (float(values) if np.isfinite(values) else None)
