"""Rivals, each with an environment of its own in .venv-rivals, and the runner that answers tasks there."""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
ENVIRONMENTS = REPOSITORY / ".venv-rivals"
RUNNERS = Path(__file__).parent / "runners"
LIMIT = 900.0
"""Seconds of wall-clock time for one recording, after which a runner is ended."""


@dataclass(frozen=True)
class Rival:
    """A library that answers some kinds of tasks."""

    name: str
    requirements: tuple[str, ...]
    """What pip installs; empty for gough, which this interpreter has."""
    kinds: tuple[str, ...]
    most: int = 10**6
    """Seeds of a task whose recordings it is given: fewer where one takes long."""
    note: str = ""

    @property
    def interpreter(self) -> Path:
        return ENVIRONMENTS / self.name / "bin" / "python" if self.requirements else Path(sys.executable)

    def install(self) -> str:
        """Make the environment unless it is there; the reason if that fails."""
        done = ENVIRONMENTS / self.name / ".installed"
        wanted = "\n".join(self.requirements)
        if not self.requirements or (done.exists() and done.read_text(encoding="utf-8") == wanted):
            return ""
        venv.create(done.parent, with_pip=True, clear=True)
        command = [self.interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run = subprocess.run([*command, *self.requirements], capture_output=True, text=True, check=False)
        if run.returncode:
            return f"pip cannot install it: {(run.stderr.strip().splitlines() or ['no reason'])[-1]}"
        done.write_text(wanted, encoding="utf-8")
        return ""

    def answers(self, data: Path, stated: Path) -> Iterator[dict[str, Any]]:
        """The lines of the runner, one for all and one for each recording."""
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        environment.pop("PYTHONPATH", None)
        command = [self.interpreter, RUNNERS / f"by_{self.name}.py", data, stated]
        count = json.loads(stated.read_text(encoding="utf-8"))["recordings"]
        log = data.with_name(f"{self.name}.log")
        with log.open("w", encoding="utf-8") as errors:
            try:
                limit = 60 + LIMIT * count
                run = subprocess.run(
                    command, stdout=subprocess.PIPE, stderr=errors, env=environment, timeout=limit, check=False
                )
                text, reason = run.stdout.decode(), f"its runner ended with exit code {run.returncode}; see {log.name}"
            except subprocess.TimeoutExpired as late:
                text, reason = (late.stdout or b"").decode(), f"no answer within {LIMIT:.0f} s a recording"
        lines = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
        yield from lines or [{}]
        for k in range(max(len(lines) - 1, 0), count):
            yield {"recording": k, "reason": reason}


RIVALS = {
    rival.name: rival
    for rival in (
        Rival("gough", (), ("arm", "loop", "hexapod", "bounded", "leg", "camera")),
        Rival("figaroh", ("figaroh==1.0.2",), ("arm",)),
        Rival("mujoco", ("mujoco[sysid]==4.0.0",), ("arm", "loop"), most=2),
        Rival("pinocchio", ("pin==4.1.0",), ("arm", "loop")),
        Rival("odrpack", ("odrpack==0.7.0",), ("hexapod",)),
        Rival("codac", ("codac==2.1.2", "numpy"), ("bounded", "leg")),
        Rival(
            "intvalpy",
            ("intvalpy==2.0.3", "mpmath"),
            ("bounded",),
            note="imports mpmath, which its package does not require",
        ),
        Rival("opencv", ("opencv-python-headless==5.0.0.93",), ("camera",)),
    )
}
