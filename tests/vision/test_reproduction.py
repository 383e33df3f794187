"""gough reproduce gough --vision: what is handed to the calibration, and what is said of the images."""

from dataclasses import replace

import numpy as np
import pytest

from gough.cli.app import run
from gough.papers.gough_platform import vision as gough_vision
from gough.papers.gough_platform.vision import CampaignByCamera, instrument
from gough.papers.reproduction import Reproduction
from gough.simulate import CalibrationCampaign

pytest.importorskip("cv2")


def test_the_camera_and_the_images_stand_beside_the_papers_tables(monkeypatch, tmp_path):
    """The whole chain with one configuration in place of 64; the calibration itself has its own tests."""
    handed = {}

    def calibration(seed, on_step, *, measure, runs, images):
        whole = CalibrationCampaign.deltalab(np.random.default_rng(seed), runs=runs, images=images)
        small = replace(whole, configurations=whole.configurations[[5]], others=whole.others[:1])
        handed["measured"] = measure(small, np.random.default_rng(1))
        return Reproduction("DACP06", "title", ("first", "second"), (), (), ())

    monkeypatch.setattr(gough_vision.paper, "reproduce", calibration)
    told = []
    found = gough_vision.reproduce(1, told.append, repetitions=2, folder=tmp_path / "out")
    assert len(handed["measured"].poses) == 4
    assert handed["measured"].poses.readings.shape == (4, 6)
    camera, images = found.tables
    assert [row[0] for row in camera.texts][:4] == ["fx", "fy", "cx", "cy"]
    assert max(abs(float(row[4])) for row in camera.texts) < 4
    assert {row[0]: row[2] for row in images.texts}["of them refused"] == "0"
    assert found.about[1] == "second"
    assert any("configuration 2 of 2" in step.what for step in told)
    assert list((tmp_path / "out").glob("campaign-*.jsonl"))


def test_a_campaign_with_another_camera_is_another_campaign(tmp_path):
    """Its file is another one: results are never mixed."""
    whole = CalibrationCampaign.deltalab(np.random.default_rng(1), runs=2, images=1)
    small = replace(whole, configurations=whole.configurations[[5]], others=whole.others[:1])
    tool = instrument(1)
    other = replace(tool, camera=replace(tool.camera, focal=1.001 * tool.camera.focal))
    for each in (tool, other, tool):
        CampaignByCamera(1, tmp_path, tool=each)(small, np.random.default_rng(1))
    assert len(list(tmp_path.glob("campaign-calibration-*.jsonl"))) == 2


def test_other_papers_have_no_images(capsys):
    assert run(["reproduce", "par4", "--vision"]) == 2
    assert "--vision is for gough" in capsys.readouterr().err
