"""From a blueprint and what any instruments measured to a calibrated robot."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gough.core.arguments import instance, texts, verb
from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.rotations import cross_matrix, exp, log
from gough.core.text import counted
from gough.estimates import Claim, Estimate, EstimationError, FitStats, Status
from gough.geometry.instruments.descent import Arrived, Decomposed, descend
from gough.geometry.instruments.elimination import Elimination
from gough.geometry.instruments.equations import Equations, Linearized, State, observed
from gough.geometry.instruments.freedoms import Freedoms, Placing, freedoms_of, placed
from gough.geometry.instruments.layout import layout_of, prior_rows
from gough.geometry.instruments.measurements import Measurements
from gough.geometry.instruments.noise import estimated_noise, require_stated, unknown_components
from gough.geometry.instruments.residuals import instrument_fits, rms
from gough.geometry.instruments.results import CalibratedByInstruments
from gough.geometry.instruments.starts import start_parts, start_poses
from gough.methods.statistical.identifiability import analyze
from gough.methods.statistical.residuals import goodness, verdict
from gough.noise import Gaussian
from gough.region import ConfidenceEllipsoid
from gough.robots.arguments import finite_parameters, kinematic_model
from gough.robots.kinematics import KinematicModel, PlatformPoses, checked_pose
from gough.unknowns import Unknowns

_METHOD = "maximum likelihood, poses eliminated"
_ROUNDS = 30
_STILL = 1e-7
"""m: free frames are in place where the last correction moved the parameters by less."""
_UNSETTLED = (
    "The iteration does not settle: the measurements determine some combinations of the unknowns too weakly, or "
    "contain gross errors. Measure more poses, or ones that differ more; or hold parameters (fixed), state "
    "tolerances of the blueprint, or leave out doubtful measurements."
)


@verb()
@np.errstate(all="ignore")
def calibrate_by_instruments(
    robot: KinematicModel,
    measurements: Measurements,
    *,
    start: Any = None,
    fixed: Sequence[str] = (),
    prior: Mapping[str, float] | None = None,
) -> CalibratedByInstruments:
    """The robot's parameters from what instruments measured at poses that nobody needs to know.

    Maximum likelihood: unknown are the robot's parameters, the sought parts of instruments, and all poses. The readings
    of the robot's own sensors belong to every pose, with their noise. Poses are eliminated one by one, so that time and
    memory grow in proportion to their number [TMHF00, §6.1].

    Args:
        robot: The robot with its blueprint.
        measurements: Readings, instruments, and the noise of both. Standard deviations that are None are estimated
            too, by restricted likelihood, where the measurements determine them.
        start: Values to begin with, instead of the blueprint.
        fixed: Names of parameters that keep the values they start with; `*` stands for any letters.
        prior: Standard deviations of parameters about their start, by name; `*` stands for any letters.

    Raises:
        InputError: robot and measurements do not fit together.
        EstimationError: the measurements do not determine the parameters; the message names the combinations that
            they do.

    Examples:
        >>> from gough.geometry.instruments import Instrument
        >>> from gough.robots import LinearDelta
        >>> printer, rng = LinearDelta(), np.random.default_rng(1)
        >>> truth = printer.nominal + rng.normal(0, 1e-3, 10)
        >>> p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (40, 3))
        >>> readings = printer.inverse(truth, p) + rng.normal(0, 1e-5, (40, 3))
        >>> tracker = Instrument("tracker", "point", p + rng.normal(0, 1e-5, p.shape), 1e-5)
        >>> calibrated = calibrate_by_instruments(printer, Measurements(readings, 1e-5, [tracker]))
        >>> truth[3] in calibrated.interval("radius", level=0.999), calibrated.refuted
        (True, False)
    """
    noise = None
    if isinstance(measurements, Measurements) and (unknown := unknown_components(measurements)):
        measurements, noise = estimated_noise(
            lambda data: _prepared(robot, data, start, fixed, prior)[:2], measurements, unknown
        )
    elimination, state, first = _prepared(robot, measurements, start, fixed, prior)
    _require_enough(elimination)
    arrived = descend(elimination, state, first)
    if not np.isfinite(arrived.linearized.cost):
        raise InputError(
            "the readings cannot be predicted at the blueprint's poses: check units, order and sign of the readings"
        )
    known = _determined(elimination, arrived)
    for _ in range(_ROUNDS if known.freedoms.motions else 0):
        moved, size = placed(elimination, arrived.state, arrived.linearized, known.freedoms, known.placing)
        again = descend(elimination, moved)
        arrived = replace(again, steps=arrived.steps + again.steps)
        known = _determined(elimination, arrived)
        if size < _STILL:
            break
    answer = _answer(elimination, arrived, first, known)
    return answer if noise is None else answer.with_noise(noise)


@verb()
@np.errstate(all="ignore")
def foresee(
    robot: KinematicModel,
    measurements: Measurements,
    *,
    start: Any = None,
    fixed: Sequence[str] = (),
    prior: Mapping[str, float] | None = None,
) -> CalibratedByInstruments:
    """What a calibration would determine, and how well, before anything is measured.

    The readings are those of the planned poses. Values of instruments count for nothing but for NaN, where an
    instrument will not measure. Parts that are sought are where their guess is.

    Raises:
        InputError: robot and measurements do not fit together.

    Examples:
        >>> from gough.geometry.instruments import Instrument
        >>> from gough.robots import LinearDelta
        >>> printer, rng = LinearDelta(), np.random.default_rng(1)
        >>> readings = printer.inverse(printer.nominal, rng.uniform([-0.08, -0.08, 0], [0.08, 0.08, 0.1], (40, 3)))
        >>> probe = Instrument("probe", "plane", np.zeros(40), 1e-5, plane=[0, 0, 1, 0])
        >>> foresee(printer, Measurements(readings, 1e-5, [probe])).freedoms.motions[0].words
        'the frame of the base about z'
    """
    if isinstance(measurements, Measurements):
        require_stated(measurements, "planned measurements need the noise to expect")
    elimination, state, now = _prepared(robot, measurements, start, fixed, prior, planned=True)
    arrived = Arrived(state, now, elimination.reduced(now), 0, has_converged=True)
    return _answer(elimination, arrived, now, _determined(elimination, arrived), is_planned=True)


def simulated(
    robot: KinematicModel,
    parameters: Any,
    poses: PlatformPoses,
    measurements: Measurements,
    rng: np.random.Generator | None = None,
) -> Measurements:
    """What the instruments would measure at poses of a robot with these parameters, with noise if `rng` is given.

    Args:
        robot: The robot.
        parameters: Its true parameters.
        poses: Its true poses.
        measurements: Instruments, whose values count for nothing but for NaN; readings likewise. Parts that are sought
            are where their guess is.
        rng: Source of the noise; None: exact values.
    """
    model = kinematic_model(robot)
    theta = finite_parameters(model, parameters, "parameters")
    where = checked_pose(poses.position, poses.rotation)
    readings = model.inverse(theta, *where)
    if rng is not None:
        require_stated(measurements, "noise cannot be drawn")
    clean = _predicted(model, theta, replace(measurements, readings=_with_gaps(readings, measurements.readings)), where)
    return clean if rng is None else _noisy(clean, rng)


def _prepared(
    robot: Any, measurements: Any, start: Any, fixed: Any, prior: Any, *, planned: bool = False
) -> tuple[Elimination, State, Linearized]:
    """The equations with their start, and their linearization there."""
    model = kinematic_model(robot)
    data = instance(
        measurements, "measurements", Measurements, "Measurements", "Measurements(readings, sigma, [Instrument(…)])"
    )
    n = len(model.chains)
    fits = data.readings.shape[1] == n
    require(fits, f"{model.name} has {n} chains, but each pose has {data.readings.shape[1]} readings")
    stretches = getattr(model, "elongation", None) is not None
    require(
        stretches or data.loads is None,
        f"loads are for cable robots with the parameter elongation, not for a {model.name}: leave them out",
    )
    require(
        data.loads is not None or not stretches,
        f"the cables of the {model.name} stretch under load: state the loads of the cables, or leave elongation out",
    )
    for one in data.instruments:
        turning = one.kind in {"tilts", "heading"}
        require(
            model.has_orientation or not turning,
            f"{one.name}: a {model.name} does not turn, so {one.kind} are constant",
        )
    theta = np.array(finite_parameters(model, start, "start"))
    poses = start_poses(model, theta, data)
    if planned:
        data = _predicted(model, theta, data, poses)
    layout, values, references = layout_of(model, data, theta, texts(fixed, "fixed"))
    require(bool(layout.is_free.any()), "nothing is left to find: every parameter is fixed and nothing is sought")
    stated = {} if prior is None else instance(prior, "prior", Mapping, "a mapping of names to standard deviations")
    weights = prior_rows(layout, stated, texts(fixed, "fixed"))
    equations = Equations(model, data, layout, values, weights, references)
    state = State(values, references, poses)
    if not planned:
        state = start_parts(equations, state)
        equations = replace(equations, start=state.theta, start_references=state.references)
    elimination = Elimination(equations)
    first = equations.linearized(state)
    elimination.require_determined(first)
    return elimination, state, first


def _require_enough(elimination: Elimination) -> None:
    equations = elimination.equations
    data, model = equations.measurements, equations.model
    wanted = int(equations.layout.is_free.sum())
    numbers = data.n_measured + int((equations.prior > 0).sum())
    spare = numbers - len(data) * len(model.freedoms)
    if spare <= 0:
        raise InputError(
            f"{len(data)} poses of {len(model.freedoms)} freedoms leave nothing of {numbers} measured numbers for the "
            f"{wanted} parameters: the readings are used up by the poses. State what an instrument measured"
            + ("" if data.instruments else ", in a table [[instruments]]")
        )
    require(
        2 * spare >= wanted,
        f"{counted(len(data), 'pose')} with {numbers} measured numbers leave {spare} equations for {wanted} "
        "parameters: measure more poses, or fix some parameters",
    )


def _predicted(model: KinematicModel, theta: Array, data: Measurements, poses: PlatformPoses) -> Measurements:
    """The measurements with every value as these parameters and poses predict it."""
    layout, values, references = layout_of(model, data, theta, ())
    number = data.session_numbers
    instruments = []
    for i, one in enumerate(data.instruments):
        rows = np.arange(len(one.values))
        session = number[rows if one.pairs is None else one.pairs[:, 0]]
        slots = layout.of_instrument[i][session]
        if not one.of_kind.has_rotation:
            outputs = observed(one, rows, values[layout.columns(i)][session], references[slots], poses)
            found = outputs["value"].reshape(one.values.shape)
            instruments.append(replace(one, values=_with_gaps(found, one.values)))
            continue
        frame, target = (values[layout.columns(i)][session][:, k : k + 3] for k in (0, 6))
        Z, Y = references[slots[:, 0]], references[slots[:, 1]]
        tip = poses.position + (poses.rotation @ target[..., None])[..., 0]
        p, R = (Z @ tip[..., None])[..., 0] + frame, Z @ poses.rotation @ Y
        instruments.append(
            replace(one, values=_with_gaps(p, one.values), rotation=_with_gaps(R, one.rotation))  # type: ignore[arg-type]
        )
    return replace(data, instruments=tuple(instruments))


def _with_gaps(values: Array, pattern: Array) -> Array:
    return np.where(np.isnan(pattern), np.nan, values)


def _noisy(clean: Measurements, rng: np.random.Generator) -> Measurements:
    errors = rng.normal(size=clean.readings.shape)
    assert clean.reading_sigma is not None
    if clean.reading_sigma.ndim == 2:
        readings = clean.readings + errors @ np.linalg.cholesky(clean.reading_sigma).T
    else:
        readings = clean.readings + clean.reading_sigma * errors
    instruments = []
    for one in clean.instruments:
        C = np.linalg.cholesky(one.covariances(np.arange(len(one.values))))
        errors = (C @ rng.normal(size=(len(one.values), C.shape[-1], 1)))[..., 0]
        rotation = None if one.rotation is None else exp(errors[:, 3:]) @ one.rotation
        instruments.append(replace(one, values=one.values + errors[:, : one.values.shape[1]], rotation=rotation))
    return replace(clean, readings=readings, instruments=tuple(instruments))


class _Determined(NamedTuple):
    """What the measurements determine, what they leave free, and where that is put."""

    svd: Decomposed
    freedoms: Freedoms
    placing: Placing


def _determined(elimination: Elimination, arrived: Arrived) -> _Determined:
    svd, poses = Decomposed.of(arrived.reduced.triangle), arrived.state.poses
    freedoms = freedoms_of(elimination, arrived.linearized, svd, poses)
    return _Determined(svd, freedoms, Placing.of(elimination, poses))


def _answer(
    elimination: Elimination, arrived: Arrived, before: Linearized, known: _Determined, *, is_planned: bool = False
) -> CalibratedByInstruments:
    svd, freedoms, placing = known
    equations = elimination.equations
    layout, data, model = equations.layout, equations.measurements, equations.model
    free = layout.free
    names, units = tuple(layout.names[i] for i in free), tuple(layout.units[i] for i in free)
    triangle, lacking = arrived.reduced.triangle, freedoms.directions
    size = float(np.median(svd.scale))
    whole = np.vstack([triangle, size * placing.conditions(lacking)]) if lacking.shape[1] else triangle
    n_rows = data.n_measured + int((equations.prior > 0).sum())
    analysis = analyze(whole, names, n_rows=n_rows, rtol=1e-10)
    dof = n_rows - len(data) * len(model.freedoms) - svd.rank
    values, to_vector = _reported(equations, arrived.state)
    J = to_vector[np.ix_(free, free)]
    C = J @ placing.covariance(lacking, svd.covariance) @ J.T
    scale = max(dof, 1)
    ratio, p = goodness(arrived.linearized.cost / scale, float(scale), Gaussian())
    tested = dof > 0 and not is_planned
    after = arrived.linearized
    stats = FitStats(
        n_rows,
        dof=float(max(dof, 0)),
        groups=("readings", *(one.name for one in data.instruments)),
        residual_rms=np.array([rms(each.residual) for each in (after.readings, *after.instruments)]),
        chi_squared=ratio if tested else None,
        chi_squared_p=p if tested else None,
        condition=analysis.condition,
        iterations=arrived.steps,
        not_identifiable=analysis.not_identifiable if freedoms.unexplained else (),
    )
    notes = [verdict(ratio, p)] if tested else []
    status = Status.OK if arrived.has_converged else Status.MAX_STEPS
    if freedoms.unexplained:
        status = Status.SINGULAR
        notes = [*filter(None, [freedoms.words]), *str(analysis).splitlines(), *notes]
    estimate = Estimate(
        ConfidenceEllipsoid(values[free], (C + C.T) / 2),
        Claim.CONFIDENCE,
        status,
        Unknowns(names, units, equations.start[free]),
        _METHOD,
        stats,
        tuple(notes),
    )
    if status is not Status.OK and not is_planned:
        raise EstimationError(estimate, _UNSETTLED if status is Status.MAX_STEPS else None)
    return CalibratedByInstruments(
        model,
        data,
        equations.start[: layout.n_model],
        arrived.state.theta[: layout.n_model],
        estimate,
        instrument_fits(equations, before, after),
        analysis,
        freedoms,
        placing,
        arrived.state.poses,
        is_planned,
    )


def _reported(equations: Equations, state: State) -> tuple[Array, Array]:
    """Values of all unknowns with rotation vectors in place of turns, and their derivatives by the turns (P, P)."""
    values, J = state.theta.copy(), np.eye(len(state.theta))
    for number, slot in enumerate(equations.layout.slots):
        if not slot.turn:
            continue
        turn = list(slot.turn)
        w = log(state.references[number])
        values[turn] = w
        J[np.ix_(turn, turn)] = _inverse_left_jacobian(w)
    return values, J


def _inverse_left_jacobian(w: Array) -> Array:
    """∂ log(exp(δ) exp(w)) / ∂δ at δ = 0."""
    angle, K = float(np.linalg.norm(w)), cross_matrix(w)
    if angle < 1e-4:
        return np.asarray(np.eye(3) - K / 2 + K @ K / 12)
    factor = 1 / angle**2 - (1 + np.cos(angle)) / (2 * angle * np.sin(angle))
    return np.asarray(np.eye(3) - K / 2 + factor * (K @ K))
