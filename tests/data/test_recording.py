"""Recordings as values."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.data import Recording

SWING = Recording(["q1", "q2", "V1"], ["rad", "deg", "mV"], [[1.0, 90.0, 5.0], [2.0, 180.0, 6.0]], 100.0, 3.0, "swing")


def test_channels_by_name():
    assert SWING["q2"].tolist() == [90.0, 180.0]
    assert SWING.unit("V1") == "mV"
    assert SWING.times.tolist() == [3.0, 3.01]
    assert len(SWING) == 2
    assert SWING.duration == 0.01
    chosen = SWING.select(["V1", "q1"])
    assert chosen.names == ("V1", "q1")
    assert chosen.units == ("mV", "rad")
    assert chosen.samples.tolist() == [[5.0, 1.0], [6.0, 2.0]]
    assert (chosen.rate, chosen.start, chosen.source) == (100.0, 3.0, "swing")
    assert np.array_equal(SWING.columns(["V1", "q1"]), chosen.samples)


def test_units_convert_and_back():
    si = SWING.in_si()
    assert si.units == ("rad", "rad", "V")
    assert si["q2"] == pytest.approx([np.pi / 2, np.pi], rel=1e-15)
    assert si["V1"] == pytest.approx([0.005, 0.006], rel=1e-15)
    assert si.in_si() is si
    back = si.in_units({"q2": "deg", "V1": "mV"})
    assert back.units == SWING.units
    assert back.samples == pytest.approx(SWING.samples, rel=1e-15)
    turns = SWING.to("rev", "V")
    assert turns.units == ("rev", "rev", "V")
    assert turns["q2"] == pytest.approx([0.25, 0.5], rel=1e-15)


def test_values_are_compared_by_content():
    again = Recording(SWING.names, SWING.units, SWING.samples.copy(), 100.0, 3.0, "swing")
    assert again == SWING
    assert again.to("mrad") != SWING


def test_the_table_counts_what_is_missing():
    text = str(
        Recording(["a", "b"], ["", "V"], [[np.nan, 1.0], [np.nan, np.nan], [np.nan, 3.0]], 10.0, source="log.csv")
    )
    assert text.splitlines() == [
        "log.csv: 3 samples at 10 Hz, 0.2 s",
        "channel  unit  least  greatest  missing",
        "───────  ────  ─────  ────────  ───────",
        "a                  —         —        3",
        "b        V     1.000     3.000        1",
        "channel 'a' has no sample at all",
    ]


@pytest.mark.parametrize(
    ("unit", "channel", "remark"),
    [
        ("rad", [0.0, 13.0], "channel 'q' reaches 13 rad, more than two turns: if these are degrees, state"),
        ("rad", [3.1, np.nan, 3.1, -3.1], "channel 'q' jumps by 6.2 rad after row 3"),
        ("V", [1.5, 1.5], "channel 'q' never changes: is it connected?"),
        ("deg", [0.0, 1000.0], None),
        ("rad", [0.0, 2.0, 4.0, 6.0, 8.0], None),
        ("rad", [0.0], None),
    ],
)
def test_what_looks_odd_is_remarked_on(unit, channel, remark):
    remarks = Recording(["q"], [unit], np.array(channel)[:, None], 1.0).remarks
    assert len(remarks) == (remark is not None)
    assert remark is None or remarks[0].startswith(remark)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"names": []}, "at least one channel"),
        ({"names": ["a", "a"]}, "channel 'a' stands more than once"),
        ({"units": ["V"]}, "2 channels need as many units, not 1"),
        ({"units": ["V", "dge"]}, "channel 'b': 'dge' is not a unit that gough knows; did you mean 'deg'"),
        ({"samples": np.zeros((4, 3))}, r"2 channels \(a, b\) need as many columns, but there are 3"),
        ({"samples": np.zeros((0, 2))}, "at least one sample"),
        ({"samples": np.zeros(4)}, "samples must have 2 dimension"),
        ({"samples": [[1.0, np.inf]]}, "channel 'b' is infinite in row 1"),
        ({"samples": [["x", "y"]]}, "samples must be an array of real numbers"),
        ({"rate": 0.0}, "rate must be a positive number, not 0"),
        ({"rate": np.nan}, "rate must be a positive number, not nan"),
        ({"start": np.inf}, "start must be a finite number, not inf"),
    ],
)
def test_what_is_no_recording_is_refused(fields, words):
    good = {"names": ["a", "b"], "units": ["V", "V"], "samples": np.zeros((4, 2)), "rate": 1.0}
    with pytest.raises(InputError, match=words):
        Recording(**{**good, **fields})


def test_unknown_channels_are_refused_by_the_nearest():
    with pytest.raises(InputError, match="there is no channel 'v1' in swing; did you mean 'V1'"):
        SWING["v1"]
    with pytest.raises(InputError, match="there is no channel 'torque' in swing; there are: q1, q2, V1"):
        SWING.select(["torque"])
    with pytest.raises(InputError, match="channel 'q1': 'rad' cannot become 'mm'"):
        SWING.in_units({"q1": "mm"})
