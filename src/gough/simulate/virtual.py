"""Virtual experiments: a robot whose parameters are known moves, and is recorded as in a laboratory."""

from dataclasses import dataclass, field, replace

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.errors import InputError, require, require_positive
from gough.data.recording import Recording
from gough.problem import LinearProblem
from gough.robots.model import DynamicModel, PoseMotion
from gough.simulate.closed_loop import ClosedLoop
from gough.simulate.control import Controller
from gough.simulate.instruments import Instruments
from gough.simulate.simulated_robot import SimulatedRobot
from gough.simulate.trajectories import Motion, Trajectory


@dataclass(frozen=True, eq=False)
class TrueMotion(ArrayValue):
    """What a robot did at the N instants of sampling, without the errors of any instrument.

    Examples:
        >>> zeros = np.zeros((3, 2))
        >>> TrueMotion(np.arange(3.0), *[zeros] * 6, wanted=zeros + 0.1).error[0]
        array([0.1, 0.1])
    """

    times: Array
    """(N,) in seconds."""
    q: Array
    """(N, n) joint positions."""
    dq: Array
    ddq: Array
    """Where the effort jumps at an instant of sampling: the mean of the accelerations before and after."""
    x: Array
    """(N, m) poses; the joint positions, where the robot's equations are written in those."""
    dx: Array
    ddx: Array
    wanted: Array
    """(N, n) joint positions of the reference."""

    @property
    def error(self) -> Array:
        """(N, n) how far the joints were from what was wanted."""
        return np.abs(self.wanted - self.q)

    @property
    def pose(self) -> PoseMotion:
        """x, dx and ddx."""
        return PoseMotion(self.x, self.dx, self.ddx)


@dataclass(frozen=True, eq=False)
class SimulatedRecording(ArrayValue):
    """What a virtual experiment yields: the recording, and the truth behind it.

    Examples:
        >>> from gough.simulate.demos import five_bar
        >>> simulated = five_bar(np.random.default_rng(1), periods=1).experiment.run(np.random.default_rng(2))
        >>> simulated.recording.names
        ('q1', 'q2', 'V1', 'V2')
        >>> simulated.measured_efforts.shape, simulated.truth.shape
        ((1000, 2), (21,))
    """

    recording: Recording
    """Channels q1 … as the encoders show them, V1 … as the converters do: effort = gain · voltage."""
    truth: Array
    """(p,) the parameters."""
    motion: TrueMotion
    efforts: Array
    """(N, n) that acted on the mechanism, ripple included."""
    gain: Array
    """(n,) effort per volt."""
    robot: str = field(default="")
    """Its name."""

    @property
    def measured_efforts(self) -> Array:
        """(N, n) gain times recorded voltages."""
        return self.recording.samples[:, -len(self.gain) :] * self.gain

    @property
    def errors(self) -> Array:
        """Measured minus true efforts."""
        return self.measured_efforts - self.efforts


@dataclass(frozen=True, eq=False)
class VirtualExperiment(ArrayValue):
    """A robot that follows a trajectory, exactly or under control, and is recorded by its instruments.

    Without a controller the robot follows exactly: its motion is that of the trajectory, its efforts are those that
    the motion needs, dry friction with a plain sign. This is exact: efforts = regressor · parameters to rounding.

    With a controller the closed loop is simulated (`ClosedLoop`), and the efforts are those that really acted: the
    recording is consistent with the robot's motion, however badly it followed. At an instant of sampling, where the
    held voltage jumps, effort and acceleration are the means of their values before and after.

    A `mechanism` of the robot takes no part in the control. The robot's own equations decide how the robot moves
    under control; the efforts are then those that the complete mechanism needs for that very motion. So motion and
    efforts are again consistent, with the mechanism; the voltages are those a controller of the mechanism would have
    had to give, and differ from those that were given in the simulation by the terms that the equations lack.

    Examples:
        >>> from gough.simulate.trajectories import FourierSeries, Periodic
        >>> from gough.robots import FiveBar
        >>> robot = FiveBar.demo()
        >>> swing = Periodic(FourierSeries([2.0, 1.1], [[0.5], [0.4]], [[0.0], [0.2]], frequency=0.5))
        >>> simulated = SimulatedRobot(robot, robot.nominal)
        >>> experiment = VirtualExperiment(simulated, swing, Instruments(noise=0.1), rate=100.0)
        >>> experiment.run(np.random.default_rng(1)).efforts.shape
        (200, 2)
    """

    simulated: SimulatedRobot
    trajectory: Trajectory
    instruments: Instruments
    rate: float = 1000.0
    """Samples a second, of the recording and of the controller."""
    controller: Controller | None = None
    """None follows the trajectory exactly."""
    substeps: int | None = None
    """Steps of integration in each sampling period, with a controller; None chooses."""

    def __post_init__(self) -> None:
        require_positive(self.rate, "rate", "Hz")
        n, name = self.simulated.n_actuators, self.simulated.robot.name
        for what, check in (("noise", self.instruments.errors), ("gain", self.instruments.gains)):
            try:
                check(n)
            except InputError as error:
                raise InputError(f"the {what} does not fit {name}: {error}") from error

    @property
    def robot(self) -> DynamicModel:
        """The robot whose parameters are to be found."""
        return self.simulated.robot

    @property
    def parameters(self) -> Array:
        """The truth (p,)."""
        return self.simulated.parameters

    def run(self, rng: np.random.Generator) -> SimulatedRecording:
        """One recording; a generator in the same state gives the same one, bit for bit.

        Raises:
            InputError: the trajectory is out of reach, or the robot cannot follow it.
        """
        phases, losses = rng.spawn(2)
        reference = self._reference()
        n = self.simulated.n_actuators
        phase, gain = self.instruments.phases(phases, n), self.instruments.gains(n)
        motion, efforts = self._exactly(reference) if self.controller is None else self._under(reference, phase)
        ripple = self.instruments.ripple
        added = 0.0 if ripple is None else ripple.with_phase(phase).torque(motion.q)
        voltages = (efforts - added) / gain
        if self.controller is None:
            self._refuse_beyond_limit(voltages)
        read = self.instruments.read_voltages(voltages, self.rate, rng)
        samples = self.instruments.log(np.hstack([self.instruments.read_positions(motion.q), read]), losses)
        names = (*self.robot.coordinates, *(f"V{i + 1}" for i in range(n)))
        units = (*self.robot.coordinate_units, *("V",) * n)
        recording = Recording(names, units, samples, self.rate, source=f"simulated {self.robot.name}")
        return SimulatedRecording(recording, self.parameters, motion, efforts, gain, self.robot.name)

    def _reference(self) -> Motion | PoseMotion:
        reference = self.trajectory.sample(self.rate)
        is_pose, name = isinstance(reference, PoseMotion), self.robot.name
        if is_pose != self.simulated.moves_in_pose:
            raise InputError(
                f"{name} is moved by a trajectory of its {'joints' if is_pose else 'pose'}, not of its "
                f"{'pose' if is_pose else 'joints'}"
            )
        return reference

    def _exactly(self, reference: Motion | PoseMotion) -> tuple[TrueMotion, Array]:
        return self._true_motion(reference, reference), self.simulated.efforts(reference)

    def _under(self, reference: Motion | PoseMotion, phase: Array) -> tuple[TrueMotion, Array]:
        """The motion under control, and the efforts of that motion."""
        simulated, tools = self.simulated, self.instruments
        assert self.controller is not None
        followed = ClosedLoop(simulated, self.controller, tools, self.rate, phase, self.substeps).follow(reference)
        x, dx, held = followed.x, followed.dx, followed.voltages
        averaged = np.vstack([held[:1], (held[1:] + held[:-1]) / 2])
        in_pose = isinstance(reference, PoseMotion)
        q = simulated.joint_motion(PoseMotion(x, dx, np.zeros_like(x))).q if in_pose else x
        efforts = tools.gains(simulated.n_actuators) * averaged
        if tools.ripple is not None:
            efforts = efforts + tools.ripple.with_phase(phase).torque(q)
        ddx = simulated.accelerations(x, dx, efforts)
        moved = PoseMotion(x, dx, ddx) if in_pose else Motion(np.arange(len(x)) / self.rate, x, dx, ddx)
        if simulated.mechanism is not None:
            efforts = simulated.mechanism.efforts(x, dx, ddx) + simulated.friction_efforts(x, dx)
        return self._true_motion(moved, reference), efforts

    def _true_motion(self, moved: Motion | PoseMotion, reference: Motion | PoseMotion) -> TrueMotion:
        joints = self.simulated.joint_motion(moved)
        wanted = joints.q if moved is reference else self.simulated.joint_motion(reference).q
        own = moved if isinstance(moved, PoseMotion) else PoseMotion(*joints)
        return TrueMotion(np.arange(len(joints.q)) / self.rate, *joints, *own, wanted=wanted)

    def _refuse_beyond_limit(self, voltages: Array) -> None:
        limit = self.instruments.voltage_limit
        most = np.abs(voltages).max(axis=0)
        worst = int(most.argmax())
        require(
            bool(most[worst] <= limit),
            f"{self.robot.actuators[worst]} would need {most[worst]:.3g} V to follow the trajectory, but voltage_limit "
            f"is {limit:g} V: slow the motion, or raise the limit",
        )


@dataclass(frozen=True, eq=False)
class SimulatedInstruments(ArrayValue):
    """Z for `InstrumentalVariables`: the experiment simulated with the present parameters, without any noise [JVG14].

    The simulated robot follows the same reference under the same controller, so that its motion resembles the
    measured one and shares none of its noise. Without a controller it is the reference itself.

    Examples:
        >>> from gough import LinearProblem, Unknowns
        >>> from gough.simulate import FourierSeries, SimulatedRobot, Periodic
        >>> from gough.robots import FiveBar
        >>> robot = FiveBar()
        >>> swing = Periodic(FourierSeries([2.0, 1.1], [[0.5], [0.4]], [[0.0], [0.2]], frequency=0.5))
        >>> experiment = VirtualExperiment(SimulatedRobot(robot, robot.nominal), swing, Instruments(), rate=100.0)
        >>> instruments = SimulatedInstruments(experiment, rate=50.0, start=0.1)
        >>> rows = LinearProblem(np.ones((20, 21)), np.ones(20), Unknowns(robot.names), groups=robot.actuators)
        >>> instruments(rows, robot.nominal).shape
        (20, 21)
    """

    experiment: VirtualExperiment
    """What is simulated; its robot's parameters and its instruments' errors do not matter."""
    rate: float
    """Samples a second of the problem's grid of rows, as of the measured motion."""
    start: float = 0.0
    """Time of the grid's first place, in seconds from the beginning of the experiment."""
    columns: tuple[int, ...] | None = None
    """Columns of the robot's regressor that the problem has; None: all. The others' parameters are taken as zero."""

    def __call__(self, problem: LinearProblem, theta: Array) -> Array:
        """The simulated regressor at the problem's rows."""
        robot = self.experiment.robot
        columns = np.arange(len(robot.names)) if self.columns is None else np.array(self.columns)
        require(
            len(columns) == len(problem.unknowns),
            f"the problem has {len(problem.unknowns)} unknowns, the simulation {len(columns)} columns: state columns",
        )
        parameters = np.zeros(len(robot.names))
        parameters[columns] = theta
        silent = Instruments(gain=self.experiment.instruments.gain, encoder_counts=None)
        simulated = replace(self.experiment.simulated, parameters=parameters, mechanism=None)
        experiment = replace(self.experiment, simulated=simulated, instruments=silent)
        motion = experiment.run(np.random.default_rng(0)).motion
        n = len(problem.groups)
        positions = problem.groups.positions(slice(0, problem.n_rows))
        samples = np.rint((self.start + positions // n / self.rate) * self.experiment.rate).astype(np.int64)
        if samples[0] < 0 or samples[-1] >= len(motion.q):
            raise InputError(
                f"the problem's rows reach from sample {samples[0]} to {samples[-1]} of the experiment, which has "
                f"{len(motion.q)}: check rate and start"
            )
        Z = robot.regressor(motion.q, motion.dq, motion.ddq)
        return np.ascontiguousarray(Z[samples, positions % n][:, columns])
