"""The model that is watched: what an identification says about the robot, as columns of its regressor."""

from dataclasses import dataclass, field, replace

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.errors import InputError, require
from gough.core.text import listed
from gough.dynamics.effects.payload import platform_parameters
from gough.estimates import Claim, Estimate
from gough.export.effects import ExportedEffects
from gough.export.model import IdentifiedDynamics, MotionRange
from gough.region import Box, ConfidenceEllipsoid
from gough.robots.controller import Controllable
from gough.robots.following import Columns, FollowedRegressor
from gough.robots.mechanism import MechanismModel
from gough.robots.mechanism.closed_chain import ClosedChain
from gough.robots.model import DynamicModel
from gough.unknowns import Unknowns

_RUBBING = ("stribeck_", "asymmetry_", "dry_", "viscous_")
"""Beginnings of the names of parameters of effects that are friction of the drives."""
_SYMMETRIC = ("x", "y", "z", "center", "point")
"""Symmetries of a platform that a payload does not have."""


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
    carrier: DynamicModel
    """The robot with a platform that may carry a mass anywhere: its parameters are the robot's and more."""
    columns: Columns | None = field(default=None, repr=False)
    """Computes the columns where the model includes effects."""

    @classmethod
    def of(cls, dynamics: IdentifiedDynamics, prior: Box | None = None) -> "WatchedModel":
        """The model of an identification.

        Args:
            dynamics: Its answer.
            prior: The admitted box of the unknowns; default: that of the guaranteed set of the identification.

        Raises:
            InputError: the model includes effects that depend on the motion before, or that the study should state, or
                its robot has no equations for a controller.
        """
        robot = dynamics.robot
        if not isinstance(robot, Controllable):
            raise InputError(f"a robot of type {type(robot).__name__} has no equations for a controller")
        dynamics = _at_instants(dynamics)
        title, estimate = dynamics.estimate_of()
        carrier = carrying(robot)
        masses, inertial = platform_parameters(carrier)
        units = dict(zip(carrier.names, carrier.units, strict=True))
        payload = (*masses[:1], *(name for name in inertial if units[name] == "kg·m"))
        effects = dynamics.effect_values()
        wanted = {*dynamics.columns, *dynamics.fixed, *payload}
        assert isinstance(carrier, Controllable)
        efforts = carrier.controller_equations().efforts
        assert efforts is not None
        rubbing = {name for name, is_it in zip(carrier.names, efforts.is_friction, strict=True) if is_it}
        rubbing |= {name for name in effects if name.startswith(_RUBBING)}
        names = (*(name for name in carrier.names if name in wanted), *effects)
        every = dict(zip(robot.names, dynamics.robot_parameters().tolist(), strict=True)) | effects
        admitted = prior or _guaranteed(dynamics)
        unknowns = estimate.unknowns
        box = Box.unbounded(len(unknowns)) if admitted is None else admitted
        require(len(box) == len(unknowns), f"the admitted box has {len(box)} sides for {len(unknowns)} unknowns")
        return cls(
            robot=robot,
            names=names,
            values=np.array([every.get(name, 0.0) for name in names]),
            unknown=np.array([names.index(name) for name in dynamics.columns]),
            unknowns=Unknowns(unknowns.names, unknowns.units, estimate.value, box),
            covariance=_covariance(estimate),
            known=np.array([names.index(name) for name in dynamics.fixed], dtype=np.int64),
            payload=np.array([names.index(name) for name in payload], dtype=np.int64),
            friction=np.array([k for k, name in enumerate(names) if name in rubbing], dtype=np.int64),
            seen=dynamics.seen,
            method=title,
            has_proof=admitted is not None,
            carrier=carrier,
            columns=_with_effects(dynamics, carrier, names) if effects else None,
        )

    def regressor(self) -> FollowedRegressor:
        """Evaluates the columns along a stream."""
        return FollowedRegressor(self.carrier, self.names, self.columns)

    @property
    def n(self) -> int:
        """Number of actuators."""
        return len(self.robot.actuators)


def carrying(robot: DynamicModel) -> DynamicModel:
    """The robot with a platform whose center of mass may be anywhere, so that a payload's first moments have columns.

    Robots that are no mechanism of bodies are returned as they are: their platforms translate, or their payload is a
    point, and only its mass has efforts.

    Examples:
        >>> from gough.robots import Hexapod
        >>> sorted({*carrying(Hexapod()).names} - {*Hexapod().names})
        ['Ixy_platform', 'Ixz_platform', 'Iyz_platform', 'sx_platform', 'sy_platform']
    """
    if not isinstance(robot, ClosedChain):
        return robot
    mechanism = robot.mechanism
    name = mechanism.platform.body
    alone = all(each.members == (name,) for each in robot.parameters if name in each.members)
    if not alone or not any(each.name == name and each.inertia.symmetry in _SYMMETRIC for each in mechanism.bodies):
        return robot
    bodies = tuple(
        replace(each, inertia=replace(each.inertia, symmetry="none")) if each.name == name else each
        for each in mechanism.bodies
    )
    return MechanismModel(replace(mechanism, bodies=bodies), robot.variant, least_margin=robot.least_margin)


def _at_instants(dynamics: IdentifiedDynamics) -> IdentifiedDynamics:
    """The model with those of its effects that are part of the robot at every instant; others are refused.

    A payload of one recording is not part of the robot: sets are their shadows on the other parameters.
    """
    for effect in dynamics.effects:
        require(
            not effect.correction,
            f"the model includes {effect.title}, which a watch cannot compute. {effect.correction.rstrip('.')}",
        )
    late = [effect.title for effect in dynamics.effects if effect.has_memory]
    require(
        not late,
        f"the model includes {listed(late)}, which depends on time or on the motion before: watch the results of a "
        "study without it in [effects] (--results)",
    )
    kept = tuple(effect for effect in dynamics.effects if effect.is_default)
    if len(kept) == len(dynamics.effects):
        return dynamics
    left = {name for name in dynamics.effect_units if " in recording " in name}
    own = [k for k, name in enumerate(dynamics.columns) if name not in left]
    return replace(
        dynamics,
        columns=tuple(dynamics.columns[k] for k in own),
        estimates={title: each.marginal(*(each.names[k] for k in own)) for title, each in dynamics.estimates.items()},
        effects=kept,
        effect_units={name: unit for name, unit in dynamics.effect_units.items() if name not in left},
    )


def _with_effects(dynamics: IdentifiedDynamics, carrier: DynamicModel, names: tuple[str, ...]) -> Columns:
    assert isinstance(carrier, Controllable)
    kernel = ExportedEffects(replace(dynamics, robot=carrier), carrier.controller_equations()).regressor(names)
    if len(kernel.inputs) == 3:
        return kernel
    return lambda s, dq, ddq: kernel(s, dq, ddq, 1.0)  # the reference of gains contains friction


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
