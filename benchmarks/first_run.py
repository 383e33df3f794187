"""A fresh user's way: gough demo h4, gough export, the C compiler, gough control; seconds of each step.

Wall-clock time is that of this computer under its present load; processor time is that of all processes of a step.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

LIMIT = 120.0
"""Seconds that all steps may take together."""


def steps(compiler: str) -> dict[str, list[str]]:
    """The commands by name, to be run in one folder."""
    gough = [sys.executable, "-m", "gough"]
    motion = ["--motion", "h4-fast", "--controllers", "pd,feedforward"]
    return {
        "gough demo h4": [*gough, "demo", "h4", "--out", "results"],
        "gough export": [*gough, "export", "results", "--out", "controller"],
        "compile and test": [compiler, "-O2", "controller/h4.c", "controller/h4_test.c", "-o", "test", "-lm"],
        "run the test": ["./test"],
        "gough control": [*gough, "control", "results", *motion, "--out", "control"],
    }


def processor_time() -> float:
    """Seconds of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print the seconds of each step."""
    print("A fresh user's way, from a simulated H4 to its closed loop")
    print(f"{'step':22}{'wall clock, s':>15}{'processor, s':>15}")
    total = [0.0, 0.0]
    with tempfile.TemporaryDirectory() as folder:
        for name, command in steps(os.environ.get("CC", "cc")).items():
            start, before = perf_counter(), processor_time()
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode not in (0, 1):
                raise SystemExit(f"{name} ended with exit code {done.returncode}: {done.stderr}")
            spent = perf_counter() - start, processor_time() - before
            total = [a + b for a, b in zip(total, spent, strict=True)]
            print(f"{name:22}{spent[0]:15.1f}{spent[1]:15.1f}", flush=True)
        assert (Path(folder) / "control" / "report.html").is_file()
    print(f"{'together':22}{total[0]:15.1f}{total[1]:15.1f}   limit {LIMIT:g} s")


if __name__ == "__main__":
    main()
