"""The certification that a study asks for: measurements with intervals, proofs, and their certificates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from gough.checker import PlatformQuestion
from gough.checker.folders import MEASUREMENTS
from gough.checker.linear import NotProven
from gough.checker.manifest import CALIBRATED, Given, Question
from gough.checker.raw import Raw, Source, SourceText, question_words, require_about
from gough.checker.raw_data import NotDerived
from gough.closure import JointHull, JointProblem, LegProblem, joint_tolerance, minimal_tolerance
from gough.closure.joint_exhibit import ROOM, best_together, exhibited_together
from gough.core.arrays import Array
from gough.core.errors import GoughError, InputError, require
from gough.core.leg_measurements import PlatformMeasurements
from gough.core.rotations import log, nearest_rotation, to_quaternion
from gough.data import Poses
from gough.data.pose_files import binary_columns
from gough.dynamics import Step
from gough.region import Box
from gough.report.certification.results import Bracket, Certification, Finding, JointFinding, LegFinding
from gough.robots import GoughPlatform, KinematicModel
from gough.studies.calibration import CalibrationStudy, quantities
from gough.studies.certification_legs import Notary, leg_finding, proven_upper
from gough.studies.certification_schema import CertifyTable

OnStep = Callable[[Step], None]
ROUNDING = 2.0**-48
"""Of a decimal times factors between units, and of what they are multiplied by, relative: 16 ulp."""
_ROTATION_ROUNDING = 2.0**-44
"""Of a rotation vector, matrix or quaternion that becomes another quaternion, rad."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What is to be certified: measurements of a platform, a center for each leg, and the calibrated ones."""

    question: PlatformQuestion
    center: Array
    """(legs, 7)."""
    calibrated: Array | None
    around: str
    notes: tuple[str, ...]
    given: Given


def certified(study: CalibrationStudy, on_step: OnStep = lambda _: None) -> Certification:
    """The proofs that a study asks for, each with its certificate, checked.

    Raises:
        InputError: the study cannot be certified; with the line.
    """
    asked, table = asked_of(study), study.table.certify
    source = source_of(study, asked.given)
    question, stated = asked.question, derived(study, asked.question, source)
    notary = Notary(question, stated.raw)
    n, joint = len(question.legs), table.joint and len(question.legs) > 1
    steps = n + joint + (joint and table.joint_box)
    legs: list[LegFinding] = []
    points = []
    for i, leg in enumerate(question.legs):
        on_step(Step(i + 1, steps, f"certifying leg {leg}"))
        prior = Box(*(side[7 * i : 7 * i + 7] for side in (question.prior.lower, question.prior.upper)))
        problem = LegProblem(question.by_leg[leg], prior, leg)
        began = process_time()
        tolerance = minimal_tolerance(problem, width=table.width)
        timed = (tolerance, process_time() - began)
        calibrated = None if asked.calibrated is None else asked.calibrated[i]
        legs.append(leg_finding(problem, asked.center[i], calibrated, asked=table, notary=notary, tolerance=timed))
        points.append(tolerance.point)
    together = None
    if joint:
        on_step(Step(n + 1, steps, "certifying all legs together"))
        together = at_least_each(_together(question, np.array(points), notary), legs)
        together = _without_wrong(question, together, legs, np.array(points), notary)
        if table.joint_box and together.finding is not Finding.REFUTED:
            on_step(Step(n + 2, steps, "bounding all legs together"))
            together = _joint_box(question, together, notary)
    return Certification(
        poses=len(question.data),
        around=asked.around,
        legs=tuple(legs),
        joint=together,
        notes=(*asked.notes, *stated.notes),
        questions={MEASUREMENTS: question},
        source=source,
        premises=stated.premises,
    )


def _together(question: PlatformQuestion, points: Array, notary: Notary) -> JointFinding:
    problem = JointProblem(question.data, question.prior, question.legs)
    began = process_time()
    found = joint_tolerance(problem, points)
    took, files = process_time() - began, []
    shown = found.exhibit
    names = ("joint-fits", "joint-epsilon-upper")
    witness = notary.witness(names, found.points.reshape(-1), (shown.move, shown.turn), more=shown.needed)
    files += [witness] if witness else []
    lower, upper = found.lower, proven_upper(witness, shown.needed)
    if found.tree is not None:
        proof = notary.empty("joint-epsilon-lower", found.tree, more=lower)
        files += [proof] if proof else []
        lower = lower if proof else -np.inf
    finding = Finding.REFUTED if lower >= 0 and found.tree is not None else Finding.OPEN
    if witness and witness.more == 0:
        finding = Finding.FITS
    return JointFinding(finding, Bracket(lower, upper, took), None, tuple(files))


def at_least_each(found: JointFinding, legs: list[LegFinding]) -> JointFinding:
    """What one leg needs, or cannot have, holds for all together."""
    own = found.epsilon.lower
    strongest = max(legs, key=lambda leg: leg.epsilon.lower)
    lower = max(own, strongest.epsilon.lower)
    refuted = any(leg.finding is Finding.REFUTED for leg in legs)
    return replace(
        found,
        finding=Finding.REFUTED if refuted else found.finding,
        epsilon=replace(found.epsilon, lower=min(lower, found.epsilon.upper)),
        lower_of=strongest.leg if lower > own else None,
        own_lower=own,
    )


def _without_wrong(
    question: PlatformQuestion, found: JointFinding, legs: list[LegFinding], points: Array, notary: Notary
) -> JointFinding:
    """All legs together once more, without the poses that are proven wrong."""
    wrong = sorted({pose for leg in legs if leg.without is not None for pose in leg.without.named})
    if not wrong:
        return found
    kept = ~np.isin(np.arange(len(question.data)), wrong)
    rest = JointProblem(question.data, question.prior, question.legs).select(kept)
    fitted = best_together(rest, points, enough=ROOM)
    shown = exhibited_together(rest, fitted.points, fitted.errors)
    errors = (np.zeros((len(kept), 3)), np.zeros((len(kept), 3)))
    errors[0][kept], errors[1][kept] = shown.move, shown.turn
    names = ("joint-without-wrong", "joint-without-wrong")
    file = notary.witness(names, fitted.points.reshape(-1), errors, left_out=wrong, more=shown.needed)
    if file is None:
        return found
    needed = proven_upper(file, shown.needed)
    return replace(found, left_out=tuple(wrong), needed=needed, files=(*found.files, file))


def _joint_box(question: PlatformQuestion, found: JointFinding, notary: Notary) -> JointFinding:
    problem = JointProblem(question.data, question.prior, question.legs)
    answer = JointHull(max_steps=2).estimate(problem)
    name = "joint-empty" if answer.region.hull().is_empty else "joint-box"
    file = notary.answer(name, problem, answer)
    box = None if answer.region.hull().is_empty else answer.region.hull()
    finding = Finding.REFUTED if box is None and file else found.finding
    return replace(found, box=box, finding=finding, files=(*found.files, *([file] if file else [])))


def asked_of(study: CalibrationStudy) -> Asked:
    """Measurements with intervals, and where the legs are sought, as a study states them.

    Raises:
        InputError: no Gough platform, no orientations, no intervals, legs that do not exist; with the line.
    """
    table, model = study.table.certify, study.model
    with study.at("robot", "family"):
        require(isinstance(model, GoughPlatform), "legs are those of Gough platforms, not of other robots")
    assert isinstance(model, GoughPlatform)
    poses = study.poses()
    with study.at("certify", "legs"):
        legs = named(table.legs, len(model.chains), "leg")
    with study.at("certify"):
        rows, calibrated, notes = _centers(study, model)
        columns = [leg - 1 for leg in legs]
        data = measured(study, model, poses, rows[:, 7]).columns(columns)
        center = rows[columns, :7]
        reach = _reach(table.around)
        question = PlatformQuestion(data, outer_box(center.reshape(-1), np.tile(reach, len(legs))), legs)
    around = "the calibrated values" if center_of(study) == "calibrated" else "the blueprint"
    least_squares = None if calibrated is None else calibrated[columns, :7]
    return Asked(
        question,
        center,
        least_squares,
        f"{within(table.around)} of {around}",
        (*poses.notes, *notes),
        _given(study, center, rows[columns, 7]),
    )


def within(around: Sequence[float]) -> str:
    """The reach of a prior in words, with the decimals that were stated.

    Examples:
        >>> within([0.0005]), within([0.001, 0.002, 0.0031])
        ('within ± 0.5 mm', 'within ± 1 mm (base), ± 2 mm (platform), ± 3.1 mm (length)')
    """
    reach = [f"± {1e3 * x:.15g} mm" for x in around]
    parts = [f"{x} ({part})" for x, part in zip(reach, ("base", "platform", "length"), strict=False)]
    return f"within {', '.join(parts if len(reach) > 1 else reach)}"


def _given(study: CalibrationStudy, center: Array, gain: Array) -> Given:
    """Numbers that the study does not state: a calibrated center, and calibrated gains."""
    assert study.table.robot is not None
    words = CALIBRATED if center_of(study) == "calibrated" else ""
    values = tuple(tuple(row) for row in center.tolist()) if words else ()
    return Given(words, values, tuple(gain.tolist()) if study.table.robot.gains else ())


def source_of(study: CalibrationStudy, given: Given) -> Source:
    """The study and its poses, as the user's files say."""
    assert study.table.poses is not None
    poses = study.path.parent / study.table.poses.file
    texts = [SourceText(path.name, path.read_bytes(), path) for path in (study.path, poses)]
    return Source(texts[0], texts[1], given, binary_columns)


class Derived(NamedTuple):
    """What the sources state about the unknowns of a question."""

    raw: Raw | None
    """None where the checker does not derive it."""
    premises: tuple[str, ...]
    """What statements are about, in sentences."""
    notes: tuple[str, ...] = ()


def derived(study: CalibrationStudy, question: Question, source: Source, place: int = 0) -> Derived:
    """What the sources state about the unknowns of a question, which contains it.

    Raises:
        InputError: the checker of certificates reads the sources otherwise than they were read here.
    """
    try:
        raw = source.raw(question, place)
        _require_as_many(question, raw)
        require_about(question, raw)
    except NotDerived as reason:
        words = (
            f"Certificates start at the measurements that they list: how those follow from {source.poses.name} is not"
        )
        return Derived(None, question_words(question), (f"{words} checked, because {reason}.",))
    except (NotProven, InputError) as reason:
        raise InputError(
            f"{study.path} cannot be certified: the checker of certificates, which reads study and poses by itself and "
            f"exactly, does not arrive at these measurements: {reason}"
        ) from reason
    return Derived(raw, source.words(raw))


def _require_as_many(question: Question, raw: Raw) -> None:
    """Refuse rows that differ only beyond double precision: copies here, but not for the exact checker."""
    poses, seen = raw.poses, dict[tuple[float, ...], int]()
    if len(poses) <= (len(question.data) if isinstance(question, PlatformQuestion) else question.n_poses):
        return
    spread = poses.variances or [()] * len(poses)
    for k, parts in enumerate(zip(poses.position, poses.rotation, poses.readings, spread, strict=True)):
        first = seen.setdefault(tuple(float(x.low) for part in parts for x in part or ()), k)
        if first != k:
            same = f"poses {first} and {k}, counted from 0 without copies, are equal in double precision"
            raise NotProven(f"{same} but differ in later digits. Remove one of the two rows, or these digits")


def named(given: list[int], known: int, what: str) -> tuple[int, ...]:
    """The numbers of the legs or chains that are asked for; all of them where none is named."""
    for number in given:
        require(number <= known, f"there is no {what} {number}: the robot has {known}")
    require(len(set(given)) == len(given), f"a {what} is named more than once")
    return tuple(given) or tuple(range(1, known + 1))


def center_of(study: CalibrationStudy) -> str:
    """What legs are sought around: "blueprint" or "calibrated"."""
    return study.table.certify.center or (
        "calibrated" if study.table.calibration.frames == "instrument" else "blueprint"
    )


def _centers(study: CalibrationStudy, model: GoughPlatform) -> tuple[Array, Array | None, tuple[str, ...]]:
    """Where each leg is sought (legs, 8), the calibrated legs, and what there is to say."""
    try:
        found = study.calibrate()
    except InputError:
        raise
    except GoughError as error:
        require(center_of(study) == "blueprint", f"no calibration to search around: {error}")
        return model.rows(model.nominal), None, (f"Least squares find no calibration: {str(error).splitlines()[0]}",)
    calibrated = model.rows(found.parameters)
    notes = []
    if found.scale != 1:
        notes.append(f"Positions are taken as measured; the calibration's scale of {found.scale:.6f} is not applied.")
        calibrated = np.full_like(calibrated, np.nan)
    if model.gains:
        notes.append("Gains of legs are taken as calibrated, and readings as multiplied by them; they are not proven.")
    if center_of(study) == "calibrated":
        require(found.scale == 1, "a calibration with a scale cannot be the center: state center = 'blueprint'")
        return calibrated, calibrated, tuple(notes)
    blueprint = model.rows(model.nominal)
    blueprint[:, 7] = calibrated[:, 7] if found.scale == 1 else blueprint[:, 7]
    return blueprint, None if found.scale != 1 else calibrated, tuple(notes)


def measured(study: CalibrationStudy, model: GoughPlatform, poses: Poses, gain: Array) -> PlatformMeasurements:
    """Poses and readings in m with half-widths: as stated, or so many standard deviations; and what the model adds."""
    table = study.table.certify
    require(poses.rotation is not None, "legs of a Gough platform need orientations, but none were measured")
    assert poses.rotation is not None
    position, rotation = (pose_tolerance(poses, axes, given, table.sigmas) for axes, given in (
        (slice(0, 3), table.position), (slice(3, 6), table.orientation)))  # fmt: skip
    half = reading_tolerance(table, poses, model)
    readings = poses.readings * gain
    T = np.broadcast_to(half * abs(gain), readings.shape) + _model_error(table.model_error, poses, readings)
    quaternion = to_quaternion(nearest_rotation(poses.rotation))
    return PlatformMeasurements(
        quaternion,
        poses.position,
        readings,
        outer(position, abs(poses.position).max(axis=0)),
        outer(rotation, np.full(3, _ROTATION_ROUNDING / ROUNDING)),
        outer(T, abs(readings).max(axis=0)),
    )


def outer(tolerance: Array, value: Array) -> Array:
    """Half-widths that contain what was rounded when decimals, units and gains became a double: 16 ulp of both."""
    wider = tolerance + ROUNDING * (abs(tolerance) + abs(value))
    return np.asarray(np.nextafter(wider, np.inf, where=wider > 0, out=wider.copy()))


def outer_box(center: Array, reach: Array) -> Box:
    """A box that contains center ± reach, whatever was rounded when these became doubles."""
    return Box.around(center, outer(np.broadcast_to(reach, center.shape), abs(center).max()))


def reading_tolerance(table: CertifyTable, poses: Poses, model: KinematicModel) -> Array:
    """Half-widths of readings in their unit: as stated, or so many standard deviations; of all, or of each chain."""
    if table.readings is not None:
        half = np.asarray(quantities(table.readings, model.reading_unit), dtype=float)
        fits = half.ndim == 0 or half.shape == (poses.n_chains,)
        what = "legs" if isinstance(model, GoughPlatform) else "chains"
        require(fits, f"readings must be one half-width, or one for each of {poses.n_chains} {what}")
        require(bool((half >= 0).all()), "half-widths of readings must not be negative")
        return half
    stated = poses.reading_sigma is not None
    require(stated, "state half-widths of readings in [certify], or standard deviations in [noise]")
    return table.sigmas * np.asarray(poses.reading_sigma)


def pose_tolerance(poses: Poses, axes: slice, given: list[float] | None, sigmas: float) -> Array:
    """Half-widths (N, 3) of positions or orientations: as stated, or so many standard deviations."""
    if given is not None:
        require(len(given) in {1, 3}, "state one half-width for all axes, or one for each of three")
        return np.broadcast_to(np.asarray(given, dtype=float), (len(poses), 3)).copy()
    what = "position" if axes.start == 0 else "orientation"
    require(poses.covariance is not None, f"state half-widths of {what} in [certify], or deviations in [noise]")
    sigma = np.sqrt(np.diagonal(np.asarray(poses.covariance), axis1=-2, axis2=-1)[..., axes])
    return np.broadcast_to(sigmas * sigma, (len(poses), 3)).copy()


def _model_error(table: Any, poses: Poses, readings: Array) -> Array:
    """What the model may add to each reading's error, of zeroth and first order [DACP06, §6]."""
    middle = (readings.min(axis=0) + readings.max(axis=0)) / 2
    center = (poses.position.min(axis=0) + poses.position.max(axis=0)) / 2
    assert poses.rotation is not None
    mean = nearest_rotation(poses.rotation.mean(axis=0)[None])[0]
    turned = np.linalg.norm(log(poses.rotation @ mean.T), axis=1)
    away = np.linalg.norm(poses.position - center, axis=1)
    by_pose = table.constant + table.position * away + table.orientation * turned
    return np.asarray(by_pose[:, None] + table.reading * abs(readings - middle))


def _reach(around: list[float]) -> Array:
    require(len(around) in {1, 3}, "state one length, or one for the base's points, the platform's and the lengths")
    base, platform, length = around if len(around) == 3 else around * 3
    return np.array([base] * 3 + [platform] * 3 + [length])
