"""Studies with instruments: every kind from a file, and mistakes refused with their line."""

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gough.cli.app import run
from gough.core.errors import InputError
from gough.core.rotations import to_quaternion
from gough.export import RobotModel
from gough.geometry import RigidMotion
from gough.geometry.instruments import Measurements, calibrate_by_instruments, simulated
from gough.robots import CableRobot
from gough.studies import InstrumentStudy, Study
from gough.studies.geometry_file import read_geometry
from tests.geometry.instruments.campaigns import CAMPAIGNS
from tests.geometry.instruments.test_nested import bent, measured

PARTS = {
    "pose": 'frame = "unknown"\ntarget = "unknown"\nsigma = ["0.02 mm", 5e-5]\n',
    "point": 'frame = "unknown"\npoint = {guess = ["55 mm", "25 mm", "35 mm"]}\nsigma = "0.02 mm"\n',
    "tilts": 'mount = "unknown"\nsigma = 5e-5\n',
    "heading": 'offset = "unknown"\nsigma = 5e-5\n',
    "distance": 'anchor = "unknown"\nsigma = "0.02 mm"\n',
    "plane": 'plane = "unknown"\nsigma = "0.02 mm"\n',
    "image": 'camera = "camera.toml"\npoints = "sheet.csv"\nframe = "unknown"\ntarget = "unknown"\nsigma = "0.02 px"\n',
}
LENS = """
size = [1280, 960]
focal = [2000.0, 2010.0]
center = [640.0, 480.0]
distortion = [-0.1, 0.05, 1e-3, -1e-3]
"""
PRINTER = """
[robot]
family = "linear-delta"
[robot.geometry]
radius = "160 mm"
arm = "345 mm"
endstop = "400 mm"
angle = ["210 deg", "330 deg", "90 deg"]
[measurements]
file = "measured.csv"
sigma = "0.01 mm"
[[instruments]]
name = "tracker"
kind = "point"
sigma = "0.02 mm"
"""


def written(folder, columns):
    """A file of columns in SI units; empty cells where nothing was measured."""
    lines = [",".join(columns)]
    lines += [
        ",".join("" if np.isnan(v) else repr(float(v)) for v in row) for row in zip(*columns.values(), strict=True)
    ]
    (folder / "measured.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("kind", PARTS)
def test_every_kind_is_read_from_a_study(kind, tmp_path, rng):
    """A file with the values of a campaign gives the same measurements as the campaign itself."""
    campaign = CAMPAIGNS[kind]()
    data = simulated(campaign.model, campaign.truth, campaign.poses, campaign.plan, rng)
    one = next(each for each in data.instruments if each.kind == kind)
    columns = {f"l{i + 1}": column for i, column in enumerate(data.readings.T)}
    channels = one.channels[: one.values.shape[1]]
    columns |= {f"{one.name}_{name}": column for name, column in zip(channels, one.values.T, strict=True)}
    if one.rotation is not None:
        names = ("qw", "qx", "qy", "qz")
        columns |= {f"camera_{n}": c for n, c in zip(names, to_quaternion(one.rotation).T, strict=True)}
    written(tmp_path, columns)
    if one.points is not None:
        np.savetxt(tmp_path / "sheet.csv", 1e3 * one.points, delimiter=",", header="x [mm],y [mm],z [mm]", comments="")
        (tmp_path / "camera.toml").write_text(LENS)
    family = {"linear delta": "linear-delta", "planar 3-RRR": "3-rrr"}.get(campaign.model.name, "gough")
    blueprint = 'blueprint = "deltalab"\n' if family == "gough" else ""
    (tmp_path / "study.toml").write_text(
        f'[robot]\nfamily = "{family}"\n{blueprint}[measurements]\nfile = "measured.csv"\nsigma = 1e-5\n'
        f'[[instruments]]\nname = "{one.name}"\nkind = "{kind}"\n{PARTS[kind]}'
    )
    study = Study.read(tmp_path / "study.toml")
    assert isinstance(study, InstrumentStudy)
    read = study.measurements
    assert np.array_equal(read.readings, data.readings)
    (again,) = read.instruments
    assert np.array_equal(again.values, one.values, equal_nan=True)
    assert np.allclose(again.covariance, one.covariance)
    if one.rotation is not None:
        assert np.allclose(again.rotation, one.rotation)
    if one.points is not None:
        assert np.allclose(again.points, one.points)
        assert np.array_equal(again.camera, one.camera)


@pytest.fixture
def printer(tmp_path, rng):
    campaign = CAMPAIGNS["distance"]()
    p = campaign.poses.position
    readings = campaign.model.inverse(campaign.truth, p) + rng.normal(0, 1e-5, p.shape)
    seen = p + rng.normal(0, 2e-5, p.shape)
    columns = {f"l{i + 1}": column for i, column in enumerate(readings.T)}
    written(tmp_path, columns | {f"tracker_{axis}": seen[:, i] for i, axis in enumerate("xyz")})
    (tmp_path / "study.toml").write_text(PRINTER)
    return tmp_path


def test_the_command_writes_page_and_numbers(printer, capsys):
    assert run(["calibrate", str(printer / "study.toml")]) == 0
    assert "χ²/dof" in capsys.readouterr().out
    data = json.loads((printer / "results" / "calibration.json").read_text())
    assert data["parameters"].keys() >= {"radius", "arm_a"}
    assert len(data["estimated_poses"]["position"]) == 60
    page = (printer / "results" / "report.html").read_text()
    assert "Residuals of the instruments" in page
    assert "Not refuted" in page


def test_noise_that_is_stated_too_small_is_refuted(printer):
    study = printer / "study.toml"
    study.write_text(PRINTER.replace('"0.02 mm"', '"0.002 mm"').replace('"0.01 mm"', '"0.001 mm"'))
    assert run(["calibrate", str(study)]) == 1


def test_distances_between_poses_have_a_file_of_their_own(printer):
    campaign = CAMPAIGNS["distance"]()
    p = campaign.poses.position
    rows = [f"{k},{k + 1},{1000 * np.linalg.norm(p[k] - p[k + 1])}" for k in range(0, 20, 2)]
    (printer / "distances.csv").write_text("\n".join(["first,second,distance [mm]", *rows]) + "\n")
    more = '[[instruments]]\nname = "caliper"\nkind = "apart"\nfile = "distances.csv"\nsigma = "0.02 mm"\n'
    (printer / "study.toml").write_text(PRINTER + more)
    answer = Study.read(printer / "study.toml").calibrate()
    assert not answer.refuted
    assert [fit.count for fit in answer.instruments] == [180, 180, 10]


def test_planned_measurements_need_readings_only(printer, capsys):
    text = PRINTER.replace('sigma = "0.01 mm"', 'sigma = "0.01 mm"\nplanned = true')
    (printer / "study.toml").write_text(text.replace('kind = "point"', 'kind = "point"\ncolumns = ["a", "b", "c"]'))
    assert run(["calibrate", str(printer / "study.toml")]) == 0
    out = capsys.readouterr().out
    assert "10 parameters would be estimated" in out


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('kind = "point"', 'kind = "points"', r"line 14, \[instruments\] kind: must be 'pose', "),
        ('sigma = "0.02 mm"', 'sigma = "0.02 mm"\ncovariance = [[1.0]]', "once: either sigma or covariance"),
        ('sigma = "0.02 mm"', 'sigma = "0.02 deg"', r"line 15, \[instruments\] sigma"),
        (
            'sigma = "0.02 mm"',
            'sigma = "0.02 mm"\n[calibration]\nfixed = ["arm_*"]\nprior = {arm_a = "1 mm"}',
            r"line 18, \[calibration\.prior\] arm_a: 'arm_a' is fixed, and has a value in prior",
        ),
        (
            'sigma = "0.02 mm"',
            'sigma = "0.02 mm"\n[calibration.prior]\n"arm_*" = "1 mm"\narm_a = "2 mm"',
            r"line 18, \[calibration\.prior\] arm_a: 'arm_a' has two values in prior, by 'arm_\*' and by 'arm_a'",
        ),
        (
            'sigma = "0.02 mm"',
            'sigma = "0.02 mm"\n[calibration.prior]\n"tracker.x" = "1 mm"',
            "'tracker.x' is known: a prior is for parameters that are estimated",
        ),
        (
            'sigma = "0.02 mm"',
            'sigma = "0.02 mm"\nframe = "each session"',
            r"line 16, \[instruments\] frame: .*\[measurements\] states none",
        ),
        ('"measured.csv"', '"measured.csv"\n[poses]\nfile = "measured.csv"', r"line 11, poses: a study has either"),
        (
            'kind = "point"\nsigma = "0.02 mm"',
            'kind = "plane"\nsigma = "0.02 mm"\nplane = {normal = [0, 0, 0]}',
            r"line 16, \[instruments\] plane: the normal of a plane must not be zero",
        ),
        ('sigma = "0.02 mm"', 'sigma = "0.02 mm"\nframe = "world"', 'frame = "world": write "unknown"'),
        ('sigma = "0.02 mm"', 'sigma = "0.02 mm"\nframe = {positions = [0, 0, 0]}', "frame has no 'positions'"),
        ('sigma = "0.02 mm"', 'sigma = "0.02 mm"\nplane = "unknown"', "a point has no plane"),
        ('sigma = "0.02 mm"', 'sigma = "0.02 mm"\ncolumns = ["x", "y"]', "3 columns"),
        ('sigma = "0.02 mm"', 'sigma = "0.02 mm"\ncolumns = ["a", "b", "c"]', "has no column 'a'"),
        ('sigma = "0.02 mm"', 'sigma = "0.02 mm"\npoint = [0, 0]', "point of tracker must be 3 finite numbers"),
        ('sigma = "0.02 mm"', 'sigma = "0.02 mm"\n[calibration]\nfixed = ["radios"]', "did you mean 'radius'"),
        ('sigma = "0.02 mm"', 'sigma = "0.02 mm"\n[calibration]\nprior = {radius = "1 deg"}', "cannot become 'm'"),
        ('sigma = "0.01 mm"', 'sigma = "0.01 mm"\nsession = "day"', "has no column 'day'"),
        ('sigma = "0.01 mm"', "sigma = 0", "reading_sigma must be positive"),
        ('"measured.csv"', '"nowhere.csv"', "there is no such file"),
        ('sigma = "0.01 mm"', 'sigma = "0.01 mm"\nreadings = ["l1"]', "3 readings, but 1 columns"),
    ],
)
def test_mistakes_are_refused_with_their_line(printer, old, new, words):
    assert old in PRINTER
    (printer / "study.toml").write_text(PRINTER.replace(old, new))
    with pytest.raises(InputError, match=words):
        Study.read(printer / "study.toml").calibrate()
    assert run(["calibrate", str(printer / "study.toml")]) == 2


def test_one_pose_is_too_few(printer, capsys):
    lines = (printer / "measured.csv").read_text().splitlines()
    (printer / "measured.csv").write_text("\n".join(lines[:2]) + "\n")
    assert run(["calibrate", str(printer / "study.toml")]) == 2
    assert "1 pose with 6 measured numbers leave 3 equations for 10 parameters" in capsys.readouterr().err


def test_nan_is_missing_only_where_it_is_stated(printer, capsys):
    lines = (printer / "measured.csv").read_text().splitlines()
    cells = [line.split(",") for line in lines]
    cells[3][4], cells[5][3], cells[7][0] = "", "nan", "NaN"
    (printer / "measured.csv").write_text("\n".join(map(",".join, cells)) + "\n")
    assert run(["calibrate", str(printer / "study.toml")]) == 2
    message = capsys.readouterr().err
    assert "row 7 (line 8), column 'l1' holds NaN" in message
    assert 'missing = "nan"' in message
    text = PRINTER.replace('sigma = "0.01 mm"', 'sigma = "0.01 mm"\nmissing = "nan"')
    (printer / "study.toml").write_text(text)
    answer = Study.read(printer / "study.toml").calibrate()
    assert answer.measurements.n_measured == 60 * 6 - 3
    assert not answer.refuted


def test_instruments_beside_poses_are_refused(printer):
    study = printer / "study.toml"
    study.write_text(PRINTER.replace("[measurements]", "[poses]").replace('sigma = "0.01 mm"', ""))
    with pytest.raises(InputError, match=r"line 12, instruments: \[\[instruments\]\] belong to a study with \[measure"):
        Study.read(study)


def test_a_study_tests_nested_models(tmp_path, rng):
    """A printer with leaning towers and three readings for six rods."""
    truth = bent(rng, lean=2e-3)
    data = measured(truth, rng)
    columns = {f"l{i + 1}": data.readings[:, 2 * i] for i in range(3)}
    written(tmp_path, columns | dict(zip("xyz", data.instruments[0].values.T, strict=True)))
    (tmp_path / "study.toml").write_text("""
[robot]
family = "rod-delta"
[robot.geometry]
radius = "160 mm"
arm = "345 mm"
endstop = "400 mm"
angle = ["210 deg", "330 deg", "90 deg"]
effector = "30 mm"
spacing = "50 mm"
[measurements]
file = "measured.csv"
sigma = "0.01 mm"
[[instruments]]
name = "tracker"
kind = "point"
sigma = "0.02 mm"
point = [0, 0, "-40 mm"]
[calibration]
fixed = ["effector", "side_*"]
[calibration.nested]
lean = ["lean_*"]
rods = ["mismatch_*"]
""")
    study = Study.read(tmp_path / "study.toml")
    assert np.array_equal(study.measurements.readings, data.readings)
    assert np.allclose(study.measurements.reading_sigma, data.reading_sigma, rtol=1e-12)
    answer = study.calibrate()
    assert answer.nested.needed == ("lean",)
    page = study.files(answer)["report.html"].decode()
    assert "The measurements need lean." in page
    assert json.loads(answer.to_json())["nested"][1]["verdict"] == "not needed"


def test_cables_are_sent_to_instruments(printer):
    (printer / "study.toml").write_text(
        '[robot]\nfamily = "cables"\n[robot.geometry]\nanchors = [[0, 0], [1, 0]]\n[poses]\nfile = "measured.csv"\n'
    )
    with pytest.raises(InputError, match="calibrated by instruments"):
        Study.read(printer / "study.toml")


def test_other_requests_are_refused(printer):
    with pytest.raises(InputError, match=r"call calibrate\(\)"):
        Study.read(printer / "study.toml").identify()


def test_the_calibrated_robot_is_a_blueprint(printer, tmp_path):
    """geometry.toml: parameters bit for bit, their covariance, and a pose in the middle; model.json is its export."""
    study = Study.read(printer / "study.toml")
    answer = study.calibrate()
    files = study.files(answer)
    assert {"klipper.cfg", "marlin.gcode", "reprapfirmware.g", "model.json"} <= set(files)
    (printer / "geometry.toml").write_bytes(files["geometry.toml"])
    again = read_geometry(printer / "geometry.toml")
    assert (again.model.nominal == answer.parameters).all()
    assert np.array_equal(again.covariance, answer.estimate.region.covariance)
    assert abs(answer.model.inverse(answer.parameters, *again.home) - again.home_readings).max() < 6e-5
    text = PRINTER[PRINTER.index("[measurements]") :]
    (printer / "study.toml").write_text('[robot]\nfile = "geometry.toml"\n' + text)
    next_one = Study.read(printer / "study.toml")
    assert (next_one.model.nominal == answer.parameters).all()
    assert abs(next_one.calibrate().parameters - answer.parameters).max() < 1e-3 * answer.estimate.region.sigma.min()
    exported = RobotModel.from_json(files["model.json"].decode())
    assert exported.geometry.model == again.model
    assert np.array_equal(exported.geometry.parameters, answer.parameters)


def test_the_geometry_of_cables_is_for_instruments_only(tmp_path, rng, capsys):
    machine = CableRobot.hangprinter()
    truth = machine.nominal + rng.normal(0, 0.02, 16)
    p = rng.uniform([-0.7, -0.7, 0.0], [0.7, 0.7, 1.5], (40, 3))
    readings = machine.inverse(truth, p) + rng.normal(0, 2e-4, (40, 4))
    readings[3, 2] = np.nan
    answer = calibrate_by_instruments(machine, Measurements(readings, 2e-4))
    answer.report(tmp_path / "results")
    found = read_geometry(tmp_path / "results" / "geometry.toml")
    assert (found.model.anchors == answer.parameters.reshape(4, 4)[:, :3]).all()
    assert found.spare == 40 * 4 - 1 - 40 * 3 - 10
    assert np.isfinite(found.readings).all()
    assert run(["export", str(tmp_path / "results"), "--to", "json", "--out", str(tmp_path / "json")]) == 0
    assert run(["export", str(tmp_path / "results"), "--to", "c", "--out", str(tmp_path / "c")]) == 2
    assert "4 chains for 3 degrees of freedom" in capsys.readouterr().err
    (tmp_path / "poses.toml").write_text('[robot]\nfile = "results/geometry.toml"\n[poses]\nfile = "poses.csv"\n')
    assert run(["certify", str(tmp_path / "poses.toml")]) == 2
    assert "cables are calibrated by instruments" in capsys.readouterr().err


def test_pixels_are_those_of_opencv(rng):
    """The prediction of an image against OpenCV's projection of the same points."""
    cv2 = pytest.importorskip("cv2")
    campaign = CAMPAIGNS["image"]()
    (one,) = campaign.drawn(None).instruments
    frame, target = (getattr(campaign.plan.instruments[0], name).guess.motion for name in ("frame", "target"))
    fx, fy, cx, cy, *distortion = one.camera
    for pose in (0, 7, 23):
        at = RigidMotion(campaign.poses.rotation[pose], campaign.poses.position[pose])
        R, t = frame @ at @ target
        K = np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]])
        pixels = cv2.projectPoints(one.points, cv2.Rodrigues(R)[0], t, K, np.array(distortion))[0]
        assert abs(pixels.ravel() - one.values[pose]).max() < 1e-9


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('camera = "camera.toml"', "state the points of the target"),
        ("points = [[0, 0, 0]]", "state the camera of an image"),
        ('camera = "none.toml"\npoints = [[0, 0, 0]]', r"line \d+, \[instruments\] camera: .*none\.toml"),
        ('camera = "unknown"\npoints = [[0, 0, 0]]', "estimated from a guess"),
        ('camera = "camera.toml"\npoints = [[0, 0]]', "three coordinates"),
        ('camera = "camera.toml"\npoints = [[0, 0, 0]]\npoint = [0, 0, 0]', "an image has no point"),
    ],
)
def test_mistakes_of_images_are_refused_with_their_line(printer, text, words):
    (printer / "camera.toml").write_text(LENS)
    (printer / "study.toml").write_text(PRINTER.replace('"point"\nsigma = "0.02 mm"', f'"image"\nsigma = 0.1\n{text}'))
    columns = (printer / "measured.csv").read_text().replace("tracker_x,tracker_y", "tracker_u,tracker_v")
    (printer / "measured.csv").write_text(columns)
    with pytest.raises(InputError, match=words):
        Study.read(printer / "study.toml").calibrate()


EULER = 'kind = "pose"\norientation = ["roll", "pitch", "yaw"]\nsigma = ["0.02 mm", 5e-5]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "roll, pitch, yaw may be Euler angles of any convention: state it, euler = "),
        ('euler = "fixed xyz"\n', "'roll' is an angle without a unit"),
        ('euler = "fixed xxz"\norientation_unit = "deg"\n', r"line \d+, \[instruments\] euler: 'fixed xxz' is no conv"),
        ('euler = "fixed xyz"\norientation_unit = "deg"\n', None),
    ],
)
def test_euler_angles_of_a_pose_instrument(tmp_path, rng, text, words):
    angles = rng.uniform(-20, 20, (8, 3))
    columns = {f"l{i + 1}": np.full(8, 0.1) for i in range(6)} | {axis: np.zeros(8) for axis in "xyz"}
    written(tmp_path, columns | dict(zip(("roll", "pitch", "yaw"), angles.T, strict=True)))
    (tmp_path / "study.toml").write_text(
        '[robot]\nfamily = "gough"\nblueprint = "deltalab"\n[measurements]\nfile = "measured.csv"\nsigma = 1e-5\n'
        f'[[instruments]]\nname = "arm"\n{EULER}{text}'
    )
    study = Study.read(tmp_path / "study.toml")
    if words is None:
        expected = Rotation.from_euler("xyz", angles, degrees=True).as_matrix()
        assert np.allclose(study.measurements.instruments[0].rotation, expected, rtol=0, atol=1e-14)
        return
    with pytest.raises(InputError, match=words):
        assert study.measurements
