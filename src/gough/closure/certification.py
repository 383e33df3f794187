"""`certify`: which chains of a robot fit measured poses within stated tolerances, with proofs and certificates."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from gough.campaigns import Campaign, Executor, ThisProcess, digest, executor_of, this_version
from gough.checker import ChainQuestion, LegMeasurements, question_of
from gough.checker.folders import MEASUREMENTS
from gough.checker.linear import NotProven
from gough.checker.manifest import BLUEPRINT, CALIBRATED, Given
from gough.checker.raw import Source, SourceText, question_words
from gough.checker.raw_chains import RawChains
from gough.checker.raw_containment import require_contained
from gough.checker.raw_data import NotDerived
from gough.closure.certified_chain import Tolerances, certified_chain, chain_parameters, quadratic_unknowns
from gough.closure.certified_leg import LegProblem
from gough.closure.chain_problem import ChainProblem
from gough.closure.findings import Certification, ChainFinding, Finding, JointFinding, ParameterRange
from gough.closure.joint import JointProblem
from gough.closure.proving import Notary, chain_finding, joint_finding, with_joint_box
from gough.closure.quadratic_chain import QuadraticChain
from gough.core.arguments import action, as_path, flag, instance, real, record, refused, verb, whole
from gough.core.arrays import Array, array
from gough.core.errors import InputError, require
from gough.core.intervals import Interval
from gough.core.progress import Phase, Progress
from gough.core.rotations import log, nearest_rotation, to_quaternion
from gough.data import Poses
from gough.data.pose_files import binary_columns, poses_of
from gough.geometry import Calibrated, Placement, StatedFrames
from gough.geometry.calibrate import require_frames_of
from gough.region import Box
from gough.robots import GoughPlatform, KinematicModel, LinearDelta, PlanarRRR, RotaryDelta
from gough.robots.arguments import finite_parameters, kinematic_model
from gough.robots.arm_chain import TurningArms

FAMILIES = (GoughPlatform, LinearDelta, RotaryDelta, PlanarRRR, TurningArms)
"""Robots whose chains can be certified."""
OnStep = Callable[[Phase], object]
Center = Literal["blueprint", "calibrated"]
ROUNDING = 2.0**-48
"""Rounding of a decimal times factors between units, and of what they are multiplied by, relative: 16 ulp."""
_ROTATION_ROUNDING = 2.0**-44
"""Rounding of a rotation vector, matrix or quaternion that becomes another quaternion, rad."""
_STATED = "the stated values"
_GAINS = "Gains of legs are taken as calibrated, and readings as multiplied by them; they are not proven."
_NO_FILES = (
    "Certificates are about the measurements that they list: no files were given from which these could be derived."
)
_FRAMES = (
    "Poses were moved from the instrument's frame into the robot's, with frames as stated; half-widths of the frames "
    "count in each pose separately."
)
EQUATIONS = "equations.json"
"""The file that certificates about chains over rods are about."""


class ModelError(NamedTuple):
    """What the model may be wrong by [DACP06, §6]; it is added to the tolerance of each reading."""

    constant: float = 0.0
    """Zeroth order: the same everywhere, such as play in the joints. Unit: m for legs of a Gough platform, whatever
    their sensors read; that of the readings for other robots."""
    reading: float = 0.0
    """First order: for each unit between a reading and the middle of that chain's readings."""
    position: float = 0.0
    """First order: for each metre between a position and the middle of the positions."""
    orientation: float = 0.0
    """First order: for each radian between an orientation and the mean orientation. `gough check` does not derive it
    from the poses: it starts at the measurements then, and says so."""

    def at(self, poses: Poses, readings: Array) -> Array:
        """The error at each pose and reading (N, chains)."""
        middle = (readings.min(axis=0) + readings.max(axis=0)) / 2
        center = (poses.position.min(axis=0) + poses.position.max(axis=0)) / 2
        by_pose = self.constant + self.position * np.linalg.norm(poses.position - center, axis=1)
        if self.orientation:
            if poses.rotation is None:
                raise InputError(
                    "a model error that grows with the orientation needs measured orientations: leave it out",
                    key=("model_error", "orientation"),
                )
            mean = nearest_rotation(poses.rotation.mean(axis=0)[None])[0]
            by_pose = by_pose + self.orientation * np.linalg.norm(log(poses.rotation @ mean.T), axis=1)
        return np.asarray(by_pose[:, None] + self.reading * abs(readings - middle))


class SourceFiles(NamedTuple):
    """The files that state robot, poses and tolerances: certificates are then about what they state, digit by digit."""

    study: Path
    poses: Path

    @classmethod
    def of(cls, value: Any) -> "SourceFiles":
        """The files, given as such or as a mapping with the entries study and poses; paths may be texts."""
        files = record(value, "sources", cls, 'gough.closure.SourceFiles("study.toml", "poses.csv")')
        return cls(*(as_path(each, f"sources: {name}") for name, each in files._asdict().items()))

    def read(self, given: Given) -> Source:
        """Their contents, and numbers that they do not state."""
        texts = []
        for file in self:
            try:
                texts.append(SourceText(file.name, file.read_bytes(), file))
            except (OSError, ValueError) as error:  # ValueError: a name with the character NUL
                raise InputError(f"sources: {file} cannot be read: {error}") from error
        return Source(texts[0], texts[1], given, binary_columns)


@verb()
def certify(
    robot: KinematicModel,
    poses: Poses | str | Path,
    tolerances: Tolerances | Mapping[str, Any],
    *,
    around: float | Sequence[float] = 0.1,
    center: Center | Array = "blueprint",
    calibrated: Calibrated | Array | None = None,
    chains: Sequence[int] | None = None,
    outliers: int = 0,
    joint: bool = True,
    joint_box: bool = False,
    model_error: ModelError | Mapping[str, float] | None = None,
    width: float = 1e-6,
    frames: StatedFrames | None = None,
    sources: SourceFiles | None = None,
    executor: Any = None,
    workers: int = 1,
    path: str | Path | None = None,
    on_step: OnStep = lambda _: None,
) -> Certification:
    """Prove for each chain of a robot whether any geometry within a prior fits all poses within the tolerances.

    For each chain the answer has a verdict (fits, refuted, or not decided), a box that contains every consistent value,
    and a bracket of ε, the smallest number by which the tolerance of every reading must grow for some values to fit.
    Each statement has a certificate, which has been checked in exact rational arithmetic; `write_report` saves them.

    Args:
        robot: The robot with its blueprint.
        poses: Measured poses with readings, in the frames of the center, or in those of `frames`; or a file that
            `gough.data.read_poses` reads by its heads.
        tolerances: What each measurement may be off by: `Tolerances(position, reading, orientation)`, or a mapping of
            these names.
        around: How far from the center values are sought, m: one length, or for legs of a Gough platform one for points
            on the base, points on the platform and lengths.
        center: "blueprint", "calibrated" for the parameters of `calibrated`, or parameters of the robot.
        calibrated: A calibration or parameters to compare: what they need beyond the tolerances is reported. Gains
            are taken from them.
        chains: Numbers of the chains to certify, from 1; all by default.
        outliers: At most so many poses may be wrong; those that must be are named.
        joint: Also examine all chains together, with errors of poses that they share.
        joint_box: Also compute a box of all chains together; it takes about a minute.
        model_error: What the model may be wrong by.
        width: Width of the bracket of ε at which the search ends, in the unit of readings.
        frames: Where the base is in the frame of an instrument, and the platform in that of the measured target, if
            poses of a robot with other chains than legs are in such frames. Half-widths of positions and orientations
            are then along the instrument's axes.
        sources: The files from which all this was read, for certificates about their decimals.
        executor: Where chains are certified: an executor of `gough.campaigns` or `concurrent.futures`; here by default.
        workers: Number of processes of this machine, where no executor is given.
        path: A file, or a folder for it, to which the finding about each chain is appended; an interrupted
            certification resumes from it.
        on_step: Called at the beginning of each step.

    Raises:
        InputError: the arguments do not fit together; the message says what to change.

    Examples:
        >>> from gough.robots import LinearDelta
        >>> printer, rng = LinearDelta(), np.random.default_rng(1)
        >>> p = rng.uniform([-0.1, -0.1, 0.0], [0.1, 0.1, 0.1], (30, 3))
        >>> poses = Poses(p, None, printer.inverse(printer.nominal, p))
        >>> answer = certify(printer, poses, Tolerances(1e-5, 1e-6), around=0.05, chains=[1])
        >>> answer.refuted, 0.345 in answer.interval("arm_1")
        (False, True)
    """
    robot = kinematic_model(robot)
    require(isinstance(robot, FAMILIES), f"chains of {type(robot).__name__} cannot be certified: see gough.robots")
    poses = poses_of(robot, poses)
    outliers, width = whole(outliers, "outliers"), real(width, "width", above=0)
    few = outliers < len(poses)
    require(few, f"outliers is the number of poses that may be wrong, of {len(poses)}, but is {outliers}")
    joint, joint_box = flag(joint, "joint"), flag(joint_box, "joint_box")
    action(on_step, "on_step")
    running = _Running(executor_of(executor, workers), None if path is None else as_path(path, "path"), on_step)
    if joint_box and not joint:
        raise InputError(
            "joint_box = true asks for a box of all chains together, but joint is false: leave one of them out",
            key=("joint_box",),
        )
    prepared = prepare(
        robot,
        poses,
        tolerances,
        around=around,
        center=center,
        calibrated=calibrated,
        chains=chains,
        model_error=model_error,
        frames=frames,
        sources=sources,
    )
    alone = tuple[str, ...]()
    if joint_box and len(prepared.problem.parts) == 1:
        one = f"{prepared.question.word} {prepared.problem.chains[0]}"
        alone = (f"joint_box has no effect: only {one} is certified, and there is none to examine it together with.",)
    findings, together = _findings(
        prepared, outliers=outliers, joint=joint, joint_box=joint_box, width=width, running=running
    )
    return Certification(
        poses=len(poses),
        around=prepared.around,
        chains=findings,
        joint=together,
        notes=(*poses.notes, *prepared.notes, *prepared.stated.notes, *alone),
        questions={prepared.name: prepared.question},
        source=prepared.source,
        premises=prepared.stated.premises,
        part=prepared.question.word,
        reading_unit=prepared.question.equations[0].reading_unit,
        robot=robot.name,
        places=poses.places,
        n_chains=len(robot.chains),
    )


def part_of(robot: KinematicModel) -> str:
    """The word for a chain of a robot: "leg" or "chain"."""
    return "leg" if isinstance(robot, GoughPlatform) else "chain"


def chain_numbers(robot: KinematicModel, wanted: Sequence[int] | None) -> tuple[int, ...]:
    """The numbers of the chains to certify, from 1; all of them where none is named.

    Raises:
        InputError: there is no such chain, or one is named twice.
    """
    part, known = part_of(robot), len(robot.chains)
    listed = wanted is None or (isinstance(wanted, Iterable) and not isinstance(wanted, str | bytes | Mapping | type))
    if not listed:
        raise refused("chains", wanted, "a list of numbers from 1", "chains=[1, 2]")
    numbers = tuple(whole(number, "an entry of chains") for number in (() if wanted is None else wanted))
    for number in numbers:
        require(1 <= number <= known, f"there is no {part} {number}: the robot has {known}")
    require(len(set(numbers)) == len(numbers), f"a {part} is named more than once")
    return numbers or tuple(range(1, known + 1))


class Derived(NamedTuple):
    """What the sources state about the unknowns of a question."""

    raw: RawChains | None
    """None where the checker does not derive it."""
    premises: tuple[str, ...]
    """What statements are about, in sentences."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Prepared:
    """What is to be certified: measurements within half-widths, where chains are sought, and what sources state."""

    robot: KinematicModel
    problem: JointProblem
    """All chains, with the errors of poses that they share."""
    center: Array
    """Parameters of the robot."""
    calibrated: Array | None
    """Parameters to compare."""
    around: str
    """The prior in words."""
    question: ChainQuestion
    """What certificates are about."""
    name: str
    """The name of its file."""
    notes: tuple[str, ...]
    source: Source | None
    given: Given
    """Numbers that no source states."""
    stated: Derived
    """What the sources state about the unknowns of the question."""


def prepare(
    robot: KinematicModel,
    poses: Poses,
    tolerances: Tolerances | Mapping[str, Any],
    *,
    around: float | Sequence[float] = 0.1,
    center: Center | Array = "blueprint",
    calibrated: Calibrated | Array | None = None,
    chains: Sequence[int] | None = None,
    model_error: ModelError | Mapping[str, float] | None = None,
    frames: StatedFrames | None = None,
    sources: SourceFiles | None = None,
) -> Prepared:
    """The questions that `certify` answers; arguments as there."""
    numbers = chain_numbers(robot, chains)
    if frames is not None:
        how = "gough.geometry.StatedFrames(base, platform)"
        require_frames_of(robot, instance(frames, "frames", StatedFrames, "StatedFrames", how))
    require(poses.n_chains == len(robot.chains), f"the {robot.name} has {len(robot.chains)} readings a pose")
    theta, compared, where, notes = _centers(robot, center, calibrated)
    how = "gough.closure.Tolerances(position=1e-5, reading=1e-6), in m and the unit of readings"
    tolerances = record(tolerances, "tolerances", Tolerances, how)
    half = tolerances.broadcast(poses)
    if tolerances.orientation is None and robot.has_orientation and poses.rotation is not None:
        how = "Tolerances(position=1e-5, reading=1e-6, orientation=1e-4)"
        raise InputError(f"a {robot.name} turns: state half-widths of orientations in rad, as in {how}; 0 means exact")
    reach = np.atleast_1d(array(around, "around", ndim=(0, 1)))
    require(bool((reach > 0).all() and np.isfinite(reach).all()), "around must be a positive length in m")
    sources = None if sources is None else SourceFiles.of(sources)
    rounding = 0.0 if sources is None else ROUNDING  # arrays are taken as they are, files contain decimals
    error = ModelError() if model_error is None else record(model_error, "model_error", ModelError, "ModelError(1e-5)")
    error = ModelError(*(real(value, f"model_error: {name}", least=0) for name, value in error._asdict().items()))
    problems: tuple[ChainProblem, ...]
    if isinstance(robot, GoughPlatform):
        gain = robot.rows(theta if compared is None else compared)[:, 7]
        centers = [robot.rows(theta)[number - 1, :7] for number in numbers]
        data = _measured(poses, half, gain, error, rounding)
        prior = outer_box(np.concatenate(centers), np.tile(_leg_reach(reach), len(numbers)), rounding)
        sides = zip(prior.lower.reshape(-1, 7), prior.upper.reshape(-1, 7), strict=True)
        problems = tuple(
            LegProblem(data[number - 1], Box(*each), number) for number, each in zip(numbers, sides, strict=True)
        )
        values = tuple(tuple(row.tolist()) for row in centers) if where == CALIBRATED else ()
        gains = tuple(float(gain[number - 1]) for number in numbers) if robot.gains else ()
        given = Given(CALIBRATED if values else "", values, gains)
        notes += (_GAINS,) if robot.gains and compared is not None else ()
    else:
        wider = half._replace(reading=half.reading + error.at(poses, poses.readings))
        problems = _rod_problems(robot, poses, wider, theta, reach, frames=frames, numbers=numbers, rounding=rounding)
        notes += (_FRAMES,) if frames is not None and sources is None else ()
        given = Given(where, tuple(tuple(quadratic_unknowns(robot, theta, k).tolist()) for k in numbers))
    require(sources is None or where != _STATED, "certificates about files need center = 'blueprint' or 'calibrated'")
    source = None if sources is None else sources.read(given)
    problem = JointProblem(problems)
    question = question_of(problem)
    return Prepared(
        robot=robot,
        problem=problem,
        center=theta,
        calibrated=compared,
        around=f"{within(reach.tolist())} of {where}",
        question=question,
        name=MEASUREMENTS if question.legs else EQUATIONS,
        notes=notes,
        source=source,
        given=given,
        stated=derived(question, source),
    )


def _centers(
    robot: KinematicModel, center: Center | Array, calibrated: Calibrated | Array | None
) -> tuple[Array, Array | None, str, tuple[str, ...]]:
    """Parameters to search around, parameters to compare, what the former are in words, and notes."""
    compared, notes = None, tuple[str, ...]()
    if isinstance(calibrated, Calibrated) and calibrated.scale != 1:
        words = f"the calibration's scale of {calibrated.scale:.6f} is not applied."
        notes = (f"Positions are taken as measured; {words}",)
    elif calibrated is not None:
        values = calibrated.parameters if isinstance(calibrated, Calibrated) else calibrated
        compared = _parameters(robot, values, "calibrated")
    if not isinstance(center, str):
        return _parameters(robot, center, "center"), compared, _STATED, notes
    require(center in ("blueprint", "calibrated"), f"center is 'blueprint', 'calibrated' or parameters, not '{center}'")
    if center == "blueprint":
        return robot.nominal, compared, BLUEPRINT, notes
    require(calibrated is not None, "center = 'calibrated' needs a calibration")
    require(compared is not None, "a calibration with a scale cannot be the center: state center = 'blueprint'")
    assert compared is not None
    return compared, compared, CALIBRATED, notes


def _parameters(robot: KinematicModel, values: Array, what: str) -> Array:
    return finite_parameters(robot, values, what)


def within(around: Sequence[float]) -> str:
    """The reach of a prior in words, with the decimals that were stated.

    Examples:
        >>> within([0.0005]), within([0.001, 0.002, 0.0031])
        ('within ± 0.5 mm', 'within ± 1 mm (base), ± 2 mm (platform), ± 3.1 mm (length)')
    """
    reach = [f"± {1e3 * x:.15g} mm" for x in around]
    parts = [f"{x} ({part})" for x, part in zip(reach, ("base", "platform", "length"), strict=False)]
    return f"within {', '.join(parts if len(reach) > 1 else reach)}"


def _leg_reach(around: Array) -> Array:
    require(len(around) in {1, 3}, "state one length, or one for the base's points, the platform's and the lengths")
    base, platform, length = around if len(around) == 3 else np.repeat(around, 3)
    return np.array([base] * 3 + [platform] * 3 + [length])


def _measured(
    poses: Poses, half: Tolerances, gain: Array, model_error: ModelError, rounding: float
) -> list[LegMeasurements]:
    """Poses of a Gough platform and the readings of each leg in m with half-widths, to which the model adds."""
    require(poses.rotation is not None, "legs of a Gough platform need orientations, but none were measured")
    assert poses.rotation is not None
    readings = poses.readings * gain
    T = outer(half.reading * abs(gain) + model_error.at(poses, readings), abs(readings).max(axis=0), rounding)
    quaternion = to_quaternion(nearest_rotation(poses.rotation))
    position = outer(half.position, abs(poses.position).max(axis=0), rounding)
    orientation = outer(half.orientation, np.full(3, _ROTATION_ROUNDING / ROUNDING))
    return [
        LegMeasurements(quaternion, poses.position, readings[:, i], position, orientation, T[:, i])
        for i in range(poses.n_chains)
    ]


def outer(tolerance: Array, value: Array, rounding: float = ROUNDING) -> Array:
    """Half-widths that contain what was rounded when decimals, units and gains became a double: 16 ulp of both."""
    if rounding == 0:
        return tolerance
    wider = tolerance + rounding * (abs(tolerance) + abs(value))
    return np.asarray(np.nextafter(wider, np.inf, where=wider > 0, out=wider.copy()))


def outer_box(center: Array, reach: Array, rounding: float = ROUNDING) -> Box:
    """A box that contains center ± reach, whatever was rounded when these became doubles."""
    return Box.around(center, outer(np.broadcast_to(reach, center.shape), abs(center).max(), rounding))


def _rod_problems(
    robot: KinematicModel,
    poses: Poses,
    half: Tolerances,
    center: Array,
    around: Array,
    *,
    frames: StatedFrames | None,
    numbers: Sequence[int],
    rounding: float,
) -> tuple[QuadraticChain, ...]:
    """Problems of chains that are no legs, by number."""
    require(len(around) == 1, f"state one length: how far unknowns of a {robot.name} are sought")
    turns = robot.has_orientation
    require(not turns or poses.rotation is not None, f"a {robot.name} turns, but no headings were measured")
    turned = half.orientation[:, 2] if frames is None else half.orientation
    position, turned, readings = (outer(x, np.zeros(1), rounding) for x in (half.position, turned, half.reading))
    outer_frames = None if frames is None else _outer_frames(frames, rounding)
    problems = []
    for chain in numbers:
        middle = quadratic_unknowns(robot, center, chain)
        box = outer_box(middle, np.full(len(middle), around[0]), rounding)
        prior = Box(np.append(box.lower[:-1], max(box.lower[-1], 0.0)), box.upper)
        own = Tolerances(position, readings[:, chain - 1], turned)
        exact = certified_chain(robot, poses, chain, prior, own, frames=outer_frames)
        problems.append(_enclosing(exact, poses, rounding) if rounding else exact)
    return tuple(problems)


def _outer_frames(frames: StatedFrames, rounding: float) -> StatedFrames:
    """Frames with half-widths that contain what was rounded when decimals became doubles."""

    def wider(placement: Placement) -> Placement:
        names = ("position_tolerance", "orientation_tolerance")
        return replace(placement, **{name: outer(getattr(placement, name), np.zeros(1), rounding) for name in names})

    return StatedFrames(wider(frames.base), wider(frames.platform))


def _enclosing(problem: QuadraticChain, poses: Poses, rounding: float) -> QuadraticChain:
    """The chain with p, A and B wide enough for what was rounded when decimals became positions and angles."""
    most = 1 + abs(poses.readings).max()
    near, far = (Interval(-rounding * size, rounding * size) for size in (most, most + abs(poses.position).max()))

    def wider(values: Interval) -> Interval:
        inexact = (values.mid != np.round(values.mid)).astype(float)  # zeros and ones are exact
        return values + near * Interval(inexact)

    return replace(problem, p=problem.p + far, A=wider(problem.A), B=wider(problem.B))


def derived(question: ChainQuestion, source: Source | None, place: int = 0) -> Derived:
    """What the sources state about the unknowns of a question, the `place`-th of the run, which contains it.

    Raises:
        InputError: the checker of certificates reads the sources otherwise than they were read here.
    """
    if source is None:
        return Derived(None, question_words(question), (_NO_FILES,))
    try:
        raw = source.raw(question, place)
        _require_as_many(question, raw)
        require_contained(question, raw)
    except NotDerived as reason:
        start = "Certificates start at the measurements that they list: how those follow from"
        note = f"{start} {source.poses.name} is not checked, because {reason}."
        return Derived(None, question_words(question), (note,))
    except (NotProven, InputError) as reason:
        raise InputError(
            "no certificates can be made: the checker of certificates, which reads study and poses by itself and "
            f"exactly, does not arrive at these measurements: {reason}"
        ) from reason
    return Derived(raw, source.words(raw))


def _require_as_many(question: ChainQuestion, raw: RawChains) -> None:
    """Refuse rows that differ only beyond double precision: copies here, but not for the exact checker."""
    poses, seen = raw.poses, dict[tuple[float, ...], int]()
    if len(poses) <= question.n_poses:
        return
    spread = poses.variances or [()] * len(poses)
    for k, parts in enumerate(zip(poses.position, poses.rotation, poses.readings, spread, strict=True)):
        first = seen.setdefault(tuple(float(x.low) for part in parts for x in part or ()), k)
        if first != k:
            same = f"poses {poses.label(first)} and {poses.label(k)} are equal in double precision"
            raise NotProven(f"{same} but differ in later digits. Remove one of the two rows, or these digits")


class _Running(NamedTuple):
    """Where chains are certified, where findings are kept, and who is told."""

    executor: Executor
    path: Path | None
    on_step: OnStep


def _findings(
    prepared: Prepared, *, outliers: int, joint: bool, joint_box: bool, width: float, running: _Running
) -> tuple[tuple[ChainFinding, ...], JointFinding | None]:
    """Findings about each chain, and about all together."""
    problem, part = prepared.problem, prepared.question.word
    notary = Notary(problem, prepared.question, prepared.stated.raw)
    n, joint, on_step = len(problem.parts), joint and len(problem.parts) > 1, running.on_step
    steps = n + joint + (joint and joint_box)
    request = _Request(prepared.robot, prepared.center, prepared.calibrated, notary, outliers, width)
    tasks = {f"{part} {chain.chain}": (i,) for i, chain in enumerate(problem.parts)}

    def show(step: Progress) -> None:
        if step.done < n:
            alone = isinstance(running.executor, ThisProcess)
            what = f"{part} {problem.chains[step.done]}" if alone else f"{part}s: {step.done} of {n}"
            on_step(Phase(step.done + 1, steps, step.stage or f"certifying {what}"))

    name = "" if running.path is None else request.fingerprint
    certified = Campaign(_certified_chain, tasks, (request,), name=name).run(
        running.path, executor=running.executor, on_progress=show
    )
    findings, points = [finding for finding, _ in certified.values()], [point for _, point in certified.values()]
    if not joint:
        return tuple(findings), None
    is_whole = n == len(prepared.robot.chains)
    listed = f"all {part}s" if is_whole else f"{part}s {', '.join(map(str, problem.chains))}"
    on_step(Phase(n + 1, steps, f"certifying {listed} together"))
    together = joint_finding(findings, np.concatenate(points), notary)
    if joint_box and together.finding is not Finding.REFUTED:
        on_step(Phase(n + 2, steps, f"bounding {listed} together"))
        together = with_joint_box(together, notary)
    return tuple(findings), together


class _Request(NamedTuple):
    """What is asked about each chain."""

    robot: KinematicModel
    center: Array
    calibrated: Array | None
    notary: Notary
    outliers: int
    width: float

    @property
    def fingerprint(self) -> str:
        """A digest of all that decides the findings: the exact question, what sources state, and the options."""
        robot, notary = self.robot, self.notary
        options = (self.center, self.calibrated, self.outliers, self.width)
        about = (type(robot).__qualname__, robot.names, robot.nominal, notary.question, notary.raw, notary.problem)
        return digest((this_version(), about, options))


def _certified_chain(request: _Request, place: int) -> tuple[ChainFinding, Array]:
    """What is proven about the chain at this place, and the chain of the prior that needs least."""
    chain = request.notary.problem.parts[place]
    center, calibrated = (
        None if theta is None else _unknowns(request.robot, theta, chain.chain)
        for theta in (request.center, request.calibrated)
    )
    assert center is not None
    finding, point = chain_finding(
        chain, center, calibrated, request.notary, outliers=request.outliers, width=request.width
    )
    return replace(finding, parameters=_own_parameters(request.robot, finding)), point


def _unknowns(robot: KinematicModel, theta: Array, chain: int) -> Array:
    """The unknowns of a chain, from 1, for parameters of the robot."""
    if isinstance(robot, GoughPlatform):
        return np.asarray(robot.rows(theta)[chain - 1, :7])
    return quadratic_unknowns(robot, theta, chain)


def _own_parameters(robot: KinematicModel, finding: ChainFinding) -> tuple[ParameterRange, ...]:
    """The robot's own parameters over the box of a chain, where they are not its unknowns."""
    if isinstance(robot, GoughPlatform) or finding.box is None:
        return ()
    own, columns = chain_parameters(robot, finding.chain, finding.box), robot.columns[finding.chain - 1]
    if own.is_empty:
        return ()
    names, units = ([words[k] for k in columns] for words in (robot.names, robot.units))
    sides = zip(names, units, own.lower.tolist(), own.upper.tolist(), strict=True)
    return tuple(ParameterRange(*each) for each in sides)
