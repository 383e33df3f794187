"""Klipper configurations: what is read, what is refused."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.data.klipper import klipper_block, read_klipper

CONFIG = """
[printer]
kinematics: delta
#delta_radius = 170   before calibration
[stepper_a]
microsteps: 16
rotation_distance: 40
#position_endstop: 300
#arm_length: 345
[stepper_b]
microsteps: 16
rotation_distance: 40
[stepper_c]
microsteps: 16
rotation_distance: 40
gear_ratio: 2:1
#*# <---------------------- SAVE_CONFIG ---------------------->
#*# [printer]
#*# delta_radius = 161.5
#*# [stepper_a]
#*# position_endstop = 300
#*# arm_length = 345
#*# [delta_calibrate]
#*# height0 = 1.5
#*# height0_pos = 3200,6400.5,3200
#*# distance0 = 74.1
#*# distance0_pos1 = 1,2,3
#*# distance0_pos2 = 4,5,6
"""


def test_saved_values_are_read(tmp_path):
    path = tmp_path / "printer.cfg"
    path.write_text(CONFIG)
    found = read_klipper(path)
    assert found.radius == pytest.approx(0.1615)
    assert np.degrees(found.angle) == pytest.approx([210, 330, 90])
    assert found.heights == pytest.approx([0.0015])
    assert found.height_readings[0] == pytest.approx([0.04, 0.08000625, 0.02])
    assert found.distances == pytest.approx([0.0741])
    assert found.distance_readings.shape == (1, 2, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.replace("height", "hight"), "run DELTA_CALIBRATE"),
        (lambda t: t.replace("[delta_calibrate]", "[bed_mesh]"), "run DELTA_CALIBRATE"),
        (lambda t: t.replace("kinematics: delta", "kinematics: corexy"), "not a delta printer"),
        (lambda t: t.replace("3200,6400.5,3200", "3200,6400.5"), "height0_pos"),
        (lambda t: t.replace("microsteps: 16", ""), "lacks 'microsteps'"),
        (lambda t: t.replace("arm_length = 345", "arm_length = long"), "'long' is not a number"),
        (lambda t: t.replace("2:1", "2"), "gear_ratio"),
    ],
)
def test_refusals_name_what_is_wrong(tmp_path, change, message):
    path = tmp_path / "printer.cfg"
    path.write_text(change(CONFIG))
    with pytest.raises(InputError, match=message):
        read_klipper(path)


def test_the_exported_block_is_read_back(tmp_path):
    path = tmp_path / "printer.cfg"
    block = klipper_block(0.1625, np.radians([209.5, 330.5, 90]), [0.3451, 0.3452, 0.3453], [0.41, 0.42, 0.43])
    path.write_text(CONFIG + block + "\n")
    found = read_klipper(path)
    assert found.radius == pytest.approx(0.1625)
    assert found.endstop == pytest.approx([0.41, 0.42, 0.43])
    assert found.arm == pytest.approx([0.3451, 0.3452, 0.3453])


def test_included_files_are_read(tmp_path):
    (tmp_path / "steppers.cfg").write_text("[stepper_b]\nrotation_distance: 20\n")
    path = tmp_path / "printer.cfg"
    path.write_text(CONFIG.replace("#*# <", "[include steppers.cfg]\n#*# <"))
    assert read_klipper(path).height_readings[0, 1] == pytest.approx(0.040003125)
    path.write_text("[include steppers.cfg]\n" + CONFIG)  # what comes later counts
    assert read_klipper(path).height_readings[0, 1] == pytest.approx(0.08000625)
    path.write_text("[include printer.cfg]\n" + CONFIG)
    with pytest.raises(InputError, match="includes itself"):
        read_klipper(path)


@pytest.mark.parametrize(
    ("change", "arms"),
    [
        (lambda t: t.replace("#arm_length: 345", "arm_length: 300"), (300, 300, 300)),  # written before saved
        (lambda t: t.replace("[stepper_b]", "[stepper_b]\n  arm_length: 340"), (345, 340, 345)),
        (lambda t: t.replace("[stepper_b]", "[stepper_b]\narm_length: 340#mm"), (345, 340, 345)),
        (lambda t: t.replace("[stepper_b]", "# was\u2028arm_length: 300\n[stepper_b]"), (345, 345, 345)),
    ],
)
def test_keys_count_as_for_klipper(tmp_path, change, arms):
    path = tmp_path / "printer.cfg"
    path.write_text(change(CONFIG), encoding="utf-8")
    assert read_klipper(path).arm * 1000 == pytest.approx(arms)


def test_a_gear_is_of_its_own_tower_alone(tmp_path):
    path = tmp_path / "printer.cfg"
    path.write_text(
        CONFIG.replace("[stepper_a]", "[stepper_a]\nfull_steps_per_rotation: 400\ngear_ratio: 2:1,\n  3:1", 1)
    )
    assert read_klipper(path).height_readings[0] == pytest.approx([0.04 / 12, 0.08000625, 0.02])


def test_an_angle_is_of_its_own_tower_alone(tmp_path):
    """Klipper gives towers b and c their own default angles, whatever tower a has."""
    path = tmp_path / "printer.cfg"
    path.write_text(CONFIG.replace("microsteps: 16", "microsteps: 16\nangle: 211", 1))
    assert np.degrees(read_klipper(path).angle) == pytest.approx([211, 330, 90])
