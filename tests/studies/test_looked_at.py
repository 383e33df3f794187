"""Tables that `gough look` proposes, pasted below [robot], are a study that reads the file; for every format."""

import json
from functools import cache

import numpy as np
import pytest
from scipy.io import savemat

from gough.cli.app import run
from gough.data import Recording, prepare, write_recording
from gough.robots import FiveBar, efforts
from gough.simulate import FourierSeries
from gough.studies import IdentificationStudy
from tests.data.test_bags import JOINT_STATE, header, made, write_bag

RATE = 500.0
NAMES = ("q1", "q2", "tau1", "tau2")
UNITS = ("rad", "rad", "N·m", "N·m")


@cache
def samples():
    robot = FiveBar.demo()
    path = FourierSeries.random(np.random.default_rng(5), offset=[2.0, 1.1], amplitude=0.5, frequency=0.5)
    t = np.arange(2000) / RATE
    q, dq, ddq = path.at(t)[-3:]
    return np.hstack([q, efforts(robot, robot.nominal, q, dq, ddq)])


def joint_states(folder, plugin):
    messages = []
    for k, (q1, q2, tau1, tau2) in enumerate(samples()):
        state = made(
            JOINT_STATE, header=header(k / RATE), name=["left", "right"], position=np.array([q1, q2]),
            velocity=np.zeros(2), effort=np.array([tau1, tau2]),
        )  # fmt: skip
        messages.append((k / RATE, state))
    return write_bag(folder / "run", {"/joint_states": messages}, plugin)


def columns():
    return dict(zip(NAMES, samples().T, strict=True)) | {"time": np.arange(2000) / RATE}


def hdf5(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for name, values in columns().items():
            file[f"log/{name}"] = values
    return path


def mdf(path):
    asammdf = pytest.importorskip("asammdf")
    with asammdf.MDF(version="4.10") as file:
        parts = zip(NAMES, samples().T, UNITS, strict=True)
        file.append([asammdf.Signal(v, columns()["time"], unit=u, name=n) for n, v, u in parts])
        file.save(path, overwrite=True)
    return path


def tdms(path):
    nptdms = pytest.importorskip("nptdms")
    with nptdms.TdmsWriter(path) as writer:
        how = {"wf_increment": 1 / RATE, "wf_start_offset": 0.0}
        parts = zip(NAMES, samples().T, UNITS, strict=True)
        writer.write_segment([nptdms.ChannelObject("log", n, v, {**how, "unit_string": u}) for n, v, u in parts])
    return path


def written(folder, kind):
    match kind:
        case "mcap" | "sqlite3":
            return joint_states(folder, kind.upper())
        case "h5":
            return hdf5(folder / "run.h5")
        case "mf4":
            return mdf(folder / "run.mf4")
        case "tdms":
            return tdms(folder / "run.tdms")
        case "mat":
            savemat(folder / "run.mat", columns(), oned_as="column")
        case "npz":
            np.savez(folder / "run.npz", **columns())
        case _:
            write_recording(folder / f"run.{kind}", Recording(NAMES, UNITS, samples(), RATE))
    return folder / f"run.{kind}"


@pytest.mark.parametrize("kind", ["csv", "parquet", "mat", "npz", "h5", "mf4", "tdms", "mcap", "sqlite3"])
def test_a_pasted_proposal_works(kind, tmp_path, capsys):
    path = written(tmp_path, kind)
    assert run(["look", str(path), "--json"]) == 0
    seen = json.loads(capsys.readouterr().out)
    (group,) = (each for each in seen["groups"] if each["clock"])
    assert group["clock"]["rate"] == RATE
    assert all(channel["course"] for channel in group["channels"])
    (tmp_path / "study.toml").write_text(f'[robot]\nfamily = "five-bar"\n\n{seen["proposal"]}\n')
    study = IdentificationStudy.read(tmp_path / "study.toml")
    motion = study.motion()
    actuators = dict(zip(study.robot.actuators, NAMES[2:], strict=True))
    direct = prepare(Recording(NAMES, UNITS, samples(), RATE), NAMES[:2], actuators, study.steps(RATE))
    np.testing.assert_allclose(motion.q, direct.q, rtol=1e-12)
    np.testing.assert_allclose(motion.efforts, direct.efforts, rtol=1e-9, atol=1e-12)
    assert motion.n_rows == direct.n_rows > 300
