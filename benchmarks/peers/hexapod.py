"""A Gough platform from measured poses: Gaussian errors of poses and readings, or errors within tolerances of one leg.

Leg i joins a on the base and b on the platform: |p + R b − a| = l + reading. Nothing of gough makes these data.
"""

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.peers.task import Task

POSES = 64
SIGMA = {"position": 5e-5, "rotation": 1e-4, "reading": 1e-5}
TOLERANCE = {"position": 1e-4, "rotation": 2e-4, "reading": 3e-5}
AROUND = 0.01
"""Half-width of the box in which a leg is searched, m."""


def nominal() -> np.ndarray:
    """The blueprint (6 legs, 7): a, b and l of each."""
    angles = np.radians([10, 110, 130, 230, 250, 350])
    ends = np.radians([40, 80, 160, 200, 280, 320])
    base = 0.3 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    platform = 0.15 * np.stack([np.cos(ends), np.sin(ends), 0 * ends], axis=1)
    return np.concatenate([base, platform, np.full((6, 1), 0.35)], axis=1)


def readings(legs: np.ndarray, p: np.ndarray, R: np.ndarray) -> np.ndarray:
    """(poses, legs)."""
    ends = p[:, None] + np.einsum("nij,lj->nli", R, legs[:, 3:6])
    return np.linalg.norm(ends - legs[:, :3], axis=2) - legs[:, 6]


def poses(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    p = [0, 0, 0.45] + rng.uniform(-1, 1, (POSES, 3)) * [0.12, 0.12, 0.1]
    return p, Rotation.from_rotvec(rng.uniform(-0.35, 0.35, (POSES, 3))).as_matrix()


def with_noise(seeds: range) -> Task:
    """42 parameters of a platform; all legs share the errors of a pose."""
    legs = nominal() + np.random.default_rng(11).normal(0, 1e-3, (6, 7))
    p, R = poses(np.random.default_rng(12))
    q = readings(legs, p, R)
    seen: dict[str, list[np.ndarray]] = {"position": [], "rotation": [], "readings": []}
    for seed in seeds:
        rng = np.random.default_rng([13, seed])
        turned = Rotation.from_rotvec(rng.normal(0, SIGMA["rotation"], p.shape)).as_matrix() @ R
        seen["position"].append(p + rng.normal(0, SIGMA["position"], p.shape))
        seen["rotation"].append(turned)
        seen["readings"].append(q + rng.normal(0, SIGMA["reading"], q.shape))
    return Task(
        name="hexapod",
        kind="hexapod",
        data={**{name: np.array(values) for name, values in seen.items()}, "nominal": nominal()},
        stated={"sigma": SIGMA},
        truth={"theta": legs.ravel()},
    )


def with_tolerances(seeds: range, *, is_wrong: bool = False) -> Task:
    """The seven parameters of leg 1; in a wrong recording one pose is 2 mm off."""
    leg = nominal()[:1] + np.random.default_rng(11).normal(0, 1e-3, (1, 7))
    seen: dict[str, list[np.ndarray]] = {"position": [], "rotation": [], "readings": []}
    for seed in seeds:
        rng = np.random.default_rng([14, seed])
        p, R = poses(rng)
        q = readings(leg, p, R)[:, 0]
        turn = 0.99 * TOLERANCE["rotation"] * rng.uniform(-1, 1, p.shape)
        position = p + 0.99 * TOLERANCE["position"] * rng.uniform(-1, 1, p.shape)
        if is_wrong:
            position[POSES // 2] += [0.0, 0.0, 2e-3]
        seen["position"].append(position)
        seen["rotation"].append(Rotation.from_rotvec(turn).as_matrix() @ R)
        seen["readings"].append(q + 0.99 * TOLERANCE["reading"] * rng.uniform(-1, 1, len(q)))
    return Task(
        name="leg-wrong-pose" if is_wrong else "leg",
        kind="leg",
        data={**{name: np.array(values) for name, values in seen.items()}, "nominal": nominal()[0]},
        stated={"tolerance": TOLERANCE, "around": AROUND, "limit": 60.0},
        truth={"theta": leg.ravel(), "is_wrong": np.array(is_wrong), "row": np.array(POSES // 2)},
    )
