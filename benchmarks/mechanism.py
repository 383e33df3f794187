"""The regressor of PaLiDA at 10 000 samples, from a description: against NumPy by hand, and a loop over Pinocchio.

Ours from poses and their derivatives, as a designer of trajectories has them, and from the drives' positions, as a
robot records them (forward kinematics by Newton's method, refusal of singular poses, velocities, accelerations). With
the 24 independent columns of [AHG, table I], and with all 33. By hand: Lagrange's equations of a strut, vectorized over
samples and struts, for PaLiDA only. The loop over Pinocchio gets the motion of all 24 joints for free; per sample it
closes the loops by Pinocchio's Jacobians, computes the joint torque regressor, projects it on the drives and adds up
the columns of identical bodies. The last line spares it the closing too. Ratios of processor times, not times, are what
to compare between machines; OMP_NUM_THREADS=1 keeps NumPy and our kernels to one thread, as the loops are.
"""

from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np

from benchmarks._palida_by_hand import COLUMNS, ByHand
from benchmarks._timing import seconds
from gough.core.arrays import Array
from gough.kernels.native import available_threads
from gough.robots import ROBOTS, Palida
from gough.robots.mechanism import MechanismModel
from gough.simulate.multibody import pinocchio_model

N_SAMPLES = 10_000
N_LOOP = 1_000
REPETITIONS = 9
PINOCCHIO = ("m", "sx", "sy", "sz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def poses(robot: Palida) -> tuple[Array, Array, Array]:
    """A periodic motion over much of the workspace."""
    rng = np.random.default_rng(1)
    reach = np.array([0.2, 0.2, 0.12, 0.25, 0.25, 0.4]) / 2
    t = np.linspace(0, 10, N_SAMPLES, endpoint=False)[:, None, None]
    w = 2 * np.pi * np.array([0.2, 0.5, 1.1])[:, None]
    phase = rng.uniform(0, 2 * np.pi, (3, 6))
    x = robot.home + (reach * np.sin(w * t + phase)).sum(axis=1)
    return x, (reach * w * np.cos(w * t + phase)).sum(axis=1), (-reach * w**2 * np.sin(w * t + phase)).sum(axis=1)


def loops(robot: Palida, x: Array, dx: Array, ddx: Array) -> dict[str, Callable[[], Array]]:
    """Pinocchio, sample by sample, for the rigid-body columns: with the loops closed for it, and closing them."""
    import pinocchio as pin  # noqa: PLC0415 - of the extra `multibody`

    tree = pinocchio_model(robot.mechanism)
    model, bodies = tree.model, tree.bodies
    ends = []
    for closure in robot.mechanism.closures:
        for body, place in zip(closure.bodies, closure.placements, strict=True):
            at = pin.SE3(place.matrix, np.array(place.position))
            ends.append(model.addFrame(pin.Frame(f"{closure.name} {body}", bodies[body], at, pin.FrameType.OP_FRAME)))
    data = model.createData()
    moved = robot.motion_kernel().evaluate(x, dx, ddx)
    s, ds, dds = (np.ascontiguousarray(tree.arranged(moved[key])) for key in ("s", "ds", "dds"))
    names = [robot.mechanism.coordinates[k] for k in tree.order]
    drives = [names.index(name) for name in robot.coordinates]
    others = [k for k in range(len(names)) if k not in drives]
    tied = np.zeros((10 * (model.njoints - 1), len(robot.names)))
    for k, parameter in enumerate(robot.parameters):
        for body in parameter.members if parameter.part == "bodies" else ():
            tied[10 * (bodies[body] - 1) + PINOCCHIO.index(parameter.term), k] = 1.0
    world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    pairs = list(zip(ends[::2], ends[1::2], strict=True))

    def closed(q: Array) -> Array:
        """How all joints follow the drives, by Pinocchio's Jacobians of the points that are held together."""
        pin.computeJointJacobians(model, data, q)
        jacobian = pin.getFrameJacobian
        C = np.vstack([jacobian(model, data, a, world)[:3] - jacobian(model, data, b, world)[:3] for a, b in pairs])
        G = np.zeros((len(names), len(drives)))
        G[drives] = np.eye(len(drives))
        G[others] = -np.linalg.solve(C[:, others], C[:, drives])
        return G.T

    samples = list(zip(s, ds, dds, strict=True))
    known = [closed(q) for q in s]

    def given() -> Array:
        regressor = pin.computeJointTorqueRegressor
        return np.array([G @ (regressor(model, data, *state) @ tied) for state, G in zip(samples, known, strict=True)])

    def complete() -> Array:
        regressor = pin.computeJointTorqueRegressor
        return np.array([closed(state[0]) @ (regressor(model, data, *state) @ tied) for state in samples])

    return {"given": given, "complete": complete}


def agreement(W: Array, other: Array, what: str) -> None:
    """Print how far two regressors are from each other."""
    print(f"  against {what:28} {np.abs(W - other).max() / np.abs(other).max():.1e} of the largest entry")


def builders() -> None:
    """Time from a description to a kernel, and its size."""
    print("\nFrom a description to the regressor of the drives' motion (without compiler):")
    for name, make in ROBOTS.items():
        start = perf_counter()
        robot = MechanismModel(make().mechanism)
        kernel = robot._joint_regressor  # noqa: SLF001 - what `regressor` runs
        took = perf_counter() - start
        n = len(robot.coordinate_names)
        size = f"{n:3} coordinates {len(robot.names):3} columns {len(kernel.tape.steps):6} instructions"
        print(f"  {name:9} {size} {took:6.2f} s")


def main() -> None:
    """Print times per sample and ratios."""
    robot = Palida()
    short = robot.with_only(COLUMNS)
    x, dx, ddx = poses(robot)
    motion = robot.joint_motion(x, dx, ddx)
    by_hand, kernels = ByHand(robot), {"24": short.regressor_kernel(), "33": robot.regressor_kernel()}
    pinocchio = loops(robot, x[:N_LOOP], dx[:N_LOOP], ddx[:N_LOOP])
    print(f"PaLiDA, {N_SAMPLES} samples, {available_threads()} threads, processor time; loop on {N_LOOP} samples")
    works = {
        "from poses, 24 columns": lambda: kernels["24"](x, dx, ddx),
        "from poses, 33 columns": lambda: kernels["33"](x, dx, ddx),
        "from drives, 24 columns": lambda: short.regressor(*motion),
        "NumPy by hand, 24 columns": lambda: by_hand(x, dx, ddx),
        "NumPy replay, 24 columns": lambda: kernels["24"].replay(x, dx, ddx),
        "inverse kinematics": lambda: robot.inverse(x),
        "forward kinematics": lambda: robot.forward(motion.q),
    }
    times = {name: seconds(work, REPETITIONS, process_time) for name, work in works.items()}
    times["Pinocchio, loop"] = seconds(pinocchio["complete"], 3, process_time) * N_SAMPLES / N_LOOP
    times["Pinocchio, loops closed"] = seconds(pinocchio["given"], 3, process_time) * N_SAMPLES / N_LOOP
    least = times["from poses, 24 columns"]
    for name, time in times.items():
        print(f"  {name:28} {1e6 * time / N_SAMPLES:8.2f} µs/sample {time / least:7.1f} x ours from poses")
    W = kernels["24"](x, dx, ddx)
    agreement(W, by_hand(x, dx, ddx), "NumPy by hand")
    agreement(W, short.regressor(*motion), "ours from drives")
    rigid = [k for k, parameter in enumerate(robot.parameters) if parameter.part == "bodies"]
    agreement(kernels["33"](x, dx, ddx)[:N_LOOP, :, rigid], pinocchio["complete"]()[:, :, rigid], "Pinocchio")
    builders()


if __name__ == "__main__":
    main()
