"""Watch a simulated five-bar: a payload of 0.2 kg after 30 s is proven, and its mass estimated."""

import numpy as np

from gough.checker import check
from gough.watch import WatchedModel, Watcher, WatchOptions
from gough.watch.example import SimulatedStream

stream = SimulatedStream()
dynamics = stream.identified()  # in practice: gough.export.RobotModel.read("results").dynamics
watcher = Watcher(WatchedModel.of(dynamics), WatchOptions(np.array(dynamics.bound), learn=20.0))

rng = np.random.default_rng(1)
for first in range(0, 34_000, 1000):
    change = {stream.mass: 0.2} if first >= 30_000 else None
    for found in watcher.take(*stream.samples(first, 1000, rng, change=change)):
        print(found.event.line)
        if found.contradiction is not None:
            verdict = check(found.contradiction.certificate, found.contradiction.problem)
            print(f"           verified in exact rationals: {verdict.holds}")

payload = watcher.payload()
assert payload is not None
assert abs(payload.mass - 0.2) < 1.5 * payload.error  # ± is a 95 % interval
print(f"payload: {payload.mass:.3f} ± {payload.error:.3f} kg")
