"""`python -m tests.fuzz --minutes 10 --seed 1`: spoiled files of every kind for as long as one likes.

Prints how many files of each kind ended with which exit code. Files that ended in a fault are saved with their
tracebacks; the exit code is 1 if there are any.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import count
from pathlib import Path

from tests.fuzz.campaign import silenced, spoiled, tried
from tests.fuzz.doors import DOORS

CHUNK = 500
MEMORY = 6 << 30
"""Bytes of address space of a worker: what asks for more fails visibly."""


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.split("\n")[0])
    asked.add_argument("--minutes", type=float, default=5.0, help="for all kinds together")
    asked.add_argument("--files", type=int, default=0, help="so many files of each kind, instead of minutes")
    asked.add_argument("--seed", type=int, default=1, help="another seed, other files")
    asked.add_argument(
        "--kind", action="append", choices=list(DOORS), help="only this kind; may be given several times"
    )
    asked.add_argument("--faults", type=Path, default=Path("fuzz-faults"), help="folder for files that end in a fault")
    asked.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = asked.parse_args()
    kinds = given.kind or list(DOORS)
    if given.worker:
        work(kinds[0], given.seed, given.files, 60 * given.minutes, given.faults)
        return 0
    total = 0
    print(f"{'kind':28} {'files':>8}  by exit code", flush=True)
    for kind in kinds:
        total += _told(kind, given, given.minutes / len(kinds))
    print(f"{total} faults{f', saved in {given.faults}' if total else ''}")
    return int(total > 0)


def _told(kind: str, given: argparse.Namespace, minutes: float) -> int:
    """Run one kind in a process of its own: a crash of a library in C ends that one only."""
    command = [sys.executable, "-m", "tests.fuzz", "--worker", "--kind", kind, "--seed", str(given.seed)]
    command += ["--minutes", str(minutes), "--files", str(given.files), "--faults", str(given.faults)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = ended.stdout.splitlines()
    counts = Counter(json.loads(lines[-1])) if lines else Counter()
    if ended.returncode:
        counts[f"3 crashed, {ended.returncode}, {ended.stderr[-300:]}"] += 1
    told = ", ".join(f"{ending}: {n}" for ending, n in sorted(counts.items()))
    print(f"{kind:28} {counts.total():>8}  {told}", flush=True)
    return sum(n for ending, n in counts.items() if ending.startswith("3"))


def work(kind: str, seed: int, files: int, seconds: float, faults: Path) -> None:
    """Files of one kind until the time is up; counts go to standard output after each chunk."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    begun, counts = time.monotonic(), Counter[str]()
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    silenced()
    with tempfile.TemporaryDirectory(dir=place) as folder:
        for chunk in count():
            first, last = chunk * CHUNK, (chunk + 1) * CHUNK
            if (files and first >= files) or (not files and time.monotonic() - begun > seconds):
                break
            outcome = tried(kind, Path(folder), seed, range(first, min(last, files) if files else last))
            counts += outcome.counts
            print(json.dumps(counts), flush=True)
            for number, content, why in outcome.faults:
                faults.mkdir(parents=True, exist_ok=True)
                name = f"{kind.replace(' ', '-')}-{seed}-{number}"
                (faults / f"{name}{DOORS[kind].suffix}").write_bytes(content)
                (faults / f"{name}.txt").write_text(why, encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    sys.exit(main())


__all__ = ["main", "spoiled", "work"]
