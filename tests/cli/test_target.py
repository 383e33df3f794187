"""gough target: designs, drawings and rendered images."""

import json

import numpy as np
import pytest

from gough.cli.app import run
from gough.vision import read_camera, read_target

pytest.importorskip("cv2")


def test_a_target_is_designed_and_drawn(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert (
        run(["target", "design", "--size", "100x80", "--dots", "30", "--pdf", "t.pdf", "--svg", "t.svg", "--json"]) == 0
    )
    answer = json.loads(capsys.readouterr().out)
    assert answer["files"] == ["target.toml", "t.pdf", "t.svg"]
    assert read_target("target.toml").size == (0.1, 0.08)
    assert (tmp_path / "t.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--size", "100"], "a size is such as 200x200"),
        (["--size", "100x100kg"], "kg"),
        (["--size", "100x100", "--dots", "900"], "no room for 900 dots"),
        (["--out", "there.toml"], "there.toml exists"),
        (["--png", "a.png", "--dpi", "1"], "a printer has 300"),
    ],
)
def test_refusals_leave_nothing_behind(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.toml").write_text("mine")
    assert run(["target", "design", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert (tmp_path / "there.toml").read_text() == "mine"
    assert not (tmp_path / "a.png").exists()


def test_images_are_rendered_with_their_truth(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["target", "design", "--size", "200x200"]) == 0
    view = ["--size", "320x240", "--focal", "300", "--count", "2", "--repeats", "2"]
    assert run(["target", "render", "images", *view]) == 0
    names = sorted(p.name for p in (tmp_path / "images").glob("*.png"))
    assert names == ["c000-r00-i00.png", "c000-r00-i01.png", "c001-r00-i00.png", "c001-r00-i01.png"]
    camera, _ = read_camera("images/camera-truth.toml")
    assert camera.size == (320, 240)
    truth = np.genfromtxt("images/truth.csv", delimiter=",", names=True)
    assert (truth["z"] > 0.1).all()
    capsys.readouterr()
    assert run(["target", "render", "images", *view]) == 2
    assert "not empty" in capsys.readouterr().err
