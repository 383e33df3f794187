"""20 s of an H4 under joint PI control at 1 kHz: one compiled loop against the same equations integrated otherwise.

The rivals take the same traced forward dynamics and differ in who walks through time: a Python loop that calls the
compiled kernel for each slope, SciPy's adaptive Runge–Kutta method (tolerances 1e-8) between samples, CasADi's own
machine for the whole step. They are timed on a shorter piece, scaled. Ratios are what to compare between machines.
"""

from collections.abc import Callable
from time import perf_counter

import numpy as np
from scipy.integrate import solve_ivp

from benchmarks._timing import seconds
from gough.kernels.recurrence import Recurrence
from gough.robots import H4, Delta, Par4
from gough.robots.model import PoseMotion
from gough.simulate import ClosedLoop, Instruments, JointPI, SimulatedRobot, SlowThenFast, VirtualExperiment
from gough.simulate.closed_loop import step_kernel

RATE = 1000.0
PIECE = 100
"""Sampling periods of the slow rivals."""
START = 12_000
"""Where their piece begins: in the fast phase."""


def main() -> None:
    """Print seconds per simulated 20 s, ratios, and the largest disagreement."""
    robot = H4()
    simulated, loop, motion = prepared(robot)
    begin = perf_counter()
    followed = loop.follow(motion)
    first = perf_counter() - begin
    kernel = step_kernel(simulated.equations)
    n_steps = followed.substeps
    print(f"{robot.name}, {len(motion.x)} samples, {n_steps} steps of Runge–Kutta in each, {kernel}")
    print(f"first run, with compilation or from the cache: {first:.2f} s")
    whole = seconds(lambda: loop.follow(motion), 3)
    piece = PoseMotion(*(part[START : START + PIECE] for part in motion))
    scale = len(motion.x) / PIECE
    reference = loop.follow(piece)
    times = {"compiled loop": whole}
    for label, accelerate in (("Python loop", runge_kutta(n_steps)), ("scipy solve_ivp", adaptive)):
        begin = perf_counter()
        x = walk(loop, piece, accelerate)
        times[label] = (perf_counter() - begin) * scale
        print(f"{label} disagrees by at most {np.abs(x - reference.x).max():.1e} m or rad after {PIECE} samples")
    interpreted = Recurrence(kernel)
    interpreted.native = None
    times["casadi mapaccum"] = seconds(lambda: repeat(interpreted, loop, piece, n_steps), 1) * scale
    for label, time in times.items():
        print(f"{label:24} {time:9.2f} s for 20 s {time / whole:9.1f} x the compiled loop")
    for other in (H4(), Par4(), Delta()):
        report(other)


def prepared(robot: H4 | Par4 | Delta) -> tuple[SimulatedRobot, ClosedLoop, PoseMotion]:
    simulated = SimulatedRobot(robot, robot.nominal)
    amplitude = [0.1, 0.1, 0.05, 0.5][: len(robot.home)]
    motion = SlowThenFast.search(np.random.default_rng(1), robot, amplitude=amplitude, candidates=1).sample(RATE)
    controller = JointPI.tuned(simulated, robot.home, bandwidth=15.0)
    return simulated, ClosedLoop(simulated, controller, Instruments(), RATE, np.zeros(simulated.n_actuators)), motion


def walk(loop: ClosedLoop, motion: PoseMotion, advance: Callable[..., tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The closed loop in Python: encoders, velocity, PI law; `advance` carries the robot through one period."""
    simulated, tools, law = loop.simulated, loop.instruments, loop.controller.law(loop.simulated.n_actuators)
    wanted, wanted_speed, _ = simulated.joint_motion(motion)
    x, dx, period = motion.x[0], motion.dx[0], 1 / loop.rate
    integral = simulated.efforts(PoseMotion(x[None], 0 * x[None], 0 * x[None]))[0]
    reading, speed = tools.read_positions(wanted[0]) - wanted_speed[0] * period, wanted_speed[0]
    remembered = np.exp(-2 * np.pi * law.velocity_cutoff * period)
    visited = []
    for q, dq in zip(wanted, wanted_speed, strict=True):
        visited.append(x)
        now = tools.read_positions(simulated.robot.inverse(x))
        speed = remembered * speed + (1 - remembered) * (now - reading) / period
        reading, error = now, q - now
        integral = integral + law.integral * error * period
        effort = law.proportional * error + integral + law.damping * (dq - speed)
        x, dx = advance(simulated, x, dx, effort, period)
    return np.array(visited)


def runge_kutta(n_steps: int) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    def advance(simulated, x, dx, effort, period):
        h = period / n_steps
        for _ in range(n_steps):
            a1 = simulated.accelerations(x, dx, effort)
            v2 = dx + h / 2 * a1
            a2 = simulated.accelerations(x + h / 2 * dx, v2, effort)
            v3 = dx + h / 2 * a2
            a3 = simulated.accelerations(x + h / 2 * v2, v3, effort)
            v4 = dx + h * a3
            a4 = simulated.accelerations(x + h * v3, v4, effort)
            x, dx = x + h / 6 * (dx + 2 * v2 + 2 * v3 + v4), dx + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        return x, dx

    return advance


def adaptive(simulated, x, dx, effort, period):
    m = len(x)

    def slope(_, state):
        return np.concatenate([state[m:], simulated.accelerations(state[:m], state[m:], effort)])

    end = solve_ivp(slope, (0.0, period), np.concatenate([x, dx]), rtol=1e-8, atol=1e-10).y[:, -1]
    return end[:m], end[m:]


def repeat(recurrence: Recurrence, loop: ClosedLoop, motion: PoseMotion, n_steps: int) -> np.ndarray:
    joints = loop.simulated.joint_motion(motion)
    inputs = [np.repeat(np.hstack([joints.q, joints.dq]), n_steps, axis=0), np.tile(np.eye(n_steps)[0], len(motion.x))]
    start = np.concatenate([motion.x[0], motion.dx[0], joints.q[0], joints.dq[0], np.zeros(2 * joints.q.shape[1])])
    constants = loop._constants(n_steps)  # noqa: SLF001 - the same numbers as in the loop
    return recurrence(start, inputs, constants)


def report(robot: H4 | Par4 | Delta) -> None:
    """Seconds of a whole virtual experiment, and of the same without a controller."""
    simulated, loop, _ = prepared(robot)
    motion = SlowThenFast.search(
        np.random.default_rng(1), robot, amplitude=[0.1, 0.1, 0.05, 0.5][: len(robot.home)], candidates=1
    )
    tools = Instruments(gain=2.0, noise=0.1)
    closed = VirtualExperiment(simulated, motion, tools, RATE, loop.controller)
    exact = VirtualExperiment(simulated, motion, tools, RATE)
    rng = np.random.default_rng(1)
    print(
        f"{robot.name:6} whole experiment of 20 s: {seconds(lambda: closed.run(rng), 3):.2f} s under control, "
        f"{seconds(lambda: exact.run(rng), 3):.2f} s exactly on the trajectory"
    )


if __name__ == "__main__":
    main()
