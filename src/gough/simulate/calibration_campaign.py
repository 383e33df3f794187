"""A Gough platform off its blueprint, measured by a camera: configurations, runs and images as in [DACP06, §2.3]."""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import require
from gough.core.rigid import RigidMotion
from gough.core.rotations import exp
from gough.data import Poses
from gough.robots import GoughPlatform, PlatformPoses

TRAVEL = 0.14
"""m: the legs of the DeltaLab platform are 345 to 485 mm long [DACP06, §2.2]."""
_POSITION = np.array([6.33e-5, 2.30e-5, 6.08e-5])
_ANGLE = np.radians([9.23e-3, 1.19e-2, 8.94e-3])
_READING = 1e-3 * np.array([0.0077, 0.0127, 0.0117, 0.0102, 0.0118, 0.0190])


@dataclass(frozen=True, eq=False)
class PoseNoise(ArrayValue):
    """Standard deviations of what a camera and the legs' sensors say: position in m, left rotation vector in rad.

    Errors of a run are common to all its images: the robot returns to a configuration only so well.

    Examples:
        >>> noise = PoseNoise.of_the_paper()
        >>> (1e6 * noise.total[:3]).round(1), (1e6 * noise.reading).round(1)
        (array([63.3, 23. , 60.8]), array([ 7.7, 12.7, 11.7, 10.2, 11.8, 19. ]))
    """

    image: Array
    """(6,) of one image."""
    run: Array
    """(6,) of a run."""
    reading: Array
    """(legs) of the readings of a run, m."""

    def __post_init__(self) -> None:
        for name in ("image", "run", "reading"):
            values = array(getattr(self, name), name, ndim=1)
            require(bool((values >= 0).all()), f"the standard deviations of {name} must not be negative")
            object.__setattr__(self, name, values)
        require(len(self.image) == len(self.run) == 6, "a pose has six errors: three of position, three of rotation")

    @classmethod
    def of_the_paper(cls) -> "PoseNoise":
        """[DACP06, Tables 2 and 3]; the paper does not part its variances: half is the images', half the runs'."""
        half = np.concatenate([_POSITION, _ANGLE]) / np.sqrt(2)
        return cls(half, half, _READING)

    @property
    def total(self) -> Array:
        """(6,) of one image of some run."""
        return np.sqrt(self.image**2 + self.run**2)


class Faults(NamedTuple):
    """What the model of a robot may leave out, and what may go wrong with a measurement.

    Examples:
        >>> Faults(backlash=5e-4).words
        'backlash of 0.5 mm'
        >>> Faults().words
        'no fault'
    """

    backlash: float = 0.0
    """m of play in each leg, taken up on one side or the other by the load: alike whenever a configuration returns."""
    scale: float = 0.0
    """Relative error of the camera's metre."""
    bad_pose: int | None = None
    """Configuration whose positions are off by `shift` in all images: dots that were taken for others."""
    shift: float = 5e-3

    @property
    def words(self) -> str:
        """What is wrong, in words."""
        parts = []
        if self.backlash:
            parts.append(f"backlash of {1e3 * self.backlash:g} mm")
        if self.scale:
            parts.append(f"a scale error of {100 * self.scale:g} %")
        if self.bad_pose is not None:
            parts.append(f"pose {self.bad_pose} off by {1e3 * self.shift:g} mm")
        return " and ".join(parts) or "no fault"


NO_FAULT = Faults()


def extremal_readings(travel: float = TRAVEL, legs: int = 6) -> Array:
    """The 2ⁿ configurations with each leg at either end of its travel: the most informative poses [DACP06, §2.3.2].

    Examples:
        >>> extremal_readings().shape, extremal_readings(0.1, 2).tolist()
        ((64, 6), [[0.0, 0.0], [0.0, 0.1], [0.1, 0.0], [0.1, 0.1]])
    """
    return np.array(list(product([0.0, travel], repeat=legs)))


@dataclass(frozen=True, eq=False)
class MeasuredCampaign(ArrayValue):
    """What was recorded, image by image, and the truth behind it."""

    poses: Poses
    """Measured poses of the target in the camera's frame, with configuration and run of each image."""
    validation: Poses
    """Measured poses of other configurations, which take no part in a calibration."""
    truth: Array
    """The robot's parameters with a in the camera's frame and b in the target's: what a calibration can find."""
    exact: PlatformPoses
    """Poses of the target in the camera's frame at each configuration by the model, without errors and faults."""
    readings: Array
    """(configurations, legs): what exact sensors would read there."""


@dataclass(frozen=True, eq=False)
class CalibrationCampaign(ArrayValue):
    """A robot off its blueprint, where a camera stands, and what is measured how often.

    Examples:
        >>> campaign = CalibrationCampaign.deltalab(np.random.default_rng(1))
        >>> measured = campaign.run(np.random.default_rng(2))
        >>> len(measured.poses), len(measured.validation)
        (7040, 6400)
        >>> from gough.data import averaged
        >>> poses, repeatability = averaged(measured.poses)
        >>> len(poses), bool(repeatability.between[0] < 6.4e-5)
        (64, True)
    """

    robot: GoughPlatform
    """The blueprint."""
    geometry: Array
    """The robot's own parameters, in the blueprint's frames."""
    configurations: Array
    """(K, legs) readings to calibrate by."""
    others: Array
    """(V, legs) readings to validate by."""
    camera: RigidMotion
    """The base in the camera's frame: from base coordinates to the camera's."""
    target: RigidMotion
    """The platform in the target's frame."""
    noise: PoseNoise = field(default_factory=PoseNoise.of_the_paper)
    faults: Faults = NO_FAULT
    runs: int = 11
    """How often every configuration is visited; one time less to validate by [DACP06, §2.3.2]."""
    images: int = 10
    """In each run. (The paper counts their average as the eleventh: it adds no information.)"""

    def __post_init__(self) -> None:
        require(len(self.noise.reading) == len(self.robot.base), "the noise states one reading for each leg")
        require(self.runs >= 2 and self.images >= 1, "a campaign has two runs or more, of an image or more")
        bad = self.faults.bad_pose
        known = bad is None or 0 <= bad < len(self.configurations)
        require(known, f"there is no pose {bad} to be bad: the campaign has {len(self.configurations)}")

    @classmethod
    def deltalab(
        cls,
        rng: np.random.Generator,
        *,
        spread: float = 2.5e-3,
        faults: Faults = NO_FAULT,
        runs: int = 11,
        images: int = 10,
    ) -> "CalibrationCampaign":
        """The DeltaLab platform of the paper with each parameter `spread` (m, 1 σ) off, in 64 + 64 configurations.

        The camera looks down at the platform from above; its target is screwed on roughly in the middle.
        """
        robot = GoughPlatform.deltalab()
        geometry = robot.nominal + spread * rng.standard_normal(len(robot.names))
        others = rng.uniform(0.0, TRAVEL, (64, 6))
        down = exp(np.array([np.pi, 0.0, 0.0])) @ exp(np.array([0.0, 0.0, 0.7]))
        camera = RigidMotion(exp(0.05 * rng.standard_normal(3)) @ down, np.array([0.02, -0.03, 0.95]))
        target = RigidMotion(exp(np.array([0.02, -0.01, 0.5])), np.array([0.01, -0.02, -0.015]))
        return cls(
            robot, geometry, extremal_readings(), others, camera, target, faults=faults, runs=runs, images=images
        )

    @cached_property
    def truth(self) -> Array:
        """The parameters with a in the camera's frame and b in the target's."""
        rows = self.robot.rows(self.geometry).copy()
        rows[:, :3], rows[:, 3:6] = self.camera.of(rows[:, :3]), self.target.of(rows[:, 3:6])
        return self.robot.parameters(rows)

    def run(self, rng: np.random.Generator) -> MeasuredCampaign:
        """Measure everything once."""
        poses = self._measured(rng, self.configurations, self.runs)
        bad = self.faults.bad_pose
        if bad is not None:
            shifted = poses.position.copy()
            shifted[poses.configuration == bad] += [0.0, 0.0, self.faults.shift]
            poses = _replaced(poses, shifted)
        validation = self._measured(rng, self.others, self.runs - 1)
        exact = self.seen(self.robot.forward(self.geometry, self.configurations))
        return MeasuredCampaign(poses, validation, self.truth, exact, self.configurations)

    def _measured(self, rng: np.random.Generator, readings: Array, runs: int) -> Poses:
        """Each configuration in every run, each run in every image; a run's reading is that of all its images."""
        K, legs = readings.shape
        play = self.faults.backlash / 2 * rng.choice([-1.0, 1.0], (K, legs))
        seen = self.seen(self.robot.forward(self.geometry, readings + play))
        of = np.tile(np.repeat(np.arange(K), self.images), runs)
        run = np.repeat(np.arange(runs), K * self.images)
        visit = run * K + of
        common = (self.noise.run * rng.standard_normal((runs * K, 6)))[visit]
        errors = common + self.noise.image * rng.standard_normal((len(of), 6))
        read = np.tile(readings, (runs, 1)) + self.noise.reading * rng.standard_normal((runs * K, legs))
        position = (seen.position[of] + errors[:, :3]) * (1 + self.faults.scale)
        rotation = exp(errors[:, 3:]) @ seen.rotation[of]
        return Poses(position, rotation, read[visit], configuration=of, run=run)

    def seen(self, poses: PlatformPoses) -> PlatformPoses:
        """Poses of the platform in the base's frame, as poses of the target in the camera's."""
        moved = self.camera @ RigidMotion(poses.rotation, poses.position) @ self.target.inverse()
        return PlatformPoses(moved.t, moved.R)


def _replaced(poses: Poses, position: Array) -> Poses:
    return Poses(position, poses.rotation, poses.readings, configuration=poses.configuration, run=poses.run)
