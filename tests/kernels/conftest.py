"""Two closed-loop mechanisms written as expressions, and inputs for them."""

from types import SimpleNamespace

import numpy as np
import pytest

from gough.kernels import expression as ex
from gough.kernels import trace


def _rotation(angles):
    """Roll, pitch, yaw as a matrix."""
    (cx, cy, cz), (sx, sy, sz) = ex.components(ex.cos(angles)), ex.components(ex.sin(angles))
    return ex.matrix(
        ex.vector(cz * cy, sz * cy, -sy),
        ex.vector(cz * sy * sx - sz * cx, sz * sy * sx + cz * cx, cy * sx),
        ex.vector(cz * sy * cx + sz * sx, sz * sy * cx - cz * sx, cy * cx),
    )


def _leg_lengths(position, angles, base, platform):
    R = _rotation(angles)
    lengths = [ex.norm(position + R @ platform[i, :].T - base[i, :].T) for i in range(6)]
    return {"length": ex.vector(*lengths), "rotation": R}


def _five_bar(q, links):
    """End point of a five-bar: base, two proximal, two distal lengths."""
    elbow_1 = ex.vector(links[1] * ex.cos(q[0]) - links[0] / 2, links[1] * ex.sin(q[0]))
    elbow_2 = ex.vector(links[2] * ex.cos(q[1]) + links[0] / 2, links[2] * ex.sin(q[1]))
    across = elbow_2 - elbow_1
    squared = ex.dot(across, across)
    along = (squared + links[3] ** 2 - links[4] ** 2) / (2 * squared)
    height = ex.sqrt(links[3] ** 2 / squared - along**2)
    return elbow_1 + along * across + height * ex.vector(-across[1], across[0])


@pytest.fixture(scope="session")
def hexapod():
    """Inverse kinematics of a Gough platform: pose and joint centers to leg lengths, and the rotation matrix."""
    shapes = {"position": 3, "angles": 3, "base": (6, 3), "platform": (6, 3)}
    return trace(_leg_lengths, name="hexapod", inputs=shapes)


@pytest.fixture(scope="session")
def five_bar():
    return trace(_five_bar, name="five_bar", inputs={"q": 2, "links": 5})


@pytest.fixture(scope="session")
def links():
    return np.array([0.2, 0.25, 0.26, 0.35, 0.34])


@pytest.fixture
def hexapod_inputs(rng):
    """Random poses, and joint centers on two circles, as keyword arguments for n samples."""

    def draw(n):
        turn = np.deg2rad([10, 110, 130, 230, 250, 350])
        base = np.stack([0.5 * np.cos(turn), 0.5 * np.sin(turn), 0 * turn], axis=1)
        turn = np.deg2rad([50, 70, 170, 190, 290, 310])
        platform = np.stack([0.3 * np.cos(turn), 0.3 * np.sin(turn), 0 * turn], axis=1)
        position = np.array([0, 0, 0.6]) + rng.uniform(-0.1, 0.1, (n, 3))
        return {
            "position": position, "angles": rng.uniform(-0.4, 0.4, (n, 3)), "base": base, "platform": platform,
        }  # fmt: skip

    return draw


@pytest.fixture
def five_bar_inputs(rng, links):
    def draw(n):
        q = np.column_stack([rng.uniform(1.6, 2.6, n), rng.uniform(0.5, 1.5, n)])
        return {"q": q, "links": links}

    return draw


@pytest.fixture(params=["hexapod", "five_bar"])
def mechanism(request):
    """Each mechanism with its inputs."""
    draw = request.getfixturevalue(f"{request.param}_inputs")
    return SimpleNamespace(kernel=request.getfixturevalue(request.param), draw=draw)
