"""Instruments from a simulation: the regressor that the present parameters would have moved along."""

from dataclasses import dataclass, replace

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.errors import InputError, require
from gough.problem import LinearProblem
from gough.simulate.instruments import Instruments
from gough.simulate.virtual import VirtualExperiment


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
