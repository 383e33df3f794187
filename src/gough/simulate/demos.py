"""Experiments that are ready to run, one per family of robots."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.robots import ROBOTS, FiveBar, Palida
from gough.robots.delta import Delta
from gough.robots.h4 import H4
from gough.robots.model import DynamicModel, ParallelRobot
from gough.robots.par4 import Par4
from gough.robots.physical import physical_limits
from gough.simulate.control import Cascade, JointPI
from gough.simulate.excitation import Limits, SlowThenFast
from gough.simulate.instruments import Instruments, Ripple
from gough.simulate.noise import EffortNoise
from gough.simulate.periodic import PeriodicExperiment, white
from gough.simulate.simulated_robot import SimulatedRobot
from gough.simulate.static_tests import StaticForceTests, static_force_tests
from gough.simulate.trajectories import FourierSeries, Periodic, benchmark_circle
from gough.simulate.virtual import VirtualExperiment

_SPREAD = 0.15
"""Standard deviation of the logarithm of true over nominal parameters."""
FORCES = (412.8, 375.4, 883.0, 371.9, 547.2, 970.9)
"""Variances of the measured forces, N² [AHG, §V]."""
LENGTHS = 5e-4
"""m: standard deviation of a measured strut length. Hall sensors in the drives; [AHG] calls it large, and prints none.
"""
CORRELATION = 0.3
"""Correlation of any two channels: [AHG, figure 5] shows matrices far from diagonal, without numbers."""
RADIUS = 0.12
"""m, of the benchmark circles: in the middle of the workspace."""


@dataclass(frozen=True, eq=False)
class Campaign:
    """All that is recorded of one robot: data to identify it by, other data to validate by, tests of its gain.

    Examples:
        >>> campaign = five_bar(np.random.default_rng(1), periods=1)
        >>> campaign.experiment.run(np.random.default_rng(2)).recording.names
        ('q1', 'q2', 'V1', 'V2')
        >>> campaign.truth.shape, campaign.gain
        ((21,), array([1., 1.]))
    """

    experiment: VirtualExperiment
    """To identify by."""
    validation: VirtualExperiment
    """The same robot and instruments on another trajectory."""
    static_tests: StaticForceTests | None = None
    """Static tests of the amplifiers' gains, where these are to be measured."""

    @property
    def robot(self) -> DynamicModel:
        """The model; its nominal parameters are the blueprint."""
        return self.experiment.robot

    @property
    def truth(self) -> Array:
        """The true parameters (p,)."""
        return self.experiment.parameters

    @property
    def gain(self) -> Array:
        """The true gain of each amplifier (n,), effort per volt."""
        return self.experiment.instruments.gains(len(self.robot.actuators))


def five_bar(rng: np.random.Generator, *, periods: int = 8) -> Campaign:
    """A bench-top five-bar that differs from its blueprint by some 15 %, moved for `periods` times five seconds.

    It follows a motion of its joints exactly. Torques come from motor currents: the second motor reads three times as
    noisily as the first, both feel the same supply (correlation 0.6), and a low-pass at 20 Hz gives the errors a
    memory. Positions are read exactly.

    Examples:
        >>> campaign = five_bar(np.random.default_rng(1), periods=1)
        >>> campaign.experiment.run(np.random.default_rng(2)).efforts.shape
        (1000, 2)
    """
    robot = FiveBar.demo()

    def motion(source: np.random.Generator) -> FourierSeries:
        limits = {"amplitude": 0.65, "velocity": 6.0, "acceleration": 80.0}
        return FourierSeries.random(source, offset=[2.05, 1.09], frequency=0.2, n_harmonics=10, **limits)

    (other,) = rng.spawn(1)
    series, truth = motion(rng), _off(robot, rng)
    sigma = np.array([0.02, 0.06])
    noise = EffortNoise(np.outer(sigma, sigma) * [[1.0, 0.6], [0.6, 1.0]], cutoff=20.0)
    instruments = Instruments(encoder_counts=None, noise=noise)
    experiment = VirtualExperiment(SimulatedRobot(robot, truth), Periodic(series, periods), instruments, rate=200.0)
    return Campaign(experiment, replace(experiment, trajectory=Periodic(motion(other))))


def h4(
    rng: np.random.Generator,
    *,
    robot: H4 | None = None,
    mechanism: bool = False,
    noise: Any = 0.1,
    seconds: tuple[float, float] = (10.0, 10.0),
    candidates: int = 30,
) -> Campaign:
    """An H4 some 15 % off its blueprint under joint PI control at 1 kHz: ten seconds slow, ten fast [PRV03i, §4.1].

    Amplifiers turn 10 V into 15 N·m; encoders have 20 000 steps; the motors' torque ripples by
    0.03 N·m, 96 times in a turn.

    Args:
        rng: The source of randomness.
        robot: The model; None takes the H4 of the papers with its 16 parameters.
        mechanism: Take the torques from the complete mechanism (needs the extra `multibody`); the masses of its parts
            are then some 15 % off, and the truth is their sum.
        noise: Errors of the torques: σ in N·m, or `EffortNoise` or `UniformNoise`; None is none.
        seconds: Durations of the slow and of the fast phase; half as long for validation.
        candidates: Random motions among which the best excitation is chosen.

    Examples:
        >>> campaign = h4(np.random.default_rng(1), seconds=(2.0, 2.0), candidates=2)
        >>> campaign.experiment.run(np.random.default_rng(2)).recording.samples.shape
        (4000, 8)
    """
    robot = H4() if robot is None else robot
    instruments = Instruments(gain=1.5, noise=noise, ripple=Ripple(0.03, waves=96.0), voltage_limit=10.0)
    simulated = _simulated(rng, robot, mechanism=mechanism)
    limits = Limits(efforts=10.0, joint_speed=20.0, margin=0.1, reach=0.2)
    search = _Search([0.12, 0.12, 0.06, 0.7], limits, seconds, candidates)
    controller = JointPI.tuned(_blueprint(robot), robot.home, bandwidth=25.0)
    return _campaign(rng, simulated, instruments, controller, search)


def par4(
    rng: np.random.Generator,
    *,
    robot: Par4 | None = None,
    mechanism: bool = False,
    noise: Any = 0.5,
    seconds: tuple[float, float] = (10.0, 10.0),
    candidates: int = 30,
) -> Campaign:
    """A Par4 some 15 % off its blueprint under cascade control at 1 kHz, with static tests of its amplifiers [NCPP].

    Amplifiers turn 10 V into 200 N·m, each a few percent off; encoders have 100 000 steps behind the gears; the
    motors' torque ripples by 0.2 N·m, 120 times in a turn. Arguments as of `h4`.

    Examples:
        >>> campaign = par4(np.random.default_rng(1), seconds=(2.0, 2.0), candidates=2)
        >>> campaign.static_tests.forces.shape
        (11, 4)
    """
    robot = Par4() if robot is None else robot
    gain = 20.0 * (1 + 0.03 * rng.standard_normal(4))
    ripple = Ripple(0.2, waves=120.0)
    instruments = Instruments(gain=gain, encoder_counts=100_000, noise=noise, ripple=ripple, voltage_limit=10.0)
    simulated = _simulated(rng, robot, mechanism=mechanism)
    limits = Limits(efforts=100.0, joint_speed=20.0, margin=0.1, reach=0.2)
    search = _Search([0.25, 0.25, 0.1, 0.5], limits, seconds, candidates, fast=(0.8, 5))
    controller = Cascade.tuned(_blueprint(robot), robot.home, bandwidth=15.0)
    tests = static_force_tests(rng, gains=gain, lever=robot.geometry.arm, sigma=1.0, friction=0.1)
    return replace(_campaign(rng, simulated, instruments, controller, search), static_tests=tests)


def delta(
    rng: np.random.Generator,
    *,
    robot: Delta | None = None,
    mechanism: bool = False,
    noise: Any = 0.5,
    seconds: tuple[float, float] = (10.0, 10.0),
    candidates: int = 30,
) -> Campaign:
    """A Delta some 15 % off its blueprint under cascade control at 1 kHz. Arguments as of `h4`.

    Amplifiers turn 10 V into 200 N·m; encoders have 100 000 steps behind the gears; the motors' torque ripples by
    0.2 N·m, 120 times in a turn.

    Examples:
        >>> campaign = delta(np.random.default_rng(1), seconds=(2.0, 2.0), candidates=2)
        >>> campaign.truth.shape
        (14,)
    """
    robot = Delta() if robot is None else robot
    ripple = Ripple(0.2, waves=120.0)
    instruments = Instruments(gain=20.0, encoder_counts=100_000, noise=noise, ripple=ripple, voltage_limit=10.0)
    simulated = _simulated(rng, robot, mechanism=mechanism)
    limits = Limits(efforts=100.0, joint_speed=20.0, margin=0.1, reach=0.2)
    search = _Search([0.25, 0.25, 0.1], limits, seconds, candidates, fast=(0.8, 5))
    controller = Cascade.tuned(_blueprint(robot), robot.home, bandwidth=15.0)
    return _campaign(rng, simulated, instruments, controller, search)


@dataclass(frozen=True)
class _Search:
    """How an excitation is looked for."""

    amplitude: list[float]
    limits: Limits
    seconds: tuple[float, float]
    candidates: int
    fast: tuple[float, int] = (0.5, 5)

    def run(self, rng: np.random.Generator, robot: ParallelRobot, share: float = 1.0) -> SlowThenFast:
        slow, fast = (share * s for s in self.seconds)
        return SlowThenFast.search(
            rng,
            robot,
            amplitude=self.amplitude,
            limits=self.limits,
            fast=self.fast,
            seconds=(slow, fast),
            candidates=max(1, round(share * self.candidates)),
        )


def _campaign(
    rng: np.random.Generator, simulated: SimulatedRobot, instruments: Instruments, controller: Any, search: _Search
) -> Campaign:
    robot: Any = simulated.robot
    experiment = VirtualExperiment(simulated, search.run(rng, robot), instruments, controller=controller)
    return Campaign(experiment, replace(experiment, trajectory=search.run(rng, robot, share=0.5)))


def _off(robot: DynamicModel, rng: np.random.Generator, spread: float = _SPREAD) -> Array:
    """Parameters off the blueprint: each by itself, but those of a body as its mass and its size change.

    A body of c² times the mass whose parts are r times as far from its frame's origin, divided by c, has first moments
    of c r times and moments of inertia of r² times the blueprint's: if the blueprint is physically possible, so is it.
    """
    logarithms = spread * rng.standard_normal(len(robot.nominal))
    place = {name: k for k, name in enumerate(robot.names)}
    for body in physical_limits(robot).bodies:
        terms = {term: place[name] for term, name in body.terms.items()}
        inertias = [k for term, k in terms.items() if term.startswith("I")]
        if "m" in terms and inertias:
            mass, inertia = logarithms[terms["m"]], logarithms[inertias[0]]
            for term, k in terms.items():
                logarithms[k] = {"m": mass, "s": (mass + inertia) / 2, "I": inertia}[term[0]]
    return np.asarray(robot.nominal * np.exp(logarithms))


def _blueprint(robot: DynamicModel) -> SimulatedRobot:
    return SimulatedRobot(robot, robot.nominal)


def _simulated(rng: np.random.Generator, robot: Any, *, mechanism: bool) -> SimulatedRobot:
    """The robot: parameters off the blueprint, or those of a mechanism whose masses are, with such friction."""
    truth = _off(robot, rng)
    if not mechanism:
        return SimulatedRobot(robot, truth)
    whole = _mechanism(rng, robot)
    lumped = whole.robot.parameters_of_parts()
    rubs = SimulatedRobot(robot, truth).equations.friction.columns
    return SimulatedRobot(robot, np.where(rubs, truth, lumped), whole)


def _mechanism(rng: np.random.Generator, robot: Any) -> Any:
    """The complete mechanism of a robot, its masses and inertias off their blueprint."""
    from gough.simulate.multibody import Multibody  # noqa: PLC0415 - an extra

    changed = {}
    for name, value in vars(robot.parts).items():
        if name.endswith(("_mass", "_masses", "_inertia")) and value is not None:
            scale = np.exp(_SPREAD * rng.standard_normal(np.shape(value)))
            changed[name] = (
                tuple((np.array(value) * scale).tolist()) if isinstance(value, tuple) else float(value * scale)
            )
    return Multibody(robot.with_parts(**changed))


@dataclass(frozen=True, eq=False)
class PeriodicCampaign:
    """All that is recorded of one robot in periodic motions: one to identify it by, others to validate by.

    Examples:
        >>> campaign = palida(np.random.default_rng(1), periods=3)
        >>> campaign.robot.name, campaign.truth.shape, list(campaign.validation)
        ('PaLiDA', (33,), ['circle', 'mirrored circle'])
    """

    experiment: PeriodicExperiment
    """To identify by."""
    validation: Mapping[str, PeriodicExperiment]
    """The same robot and instruments on other motions, by name."""

    @property
    def robot(self) -> DynamicModel:
        """The model; its nominal parameters are the blueprint."""
        return self.experiment.robot

    @property
    def truth(self) -> Array:
        """The true parameters (p,)."""
        return self.experiment.truth


@cache
def palida_excitation() -> FourierSeries:
    """A D-optimal motion of PaLiDA within its limits: five harmonics of 0.5 Hz, the best of five starts.

    `gough design` finds such motions: −ln det of the information is −124.6, of random motions −60 to −79.

    Examples:
        >>> palida_excitation().period
        2.0
    """
    mu = (
        (0.09567, 0.18579, 0.15063, 0.46535, -0.54634),
        (-0.03758, -0.36187, 0.58024, -0.44013, 0.38416),
        (-0.18181, 0.09708, 0.01758, 0.46349, 0.41450),
        (0.22108, -0.77614, 0.18662, 0.40297, 2.49490),
        (0.03176, -0.60157, 0.28671, -0.88959, 2.21743),
        (-1.06787, 2.41767, -1.80527, 0.52404, 7.31654),
    )
    nu = (
        (0.76165, 0.12130, 0.26360, -0.29681, 0.23639),
        (-0.32295, 0.29250, 0.15965, -0.84576, -0.27991),
        (-0.09255, -0.20823, 0.18018, -0.02831, -0.34460),
        (0.49970, -0.14156, -0.10501, 0.28252, 0.77024),
        (-0.06598, -0.17890, 0.05895, 0.29087, -2.00221),
        (-1.19913, 1.14408, 1.18666, -2.53519, -3.54671),
    )
    offset = (-0.07393, -0.03388, -0.63433, 0.06923, -0.16943, 0.40292)
    return FourierSeries(np.array(offset), np.array(mu), np.array(nu), frequency=0.5)


def palida(
    rng: np.random.Generator, *, periods: int = 10, rate: float = 500.0, lengths: float = LENGTHS, spread: float = 0.15
) -> PeriodicCampaign:
    """PaLiDA some 15 % off its blueprint, as in [AHG]: noisy strut lengths and forces, and two circles to validate by.

    Args:
        rng: The source of randomness.
        periods: Number of periods of each motion.
        rate: Samples a second.
        lengths: Standard deviation of a measured strut length, in m.
        spread: Standard deviation of the logarithm of true over nominal parameters.

    Examples:
        >>> campaign = palida(np.random.default_rng(1), periods=2, rate=100.0)
        >>> campaign.experiment.run(np.random.default_rng(2)).q.shape
        (2, 200, 6)
    """
    robot = Palida()
    alike = CORRELATION + (1 - CORRELATION) * np.eye(6)
    sigma = np.sqrt(FORCES)
    truth = _off(robot, rng, spread)
    noise = white(lengths**2 * alike), white(np.outer(sigma, sigma) * alike)
    experiment = PeriodicExperiment(robot, palida_excitation(), rate, periods, *noise, truth)
    circles = {
        name: replace(experiment, series=benchmark_circle(robot.home, RADIUS, rate=rate, mirrored=mirrored))
        for name, mirrored in (("circle", False), ("mirrored circle", True))
    }
    return PeriodicCampaign(experiment, MappingProxyType(circles))


class _Small(NamedTuple):
    """A random motion about the home of a mechanism, and the errors with which it is measured."""

    amplitude: tuple[float, ...]
    """Greatest distance from home, for each coordinate of the pose."""
    positions: float
    """Standard deviation of a measured position."""
    efforts: float
    """Standard deviation of a measured effort."""


_SMALL = MappingProxyType(
    {
        "6-ups": _Small((0.15, 0.15, 0.1, 0.3, 0.3, 0.3), 5e-5, 10.0),
        "6-ucu": _Small((0.15, 0.15, 0.1, 0.3, 0.3, 0.3), 5e-5, 10.0),
        "3-rrr": _Small((0.08, 0.08, 0.3), 2e-4, 0.05),
    }
)


def small_motion(
    rng: np.random.Generator, *, family: str, periods: int = 10, rate: float = 500.0, spread: float = 0.15
) -> PeriodicCampaign:
    """A mechanism some 15 % off its blueprint in a random periodic motion about its home; another one to validate by.

    Args:
        rng: The source of randomness.
        family: "6-ups", "6-ucu" or "3-rrr".
        periods: Number of periods of each motion.
        rate: Samples a second.
        spread: Standard deviation of the logarithm of true over nominal parameters.

    Examples:
        >>> campaign = small_motion(np.random.default_rng(1), family="3-rrr", periods=2, rate=100.0)
        >>> campaign.robot.name, campaign.experiment.run(np.random.default_rng(2)).q.shape, list(campaign.validation)
        ('3-RRR', (2, 200, 3), ['other motion'])
    """
    robot, small = ROBOTS[family](), _SMALL[family]
    truth = _off(robot, rng, spread)

    def experiment() -> PeriodicExperiment:
        series = FourierSeries.random(rng, offset=robot.home, amplitude=small.amplitude, frequency=0.5)
        return PeriodicExperiment(robot, series, rate, periods, small.positions, small.efforts, truth)

    return PeriodicCampaign(experiment(), MappingProxyType({"other motion": experiment()}))


@dataclass(frozen=True)
class Demo:
    """A campaign to show, and the words that a report needs for it.

    Examples:
        >>> DEMOS["five-bar"].effort_unit
        'N·m'
    """

    robot: str
    """What is moved, as part of a sentence."""
    truth: str
    """How its true parameters were chosen, as part of a sentence."""
    effort_unit: str
    campaign: Callable[..., Any]
    """Makes the `Campaign`, or `PeriodicCampaign`, from a random generator."""
    is_periodic: bool = False
    """Is one motion repeated, so that its noise shows?"""


DEMOS: Mapping[str, Demo] = MappingProxyType(
    {
        "five-bar": Demo("planar five-bar", "each some 15% off its blueprint", "N·m", five_bar),
        "h4": Demo("H4", "each some 15% off its blueprint", "N·m", h4),
        "par4": Demo("Par4", "each some 15% off its blueprint", "N·m", par4),
        "delta": Demo("Delta", "each some 15% off its blueprint", "N·m", delta),
        "palida": Demo("PaLiDA", "each some 15% off its blueprint", "N", palida, is_periodic=True),
        **{
            family: Demo(
                name, "each some 15% off its blueprint", unit, partial(small_motion, family=family), is_periodic=True
            )
            for family, name, unit in (("6-ups", "6-UPS", "N"), ("6-ucu", "6-UCU", "N"), ("3-rrr", "3-RRR", "N·m"))
        },
    }
)
"""The demos by the name of their robot."""
