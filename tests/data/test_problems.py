"""Problems on disk: bit for bit, atomic, and refused clearly."""

import json
import zipfile

import numpy as np
import pytest

from gough import Bounded, Box, ConfidenceEllipsoid, Gaussian, Groups, InputError, LinearProblem, Unknowns
from gough.checker import digest
from gough.core.sealed import sealed
from gough.data import read_problem, write_problem

W = np.array([[1.0, -0.0], [5e-324, 1e300], [0.1, 1 / 3], [-2.5, 1e-300]])
Y = np.array([0.1, -1e308, 5e-324, 3.0])
PLAIN = Unknowns(["mass", "fv_1"], ["kg", "N·m·s/rad"])
BOXED = Unknowns(["mäß, \n", "b"], nominal=[0.1, 2], prior=Box([-np.inf, 0.1], [5e-324, np.inf]))
BELIEVED = Unknowns(["a", "b"], prior=ConfidenceEllipsoid([0.1, 0.2], [[2, 0.1], [0.1, 1]], level=0.9, dof=7))
PAIR = np.array([[2.0, 0.5], [0.5, 1.0]])

PROBLEMS = {
    "plain": LinearProblem(W, Y, PLAIN),
    "variance": LinearProblem(W, Y, BOXED, Gaussian(0.1)),
    "variances": LinearProblem(W, Y, BELIEVED, Gaussian([0.1, 0.2, 0.3, 5e-324])),
    "block": LinearProblem(W, Y, PLAIN, Gaussian(PAIR), Groups(("left", "right"))),
    "blocks": LinearProblem(W, Y, PLAIN, Gaussian([PAIR, 3 * PAIR]), Groups(("left", "right"))),
    "full": LinearProblem(W, Y, PLAIN, Gaussian(np.diag([0.1, 0.2, 0.3, 0.4]))),
    "radius": LinearProblem(W, Y, PLAIN, Bounded(0.1)),
    "radii": LinearProblem(W, Y, BOXED, Bounded([0.0, 5e-324, 0.1, 1e300])),
    "regressor": LinearProblem(W, Y, PLAIN, Bounded(0.1, abs(W))),
    "regressor of one size": LinearProblem(W, Y, PLAIN, Bounded(0.1, 0.2)),
    "gaps": LinearProblem(W, Y, PLAIN, Bounded(0.1), Groups(("left", "right"), np.array([0, 1, 5, 12]))),
    "poses": LinearProblem(W, Y, PLAIN, groups=Groups(("left", "right"), is_series=False)),
    "fortran": LinearProblem(np.asfortranarray(W), Y, PLAIN, Bounded(0.1)),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "problem.npz"


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_problems_return_exactly(problem, path):
    write_problem(problem, path)
    back = read_problem(path)
    assert back == problem
    assert back.W.tobytes() == problem.W.tobytes()
    assert back.groups.position is None or back.groups.position.dtype == np.int64
    assert [file.name for file in path.parent.iterdir()] == ["problem.npz"]
    if isinstance(problem.noise, Bounded):
        assert digest(back) == digest(problem)


BOUNDED = {name: problem for name, problem in PROBLEMS.items() if isinstance(problem.noise, Bounded)}


@pytest.mark.parametrize("problem", BOUNDED.values(), ids=BOUNDED.keys())
def test_problems_return_exactly_from_text(problem, tmp_path):
    path = tmp_path / "problem.json"
    write_problem(problem, path)
    back = read_problem(path)
    assert back == problem
    assert back.W.tobytes() == np.ascontiguousarray(problem.W).tobytes()  # the sign of a zero is kept
    assert digest(back) == digest(problem)
    data = json.loads(path.read_text(encoding="utf-8"))
    assert [len(data[key]) for key in ("names", "W", "y")] == [2, 4, 4]


@pytest.mark.parametrize("name", ["plain", "variance"])
def test_text_holds_bounds_only(name, tmp_path):
    with pytest.raises(InputError, match=r"error bounds \(Bounded\)"):
        write_problem(PROBLEMS[name], tmp_path / "problem.json")
    believed = LinearProblem(W, Y, BELIEVED, Bounded(0.1))
    with pytest.raises(InputError, match=r"a box as prior: write an \.npz file"):
        write_problem(believed, tmp_path / "problem.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gough": "certificate"}, "not a linear problem"),
        ({"version": 2}, "newer gough"),
        ({"version": True}, "version"),
        ({"weights": 1}, "no 'weights'"),
        ({"names": ["a", "a"]}, "differ"),
        ({"names": ["a", "\ud800"]}, "surrogate"),
        ({"names": ["a", 1]}, "list of texts"),
        ({"names": ["a"]}, "units"),
        ({"units": []}, "units"),
        ({"nominal": [1.0]}, "nominal"),
        ({"lower": [None, 2.0], "upper": [None, 1.0]}, "upside down"),
        ({"lower": [None, "1/3"]}, "lower must be a list of numbers"),
        ({"lower": [None]}, "sides"),
        ({"lower": None}, "lower"),
        ({"groups": []}, "group names"),
        ({"groups": ["a", "b", "c"]}, "multiple of 3"),
        ({"position": [0, 1, 1, 2]}, "rise"),
        ({"position": [0, 1, 2, 2**63]}, "63 bits"),
        ({"position": [0, 1, 2, 3.0]}, "whole numbers"),
        ({"y": [0.1, 1.0, 2.0]}, "W must have a row"),
        ({"y": [0.1, 1.0, 2.0, True]}, "y must be a list of numbers"),
        ({"y": [0.1, 1.0, 2.0, 2**53 + 1]}, "no double"),
        ({"radius": -0.5}, "≥ 0"),
        ({"radius": [0.5, 0.5]}, "error bounds"),
        ({"radius": None}, "radius"),
        ({"regressor": [[0.5, 0.5]]}, "shape of W"),
        ({"regressor": -0.5}, "≥ 0"),
        ({"W": [[1.0, 2.0], [3.0]]}, "W must be a table"),
        ({"W": []}, "W must be a table"),
        ({"W": [[float("nan"), 2.0]] * 4}, "NaN"),
    ],
)
def test_malformed_text_is_refused_in_words(change, message, tmp_path):
    path = tmp_path / "problem.json"
    write_problem(PROBLEMS["radius"], path)
    data = json.loads(path.read_text(encoding="utf-8")) | change
    data.pop("seal")
    path.write_text(sealed(json.dumps(data)[:-1]), encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        read_problem(path)
    assert str(path) in str(caught.value)


def test_changed_text_is_refused(tmp_path):
    path = tmp_path / "problem.json"
    write_problem(PROBLEMS["radius"], path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("0.1", "0.2", 1), encoding="utf-8")
    with pytest.raises(InputError, match="seal is broken"):
        read_problem(path)
    with pytest.raises(InputError, match="no such file"):
        read_problem(tmp_path / "other.json")


def bases(array):
    while array is not None:
        yield array
        array = getattr(array, "base", None)


@pytest.mark.parametrize("name", ["radii", "fortran", "gaps"])
def test_a_mapped_matrix_is_the_same_and_stays_on_disk(name, path):
    write_problem(PROBLEMS[name], path)
    mapped = read_problem(path, map_W=True)
    assert mapped == PROBLEMS[name]
    assert digest(mapped) == digest(PROBLEMS[name])
    assert not mapped.W.flags.owndata
    assert any(isinstance(base, np.memmap) for base in bases(mapped.W))


def test_a_matrix_that_cannot_be_mapped(arrays, path):
    np.savez_compressed(path, **arrays)
    assert read_problem(path) == PROBLEMS["radius"]
    with pytest.raises(InputError, match="'W' is compressed"):
        read_problem(path, map_W=True)
    np.savez(path, **{**arrays, "W": np.array([[{}, {}]] * 4)})
    with pytest.raises(InputError, match="'W' has type object"):
        read_problem(path, map_W=True)
    np.savez(path, **{**arrays, "W": np.empty((0, 2))})
    with pytest.raises(InputError, match=r"problem\.npz"):
        read_problem(path, map_W=True)


def test_the_suffix_is_the_users(tmp_path):
    write_problem(PROBLEMS["plain"], tmp_path / "problem.gough")
    assert read_problem(str(tmp_path / "problem.gough")) == PROBLEMS["plain"]


def test_nothing_is_overwritten_unasked(path):
    write_problem(PROBLEMS["plain"], path)
    with pytest.raises(InputError, match="exists"):
        write_problem(PROBLEMS["radius"], path)
    assert read_problem(path) == PROBLEMS["plain"]
    write_problem(PROBLEMS["radius"], path, overwrite=True)
    assert read_problem(path) == PROBLEMS["radius"]


def test_a_failed_write_leaves_nothing(path, monkeypatch):
    def fail(file, **_):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="No space"):
        write_problem(PROBLEMS["plain"], path)
    assert list(path.parent.iterdir()) == []


def test_names_that_numpy_would_change_are_refused(path):
    with pytest.raises(InputError, match="NUL"):
        write_problem(LinearProblem([[1.0]], [1.0], Unknowns(["a\0"])), path)
    with pytest.raises(InputError, match="no folder"):
        write_problem(PROBLEMS["plain"], path.parent / "nowhere" / "p.npz")


@pytest.fixture
def arrays(path):
    """The arrays in the file of a good problem."""
    write_problem(PROBLEMS["radius"], path)
    with np.load(path) as archive:
        return dict(archive)


@pytest.mark.parametrize("field", ["W", "y", "names", "units", "group_names", "gough_problem", "prior_lower", "radius"])
def test_a_missing_array_is_named(field, arrays, path):
    del arrays[field]
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=field) as caught:
        read_problem(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Wx": np.ones(2)}, "unknown array 'Wx'"),
        ({"regresor": np.ones(2)}, "did you mean 'regressor'"),
        ({"W": np.ones((4, 3))}, "W"),
        ({"W": np.ones(4)}, "W must have 2 dimension"),
        ({"W": np.full((4, 2), np.nan)}, "W is nan in row 0"),
        ({"W": np.array([["x", "y"]] * 4)}, "W must be an array of real numbers"),
        ({"W": W.astype(complex)}, "W must be real"),
        ({"y": np.ones(3)}, "y"),
        ({"names": np.array(["a", "a"])}, "names must differ"),
        ({"names": np.array([1, 2])}, "'names' must be a list of texts"),
        ({"units": np.array("kg")}, "'units' must be a list of texts"),
        ({"nominal": np.ones(3)}, "nominal"),
        ({"prior_upper": np.ones(3)}, "Box"),
        ({"belief_center": np.ones(2)}, "box or a belief"),
        ({"radius": np.array(-1.0)}, "error bound"),
        ({"covariance": np.array(1.0)}, "one of the arrays"),
        ({"group_position": np.array([0.5, 1, 2, 3])}, "positions must be whole"),
        ({"group_is_series": np.array([True, False])}, "'group_is_series' must be true or false"),
        ({"gough_problem": np.array(2)}, "newer gough"),
        ({"gough_problem": np.array("1")}, "version"),
    ],
)
def test_wrong_arrays_are_refused_in_words(change, message, arrays, path):
    np.savez(path, **{**arrays, **change})
    with pytest.raises(InputError, match=message) as caught:
        read_problem(path)
    assert str(path) in str(caught.value)


def test_beliefs_are_complete_and_scalar(path):
    write_problem(PROBLEMS["variances"], path)
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **{**arrays, "belief_level": np.ones(2)})
    with pytest.raises(InputError, match="'belief_level' must be a number"):
        read_problem(path)
    del arrays["belief_dof"]
    np.savez(path, **arrays)
    with pytest.raises(InputError, match="belief_dof"):
        read_problem(path)


def test_a_pickled_array_is_never_opened(arrays, path):
    np.savez(path, **{**arrays, "units": np.array(["kg", {}], dtype=object)})
    with pytest.raises(InputError, match="'units' cannot be read: it holds pickled Python objects"):
        read_problem(path)


def test_files_that_are_no_problem(tmp_path, path):
    with pytest.raises(InputError, match="no such file"):
        read_problem(path)
    with pytest.raises(InputError, match="no such file"):
        read_problem(tmp_path)
    for content in (b"", b"mass,y\n1,2\n", b"\x80\x04K\x01.", b"PK\x03\x04", b"\x93NUMPY"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"not a complete \.npz"):
            read_problem(path)
    with (tmp_path / "single").open("wb") as file:
        np.save(file, W)
    with pytest.raises(InputError, match="single array"):
        read_problem(tmp_path / "single")
    write_problem(PROBLEMS["radius"], tmp_path / "good")
    with zipfile.ZipFile(tmp_path / "good") as good, zipfile.ZipFile(path, "w") as archive:
        for field in good.namelist():
            archive.writestr(field, "text")
    with pytest.raises(InputError, match="is not an array"):
        read_problem(path)


def test_every_truncation_and_every_flipped_byte_is_refused_or_harmless(path):
    write_problem(PROBLEMS["radius"], path)
    whole = path.read_bytes()
    for end in range(0, len(whole), 7):
        path.write_bytes(whole[:end])
        with pytest.raises(InputError):
            read_problem(path)
    for place in range(0, len(whole), 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        for map_W in (False, True):
            try:
                back = read_problem(path, map_W=map_W)
            except InputError:
                continue
            assert map_W or back == PROBLEMS["radius"], place
