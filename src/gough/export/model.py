"""What an identification and a calibration found about a robot, in one file: model.json.

It contains all that a controller or a simulator needs: the robot with its geometry, parameters with the sets of every
method, the method that is recommended, and the range of the data.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import gough
from gough.answers import read_json
from gough.core import codec
from gough.core.arrays import Array
from gough.core.errors import GoughError, InputError, nearest, require
from gough.core.files import is_file, is_folder, read_text
from gough.data import MeasuredMotion
from gough.dynamics import Identified, IdentifiedRepeats
from gough.dynamics.effect import Effect
from gough.dynamics.effects import catalogue, effect_named
from gough.dynamics.effects.geometry import Dimension
from gough.dynamics.named import ByMethod
from gough.dynamics.with_effects import WithEffects
from gough.estimates import Claim, Estimate, Stats, Status
from gough.export.robot_data import DYNAMIC, KINEMATIC, can_be_stored, robot_from_data, robot_to_data
from gough.region import ConfidenceEllipsoid
from gough.robots import DynamicModel, KinematicModel
from gough.robots.kinematics import PlatformPoses
from gough.unknowns import Unknowns

if TYPE_CHECKING:  # an identification needs none of it
    from gough.geometry import Calibrated, MachineGeometry
    from gough.geometry.instruments import CalibratedByInstruments

FILE = "model.json"
FORMAT, VERSION = "gough-model", 1
_SAME: dict[str, tuple[str, ...]] = {
    "H4Kinematics": ("H4",),
    "Par4Kinematics": ("Par4",),
    "RotaryDelta": ("Delta",),
    "PlanarRRR": ("ThreeRRR",),
    "GoughPlatform": ("Hexapod", "Palida"),
}
"""The robots for identification that each robot for calibration may be; a mechanism of a file may be any."""


@dataclass(frozen=True, eq=False)
class MotionRange:
    """Smallest and largest positions, velocities and accelerations (2, coordinates) in the data."""

    q: Array
    dq: Array
    ddq: Array

    @classmethod
    def of(cls, q: Array, dq: Array, ddq: Array) -> "MotionRange":
        """The range of a motion, each (N, coordinates).

        Examples:
            >>> MotionRange.of(np.array([[0.0], [2.0]]), np.zeros((2, 1)), np.ones((2, 1))).q.tolist()
            [[0.0], [2.0]]
        """
        return cls(*(np.stack([np.nanmin(each, axis=0), np.nanmax(each, axis=0)]) for each in (q, dq, ddq)))


@dataclass(frozen=True, eq=False)
class IdentifiedDynamics:
    """The dynamic parameters of a robot by every method that succeeded."""

    robot: DynamicModel
    columns: tuple[str, ...]
    """For each unknown of the estimates, the parameter of the robot whose column of the regressor it multiplies. Where
    data determine combinations only, it is the first parameter of the combination."""
    estimates: Mapping[str, Estimate]
    recommended: str
    fixed: Mapping[str, float]
    """Parameters with a value known beforehand."""
    seen: MotionRange
    effects: tuple[Effect, ...] = ()
    """Effects of the catalogue that the model includes, in the forms that were identified."""
    effect_units: Mapping[str, str] = field(default_factory=dict)
    """Their parameters, which stand after those of the robot, with units."""
    effect_reference: Mapping[str, float] = field(default_factory=dict)
    """Parameters of the robot at which columns of effects were computed that depend on its efforts, such as gains."""
    is_refuted: bool = False
    headline: str = ""
    """The verdict in one sentence."""
    bound: tuple[float, ...] = ()
    """Error bound of the rows of each actuator that the guaranteed sets presume; empty where there is none."""
    possible: Mapping[str, float] = field(default_factory=dict)
    """All parameters of a robot that can exist and has the recommended estimate's efforts (`[physical]` in a study);
    empty where none was sought or found."""

    def estimate_of(self, method: str = "") -> tuple[str, Estimate]:
        """The name and the estimate of a method; the recommended one by default.

        Raises:
            InputError: there is no estimate by this method.
        """
        name = method or self.recommended
        known = ByMethod(self.estimates)
        if name not in known:
            raise InputError(f"no estimate is by '{name}'{nearest(name, known)} (known: {', '.join(known)})")
        return known.title(name), known[name]

    def parameters(self, method: str = "") -> Array:
        """Parameters of the robot that have the efforts of an estimate; 0 for those that are part of combinations.

        Those of effects, where the model includes any, follow.
        """
        return np.append(self.robot_parameters(method), list(self.effect_values(method).values()))

    def robot_parameters(self, method: str = "") -> Array:
        """The parameters without those of effects."""
        known = {**self._values(method), **self.fixed}
        return np.array([known.get(name, 0.0) for name in self.robot.names])

    def effect_values(self, method: str = "") -> dict[str, float]:
        """The parameters of effects."""
        known = self._values(method)
        return {name: known.get(name, 0.0) for name in self.effect_units}

    def _values(self, method: str) -> dict[str, float]:
        return dict(zip(self.columns, self.estimate_of(method)[1].value.tolist(), strict=True))

    def without_effects(self) -> "IdentifiedDynamics":
        """The robot's own model: estimates are the shadows of their sets on its parameters."""
        if not self.effects:
            return self
        own = [k for k, name in enumerate(self.columns) if name not in self.effect_units]
        return replace(
            self,
            columns=tuple(self.columns[k] for k in own),
            estimates={title: each.marginal(*(each.names[k] for k in own)) for title, each in self.estimates.items()},
            effects=(),
            effect_units={},
            effect_reference={},
        )

    @property
    def is_complete(self) -> bool:
        """Whether the data determine each parameter by itself."""
        return {*self.columns, *self.fixed} == set(self.robot.names)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "robot": robot_to_data(self.robot),
            "name": self.robot.name,
            "parameters": list(self.robot.names),
            "units": list(self.robot.units),
            "columns": list(self.columns),
            "fixed": dict(self.fixed),
            "recommended": self.recommended,
            "estimates": {title: estimate.to_dict() for title, estimate in self.estimates.items()},
            "seen": {
                "coordinates": list(self.robot.coordinates),
                "units": list(self.robot.coordinate_units),
                **{key: getattr(self.seen, key).tolist() for key in ("q", "dq", "ddq")},
            },
            "effects": [effect.name for effect in self.effects],
            "effect_forms": [codec.encode(effect) if is_dataclass(effect) else {} for effect in self.effects],
            "effect_parameters": dict(self.effect_units),
            "effect_reference": dict(self.effect_reference),
            "is_refuted": self.is_refuted,
            "headline": self.headline,
            "bound": list(self.bound),
            "possible_bodies": dict(self.possible),
        }

    @classmethod
    def from_dict(cls, data: Any) -> "IdentifiedDynamics":
        """The dynamics that `to_dict` made; InputError where the data are no such document."""
        robot = robot_from_data(data["robot"], DYNAMIC)
        same = tuple(data["parameters"]) == tuple(robot.names)
        require(same, "the parameters are not those of its robot: it is the estimate of another robot")
        estimates = {str(title): Estimate.from_dict(each) for title, each in data["estimates"].items()}
        columns, units = tuple(data["columns"]), _effect_units(data)
        fits = all(len(each.value) == len(columns) for each in estimates.values())
        require(
            fits and set(columns) <= {*robot.names, *units}, "its estimates are not those of its robot's parameters"
        )
        require(bool(estimates) and data["recommended"] in estimates, "it has no recommended estimate")
        n = len(robot.coordinates)
        seen = MotionRange(*(_numbers(data["seen"][key], (2, n)) for key in ("q", "dq", "ddq")))
        fixed = {str(name): float(value) for name, value in data["fixed"].items()}
        require(set(fixed) <= set(robot.names), "it fixes parameters that its robot does not have")
        possible = {str(name): float(value) for name, value in data.get("possible_bodies", {}).items()}
        require(not possible or set(possible) == set(robot.names), "its bodies are not those of its robot")
        require(all(np.isfinite(value) for value in possible.values()), "expected finite numbers")
        return cls(
            robot=robot,
            columns=columns,
            estimates=estimates,
            recommended=data["recommended"],
            fixed=fixed,
            seen=seen,
            effects=_effects(data, n),
            effect_units=units,
            effect_reference=_reference(data, robot.names),
            is_refuted=bool(data["is_refuted"]),
            headline=str(data["headline"]),
            bound=_bound(data, len(robot.actuators)),
            possible=possible,
        )


def _effect_units(data: Any) -> dict[str, str]:
    stated = data["effect_parameters"]
    if stated and not isinstance(stated, dict):
        raise InputError(
            "it includes effects without their forms, as an earlier version of gough wrote it: run gough identify again"
        )
    return {str(name): str(unit) for name, unit in dict(stated).items()}


def _effects(data: Any, n: int) -> tuple[Effect, ...]:
    """The effects in their forms; numbers of a form are those of the n actuators."""
    forms: dict[str, type] = {type(each).__name__: type(each) for each in catalogue().values() if is_dataclass(each)}
    found = []
    for name, form in zip(data["effects"], data.get("effect_forms", []), strict=True):
        effect: Effect = effect_named(name)
        kind = type(effect)
        if kind.__name__ in forms:
            effect = codec.decode(form, {**forms, Dimension.__name__: Dimension})
            require(type(effect) is kind, f"the form of the effect '{name}' is that of another")
            for values in vars(effect).values():
                if isinstance(values, tuple) and values and not isinstance(values[0], str):
                    _numbers(values, (n,))
        found.append(effect)
    return tuple(found)


def _bound(data: Any, n: int) -> tuple[float, ...]:
    """The error bounds; none in files of earlier versions."""
    stated = data.get("bound") or []
    return tuple(_numbers(stated, (n,)).tolist()) if stated else ()


def _reference(data: Any, names: Sequence[str]) -> dict[str, float]:
    stated = {str(name): float(value) for name, value in data.get("effect_reference", {}).items()}
    good = set(stated) <= set(names) and all(np.isfinite(value) for value in stated.values())
    require(good, "the reference of its effects is not that of its robot")
    return stated


@dataclass(frozen=True, eq=False)
class CalibratedGeometry:
    """The geometric parameters of a robot."""

    model: KinematicModel
    parameters: Array
    estimate: Estimate
    readings: Array
    """Smallest and largest reading of each chain (2, chains) in the data."""
    home_readings: Array
    """Readings (chains,) of a measured pose in the middle of the data."""
    home: PlatformPoses
    """The pose at these readings, in the frames of the measurement."""
    is_refuted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "robot": robot_to_data(self.model),
            "name": self.model.name,
            "parameters": dict(zip(self.model.names, self.parameters.tolist(), strict=True)),
            "units": list(self.model.units),
            "readings": self.readings.tolist(),
            "home": {
                "readings": self.home_readings.tolist(),
                "position": self.home.position[0].tolist(),
                "rotation": self.home.rotation[0].tolist(),
            },
            "estimate": self.estimate.to_dict(),
            "is_refuted": self.is_refuted,
        }

    @classmethod
    def from_dict(cls, data: Any) -> "CalibratedGeometry":
        """The geometry that `to_dict` made; InputError where the data are no such document."""
        model = robot_from_data(data["robot"], KINEMATIC)
        same = tuple(data["parameters"]) == tuple(model.names)
        require(same, "the parameters are not those of its robot: it is the calibration of another robot")
        values = _numbers(list(data["parameters"].values()), (len(model.names),))
        readings = _numbers(data["readings"], (2, len(model.chains)))
        home = data["home"]
        at = PlatformPoses(_numbers(home["position"], (3,))[None], _numbers(home["rotation"], (3, 3))[None])
        return cls(
            model,
            values,
            Estimate.from_dict(data["estimate"]),
            readings,
            _numbers(home["readings"], (len(model.chains),)),
            at,
            bool(data["is_refuted"]),
        )


def _numbers(data: Any, shape: tuple[int, ...]) -> Array:
    values = np.array(data, dtype=np.float64)
    require(values.shape == shape, f"expected numbers of the shape {shape}, but found {values.shape}")
    require(bool(np.isfinite(values).all()), "expected finite numbers")
    return values


@dataclass(frozen=True, eq=False)
class RobotModel:
    """A robot as it was identified, calibrated, or both.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> answer = identify(*random_motion(1), methods=["weighted", "hull"], compare=False)
        >>> model = RobotModel.of(answer)
        >>> same = RobotModel.from_json(model.to_json())
        >>> bool((same.dynamics.parameters() == answer.parameters()).all()), same.name
        (True, 'five-bar')
    """

    dynamics: IdentifiedDynamics | None = None
    geometry: CalibratedGeometry | None = None

    def __post_init__(self) -> None:
        require(self.dynamics is not None or self.geometry is not None, "a model needs dynamics or geometry")

    @classmethod
    def of(cls, *answers: "Identified | IdentifiedRepeats | Calibrated | CalibratedByInstruments") -> "RobotModel":
        """The model of an identification, of a calibration, or of both for the same robot.

        Raises:
            InputError: no method succeeded, the robot is not one of the library's, or the robots differ.
        """
        parts = []
        for answer in answers:
            if isinstance(answer, Identified | IdentifiedRepeats):
                parts.append(cls(dynamics=_of_identification(answer)))
            else:
                parts.append(cls(geometry=_of_calibration(answer)))
        return merged(parts)

    @classmethod
    def of_geometry(cls, geometry: "MachineGeometry") -> "RobotModel":
        """The model of a geometry.toml: its robot in its own frame.

        Raises:
            InputError: the file lacks a covariance, or the range and middle of the readings.
        """
        model, C = geometry.model, geometry.covariance
        known = C is not None and geometry.readings is not None and geometry.home is not None
        require(known, "the geometry has no covariance, readings or home: give the folder of gough calibrate")
        assert C is not None
        assert geometry.readings is not None
        assert geometry.home is not None
        assert geometry.home_readings is not None
        free = np.flatnonzero(C.diagonal() > 0)
        require(len(free) > 0, "every parameter of the geometry was held: give the geometry.toml of a calibration")
        names, units = (tuple(words[i] for i in free) for words in (model.names, model.units))
        region = ConfidenceEllipsoid(model.nominal[free], C[np.ix_(free, free)])
        unknowns = Unknowns(names, units, model.nominal[free])
        stats = Stats(geometry.spare + len(free))
        estimate = Estimate(region, Claim.CONFIDENCE, Status.OK, unknowns, "geometry.toml", stats)
        home = model.forward(model.nominal, geometry.home_readings[None], geometry.home)
        part = CalibratedGeometry(model, model.nominal, estimate, geometry.readings, geometry.home_readings, home)
        return cls(geometry=part)

    @classmethod
    def read(cls, *places: str | Path) -> "RobotModel":
        """The model of folders that gough identify or gough calibrate wrote; two for dynamics and geometry.

        Raises:
            InputError: a folder contains no such results, or the results are of different robots.
        """
        return merged([cls._read(Path(place)) for place in places])

    @classmethod
    def _read(cls, place: Path) -> "RobotModel":
        path = place / FILE if is_folder(place) else place
        if not is_file(path):
            if is_folder(place) and any(is_file(place / name) for name in ("estimate.json", "calibration.json")):
                raise InputError(
                    f"{place} contains results without {FILE}: an earlier version of gough wrote them, or they are of "
                    "a printer or of a robot that is not one of the library's. Run gough identify or gough calibrate "
                    "again"
                )
            what = "contains no results" if is_folder(place) else "does not exist"
            raise InputError(
                f"{place} {what}: run gough identify or gough calibrate first, or give the folder that it wrote"
            )
        try:
            return cls.from_json(read_text(path))
        except InputError as error:
            raise InputError(f"{path}: {error}") from error

    @classmethod
    def from_json(cls, text: str) -> "RobotModel":
        """The model that `to_json` wrote.

        Raises:
            InputError: the text is no such document.
        """
        data = read_json(text)
        is_ours = isinstance(data, dict) and data.get("format") == FORMAT
        require(is_ours, f'not a model that gough wrote: it lacks "format": "{FORMAT}"')
        version = data.get("version")
        require(version == VERSION, f"its version is {version!r}, but this gough reads version {VERSION}")
        try:
            dynamics, geometry = data["dynamics"], data["geometry"]
            model = cls(
                None if dynamics is None else IdentifiedDynamics.from_dict(dynamics),
                None if geometry is None else CalibratedGeometry.from_dict(geometry),
            )
            require(
                data["seal"] == seal(dynamics, geometry),
                "its content was changed after gough wrote it (the seal does not fit), and its guarantees no longer "
                "hold: run gough identify or gough calibrate again",
            )
        except InputError:
            raise
        except KeyError as error:
            raise InputError(f"not a complete model: it lacks the key {error}") from error
        except (TypeError, ValueError, AttributeError, IndexError, RecursionError, ArithmeticError) as error:
            raise InputError(f"not a complete model: {error!r}") from error
        return model

    @property
    def name(self) -> str:
        """The name of the robot."""
        if self.dynamics is not None:
            return self.dynamics.robot.name
        assert self.geometry is not None
        return self.geometry.model.name

    def with_method(self, method: str) -> "RobotModel":
        """The same model with another estimate as the recommended one."""
        if self.dynamics is None:
            raise InputError("a calibration has one method: leave --method out")
        title, _ = self.dynamics.estimate_of(method)
        return replace(self, dynamics=replace(self.dynamics, recommended=title))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        dynamics = None if self.dynamics is None else self.dynamics.to_dict()
        geometry = None if self.geometry is None else self.geometry.to_dict()
        return {
            "format": FORMAT,
            "version": VERSION,
            "written_by": f"gough {gough.__version__}",
            "dynamics": dynamics,
            "geometry": geometry,
            "seal": seal(dynamics, geometry),
        }

    def to_json(self) -> str:
        """The content of model.json."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)


def seal(dynamics: Any, geometry: Any) -> str:
    """A digest of the content: it finds changes by accident or by hand, not those of someone who seals anew."""
    text = json.dumps([dynamics, geometry], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def model_files(answer: Any) -> dict[str, bytes]:
    """The file model.json of an answer, by its name; nothing where there is no model to write."""
    calibrated = _is_calibration(answer)
    robot = answer.model if calibrated else _plain(getattr(answer, "robot", None))
    usable = calibrated or any(_is_usable(each) for each in answer.estimates.values())
    if not can_be_stored(robot) or not usable:
        return {}
    try:
        return {FILE: f"{RobotModel.of(answer).to_json()}\n".encode()}
    except GoughError:  # a calibration so wrong that its robot cannot be assembled
        return {}


def merged(parts: Sequence[RobotModel]) -> RobotModel:
    """One model of dynamics and geometry.

    Raises:
        InputError: there is more than one of a kind, or they are of different robots.
    """
    require(0 < len(parts) <= 2, "give one folder of results, or two: of an identification and of a calibration")
    if len(parts) == 1:
        return parts[0]
    dynamics = [each.dynamics for each in parts if each.dynamics is not None]
    geometry = [each.geometry for each in parts if each.geometry is not None]
    both = len(dynamics) == 1 and len(geometry) == 1
    require(both, "two results must be one identification and one calibration, but these are of the same kind")
    robot, model = dynamics[0].robot, geometry[0].model
    known = type(robot).__name__ in ("MechanismModel", *_SAME.get(type(model).__name__, ()))
    same = known and len(model.chains) == len(robot.actuators)
    require(same, f"the identification is of another robot ({robot.name}) than the calibration ({model.name})")
    return RobotModel(dynamics[0], geometry[0])


def _plain(robot: Any) -> Any:
    return robot.robot if isinstance(robot, WithEffects) else robot


def _is_usable(estimate: Estimate) -> bool:
    return estimate.status is Status.OK and bool(np.isfinite(estimate.value).all())


def _of_identification(answer: Identified | IdentifiedRepeats) -> IdentifiedDynamics:
    robot, analysis = _plain(answer.robot), answer.identifiability
    require(can_be_stored(robot), f"a robot of type {type(robot).__name__} is not one of the library's")
    estimates = {title: each for title, each in answer.estimates.items() if _is_usable(each)}
    require(bool(estimates), "no method has values: the verdicts of the answer give the reasons")
    of = answer.robot if isinstance(answer.robot, WithEffects) else None
    verdict, recommended = answer.verdict, _recommended(answer, estimates)
    return IdentifiedDynamics(
        robot=robot,
        columns=tuple(analysis.names[k] for k in analysis.kept),
        estimates=estimates,
        recommended=recommended,
        fixed=dict(answer.fixed),
        seen=_seen(answer.motion if isinstance(answer, Identified) else answer.fitted_motion),
        effects=() if of is None else of.effects,
        effect_units={} if of is None else {name: of.effect_units[name] for name in of.values},
        effect_reference={} if of is None else _reference_of(of),
        is_refuted=bool(answer.is_refuted),
        headline="" if verdict is None else verdict.headline,
        bound=tuple(np.asarray(answer.bound, dtype=float).tolist()) if isinstance(answer, Identified) else (),
        possible=_possible(answer, robot, recommended),
    )


def _reference_of(of: WithEffects) -> dict[str, float]:
    named = zip(of.reference.names, of.parameters.tolist(), strict=True)
    return {name: value for name, value in named if name in of.robot.names}


def _possible(answer: Identified | IdentifiedRepeats, robot: DynamicModel, method: str) -> dict[str, float]:
    """The complete parameters that have exactly the efforts of this method's estimate; empty where there are none."""
    found = answer.possible
    if found is None or not found.is_exact or found.method != method:
        return {}
    values = {name: value for name, value in found.values.items() if name in robot.names}
    return values if set(values) == set(robot.names) else {}


def _recommended(answer: Identified | IdentifiedRepeats, estimates: Mapping[str, Estimate]) -> str:
    if isinstance(answer, Identified) and answer.recommended in estimates:
        return answer.recommended
    if isinstance(answer, IdentifiedRepeats):
        return next(iter(name for name, each in estimates.items() if each is answer.likeliest), next(iter(estimates)))
    return min(estimates, key=lambda name: estimates[name].claim is Claim.VALUE)


def _seen(motion: MeasuredMotion) -> MotionRange:
    used = motion.kept.any(axis=1)
    return MotionRange.of(motion.q[used], motion.dq[used], motion.ddq[used])


def _is_calibration(answer: Any) -> bool:
    if isinstance(answer, Identified | IdentifiedRepeats):
        return False
    from gough.geometry import Calibrated  # noqa: PLC0415 - start-up time
    from gough.geometry.instruments import CalibratedByInstruments  # noqa: PLC0415 - start-up time

    return isinstance(answer, Calibrated | CalibratedByInstruments)


def _of_calibration(answer: "Calibrated | CalibratedByInstruments") -> CalibratedGeometry:
    from gough.geometry.instruments import CalibratedByInstruments  # noqa: PLC0415 - start-up time

    if isinstance(answer, CalibratedByInstruments):
        part = RobotModel.of_geometry(answer.geometry).geometry
        assert part is not None
        return replace(part, is_refuted=answer.refuted)
    require(can_be_stored(answer.model), f"a robot of type {type(answer.model).__name__} is not one of the library's")
    readings = np.asarray(answer.poses.readings)
    ends = np.stack([np.nanmin(readings, axis=0), np.nanmax(readings, axis=0)])
    span = np.maximum(ends[1] - ends[0], 1e-12)
    nearest_middle = int(np.nanargmin(np.abs((readings - ends.mean(axis=0)) / span).max(axis=1)))
    rotation = np.eye(3) if answer.poses.rotation is None else answer.poses.rotation[nearest_middle]
    guess = PlatformPoses(answer.poses.position[nearest_middle][None], rotation[None])
    own = readings[nearest_middle]
    home = answer.model.forward(answer.parameters, own[None], guess)
    return CalibratedGeometry(answer.model, answer.parameters, answer.estimate, ends, own, home, bool(answer.refuted))
