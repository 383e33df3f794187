"""The open benchmark: what scores mean, what runners print, and that the page shows the recorded results."""

from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("pinocchio", reason="the arm of the benchmark needs the extra multibody")
pytest.importorskip("cv2", reason="its camera needs the extra vision")

import pinocchio as pin

from benchmarks.__main__ import main
from benchmarks.peers import arm, bounded, five_bar, hexapod, page, rivals, run
from benchmarks.peers.score import extreme_points, log_cholesky, score
from benchmarks.peers.task import Task


def answers_of(value, half, recordings=2):
    return [{"recording": k, "seconds": 1.0, "value": value, "half": half} for k in range(recordings)]


def test_coverage_counts_intervals_that_hold_the_truth():
    task = Task("hexapod", "hexapod", {}, {}, {"theta": np.array([1.0, 2.0])})
    found = score(task, answers_of([1.1, 2.5], [0.2, 0.2]))
    assert found["coverage"] == 0.5
    assert found["least_coverage"] == 0.0
    assert found["failed"] == 0


def test_answers_that_failed_are_counted_with_their_reason():
    task = Task("hexapod", "hexapod", {}, {}, {"theta": np.array([1.0])})
    found = score(task, [{"recording": 0, "reason": "no"}, *answers_of([1.0], [0.1], 1)])
    assert (found["failed"], found["reasons"], found["coverage"]) == (1, ["no"], 1.0)


def test_extreme_points_are_possible_and_no_box_that_cuts_them_off_is_called_safe():
    task = bounded.recordings(range(1))
    W, y = task.data["W"][0], task.data["y"][0]
    points = extreme_points(W, y)
    assert len(points) == 8
    for point in points:  # in exact rationals, each satisfies every row
        for row, value in zip(W.tolist(), y.tolist(), strict=True):
            off = sum(Fraction(a) * x for a, x in zip(row, point, strict=True)) - Fraction(value)
            assert abs(off) <= Fraction(bounded.EPSILON)
    lower, upper = task.truth["hull"][0].T
    box = {"recording": 0, "seconds": 1.0, "empty": False}
    wide = score(task, [{**box, "lower": lower - 1e-9, "upper": upper + 1e-9}])
    cut = score(task, [{**box, "lower": lower + 1e-9, "upper": upper - 1e-9}])
    assert (wide["possible_values_lost"], cut["possible_values_lost"]) == (0, 8)
    assert wide["inside"] == cut["inside"] == 1.0


def test_log_cholesky_factors_give_the_pseudo_inertia_back():
    theta = arm.true_parameters(np.random.default_rng(3))
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = log_cholesky(theta, arm.AXES)[:10]
    U = np.exp(alpha) * np.array(
        [[np.exp(d1), s12, s13, t1], [0, np.exp(d2), s23, t2], [0, 0, np.exp(d3), t3], [0, 0, 0, 1]]
    )
    J = U @ U.T
    np.testing.assert_allclose([J[3, 3], *J[:3, 3]], theta[:4], rtol=1e-12)
    np.testing.assert_allclose(np.trace(J[:3, :3]) - J[0, 0], theta[4], rtol=1e-12)


def test_the_linkage_closes_and_moves_as_its_derivatives_say():
    t, q, dq, ddq, G = five_bar.motion(np.random.default_rng(1))
    model = pin.buildModelFromXML(five_bar.urdf())
    data = model.createData()
    place, _ = five_bar.tree_order(model)
    for row in q[::200]:
        angles = np.empty(4)
        angles[place] = row
        pin.framesForwardKinematics(model, data, np.stack([np.cos(angles), np.sin(angles)], axis=1).ravel())
        one, two = (data.oMf[model.getFrameId(name)].translation for name in ("tip1", "tip2"))
        np.testing.assert_allclose(one, two, atol=1e-14)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", G, dq[:, [0, 2]]), dq, atol=1e-12)
    for value, rate in ((q, dq), (dq, ddq)):
        np.testing.assert_allclose((value[2:] - value[:-2]) / (t[2] - t[0]), rate[1:-1], atol=2e-3 * np.abs(rate).max())
    W = five_bar.regressor(q[::20], dq[::20], ddq[::20], G[::20]).reshape(-1, 44)
    assert np.linalg.matrix_rank(W, rtol=1e-9) == 15


def test_a_complaint_about_clean_data_is_no_finding():
    truth = {"mistakes": np.array(["none", "delay", "offset of joint 4"])}
    task = Task("arm-mistakes", "arm", {}, {}, truth)
    said = [
        "Warning: 3 rows",
        "Warning: 17 rows\nNOT ADEQUATE: a delay of 10 ms",
        "Warning: 4 rows\nNOT ADEQUATE: friction",
    ]
    found = score(task, [{"recording": k, "seconds": 1.0, "said": text} for k, text in enumerate(said)])
    assert (found["says_wrong"], found["named"]) == (1.0, 0.5)
    silent = score(task, [{"recording": k, "seconds": 1.0, "said": said[0]} for k in range(3)])
    assert (silent["says_wrong"], silent["named"]) == (0.0, 0.0)


def test_the_arm_has_parameters_that_no_motion_determines():
    task = arm.recordings("white", range(1))
    value = np.linalg.svd(task.truth["W"].reshape(-1, 72), full_matrices=False)[2][:48]
    answer = {
        "recording": 0,
        "seconds": 1.0,
        "value": value @ task.truth["theta"],
        "half": np.ones(48),
        "combinations": value,
    }
    assert score(task, [{**answer, "single": 72}])["undetermined_as_numbers"] == 42
    found = score(task, [{**answer, "single": 0}])
    assert found["undetermined_as_numbers"] == 0
    assert found["held_out"] < 1e-9


def test_gough_answers_by_its_runner(tmp_path):
    task = bounded.recordings(range(1))
    task.stated["recordings"] = 1
    head, *answers = rivals.RIVALS["gough"].answers(*task.write(tmp_path))
    assert head["versions"]["gough"]
    found = score(task, answers)
    assert (found["failed"], found["inside"], found["possible_values_lost"]) == (0, 1.0, 0)
    assert found["width"] == pytest.approx(1.0, abs=1e-6)


def test_a_contradiction_counts_as_named_by_its_row_alone():
    task = bounded.recordings(range(1), is_wrong=True)
    right, other = ([{"recording": 0, "seconds": 1.0, "empty": True, "named": [row]}] for row in (100, 7))
    assert score(task, right)["named"] == 1.0
    assert score(task, other)["named"] == 0.0


def test_a_runner_that_dies_is_a_reason(tmp_path, monkeypatch):
    task = hexapod.with_noise(range(1))
    task.stated["recordings"] = 2
    (tmp_path / "by_gough.py").write_text("import json; print(json.dumps({'call': 'x'})); raise SystemExit(3)")
    monkeypatch.setattr(rivals, "RUNNERS", tmp_path)
    lines = list(rivals.RIVALS["gough"].answers(*task.write(tmp_path)))
    assert [line.get("reason", "")[:30] for line in lines] == ["", *["its runner ended with exit cod"] * 2]


def test_the_page_shows_the_recorded_results():
    results = page.read_results(run.RESULTS)
    text = page.PAGE.read_text(encoding="utf-8")
    assert text[text.index(page.BEGIN) + len(page.BEGIN) : text.index(page.END)].strip() == page.markdown(results)
    assert {each["task"] for each in results} == set(run.TASKS)
    assert {each["rival"] for each in results} == set(rivals.RIVALS)
    assert all(each["versions"] for each in results)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing"], "no benchmark is called nothing"),
        (["arm-white", "leg2"], "no task is called leg2"),
        (["arm-white", "--rival", "codac"], "codac takes no part in arm-white"),
        (["bounded", "--seeds", "0"], "--seeds must be at least 1"),
    ],
)
def test_a_wrong_name_is_refused(capsys, words, message):
    try:
        code = main(words)
    except SystemExit as stopped:
        code = stopped.code
    assert code == 2
    assert message in capsys.readouterr().err


def test_runners_import_nothing_of_gough():
    for path in rivals.RUNNERS.glob("*.py"):
        if path.stem != "by_gough":
            assert "gough." not in path.read_text(encoding="utf-8").replace("of gough.", ""), path


def test_help_lists_tasks_and_benchmarks(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert "arm-white" in shown
    assert "linear_hull" in shown
