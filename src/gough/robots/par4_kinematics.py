"""The Par4 for calibration: four arms, four pairs of rods, a platform that is a parallelogram."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.robots._par4_equations import HALVES
from gough.robots._skeleton import directions
from gough.robots.arm_chain import TurningArms
from gough.robots.kinematics import PlatformPoses, heading
from gough.robots.par4 import Par4, Par4Geometry


@dataclass(frozen=True, eq=False)
class Par4Kinematics(TurningArms):
    """The geometry of a Par4, 9 parameters a chain: motor (3), angle, zero, arm, rod, joint (2).

    The pose is that of half 1 of the platform, which legs 3 and 4 hold, with the heading of the bars between the
    halves; of a measured orientation only the heading about z counts. All 36 parameters are found from poses with
    different headings. At the blueprint it is the robot of `Par4`, whose parameters are those of its dynamics.

    Examples:
        >>> robot = Par4Kinematics()
        >>> readings = robot.inverse(robot.nominal, [0.1, 0.2, -0.8], heading(0.5))
        >>> bool(abs(readings - Par4().inverse([0.1, 0.2, -0.8, 0.5])).max() < 1e-12)
        True
        >>> robot.forward(robot.nominal, readings).position.round(6)
        array([[ 0.1,  0.2, -0.8]])
    """

    geometry: Par4Geometry = field(default_factory=Par4Geometry)
    name: str = "Par4"

    def __post_init__(self) -> None:
        assert len(self.home(self.nominal)) == 2  # InputError where it cannot be assembled

    @property
    def blueprint(self) -> Array:
        """The parameters of the geometry, chain by chain: (4, 9)."""
        of = self.geometry
        end = np.array([[0.0, of.h * half, 0.0] for half in HALVES])
        motor = end - [0.0, of.h / 2, 0.0] + of.base * directions(of.alpha)[0]
        lengths = np.tile([0.0, of.arm, of.rod], (4, 1))
        return np.column_stack([motor, of.alpha, lengths, end[:, :2]])

    def home(self, parameters: Any) -> PlatformPoses:
        """The pose of `Par4.home`, whatever the parameters."""
        assert parameters is not None
        x, y, z, theta = Par4(self.geometry).home
        return PlatformPoses(np.array([[x, y, z]]), heading(theta)[None])
