"""Functions that campaigns of the tests run."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from gough import InputError


def solved(size, k, rng):
    """A sum that depends on the order of rounding, with random numbers of the task."""
    A = rng.standard_normal((size, size))
    return {"x": np.linalg.solve(A, A[0] + k), "k": k}


def slow(seconds, k, rng):
    time.sleep(seconds)
    return [k, float(rng.standard_normal())]


def noted(folder, seconds, k, rng):
    """Also leaves a file for each time that it was run to its end."""
    time.sleep(seconds)
    Path(folder, f"{k}-{os.getpid()}-{time.monotonic_ns()}").touch()
    return float(rng.standard_normal())


def kills_its_worker(folder, k):
    """Ends its process the first time that k is 3, and each time that k is 13."""
    mark = Path(folder, f"mark-{k}")
    if k == 13 or (k == 3 and not mark.exists()):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return k * k


def refuses(k):
    if k == 5:
        raise InputError("five is not allowed")
    return k


def large(k, block):
    return block + k
