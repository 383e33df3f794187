"""gough camera and gough poses measure: from images to a calibrated camera to poses, with bad images among them."""

import json
from pathlib import Path

import numpy as np
import pytest

from gough.cli.app import run
from gough.core.png import png_file
from gough.core.rotations import exp, log
from gough.data import read_poses
from gough.vision import Camera, Conditions, design_target, read_camera, read_image, render, write_target
from gough.vision.image_tests import CalibrationTest, ImageTest

cv2 = pytest.importorskip("cv2")
TRUTH = Camera((480, 360), [400.0, 402.0], [242.0, 178.0], [-0.12, 0.03])
TARGET = design_target(0.2, 0.2)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Five configurations in two runs of images, and a bad image of each kind among them."""
    folder = tmp_path_factory.mktemp("vision")
    rng = np.random.default_rng(7)
    (folder / "images").mkdir()
    write_target(folder / "target.toml", TARGET)
    rows, truth = [], []
    for k, tilt in enumerate([(0.4, 0.0), (-0.4, 0.1), (0.05, 0.45), (-0.1, -0.4), (0.3, 0.3)]):
        R = exp([*tilt, 0.3 * k]) @ np.diag([1.0, -1.0, -1.0])
        for r in range(2):
            t = np.array([0.0, 0.0, 0.42]) + rng.normal(0, 2e-5, 3)
            name = f"c{k}-r{r}.png"
            image = render(TRUTH, TARGET, R, t, Conditions(vignetting=0.2), rng).image
            (folder / "images" / name).write_bytes(png_file(image))
            rows.append(f"{name},{k},{r}," + ",".join(f"{v:.4f}" for v in rng.normal(0.1, 0.01, 6)))
            truth.append((R, t))
    good = (folder / "images" / "c0-r0.png").read_bytes()
    bad = {
        "x-cut.png": good[: len(good) // 2],
        "x-dark.png": png_file(np.zeros((360, 480), np.uint8)),
        "x-small.png": png_file(np.zeros((100, 100), np.uint8)),
        "x-text.png": b"not an image",
        "x-white.png": png_file(np.full((360, 480), 255, np.uint8)),
        "x-color.png": cv2.imencode(".png", np.repeat(cv2.imdecode(np.frombuffer(good, np.uint8), 0)[..., None], 3, 2))[
            1
        ],
    }
    for name, content in bad.items():
        (folder / "images" / name).write_bytes(bytes(content))
        rows.append(f"{name},9,0,0,0,0,0,0,0")
    (folder / "table.csv").write_text("image,configuration,run,l1,l2,l3,l4,l5,l6\n" + "\n".join(rows) + "\n")
    return folder, truth


@pytest.fixture(scope="module")
def calibrated(place):
    folder, _ = place
    arguments = ["--target", str(folder / "target.toml"), "--out", str(folder / "camera")]
    assert run(["camera", "calibrate", str(folder / "images"), *arguments]) == 0
    return folder / "camera"


def test_the_camera_is_found_and_bad_images_have_reasons(calibrated):
    camera, target = read_camera(calibrated / "camera.toml")
    assert abs((camera.parameters - TRUTH.parameters)[:4] / camera.sigma[:4]).max() < 4
    assert len(target.points) == 45
    answer = json.loads((calibrated / "camera.json").read_text())
    reasons = {entry["image"]: entry["reason"] for entry in answer["rejected"]}
    assert {name: reasons[name].split(":")[0] for name in sorted(reasons)} == {
        "x-cut.png": "the file is cut off",
        "x-dark.png": "too dark",
        "x-small.png": "it has 100 × 100 pixels, but the first one 480 × 360",
        "x-text.png": "it is no image that OpenCV can read",
        "x-white.png": "over-exposed",
    }
    assert "<svg" in (calibrated / "report.html").read_text()
    assert (calibrated / "figures" / "residuals.png").read_bytes().startswith(b"\x89PNG")


def test_poses_are_measured_for_a_calibration(place, calibrated, capsys):
    folder, truth = place
    out = folder / "poses"
    arguments = ["--camera", str(calibrated / "camera.toml"), "--table", str(folder / "table.csv"), "--out", str(out)]
    assert run(["poses", "measure", str(folder / "images"), *arguments, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["measured"] == 11
    assert len(answer["rejected"]) == 5
    assert len(answer["repeatability"]["between"]) == 12
    poses = read_poses(out / "poses.csv")
    assert poses.covariance.shape == (11, 6, 6)
    assert poses.configuration.tolist()[:4] == [0, 0, 1, 1]
    for k, (R, t) in enumerate(truth):
        assert abs(poses.position[k] - t).max() < 4e-4  # the camera's own error, the same in all poses
        assert abs(log(poses.rotation[k] @ R.T)).max() < 2e-3
    assert len(read_poses(out / "averaged.csv")) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["camera", "calibrate", "{}/nowhere", "--target", "{}/target.toml"], "there is no file or folder"),
        (["camera", "calibrate", "{}/images/c0-r0.png", "--target", "{}/target.toml"], "1 usable images"),
        (["camera", "calibrate", "{}/target.toml", "--target", "{}/nothing.toml"], "cannot be read"),
        (["camera", "calibrate", "{}/images", "--target", "{}/target.toml", "--anchor", "1"], "such as 0-6=254.1 mm"),
        (["poses", "measure", "{}/images", "--camera", "{}/target.toml"], "a camera has no 'kind'"),
        (["poses", "measure", "{}/images/x-dark.png", "--camera", "{}/camera/camera.toml"], "none of 1 images"),
        (
            ["poses", "measure", "{}/images", "--camera", "{}/camera/camera.toml", "--table", "{}/target.toml"],
            "has no column 'image'",
        ),
    ],
)
def test_refusals_say_what_to_do(arguments, message, place, calibrated, capsys, tmp_path):  # noqa: PLR0917
    filled = [part.format(place[0]) for part in arguments]
    assert run([*filled, "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err
    # images that were examined and rejected stay in the ledger, from which the next run resumes
    assert not [p for p in (tmp_path / "out").glob("*") if not p.match("campaign-*.jsonl")]


def test_without_opencv_the_extra_is_named(place, calibrated, capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cv2", None)
    image, camera = place[0] / "images" / "c0-r0.png", calibrated / "camera.toml"
    assert run(["poses", "measure", str(image), "--camera", str(camera), "--out", str(tmp_path / "out")]) == 2
    assert "pip install gough[vision]" in capsys.readouterr().err


def test_images_that_contradict_the_calibration_end_with_1(place, calibrated, tmp_path, capsys):
    """The camera file without its distortion: the cause comes first, and the poses are written with a warning."""
    folder, _ = place
    lines = (calibrated / "camera.toml").read_text().splitlines()
    bent = ["distortion = [0.0, 0.0]" if line.startswith("distortion") else line for line in lines]
    (tmp_path / "camera.toml").write_text("\n".join(bent))
    images = sorted(str(path) for path in (folder / "images").glob("c*-r0.png"))
    out = tmp_path / "measured"
    assert run(["poses", "measure", *images, "--camera", str(tmp_path / "camera.toml"), "--out", str(out)]) == 1
    assert "contradict the calibration of the camera: the distortion is another one" in capsys.readouterr().out
    assert "distortion" in json.loads((out / "poses.json").read_text())["test"]["contradiction"]


def test_images_that_all_fail_the_test_leave_no_folder(place, calibrated, tmp_path, capsys, monkeypatch):
    """Poses were measured and kept in the ledger, but none of them is of use: nothing stays behind."""

    def rejecting(measured, *_):
        odd = tuple(ImageTest(9.0, 1e-9, "its residuals are nine times as large") for _ in measured)
        return CalibrationTest(odd, (), "", 0.4, is_noise_known=True)

    monkeypatch.setattr("gough.studies.vision.check_images", rejecting)
    out, image = tmp_path / "measured", place[0] / "images" / "c0-r0.png"
    assert run(["poses", "measure", str(image), "--camera", str(calibrated / "camera.toml"), "--out", str(out)]) == 2
    assert "nine times" in capsys.readouterr().err
    assert not list(out.glob("*.jsonl"))


def test_an_interrupted_measurement_keeps_what_was_measured(place, calibrated, tmp_path, capsys, monkeypatch):
    """Results of an earlier run stay as they are, and the same command goes on where it stopped."""
    out, images = tmp_path / "measured", sorted(str(path) for path in (place[0] / "images").glob("c*.png"))[:6]
    options = ["--camera", str(calibrated / "camera.toml"), "--out", str(out), "--workers", "1"]
    assert run(["poses", "measure", *images[:3], *options]) == 0
    before = {name: (out / name).read_bytes() for name in ("poses.csv", "poses.json", "report.html")}
    seen, stop = [], True

    def interrupted(file):
        seen.append(Path(file).name)
        if stop and len(seen) == 2:
            raise KeyboardInterrupt
        return read_image(file)

    monkeypatch.setattr("gough.vision.poses.read_image", interrupted)
    capsys.readouterr()
    assert run(["poses", "measure", *images, *options]) == 130
    assert "Stopped" in capsys.readouterr().err
    assert {name: (out / name).read_bytes() for name in before} == before
    first, stop = seen.copy(), False
    assert run(["poses", "measure", *images, *options]) == 0
    assert len((out / "poses.csv").read_text().splitlines()) == 7
    assert len(first) == 2
    assert len(seen) == 4, "the three of the first run and the one before the interruption are not measured again"


def test_camera_files_are_converted(calibrated, tmp_path, capsys):
    source, ros, back = str(calibrated / "camera.toml"), str(tmp_path / "camera.yaml"), tmp_path / "back.toml"
    assert run(["camera", "convert", source, ros, "--format", "ros"]) == 0
    assert "covariance, noise and response of the calibration are not in it" in capsys.readouterr().out
    assert run(["camera", "convert", ros, str(back)]) == 0
    assert (read_camera(back)[0].parameters == read_camera(source)[0].parameters).all()
    assert run(["camera", "convert", ros, str(back)]) == 2
    assert "back.toml" in capsys.readouterr().err
    assert run(["camera", "convert", source, str(tmp_path / "other.yaml")]) == 2
    assert "--format" in capsys.readouterr().err
    assert run(["camera", "convert", source, str(tmp_path / "o.xml"), "--size", "big"]) == 2
    assert "such as 1024x768" in capsys.readouterr().err
