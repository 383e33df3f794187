"""ROS recordings: written by the public libraries rosbags and mcap-ros2-support, read back by gough."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.data import read_recording
from gough.data.cdr import decoded, layout_of
from gough.data.overview import overview

rosbag2 = pytest.importorskip("rosbags.rosbag2")
typesys = pytest.importorskip("rosbags.typesys")

STORE = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
T0 = 1_700_000_000
JOINTS = ("left", "right")
JOINT_STATE = "sensor_msgs/msg/JointState"
POSE = "geometry_msgs/msg/PoseStamped"
TF = "tf2_msgs/msg/TFMessage"


def made(kind, **fields):
    return STORE.types[kind](**fields)


def header(seconds):
    whole = int(np.floor(seconds))
    stamp = made("builtin_interfaces/msg/Time", sec=T0 + whole, nanosec=round((seconds - whole) * 1e9))
    return made("std_msgs/msg/Header", stamp=stamp, frame_id="base")


def joint_state(k, names=JOINTS, at=None):
    """Sample k at 500 Hz: positions are sines of 1 and 2 Hz."""
    t = k / 500
    values = np.array([np.sin(2 * np.pi * (1 + JOINTS.index(name)) * t) for name in names])
    return made(
        JOINT_STATE, header=header(t if at is None else at), name=list(names), position=values, velocity=0 * values,
        effort=10 * values,
    )  # fmt: skip


def pose(t):
    at = made("geometry_msgs/msg/Point", x=float(np.sin(2 * np.pi * 1.5 * t)), y=0.0, z=0.5)
    turned = made("geometry_msgs/msg/Quaternion", x=0.0, y=0.0, z=0.0, w=1.0)
    return made(POSE, header=header(t), pose=made("geometry_msgs/msg/Pose", position=at, orientation=turned))


def transform(t, child):
    moved = made("geometry_msgs/msg/Vector3", x=t, y=0.0, z=1.0)
    turned = made("geometry_msgs/msg/Quaternion", x=0.0, y=0.0, z=0.0, w=1.0)
    inner = made("geometry_msgs/msg/Transform", translation=moved, rotation=turned)
    return made("geometry_msgs/msg/TransformStamped", header=header(t), child_frame_id=child, transform=inner)


def write_bag(path, topics, plugin="MCAP"):
    """Write topics, each a list of (log time in s, message)."""
    with rosbag2.Writer(path, version=9, storage_plugin=rosbag2.StoragePlugin[plugin]) as writer:
        for topic, messages in topics.items():
            kind = messages[0][1].__msgtype__
            connection = writer.add_connection(topic, kind, typestore=STORE)
            for at, message in messages:
                writer.write(connection, T0 * 10**9 + round(at * 1e9), STORE.serialize_cdr(message, kind))
    return path


def joint_states(count=600, **options):
    return [(k / 500, joint_state(k, **options)) for k in range(count)]


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    poses = [(k / 100, pose(k / 100 + 0.0007)) for k in range(120)]
    frames = [
        (k / 50, made(TF, transforms=[transform(k / 50, name) for name in ("platform", "tool")[: 1 + k % 2]]))
        for k in range(60)
    ]
    topics = {"/joint_states": joint_states(), "/pose": poses, "/tf": frames}
    return write_bag(tmp_path_factory.mktemp("bags") / "run", topics)


def test_every_kind_of_rosbag2_holds_the_same_numbers(tmp_path, bag):
    """A folder with SQLite, a folder with MCAP, and their single files."""
    other = write_bag(tmp_path / "sqlite", {"/joint_states": joint_states()}, "SQLITE3")
    wanted = {
        "q1": "/joint_states/position/left",
        "q2": "/joint_states/position/right",
        "tau1": "/joint_states/effort/left",
    }
    t = np.arange(600) / 500
    for path in (bag, next(bag.glob("*.mcap")), other, next(other.glob("*.db3"))):
        recording = read_recording(path, columns=wanted)
        assert recording.rate == 500.0
        assert recording.began == "2023-11-14 22:13:20 UTC"
        assert recording["q2"].tolist() == [np.sin(2 * np.pi * 2 * each) for each in t]
        assert recording["tau1"].tolist() == [10 * np.sin(2 * np.pi * each) for each in t]


def test_mcap_of_another_library(tmp_path):
    """mcap-ros2-support has its own serializer and writer."""
    writer_module = pytest.importorskip("mcap_ros2.writer")
    definition = (
        "builtin_interfaces/Time stamp\nstring label\nfloat64[] values\nint16 count\n"
        + "=" * 80 + "\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
    )  # fmt: skip
    path = tmp_path / "other.mcap"
    with path.open("wb") as file:
        writer = writer_module.Writer(file)
        schema = writer.register_msgdef("my_msgs/msg/Sample", definition)
        for k in range(50):
            message = {"stamp": {"sec": 1, "nanosec": k}, "label": "x" * (k % 3), "values": [0.5 * k, -k], "count": -k}
            writer.write_message("/sample", schema, message, log_time=k * 10_000_000, publish_time=0)
        writer.finish()
    recording = read_recording(path, columns={"a": "/sample/values/1", "n": "/sample/count"})
    assert recording.rate == 100.0
    assert recording["a"].tolist() == recording["n"].tolist() == [-float(k) for k in range(50)]
    assert "times are those at which the recorder received them" in " ".join(recording.notes)


def test_channels_of_two_topics_share_one_grid(bag):
    recording = read_recording(bag, columns={"x": "/pose/pose/position/x", "q1": "/joint_states/position/left"})
    assert recording.names == ("x", "q1")
    assert recording.units == ("m", "")
    assert recording.rate == 500.0
    t = recording.times
    assert abs(recording["q1"] - np.sin(2 * np.pi * t)).max() < 1e-14  # t is rounded; the numbers are not interpolated
    assert abs(recording["x"] - np.sin(2 * np.pi * 1.5 * t)).max() < 1e-4
    assert "x (100.0 Hz) was interpolated to 500.0 Hz, band-limited to 40.00 Hz" in recording.notes


def test_frames_of_tf_are_groups(bag):
    recording = read_recording(bag, columns={"x": "/tf/tool/transform/translation/x"})
    assert recording.rate == 25.0
    assert len(recording) == 30
    assert recording.units == ("m",)


def test_names_of_joints_count_and_not_their_order(tmp_path):
    """Messages list their joints in one order and then in the other."""
    messages = [(k / 500, joint_state(k, JOINTS if k % 3 else JOINTS[::-1])) for k in range(60)]
    path = write_bag(tmp_path / "mixed", {"/joint_states": messages})
    recording = read_recording(path, columns={"q": "/joint_states/position/right"})
    assert recording["q"].tolist() == [np.sin(2 * np.pi * 2 * (k / 500)) for k in range(60)]


def test_numbers_are_those_of_the_library():
    """The vectorized decoder against the deserializer of rosbags, for a message with every kind of field."""
    definition = (
        "bool flag\nint8 a\nfloat32 b\nstring text\nuint16[3] triple\nint64 big\nfloat64[] many\nstring[] words\n"
        "geometry_msgs/Point[] points\nchar c\nfloat64 last"
    )
    store = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
    store.register(typesys.get_types_from_msg(definition, "my_msgs/msg/Mixed"))
    rng = np.random.default_rng(3)
    kind, point = store.types["my_msgs/msg/Mixed"], store.types["geometry_msgs/msg/Point"]
    raw, originals = [], []
    for k in range(200):
        message = kind(
            flag=bool(k % 2), a=int(rng.integers(-128, 128)), b=float(np.float32(rng.normal())), text="é" * (k % 4),
            triple=rng.integers(0, 65536, 3).astype(np.uint16), big=int(rng.integers(-(2**52), 2**52)),
            many=rng.normal(size=k % 3), words=["a", "bc"][: k % 2],
            points=[point(*rng.normal(size=3)) for _ in range(k % 2)],
            c=int(rng.integers(0, 256)), last=float(rng.normal()),
        )  # fmt: skip
        originals.append(message)
        raw.append(bytes(store.serialize_cdr(message, "my_msgs/msg/Mixed")))
    (columns,) = decoded(raw, "my_msgs/msg/Mixed", store.fielddefs, packed=False).values()
    seen = 0
    for rows, _, values in columns.rows:
        for i, row in enumerate(rows):
            one = store.deserialize_cdr(raw[row], "my_msgs/msg/Mixed")
            assert values["/flag"][i] == one.flag
            assert values["/a"][i] == one.a
            assert values["/b"][i] == one.b
            assert [values[f"/triple/{j}"][i] for j in range(3)] == one.triple.tolist()
            assert values["/big"][i] == one.big
            assert values["/c"][i] == one.c
            assert values["/last"][i] == one.last == originals[row].last
            if one.points:
                assert values["/points/0/z"][i] == one.points[0].z
            if len(one.many) == 1:
                assert values["/many"][i] == one.many[0]
            seen += 1
    assert seen == 200


def test_big_endian_messages():
    data = bytes(STORE.serialize_cdr(joint_state(7), JOINT_STATE, little_endian=False))
    (columns,) = decoded([data], JOINT_STATE, STORE.fielddefs, packed=False).values()
    ((_, stamps, values),) = columns.rows
    assert values["/position/right"].tolist() == [np.sin(2 * np.pi * 2 * 7 / 500)]
    assert stamps.tolist() == [T0 * 10**9 + 14_000_000]


def test_ros1_messages():
    store = typesys.get_typestore(typesys.Stores.ROS1_NOETIC)
    stamp = store.types["builtin_interfaces/msg/Time"](sec=5, nanosec=7)
    head = store.types["std_msgs/msg/Header"](seq=3, stamp=stamp, frame_id="base")
    point = store.types["geometry_msgs/msg/Point"](x=1.5, y=-2.0, z=0.25)
    message = store.types["geometry_msgs/msg/PointStamped"](header=head, point=point)
    data = bytes(store.serialize_ros1(message, "geometry_msgs/msg/PointStamped"))
    (columns,) = decoded([data], "geometry_msgs/msg/PointStamped", store.fielddefs, packed=True).values()
    ((_, stamps, values),) = columns.rows
    assert {name: column.tolist() for name, column in values.items()} == {
        "/point/x": [1.5], "/point/y": [-2.0], "/point/z": [0.25]
    }  # fmt: skip
    assert stamps.tolist() == [5_000_000_007]


def test_random_bytes_are_refused_or_read():
    """No bytes of a message lead to another error than InputError."""
    rng = np.random.default_rng(0)
    good = bytes(STORE.serialize_cdr(joint_state(1), JOINT_STATE))
    for _ in range(500):
        data = bytearray(good[: rng.integers(0, len(good) + 1)])
        for place in rng.integers(0, max(len(data), 1), 3):
            if data:
                data[place] = rng.integers(256)
        try:
            layout = layout_of(bytes(data), JOINT_STATE, STORE.fielddefs, packed=False)
        except InputError:
            continue
        assert all(each.offset + int(each.dtype[2]) <= len(data) for each in layout.channels)


def test_malformed_bags_are_refused_in_one_line(tmp_path, bag):
    cut = tmp_path / "cut.mcap"
    whole = next(bag.glob("*.mcap")).read_bytes()
    cut.write_bytes(whole[: len(whole) // 2])
    no_metadata = tmp_path / "empty"
    no_metadata.mkdir()
    lost = tmp_path / "lost"
    shutil.copytree(bag, lost)
    next(lost.glob("*.mcap")).unlink()
    damaged = tmp_path / "damaged"
    shutil.copytree(bag, damaged)
    (damaged / "metadata.yaml").write_text("rosbag2_bagfile_information: [")
    text = tmp_path / "text.mcap"
    text.write_text("time,q1\n0,1\n")
    for path, reason in (
        (cut, "is not a complete ROS bag file, perhaps cut off or damaged"),
        (no_metadata, "is a folder: give a file in it, or a rosbag2 folder"),
        (lost, "Some database files are missing"),
        (damaged, "Could not load YAML"),
        (text, "is not a complete ROS bag file"),
    ):
        with pytest.raises(InputError, match=reason) as refused:
            read_recording(path, columns={"q1": "/joint_states/position/left"})
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (
            {"q1": "/joint_state/position/left"},
            "has no column '/joint_state/position/left'; did you mean '/joint_states",
        ),
        (
            None,
            r"has 4 topics \(/joint_states, /pose, /tf/platform, /tf/tool\): choose channels by columns; gough look",
        ),
    ],
)
def test_missing_topics_are_named(bag, columns, reason):
    with pytest.raises(InputError, match=reason):
        read_recording(bag, columns=columns)


def test_clock_that_jumps_back(tmp_path):
    messages = [(k / 500, joint_state(k, at=(k if k < 30 else k - 25) / 500)) for k in range(60)]
    path = write_bag(tmp_path / "back", {"/joint_states": messages})
    with pytest.raises(InputError, match=r"message 31 of '/joint_states', column 'time': time runs backwards"):
        read_recording(path, columns={"q": "/joint_states/position/left"})
    (group,) = overview(path).groups
    assert group.clock.backwards == 1


def test_lost_messages_are_gaps(tmp_path):
    messages = [(k / 500, joint_state(k)) for k in range(60) if k not in (20, 21)]
    path = write_bag(tmp_path / "gap", {"/joint_states": messages})
    with pytest.raises(InputError, match="about 2 samples are lost there"):
        read_recording(path, columns={"q": "/joint_states/position/left"})
    recording = read_recording(path, columns={"q": "/joint_states/position/left"}, missing="mask")
    assert np.flatnonzero(np.isnan(recording["q"])).tolist() == [20, 21]
    (group,) = overview(path).groups
    assert (group.clock.gaps, group.clock.lost) == (1, 2)


def test_topics_that_do_not_overlap(tmp_path):
    late = [(10 + k / 100, pose(10 + k / 100)) for k in range(60)]
    path = write_bag(tmp_path / "apart", {"/joint_states": joint_states(60), "/pose": late})
    with pytest.raises(InputError, match="overlap in too short a time"):
        read_recording(path, columns={"q": "/joint_states/position/left", "x": "/pose/pose/position/x"})


def test_without_the_library(monkeypatch, bag):
    monkeypatch.setitem(__import__("sys").modules, "rosbags.highlevel", None)
    with pytest.raises(InputError, match=r"which needs rosbags: pip install '.\[formats\]' in the clone"):
        read_recording(Path(bag), columns={"q": "/joint_states/position/left"})


POINT = "float64[] positions\nfloat64[] velocities\nfloat64[] accelerations\nfloat64[] effort\n"
CONTROL = {
    "trajectory_msgs/msg/JointTrajectoryPoint": POINT + "builtin_interfaces/Duration time_from_start\n",
    "control_msgs/msg/JointTrajectoryControllerState": (
        "std_msgs/Header header\nstring[] joint_names\ntrajectory_msgs/JointTrajectoryPoint reference\n"
        "trajectory_msgs/JointTrajectoryPoint feedback\ntrajectory_msgs/JointTrajectoryPoint error\n"
    ),
    "control_msgs/msg/InterfaceValue": "string[] interface_names\nfloat64[] values\n",
    "control_msgs/msg/DynamicJointState": (
        "std_msgs/Header header\nstring[] joint_names\ncontrol_msgs/InterfaceValue[] interface_values\n"
    ),
}
"""Definitions of control_msgs for ROS 2, as far as states of joints need them."""


def test_states_of_control_msgs_are_named_by_joints_and_proposed(tmp_path):
    store = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
    for kind, text in CONTROL.items():
        if kind not in store.types:
            store.register(typesys.get_types_from_msg(text, kind))

    def point(position):
        zeros = np.zeros(2)
        still = store.types["builtin_interfaces/msg/Duration"](sec=0, nanosec=0)
        kind = store.types["trajectory_msgs/msg/JointTrajectoryPoint"]
        return kind(
            positions=position, velocities=zeros, accelerations=zeros, effort=10 * position, time_from_start=still
        )

    kinds = ("control_msgs/msg/JointTrajectoryControllerState", "control_msgs/msg/DynamicJointState")
    path = tmp_path / "run"
    with rosbag2.Writer(path, version=9, storage_plugin=rosbag2.StoragePlugin.MCAP) as writer:
        topics = [
            writer.add_connection(name, kind, typestore=store)
            for name, kind in zip(("/arm", "/all"), kinds, strict=True)
        ]
        for k in range(200):
            q = np.array([np.sin(k / 20), np.cos(k / 20)])
            stamp = header(k / 200)
            arm = store.types[kinds[0]](
                header=stamp, joint_names=list(JOINTS), reference=point(0 * q), feedback=point(q), error=point(-q)
            )
            values = [
                store.types["control_msgs/msg/InterfaceValue"](
                    interface_names=["position", "effort"], values=np.array([each, 10 * each])
                )
                for each in q
            ]
            every = store.types[kinds[1]](header=stamp, joint_names=list(JOINTS), interface_values=values)
            for connection, message in zip(topics, (arm, every), strict=True):
                raw = store.serialize_cdr(message, message.__msgtype__)
                writer.write(connection, T0 * 10**9 + k * 5_000_000, raw)
    wanted = {"q": "/arm/feedback/positions/right", "u": "/all/interface_values/left/values/effort"}
    read = read_recording(path, columns=wanted)
    k = np.rint(read.times * 200)
    np.testing.assert_allclose(read["q"], np.cos(k / 20), atol=1e-12)
    np.testing.assert_allclose(read["u"], 10 * np.sin(k / 20), atol=1e-12)
    proposal = overview(path).proposal
    assert 'q1 = "/all/interface_values/left/values/position"' in proposal
    assert 'tau2 = "/all/interface_values/right/values/effort"' in proposal
    assert "q3" not in proposal
    assert "# positions and efforts are also in /arm" in proposal
