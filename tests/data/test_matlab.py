"""MATLAB files: read as scipy reads them, on files that MATLAB itself wrote; refused where scipy would crash."""

import io
import random
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from gough.core.errors import InputError
from gough.data import read_poses, read_recording
from gough.data.matlab import Refused, matlab_variables
from gough.data.pose_files import binary_columns

WRITTEN_BY_MATLAB = sorted((Path(scipy.io.__file__).parent / "matlab" / "tests" / "data").glob("*.mat"))


def saved(variables, **how) -> bytes:
    file = io.BytesIO()
    scipy.io.savemat(file, variables, **how)
    return file.getvalue()


def same(ours, theirs) -> bool:
    if isinstance(ours, Refused):
        plain = isinstance(theirs, np.ndarray) and theirs.dtype.names is None and theirs.dtype.kind in "fiub"
        return not plain
    if isinstance(ours, dict):
        names, structs = theirs.dtype.names or (), theirs.ravel(order="F")
        each = [ours] if theirs.size == 1 else list(ours.values())
        return len(each) == theirs.size and all(
            set(one) == set(names) and all(same(one[name], struct[name]) for name in names)
            for one, struct in zip(each, structs, strict=True)
        )
    if isinstance(ours, str):
        return isinstance(theirs, np.ndarray) and theirs.dtype.kind == "U"
    if isinstance(ours, list):
        texts = [str(np.asarray(cell).ravel()[0]) if np.size(cell) else "" for cell in theirs.ravel(order="F")]
        return ours == texts
    return np.array_equal(ours, theirs, equal_nan=True)


@pytest.mark.skipif(not WRITTEN_BY_MATLAB, reason="this scipy comes without its tests")
@pytest.mark.parametrize("path", WRITTEN_BY_MATLAB, ids=lambda path: path.stem)
def test_files_of_all_versions_are_read_as_scipy_reads_them(path):
    try:
        theirs = {n: v for n, v in scipy.io.loadmat(path).items() if not n.startswith("__")}
    except Exception:  # noqa: BLE001 - of many kinds
        with pytest.raises(InputError):
            read_recording(path)
        return
    ours = matlab_variables(path.read_bytes())
    assert set(ours) == set(theirs)
    for name, value in ours.items():
        assert same(value, theirs[name]), name


NUMBERS = st.sampled_from(
    [np.float64, np.float32, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64]
)


@given(values=NUMBERS.flatmap(lambda kind: arrays(kind, array_shapes(max_dims=3, max_side=5))), squash=st.booleans())
@settings(deadline=None)
def test_numbers_of_all_kinds_come_back(values, squash):
    ours = matlab_variables(saved({"a": values, "long_name_of_it": 1.5}, do_compression=squash))
    assert np.array_equal(ours["a"], np.atleast_2d(values), equal_nan=values.dtype.kind == "f")
    assert ours["long_name_of_it"] == 1.5


@given(values=arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=5)))
@settings(deadline=None)
def test_version_4_comes_back(values):
    ours = matlab_variables(saved({"a": values, "t": "some text"}, format="4"))
    assert np.array_equal(ours["a"], values, equal_nan=True)
    assert isinstance(ours["t"], str)


def test_the_rest_is_refused_by_kind():
    cells = np.array(["one", "", "zwei θ 😀"], dtype=object)
    mixed = np.array([np.arange(2), "x"], dtype=object)
    sparse = scipy.sparse.csc_array(np.eye(3))
    ours = matlab_variables(
        saved({"c": cells, "m": mixed, "s": {"a": 1}, "z": np.ones(2) * 1j, "p": sparse, "t": "text"})
    )
    assert ours["c"] == ["one", "", "zwei θ 😀"]
    assert ours["t"] == "text"
    assert [ours[n].why.split(":")[0] for n in "mzp"] == [
        "is a cell array",
        "holds complex numbers",
        "is sparse",
    ]


@pytest.mark.parametrize("how", [{}, {"do_compression": True}, {"format": "4"}], ids=str)
def test_no_damage_ends_in_anything_but_a_refusal(how):
    """Four thousand files with a few bytes changed; scipy's own reader crashes on one in a hundred of them."""
    cells = {} if "format" in how else {"c": np.array(["one", "two"], dtype=object), "s": {"a": 1}}
    good = saved({"q": np.arange(20.0).reshape(10, 2), "n": np.arange(4, dtype=np.int16), "t": "text", **cells}, **how)
    chance = random.Random(1)
    outcomes = set()
    for _ in range(4000):
        bad = bytearray(good)
        for _ in range(chance.randint(1, 3)):
            bad[chance.randrange(len(bad))] = chance.randrange(256)
        try:
            matlab_variables(bytes(bad))
            outcomes.add("read")
        except InputError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


@given(st.binary(max_size=400))
def test_no_bytes_end_in_anything_but_a_refusal(data):
    for content in (data, b"MATLAB 5.0".ljust(126) + b"IM" + data):
        try:
            matlab_variables(content)
        except InputError as error:
            assert str(error)  # noqa: PT017


# structs, and version 7.3 by h5py


N = 40
T = np.arange(N) / 500
Q = np.stack([np.sin(T), np.cos(T)], axis=1)
LOGGED = {
    "time": T[:, None],
    "q": Q,
    "motor": {"tau1": Q[:, :1], "unit": "N·m", "deep": {"tau2": Q[:, 1:] * 2}},
    "gain": 2.5,
}


def simulink():
    """What Simulink logs as a structure with time: `signals` is a struct array."""
    kind = [("values", object), ("dimensions", object), ("label", object)]
    signals = np.array([(Q, 2, "q"), (np.reshape(Q[:, 0], (1, 1, N)), 1, "tau")], dtype=kind)
    return {"time": T[:, None], "signals": signals, "blockName": "robot/log"}


def write_73(path, variables, *, user_block=512):
    """The layout of MATLAB's version 7.3, written by h5py: arrays with reversed shape, texts as UTF-16, references."""
    with h5py.File(path, "w", userblock_size=user_block) as file:
        file.create_group("#refs#")
        for name, value in variables.items():
            put_73(file, file, name, value)
    if user_block:
        with path.open("r+b") as raw:
            raw.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")


def put_73(file, group, name, value):
    if isinstance(value, dict):
        item = group.create_group(name)
        for field, each in value.items():
            put_73(file, item, field, each)
        kind = "struct"
    elif isinstance(value, str):
        item = group.create_dataset(name, data=np.frombuffer(value.encode("utf-16-le"), "<u2")[:, None])
        kind = "char"
    elif isinstance(value, list):
        item = group.create_dataset(
            name, data=np.array([referred(file, each) for each in value])[:, None], dtype=h5py.ref_dtype
        )
        kind = "cell"
    elif value.dtype.names:
        item = group.create_group(name)
        for field in value.dtype.names:
            item.create_dataset(
                field, data=np.array([[referred(file, each)] for each in value[field]]), dtype=h5py.ref_dtype
            )
        kind = "struct"
    else:
        how = {"compression": "gzip", "shuffle": True} if value.size > 1 else {}
        item = group.create_dataset(name, data=np.atleast_2d(value).T, **how)
        kind = {"f": "double", "i": "int64", "b": "logical", "V": "double"}[value.dtype.kind]
    item.attrs["MATLAB_class"] = np.bytes_(kind)


def referred(file, value):
    number = f"r{len(file['#refs#'])}"
    put_73(file, file["#refs#"], number, np.asarray(value) if isinstance(value, int | float) else value)
    return file["#refs#"][number].ref


def arrays_of(variables):
    return {
        name: arrays_of(value) if isinstance(value, dict) else np.asarray(value) if isinstance(value, float) else value
        for name, value in variables.items()
    }


@pytest.fixture(params=["5", "compressed", "7.3", "7.3 without a user block"])
def write(request):
    def writer(path, variables):
        if request.param.startswith("7.3"):
            write_73(path, arrays_of(variables), user_block=512 if request.param == "7.3" else 0)
        else:
            scipy.io.savemat(path, variables, do_compression=request.param == "compressed")
        return path

    return writer


COLUMNS = {"q1": "log.q1", "q2": "log.q2", "tau1": "log.motor.tau1", "tau2": "log.motor.deep.tau2"}


def test_fields_of_structs_have_dotted_names(write, tmp_path):
    path = write(tmp_path / "log.mat", {"log": LOGGED, "note": "noon"})
    recording = read_recording(path, time="log.time", columns=COLUMNS, units={"time": "s"})
    assert recording.rate == 500.0
    assert np.array_equal(recording.samples, np.column_stack([Q, Q[:, 0], 2 * Q[:, 1]]))
    with pytest.raises(InputError, match=r"has no column 'log\.q9'; did you mean 'log\.q"):
        read_recording(path, time="log.time", columns={"q": "log.q9"})


def test_a_simulink_structure_with_time(write, tmp_path):
    path = write(tmp_path / "out.mat", {"out": simulink()})
    columns = {"q1": "out.signals(1).values1", "q2": "out.signals(1).values2", "tau": "out.signals(2).values"}
    recording = read_recording(path, time="out.time", columns=columns)
    assert np.array_equal(recording.samples, np.column_stack([Q, Q[:, 0]]))


def test_matrices_and_dates_of_version_7_3(tmp_path):
    dates = [str(np.datetime64("2024-03-01T12:00:00.000") + 2 * i) for i in range(N)]
    whole = np.arange(N)
    write_73(tmp_path / "log.mat", {"time": dates, "q": Q, "n": whole, "empty": ["", "x"], "rate": np.asarray(500.0)})
    recording = read_recording(tmp_path / "log.mat")
    assert recording.names == ("n", "q1", "q2")
    assert recording.began == "2024-03-01 12:00:00"
    assert np.array_equal(recording.samples, np.column_stack([whole, Q]))


def test_the_rest_of_version_7_3_is_refused_by_kind(tmp_path):
    path = tmp_path / "log.mat"
    complex_numbers = np.zeros(N, dtype=[("real", "f8"), ("imag", "f8")])
    write_73(path, {"time": T, "q": Q})
    with h5py.File(path, "r+") as file:
        file.create_dataset("complex", data=complex_numbers).attrs["MATLAB_class"] = np.bytes_("double")
        when = file.create_dataset("when", data=np.zeros((1, 6), dtype="u4"))
        when.attrs.update(MATLAB_class=np.bytes_("datetime"), MATLAB_object_decode=3)
        sparse = file.create_group("sparse")
        sparse.attrs.update(MATLAB_class=np.bytes_("double"), MATLAB_sparse=3)
        mixed = np.array([[file["q"].ref], [file["q"].ref]])
        file.create_dataset("cells", data=mixed, dtype=h5py.ref_dtype).attrs["MATLAB_class"] = np.bytes_("cell")
    assert np.array_equal(read_recording(path, columns={"q1": "q1"})["q1"], Q[:, 0])
    for name, why in (
        ("complex", "holds complex numbers"),
        ("when", r"save plain arrays, of dates t for instance posixtime\(t\)"),
        ("sparse", "is sparse"),
        ("cells", "is a cell array"),
    ):
        with pytest.raises(InputError, match=f"array '{name}' .*{why}"):
            read_recording(path, columns={"x": name})


def test_version_7_3_opens_no_other_file_and_no_bomb(tmp_path):
    path, other = tmp_path / "log.mat", tmp_path / "secret.h5"
    with h5py.File(other, "w") as file:
        file["q"] = Q[:, 0]
    write_73(path, {"time": T, "q": Q})
    with h5py.File(path, "r+") as file:
        file["elsewhere"] = h5py.ExternalLink("secret.h5", "/q")
        file["soft"] = h5py.SoftLink("/q")
        file.create_dataset("outside", (N,), "f8", external=[(str(other), 0, N * 8)])
        layout = h5py.VirtualLayout((N,), "f8")
        layout[:] = h5py.VirtualSource(str(other), "q", (N,))
        file.create_virtual_dataset("virtual", layout)
        file["loop"] = file["/"]
    for name in ("elsewhere", "soft", "outside", "virtual"):
        with pytest.raises(InputError):
            read_recording(path, columns={"x": name})
    with h5py.File(path, "r+") as file:
        del file["loop"]
    for name in ("elsewhere", "soft", "outside", "virtual"):
        with pytest.raises(InputError, match="is stored in another file"):
            read_recording(path, columns={"x": name})
    with h5py.File(path, "r+") as file:
        file.create_dataset("bomb", (1 << 40,), "f8", chunks=(1 << 16,), compression="gzip")
    with pytest.raises(InputError, match="made to fill the memory"):
        read_recording(path, columns={"q1": "q1"})


def test_without_h5py_the_message_says_what_to_do(tmp_path, monkeypatch):
    write_73(tmp_path / "log.mat", {"time": T, "q": Q})
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(
        InputError, match=r"version 7.3, which needs h5py: pip install '.\[matlab\]' .* or save it with -v7"
    ):
        read_recording(tmp_path / "log.mat")


def test_damaged_structs_are_refused_or_read():
    good = saved({"log": LOGGED, "out": simulink()})
    chance = random.Random(2)
    outcomes = set()
    for _ in range(1500):
        bad = bytearray(good)
        for _ in range(chance.randint(1, 3)):
            bad[chance.randrange(128, 900)] = chance.randrange(256)
        try:
            matlab_variables(bytes(bad))
            outcomes.add("read")
        except InputError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


def test_a_struct_for_each_sample_is_refused(tmp_path):
    many = np.zeros(N * 5, dtype=[("q", object)])
    scipy.io.savemat(tmp_path / "log.mat", {"log": many, "time": T, "q": Q})
    assert len(read_recording(tmp_path / "log.mat", columns={"q1": "q1"})) == N
    with pytest.raises(InputError, match="array 'log' is an array of 1 × 200 structs, of which 100 at most are read"):
        read_recording(tmp_path / "log.mat", columns={"x": "log"})


def test_poses_in_a_struct_are_those_that_the_checker_reads(write, tmp_path):
    position, readings = np.random.default_rng(3).normal(size=(2, 7, 3))
    path = write(tmp_path / "poses.mat", {"log": {"p": position, "legs": {"l": readings}}})
    columns = {name: f"log.p{i + 1}" for i, name in enumerate("xyz")}
    columns |= {f"l{i + 1}": f"log.legs.l{i + 1}" for i in range(3)}
    poses = read_poses(path, columns=columns, chains=3)
    heads, column = binary_columns(path)
    assert np.array_equal(poses.position, position)
    assert np.array_equal(poses.readings, readings)
    raw = {name: column(heads.index(head)) for name, head in columns.items()}
    assert all(np.array_equal(raw[name], position[:, i]) for i, name in enumerate("xyz"))
    assert all(np.array_equal(raw[f"l{i + 1}"], readings[:, i]) for i in range(3))


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long doubles are doubles on this processor")
def test_numbers_that_doubles_do_not_hold_are_refused(tmp_path):
    """What is read counts as the raw value in certificates."""
    np.savez(tmp_path / "log.npz", time=T, q=np.arange(N, dtype=np.longdouble))
    write_73(tmp_path / "log.mat", {"time": T})
    with h5py.File(tmp_path / "log.mat", "r+") as file:
        file["q"] = np.arange(N, dtype=np.longdouble)
    for suffix in ("npz", "mat"):
        with pytest.raises(InputError, match="array 'q' holds numbers with more digits than a double"):
            read_recording(tmp_path / f"log.{suffix}")
