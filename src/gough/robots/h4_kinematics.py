"""The H4 for calibration: four arms, four pairs of rods, a crossbar that turns about z."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.robots._h4_equations import SIDES
from gough.robots._skeleton import directions
from gough.robots.arm_chain import TurningArms
from gough.robots.h4 import H4, H4Geometry
from gough.robots.kinematics import PlatformPoses, heading


@dataclass(frozen=True, eq=False)
class H4Kinematics(TurningArms):
    """The geometry of an H4, 9 parameters a chain: motor (3), angle, zero, arm, rod, joint (2).

    The pose is that of the crossbar; of a measured orientation only the heading about z counts. All 36 parameters are
    found from poses with different headings; `joint` is unknown along with the heading's zero, so that the crossbar's
    mark may point anywhere. At the blueprint it is the robot of `H4`, whose parameters are those of its dynamics.

    Examples:
        >>> robot = H4Kinematics()
        >>> readings = robot.inverse(robot.nominal, [0.05, 0.02, -0.4], heading(0.3))
        >>> readings.round(4)
        array([[0.2615, 0.5982, 0.4334, 0.5549]])
        >>> bool(abs(readings - H4().inverse([0.05, 0.02, -0.4, 0.3])).max() < 1e-12)
        True
        >>> robot.forward(robot.nominal, readings).position.round(6)
        array([[ 0.05,  0.02, -0.4 ]])
    """

    geometry: H4Geometry = field(default_factory=H4Geometry)
    name: str = "H4"

    def __post_init__(self) -> None:
        assert len(self.home(self.nominal)) == 2  # InputError where it cannot be assembled

    @property
    def blueprint(self) -> Array:
        """The parameters of the geometry, chain by chain: (4, 9)."""
        of = self.geometry
        end = np.array([[of.h * side, 0.0, 0.0] for side in SIDES])  # [PRV03i, eqs. (3), (4)] without d
        motor = end + of.base * directions(of.alpha)[0]  # [PRV03i, eqs. (7), (8)] without d
        lengths = np.tile([0.0, of.arm, of.rod], (4, 1))
        return np.column_stack([motor, of.alpha, lengths, end[:, :2]])

    def home(self, parameters: Any) -> PlatformPoses:
        """The pose of `H4.home`, whatever the parameters."""
        assert parameters is not None
        x, y, z, theta = H4(self.geometry).home
        return PlatformPoses(np.array([[x, y, z]]), heading(theta)[None])
