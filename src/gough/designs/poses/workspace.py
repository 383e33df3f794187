"""How accurate predicted poses will be over the workspace, for a set of poses to calibrate from."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.designs.poses.candidates import Candidates
from gough.designs.poses.information import PoseInformation
from gough.geometry.geometric import SCALE
from gough.geometry.predicted_pose import pose_sensitivity, pose_sigma
from gough.robots.kinematics import KinematicModel, PlatformPoses

_POSES = 200


@dataclass(frozen=True)
class Accuracy:
    """Standard deviations of poses that are predicted from exact readings, over the workspace."""

    position: float
    """Root mean square over the workspace, m."""
    position_worst: float
    orientation: float
    """rad; zero where the platform does not turn."""
    orientation_worst: float


@dataclass(frozen=True, eq=False)
class Workspace(ArrayValue):
    """Poses that stand for the workspace, and how they depend on what is identified."""

    poses: PlatformPoses
    sensitivity: Array
    """(N, 6, p): by all the robot's parameters."""
    unseen: float
    """Largest share of a pose's dependence on the parameters that no candidate determines: 0 if all is well."""

    def accuracy(self, information: PoseInformation, M: Array) -> Accuracy:
        """Accuracy of poses predicted after a calibration whose information is M."""
        position, orientation = self.sigma(information, M)
        rms = [float(np.sqrt((each**2).mean())) for each in (position, orientation)]
        return Accuracy(rms[0], float(position.max()), rms[1], float(orientation.max()))

    def sigma(self, information: PoseInformation, M: Array) -> tuple[Array, Array]:
        """Standard deviations of positions (N,) in m and orientations (N,) in rad."""
        inverse = np.asarray(np.linalg.inv(M), dtype=np.float64)
        return pose_sigma(information.whitened(self.sensitivity), inverse)


def workspace_of(
    model: KinematicModel, parameters: Array, candidates: Candidates, information: PoseInformation
) -> Workspace:
    """A workspace of up to 200 of the candidates, those within the ranges before those at their ends."""
    inner = np.flatnonzero(~candidates.is_extremal)
    rows = inner if len(inner) >= 20 else np.arange(len(candidates))
    rows = rows[:: -(-len(rows) // _POSES)]
    position = candidates.poses.position[rows]
    rotation = np.repeat(np.eye(3)[None], len(rows), axis=0)
    rotation = rotation if candidates.poses.rotation is None else candidates.poses.rotation[rows]
    poses = PlatformPoses(position, rotation)
    S = pose_sensitivity(model, parameters, poses)
    return Workspace(poses, S, _unseen(S, information, model.names))


def _unseen(S: Array, information: PoseInformation, names: tuple[str, ...]) -> float:
    """How much poses depend on parameters beyond what is identified, as a share of their dependence on all.

    Poses that depend on the identified combinations alone have, for a parameter that was regrouped, the derivative that
    those combinations give it. They do not depend on the scale of an instrument.
    """
    identified = information.identifiability
    everything = (*names, SCALE)
    S = np.concatenate([S, np.zeros((*S.shape[:-1], 1))], axis=-1)
    by = S[..., [everything.index(name) for name in identified.names]]
    regrouped = S[..., list(information.columns)] @ np.array([base.coefficients for base in identified.base])
    gap, whole = (np.linalg.norm(each, axis=(0, 1)) for each in (by - regrouped, np.abs(by) + np.abs(regrouped)))
    return float((gap / np.maximum(whole, 1e-300)).max(initial=0.0))
