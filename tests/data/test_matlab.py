"""MATLAB files: read as scipy reads them, on files that MATLAB itself wrote; refused where scipy would crash."""

import io
import random
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from gough.core.errors import InputError
from gough.data import read_recording
from gough.data.matlab import Refused, matlab_variables

WRITTEN_BY_MATLAB = sorted((Path(scipy.io.__file__).parent / "matlab" / "tests" / "data").glob("*.mat"))


def saved(variables, **how) -> bytes:
    file = io.BytesIO()
    scipy.io.savemat(file, variables, **how)
    return file.getvalue()


def same(ours, theirs) -> bool:
    if isinstance(ours, Refused):
        plain = isinstance(theirs, np.ndarray) and theirs.dtype.names is None and theirs.dtype.kind in "fiub"
        return not plain
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
    assert [ours[n].why.split(":")[0] for n in "mszp"] == [
        "is a cell array",
        "is a struct",
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
