"""Campaigns on a real scheduler and real workers of Dask on loopback, and as jobs of submitit."""

import os
import signal
import stat
import threading
import time

import pytest

from gough import InputError
from gough.campaigns import Campaign, DaskCluster, SlurmJobs, open_executor
from gough.campaigns.plain import to_json
from tests.campaigns import work
from tests.campaigns.loopback import Loopback, other_version, wait_until

TASKS = {f"task {k}": (k,) for k in range(16)}


def solved():
    return Campaign(work.solved, TASKS, (12,), 7)


def bits(results):
    return {key: to_json(value) for key, value in results.items()}


def kill_when(path, count, process):
    """Kill a process once the ledger has so many lines."""

    def watch():
        until = time.monotonic() + 120
        while time.monotonic() < until and not (path.exists() and path.read_bytes().count(b"\n") > count):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def test_dask_with_killed_workers_a_worker_of_another_version_and_a_killed_scheduler(tmp_path):
    here = bits(solved().run())
    with Loopback(tmp_path) as cluster:
        first, _ = cluster.add(), cluster.add()
        with DaskCluster(str(cluster.file)) as dask:
            wait_until(lambda: dask.slots == 2, cluster.scheduler)
            assert bits(solved().run(executor=dask)) == here

            path, folder = tmp_path / "kill.jsonl", tmp_path / "done"
            folder.mkdir()
            campaign = Campaign(work.noted, {str(k): (k,) for k in range(30)}, (str(folder), 0.05), 3)
            killer = kill_when(path, 4, first)
            killed = campaign.run(path, executor=dask)
            killer.join()
            assert first.wait() == -signal.SIGKILL
            assert killed == campaign.run()
            assert path.read_bytes().count(b"\n") == 31

            other = cluster.add(other_version(tmp_path / "copy"))
            wait_until(lambda: dask.slots == 2, other)
            message = r"worker tcp://127\.0\.0\.1:\d+ is refused: it has gough 0\.0\.9\+0\.1\.0 instead of 0\.1\.0"
            with pytest.raises(InputError, match=message):
                solved().run(executor=dask)
            other.kill()
            wait_until(lambda: dask.slots == 1 and other.poll() is not None, cluster.scheduler)

            path = tmp_path / "gone.jsonl"
            killer = kill_when(path, 4, cluster.scheduler)
            with pytest.raises(
                InputError, match=r"connection to the Dask scheduler .* is lost\. Results so far are kept"
            ):
                campaign.run(path, executor=dask)
            killer.join()
        kept = path.read_bytes()
        assert 5 <= kept.count(b"\n") < 31
        assert campaign.run(path) == killed
        assert path.read_bytes().startswith(kept)


def test_an_address_without_a_scheduler_is_refused(monkeypatch):
    monkeypatch.setattr("gough.campaigns.executors.dask_cluster._CONNECT", 0.5)
    with pytest.raises(InputError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        open_executor(cluster="tcp://127.0.0.1:9")


def test_jobs_of_submitit_give_the_same_bits(tmp_path):
    """Its local executor runs jobs as processes, with the same files as Slurm."""
    with SlurmJobs(tmp_path, workers=1, tasks_per_job=8, cluster="local") as jobs:
        assert bits(solved().run(tmp_path / "a.jsonl", executor=jobs)) == bits(solved().run())


SBATCH = """#!/bin/sh
cp "$1" {folder}/submitted.sh
echo "Submitted batch job 4711"
"""


def test_settings_reach_sbatch(tmp_path, monkeypatch):
    """A program in the place of sbatch keeps what it is given."""
    for name, text in (("sbatch", SBATCH.format(folder=tmp_path)), ("srun", "#!/bin/sh\n")):
        program = tmp_path / name
        program.write_text(text)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    jobs = open_executor(3, f"slurm:partition=night,time=90,memory=4,tasks=5,folder={tmp_path / 'jobs'}")
    assert jobs.slots == 3
    assert jobs.first_batch(100) == 5
    campaign = solved()
    from gough.campaigns.tasks import Call, Work
    from gough.campaigns.versions import this_version

    jobs.start(Work("x", campaign.function, campaign.shared, 7, this_version()))
    jobs.submit([[Call(0, "task 0", (0,))]])
    script = (tmp_path / "submitted.sh").read_text()
    for line in ("--partition=night", "--time=90", "--mem=4GB", "--cpus-per-task=1"):
        assert line in script
    jobs.close()
