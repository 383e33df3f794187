"""Feedforward control of PaLiDA on the circle of [AHG, §V]: what the identified parameters are worth.

The paper identifies for this purpose ("the use of model-based feedforward control is crucial for accuracy improvement")
and prints no result of it.
"""

from collections.abc import Mapping
from math import pi, radians
from typing import Any

import numpy as np

from gough.control import Comparison, DesiredMotion
from gough.core.tables import Table
from gough.estimates import Estimate
from gough.export import IdentifiedDynamics, MotionRange, RobotModel
from gough.papers.closed_loop import comparison_table, controlled, distance_figure, numbers
from gough.papers.palida.benchmark import RADIUS
from gough.papers.palida.robot import GM, LS, ML, BaseModel, Readings, gauss_markov, least_squares, maximum_likelihood
from gough.report import Drawing
from gough.robots.model import JointMotion
from gough.simulate import Circle, FourierSeries, Loop

SPEED, INCLINATION = 1.0, radians(30)
"""m/s, rad [AHG, §V]."""
LOOP = Loop(rate=1000.0, limit=230.0, bandwidth=10.0)
"""Rate and bandwidth are our choice; the limit is that of the description."""
PRIOR = "a priori, without friction"
"""The a-priori column of [AHG, table III], which has no friction."""
_LAWS = ("pd", "feedforward")


def estimates_for_control(data: Readings, order: int) -> dict[str, Estimate]:
    """The paper's three estimators on one repetition."""
    return {LS: least_squares(data), GM: gauss_markov(data), ML: maximum_likelihood(data, order=order)}


def circle(model: BaseModel) -> DesiredMotion:
    """Two turns of the circle at 1 m/s, from rest to rest."""
    robot = model.full
    turn = 2 * pi * RADIUS / SPEED
    way = Circle(robot.home, RADIUS, inclination=INCLINATION, turn=turn, turns=2, ramp=0.5).sample(LOOP.rate)
    return DesiredMotion("circle", LOOP.rate, JointMotion(*robot.joint_motion(*way)), way)


def followed_circle(model: BaseModel, series: FourierSeries, estimates: Mapping[str, Estimate]) -> Comparison:
    """PaLiDA with its true parameters on the circle, with models of several origins as feedforward.

    Args:
        model: The robot, and its base parameters.
        series: The trajectory of the identification, for the range of the data.
        estimates: Estimates of the base parameters by label.
    """
    robot, names = model.full, model.robot.names
    way = series.at(np.linspace(0.0, series.period, 500))
    moved = robot.joint_motion(way.q, way.dq, way.ddq)
    dynamics = IdentifiedDynamics(
        robot=robot,
        columns=names,
        estimates=estimates,
        recommended=ML,
        fixed={},
        seen=MotionRange.of(moved.q, moved.dq, moved.ddq),
    )
    truth = dict(zip(robot.names, robot.nominal.tolist(), strict=True))
    models = {
        PRIOR: {name: value for name, value in truth.items() if not name.startswith(("r_", "v_"))},
        **{label: dict(zip(names, each.value.tolist(), strict=True)) for label, each in estimates.items()},
    }
    return controlled(RobotModel(dynamics=dynamics), truth, motion=circle(model), laws=_LAWS, loop=LOOP, models=models)


def control_table(runs: Mapping[str, Mapping[str, Any]]) -> Table:
    """A row for each controller."""
    caption = (
        "Feedforward on the circle in closed loop, for which the paper identifies (it prints no result; models are of "
        "one repetition)"
    )
    return comparison_table(runs, caption, "N")


def control_figure(followed: Comparison) -> Drawing:
    """Distances from the circle over time."""
    caption = (
        f"Feedforward on two turns of the circle at {SPEED:g} m/s: PD control of the drives with a bandwidth of "
        f"{LOOP.bandwidth:g} Hz, and the same with the forces of each model as feedforward. The paper has no such "
        "figure."
    )
    panels = {
        "without friction in the model": ["pd", f"feedforward, {PRIOR}"],
        "identified and true parameters": [f"feedforward, {name}" for name in (LS, GM, ML, "true")],
    }
    return distance_figure("feedforward-on-the-circle", followed, panels, caption)


def loop_numbers(model: BaseModel, followed: Comparison) -> dict[str, Any]:
    """Unrounded values of the table and of `on_control`, as plain data."""
    p_2, p_3 = (float(model.truth[model.place(symbol)[0]]) for symbol in ("p_2", "p_3"))
    return {
        "runs": numbers(followed),
        "outside_the_data": followed.motion.outside(followed.study.dynamics),
        "impossible_bodies": len(followed.study.impossible),
        "p_2": p_2,
        "p_3": p_3,
    }


def on_control(loop: Mapping[str, Any]) -> tuple[str, ...]:
    """What the models are worth in a controller, and which robot is simulated."""
    runs = loop["runs"]

    def distance(label: str, key: str = "rms_distance") -> str:
        return f"{1e3 * runs[label][key]:.2g}"

    fed = [f"{distance(f'feedforward, {name}')} mm with {words}" for name, words in _WORDS.items()]
    return (
        (
            'The paper calls feedforward "crucial for accuracy improvement". On the circle, PD control of the drives '
            f"alone leaves {distance('pd')} mm rms and {distance('pd', 'largest_distance')} mm at most between the "
            "platform and its desired position. With the forces of a model as feedforward these are, in rms, "
            f"{', '.join(fed[:-1])} and {fed[-1]}. Sensors have no noise here and drives no cogging; the rate of "
            f"{LOOP.rate:g} Hz and the bandwidth of {LOOP.bandwidth:g} Hz are our choice."
        ),
        (
            f"Since p_2 = {loop['p_2']:.3f} exceeds p_3 = {loop['p_3']:.3f}, no rigid bodies have the a-priori values. "
            f"Here {loop['impossible_bodies']} bodies, the stators, have a moment of inertia that exceeds the sum of "
            "the other two. They are simulated as they are: the motion of the drives depends on base parameters alone, "
            "and the kinetic energy of every body is positive."
        ),
    )


_WORDS = {
    PRIOR: "the a-priori values, which have no friction",
    LS: "LS",
    GM: "GM",
    ML: "ML",
    "true": "the true parameters",
}
