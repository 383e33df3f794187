"""What arrays are taken: numbers that doubles hold exactly, in memory that nobody else can write to."""

from collections import deque
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from gough import Bounded, Box, Gaussian, InputError, LinearProblem, Unknowns
from gough.checker.leg_equations import LegMeasurements, PlatformMeasurements
from gough.core.arrays import array, frozen

LONG = np.finfo(np.longdouble).nmant > 52
REFUSED = {
    "int64 beyond 2^53": (np.array([1, 2**53 + 1]), r"y\[1\] is 9007199254740993.*round it yourself"),
    "uint64": (np.array([2**64 - 1], dtype=np.uint64), "no double equals"),
    "negative int64": (np.array([-(2**53) - 1]), "no double equals"),
    "list of ints": ([0, 2**53 + 1], r"y\[1\]"),
    "ints among floats": ([0.5, 2**53 + 1], r"y\[1\]"),
    "ints among floats in a deque": (deque([0.5, 2**53 + 1]), r"y\[1\]"),
    "int array in a list": ([np.array([2**53 + 1]), np.array([0.5])], r"y\[0, 0\]"),
    "int beyond all doubles": ([10**400], "beyond all doubles"),
    "fraction": ([Fraction(1, 3)], r"y\[0\] is 1/3, which no double equals"),
    "decimal": ([Decimal("0.1")], "no double equals"),
    "masked": (np.ma.array([1.0, 2.0], mask=[False, True]), r"y\[1\] is masked"),
    "masked scalar in a list": ([1.0, np.ma.masked], "masked"),
    "masked rows in a list": ([np.ma.array([1.0], mask=[True])], "masked"),
    "bool": (np.array([True, False]), "true and false"),
    "bool among numbers": ([1.0, True], r"y\[1\] must be a real number"),
    "bool among ints": ([1, True], r"y\[1\] must be a real number"),
    "text": (["1.0"], "real numbers"),
    "bytes": ([b"1"], "real numbers"),
    "dates": (np.array(["2026-01-01"], dtype="datetime64[D]"), "dates"),
    "spans": (np.array([1], dtype="timedelta64[s]"), "spans of time"),
    "span among numbers": (np.array([np.timedelta64(1, "s"), 1.0], dtype=object), r"y\[0\] must be a real number"),
    "complex": (np.array([1j]), "complex"),
    "none": ([None], r"y\[0\] must be a real number"),
    "records": (np.zeros(1, dtype=[("a", float)]), "real numbers"),
}
if LONG:
    REFUSED["long double"] = (np.array([1.0, 0.1], dtype=np.longdouble) / 3, "no double equals")
    REFUSED["long double in a list"] = ([np.longdouble(1) / 3], "no double equals")
    REFUSED["tiny long double"] = (np.array([np.longdouble(2) ** -1100]), "no double equals")

TAKEN = {
    "float32": np.array([0.1, 2], dtype=np.float32),
    "float16": np.array([0.1], dtype=np.float16),
    "big-endian": np.array([0.1], dtype=">f8"),
    "int": np.array([1, 2**53]),
    "small ints": np.array([-3], dtype=np.int8),
    "exact beyond 2^53": np.array([2**60]),
    "long double": np.array([0.1], dtype=np.float64).astype(np.longdouble),
    "fraction": [Fraction(1, 4), Decimal("0.5"), 3, 0.1],
    "nothing masked": np.ma.array([1.0, 2.0], mask=[False, False]),
    "tuple": (1.0, 2),
}


@pytest.mark.parametrize(("value", "says"), REFUSED.values(), ids=REFUSED)
def test_what_no_double_holds_is_refused(value, says):
    with pytest.raises(InputError, match=says):
        array(value, "y", ndim=1)


@pytest.mark.parametrize("value", TAKEN.values(), ids=TAKEN)
def test_what_a_double_holds_is_taken_exactly(value):
    taken = array(value, "y", ndim=1)
    assert taken.dtype == np.float64
    given = value if isinstance(value, list | tuple) else np.asarray(value).tolist()
    assert [Fraction(x) for x in taken.tolist()] == [
        Fraction(x) if not isinstance(x, np.longdouble) else Fraction(float(x)) for x in given
    ]


@pytest.mark.parametrize(("value", "says"), REFUSED.values(), ids=REFUSED)
def test_every_door_refuses_it(value, says):
    unknowns = Unknowns(["a"])
    try:
        ones = np.ones((len(value), 1))
    except TypeError:
        ones = np.ones((1, 1))
    says = says.replace(r"y\[", r"\[")
    for use in (
        lambda: LinearProblem(ones, value, unknowns, Bounded(1.0)),
        lambda: Bounded(value),
        lambda: Gaussian(value),
        lambda: Box(value, value),
        lambda: Unknowns([f"p{i}" for i in range(len(ones))], nominal=value),
        lambda: LegMeasurements(np.tile([1.0, 0, 0, 0], (len(ones), 1)), np.ones((len(ones), 3)), value, 0, 0, 0),
    ):
        with pytest.raises(InputError, match=says):
            use()


def test_whoever_gave_an_array_cannot_change_a_problem():
    W, y, e, D, lower, upper = np.eye(2), np.ones(2), np.ones(2), np.zeros((2, 2)), np.zeros(2), np.full(2, 9.0)
    problem = LinearProblem(W, y, Unknowns(["a", "b"], nominal=y, prior=Box(lower, upper)), Bounded(e, D))
    again = LinearProblem(W[::1], y[:], problem.unknowns, Bounded(e.view(), D.T))
    same = LinearProblem(np.eye(2), np.ones(2), problem.unknowns, Bounded(np.ones(2), np.zeros((2, 2))))
    for given in (W, y, e, D, lower, upper):
        given[:] = 7
    assert problem == same
    assert again == same
    assert (problem.unknowns.bounds.lower == 0).all()
    assert (problem.unknowns.nominal == 1).all()
    for held in (problem.W, problem.y, problem.noise.radius, problem.noise.regressor, problem.unknowns.bounds.lower):
        with pytest.raises(ValueError, match="read-only"):
            held[0] = 3.0
        with pytest.raises(ValueError, match="WRITEABLE"):
            held.flags.writeable = True


def test_a_read_only_view_of_what_can_be_written_is_copied():
    base = np.ones(3)
    view = base.view()
    view.flags.writeable = False
    taken = array(view, "y", ndim=1)
    base[0] = 5
    assert taken[0] == 1


def test_measurements_have_arrays_of_their_own():
    reading, position, tolerance = np.ones(2), np.ones((2, 3)), np.zeros(2)
    quaternion = np.tile([1.0, 0, 0, 0], (2, 1))
    leg = LegMeasurements(quaternion, position, reading, 0.0, 0.0, tolerance)
    platform = PlatformMeasurements(quaternion, position, reading[:, None], 0.0, 0.0, tolerance[:, None])
    for given in (quaternion, reading, position, tolerance):
        given[:] = 7
    assert (leg.reading == 1).all()
    assert (leg.position == 1).all()
    assert (leg.reading_tolerance == 0).all()
    assert (platform.quaternion[:, 1] == 0).all()


def test_what_cannot_be_written_is_not_copied(tmp_path):
    owned = frozen(np.ones((3, 1)))
    problem = LinearProblem(owned, np.ones(3), Unknowns(["a"]))
    assert np.shares_memory(problem.W, owned)
    again = LinearProblem(problem.W, problem.y, problem.unknowns)
    assert np.shares_memory(again.W, owned)
    np.save(tmp_path / "W.npy", np.ones((3, 1)))
    mapped = np.load(tmp_path / "W.npy", mmap_mode="r")
    for part in (mapped, mapped[1:]):
        assert np.shares_memory(LinearProblem(part, np.ones(len(part)), Unknowns(["a"])).W, mapped)


@pytest.mark.parametrize("mode", ["r+", "c"])
def test_a_memory_map_that_is_open_for_writing_is_refused(tmp_path, mode):
    np.save(tmp_path / "W.npy", np.ones((3, 1)))
    mapped = np.load(tmp_path / "W.npy", mmap_mode=mode)
    view = mapped.view()
    view.flags.writeable = False
    for given in (mapped, view):
        with pytest.raises(InputError, match=r"W is a memory map that is open for writing.*mode 'r'"):
            LinearProblem(given, np.ones(3), Unknowns(["a"]))
