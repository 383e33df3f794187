"""Is the model good enough for these data? The robot's nested models, judged on data that they have not seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.data import MeasuredMotion
from gough.dynamics.bounds import residual_scale, rounded_up, with_bounds
from gough.dynamics.general_terms import gain_of_general_terms
from gough.dynamics.held_out import BLOCKS, Rows, gain, joined, residuals, solved, triangles
from gough.dynamics.recorded import recorded
from gough.dynamics.reduce import reduced
from gough.dynamics.results import Adequacy, Finding, VariantFit
from gough.methods import identifiability, minimal_bound
from gough.problem import LinearProblem
from gough.robots.model import DynamicModel

SURE = 3.0
"""Standard errors by which a gain must exceed zero before a larger model is called better."""
WORTHWHILE = 0.002
"""Gain in mean square below which a larger model is not called better: parameters then move by about their σ."""
POSSIBLE = 0.05
"""A gain in mean square that may still be hidden by scatter, from which on the recording is said not to tell."""
LEFT = 0.10
"""Part of the mean square that general terms must remove before an effect is said to be in none of the variants."""
_ROWS_PER_UNKNOWN = 5


def variants_of(robot: DynamicModel) -> Sequence[DynamicModel]:
    """The robot's nested models, simplest first; a robot without variants is its own."""
    return tuple(getattr(robot, "variants", ())) or (robot,)


def variant_name(robot: DynamicModel) -> str:
    """What a variant is called; the robot's name where it has none."""
    return str(getattr(robot, "variant", "") or robot.name)


@dataclass(frozen=True, eq=False)
class _Judged:
    """One variant with its residuals."""

    model: DynamicModel
    problem: LinearProblem
    fitted: Rows
    judged: Rows | None
    unseen: Array
    seen: Array

    @property
    def held_out(self) -> Rows:
        return self.fitted if self.judged is None else self.judged

    def gain_of(self, other: "_Judged") -> tuple[float, float]:
        """Part of the held-out mean square that another variant removes, and its standard error."""
        return gain(self.unseen, other.unseen, self.held_out.block)


def adequacy_of(
    robot: DynamicModel,
    motion: MeasuredMotion,
    validation: MeasuredMotion | None = None,
    *,
    sigma: Mapping[str, float] | None = None,
) -> Adequacy | None:
    """The robot's variants fitted to `motion` and judged on data that the fit has not seen.

    Held out is the validation motion if there is one, else each of ten blocks of time in turn. The simplest variant
    that no larger one beats for certain is recommended, where certain means by three standard errors of the scatter
    between blocks, and by 0.2 % of the mean square. Whether the largest leaves more than noise is asked of general
    terms in position, velocity and acceleration. Priors play no part in it. None if there are too few rows to hold any
    out.

    Args:
        robot: The variant that was used.
        motion: What it was identified from.
        validation: Another trajectory.
        sigma: Printed standard deviations of the parameters of the variant used, to tell how little they say where it
            is inadequate.

    Examples:
        >>> from gough.dynamics.example import random_motion
        >>> print(adequacy_of(*random_motion(1, n_samples=2000)).finding.value)
        the model that was used is adequate
    """
    variants = variants_of(robot)
    names = [variant_name(v) for v in variants]
    require(variant_name(robot) in names, f"'{variant_name(robot)}' is not among the robot's variants: {names}")
    widest = max(len(v.names) for v in variants)
    for held in (motion, validation):
        if held is not None and held.n_rows < _ROWS_PER_UNKNOWN * BLOCKS * widest // len(robot.actuators):
            return None
    here = names.index(variant_name(robot))
    problems = [recorded(v, motion) for v in variants]
    scale = residual_scale(problems[here])
    all_judged = [_judge(v, p, validation, scale) for v, p in zip(variants, problems, strict=True)]
    fits = tuple(_fit(j, scale, all_judged[i - 1] if i else None) for i, j in enumerate(all_judged))
    general = gain_of_general_terms(all_judged[-1].problem, motion, scale)
    best = _recommended(all_judged)
    finding = _finding(all_judged, here, best, general)
    if finding is Finding.INADEQUATE:
        best = max(here, best)
    return Adequacy(
        fits=fits,
        used=variant_name(robot),
        recommended=None if finding is Finding.UNDECIDED else names[best],
        finding=finding,
        held_out=_held_out(motion, validation),
        generic=fits[-1].overall * float(np.sqrt(max(1 - general[0], 0.0))),
        generic_gain=general[0],
        generic_sigma=general[1],
        unit=robot.effort_units[0] if _is_uniform(robot) else "",
        actuators=robot.actuators,
        shifts=_shifts(all_judged[here], all_judged[best], sigma or {}) if best != here else {},
    )


def _judge(model: DynamicModel, problem: LinearProblem, validation: MeasuredMotion | None, scale: Array) -> _Judged:
    fitted = Rows.of(problem, scale)
    judged = None if validation is None else Rows.of(recorded(model, validation), scale)
    unseen, seen = residuals(fitted, judged)
    return _Judged(model, problem, fitted, judged, unseen, seen)


def _fit(judged: _Judged, scale: Array, before: _Judged | None) -> VariantFit:
    model, rows = judged.model, judged.held_out
    found = identifiability(judged.problem)
    problem = judged.problem if found.is_full_rank else reduced(judged.problem, found)
    smallest = rounded_up(minimal_bound(with_bounds(problem, scale)).upper, scale)
    n = len(model.actuators)
    part, error = (0.0, 0.0) if before is None else before.gain_of(judged)
    return VariantFit(
        variant=variant_name(model),
        adds=str(getattr(model, "adds", "")),
        n_parameters=len(model.names),
        rank=found.rank,
        fitted_rms=scale * _rms(judged.seen, judged.fitted.group, n),
        rms=scale * _rms(judged.unseen, rows.group, n),
        peak=scale * np.array([abs(judged.unseen[rows.group == g]).max(initial=0.0) for g in range(n)]),
        smallest_bound=smallest,
        overall=_overall(judged.unseen, rows, scale, model),
        gain=part,
        gain_sigma=error,
    )


def _rms(values: Array, group: Any, n: int) -> Array:
    count = np.maximum(np.bincount(group, minlength=n), 1)
    result: Array = np.sqrt(np.bincount(group, values**2, minlength=n) / count)
    return result


def _is_uniform(model: DynamicModel) -> bool:
    """Have all efforts the same unit?"""
    return len(set(model.effort_units)) == 1


def _overall(values: Array, rows: Rows, scale: Array, model: DynamicModel) -> float:
    """Root mean square over all rows, in the unit of the efforts, or of their scale where units differ."""
    unit = scale[rows.group] if _is_uniform(model) else 1.0
    return float(np.sqrt(((unit * values) ** 2).mean()))


def is_sure(part: float, error: float) -> bool:
    """Is a gain worthwhile, and no accident of the noise?"""
    return part > max(WORTHWHILE, SURE * error)


def is_possible(part: float, error: float) -> bool:
    """May a gain be worthwhile, for all that the scatter between blocks shows?"""
    return part + 2 * error > POSSIBLE


def is_left(part: float, error: float) -> bool:
    """Do general terms remove so much that the residual is not just noise?"""
    return part > max(LEFT, SURE * error)


def _recommended(judged: Sequence[_Judged]) -> int:
    """The simplest variant that no larger one beats for certain."""
    for i, one in enumerate(judged):
        if not any(is_sure(*one.gain_of(larger)) for larger in judged[i + 1 :]):
            return i
    return len(judged) - 1


def _finding(judged: Sequence[_Judged], used: int, best: int, general: tuple[float, float]) -> Finding:
    if best > used or is_left(*general):
        return Finding.INADEQUATE
    if any(is_possible(*judged[best].gain_of(one)) for one in judged[best + 1 :]):
        return Finding.UNDECIDED
    return Finding.LARGER_THAN_NEEDED if best < used else Finding.ADEQUATE


def _held_out(motion: MeasuredMotion, validation: MeasuredMotion | None) -> str:
    if validation is not None:
        return "the validation trajectory"
    seconds = motion.n_samples / motion.rate / BLOCKS
    return f"each of {BLOCKS} blocks of {seconds:.2g} s in turn"


def _shifts(used: _Judged, best: _Judged, sigma: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """How far off each shared parameter is in the variant used, by the best variant's value, and by printed σ."""
    here, there = (
        dict(zip(one.model.names, solved(joined(triangles(one.fitted))).tolist(), strict=True)) for one in (used, best)
    )
    shared = [name for name in here if there.get(name)]
    return {
        name: (
            (here[name] - there[name]) / abs(there[name]),
            (here[name] - there[name]) / sigma.get(name, np.nan),
        )
        for name in shared
    }
