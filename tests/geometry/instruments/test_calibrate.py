"""Calibration by instruments: derivatives, the same minimum as scipy's on the full problem, honest σ, free frames."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.stats import chi2

from gough.core.errors import InputError
from gough.core.rotations import exp, log
from gough.estimates import EstimationError
from gough.geometry.instruments import Instrument, Measurements, Sought, calibrate_by_instruments, foresee
from gough.geometry.instruments.calibrate import _prepared
from gough.robots import CableRobot, GoughPlatform, LinearDelta
from tests.geometry.instruments.campaigns import ANGLE, CAMPAIGNS, POSITION, READING

each_kind = pytest.mark.parametrize("name", CAMPAIGNS)
FREE = {
    "pose": ["the frame of the base", "the frame of the platform"],
    "point": ["the frame of the base", "the frame of the platform"],
    "points": ["the frame of the base"],
    "tilts": ["the frame of the platform in 3 combinations of shift and turn"],
    "heading": ["the frame of the platform about z"],
    "image": ["the frame of the base", "the frame of the platform"],
}


@each_kind
def test_derivatives_are_those_of_finite_differences(name, rng):
    campaign = CAMPAIGNS[name]()
    elimination, state, _ = _prepared(campaign.model, campaign.drawn(rng), campaign.start, campaign.fixed, None)
    equations = elimination.equations
    N, d = len(equations.measurements), elimination.n_freedoms
    step = rng.normal(size=len(equations.layout.names))
    moves = rng.normal(size=(N, d))
    h = 1e-6
    ends = [equations.linearized(equations.moved(state, s * h * step, s * h * moves)) for s in (1, -1)]
    here = equations.linearized(state)
    blocks = [
        (here.readings, [end.readings for end in ends], None),
        *((rows, [end.instruments[i] for end in ends], i) for i, rows in enumerate(here.instruments)),
    ]
    for rows, (plus, minus), i in blocks:
        numeric = (plus.residual - minus.residual) / (2 * h)
        if i is None:
            found = np.einsum("nck,ck->nc", rows.by_x, step[equations.chain_columns])
            found = found + np.einsum("ncd,nd->nc", rows.by_pose, moves)
        else:
            local = step[equations.columns[i]][equations.row_sessions[i]]
            found = np.einsum("nmk,nk->nm", rows.by_x, local)
            found = found + np.einsum("nmd,nd->nm", rows.by_pose, moves[equations.first_poses[i]])
            if rows.by_other is not None:
                other = equations.measurements.instruments[i].pairs[equations.measured_rows[i], 1]
                found = found + np.einsum("nmd,nd->nm", rows.by_other, moves[other])
        # central differences err by h² of third derivatives and by rounding over h
        assert abs(found - numeric).max() < 1e-5 * abs(numeric).max()


@each_kind
def test_the_truth_is_within_its_region_and_the_noise_is_explained(name, rng):
    campaign = CAMPAIGNS[name]()
    answer = calibrate_by_instruments(campaign.model, campaign.drawn(rng), start=campaign.start, fixed=campaign.fixed)
    assert not answer.refuted
    assert [motion.words for motion in answer.freedoms.motions] == FREE.get(name, [])
    free = [i for i, each in enumerate(campaign.model.names) if each in answer.estimate.names]
    error = answer.departure_from(campaign.truth)[free]
    C = answer.estimate.region.covariance[: len(free), : len(free)]
    s, V = np.linalg.eigh(C)
    seen = s > 1e-9 * s[-1]

    def probability(error):
        return chi2.sf(float((((V.T @ error)[seen]) ** 2 / s[seen]).sum()), int(seen.sum()))

    assert 1e-4 < probability(error) < 1 - 1e-4
    assert probability(answer.departure_from(campaign.start)[free]) < 1e-9


@each_kind
def test_what_is_foreseen_is_what_comes(name, rng):
    campaign = CAMPAIGNS[name]()
    drawn = campaign.drawn(rng)
    after = calibrate_by_instruments(campaign.model, drawn, start=campaign.start, fixed=campaign.fixed)
    plan = replace(campaign.plan, readings=drawn.readings)
    before = foresee(campaign.model, plan, start=campaign.start, fixed=campaign.fixed)
    assert before.is_planned
    assert before.estimate.names == after.estimate.names
    assert before.freedoms.motions == after.freedoms.motions
    model = len(campaign.model.names)
    free = [i for i, each in enumerate(before.estimate.names) if each in campaign.model.names][:model]
    ratio = before.estimate.region.sigma[free] / after.estimate.region.sigma[free]
    assert 0.7 < ratio.min()
    assert ratio.max() < 1.4


def full(model, theta_of, predict, measured, *, x, poses):
    """All unknowns in one vector, as scipy's users write it: plain residuals, derivatives by finite differences."""
    d = len(model.freedoms)

    def residuals(z):
        move = np.zeros((len(poses.position), 6))
        move[:, list(model.freedoms)] = z[len(x) :].reshape(-1, d)
        p = poses.position + move[:, :3]
        R = exp(move[:, 3:]) @ poses.rotation
        theta = theta_of(z[: len(x)])
        readings = (measured.readings - model.inverse(theta, p, R)) / measured.reading_sigma
        return np.concatenate([readings.ravel(), predict(z[: len(x)], p, R).ravel()])

    z = np.concatenate([x, np.zeros(d * len(poses.position))])
    return least_squares(residuals, z, x_scale="jac", xtol=1e-14, ftol=1e-14, gtol=1e-14, max_nfev=60)


def test_printer_with_a_reflector_and_a_bed_has_the_minimum_of_the_full_problem(rng):
    printer = LinearDelta()
    truth = printer.nominal + rng.normal(0, 1e-3, 10)
    p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (14, 3))
    readings = printer.inverse(truth, p) + rng.normal(0, READING, (14, 3))
    seen = (p + np.array([0.0, 0.0, 0.03])) + rng.normal(0, POSITION, p.shape)
    seen[2, 1] = np.nan
    heights = p[:, 2] + rng.normal(0, POSITION, 14)
    tracker = Instrument("tracker", "point", seen, POSITION, point=[0, 0, 0.03])
    bed = Instrument("bed", "plane", heights, POSITION, plane=[0, 0, 1, 0])
    measured = Measurements(readings, READING, [tracker, bed])
    answer = calibrate_by_instruments(printer, measured)

    def predict(_, p, __):
        away = np.column_stack([seen - p - [0.0, 0.0, 0.03], heights - p[:, 2]]) / POSITION
        return np.where(np.isnan(away), 0.0, away)

    start = printer.forward(printer.nominal, readings)
    rival = full(printer, lambda x: x, predict, measured, x=printer.nominal, poses=start)
    sigma = answer.estimate.region.sigma
    assert abs((answer.parameters - rival.x[:10]) / sigma).max() < 1e-3
    stats = answer.estimate.stats
    assert stats.chi_squared * stats.dof == pytest.approx(2 * rival.cost, rel=1e-9)
    C = np.linalg.inv(rival.jac.T @ rival.jac)[:10, :10]
    assert np.allclose(answer.estimate.region.covariance, C, rtol=1e-3, atol=1e-3 * sigma.min() ** 2)


def test_platform_in_a_cameras_frame_has_the_minimum_of_the_full_problem(rng):
    robot = GoughPlatform.deltalab()
    truth = robot.nominal + rng.normal(0, 1e-3, 42)
    exact = robot.forward(truth, rng.uniform(0, 0.14, (16, 6)))
    readings = robot.inverse(truth, *exact) + rng.normal(0, READING, (16, 6))
    position = exact.position + rng.normal(0, POSITION, (16, 3))
    rotation = exp(rng.normal(0, ANGLE, (16, 3))) @ exact.rotation
    camera = Instrument("camera", "pose", position, [POSITION, ANGLE], rotation=rotation)
    measured = Measurements(readings, READING, [camera])
    answer = calibrate_by_instruments(robot, measured)

    def predict(_, p, R):
        return np.hstack([(position - p) / POSITION, log(rotation @ np.swapaxes(R, 1, 2)) / ANGLE])

    start = robot.forward(robot.nominal, readings)
    rival = full(robot, lambda x: x, predict, measured, x=robot.nominal, poses=start)
    stats = answer.estimate.stats
    assert stats.chi_squared * stats.dof == pytest.approx(2 * rival.cost, rel=1e-8)
    assert abs((answer.parameters - rival.x[:42]) / answer.estimate.region.sigma).max() < 1e-3


def test_cables_calibrate_themselves_to_the_minimum_of_the_full_problem(rng):
    machine = CableRobot.hangprinter()
    truth = machine.nominal + rng.normal(0, 0.03, 16)
    p = rng.uniform([-0.7, -0.7, 0.0], [0.7, 0.7, 1.5], (30, 3))
    measured = Measurements(machine.inverse(truth, p) + rng.normal(0, 2e-4, (30, 4)), 2e-4)
    answer = calibrate_by_instruments(machine, measured)
    assert [motion.words for motion in answer.freedoms.motions] == ["the frame of the base"]
    free = [i for i, name in enumerate(machine.names) if name not in {"a1x", "a1y", "a1z", "a2y", "a2z", "a4y"}]

    def theta_of(x):
        theta = answer.parameters.copy()
        theta[free] = x
        return theta

    start = answer.parameters[free] + rng.normal(0, 5e-3, len(free))
    poses = machine.forward(theta_of(start), measured.readings)
    rival = full(machine, theta_of, lambda *_: np.zeros(0), measured, x=start, poses=poses)
    stats = answer.estimate.stats
    assert stats.chi_squared * stats.dof == pytest.approx(2 * rival.cost, rel=1e-8)
    anchors = [theta.reshape(4, 4)[:, :3] for theta in (answer.parameters, theta_of(rival.x[: len(free)]), truth)]
    apart = [np.linalg.norm(a[:, None] - a, axis=2) for a in anchors]
    assert abs(apart[0] - apart[1]).max() < 1e-6
    assert abs(apart[0] - apart[2]).max() < 6 * answer.estimate.region.sigma.max()


def test_what_is_not_determined_is_refused_by_name(rng):
    """A robot that does not turn cannot tell the place of a reflector from that of the tracker."""
    printer = LinearDelta()
    p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (40, 3))
    tracker = Instrument("tracker", "point", p, POSITION, frame=Sought(), point=Sought())
    measured = Measurements(printer.inverse(printer.nominal, p), READING, [tracker])
    with pytest.raises(EstimationError, match=r"tracker\.z \+ tracker\.point_z") as raised:
        calibrate_by_instruments(printer, measured)
    assert "singular" in str(raised.value)
    planned = foresee(printer, measured)
    assert planned.freedoms.unexplained == 3
    assert planned.identifiability.rank == len(planned.identifiability.names) - 3
    assert not calibrate_by_instruments(printer, measured, fixed=["arm_*"], prior={"tracker.point_*": 0.01}).refuted


def test_weak_parameters_are_named(rng):
    printer = LinearDelta()
    p = np.column_stack([rng.uniform(-0.05, 0.05, (20, 2)), np.zeros(20)])
    bed = Instrument("bed", "plane", np.zeros(20), POSITION, plane=[0, 0, 1, 0])
    answer = calibrate_by_instruments(printer, Measurements(printer.inverse(printer.nominal, p), READING, [bed]))
    assert "hardly determine arm_" in answer.weak_words
    held = calibrate_by_instruments(printer, answer.measurements, fixed=["arm_*", "angle_c"])
    assert held.weak_words == ""


def test_a_prior_settles_what_the_measurements_do_not(rng):
    printer = LinearDelta()
    p = np.column_stack([rng.uniform(-0.08, 0.08, (40, 2)), np.zeros(40)])
    bed = Instrument("bed", "plane", np.zeros(40), POSITION, plane=[0, 0, 1, 0])
    measured = Measurements(printer.inverse(printer.nominal, p), READING, [bed])
    answer = calibrate_by_instruments(printer, measured, prior={"arm_*": 1e-3, "angle_*": 1e-3, "radius": 1e-3})
    sigma = dict(zip(answer.estimate.names, answer.estimate.region.sigma, strict=True))
    assert 0.5e-3 < sigma["arm_a"] <= 1.0001e-3
    assert sigma["endstop_a"] < 1e-3


TRACKER = Instrument("tracker", "point", np.zeros((5, 3)), POSITION)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Instrument("t", "points", np.zeros((5, 3)), 1e-5), "did you mean 'point'"),
        (lambda: Instrument("t", "point", np.zeros((5, 2)), 1e-5), r"3 channels \(x, y, z\)"),
        (lambda: Instrument("t", "point", np.zeros((5, 3)), 0.0), "must be positive"),
        (lambda: Instrument("t", "point", np.zeros((5, 3)), -np.eye(3)), "positive definite"),
        (lambda: Instrument("t", "pose", np.zeros((5, 3)), 1e-5), "rotation is for kind='pose'"),
        (lambda: Instrument("t", "plane", np.zeros(5), 1e-5), "state the plane"),
        (lambda: Instrument("t", "plane", np.zeros(5), 1e-5, plane=[0, 0, 2, 0]), "length 1"),
        (lambda: Instrument("t", "heading", np.zeros(5), 1e-5, point=[1, 0, 0]), "has no point"),
        (lambda: Instrument("t", "apart", np.zeros(1), 1e-5), "pairs are for kind='apart'"),
        (lambda: Measurements(np.zeros((4, 3)), 1e-5, [TRACKER]), "readings of 4 poses, but tracker has 5"),
        (lambda: Measurements(np.zeros((5, 3)), 1e-5, [TRACKER, TRACKER]), "stands more than once"),
        (lambda: Measurements(np.zeros((5, 3)), 0.0, [TRACKER]), "reading_sigma must be positive"),
        (lambda: Measurements(np.zeros((5, 3)), 1e-5, [replace(TRACKER, frame="camera")]), "no instrument is called"),
        (lambda: Measurements(np.zeros((5, 3)), 1e-5, TRACKER), "a list of instruments"),
    ],
)
def test_instruments_that_cannot_be_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_measurements_that_do_not_fit_the_robot_are_refused(rng):
    printer = LinearDelta()
    readings = printer.inverse(printer.nominal, rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (5, 3)))
    right = Measurements(readings, 1e-5, [TRACKER])
    with pytest.raises(InputError, match="3 chains, but each pose has 2"):
        calibrate_by_instruments(printer, Measurements(readings[:, :2], 1e-5))
    with pytest.raises(InputError, match="does not turn"):
        calibrate_by_instruments(
            printer, replace(right, instruments=[Instrument("level", "tilts", np.zeros((5, 2)), 1e-5)])
        )
    with pytest.raises(InputError, match="the readings are used up by the poses"):
        calibrate_by_instruments(printer, Measurements(readings, 1e-5))
    with pytest.raises(InputError, match="no parameter is called 'radios'; did you mean 'radius'"):
        calibrate_by_instruments(printer, right, fixed=["radios"])
    with pytest.raises(InputError, match="nothing is left to find"):
        calibrate_by_instruments(printer, right, fixed=["*"])
    sought = replace(TRACKER, frame=Sought())
    with pytest.raises(InputError, match="has no value"):
        calibrate_by_instruments(printer, replace(right, instruments=[sought]), fixed=["tracker.x"])
    gone, nothing = readings.copy(), TRACKER.values.copy()
    gone[2] = nothing[2] = np.nan
    without = Measurements(gone, 1e-5, [replace(TRACKER, values=nothing)])
    with pytest.raises(InputError, match="do not determine the 3 freedoms"):
        calibrate_by_instruments(printer, without)
    with pytest.raises(InputError, match="does not fit the readings"):
        calibrate_by_instruments(printer, replace(right, readings=1000 * readings))
    with pytest.raises(InputError, match="measurements must be Measurements"):
        calibrate_by_instruments(printer, readings)
    with pytest.raises(InputError, match="loads are for cable robots"):
        calibrate_by_instruments(printer, replace(right, loads=np.ones((5, 3))))
    with pytest.raises(InputError, match="standard deviation of 'radius' must be positive"):
        calibrate_by_instruments(printer, right, prior={"radius": 0.0})


def test_a_bad_measurement_is_named(rng):
    campaign = CAMPAIGNS["distance"]()
    drawn = campaign.drawn(rng)
    values = drawn.instruments[1].values.copy()
    values[17] += 1e-3
    spoilt = replace(drawn.instruments[1], values=values)
    answer = calibrate_by_instruments(
        campaign.model, replace(drawn, instruments=(drawn.instruments[0], spoilt, *drawn.instruments[2:]))
    )
    assert answer.refuted
    assert "wire2, distance at pose 17" in answer.outlier_words
