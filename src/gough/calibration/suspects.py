"""What is probably wrong with poses that do not fit: conventions, units, frames and orders that would fit better."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

import numpy as np

from gough.assemble.frames import procrustes
from gough.assemble.geometric import SCALE, ChainEquations, geometric
from gough.calibration.descent import approach
from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.rotations import from_quaternion, nearest_rotation, to_quaternion
from gough.core.text import number
from gough.data import Poses
from gough.estimate import Estimate, Status
from gough.problem import NonlinearProblem
from gough.robots.gough_platform import GoughPlatform
from gough.robots.kinematics import KinematicModel

_POOR, _WRONG = 0.001, 0.004
"""Closure errors beyond these shares of a machine's size are worth a search for an explanation, and a warning."""
_BETTER = 5.0
"""An explanation must shrink the errors by this factor."""


def suspects_of(
    model: KinematicModel, poses: Poses, problem: NonlinearProblem, parameters: Array, answer: Estimate, *, rms: float
) -> tuple[str, ...]:
    """Sentences on what is probably wrong where chains close to `rms` (m); empty where nothing is."""
    size = float(np.ptp(poses.position, axis=0).max() + abs(poses.position).max())
    found = []
    if answer.status is Status.MAX_STEPS or not rms <= _POOR * size:
        found.append(_conventions(model, poses, problem, parameters))
        if not found[0] and not rms <= _WRONG * size:
            found.append(
                f"The chains close to {number(1e3 * rms, digits=3)} mm (rms) only: check units, frames and the order "
                "of the readings, or the model lacks something large."
            )
    if isinstance(model, GoughPlatform) and answer.status is Status.OK and not problem.unknowns.is_fixed.any():
        found.append(_joints(model, poses, parameters))
    return tuple(filter(None, found))


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
    except InputError:  # too few poses to tell without the prior
        return ""
    for other, what in _readings(plain):
        trial = geometric(model, other, start=start, form="length", free=free)
        with np.errstate(all="ignore"):
            try:
                theta = approach(trial, start, max_steps=40).theta
            except np.linalg.LinAlgError:
                continue
            tried.append((_relative(trial, theta, other), float(abs(theta - start).max()), what))
    least = min((left for left, _, _ in tried if np.isfinite(left)), default=np.inf)
    alike = [each for each in tried if each[0] <= 2 * least]  # the nearest to the blueprint is the likely one
    best, _, words = min(alike, key=lambda each: each[1], default=(np.inf, 0.0, ""))
    if best * _BETTER < here or (not np.isfinite(here) and np.isfinite(best)):
        shown, better = (f"{number(100 * v, digits=2)} %" for v in (here, best))
        return f"The chains close to {shown} of their travel only, but to {better} if {words}."
    return ""


def _relative(problem: NonlinearProblem, theta: Array, poses: Poses) -> float:
    """Closure error over the travel of the chains (rms): a machine that shrinks to a point closes well for nothing."""
    assert isinstance(problem.equations, ChainEquations)
    f, _, J_m = problem.equations.both(theta, problem.measured)
    n = poses.n_chains
    travel = J_m[:, range(n), range(-n, 0)] * poses.readings.std(axis=0)
    return float(np.sqrt((f**2).mean() / (travel**2).mean()))


def _readings(poses: Poses) -> Iterator[tuple[Poses, str]]:
    """The same data, read otherwise."""
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


def _joints(model: GoughPlatform, poses: Poses, parameters: Array) -> str:
    """Is the calibrated machine the blueprint's: its size, its legs' order, its platform's side?"""
    rows = model.rows(parameters)
    size, blueprint = (float(np.sqrt(a.var(axis=0).sum())) for a in (rows[:, :3], model.base))
    if not 1 / _BETTER < size / blueprint < _BETTER:
        return (
            f"The base found is {number(size / blueprint, digits=3)} times as large as the blueprint's: are "
            "millimetres taken for metres, in the positions or in the blueprint?"
        )
    orders = np.array(list(permutations(range(len(rows)))))
    parts = ((slice(0, 3), model.base), (slice(3, 6), model.platform))
    cost = np.sum([_misfit(rows[:, columns][orders], reference) for columns, reference in parts], axis=0)
    height = _height(model, rows, poses)
    if cost[0] > 0.05 * blueprint and cost.min() * _BETTER < cost[0]:
        alike = np.flatnonzero(cost < 1.2 * cost.min() + 1e-3 * blueprint)  # symmetric machines have several
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
