"""The model that is watched: what an identification says about the robot, as columns of its regressor."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.errors import InputError, require
from gough.dynamics.effects.payload import platform_parameters
from gough.estimates import Claim, Estimate
from gough.export.model import IdentifiedDynamics, MotionRange
from gough.region import Box, ConfidenceEllipsoid
from gough.robots.controller import Controllable
from gough.robots.following import FollowedRegressor
from gough.robots.model import DynamicModel
from gough.unknowns import Unknowns


@dataclass(frozen=True, eq=False)
class WatchedModel:
    """An identified robot, with the columns of the regressor that a watch needs."""

    robot: DynamicModel
    names: tuple[str, ...]
    """Parameters whose columns are computed."""
    values: Array
    """(names,) values that have the efforts of the estimate; 0 for those that are part of combinations."""
    unknown: Integers
    """Columns that multiply the unknowns of the estimate."""
    unknowns: Unknowns
    """The unknowns, with the estimate as nominal values and the admitted box as prior."""
    covariance: Array
    """Of the unknowns' errors; zero where the estimate has none."""
    known: Integers
    """Columns whose parameters are known, and no unknowns."""
    payload: Integers
    """Columns of the platform's mass, and of its first moments where the model has them."""
    friction: Integers
    """Columns of friction."""
    seen: MotionRange
    method: str
    """The method of the estimate."""
    has_proof: bool
    """Whether the admitted box is a guaranteed set of the identification."""

    @classmethod
    def of(cls, dynamics: IdentifiedDynamics, prior: Box | None = None) -> "WatchedModel":
        """The model of an identification.

        Args:
            dynamics: Its answer.
            prior: The admitted box of the unknowns; default: that of the guaranteed set of the identification.

        Raises:
            InputError: the model includes effects, or its robot has no equations for a controller.
        """
        robot = dynamics.robot
        if dynamics.effects:
            named = ", ".join(effect.name for effect in dynamics.effects)
            raise InputError(
                f"the model includes effects ({named}), which depend on a motion as a whole: watch a model without "
                "[effects], or with the robot's own variants"
            )
        if not isinstance(robot, Controllable):
            raise InputError(f"a robot of type {type(robot).__name__} has no equations for a controller")
        title, estimate = dynamics.estimate_of()
        masses, inertial = platform_parameters(robot)
        moments = tuple(name for name in inertial if robot.units[robot.names.index(name)] == "kg·m")
        payload = (*masses[:1], *moments)
        wanted = {*dynamics.columns, *dynamics.fixed, *payload}
        equations = robot.controller_equations()
        assert equations.efforts is not None
        rubbing = {name for name, is_it in zip(robot.names, equations.efforts.is_friction, strict=True) if is_it}
        names = tuple(name for name in robot.names if name in wanted)
        every = dict(zip(robot.names, dynamics.robot_parameters().tolist(), strict=True))
        admitted = prior or _guaranteed(dynamics)
        unknowns = estimate.unknowns
        box = Box.unbounded(len(unknowns)) if admitted is None else admitted
        require(len(box) == len(unknowns), f"the admitted box has {len(box)} sides for {len(unknowns)} unknowns")
        return cls(
            robot=robot,
            names=names,
            values=np.array([every[name] for name in names]),
            unknown=np.array([names.index(name) for name in dynamics.columns]),
            unknowns=Unknowns(unknowns.names, unknowns.units, estimate.value, box),
            covariance=_covariance(estimate),
            known=np.array([names.index(name) for name in dynamics.fixed], dtype=np.int64),
            payload=np.array([names.index(name) for name in payload], dtype=np.int64),
            friction=np.array([k for k, name in enumerate(names) if name in rubbing], dtype=np.int64),
            seen=dynamics.seen,
            method=title,
            has_proof=admitted is not None,
        )

    def regressor(self) -> FollowedRegressor:
        """Evaluates the columns along a stream."""
        return FollowedRegressor(self.robot, self.names)

    @property
    def n(self) -> int:
        """Number of actuators."""
        return len(self.robot.actuators)


def _guaranteed(dynamics: IdentifiedDynamics) -> Box | None:
    """The smallest box of a guaranteed set of the identification; None where there is none."""
    boxes = [each.region.hull() for each in dynamics.estimates.values() if each.claim is Claim.PROOF]
    boxes = [box for box in boxes if box.is_bounded and not box.is_empty]
    return min(boxes, key=lambda box: float(np.log(np.maximum(box.width, 1e-300)).sum())) if boxes else None


def _covariance(estimate: Estimate) -> Array:
    region = estimate.region
    if isinstance(region, ConfidenceEllipsoid):
        return np.asarray(region.covariance)
    return np.zeros((len(estimate.value), len(estimate.value)))
