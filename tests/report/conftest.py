"""A small identification to report on."""

import numpy as np
import pytest

import gough
from gough.methods import GaussMarkov, LeastSquares, identifiability
from gough.report import Identification

HOSTILE = "<script>alert('x')</script> & \"co\""


@pytest.fixture
def report() -> Identification:
    return make_report()


def make_report(name: str = "mass", seed: int = 5) -> Identification:
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((400, 3))
    truth = np.array([1.0, 2.0, 1e-4])
    unknowns = gough.Unknowns((name, "I_1 + 0.25·m_3", "fv"), ("kg", f"kg·m² {name}", ""), truth * 1.1)
    noise = gough.Gaussian(np.diag([0.01, 0.04]))
    y = W @ truth + rng.standard_normal(400) * np.tile([0.1, 0.2], 200)
    problem = gough.LinearProblem(W, y, unknowns, noise, gough.Groups(("motor 1", f"motor {name}")))
    estimates = {
        f"plain {name}": gough.estimate(problem, LeastSquares()),
        "Gauss–Markov": gough.estimate(problem, GaussMarkov()),
    }
    return Identification(
        title=f"Report on {name}",
        lead=(f"About {name}.",),
        problem=problem,
        estimates=estimates,
        reference="Gauss–Markov",
        found=identifiability(problem),
        truth=truth,
        rate=100.0,
        effort_unit="N·m",
    )
