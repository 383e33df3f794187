"""Which groups of parameters the measurements need: nested models, each tested against the one before."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gough.core.arguments import texts, verb
from gough.core.errors import InputError, require
from gough.core.tables import Cell, Table, table
from gough.core.text import listed, number
from gough.estimates import EstimationError, FitStats
from gough.geometry.beliefs import matching, require_one_belief
from gough.geometry.instruments.calibrate import calibrate_by_instruments
from gough.geometry.instruments.layout import layout_of
from gough.geometry.instruments.measurements import Measurements
from gough.geometry.instruments.noise import require_stated
from gough.geometry.instruments.results import CalibratedByInstruments
from gough.robots.kinematics import KinematicModel

_Fit = Callable[[Sequence[str]], CalibratedByInstruments | None]
LEVEL = 1e-3
"""A group is needed if chance alone would improve the fit as much with less than this probability."""


@dataclass(frozen=True)
class GroupTest:
    """One group of parameters, tested beside others that are needed."""

    name: str
    n_parameters: int
    """Parameters that it adds."""
    chi_squared: float
    """Sum of squares with it, in standard deviations; NaN where it is not determined."""
    dof: int
    F: float
    """Fisher's statistic of the improvement, against the residuals of the largest model that is determined."""
    p: float
    """Probability of such an improvement by chance."""

    @property
    def is_determined(self) -> bool:
        """Do the measurements determine its parameters?"""
        return self.n_parameters > 0

    @property
    def is_needed(self) -> bool:
        """Does it improve the fit beyond chance?"""
        return self.is_determined and self.p < LEVEL

    @property
    def words(self) -> str:
        """The verdict on the group."""
        if not self.is_determined:
            return "not determined"
        return "needed" if self.is_needed else "not needed"


@dataclass(frozen=True)
class Nested:
    """The tests of all groups, in their order. `str()` of it is a table with the verdict."""

    first: tuple[float, int]
    """Sum of squares and degrees of freedom of the smallest model."""
    tests: tuple[GroupTest, ...]

    @property
    def needed(self) -> tuple[str, ...]:
        """The groups that are needed."""
        return tuple(test.name for test in self.tests if test.is_needed)

    @property
    def words(self) -> str:
        """The verdict, in a sentence or two."""
        blind = [test.name for test in self.tests if not test.is_determined]
        unneeded = [test.name for test in self.tests if test.is_determined and not test.is_needed]
        sentences = [
            f"The measurements need {listed(self.needed)}."
            if self.needed
            else "The smallest model is adequate: no group of parameters improves the fit beyond chance."
        ]
        if unneeded and self.needed:
            sentences.append(f"A model without {listed(unneeded)} fits as well, and is used.")
        if blind:
            sentences.append(f"These measurements do not determine {listed(blind)}: nothing is concluded on it.")
        return " ".join(sentences)

    def table(self) -> Table:
        """χ², degrees of freedom and test of each group."""
        rows: list[list[str | Cell]] = [["(none)", "—", *_sums(*self.first), "—", "—", "—"]]
        for test in self.tests:
            if not test.is_determined:
                rows.append([test.name, "—", "—", "—", "—", "—", test.words])
                continue
            p = f"{test.p:.2g}" if test.p > 1e-12 else "< 1e-12"
            sums = _sums(test.chi_squared, test.dof)
            rows.append([test.name, str(test.n_parameters), *sums, number(test.F, digits=3), p, test.words])
        heads = ["released", "parameters", "χ²", "degrees of freedom", "F", "p", "verdict"]
        return table(heads, rows, "lrrrrrw", "Nested models")

    def to_dict(self) -> list[dict[str, Any]]:
        """Plain data for JSON."""
        return [
            {
                "released": test.name,
                "parameters": test.n_parameters,
                "chi_squared": test.chi_squared if test.is_determined else None,
                "dof": test.dof,
                "F": test.F if test.is_determined else None,
                "p": test.p if test.is_determined else None,
                "verdict": test.words,
            }
            for test in self.tests
        ]

    def __str__(self) -> str:
        return f"{self.words}\n{self.table()}"


@verb()
def calibrate_nested(
    robot: KinematicModel,
    measurements: Measurements,
    groups: Mapping[str, Sequence[str]],
    *,
    fixed: Sequence[str] = (),
    **options: Any,
) -> CalibratedByInstruments:
    """The calibration with those groups of parameters that the measurements need.

    Beginning with all groups fixed, each is released in turn beside those that were needed before it, and kept if it
    improves the fit beyond chance; in the end each is tested once more beside all others that are kept. The test is
    Fisher's, against the residuals of the largest model that is determined, so that the stated noise need not have the
    right size.

    Args:
        robot: The robot with its blueprint.
        measurements: Readings, instruments, and the noise of both.
        groups: Names of groups, simplest first, and their parameters; `*` stands for any letters.
        fixed: Parameters that stay fixed in any case.
        **options: Other options of `calibrate_by_instruments`.

    Raises:
        InputError: robot and measurements do not fit together, or a group has no parameters.
        EstimationError: the measurements do not determine the smallest model.
    """
    if not isinstance(groups, Mapping) or not groups:
        raise InputError('groups must be a mapping of names to parameters, such as {"lean": ["lean_*"]}')
    patterns = {name: texts(each, f"groups['{name}']") for name, each in groups.items()}
    for name, each in patterns.items():
        require(bool(each), f"the group '{name}' has no parameters")
    held = texts(fixed, "fixed")
    if isinstance(measurements, Measurements):
        require_stated(measurements, "nested models are tested with the noise that is stated")

    names = layout_of(robot, measurements, robot.nominal, ())[0].names
    stated = dict(options.pop("prior", None) or {})
    require_one_belief(held, stated, names, "prior")
    prior = {name: sigma for pattern, sigma in stated.items() for name in matching([pattern], names)}

    def fitted(released: Sequence[str]) -> CalibratedByInstruments | None:
        """The calibration with these groups; None where they are not determined."""
        rest = [pattern for name, each in patterns.items() if name not in released for pattern in each]
        try:
            own = {name: sigma for name, sigma in prior.items() if name not in matching(rest, names)}
            return calibrate_by_instruments(robot, measurements, fixed=[*held, *rest], prior=own, **options)
        except EstimationError:
            if not released:
                raise
            return None

    smallest, order = fitted(()), list(patterns)
    assert smallest is not None
    whole = (fitted(order[:count]) for count in range(len(order), 0, -1))
    total, dof = _sum(next((each for each in whole if each is not None), smallest))
    best, tests = _confirmed(fitted, *_released(fitted, smallest, order, (total / dof, dof)), (total / dof, dof))
    return replace(best, nested=Nested(_sum(smallest), tuple(tests)))


def _released(
    fitted: _Fit, best: CalibratedByInstruments, names: Sequence[str], noise: tuple[float, int]
) -> tuple[CalibratedByInstruments, list[GroupTest]]:
    """Groups in turn, each beside those that were needed before it."""
    tests: list[GroupTest] = []
    for name in names:
        trial = fitted([*(test.name for test in tests if test.is_needed), name])
        if trial is None:
            tests.append(GroupTest(name, 0, float("nan"), 0, float("nan"), 1.0))
            continue
        tests.append(_tested(name, best, trial, noise))
        best = trial if tests[-1].is_needed else best
    return best, tests


def _confirmed(
    fitted: _Fit, best: CalibratedByInstruments, tests: list[GroupTest], noise: tuple[float, int]
) -> tuple[CalibratedByInstruments, list[GroupTest]]:
    """Each needed group once more beside all others that are needed: it may have stood in for a later one."""
    tests = list(tests)
    for place, test in enumerate(tests):
        others = [each.name for each in tests if each.is_needed and each.name != test.name]
        without = fitted(others) if test.is_needed and others else None
        if without is not None:
            tests[place] = _tested(test.name, without, best, noise)
            best = best if tests[place].is_needed else without
    return best, tests


def _sum(answer: CalibratedByInstruments) -> tuple[float, int]:
    """Sum of squares and degrees of freedom."""
    stats = answer.estimate.stats
    assert isinstance(stats, FitStats)
    if stats.chi_squared is None or stats.dof <= 0:
        raise InputError(
            "as many parameters as measured numbers: nothing is left to test models by; measure more poses"
        )
    return stats.chi_squared * stats.dof, int(stats.dof)


def _tested(
    name: str, before: CalibratedByInstruments, after: CalibratedByInstruments, noise: tuple[float, int]
) -> GroupTest:
    """The test of a group against the mean square of the noise, and the degrees of freedom that this is known by."""
    from scipy.special import fdtrc  # noqa: PLC0415 - start-up time

    (total, dof), (less, rest), (scale, spare) = _sum(before), _sum(after), noise
    added = dof - rest
    F = max((total - less) / added / scale, 0.0) if added else 0.0
    return GroupTest(name, added, less, rest, F, float(fdtrc(added, spare, F)) if added else 1.0)


def _sums(total: float, dof: int) -> tuple[str, str]:
    return number(total), str(dof)
