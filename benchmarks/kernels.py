"""The five-bar regressor by all evaluators and by CasADi itself, on the same data in one run.

Ratios against the compiled batch, not times, are what to compare between machines. CasADi's own ways: `Function.map`
(serial and with threads) in its virtual machine, and one call per sample from Python (on fewer samples, scaled).
"""

from time import perf_counter

import numpy as np

from benchmarks._timing import seconds
from gough.kernels.native import available_threads
from gough.robots import FiveBar
from gough.simulate.trajectories import FourierSeries

N_SAMPLES = 100_000
N_CALLS = 2_000
REPETITIONS = 7


def main() -> None:
    """Print the time per sample and the ratio to the compiled batch, and the largest disagreement."""
    kernel = FiveBar.demo().regressor_kernel()
    path = FourierSeries.random(np.random.default_rng(1), offset=[2.2, 0.9], amplitude=0.4, frequency=0.1)
    _, q, dq, ddq = path.sample(rate=N_SAMPLES * 0.1)
    columns = [np.ascontiguousarray(x.T) for x in (q, dq, ddq)]
    mapped, threaded = (kernel.function.map(N_SAMPLES, *how) for how in (("serial",), ("thread", available_threads())))

    start = perf_counter()
    value = kernel.compiled(q, dq, ddq)["five_bar_regressor"]
    first = perf_counter() - start
    replayed = kernel.replay(q, dq, ddq)["five_bar_regressor"]
    by_casadi = np.asarray(mapped(*columns)).T.reshape(value.shape)

    times = {
        "compiled batch": seconds(lambda: kernel.compiled(q, dq, ddq), REPETITIONS),
        "NumPy replay": seconds(lambda: kernel.replay(q, dq, ddq), REPETITIONS),
        "casadi map": seconds(lambda: mapped(*columns), REPETITIONS),
        "casadi map, threads": seconds(lambda: threaded(*columns), REPETITIONS),
        "casadi call per sample": seconds(lambda: [kernel.function(q[k], dq[k], ddq[k]) for k in range(N_CALLS)], 3)
        * (N_SAMPLES / N_CALLS),
        "robot.regressor": seconds(lambda: FiveBar.demo().regressor(q, dq, ddq), REPETITIONS),
    }
    print(f"{kernel}, {N_SAMPLES} samples, {available_threads()} threads, median of {REPETITIONS}")
    print(f"first compiled call, with compilation or from the cache: {first:.3f} s")
    for name, time in times.items():
        print(f"{name:24} {1e6 * time / N_SAMPLES:9.3f} µs/sample {time / times['compiled batch']:9.1f} x compiled")
    scale = np.abs(value).max()
    print(f"replay against compiled: {np.abs(replayed - value).max() / scale:.1e} of the largest entry")
    print(f"casadi against compiled: {np.abs(by_casadi - value).max() / scale:.1e} of the largest entry")


if __name__ == "__main__":
    main()
