"""Mistakes are named, and data without any are not accused."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.calibration_confusion import measured as confused
from benchmarks.calibration_mistakes import ANGLE as ANGLE_NOISE
from benchmarks.calibration_mistakes import POSITION as POSITION_NOISE
from benchmarks.calibration_mistakes import READING as READING_NOISE
from benchmarks.calibration_mistakes import Cell, elsewhere
from benchmarks.calibration_mistakes import campaign as judged_campaign
from gough.core.errors import GoughError
from gough.core.rotations import exp, log, to_quaternion
from gough.data import KlipperDelta, Poses, read_poses
from gough.estimates import EstimationError, Status
from gough.geometry import calibrate, calibrate_printer
from gough.geometry.calibrate import _failed
from gough.geometry.diagnosis import Diagnosis
from gough.geometry.geometric import geometric
from gough.geometry.mistake import Campaign, Stated
from gough.geometry.mistakes import catalogue
from gough.geometry.nested import NestedTests, fitted_at, whiteners
from gough.methods import GaussMarkov, GaussNewton
from gough.robots import GoughPlatform, LinearDelta
from tests.geometry.simulated import ROBOT, measured, truth


def campaign(rng, n):
    theta = truth(rng)
    _, poses = measured(theta, rng.uniform(0, 0.14, (n, 6)), rng)
    return Campaign(ROBOT, theta, poses, 6e-5)


def test_the_catalogue_is_complete():
    known = catalogue()
    assert len(known) >= 17
    for mistake in known.values():
        assert mistake.advice.endswith(".")
        assert mistake.title[0].islower() or mistake.title.startswith("a ")
    assert len({mistake.advice for mistake in known.values()}) == len(known)


@pytest.mark.parametrize("is_stated", [True, False])
def test_few_clean_poses_are_not_accused(is_stated, rng):
    """The correlation of 8 or 12 residuals with a reading is large by chance."""
    for n in (8, 12, 12):
        poses = campaign(rng, n).poses
        given = poses if is_stated else Poses(poses.position, poses.rotation, poses.readings)
        assert calibrate(ROBOT, given).diagnosis.accusations == ()


@pytest.mark.parametrize("name", ["gain", "scale", "moved frame", "outliers", "still platform", "exchanged poses"])
def test_small_errors_are_named(name, rng):
    of = campaign(rng, 30)
    mistake = catalogue()[name]
    poses = mistake.make(of, mistake.sizes[-1], rng)
    if name == "exchanged poses":  # they spoil the whole calibration
        with pytest.raises(GoughError, match=mistake.advice):
            calibrate(ROBOT, poses)
        return
    answer = calibrate(ROBOT, poses)
    assert answer.diagnosis.accusations[0].mistake == name
    assert mistake.advice in " ".join(answer.verdicts)


def test_renamed_columns_mend_a_quaternion_whose_names_deceive(rng, tmp_path):
    """What is advised is accepted when it is done, for a scalar in either wrong place."""
    poses = campaign(rng, 30).poses
    true = to_quaternion(poses.rotation)
    first, last = ["qw", "qx", "qy", "qz"], ["qx", "qy", "qz", "qw"]
    path, advice = tmp_path / "poses.csv", catalogue()["quaternion order"].advice
    for stand, values, renamed in ((first, np.roll(true, -1, axis=1), last), (last, true, first)):
        rows = np.column_stack([poses.position, values, poses.readings])
        body = "\n".join(",".join(map(repr, row)) for row in rows.tolist())
        readings = [f"l{k + 1} [m]" for k in range(poses.readings.shape[1])]
        for names in (stand, renamed):
            path.write_text(",".join(["x [m]", "y [m]", "z [m]", *names, *readings]) + "\n" + body)
            read = read_poses(path)
            try:
                told = " ".join(calibrate(ROBOT, read).verdicts)
            except GoughError as error:
                told = str(error)
            assert (advice in told) == (names is stand), told
        assert calibrate(ROBOT, read).diagnosis.accusations == ()


def test_both_of_two_outliers_are_named(rng):
    poses = campaign(rng, 24).poses
    position = poses.position.copy()
    position[[3, 17]] += [[4e-3, 0.0, 0.0], [0.0, -4e-3, 2e-3]]
    for robust in (False, True):
        accused = calibrate(ROBOT, replace(poses, position=position), robust=robust).diagnosis.accusations
        assert set(accused[0].poses) == {3, 17}
        assert "robust" not in accused[0].words


def with_one_wrong(rng, n, wrong, by):
    """What `calibrate` says of n poses, one of which is off."""
    poses = campaign(rng, n).poses
    position = poses.position.copy()
    position[wrong, 0] += by
    try:
        return " ".join(calibrate(ROBOT, replace(poses, position=position)).verdicts)
    except GoughError as error:  # it may spoil the whole calibration
        return str(error)


@pytest.mark.parametrize("wrong", [0, 4, 7])
def test_of_eight_poses_none_is_named(wrong, rng):
    """Without any one of them, 42 equations are left for 42 unknowns: each explains all."""
    words = with_one_wrong(rng, 8, wrong, 5e-3)
    assert "do not show which pose is wrong" in words
    assert "Measure at least 1 more pose" in words
    assert "does not fit the others" not in words


def test_wrong_values_in_fixed_are_named_with_their_change(rng):
    """Against the truth: the joints of leg 1 are held 2 mm off, or only one coordinate."""
    of = campaign(rng, 24)
    names = [name for name in ROBOT.names if name[1] == "1"]
    start = of.theta.copy()
    start[: len(names)] += 2e-3 * np.array([1, -1, 1, -1, 1, -1, 1])
    for held, wrong in (
        (names, start),
        (["a3x", "a3y", "l3"], of.theta + 3e-3 * (np.array(ROBOT.names) == "a3x")),
    ):
        accused = calibrate(ROBOT, of.poses, fixed=held, start=wrong).diagnosis.accusations
        assert accused[0].mistake == "fixed values"
        assert accused[0].words.startswith("Values in fixed are wrong")
    assert float(accused[0].words.split("a3x by ")[1].split(" ")[0]) == pytest.approx(-3.0, abs=0.5)
    assert calibrate(ROBOT, of.poses, fixed=names, start=of.theta).diagnosis.accusations == ()


def test_exchanged_legs_refute_the_data_and_both_fits_are_of_the_blueprint(rng):
    """The residuals do not show them: leg 1 is only another leg."""
    poses = campaign(rng, 24).poses
    found = calibrate(ROBOT, replace(poses, readings=poses.readings[:, [1, 0, 2, 3, 4, 5]]))
    assert found.refuted
    assert not found.exceeds_noise
    assert "order 2, 1, 3, 4, 5, 6" in found.suspects[0]
    assert "Do not use the geometry" in found.suspects[0]
    wrong, right = (float(each.split(" %")[0]) for each in found.suspects[0].split(" to ")[1:3])
    predicted = ROBOT.inverse(ROBOT.nominal, poses.position, poses.rotation)
    left = (poses.readings - predicted).std(axis=0) / poses.readings.std(axis=0)
    assert right == pytest.approx(100 * np.sqrt((left**2).mean()), rel=0.06)
    assert wrong > 20 * right


def blueprint_with(order, *parts):
    """The DeltaLab platform, with joints of some bodies in another order: base is slice(0, 3), platform slice(3, 6)."""
    rows = ROBOT.rows(ROBOT.nominal).copy()
    for part in parts:
        rows[:, part] = rows[list(order), part]
    return GoughPlatform(rows[:, :3], rows[:, 3:6], rows[:, 6])


def test_three_exchanged_joints_are_named_in_an_instruments_frame(rng):
    order = [1, 2, 0, 3, 4, 5]
    with pytest.raises(GoughError) as told:
        calibrate(blueprint_with(order, slice(0, 3)), elsewhere(campaign(rng, 24).poses), frames="instrument")
    assert "joints of the base alone are taken in the order 3, 1, 2, 4, 5, 6" in str(told.value)


def test_units_are_named_where_no_frame_of_an_instrument_is_found():
    """Frames that were found far away were blamed on a base.position that nobody stated."""
    model, poses = confused("linear-delta", 16, "instrument", np.random.default_rng(4))
    with pytest.raises(GoughError, match="inches were taken for millimetres in the readings"):
        calibrate(model, replace(poses, readings=poses.readings / 25.4), frames="instrument")


def test_angles_in_degrees_are_not_taken_for_radians_that_were_divided():
    """Readings over many turns are explained by any zeros."""
    for seed in range(6):
        model, poses = confused("3-rrr", 8, "robot", np.random.default_rng(seed))
        try:
            said = " ".join(calibrate(model, replace(poses, readings=np.degrees(poses.readings))).suspects)
        except GoughError as error:
            said = str(error)
        assert "degrees were taken for radians in the readings" in said


def test_centimetres_are_named():
    model, poses = confused("linear-delta", 16, "robot", np.random.default_rng(1))
    answer = calibrate(model, replace(poses, position=100 * poses.position))
    assert "centimetres were taken for metres in the positions" in answer.suspects[0]


def test_too_few_poses_are_not_called_a_mistake_of_units():
    said = []
    for seed in range(8):
        model, poses = confused("rotary-delta", 8, "instrument", np.random.default_rng(seed))
        try:
            said.append(" ".join(calibrate(model, poses, frames="instrument").suspects))
        except GoughError as error:
            said.append(str(error))
    assert all("check units" not in each or "Measure 10 poses or more" in each for each in said), said


@pytest.mark.parametrize("framed", [False, True])
def test_exchanged_joints_of_a_blueprint_are_not_taken_for_exchanged_readings(framed, rng):
    """Joints of both bodies exchanged are the same to the data as readings exchanged: both are named; of one, not."""
    poses = campaign(rng, 24).poses
    poses, frames = (elsewhere(poses), "instrument") if framed else (poses, "robot")
    order, known = [3, 1, 2, 0, 4, 5], catalogue()

    def words(robot):
        try:
            answer = calibrate(robot, poses, frames=frames)
        except GoughError as error:
            return str(error)
        assert answer.refuted
        return " ".join(answer.suspects)

    for body, part in (("base", slice(0, 3)), ("platform", slice(3, 6))):
        told = words(blueprint_with(order, part))
        assert f"joints of the {body} alone are taken in the order 4, 2, 3, 1, 5, 6" in told
        assert known["order of joints"].advice in told
        assert known["order of readings"].advice not in told
    both = words(blueprint_with(order, slice(0, 3), slice(3, 6)))
    assert "readings are taken in the order 4, 2, 3, 1, 5, 6, or, which is the same to the data, the chains" in both
    assert "Look at the machine" in both


def test_an_order_of_readings_and_the_order_of_chains_are_inverse(rng):
    """What is advised is accepted when it is done, either way."""
    poses = campaign(rng, 24).poses
    turned = replace(poses, readings=poses.readings[:, [1, 2, 0, 3, 4, 5]])
    told = calibrate(ROBOT, turned).suspects[0]
    readings, chains = (
        [int(k) - 1 for k in each.split(", ")] for each in re.findall(r"in the order ((?:\d, ){5}\d)", told)
    )
    assert readings != chains
    assert not calibrate(ROBOT, replace(turned, readings=turned.readings[:, readings])).refuted
    assert not calibrate(blueprint_with(chains, slice(0, 3), slice(3, 6)), turned).refuted


@pytest.mark.parametrize("larger", ["all", "positions", "orientations"])
def test_noise_that_is_stated_too_small_accuses_no_pose(larger):
    """Ten times: poses, legs and frames were accused with p down to 1e-7, most often from 9 or 10 poses."""
    of = [(0.1 if larger in {"all", name} else 1.0) for name in ("positions", "orientations", "readings")]
    named = Counter[str]()
    for seed in range(8):
        for n in (10, 12, 40):
            poses = judged_poses(n, seed)
            understated = Poses(poses.position, poses.rotation, poses.readings).with_noise(
                of[0] * POSITION_NOISE, of[1] * ANGLE_NOISE, of[2] * READING_NOISE
            )
            answer = calibrate(ROBOT, understated)
            named.update(each.mistake for each in answer.diagnosis.accusations)
            if answer.diagnosis.accusations and n == 40:
                factor = r"(\d+(?:\.\d+)?) times"
                sizes = [float(each) for each in re.findall(factor, answer.diagnosis.accusations[0].words)]
                assert all(6 < each < 16 for each in sizes), answer.diagnosis.accusations[0].words
                assert larger == "all" or f"of {larger} about" in answer.diagnosis.accusations[0].words
    assert set(named) <= {"stated noise", "undistinguished"}  # which names the noise too
    assert named["stated noise"] >= 12


def judged_poses(n, seed):
    """Clean poses of the campaign by which the mistakes are judged."""
    return judged_campaign(Cell("gough", "none", 1.0, n, "robot", True), np.random.default_rng(77_000 + seed)).poses


def test_a_wrong_pose_is_named_beside_noise_that_is_stated_too_small():
    poses = judged_poses(40, 3)
    position = poses.position.copy()
    position[7, 0] += 0.02
    understated = Poses(position, poses.rotation, poses.readings).with_noise(
        0.1 * POSITION_NOISE, 0.1 * ANGLE_NOISE, 0.1 * READING_NOISE
    )
    accused = calibrate(ROBOT, understated).diagnosis.accusations
    assert [(each.mistake, each.poses) for each in accused] == [("outliers", (7,))]


def test_a_tolerance_that_is_too_small_is_named(rng):
    poses = campaign(rng, 24).poses
    accused = calibrate(ROBOT, poses, tolerance=2e-4).diagnosis.accusations
    assert [each.mistake for each in accused] == ["tolerance"]
    assert "tolerance 0.200 mm" in accused[0].words
    assert calibrate(ROBOT, poses, tolerance=4e-3).diagnosis.accusations == ()


@pytest.mark.parametrize(("n", "spare"), [(7, "none is spare"), (8, "only 6 are spare"), (24, "")])
def test_few_spare_equations_are_stated(n, spare, rng):
    found = calibrate(ROBOT, campaign(rng, n).poses)
    assert spare in " ".join(found.verdicts)
    assert bool(found.scarcity) == bool(spare)


def test_of_nine_poses_the_wrong_one_is_named(rng):
    for wrong in (0, 4, 8):
        assert f"Pose {wrong} does not fit the others" in with_one_wrong(rng, 9, wrong, 2e-3)


def test_a_pose_that_is_left_out_removes_what_the_hat_matrix_says(rng):
    """Against the sum of squares of the linear model without the pose, solved anew."""
    of = campaign(rng, 14)
    found = calibrate(ROBOT, of.poses)
    fitted, residuals, own = fitted_at(ROBOT, of.poses, found.parameters, scale=1.0, fixed=())
    root, is_stated = whiteners(fitted, residuals, own, np.arange(42))
    tests = NestedTests(fitted, residuals, own, np.arange(42), root, is_stated, np.arange(14))
    removes, dof = tests.deleted()
    before, spare = tests.squares
    for pose in (0, 5, 13):
        left, rest = replace(tests, kept=np.delete(np.arange(14), pose)).squares
        assert before - left == pytest.approx(removes[pose], rel=1e-5)
        assert spare - rest == dof[pose]


def test_lost_zeros_in_an_instruments_frame_are_found(rng):
    poses = campaign(rng, 24).poses
    away = replace(poses, readings=poses.readings + np.array([0.2, 0.21, 0.19, 0.2, 0.2, 0.22]))
    found = calibrate(ROBOT, away, frames="instrument")
    assert found.diagnosis.accusations == ()
    assert found.rms[1] < 1e-4


def probes(rng, wrong=None):
    """Nine heights and nine distances of a printer 1 mm from its configuration; one may be 1 mm too large."""
    conf = LinearDelta()
    mine = LinearDelta(radius=0.161, endstop=[0.401, 0.4, 0.3995], arm=[0.3452, 0.345, 0.3447])
    around = np.radians(range(0, 360, 45))
    p = np.array([[0.0, 0.0, 0.005], *([0.09 * np.cos(a), 0.09 * np.sin(a), 0.005] for a in around)])
    heights = p[:, 2] + rng.normal(0, 2e-5, len(p))
    corners = np.array([[0.065 * np.cos(a), 0.065 * np.sin(a), 0.0] for a in np.radians(range(30, 390, 60))])
    pairs = [(i, j) for i in range(6) for j in range(i) if (i - j) % 2]
    ends = np.array([[corners[i], corners[j]] for i, j in pairs])
    distances = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1) + rng.normal(0, 3e-5, len(pairs))
    readings = mine.inverse(mine.nominal, ends.reshape(-1, 3)).reshape(-1, 2, 3)
    if wrong is not None:
        (heights if wrong < len(p) else distances)[wrong % len(p)] += 1e-3
    at = mine.inverse(mine.nominal, p)
    return KlipperDelta(conf.radius, conf.angle, conf.arm, conf.endstop, heights, at, distances, readings)


def test_a_wrong_height_or_distance_of_a_printer_is_named(rng):
    assert calibrate_printer(probes(rng)).wrong is None
    for wrong, name in ((4, "height4"), (11, "distance2")):
        found = calibrate_printer(probes(rng, wrong))
        assert found.wrong.row == wrong
        assert found.wrong.off == pytest.approx(1e-3, abs=4 * found.wrong.sigma)
        assert any(f"The saved {name} is" in words for words in found.verdicts)


def test_degrees_taken_for_radians_are_named_in_an_instruments_frame(rng):
    """The orientations of an instrument lose up to 28 full turns, which the blueprint and the positions restore."""
    poses = elsewhere(campaign(rng, 10).poses)
    wrong = replace(poses, rotation=exp(np.degrees(log(poses.rotation))))
    corrected = [
        each.poses.rotation
        for each in catalogue()["unit of angles"].corrected(
            Stated(ROBOT, ROBOT.nominal, wrong, np.arange(10), False, None, None)
        )
        if each.words.startswith("degrees")
    ]
    assert len(corrected) == 1
    assert abs(corrected[0] - poses.rotation).max() < 1e-9


def test_two_exchanged_poses_of_many_are_named(rng):
    """Their errors are so large that others stand out too, and that squares of them shrink the robot to a point."""
    printer = LinearDelta()
    p = rng.uniform([-0.09, -0.09, 0.0], [0.09, 0.09, 0.15], (40, 3))
    readings = printer.inverse(printer.nominal + 1e-3 * rng.normal(size=10), p) + 1e-5 * rng.normal(size=p.shape)
    readings[[7, 30]] = readings[[30, 7]]
    seen = Poses(p + 5e-5 * rng.normal(size=p.shape), None, readings).with_noise(5e-5, None, 1e-5)
    for frames in ("robot", "instrument"):
        try:
            accused = calibrate(printer, seen, frames=frames).diagnosis.accusations
            text = " ".join(each.words for each in accused)
        except GoughError as error:  # they may spoil the whole calibration
            text = str(error)
        assert "poses 7 and 30 are exchanged" in text


def test_an_iteration_that_does_not_settle_advises_what_a_study_has(rng):
    problem = geometric(ROBOT, campaign(rng, 20).poses, start=ROBOT.nominal)
    answer = GaussNewton(GaussMarkov(), max_steps=1).estimate(problem)
    assert answer.status is Status.MAX_STEPS
    error = _failed(ROBOT, answer, Diagnosis(), ())
    assert isinstance(error, EstimationError)
    assert "max_steps" not in str(error).splitlines()[0]
    assert "Measure more poses" in str(error)


def test_exchanged_readings_are_named_among_many_poses(rng):
    """Conventions are judged at some of the poses: both exchanged ones must be among them."""
    printer = LinearDelta()
    p = rng.uniform([-0.09, -0.09, 0.0], [0.09, 0.09, 0.15], (100, 3))
    readings = printer.inverse(printer.nominal + 1e-3 * rng.normal(size=10), p)
    readings[[21, 64]] = readings[[64, 21]]
    accused = calibrate(printer, Poses(p + 5e-5 * rng.normal(size=p.shape), None, readings)).diagnosis.accusations
    assert accused[0].mistake == "exchanged poses"
    assert "21 and 64" in accused[0].words
