"""Recordings: reading and writing against what others offer, and preparation split into its steps.

1e6 samples of a time and eight channels, and 20 s at 1 kHz of four motors: ratios in one run, on this machine.
"""

import csv
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import polars as pl

from benchmarks._timing import seconds
from gough.data import MeasuredMotion, Recording, Step, default_steps, prepare, read_recording, write_recording
from gough.dynamics import recorded
from gough.robots import H4


def swings(n_samples: int, rate: float, n_motors: int = 4) -> Recording:
    """Sums of sines as an encoder of 20 000 counts a turn shows them, and noisy voltages."""
    rng = np.random.default_rng(1)
    t = np.arange(n_samples) / rate
    turns = [(1 + 0.4 * k) * t % 1 for k in range(n_motors)]
    q = np.stack([0.4 * np.sin(2 * np.pi * x) + 0.1 * np.sin(6 * np.pi * x) for x in turns], axis=1)
    counts = 2 * np.pi / 20000
    samples = np.hstack([np.rint(q / counts) * counts, rng.normal(size=(n_samples, n_motors))])
    names = [f"{letter}{i + 1}" for letter in "qV" for i in range(n_motors)]
    return Recording(names, ["rad"] * n_motors + ["V"] * n_motors, samples, rate)


def by_hand(path: Path) -> np.ndarray:
    with path.open(newline="") as file:
        rows = csv.reader(file)
        next(rows)
        return np.array([[float(cell) for cell in row] for row in rows])


def reading(folder: Path) -> None:
    big = swings(1_000_000, 1000.0)
    small = Recording(big.names, big.units, big.samples[:100_000], big.rate)
    print("Reading 1e6 samples × (time + 8 channels)")
    sizes, times = {}, {}
    for suffix in ("csv", "parquet", "mat", "npz"):
        path = folder / f"big.{suffix}"
        begin = perf_counter()
        write_recording(path, big)
        wrote = perf_counter() - begin
        times[suffix] = seconds(lambda path=path: read_recording(path), 3)
        sizes[suffix] = path.stat().st_size / 1e6
        print(
            f"  gough, .{suffix:8s} {sizes[suffix] / times[suffix]:7.0f} MB/s   read {times[suffix]:5.2f} s   "
            f"write {wrote:5.2f} s   {sizes[suffix]:4.0f} MB"
        )
    path = folder / "small.csv"
    write_recording(path, small)
    size = path.stat().st_size / 1e6
    ours = size / seconds(lambda: read_recording(path), 3)
    print(f"On a tenth of it, {size:.0f} MB of CSV: gough {ours:.0f} MB/s, with every check")
    rivals: dict[str, Callable[[], object]] = {
        "polars.read_csv": lambda: pl.read_csv(path),
        "numpy.loadtxt": lambda: np.loadtxt(path, delimiter=",", skiprows=1),
        "csv + float": lambda: by_hand(path),
        "numpy.genfromtxt": lambda: np.genfromtxt(path, delimiter=",", skip_header=1),
    }
    for name, rival in rivals.items():
        speed = size / seconds(rival, 3)
        print(f"  {name:17s} {speed:5.0f} MB/s   {speed / ours:6.2f} of gough's speed, without a single check")


def timed(step: Step, spent: dict[str, list[float]]) -> Step:
    """The same step, which also notes how long it takes."""

    def apply(_, signals):
        begin = perf_counter()
        result = step.apply(signals)
        spent.setdefault(type(step).__name__, []).append(perf_counter() - begin)
        return result

    kind = type(type(step).__name__, (type(step),), {"apply": apply})
    return kind(**{field.name: getattr(step, field.name) for field in fields(step)})


def preparation(recording: Recording, label: str) -> MeasuredMotion:
    n = len(recording.names) // 2
    motors = [f"motor {i + 1}" for i in range(n)]
    channels = recording.names[:n], dict(zip(motors, recording.names[n:], strict=True))
    steps, spent = default_steps(recording.rate, gain=2.0), {}
    total = seconds(lambda: prepare(recording, *channels, [timed(step, spent) for step in steps]), 5)
    motion = prepare(recording, *channels, steps)
    middle = {name: median(times) for name, times in spent.items()}
    each = "   ".join(f"{name} {took * 1e3:.1f}" for name, took in middle.items())
    print(f"  {label}: {total * 1e3:.0f} ms, {1e9 * total / recording.samples.size:.0f} ns a reading")
    print(f"    of which, in ms: {each}   checks and copies {1e3 * (total - sum(middle.values())):.1f}")
    return motion


def assembling(motion: MeasuredMotion, label: str) -> None:
    robot, full = H4(), motion.full_rate
    whole = seconds(lambda: recorded(robot, motion), 3)
    kernel = seconds(lambda: robot.regressor(full.q, full.dq, full.ddq), 3)
    print(
        f"  {label}: {whole * 1e3:.0f} ms for {motion.n_rows} rows; the bare regressor of all {len(full.q)} samples "
        f"takes {kernel * 1e3:.0f} ms, the rest is the filter of its columns: {whole / kernel:.2f} times"
    )


def main() -> None:
    with TemporaryDirectory() as folder:
        reading(Path(folder))
    print("Preparation of four motors, default steps")
    short = preparation(swings(20_000, 1000.0), "20 s at 1 kHz")
    long = preparation(swings(1_000_000, 1000.0), "1e6 samples")
    print("From motion to linear problem, H4 with 16 parameters, the regressor filtered at the full rate")
    assembling(short, "20 s at 1 kHz")
    assembling(long, "1e6 samples")


if __name__ == "__main__":
    main()
