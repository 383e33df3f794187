"""Sources: lines that are cut, replaced or no samples; folders, standard input, UDP, WebSocket; checkpoints."""

import base64
import hashlib
import json
import os
import socket
import struct
from contextlib import closing

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.watch.checkpoint import load_checkpoint, save_checkpoint
from gough.watch.sources import Channels, open_source
from gough.watch.sources.files import GrowingFile, StandardInput
from gough.watch.sources.folder import Recorded, RecordingFolder
from gough.watch.sources.lines import LineDecoder
from gough.watch.sources.network import UdpSource, WebSocketSource

CHANNELS = Channels("time", {"q1": "angle", "tau1": "tau1"}, {"q1": "deg"}, {"q1": "rad", "tau1": "N·m"}, {"tau1": 2.0})
PLAIN = Channels("time", {"q1": "q1", "tau1": "tau1"}, {}, {"q1": "rad", "tau1": "N·m"})


def test_units_gains_and_order_of_columns():
    found = LineDecoder(CHANNELS, "a.csv").take(b"tau1,other,angle,time [ms]\n1,9,180,500\n")
    assert found.times.tolist() == [0.5]
    assert found.values.tolist() == [[np.pi, 2.0]]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_every_cut_of_a_text_gives_the_same_samples(separator):
    text = "time,q1,tau1\n0.0,1e-3,-2\n\n# a note\n0.1,,nan\n0.2,x,1\n0.3,4,5,6\n0.4, 7 ,8\r\n".replace(",", separator)
    data = text.encode()
    expected = LineDecoder(PLAIN, "a").take(data)
    assert expected.times.tolist() == [0.0, 0.1, 0.4]
    assert [number for number, _ in expected.bad] == [6, 7]
    for cut in range(len(data)):
        decoder = LineDecoder(PLAIN, "a")
        parts = [decoder.take(data[:cut]), decoder.take(data[cut:])]
        assert np.concatenate([part.times for part in parts]).tolist() == expected.times.tolist()
        values = np.concatenate([part.values for part in parts])
        assert np.array_equal(values, expected.values, equal_nan=True)
        assert [bad for part in parts for bad in part.bad] == expected.bad


def test_json_lines():
    decoder = LineDecoder(PLAIN, "a")
    lines = [
        '{"time": 0, "q1": 1, "tau1": 2}',
        '{"time": 1, "q1": null}',
        "[1]",
        '{"q1": 1}',
        '{"time": 2, "q1": "x"}',
        '{"time": true}',
        "{" * 2000,
        '{"time": 3, "q1": 1e400, "tau1": 1}',
        '{"time":4,"q1":5,"tau1":6}',
    ]
    found = decoder.take("\n".join([*lines, ""]).encode())
    assert found.times.tolist() == [0.0, 1.0, 3.0, 4.0]
    assert [number for number, _ in found.bad] == [3, 4, 5, 6, 7]
    assert np.isnan(found.values[1:3]).any(axis=1).all()


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"1,2,3\n", "names of the columns"),
        (b"time,q1\n", "no column 'tau1'"),
        (b"time,q1,q1,tau1\n", "2 times"),
        (b"time,q1 [kg],tau1\n", "cannot become 'rad'"),
        (b"\xff\xfe\x00,\n", "not UTF-8"),
        (b"x" * 70_000, "longer than"),
    ],
)
def test_heads_that_cannot_be_used_are_refused(head, message):
    with pytest.raises(InputError, match=message):
        LineDecoder(PLAIN, "a.csv").take(head)


def test_a_stream_without_times_needs_a_rate():
    with pytest.raises(InputError, match="needs a rate"):
        Channels(None, {"q1": "q1"}, {}, {"q1": "rad"})
    counted = LineDecoder(Channels(None, {"q1": "q1"}, {}, {"q1": "rad"}, rate=10.0), "a")
    assert counted.take(b"q1\n5\n6\n").times.tolist() == [0.0, 0.1]


def test_a_growing_file_waits_for_the_end_of_a_line_and_resumes_there(tmp_path):
    path = tmp_path / "live.csv"
    path.write_text("time,q1,tau1\n0,1,2\n0.1,3,")
    one, other, third = (GrowingFile(path, PLAIN) for _ in range(3))
    assert len(one.read(0.0)) == 1
    assert len(one.read(0.0)) == 0
    position = json.loads(json.dumps(one.position()))
    with path.open("a") as file:
        file.write("4\n0.2,5,6\n")
    assert one.read(0.0).values.tolist() == [[3, 4], [5, 6]]
    other.resume(position)
    assert other.read(0.0).values.tolist() == [[3, 4], [5, 6]]
    path.write_text("time,q1,tau1\n9,9,9\n")
    assert "was replaced" in one.read(0.0).notes[0]
    assert one.read(0.0).times.tolist() == [9.0]
    with pytest.raises(InputError, match="not the file of the checkpoint"):
        third.resume(position)
    for each in (one, other, third):
        each.close()
    with pytest.raises(InputError, match="there is no such file"):
        GrowingFile(tmp_path / "no.csv", PLAIN)


def test_standard_input_ends():
    reading, writing = os.pipe()
    source = StandardInput(PLAIN, reading)
    os.write(writing, b"time,q1,tau1\n0,1,2\n1,3,4")
    assert len(source.read(1.0)) == 1
    os.close(writing)
    assert source.read(1.0).values.tolist() == [[3, 4]]
    assert source.read(1.0) is None
    os.close(reading)
    with pytest.raises(InputError, match="cannot be resumed"):
        source.resume({})


def test_datagrams():
    source = UdpSource("127.0.0.1", 0, PLAIN)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b'{"time": 0, "q1": 1, "tau1": 2}', ("127.0.0.1", source.port))
        sender.sendto(b"garbage", ("127.0.0.1", source.port))
        sender.sendto(b'{"time": 1, "q1": 3, "tau1": 4}\n', ("127.0.0.1", source.port))
        batches = [source.read(1.0)]
        while sum(map(len, batches)) < 2:
            batches.append(source.read(1.0))
    assert np.concatenate([batch.values for batch in batches]).tolist() == [[1, 2], [3, 4]]
    assert sum(len(batch.bad) for batch in batches) == 1
    with pytest.raises(InputError, match="cannot be listened on"):
        UdpSource("127.0.0.1", source.port, PLAIN)
    source.close()


def opened(port, **fields):
    peer = socket.create_connection(("127.0.0.1", port))
    key = base64.b64encode(b"0123456789abcdef").decode()
    head = {"Host": "x", "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": key, **fields}
    peer.sendall(("GET / HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in head.items()) + "\r\n").encode())
    return peer


def frame(text, first=0x81, *, masked=True):
    data, mask = text.encode(), b"\x01\x02\x03\x04"
    size = bytes([len(data) | 0x80 * masked]) if len(data) < 126 else bytes([126 | 0x80]) + struct.pack(">H", len(data))
    body = bytes(b ^ mask[k % 4] for k, b in enumerate(data)) if masked else data
    return bytes([first]) + size + (mask if masked else b"") + body


def drained(source, wanted):
    batches = []
    for _ in range(50):
        batches.append(source.read(0.1))
        if sum(len(batch) + len(batch.bad) for batch in batches) >= wanted:
            break
    return batches


def test_a_websocket_and_peers_that_misbehave():
    source = WebSocketSource("127.0.0.1", 0, PLAIN)
    peer = opened(source.port)
    line = '{"time": 0, "q1": 1, "tau1": 2}'
    source.read(1.0)
    source.read(1.0)
    answer = peer.recv(4096)
    # the answer to this key by the algorithm of RFC 6455
    accept = base64.b64encode(
        hashlib.sha1(base64.b64encode(b"0123456789abcdef") + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
    )
    assert b"101" in answer
    assert accept in answer
    whole = (
        frame(line) + frame(line[:5], 0x01) + frame("hi", 0x89) + frame(line[5:], 0x80) + frame(line + "\n" + line * 0)
    )
    for k in range(0, len(whole), 7):
        peer.sendall(whole[k : k + 7])
    assert sum(map(len, drained(source, 3))) == 3
    assert peer.recv(100) == b"\x8a\x02hi"
    peer.sendall(frame(line, masked=False))
    assert "no client may send" in next(bad for batch in drained(source, 1) for bad in batch.bad)
    peer.close()
    foreign = opened(source.port, Origin="https://example.org")
    assert "web page" in next(bad for batch in drained(source, 1) for bad in batch.bad)
    foreign.close()
    again = opened(source.port)
    again.sendall(frame(line))
    assert sum(map(len, drained(source, 1))) == 1
    again.close()
    source.close()


def test_a_folder_is_read_in_order_and_resumed_within_a_file(tmp_path):
    def reader(path):
        if "bad" in path.name:
            raise InputError(f"{path} is damaged")
        data = np.loadtxt(path, delimiter=",", ndmin=2)
        return Recorded(data[:, 0], data[:, 1:])

    for name, start in (("b.csv", 10), ("a.csv", 0)):
        np.savetxt(tmp_path / name, [[start, 1, 2], [start + 1, 3, 4]], delimiter=",")
    (tmp_path / "a-bad.csv").write_text("x")
    (tmp_path / "notes.md").write_text("no recording")
    source = RecordingFolder(tmp_path, reader, 2, settled=0.0, follow=False)
    batches = []
    while (batch := source.read(0.0)) is not None:
        batches.append(batch)
        middle = source.position()
    assert np.concatenate([batch.times for batch in batches]).tolist() == [0, 1, 10, 11]
    assert sum(len(batch.notes) for batch in batches) == 1
    other = RecordingFolder(tmp_path, reader, 2, settled=0.0, follow=False)
    other.resume(middle)
    assert other.read(0.0) is None
    other.resume({"kind": "folder", "done": ["a-bad.csv", "a.csv"], "current": "b.csv", "at": 1})
    assert other.read(0.0).times.tolist() == [11]


def test_addresses(tmp_path):
    def reader(path):
        raise AssertionError(path)

    source = open_source("udp:0", PLAIN, reader)
    assert source.name.startswith("udp://127.0.0.1:")
    source.close()
    assert isinstance(open_source(str(tmp_path), PLAIN, reader), RecordingFolder)
    for text in ("http://example.org", "no-such.csv"):
        with pytest.raises(InputError):
            open_source(text, PLAIN, reader)


def test_checkpoints_are_exact_and_damage_is_noticed(tmp_path):
    state = {"a": np.arange(3.0), "b": [1, None, "x", float("-inf")], "c": {"d": np.array([True, False]), "e": 0.1}}
    path = tmp_path / "checkpoint"
    save_checkpoint(path, {"a": 1})
    save_checkpoint(path, state)
    found = load_checkpoint(path)
    assert found["b"] == state["b"]
    assert found["c"]["e"] == 0.1
    assert np.array_equal(found["a"], state["a"])
    data = path.read_bytes()
    for k in range(0, len(data), 37):
        path.write_bytes(data[:k])
        with pytest.raises(InputError, match="no checkpoint"):
            load_checkpoint(path)
    path.write_bytes(data.replace(b"x", b"y", 1)[:-1])
    with pytest.raises(InputError, match="no checkpoint"):
        load_checkpoint(path)


def test_a_last_line_that_is_cut_off_is_no_sample():
    """A complete last line without its end is one; JSON tells by itself whether it is complete."""
    channels = Channels("time", {"q1": "q1"}, {}, {"q1": "rad"})
    text = "time,q1\n" + "\n".join(f"{k / 100:.2f},{k / 7:.6f}" for k in range(20))
    for data, count, bad in ((text, 20, 0), (text + "\n", 20, 0), (text[:-3], 19, 1), (text[:-12], 19, 1)):
        decoder = LineDecoder(channels, "a.csv")
        found, last = decoder.take(data.encode()), decoder.end()
        assert len(found.times) + len(last.times) == count
        assert len(last.bad) == bad
    assert "seems cut off" in last.bad[0][1] or "cells" in last.bad[0][1]
    rows = "\n".join(f'{{"time": {k / 100:.2f}, "q1": {k / 7:.6f}}}' for k in range(20))
    for data, count in ((rows, 20), (rows[:-3], 19)):
        decoder = LineDecoder(channels, "a.json")
        assert len(decoder.take(data.encode()).times) + len(decoder.end().times) == count


def test_recordings_of_a_folder_continue_by_their_dates(tmp_path):
    """The second begins two seconds after the first, also where the watch resumes between them; others restart."""
    began = {"a.csv": 1_700_000_000_000_000_000, "b.csv": 1_700_000_002_000_000_000, "c.csv": None}

    def reader(path):
        return Recorded(np.arange(3.0) / 2, np.zeros((3, 2)), began[path.name])

    for name in began:
        (tmp_path / name).write_text("x")
    source = RecordingFolder(tmp_path, reader, 2, settled=0.0, follow=False)
    first = source.read(0.0)
    assert first.is_new
    other = RecordingFolder(tmp_path, reader, 2, settled=0.0, follow=False)
    other.resume(source.position())
    for each in (source, other):
        assert each.read(0.0).times.tolist() == [2.0, 2.5, 3.0]
        assert each.read(0.0).times.tolist() == [0.0, 0.5, 1.0]


def test_a_recording_whose_copy_stalls_is_read_when_it_is_complete(tmp_path):
    """It is an event of its own, also after a restart in between; each bad file is named."""

    def reader(path):
        if path.read_text() != "whole":
            raise InputError(f"{path} is cut off")
        return Recorded(np.arange(2.0), np.zeros((2, 2)))

    for name in ("a.csv", "b.csv", "c.csv"):
        (tmp_path / name).write_text("whole" if name == "a.csv" else "ha")
    source = RecordingFolder(tmp_path, reader, 2, settled=0.0, follow=False)
    first = [source.read(0.0) for _ in range(4)]
    assert [None if each is None else len(each) for each in first] == [2, 0, 0, None]
    assert [note.split(" is cut")[0] for each in first[1:3] for note in each.notes] == [
        str(tmp_path / name) for name in ("b.csv", "c.csv")
    ]
    (tmp_path / "b.csv").write_text("whole")
    again = RecordingFolder(tmp_path, reader, 2, settled=0.0, follow=False)
    again.resume(source.position())
    for each in (source, again):
        assert len(each.read(0.0)) == 2
        assert each.read(0.0) is None


def test_a_file_that_was_watched_once_is_continued_to_the_byte(tmp_path):
    """A last line without its end waits for the next run, wherever it is cut; another file is refused."""
    lines = "time,angle,other,tau1,more\n" + "".join(f"{k / 8},{k},1.25,2,3.5\n" for k in range(1000))
    path = tmp_path / "a.csv"
    for cut in (1, 3, 9, 17):
        path.write_text(lines[:-cut])
        with closing(GrowingFile(path, CHANNELS, follow=False)) as first:
            first.will_resume = True
            assert _number_of_samples(first) == 999
            position = first.position()
        path.write_text(lines)
        with closing(GrowingFile(path, CHANNELS, follow=False)) as second:
            second.resume(position)
            assert _number_of_samples(second) == 1
    path.write_text(lines.replace("998,1.25", "998,1.26"))
    with (
        closing(GrowingFile(path, CHANNELS, follow=False)) as other,
        pytest.raises(InputError, match="is not the file of the checkpoint"),
    ):
        other.resume(position)


def _number_of_samples(source):
    count = 0
    while (batch := source.read(0.0)) is not None:
        assert not batch.bad
        count += len(batch)
    return count
