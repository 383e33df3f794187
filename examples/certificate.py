"""A bound that nobody has to believe: proved by multipliers, saved, and checked again in exact rationals."""

from pathlib import Path
from tempfile import TemporaryDirectory

from gough import Bounded, Box, LinearProblem, Unknowns
from gough.certify import Bound, Certificate, check, load, prove, save

unknowns = Unknowns(["a", "b"], prior=Box([-10, -10], [10, 10]))
problem = LinearProblem([[1.0, 1.0], [1.0, -1.0]], [3.0, 1.0], unknowns, Bounded(0.1))

# half the sum of both rows is a: a ≥ (2.9 + 0.9)/2
proof = Bound(prove(problem, [({"a": 1}, {0: 0.5, 1: 0.5})]))
with TemporaryDirectory() as folder:
    path = Path(folder, "a.json")
    save(Certificate.of(problem, proof), path)
    verdict = check(load(path), problem)
print("; ".join(verdict.statement), "—", "holds" if verdict.holds else verdict.reason)
