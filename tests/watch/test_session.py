"""Whole watches: events once, kill -9 without loss, the page, and the command."""

import json
import os
import signal
import time
from functools import cache
from http.client import HTTPConnection

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.export.model import RobotModel
from gough.studies.watching import WatchStudy
from gough.watch import Channels, Event, Journal, Session, Watcher, WatchOptions
from gough.watch.example import SimulatedStream
from gough.watch.model import WatchedModel
from gough.watch.server import LivePage
from gough.watch.sources.files import GrowingFile
from gough.watch.watcher import Found

NAMES = ("q1", "q2", "tau1", "tau2")
CHANNELS = Channels(
    "time", {name: name for name in NAMES}, {}, dict(zip(NAMES, ("rad", "rad", "N·m", "N·m"), strict=True))
)


OPEN = []
"""What is closed after each test."""


@pytest.fixture(autouse=True)
def _closed():
    yield
    while OPEN:
        OPEN.pop().close()


@cache
def stream_and_model():
    stream = SimulatedStream()
    return stream, stream.identified(seconds=25.0)


def csv_text(times, values):
    rows = np.column_stack([times, values]).tolist()
    return "".join(",".join(map(repr, row)) + "\n" for row in rows)


@cache
def recorded():
    stream, _ = stream_and_model()
    rng = np.random.default_rng(8)
    return csv_text(*stream.samples(0, 14_000, rng)) + csv_text(
        *stream.samples(14_000, 6000, rng, change={stream.mass: 0.3})
    )


def session(path, out, *, follow=False, every=0.05):
    _, dynamics = stream_and_model()
    options = WatchOptions(np.array(dynamics.bound), rate=1000.0, learn=10.0)
    source = GrowingFile(path, CHANNELS, follow=follow)
    OPEN.append(source)
    return Session(Watcher(WatchedModel.of(dynamics), options), source, Journal(out), "one", out / "checkpoint", every)


def events(out):
    return [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]


def test_a_watch_that_is_killed_loses_no_sample_and_repeats_no_event(tmp_path):
    path, out = tmp_path / "live.csv", tmp_path / "watch"
    text = "time," + ",".join(NAMES) + "\n" + recorded()
    path.write_text("")
    stream_and_model()
    rng = np.random.default_rng(0)
    cuts = np.sort(rng.integers(0, len(text), 5))
    for part in np.split(np.frombuffer(text.encode(), dtype=np.uint8), cuts):
        child = os.fork()
        if child == 0:
            one = session(path, out, follow=True, every=0.01)
            one.resume()
            one.run()
            os._exit(0)
        with path.open("ab") as file:
            file.write(part.tobytes())
        time.sleep(0.4)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    last = session(path, out)
    last.resume()
    last.run()
    assert last.watcher.n_received == 20_000
    assert last.status()["unreadable"] == 0
    straight = session(path, tmp_path / "straight")
    straight.run()
    found, expected = events(out), events(tmp_path / "straight")
    assert [(each["number"], each["kind"]) for each in found] == [(1, "inconsistent"), (2, "payload")]
    assert [(each["number"], each["kind"]) for each in expected] == [(1, "inconsistent"), (2, "payload")]
    assert found[1]["time"] == expected[1]["time"]  # that of a proof depends on the pieces that arrive
    assert found[1]["message"] == expected[1]["message"]
    with pytest.raises(InputError, match="is being written by another gough watch"):
        session(path, out)
    last.journal.close()
    other = session(path, out)
    other.fingerprint = "another"
    with pytest.raises(InputError, match="of another model"):
        other.resume()


def test_events_found_again_in_another_order_are_not_written_again(tmp_path):
    """Proofs depend on the pieces in which samples arrive: a resumed watch may find one after another event."""

    def event(kind, time, subject=""):
        return Found(Event(99, kind, time, subject, "", "observed"))

    def written(*found):
        shown = []
        for each in found:
            journal.write(each, shown.append)
        return [(one.number, one.kind, one.subject) for one in shown]

    journal = Journal(tmp_path)
    assert written(event("payload", 1.0), event("inconsistent", 2.0), event("friction", 2.5, "a")) == [
        (1, "payload", ""), (2, "inconsistent", ""), (3, "friction", "a")
    ]  # fmt: skip
    journal.close()
    (tmp_path / ("." + "checkpoint." + 32 * "0")).write_text("cut off")
    with (tmp_path / "events.jsonl").open("a") as file:
        file.write('{"type": "event", "num')
    journal = Journal(tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["events.jsonl"]
    journal.resumed(1)
    again = written(event("friction", 2.5, "a"), event("friction", 2.5, "b"), event("inconsistent", 2.2))
    assert again == [(4, "friction", "b")]
    assert written(event("inconsistent", 20.0)) == [(5, "inconsistent", "")]  # once each
    journal.close()
    assert [each["number"] for each in events(tmp_path)] == [1, 2, 3, 4, 5]


def test_a_full_disk_and_a_file_of_something_else_are_said(tmp_path, monkeypatch):
    journal = Journal(tmp_path)
    monkeypatch.setattr("gough.watch.journal.os.write", lambda *_: 3)
    with pytest.raises(InputError, match=r"the disk is full or gone. The event was: 1.000 s  data"):
        journal.write(Found(Event(1, "data", 1.0, "", "x", "observed")), print)
    journal.close()
    monkeypatch.undo()
    (tmp_path / "events.jsonl").write_text("1\n")
    with pytest.raises(InputError, match="line 1 is no event of gough watch"):
        Journal(tmp_path)


def test_lines_that_are_no_samples_are_one_event_and_too_many_end_the_watch(tmp_path):
    path = tmp_path / "live.csv"
    head = "time," + ",".join(NAMES) + "\n"
    lines = recorded().splitlines(keepends=True)
    path.write_text(head + "".join(lines[:500]) + "x\ny\n" + "".join(lines[502:1000]))
    one = session(path, tmp_path / "a")
    one.run()
    assert [each["kind"] for each in events(tmp_path / "a")] == ["data"]
    assert one.status()["unreadable"] == 2
    assert one.status()["lost"] == 2
    path.write_text(head + "x\n" * 3000)
    with pytest.raises(InputError, match=r"lines in a row are no samples; .*live.csv, line"):
        session(path, tmp_path / "b").run()


def test_a_source_that_vanishes_or_is_silent_is_an_event(tmp_path, monkeypatch):
    path, out = tmp_path / "live.csv", tmp_path / "watch"
    head = "time," + ",".join(NAMES) + "\n"
    lines = recorded().splitlines(keepends=True)
    path.write_text(head + "".join(lines[:300]))
    monkeypatch.setattr("gough.watch.session._SILENT", 0.2)
    one = session(path, out, follow=True)

    def shown(event):
        if "no samples" in event.message:
            path.unlink()
        elif "is gone" in event.message:
            path.write_text(head + "".join(lines[300:600]))
        else:
            one.stop()

    one.on_event = shown
    one.run()
    told = [each["message"] for each in events(out)]
    assert told == [
        "no samples arrive since 0.299 s", f"{path} is gone: it is waited for",
        f"{path} was replaced or cut: it is read from its beginning",
    ]  # fmt: skip
    assert one.watcher.n_received == 300
    one.resume()
    assert one.watcher.n_received == 300


def get(page, path, **fields):
    connection = HTTPConnection("127.0.0.1", page.port, timeout=5)
    OPEN.append(connection)
    connection.request("GET", path, headers=fields)
    return connection.getresponse()


def test_the_page_is_for_this_computer_and_holds_nothing_from_outside():
    page = LivePage({"robot": "</script><b>", "actuators": ["a"], "units": ["N"], "set": ""})
    assert page.address.startswith("http://127.0.0.1:")
    answer = get(page, f"/{page.token}/")
    text = answer.read().decode()
    assert answer.status == 200
    assert "default-src 'none'" in answer.getheader("Content-Security-Policy")
    assert "http://" not in text.replace(page.address, "")
    assert "https://" not in text
    assert "</script><b>" not in text
    for path in ("/", "/stream", f"/{page.token}x/", f"/{page.token}/../"):
        assert get(page, path).status == 404
    assert get(page, f"/{page.token}/", Host="evil.example").status == 421
    page.board.post("event", {"number": 1})
    page.board.post("bands", {"times": [1]})
    page.board.post("event", {"number": 2})
    run = page.board.run
    for last, missed in ((f"{run}-1", (2, 3)), ("another-2", (1, 2)), ("", (1, 2))):
        answer = get(page, f"/{page.token}/stream", **{"Last-Event-ID": last})
        lines = [answer.fp.readline().decode().strip() for _ in range(9)]
        # what was missed, no more; all of it by a page of another run
        assert [line for line in lines if line.startswith("id")] == [f"id: {run}-{number}" for number in missed]
        answer.close()
    with pytest.raises(InputError, match="choose another --port"):
        LivePage({}, page.port)
    page.close()


def test_a_page_finds_the_next_run_where_the_last_one_was(tmp_path):
    kept = tmp_path / "page.json"
    first = LivePage({}, kept=kept)
    address = first.address
    assert kept.stat().st_mode & 0o077 == 0
    first.close()
    second = LivePage({}, kept=kept)
    assert second.address == address
    third = LivePage({}, kept=kept)  # the port is taken
    assert (third.token, third.port != second.port) == (second.token, True)
    for page in (second, third):
        page.close()
    kept.write_text('{"port": 1, "token": "../"}')
    other = LivePage({}, kept=kept)
    assert other.token != first.token
    assert len(other.token) == 24
    other.close()


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    stream, dynamics = stream_and_model()
    head = "time," + ",".join(NAMES) + "\n"
    (folder / "rec.csv").write_text(head + csv_text(*stream.samples(0, 3000, np.random.default_rng(0))))
    (folder / "live.csv").write_text(head + recorded())
    (folder / "results").mkdir()
    (folder / "results" / "model.json").write_text(RobotModel(dynamics=dynamics).to_json())
    (folder / "study.toml").write_text(
        '[robot]\nfamily = "five-bar"\n[[data.recordings]]\nfile = "rec.csv"\n[watch]\nlearn = "10 s"\n'
    )
    return folder


def test_the_command_prints_lines_of_json_and_certificates_hold(study, capsys, monkeypatch):
    from gough.cli.app import run

    monkeypatch.chdir(study)
    assert run(["watch", "study.toml", "live.csv", "--once", "--json", "--no-page"]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = [line for line in lines if line["type"] == "event"]
    assert [line["kind"] for line in found] == ["inconsistent", "payload"]
    assert lines[-1]["samples"] == 20_000
    assert run(["check", found[0]["certificate"], found[0]["problem"]]) == 0
    assert "The certificate holds" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["watch", "study.toml", "no.csv"], "there is no such file"),
        (["watch", "study.toml", "-", "--checkpoint"], "cannot be resumed"),
        (["watch", "study.toml", "live.csv", "--results", "nowhere"], "nowhere does not exist"),
        (["watch", "study.toml", "ftp://x"], "is no source"),
    ],
)
def test_the_command_refuses(study, arguments, message, capsys, monkeypatch):
    from gough.cli.app import run

    monkeypatch.chdir(study)
    assert run([*arguments, "--once", "--no-page"]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_drift_and_bound_of_a_study(study):
    text = (study / "study.toml").read_text()
    (study / "drift.toml").write_text(text + 'bound = "0.2 N*m"\ndrift = { fv_1 = "0.001 N*m*s/rad/s" }\n')
    asked = WatchStudy.read(study / "drift.toml")
    assert asked.options.bound.tolist() == [0.2, 0.2]
    assert asked.options.drift[asked.dynamics.columns.index("fv_1")] == 0.001
    times, values, _ = asked.read_recording(study / "rec.csv")
    assert len(times) == 3000
    watcher = asked.watcher()
    assert watcher.take(times, values) == []
    assert watcher.n_rows > 0
    (study / "wrong.toml").write_text(text + "drift = { nothing = 1 }\n")
    with pytest.raises(InputError, match=r"wrong.toml, line 7, .*no parameter 'nothing'"):
        WatchStudy.read(study / "wrong.toml").watcher()
