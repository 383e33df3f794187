"""The search for a set of poses, its answer, and other sets to compare with."""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gough.answers import Answer, position_of, predicted_interval
from gough.campaigns import digest, this_version
from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import InputError, require
from gough.core.progress import OnProgress
from gough.core.tables import Column, Table, table
from gough.core.text import counted, shown_unit
from gough.data import Poses
from gough.designs.poses.bounds import least_value
from gough.designs.poses.criteria import DCriterion, PoseCriterion
from gough.designs.poses.information import information_of
from gough.designs.poses.problem import PoseProblem
from gough.designs.poses.search import exchange, greedy
from gough.designs.poses.workspace import Accuracy
from gough.designs.starts import OnStage, Starts
from gough.geometry.gauges import regauged
from gough.geometry.geometric import SCALE
from gough.region import Interval
from gough.robots.gough_platform import GoughPlatform


@dataclass(frozen=True)
class ObservabilityIndices:
    """The five indices of robot calibration and what design of experiments calls A-, D- and E-optimality [SH08].

    Of the singular values σ_1 ≥ … ≥ σ_m of the identification Jacobian of n poses, m parameters. All O are better the
    larger they are. Only O1 orders sets of poses alike whatever the units of the parameters.

    Examples:
        >>> indices = ObservabilityIndices.of([4.0, 1.0], n_poses=4)
        >>> indices.O1, indices.O2, indices.O3, indices.O4, indices.O5
        (1.0, 0.25, 1.0, 0.25, 0.8)
        >>> round(indices.D, 9), indices.A, indices.E
        (16.0, 1.0625, 1.0)
    """

    O1: float
    """(σ_1 … σ_m)^(1/m) / √n [BM91]."""
    O2: float
    """σ_m / σ_1, the inverse condition number [DP90]."""
    O3: float
    """σ_m [NHH94]."""
    O4: float
    """σ_m² / σ_1, the noise amplification index [NH96]."""
    O5: float
    """1 / (1/σ_1 + … + 1/σ_m) [SH08]."""
    log_det: float
    """ln D."""
    A: float
    """Σ 1/σ²: the sum of the parameters' variances; better small."""
    E: float
    """σ_m²: the information of the weakest direction; better large."""

    @property
    def D(self) -> float:
        """∏ σ²: the determinant of the information; better large. Infinite beyond what a float holds."""
        with np.errstate(over="ignore"):
            return float(np.exp(self.log_det))

    @classmethod
    def of(cls, singular_values: Any, n_poses: int) -> "ObservabilityIndices":
        """From the singular values of n poses; where one is zero, all indices are, and A is infinite."""
        s = np.sort(array(singular_values, "singular values", ndim=1))[::-1]
        require(len(s) > 0 and bool((s >= 0).all()), "singular values must be numbers ≥ 0, one at least")
        require(n_poses > 0, f"the number of poses must be positive, but is {n_poses}")
        if s[-1] == 0:
            return cls(0.0, 0.0, 0.0, 0.0, 0.0, -np.inf, np.inf, 0.0)
        log_det = float(2 * np.log(s).sum())
        return cls(
            O1=float(np.exp(log_det / (2 * len(s))) / np.sqrt(n_poses)),
            O2=float(s[-1] / s[0]),
            O3=float(s[-1]),
            O4=float(s[-1] ** 2 / s[0]),
            O5=float(1 / (1 / s).sum()),
            log_det=log_det,
            A=float((1 / s**2).sum()),
            E=float(s[-1] ** 2),
        )


@dataclass(frozen=True, eq=False)
class Selection(Answer, ArrayValue):
    """Poses to measure, in an order in which the first few are a good set too, with the predicted accuracy.

    `print` shows the poses. `selection["radius"]` is the value that was assumed for a parameter, and
    `selection.interval("radius")` the confidence interval that a calibration from these poses is predicted to have,
    around that value. `to_json` and `from_json` keep it in a file, for the same problem.
    """

    problem: PoseProblem
    rows: tuple[int, ...]
    """Numbers of the candidates."""
    is_stopped: bool = False
    """Was the search interrupted? Then this is the best so far."""

    @property
    def names(self) -> tuple[str, ...]:
        """What these poses identify: parameters, or combinations of them."""
        return self.problem.information.names

    def __getitem__(self, name: str) -> float:
        """The value that was assumed for a parameter or combination."""
        of, known = self.problem, self.problem.information.identifiability
        assumed = dict(zip((*of.model.names, SCALE), (*of.parameters.tolist(), 1.0), strict=True))
        base = known.base[position_of(name, self.names, "identified parameter")]
        return float(base.coefficients @ [assumed[each] for each in known.names])

    def interval(self, name: str, level: float | None = None) -> Interval:
        """The assumed value ± what the noise of a calibration from these poses makes of it, 95 % by default."""
        sigma = self.sigma[position_of(name, self.names, "identified parameter")]
        return predicted_interval(self[name], float(sigma), level)

    @property
    def poses(self) -> Poses:
        """Expected poses and readings to command, with the noise of their measurement."""
        return self.problem.candidates.poses.select(list(self.rows))

    @cached_property
    def information(self) -> Array:
        """In the coordinates of the problem's Z."""
        return self.problem.information.of(self.rows)

    @cached_property
    def covariance(self) -> Array:
        """Predicted, of what is identified."""
        return self.problem.information.covariance(self.information)

    @property
    def sigma(self) -> Array:
        """Predicted standard deviation of each identified parameter or combination."""
        return np.sqrt(self.covariance.diagonal())

    @cached_property
    def shape_sigma(self) -> Array | None:
        """σ in frames fitted to its own joints, for a Gough platform whose 42 parameters are all identified.

        The accuracy of the robot's shape, whatever the place of the instrument (gauge `Procrustes`).
        """
        model, information = self.problem.model, self.problem.information
        if not isinstance(model, GoughPlatform) or information.columns != tuple(range(len(model.names))):
            return None
        carried = regauged(model, self.problem.parameters, self.covariance).covariance
        assert carried is not None
        return np.sqrt(np.maximum(carried.diagonal(), 0.0))

    @cached_property
    def indices(self) -> ObservabilityIndices:
        """Indices of these poses; parameters are in units of the σ that an average candidate alone would give them."""
        return ObservabilityIndices.of(self.problem.information.singular_values(self.information), len(self.rows))

    @cached_property
    def accuracy(self) -> Accuracy:
        """Standard deviations of predicted poses over the workspace."""
        return self.problem.workspace.accuracy(self.problem.information, self.information)

    @property
    def value(self) -> float:
        """The criterion."""
        return self.problem.criterion.value(self.information)

    def table(self) -> Table:
        """Readings to command and positions to expect, pose by pose."""
        poses, model = self.poses, self.problem.model
        unit, factor = shown_unit(model.reading_unit)
        heads: list[str | Column] = ["pose", *(Column(chain, unit=unit) for chain in model.chains)]
        heads += [Column(axis, unit="mm") for axis in "xyz"]
        rows = [
            [str(i + 1), *(f"{factor * v:.4f}" for v in reading), *(f"{1e3 * v:.3f}" for v in position)]
            for i, (reading, position) in enumerate(zip(poses.readings, poses.position, strict=True))
        ]
        return table(heads, rows, "l" + "r" * (len(heads) - 1), "Readings to command")

    def headlines(self) -> tuple[str, ...]:
        of, accuracy, poses = self.problem, self.accuracy, counted(len(self.rows), "pose")
        return (
            f"{poses} of the {of.model.name} for {of.information.n_parameters} unknowns, chosen by "
            f"{of.criterion.name}; a calibration from them predicts positions with σ = {1e3 * accuracy.position:.3g} "
            f"mm (rms over the workspace), at worst {1e3 * accuracy.position_worst:.3g} mm"
            + ("; the search was interrupted" if self.is_stopped else ""),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, in SI units."""
        of, poses, information = self.problem, self.poses, self.problem.information
        return {
            "robot": of.model.name,
            "count": len(self.rows),
            "criterion": of.criterion.name,
            "value": self.value,
            "is_stopped": self.is_stopped,
            "rows": list(self.rows),
            "readings": poses.readings.tolist(),
            "position": poses.position.tolist(),
            "rotation": None if poses.rotation is None else poses.rotation.tolist(),
            "sigma": dict(zip(information.names, self.sigma.tolist(), strict=True)),
            "units": dict(zip(information.names, information.units, strict=True)),
        }

    @classmethod
    def from_json(cls, text: str, problem: PoseProblem) -> "Selection":
        """The selection that `to_json` wrote, of the problem that it was found for.

        Raises:
            InputError: the text is no such document, or the problem's candidates are other ones.
        """
        try:
            data = json.loads(text)
            rows, stopped = tuple(int(row) for row in data["rows"]), bool(data["is_stopped"])
            robot = data["robot"] if "robot" in data else data["machine"]  # its name before version 0.2
            readings = np.array(data["readings"], dtype=float)
        except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"not a selection of poses that this version of gough wrote: {error}") from error
        name = problem.model.name
        require(robot == name, f"the selection is of the robot '{robot}', not of '{name}'")
        known = bool(rows) and min(rows) >= 0 and max(rows) < len(problem.candidates)
        same = known and np.array_equal(problem.candidates.poses.readings[list(rows)], readings)
        require(same, "the selection was made from other candidates: give the limits, number and seed of those")
        return cls(problem, rows, stopped)

    @cached_property
    def excess(self) -> float | None:
        """By what share standard deviations can at most be larger than those of the best set of as many candidates.

        Of their geometric mean where the criterion is D; of their root mean square where it is a variance; None where
        no bound is known.
        """
        of, information = self.problem, self.problem.information
        least = least_value(
            information.Z, len(self.rows), of.criterion, information.known, chosen=self.rows, repeats=of.repeats
        )
        if least is None or not np.isfinite(self.value):
            return None
        share = 1 / (2 * information.n_parameters) if isinstance(of.criterion, DCriterion) else 1.0
        return max(0.0, float(np.expm1((self.value - least) * share)))


@dataclass(frozen=True, eq=False)
class _Search:
    """What decides the set of each start."""

    Z: Array
    known: Array
    criterion: PoseCriterion
    repeats: bool
    count: int
    seed: int


@dataclass(frozen=True)
class _Attempt:
    """The set of one start."""

    number: int
    rows: tuple[int, ...]
    value: float
    is_stopped: bool = False


def select(
    problem: PoseProblem,
    count: int,
    *,
    starts: int = 3,
    seed: int = 1,
    executor: Any = None,
    workers: int = 1,
    path: str | Path | None = None,
    on_progress: OnProgress = lambda _: None,
) -> Selection:
    """`count` poses to measure: greedily chosen, then exchanged until no single exchange improves the criterion.

    The first start is greedy, the second one of criteria other than D is led by D, and later ones begin with random
    candidates as half of the set. The same seed gives the same poses, whatever the executor. Interrupted (Ctrl-C), it
    returns the best set so far, if that identifies what can be identified.

    Args:
        problem: What to choose from.
        count: Number of poses.
        starts: Number of starts; the best set of all is returned.
        seed: Random seed of the starts.
        executor: Where starts run: an executor of `gough.campaigns` or `concurrent.futures`; here by default.
        workers: Number of processes of this machine, where no executor is given.
        path: A file, or a folder for it, to which each finished start is appended; a search that was stopped resumes
            from it.
        on_progress: Called with a `Progress` now and then.

    Raises:
        InputError: so few poses do not identify the parameters, or there are not so many candidates.

    Examples:
        >>> from gough.designs.poses import PoseLimits, candidates
        >>> from gough.robots import GoughPlatform
        >>> robot = GoughPlatform.deltalab()
        >>> drawn = candidates(robot, PoseLimits(readings=(0.0, 0.14)), count=100).with_noise(5e-5, 2e-4, 1e-5)
        >>> chosen = select(PoseProblem.of(robot, drawn), 12, starts=1)
        >>> len(chosen.rows), bool(chosen.excess < 0.2)
        (12, True)
    """
    problem.require_count(count)
    information = problem.information
    search = _Search(information.Z, information.known, problem.criterion, problem.repeats, count, seed)
    found, stopped = Starts(
        _attempt,
        (search,),
        max(starts, 1),
        digest((this_version(), search)),
        executor=executor,
        workers=workers,
        on_progress=on_progress,
    ).run(path)
    best = min(found, key=lambda each: (-len(each.rows), each.value, each.number), default=None)
    if best is None or (len(best.rows) < count and information.is_singular(information.of(best.rows))):
        raise KeyboardInterrupt
    return in_order(Selection(problem, best.rows, stopped))


def _attempt(search: _Search, number: int, on_stage: OnStage) -> _Attempt:
    """One start."""
    Z, known, criterion, repeats, count = search.Z, search.known, search.criterion, search.repeats, search.count
    lead, first = criterion, []
    if number == 2 and not criterion.diminishes:
        lead = DCriterion()
    elif number > 1:
        rng = np.random.default_rng([search.seed, number])
        first = rng.choice(len(Z), min(count // 2, len(Z)), replace=False).tolist()
    rows: list[int] = []
    stopped = False
    try:
        on_stage("greedy choice", np.nan)
        greedy(Z, count, lead, known, first=first, repeats=repeats, chosen=rows)
        exchange(
            Z,
            rows,
            criterion,
            known,
            repeats=repeats,
            on_progress=lambda step: on_stage(f"exchange {step.done + 1}", step.value),
        )
    except KeyboardInterrupt:
        stopped = True
    return _Attempt(number, tuple(int(row) for row in rows), criterion.value(information_of(Z, rows, known)), stopped)


def in_order(selection: Selection) -> Selection:
    """The same poses, ordered so that the first k are the most informative k: stopping early loses least."""
    information, rows = selection.problem.information, list(selection.rows)
    order = greedy(information.Z[rows], len(rows), DCriterion(), information.known)
    return replace(selection, rows=tuple(int(rows[i]) for i in order))


@dataclass(frozen=True)
class Rival:
    """Another set of poses, for comparison."""

    name: str
    count: int
    accuracy: Accuracy
    indices: ObservabilityIndices


def rivals(selection: Selection, *, seed: int = 1, draws: int = 100) -> tuple[Rival, ...]:
    """The accuracy of random sets of the same size, of the best extremal configurations, and of all extremal ones.

    Random sets are drawn from the configurations that are not extremal; their median by position accuracy is given.
    """
    of, information = selection.problem, selection.problem.information
    count, rng = len(selection.rows), np.random.default_rng(seed)
    inner = np.flatnonzero(~of.candidates.is_extremal)
    pool = inner if len(inner) >= count else np.arange(len(information.Z))
    sets = [rng.choice(pool, count, replace=count > len(pool)) for _ in range(draws)]
    able = [rows for rows in sets if not information.is_singular(information.of(rows))]
    result = []
    if able:
        accuracy = [of.workspace.accuracy(information, information.of(rows)).position for rows in able]
        middle = able[int(np.argsort(accuracy)[len(accuracy) // 2])]
        result.append(_rival(of, f"random, median of {draws}", middle))
    corners = np.flatnonzero(of.candidates.is_extremal)
    if len(corners) >= count:
        some: list[int] = []
        greedy(information.Z[corners], count, of.criterion, information.known, chosen=some)
        exchange(information.Z[corners], some, of.criterion, information.known)
        result.append(_rival(of, "extremal, as many", corners[some]))
    if len(corners) > count:
        result.append(_rival(of, "extremal, all", corners))
    return tuple(each for each in result if each is not None)


def _rival(problem: PoseProblem, name: str, rows: Any) -> Any:
    M = problem.information.of(rows)
    if problem.information.is_singular(M):
        return None
    indices = ObservabilityIndices.of(problem.information.singular_values(M), len(rows))
    return Rival(name, len(rows), problem.workspace.accuracy(problem.information, M), indices)
