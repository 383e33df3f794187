"""How long commands let a user wait: processor time, the goal beside each, and what an identification leaves out.

python -m benchmarks.waiting              the commands, with a named rival where there is one
python -m benchmarks.waiting work 20      seconds of a recording of an arm of seven axes: each phase of an
                                          identification beside the work that gough.dynamics.extras expects
"""

import os
import resource
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from time import process_time

import numpy as np

from gough.dynamics import Identified, extras, identify
from gough.dynamics.effect import Planted
from gough.dynamics.named import DEFAULT_METHODS, chosen_methods
from gough.simulate.multibody import experiment


def spent(*command: str) -> float:
    """Processor time of a program, its children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {"OMP_NUM_THREADS": "1"}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(*command: str, times: int = 3) -> float:
    """The least of some runs after a first one, which fills caches."""
    spent(*command)
    return min(spent(*command) for _ in range(times))


def commands() -> None:
    gough = (sys.executable, "-m", "gough_command")
    rival = least(sys.executable, "-c", "import numpy, scipy.signal, matplotlib.figure")
    print("Processor time, s                                      goal   measured")
    print(f"  import of NumPy, scipy.signal and matplotlib (rival)   -   {rival:8.2f}")
    print(f"  gough --help                                         0.3   {least(*gough, '--help'):8.2f}")
    print(f"  gough identify --help                                  -   {least(*gough, 'identify', '--help'):8.2f}")
    with tempfile.TemporaryDirectory() as folder:
        taken = least(*gough, "demo", "--out", str(Path(folder) / "demo"), times=1)
        print(f"  gough demo, with its report                          6.0   {taken:8.2f}")


def phases(name: str, seconds: float, *, complete: bool = False) -> tuple[list[tuple[float, str]], Identified]:
    """When each phase of an identification began, in processor time, and the answer: data that no model explains."""
    truth = experiment(name, seconds=seconds, rate=250.0)
    torques = truth.efforts(truth.q, truth.dq, truth.ddq)
    size = np.sqrt((torques**2).mean(axis=0))
    planted = Planted(truth.q, torques + 0.08 * size * np.sin(24 * truth.q) + 0.05 * size * np.tanh(40 * truth.q))
    motion = truth.measured(planted, np.random.default_rng(1))[0]
    marks = list[tuple[float, str]]()
    found = identify(
        truth.robot, motion, complete=complete, on_step=lambda phase: marks.append((process_time(), phase.what))
    )
    return [*marks, (process_time(), "")], found


def work(seconds: float) -> None:
    marks, found = phases("arm", seconds, complete=True)
    n_rows, p = found.problem.W.shape
    expected = {f"identifying: {label}": extras.work_of(method, n_rows, p) / 1e9
                for label, method in chosen_methods(DEFAULT_METHODS).items()}  # fmt: skip
    print(f"Arm of seven axes, {n_rows} rows, {p} parameters: processor time, s, and expected extra work")
    for (start, what), (end, _) in pairwise(marks):
        print(f"  {what:45} {end - start:8.2f} {expected.get(what, 0.0):8.1f}")
    usual = extras.affordable(chosen_methods(DEFAULT_METHODS), n_rows, p)
    always = extras.statistical_work(n_rows, p) / 1e9
    print(
        f"  statistical part as expected: {always:.1f}; left out by default: {', '.join(usual.left_out) or 'nothing'}"
    )


def main(what: str = "", seconds: str = "20") -> None:
    if what == "work":
        work(float(seconds))
    else:
        commands()


if __name__ == "__main__":
    main(*sys.argv[1:])
