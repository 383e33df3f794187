"""How long commands let a user wait: processor time, the goal beside each, and what an identification leaves out.

python -m benchmarks.waiting              the commands, with a named rival where there is one
python -m benchmarks.waiting install      pip in a new environment, what it took up, and the first demo there
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
from typing import NamedTuple

import numpy as np

import gough
from gough.dynamics import Identified, identify
from gough.dynamics.effect import Planted
from gough.dynamics.named import DEFAULT_METHODS, chosen_methods
from gough.simulate.multibody import experiment

COLLECT_AFTER = 50_000
"""As the command sets it."""


def surroundings(**more: str) -> dict[str, str]:
    """Environment variables of a program that is measured."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {"OMP_NUM_THREADS": "1"} | more


def spent(*command: str, **more: str) -> float:
    """Processor time of a program, its children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=surroundings(**more))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(*command: str, times: int = 3) -> float:
    """The least of some runs after a first one, which fills caches."""
    spent(*command)
    return min(spent(*command) for _ in range(times))


AFTER_IMPORTS = """
import contextlib, importlib, io, sys, time
from gough.cli.app import run
for name in sys.argv[2:]:
    with contextlib.suppress(Exception):
        importlib.import_module(name)
before = time.process_time()
with contextlib.redirect_stdout(io.StringIO()):
    run(["identify", sys.argv[1], "--out", sys.argv[1] + "-results"])
used = time.process_time() - before
print(used, *sys.modules)
"""


def after_imports(study: Path, times: int = 3) -> float:
    """Processor time of `gough identify` in a process that has loaded every module of an earlier run; the least."""

    def run(*modules: str) -> list[str]:
        command = [sys.executable, "-c", f"import gc\ngc.set_threshold({COLLECT_AFTER})\n{AFTER_IMPORTS}", str(study)]
        done = subprocess.run([*command, *modules], check=True, capture_output=True, text=True, env=surroundings())
        return done.stdout.split()

    _, *modules = run()
    return min(float(run(*modules)[0]) for _ in range(times))


def commands() -> None:
    command = (sys.executable, "-m", "gough_command")
    rival = least(sys.executable, "-c", "import numpy, scipy.signal, matplotlib.figure")
    print("Processor time, s                                      goal   measured")
    print(f"  import of NumPy, scipy.signal and matplotlib (rival)   -   {rival:8.2f}")
    print(f"  gough --help                                         0.3   {least(*command, '--help'):8.2f}")
    print(f"  gough identify --help                                  -   {least(*command, 'identify', '--help'):8.2f}")
    with tempfile.TemporaryDirectory() as folder:
        taken = least(*command, "demo", "--out", str(Path(folder) / "demo"), times=1)
        print(f"  gough demo, with its report                          6.0   {taken:8.2f}")
        study = Path(folder) / "study"
        spent(*command, "new", str(study), "--robot", "h4", "--example")
        file = Path(folder) / "study" / "study.toml"
        whole, warm = least(*command, "identify", str(file)), after_imports(file)
        print(f"  gough identify of an H4, 20 s of four motors           -   {whole:8.2f}")
        print(f"  the same after imports                               2.0   {warm:8.2f}")


class Installed(NamedTuple):
    """Processor times from nothing to a demo; files are downloaded or come from pip's cache."""

    environment: float
    pip: float
    first_demo: float
    second_demo: float
    size: int

    @property
    def until_demo(self) -> float:
        """All that `make demo` does in a fresh clone."""
        return self.environment + self.pip + self.first_demo


def installed() -> Installed:
    """As the Makefile installs."""
    here = Path(gough.__file__).parents[2]
    with tempfile.TemporaryDirectory() as folder:
        python = str(Path(folder) / "bin" / "python")
        made = spent(sys.executable, "-m", "venv", folder)
        options = ("--quiet", "--disable-pip-version-check", "--no-compile", "--editable")
        pip = spent(python, "-m", "pip", "install", *options, str(here))
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file() and not path.is_symlink())
        demo = (python, "-m", "gough_command", "demo", "--out", str(Path(folder) / "demo"))
        cache = {"XDG_CACHE_HOME": str(Path(folder) / "cache")}  # nothing is compiled yet
        first, second = spent(*demo, **cache), spent(*demo, **cache)
    return Installed(made, pip, first, second, size)


def install() -> None:
    found = installed()
    print("Processor time, s                                      goal   measured")
    print(f"  a new environment                                      -   {found.environment:8.2f}")
    print(f"  pip install, {found.size / 1e6:5.0f} MB afterwards                      -   {found.pip:8.2f}")
    print(f"  the first demo, robots are compiled                    -   {found.first_demo:8.2f}")
    print(f"  all three                                           60.0   {found.until_demo:8.2f}")
    print(f"  the second demo                                        -   {found.second_demo:8.2f}")


def phases(name: str, seconds: float, *, complete: bool = False) -> tuple[list[tuple[float, str]], Identified]:
    """When each phase of an identification began, in processor time, and the answer: data that no model explains.

    With a validation, as long as what is identified from.
    """
    truth = experiment(name, seconds=seconds, rate=250.0)
    torques = truth.efforts(truth.q, truth.dq, truth.ddq)
    size = np.sqrt((torques**2).mean(axis=0))
    planted = Planted(truth.q, torques + 0.08 * size * np.sin(24 * truth.q) + 0.05 * size * np.tanh(40 * truth.q))
    motion, validation = truth.measured(planted, np.random.default_rng(1))
    marks = list[tuple[float, str]]()
    more = {"validation": validation, **({"complete": True} if complete else {})}
    found = identify(truth.robot, motion, on_step=lambda phase: marks.append((process_time(), phase.what)), **more)
    return [*marks, (process_time(), "")], found


def work(seconds: float) -> None:
    from gough.dynamics import extras  # noqa: PLC0415 - an older gough has none

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
    elif what == "install":
        install()
    else:
        commands()


if __name__ == "__main__":
    main(*sys.argv[1:])
