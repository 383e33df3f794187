"""Recordings of a study: the units of times, dates, and missing samples."""

import re

import numpy as np
import pytest

from gough.cli.app import run
from gough.core.errors import InputError
from gough.studies import IdentificationStudy

STUDY = """[robot]
family = "five-bar"
[data]
{data}
[[data.recordings]]
file = "log.csv"
[data.units]
{units}
[preparation]
cutoff = "10 Hz"
"""
N = 1500


def motion(n=N, rate=500.0):
    t = np.arange(n) / rate
    return t, np.stack([2 + 0.3 * np.sin(9 * t), 1 + 0.3 * np.cos(7 * t), np.cos(9 * t), np.sin(7 * t)], axis=1)


def study_of(folder, times, head="time", *, data="", units="", samples=None):
    samples = motion(len(times))[1] if samples is None else samples
    cells = [
        [str(t), *("" if np.isnan(x) else repr(float(x)) for x in row)] for t, row in zip(times, samples, strict=True)
    ]
    rows = [f"{head},q1,q2,tau1,tau2", *(",".join(row) for row in cells)]
    (folder / "log.csv").write_text("\n".join(rows) + "\n")
    (folder / "study.toml").write_text(STUDY.format(data=data, units=units))
    return IdentificationStudy.read(folder / "study.toml")


def dates(n=N):
    return np.datetime64("2024-03-01T12:00:00.000", "ms") + 2 * np.arange(n)


def test_times_in_every_form_give_the_same_motion(tmp_path):
    t, _ = motion()
    seconds = study_of(tmp_path, t).motion()
    assert seconds.rate == 50.0
    for times, how in (
        (2 * np.arange(N), {"units": 'time = "ms"'}),
        (2 * np.arange(N), {"head": "time [ms]"}),
        (2 * np.arange(N), {"head": "clock", "data": 'time = "clock"', "units": 'time = "ms"'}),
        (2 * np.arange(N), {"head": "clock", "data": 'time = "clock"', "units": 'clock = "ms"'}),
        (dates(), {}),
        (t, {"data": 'time = ""\nrate = "500 Hz"'}),
    ):
        other = study_of(tmp_path, times, **how).motion()
        for field in ("q", "dq", "ddq", "efforts", "kept"):
            assert np.array_equal(getattr(other, field), getattr(seconds, field)), (how, field)
    assert "began 2024-03-01 12:00:00" in study_of(tmp_path, dates()).motion().account[0].did


def test_a_wrong_unit_of_the_times_is_suggested_with_the_key_of_the_study(tmp_path):
    study = study_of(tmp_path, 2 * np.arange(N))
    with pytest.raises(
        InputError, match=re.escape("(500 Hz), state units={'time': 'ms'}, in a study [data.units] time = \"ms\"")
    ):
        study.motion()


def test_a_unit_of_an_unknown_channel_is_refused_with_its_line(tmp_path):
    study = study_of(tmp_path, motion()[0], units='tme = "ms"')
    with pytest.raises(InputError, match=r"line 8, \[data.units\] tme: no channel is called so; did you mean 'time'"):
        study.motion()


def test_isolated_blanks_are_bridged_if_the_study_says_so(tmp_path):
    t, samples = motion()
    samples[700, 0] = samples[900:903, 3] = np.nan
    samples[300:310, 2] = np.nan
    refused = study_of(tmp_path, t, samples=samples)
    with pytest.raises(InputError, match='state missing = "mask" or "bridge"'):
        refused.motion()
    masked = study_of(tmp_path, t, samples=samples, data='missing = "mask"').motion()
    bridged = study_of(tmp_path, t, samples=samples, data='missing = "bridge"').motion()
    assert bridged.n_rows > masked.n_rows
    assert bridged.account[1].did.startswith("4 of 14 lost readings bridged by cubics, rows kept")


def test_repeats_are_not_bridged(tmp_path):
    study = study_of(tmp_path, motion()[0], data='missing = "bridge"')
    study.path.write_text(study.path.read_text().replace("[preparation]\ncutoff", '[repeats]\nperiod = "1 s"\n#'))
    with pytest.raises(InputError, match=r"line 4, \[data\] missing: repeats are not filtered"):
        IdentificationStudy.read(study.path).identify()


def test_a_gain_asks_for_voltages_and_says_so(tmp_path, capsys):
    rows = "\n".join(f"{k / 100:.2f},{k},{k},{k},{k}" for k in range(99))
    (tmp_path / "run.csv").write_text(f"time,q1,q2,tau1,tau2\n{rows}\n")
    study = '[robot]\nfamily = "five-bar"\n[[data.recordings]]\nfile = "run.csv"\n[efforts]\ngain = [2.0]\n'
    (tmp_path / "study.toml").write_text(study)
    assert run(["identify", str(tmp_path / "study.toml")]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "has no column 'V1'" in told
    assert (
        "[efforts] states a gain, which makes efforts of voltages or currents, expected in the columns V1, V2" in told
    )
    assert "leave out gain if the files have efforts" in told
    (tmp_path / "study.toml").write_text(study.replace("[efforts]\ngain = [2.0]\n", '[data.columns]\ntau1 = "u"\n'))
    assert run(["identify", str(tmp_path / "study.toml")]) == 2
    assert "states a gain" not in capsys.readouterr().err
