"""Controllers compared on one motion: the exported C with several sets of parameters, and the complete robot."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from gough.answers import read_json
from gough.control.enclosure import Enclosure, enclose_feedforward
from gough.control.motions import DesiredMotion, desired_motion
from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import InputError, nearest, require
from gough.core.files import is_file, is_folder, read_text
from gough.core.outward import at_most
from gough.core.progress import Phase
from gough.core.tables import Cell, Column, Table, table
from gough.core.text import listed, number
from gough.estimates import Claim
from gough.export import IdentifiedDynamics, RobotModel
from gough.export.bodies import complete_mechanism
from gough.export.c_source import sections_of
from gough.export.compiled import CompiledModel
from gough.export.effects import ExportedEffects
from gough.export.vectors import Vectors, dynamic_vectors
from gough.region import ConfidenceEllipsoid, Ellipsoid
from gough.robots.mechanism import Mechanism
from gough.simulate.multibody.plants import plant
from gough.simulate.tracking import LAWS, Loop, Moving, Tracked, Tuned, require_law, track

BLUEPRINT, IDENTIFIED, PHYSICAL, TRUE = "blueprint", "identified", "physical", "true"
_NO_MODEL = ("pd",)
"""Laws without a model: one run is enough."""
_DRAWS = 30
_HALVINGS = 20
"""A drawn point that an intersection does not contain is moved towards its center by halves."""
_ENGINES = {"mujoco": "MuJoCo", "pinocchio": "Pinocchio"}


@dataclass(frozen=True, eq=False)
class ControlStudy:
    """An identification, and the robot that is simulated.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> answer = identify(*random_motion(1), methods=["weighted"], compare=False)
        >>> study = ControlStudy.of(RobotModel.of(answer), seed=1)
        >>> study.is_drawn, study.truth.shape
        (True, (21,))
    """

    model: RobotModel
    truth: Array
    """Parameters of the simulated robot, in the order of the robot's names."""
    is_drawn: bool
    """Whether the truth was drawn from the set of the identification; else it is that of a simulated experiment."""
    mechanism: Mechanism
    """The complete mechanism with these parameters."""
    others: Mapping[str, Array] = field(default_factory=dict)
    """More parameters to give to controllers, by name, each in the order of the robot's names."""
    left_out: tuple[str, ...] = ()
    """Effects of the identified model that neither the simulated robot nor its controller has."""

    @classmethod
    def of(
        cls, model: RobotModel, *, truth: Array | None = None, seed: int = 1, others: Mapping[str, Array] | None = None
    ) -> "ControlStudy":
        """A robot with the true parameters, or with parameters drawn from the set that the data allow.

        Args:
            model: The identification.
            truth: True parameters, known of simulated robots; None draws them from the estimate's region.
            seed: For the draw.
            others: More parameters to give to controllers, by name.

        Raises:
            InputError: the model has no dynamics, or the robot would have a negative mass or moment of inertia.
        """
        lost = tuple(effect.name for effect in _dynamics(model).effects)
        model = replace(model, dynamics=_dynamics(model).without_effects())
        dynamics, more = _dynamics(model), dict(others or {})
        n = len(dynamics.robot.names)
        for name, values in more.items():
            require(values.shape == (n,), f"the {dynamics.robot.name} has {n} parameters, but {name} {values.shape}")
        completion = _Completion(dynamics)
        if truth is not None:
            values = array(truth, "truth", ndim=1)
            require(len(values) == n, f"the {dynamics.robot.name} has {n} parameters, but {len(values)} true ones")
            return cls(model, values, is_drawn=False, mechanism=completion(values), others=more, left_out=lost)
        values, mechanism = completion.drawn(np.random.default_rng(seed))
        return cls(model, values, is_drawn=True, mechanism=mechanism, others=more, left_out=lost)

    @classmethod
    def read(cls, place: str | Path, *, method: str = "", seed: int = 1) -> "ControlStudy":
        """The study of a folder of results; the truth is read where the results are of a simulated robot.

        Raises:
            InputError: the folder contains no results of an identification.
        """
        model = RobotModel.read(place)
        if method:
            model = model.with_method(method)
        return cls.of(model, truth=_stored_truth(Path(place), _dynamics(model)), seed=seed)

    @property
    def dynamics(self) -> IdentifiedDynamics:
        """The identification."""
        return _dynamics(self.model)

    @property
    def parameter_sets(self) -> dict[str, Array]:
        """The parameters that controllers are given, by name."""
        dynamics = self.dynamics
        sets = {BLUEPRINT: np.asarray(dynamics.robot.nominal), IDENTIFIED: dynamics.robot_parameters()}
        if dynamics.possible:
            sets[PHYSICAL] = np.array([dynamics.possible[name] for name in dynamics.robot.names])
        return sets | dict(self.others) | {TRUE: self.truth}

    @property
    def impossible(self) -> tuple[str, ...]:
        """Bodies of the simulated robot with moments of inertia that no rigid body has."""
        return tuple(body.name for body in self.mechanism.bodies if not body.inertia.is_possible)

    @cached_property
    def compiled(self) -> CompiledModel:
        """The exported C."""
        return CompiledModel.of(self.model)


def _dynamics(model: RobotModel) -> IdentifiedDynamics:
    require(model.dynamics is not None, "a calibration has no dynamics: give the results of gough identify")
    assert model.dynamics is not None
    return model.dynamics


@dataclass(frozen=True, eq=False)
class _Completion:
    """Complete mechanisms for parameters of a robot, each with the efforts of these parameters."""

    dynamics: IdentifiedDynamics

    @cached_property
    def vectors(self) -> Vectors:
        """Motions at which efforts are compared."""
        equations = sections_of(RobotModel(dynamics=self.dynamics), "robot")[0].equations
        return dynamic_vectors(ExportedEffects(self.dynamics, equations), count=300)

    @cached_property
    def regressor(self) -> Array:
        """The robot's regressor at these motions."""
        return np.asarray(self.dynamics.robot.regressor(*(self.vectors[key] for key in ("q", "dq", "ddq"))))

    def __call__(self, values: Array) -> Mechanism:
        """The mechanism with these parameters; InputError where a mass or a moment of inertia would be negative."""
        dynamics = self.dynamics
        determined = {*dynamics.columns, *dynamics.fixed}
        pairs = zip(dynamics.robot.names, values.tolist(), strict=True)
        known = {name: value for name, value in pairs if value or name in determined}  # 0: part of combinations
        stated = replace(dynamics, fixed=MappingProxyType(known))

        def moved() -> Vectors:
            return Vectors({**self.vectors.values, "tau": self.regressor @ values})

        return complete_mechanism(stated, moved, "nominal", insist=False).mechanism

    def drawn(self, rng: np.random.Generator) -> tuple[Array, Mechanism]:
        """Parameters drawn from the set that the data allow, and their mechanism: of possible bodies if any is found.

        Bodies of the description stand for what the data do not determine. If one of those is not possible itself, the
        first mechanism without a negative moment is taken.
        """
        described: Any = self.dynamics.robot
        insist = _is_possible(described.mechanism)
        first, reason = None, None
        for k in range(_DRAWS):
            values = _drawn(self.dynamics, rng) if k < _DRAWS - 1 else self.dynamics.parameters()
            try:
                mechanism = self(values)
            except InputError as error:
                reason = reason or error
                continue
            if not insist or _is_possible(mechanism):
                return values, mechanism
            first = first or (values, mechanism)
        if first is None:
            raise InputError(f"no physically possible robot is found in the set of the identification: {reason}")
        return first


def _is_possible(mechanism: Mechanism) -> bool:
    return all(body.inertia.is_possible for body in mechanism.bodies)


def _drawn(dynamics: IdentifiedDynamics, rng: np.random.Generator) -> Array:
    """Parameters from the region of the recommended estimate: Gaussian, or anywhere in a set."""
    region = dynamics.estimate_of()[1].region
    if isinstance(region, ConfidenceEllipsoid):
        value = rng.multivariate_normal(region.center, region.covariance, method="eigh")
    else:
        hull = region.hull()
        require(hull.is_bounded, "the set of the identification is not bounded: no robot can be drawn from it")
        center = np.asarray(region.center)
        step = rng.uniform(-1, 1, len(center)) * (hull.upper - hull.center)
        ellipsoid = region if isinstance(region, Ellipsoid) else getattr(region, "ellipsoid", None)
        if ellipsoid is not None:  # uniform in its ball, since hardly any point of the hull of many axes is in it
            direction = rng.normal(size=len(center))
            size, axes = np.linalg.eigh(ellipsoid.shape)
            ball = direction / np.linalg.norm(direction) * rng.uniform() ** (1 / len(center))
            step = axes @ (np.sqrt(np.maximum(size, 0.0)) * ball)
        halved = (center + step * 0.5**k for k in range(_HALVINGS))
        value = next((trial for trial in halved if trial in region), center)
    values = {**dict(zip(dynamics.columns, np.asarray(value).tolist(), strict=True)), **dynamics.fixed}
    return np.array([values.get(name, 0.0) for name in dynamics.robot.names])


def _stored_truth(place: Path, dynamics: IdentifiedDynamics) -> Array | None:
    """The truth that the report of a simulated robot states; None of other reports."""
    path = (place if is_folder(place) else place.parent) / "report.json"
    if not is_file(path):
        return None
    data = read_json(read_text(path))
    truth = data.get("truth") if isinstance(data, dict) else None
    if truth is None or dynamics.effects:
        return None
    values = array(truth, f"{path}: truth", ndim=1)
    require(bool(np.isfinite(values).all()), f"{path}: the truth is not finite")
    names = dynamics.robot.names
    same = len(values) == len(dynamics.columns)
    require(same, f"{path}: the truth is that of another robot, with {len(values)} parameters")
    known = {**dict(zip(dynamics.columns, values.tolist(), strict=True)), **dynamics.fixed}
    return np.array([known.get(name, 0.0) for name in names])  # with the efforts of the truth


@dataclass(frozen=True, eq=False)
class Outcome(ArrayValue):
    """One run: a law with a set of parameters."""

    law: str
    parameters: str
    """Name of the set of parameters; empty for a law without a model."""
    tracked: Tracked
    position_error: Array | None
    """Distance (N,) of the platform from its desired position, m; None where the robot has no position."""

    @property
    def label(self) -> str:
        """Law and parameters."""
        return f"{self.law}, {self.parameters}" if self.parameters else self.law


@dataclass(frozen=True, eq=False)
class Comparison(ArrayValue):
    """Controllers on one motion."""

    study: ControlStudy
    motion: DesiredMotion
    loop: Loop
    engine: str
    outcomes: tuple[Outcome, ...]
    enclosure: Enclosure | None

    def outcome(self, law: str, parameters: str = "") -> Outcome:
        """The run of a law with a set of parameters.

        Raises:
            InputError: there is no such run.
        """
        for each in self.outcomes:
            if (each.law, each.parameters) == (law, parameters):
                return each
        raise InputError(f"there is no run of '{law}' with the parameters '{parameters}'")

    @property
    def limits(self) -> Array:
        """Limit of each drive."""
        return self.loop.limits(len(self.study.dynamics.robot.actuators))

    def table(self) -> Table:
        """Tracking errors, efforts and saturation of each run."""
        robot = self.study.dynamics.robot
        unit, factor = ("mrad", 1e3) if robot.coordinate_units[0] == "rad" else ("µm", 1e6)
        effort = robot.effort_units[0]
        has_position = any(each.position_error is not None for each in self.outcomes)
        heads: list[str | Column] = [
            "controller",
            "parameters",
            Column("rms error", unit=unit),
            Column("max error", unit=unit),
            *([Column("rms position", unit="mm"), Column("max position", unit="mm")] if has_position else []),
            Column("rms effort", unit=effort),
            Column("peak effort", unit=effort),
            Column("saturated", unit="%"),
        ]
        rows = [self._row(each, factor, has_position=has_position) for each in self.outcomes]
        return table(heads, rows, "ll" + "r" * (len(heads) - 2))

    def _row(self, run: Outcome, factor: float, *, has_position: bool) -> list[str | Cell]:
        tracked = run.tracked
        start: list[str | Cell] = [run.law, run.parameters or "—"]
        if tracked.lost_at is not None:
            blank: list[str | Cell] = ["—"] * (6 if has_position else 4)
            return [*start, *blank, Cell(f"lost at {tracked.lost_at:.3f} s", mark="bad")]
        position: list[str | Cell] = []
        if has_position:
            distance = run.position_error
            assert distance is not None
            position = [number(1e3 * rms(distance)), number(1e3 * float(distance.max()))]
        return [
            *start,
            number(factor * rms(tracked.error)),
            number(factor * float(tracked.max_error.max())),
            *position,
            number(rms(tracked.efforts)),
            number(float(tracked.peak_effort.max())),
            number(100 * tracked.saturation),
        ]

    def sentences(self) -> tuple[str, ...]:
        """What was simulated, doubts about the model, and what follows for the drives."""
        return (*self.setting(), *self.doubts, *self.drives())

    def setting(self) -> tuple[str, ...]:
        """What was simulated, and how far the model reaches."""
        robot, outside = self.study.dynamics.robot, self.motion.outside(self.study.dynamics)
        truth = (
            "The simulated robot is drawn from the set that the data allow: it is one of the robots that they may stem "
            "from."
            if self.study.is_drawn
            else "The simulated robot has the true parameters of the simulated experiment."
        )
        range_ = (
            f"{outside:.0%} of the instants are outside the positions, speeds or accelerations of the data: the model "
            "extrapolates there."
            if outside
            else "The motion stays in the range of the data."
        )
        bodies, impossible = len(self.study.mechanism.bodies), self.study.impossible
        if self.study.left_out:
            truth += (
                f" Effects of the identified model ({', '.join(self.study.left_out)}) are left out of robot, "
                "controller and bounds alike."
            )
        made = (
            f"{robot.name}: all {bodies} bodies in closed loops by {_ENGINES[self.engine]}, controlled "
            f"{self.loop.rate:g} times a second by the exported C on the motion '{self.motion.name}' of "
            f"{len(self.motion) / self.motion.rate:g} s. {truth}"
        )
        formal = (
            f"No rigid body has the moments of inertia of {listed(_first(impossible))}: one exceeds the sum of the "
            "other two. They are simulated as they are: the motion of the actuators depends on base parameters alone, "
            "and the kinetic energy of every body is positive."
        )
        return (made, *((formal,) if impossible else ()), range_)

    @property
    def doubts(self) -> tuple[str, ...]:
        """The verdict of the identification, where it rejects the model."""
        dynamics = self.study.dynamics
        if not dynamics.is_refuted:
            return ()
        headline = dynamics.headline or "The data refute the model."
        return (f"Careful: {headline} All bounds below hold for the model's equations, not for the effects they lack.",)

    def drives(self) -> tuple[str, ...]:
        """The enclosure of the feedforward efforts in words, rounded outward."""
        found = self.enclosure
        if found is None:
            return ("No method of the identification has a bounded set: efforts have no bounds.",)
        size = ", ".join(
            f"{name} {at_most(float(peak))} {unit}"
            for name, peak, unit in zip(found.actuators, found.peak, found.units, strict=True)
        )
        worst = float(found.worst_error.max())
        kind = {Claim.PROOF: "proven", Claim.ENCLOSURE: "enclosed"}.get(found.claim, "by confidence")
        efforts = (
            f"Efforts of the desired motion for all models that the data allow ({kind}): at most {size}. The "
            f"feedforward effort errs by at most {at_most(worst)} {found.units[int(found.worst_error.argmax())]}."
        )
        return efforts, found.statement(self.limits), f"Premises: {' '.join(found.premises)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, in SI units."""
        robot, found, loop = self.study.dynamics.robot, self.enclosure, self.loop
        return {
            "robot": robot.name,
            "motion": self.motion.name,
            "seconds": len(self.motion) / self.motion.rate,
            "outside_the_data": self.motion.outside(self.study.dynamics),
            "engine": self.engine,
            "truth": "drawn" if self.study.is_drawn else "known",
            "loop": {
                "rate": loop.rate,
                "delay": loop.delay,
                "resolution": loop.resolution.tolist(),
                "position_noise": float(loop.position_noise),
                "effort_noise": loop.effort_noise.tolist(),
                "limit": [value if isfinite(value) else None for value in self.limits.tolist()],
                "velocity_cutoff": loop.velocity_cutoff,
                "bandwidth": loop.bandwidth,
                "damping": loop.damping,
            },
            "runs": [_run_data(each) for each in self.outcomes],
            "enclosure": None if found is None else _enclosure_data(found, self.limits),
            "sentences": list(self.sentences()),
        }


def _first(names: Sequence[str], most: int = 6) -> list[str]:
    more = len(names) - most
    return [*names[:most], *([f"{more} more"] if more > 0 else [])]


def _run_data(run: Outcome) -> dict[str, Any]:
    tracked, distance = run.tracked, run.position_error
    there = np.isfinite(tracked.q).all(axis=1).any()
    return {
        "controller": run.law,
        "parameters": run.parameters or None,
        "lost_at": tracked.lost_at,
        "rms_error": tracked.rms_error.tolist() if there else None,
        "max_error": tracked.max_error.tolist() if there else None,
        "rms_position_error": None if distance is None or tracked.lost_at is not None else rms(distance),
        "max_position_error": None if distance is None or tracked.lost_at is not None else float(distance.max()),
        "rms_effort": tracked.rms_effort.tolist() if there else None,
        "peak_effort": tracked.peak_effort.tolist() if there else None,
        "saturation": tracked.saturation,
    }


def _enclosure_data(found: Enclosure, limits: Array) -> dict[str, Any]:
    return {
        "claim": found.claim.name,
        "methods": list(found.methods),
        "peak": found.peak.tolist(),
        "worst_error": found.worst_error.tolist(),
        "is_within": found.is_within(limits) if np.isfinite(limits).all() else None,
        "statement": found.statement(limits),
        "premises": list(found.premises),
    }


def rms(values: Array) -> float:
    """Root mean square of all entries.

    Examples:
        >>> rms(np.array([3.0, -3.0]))
        3.0
    """
    return float(np.sqrt(np.mean(values**2)))


def control(
    study: ControlStudy,
    *,
    motion: str | DesiredMotion = "random",
    laws: Sequence[str] = tuple(LAWS),
    parameters: Sequence[str] = (),
    loop: Loop | None = None,
    engine: str = "mujoco",
    seed: int = 1,
    seconds: float = 3.0,
    step: float = 2.5e-4,
    on_step: Callable[[Phase], object] = lambda _: None,
) -> Comparison:
    """Let the complete robot follow a motion under each law, with blueprint, identified and true parameters.

    Args:
        study: The identification, and the robot that is simulated.
        motion: A motion, one of `MOTIONS`, or a file.
        laws: Names of laws.
        parameters: Names of the sets of parameters to give to them; all of `study.parameter_sets` by default.
        loop: Rate, delay, sensors and drives; None takes the defaults of `Loop`.
        engine: "mujoco", or "pinocchio", which is about 50 times slower and more accurate.
        seed: Random seed of the motion and of the noise; the noise is the same in all runs.
        seconds: Duration of a random motion.
        step: Longest step of integration, s.
        on_step: Told of each run as it begins.

    Raises:
        InputError: there is no such law, set of parameters, motion or engine; the motion is out of reach, or of another
            robot.
        ExportError: there is no C compiler.
    """
    loop = Loop() if loop is None else loop
    for law in laws:
        require_law(law)
    require(len(laws) > 0, "name at least one controller")
    dynamics, rng = study.dynamics, np.random.default_rng(seed)
    if isinstance(motion, str):
        motion = desired_motion(dynamics, motion, rate=loop.rate, rng=rng, seconds=seconds)
    require(motion.rate == loop.rate, f"the motion has {motion.rate:g} samples a second, the loop {loop.rate:g}")
    require(
        loop.delay < len(motion),
        f"a delay of {loop.delay} samples is longer than the motion, which has {len(motion)}: shorten the delay",
    )
    loop.limits(len(dynamics.robot.actuators))
    sets = study.parameter_sets
    for name in parameters:
        require(name in sets, f"there are no parameters '{name}'{nearest(name, sets)} (known: {', '.join(sets)})")
    chosen = tuple(parameters) or tuple(sets)
    runs = [(law, name) for law in dict.fromkeys(laws) for name in (("",) if law in _NO_MODEL else chosen)]
    compiled, begin = study.compiled, motion.joints
    inertia = np.diagonal(compiled.with_parameters(sets[BLUEPRINT]).mass_matrix(compiled.home)).copy()
    outcomes = []
    for k, (law, name) in enumerate(runs, start=1):
        on_step(Phase(k, len(runs), f"{law}{f', {name} parameters' if name else ''}"))
        robot = plant(study.mechanism, begin.q[0], begin.dq[0], engine, step=step)
        _require_at_start(dynamics.robot, robot, motion)
        own = compiled.with_parameters(sets[name or BLUEPRINT])
        tracked = track(robot, law, Tuned(own, loop, inertia), begin, np.random.default_rng([seed, 1]))
        outcomes.append(Outcome(law, name, tracked, _distance(dynamics.robot, motion, tracked)))
    return Comparison(study, motion, loop, engine, tuple(outcomes), enclose_feedforward(dynamics, motion))


_ASSEMBLED = 1e-6
"""rad or m: largest distance of an assembled mechanism from the beginning of its motion."""


def _require_at_start(robot: Any, simulated: Moving, motion: DesiredMotion) -> None:
    """Refuse a motion at whose beginning the complete mechanism cannot be assembled."""
    wanted = motion.joints.q[0]
    away = abs(simulated.read()[0] - wanted)
    if not away.max() <= _ASSEMBLED:
        k = int(np.argmax(np.where(np.isfinite(away), away, np.inf)))
        raise InputError(
            f"the complete {robot.name} cannot be assembled at the beginning of the motion '{motion.name}', where "
            f"{robot.coordinates[k]} is {wanted[k]:.4g} {robot.coordinate_units[k]}: begin in the range of the data, "
            "and check the units and zeros of the file"
        )


def _distance(robot: Any, motion: DesiredMotion, tracked: Tracked) -> Array | None:
    """Distance of the platform from its desired position; NaN where the robot was lost."""
    pose = motion.pose
    if pose is None or "x" not in robot.pose_names:
        return None
    places = [k for k, name in enumerate(robot.pose_names) if name in ("x", "y", "z")]
    distance = np.full(len(motion), np.nan)
    there = np.isfinite(tracked.q).all(axis=1)
    if there.any():
        x = robot.forward(tracked.q[there], guess=pose.x[there])
        distance[there] = np.linalg.norm((x - pose.x[there])[:, places], axis=1)
    return distance
