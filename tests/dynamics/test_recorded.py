"""The bridge from robot and measured motion to problem."""

from dataclasses import replace

import numpy as np
import pytest

import gough
from gough.core.errors import InputError
from gough.core.threads import one_blas_thread
from gough.data import FullRate, MeasuredMotion, Recording, default_steps, prepare
from gough.data.filters import low_passed
from gough.dynamics import dynamic, measured_regressor, recorded
from gough.robots import FiveBar, efforts
from gough.simulate import FourierSeries

ROBOT = FiveBar.demo()
NAMES = {
    "coordinates": ROBOT.coordinates,
    "coordinate_units": ROBOT.coordinate_units,
    "actuators": ROBOT.actuators,
    "effort_units": ROBOT.effort_units,
}


@pytest.fixture
def motion(rng):
    q = np.array([2.0, 1.1]) + 0.2 * rng.standard_normal((60, 2))
    dq, ddq = rng.standard_normal((2, 60, 2))
    kept = rng.random((60, 2)) < 0.7
    kept[[3, 4, 10]] = False
    return MeasuredMotion(100.0, q, dq, ddq, efforts(ROBOT, ROBOT.nominal, q, dq, ddq), kept, **NAMES)


def test_rows_that_are_kept_are_those_of_the_whole_problem(motion):
    problem = recorded(ROBOT, motion)
    whole = dynamic(ROBOT, motion.q, motion.dq, motion.ddq, motion.efforts)
    chosen = whole.select(motion.kept.reshape(-1))
    assert np.array_equal(problem.W, chosen.W)
    assert np.array_equal(problem.y, chosen.y)
    assert problem.groups == chosen.groups
    assert problem.unknowns == chosen.unknowns
    assert problem.n_rows == motion.n_rows


def test_blocks_do_not_show(motion, monkeypatch):
    whole = recorded(ROBOT, motion)
    monkeypatch.setattr("gough.dynamics.regressors.SAMPLES_PER_BLOCK", 7)
    assert recorded(ROBOT, motion) == whole


def test_only_samples_of_which_a_row_is_kept_are_evaluated(motion):
    broken = motion.q.copy()
    broken[[3, 4, 10]] = [np.pi, 0.0]  # singular
    assert recorded(ROBOT, replace(motion, q=broken)) == recorded(ROBOT, motion)


def test_gaps_in_time_are_gaps_in_the_grid(motion):
    two = MeasuredMotion.concatenate(motion, motion, gap=0.5)
    position = recorded(ROBOT, two).groups.position
    assert position[motion.n_rows :].tolist() == (recorded(ROBOT, motion).groups.position + 2 * 110).tolist()
    everything = replace(motion, kept=np.ones((60, 2), dtype=bool))
    assert recorded(ROBOT, everything).groups.position is None


def test_noise_prior_and_blueprint_are_passed_on(motion):
    prior, noise = gough.Box(np.zeros(21), np.full(21, 9.0)), gough.Bounded(0.1)
    problem = recorded(ROBOT, motion, noise=noise, prior=prior, nominal=np.ones(21))
    assert problem.noise == noise
    assert problem.unknowns.prior == prior
    assert np.array_equal(problem.unknowns.nominal, np.ones(21))


def test_a_pose_where_the_robot_cannot_be_is_named_by_its_time(motion):
    broken = motion.q.copy()
    broken[[20, 40]] = [np.pi, 0.0]
    kept = np.ones((60, 2), dtype=bool)
    with pytest.raises(InputError) as error:
        recorded(ROBOT, replace(motion, q=broken, kept=kept))
    assert str(error.value).startswith(
        "five-bar cannot reach the position measured in row 21 of recording (q1 = 3.142, q2 = 0): "
    )


@pytest.mark.parametrize(
    ("sample", "row"), [(10, "row 112"), (12, "row 114"), (14, "row 116"), (58, "a row near row 157")]
)
def test_rows_are_those_of_the_file_whatever_was_trimmed_and_decimated(motion, sample, row):
    """The file has 60 samples from row 102 on; every fifth is left, and the regressor is filtered at the full rate."""
    q, at = motion.q.copy(), np.arange(0, 60, 5)
    q[sample] = [np.pi, 0.0]
    full = FullRate(100.0, q, motion.dq, motion.ddq, at, [0], 10.0, 2)
    few = motion.select(at)
    decimated = replace(
        few,
        full_rate=full,
        rows=102 + at,
        sources=("log.csv",),
        kept=np.ones_like(few.kept),
        positions=np.arange(len(at)),
    )
    with pytest.raises(InputError, match=rf"position measured in {row} of log.csv \(q1 = 3.142, q2 = 0\)"):
        recorded(ROBOT, decimated)


def test_a_model_that_is_not_defined_is_named_by_the_row_of_the_file(motion):
    class Undefined:
        def __getattr__(self, name):
            return getattr(ROBOT, name)

        def regressor(self, q, dq, ddq):
            return np.where(q[:, :1, None] == motion.q[20, 0], np.nan, ROBOT.regressor(q, dq, ddq))

    kept, rows = np.ones((60, 2), dtype=bool), 10 * np.arange(60) + 7
    kept[:20] = False
    with pytest.raises(InputError, match=r"is nan of motor 1 by '.*' in row 207 of log.csv: the model is not defined"):
        recorded(Undefined(), replace(motion, kept=kept, rows=rows, sources=("log.csv",)))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"actuators": ("motor 2", "motor 1")},
            "efforts of the motion are (motor 2, motor 1), but those of five-bar are (motor 1, motor 2), in this order",
        ),
        ({"actuators": ("V2", "V1")}, "the efforts of the motion are (V2, V1)"),
        ({"coordinates": ("q2", "q1")}, "the coordinates of the motion are (q2, q1)"),
        ({"coordinates": ("theta 10", "theta 9")}, "the coordinates of the motion are (theta 10, theta 9)"),
        ({"coordinate_units": ("rad", "m")}, "'q2' is measured in m, but five-bar needs rad"),
        ({"coordinate_units": ("", "rad")}, "the unit of 'q1' is not stated: five-bar needs rad; state it in units="),
        (
            {"effort_units": ("N·m", "V")},
            "'motor 2' is measured in V, but five-bar needs N·m: EffortFromDriveSignal(gain) makes volts or amperes",
        ),
        ({"effort_units": ("N", "N·m")}, "'motor 1' is measured in N, but five-bar needs N·m"),
        ({"kept": np.zeros((60, 2), dtype=bool)}, "every row of the motion is masked"),
    ],
)
def test_a_motion_that_does_not_fit_is_refused(motion, fields, message):
    with pytest.raises(InputError) as error:
        recorded(ROBOT, replace(motion, **fields))
    assert message in str(error.value)


@pytest.mark.parametrize("names", [("V1", "V2"), ("left", "right"), ("V 0", "V 1")])
def test_other_names_in_the_same_order_are_fine(motion, names):
    assert recorded(ROBOT, replace(motion, actuators=names)).groups.names == ROBOT.actuators


def test_another_number_of_joints_is_refused(motion):
    one = {field: getattr(motion, field)[:, :1] for field in ("q", "dq", "ddq", "efforts", "kept")}
    names = {field: texts[:1] for field, texts in NAMES.items()}
    with pytest.raises(InputError, match=r"five-bar has 2 coordinates \(q1, q2\), but the motion has 1 \(q1\)"):
        recorded(ROBOT, replace(motion, **one, **names))


def swing(rng, *, counts=0.0, noise=0.0, amplitude=0.5):
    """Five periods at 1 kHz as a recording: an encoder, and a noisy voltage of 0.4 V per N·m."""
    motion = FourierSeries.random(rng, offset=[2.0, 1.1], amplitude=amplitude, frequency=0.5, n_harmonics=5)
    _, q, dq, ddq = motion.sample(1000.0, periods=5)
    true = efforts(ROBOT, ROBOT.nominal, q, dq, ddq)
    angles = np.rint(q / counts) * counts if counts else q
    volts = (true + noise * rng.standard_normal(true.shape)) / 2.5
    return Recording(["q1", "q2", "V1", "V2"], ["rad"] * 2 + ["V"] * 2, np.hstack([angles, volts]), 1000.0)


def prepared(recordings, cutoff=20.0):
    channels = ["q1", "q2"], {"motor 1": "V1", "motor 2": "V2"}
    return prepare(recordings, *channels, default_steps(1000.0, cutoff=cutoff, gain=2.5))


@one_blas_thread()  # as in `identify`: with several, the last bits of a row depend on the number of rows
def test_the_regressor_passes_the_filter_of_the_efforts(rng):
    motion = prepared(swing(rng))
    full = motion.full_rate
    W = ROBOT.regressor(full.q, full.dq, full.ddq)
    passed = low_passed(W.reshape(len(W), -1), 20.0, 4, 1000.0).reshape(W.shape)[full.at]
    found = measured_regressor(ROBOT, motion)
    size = abs(passed).max(axis=(0, 1))
    assert (abs(found - passed) <= 1e-11 * size).all()
    assert np.array_equal(recorded(ROBOT, motion).W, found[motion.kept])


def test_blocks_selections_and_seams_do_not_show_in_a_filtered_regressor(rng, monkeypatch):
    slow, fast = prepared(swing(rng)), prepared(swing(rng))
    both = MeasuredMotion.concatenate(slow, fast)
    whole = [measured_regressor(ROBOT, one) for one in (slow, fast)]
    size = np.abs(whole).max(axis=(0, 1, 2))
    monkeypatch.setattr("gough.dynamics.regressors.SAMPLES_PER_BLOCK", 100)
    assert (abs(measured_regressor(ROBOT, both) - np.concatenate(whole)) <= 1e-11 * size).all()
    few = np.array([0, 1, 50, 400, 401, 900])
    assert (abs(measured_regressor(ROBOT, slow.select(few)) - whole[0][few]) <= 1e-11 * size).all()
    late = slice(300, 700)
    assert (abs(measured_regressor(ROBOT, fast.select(late)) - whole[1][late]) <= 1e-11 * size).all()


def test_filtered_alike_both_sides_agree_at_reversals_too(rng):
    """Without noise and counts: what is left is what the filter takes from the motion itself, not the friction."""
    motion = prepared(swing(rng))
    sharp = motion.efforts - ROBOT.regressor(motion.q, motion.dq, motion.ddq) @ ROBOT.nominal
    alike = motion.efforts - measured_regressor(ROBOT, motion) @ ROBOT.nominal
    friction = ROBOT.nominal[ROBOT.names.index("fc_1")]
    assert abs(alike[motion.kept]).max() < 0.0005 * friction
    assert abs(sharp[motion.kept]).max() > 100 * abs(alike[motion.kept]).max()


def test_a_recording_with_counts_and_noise_is_explained_by_the_truth(rng):
    """20 000 counts a turn, torque noise 0.02 N·m: residuals at the truth are the filtered noise."""
    motion = prepared(swing(rng, counts=2 * np.pi / 20000, noise=0.02), cutoff=15.0)
    residuals = recorded(ROBOT, motion).residuals(ROBOT.nominal)
    # white noise through both passes at 15 Hz keeps about √(2 · 14 Hz / 1 kHz) of its σ; counts add a little
    assert np.sqrt((residuals**2).mean()) < 1.3 * 0.02 * np.sqrt(0.028)
