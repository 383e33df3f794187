"""A simulated machine, recorded and identified as a real one would be."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest, require
from gough.data import MeasuredMotion, default_steps, prepare
from gough.experiments.demos import DEMOS, Campaign
from gough.experiments.virtual import SimulatedRecording
from gough.identification import DEFAULT_METHODS, GainEstimate, Identified, Step, gain_from_static_tests, identify
from gough.identification.tables import half_width
from gough.robots import DynamicModel


@dataclass(frozen=True, eq=False)
class Demonstration:
    """What was simulated, and what was found from its recordings alone."""

    campaign: Campaign
    recorded: SimulatedRecording
    """To identify by."""
    other: SimulatedRecording
    """Of another trajectory, for validation."""
    gains: tuple[GainEstimate, ...]
    """Of the amplifiers, where they were measured by static tests."""
    identified: Identified
    truth: Array | None
    """True parameters of the model that was used; None where it is no part of the machine's."""


def demonstrate(
    name: str,
    *,
    seed: int = 1,
    mechanism: bool = False,
    variant: str | None = None,
    methods: Sequence[str] = DEFAULT_METHODS,
    on_step: Callable[[Step], object] = lambda _: None,
    **options: Any,
) -> Demonstration:
    """Simulate the campaign of this name, and identify its robot from what was recorded.

    Args:
        name: One of `DEMOS`.
        seed: Another seed, another machine, motion and noise.
        mechanism: Take torques from the complete mechanism, every rod and bar (needs the extra `multibody`).
        variant: The robot's model to identify with; None takes the most detailed one.
        methods: Names of methods.
        on_step: Told of each step as it begins.
        options: Of the campaign, such as `seconds` or `noise`.

    Examples:
        >>> demonstration = demonstrate("five-bar", methods=["weighted"], periods=1)
        >>> demonstration.identified["weighted"].status.name
        'OK'
    """
    campaign, recorded, other = simulate(name, seed=seed, on_step=on_step, mechanism=mechanism, **options)
    gains = measured_gains(campaign)
    robot = model(campaign.robot, variant)
    motions = [prepared(robot, each, gains) for each in (recorded, other)]
    found = identify(robot, motions[0], methods=methods, validation=motions[1], on_step=on_step)
    return Demonstration(campaign, recorded, other, gains, found, _truth(campaign, robot))


def simulate(
    name: str, *, seed: int, on_step: Callable[[Step], object] = lambda _: None, mechanism: bool = False, **options: Any
) -> tuple[Campaign, SimulatedRecording, SimulatedRecording]:
    """The campaign of this name, and what it records: to identify by, and of another trajectory.

    Examples:
        >>> simulate("five-bar", seed=1, periods=1)[1].recording.names
        ('q1', 'q2', 'V1', 'V2')
    """
    if name not in DEMOS:
        raise InputError(f"there is no demo called '{name}'{nearest(name, DEMOS)} (known: {', '.join(DEMOS)})")
    given = {**options, **({"mechanism": True} if mechanism else {})}
    rng = np.random.default_rng(seed)
    on_step(Step(1, 20, "looking for a motion that shows everything"))
    campaign = DEMOS[name].campaign(rng, **given)
    on_step(Step(2, 20, "simulating the machine"))
    return campaign, campaign.experiment.run(rng), campaign.validation.run(rng)


def measured_gains(campaign: Campaign) -> tuple[GainEstimate, ...]:
    """The gain of each amplifier from static tests; empty where there are none, and the gains count as known."""
    tests = campaign.static_tests
    if tests is None:
        return ()
    return tuple(gain_from_static_tests(tests.voltages, forces, tests.lever) for forces in tests.forces.T)


def gain_texts(gains: Sequence[GainEstimate]) -> list[str]:
    """Each gain with its 95 % interval."""
    halves = [half_width(each.fit)[each.fit.unknowns.index("gain")] for each in gains]
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


def model(robot: DynamicModel, variant: str | None) -> DynamicModel:
    """The robot with another of its nested models."""
    if variant is None:
        return robot
    known = [one.variant for one in getattr(robot, "variants", ())]
    require(bool(known), f"{robot.name} has one model only: leave the variant out")
    if variant not in known:
        raise InputError(
            f"{robot.name} has no variant '{variant}'{nearest(variant, known)} (known: {', '.join(known)})"
        )
    return replace(robot, variant=variant)  # type: ignore[type-var]


def _truth(campaign: Campaign, robot: DynamicModel) -> Array | None:
    true = dict(zip(campaign.robot.names, campaign.truth.tolist(), strict=True))
    return np.array([true[name] for name in robot.names]) if set(robot.names) <= set(true) else None
