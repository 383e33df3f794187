"""A simulated robot, recorded and identified as a real one would be."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest, require
from gough.core.progress import Phase
from gough.core.text import listed
from gough.data import MeasuredMotion, default_steps, prepare
from gough.dynamics import (
    DEFAULT_METHODS,
    GainEstimate,
    Identified,
    IdentifiedRepeats,
    gain_from_static_tests,
    identify,
    identify_repeated,
)
from gough.dynamics.periodic.motion import RepeatedMotion
from gough.robots import DynamicModel
from gough.robots.arguments import with_variant
from gough.simulate.demos import DEMOS, Campaign, Demo, PeriodicCampaign
from gough.simulate.virtual import SimulatedRecording


@dataclass(frozen=True, eq=False)
class Demonstration:
    """A simulated campaign, and the identification from its recordings alone."""

    demo: Demo
    campaign: Campaign
    recorded: SimulatedRecording
    """To identify by."""
    other: SimulatedRecording
    """Recording of another trajectory, for validation."""
    gains: tuple[GainEstimate, ...]
    """Gains of the amplifiers, where they were measured by static tests."""
    identified: Identified
    truth: Array | None
    """True parameters of the model that was used; None where it is no part of the robot's."""

    @property
    def about(self) -> str:
        """One paragraph on the robot and its recordings."""
        demo, campaign = self.demo, self.campaign
        recording, sigma = self.recorded.recording, self.recorded.errors.std(axis=0)
        errors = f"{np.sqrt((sigma**2).mean()):.2g} {demo.effort_unit}"
        full = campaign.experiment.simulated.mechanism is not None
        torques = "Torques are those of the complete mechanism, every rod and bar. " if full else ""
        gains = ""
        if self.gains:
            each = listed(gain_texts(self.gains))
            gains = f" The amplifiers' gains are measured by static force tests: {each} N·m/V."
        return (
            f"A simulated {demo.robot} has {len(campaign.robot.names)} dynamic parameters, {demo.truth}. {torques}It "
            f"moves for {recording.duration:.3g} s; motor positions and amplifier voltages are recorded "
            f"{recording.rate:g} times a second. Voltages times gain differ from the torques by {errors} (rms): noise, "
            f"ripple, converters.{gains} The methods do not use the true values."
        )


@dataclass(frozen=True, eq=False)
class RepeatedDemonstration:
    """A simulated campaign of repeats, and the identification from them alone."""

    demo: Demo
    campaign: PeriodicCampaign
    identified: IdentifiedRepeats
    truth: Array | None
    """True parameters of the model that was used; None where it is no part of the robot's."""

    @property
    def about(self) -> str:
        """One paragraph on the robot and its repeats."""
        demo, motion, noise = self.demo, self.identified.motion, self.identified.noise
        assert noise is not None
        n = len(motion.coordinates)
        lengths, forces = 1e3 * noise.sigma[:n].mean(), noise.sigma[n:]
        others = listed([f"the {name}" for name in self.campaign.validation])
        return (
            f"A simulated {demo.robot} has {len(self.campaign.robot.names)} dynamic parameters, {demo.truth}. It runs "
            f"{motion.n_repeats} times through a D-optimal motion of {motion.period:g} s; strut lengths and forces are "
            f"recorded {motion.rate:g} times a second, with errors of {lengths:.2g} mm, and of {forces.min():.0f} to "
            f"{forces.max():.0f} {demo.effort_unit}, that are correlated between struts. Then it runs as often through "
            f"the {others.removeprefix('the ')}, inclined by 30°. The methods do not use the true values."
        )


def demonstrate(
    name: str,
    *,
    seed: int = 1,
    mechanism: bool = False,
    variant: str | None = None,
    methods: Sequence[str] = DEFAULT_METHODS,
    on_step: Callable[[Phase], object] = lambda _: None,
    **options: Any,
) -> Demonstration | RepeatedDemonstration:
    """Simulate the campaign of this name, and identify its robot from what was recorded.

    Args:
        name: One of `DEMOS`.
        seed: Another seed, another robot, motion and noise.
        mechanism: Take torques from the complete mechanism, every rod and bar (needs the extra `multibody`).
        variant: The robot's model to identify with; None takes the most detailed one.
        methods: Names of methods; repeats are always identified by all that know of them.
        on_step: Told of each step as it begins.
        options: Of the campaign, such as `seconds` or `noise`.

    Examples:
        >>> demonstration = demonstrate("five-bar", methods=["weighted"], periods=1)
        >>> demonstration.identified["weighted"].status.name
        'OK'
    """
    demo = _named(name)
    if demo.is_periodic:
        require(not mechanism, f"the model of {demo.robot} is the complete mechanism already: leave --full out")
        made = simulate_repeats(name, seed=seed, on_step=on_step, **options)
        return _from_repeats(demo, made, variant, on_step)
    campaign, recorded, other = simulate(name, seed=seed, on_step=on_step, mechanism=mechanism, **options)
    gains = measured_gains(campaign)
    robot = with_variant(campaign.robot, variant)
    motions = [prepared(robot, each, gains) for each in (recorded, other)]
    identified = identify(robot, motions[0], methods=methods, validation=motions[1], on_step=on_step)
    return Demonstration(demo, campaign, recorded, other, gains, identified, _truth(campaign, robot))


def simulate(
    name: str,
    *,
    seed: int,
    on_step: Callable[[Phase], object] = lambda _: None,
    mechanism: bool = False,
    has_ripple: bool = True,
    **options: Any,
) -> tuple[Campaign, SimulatedRecording, SimulatedRecording]:
    """The campaign of this name, and what it records: to identify by, and of another trajectory.

    Without the torque ripple of its motors (`has_ripple`) the robot is as its model is.

    Examples:
        >>> simulate("five-bar", seed=1, periods=1)[1].recording.names
        ('q1', 'q2', 'V1', 'V2')
    """
    demo = _named(name)
    require(not demo.is_periodic, f"the demo of {demo.robot} is one of repeats: use simulate_repeats")
    arguments = {**options, **({"mechanism": True} if mechanism else {})}
    rng = np.random.default_rng(seed)
    on_step(Phase(1, 20, "looking for a motion that shows everything"))
    campaign: Campaign = demo.campaign(rng, **arguments)
    if not has_ripple:
        experiment, validation = (
            replace(each, instruments=replace(each.instruments, ripple=None))
            for each in (campaign.experiment, campaign.validation)
        )
        campaign = replace(campaign, experiment=experiment, validation=validation)
    on_step(Phase(2, 20, "simulating the robot"))
    return campaign, campaign.experiment.run(rng), campaign.validation.run(rng)


def simulate_repeats(
    name: str, *, seed: int, on_step: Callable[[Phase], object] = lambda _: None, **options: Any
) -> tuple[PeriodicCampaign, RepeatedMotion, dict[str, RepeatedMotion]]:
    """A campaign of repeats, and what it records: to identify by, and of other motions by name.

    Examples:
        >>> simulate_repeats("palida", seed=1, periods=2, rate=100.0)[1].n_repeats
        2
    """
    demo = _named(name)
    require(demo.is_periodic, f"the demo of {demo.robot} repeats no motion: use simulate")
    rng = np.random.default_rng(seed)
    on_step(Phase(1, 10, "simulating the robot"))
    campaign: PeriodicCampaign = demo.campaign(rng, **options)
    motion = campaign.experiment.run(rng)
    return campaign, motion, {name: experiment.run(rng) for name, experiment in campaign.validation.items()}


def _from_repeats(
    demo: Demo,
    made: tuple[PeriodicCampaign, RepeatedMotion, Mapping[str, RepeatedMotion]],
    variant: str | None,
    on_step: Callable[[Phase], object],
) -> RepeatedDemonstration:
    campaign, motion, others = made
    robot = with_variant(campaign.robot, variant)
    identified = identify_repeated(robot, motion, validation=others, on_step=on_step)
    return RepeatedDemonstration(demo, campaign, identified, _truth(campaign, robot))


def _named(name: str) -> Demo:
    if name not in DEMOS:
        raise InputError(f"there is no demo called '{name}'{nearest(name, DEMOS)} (known: {', '.join(DEMOS)})")
    return DEMOS[name]


def measured_gains(campaign: Campaign) -> tuple[GainEstimate, ...]:
    """The gain of each amplifier from static tests; empty where there are none, and the gains count as known."""
    tests = campaign.static_tests
    if tests is None:
        return ()
    return tuple(gain_from_static_tests(tests.voltages, forces, tests.lever) for forces in tests.forces.T)


def gain_texts(gains: Sequence[GainEstimate]) -> list[str]:
    """Each gain with its 95 % interval."""
    halves = [each.fit.intervals().width[each.fit.unknowns.index("gain")] / 2 for each in gains]
    return [f"{each.gain:.2f} ± {half:.2f}" for each, half in zip(gains, halves, strict=True)]


def prepared(robot: DynamicModel, simulated: SimulatedRecording, gains: Sequence[GainEstimate] = ()) -> MeasuredMotion:
    """A simulated recording, prepared as usual; with the true gains where none were measured."""
    recording = simulated.recording
    efforts = dict(zip(robot.actuators, recording.names[len(robot.coordinates) :], strict=True))
    gain = known_gain(simulated, gains)
    steps = default_steps(recording.rate, gain=gain[0] if len(set(gain)) == 1 else gain)
    return prepare(recording, robot.coordinates, efforts, steps)


def known_gain(simulated: SimulatedRecording, gains: Sequence[GainEstimate] = ()) -> tuple[float, ...]:
    """The gain of each amplifier as far as it is known: measured, or else true."""
    return tuple(each.gain for each in gains) or tuple(simulated.gain.tolist())


def _truth(campaign: Campaign | PeriodicCampaign, robot: DynamicModel) -> Array | None:
    true = dict(zip(campaign.robot.names, campaign.truth.tolist(), strict=True))
    return np.array([true[name] for name in robot.names]) if set(robot.names) <= set(true) else None
