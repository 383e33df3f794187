"""New studies of machines that are measured by instruments: they can be run, and what they find is true."""

import numpy as np
import pytest

from gough import InputError, Study
from gough.papers.new_calibration import write_new_calibration
from gough.robots import BY_INSTRUMENTS, KINEMATICS
from gough.studies.calibration_scaffold import calibration_model
from gough.studies.instrument_scaffold import EXAMPLES, MEASUREMENTS


def test_every_family_has_an_example():
    assert set(EXAMPLES) == set(BY_INSTRUMENTS)


@pytest.mark.parametrize("family", BY_INSTRUMENTS)
def test_a_new_study_without_example_asks_for_its_file(tmp_path, family):
    files = write_new_calibration(tmp_path / "new", family)
    assert [file.name for file in files] == ["study.toml", "README.md"]
    with pytest.raises(InputError, match=MEASUREMENTS):
        Study.read(tmp_path / "new" / "study.toml").calibrate()


def test_the_example_of_cables_finds_the_anchors(tmp_path):
    write_new_calibration(tmp_path / "new", "cables", seed=4)
    model = EXAMPLES["cables"].model
    truth = model.nominal + np.random.default_rng(4).normal(0, 0.02, 16)
    answer = Study.read(tmp_path / "new" / "study.toml").calibrate()
    assert not answer.refuted

    def spacing(values):
        anchors = values.reshape(4, 4)[:, :3]
        return np.linalg.norm(anchors[:, None] - anchors, axis=2)

    assert abs(spacing(answer.parameters) - spacing(truth)).max() < 0.01
    assert abs(spacing(model.nominal) - spacing(truth)).max() > 0.02


def test_the_example_of_a_printer_needs_lean_alone(tmp_path):
    write_new_calibration(tmp_path / "new", "rod-delta", seed=4)
    answer = Study.read(tmp_path / "new" / "study.toml").calibrate()
    assert not answer.refuted
    assert answer.nested.needed == ("lean",)


def test_an_unknown_family_is_refused_with_all_names():
    with pytest.raises(InputError, match="cables"):
        calibration_model("cable")
    assert not set(KINEMATICS) & set(BY_INSTRUMENTS)
