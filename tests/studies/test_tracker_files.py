"""Files of laser trackers: poses with U(95), named reflectors, rows without heads; read, calibrated, proposed."""

import tomllib

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gough import InputError, Study
from gough.checker.raw_data import NotDerived, RawTable, poses_of, require_known
from gough.cli.app import run
from gough.core.rotations import exp, log
from gough.data import read_poses
from gough.data.expanded_uncertainty import COVERAGE, rotation_covariance
from gough.data.measured_columns import MeasuredColumns
from gough.data.pose_columns import measured_targets
from gough.robots import GoughPlatform

ROBOT = GoughPlatform.deltalab()
N = 40
REFLECTORS = {"N1": (0.05, 0.02, 0.03), "N2": (-0.04, 0.05, 0.03), "N3": (0.0, -0.06, 0.02)}
BASE, ORIGIN = exp(np.array([0.1, -0.2, 2.0])), np.array([2.0, 1.0, 0.3])
U = np.array([2e-5, 2e-5, 4e-5])
"""Expanded uncertainties of positions, m; those of angles are 1e-4 rad."""


@pytest.fixture(scope="module")
def campaign():
    rng = np.random.default_rng(3)
    truth = ROBOT.nominal + rng.normal(0, 5e-4, 42)
    poses = ROBOT.forward(truth, rng.uniform(0, 0.14, (N, 6)))
    readings = ROBOT.inverse(truth, *poses) + rng.normal(0, 1e-5, (N, 6))
    R, p = BASE @ poses.rotation, poses.position @ BASE.T + ORIGIN
    return truth, poses, readings, R, p, rng


def readings_csv(readings):
    heads = ",".join(f"l{i} [mm]" for i in range(1, 7))
    rows = (",".join(f"{1e3 * value:.6f}" for value in row) for row in readings)
    return "\n".join([f"pose,{heads}", *(f"P{k},{row}" for k, row in enumerate(rows))]) + "\n"


def tmac_csv(campaign, kind):
    """What a program of a 6-D probe exports: a name, mm, an orientation, and U(95) of each column."""
    _, _, _, R, p, rng = campaign
    noisy = exp(rng.normal(0, 1e-4 / COVERAGE, (N, 3))) @ R
    x = 1e3 * (p + rng.normal(0, U / COVERAGE, (N, 3)))
    if kind == "quaternion":
        turned, of = np.roll(Rotation.from_matrix(noisy).as_quat(), 1, axis=1), ("Q0", "Q1", "Q2", "Q3")
        expanded = np.full((N, 4), 0.5e-4)
    else:
        turned, of = Rotation.from_matrix(noisy).as_euler("xyz", degrees=True), ("Rx", "Ry", "Rz")
        expanded = np.full((N, 3), np.degrees(1e-4))
    heads = ["Name", "X", "Y", "Z", *of, *(f"U95 {name}" for name in ("X", "Y", "Z", *of))]
    rows = np.column_stack([x, turned, np.tile(1e3 * U, (N, 1)), expanded])
    lines = (",".join([f"P{k}", *(f"{value:.8f}" for value in row)]) for k, row in enumerate(rows))
    return "\n".join([",".join(heads), *lines]) + "\n"


HEAD = '[robot]\nfamily = "gough"\nblueprint = "deltalab"\n\n'


def assert_lengths(found, truth):
    """Lengths of the legs do not depend on frames."""
    sigma = found.estimate.region.sigma
    names = [name for name in ROBOT.names if name.startswith("l")]
    assert len(names) == 6
    for name in names:
        error = found.parameters[ROBOT.names.index(name)] - truth[ROBOT.names.index(name)]
        assert abs(error) < 4 * sigma[found.estimate.unknowns.names.index(name)] < 4e-3


@pytest.mark.parametrize("kind", ["quaternion", "euler"])
def test_a_proposed_table_calibrates_from_a_pose_export(kind, campaign, tmp_path, capsys):
    truth, *_ = campaign
    (tmp_path / "tmac.csv").write_text(tmac_csv(campaign, kind))
    (tmp_path / "readings.csv").write_text(readings_csv(campaign[2]))
    assert run(["look", str(tmp_path / "tmac.csv")]) == 0
    shown = capsys.readouterr().out
    assert "The table is a pose: position X, Y, Z" in shown
    proposal = shown[shown.index("[measurements]") :]
    assert tomllib.loads(proposal)["instruments"][0]["uncertainty"][0] == "U95 X"
    if kind == "euler":
        (tmp_path / "study.toml").write_text(HEAD + proposal)
        assert run(["calibrate", str(tmp_path / "study.toml")]) == 2
        assert "'?' is no convention of Euler angles" in capsys.readouterr().err
        proposal = proposal.replace('euler = "?"', 'euler = "fixed xyz"')
    (tmp_path / "study.toml").write_text(HEAD + proposal.replace("[measurements]", '[measurements]\nsigma = "0.01 mm"'))
    found = Study.read(tmp_path / "study.toml").calibrate()
    assert not found.refuted
    assert_lengths(found, truth)


def test_covariances_of_a_study_are_those_of_its_uncertainties(campaign, tmp_path):
    (tmp_path / "tmac.csv").write_text(tmac_csv(campaign, "euler"))
    (tmp_path / "readings.csv").write_text(readings_csv(campaign[2]))
    table = """[measurements]
file = "readings.csv"
pose = "pose"
[[instruments]]
name = "tmac"
kind = "pose"
file = "tmac.csv"
match = "Name"
columns = ["X", "Y", "Z"]
unit = "mm"
orientation = ["Rx", "Ry", "Rz"]
euler = "fixed xyz"
orientation_unit = "deg"
coverage = 2
uncertainty = ["U95 X", "U95 Y", "U95 Z", "U95 Rx", "U95 Ry", "U95 Rz"]
frame = "unknown"
target = "unknown"
"""
    (tmp_path / "study.toml").write_text(HEAD + table)
    (one,) = Study.read(tmp_path / "study.toml").measurements.instruments
    assert one.sigma.shape == (N, 6, 6)
    np.testing.assert_allclose(one.sigma[:, range(3), range(3)], np.tile((U / 2) ** 2, (N, 1)), rtol=1e-9)
    # the spread of rotations whose angles scatter, by scipy
    rng = np.random.default_rng(0)
    angles = Rotation.from_matrix(one.rotation[7].copy()).as_euler("xyz")
    drawn = Rotation.from_euler("xyz", angles + rng.normal(0, 0.5e-4, (20000, 3)))
    turns = (drawn * Rotation.from_matrix(one.rotation[7].copy()).inv()).as_rotvec()
    np.testing.assert_allclose(one.sigma[7, 3:, 3:], np.cov(turns.T), atol=0.03 * 2.5e-9)
    # by [poses] the same numbers
    columns = dict(zip("xyz", "XYZ", strict=True)) | {f"e{i}": f"R{axis}" for i, axis in enumerate("xyz", 1)}
    columns |= {f"u{name}": f"U95 {column}" for name, column in columns.items()}
    poses = read_poses(
        tmp_path / "tmac.csv",
        columns=columns,
        units={"position": "mm", "rotation": "deg", "readings": "mm"},
        euler="fixed xyz",
        readings=tmp_path / "readings.csv",
        coverage=2.0,
    )
    np.testing.assert_allclose(poses.covariance, one.sigma, rtol=1e-12)
    np.testing.assert_allclose(poses.readings, campaign[2], atol=1e-9)


def test_rotation_covariance_of_quaternions_follows_scipy():
    q = np.array([[0.8, 0.1, -0.5, 0.3]]) / np.linalg.norm([0.8, 0.1, -0.5, 0.3])
    sigma = np.array([[1e-5, 2e-5, 3e-5, 1e-5]])
    C = rotation_covariance(lambda x: Rotation.from_quat(np.roll(x, -1, axis=1)).as_matrix(), q, sigma)[0]
    J = np.empty((3, 4))
    for k in range(4):  # d(2 vec(δq ⊗ q*)) by hand, at unit length
        dq = np.eye(4)[k]
        w, v = dq[0], dq[1:]
        J[:, k] = 2 * (v * q[0, 0] - w * q[0, 1:] - np.cross(v, q[0, 1:]))
    np.testing.assert_allclose(C, J @ np.diag(sigma[0] ** 2) @ J.T, rtol=1e-6, atol=1e-16)


def points_csv(campaign, layout):
    _, poses, _, _, _, rng = campaign
    lines = ["name,target,x [mm],y [mm],z [mm],Ux [mm],Uy [mm],Uz [mm]"] if layout == "long" else []
    wide = []
    for k in range(N):
        row = []
        for name, at in REFLECTORS.items():
            p = BASE @ (poses.position[k] + poses.rotation[k] @ at) + ORIGIN + rng.normal(0, U / COVERAGE)
            lines.append(f"P{k},{name}," + ",".join(f"{1e3 * v:.6f}" for v in (*p, *U)))
            row += [f"{1e3 * v:.6f}" for v in p]
        wide.append(row)
    if layout == "long":
        first, *rest = lines
        order = np.random.default_rng(1).permutation(len(rest))  # rows in any order: names decide
        return "\n".join([first, *(rest[i] for i in order)]) + "\n"
    heads = [f"{name}_{axis} [mm]" for name in REFLECTORS for axis in "xyz"]
    return "\n".join([",".join(heads), *map(",".join, wide)]) + "\n"


@pytest.mark.parametrize("layout", ["long", "wide"])
def test_proposed_tables_calibrate_from_three_reflectors(layout, campaign, tmp_path, capsys):
    truth, *_ = campaign
    (tmp_path / "points.csv").write_text(points_csv(campaign, layout))
    (tmp_path / "readings.csv").write_text(readings_csv(campaign[2]))
    assert run(["look", str(tmp_path / "points.csv")]) == 0
    shown = capsys.readouterr().out
    proposal = shown[shown.index("[measurements]") :]
    stated = tomllib.loads(proposal)
    assert [one["kind"] for one in stated["instruments"]] == ["point"] * 3
    assert [one["frame"] for one in stated["instruments"]] == ["unknown", "N1", "N1"]
    study = HEAD + proposal.replace("[measurements]", '[measurements]\nsigma = "0.01 mm"')
    if layout == "wide":
        study = study.replace('point = "unknown"', 'point = "unknown"\nsigma = "0.015 mm"')
    (tmp_path / "study.toml").write_text(study)
    found = Study.read(tmp_path / "study.toml").calibrate()
    assert not found.refuted
    assert_lengths(found, truth)
    names, values = found.estimate.unknowns.names, found.estimate.value
    seen = {n: np.array([values[names.index(f"{n}.point_{axis}")] for axis in "xyz"]) for n in REFLECTORS}
    apart = np.linalg.norm(seen["N1"] - seen["N2"])
    assert apart == pytest.approx(np.linalg.norm(np.subtract(REFLECTORS["N1"], REFLECTORS["N2"])), abs=2e-5)


def test_rows_without_heads_are_read_with_stated_ones(campaign, tmp_path, capsys):
    """SpatialAnalyzer exports frames as name, x, y, z, three angles, and a time, without a line of names."""
    _, _, readings, R, p, _ = campaign
    angles = Rotation.from_matrix(R).as_euler("xyz", degrees=True)
    rows = [",".join([f"P{k}", *(f"{v:.9f}" for v in (*(1e3 * p[k]), *angles[k]))]) for k in range(N)]
    (tmp_path / "frames.csv").write_text("// SA 2022.3\n" + "\n".join(rows) + "\n")
    (tmp_path / "readings.csv").write_text(readings_csv(readings))
    heads = ["name", "x [mm]", "y [mm]", "z [mm]", "e1 [deg]", "e2 [deg]", "e3 [deg]"]
    how = {"euler": "fixed xyz", "readings": tmp_path / "readings.csv"}
    poses = read_poses(tmp_path / "frames.csv", heads=heads, **how)
    np.testing.assert_allclose(poses.position, p, atol=1e-11)
    assert abs(log(poses.rotation @ np.swapaxes(R, 1, 2))).max() < 1e-10
    with pytest.raises(InputError, match=r"line 2 holds numbers where the names .* heads = "):
        read_poses(tmp_path / "frames.csv", **how)
    with pytest.raises(InputError, match="line 2 has 7 cells, but heads states names of 6 columns"):
        read_poses(tmp_path / "frames.csv", heads=heads[:-1], **how)
    with pytest.raises(InputError, match=r"line 1 holds names \(pose, l1 \[mm\]"):
        read_poses(tmp_path / "readings.csv", heads=heads, **how)
    assert run(["look", str(tmp_path / "frames.csv"), "--heads", ",".join(heads)]) == 0
    shown = capsys.readouterr().out
    (one,) = tomllib.loads(shown[shown.index("[measurements]") :])["instruments"]
    assert (one["heads"], one["columns"], one["kind"]) == (heads, ["x", "y", "z"], "pose")
    (tmp_path / "blanks.txt").write_text("\n".join(row.replace(",", "  ") for row in rows) + " \n")
    spaced = MeasuredColumns(tmp_path / "blanks.txt", heads=heads)
    np.testing.assert_allclose(spaced.load(["x", "y", "z"], "m"), p, atol=1e-11)
    assert spaced.labels("name")[3] == "P3"


GOOD = "name,target,x [mm],y [mm],z [mm],Ux [mm],Uy [mm],Uz [mm]\nP0,N1,1,2,3,0.1,0.1,0.1\nP1,N1,1,2,3,0.1,0.1,0.1\n"


@pytest.mark.parametrize(
    ("change", "table", "said"),
    [
        (("P1,N1", "P0,N1"), "", "is the second one of pose 'P0' with target = N1: keep one of them"),
        (("P1,N1", "P7,N1"), "", "is of pose 'P7', of which there are no readings"),
        (("", ""), 'where = {target = "N9"}', "has no row with target = N9"),
        (("P1,N1", "P1,N2"), "match = 0", "has 1 rows with target = N1, but there are readings of 2 poses"),
        (("3,0.1,0.1,0.1\nP1", "3,0.1,0,0.1\nP1"), "", "an expanded uncertainty is 0, but must be positive"),
        (("", ""), 'uncertainty = ["Ux"]', "uncertainty has 1 columns: state 3, one for each of x, y, z"),
        (("", ""), 'sigma = "1 mm"', "either uncertainty, or sigma or covariance"),
        (("", ""), "file = 0", "match of 'N1' need a file of its own"),
    ],
)
def test_files_that_do_not_fit_are_refused_in_one_line(change, table, said, tmp_path, capsys):
    (tmp_path / "points.csv").write_text(GOOD.replace(*change) if change[0] else GOOD)
    (tmp_path / "readings.csv").write_text(
        "pose," + ",".join(f"l{i}" for i in range(1, 7)) + "\n" + "P0,1,1,1,1,1,1\nP1,1,1,1,1,1,1\n"
    )
    stated = {
        "file": 'file = "points.csv"',
        "where": 'where = {target = "N1"}',
        "match": 'match = "name"',
        "uncertainty": 'uncertainty = ["Ux", "Uy", "Uz"]',
    }
    if table:
        stated[table.split(" ")[0]] = "" if table.endswith("= 0") else table
    lines = "\n".join(['name = "N1"', 'kind = "point"', *stated.values()])
    study = f'{HEAD}[measurements]\nfile = "readings.csv"\npose = "pose"\n[[instruments]]\n{lines}\n'
    (tmp_path / "study.toml").write_text(study)
    assert run(["calibrate", str(tmp_path / "study.toml")]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert said in told
    assert "Traceback" not in told


def test_columns_are_recognized_by_their_names():
    motive = ["plate/Rotation/X", "plate/Rotation/Y", "plate/Rotation/Z", "plate/Rotation/W"]
    motive += ["plate/Position/X", "plate/Position/Y", "plate/Position/Z", "plate/Mean Marker Error"]
    (plate,) = measured_targets(motive)
    assert plate.name == "plate"
    assert plate.orientation == ("plate/Rotation/W", "plate/Rotation/X", "plate/Rotation/Y", "plate/Rotation/Z")
    (turned,) = measured_targets(["x", "y", "z", "Rz", "Ry", "Rx", "X U(95)", "Y U(95)", "Z U(95)"])
    assert turned.orientation == ("Rz", "Ry", "Rx")
    assert turned.uncertainty == ("X U(95)", "Y U(95)", "Z U(95)")
    assert measured_targets(["time", "q1", "q2", "tau1", "tau2"]) == ()
    assert [one.name for one in measured_targets(["arm:LASI/X", "arm:LASI/Y", "arm:LASI/Z"])] == ["arm_LASI"]


@pytest.mark.parametrize("key", [{"readings": "l.csv"}, {"heads": ["x"]}, {"coverage": 2}])
def test_the_checker_says_what_it_does_not_derive(key):
    with pytest.raises(NotDerived):
        poses_of(RawTable.of_csv(b"x,y,z,l1\n0,0,0,1\n"), {"poses": key}, 1, "m", planar=False)
    require_known({"poses": key})
