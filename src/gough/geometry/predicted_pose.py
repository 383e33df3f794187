"""What errors of a robot's parameters do to the poses that are predicted from its readings."""

import numpy as np

from gough.core.arrays import Array, Mask
from gough.core.errors import InputError
from gough.robots.kinematics import KinematicModel, PlatformPoses, all_derivatives, evaluate_chains


def pose_sensitivity(model: KinematicModel, parameters: Array, poses: PlatformPoses) -> Array:
    """∂pose/∂θ (N, 6, p) at fixed readings: position in m and left rotation vector in rad, by each parameter.

    From f(θ, pose) = 0 of all chains: −(∂f/∂pose)⁻¹ ∂f/∂θ. Rows of freedoms that the platform lacks are zero; in a
    singularity all are NaN.

    Examples:
        >>> from gough.robots import LinearDelta
        >>> printer = LinearDelta()
        >>> S = pose_sensitivity(printer, printer.nominal, PlatformPoses(np.zeros((1, 3)), np.eye(3)[None]))
        >>> S[0, 2, :3].round(6)  # of z, by the three endstops
        array([0.333333, 0.333333, 0.333333])
    """
    readings = model.inverse(parameters, poses.position, poses.rotation)
    values = evaluate_chains(all_derivatives(model.chain_kernel("length")), model.columns, parameters, poses, readings)
    J = np.zeros((*readings.shape, len(model.names)))
    for chain, columns in enumerate(model.columns):
        J[:, chain, columns] = values["by_x"][:, chain]
    free = list(model.freedoms)
    result = np.zeros((len(readings), 6, len(model.names)))
    by_pose = values["by_pose"][..., free]
    singular = np.linalg.det(by_pose) == 0
    by_pose[singular] = np.nan
    result[:, free] = -np.linalg.solve(by_pose, J)
    return result


def pose_sigma(sensitivity: Array, covariance: Array) -> tuple[Array, Array]:
    """Standard deviations of predicted positions (N,) in m and orientations (N,) in rad, whatever their direction.

    The root of the summed variances of the components: the root mean square length of the error.

    Examples:
        >>> position, orientation = pose_sigma(np.eye(6)[None], np.diag([9.0, 16.0, 0.0, 1.0, 0.0, 0.0]))
        >>> position.tolist(), orientation.tolist()
        ([5.0], [1.0])
    """
    variances = np.einsum("nij,nij->ni", sensitivity @ covariance, sensitivity)
    variances = np.maximum(variances, 0.0)
    return np.sqrt(variances[:, :3].sum(axis=1)), np.sqrt(variances[:, 3:].sum(axis=1))


def readings_where_reached(model: KinematicModel, parameters: Array, poses: PlatformPoses) -> tuple[Array, Mask]:
    """Readings (N, chains) at poses, NaN where out of reach, and which poses are reached.

    A robot refuses a whole batch for one pose out of reach: halves are tried until the culprits stand alone.

    Examples:
        >>> from gough.robots import LinearDelta
        >>> poses = PlatformPoses(np.array([[0.0, 0.0, 0.1], [9.0, 0.0, 0.1]]), np.repeat(np.eye(3)[None], 2, axis=0))
        >>> readings_where_reached(LinearDelta(), LinearDelta().nominal, poses)[1].tolist()
        [True, False]
    """
    n = len(poses.position)
    try:
        readings = model.inverse(parameters, poses.position, poses.rotation)
    except InputError:
        if n == 1:
            return np.full((1, len(model.chains)), np.nan), np.zeros(1, dtype=bool)
        parts = (slice(None, n // 2), slice(n // 2, None))
        halves = [
            readings_where_reached(model, parameters, PlatformPoses(poses.position[part], poses.rotation[part]))
            for part in parts
        ]
        return np.concatenate([half[0] for half in halves]), np.concatenate([half[1] for half in halves])
    return readings, np.asarray(np.isfinite(readings).all(axis=1))
