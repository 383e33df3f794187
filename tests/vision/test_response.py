"""The response of a camera from the edges of dots, and centroids in linear light."""

import json
from dataclasses import replace

import numpy as np
import pytest

from gough.cli.app import run
from gough.core.errors import InputError
from gough.core.png import png_file
from gough.core.rotations import exp
from gough.vision import (
    Camera,
    CircleGrid,
    Conditions,
    design_target,
    find_target,
    measure_pose,
    read_camera,
    render,
    write_target,
)
from gough.vision.response import Response, ResponseFinding, Shot, _coverage, _model, _windows, estimate_response

cv2 = pytest.importorskip("cv2")
CAMERA = Camera((640, 480), [560.0, 560.0], [321.0, 238.0], [-0.15, 0.04])
TARGET = design_target(0.2, 0.2)
FACING = np.diag([1.0, -1.0, -1.0])
TILTS = [(0.35, -0.25, 0.3), (-0.3, 0.2, 0.0), (0.0, 0.4, -0.2)]


def shots(rng, target=TARGET, **light):
    for tilt in TILTS:
        R, t = exp(tilt) @ FACING, np.array([0.005, 0.0, 0.37])
        image = render(CAMERA, target, R, t, Conditions(**light), rng).image
        yield Shot(image, find_target(image, TARGET if target.bright else target), R, t)


@pytest.mark.parametrize("gamma", [1.0, 1.4, 2.2])
@pytest.mark.parametrize("blur", [0.5, 1.2])
def test_the_exponent_is_found(gamma, blur, rng):
    found = estimate_response(shots(rng, gamma=gamma, blur=blur, vignetting=0.3), TARGET, CAMERA)
    assert abs(np.log(found.gamma / gamma)) < 3 * found.sigma < 0.3
    assert found.finding is (ResponseFinding.LINEAR if gamma == 1 else ResponseFinding.CURVED)


def test_larger_dots_are_no_response(rng):
    """Ink that spreads by 0.1 mm makes dots larger, as a response does, but leaves edges as they are."""
    spread = replace(TARGET, radius=TARGET.radius + 1e-4)
    assert estimate_response(shots(rng, spread), TARGET, CAMERA).finding is ResponseFinding.LINEAR


def test_dark_circles_tell_too(rng):
    grid = CircleGrid(4, 11, 0.015, 0.005, staggered=True)
    found = estimate_response(shots(rng, grid, gamma=2.2), grid, CAMERA)
    assert abs(found.gamma - 2.2) < 0.35


def test_a_disc_that_is_not_blurred_is_a_disc(rng):
    """Coverage in the frequency domain: its sum is the area of the disc, and OpenCV's blur of a drawn disc is the same
    image."""
    windows = _windows(next(iter(shots(rng))), TARGET, CAMERA)
    windows = windows._replace(moments=np.tile([9.0, 0.0, 9.0], (len(windows.levels), 1)))
    n = windows.levels.shape[1]
    own = np.tile([0.0, 1.0, n / 2, n / 2], (len(windows.levels), 1))
    common = np.array([0.0, 0.0, 0.49, 0.0, 0.49, 0.0, 0.0, 0.0])
    T = _coverage(windows, common, own)[0][0]
    assert abs(T.sum() - np.pi * 36) < 1e-6
    fine = 15
    v, u = (np.indices((n * fine, n * fine)) + 0.5) / fine - 0.5
    drawn = (np.hypot(u - n / 2, v - n / 2) < 6).astype(float)
    blurred = cv2.GaussianBlur(drawn, (0, 0), 0.7 * fine).reshape(n, fine, n, fine).mean(axis=(1, 3))
    assert abs(T - blurred).max() < 2e-3


def test_slopes_are_those_of_differences(rng):
    windows = _windows(next(iter(shots(rng, gamma=1.7))), TARGET, CAMERA)
    common = np.array([0.4, 0.01, 0.6, 0.05, 0.5, 0.02, -0.01, 0.003])
    own = np.column_stack([np.full(len(windows.levels), 60.0), np.full(len(windows.levels), 200.0), windows.places])
    model, h = _model(windows, common, own), 1e-5
    for k in range(len(common)):
        step = h * (np.arange(len(common)) == k)
        ahead, behind = _model(windows, common + step, own), _model(windows, common - step, own)
        slope = (behind.residuals - ahead.residuals) / (2 * h)
        assert abs(slope - model.by_common[:, :, k]).max() < 1e-5 * max(abs(slope).max(), 1)
    for k in range(4):
        step = h * (np.arange(4) == k)
        ahead, behind = _model(windows, common, own + step), _model(windows, common, own - step)
        slope = (behind.residuals - ahead.residuals) / (2 * h)
        assert abs(slope - model.by_own[:, :, k]).max() < 1e-5 * max(abs(slope).max(), 1)


def test_dots_of_another_shape_tell_nothing(rng):
    """Poses of other images put ellipses of other sizes where the dots are: no exponent explains that."""
    first, second, third = shots(rng)
    mixed = [first._replace(rotation=second.rotation), second._replace(rotation=third.rotation)]
    found = estimate_response(mixed, TARGET, CAMERA)
    assert found is None or found.used == 1


def test_verdicts():
    assert Response(1.1, 0.06, 8).finding is ResponseFinding.LINEAR
    assert Response(1.1, 0.3, 2).finding is ResponseFinding.UNKNOWN
    assert Response(0.5, 0.1, 8).used == 0.5
    assert "do not tell" in Response(1.4, 0.4, 2).verdict


def test_images_without_usable_dots_tell_nothing(rng):
    shot = next(iter(shots(rng)))
    hidden = replace(shot.seen.spots, stray=np.ones(len(shot.seen), int))
    assert estimate_response([shot._replace(seen=replace(shot.seen, spots=hidden))], TARGET, CAMERA) is None


def test_poses_are_better_in_linear_light():
    """Errors of poses with γ 2.2 shrink, and the covariance follows."""
    errors, sigma = {1.0: [], 2.2: []}, {1.0: [], 2.2: []}
    rng = np.random.default_rng(8)
    R, t = exp(TILTS[0]) @ FACING, np.array([0.005, 0.0, 0.37])
    for _ in range(20):
        image = render(CAMERA, TARGET, R, t, Conditions(gamma=2.2), rng).image
        for response, own in errors.items():
            pose = measure_pose(image, TARGET, replace(CAMERA, response=response))
            own.append(pose.position - t)
            sigma[response].append(pose.sigma[:3])
    rms = {response: np.sqrt(np.mean(np.square(own))) for response, own in errors.items()}
    assert rms[2.2] < 0.8 * rms[1.0]
    assert 0.6 < rms[2.2] / np.sqrt(np.mean(np.square(sigma[2.2]))) < 1.5


def test_a_response_out_of_range_is_refused():
    with pytest.raises(InputError, match=r"response is from 0\.1 to 10"):
        replace(CAMERA, response=0.0)


def test_the_command_releases_the_response(tmp_path, capsys):
    """Images with γ 2.2: the verdict is printed, in JSON, and camera.toml has the exponent; --response 1 has not."""
    rng, folder = np.random.default_rng(5), tmp_path / "images"
    folder.mkdir()
    write_target(tmp_path / "target.toml", TARGET)
    for k in range(7):
        tilt = exp(rng.normal(0, 0.3, 3)) @ FACING
        image = render(CAMERA, TARGET, tilt, [*rng.uniform(-0.02, 0.02, 2), 0.38], Conditions(gamma=2.2), rng).image
        (folder / f"{k}.png").write_bytes(png_file(image))
    options = ["camera", "calibrate", str(folder), "--target", str(tmp_path / "target.toml"), "--lens", "k2"]
    assert run([*options, "--out", str(tmp_path / "camera")]) == 0
    assert "Response: a linear response leaves out an effect" in capsys.readouterr().out
    camera = read_camera(tmp_path / "camera" / "camera.toml")[0]
    assert abs(camera.response - 2.2) < 0.3
    found = json.loads((tmp_path / "camera" / "camera.json").read_text())["response"]
    assert found["used"] == camera.response
    assert run([*options, "--out", str(tmp_path / "plain"), "--response", "1"]) == 0
    assert "Response" not in capsys.readouterr().out
    plain = read_camera(tmp_path / "plain" / "camera.toml")[0]
    assert plain.response == 1
    assert camera.noise.sigma < 0.85 * plain.noise.sigma
