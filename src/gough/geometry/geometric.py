"""Measured poses and a geometric model become a problem: f(x, m) = 0 for each chain of each pose."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import InputError, require
from gough.core.text import counted
from gough.data import Poses
from gough.geometry.chain_equations import ChainEquations
from gough.noise import Gaussian
from gough.problem import Groups, NonlinearProblem
from gough.region import Box, ConfidenceEllipsoid
from gough.robots.kinematics import KinematicModel, all_derivatives
from gough.unknowns import Unknowns, require_prior

SCALE = "scale"
"""The unknown by which measured positions are multiplied."""
_AXES = ("x", "y", "z", "rx", "ry", "rz")
BASE = tuple(f"base_{axis}" for axis in _AXES)
"""Unknowns of the base in the instrument's frame: a shift and a rotation vector, in the base's frame."""
PLATFORM = tuple(f"platform_{axis}" for axis in _AXES)
"""Unknowns of the platform in the target's frame: a shift and a rotation vector, in the platform's frame."""
_TILT = 5.0
"""Degrees by which a robot that turns about z alone may seem to tilt."""


def gain_names(model: KinematicModel) -> tuple[str, ...]:
    """Names of the factors of the readings, chain by chain."""
    return tuple(f"gain {chain}" for chain in model.chains)


def geometric(
    model: KinematicModel,
    poses: Poses,
    *,
    start: Any = None,
    prior: Box | ConfidenceEllipsoid | None = None,
    free: Sequence[str] | None = None,
    form: Literal["squared", "length"] = "squared",
    frames: bool = False,
    scale: bool = False,
    enough: bool = True,
) -> NonlinearProblem:
    """The calibration problem: the model's parameters from poses and readings [DACP06, eq. (3)].

    Noise is stated on what was measured; each step of a method pushes it through the equations where it stands,
    Σ_F = J_M Σ_M J_Mᵀ. (The weights printed in [DACP06, §3.2], (∂F/∂M) Σ_M⁻¹, are no inverse of a covariance.) All
    chains of a pose share its error, so that Σ_F is full. Without stated noise all rows count alike: then the form
    "length" is the fair one.

    Args:
        model: The robot.
        poses: What was measured. A pose without covariance counts as exact if the readings' noise is stated, and the
            reverse.
        start: Values to begin with; the blueprint's by default.
        prior: Bounds or a belief on the parameters.
        free: Names of the unknowns to find; the others stay at `start`. All by default.
        form: Of the equations.
        frames: Whether gains of readings and the frames are unknowns too (`gain_names`, `BASE`, `PLATFORM`); `free`
            names those to find.
        scale: Also find the factor by which measured positions must be multiplied to be metres.
        enough: Refuse fewer equations than unknowns; false where a belief that is added later makes up for them.

    Examples:
        >>> from gough import estimate
        >>> from gough.methods import GaussNewton
        >>> from gough.robots import LinearDelta
        >>> printer, rng = LinearDelta(), np.random.default_rng(1)
        >>> p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (30, 3))
        >>> poses = Poses(p, None, printer.inverse(printer.nominal, p)).with_noise(1e-5, readings=1e-6)
        >>> problem = geometric(printer, poses, start=printer.nominal + 0.002)
        >>> round(estimate(problem, GaussNewton())["radius"], 6)
        0.16
    """
    require_fit(model, poses)
    theta = array(model.nominal if start is None else start, "start", ndim=1)
    p = len(model.names)
    require(len(theta) == p, f"{model.name} has {p} parameters, but start has {len(theta)} values")
    names, units = model.names, model.units
    if frames:
        gains = gain_names(model)
        names = (*names, *gains, *BASE, *PLATFORM)
        units = (*units, *("" for _ in gains), *(("m",) * 3 + ("rad",) * 3) * 2)
        theta = np.append(theta, np.zeros(len(gains) + 12))
    if scale:
        names, units, theta = (*names, SCALE), (*units, ""), np.append(theta, 1.0)
    unknowns = Unknowns(names, units, theta, _fixed_prior(prior, free, theta, names, p))
    if enough:
        require_enough(unknowns, poses, model)
    measured, noise, exact = measured_of(model, poses)
    rotation = np.repeat(np.eye(3)[None], len(poses), axis=0) if poses.rotation is None else poses.rotation
    equations = ChainEquations(
        all_derivatives(model.chain_kernel(form)),
        model.columns,
        p,
        rotation,
        poses.position if exact == "poses" else None,
        poses.readings if exact == "readings" else None,
        model.has_orientation,
        frames,
        scale,
    )
    return NonlinearProblem(equations, measured, unknowns, noise, Groups(model.chains, is_series=False))


def require_fit(model: KinematicModel, poses: Poses) -> None:
    """Refuse poses that are not of such a robot."""
    n = len(model.chains)
    require(poses.n_chains == n, f"{model.name} has {n} chains, but each pose has {poses.n_chains} readings")
    if model.has_orientation and poses.rotation is None:
        raise InputError(f"the {model.name} turns: its calibration needs measured orientations, not positions alone")
    if model.has_orientation and poses.rotation is not None and 3 not in model.freedoms:
        tilt = np.degrees(np.arccos(np.clip(poses.rotation[:, 2, 2], -1.0, 1.0)))
        worst = int(tilt.argmax())
        require(
            bool(tilt[worst] < _TILT),
            f"pose {poses.label(worst)} is tilted by {tilt[worst]:.3g}°, but the {model.name} turns about z only: its "
            "poses are probably in an instrument's frame; bring them into the robot's with robot_frame(), or "
            'frames = "instrument" in a study',
        )


def require_enough(unknowns: Unknowns, poses: Poses, model: KinematicModel) -> None:
    """Refuse fewer equations than unknowns, and nothing to find."""
    wanted = int((~unknowns.is_fixed).sum())
    require(wanted > 0, "nothing is left to find: every parameter is fixed")
    rows = len(poses) * len(model.chains)
    if rows < wanted and isinstance(unknowns.prior, Box):
        need = -(-wanted // len(model.chains))
        raise InputError(
            f"{counted(len(poses), 'pose')} give{'s' * (len(poses) == 1)} {rows} equations for {wanted} "
            f"unknowns: measure at least {need} poses, better {2 * need}, or fix some parameters"
        )


def _fixed_prior(
    prior: Box | ConfidenceEllipsoid | None,
    free: Sequence[str] | None,
    theta: Array,
    names: tuple[str, ...],
    n_parameters: int,
) -> Box | ConfidenceEllipsoid | None:
    """The prior of all unknowns, frames and scale included, with those that are not free fixed at their values."""
    axes = len(theta if prior is None else require_prior(prior))
    require(axes in {n_parameters, len(names)}, f"{n_parameters} parameters have a prior with {axes} axes")
    extra = len(names) - axes
    if extra and isinstance(prior, Box):
        open_sides = np.full(extra, np.inf)
        prior = Box(np.append(prior.lower, -open_sides), np.append(prior.upper, open_sides))
    elif extra and isinstance(prior, ConfidenceEllipsoid):
        raise InputError(
            "a belief on the parameters cannot be combined with an unknown scale or unknown frames: give bounds"
        )
    if free is None:
        return prior
    require(not isinstance(prior, ConfidenceEllipsoid), "either a belief on all parameters, or some of them free")
    known = Unknowns(names)
    chosen = [known.index(name) for name in free]
    lower, upper = theta.copy(), theta.copy()
    lower[chosen] = -np.inf if prior is None else prior.lower[chosen]  # type: ignore[union-attr]
    upper[chosen] = np.inf if prior is None else prior.upper[chosen]  # type: ignore[union-attr]
    return Box(lower, upper)


def measured_of(model: KinematicModel, poses: Poses) -> tuple[Array, Gaussian, str]:
    """What was measured (N, q), its noise, and which part of it counts as exact."""
    size = 6 if model.has_orientation else 3
    pose = np.hstack([poses.position, np.zeros((len(poses), size - 3))])
    C, s = poses.covariance, poses.reading_sigma
    if C is not None and not model.has_orientation:
        C = C[..., :3, :3]
    if C is None and s is None:
        return np.hstack([pose, poses.readings]), Gaussian(), ""
    if s is None:
        return pose, Gaussian(C), "readings"
    variances = s[..., None] ** 2 * np.eye(s.shape[-1])
    if C is None:
        return poses.readings, Gaussian(variances), "poses"
    n = poses.n_chains
    by_pose = C.ndim == 3 or variances.ndim == 3
    whole = np.zeros((len(poses), size + n, size + n) if by_pose else (size + n, size + n))
    whole[..., :size, :size] = C
    whole[..., size:, size:] = variances
    return np.hstack([pose, poses.readings]), Gaussian(whole), ""
