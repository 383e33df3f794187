"""H4, Par4 and Delta: kinematics and regressor of a recording, against a loop over Pinocchio on the full mechanism.

Ours twice: from motor angles and their derivatives, as a robot records them (forward kinematics, velocities,
accelerations, refusal of singular poses, all columns), and from poses, as a planner has them (inverse kinematics,
velocities, accelerations, all columns). The loop gets the kinematics for free: the motion of all 28 joints of the open
tree, and the Jacobian that closes its loops. Per sample it computes Pinocchio's joint torque regressor and projects it
on the motors, or only the torques (RNEA). A third loop has to close the tree from motor angles, as we do, sample by
sample from the one before. Ratios, not times, are what to compare between machines.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks._timing import seconds
from gough.core.arrays import Array
from gough.kernels.native import available_threads
from gough.robots import H4, Delta, JointMotion, Par4, ParallelRobot, efforts
from gough.simulate.multibody import Multibody

N_SAMPLES = 20_000
N_LOOP = 2_000
REPETITIONS = 7
ROBOTS = (H4(), Par4(), Delta())


def poses(robot: ParallelRobot) -> tuple[Array, Array, Array]:
    """A motion over much of the workspace: x, dx, ddx."""
    rng = np.random.default_rng(1)
    reach = 0.2 * -robot.home[2] * np.array([1.0, 1.0, 0.6, 6.0])[: len(robot.home)]
    t = np.linspace(0, 10, N_SAMPLES, endpoint=False)[:, None, None]
    w = 2 * np.pi * np.array([0.2, 0.5, 1.1])[:, None]
    amplitude, phase = reach / 3, rng.uniform(0, 2 * np.pi, (3, len(robot.home)))
    x = robot.home + (amplitude * np.sin(w * t + phase)).sum(axis=1)
    dx, ddx = ((amplitude * w**k * f(w * t + phase)).sum(axis=1) for k, f in ((1, np.cos), (2, lambda a: -np.sin(a))))
    return x, dx, ddx


def loops(mechanism: Multibody, x: Array, dx: Array, ddx: Array) -> dict[str, Callable[[], Array]]:
    """A loop over Pinocchio for the regressor of the motors, and one for their torques."""
    import pinocchio as pin  # noqa: PLC0415 - of the extra `multibody`

    built, _ = mechanism.pinocchio()
    model, data = built.model, built.model.createData()
    tree, moving = mechanism.mechanism, mechanism.motion(x, dx, ddx)
    names = [tree.coordinates[k] for k in built.order]
    motors = [names.index(name) for name in tree.actuated]
    by_pose = moving.by_pose[:, built.order]
    closed = by_pose @ np.linalg.inv(by_pose[:, motors])
    s, ds, dds = (np.ascontiguousarray(built.arranged(part)) for part in moving[:3])
    samples = list(zip(s, ds, dds, np.swapaxes(closed, 1, 2), strict=True))

    def regressor() -> Array:
        return np.array([J @ pin.computeJointTorqueRegressor(model, data, *state) for *state, J in samples])

    def torques() -> Array:
        return np.array([J @ pin.rnea(model, data, *state) for *state, J in samples])

    return {"regressor": regressor, "torques": torques, "all": lambda: _closing(mechanism, motors, samples)}


def _closing(mechanism: Multibody, motors: list[int], samples: list[tuple[Array, ...]]) -> Array:
    """Regressors as from motor angles: each sample is closed by Newton's method from the one before.

    Velocities follow from the closures; accelerations of the tree are still for free.
    """
    import pinocchio as pin  # noqa: PLC0415 - of the extra `multibody`

    built, constraints = mechanism.pinocchio()
    model, data = built.model, built.model.createData()
    passive = np.setdiff1d(np.arange(model.nv), motors)
    ends = [
        ((c.joint1_id, c.joint1_placement.translation), (c.joint2_id, c.joint2_placement.translation))
        for c in constraints
    ]
    result, q = [], samples[0][0].copy()
    for q_true, dq, ddq, J_closed in samples:
        q[motors] = q_true[motors]
        for _ in range(10):
            pin.computeJointJacobians(model, data, q)
            (gaps, J) = _closures(pin, model, data, ends)
            if np.abs(gaps).max() < 1e-12:
                break
            q[passive] -= np.linalg.lstsq(J[:, passive], gaps)[0]
        v = np.empty(model.nv)
        v[motors] = dq[motors]
        v[passive] = np.linalg.lstsq(J[:, passive], -J[:, motors] @ dq[motors])[0]
        result.append(J_closed @ pin.computeJointTorqueRegressor(model, data, q, v, ddq))
    return np.array(result)


def _closures(pin: Any, model: Any, data: Any, ends: list[Any]) -> tuple[Array, Array]:
    """How far the ends of each closure are apart, and the Jacobian of that."""
    gaps, rows = [], []
    for pair in ends:
        points, jacobians = [], []
        for joint, local in pair:
            placement = data.oMi[joint]
            arm = placement.rotation @ local
            J = pin.getJointJacobian(model, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            points.append(placement.translation + arm)
            jacobians.append(J[:3] - pin.skew(arm) @ J[3:])
        gaps.append(points[0] - points[1])
        rows.append(jacobians[0] - jacobians[1])
    return np.concatenate(gaps), np.vstack(rows)


def main() -> None:
    """Print times per sample and ratios for each robot."""
    print(f"{N_SAMPLES} samples, {available_threads()} threads, median of {REPETITIONS}; loops on {N_LOOP} samples")
    for robot in ROBOTS:
        mechanism = Multibody(robot)
        x, dx, ddx = poses(robot)
        motion: JointMotion = robot.joint_motion(x, dx, ddx)
        loop = loops(mechanism, x[:N_LOOP], dx[:N_LOOP], ddx[:N_LOOP])
        kernel = robot.regressor_kernel()
        times = {
            "from motor angles": seconds(lambda: robot.regressor(*motion), REPETITIONS),  # noqa: B023
            "from poses": seconds(lambda: kernel(x, dx, ddx), REPETITIONS),  # noqa: B023
            "forward kinematics": seconds(lambda: robot.forward(motion.q), REPETITIONS),  # noqa: B023
            "inverse kinematics": seconds(lambda: robot.inverse(x), REPETITIONS),  # noqa: B023
            "Pinocchio, regressor": seconds(loop["regressor"], 3) * N_SAMPLES / N_LOOP,
            "Pinocchio, from angles": seconds(loop["all"], 1) * N_SAMPLES / N_LOOP,
            "Pinocchio, RNEA only": seconds(loop["torques"], 3) * N_SAMPLES / N_LOOP,
        }
        print(f"\n{robot.name}: {len(robot.names)} columns; Pinocchio: {len(robot.mechanism.coordinates)} coordinates")
        for name, time in times.items():
            ratios = [time / times[ours] for ours in ("from motor angles", "from poses")]
            per_sample = 1e6 * time / N_SAMPLES
            print(
                f"  {name:22} {per_sample:8.2f} µs/sample {ratios[0]:8.1f} x from angles {ratios[1]:8.1f} x from poses"
            )
        x_found = robot.forward(motion.q)
        torque = efforts(robot, robot.parameters_of_parts(), *(part[:N_LOOP] for part in motion))
        away = np.abs(torque - loop["torques"]()).max() / np.abs(torque).max()
        assert np.allclose(loop["all"](), loop["regressor"](), atol=1e-8)
        print(
            f"  forward against truth {np.abs(x_found - x).max():.1e}; torques against Pinocchio {away:.1e} of the peak"
        )


if __name__ == "__main__":
    main()
