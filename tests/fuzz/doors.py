"""The doors of gough: every kind of file that it reads, good ones to begin with, and the cheapest way through each."""

import io
import json
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from math import cos, sin
from pathlib import Path
from typing import Any

import numpy as np

from gough import Bounded, Box, Gaussian, Groups, LinearProblem, Unknowns, estimate
from gough.checker import (
    Witness,
    certificate_of,
    check,
    check_chains,
    load,
    load_chains,
    load_question,
)
from gough.checker.certificate import Certificate
from gough.checker.chain_files import CERTIFICATES as CERTIFICATE_KINDS
from gough.checker.chain_files import QUESTIONS, render_chains, render_question
from gough.checker.files import render
from gough.checker.folders import about
from gough.control import ControlStudy, desired_motion
from gough.core.sealed import kind_of_file
from gough.data import (
    Poses,
    Recording,
    read_klipper,
    read_poses,
    read_problem,
    read_recording,
    read_table,
    write_poses,
    write_problem,
    write_recording,
)
from gough.data.overview import overview
from gough.dynamics import identify
from gough.dynamics.effects import catalogue
from gough.dynamics.example import random_motion
from gough.export import RobotModel
from gough.export.c_source import sections_of, source_files
from gough.export.model import seal
from gough.geometry import Frames, MachineGeometry, RigidMotion, geometry_text
from gough.methods import LinearHull, RelaxedHull, TightEllipsoid
from gough.robots import ROBOTS, FiveBar, GoughPlatform, H4Kinematics, LinearDelta
from gough.robots.following import FollowedRegressor
from gough.robots.kinematics import PlatformPoses
from gough.robots.mechanism.imports import read_mjcf, read_urdf
from gough.studies import IdentificationStudy, study_text
from gough.studies.calibration import CalibrationStudy
from gough.studies.design import DesignStudy
from gough.studies.geometry_file import read_geometry
from gough.studies.mechanism_file import MechanismFile
from gough.studies.mechanism_text import mechanism_text
from gough.studies.pose_selection import PoseSelectionStudy
from gough.vision import CharucoBoard, CircleGrid, design_target, read_camera, read_target, to_png
from gough.vision.detector import ImageRefused
from gough.vision.images import read_image
from gough.vision.opencv import opencv
from gough.vision.targets import target_text
from gough.watch.checkpoint import load_checkpoint, save_checkpoint
from gough.watch.clock import Break, Grid
from gough.watch.preparation import Preparation, PreparationOptions
from gough.watch.sources import Channels
from gough.watch.sources.files import GrowingFile
from tests.checker import corpus
from tests.export.models import dynamic_model
from tests.fuzz import mutators
from tests.fuzz.mutators import Mutator

CERTIFICATES = Path(__file__).parent.parent / "checker" / "data" / "before-manifest"
POSES = "x [mm],y [mm],z [mm],qw,qx,qy,qz,l1,l2,l3,l4,l5,l6,configuration,run\n" + "".join(
    f"{k},{-k},{300 + k},1,0,0,0,{0.1 * k},0.2,0.3,0.4,0.5,0.6,{k // 2},{k % 2}\n" for k in range(8)
)
VECTORS = "x,y,z,rx,ry,rz,l1,l2,l3,l4,l5,l6\n" + "".join(f"0.0{k},0,0.3,0.1,0,0,1,2,3,4,5,6\n" for k in range(5))
RECORDING = "time,q1,q2,q3,q4,V1,V2,V3,V4\n" + "".join(
    f"{k / 200},{sin(k / 9):.4f},{cos(k / 7):.4f},{sin(k / 5):.4f},{sin(k / 8):.4f},1.5,{k % 3},2,3\n"
    for k in range(150)
)
SEMICOLONS = "# a comment\nt;q1 (rad);u\n" + "".join(f"0,00{k};{k},5;1e-3\n" for k in range(9))
DATES = "time,q1,u\n" + "".join(f"2024-03-01T12:00:00.{k:03d}+01:00,{k},{k % 3}\n" for k in range(12))
PRINTER = """[printer]
kinematics: delta
delta_radius = 170   # before calibration
[stepper_a]
microsteps: 16
rotation_distance: 40
position_endstop: 300
arm_length: 345
[stepper_b]
step_distance: 0.01
[stepper_c]
microsteps: 16
rotation_distance: 40
gear_ratio: 2:1, 60:20
[include other*.cfg]
#*# <---------------------- SAVE_CONFIG ---------------------->
#*# [printer]
#*# delta_radius = 161.5
#*# [delta_calibrate]
#*# height0 = 1.5
#*# height0_pos = 3200,6400.5,3200
#*# manual_height1 = 1.5
#*# manual_height1_pos = 3200,6400.5,3200
#*# distance0 = 74.1
#*# distance0_pos1 = 1,2,3
#*# distance0_pos2 = 4,5,6
"""
URDF = """<robot name="arm">
  <link name="world"/>
  <link name="shoulder">
    <inertial>
      <origin xyz="0.1 0.02 -0.03" rpy="0.3 -0.2 0.5"/>
      <mass value="2.0"/>
      <inertia ixx="0.03" ixy="0.002" ixz="-0.001" iyy="0.02" iyz="0.003" izz="0.025"/>
    </inertial>
  </link>
  <link name="hand"/>
  <joint name="q1" type="revolute">
    <parent link="world"/><child link="shoulder"/>
    <origin xyz="0.1 -0.2 0.5" rpy="0.1 0.7 -0.4"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1.5" effort="20" velocity="3"/>
    <dynamics damping="0.4" friction="0.2"/>
  </joint>
  <joint name="q2" type="planar"><parent link="shoulder"/><child link="hand"/><axis xyz="0 0 1"/></joint>
</robot>
"""
MJCF = """<mujoco model="rough">
  <compiler angle="degree" eulerseq="XYZ"/>
  <option gravity="0.5 0 -9"/>
  <default>
    <joint damping="0.3"/>
    <default class="stiff"><joint armature="0.02" frictionloss="0.1"/></default>
  </default>
  <worldbody>
    <body name="a" pos="0.1 0 0.2" euler="10 20 30">
      <joint name="j1" axis="1 1 0" pos="0.05 0 0.02" ref="15" range="-60 60"/>
      <joint name="j2" type="slide" axis="0 0 1" ref="0.1" class="stiff"/>
      <inertial pos="0.02 0.01 0.1" quat="0.9 0.1 -0.3 0.2" mass="1.2" diaginertia="0.02 0.03 0.015"/>
      <geom type="sphere" size="0.1"/>
      <site name="s1" pos="0 0 0.1" zaxis="1 0 0"/>
      <body name="b" pos="0 0 0.3" axisangle="0 1 0 40">
        <joint name="j3" type="ball" pos="0 0.1 0" damping="0"/>
        <inertial pos="0 0 0.1" mass="0.8" fullinertia="0.01 0.02 0.015 0.001 -0.002 0.0005"/>
        <site name="s2" pos="0 0 0.1" xyaxes="1 0 0 0 1 0"/>
      </body>
    </body>
    <body name="c"><joint name="f" type="free" damping="0"/></body>
  </worldbody>
  <equality><connect site1="s1" site2="s2"/><weld body1="a" body2="b" anchor="0 0 1"/></equality>
  <actuator><motor joint="j1"/><motor joint="j2" gear="1"/></actuator>
</mujoco>
"""
CALIBRATION = """[robot]
family = "gough"
blueprint = "deltalab"

[poses]
file = "poses.csv"
average = false
columns = { x = "x" }
units = { position = "mm" }

[noise]
position = ["0.0633 mm", "0.023 mm", "0.0608 mm"]
orientation = ["0.00923 deg", "0.0119 deg", "0.00894 deg"]
readings = "0.01 mm"

[calibration]
frames = "instrument"
folds = 2
robust = true

[output]
folder = "results"
title = "A title"
"""
CIRCLES = """[robot]
family = "gough"
geometry = { base_radius = "300 mm", platform_radius = 0.2, base_angles = [0, "20 deg", 2, 2.3, 4, 4.3], \
platform_angles = [0.1, 0.2, 2, 2.3, 4, 4.3], length = "260 mm" }
reading_unit = "rev"
gains = true

[poses]
file = "poses.csv"
"""
DELTA = """[robot]
family = "linear-delta"
geometry = { radius = "160 mm", arm = [0.345, 0.345, 0.345], endstop = 0.3, angle = ["210 deg", "330 deg", "90 deg"] }

[poses]
file = "poses.csv"
"""
FRAMES = """
[calibration]
frames = "instrument"

[frames.base]
position = ["1.25 m", -2.5, "75 cm"]
quaternion = [0.6, 0.64, -0.48, 0]
position_tolerance = "0.01 mm"
orientation_tolerance = ["0.02 mrad", 0, 1e-5]
"""
CERTIFY = """
[certify]
chains = [2, 5]
around = "3 mm"
position = "0.1 mm"
readings = "0.03 mm"
"""
SELECTION = """
[selection]
draws = 30
starts = 1
candidates = ["grid"]
criterion = "A"

[selection.limits]
readings = ["0 mm", "140 mm"]
pose.tilt = ["0 deg", "60 deg"]
"""
DESIGN = """[robot]
family = "five-bar"

[design]
harmonics = 1
starts = 1
rate = "200 Hz"
frequency = 0.5
sigma = 0.1
home = [2.05, 1.09]

[design.limits]
speeds = 6
efforts = [5, "5 N·m"]
pose = { q1 = [-9, 9] }
margin = 0.1
"""
CAMERA = """size = [640, 480]
focal = [600.0, 601.0]
center = [319.5, 239.5]
distortion = [0.1, 0.0, 0.0, 0.0, 0.0]
noise = 0.02
[target]
kind = "circles"
columns = 4
rows = 5
spacing = 0.02
radius = 0.004
"""
PROBLEM = LinearProblem(
    [[1.0, 0.5], [1.0, -0.5], [0.25, 2.0], [-1.0, 1.0]],
    [1.0, 0.9, 0.3, -1.1],
    Unknowns(["a", "b"], prior=Box([-8, -8], [8, 8])),
    Bounded(0.5),
)
CONTRADICTED = LinearProblem(
    [[1.0], [1.0], [1.0]], [0.0, 5.0, 9.0], Unknowns(["a"], prior=Box([-9], [9])), Bounded(1.0)
)


@dataclass(frozen=True)
class Door:
    """One kind of file: how it is named, good ones, how they are spoiled, and the way through.

    `enter` returns 0, or 1 where a certificate does not hold.
    """

    suffix: str
    seeds: Callable[[], list[bytes]]
    ways: tuple[Mutator, ...]
    enter: Callable[[Path], int]
    beside: dict[str, str] = field(default_factory=dict)
    """Files that lie in the same folder."""


def _texts(*texts: str) -> Callable[[], list[bytes]]:
    return lambda: [text.encode() for text in texts]


def _ok(*_: object) -> int:
    return 0


def _identify(path: Path) -> int:
    study = IdentificationStudy.read(path)
    return _ok(study.channels, study.steps(1000.0), study.title, study.about, study.motion())


def _calibrate(path: Path) -> int:
    study = CalibrationStudy.read(path)
    if study.table.printer is None:
        study.poses()
    return _ok(study.title, study.about, str(study.frames))


def _recorded(path: Path) -> int:
    try:
        return _ok(str(read_recording(path, missing="mask")))
    except ValueError:
        return _ok(str(read_recording(path, time=None, rate=1000.0)))


def _mechanism(path: Path) -> int:
    return _ok(MechanismFile.read(path).mechanism)


def _certified(problem: LinearProblem) -> Callable[[Path], int]:
    return lambda path: int(not check(load(path), problem))


def _image(path: Path) -> int:
    try:
        return _ok(read_image(path))
    except ImageRefused as error:
        raise ValueError(str(error)) from error


@cache
def _recordings(suffix: str) -> list[bytes]:
    from tempfile import TemporaryDirectory

    made = []
    samples = np.arange(24.0).reshape(8, 3) / 7
    with TemporaryDirectory() as folder:
        for k, names in enumerate((["q1", "q2", "V1"], ["a b", "ü", "c"])):
            path = Path(folder, f"{k}{suffix}")
            write_recording(path, Recording(names, ["rad", "", "V"], samples, rate=500.0, start=0.5))
            made.append(path.read_bytes())
    if suffix == ".npz":
        out = io.BytesIO()
        np.savez_compressed(out, q=samples, time=np.arange(8) / 100.0, rate=100.0, name="text")
        made.append(out.getvalue())
    if suffix == ".mat":
        from scipy.io import savemat

        for version in ("4", "5"):
            out = io.BytesIO()
            arrays = {"q": samples, "time": np.arange(8) / 100.0, "rate": 100.0}
            savemat(out, arrays, format=version, do_compression=version == "5")
            made.append(out.getvalue())
        out = io.BytesIO()
        savemat(
            out, {"time": np.arange(8) / 100.0, "log": {"q": samples, "motor": {"tau": samples[:, 0]}, "note": "a"}}
        )
        made.append(out.getvalue())
    return made


@cache
def _measured(suffix: str) -> list[bytes]:
    """A recording with two clocks, by the library of the format."""
    from tempfile import TemporaryDirectory

    q = np.sin(np.arange(40) / 7)
    with TemporaryDirectory() as folder:
        path = Path(folder, f"run{suffix}")
        if suffix == ".tdms":
            from nptdms import ChannelObject, TdmsWriter

            with TdmsWriter(path) as writer:
                parts = (("a", "q1", q, 0.01), ("b", "tau", q[::2], 0.02))
                writer.write_segment([ChannelObject(g, n, v, properties={"wf_increment": s}) for g, n, v, s in parts])
        elif suffix == ".c3d":
            import ezc3d

            file = ezc3d.c3d()
            file["parameters"]["POINT"]["RATE"]["value"] = [100]
            file["parameters"]["POINT"]["LABELS"]["value"] = ("A",)
            file["data"]["points"] = np.stack([q, q, q, np.ones(40)])[:, None, :]
            file.write(str(path))
        else:
            from tests.data.test_bags import joint_states, pose, write_bag

            bag = write_bag(Path(folder, "bag"), {"/j": joint_states(40), "/p": [(k, pose(k)) for k in range(9)]})
            path = next(bag.glob(f"*{suffix}"))
        return [path.read_bytes()]


def _looked(path: Path) -> int:
    found = overview(path)
    return _ok(str(found), found.proposal)


@cache
def _recordings_73() -> list[bytes]:
    """MATLAB files of version 7.3: groups are structs, arrays are packed."""
    import h5py

    out = io.BytesIO()
    with h5py.File(out, "w", userblock_size=512) as file:
        file["time"], file["log/q"] = np.arange(8) / 100.0, np.arange(24.0).reshape(3, 8)
        file.create_dataset("tau", data=np.arange(8.0), compression="gzip", shuffle=True)
        for name, kind in (("time", "double"), ("log", "struct"), ("log/q", "double"), ("tau", "double")):
            file[name].attrs["MATLAB_class"] = np.bytes_(kind)
    return [b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + out.getvalue()[128:]]


@cache
def _problems(suffix: str) -> list[bytes]:
    from tempfile import TemporaryDirectory

    gaussian = LinearProblem(PROBLEM.W, PROBLEM.y, Unknowns(["a", "b"], ["kg", ""], nominal=[1, 2]), Gaussian(0.1))
    made = []
    with TemporaryDirectory() as folder:
        blurred = LinearProblem(PROBLEM.W, PROBLEM.y, Unknowns(["a", "b"]), Bounded([0.5] * 4, 0.1), Groups(("x", "y")))
        for k, problem in enumerate((PROBLEM, CONTRADICTED, gaussian if suffix == ".npz" else blurred)):
            write_problem(problem, Path(folder, f"{k}{suffix}"))
            made.append(Path(folder, f"{k}{suffix}").read_bytes())
    return made


@cache
def _certificates() -> list[bytes]:
    found = [
        certificate_of(PROBLEM, estimate(PROBLEM, method, strict=False))
        for method in (LinearHull(), TightEllipsoid(), RelaxedHull(1))
    ]
    found.append(certificate_of(CONTRADICTED, estimate(CONTRADICTED, LinearHull(), strict=False)))
    found.append(Certificate.of(PROBLEM, Witness({"a": 1, "b": 0})))
    found += [Certificate.of(problem, proof) for problem, proof in corpus.PHYSICAL.values()]
    return [render(each).encode() for each in found]


@cache
def _question() -> object:
    return load_question(CERTIFICATES / "leg" / "measurements.json")


@cache
def _equations() -> object:
    return load_question(CERTIFICATES / "chain" / "chain-2-equations.json")


def _chains(name: str) -> list[bytes]:
    """Certificates and questions of tests/checker/data as they are written today, and those of chains together."""
    loaders = {"certificates": (load_chains, render_chains), "questions": (load_question, render_question)}
    load_one, write = loaders[name]
    old = sorted(CERTIFICATES.glob("*/*.json"))
    kept = [path for path in old if kind_of_file(path) in (CERTIFICATE_KINDS if name == "certificates" else QUESTIONS)]
    together = [pair[name == "certificates"] for pair in corpus.pairs().values()]
    return [write(each).encode() for each in (*map(load_one, kept), *together)]  # type: ignore[operator]


def _any_chains(path: Path) -> int:
    """A certificate of format 3, about the question that its digest names, or about one with its chains."""
    certificate = load_chains(path)
    questions: dict[str, Any] = {"leg": _question(), "chain": _equations()}
    questions |= {name: question for name, (question, _) in corpus.pairs().items()}
    return int(not check_chains(certificate, questions.get(about(certificate, questions), _question())))


def _files(folder: str, pattern: str) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes() for path in sorted((CERTIFICATES / folder).glob(pattern))]


def _images() -> list[bytes]:
    cv = opencv()
    image = np.arange(48 * 64, dtype=np.uint8).reshape(48, 64)
    others = [cv.imencode(suffix, image)[1].tobytes() for suffix in (".png", ".jpg", ".bmp", ".pgm", ".tif", ".webp")]
    return [to_png(design_target(0.05, 0.05), dpi=36), *others]


def _poses_text(suffix: str) -> Callable[[], list[bytes]]:
    def made() -> list[bytes]:
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as folder:
            path = Path(folder, f"poses{suffix}")
            write_poses(path, Poses(np.ones((4, 3)), np.tile(np.eye(3), (4, 1, 1)), np.ones((4, 6))))
            return [path.read_bytes()]

    return made


@cache
def _models() -> list[bytes]:
    identified = identify(*random_motion(1), methods=["weighted"], compare=False)
    return [RobotModel.of(identified).to_json().encode(), *_models_of_effects()]


@cache
def _models_of_effects() -> list[bytes]:
    """Five-bars with a guaranteed set, one with effects and their forms."""
    robot, known = ROBOTS["five-bar"](), catalogue()
    stribeck = replace(known["stribeck"], speeds=(0.2, 0.3))  # type: ignore[type-var]
    values = {"offset_1": 0.1, "offset_2": -0.2, "stribeck_1": 0.3, "stribeck_2": 0.4}
    models = dynamic_model(robot, "both"), dynamic_model(robot, "box", ("m_1",), [known["offset"], stribeck], values)
    return [each.to_json().encode() for each in models]


def _exported(path: Path) -> int:
    """What `gough export` and `gough control` do with a model before anything is compiled."""
    _sealed_anew(path)
    model = RobotModel.read(path)
    return _ok(source_files(sections_of(model, "robot"), "robot"), ControlStudy.of(model).parameter_sets)


def _sealed_anew(path: Path) -> None:
    """Give a damaged model the seal of its content, so that the content itself is examined."""
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        data = json.loads(path.read_bytes())
        path.write_text(json.dumps({**data, "seal": seal(data["dynamics"], data["geometry"])}))


@cache
def _followed() -> RobotModel:
    return dynamic_model(ROBOTS["five-bar"]())


def _motion(path: Path) -> int:
    dynamics = _followed().dynamics
    assert dynamics is not None
    return _ok(desired_motion(dynamics, str(path), rate=200.0, rng=np.random.default_rng(1)))


def _motions() -> list[bytes]:
    """A motion of the actuators, and one of the end point."""
    robot: Any = ROBOTS["five-bar"]()
    home = robot.controller_equations().home
    times = np.arange(12) / 50
    rows = [(t, home[2] + 0.1 * sin(9 * t), home[3] - 0.1 * sin(7 * t)) for t in times]
    ways = [(t, home[0] + 0.01 * sin(9 * t), home[1] - 0.01 * sin(7 * t)) for t in times]
    tables = {"time,q1,q2": rows, "time,x [m],y [m]": ways}
    return [
        "\n".join([head, *(f"{a:.3f},{b:.6f},{c:.6f}" for a, b, c in body)]).encode() for head, body in tables.items()
    ]


def _geometries() -> list[bytes]:
    """Calibrated robots with covariance, frames and home."""
    still = RigidMotion(np.eye(3), np.zeros(3))
    home = PlatformPoses(np.array([[0.0, 0.0, 0.35]]), np.eye(3)[None])
    known = {"frames": Frames(still, still), "home": home, "spare": 9, "n_poses": 9}
    made = []
    for model in (GoughPlatform.deltalab(), LinearDelta(), H4Kinematics(calibrated=H4Kinematics().blueprint)):
        n, p = len(model.chains), len(model.names)
        ends = {"readings": np.array([np.zeros(n), np.ones(n)]), "home_readings": np.full(n, 0.05)}
        known_here = {**known, **ends, "closure": np.full(n, 1e-4), "covariance": 1e-8 * np.eye(p)}
        made.append(geometry_text(MachineGeometry(model, **known_here)).encode())
    return made


def _watched(path: Path) -> int:
    """A stream through lines, clock and preparation, as `gough watch` takes it."""
    robot, names = FiveBar.demo(), ("q1", "q2", "V1", "V2")
    wanted = dict(zip(names, ("rad", "rad", "V", "V"), strict=True))
    source = GrowingFile(path, Channels("time", {name: name for name in names}, {}, wanted), follow=False)
    grid = Grid(200.0, 2)
    prepared = Preparation(PreparationOptions(200.0), FollowedRegressor(robot, robot.names), 2, len(robot.names))
    with closing(source):
        while (batch := source.read(0.0)) is not None:
            whole = np.isfinite(batch.values).all(axis=1) & np.isfinite(batch.times)
            for part in grid.take(batch.times[whole], batch.values[whole]):
                if isinstance(part, Break):
                    prepared.restart()
                else:
                    prepared.take(part)
    return 0


def _json_lines() -> list[bytes]:
    heads, *rows = (line.split(",") for line in RECORDING.splitlines())
    lines = (json.dumps(dict(zip(heads, map(float, row), strict=True))) for row in rows)
    return ["\n".join(lines).encode()]


def _checkpoints() -> list[bytes]:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder, "checkpoint")
        save_checkpoint(path, {"a": np.arange(4.0), "b": {"c": [1, None, "x"], "d": np.ones((2, 3))}})
        return [path.read_bytes()]


DOORS: dict[str, Door] = {
    "watched CSV": Door(".csv", _texts(RECORDING, RECORDING[:200]), mutators.CSV, _watched),
    "watched JSON lines": Door(".jsonl", _json_lines, mutators.CSV, _watched),
    "checkpoint": Door("", _checkpoints, mutators.BINARY, lambda path: _ok(load_checkpoint(path))),
    "model": Door(".json", _models, mutators.JSON, lambda path: _ok(RobotModel.read(path))),
    "model to export": Door(".json", _models_of_effects, mutators.JSON, _exported),
    "motion to follow": Door(".csv", _motions, mutators.CSV, _motion),
    "study of identification": Door(
        ".toml",
        lambda: [
            study_text("h4").replace("drive.csv", "recording.csv").encode(),
            study_text("five-bar", gain=(2.0, 3.0)).encode(),
        ],
        mutators.TOML,
        _identify,
        {"recording.csv": RECORDING},
    ),
    "geometry": Door(".toml", _geometries, mutators.TOML, lambda path: _ok(read_geometry(path))),
    "study of calibration": Door(
        ".toml", _texts(CALIBRATION, CIRCLES, DELTA), mutators.TOML, _calibrate, {"poses.csv": POSES}
    ),
    "study of certification": Door(
        ".toml",
        _texts(CALIBRATION + CERTIFY, DELTA + FRAMES + CERTIFY),
        mutators.TOML,
        _calibrate,
        {"poses.csv": POSES},
    ),
    "study of poses": Door(
        ".toml",
        _texts(CALIBRATION + SELECTION, DELTA + SELECTION),
        mutators.TOML,
        lambda path: _ok(PoseSelectionStudy.read(path)),
        {"poses.csv": POSES},
    ),
    "study of design": Door(".toml", _texts(DESIGN), mutators.TOML, lambda path: _ok(DesignStudy.read(path))),
    "mechanism": Door(
        ".toml",
        lambda: (
            [mechanism_text(ROBOTS[name]().mechanism).encode() for name in ("five-bar", "3-rrr")]
            + [
                b'[mechanism]\nname = "x"\nurdf = "arm.urdf"\n[platform]\nbody = "hand"\npose = ["q1"]\nhome = [0]\n',
            ]
        ),
        mutators.TOML,
        _mechanism,
        {"arm.urdf": URDF},
    ),
    "camera": Door(".toml", _texts(CAMERA), mutators.TOML, lambda path: _ok(read_camera(path))),
    "target": Door(
        ".toml",
        lambda: [
            target_text(each).encode()
            for each in (
                design_target(0.1, 0.1, dots=17),
                CircleGrid(4, 5, 0.02, 0.004),
                CharucoBoard(7, 5, 0.03, 0.022),
            )
        ],
        mutators.TOML,
        lambda path: _ok(read_target(path)),
    ),
    "printer.cfg": Door(".cfg", _texts(PRINTER), mutators.TOML, lambda path: _ok(read_klipper(path))),
    "URDF": Door(".urdf", _texts(URDF), mutators.XML, lambda path: _ok(read_urdf(path))),
    "MJCF": Door(".xml", _texts(MJCF), mutators.XML, lambda path: _ok(read_mjcf(path))),
    "recording CSV": Door(".csv", _texts(RECORDING, SEMICOLONS, DATES), mutators.CSV, _recorded),
    "recording Parquet": Door(".parquet", lambda: _recordings(".parquet"), mutators.BINARY, _recorded),
    "recording MATLAB": Door(".mat", lambda: _recordings(".mat"), mutators.BINARY, _recorded),
    "recording MATLAB 7.3": Door(".mat", _recordings_73, mutators.BINARY, _recorded),
    "recording npz": Door(".npz", lambda: _recordings(".npz"), mutators.NPZ, _recorded),
    "recording MCAP": Door(".mcap", lambda: _measured(".mcap"), mutators.BINARY, _looked),
    "recording TDMS": Door(".tdms", lambda: _measured(".tdms"), mutators.BINARY, _looked),
    "recording C3D": Door(".c3d", lambda: _measured(".c3d"), mutators.BINARY, _looked),
    "poses CSV": Door(".csv", _texts(POSES, VECTORS), mutators.CSV, lambda path: _ok(read_poses(path))),
    "poses npz": Door(".npz", _poses_text(".npz"), mutators.NPZ, lambda path: _ok(read_poses(path))),
    "problem npz": Door(".npz", lambda: _problems(".npz"), mutators.NPZ, lambda path: _ok(read_problem(path))),
    "problem JSON": Door(".json", lambda: _problems(".json"), mutators.JSON, lambda path: _ok(read_problem(path))),
    "problem CSV": Door(
        ".csv",
        _texts("mass,friction,y,e\n1,0.5,2.5,0.1\n1,-0.5,1.5,0.1\n", "a,y,sigma\n1,2,0.1\n2,4,0.2\n"),
        mutators.CSV,
        lambda path: _ok(read_table(path)),
    ),
    "certificate": Door(".json", lambda: _certificates()[:3] + _certificates()[4:], mutators.JSON, _certified(PROBLEM)),
    "certificate of emptiness": Door(".json", lambda: _certificates()[3:4], mutators.JSON, _certified(CONTRADICTED)),
    "certificate of a leg": Door(
        ".json",
        _files("leg", "leg-*.json"),
        mutators.JSON,
        lambda path: int(not check_chains(load_chains(path), _question())),
    ),
    "measurements of legs": Door(
        ".json", _files("leg", "measurements.json"), mutators.JSON, lambda path: _ok(load_question(path))
    ),
    "certificate of a chain": Door(
        ".json",
        _files("chain", "chain-2-e[mp]*[yr].json"),
        mutators.JSON,
        lambda path: int(not check_chains(load_chains(path), _equations())),
    ),
    "equations of a chain": Door(
        ".json", _files("chain", "chain-2-equations.json"), mutators.JSON, lambda path: _ok(load_question(path))
    ),
    "certificate of chains": Door(".json", lambda: _chains("certificates"), mutators.JSON, _any_chains),
    "question about chains": Door(
        ".json", lambda: _chains("questions"), mutators.JSON, lambda path: _ok(load_question(path))
    ),
    "image": Door(".png", _images, mutators.IMAGE, _image),
}
"""Every kind of file that gough reads."""
