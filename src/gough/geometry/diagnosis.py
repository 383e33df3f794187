"""What is probably wrong with data or model: mistakes of the catalogue, each accused by a test at a stated level."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gough.core.arrays import Array, Integers, frozen
from gough.core.errors import InputError
from gough.core.text import counted, listed, number
from gough.data import Poses
from gough.geometry.alignment import moved_to_robot
from gough.geometry.blueprint_evidence import Evidence, evidence_of, readings_at, readings_of
from gough.geometry.mistake import Corrected, Mistake, Stated, worst_first
from gough.geometry.mistakes import catalogue
from gough.geometry.mistakes.exchanged import MISTAKE as EXCHANGED
from gough.geometry.mistakes.still import MISTAKE as STILL
from gough.geometry.nested import LEVEL, SPARE, NestedTests, Test, fitted_by, whiteners
from gough.geometry.outlying_poses import exchanged, outlying
from gough.geometry.rigid_columns import at_base, at_platform
from gough.geometry.understated import LargerNoise
from gough.robots.kinematics import KinematicModel

if TYPE_CHECKING:
    from gough.robots.compiled_chains import Chains

_JUDGED = 48
"""Poses at which conventions are judged …"""
_WORST = 6
"""… and, of more poses, so many that are farthest from the blueprint: wrong single poses must be among them."""
_SEARCHED = 4096
"""Poses, evenly chosen, among which the worst are sought."""
_UNEXPLAINED = 0.01
"""Part of a reading's variance that a blueprint may leave before conventions are doubted …"""
_SLOPE = 0.1
"""… and by how much its reading may be too fast or slow."""
_ALIKE = 3.0
"""Conventions whose log-likelihoods differ by less explain the data equally well."""
_MOST = 3
"""Mistakes that are sought one after the other, and equal explanations that are named."""
_WORTHWHILE = 0.002
"""Part of the sum of squares that a mistake must explain …"""
_FURTHER = 0.02
"""… and each one after the first, of the sum of squares at first."""
_NAMED = 5
_AT_ALL = 10.0
"""Errors of predicted readings, over their travel, above which a blueprint does not fit at all."""
UNTOLD = "undistinguished"
"""Name of an accusation that leaves open which mistake of the catalogue was made."""
UNDERSTATED = "stated noise"
"""Name of the accusation that the noise was stated too small."""


@dataclass(frozen=True)
class Accusation:
    """One mistake for which the data are evidence."""

    mistake: str
    """Its name in the catalogue."""
    words: str
    """What, how sure, and what to do: sentences."""
    p: float
    """Probability of such data without the mistake, corrected for all alternatives."""
    chain: int | None = None
    """The chain that it is about."""
    poses: tuple[int, ...] = ()
    """The poses that it is about."""
    is_convention: bool = False
    """Whether the data are read wrong, so that no number of the calibration may be used."""


@dataclass(frozen=True)
class Diagnosis:
    """All accusations, most important first."""

    accusations: tuple[Accusation, ...] = ()
    n_alternatives: int = 0
    """Nested alternatives that were tested."""

    @property
    def conventions(self) -> tuple[Accusation, ...]:
        """Mistakes of how the data are read."""
        return tuple(each for each in self.accusations if each.is_convention)

    @property
    def effects(self) -> tuple[Accusation, ...]:
        """Errors of the measurement or the model that the calibration leaves."""
        return tuple(each for each in self.accusations if not each.is_convention)

    def of_chain(self, chain: int, mistake: str) -> bool:
        """Whether this mistake is found at this chain."""
        return any(each.chain == chain and each.mistake == mistake for each in self.accusations)


def is_doubtful(model: KinematicModel, blueprint: Array, poses: Poses) -> bool:
    """Whether a blueprint predicts readings so badly that a convention may be wrong.

    Every convention of the catalogue changes readings by a large part of their travel.
    """
    rows = _some(poses)
    rotation = None if poses.rotation is None else poses.rotation[rows]
    predicted = readings_at(model, blueprint, poses.position[rows], rotation)
    if predicted is None:
        return True
    from gough.geometry.pose_sums import slopes  # noqa: PLC0415 - numba

    slope, left = slopes(predicted, poses.readings[rows])
    return bool((left > _UNEXPLAINED).any() or (abs(slope - 1) > _SLOPE).any())


def conventions(
    model: KinematicModel, blueprint: Array, poses: Poses, *, in_robot_frame: bool
) -> tuple[Accusation, ...]:
    """The convention under which the blueprint explains the data best, if it is far more probable than as stated.

    Likelihoods are marginal ones under the blueprint, with the chains of a pose counted as one. By Markov's inequality
    a ratio above (number of alternatives) / 0.001 has a probability below 0.001 where nothing is wrong.

    Args:
        model: The robot.
        blueprint: Its parameters, in its own frame.
        poses: The poses as stated.
        in_robot_frame: Whether they are stated to be in the robot's frame.
    """
    rows = _judged_rows(model, blueprint, poses, in_robot_frame=in_robot_frame)
    some = poses.select(rows)
    predicted = readings_of(model, blueprint, some) if in_robot_frame else None
    aligned = predicted if in_robot_frame else _aligned_readings(model, blueprint, some)
    stated = Stated(model, blueprint, poses, rows, in_robot_frame, predicted, aligned)
    as_stated = _evidence(stated, Corrected(some, ""), zeros=True)
    broad = -float(np.log(4 * np.ptp(some.readings, axis=0) + 1e-300).mean())
    tried: list[tuple[float, Evidence, Mistake, Corrected]] = []
    trials = 0
    for mistake in catalogue().values():
        for corrected in mistake.corrected(stated):
            trials += corrected.trials
            found = _evidence(stated, corrected)
            if found is not None and np.isfinite(found.per_pose):
                value = _total(found, len(rows) - len(corrected.left_out), model) - float(np.log(corrected.trials))
                value += len(corrected.left_out) * broad
                tried.append((value, found, mistake, corrected))
    if not tried:
        return ()
    tried.sort(key=lambda each: -each[0])
    best = tried[0][0]
    here = -np.inf if as_stated is None else _total(as_stated, len(rows), model)
    needed = float(np.log(max(trials, 1) / LEVEL))
    good = tried[0][1].left < 0.5  # of what the readings vary: else nothing is explained
    if not best > here + needed or not good:
        return ()
    alike: list[tuple[float, Evidence, Mistake, Corrected]] = []
    for each in tried:
        if each[0] > best - _ALIKE and all(each[2] is not other[2] for other in alike):
            alike.append(each)
    p = 0.0 if not np.isfinite(here) else float(np.exp(max(-700.0, here - best))) * trials
    return tuple(
        Accusation(mistake.name, _convention_words(stated, mistake, corrected, k), p, is_convention=True)
        for k, (_, _, mistake, corrected) in enumerate(alike[:_MOST])
    )


def _convention_words(stated: Stated, mistake: Mistake, corrected: Corrected, place: int) -> str:
    """How well the blueprint predicts the readings as stated, and corrected."""
    now, better = _unpredicted(stated, stated.poses), _unpredicted(stated, corrected.poses, corrected.blueprint)
    worse = better is not None and (now is None or now > better)
    to = f" to {number(100 * better, digits=2)} % of their travel" if worse and better is not None else ""
    if place:
        return f"Equally well, the readings fit{to} if {corrected.words}. {mistake.advice}"
    if not worse:
        text = "The readings are far more probable under the blueprint"
    elif now is None or now > _AT_ALL:
        text = f"The readings do not fit the blueprint at all, but{to}"
    else:
        text = f"The readings fit the blueprint only to {number(100 * now, digits=2)} % of their travel, but{to}"
    return f"{text} if {corrected.words}. {mistake.advice} Do not use the geometry before that."


def _unpredicted(stated: Stated, poses: Poses, blueprint: Array | None = None) -> float | None:
    """Root mean square error of readings that the blueprint predicts, over their standard deviation; zeros are free.

    Poses of an instrument are moved to the robot's frame as the blueprint fits best, as stated and corrected alike.
    """
    model, blueprint = stated.model, stated.blueprint if blueprint is None else blueprint
    at = readings_of(model, blueprint, poses) if stated.in_robot_frame else _aligned_readings(model, blueprint, poses)
    if at is None:
        return None
    away = poses.readings - at
    left = ((away - away.mean(axis=0)) ** 2).mean(axis=0) / np.maximum(poses.readings.var(axis=0), 1e-300)
    return float(np.sqrt(left.mean()))


def effects(
    model: KinematicModel,
    poses: Poses,
    theta: Array,
    at: "Chains",
    *,
    scale: float,
    free: Integers,
    has_scale: bool,
    exceeds_noise: bool = False,
    frames: Sequence[str] = (),
) -> Diagnosis:
    """Errors that the residuals of a calibration show: nested alternatives at a family-wise level of 0.001.

    None is accused that a larger noise than stated explains as well; noise is accused where it is too small (χ²) and
    no alternative explains that.

    Args:
        model: The robot.
        poses: The poses that were calibrated.
        theta: The calibrated parameters.
        at: The closure errors and their derivatives, by `chains_of`.
        scale: Factor of measured positions.
        free: Numbers of the parameters that were estimated.
        has_scale: Whether the scale was estimated too.
        exceeds_noise: Whether χ² rejects the noise that was stated.
        frames: Bodies whose frames were estimated too: "base", "platform".
    """
    estimated = set(free.tolist())
    fixed = tuple(name for k, name in enumerate(model.names) if k not in estimated)
    fitted, residuals, own = fitted_by(model, poses, at, scale=scale, fixed=fixed)
    if not np.isfinite(residuals).all() or float(abs(residuals).max()) <= _rounding(poses):
        return Diagnosis()
    every = np.arange(len(poses))
    added: tuple[Array, ...] = ()
    if has_scale:
        added = (fitted.by_pose[..., :3] @ poses.position[..., None],)
    added += ((at_base(fitted),) if "base" in frames else ()) + ((at_platform(fitted),) if "platform" in frames else ())
    root, is_stated = whiteners(fitted, residuals, own, free, added)
    tests = NestedTests(fitted, residuals, own, free, root, is_stated, every, added)
    mistakes = [each for each in catalogue().values() if not (has_scale and each.name == "scale")]
    found: list[Accusation] = []
    families, count = 8, 0
    whole, doubtful = None, None
    for _ in range(_MOST):
        before, spare = tests.squares
        whole = before if whole is None else whole
        if spare <= 0:
            break
        tested = tests.tests(mistakes, LEVEL / families)
        count = count or tested.tried + len(poses)
        candidates = [each for each in tested.below if _is_possible(each)]
        away = outlying(tests, families)
        candidates += [] if away is None else [away]
        least = max(_WORTHWHILE * before, _FURTHER * whole if found else 0.0)
        candidates = [each for each in candidates if each.removes > least]
        if not candidates:
            break
        best, doubtful = _best(candidates, tests, families)
        is_told = best is not None and _explains(best, tests, spare)
        if not is_told and any(spare - each.dof < SPARE for each in candidates):
            found += [] if found else [_untold(candidates, tests, spare, families)]
            break
        if best is None:
            break
        found.append(_accused(best, tests, theta, families))
        if best.alternative is None:
            tests = tests.without(np.array(best.poses))
        else:
            tests = replace(tests, added=(*tests.added, best.columns(len(poses))))
    if exceeds_noise and is_stated and not found:
        found += _understated(tests, doubtful)
    return Diagnosis(tuple(found), count)


def warnings(model: KinematicModel, poses: Poses) -> tuple[Accusation, ...]:
    """Poses that cannot determine the parameters, whatever their noise."""
    words = STILL.words(model, poses)
    return (Accusation(STILL.name, f"{words}. {STILL.advice}", 0.0),) if words else ()


def _best(candidates: list[Test], tests: NestedTests, families: int) -> tuple[Test | None, Test | None]:
    """The likeliest of those that can be tested and no larger noise explains; and of those that one does."""
    _, spare = tests.squares
    left = [each for each in candidates if spare - each.dof >= SPARE]
    doubtful: Test | None = None
    while left:
        first = _likeliest(left, tests, len(tests.fitted.poses))
        held = LargerNoise(tests).held(first, LEVEL / families) if tests.is_stated else first
        if held is not None:
            return held, doubtful
        doubtful = doubtful or first
        left = [each for each in left if _about(each) != _about(first)]
    return None, doubtful


def _about(test: Test) -> tuple[str, int | None]:
    return test.mistake.name, None if test.alternative is None else test.alternative.chain


def _is_possible(test: Test) -> bool:
    return test.alternative is None or bool((abs(test.values) < test.alternative.largest).all())


def _rounding(poses: Poses) -> float:
    return 1e-12 * max(1.0, float(abs(poses.position).max()))


def _likeliest(candidates: list[Test], tests: NestedTests, n_poses: int) -> Test:
    """By likelihood at the noise of the best fit, less what parameters and forms cost (Bayesian criterion)."""
    _, spare = tests.squares
    units = [each.left / (spare - each.dof) for each in candidates if spare - each.dof >= 3]
    unit = max(min(units, default=1.0), 1.0 if tests.is_stated else 1e-300)

    def score(each: Test) -> float:
        trials = (
            float(np.log(each.trials)) if each.alternative is not None else len(each.poses) * float(np.log(n_poses))
        )
        return each.removes / unit - each.dof * float(np.log(tests.rows)) - 2 * trials

    return max(candidates, key=score)


def _explains(test: Test, tests: NestedTests, spare: int) -> bool:
    """Whether the stated noise explains what an alternative leaves."""
    from scipy.special import chdtrc  # noqa: PLC0415 - start-up time

    return tests.is_stated and float(chdtrc(spare - test.dof, test.left)) > LEVEL


def _untold(candidates: list[Test], tests: NestedTests, spare: int, families: int) -> Accusation:
    """Errors that the stated noise does not explain, where what would explain them leaves no equation to test it by."""
    p = min(1.0, families * min(each.p for each in candidates))
    sure = f"p = {p:.1g}" if p > 1e-12 else "p < 1e-12"
    more = max(1, -(-(2 * tests.n - spare) // tests.n))
    words = (
        f"The data do not fit one another ({sure}), but with so few poses they do not show which pose is wrong, "
        f"whether a frame moved, or whether the noise was stated too small: of {tests.rows} equations {spare} are "
        f"spare, and leaving out a pose takes {tests.n}. Measure at least {counted(more, 'more pose')}, and look at "
        "the images or readings of these"
    )
    return Accusation(UNTOLD, f"{words}.", p)


def _understated(tests: NestedTests, doubtful: Test | None) -> list[Accusation]:
    """Noise that is too small for the residuals, where no mistake of the catalogue explains them better."""
    from scipy.special import chdtrc  # noqa: PLC0415 - start-up time

    squares, spare = tests.squares
    p = float(chdtrc(spare, squares)) if spare > 0 else 1.0
    if not p < LEVEL:
        return []
    sure = f"p = {p:.1g}" if p > 1e-12 else "p < 1e-12"
    noise = LargerNoise(tests).words()
    if doubtful is not None and _explains(doubtful, tests, spare):
        poses = tests.fitted.poses
        single = f"{_unfit([poses.label(k) for k in doubtful.poses])}" if doubtful.poses else doubtful.mistake.title
        words = (
            f"The residuals are larger than the stated noise explains ({sure}). {single[0].upper()}{single[1:]}, or "
            f"{noise}: so few poses do not show which. Measure more, some of them twice, and state how they scatter"
        )
        return [Accusation(UNTOLD, f"{words}.", p, poses=doubtful.poses)]
    words = (
        f"The residuals are larger than the stated noise explains ({sure}), and no single pose, chain or frame stands "
        f"out: either {noise}, or the model lacks an effect. Repeat a few poses to see how they scatter, and state "
        "that; or leave [noise] out to have it estimated"
    )
    return [Accusation(UNDERSTATED, f"{words}.", p)]


def _unfit(labels: list[str]) -> str:
    """That poses do not fit."""
    several = len(labels) > 1
    return f"{'Poses' if several else 'Pose'} {listed(labels)} {'do' if several else 'does'} not fit the others"


def _accused(test: Test, tests: NestedTests, theta: Array, families: int) -> Accusation:
    poses = tests.fitted.poses
    p = min(1.0, test.p * families)
    sure = f"p = {p:.1g}" if p > 1e-12 else "p < 1e-12"
    if test.alternative is not None:
        words = test.alternative.words(test.values, test.sigma)
        if test.alternative.from_pose:
            words += f" between poses {poses.label(test.first - 1)} and {poses.label(test.first)}, or near them"
        return Accusation(test.mistake.name, f"{words} ({sure}). {test.mistake.advice}", p, test.alternative.chain)
    pair = exchanged(tests, test.poses, theta)
    worst = sorted(test.poses, key=lambda k: -float((tests.residuals[k] ** 2).sum()))
    if pair is not None:
        names = " and ".join(map(poses.label, pair))
        words = f"The readings of poses {names} are exchanged: each pose fits with those of the other ({sure})"
        return Accusation(EXCHANGED.name, f"{words}. {EXCHANGED.advice}", p, poses=pair)
    more = [f"{len(worst) - _NAMED} more"] if len(worst) > _NAMED else []
    rms = 1e3 * float(np.sqrt((tests.residuals[worst[0]] ** 2).mean()))
    several = len(worst) > 1
    which = _unfit([*(poses.label(k) for k in worst[:_NAMED]), *more])
    words = f"{which}: a closure error of {'up to ' * several}{number(rms, digits=3)} mm (rms over the chains; {sure})"
    return Accusation(test.mistake.name, f"{words}. {test.mistake.advice}", p, poses=tuple(worst))


def _some(poses: Poses, most: int = _JUDGED) -> Integers:
    return _spread(len(poses), most)


@lru_cache(maxsize=64)
def _spread(n: int, most: int) -> Integers:
    """At most so many of n numbers, evenly chosen."""
    return frozen(np.arange(n) if n <= most else np.unique(np.linspace(0, n - 1, most).astype(int)))


def _judged_rows(model: KinematicModel, blueprint: Array, poses: Poses, *, in_robot_frame: bool) -> Integers:
    """Numbers of the poses at which conventions are judged: evenly chosen ones, and the worst of all."""
    rows = _some(poses)
    if len(rows) == len(poses):
        return rows
    searched = _some(poses, _SEARCHED)
    whole = poses.select(searched)
    aligned = readings_of(model, blueprint, whole) if in_robot_frame else _aligned_readings(model, blueprint, whole)
    if aligned is None:
        return rows
    worst = searched[worst_first(whole.readings, aligned)[:_WORST]]
    return np.asarray(np.union1d(rows, worst), dtype=np.int64)


def _aligned_readings(model: KinematicModel, blueprint: Array, poses: Poses) -> Array | None:
    try:
        return readings_of(model, blueprint, moved_to_robot(model, blueprint, poses, zeros=True))
    except (InputError, np.linalg.LinAlgError):
        return None


def _evidence(stated: Stated, corrected: Corrected, *, zeros: bool = False) -> Evidence | None:
    model, poses = stated.model, corrected.poses
    blueprint = stated.blueprint if corrected.blueprint is None else corrected.blueprint
    try:
        if not stated.in_robot_frame:
            poses = moved_to_robot(model, blueprint, poses, zeros=zeros)
        found = evidence_of(model, blueprint, poses, corrected.stretch)
    except (InputError, np.linalg.LinAlgError):
        return None
    return found


def _total(evidence: Evidence, n_poses: int, model: KinematicModel) -> float:
    """The logarithm of the likelihood of all poses, with the chains of each counted as one."""
    return evidence.per_pose * n_poses / len(model.chains)
