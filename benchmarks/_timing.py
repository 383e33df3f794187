"""How long a call takes on a machine that others use too."""

from collections.abc import Callable
from statistics import median
from time import perf_counter


def seconds(work: Callable[[], object], repetitions: int) -> float:
    """Median time of a call, after one to warm up."""
    work()
    times = []
    for _ in range(repetitions):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return median(times)
