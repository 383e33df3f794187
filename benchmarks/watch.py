"""Watching a robot: rates, latency, memory, times to detect faults, false alarms, and kill -9; against lstsq + 3σ.

python -m benchmarks.watch [rate] [latency [RUNS]] [detect [RUNS]] [delay [RUNS]]
[alarms [ROBOT [HOURS [RATE [MOTIONS]]]]] [soak [SECONDS [LONGEST]]]: all parts by default.
ROBOT is five-bar, H4 or hexapod.
"""

import gc
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import numpy as np

from gough.robots import H4, FiveBar, Hexapod
from gough.watch import Channels, Journal, Session, Watcher, WatchOptions
from gough.watch.example import PERIOD, SimulatedStream
from gough.watch.model import WatchedModel
from gough.watch.rows import Rows
from gough.watch.server import LivePage
from gough.watch.sources.files import GrowingFile

_RIVAL_HOURS = 0.2
"""Simulated hours for which the rival is run on healthy data."""
Values = tuple[np.ndarray, np.ndarray]
ROBOTS: dict[str, tuple[Any, float]] = {
    "five-bar": (FiveBar.demo(), 0.4), "H4": (H4(), 0.25), "hexapod": (Hexapod(), 0.03)
}  # fmt: skip
"""Robots, and how far each coordinate moves."""


def made(stream: SimulatedStream, learn: float = 30.0, **options: Any) -> Watcher:
    dynamics = stream.identified()
    return Watcher(
        WatchedModel.of(dynamics),
        WatchOptions(np.array(dynamics.bound), rate=stream.rate, learn=learn, **options),
    )


def rate(count: int = 60_000) -> None:
    """Processor time of a sample: in large batches, with a page that a browser reads, and from a CSV file."""
    for robot, amplitude in (ROBOTS["H4"], ROBOTS["hexapod"]):
        stream = SimulatedStream(robot, amplitude=amplitude)
        times, values = stream.samples(0, count, np.random.default_rng(1))
        dynamics = stream.identified()
        options = WatchOptions(np.array(dynamics.bound), rate=stream.rate, learn=20.0)
        p, n = len(dynamics.columns), len(robot.actuators)
        results = {}
        for name in ("batches", "with a page", "from CSV"):
            watcher = Watcher(WatchedModel.of(dynamics), options)
            watcher.take(times[:3000], values[:3000])
            page = LivePage(watcher.about()) if name == "with a page" else None
            if page is not None:
                watcher.on_bands = lambda bands, page=page: page.board.post(
                    "bands", {key: value.tolist() for key, value in vars(bands).items()}
                )
                Thread(target=_viewer, args=(page.address,), daemon=True).start()
            with TemporaryDirectory() as folder:
                path = Path(folder, "live.csv")
                if name == "from CSV":
                    _write_csv(path, robot, times[3000:], values[3000:])
                began = time.process_time()
                if name == "from CSV":
                    source = GrowingFile(path, _channels(robot), follow=False)
                    while (batch := source.read(0.0)) is not None:
                        watcher.take(batch.times, batch.values)
                else:
                    for k in range(3000, count, 4000):
                        watcher.take(times[k : k + 4000], values[k : k + 4000])
                results[name] = (time.process_time() - began) / (count - 3000)
            if page is not None:
                page.close()
        rival = _rival_cost(stream, watcher, times, values)
        for name, seconds in results.items():
            print(f"p = {p}, {n} actuators, {name}: {1e6 * seconds:.1f} µs a sample, {1e-3 / seconds:.0f} kHz per core")
        print(f"  lstsq over 10 s every 0.1 s, on rows that are there already: {1e6 * rival:.1f} µs a sample, "
              f"{rival / results['batches']:.2f} of ours with preparation")  # fmt: skip


def _viewer(address: str) -> None:
    from urllib.request import urlopen  # noqa: PLC0415

    with urlopen(address + "stream") as stream:
        for _ in stream:
            pass


def _channels(robot: Any) -> Channels:
    names = (*robot.coordinates, *(f"tau{i + 1}" for i in range(len(robot.actuators))))
    wanted = dict(zip(names, (*robot.coordinate_units, *robot.effort_units), strict=True))
    return Channels("time", {name: name for name in names}, {}, wanted)


def _write_csv(path: Path, robot: Any, times: np.ndarray, values: np.ndarray) -> None:
    head = ",".join(("time", *_channels(robot).names))
    np.savetxt(path, np.column_stack([times, values]), delimiter=",", fmt="%.9g", header=head, comments="")


def _rival_cost(stream: SimulatedStream, watcher: Watcher, times: np.ndarray, values: np.ndarray) -> float:
    """Seconds a sample of least squares over the last ten seconds every 0.1 s, without forming the rows."""
    del times, values
    rows = stream.rows(12.0, np.random.default_rng(3))
    W = np.concatenate(list(rows.W[-1000:, :, :]))[:, : len(watcher.model.unknown)]
    y = np.concatenate(list(rows.y[-1000:]))
    began = time.process_time()
    for _ in range(5):
        np.linalg.lstsq(W, y, rcond=None)
    return (time.process_time() - began) / 5 / (0.1 * stream.rate)


def latency(faults: float = 3) -> None:
    """Time from the arrival of the sample that completes a row to the event that it raises, and to its files.

    Samples come at 1 kHz in pieces of 10; a payload comes at another instant in each of several runs.
    """
    for robot, amplitude in ROBOTS.values():
        stream = SimulatedStream(robot, amplitude=amplitude)
        dynamics = stream.identified()
        model, spent, written = WatchedModel.of(dynamics), list[float](), list[float]()
        raised: dict[str, list[float]] = {}
        gc.collect()
        gc.freeze()  # as the command does
        for run in range(int(faults)):
            options = WatchOptions(np.array(dynamics.bound), rate=stream.rate, learn=12.0)
            watcher, rng, at = Watcher(model, options), np.random.default_rng(run), 14_000 + 370 * run
            with TemporaryDirectory() as folder, closing(Journal(Path(folder))) as journal:
                for k in range(0, at + 2000, 10):
                    samples = stream.samples(k, 10, rng, change={stream.mass: 0.5} if k >= at else None)
                    began, shown = time.process_time(), list[tuple[str, float]]()
                    found = watcher.take(*samples)
                    for each in found:
                        journal.write(each, lambda event: shown.append((event.kind, time.process_time())))  # noqa: B023
                    ended = time.process_time()
                    for kind, seconds in shown:
                        raised.setdefault(kind, []).append(1e3 * (seconds - began))
                        if kind == "inconsistent":
                            written.append(1e3 * (ended - seconds))
                    if not found:
                        spent.append(1e3 * (ended - began))
        quantiles = np.quantile(spent, [0.5, 0.99])
        times = "; ".join(
            f"{kind} {np.median(values):.1f} ms (median; {min(values):.1f} to {max(values):.1f})"
            for kind, values in raised.items()
        )
        print(
            f"{robot.name}, p = {len(model.unknown)}: 10 samples take {quantiles[0]:.2f} ms (median), "
            f"{quantiles[1]:.2f} ms (99 %); until an event is shown: {times}; files of a proof "
            f"{np.median(written):.1f} ms more; filters delay by {1e3 * (watcher.delay or 0):.0f} ms",
            flush=True,
        )


def _faulty(stream: SimulatedStream, fault: str, size: float, rng: np.random.Generator, at: int) -> Values:
    """Samples with a fault from number `at` on, which lasts for 30 s."""
    count = at + 30_000
    robot, n = stream.robot, len(stream.center)
    change: dict[str, float] = {}
    if fault == "payload":
        change = {stream.mass: size}
    elif fault == "friction":
        names = [name for name in robot.names if name.startswith(("fc_", "fv_")) and name.endswith("_1")]
        change = {name: size * float(stream.parameters[robot.names.index(name)]) for name in names}
    before, after = stream.samples(0, at, rng), stream.samples(at, count - at, rng, change=change)
    times, values = np.concatenate([before[0], after[0]]), np.concatenate([before[1], after[1]])
    if fault == "stuck":
        values[at:, 0] = values[at, 0]
    elif fault == "delay":
        late = round(size * stream.rate)
        values[at:, n:] = values[at - late : count - late, n:]
    elif fault == "backlash":
        q = values[at:, 0].copy()
        seen = q[0]
        for k, x in enumerate(q):
            seen = min(max(seen, x - size / 2), x + size / 2)
            values[at + k, 0] = seen
    return times, values


FAULTS = (
    ("payload", 0.05), ("payload", 0.2), ("payload", 1.0), ("friction", 0.1), ("backlash", 0.002), ("stuck", 0.0),
    ("delay", 0.002),
)  # fmt: skip


def detect(runs: float = 5, noises: tuple[float, ...] = (0.02, 0.05, 0.1)) -> None:
    """Seconds from each fault to the first event of each kind, and to the first 3σ alarm of repeated lstsq.

    Each cell has so many runs with errors of their own: median, worst, and in how many of them the event came.
    """
    print("fault | noise | events: median, worst seconds after the fault (runs) | before the fault | lstsq + 3σ")
    for noise in noises:
        stream = SimulatedStream(noise=noise)
        dynamics = stream.identified()
        model = WatchedModel.of(dynamics)
        for fault, size in FAULTS:
            found, rivals, wrong, n = dict[str, list[float]](), list[float](), list[str](), int(runs)
            for seed in range(n):
                first, rival = _detected(stream, model, (fault, size), seed, bound=np.array(dynamics.bound))
                for kind, seconds in first.items():
                    if seconds < _BEFORE:
                        wrong.append(kind)
                    else:
                        found.setdefault(kind, []).append(seconds)
                rivals += [rival] if rival is not None else []
            shown = sorted(found.items(), key=lambda each: float(np.median(each[1])))
            text = "; ".join(f"{kind} {_summary(seconds, n)}" for kind, seconds in shown) or "none in 30 s"
            print(f"{fault} {size:g} | {noise:g} N·m | {text} | {', '.join(wrong) or 'none'} | "
                  f"{_summary(rivals, n)}", flush=True)  # fmt: skip


_BEFORE = -0.25
"""Rows are stamped at the middle of their filter: those of the fault may be so much before it."""


def _summary(seconds: list[float], runs: int) -> str:
    if not seconds:
        return f"none (0 of {runs})"
    return f"{np.median(seconds):.2f}, {max(seconds):.2f} ({len(seconds)} of {runs})"


def _detected(
    stream: SimulatedStream, model: WatchedModel, fault: tuple[str, float], seed: int, **options: Any
) -> tuple[dict[str, float], float | None]:
    """Seconds from the fault to the first event of each kind, and to the first alarm of the rival."""
    watcher = Watcher(model, WatchOptions(rate=stream.rate, **{"learn": 30.0, **options}))
    rival = Rival(model)
    watcher._watch = _both(watcher._watch, rival)  # type: ignore[method-assign]  # noqa: SLF001 - the same rows
    at = max(40_000, round(1.2 * watcher.options.learn * stream.rate))
    times, values = _faulty(stream, *fault, np.random.default_rng(100 + seed), at)
    first: dict[str, float] = {}
    ends = [*range(500, at, 500), *range(at, len(times) + 1, 20)]  # larger pieces before the fault: it is quicker
    for a, b in pairwise([0, *ends]):
        for each in watcher.take(times[a:b], values[a:b]):
            first.setdefault(each.event.kind, each.event.time - at / stream.rate)
    alarms = [each - at / stream.rate for each in rival.alarms if each >= at / stream.rate]
    return first, alarms[0] if alarms else None


def delay(runs: float = 5) -> None:
    """What a delay of the efforts by 2 ms can tell: the Cramér–Rao bound, the size in the tests, longer blocks."""
    for noise in (0.02, 0.05, 0.1):
        stream = SimulatedStream(noise=noise)
        known, unknown = _cramer_rao(stream)
        dynamics = stream.identified()
        model = WatchedModel.of(dynamics)
        watcher = Watcher(model, WatchOptions(np.array(dynamics.bound), rate=stream.rate, learn=30.0))
        watcher.take(*stream.samples(0, 40_000, np.random.default_rng(99)))
        tests, k = watcher.tests, watcher.effects.index(("clock", ""))
        shift = 0.002 * np.sqrt(np.median(tests._G[:, k, k])) / tests.scatter[k]  # noqa: SLF001
        print(
            f"{noise:g} N·m: σ of a delay from one second of samples, by Cramér–Rao: {1e3 * known:.2f} ms with known "
            f"parameters, {1e3 * unknown:.2f} ms with unknown ones; a block of 0.5 s shifts by {shift:.2f} of "
            f"its σ, and the allowance is "
            f"{0.5 + 3 / np.sqrt(tests.learn):.2f}",
            flush=True,
        )
        for options in ({"learn": 30.0}, {"learn": 120.0, "block": 2.0}):
            bound = np.array(dynamics.bound)
            found = [
                _detected(stream, model, ("delay", 0.002), seed, bound=bound, **options)[0].get("clock")
                for seed in range(int(runs))
            ]
            print(f"  {options}: {_summary([each for each in found if each is not None], int(runs))}", flush=True)


def _cramer_rao(stream: SimulatedStream) -> tuple[float, float]:
    """The least σ of a delay from one second of samples outside of reversals: of known and of unknown parameters.

    Errors of the samples are white, and slopes of the efforts are in the band of the filter: a filtered row has the
    information of all samples up to the next row.
    """
    rows = stream.rows(PERIOD + 1.0, np.random.default_rng(0))
    slope = np.gradient(rows.W @ stream.parameters, rows.times, axis=0)[rows.kept]
    W = rows.W[rows.kept][:, [stream.robot.names.index(each) for each in stream.identified().columns]]
    left = slope - W @ np.linalg.lstsq(W, slope, rcond=None)[0]
    samples = stream.rate * float(np.diff(rows.times).mean())  # for each row
    seconds = len(rows) * float(np.diff(rows.times).mean())
    known, unknown = (float(stream.noise / np.sqrt(samples * (x @ x) / seconds)) for x in (slope, left))
    return known, unknown


def _both(watch: Callable[[Rows], Any], rival: "Rival") -> Callable[[Rows], Any]:
    def take(rows: Rows) -> Any:
        rival.take(rows)
        return watch(rows)

    return take


class Rival:
    """The obvious alternative: least squares over the last ten seconds every half second, alarm beyond 3σ."""

    def __init__(self, model: WatchedModel) -> None:
        self.model, self.alarms = model, list[float]()
        self._W, self._y, self._t = np.zeros((0, len(model.unknown))), np.zeros(0), np.zeros(0)
        self._due = 10.0

    def take(self, rows: Rows) -> None:
        at, of = np.nonzero(rows.kept)
        if not len(at):
            return
        self._W = np.concatenate([self._W, rows.W[:, :, self.model.unknown][at, of]])
        self._y = np.concatenate([self._y, rows.y[at, of]])
        self._t = np.concatenate([self._t, rows.times[at]])
        now = float(rows.times[-1])
        while self._due <= now:
            inside = (self._t > self._due - 10.0) & (self._t <= self._due)
            W, y = self._W[inside], self._y[inside]
            value, *_ = np.linalg.lstsq(W, y, rcond=None)
            rest = y - W @ value
            C = float(rest @ rest) / max(len(y) - len(value), 1) * np.linalg.pinv(W.T @ W)
            sigma = np.sqrt(C.diagonal() + self.model.covariance.diagonal())
            if (np.abs(value - self.model.unknowns.nominal) > 3 * sigma).any():
                self.alarms.append(self._due)
            self._due += 0.5
        fresh = self._t > now - 11.0
        self._W, self._y, self._t = self._W[fresh], self._y[fresh], self._t[fresh]


def alarms(robot: str = "five-bar", hours: float = 1.0, rate: float = 250.0, motions: float = 30) -> None:
    """Events on samples of a healthy robot, processor time, and resident memory on the way; against the rival.

    The robot goes through so many motions of ten seconds each, again and again; it was identified on all of them, and
    tests learn on the first six.
    """
    machine, amplitude = ROBOTS[robot]
    stream = SimulatedStream(machine, rate=rate, amplitude=amplitude, motions=int(motions))
    dynamics = stream.identified(seconds=max(30.0, stream.cycle))
    options = WatchOptions(np.array(dynamics.bound), rate=rate, learn=60.0)
    watcher, rng = Watcher(WatchedModel.of(dynamics), options), np.random.default_rng(11)
    rival, watch = Rival(watcher.model), watcher._watch  # noqa: SLF001 - the same rows
    watcher._watch = _both(watch, rival)  # type: ignore[method-assign]  # noqa: SLF001
    found: dict[str, int] = {}
    count, piece, shown, began = round(hours * 3600 * rate), 5000, 10**5, time.process_time()
    print(f"{machine.name} at {rate:g} Hz, {hours:g} simulated hours, {count} samples, {motions:g} motions", flush=True)
    for k in range(0, count, piece):
        for each in watcher.take(*stream.samples(k, min(piece, count - k), rng)):
            found[each.event.kind] = found.get(each.event.kind, 0) + 1
            print(f"  after {(k + piece) / rate / 3600:.2f} h: {each.event.line}", flush=True)
        if watcher.time >= _RIVAL_HOURS * 3600:
            watcher._watch = watch  # type: ignore[method-assign]  # noqa: SLF001
        if k + piece >= shown or k + piece >= count:
            shown += min(9 * shown, 10**7)
            print(f"  {watcher.n_received} samples: {_resident():.0f} MB resident, "
                  f"{time.process_time() - began:.0f} s of processor time", flush=True)  # fmt: skip
    text = ", ".join(f"{kind} {number}" for kind, number in found.items()) or "none"
    print(
        f"false alarms in {watcher.time / 3600:.2f} simulated hours: {text}; {watcher.consistency.n_programs} windows "
        f"decided by a linear program; lstsq + 3σ: {len(rival.alarms)} alarms in {min(hours, _RIVAL_HOURS):.2f} h"
    )


def _resident() -> float:
    """Resident memory now, MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def soak(seconds: float = 60.0, longest: float = 4.0) -> None:
    """A stream in real time, watched by processes that are killed by SIGKILL after at most `longest` seconds each."""
    stream = SimulatedStream()
    dynamics = stream.identified()
    model = WatchedModel.of(dynamics)
    options = WatchOptions(np.array(dynamics.bound), rate=stream.rate, learn=20.0)
    made(stream)  # imports and compiles everything before the first fork
    with TemporaryDirectory() as folder:
        path, out = Path(folder, "live.csv"), Path(folder, "watch")
        lines = _written(path, stream, seconds)
        kills, began, rng = 0, time.monotonic(), np.random.default_rng(5)
        while time.monotonic() - began < seconds:
            child = os.fork()
            if child == 0:
                _session(path, out, model, options, follow=True).run()
                os._exit(0)
            time.sleep(rng.uniform(min(1.0, longest / 4), longest))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            kills += 1
        lines.join()
        last = _session(path, out, model, options, follow=False)
        last.run()
        count = sum(1 for _ in path.open()) - 1
        events = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
        straight = _session(path, Path(folder, "straight"), model, options, follow=False)
        straight.run()
        plain = [json.loads(line) for line in (Path(folder, "straight") / "events.jsonl").read_text().splitlines()]
        # time and number of a proof depend on the pieces in which samples arrive
        same = _told(events) == _told(plain) and [e["number"] for e in events] == list(range(1, len(events) + 1))
        one, other = ({**each.watcher.status(), "factor": 0.0, "set_restarts": 0} for each in (last, straight))
        print(
            f"soak of {seconds:g} s with {kills} kill -9: {count} lines, {last.watcher.n_received} samples counted; "
            f"{len(events)} events, {'the same as' if same else 'OTHERS THAN'} without kills; rows, lost and repeated "
            f"samples, payload: {'the same' if one == other else f'DIFFERENT: {one} {other}'}; "
            f"left in the folder: {', '.join(sorted(each.name for each in out.iterdir()))}"
        )
        print(*map(json.dumps, events), sep="\n")


def _told(events: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    known = ((e["kind"], e.get("subject", ""), "" if e["claim"] == "PROOF" else e["message"]) for e in events)
    return sorted(known)


def _session(path: Path, out: Path, model: WatchedModel, options: WatchOptions, *, follow: bool) -> Session:
    source = GrowingFile(path, _channels(model.robot), follow=follow)
    session = Session(Watcher(model, options), source, Journal(out), "soak", out / "checkpoint", every=0.2)
    session.resume()
    return session


def _written(path: Path, stream: SimulatedStream, seconds: float) -> Thread:
    """Append samples in real time, in pieces that end anywhere in a line; a payload comes and goes."""
    rng, turn = np.random.default_rng(4), max(seconds / 6, 30.0) * stream.rate
    path.write_text(",".join(("time", *_channels(stream.robot).names)) + "\n")

    def write() -> None:
        began, done, rest = time.monotonic(), 0, ""
        while done < seconds * stream.rate:
            due = int(min((time.monotonic() - began) * stream.rate, seconds * stream.rate))
            change = {stream.mass: 0.2} if done // turn % 2 == 1 else None
            times, values = stream.samples(done, max(due - done, 0), rng, change=change)
            rows = np.column_stack([times, values]).tolist()
            text = rest + "".join(",".join(map(repr, row)) + "\n" for row in rows)
            done, cut = max(due, done), rng.integers(0, max(len(text), 1))
            with path.open("a") as file:
                file.write(text[:cut])
            rest = text[cut:]
            time.sleep(0.02)
        with path.open("a") as file:
            file.write(rest)

    thread = Thread(target=write)
    thread.start()
    return thread


def main(arguments: list[str] | None = None) -> None:
    parts: dict[str, Callable[..., None]] = {
        "rate": rate, "latency": latency, "detect": detect, "delay": delay, "alarms": alarms, "soak": soak
    }  # fmt: skip
    wanted = arguments or list(parts)
    for k, name in enumerate(wanted):
        if name in parts:
            given = takewhile(lambda text: text not in parts, wanted[k + 1 :])
            parts[name](*(each if each in ROBOTS else float(each) for each in given))


if __name__ == "__main__":
    main(sys.argv[1:])
