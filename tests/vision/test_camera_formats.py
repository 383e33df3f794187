"""Camera files of OpenCV, ROS and Kalibr: the same numbers, read by those programs' own readers; refusals."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.vision import Camera
from gough.vision.camera import camera_toml, read_camera
from gough.vision.camera_formats import read_any_camera, write_any_camera

cv2 = pytest.importorskip("cv2")
yaml = pytest.importorskip("yaml")
THIRD = 1 / 3
PLAIN = Camera((1024, 768), [672 + THIRD, 671.0], [515.1, 380.2], [-0.12 * THIRD, 1e-5, 1e-3, -5e-4])
THIRD_ORDER = Camera((1024, 768), [672.0, 671.0], [515.1, 380.2], [-0.12, 0.03, 1e-3, -5e-4, THIRD / 100])
RATIONAL = Camera((1024, 768), [672.0, 671.0], [515.1, 380.2], [0.3, 0.1, 1e-3, -5e-4, 0.01, 0.5, THIRD, 1e-5])
PRISM = Camera((1024, 768), [672.0, 671.0], [515.1, 380.2], [-0.1, 0.1, 0, 0, 0, 0, 0, 0, 1e-3, THIRD, 1e-7, 2.0])
FISHEYE = Camera((1024, 768), [300.0, 301.0], [515.1, 380.2], [-0.02, THIRD / 10, 1e-7, 0.0], lens="fisheye")
ALL = [PLAIN, THIRD_ORDER, RATIONAL, PRISM, FISHEYE]


@pytest.mark.parametrize("camera", ALL)
@pytest.mark.parametrize("suffix", [".yml", ".xml"])
def test_opencv_reads_the_same_numbers(camera, suffix, tmp_path):
    path = tmp_path / f"camera{suffix}"
    path.write_text(write_any_camera(camera, "opencv", xml=suffix == ".xml"))
    file = cv2.FileStorage(str(path), cv2.FILE_STORAGE_READ)
    K = file.getNode("camera_matrix").mat()
    assert (K[[0, 1, 0, 1], [0, 1, 2, 2]] == camera.parameters[:4]).all()
    assert (file.getNode("distortion_coefficients").mat().ravel() == camera.distortion).all()
    assert (file.getNode("image_width").real(), file.getNode("image_height").real()) == camera.size
    assert read_any_camera(path) == camera


@pytest.mark.parametrize("camera", [PLAIN, THIRD_ORDER, RATIONAL, FISHEYE])
def test_ros_files_hold_the_same_numbers(camera, tmp_path):
    path = tmp_path / "camera.yaml"
    path.write_text(write_any_camera(camera, "ros"))
    data = yaml.safe_load(path.read_text())
    assert data["distortion_coefficients"]["data"] == camera.distortion.tolist()
    assert np.array(data["camera_matrix"]["data"]).reshape(3, 3)[0, 0] == camera.focal[0]
    assert data["projection_matrix"]["cols"] == 4
    assert (
        data["distortion_model"] == {5: "plumb_bob", 8: "rational_polynomial", 4: "equidistant"}[len(camera.distortion)]
    )
    assert read_any_camera(path) == camera


@pytest.mark.parametrize("camera", [PLAIN, FISHEYE])
def test_kalibr_files_hold_the_same_numbers(camera, tmp_path):
    path = tmp_path / "camchain.yaml"
    path.write_text(write_any_camera(camera, "kalibr"))
    one = yaml.safe_load(path.read_text())["cam0"]
    assert one["intrinsics"] == camera.parameters[:4].tolist()
    assert one["distortion_coeffs"] == camera.distortion[:4].tolist()
    assert read_any_camera(path) == camera


@pytest.mark.parametrize("camera", ALL)
def test_gough_files_hold_all(camera, tmp_path):
    path = tmp_path / "camera.toml"
    path.write_text(camera_toml(camera))
    assert read_camera(path)[0] == camera == read_any_camera(path)


@pytest.mark.parametrize(
    ("camera", "form", "message"),
    [
        (THIRD_ORDER, "kalibr", "k1, k2, p1, p2 only, but this lens has k3"),
        (RATIONAL, "kalibr", "k3 = 0.01, k4 = 0.5"),
        (PRISM, "ros", "no thin prism"),
        (PLAIN, "rso", "did you mean 'ros'"),
    ],
)
def test_lenses_that_a_format_cannot_represent_are_refused(camera, form, message):
    with pytest.raises(InputError, match=message):
        write_any_camera(camera, form)


MATRIX = "camera_matrix:\n  data: [600.0, {skew}, 320.0, 0.0, 600.0, 240.0, 0.0, 0.0, 1.0]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no camera file of ROS or Kalibr"),
        ("a: [", "no YAML"),
        ("a: 3", "no camera file of OpenCV, ROS or Kalibr"),
        ("distortion_model: plumb_bob", "lacks 'camera_matrix'"),
        (f"distortion_model: plumb_bob\n{MATRIX.format(skew=0.0)}", "--size 1024x768"),
        (f"image_width: 640\nimage_height: 480\n{MATRIX.format(skew=0.5)}", "skew"),
        (f"distortion_model: fov\n{MATRIX.format(skew=0.0)}", "no distortion model 'fov'"),
        ("cam1:\n  intrinsics: [1, 1, 1, 1]", "no camera 'cam0'; did you mean 'cam1'"),
        ("cam0:\n  camera_model: omni\n  intrinsics: [1, 1, 1, 1]", "camera model 'omni'"),
        ("cam0:\n  intrinsics: [1, 1, 1]\n  resolution: [640, 480]", "must be 4 numbers, not 3"),
    ],
)
def test_files_that_are_no_cameras(text, message, tmp_path):
    path = tmp_path / "camera.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_any_camera(path)


def test_a_tilted_sensor_is_refused(tmp_path):
    path = tmp_path / "camera.yml"
    file = cv2.FileStorage(str(path), cv2.FILE_STORAGE_WRITE)
    file.write("camera_matrix", np.diag([600.0, 600.0, 1.0]))
    file.write("distortion_coefficients", np.arange(14.0))
    file.release()
    with pytest.raises(InputError, match="tilted sensor"):
        read_any_camera(path, size=(640, 480))
