"""Probable faults of poses that do not fit: conventions, units, frames and orders that would fit better."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.rotations import from_quaternion, nearest_rotation, to_quaternion
from gough.core.text import number
from gough.data import Poses
from gough.estimates import Estimate, Status
from gough.geometry.descent import approach
from gough.geometry.frames import procrustes
from gough.geometry.geometric import SCALE, ChainEquations, geometric
from gough.problem import NonlinearProblem
from gough.robots.gough_platform import GoughPlatform
from gough.robots.kinematics import KinematicModel

_POOR, _WRONG = 0.001, 0.004
"""Closure errors beyond these shares of a robot's size are worth a search for an explanation, and a warning."""
_BETTER = 5.0
"""An explanation must shrink the errors by this factor."""
_FITS = 0.05
"""And leave no more than this share of the chains' travel."""
_TRIED = 8
"""Poses at which the blueprint is assembled."""


def suspects_of(
    model: KinematicModel, poses: Poses, problem: NonlinearProblem, parameters: Array, answer: Estimate, *, rms: float
) -> tuple[str, ...]:
    """Sentences on what is probably wrong where chains close to `rms` (m); empty where nothing is."""
    size = float(np.ptp(poses.position, axis=0).max() + abs(poses.position).max())
    suspects = []
    if answer.status is Status.MAX_STEPS or not rms <= _POOR * size:
        suspects.append(_conventions(model, poses, problem, parameters))
        if not suspects[0] and not rms <= _WRONG * size:
            suspects.append(
                f"The chains close only to {number(1e3 * rms, digits=3)} mm (rms): check units, frames and the order "
                "of the readings; else the model lacks a large effect."
            )
    if answer.status is Status.OK and not problem.unknowns.is_fixed.any():
        of = _joints(model, poses, parameters) if isinstance(model, GoughPlatform) else _order(model, parameters)
        suspects.append(of)
    if answer.status is Status.OK and not any(suspects):
        suspects.append(_unassembled(model, poses))
    return tuple(filter(None, suspects))


def likely_cause(model: KinematicModel, poses: Poses, problem: NonlinearProblem) -> str:
    """What is probably wrong with data on which the calibration broke down, from its start; empty if nothing fits."""
    assert problem.unknowns.nominal is not None
    return _conventions(model, poses, problem, problem.unknowns.nominal[: len(model.names)])


def _unassembled(model: KinematicModel, poses: Poses) -> str:
    """A warning if the blueprint cannot be assembled at the first readings."""
    try:
        model.forward(model.nominal, poses.readings[:_TRIED])
    except InputError:
        return (
            "The blueprint cannot be assembled at these readings: check its dimensions, their units, and the readings' "
            "zeros. The result does not depend on the blueprint if the chains close."
        )
    return ""


def _order(model: KinematicModel, parameters: Array) -> str:
    """Are the chains found those of the blueprint, in its order?"""
    estimates, blueprint = parameters[model.columns], model.nominal[model.columns]
    lengths = np.array([unit == "m" for unit in model.units])
    size = float(np.linalg.norm(parameters[lengths]) / np.linalg.norm(model.nominal[lengths]))
    if not 1 / _BETTER < size < _BETTER:
        return (
            f"The robot found is {number(size, digits=3)} times as large as the blueprint's: check whether "
            "millimetres are taken for metres, in the positions or in the blueprint."
        )
    angles = np.array([unit == "rad" for unit in model.units])[model.columns]
    orders = np.array(list(permutations(range(len(estimates)))))
    away = estimates[orders] - blueprint
    away = np.where(angles, np.sin(away / 2) * 0.4, away)  # of turns, what they do at 0.2 m
    cost = np.sqrt((away**2).sum(axis=2).mean(axis=1))
    best = int(cost.argmin())
    if cost[0] < 0.02 or cost[best] * _BETTER > cost[0]:
        return ""
    order = ", ".join(str(i + 1) for i in orders[best])
    return (
        f"The chains found are those of the blueprint in the order {order}: the readings of the chains are probably in "
        "another order than the blueprint, or a frame is turned or mirrored: correct the data."
    )


def _conventions(model: KinematicModel, poses: Poses, problem: NonlinearProblem, parameters: Array) -> str:
    """The reading of the data that fits best, if it fits far better than the one that was given."""
    plain = replace(poses, covariance=None, reading_sigma=None)
    unknowns = problem.unknowns
    assert unknowns.nominal is not None
    start = unknowns.nominal[: len(model.names)]
    free = [name for name, fixed in zip(unknowns.names, unknowns.is_fixed, strict=True) if not fixed and name != SCALE]
    tried = []
    try:
        here = _relative(geometric(model, plain, form="length", free=free), parameters, poses)
    except InputError:  # too few poses without the prior
        return ""
    for other, what in (*_readings(plain), *_readings_of_chains(model, plain)):
        with np.errstate(all="ignore"):
            try:
                trial = geometric(model, other, start=start, form="length", free=free)
                theta = approach(trial, start, max_steps=40).theta
            except (InputError, np.linalg.LinAlgError):
                continue
            tried.append((_relative(trial, theta, other), float(abs(theta - start).max()), what))
    least = min((left for left, _, _ in tried if np.isfinite(left)), default=np.inf)
    alike = [each for each in tried if each[0] <= 2 * least]  # the nearest to the blueprint is the likely one
    best, _, words = min(alike, key=lambda each: each[1], default=(np.inf, 0.0, ""))
    if best < _FITS and (best * _BETTER < here or not np.isfinite(here)):
        now, better = (f"{number(100 * v, digits=2)} %" for v in (here, best))
        return f"The chains close only to {now} of their travel, but to {better} if {words}."
    return ""


def _relative(problem: NonlinearProblem, theta: Array, poses: Poses) -> float:
    """Closure error over the travel of the chains (rms): a robot that shrinks to a point closes well for nothing."""
    assert isinstance(problem.equations, ChainEquations)
    f, _, J_m = problem.equations.both(theta, problem.measured)
    n = poses.n_chains
    travel = J_m[:, range(n), range(-n, 0)] * poses.readings.std(axis=0)
    return float(np.sqrt((f**2).mean() / (travel**2).mean()))


def _readings(poses: Poses) -> Iterator[tuple[Poses, str]]:
    """The data under other conventions."""
    for factor, words in (
        (1e-3, "millimetres were taken for metres in"),
        (1e3, "metres were taken for millimetres in"),
    ):
        yield replace(poses, position=poses.position * factor), f"{words} the positions"
        yield replace(poses, readings=poses.readings * factor), f"{words} the readings"
    yield replace(poses, readings=-poses.readings), "the readings have the other sign"
    for axis, name in enumerate("xyz"):
        flip = np.where(np.arange(3) == axis, -1.0, 1.0)
        yield replace(poses, position=poses.position * flip), f"the {name} axis of the positions is mirrored"
        others = [other for other in range(3) if other != axis]
        swapped = poses.position.copy()
        swapped[:, others] = swapped[:, others[::-1]]
        yield (
            replace(poses, position=swapped),
            f"{'xyz'[others[0]]} and {'xyz'[others[1]]} of the positions are swapped",
        )
        if poses.rotation is not None:
            both = replace(poses, position=poses.position * flip, rotation=flip[:, None] * poses.rotation * flip)
            yield both, f"the frames are mirrored (left-handed): {name} and the turns about the other axes change sign"
    if poses.rotation is None:
        return
    q = to_quaternion(poses.rotation)
    other = ("scalar last but read as scalar first", "scalar first but read as scalar last")
    for shift, words in zip((1, -1), other, strict=True):
        yield replace(poses, rotation=from_quaternion(np.roll(q, shift, axis=1))), f"the quaternions are {words}"
    back = np.swapaxes(poses.rotation, 1, 2)
    yield replace(poses, rotation=back), "the rotations lead from the base to the platform, and must be turned around"


def _readings_of_chains(model: KinematicModel, poses: Poses) -> Iterator[tuple[Poses, str]]:
    """The readings in another unit, or of other chains; orders of many chains follow from the estimated joints."""
    if model.reading_unit == "rad":
        yield replace(poses, readings=np.radians(poses.readings)), "degrees were taken for radians in the readings"
    n = poses.n_chains
    if n > 4:
        return
    for order in list(permutations(range(n)))[1:]:
        words = ", ".join(str(i + 1) for i in order)
        yield replace(poses, readings=poses.readings[:, order]), f"the readings are taken in the order {words}"


def _joints(model: GoughPlatform, poses: Poses, parameters: Array) -> str:
    """Is the calibrated robot the blueprint's: its size, its legs' order, its platform's side?"""
    rows = model.rows(parameters)
    turned = np.flatnonzero(rows[:, 7] * model.gain < 0) + 1
    if len(turned):
        legs = ", ".join(map(str, turned))
        return f"The gains of legs {legs} have the opposite sign: check whether their readings count backwards."
    size, blueprint = (float(np.sqrt(a.var(axis=0).sum())) for a in (rows[:, :3], model.base))
    if not 1 / _BETTER < size / blueprint < _BETTER:
        return (
            f"The base found is {number(size / blueprint, digits=3)} times as large as the blueprint's: check whether "
            "millimetres are taken for metres, in the positions or in the blueprint."
        )
    exchanged = sum(
        float(_misfit(rows[None, :, columns], other)[0])
        for columns, other in ((slice(0, 3), model.platform), (slice(3, 6), model.base))
    )
    orders = np.array(list(permutations(range(len(rows)))))
    parts = ((slice(0, 3), model.base), (slice(3, 6), model.platform))
    cost = np.sum([_misfit(rows[:, columns][orders], reference) for columns, reference in parts], axis=0)
    if cost[0] > 0.05 * blueprint and exchanged * _BETTER < cost[0]:
        return (
            "The base found is the blueprint's platform, and the platform its base: the poses are probably those of "
            "the base in the platform's frame, and must be turned around; or base and platform are swapped in the "
            "blueprint."
        )
    try:
        height = _height(model, rows, poses)
    except InputError:  # the blueprint cannot be assembled: `_unassembled` reports that
        return ""
    if cost[0] > 0.05 * blueprint and cost.min() * _BETTER < cost[0]:
        alike = np.flatnonzero(cost < 1.2 * cost.min() + 1e-3 * blueprint)  # symmetric robots have several
        best = next((i for i in alike if _height(model, rows[orders[i]], poses) > 0), int(cost.argmin()))
        order = ", ".join(str(i + 1) for i in orders[best])
        return (
            f"The joints found lie {number(1e3 * cost[0], digits=3)} mm (rms) from the blueprint's, but "
            f"{number(1e3 * cost[best], digits=3)} mm with the legs in the order {order}: the readings of the legs are "
            "probably in another order than the blueprint."
        )
    if height < 0:
        return (
            "The platform is on the other side of its base than in the blueprint: a frame is mirrored (left-handed), "
            "or the legs are numbered the other way round."
        )
    return ""


def _height(model: GoughPlatform, rows: Array, poses: Poses) -> float:
    """Mean height of the platform over its base in the blueprint's frame; positive on the blueprint's side."""
    motion, _ = procrustes(rows[:, :3], model.base)
    home = model.home(model.nominal, poses.readings[:1]).position[0, 2]
    above = float(motion.of(poses.position)[:, 2].mean()) - float(model.base[:, 2].mean())
    return above * float(np.sign(home - model.base[:, 2].mean()))


def _misfit(points: Array, reference: Array) -> Array:
    """Root mean square distance of point sets (K, n, 3) from a reference, after the best rigid motion of each."""
    P = points - points.mean(axis=1, keepdims=True)
    Q = reference - reference.mean(axis=0)
    R = nearest_rotation(np.einsum("ni,knj->kij", Q, P))
    moved = np.einsum("kij,knj->kni", R, P)
    return np.sqrt(((moved - Q) ** 2).sum(axis=2).mean(axis=1))
