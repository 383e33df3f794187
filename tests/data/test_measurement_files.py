"""MDF, TDMS, C3D and HDF5 files, written by the libraries of others."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.data import read_recording
from gough.data.overview import overview

T = np.arange(600) / 1000
Q, TAU = np.sin(9 * T), np.cos(9 * T)


@pytest.fixture
def mdf(tmp_path):
    asammdf = pytest.importorskip("asammdf")
    file = asammdf.MDF(version="4.10")
    fast = [asammdf.Signal(Q, T, name="q1", unit="deg"), asammdf.Signal(TAU, T, name="tau1", unit="Nm")]
    file.append(fast, acq_name="drive")
    file.append([asammdf.Signal(Q[::10], T[::10] + 0.0004, name="q1", unit="rad")], acq_name="slow")
    path = tmp_path / "run.mf4"
    file.save(path)
    file.close()
    return path


@pytest.mark.filterwarnings("ignore")
def test_mdf(mdf):
    recording = read_recording(mdf, columns={"q1": "drive/q1", "tau1": "tau1"})
    assert recording.rate == 1000.0
    assert recording.units == ("rad", "N·m")
    assert recording["q1"].tolist() == (Q * np.deg2rad(1.0)).tolist()
    assert recording["tau1"].tolist() == TAU.tolist()
    assert [group.name for group in overview(mdf).groups] == ["drive", "slow"]
    both = read_recording(mdf, columns={"a": "slow/q1", "b": "tau1"})
    assert abs(both["b"] - np.cos(9 * both.times)).max() < 1e-12
    assert abs(both["a"] - np.sin(9 * (both.times - 0.0004))).max() < 1e-4


def test_tdms(tmp_path):
    nptdms = pytest.importorskip("nptdms")
    path = tmp_path / "run.tdms"

    def channel(group, name, values, step, unit):
        properties = {"wf_increment": step, "wf_start_offset": 0.0, "unit_string": unit}
        return nptdms.ChannelObject(group, name, values, properties=properties)

    with nptdms.TdmsWriter(path) as writer:
        writer.write_segment([
            channel("drive", "q1", Q, 1e-3, "rad"), channel("drive", "u", TAU, 1e-3, "V"),
            channel("camera", "x", Q[::5], 5e-3, "mm"),
        ])  # fmt: skip
    recording = read_recording(path, columns={"q1": "q1", "V1": "u"})
    assert (recording.rate, recording.units) == (1000.0, ("rad", "V"))
    assert recording["V1"].tolist() == TAU.tolist()
    both = read_recording(path, columns={"x": "x", "q1": "q1"})
    assert both.units == ("m", "rad")
    assert abs(both["x"] - 1e-3 * np.sin(9 * both.times)).max() < 1e-7


def test_c3d(tmp_path):
    ezc3d = pytest.importorskip("ezc3d")
    file = ezc3d.c3d()
    points = np.ones((4, 1, 60))
    points[0, 0] = Q[::10]
    points[:, 0, 7] = np.nan
    file["parameters"]["POINT"]["RATE"]["value"] = [100]
    file["parameters"]["POINT"]["LABELS"]["value"] = ("plate",)
    file["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    file["data"]["points"] = points
    file["parameters"]["ANALOG"]["RATE"]["value"] = [1000]
    file["parameters"]["ANALOG"]["LABELS"]["value"] = ("F1",)
    file["data"]["analogs"] = TAU[None, None, :]
    path = tmp_path / "run.c3d"
    file.write(str(path))
    with pytest.raises(InputError, match=r"row 8 of 'points', column 'plate.x \[mm\]' is missing"):
        read_recording(path, columns={"x": "plate.x"})
    recording = read_recording(path, columns={"x": "plate.x"}, missing="mask")
    assert (recording.rate, recording.units) == (100.0, ("m",))
    assert abs(np.delete(recording["x"] - 1e-3 * Q[::10], 7)).max() < 1e-10  # C3D holds single precision
    assert np.isnan(recording["x"][7])
    assert abs(read_recording(path, columns={"F": "F1"})["F"] - TAU).max() < 1e-6


def test_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "run.h5"
    with h5py.File(path, "w") as file:
        file["log/time"], file["log/q"], file["log/tau"] = T, np.c_[Q, -Q], TAU
    recording = read_recording(path, columns={"q2": "log.q2", "tau1": "log.tau"}, time="log.time")
    assert recording.rate == 1000.0
    assert recording["q2"].tolist() == (-Q).tolist()
    assert overview(path).groups[0].time == "log.time"


@pytest.mark.parametrize("suffix", [".mf4", ".tdms", ".c3d", ".h5", ".mcap", ".db3"])
@pytest.mark.parametrize(
    "content", [b"time,q1\n0,1\n", b"MDF     4.10    ", b"\x02\x50" + bytes(600), b"\x89HDF\r\n\x1a\n"]
)
@pytest.mark.filterwarnings("ignore")
def test_other_content_is_refused_in_one_line(tmp_path, suffix, content):
    path = tmp_path / f"run{suffix}"
    path.write_bytes(content)
    with pytest.raises(InputError, match=str(path)) as refused:
        read_recording(path, columns={"q1": "q1"})
    assert "\n" not in str(refused.value)
