"""Files that once ended in a traceback, each by name: now they are refused with a message that says what is wrong."""

import io
import json
import zipfile
import zlib

import numpy as np
import pytest

from gough import Bounded, InputError, LinearProblem, Unknowns
from gough.checker import Certificate, Witness, check, load
from gough.checker.files import render
from gough.core.sealed import sealed, unsealed
from gough.data import Recording, read_klipper, read_poses, read_problem, read_recording, read_table, write_recording
from gough.robots.mechanism.imports import read_mjcf, read_urdf
from gough.studies import IdentificationStudy
from gough.studies.calibration import CalibrationStudy
from gough.studies.mechanism_file import MechanismFile
from gough.vision import read_camera, read_target
from tests.fuzz.doors import CALIBRATION, CAMERA, MJCF, POSES, PRINTER, PROBLEM, URDF

DIGITS = "9" * 400
DEEP = "[" * 3000 + "1" + "]" * 3000


def replaced(text, old, new):
    assert old in text
    return text.replace(old, new, 1)


CASES = {
    "TOML with an integer of 400 digits": (
        CalibrationStudy.read,
        ".toml",
        replaced(CALIBRATION, "folds = 2", f"folds = {DIGITS}"),
        "a whole number of 400 digits is too large",
    ),
    "TOML with an integer of 5000 digits": (
        CalibrationStudy.read,
        ".toml",
        replaced(CALIBRATION, "folds = 2", f"folds = {'9' * 5000}"),
        "is not valid TOML",
    ),
    "TOML with deep arrays": (IdentificationStudy.read, ".toml", f"a = {DEEP}\n", "deep"),
    "TOML with arrays 33 deep": (IdentificationStudy.read, ".toml", "a = " + "[" * 33 + "]" * 33, "more than 32 deep"),
    "TOML of a mechanism with deep arrays": (MechanismFile.read, ".toml", f"a = {DEEP}\n", "deep"),
    "TOML of a camera with deep arrays": (read_camera, ".toml", f"size = {DEEP}\n", "deep"),
    "TOML of a camera of infinite size": (
        read_camera,
        ".toml",
        replaced(CAMERA, "[640, 480]", "[inf, 480]"),
        "width and height",
    ),
    "TOML of a target whose kind is a list": (read_target, ".toml", "kind = []\n", "describes no target"),
    "TOML of a grid of absurd size": (
        read_target,
        ".toml",
        'kind = "circles"\ncolumns = 1000000\nrows = 1000000\nspacing = "1 m"\nradius = "0.1 m"\n',
        "3 to 1000 rows",
    ),
    "Klipper without microsteps": (
        read_klipper,
        ".cfg",
        replaced(PRINTER, "microsteps: 16", "microsteps: 0"),
        "positive",
    ),
    "Klipper with a gear ratio of 3:0": (
        read_klipper,
        ".cfg",
        replaced(PRINTER, "2:1, 60:20", "3:0"),
        "gear_ratio: the numbers of '3:0' must be positive",
    ),
    "Klipper with an infinite position": (read_klipper, ".cfg", replaced(PRINTER, "6400.5", "inf"), "three towers"),
    "Klipper that includes no pattern": (read_klipper, ".cfg", f"[include /etc/*]\n{PRINTER}", "names no files"),
    "Klipper that includes whole trees": (
        read_klipper,
        ".cfg",
        f"[include ../**/*]\n{PRINTER}",
        r"\*\* is not allowed",
    ),
    "Klipper that includes through 2000 folders": (
        read_klipper,
        ".cfg",
        f"[include {'*/' * 2000}a]\n{PRINTER}",
        "too many folders",
    ),
    "URDF in an encoding that is none": (
        read_urdf,
        ".urdf",
        f'<?xml version="1.0" encoding="rot13"?>{URDF}',
        "encoding|not valid XML",
    ),
    "URDF in an encoding of many bytes": (
        read_urdf,
        ".urdf",
        f'<?xml version="1.0" encoding="big5"?>{URDF}',
        "encoding|not valid XML",
    ),
    "URDF with the character NUL": (read_urdf, ".urdf", replaced(URDF, "arm", "a\0m"), "not valid XML"),
    "URDF with a number that overflows": (
        read_urdf,
        ".urdf",
        replaced(URDF, 'axis xyz="0 1 0"', 'axis xyz="0 1e308 0"'),
        "finite numbers",
    ),
    "MJCF 2000 deep": (
        read_mjcf,
        ".xml",
        f"<mujoco><worldbody>{'<body>' * 2000}{'</body>' * 2000}</worldbody></mujoco>",
        "more than 200 deep",
    ),
    "MJCF with defaults 2000 deep": (
        read_mjcf,
        ".xml",
        f"<mujoco>{'<default>' * 2000}{'</default>' * 2000}</mujoco>",
        "more than 200 deep",
    ),
    "MJCF with an order of no axes": (read_mjcf, ".xml", replaced(MJCF, "XYZ", "/"), "eulerseq"),
    "MJCF with a quaternion of zeros": (read_mjcf, ".xml", replaced(MJCF, "0.9 0.1 -0.3 0.2", "0 0 0 0"), "quaternion"),
    "CSV with half a surrogate pair in a head": (
        read_table,
        ".csv",
        b"mass,\xed\xa0\x80,y\n1,2,3\n",
        "not a CSV file",
    ),
    "CSV of poses with a number that overflows": (
        read_poses,
        ".csv",
        replaced(POSES, "0,0,300", "1e308,0,300"),
        "is not a finite number",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused(case, tmp_path):
    read, suffix, text, message = CASES[case]
    path = tmp_path / f"file{suffix}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=message):
        read(path)


def test_a_name_with_half_a_surrogate_pair_is_refused():
    with pytest.raises(InputError, match=r"the name of an unknown 'a\\ud800' holds half of a surrogate pair"):
        Unknowns(["a\ud800"])
    with pytest.raises(InputError, match="surrogate"):
        Recording(["q\udfff"], [""], [[1.0]], rate=1.0)


def test_a_certificate_with_half_a_surrogate_pair_is_refused(tmp_path):
    problem = LinearProblem([[1.0]], [0.0], Unknowns(["a"]), Bounded(1.0))
    text = render(Certificate.of(problem, Witness({"a": 0})))
    path = tmp_path / "c.json"
    path.write_text(sealed(unsealed(text).replace('"a"', '"\\ud800"')))
    try:
        verdict = check(load(path), problem)
    except InputError:
        return
    assert not verdict


def test_texts_of_npz_files_that_are_no_characters_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", q=np.arange(5.0), time=np.arange(5.0), x=np.frombuffer(b"\xff\xff\xff\x7f", "U1"))
    with pytest.raises(InputError, match="what is no text"):
        read_recording(tmp_path / "a.npz")
    arrays = {"W": PROBLEM.W, "y": PROBLEM.y, "gough_problem": 1, "names": np.frombuffer(b"\x00\xd8\x00\x00" * 2, "U1")}
    np.savez(tmp_path / "b.npz", **arrays, units=np.array(["", ""]), group_names=np.array(["rows"]), radius=1.0)
    with pytest.raises(InputError, match="what is no text"):
        read_problem(tmp_path / "b.npz")


def bomb(shape, kind="<f8", data=b"\0" * 64, method=zipfile.ZIP_DEFLATED):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr("q.npy", b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + data)
        archive.writestr("time.npy", b"")
    return out.getvalue()


@pytest.mark.parametrize("shape", ["(10000000000000,)", "(1000000, 1000000)", "(9999999999999999999999,)", "(-5,)"])
def test_an_array_that_claims_an_absurd_size_is_refused_before_it_is_allocated(tmp_path, shape):
    path = tmp_path / "a.npz"
    path.write_bytes(bomb(shape))
    for read in (read_recording, read_problem):
        with pytest.raises(InputError):
            read(path)


def test_an_archive_that_unpacks_out_of_all_proportion_is_refused(tmp_path):
    path = tmp_path / "a.npz"
    path.write_bytes(bomb("(40000000,)", data=bytes(320_000_000)))
    assert path.stat().st_size < 400_000
    with pytest.raises(InputError, match="made to fill the memory"):
        read_recording(path)


def test_a_matlab_file_that_unpacks_out_of_all_proportion_is_refused(tmp_path):
    head = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
    stream = zlib.compressobj(9)
    packed = b"".join(stream.compress(bytes(1 << 20)) for _ in range(300)) + stream.flush()
    path = tmp_path / "a.mat"
    path.write_bytes(head + np.array([15, len(packed)], "<u4").tobytes() + packed)
    assert path.stat().st_size < 400_000
    with pytest.raises(InputError, match="made to fill the memory"):
        read_recording(path)


def test_a_parquet_file_of_absurd_length_is_refused(tmp_path):
    pl = pytest.importorskip("polars")
    path = tmp_path / "a.parquet"
    frame = pl.DataFrame(
        {"time": pl.zeros(20_000_000, dtype=pl.Int8, eager=True), "q": pl.zeros(20_000_000, dtype=pl.Int8, eager=True)}
    )
    frame.write_parquet(path)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(InputError, match="made to fill the memory"):
        read_recording(path)


def test_a_parquet_page_with_a_negative_number_of_values_is_refused(tmp_path):
    """Polars would ask for 2⁶¹ bytes and abort."""
    path = tmp_path / "a.parquet"
    write_recording(path, Recording(["q"], [""], np.arange(8.0)[:, None], rate=1.0))
    content = path.read_bytes()
    head = b"\x2c\x15\x10\x15"  # of a page: 8 values
    assert head in content
    path.write_bytes(content.replace(head, b"\x2c\x15\x11\x15"))
    with pytest.raises(InputError, match="the head of a page is damaged"):
        read_recording(path)


@pytest.mark.parametrize(
    "contents",
    [
        b"\x19" * 4000,
        b"\x1c" * 4000,
        b"\x19\xfc\xff\xff\xff\xff\x0f",
        b"\x15" + b"\xff" * 30,
        b"",
        b"\x00",
        b"\x1d\x00",
    ],
)
def test_a_parquet_file_with_a_hostile_table_of_contents_is_refused(tmp_path, contents):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1" + contents + len(contents).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(InputError, match="not a complete Parquet file"):
        read_recording(path)


def test_json_certificates_nested_deeply_are_refused(tmp_path):
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"gough": "certificate"})[:-1] + f', "steps": {DEEP}}}')
    with pytest.raises(InputError, match="nested"):
        load(path)
