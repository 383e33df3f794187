"""From a blueprint and measured poses to a calibrated robot."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np

from gough.core.arguments import flag, one_of, texts, verb
from gough.core.arrays import Array
from gough.core.errors import GoughError, InputError, require
from gough.core.rigid import RigidMotion
from gough.core.rotations import exp, log
from gough.core.text import counted, number, shown_unit
from gough.core.threads import one_blas_thread
from gough.data import Poses
from gough.data.pose_files import poses_of
from gough.estimates import Estimate, EstimationError, Status
from gough.geometry.alignment import aligned as aligned_blueprint
from gough.geometry.alignment import frames_of_translations
from gough.geometry.beliefs import believed, exceeded, matching, require_tolerance
from gough.geometry.chain_equations import ChainEquations
from gough.geometry.chain_noise import with_chain_noise
from gough.geometry.common_errors import with_common_errors
from gough.geometry.descent import Arrived, approach, approach_robustly
from gough.geometry.diagnosis import UNTOLD, Accusation, Diagnosis, conventions, effects, is_doubtful, warnings
from gough.geometry.framed import base_names, moved_frames, platform_names
from gough.geometry.frames import Frames, Placement, StatedFrames, require_of_robot
from gough.geometry.geometric import BASE, PLATFORM, SCALE, geometric
from gough.geometry.held_out import HeldOut, held_out, require_held_out
from gough.geometry.nested import LEVEL, chains_of
from gough.geometry.reading_noise import ReadingNoise, reading_noise
from gough.geometry.results import Calibrated, ChainFit, exceeds_noise
from gough.methods import GaussMarkov, GaussNewton, Huber, RobustLeastSquares, WeightedLeastSquares, identifiability
from gough.problem import NonlinearProblem
from gough.region import Box, ConfidenceEllipsoid
from gough.robots.arguments import finite_parameters, kinematic_model
from gough.robots.gough_platform import GoughPlatform
from gough.robots.kinematics import KinematicModel, PlatformPoses

if TYPE_CHECKING:
    from gough.robots.compiled_chains import Chains

FramesOf = Literal["robot", "instrument"]
_Form = Literal["squared", "length"]
_AXES = ("x", "y", "z", "rx", "ry", "rz")
_ROUNDING = 1e-11
"""m or m²: closure errors below are rounding."""


@verb(model="robot")
@np.errstate(all="ignore")
@one_blas_thread()
def calibrate(
    robot: KinematicModel,
    poses: Poses | str | Path,
    *,
    frames: FramesOf | StatedFrames = "robot",
    start: Any = None,
    prior: Box | ConfidenceEllipsoid | None = None,
    fixed: Sequence[str] = (),
    tolerance: float | Mapping[str, float] | None = None,
    scale: bool = False,
    robust: bool = False,
    validation: Poses | str | Path | None = None,
) -> Calibrated:
    """The robot's parameters from measured poses, by least squares weighted with the covariance of what was measured.

    Where the poses state their noise, each pose's equations are weighted by Σ_F⁻¹ = (J_M Σ_M J_Mᵀ)⁻¹, re-evaluated at
    each step, and χ² tests whether the noise explains the residuals. Where they do not, every chain's weight is found
    from its own residuals. Where the covariances of the poses are stated and the noise of the readings is not, that
    noise is estimated too. Errors that the poses share (`Poses.common`) are estimated with the parameters, so that
    intervals contain them; not with `robust`.

    Args:
        robot: The robot with its blueprint.
        poses: What was measured, in any frames; or a file that `gough.data.read_poses` reads by its heads.
        frames: "robot" if poses are already of the platform in the base's frame, roughly; "instrument" if the
            instrument has a frame of its own. The blueprint of a Gough platform is then moved there first, by hand–eye
            calibration; a body whose joints are held stays in its own frame, and this frame is found. Poses of other
            robots are moved into the robot's frame as `StatedFrames` say, or as the blueprint fits them best; all of
            the frames that the free parameters do not absorb is then found together with these.
        start: Values to begin with, instead of the blueprint.
        prior: Bounds or a belief on the parameters.
        fixed: Names of parameters that keep the values they start with, or patterns such as "a*".
        tolerance: What blueprint values may be wrong by, in SI units: one for all lengths, or by names or patterns such
            as {"a*": 0.002}. Each is twice the standard deviation of a Gaussian prior (95 %).
        scale: Also find the scale of measured positions, where the instrument's metre is in doubt.
        robust: Limit the pull of outliers (Huber), rather than trust the stated noise.
        validation: Poses that take no part, on which the result is tested.

    Raises:
        InputError: robot and poses do not fit together; the message names the probable fault.
        EstimationError: the poses do not determine the parameters; the message names the combinations that they do.

    Examples:
        >>> from gough.core.rotations import exp
        >>> robot, rng = GoughPlatform.deltalab(), np.random.default_rng(1)
        >>> truth = robot.nominal + rng.normal(0, 1e-3, 42)
        >>> p, R = rng.normal([0, 0, 0.35], 0.03, (40, 3)), exp(rng.normal(0, 0.15, (40, 3)))
        >>> seen = Poses(p + rng.normal(0, 1e-5, p.shape), R, robot.inverse(truth, p, R)).with_noise(1e-5, 1e-6, 1e-7)
        >>> calibrated = calibrate(robot, seen)
        >>> bool(calibrated.rms[1] < 2e-5 < 1e-4 < calibrated.rms[0]), calibrated.refuted
        (True, False)
    """
    model = kinematic_model(robot)
    poses = poses_of(model, poses)
    validation = None if validation is None else poses_of(model, validation, "validation")
    if validation is not None:
        require_held_out(poses, validation)
    if not isinstance(frames, StatedFrames):
        one_of(frames, "frames", ("robot", "instrument"))
    scale, robust = flag(scale, "scale"), flag(robust, "robust")
    fixed = matching(texts(fixed, "fixed"), model.names)
    theta = np.array(finite_parameters(model, start, "start"))
    stated = _as_stated(model, poses, frames)
    placed = _placed(model, poses, theta, frames, stated, fixed, prior)
    _require_together(model, placed, fixed, prior, scale=scale)
    require_tolerance(tolerance, model, prior, frames, scale=scale)
    begun, aligned, sought = placed.poses, placed.start, placed.sought
    free = [*(name for name in model.names if name not in fixed), *sought, *([SCALE] if scale else [])]
    options: dict[str, Any] = {"prior": prior, "scale": scale, "enough": tolerance is None}
    options |= {"frames": bool(sought), "free": free if fixed or sought else None}

    def problem_of(poses: Poses, form: _Form | None = None) -> NonlinearProblem:
        stated = _states_noise(poses) and not robust
        return geometric(model, poses, start=aligned, form=form or ("squared" if stated else "length"), **options)

    def whole(problem: NonlinearProblem) -> NonlinearProblem:
        return problem if robust else with_common_errors(problem, begun)

    noise = None if robust else reading_noise(problem_of, begun)
    begun = _with_reading_noise(model, begun, noise)
    problem = problem_of(begun)
    try:
        method = _method(begun, robust=robust)
        answer, near = _answered(believed(whole(problem), tolerance, model), method, robust=robust, noise=noise)
        if answer.status is not Status.OK and _states_noise(begun):  # squares of large errors shrink a robot to a point
            problem = problem_of(begun, "length")
            answer, near = _answered(believed(whole(problem), tolerance, model), method, robust=robust, noise=noise)
    except (InputError, np.linalg.LinAlgError) as error:
        why = (
            _misread(model, theta, stated)
            or "the iteration diverges: check units, frames and the order of the readings"
        )
        raise InputError(f"the {model.name} cannot be calibrated from these poses: {why} ({error})") from error
    values, answer = _values(problem, answer, near)
    if not _states_noise(begun) and isinstance(problem.unknowns.prior, Box):
        answer = with_chain_noise(answer, problem, values)
    factor = float(values[-1]) if scale else 1.0
    parameters = values[: len(model.names)]
    found_frames = placed.found(values[len(model.names) + len(model.chains) :], factor, answer)
    own = _moved_back(model, theta, stated, placed, poses, found_frames, begun)
    after = chains_of(model, own, parameters, scale=factor)
    chains = _chain_fits(model, own, chains_of(model, begun, aligned, scale=factor).residual, after.residual)
    rms = float(np.sqrt(np.mean([chain.rms_after**2 for chain in chains])))
    diagnosis, suspects = _diagnosed(model, theta, stated, placed, own, problem, answer, parameters, after, factor, rms)
    diagnosis = _with_tolerance(diagnosis, tolerance, model, aligned, parameters)
    if answer.status is not Status.OK:
        raise _failed(model, answer, diagnosis, suspects)
    others = None if validation is None else placed.moved(model, validation, found_frames)
    return Calibrated(
        model,
        own,
        problem,
        aligned,
        parameters,
        factor,
        answer,
        chains,
        values,
        found_frames,
        None if others is None else held_out(model, others, aligned, parameters, scale=factor),
        suspects,
        diagnosis,
        moved_bodies=placed.moved_bodies,
    )


def _values(problem: NonlinearProblem, answer: Estimate, near: Array | None) -> tuple[Array, Estimate]:
    """All unknowns after the calibration, and the answer: settled, too, where it is an isolated exact solution.

    Data without noise have σ so small that no step of rounding errors is small against it. Where all equations hold to
    rounding and their derivatives have full rank, no other solution is near, so that such steps lead nowhere.

    Where the iteration diverged, the unknowns from which it began: mistakes are sought there.
    """
    assert problem.unknowns.nominal is not None
    values = problem.unknowns.nominal.copy()
    if not np.isfinite(answer.value).all():
        return values if near is None else near[: len(problem.unknowns)], answer
    place = {name: k for k, name in enumerate(problem.unknowns.names)}
    for name, value in zip(answer.unknowns.names, answer.value.tolist(), strict=True):
        if name in place:
            values[place[name]] = value
    if answer.status is Status.MAX_STEPS and _is_isolated_solution(problem, values):
        answer = replace(answer, status=Status.OK)
    return values, answer


def _is_isolated_solution(problem: NonlinearProblem, values: Array) -> bool:
    """Whether all equations hold to rounding, and determine the free unknowns to first order."""
    if not abs(problem.equations.residuals(values, problem.measured)).max() < _ROUNDING:
        return False
    found = identifiability(problem.linearize(values).without_fixed()[0])
    return found.is_full_rank


def _diagnosed(  # noqa: PLR0917 - what a calibration knows at its end
    model: KinematicModel,
    blueprint: Array,
    stated: "_Stated",
    placed: "_Placed",
    poses: Poses,
    problem: NonlinearProblem,
    answer: Estimate,
    parameters: Array,
    at: "Chains",
    scale: float,
    rms: float,
) -> tuple[Diagnosis, tuple[str, ...]]:
    """Mistakes for which the data are evidence, and sentences on data that do not fit and have none."""
    suspects = _suspects(model, poses, placed.start, problem, answer, rms)
    accused = warnings(model, stated.poses)
    if suspects or answer.status is not Status.OK or is_doubtful(model, placed.start, poses):
        found = conventions(model, blueprint, stated.poses, in_robot_frame=stated.in_robot_frame)
        accused, suspects = (*found, *accused), () if found else suspects
    diagnosis = Diagnosis(accused)
    if isinstance(problem.unknowns.prior, Box) and not diagnosis.conventions:  # a belief takes part in the residuals
        free = np.flatnonzero(~problem.unknowns.is_fixed)
        shown = effects(
            model,
            poses,
            parameters,
            at,
            scale=scale,
            free=free[free < len(model.names)],
            has_scale=SCALE in problem.unknowns.names,
            exceeds_noise=exceeds_noise(answer),
            frames=placed.bodies_sought,
        )
        diagnosis = Diagnosis((*accused, *shown.accusations), shown.n_alternatives)
    return diagnosis, suspects


def _with_tolerance(
    diagnosis: Diagnosis,
    tolerance: float | Mapping[str, float] | None,
    model: KinematicModel,
    before: Array,
    after: Array,
) -> Diagnosis:
    """With a tolerance that the changes reject; not beside other mistakes, which may have caused the changes."""
    if tolerance is None or diagnosis.accusations or not np.isfinite(after).all():
        return diagnosis
    words, p = exceeded(tolerance, model, before, after)
    if p >= LEVEL:
        return diagnosis
    sure = f"p = {p:.1g}" if p > 1e-12 else "p < 1e-12"
    text = (
        f"{words} ({sure}). State a larger tolerance, or leave it out; check the dimensions and units of the blueprint."
    )
    return replace(diagnosis, accusations=(Accusation("tolerance", text, p),))


class _Placed(NamedTuple):
    """Poses and start in common frames, and which frames are found together with the parameters."""

    poses: Poses
    """As the frames that are known or estimated to begin with move them."""
    start: Array
    frames: Frames | None
    """Those frames; None where poses are in the robot's."""
    sought: tuple[str, ...] = ()
    """Unknowns of the frames."""
    moved_bodies: tuple[str, ...] = ()
    """Bodies whose joints are found in the frames of instrument and target, where the poses stay."""

    @property
    def bodies_sought(self) -> tuple[str, ...]:
        """Bodies whose frame is found."""
        parts = (("base", BASE), ("platform", PLATFORM))
        return tuple(body for body, names in parts if set(names) & set(self.sought))

    def found(self, motions: Array, scale: float, answer: Estimate) -> Frames | None:
        """The frames after the calibration, with their covariance, for positions that are scaled after they are moved.

        `motions` begins with ζ and ξ, which are for positions that are scaled before.
        """
        if not self.sought:
            return self.frames
        unscaled = np.tile(np.repeat([1 / scale, 1.0], 3), 2) * motions[:12]
        return replace(
            moved_frames(self.frames, unscaled[:6], unscaled[6:]), covariance=_frame_covariance(answer, scale)
        )

    def moved(self, model: KinematicModel, poses: Poses, frames: Frames | None, like: Poses | None = None) -> Poses:
        """Poses of the instrument in the frames in which the parameters are found; with the noise of others."""
        if not self.sought and like is not None:
            return like
        if frames is None or len(self.moved_bodies) == 2:
            return poses
        plain = poses if model.has_orientation else poses.without_rotation()
        moved = StatedFrames.of(frames).moved(plain)
        if not isinstance(model, GoughPlatform):
            require_of_robot(moved)
        return moved if like is None else replace(moved, reading_sigma=like.reading_sigma, notes=like.notes)


def _placed(  # noqa: PLR0917 - as `calibrate` has them
    model: KinematicModel,
    poses: Poses,
    theta: Array,
    frames: FramesOf | StatedFrames,
    stated: "_Stated",
    fixed: Sequence[str],
    prior: Box | ConfidenceEllipsoid | None,
) -> _Placed:
    """Poses and start in common frames; the frames of the instrument are found, unless they are known."""
    if frames == "robot":
        return _Placed(poses, theta, None)
    if isinstance(frames, StatedFrames):
        return _Placed(in_robot_frame(model, poses, frames), theta, Frames(frames.base.motion, frames.platform.motion))
    try:
        if isinstance(model, GoughPlatform):
            return _placed_platform(model, poses, theta, fixed)
        first = estimated_frames(model, poses)
        begun = in_robot_frame(model, poses, StatedFrames.of(first))
    except InputError as error:
        why = _misread(model, theta, stated)
        if not why:
            raise
        raise InputError(f"the {model.name} cannot be calibrated from these poses. {why}") from error
    if isinstance(prior, ConfidenceEllipsoid):  # a belief on parameters is in the frame that the blueprint has
        return _Placed(begun, theta, first)
    return _Placed(begun, theta, first, _determined_frames(model, begun, theta, fixed))


def _placed_platform(model: GoughPlatform, poses: Poses, theta: Array, fixed: Sequence[str]) -> _Placed:
    """A body of a Gough platform whose joints are held stays in its own frame, which is found."""
    sought, moved_bodies, held_bodies = tuple[str, ...](), tuple[str, ...](), {}
    for body, letter, names in (("base", "a", BASE), ("platform", "b", PLATFORM)):
        held = sum(name.startswith(letter) for name in fixed)
        require(
            held == 0 or held >= len(_AXES),
            f"{held} of the coordinates of the {body}'s joints are held, but poses in an instrument's frame do not "
            f'state where the {body} is: hold them all ("{letter}*"), and its frame is found, or none',
        )
        held_bodies[body] = held > 0
        sought += names if held else ()
        moved_bodies += () if held else (body,)
    moved, first = _aligned(model, poses, theta)
    if not sought:
        return _Placed(poses, moved, first, (), moved_bodies)
    rows, there, still = model.rows(theta).copy(), model.rows(moved), RigidMotion(np.eye(3), np.zeros(3))
    rows[:, 6:] = there[:, 6:] if not any(name in fixed for name in model.zeros) else rows[:, 6:]
    if not held_bodies["base"]:
        rows[:, :3], first = there[:, :3], replace(first, base=still)
    if not held_bodies["platform"]:
        rows[:, 3:6], first = there[:, 3:6], replace(first, target=still)
    return _Placed(StatedFrames.of(first).moved(poses), model.parameters(rows), first, sought, moved_bodies)


_GAUGE = 1e-6
"""Part of a frame's column that must be left after those of the parameters are taken out: else it is one of these."""


def _determined_frames(model: KinematicModel, poses: Poses, theta: Array, fixed: Sequence[str]) -> tuple[str, ...]:
    """Unknowns of the frames that the free parameters do not absorb, to first order at the start.

    What they absorb, such as a turn about z and the angles of all towers, stays as the blueprint fits best.
    """
    wanted = (*base_names(model), *platform_names(model))
    rotation = None if poses.rotation is None else exp(log(poses.rotation) * [0.0, 0.0, 1.0])  # of no tilt by errors
    plain = replace(poses, rotation=rotation, covariance=None, common=None, reading_sigma=None)
    problem = geometric(model, plain, start=theta, form="length", frames=True, enough=False)
    _, J, _ = cast(ChainEquations, problem.equations).both(np.asarray(problem.unknowns.nominal), problem.measured)
    A = J.reshape(-1, J.shape[2])
    if not np.isfinite(A).all():
        return ()
    own = A[:, [k for k, name in enumerate(model.names) if name not in set(fixed)]]
    size = np.linalg.norm(own, axis=0)
    U, s, _ = np.linalg.svd(own / np.where(size > 0, size, 1.0), full_matrices=False)
    basis = U[:, s > 1e-10 * s.max(initial=0.0)]
    found: list[str] = []
    for name in wanted:
        column = A[:, problem.unknowns.index(name)]
        left = column - basis @ (basis.T @ column)
        left = left - basis @ (basis.T @ left)
        if np.linalg.norm(left) > _GAUGE * max(float(np.linalg.norm(column)), 1e-300):
            basis = np.column_stack([basis, left / np.linalg.norm(left)])
            found.append(name)
    return tuple(found)


def _require_together(
    model: KinematicModel,
    placed: _Placed,
    fixed: Sequence[str],
    prior: Box | ConfidenceEllipsoid | None,
    *,
    scale: bool,
) -> None:
    """Refuse options that have no meaning where the frames of bodies that are held are found."""
    if not placed.sought or not (isinstance(model, GoughPlatform) or set(fixed) == set(model.names)):
        return
    require(not scale, "a scale of positions is not found together with frames: leave scale out, or free parameters")
    require(prior is None, "bounds on parameters are not taken where frames are found: leave them out")


def _frame_covariance(answer: Estimate, scale: float) -> Array | None:
    """(12, 12) of shifts and rotation vectors of base and platform; zeros for those that were not sought."""
    names = [name for name in (*BASE, *PLATFORM) if name in answer.unknowns.names]
    region = answer.marginal(*names).region
    if not isinstance(region, ConfidenceEllipsoid):
        return None
    places = [(*BASE, *PLATFORM).index(name) for name in names]
    whole, unscaled = np.zeros((12, 12)), np.tile(np.repeat([1 / scale, 1.0], 3), 2)
    whole[np.ix_(places, places)] = region.covariance
    return whole * np.outer(unscaled, unscaled)


class _Stated(NamedTuple):
    """The poses whose conventions are judged."""

    poses: Poses
    in_robot_frame: bool


def _as_stated(model: KinematicModel, poses: Poses, frames: FramesOf | StatedFrames) -> _Stated:
    if isinstance(frames, StatedFrames) and not isinstance(model, GoughPlatform):
        return _Stated(in_robot_frame(model, poses, frames), in_robot_frame=True)
    return _Stated(poses, frames == "robot")


def _misread(model: KinematicModel, theta: Array, stated: _Stated) -> str:
    """The mistakes of convention that explain the data, in sentences; empty without any."""
    accused = conventions(model, theta, stated.poses, in_robot_frame=stated.in_robot_frame)
    return " ".join(each.words for each in accused)


def _moved_back(  # noqa: PLR0917 - what a calibration knows at its end
    model: KinematicModel,
    theta: Array,
    stated: _Stated,
    placed: _Placed,
    poses: Poses,
    frames: Frames | None,
    begun: Poses,
) -> Poses:
    """The poses in the frames that were found; refused where these are far from any that can be."""
    try:
        return placed.moved(model, poses, frames, like=begun)
    except InputError as error:
        why = _misread(model, theta, stated) or (
            "With no frames of the instrument does the blueprint come near: check units of positions and readings, and "
            "signs and order of the readings."
        )
        raise InputError(f"the {model.name} cannot be calibrated from these poses. {why}") from error


_UNSETTLED = (
    "The chains close, but the iteration does not settle: the poses determine some combinations of the parameters too "
    "weakly. Measure more poses, or ones that differ more; or hold parameters (fixed), or state tolerances of the "
    "blueprint."
)


def _failed(model: KinematicModel, answer: Estimate, diagnosis: Diagnosis, suspects: tuple[str, ...]) -> GoughError:
    """The error of a calibration without an answer, with what is probably wrong."""
    reasons = [each.words for each in diagnosis.accusations] or list(suspects)
    if answer.status is not Status.MAX_STEPS:
        return EstimationError(replace(answer, notes=("\n".join([*reasons, *answer.notes]),)))
    only_outliers = all(each.mistake in {"outliers", UNTOLD} for each in diagnosis.accusations)
    text = f"the {model.name} cannot be calibrated from these poses. {' '.join(reasons or [_UNSETTLED])}"
    if reasons and not (only_outliers and diagnosis.accusations):
        return InputError(text)
    return EstimationError(answer, "\n".join([text, *answer.notes]))


def cross_validate(model: KinematicModel, poses: Poses, *, folds: int = 6, **options: Any) -> HeldOut:
    """Each pose predicted by a calibration without it: contiguous parts are left out in turn.

    Contiguous, because what was measured one after the other errs alike. Options are those of `calibrate`.

    Examples:
        >>> from gough.robots import LinearDelta
        >>> printer, rng = LinearDelta(), np.random.default_rng(1)
        >>> p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (30, 3))
        >>> poses = Poses(p, None, printer.inverse(printer.nominal + 1e-3, p) + rng.normal(0, 1e-5, p.shape))
        >>> bool(cross_validate(printer, poses, folds=3).position_after.max() < 1e-4)
        True
    """
    require(2 <= folds <= len(poses), f"{len(poses)} poses cannot be parted in {folds}")
    parts = []
    part = np.arange(len(poses)) * folds // len(poses)
    for fold in range(folds):
        calibrated = calibrate(model, poses.select(part != fold), validation=poses.select(part == fold), **options)
        assert calibrated.validation is not None
        parts.append(calibrated.validation)

    def joined(field: str) -> Any:
        values = [getattr(part, field) for part in parts]
        if field == "labels":
            return tuple(map(poses.label, range(len(poses))))
        return None if any(v is None for v in values) else np.concatenate(values)

    return HeldOut(**{name: joined(name) for name in HeldOut.__dataclass_fields__})


def rezero(model: KinematicModel, parameters: Any, poses: Poses) -> Array:
    """The parameters with the sensors' zeros found anew from a few poses: a robot that was switched off lost them.

    Examples:
        >>> robot = GoughPlatform.deltalab()
        >>> p = np.array([[0.0, 0.0, 0.33], [0.01, 0.0, 0.35]])
        >>> today = robot.inverse(robot.nominal, p) + [0.001, -0.002, 0.0, 0.003, 0.0, 0.0]
        >>> poses = Poses(p, np.repeat(np.eye(3)[None], 2, axis=0), today)
        >>> rezeroed = rezero(robot, robot.nominal, poses)
        >>> (1000 * (rezeroed - robot.nominal)[6::7]).round(6) + 0.0
        array([-1.,  2.,  0., -3.,  0.,  0.])
    """
    theta = np.array(parameters, dtype=float)
    problem = geometric(model, poses, start=theta, free=model.zeros, form="length")
    return approach(problem, theta).theta


def _states_noise(poses: Poses) -> bool:
    return poses.covariance is not None or poses.reading_sigma is not None


def _with_reading_noise(model: KinematicModel, poses: Poses, noise: ReadingNoise | None) -> Poses:
    """Poses whose readings have the noise that was estimated, and say so."""
    if noise is None:
        return poses
    remark = noise.sentence(*shown_unit(model.reading_unit))
    return replace(poses, reading_sigma=np.array(noise.sigma), notes=(*poses.notes, remark))


def _method(poses: Poses, *, robust: bool) -> GaussNewton:
    if robust:
        return GaussNewton(RobustLeastSquares(Huber(), rtol=1e-6), rtol=1e-3, max_steps=8)
    return (
        GaussNewton(GaussMarkov(), rtol=1e-8)
        if _states_noise(poses)
        else GaussNewton(WeightedLeastSquares(), rtol=1e-5)
    )


def _answered(
    problem: NonlinearProblem, method: GaussNewton, *, robust: bool, noise: ReadingNoise | None = None
) -> tuple[Estimate, Array | None]:
    """The method's answer, from a start near it; and this start, where there is one."""
    near: Arrived | None = None
    unknowns = problem.unknowns
    assert unknowns.nominal is not None
    bounds = unknowns.bounds
    unbounded = not ((np.isfinite(bounds.lower) | np.isfinite(bounds.upper)) & ~unknowns.is_fixed).any()
    if unbounded and isinstance(unknowns.prior, Box):
        near = (
            approach_robustly(problem, unknowns.nominal)
            if robust
            else approach(problem, unknowns.nominal, settle=problem.noise.covariance is not None)
        )
        if not near.converged:
            method = replace(method, max_steps=3)
        problem = replace(problem, unknowns=replace(unknowns, nominal=near.theta))
    answer = method.estimate(problem)
    return answer if noise is None else noise.qualified(answer), None if near is None else near.theta


def _aligned(model: GoughPlatform, poses: Poses, theta: Array) -> tuple[Array, Frames]:
    """The blueprint in the frames of the measurement."""
    zeroed, frames = aligned_blueprint(model, theta, poses)
    rows = model.rows(zeroed).copy()
    rows[:, :3] = frames.base.of(rows[:, :3])
    rows[:, 3:6] = frames.target.of(rows[:, 3:6])
    return model.parameters(rows), frames


_WRONG = 0.004
"""Closure errors beyond this share of the robot's size are worth a warning, whatever they come from."""
_FEW = 2
"""Poses beyond those that give as many equations as unknowns, up to which an iteration may fail without a mistake."""
_TRIED = 8
"""Poses at which the blueprint is assembled."""
_STRIDE = 0.05
"""Longest step of that search, m."""


def _suspects(  # noqa: PLR0917 - what a calibration knows at its end
    model: KinematicModel, poses: Poses, start: Array, problem: NonlinearProblem, answer: Estimate, rms: float
) -> tuple[str, ...]:
    """Sentences on data that do not fit and have no mistake of the catalogue."""
    size = float(np.ptp(poses.position, axis=0).max() + abs(poses.position).max())
    if not rms <= _WRONG * size:
        closes = f"close only to {number(1e3 * rms, digits=3)} mm (rms)" if np.isfinite(rms) else "do not close"
        n, unknowns = len(model.chains), int((~problem.unknowns.is_fixed).sum())
        if len(poses) * n < unknowns + _FEW * n and answer.status is not Status.OK:
            text = (
                f"The chains {closes}: {len(poses)} poses give {len(poses) * n} equations for {unknowns} unknowns, too "
                f"few for the iteration to arrive. Measure {counted(-(-(unknowns + _FEW * n) // n), 'pose')} or more, "
                "or hold parameters that are known (fixed); if that does not help, check units, frames and the order "
                "of the readings."
            )
            return (text,)
        text = (
            f"The chains {closes}: check units, frames and the order of the readings; else the model lacks a large "
            "effect."
        )
        return (text,)
    if answer.status is not Status.OK:
        return ()
    from gough.robots.compiled_chains import arrive  # noqa: PLC0415 - numba

    try:
        guess = PlatformPoses(poses.position[:_TRIED], _rotations(poses)[:_TRIED])
        readings = model.inverse(start, guess.position, guess.rotation if model.has_orientation else None)
        if not arrive(model, start, readings, poses.readings[:_TRIED], guess, _STRIDE):
            model.forward(start, poses.readings[:_TRIED], guess)
    except InputError:
        text = (
            "The blueprint cannot be assembled at these readings: check its dimensions, their units, and the readings' "
            "zeros. The result does not depend on the blueprint if the chains close."
        )
        return (text,)
    return ()


def _rotations(poses: Poses) -> Array:
    return np.repeat(np.eye(3)[None], len(poses), axis=0) if poses.rotation is None else poses.rotation


def robot_frame(model: KinematicModel, poses: Poses) -> Poses:
    """Poses that an instrument saw, moved into the robot's frame by `estimated_frames`.

    Examples:
        >>> from gough.robots import LinearDelta
        >>> printer, rng = LinearDelta(), np.random.default_rng(1)
        >>> p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (30, 3))
        >>> poses = Poses(p + [1.0, 2.0, 3.0], None, printer.inverse(printer.nominal, p))
        >>> bool(abs(robot_frame(printer, poses).position - p).max() < 1e-12)
        True
    """
    return in_robot_frame(model, poses, StatedFrames.of(estimated_frames(model, poses)))


def in_robot_frame(model: KinematicModel, poses: Poses, frames: StatedFrames) -> Poses:
    """Poses that an instrument saw, moved into the robot's frame; orientations of robots that do not turn are dropped.

    Raises:
        InputError: the frames do not belong to such a robot.
    """
    require_frames_of(model, frames)
    moved = frames.moved(poses if model.has_orientation else poses.without_rotation())
    require_of_robot(moved)
    return moved


def require_frames_of(model: KinematicModel, frames: StatedFrames) -> None:
    """Raise InputError if a robot has no use for stated frames."""
    if isinstance(model, GoughPlatform):
        raise InputError(
            "stated frames are for robots with other chains than legs: the joints of a Gough platform are sought in "
            "the frames of the instrument and its target, so leave the frames out"
        )
    if not model.has_orientation and frames.platform != Placement():
        raise InputError(
            f"a {model.name} does not turn, so that where the target is on its platform cannot be told from where the "
            "base is: leave out the frame of the platform, and state the base as seen by the target's origin"
        )


def estimated_frames(model: KinematicModel, poses: Poses) -> Frames:
    """Where the base is in the instrument's frame and the platform in the target's, as the blueprint fits best.

    For robots that do not turn, or about z only: the tracked point may be anywhere on the platform, and its mark may
    point anywhere. Its height is not determined by any pose: it is taken as that of the platform's origin.

    Examples:
        >>> from gough.robots import LinearDelta
        >>> printer, rng = LinearDelta(), np.random.default_rng(1)
        >>> p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (30, 3))
        >>> poses = Poses(p + [1.0, 2.0, 3.0], None, printer.inverse(printer.nominal, p))
        >>> estimated_frames(printer, poses).base.t.round(9)
        array([1., 2., 3.])
    """
    require(3 not in model.freedoms, "for a robot that tilts, calibrate with frames='instrument'")
    require(len(poses) >= 3, f"frames need at least three poses, but there are {len(poses)}")
    return frames_of_translations(model, model.nominal, poses)


def _chain_fits(model: KinematicModel, poses: Poses, before: Array, after: Array) -> tuple[ChainFit, ...]:
    """What closure errors (N, chains) before and after the calibration show of each chain."""
    from gough.geometry.pose_sums import closures  # noqa: PLC0415 - numba

    squares, worst, correlations = closures(before, after, np.array(poses.readings))
    first, second = np.sqrt(squares / len(after)).tolist()
    largest = abs(after)[worst, np.arange(len(worst))]
    columns = zip(model.chains, first, second, largest.tolist(), worst.tolist(), *correlations.tolist(), strict=True)
    return tuple(ChainFit(*each) for each in columns)
