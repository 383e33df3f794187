"""A Dask scheduler and workers on this machine, each a process that can be killed."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import gough

REPOSITORY = Path(__file__).parents[2]
PLACES = (str(REPOSITORY / "src"), str(REPOSITORY))
QUIET = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "DASK_DISTRIBUTED__WORKER__DAEMON": "False",
    "DASK_DISTRIBUTED__ADMIN__LOW_LEVEL_LOG_LENGTH": "0",
}


class Loopback:
    """A scheduler and its workers; `address` is for `DaskCluster`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.workers = folder, []
        self.file = folder / f"scheduler-{time.monotonic_ns()}.json"
        self.scheduler = self._process("scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard")
        wait_until(self.file.exists, self.scheduler)
        self.address = json.loads(self.file.read_text())["address"]

    def _process(self, *arguments: str, path: Path = REPOSITORY) -> subprocess.Popen:
        environment = {**os.environ, **QUIET, "PYTHONPATH": os.pathsep.join([str(path), *PLACES])}
        command = [sys.executable, "-m", "dask", *arguments, "--scheduler-file", str(self.file)]
        with (self.folder / f"{arguments[0]}-{time.monotonic_ns()}.log").open("wb") as log:
            return subprocess.Popen(command, env=environment, cwd=self.folder, stdout=log, stderr=log)

    def add(self, path: Path = REPOSITORY) -> subprocess.Popen:
        """One more worker of one thread; `path` is where it finds modules first."""
        place = ("--host", "127.0.0.1", "--no-dashboard", "--no-nanny", "--nthreads", "1", "--death-timeout", "20")
        self.workers.append(self._process("worker", *place, path=path))
        return self.workers[-1]

    def close(self) -> None:
        for process in (self.scheduler, *self.workers):
            process.kill()
            process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def wait_until(condition, process: subprocess.Popen, seconds: float = 120.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, "it ended at its start"
        assert time.monotonic() < until
        time.sleep(0.05)


def other_version(folder: Path) -> Path:
    """A folder with a copy of gough that calls itself 0.0.9."""
    source = Path(gough.__file__).parent
    copy = shutil.copytree(source, folder / "gough", ignore=shutil.ignore_patterns("__pycache__", "*.json", "*.so"))
    face = copy / "__init__.py"
    face.write_text(face.read_text().replace('__version__ = "', '__version__ = "0.0.9+'))
    return folder
