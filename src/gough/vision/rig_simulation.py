"""Simulated sightings of a rig: what its cameras would see, with noise, to plan a rig or to test its methods."""

from collections.abc import Mapping, Sequence

import numpy as np

from gough.core.errors import require
from gough.core.rigid import IDENTITY, RigidMotion
from gough.vision.camera import expected
from gough.vision.detector import ImageRefused, Sighting
from gough.vision.pose import pose_of
from gough.vision.rig import Rig, RigSighting, Sightings

_MARGIN = 8.0
"""Pixels between a target and the edge of the image."""
_FACING = 0.25
"""Cosine of the angle between a target's normal and the ray to the camera below which it is not found."""


def simulate_sightings(
    truth: Rig,
    poses: Sequence[RigidMotion],
    noise: float,
    rng: np.random.Generator,
    *,
    known: Rig | None = None,
    moving: Mapping[tuple[int, int], RigidMotion] | None = None,
) -> Sightings:
    """What the cameras of a rig see of its targets, with normal errors of the centroids.

    A target is seen where it is completely in the image and faces the camera.

    Args:
        truth: The rig with true lenses, dots and places.
        poses: The platform in the world in each frame.
        noise: Standard deviation of a coordinate of a centroid, pixels.
        rng: Random numbers.
        known: The same rig as its calibration has it, by which poses are computed; the true one by default.
        moving: The world in moving cameras, by camera and frame.

    Examples:
        >>> from gough.vision import Camera, RigCamera, RigTarget, design_target
        >>> lens = Camera((640, 480), [600.0, 600.0], [319.5, 239.5])
        >>> rig = Rig((RigCamera("left", lens),), (RigTarget("plate", design_target(0.2, 0.2)),))
        >>> tilted = np.array([[0.8, 0.0, -0.6], [0.0, -1.0, 0.0], [-0.6, 0.0, -0.8]])
        >>> there, behind = (RigidMotion(tilted, np.array([0.0, 0.0, z])) for z in (0.5, -0.5))
        >>> len(simulate_sightings(rig, [there, behind], 0.01, np.random.default_rng(1)).seen)
        1
    """
    require(noise > 0, "the noise of centroids must be positive, in pixels")
    known, moving = truth if known is None else known, moving or {}
    seen = []
    for i, G in enumerate(poses):
        for j, camera in enumerate(truth.cameras):
            X = moving.get((j, i), camera.world)
            for k, sheet in enumerate(truth.targets):
                Z = X @ (IDENTITY if sheet.is_fixed else G) @ sheet.place
                if Z.t[2] <= 0 or -(Z.R[:, 2] @ Z.t) < _FACING * np.linalg.norm(Z.t):
                    continue
                pixels = expected(camera.camera, sheet.target, Z.R, Z.t)
                inside = (pixels > _MARGIN) & (pixels < np.array(camera.camera.size) - 1 - _MARGIN)
                if not inside.all():
                    continue
                m = len(pixels)
                found = Sighting(np.arange(m), pixels + rng.normal(0, noise, (m, 2)), np.full(m, noise))
                try:
                    pose = pose_of(found, known.targets[k].target, known.cameras[j].camera)
                except ImageRefused:
                    continue
                seen.append(RigSighting(i, j, k, pose))
    return Sightings(tuple(f"c{i:03d}" for i in range(len(poses))), tuple(seen))
