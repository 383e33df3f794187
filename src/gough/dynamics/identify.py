"""Identification: a robot's parameters from its measured motion by every method, with verdicts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from gough.core import outward
from gough.core.arguments import action, flag, real, verb
from gough.core.arrays import Array
from gough.core.errors import AssumptionError, GoughError, InputError, require
from gough.core.floating import defect
from gough.core.progress import Phase, announced
from gough.core.text import written
from gough.core.threads import one_blas_thread
from gough.data import MeasuredMotion
from gough.data.motion import measured_motion
from gough.dynamics.adequacy import Finding, adequacy_of
from gough.dynamics.bounds import closed_prior, residual_scale, smallest_factor, stated_bound, with_bounds
from gough.dynamics.causes import causes_of, larger_variants
from gough.dynamics.clock_errors import with_clock_errors
from gough.dynamics.effect import Effect
from gough.dynamics.effects import catalogue, chosen_effects
from gough.dynamics.extras import Extras, affordable
from gough.dynamics.form_errors import with_form_errors
from gough.dynamics.named import DEFAULT_METHODS, chosen_methods
from gough.dynamics.noise_level import ABOUT as NOISE
from gough.dynamics.noise_level import noise_level, stated_sigma
from gough.dynamics.periodic.motion import RepeatedMotion
from gough.dynamics.physics import physics_of_first
from gough.dynamics.position_errors import position_errors, with_position_errors
from gough.dynamics.recommended import coverage_sign, held_out_sign, recommend
from gough.dynamics.recorded import recorded, require_fit
from gough.dynamics.reduce import reduced
from gough.dynamics.results import Identified
from gough.dynamics.signs import COVERAGE, HELD_OUT
from gough.dynamics.text import measured_rows
from gough.dynamics.validation import validated
from gough.dynamics.verdict import OTHER_MODELS, SPECTRUM, Verdict, sign_of_spectrum, verdict_of
from gough.dynamics.with_effects import WithEffects, with_effects, with_room
from gough.estimates import Claim, Estimate, HullStats, Method, Status, estimate, guarded
from gough.methods import (
    BoundingEllipsoid,
    GaussMarkov,
    HullAndEllipsoid,
    InstrumentalVariables,
    LeastSquares,
    LinearHull,
    RobustLeastSquares,
    TightEllipsoid,
    TotalLeastSquares,
    WeightedLeastSquares,
    identifiability,
)
from gough.methods.statistical import linear
from gough.methods.statistical.identifiability import Identifiability
from gough.methods.statistical.whitening import Unweighted
from gough.problem import LinearProblem
from gough.region import Box, ConfidenceEllipsoid
from gough.robots.arguments import dynamic_model
from gough.robots.model import DynamicModel

MARGIN = 1.5
"""Error bound over the smallest one possible, where none is given."""
_STILL = 1e-9
"""Range of a coordinate, relative to its size, that filters may leave of a constant."""


@verb()
@one_blas_thread()
@np.errstate(all="ignore")
def identify(
    robot: DynamicModel,
    motion: MeasuredMotion,
    *,
    methods: Mapping[str, Method[LinearProblem]] | Sequence[str] | None = None,
    validation: MeasuredMotion | None = None,
    prior: Box | ConfidenceEllipsoid | None = None,
    bound: float | Sequence[float] | Array | None = None,
    margin: float = MARGIN,
    effects: Sequence[str | Effect] = (),
    sigma: float | Sequence[float] | Array | None = None,
    sigma_positions: float | Sequence[float] | Array | None = None,
    compare: bool = True,
    complete: bool = False,
    on_step: Callable[[Phase], object] = lambda _: None,
) -> Identified:
    """The robot's dynamic parameters by each method, the smallest error bound, and verdicts on model and prediction.

    Statistical methods estimate the noise from the residuals; sets are given an error bound for each actuator. ε*, the
    smallest bound for which any parameters within the prior explain every row, is always computed. A method that fails
    is in the result with its status and reason; others still run. Parameters that the prior fixes are taken out; where
    the data do not determine all others, the problem is reduced to combinations that they do determine.

    Args:
        robot: The model whose parameters are unknown.
        motion: What was measured.
        methods: Names as in `METHODS`, or methods by a name of your own; all are used. Without it, those of
            `DEFAULT_METHODS` that the size of the problem affords; a note lists what is left out.
        validation: Another trajectory, on which predictions are compared with measurements.
        prior: Bounds of the parameters, or a belief about them.
        bound: No measured effort errs by more, one number or one for each actuator. Without it, the bound of each
            actuator is `margin` · ε*, in proportion to its residual rms: taken from the data, so that the sets are
            conditional on it.
        margin: See `bound`.
        effects: Effects of the catalogue that the model includes, such as `"delay"`; their parameters are estimated
            like the robot's. See `gough.dynamics.catalogue`.
        sigma: Standard deviation of one reading of an effort, before any filter, one number or one for each actuator:
            residuals are tested against it. Without it the noise is taken from the spectrum above the band of the
            motion, where the motion has passed a low-pass.
        sigma_positions: Standard deviation of one reading of a position, one number or one for each coordinate; without
            it, by the steps of the encoders and the spectrum above the band.
        compare: Judge the model: the robot's variants on held-out data, and effects that the model may lack.
        complete: Use every method of the default, however long it takes.
        on_step: Called with each phase when it begins.

    Raises:
        InputError: a method has an unknown name, the bound or the prior does not fit the robot, or all rows of an
            actuator are masked.

    Examples:
        >>> from gough.dynamics import base_values
        >>> from gough.dynamics.example import random_motion
        >>> robot, motion = random_motion(1)
        >>> answer = identify(robot, motion, methods=["weighted", "hull"], bound=0.1, compare=False)
        >>> base_values(answer.identifiability, robot.nominal) in answer["hull"].region
        True
        >>> print(answer.verdicts[1].split(";")[0])
        No parameters explain every row with errors below ε* = 0.0974 N·m (proven)
    """
    robot = dynamic_model(robot)
    motion, validation = _one_motion(motion), None if validation is None else _one_motion(validation, "validation")
    chosen = chosen_methods(DEFAULT_METHODS if methods is None else methods)
    compare, complete, margin = flag(compare, "compare"), flag(complete, "complete"), real(margin, "margin")
    action(on_step, "on_step")
    included = chosen_effects(effects)
    require(margin >= 1, f"margin must be at least 1, since no parameters explain all rows below ε*; it is {margin}")
    stated = None if bound is None else stated_bound(bound, robot.actuators)
    noise, of_positions = (
        stated_sigma(given, channels, name)
        for given, channels, name in (
            (sigma, robot.actuators, "sigma"),
            (sigma_positions, robot.coordinates, "sigma_positions"),
        )
    )
    begin = announced(on_step, 4 + len(chosen) + 2 * bool(compare) + (validation is not None))
    _require_rows(robot, motion, validation)
    begin("assembling the equations")
    if included:
        robot = with_effects(robot, motion, included, prior=prior)
        prior = with_room(prior, len(robot.names))
    free, fixed = recorded(robot, motion, prior=prior).without_fixed()
    begin("determining the rank")
    analysis = identifiability(free)
    problem = free if analysis.is_full_rank else reduced(free, analysis)
    predicted = 0 if validation is None else len(robot.actuators)
    extras = (
        Extras(chosen)
        if complete
        else affordable(chosen, *problem.W.shape, predicted=predicted, are_asked_for=methods is not None)
    )
    begin("measuring the noise")

    def assembled(other: MeasuredMotion) -> LinearProblem:
        again, _ = recorded(robot, other, prior=prior).without_fixed()
        return again if analysis.is_full_rank else reduced(again, analysis)

    parameters = _fitted(robot, problem, analysis, fixed)
    # effects need samples in the order of time, and change the slopes of the efforts little
    own = robot.robot if isinstance(robot, WithEffects) else robot
    errors = position_errors(own, motion, problem, parameters[: len(own.names)], assembled, sigma=of_positions)
    begin("computing the smallest error bound")
    scale = residual_scale(problem) if stated is None else stated
    minimal = smallest_factor(problem, scale)
    used = margin * minimal.upper * scale if stated is None else stated
    bounded = with_bounds(problem, used, closed_prior(problem, np.maximum(used, minimal.upper * scale)))

    def completed(answer: Estimate, method: Method[LinearProblem]) -> Estimate:
        if errors is not None and isinstance(method, _EXACT_REGRESSOR):
            answer = with_position_errors(answer, method, problem, errors)
        answer = with_form_errors(answer, method, problem, robot, motion)
        return _placed(with_clock_errors(answer, method, problem, motion), motion)

    estimates, refused = _answers(problem, bounded, extras.chosen, completed, begin)
    identified = Identified(
        robot=robot,
        motion=motion,
        problem=problem,
        bounded=bounded,
        identifiability=analysis,
        estimates=_conditional(estimates, robot),
        refused=refused,
        scale=scale,
        minimal=minimal,
        bound=used,
        bound_is_given=stated is not None,
        margin=margin,
        fixed=fixed,
        notes=(*((robot.premise,) if isinstance(robot, WithEffects) else ()), *filter(None, (extras.note,))),
        left_out=extras.left_out,
        noise_level=noise_level(motion, problem, sigma=noise, errors=errors),
        physics=physics_of_first(robot, analysis, problem, estimates, None if fixed else motion),
    )
    if compare:
        begin("comparing models on held-out data")
        identified = replace(identified, adequacy=adequacy_of(robot, motion, validation, sigma=_printed(estimates)))
    if validation is not None:
        begin("predicting the validation trajectory")
        identified = replace(identified, validation=validated(identified, validation, samples=extras.samples))
    identified = replace(identified, recommendation=recommend(identified, extras.chosen, cross_validate=compare))
    identified = _judged_by_held_out(identified)
    if compare:
        begin("testing for effects that the model lacks")
        identified = replace(identified, verdict=_verdict(identified, prior))
    return identified


def _one_motion(given: MeasuredMotion | RepeatedMotion, name: str = "motion") -> MeasuredMotion:
    if isinstance(given, RepeatedMotion):
        raise InputError("repeats of one motion are identified by gough.dynamics.identify_repeated(robot, motion)")
    return measured_motion(given, name)


def _judged_by_held_out(identified: Identified) -> Identified:
    """The answers, whose comparison of models agrees with the recommended method's predictions of held-out data."""
    adequacy, validation = identified.adequacy, identified.validation
    if validation is not None:
        identified = replace(identified, validation=replace(validation, recommended=identified.recommended))
    refuted = any(sign is not None and sign.against for sign in (held_out_sign(identified), coverage_sign(identified)))
    if adequacy is not None and adequacy.finding is Finding.UNDECIDED and refuted:
        # a longer recording does not decide between models that all fail on held-out data
        adequacy = replace(adequacy, finding=Finding.INADEQUATE, recommended=adequacy.used)
    return replace(identified, adequacy=adequacy)


def _conditional(estimates: Mapping[str, Estimate], robot: DynamicModel) -> dict[str, Estimate]:
    """The estimates; guaranteed sets of a model with effects have the premise that they are conditional on."""
    if not isinstance(robot, WithEffects):
        return dict(estimates)
    return {
        label: replace(each, notes=(*each.notes, robot.premise)) if each.claim is Claim.PROOF else each
        for label, each in estimates.items()
    }


def _verdict(identified: Identified, prior: Box | ConfidenceEllipsoid | None) -> Verdict:
    """The verdict from all tests; effects are sought in both motions, where these were prepared alike."""
    motion = identified.motion
    if identified.validation is not None:
        with suppress(InputError):  # another rate or another filter
            motion = MeasuredMotion.concatenate(motion, identified.validation.motion)
    present = {effect.name for effect in getattr(identified.robot, "effects", ())}
    others = [effect for name, effect in catalogue().items() if name not in present]
    effects = (*others, *larger_variants(identified.robot))
    n_fitted = identified.motion.n_samples
    causes = causes_of(identified.robot, motion, prior=prior, effects=effects, n_fitted=n_fitted)
    spectrum = sign_of_spectrum(motion, causes.residuals)
    physics, validation = identified.physics, identified.validation
    held_out = (held_out_sign(identified), coverage_sign(identified))
    signs = (None if physics is None else physics.sign, spectrum, identified.noise_sign, *held_out)
    rough = identified.robot.indicative if isinstance(identified.robot, WithEffects) else ()
    return verdict_of(
        identified.adequacy,
        causes,
        tuple(sign for sign in signs if sign is not None),
        indicative=rough,
        mistake="" if physics is None else physics.mistake,
        excess=0.0 if identified.noise_level is None else identified.noise_level.excess,
        expected=(NOISE, SPECTRUM, HELD_OUT, COVERAGE, OTHER_MODELS),
        dropouts=[*identified.motion.dropouts, *(validation.motion.dropouts if validation is not None else ())],
    )


def _require_other(motion: MeasuredMotion, validation: MeasuredMotion | None) -> None:
    """Refuse recordings that are given twice, and a validation that is the motion, or a recording of it."""
    same = validation is not None and validation.q.shape == motion.q.shape and np.array_equal(validation.q, motion.q)
    own = _recordings(motion)
    held_out = [] if validation is None else _recordings(validation)
    require(
        not (same or any(_are_same(a, b) for a in own for b in held_out)),
        "the validation has the same positions as the motion that is identified from: give a recording of another "
        "motion, or leave it out (then blocks of time are held out)",
    )
    for k, one in enumerate(own):
        for i in range(k):
            require(
                not _are_same(own[i], one),
                f"recordings {i + 1} and {k + 1} have the same samples, which would count twice and make ± too small: "
                "give each recording once",
            )


def _recordings(motion: MeasuredMotion) -> list[tuple[Array, Array]]:
    """Positions and efforts of each recording."""
    full = motion.full_rate
    cuts = np.zeros(0, np.int64) if full is None else np.searchsorted(full.at, full.starts[1:])
    return list(zip(np.split(motion.q, cuts), np.split(motion.efforts, cuts), strict=True))


def _are_same(one: tuple[Array, Array], other: tuple[Array, Array]) -> bool:
    return all(a.shape == b.shape and np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def _require_rows(robot: DynamicModel, motion: MeasuredMotion, validation: MeasuredMotion | None) -> None:
    """Refuse a motion that leaves no row of an actuator, and say how fast its coordinate moves."""
    require_fit(robot, motion)
    _require_other(motion, validation)
    for i in np.flatnonzero(~motion.kept.any(axis=0)).tolist():
        what = f"every row of {motion.actuators[i]} is masked, so nothing can be identified from it"
        if len(motion.coordinates) != len(motion.actuators):
            raise InputError(f"{what}: record a motion that moves it, or mask less")
        q, name, unit = motion.q[:, i], motion.coordinates[i], motion.coordinate_units[i]
        still = float(np.ptp(q)) <= _STILL * max(1.0, float(abs(q).max()))
        fastest = outward.at_most(float(abs(motion.dq[:, i]).max()), digits=3)
        how = "never moves" if still else f"never moves faster than {fastest} {unit}/s"
        todo = "check its column and unit, record a motion that moves it, or mask less"
        raise InputError(f"{what}: {name} {how}; {todo}")


def _printed(estimates: Mapping[str, Estimate]) -> dict[str, float]:
    """The σ of the first method that prints any."""
    for each in estimates.values():
        if isinstance(each.region, ConfidenceEllipsoid):
            return dict(zip(each.unknowns.names, each.region.sigma.tolist(), strict=True))
    return {}


def _fitted(
    robot: DynamicModel, problem: LinearProblem, analysis: Identifiability, fixed: Mapping[str, float]
) -> Array:
    """Parameters of the robot that have the efforts of least squares."""
    solution = linear.solve(problem, Unweighted(), rtol=None)
    names = analysis.names if analysis.is_full_rank else tuple(analysis.names[k] for k in analysis.kept)
    values = {**dict(zip(names, solution.theta.tolist(), strict=True)), **fixed}
    return np.array([values.get(name, 0.0) for name in robot.names])


_EXACT_REGRESSOR = (LeastSquares, WeightedLeastSquares, GaussMarkov, RobustLeastSquares)
"""Methods that take the regressor as exact: errors of positions are allowed for afterwards."""
_STATISTICAL = (
    LeastSquares,
    WeightedLeastSquares,
    GaussMarkov,
    RobustLeastSquares,
    InstrumentalVariables,
    TotalLeastSquares,
)
_OF_THE_SET = (LinearHull, BoundingEllipsoid, TightEllipsoid, HullAndEllipsoid)
"""Methods that enclose the consistent set, and may start from any box that is proven to hold it. A relaxed hull must
not: parameters that violate a row may lie outside."""


def _answers(
    problem: LinearProblem,
    bounded: LinearProblem,
    methods: Mapping[str, Method[LinearProblem]],
    completed: Callable[[Estimate, Method[LinearProblem]], Estimate],
    begin: Callable[[str], object],
) -> tuple[dict[str, Estimate], dict[str, str]]:
    """Estimates by label, whatever their status; and for methods that could not begin, the reason.

    Statistical methods are given `problem`, sets `bounded`.
    """
    estimates, refused = dict[str, Estimate](), dict[str, str]()
    for label, method in methods.items():
        begin(f"identifying: {label}")
        try:
            estimates[label] = completed(_answer(problem, bounded, method, estimates.values()), method)
        except GoughError as error:
            refused[label] = str(error)
    return estimates, refused


def _placed(answer: Estimate, motion: MeasuredMotion) -> Estimate:
    """The answer with rows of the recordings in its notes, where these name rows of the problem that contradict."""
    rows = answer.stats.active_rows if isinstance(answer.stats, HullStats) else ()
    if answer.status is not Status.INCONSISTENT or not rows:
        return answer
    numbers, text = f"rows {', '.join(map(str, rows))}", measured_rows(motion, rows)
    return replace(answer, notes=tuple(note.replace(numbers, text) for note in answer.notes))


def _answer(
    problem: LinearProblem, bounded: LinearProblem, method: Method[LinearProblem], known: Iterable[Estimate]
) -> Estimate:
    if isinstance(method, _STATISTICAL):
        return estimate(problem, method, strict=False)
    if isinstance(method, TightEllipsoid):  # it begins with the hull, which may be known
        hull = next((each for each in known if each.method == written(LinearHull())), None)
        if hull is not None:
            return replace(guarded(method.within(bounded, hull), defect()), unknowns=problem.unknowns)
    if not isinstance(method, _OF_THE_SET):
        bounded = replace(bounded, unknowns=problem.unknowns)
    try:
        answer = estimate(bounded, method, strict=False)
    except AssumptionError:  # a method of the user's that wants a covariance
        return estimate(problem, method, strict=False)
    return replace(answer, unknowns=problem.unknowns)
