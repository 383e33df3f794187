"""Physics before numbers: whether an estimate can be that of a robot with positive masses, and which mistake fits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gough.core.tables import Cell, Column, Table, table
from gough.core.text import listed, number, plus_minus, signs
from gough.data import MeasuredMotion
from gough.dynamics.mistakes import wrong_angles, wrong_order, wrong_sign, wrong_units
from gough.dynamics.physical_cone import (
    COMBINATION,
    MOST_NAMED,
    Impossible,
    PhysicalCone,
    PhysicalTest,
    has_base,
    sizes_of,
)
from gough.dynamics.signs import Sign, p_equals
from gough.estimates import Estimate
from gough.methods.statistical.identifiability import Identifiability
from gough.problem import LinearProblem
from gough.region import ConfidenceEllipsoid
from gough.robots.model import DynamicModel
from gough.robots.physical import physical_limits

ABOUT = "physical parameters"


@dataclass(frozen=True)
class Physics:
    """Whether the identified parameters are physically possible.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> identify(*random_motion(1), methods=["weighted"], compare=False).physics.sign.against
        False
    """

    sign: Sign
    method: str
    """The method whose estimate was tested."""
    impossible: tuple[Impossible, ...]
    """What is negative and cannot be, the worst first."""
    distance: float
    """Distance of the estimate from the physically possible ones, in standard deviations."""
    dof: int
    """Number of base parameters, or combinations of them, that physics constrains."""
    mistake: str
    """The mistake that explains it, as a sentence with what was tested; empty where none was found."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """The result, in sentences."""
        return self.sign.sentences

    def table(self) -> Table:
        """A row for each impossible parameter."""
        columns = [Column("parameter", "label"), Column("unit", "unit"), Column("value"), Column("σ below 0")]
        rows: list[list[str | Cell]] = [
            [each.name, each.unit, signs(" ± ".join(plus_minus(each.value, 2 * each.sigma))), number(each.beyond, 0.1)]
            for each in self.impossible
        ]
        return table(columns, rows, "." * len(columns), "Parameters that are not physically possible")

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        fields = ("name", "unit", "what", "value", "sigma", "beyond", "unless")
        return {
            "against": self.sign.against,
            "p": self.sign.p,
            "method": self.method,
            "distance": self.distance,
            "dof": self.dof,
            "impossible": [{field: getattr(each, field) for field in fields} for each in self.impossible],
            "mistake": self.mistake,
            "sentences": list(self.sentences),
        }


def physics_of(
    robot: DynamicModel,
    analysis: Identifiability,
    problem: LinearProblem,
    answer: Estimate,
    *,
    method: str,
    motion: MeasuredMotion | None = None,
) -> Physics | None:
    """Whether an estimate can be that of a robot with positive masses, inertias and friction.

    Args:
        robot: The model; its property `physical` states the limits of its parameters.
        analysis: Identifiability of its free parameters, whose base parameters the estimate has.
        problem: The rows that were fitted, in the base parameters.
        answer: An estimate with a covariance.
        method: Name of its method.
        motion: The motion that the rows were made of, if other units of its coordinates are to be tried.

    Returns:
        The result; None if the robot states no limits, or the estimate has no covariance.
    """
    cone = PhysicalCone.of(physical_limits(robot), analysis)
    if cone is None or not has_base(analysis, answer):
        return None
    test = cone.test(answer, sizes_of(problem))
    if test is None:
        return None
    mistake = wrong_sign(cone, problem, robot, is_refuted=test.is_refuted)
    mistake = mistake or wrong_order(cone, problem, robot)
    mistake = mistake or wrong_angles(robot, problem, motion, is_refuted=test.is_refuted)
    mistake = mistake or wrong_units(robot, analysis, answer)
    impossible = test.impossible(cone) if test.is_refuted else ()
    sentences = (*_sentences(test, impossible, method), *([mistake] if mistake else []))
    statistic = f"{number(test.distance, digits=3)} σ from possible" if test.dof else "nothing to test"
    if mistake and not test.is_refuted:
        statistic = "a mistake of signs, order or units fits better"
    # a mistake that another test found does not have the p of this one
    p = None if mistake and not test.is_refuted else test.p
    sign = Sign(ABOUT, test.is_refuted or bool(mistake), statistic, p, sentences)
    return Physics(sign, method, impossible, test.distance, test.dof, mistake)


def physics_of_first(
    robot: DynamicModel,
    analysis: Identifiability,
    problem: LinearProblem,
    estimates: Mapping[str, Estimate],
    motion: MeasuredMotion | None = None,
) -> Physics | None:
    """`physics_of` the first estimate that has a covariance; None if none has."""
    for method, answer in estimates.items():
        if isinstance(answer.region, ConfidenceEllipsoid):
            return physics_of(robot, analysis, problem, answer, method=method, motion=motion)
    return None


def _sentences(test: PhysicalTest, impossible: tuple[Impossible, ...], method: str) -> list[str]:
    if not test.is_refuted:
        n = len(test.singles)
        alone = f"no mass, moment of inertia, friction or combination of the {n} tested is below zero beyond its ±"
        if not n:
            alone = "some bodies with positive mass have them"
        return [f"The parameters by {method} are physically possible: {alone} ({p_equals(test.p)})."]
    claim = f"The parameters by {method} are not physically possible:"
    worst = impossible[0]
    if worst.what == COMBINATION and not worst.unit and len(impossible) == 1:
        positive = "for all bodies with positive mass, and friction that is not negative,"
        below = f"is at least zero, but it is {number(worst.beyond, digits=3)} σ below zero"
        return [f"{claim} {positive} a combination of {listed(test.involved)} {below} ({p_equals(test.p)})."]
    named = [_named(each) for each in impossible[:MOST_NAMED]]
    if len(impossible) > MOST_NAMED:
        named.append(f"{len(impossible) - MOST_NAMED} more")
    return [f"{claim} {listed(named)}, which cannot be negative ({p_equals(test.p)})."]


def _named(each: Impossible) -> str:
    value = signs(" ± ".join(plus_minus(each.value, 2 * each.sigma)))
    unit = f" {each.unit}" if each.unit else ""
    unless = f", possible only if {each.unless}" if each.unless else ""
    about = f", against the {each.what}" if each.what.startswith("triangle") else ""
    return f"{each.name} = {value}{unit} ({number(each.beyond, digits=3)} σ below zero{about}{unless})"
