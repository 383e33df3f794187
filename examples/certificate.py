"""Answers that nobody has to believe: a box, an ellipsoid, an outlier, saved and checked again in exact rationals."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gough import Bounded, Box, LinearProblem, Unknowns, estimate
from gough.checker import Bound, Certificate, certificate_of, check, load, prove, save
from gough.methods import HullAndEllipsoid, outliers

# by hand: half the sum of both rows is a, so a ≥ (2.9 + 0.9)/2
unknowns = Unknowns(["a", "b"], prior=Box([-10, -10], [10, 10]))
two = LinearProblem([[1.0, 1.0], [1.0, -1.0]], [3.0, 1.0], unknowns, Bounded(0.1))
proof = Bound(prove(two, [({"a": 1}, {0: 0.5, 1: 0.5})]))
print("; ".join(check(Certificate.of(two, proof), two).statement))

# from measurements: one of them is wrong
rng = np.random.default_rng(1)
W = rng.normal(size=(200, 2))
y = W @ [2.0, 1.0] + rng.uniform(-0.1, 0.1, 200)
clean = LinearProblem(W, y, unknowns, Bounded(0.1))
wrong = y.copy()
wrong[17] += 5.0
spoilt = LinearProblem(W, wrong, unknowns, Bounded(0.1))
for problem, answer in ((clean, estimate(clean, HullAndEllipsoid())), (spoilt, outliers(spoilt))):
    with TemporaryDirectory() as folder:
        path = Path(folder, "certificate.json")
        save(certificate_of(problem, answer), path)
        verdict = check(load(path), problem)
        size = path.stat().st_size
    print(f"\n{verdict.kind}, {size / 1000:.0f} kB:", "holds, since" if verdict else "does not hold:", verdict.reason)
    print("\n".join(f"  {line}" for line in verdict.statement))
    assert verdict.holds
