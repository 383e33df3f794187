"""A chain of the Delta family as calibration sees it: a motor swings an arm, rods lead on to a point of the platform.

P motor, α heading of the arm, q + zero the angle by which it hangs below the horizontal; l arm, L rods, as in
[PRV03i, fig. 2]. The platform keeps its attitude but for its heading θ; the rods end at position + R_z(θ) c.
"""

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import InputError, require
from gough.kernels import Kernel
from gough.kernels import expression as ex
from gough.robots._candidates import Candidates, of_headings
from gough.robots._own_chains import OwnChains
from gough.robots.kinematics import HEADING, PlatformPoses, checked_pose, heading, rod_trace
from gough.robots.mechanism.description import Mechanism


def arm_readings(PA: Array, angle: Array, zero: Array, arm: Array, rod: Array, *, hint: str) -> Array:
    """Readings (N, chains) that bring the rods' ends to PA (N, chains, 3), seen from the motors: elbows outside."""
    out = PA[..., 0] * np.cos(angle) + PA[..., 1] * np.sin(angle)
    down = -PA[..., 2]
    wanted = ((PA**2).sum(axis=-1) + arm**2 - rod**2) / (2 * arm)
    length = np.hypot(out, down)
    bad = (abs(wanted) > length).any(axis=1)
    if bad.any():
        raise InputError(f"pose {int(bad.argmax())} cannot be reached ({int(bad.sum())} of {len(PA)} poses): {hint}")
    return np.asarray(np.arctan2(down, out) - np.arccos(wanted / length) - zero)


def elbows(P: Array, angle: Array, turn: Array, arm: Array) -> Array:
    """Elbows (N, chains, 3) for arms that hang by `turn` (N, chains)."""
    radial = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=-1)
    hang = arm * np.sin(turn)
    return np.asarray(P + (arm * np.cos(turn))[..., None] * radial - hang[..., None] * np.array([0.0, 0.0, 1.0]))


class TurningArms(OwnChains):
    """A robot of four such chains whose platform moves in x, y, z and turns about z: 9 parameters a chain.

    motor (3): P less the fixed part of the rods' attachment, since poses determine only their difference; angle: α;
    zero; arm; rod; joint (2): c, the part of the attachment that turns. A tracked point elsewhere on the turning body
    changes `joint` and `motor_z`, and another zero of its heading turns `joint`: the frames have no further unknowns.
    """

    STEMS: ClassVar[tuple[str, ...]] = (
        "motor_x",
        "motor_y",
        "motor_z",
        "angle",
        "zero",
        "arm",
        "rod",
        "joint_x",
        "joint_y",
    )
    UNITS: ClassVar[tuple[str, ...]] = ("m", "m", "m", "rad", "rad", "m", "m", "m", "m")
    FREEDOMS: ClassVar[tuple[int, ...]] = (0, 1, 2, HEADING)
    ROBOT: ClassVar[Any]
    """The robot whose geometry is the blueprint."""
    geometry: Any
    calibrated: Array | None
    """Parameters, chain by chain (4, 9), in place of those of the geometry."""

    def __post_init__(self) -> None:
        if self.calibrated is not None:
            rows = array(self.calibrated, "calibrated", ndim=2)
            shape = (4, len(self.STEMS))
            require(rows.shape == shape, f"calibrated must have the shape {shape}, not {rows.shape}")
            require(bool(np.isfinite(rows).all()), "calibrated must hold finite numbers")
            object.__setattr__(self, "calibrated", rows)
        assert len(self.home(self.nominal)) == 2  # InputError where it cannot be assembled

    @property
    def blueprint(self) -> Array:
        """The parameters, chain by chain (4, 9): as calibrated, or those of the geometry."""
        return np.asarray(self.geometry.blueprint if self.calibrated is None else self.calibrated)

    @property
    def mechanism(self) -> Mechanism:
        """The robot of the blueprint as bodies, joints and closures."""
        made: Mechanism = self.ROBOT(self.geometry).mechanism
        return made

    def home(self, parameters: Any) -> PlatformPoses:
        """The robot's home pose, whatever the parameters."""
        assert parameters is not None
        x, y, z, theta = self.ROBOT(self.geometry).home
        return PlatformPoses(np.array([[x, y, z]]), heading(theta)[None])

    def chain_kernel(self, form: str = "squared") -> Kernel:
        """|p + R_z(θ) c − elbow|² − rod², or the difference of the lengths where form is "length"."""
        return _chain(form)

    def inverse(self, parameters: Any, position: Any, rotation: Any = None) -> Array:
        """Readings (N, 4) at poses: the elbows are outside."""
        rows = self.rows(parameters)
        pose = checked_pose(position, rotation)
        A = pose.position[:, None].repeat(len(rows), axis=1)
        A[..., :2] += np.einsum("nij,cj->nci", pose.rotation[:, :2, :2], rows[:, 7:])
        hint = "are positions in m, in the robot's frame, and below the motors, and headings in its range?"
        return arm_readings(A - rows[:, :3], *rows[:, 3:7].T, hint=hint)

    def mode_candidates(self, parameters: Array, readings: Array) -> Candidates:
        """Up to eight headings."""
        rows = self.rows(parameters)
        begin = elbows(rows[:, :3], rows[:, 3], readings + rows[:, 4], rows[:, 5])
        return of_headings(begin, rows[:, 7:], rows[:, 6])


@lru_cache(maxsize=4)
def _chain(form: str) -> Kernel:
    def ends(x: Any, position: Any, rotation: Any, reading: Any) -> tuple[Any, Any]:
        angle, zero, arm, rod = ex.components(x[3:7])
        hang = reading + zero
        # of the measured rotation only its heading counts: an error of its tilt has no part in the first order
        end = position[0:2] + rotation[0:2, 0:2] @ x[7:9]
        out = arm * ex.cos(hang)
        elbow = x[0:3] + ex.vector(out * ex.cos(angle), out * ex.sin(angle), -arm * ex.sin(hang))
        d = ex.vector(end, position[2]) - elbow
        return d, rod

    return rod_trace(ends, form, "turning_arm", 9)
