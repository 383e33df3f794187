"""Printers that are not ours: other keys, more points, distances and heights entered by hand, broken configurations."""

import re

import numpy as np
import pytest
from scipy.optimize import least_squares

from gough.cli.app import run
from gough.data import read_klipper
from gough.geometry import calibrate_printer
from gough.robots import LinearDelta

TRUE = LinearDelta(
    radius=0.1612, endstop=[0.4011, 0.4002, 0.3993], angle=np.radians([210.2, 329.9, 90]), arm=[0.3452, 0.3449, 0.3455]
)
HEAD = """
[printer]
kinematics: delta
delta_radius: 160
[stepper_a]
microsteps: 16          ; a comment
rotation_distance = 40
position_endstop: 400
arm_length: 345
[stepper_b]
microsteps: 32
rotation_distance: 40
[stepper_c]
microsteps: 16
rotation_distance: 40
gear_ratio: 3:2
"""
STEPS = np.array([40 / 3200, 40 / 6400, 40 / 4800]) / 1000
RIDGES = 1e-3 * np.array([[0.0, 0.0], [65.0, 0.0], [0.0, 65.0], [-56.0, 32.0], [56.0, 32.0], [0.0, -65.0]])


def steps(position):
    return ",".join(f"{s:.3f}" for s in TRUE.inverse(TRUE.nominal, position)[0] / STEPS)


def configuration(*, heights=7, manual=0, distances=0, noise=0.0, seed=1):
    """A printer.cfg of the true printer: what Klipper would have saved."""
    rng = np.random.default_rng(seed)
    lines = ["#*# [delta_calibrate]"]
    for i in range(heights + manual):
        kind, n = ("height", i) if i < heights else ("manual_height", i - heights)
        x, y = rng.uniform(-0.09, 0.09, 2)
        z = 0.005 + noise * rng.normal()
        lines += [f"#*# {kind}{n} = 5.0", f"#*# {kind}{n}_pos = {steps([x, y, z])}"]
    for i in range(distances):
        p, q = (np.append(RIDGES[k], 0.0) for k in ((i + 1) % 6, (i * 2 + 3) % 6))
        d = 1e3 * (np.linalg.norm(p - q) + noise * rng.normal())
        lines += [
            f"#*# distance{i} = {d:.4f}",
            f"#*# distance{i}_pos1 = {steps(p)}",
            f"#*# distance{i}_pos2 = {steps(q)}",
        ]
    return HEAD + "\n".join(lines) + "\n"


@pytest.fixture
def printer(tmp_path):
    def write(text):
        path = tmp_path / "printer.cfg"
        path.write_text(text)
        return path

    return write


def test_many_points_and_distances_find_the_whole_printer(printer):
    found = calibrate_printer(read_klipper(printer(configuration(heights=20, manual=2, distances=12))))
    assert len(found.estimate.unknowns) == 9
    # steps are saved to a thousandth, which is 10 nm; the file holds distances to 0.1 µm
    assert abs(found.parameters - TRUE.nominal)[[0, 1, 2, 3, 7, 8, 9]].max() < 2e-6
    assert abs(np.degrees(found.parameters - TRUE.nominal)[4:7]).max() < 2e-3
    assert found.verdicts == ()


def test_heights_and_distances_weigh_as_klipper_lets_them(printer):
    """Its cost as documented, minimized by scipy: heights weigh M / (n/2) together, those by hand uncounted in n."""
    probes = read_klipper(printer(configuration(heights=9, manual=4, distances=12, noise=5e-5)))
    assert (len(probes.heights), probes.manual) == (13, 4)
    found = calibrate_printer(probes)
    weight = np.sqrt(12 / (0.5 * 9))

    def errors(x):
        theta = np.concatenate([x[:6], [np.pi / 2], x[6:]])

        def at(readings):
            return TRUE.forward(theta, readings).position

        p, q = (at(probes.distance_readings[:, k]) for k in (0, 1))
        apart = np.linalg.norm(p - q, axis=1) - probes.distances
        return 1e3 * np.concatenate([weight * (at(probes.height_readings)[:, 2] - probes.heights), apart])

    start = np.delete(found.model.nominal, 6)
    other = least_squares(errors, start, x_scale=1e-3, xtol=1e-15, ftol=1e-15, gtol=1e-15).x
    gap = np.delete(found.parameters, 6) - other
    assert abs(1e3 * gap[[0, 1, 2, 3, 6, 7, 8]]).max() < 5e-5
    assert abs(np.degrees(gap[4:6])).max() < 5e-5


def test_as_many_points_as_unknowns_give_no_interval(printer):
    found = calibrate_printer(read_klipper(printer(configuration(heights=6))))
    assert found.spare == 0
    assert found.plus("radius") == "—"
    assert found.plus("arm_a") == "fixed"
    assert "no ± can be given" in str(found)
    assert "Only" not in str(found)


def test_old_configurations_state_the_step_itself(printer):
    text = configuration()
    old = re.sub(r"gear_ratio.*\n", "", text)
    for step in ("0.0125", "0.00625", "0.00833333333333333"):
        old = re.sub(r"rotation_distance[ =:]+40", f"step_distance: {step}", old, count=1)
    new, before = (calibrate_printer(read_klipper(printer(each))).parameters for each in (text, old))
    assert abs(new - before).max() < 1e-8


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.replace("microsteps: 16 ", "microsteps: 2 "), "arms do not meet"),
        (lambda t: t.replace("delta_radius: 160", ""), "lacks 'delta_radius'"),
        (lambda t: t.replace("rotation_distance = 40", "step_distance = 0"), "step_distance must be positive"),
        (lambda t: re.sub(r"#\*# height[456].*\n", "", t), "4 probed points cannot determine 6 dimensions: probe 7"),
    ],
)
def test_what_cannot_be_is_refused_in_words(printer, change, message, capsys):
    assert run(["calibrate", str(printer(change(configuration())))]) == 2
    assert re.search(message, capsys.readouterr().err.replace("\n", " "))


def test_steps_of_another_day_are_suspected(printer):
    found = calibrate_printer(
        read_klipper(printer(configuration().replace("rotation_distance = 40", "rotation_distance = 42")))
    )
    assert any("rotation_distance" in words for words in found.verdicts)
