"""How long a call takes on a machine that others use too."""

from collections.abc import Callable
from statistics import median
from time import perf_counter


def seconds(work: Callable[[], object], repetitions: int, clock: Callable[[], float] = perf_counter) -> float:
    """Median time of a call, after one to warm up; `process_time` counts only what the processor spent on it."""
    work()
    times = []
    for _ in range(repetitions):
        start = clock()
        work()
        times.append(clock() - start)
    return median(times)
