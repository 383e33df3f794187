"""Campaigns under kill -9, on a full disk, and beside concurrent.futures, joblib and plain Dask.

    python -m benchmarks.campaigns --kills 100 --parts kills,disk,overhead,efficiency,growth

Workers, schedulers and clients are killed at random moments. After each series the ledger is compared with a run that
nobody disturbed: the same bits, no task lost, none run again after it was recorded. Overheads are compared with those
of other libraries in the same run, in turns; times are wall-clock times of a machine that others may use too, so that
ratios count.
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from gough.campaigns import Campaign, DaskCluster, Ledger, Processes
from gough.core.errors import InputError
from tests.campaigns.loopback import PLACES, QUIET, REPOSITORY, Loopback, other_version, wait_until

PARTS = ("kills", "disk", "version", "overhead", "efficiency", "growth")
TASKS, SECONDS = 120, 0.04
SHARES = {"workers": 0.5, "clients": 0.2, "Dask workers": 0.15, "Dask schedulers": 0.075, "Dask clients": 0.075}
"""Of all kills, by what is killed."""


def noted(folder, seconds, k, rng):
    """A task that leaves a file with the time of its start."""
    Path(folder, f"{k} {time.time_ns()}").touch()
    time.sleep(seconds)
    return [k, *rng.standard_normal(3).tolist()]


def nothing(k):
    return k


def sleeps(k):
    time.sleep(0.05)
    return k


def disturbed(folder: Path, tasks: int) -> Campaign:
    return Campaign(noted, {str(k): (k,) for k in range(tasks)}, (str(folder), SECONDS), 5)


def client(folder: Path, ledger: Path, tasks: int, cluster: str = "") -> subprocess.Popen:
    """A process that runs the campaign, in two workers or on a cluster."""
    where = f"executor=DaskCluster({cluster!r})" if cluster else "workers=2"
    code = f"""
from pathlib import Path
from benchmarks.campaigns import *
if __name__ == "__main__":
    disturbed(Path({str(folder)!r}), {tasks}).run({str(ledger)!r}, {where})
"""
    script = folder.parent / f"client-{time.monotonic_ns()}.py"
    script.write_text(code)
    environment = {**os.environ, **QUIET, "PYTHONPATH": os.pathsep.join(PLACES)}
    log = (folder.parent / f"{script.stem}.log").open("wb")
    return subprocess.Popen([sys.executable, str(script)], env=environment, stdout=log, stderr=log)


def recorded(ledger: Path) -> list[dict]:
    if not ledger.exists():
        return []
    return [json.loads(line) for line in ledger.read_bytes().split(b"\n")[1:-1]]


class Series:
    """One campaign that is disturbed, and what must be true of it afterwards."""

    def __init__(self, place: Path, tasks: int) -> None:
        self.runs = place / "runs"
        self.runs.mkdir()
        self.ledger, self.tasks, self.snapshots = place / "a.jsonl", tasks, []

    def snapshot(self) -> None:
        keys = {entry["key"] for entry in recorded(self.ledger)}
        self.snapshots.append((time.time_ns(), keys))

    def verdict(self) -> str:
        place = self.runs.parent / "undisturbed"
        place.mkdir()
        whole = {key: json.dumps(value) for key, value in disturbed(place, self.tasks).run().items()}
        entries = recorded(self.ledger)
        lost = set(whole) - {entry["key"] for entry in entries}
        other = [entry["key"] for entry in entries if json.dumps(entry["result"]) != whole[entry["key"]]]
        runs = [(path.name.split()[0], int(path.name.split()[1])) for path in self.runs.iterdir()]
        again = [key for when, keys in self.snapshots for key, began in runs if key in keys and began > when]
        more = len(entries) - len({entry["key"] for entry in entries})
        counts = (
            f"{len(lost)} lost, {len(other)} with other bits, {more} recorded twice, {len(again)} run after recorded"
        )
        wrong = len(lost) + len(other) + more + len(again)
        assert wrong == 0, counts
        return f"{self.tasks} tasks, {len(runs) - self.tasks} runs cut short; {counts}"


def kill_workers(place: Path, kills: int, rng: random.Random) -> str:
    series = Series(place, max(TASKS, 12 * kills))
    process = client(series.runs, series.ledger, series.tasks)
    done = 0
    while process.poll() is None and done < kills:
        time.sleep(rng.uniform(0.05, 1.0))
        workers = [each for each in psutil.Process(process.pid).children() if "spawn_main" in " ".join(each.cmdline())]
        if workers and recorded(series.ledger):
            rng.choice(workers).kill()
            done += 1
            series.snapshot()
    assert process.wait() == 0
    return f"{done} kills of workers: {series.verdict()}"


def kill_clients(place: Path, kills: int, rng: random.Random) -> str:
    series, done = Series(place, TASKS), 0
    while done < kills:
        before = len(recorded(series.ledger))
        process = client(series.runs, series.ledger, series.tasks)
        wait_until(lambda before=before: len(recorded(series.ledger)) > before, process)
        time.sleep(rng.uniform(0.0, 4 * SECONDS))
        process.kill()
        process.wait()
        done += 1
        series.snapshot()
        if len(recorded(series.ledger)) > series.tasks - 12:
            break
    assert client(series.runs, series.ledger, series.tasks).wait() == 0
    return f"{done} kills of clients: {series.verdict()}"


def kill_dask_workers(place: Path, kills: int, rng: random.Random) -> str:
    series = Series(place, max(TASKS, 25 * kills))
    with Loopback(place) as cluster:
        alive = [cluster.add(), cluster.add()]
        process = client(series.runs, series.ledger, series.tasks, cluster.address)
        done = 0
        while process.poll() is None and done < kills:
            before = len(recorded(series.ledger))
            while process.poll() is None and len(recorded(series.ledger)) < before + 4:
                time.sleep(0.02)
            time.sleep(rng.uniform(0.0, 0.3))
            if process.poll() is None:
                victim = alive.pop(rng.randrange(2))
                victim.kill()
                alive.append(cluster.add())
                done += 1
                series.snapshot()
        assert process.wait() == 0
    return f"{done} kills of Dask workers: {series.verdict()}"


def kill_dask_schedulers(place: Path, kills: int, rng: random.Random, *, clients: bool = False) -> str:
    series, done = Series(place, TASKS), 0
    while True:
        with Loopback(place) as cluster:
            cluster.add()
            before = len(recorded(series.ledger))
            process = client(series.runs, series.ledger, series.tasks, cluster.address)
            if done == kills:
                assert process.wait() == 0
                what = "Dask clients" if clients else "Dask schedulers"
                return f"{done} kills of {what}: {series.verdict()}"
            wait_until(lambda before=before: len(recorded(series.ledger)) > before, process)
            time.sleep(rng.uniform(0.0, 8 * SECONDS))
            (process if clients else cluster.scheduler).kill()
            code = process.wait()
            assert code == (-signal.SIGKILL if clients else 1), code
            done += 1
            series.snapshot()


def kill_dask_clients(place: Path, kills: int, rng: random.Random) -> str:
    return kill_dask_schedulers(place, kills, rng, clients=True)


def kills(given: argparse.Namespace) -> None:
    functions = {
        "workers": kill_workers,
        "clients": kill_clients,
        "Dask workers": kill_dask_workers,
        "Dask schedulers": kill_dask_schedulers,
        "Dask clients": kill_dask_clients,
    }
    for name, share in SHARES.items():
        count = max(1, round(share * given.kills))
        with TemporaryDirectory() as place:
            print(f"  {functions[name](Path(place), count, random.Random(given.seed))}", flush=True)


def disk(_: argparse.Namespace) -> None:
    """A ledger on a file system of 64 kB."""
    with TemporaryDirectory() as place:
        small = Path(place, "small")
        small.mkdir()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], capture_output=True, check=False
        )
        if mounted.returncode:
            print(f"  no small file system can be mounted here: {mounted.stderr.decode().strip()}")
            return
        try:
            campaign = Campaign(nothing, {str(k): ("x" * 400,) for k in range(400)})
            try:
                campaign.run(small / "a.jsonl")
                raise AssertionError("it fitted")
            except InputError as error:
                print(f"  {error}")
            kept = recorded(small / "a.jsonl")
            shutil.copy(small / "a.jsonl", Path(place, "a.jsonl"))
            steps = []
            again = campaign.run(Path(place, "a.jsonl"), on_progress=steps.append)
            assert steps[0].done == len(kept)
            assert again == campaign.run()
            print(f"  {len(kept)} of 400 results were kept; the rest was computed after the file was moved")
        finally:
            subprocess.run(["umount", small], check=True)


def version(_: argparse.Namespace) -> None:
    with TemporaryDirectory() as place:
        copy = other_version(Path(place, "copy"))
        with Loopback(Path(place)) as cluster:
            cluster.add(copy)
            with DaskCluster(cluster.address) as dask:
                try:
                    Campaign(nothing, {"a": (1,)}).run(executor=dask)
                    raise AssertionError("it was not refused")
                except InputError as error:
                    print(f"  {error}")


def rivals(function, count: int, ledger: Path):
    """How long `count` tasks take, by library; all have two warm workers."""
    import distributed  # noqa: PLC0415 - slow to import
    import joblib  # noqa: PLC0415 - as above

    tasks = {str(k): (k,) for k in range(count)}
    with (
        Processes(2) as processes,
        ProcessPoolExecutor(2, get_context("spawn")) as pool,
        joblib.Parallel(2, return_as="list") as parallel,
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster) as plain,
        DaskCluster(cluster.scheduler_address) as dask,
    ):
        calls = {
            "gough, two processes, with ledger": lambda: Campaign(function, tasks).run(ledger, executor=processes),
            "gough, Dask, with ledger": lambda: Campaign(function, tasks).run(ledger, executor=dask),
            "concurrent.futures": lambda: [f.result() for f in [pool.submit(function, k) for k in range(count)]],
            "joblib": lambda: parallel(joblib.delayed(function)(k) for k in range(count)),
            "Dask, client.map": lambda: plain.gather(plain.map(function, range(count), pure=False)),
        }
        for warm in range(2):
            for name, call in calls.items():
                best = []
                for _ in range(1 if warm == 0 else 3):
                    ledger.unlink(missing_ok=True)
                    began = time.perf_counter()
                    call()
                    best.append(time.perf_counter() - began)
                if warm:
                    yield name, min(best)


def processor_time() -> float:
    """Of this process and of the processes that it has started and that still run, in seconds."""
    return sum(sum(each.cpu_times()[:2]) for each in [psutil.Process(), *psutil.Process().children(recursive=True)])


def processor_times(count: int, ledger: Path):
    """Processor time of `count` empty tasks on two warm processes, by library; nothing else runs."""
    tasks = {str(k): (k,) for k in range(count)}
    with Processes(2) as processes:
        yield "gough, with ledger", lambda: Campaign(nothing, tasks).run(ledger, executor=processes)
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        yield "concurrent.futures", lambda: [f.result() for f in [pool.submit(nothing, k) for k in range(count)]]


def overhead(given: argparse.Namespace) -> None:
    with TemporaryDirectory() as place:
        ledger, count = Path(place, "a.jsonl"), given.tasks
        began, spent = time.perf_counter(), time.process_time()
        Campaign(nothing, {str(k): (k,) for k in range(count)}).run(ledger)
        each = (time.perf_counter() - began) / count, (time.process_time() - spent) / count
        wall, processor = (f"{1e3 * seconds:.3f} ms" for seconds in each)
        print(f"  {count} empty tasks, this process, with ledger: {wall}, processor {processor}")
        for name, call in processor_times(count, ledger):
            spent = []
            for _ in range(4):  # the first warms
                ledger.unlink(missing_ok=True)
                began = processor_time()
                call()
                spent.append(processor_time() - began)
            each = 1e3 * min(spent[1:]) / count
            print(f"  {count} empty tasks, two processes, {name}: processor {each:.3f} ms per task, workers included")
        for name, seconds in rivals(nothing, count, ledger):
            print(f"  {count} empty tasks, {name}: {1e3 * seconds / count:.3f} ms per task", flush=True)


def efficiency(given: argparse.Namespace) -> None:
    with TemporaryDirectory() as place:
        count = given.tasks // 10
        for name, seconds in rivals(sleeps, count, Path(place, "a.jsonl")):
            print(f"  {count} tasks of 50 ms on 2 workers, {name}: {count * 0.05 / 2 / seconds:.1%}", flush=True)


def growth(given: argparse.Namespace) -> None:
    for count in (1_000, 10_000, given.most):
        code = f"from benchmarks.campaigns import grown; grown({count})"
        subprocess.run([sys.executable, "-c", code], check=True, cwd=REPOSITORY)


def grown(count: int) -> None:
    """A campaign of so many tasks, streamed; then the same again from its ledger."""
    with TemporaryDirectory() as place:
        tasks = {str(k): (k,) for k in range(count)}
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began, wall = time.process_time(), time.perf_counter()
        path = Path(place, "a.jsonl")
        assert sum(1 for _ in Campaign(nothing, tasks).stream(path)) == count
        spent, wall = time.process_time() - began, time.perf_counter() - wall
        more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        began = time.process_time()
        assert sum(1 for _ in Campaign(nothing, tasks).stream(path)) == count
        again = time.process_time() - began
        with Ledger(path, Campaign(nothing, tasks).fingerprint) as ledger:
            assert len(ledger.results) == count
        print(
            f"  {count} tasks: {1e3 * spent / count:.3f} ms of processor per task ({wall:.1f} s in all), "
            f"{more / 1024:.1f} MB more than the list of tasks; from the ledger {1e3 * again / count:.3f} ms",
            flush=True,
        )


def main(arguments: list[str] | tuple[str, ...] = ("--kills", "5", "--tasks", "200", "--most", "20000")) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaigns", description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--tasks", type=int, default=2000, help="empty tasks; a tenth of them sleep")
    parser.add_argument("--most", type=int, default=100_000, help="tasks of the largest campaign")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", default=",".join(PARTS))
    given = parser.parse_args(list(arguments))
    for part in given.parts.split(","):
        print(part)
        globals()[part](given)


if __name__ == "__main__":
    main(sys.argv[1:])
