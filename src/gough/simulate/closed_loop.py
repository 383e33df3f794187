"""A robot under control: one traced step of controller and robot, repeated in a tight loop."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require, require_positive
from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.kernels.recurrence import Recurrence
from gough.robots.model import PoseMotion
from gough.simulate.control import Controller
from gough.simulate.equations import Equations, Ports
from gough.simulate.instruments import Instruments
from gough.simulate.simulated_robot import SimulatedRobot
from gough.simulate.trajectories import Motion

_STABLE = 1.5
"""Greatest step times rate of decay that is used; the classical Runge–Kutta method is stable up to 2.78."""
_BLOCK = 2000
"""Sampling periods simulated before looking whether the robot still follows."""


@dataclass(frozen=True, eq=False)
class Followed:
    """What a robot did under control, at the N instants of sampling.

    Examples:
        >>> Followed(np.zeros((3, 4)), np.zeros((3, 4)), np.zeros((3, 4)), substeps=4).voltages.shape
        (3, 4)
    """

    x: Array
    """(N, m) pose, or joint positions where the robot's equations are written in those."""
    dx: Array
    voltages: Array
    """(N, n) that the amplifiers got from this instant to the next."""
    substeps: int
    """Steps of integration in each sampling period."""


@dataclass(frozen=True, eq=False)
class ClosedLoop:
    """A robot, what drives it, and what it is measured with, sampled and controlled `rate` times a second.

    The motors' efforts are gain · voltage, held over each sampling period, plus their ripple. Within a period the
    robot's motion is integrated by the classical Runge–Kutta method of order four, in so many equal steps that dry
    friction, its stiffest part, is integrated stably, unless `substeps` states their number. Errors of the recording do
    not reach the controller; the encoders' steps do.

    Examples:
        >>> from gough.simulate.trajectories import FourierSeries
        >>> from gough.simulate.control import JointPI
        >>> from gough.robots import FiveBar
        >>> robot = FiveBar.demo()
        >>> simulated = SimulatedRobot(robot, robot.nominal)
        >>> controller = JointPI.tuned(simulated, [2.0, 1.1], bandwidth=20.0)
        >>> loop = ClosedLoop(simulated, controller, Instruments(), rate=1000.0, phase=np.zeros(2))
        >>> swing = FourierSeries([2.0, 1.1], [[0.5], [0.4]], [[0.0], [0.2]], frequency=0.5).sample(1000.0)
        >>> bool(abs(loop.follow(swing).x - swing.q).max() < 0.01)
        True
    """

    simulated: SimulatedRobot
    controller: Controller
    instruments: Instruments
    rate: float
    phase: Array
    """Phase of each motor's ripple (n,), rad."""
    substeps: int | None = None
    """Steps of integration in each sampling period; None chooses."""
    lost: float = 0.2
    """Greatest error of a joint, rad, beyond which the robot no longer follows."""

    def __post_init__(self) -> None:
        require_positive(self.rate, "rate", "Hz")
        require(self.substeps is None or self.substeps >= 1, f"substeps must be at least 1, but is {self.substeps}")
        require(self.lost > 0, f"lost must be positive, in rad, but is {self.lost}")

    def follow(self, reference: Motion | PoseMotion) -> Followed:
        """What the robot does, from the state in which the reference begins.

        Raises:
            InputError: it does not follow: a motor is saturated, the loop is unstable, or the workspace was left.
        """
        x, dx = (reference.x, reference.dx) if isinstance(reference, PoseMotion) else (reference.q, reference.dq)
        joints = self.simulated.joint_motion(reference)
        system = self.simulated.equations
        n_steps = _enough_steps(self.simulated, x, self.rate) if self.substeps is None else self.substeps
        loop = Recurrence(step_kernel(system))
        constants = self._constants(n_steps)
        state = self._beginning(x[0], dx[0], joints.q[0], joints.dq[0])
        wanted = np.hstack([joints.q, joints.dq])
        blocks = []
        for start in range(0, len(x), _BLOCK):
            rows = wanted[start : start + _BLOCK]
            at_sampling = np.zeros((len(rows), n_steps))
            at_sampling[:, 0] = 1.0
            states = loop(state, [np.repeat(rows, n_steps, axis=0), at_sampling.reshape(-1)], constants)
            state = states[-1]
            # a row holds the motion at an instant; what the controller did then is first seen in the next row
            blocks.append(np.hstack([states[:-1:n_steps, : 2 * system.m], states[1::n_steps, 2 * system.m :]]))
            self._refuse_if_lost(blocks[-1], rows[:, : system.n], start)
        all_rows, m = np.vstack(blocks), system.m
        return Followed(all_rows[:, :m], all_rows[:, m : 2 * m], all_rows[:, -system.n :], n_steps)

    def _constants(self, n_steps: int) -> list[Array]:
        """The inputs of the step that do not change, in the order of `step_kernel`."""
        n, tools, law = self.simulated.n_actuators, self.instruments, self.controller.law(self.simulated.n_actuators)
        require(len(self.phase) == n, f"there are {n} actuators, but {len(self.phase)} phases")
        period = 1 / self.rate
        kept_speed = np.exp(-2 * np.pi * law.velocity_cutoff * period)
        strength, waves = (0.0, 0.0) if tools.ripple is None else (tools.ripple.amplitude, tools.ripple.waves)
        ripple = np.vstack([np.full(n, strength), np.full(n, waves), self.phase])
        limit = min(tools.voltage_limit, 1e300)  # infinity times zero is not a number
        scalars = [period, period / n_steps, kept_speed, tools.resolution, limit, self.simulated.friction_speed]
        laws = np.vstack([law.proportional, law.integral, law.damping])
        return [np.array(scalars), laws, tools.gains(n), ripple, self.simulated.parameters]

    def _beginning(self, x: Array, dx: Array, q: Array, dq: Array) -> Array:
        """On the reference, its velocity known to the controller, the weight of the robot held by the integral."""
        still = np.zeros((1, len(x)))
        torque = (self.simulated.equations.regressor(x[None], still, still) @ self.simulated.parameters)[0]
        held = np.where(self.controller.law(len(q)).integral > 0, torque, 0.0)
        before = self.instruments.read_positions(q) - dq / self.rate
        return np.concatenate([x, dx, before, dq, held, np.zeros(len(q))])

    def _refuse_if_lost(self, rows: Array, wanted: Array, start: int) -> None:
        """Raise InputError where the readings are far from what is wanted, or not numbers."""
        m = (rows.shape[1] - 4 * wanted.shape[1]) // 2
        n = wanted.shape[1]
        error = np.abs(rows[:, 2 * m : 2 * m + n] - wanted)
        bad = ~(error <= self.lost)
        if not bad.any():
            return
        k, joint = np.argwhere(bad)[0]
        saturated = np.abs(rows[: k + 1, -n:]) >= self.instruments.voltage_limit
        share = saturated[max(0, k - round(0.5 * self.rate)) :].mean(axis=0)
        who, when = self.simulated.robot.actuators[joint], (start + k) / self.rate
        if share.max() > 0.02:
            worst = self.simulated.robot.actuators[int(share.argmax())]
            limit = self.instruments.voltage_limit
            raise InputError(
                f"{who} no longer follows at {when:.3f} s: {worst} was at its voltage limit of {limit:g} V during "
                f"{share.max():.0%} of the half second before. Slow the motion, or raise voltage_limit"
            )
        what = "the robot left its workspace" if np.isnan(error[k]).any() else f"its error exceeds {self.lost:g} rad"
        raise InputError(
            f"{who} no longer follows at {when:.3f} s ({what}): the loop is unstable, or too weak. Use other gains "
            "of the controller, a higher rate, or a slower motion"
        )


def step_kernel(system: Equations) -> Kernel:
    """One step of integration, before which, at an instant of sampling, the controller acts.

    The state is x, dx, the encoders' readings, the joint velocities made of them, the integral's efforts, the
    voltages. The scalars are the sampling period, the step, the share of its velocity that the controller keeps from
    one period to the next, the encoders' resolution, the voltage limit, and the speed that smooths dry friction.
    """
    n, m = system.n, system.m
    forward = system.accelerated

    def step(  # noqa: PLR0917 - the inputs of a kernel
        state: Expression,
        wanted: Expression,
        at_sampling: Expression,
        scalars: Expression,
        law: Expression,
        gain: Expression,
        ripple: Expression,
        theta: Expression,
    ) -> Expression:
        x, dx, control = state[:m], state[m : 2 * m], state[2 * m :]
        acted = _controlled(system.positions(x), control, wanted=wanted, scalars=scalars, law=law, gain=gain)
        control = ex.where(at_sampling, acted, control)
        effort, ripples = gain * control[3 * n :], ex.vector(*(ripple[i, :].T for i in range(3)))

        def slope(x: Expression, dx: Expression) -> tuple[Expression, Expression]:
            return dx, forward.function.call([x, dx, effort, theta, scalars[5], ripples])[0]

        return ex.vector(*_runge_kutta(slope, x, dx, scalars[1]), control)

    inputs: Ports = {"state": 2 * m + 4 * n, "wanted": 2 * n, "at_sampling": (), "scalars": 6}
    inputs |= {"law": (3, n), "gain": n, "ripple": (3, n), "theta": system.p}
    return trace(step, name=f"{system.regressor.name}_closed_loop", inputs=inputs)


def _controlled(
    q: Expression, control: Expression, *, wanted: Expression, scalars: Expression, law: Expression, gain: Expression
) -> Expression:
    """The controller's state after it has read the encoders: readings, velocities, integral, voltages."""
    n = q.numel()
    period, kept_speed, resolution, limit = scalars[0], scalars[2], scalars[3], scalars[4]
    before, speed, integral = control[:n], control[n : 2 * n], control[2 * n : 3 * n]
    reading = ex.where(resolution > 0, (q / resolution + 0.5).floor() * resolution, q)
    speed = kept_speed * speed + (1 - kept_speed) * (reading - before) / period
    error = wanted[:n] - reading
    summed = integral + law[1, :].T * error * period
    command = (law[0, :].T * error + summed + law[2, :].T * (wanted[n:] - speed)) / gain
    voltage = ex.minimum(ex.maximum(command, -limit), limit)
    summed = ex.where(ex.absolute(command) > limit, integral, summed)
    return ex.vector(reading, speed, summed, voltage)


_Slope = Callable[[Expression, Expression], tuple[Expression, Expression]]


def _runge_kutta(slope: _Slope, x: Expression, dx: Expression, h: Expression) -> tuple[Expression, Expression]:
    """Position and velocity after a step h of the classical method of order four."""
    v1, a1 = slope(x, dx)
    v2, a2 = slope(x + h / 2 * v1, dx + h / 2 * a1)
    v3, a3 = slope(x + h / 2 * v2, dx + h / 2 * a2)
    v4, a4 = slope(x + h * v3, dx + h * a3)
    return x + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4), dx + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


def _enough_steps(simulated: SimulatedRobot, x: Array, rate: float) -> int:
    """Steps in a sampling period for which dry friction, at rest its stiffest, is integrated stably along x."""
    poses = x[np.linspace(0, len(x) - 1, 50).round().astype(int)]
    rates = np.linalg.eigvals(np.linalg.solve(simulated.joint_inertia(poses), simulated.joint_damping(poses)))
    return max(2, int(np.ceil(np.abs(rates).max() / rate / _STABLE)))
