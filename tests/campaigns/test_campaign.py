"""Campaigns: the same bits from any executor, in any order, after any interruption; nothing is computed twice."""

import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from gough import InputError
from gough.campaigns import (
    Campaign,
    Futures,
    Interrupted,
    Ledger,
    Processes,
    ThisProcess,
    digest,
    executor_of,
    open_executor,
    task_rng,
    this_version,
)
from gough.campaigns.plain import from_json, to_json
from gough.campaigns.tasks import Call, Work, perform_elsewhere
from gough.core.progress import Progress
from gough.region import Box
from tests.campaigns import work

TASKS = {f"task {k}": (k,) for k in range(24)}


def solved(tasks=TASKS, seed=7):
    return Campaign(work.solved, tasks, (12,), seed)


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def bits(results):
    return {key: to_json(value) for key, value in results.items()}


@pytest.fixture(scope="module")
def processes():
    with Processes(2) as pool:
        yield pool


def test_the_same_bits_in_any_executor_and_any_order(processes, tmp_path):
    here = bits(solved().run(tmp_path / "here.jsonl"))
    backwards = dict(reversed(TASKS.items()))
    assert bits(solved().run(tmp_path / "there.jsonl", executor=processes)) == here
    assert bits(solved(backwards).run(executor=processes)) == here
    with ThreadPoolExecutor(3) as threads:
        assert bits(solved().run(executor=threads)) == here
    of = {entry["key"]: entry for entry in lines(tmp_path / "here.jsonl")[1:]}
    assert {entry["key"]: entry for entry in lines(tmp_path / "there.jsonl")[1:]} == of
    assert bits(solved(seed=8).run()) != here


def test_generators_of_tasks_do_not_repeat():
    draws = {float(task_rng(seed, f"task {k}").random()) for seed in range(20) for k in range(50)}
    assert len(draws) == 1000


def test_what_a_ledger_has_is_not_computed_again(tmp_path):
    path, done = tmp_path / "a.jsonl", tmp_path / "done"
    done.mkdir()
    campaign = Campaign(work.noted, TASKS, (str(done), 0.0), 1)
    few = Campaign(work.noted, dict(list(TASKS.items())[:9]), (str(done), 0.0), 1)
    first = few.run(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])  # a kill in the middle of a line
    seen = []
    assert campaign.run(path, on_progress=seen.append).items() >= first.items()
    assert seen[0] == Progress(8, 24)
    assert len(list(done.iterdir())) == 25  # the one that was cut short, again
    assert [entry["key"] for entry in lines(path)[1:]] == list(TASKS)
    assert campaign.run(path) == campaign.run(path)
    assert len(list(done.iterdir())) == 25


def test_other_arguments_under_the_same_key_are_another_task(tmp_path):
    path = tmp_path / "a.jsonl"
    assert Campaign(work.large, {"a": (1, 2), "b": (3, 4)}).run(path) == {"a": 3, "b": 7}
    changed = Campaign(work.large, {"a": (1, 2), "b": (3, 5)})
    assert changed.run(path) == {"a": 3, "b": 8}
    assert changed.run(path) == {"a": 3, "b": 8}
    assert len(lines(path)) == 4
    one, other = Campaign(work.large, {"a": (1, 2)}), Campaign(work.large, {"a": (1, 3)})
    assert one.digest_of("a") != other.digest_of("a")
    with pytest.raises(InputError, match="another configuration"):
        Campaign(work.refuses, {"a": (1,)}).run(path)


def test_a_folder_gets_a_ledger_of_its_own_for_each_configuration(tmp_path):
    solved(dict(list(TASKS.items())[:2])).run(tmp_path)
    solved(dict(list(TASKS.items())[:3])).run(tmp_path)
    solved(dict(list(TASKS.items())[:2]), seed=8).run(tmp_path)
    assert sorted(len(lines(path)) for path in tmp_path.glob("campaign-solved-*.jsonl")) == [3, 4]


def test_a_killed_worker_costs_only_time(processes, tmp_path, monkeypatch):
    monkeypatch.setattr("gough.campaigns.campaign._LOSSES", 2)
    tasks = {str(k): (k,) for k in range(8)}
    assert Campaign(work.kills_its_worker, tasks, (str(tmp_path),)).run(executor=processes) == {
        str(k): k * k for k in range(8)
    }
    with pytest.raises(InputError, match="the task '13' was running 2 times when a worker was killed by signal 9"):
        Campaign(work.kills_its_worker, {"13": (13,)}, (str(tmp_path),)).run(executor=processes)


def test_tasks_that_wait_in_a_worker_do_not_count_as_the_cause_of_its_end(tmp_path):
    calls = [Call(k, str(k), (k,)) for k in (13, 5, 6)]
    with Processes(1) as processes:
        processes.start(Work("waiting", work.kills_its_worker, (str(tmp_path),), None, this_version()))
        processes.submit([[call] for call in calls])
        lost = []
        while len(lost) < len(calls):
            lost += processes.wait(10.0)
    assert [(each.number, each.was_waiting) for each in lost] == [(13, False), (5, True), (6, True)]
    assert {each.lost for each in lost} == {"a worker was killed by signal 9"}


def test_an_error_names_its_task_and_keeps_the_others(processes, tmp_path):
    tasks = {f"number {k}": (k,) for k in range(6)}
    for executor in (None, processes):
        path = tmp_path / f"{executor is None}.jsonl"
        with pytest.raises(InputError, match="five is not allowed") as caught:
            Campaign(work.refuses, tasks).run(path, executor=executor)
        assert any("number 5" in note for note in caught.value.__notes__)
        assert len(lines(path)) == 6


def test_large_tasks_and_results_do_not_block(processes):
    block = np.zeros((200, 200))  # more than a pipe holds, in both directions
    results = Campaign(work.large, {str(k): (float(k), block) for k in range(12)}).run(executor=processes)
    assert [float(value[0, 0]) for value in results.values()] == list(range(12))


def test_a_process_with_another_version_is_refused_by_name():
    other = this_version()._replace(gough="0.0.9")
    call = Call(0, "a", (1,))
    with pytest.raises(
        InputError, match=rf"worker process {os.getpid()} on .* is refused: it has gough 0\.1\.0 instead"
    ):
        perform_elsewhere(Work("x", work.refuses, (), None, other), [call])
    assert "other sources" in this_version().difference(this_version()._replace(sources="0" * 32))


@pytest.fixture
def ctrl_c():
    """Ctrl-C as at a terminal; shells let programs in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_finishes_running_tasks_and_a_second_one_abandons_them(processes, tmp_path):
    path = tmp_path / "a.jsonl"
    campaign = Campaign(work.slow, {str(k): (k,) for k in range(40)}, (0.1,), 1)
    seen = []

    for executor, count in ((None, 4), (processes, 9)):

        def press(step, count=count):
            seen.append(step)
            if step.done == count and not step.stage:
                signal.raise_signal(signal.SIGINT)

        with pytest.raises(Interrupted, match=r"stopped after \d+ of 40 tasks; results are in .*a\.jsonl"):
            campaign.run(path, executor=executor, on_progress=press)
        assert count <= len(lines(path)) - 1 < count + 12
        assert any("Ctrl-C again abandons them" in step.stage for step in seen)
    before = len(lines(path))

    def twice(step):
        if step.done > before and not step.stage:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted):
        campaign.run(path, executor=processes, on_progress=twice)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_client_that_is_killed_loses_nothing_and_leaves_no_workers(tmp_path):
    path, folder = tmp_path / "a.jsonl", tmp_path / "done"
    folder.mkdir()
    call = f"Campaign(work.noted, {{str(k): (k,) for k in range(400)}}, ({str(folder)!r}, 0.05), 1)"
    code = f"""
from tests.campaigns.test_campaign import *
if __name__ == "__main__":
    {call}.run({str(path)!r}, workers=2)
"""
    script = tmp_path / "script.py"
    script.write_text(code)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    child = subprocess.Popen([sys.executable, str(script)], env=environment)
    for _ in range(1200):
        time.sleep(0.05)
        if path.exists() and path.read_bytes().count(b"\n") > 5:
            break
    child.kill()
    child.wait()
    kept = lines(path)[1:]
    assert len(kept) >= 5
    time.sleep(0.3)
    ended = len(list(folder.iterdir()))
    time.sleep(0.5)
    assert len(list(folder.iterdir())) == ended, "workers run on without their client"
    few = Campaign(work.noted, {entry["key"]: (int(entry["key"]),) for entry in kept}, (str(folder), 0.05), 1)
    assert few.run(path) == {entry["key"]: entry["result"] for entry in kept}
    assert len(list(folder.iterdir())) == ended


def test_a_full_disk_is_said_and_keeps_what_was_written(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    write, room = os.write, [900]

    def full(file, content):
        if room[0] <= 0:
            raise OSError(28, "No space left on device")
        taken = write(file, bytes(content)[: room[0]])
        room[0] -= taken
        return taken

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(
            InputError, match=r"a\.jsonl cannot be written: No space left on device\. It has \d+ results"
        ):
            solved().run(path)
    assert path.read_bytes().endswith(b"\n")
    kept = len(lines(path)) - 1
    assert 0 < kept < 24
    seen = []
    assert bits(solved().run(path, on_progress=seen.append)) == bits(solved().run())
    assert seen[0].done == kept


def test_results_of_all_kinds_return_bit_for_bit():
    values = [
        None, True, 1, -0.0, 1e-320, float("inf"), "ä\n", (1, (2.5,)), {"a": [1]}, {1: 2, "$tuple": 3}, Fraction(1, 3),
        b"\x00\xff", frozenset({3, 1}), 1 + 2j, Path("a/b"), np.float64(0.1), np.zeros((0, 3)),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)), Box([0.0, -np.inf], [1.0, 2.0]), this_version(),
    ]  # fmt: skip
    for value in values:
        back = from_json(to_json(value))
        assert type(back) is type(value) or isinstance(value, Path)
        assert to_json(back) == to_json(value)
        if isinstance(value, np.ndarray):
            assert back.flags.f_contiguous == value.flags.f_contiguous
            np.testing.assert_array_equal(back, value)
        else:
            assert back == value
    assert np.isnan(from_json(to_json(float("nan"))))
    for wrong in (lambda: 1, object(), np.array([object()]), threading.Lock()):
        with pytest.raises(InputError, match=r"cannot be kept|cannot keep"):
            to_json(wrong)
    for text in ('{"$value":["os:environ",{}]}', '{"$value":["gough.core.files:naming",{}]}', '{"$odd":1}', "{"):
        with pytest.raises(InputError, match="no result that gough has written"):
            from_json(text)


def test_executors_are_chosen_by_what_is_asked():
    assert isinstance(executor_of(), ThisProcess)
    assert isinstance(executor_of(workers=2), Processes)
    with ThreadPoolExecutor(1) as threads:
        assert isinstance(executor_of(threads), Futures)
    for wrong in (3, Processes, "dask"):
        with pytest.raises(InputError, match="executor"):
            executor_of(wrong)
    with pytest.raises(InputError, match="workers must be a whole number"):
        executor_of(workers=0)
    with pytest.raises(InputError, match="is no cluster"):
        open_executor(cluster="10.0.0.1")
    with pytest.raises(InputError, match="time must be a number"):
        open_executor(cluster="slurm:time=soon")
    with pytest.raises(InputError, match="contradict each other"):
        open_executor(2, "tcp://127.0.0.1:1")


def test_workers_that_cannot_start_end_the_campaign(tmp_path):
    """A script without the guard starts itself in each worker."""
    script = tmp_path / "script.py"
    script.write_text(
        "from gough.campaigns import Campaign\nimport math\nCampaign(math.sqrt, {'a': (1.0,)}).run(workers=2)"
    )
    ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 1
    assert 'if __name__ == "__main__"' in ended.stderr.splitlines()[-1]


def test_digests_know_files_by_content_and_slots(tmp_path):
    from gough.campaigns import file_digest
    from gough.core.intervals import Interval

    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "b").write_bytes(b"1")
    assert file_digest(tmp_path / "a") == file_digest(tmp_path / "b") != file_digest(tmp_path / "c")
    assert digest(Interval(np.zeros(2), np.ones(2))) != digest(Interval(np.zeros(2), np.full(2, 2.0)))


def test_a_ledger_keeps_no_results_in_memory(tmp_path):
    with Ledger(tmp_path / "a.jsonl", "x") as ledger:
        for k in range(50):
            ledger.append(str(k), ["x" * 1000, k])
        held = (ledger._numbers, ledger._offsets, ledger._lengths, ledger._tasks)
        assert sum(map(sys.getsizeof, held)) < 50 * 200
        assert ledger.results["49"][1] == 49
        assert len(ledger.results) == 50
        assert "7" in ledger.results


def test_what_the_function_calls_in_its_own_file_counts(tmp_path, monkeypatch):
    """A helper or a constant beside the function decides results as its own lines do."""
    script = tmp_path / "beside.py"
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # two versions in one second would share their bytecode
    found = []
    for factor in (1, 7):
        script.write_text(f"def helper(x):\n    return x * {factor}\n\n\ndef f(x):\n    return helper(x)\n")
        sys.modules.pop("beside", None)
        importlib.invalidate_caches()
        module = importlib.import_module("beside")
        found.append(Campaign(module.f, {"a": (2.0,)}).run(tmp_path))  # a folder: another campaign has another file
    assert found == [{"a": 2.0}, {"a": 14.0}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, {"a": (1.0,)}), "function must be a function"),
        ((abs, [("a", (1.0,))]), "tasks must be arguments by key"),
        ((abs, {"a": 1.0}), r"tasks\['a'\] must be a tuple of arguments"),
        ((abs, {"a": (1.0,)}, (), -1), "seed must be a whole number"),
        ((abs, {"a": (1.0,)}, (), "a"), "seed must be a whole number"),
    ],
)
def test_arguments_that_are_none_are_refused_by_name(arguments, message):
    with pytest.raises(InputError, match=message):
        Campaign(*arguments)


def test_a_result_that_is_none_is_named_with_its_file(tmp_path):
    path = tmp_path / "a.jsonl"
    campaign = Campaign(abs, {"a": (-1.0,), "b": (-2.0,)})
    campaign.run(path)
    path.write_text(path.read_text().replace('"result":2.0', '"result":{"$value":"gough.region.Foo"}'))
    with pytest.raises(InputError, match=r"a\.jsonl, result of 'b'.*damaged"):
        campaign.run(path)
