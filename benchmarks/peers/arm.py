"""An arm of six axes, simulated by Pinocchio: efforts with white noise, with filtered noise, and with mistakes.

Nothing of gough makes these data. Standard parameters are in Pinocchio's order: of each body m, m·cx, m·cy, m·cz, Ixx,
Ixy, Iyy, Ixz, Iyz, Izz in the frame of its joint, then viscous and Coulomb friction of each joint.
"""

from typing import Any

import numpy as np
import pinocchio as pin
from scipy.signal import butter, sosfiltfilt

from benchmarks.peers.task import Task

AXES = 6
RATE, SECONDS = 200.0, 10.0
NOISE = 0.02
"""Standard deviation of the noise over the rms of each joint's effort."""
CUTOFF = {"white": None, "filtered": 20.0, "slow": 4.0}
"""Hz; of the zero-phase low-pass that the noise has passed."""
TERMS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
STANDARD = [f"{term}_link{k + 1}" for k in range(AXES) for term in TERMS]
STANDARD += [f"{term}_joint{k + 1}" for term in ("fv", "fc") for k in range(AXES)]

_ORIGINS = ("0 0 0.15", "0 0.12 0", "0 -0.1 0.42", "0 0 0.39", "0 0.09 0", "0 0 0.09")
_AXES = ("0 0 1", "0 1 0", "0 1 0", "0 1 0", "0 0 1", "0 1 0")
_MASSES = (4.0, 8.5, 2.3, 1.2, 1.2, 0.3)
_CENTERS = (
    (0.01, -0.02, -0.02), (0.005, 0.1, 0.2), (0.01, 0.02, 0.19), (0.0, 0.03, 0.01), (0.01, 0.0, 0.03),
    (0.01, 0.02, 0.02),
)  # fmt: skip
_RADII = (
    (0.09, 0.08, 0.07), (0.16, 0.15, 0.06), (0.13, 0.12, 0.05), (0.05, 0.06, 0.045), (0.05, 0.045, 0.06),
    (0.03, 0.035, 0.04),
)  # fmt: skip
_VISCOUS = (2.0, 2.5, 1.5, 0.6, 0.5, 0.3)
_COULOMB = (3.0, 4.0, 2.0, 0.8, 0.7, 0.4)


def urdf() -> str:
    """The blueprint: what rivals are given; the true arm differs from it."""
    parts = ['<robot name="arm"><link name="base"/>']
    for k in range(AXES):
        moments = _MASSES[k] * (np.sum(np.square(_RADII[k])) - np.square(_RADII[k]))
        parts.append(
            f'<link name="link{k + 1}"><inertial><origin xyz="{" ".join(map(str, _CENTERS[k]))}" rpy="0 0 0"/>'
            f'<mass value="{_MASSES[k]}"/>'
            f'<inertia ixx="{moments[0]:.9f}" iyy="{moments[1]:.9f}" izz="{moments[2]:.9f}" '
            f'ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="joint{k + 1}" type="revolute">'
            f'<parent link="{f"link{k}" if k else "base"}"/><child link="link{k + 1}"/><origin xyz="{_ORIGINS[k]}" '
            f'rpy="0 0 0"/><axis xyz="{_AXES[k]}"/><limit lower="-3.1" upper="3.1" effort="300" velocity="10"/>'
            f'<dynamics damping="{_VISCOUS[k]}" friction="{_COULOMB[k]}"/></joint>'
        )
    return "".join([*parts, "</robot>"])


def true_parameters(rng: np.random.Generator) -> np.ndarray:
    """Bodies that can exist, up to 20 % off the blueprint, and friction of each joint."""
    theta = []
    for k in range(AXES):
        root = np.eye(3) + 0.1 * rng.normal(size=(3, 3))
        mass, center = _MASSES[k] * rng.uniform(0.8, 1.2), np.array(_CENTERS[k]) + 0.01 * rng.normal(size=3)
        spread = root @ np.diag(np.square(_RADII[k])) @ root.T
        inertia = mass * (np.trace(spread) * np.eye(3) - spread)
        theta += list(pin.Inertia(mass, center, inertia).toDynamicParameters())
    friction = np.array([*_VISCOUS, *_COULOMB]) * rng.uniform(0.8, 1.2, 2 * AXES)
    return np.array([*theta, *friction])


def motion(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sums of five sines at each joint: times, positions, velocities, accelerations."""
    t = np.arange(int(RATE * SECONDS)) / RATE
    omega = 2 * np.pi / SECONDS * np.array([1, 3, 7, 11, 16])
    a, b = rng.normal(size=(2, AXES, 5, 1)) * (0.7 / omega)[:, None]
    wave, slope = np.sin(omega[:, None] * t), np.cos(omega[:, None] * t)
    q = (a * wave + b * slope).sum(axis=1)
    dq = ((a * slope - b * wave) * omega[:, None]).sum(axis=1)
    ddq = (-(a * wave + b * slope) * omega[:, None] ** 2).sum(axis=1)
    return t, q.T, dq.T, ddq.T


def regressor(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
    """Efforts (samples, joints) per unit of each standard parameter, by Pinocchio."""
    model = pin.buildModelFromXML(urdf())
    data = model.createData()
    rigid = np.array([pin.computeJointTorqueRegressor(model, data, *row) for row in zip(q, dq, ddq, strict=True)])
    each = np.eye(AXES)
    friction = [dq[:, :, None] * each, np.sign(dq)[:, :, None] * each]
    return np.concatenate([rigid, *friction], axis=2)


def noise(kind: str, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Noise of standard deviation 1 along the first axis, of a kind of `CUTOFF`."""
    white = rng.normal(size=shape)
    if CUTOFF[kind] is None:
        return white
    filtered = sosfiltfilt(butter(4, CUTOFF[kind], fs=RATE, output="sos"), white, axis=0)
    return filtered / np.sqrt(np.mean(filtered**2))


def recordings(kind: str, seeds: range) -> Task:
    """One motion, and the efforts of one true arm with other noise in each recording."""
    t, q, dq, ddq = motion(np.random.default_rng(1))
    held_out = motion(np.random.default_rng(2))[1:]
    theta = true_parameters(np.random.default_rng(3))
    W = regressor(q, dq, ddq)
    clean = W @ theta
    size = NOISE * np.sqrt(np.mean(clean**2, axis=0))
    efforts = [clean + size * noise(kind, np.random.default_rng([4, seed]), clean.shape) for seed in seeds]
    return Task(
        name=f"arm-{kind}",
        kind="arm",
        data={"t": t, "q": q, "dq": dq, "ddq": ddq, "efforts": np.array(efforts)},
        stated={"urdf": urdf(), "rate": RATE, "standard": STANDARD, "cutoff": CUTOFF[kind]},
        truth={"theta": theta, "W": W, "W_held_out": regressor(*held_out)},
    )


MISTAKES: dict[str, tuple[str, ...]] = {
    "none": (),
    "delay": ("delay", "late"),
    "gain of joint 2": ("gain",),
    "sign of joint 3": ("sign", "reversed", "negative"),
    "offset of joint 4": ("offset",),
    "load of 1 kg in the second half": ("payload", "load", "mass"),
}
"""Mistakes that are planted one at a time, and the words of which one must be in an answer that names it."""


def with_mistakes(kind: str, seeds: range) -> Task:
    """Recordings as in `recordings`, each with one mistake."""
    base = recordings(kind, seeds)
    t = base.data["t"]
    clean = base.truth["W"] @ base.truth["theta"]
    heavier = base.truth["theta"].copy()
    tool = pin.Inertia(1.0, np.array([0.0, 0.0, 0.08]), 1e-3 * np.eye(3)).toDynamicParameters()
    heavier[10 * (AXES - 1) : 10 * AXES] += tool
    changed: dict[str, Any] = {name: clean.copy() for name in MISTAKES}
    changed["delay"] = np.stack([np.interp(t - 0.01, t, clean[:, k]) for k in range(AXES)], axis=1)
    changed["gain of joint 2"] = clean * np.where(np.arange(AXES) == 1, 1.0 + 0.1 * (t[:, None] > SECONDS / 2), 1.0)
    changed["sign of joint 3"] = clean * np.where(np.arange(AXES) == 2, -1.0, 1.0)
    changed["offset of joint 4"] = clean + np.where(np.arange(AXES) == 3, 0.5, 0.0)
    changed["load of 1 kg in the second half"] = np.where(t[:, None] > SECONDS / 2, base.truth["W"] @ heavier, clean)
    size = NOISE * np.sqrt(np.mean(clean**2, axis=0))
    efforts = [
        changed[name] + size * noise(kind, np.random.default_rng([5, seed]), clean.shape)
        for seed in seeds
        for name in MISTAKES
    ]
    return Task(
        name="arm-mistakes",
        kind="arm",
        data={**base.data, "efforts": np.array(efforts)},
        stated={**base.stated, "verdicts": True},
        truth={**base.truth, "mistakes": np.array([name for _ in seeds for name in MISTAKES])},
    )
