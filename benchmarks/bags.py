"""A rosbag2 recording of 20 000 joint states: gough's columns against rosbags' messages one by one, in one run."""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from benchmarks._timing import seconds
from gough.data import read_recording

COUNT, JOINTS = 20_000, 6
KIND = "sensor_msgs/msg/JointState"


def write(path: Path) -> None:
    store = get_typestore(Stores.ROS2_HUMBLE)
    state, header, time = (store.types[kind] for kind in (KIND, "std_msgs/msg/Header", "builtin_interfaces/msg/Time"))
    rng = np.random.default_rng(0)
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection("/joint_states", KIND, typestore=store)
        names = [f"leg{i + 1}" for i in range(JOINTS)]
        for k in range(COUNT):
            values = rng.normal(size=(3, JOINTS))
            stamp = time(sec=1_700_000_000 + k // 1000, nanosec=k % 1000 * 1_000_000)
            message = state(header(stamp, "base"), names, *values)
            writer.write(connection, 10**9 * 1_700_000_000 + 10**6 * k, store.serialize_cdr(message, KIND))


def message_by_message(path: Path) -> np.ndarray:
    with AnyReader([path]) as reader:
        return np.array([reader.deserialize(data, KIND).position for _, _, data in reader.messages()])


def main() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "bag")
        write(path)
        columns = {f"q{i + 1}": f"/joint_states/position/leg{i + 1}" for i in range(JOINTS)}
        ours, theirs = read_recording(path, columns=columns).samples, message_by_message(path)
        assert (ours == theirs).all()
        mine = seconds(lambda: read_recording(path, columns=columns), 3, process_time)
        rival = seconds(lambda: message_by_message(path), 3, process_time)
        print(
            f"{COUNT} joint states of {JOINTS} joints: same numbers, {rival / mine:.1f} x as fast as rosbags' messages"
        )


if __name__ == "__main__":
    main()
