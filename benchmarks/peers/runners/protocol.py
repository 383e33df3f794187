"""What all runners share: read a task, answer each of its recordings, print a line of JSON for each.

    python runners/by_figaroh.py data.npz task.json

The first line has the versions and the call. What a library prints or logs belongs to its answer where a task asks for
verdicts. Runners import nothing of gough, but that of gough itself; each runs in its library's own environment.
"""

import contextlib
import io
import json
import logging
import sys
import time
import traceback
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np


def answer_task(kinds, packages):
    """Print the answers to the task that the command line names.

    Args:
        kinds: By kind of task a function of data and statements; it returns the call in words, what all answers
            share, and a function that answers the recording of a number.
        packages: Whose versions are printed.
    """
    stated = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    data = dict(np.load(sys.argv[1], allow_pickle=False))
    if stated["kind"] not in kinds:
        _line({"reason": f"no runner for tasks of the kind {stated['kind']}"})
        return
    began = time.process_time()
    call, shared, answer = kinds[stated["kind"]](data, stated)
    _line({"versions": _versions(packages), "call": call, "prepared": time.process_time() - began, **shared})
    for k in range(stated["recordings"]):
        began, said = time.process_time(), io.StringIO()
        handler = logging.StreamHandler(said)
        handler.setLevel(logging.WARNING)
        logging.getLogger().addHandler(handler)
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                found = answer(k)
        except Exception as error:  # noqa: BLE001 - a failure of the library is a result
            traceback.print_exc()
            found = {"reason": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
        logging.getLogger().removeHandler(handler)
        if stated.get("verdicts"):
            found["said"] = said.getvalue() + found.get("said", "")
        _line({"recording": k, "seconds": time.process_time() - began, **found})


def _versions(packages):
    found = {"python": sys.version.split()[0]}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _line(values):
    print(json.dumps(values, default=lambda x: x.tolist()), file=_OUT, flush=True)


_OUT = sys.stdout
sys.stdout = sys.stderr  # libraries print reports; standard output is for answers alone
