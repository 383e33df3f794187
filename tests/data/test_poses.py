"""Poses on disk and in memory: every format, every way to write an orientation, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gough.checker.raw_data import RawTable
from gough.core.errors import InputError
from gough.core.rotations import angle_between, exp, log, to_quaternion
from gough.data import Poses, averaged, read_poses, write_poses


def poses(rng, n=20, chains=6):
    return Poses(
        rng.normal([0, 0, 0.4], 0.03, (n, 3)), exp(0.1 * rng.normal(size=(n, 3))), rng.uniform(0, 0.1, (n, chains))
    )


def csv(path, heads, columns):
    lines = [",".join(heads), *(",".join(repr(float(v)) for v in row) for row in np.column_stack(columns))]
    path.write_text("\n".join(lines) + "\n")
    return path


LEGS = [f"l{i + 1}" for i in range(6)]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".mat", ".npz"])
def test_what_is_written_is_read(tmp_path, rng, suffix):
    given = poses(rng)
    path = tmp_path / f"poses{suffix}"
    write_poses(path, given)
    read = read_poses(path)
    assert (read.position == given.position).all()
    assert (read.readings == given.readings).all()
    assert angle_between(read.rotation, given.rotation).max() < 1e-7
    assert read.notes == ()
    with pytest.raises(InputError, match="exists"):
        write_poses(path, given)


def test_orientations_as_vectors_and_matrices(tmp_path, rng):
    given = poses(rng)
    p, R, l = given.position, given.rotation, given.readings
    vector = csv(tmp_path / "v.csv", [*"xyz", "rx [deg]", "ry [deg]", "rz [deg]", *LEGS], [p, np.degrees(log(R)), l])
    matrix = csv(
        tmp_path / "m.csv", [*"xyz", *(f"r{i}{j}" for i in "123" for j in "123"), *LEGS], [p, R.reshape(-1, 9), l]
    )
    for path in (vector, matrix):
        assert abs(read_poses(path).rotation - R).max() < 1e-12
    mirrored = R.copy()
    mirrored[4, 2] *= -1
    with pytest.raises(InputError, match=r"pose 4 .* mirrored"):
        read_poses(
            csv(
                tmp_path / "r.csv",
                [*"xyz", *(f"r{i}{j}" for i in "123" for j in "123"), *LEGS],
                [p, mirrored.reshape(-1, 9), l],
            )
        )


@pytest.mark.parametrize("order", ["wxyz", "xyzw"])
def test_the_order_of_quaternions(tmp_path, rng, order):
    given = poses(rng)
    q = to_quaternion(given.rotation)
    q = q if order == "wxyz" else np.roll(q, -1, axis=1)
    path = csv(tmp_path / "q.csv", [*"xyz", "q1", "q2", "q3", "q4", *LEGS], [given.position, q, given.readings])
    read = read_poses(path)
    assert angle_between(read.rotation, given.rotation).max() < 1e-7
    assert order in read.notes[0]
    other = "xyzw" if order == "wxyz" else "wxyz"
    assert order in read_poses(path, quaternion=other).notes[0]
    assert read_poses(path, quaternion=order).notes == ()
    any_turn = exp(2 * rng.normal(size=(20, 3)))
    path = csv(
        tmp_path / "a.csv",
        [*"xyz", "q1", "q2", "q3", "q4", *LEGS],
        [given.position, to_quaternion(any_turn), given.readings],
    )
    with pytest.raises(InputError, match="quaternion's order"):
        read_poses(path)


def test_a_pose_of_one_line_survives_every_format(tmp_path, rng):
    """MATLAB knows no vectors: one pose must not turn into a number that is taken for no column."""
    given = poses(rng, 1)
    for suffix in (".csv", ".parquet"):
        write_poses(tmp_path / f"one{suffix}", given)
        assert (read_poses(tmp_path / f"one{suffix}").position == given.position).all()
    for suffix in (".mat", ".npz"):
        write_poses(tmp_path / f"one{suffix}", given)
        with pytest.raises(InputError, match="no channel"):
            read_poses(tmp_path / f"one{suffix}")


def test_headings_alone_and_planes(tmp_path, rng):
    given = poses(rng, 8, 3)
    angle = rng.uniform(-30, 30, 8)
    flat = csv(
        tmp_path / "flat.csv",
        ["x [mm]", "y [mm]", "rz [deg]", *LEGS[:3]],
        [1e3 * given.position[:, :2], angle, given.readings],
    )
    read = read_poses(flat, chains=3, planar=True)
    assert abs(read.position - given.position * [1, 1, 0]).max() < 1e-15
    assert abs(log(read.rotation) - np.radians(angle)[:, None] * [0, 0, 1]).max() < 1e-12
    with pytest.raises(InputError, match=r"no column 'z'.*columns = {z = "):
        read_poses(flat, chains=3)


def test_readings_are_in_the_machines_unit(tmp_path, rng):
    """Turns stay turns where the robot counts in turns, whichever unit the file states."""
    given = poses(rng, 8, 3)
    for unit, factor in (("rev", 1), ("deg", 360)):
        heads = [*"xyz", *(f"{leg} [{unit}]" for leg in LEGS[:3])]
        path = csv(tmp_path / f"{unit}.csv", heads, [given.position, factor * given.readings])
        read = read_poses(path, chains=3, reading_unit="rev")
        assert abs(read.readings - given.readings).max() < 1e-15
    with pytest.raises(InputError, match="'deg' cannot become 'm'"):
        read_poses(path, chains=3, reading_unit="m")


def test_units_that_contradict_a_head(tmp_path, rng):
    given = poses(rng)
    path = csv(
        tmp_path / "mm.csv", ["x [mm]", "y [raw]", "z", "l1 [mm]", "l2", "l3"], [given.position, given.readings[:, :3]]
    )
    read = read_poses(path, chains=3, units={"position": "mm", "readings": "0.001 m"})
    assert np.array_equal(read.position, given.position * 1e-3)
    with pytest.raises(InputError, match=r"column 'x \[mm\]' is in mm by its head, but units state 'm': correct one"):
        read_poses(path, chains=3, units={"position": "m"})
    with pytest.raises(InputError, match=r"column 'l1 \[mm\]' is in mm by its head, but units state 'deg'"):
        read_poses(path, chains=3, units={"position": "mm", "readings": "deg"})


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_the_same_numbers_with_another_covariance_are_no_copy(order):
    C = np.array([np.eye(3) * 1e-8, np.eye(3) * 1e-24])
    poses = Poses([[0.0, 0.0, 0.3]] * 2, None, [[0.1, 0.2, 0.3]] * 2, C).select(order)
    assert len(poses.without_copies()) == 2
    assert len(poses.select([0, 0, 1]).without_copies()) == 2
    assert len(poses.with_noise(1e-4).without_copies()) == 1  # one covariance for all


def test_bad_files(tmp_path, rng):
    given = poses(rng)
    p, q, l = given.position, to_quaternion(given.rotation), given.readings
    heads = [*"xyz", "qw", "qx", "qy", "qz", *LEGS]
    with pytest.raises(InputError, match="millimetres"):
        read_poses(csv(tmp_path / "mm.csv", heads, [1000 * p, q, l]))
    assert abs(read_poses(tmp_path / "mm.csv", units={"position": "mm"}).position - p).max() < 1e-15
    long = q.copy()
    long[7] *= 1.1
    with pytest.raises(InputError, match=r"row 8 .*length 1.1"):
        read_poses(csv(tmp_path / "norm.csv", heads, [p, long, l]))
    assert "normalized" in read_poses(csv(tmp_path / "n.csv", heads, [p, q * 1.0005, l])).notes[0]
    twice = [np.vstack([a, a[3:4]]) for a in (p, q, l)]
    read = read_poses(csv(tmp_path / "copy.csv", heads, twice))
    assert len(read) == 20
    assert "Line 22 is a copy of line 5" in read.notes[0]
    with pytest.raises(InputError, match="no column 'l1'; did you mean 'L1'"):
        read_poses(csv(tmp_path / "l.csv", [*heads[:7], *(h.upper() for h in LEGS)], [p, q, l]))
    with pytest.raises(InputError, match="did you mean 'qw'"):
        read_poses(tmp_path / "mm.csv", columns={"qww": "w"})
    with pytest.raises(InputError, match="no such file"):
        read_poses(tmp_path / "none.csv")
    blank = (tmp_path / "n.csv").read_text().splitlines()
    (tmp_path / "blank.csv").write_text("\n".join([*blank[:5], "," + blank[5].split(",", 1)[1], *blank[6:]]))
    with pytest.raises(InputError, match=r"row 5 \(line 6\), column 'x' is empty or NaN: leave that pose out"):
        read_poses(tmp_path / "blank.csv")


def test_repeats_show_both_repeatabilities(rng):
    """The paper's scheme: the instrument's noise within a run, the robot's between runs."""
    configurations, runs, images = 64, 11, 11
    base = poses(rng, configurations)
    of = np.repeat(np.arange(configurations), runs * images)
    run = np.tile(np.repeat(np.arange(runs), images), configurations)
    repeatability, instrument = 3e-5, 6e-5
    n = len(of)
    moved = rng.normal(0, repeatability, (configurations * runs, 6)).repeat(images, axis=0)
    error = moved + rng.normal(0, instrument, (n, 6))
    readings = base.readings[of] + rng.normal(0, 1e-5, (configurations * runs, 6)).repeat(images, axis=0)
    many = Poses(
        base.position[of] + error[:, :3], exp(error[:, 3:]) @ base.rotation[of], readings, configuration=of, run=run
    )
    mean, found = averaged(many)
    expected = np.sqrt(repeatability**2 + instrument**2 / images)
    assert abs(found.within[:6] / instrument - 1).max() < 0.03
    assert abs(found.between[:6] / expected - 1).max() < 0.1
    assert abs(np.sqrt(np.diagonal(mean.covariance, axis1=1, axis2=2)) / (expected / np.sqrt(runs)) - 1).max() < 0.1
    assert abs(mean.position - base.position).max() < 5 * expected / np.sqrt(runs)
    assert angle_between(mean.rotation, base.rotation).max() < 8 * expected / np.sqrt(runs)
    assert "between runs" in str(found)


@pytest.mark.parametrize("order", ["wxyz", "xyzw"])
def test_a_stated_order_must_be_that_of_named_columns(tmp_path, rng, order):
    """Names decide; a stated order that the file contradicts is refused instead of ignored."""
    given = poses(rng)
    q = to_quaternion(given.rotation)
    q = q if order == "wxyz" else np.roll(q, -1, axis=1)
    names = [f"q{letter}" for letter in order]
    path = csv(tmp_path / "q.csv", [*"xyz", *names, *LEGS], [given.position, q, given.readings])
    read = read_poses(path, quaternion=order)
    assert angle_between(read.rotation, given.rotation).max() < 1e-7
    assert np.array_equal(read.rotation, read_poses(path).rotation)
    other = "xyzw" if order == "wxyz" else "wxyz"
    with pytest.raises(InputError, match=f'stated as "{other}", but the columns stand in the order {", ".join(names)}'):
        read_poses(path, quaternion=other)


def test_places_are_the_lines_of_the_file_for_reader_and_checker_alike(tmp_path):
    """Comments, blank lines, a quoted cell over two lines and a copy stand between the rows."""
    text = '# campaign 3\n\nx,y,z,l1,note\n0,0,1,1,a\n# moved\n\n0,0,2,1,"b\nc"\n0,0,1,1,a\n0,0,3,1,d\n'
    path = tmp_path / "poses.csv"
    path.write_text(text)
    poses = read_poses(path, chains=1)
    assert poses.places == ("line 4", "line 8", "line 10")
    assert poses.select([2]).label(0) == "0 (line 10)"
    assert "Line 9 is a copy of line 4" in poses.notes[0]
    assert RawTable.of_csv(text.encode()).lines == (4, 8, 9, 10)
    assert poses == replace(poses, places=())  # the same poses, wherever they were found
    within = RawTable.of_csv(b'x,y\n1,c\n2,"a\rb"\n')
    assert (within.lines, within.place(1)) == ((), "row 2")
    path.write_text(text.replace("0,0,3,1", "0,0,3,nan"))
    with pytest.raises(InputError, match=r"row 4 \(line 10\), column 'l1' is empty or NaN.*exclude = \[3\]"):
        read_poses(path, chains=1)


def _covariances(low):
    C = np.diag([1e-8] * 3 + [1e-8] * 3)
    C[0, 1] = C[1, 0] = low
    return C


def test_what_is_no_covariance_is_refused():
    poses = {"position": [[0.0, 0.0, 0.3]] * 2, "rotation": [np.eye(3)] * 2, "readings": [[0.1] * 6] * 2}
    assert len(Poses(**poses, covariance=_covariances(0.99e-8))) == 2
    with pytest.raises(InputError, match="the covariance of the poses has a negative eigenvalue"):
        Poses(**poses, covariance=_covariances(1.1e-8))
    skew = _covariances(0.0)
    skew[0, 1] = 1e-9
    with pytest.raises(InputError, match=r"the covariance of pose 1 is not symmetric"):
        Poses(**poses, covariance=np.stack([_covariances(0.0), skew]))


def test_poses_without_a_number_are_dropped_if_asked_for(tmp_path):
    path = tmp_path / "poses.csv"
    path.write_text("x,y,z,l1,l2,l3\n0,0,0.3,0.1,0.1,0.1\n0.01,0,0.3,,0.2,0.1\n0.02,0,0.3,0.1,0.2,0.3\n")
    with pytest.raises(InputError, match=r"row 2 \(line 3\), column 'l1' is empty or NaN.*missing ="):
        read_poses(path, chains=3)
    poses = read_poses(path, chains=3, missing="drop")
    assert poses.places == ("line 2", "line 4")
    assert "Left out, since a cell is empty or NaN: pose 1 (line 3) (the first in column 'l1')." in poses.notes
    assert len(read_poses(path, chains=3, missing="drop", exclude=["line 4"])) == 1
    with pytest.raises(InputError, match="has no pose 7 to leave out: numbers are 0 … 2"):
        read_poses(path, chains=3, exclude=[7])


def euler_file(folder, heads, angles):
    rows = [",".join(map(repr, [0.0, 0.0, 0.3, *row, 0.1, 0.1, 0.1])) for row in angles.tolist()]
    path = folder / "poses.csv"
    path.write_text("\n".join([f"x,y,z,{heads},l1,l2,l3", *rows]) + "\n")
    return path


def test_euler_angles_are_read_by_their_convention(tmp_path, rng):
    degrees = rng.uniform(-80, 80, (5, 3))
    path = euler_file(tmp_path, "e1 [deg],e2 [deg],e3 [deg]", degrees)
    read = read_poses(path, chains=3, euler="moving zyx")
    expected = Rotation.from_euler("ZYX", degrees, degrees=True).as_matrix()
    assert np.allclose(read.rotation, expected, rtol=0, atol=1e-14)
    path = euler_file(tmp_path, "roll,pitch,yaw", degrees)
    read = read_poses(path, chains=3, euler="moving zyx", units={"rotation": "deg"})
    assert np.allclose(read.rotation, Rotation.from_euler("ZYX", degrees[:, ::-1], degrees=True).as_matrix())


@pytest.mark.parametrize(
    ("heads", "euler", "words"),
    [
        ("e1 [deg],e2 [deg],e3 [deg]", None, "convention is not stated: euler = .fixed xyz"),
        ("roll [deg],pitch [deg],yaw [deg]", None, "convention is not stated"),
        ("e1,e2,e3", "fixed xyz", "'e1' is an angle without a unit"),
        ("e1 [deg],e2 [mm],e3 [deg]", "fixed xyz", "'mm' cannot become 'rad'"),
        ("e1 [deg],e2 [deg],e3 [deg]", "xYz", "no convention of Euler angles"),
        ("roll [deg],pitch [deg],yaw [deg]", "fixed zxz", "has no column 'e1'"),
        ("qw,qx,qy", "fixed zxz", "has no column 'e1'"),
    ],
)
def test_euler_angles_are_never_guessed(tmp_path, rng, heads, euler, words):
    path = euler_file(tmp_path, heads, rng.uniform(-1, 1, (3, 3)))
    with pytest.raises(InputError, match=words):
        read_poses(path, chains=3, euler=euler)
