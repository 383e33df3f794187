"""A five-bar linkage in a vertical plane, a closed chain: efforts of its motors by Pinocchio and formulas of the loop.

Nothing of gough makes these data. The loop is cut at the tip. Pinocchio has the regressor of the tree that is left; the
angles of the rods follow from those of the motors by intersecting two circles, and the columns of G = ∂q/∂(motors) from
the closure. Efforts are Gᵀ W θ and friction of the motors. Standard parameters are in Pinocchio's order: of each body
m, m·cx, m·cy, m·cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz, then viscous and Coulomb friction of each motor.
"""

import numpy as np
import pinocchio as pin

from benchmarks.peers.arm import NOISE, RATE, SECONDS, TERMS, noise
from benchmarks.peers.task import Task

BODIES = ("crank1", "rod1", "crank2", "rod2")
JOINTS = ("q1", "p1", "q2", "p2")
MOTORS = ("q1", "q2")
HALF, CRANK, ROD = 0.1, 0.25, 0.3
"""Half the distance of the motors and the lengths of the links, m."""
LARGEST = 0.45
"""Largest angle of a motor from home, rad: the linkage stays away from its singularities."""
HOME = 2 * np.pi / 3
"""Angle of the first crank; the second mirrors it."""
MASSES, RADII = (0.8, 0.5, 0.8, 0.5), (0.02, 0.09, 0.09)
VISCOUS, COULOMB = (0.12, 0.15), (0.2, 0.25)
STANDARD = [f"{term}_{body}" for body in BODIES for term in TERMS]
STANDARD += [f"{term}_{motor}" for term in ("fv", "fc") for motor in MOTORS]


def rod_angles(cranks: np.ndarray) -> np.ndarray:
    """Directions (n, 2) of both rods, from those of the cranks: the tip is the upper intersection of two circles."""
    bases = np.array([[-HALF, 0.0], [HALF, 0.0]])
    elbows = bases + CRANK * np.stack([np.cos(cranks), np.sin(cranks)], axis=-1)
    between = elbows[:, 1] - elbows[:, 0]
    distance = np.linalg.norm(between, axis=1, keepdims=True)
    along = between / distance
    height = np.sqrt(ROD**2 - distance**2 / 4)
    tip = elbows.mean(axis=1) + height * np.stack([-along[:, 1], along[:, 0]], axis=-1)
    to_tip = tip[:, None] - elbows
    return np.arctan2(to_tip[..., 1], to_tip[..., 0])


BEND = float(rod_angles(np.array([[HOME, np.pi - HOME]]))[0, 0] - HOME)
"""Angle of the first rod against its crank at home."""


def loop(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Closure Jacobians of cranks and rods (n, 2, 2): the velocity of the tip is the same along both sides."""
    across = np.stack([-np.sin(q), np.cos(q)], axis=1)
    sign = np.array([1.0, -1.0])
    return CRANK * across[:, :, :2] * sign, ROD * across[:, :, 2:] * sign


def motion(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Times; positions, velocities, accelerations (n, 4) of crank and rod of each side; G (n, 4, 2).

    Sums of five sines at the motors; joints of rods are relative to their cranks, all are zero at home.
    """
    t = np.arange(int(RATE * SECONDS)) / RATE
    omega = 2 * np.pi / SECONDS * np.array([1, 3, 7, 11, 16])
    a, b = rng.normal(size=(2, 2, 5, 1)) / omega[:, None]
    wave, slope = np.sin(omega[:, None] * t), np.cos(omega[:, None] * t)
    share = LARGEST / np.abs((a * wave + b * slope).sum(axis=1)).max()
    a, b = share * a, share * b
    cranks = (a * wave + b * slope).sum(axis=1).T
    dq = ((a * slope - b * wave) * omega[:, None]).sum(axis=1).T
    ddq = (-(a * wave + b * slope) * omega[:, None] ** 2).sum(axis=1).T
    home = np.array([HOME, np.pi - HOME])
    directions = np.concatenate([home + cranks, rod_angles(home + cranks)], axis=1)
    A, B = loop(directions)
    rods_by_cranks = -np.linalg.solve(B, A)
    speeds = np.concatenate([dq, np.einsum("nij,nj->ni", rods_by_cranks, dq)], axis=1)
    inward = np.stack([-np.cos(directions), -np.sin(directions)], axis=1) * np.array([1.0, -1.0, 1.0, -1.0])
    length = np.array([CRANK, CRANK, ROD, ROD])
    known = np.einsum("nij,nj->ni", A, ddq) + np.einsum("nij,nj->ni", inward * length, speeds**2)
    rods = -np.linalg.solve(B, known[..., None])[..., 0]
    each = np.eye(2)[None] + np.zeros((len(t), 1, 1))
    relative = rods_by_cranks - each
    G = np.stack([each[:, 0], relative[:, 0], each[:, 1], relative[:, 1]], axis=1)
    bent = directions[:, 2:] - directions[:, :2] - np.array([BEND, -BEND])
    q = np.stack([cranks[:, 0], bent[:, 0], cranks[:, 1], bent[:, 1]], axis=1)
    turning = rods - ddq
    joined = np.stack([ddq[:, 0], turning[:, 0], ddq[:, 1], turning[:, 1]], axis=1)
    return t, q, np.einsum("nij,nj->ni", G, dq), joined, G


def urdf() -> str:
    """The tree that is left when the loop is cut at the tip, with a link for the tip at the end of each rod."""
    parts = ['<robot name="five-bar"><link name="base"/>']
    for side, (x, angle, bend) in enumerate(((-HALF, HOME, BEND), (HALF, np.pi - HOME, -BEND)), start=1):
        crank, rod = f"crank{side}", f"rod{side}"
        joints = ((x, angle, "base", crank, f"q{side}"), (CRANK, bend, crank, rod, f"p{side}"))
        for place, yaw, parent, name, joint in joints:
            mass, center, moments = _blueprint(name)
            parts.append(
                f'<link name="{name}"><inertial><origin xyz="{center} 0 0" rpy="0 0 0"/><mass value="{mass}"/>'
                f'<inertia ixx="{moments[0]:.9f}" iyy="{moments[1]:.9f}" izz="{moments[2]:.9f}" ixy="0" ixz="0" '
                f'iyz="0"/></inertial></link><joint name="{joint}" type="continuous"><parent link="{parent}"/>'
                f'<child link="{name}"/><origin xyz="{place} 0 0" rpy="0 0 {yaw!r}"/><axis xyz="0 0 1"/></joint>'
            )
        parts.append(
            f'<link name="tip{side}"/><joint name="end{side}" type="fixed"><parent link="rod{side}"/>'
            f'<child link="tip{side}"/><origin xyz="{ROD} 0 0" rpy="0 0 0"/></joint>'
        )
    return "".join([*parts, "</robot>"])


def mjcf() -> str:
    """The same mechanism for MuJoCo, with its loop."""
    parts = ['<mujoco model="five-bar"><compiler angle="radian"/><option gravity="0 -9.81 0"/><worldbody>']
    for side, (x, angle, bend) in enumerate(((-HALF, HOME, BEND), (HALF, np.pi - HOME, -BEND)), start=1):
        friction = f' damping="{VISCOUS[side - 1]}" frictionloss="{COULOMB[side - 1]}"'
        for place, yaw, kind, joint, more in ((x, angle, "crank", "q", friction), (CRANK, bend, "rod", "p", "")):
            mass, center, moments = _blueprint(f"{kind}{side}")
            parts.append(
                f'<body name="{kind}{side}" pos="{place} 0 0" euler="0 0 {yaw!r}">'
                f'<joint name="{joint}{side}" axis="0 0 1"{more}/>'
                f'<inertial mass="{mass}" pos="{center} 0 0" diaginertia="{" ".join(f"{m:.9f}" for m in moments)}"/>'
            )
        parts.append(f'<site name="end{side}" pos="{ROD} 0 0"/></body></body>')
    motors = "".join(f'<motor joint="{motor}"/>' for motor in MOTORS)
    loops = '<equality><connect site1="end1" site2="end2"/></equality>'
    return "".join([*parts, f"</worldbody>{loops}<actuator>{motors}</actuator></mujoco>"])


def _blueprint(name: str) -> tuple[float, float, np.ndarray]:
    mass, length = MASSES[BODIES.index(name)], CRANK if "crank" in name else ROD
    return mass, length / 2, mass * (np.sum(np.square(RADII)) - np.square(RADII))


def true_parameters(rng: np.random.Generator) -> np.ndarray:
    """Bodies that can exist, up to 20 % off the blueprint, and friction of the motors."""
    theta = []
    for name in BODIES:
        mass, center, _ = _blueprint(name)
        root = np.eye(3) + 0.1 * rng.normal(size=(3, 3))
        spread = root @ np.diag(np.square(RADII)) @ root.T
        inertia = mass * (np.trace(spread) * np.eye(3) - spread)
        off = np.array([center, 0.0, 0.0]) + 0.01 * rng.normal(size=3)
        theta += list(pin.Inertia(mass * rng.uniform(0.8, 1.2), off, inertia).toDynamicParameters())
    return np.array([*theta, *np.array([*VISCOUS, *COULOMB]) * rng.uniform(0.8, 1.2, 4)])


def regressor(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray, G: np.ndarray) -> np.ndarray:
    """Efforts (samples, motors) per unit of each standard parameter: Gᵀ of the tree's, and friction."""
    model = pin.buildModelFromXML(urdf())
    model.gravity.linear = np.array([0.0, -9.81, 0.0])
    data = model.createData()
    place, body = tree_order(model)
    W = np.empty((len(q), 4, 40))
    for k in range(len(q)):
        rows = [np.empty(4) for _ in range(3)]
        for values, row in zip((q[k], dq[k], ddq[k]), rows, strict=True):
            row[place] = values
        angles = np.stack([np.cos(rows[0]), np.sin(rows[0])], axis=1).ravel()  # continuous joints
        W[k] = pin.computeJointTorqueRegressor(model, data, angles, rows[1], rows[2])[place][:, body]
    motors, each = dq[:, [0, 2]], np.eye(2)
    rigid = np.einsum("nij,nip->njp", G, W)
    return np.concatenate([rigid, motors[:, :, None] * each, np.sign(motors)[:, :, None] * each], axis=2)


def tree_order(model: pin.Model) -> tuple[list[int], list[int]]:
    """Where Pinocchio has our joints, and the ten parameters of our bodies."""
    ids = [model.getJointId(name) for name in JOINTS]
    columns = [10 * (number - 1) + term for number in ids for term in range(10)]
    return [model.idx_vs[number] for number in ids], columns


def recordings(kind: str, seeds: range) -> Task:
    """One motion, and the efforts of one true robot with other noise in each recording."""
    t, *moved, G = motion(np.random.default_rng(1))
    *other, G_other = motion(np.random.default_rng(2))[1:]
    theta = true_parameters(np.random.default_rng(3))
    W = regressor(*moved, G)
    clean = W @ theta
    size = NOISE * np.sqrt(np.mean(clean**2, axis=0))
    efforts = [clean + size * noise(kind, np.random.default_rng([6, seed]), clean.shape) for seed in seeds]
    q, dq, ddq = moved
    return Task(
        name=f"five-bar-{kind}",
        kind="loop",
        data={"t": t, "q": q, "dq": dq, "ddq": ddq, "efforts": np.array(efforts)},
        stated={
            "urdf": urdf(),
            "mjcf": mjcf(),
            "joints": JOINTS,
            "motors": MOTORS,
            "bodies": BODIES,
            "gravity": [0.0, -9.81, 0.0],
            "rate": RATE,
            "standard": STANDARD,
        },
        truth={"theta": theta, "W": W, "W_held_out": regressor(*other, G_other)},
    )
