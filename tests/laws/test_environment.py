"""What the caller does to the processor or to NumPy makes nothing false and breaks nothing."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import gough.methods
from gough import Bounded, Box, LinearProblem, Unknowns, estimate
from gough.checker import certificate_of, check
from gough.checker.leg_equations import LegMeasurements
from gough.closure.certified_leg import LegProblem
from gough.closure.tolerance import minimal_tolerance
from gough.core.errors import GoughError
from gough.core.text import written
from gough.methods import (
    BoundingEllipsoid,
    identifiability,
    minimal_bound,
    outliers,
    prediction_bounds,
    predictions,
    sweep,
)
from tests.core import environments
from tests.laws.problems import CONTRACTORS, SET_METHODS, STATISTICAL_METHODS, bounded_problem, gaussian_problem

PROVING = {
    "ellipsoid_of_strips", "minimal_bound", "outliers", "predict", "prediction_bounds", "predictions", "sweep",
}  # fmt: skip
CLAIMING_NOTHING = {"cramer_rao_bound", "identifiability", "noise_from_repeats", "own_regressor"}
CHILD = """
import sys
import numpy.ma, scipy.linalg  # older ones warn where they are loaded in another floating-point mode
sys.path.insert(0, {root!r})
from gough import Bounded, Box, Claim, LinearProblem, Unknowns
from gough.core.errors import AssumptionError
from gough.checker.leg_equations import LegMeasurements, PlatformMeasurements
from gough.closure.certified_leg import LegProblem
from gough.closure.joint_hull import JointHull
from gough.closure.tolerance import minimal_tolerance
from gough.closure.outliers import relaxed_tolerance, wrong_poses
from gough.closure.tolerance import joint_tolerance
from gough.methods import *
from tests.laws.problems import SET_METHODS
from tests.methods.legs import joint_legs
W, theta = np.array([[1.0, 0.5], [0.25, 2.0], [1.0, -1.0]]), np.array([1.0, 2.0])
def problem(shift=0.0):
    y = W @ theta + np.array([shift, 0.0, 0.0])
    return LinearProblem(W, y, Unknowns(["a", "b"], prior=Box([-9, -9], [9, 9])), Bounded(0.5))
p = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (0.3, 0.5)])
q, readings = np.tile([1.0, 0, 0, 0], (8, 1)), np.linalg.norm(p, axis=1) - 0.2
prior = Box([-0.1] * 3 + [0] * 3 + [0.1], [0.1] * 3 + [0] * 3 + [0.3])
leg = LegProblem(LegMeasurements(q, p, readings, 1e-5, 0.0, 1e-5), prior)
both = PlatformMeasurements(q, p, np.column_stack([readings, readings]), 1e-5, 0.0, 1e-5)
joint = joint_legs(both, Box(np.tile(leg.prior.lower, 2), np.tile(leg.prior.upper, 2)), (1, 2))
stream = HullStream(Unknowns(["a", "b"], prior=Box([-9, -9], [9, 9])))
stream.update_many(W, W @ theta, 0.5)
ball = __import__("gough").Ellipsoid([0.0], [[1.0]])
{spoil}
claims = {{}}
for shift in (0.0, 50.0):
    for method in SET_METHODS:
        claims[repr(method) + str(shift)] = method.estimate(problem(shift)).claim
    claims["minimal_bound" + str(shift)] = minimal_bound(problem(shift)).claim
    claims["outliers" + str(shift)] = outliers(problem(shift)).claim
    claims["sweep" + str(shift)] = sweep(problem(shift), [1.0]).claim
claims["predictions"] = predictions(problem(), W).claim
claims["HullStream"] = stream.estimate().claim
claims["LiftedHull"] = LiftedHull(max_steps=1).estimate(leg).claim
claims["JointHull"] = JointHull(max_steps=1, bounds=False, chains=LiftedHull(max_steps=1)).estimate(joint).claim
for name, ask in {{
    "prediction_bounds": lambda: prediction_bounds(problem(), W),
    "predict": lambda: predict(ball, [[1.0]]),
    "ellipsoid_of_strips": lambda: ellipsoid_of_strips([[1.0]], [0.0], [1.0]),
    "minimal_tolerance": lambda: minimal_tolerance(leg),
    "wrong_poses": lambda: wrong_poses(leg, 1),
    "relaxed_tolerance": lambda: relaxed_tolerance(leg, 1),
    "joint_tolerance": lambda: joint_tolerance(joint, np.tile([0.0] * 6 + [0.2], 2)),
}}.items():
    try:
        ask()
    except AssumptionError as refused:
        assert "because the processor" in str(refused), refused
        claims[name] = Claim.VALUE
    else:
        claims[name] = Claim.PROOF
print(sorted(name for name, claim in claims.items() if claim is Claim.PROOF), len(claims))
"""


@pytest.mark.parametrize("state", ["flush to zero", "upward"])
def test_no_proof_is_claimed_of_a_spoilt_processor(state, tmp_path):
    if state == "upward":
        spoil = "round_('upward')"
    else:
        spoil = f"ctypes.CDLL({str(environments.shared_library(tmp_path))!r}).flush()"
    root = str(Path(__file__).parents[2])
    claimed = environments.run(CHILD.format(root=root, spoil=spoil))
    count = 2 * (len(SET_METHODS) + 3) + 4 + 7
    assert claimed == f"[] {count}"


def test_every_function_that_proves_is_known():
    public = {name for name in gough.methods.__all__ if not isinstance(getattr(gough.methods, name), type)}
    assert public == PROVING | CLAIMING_NOTHING


def square(scale=1.0):
    W = np.array([[1.0, 0.5], [0.25, 2.0], [1.0, -1.0]])
    unknowns = Unknowns(["a", "b"], prior=Box([-9, -9], [9, 9]))
    return LinearProblem(W * scale, W @ [1.0, 2.0] * scale, unknowns, Bounded(np.array(0.5 * scale)))


FUNCTIONS = {
    "minimal_bound": minimal_bound,
    "outliers": outliers,
    "sweep": lambda problem: sweep(problem, [1.0, 2.0]),
    "predictions": lambda problem: predictions(problem, problem.W),
    "prediction_bounds": lambda problem: prediction_bounds(problem, problem.W),
    "identifiability": identifiability,
    **{repr(method): lambda problem, method=method: estimate(problem, method, strict=False) for method in SET_METHODS},
    **{f"direct {method!r}": lambda problem, method=method: method.estimate(problem) for method in SET_METHODS},
    **{repr(one): lambda problem, one=one: one.contract(problem, problem.unknowns.bounds) for one in CONTRACTORS},
}


@pytest.mark.parametrize("verb", FUNCTIONS.values(), ids=FUNCTIONS)
def test_settings_of_numpy_change_nothing(verb, rng):
    """Scales at which intermediate results over- and underflow; a refusal with a message is an answer."""
    problems = [square(scale) for scale in (1.0, 2.0**660, 2.0**-660, 2.0**-1070, 2.0**1020)]
    problems += [bounded_problem(rng)[0] for _ in range(8)]
    for problem in problems:
        answers = []
        for state in ("ignore", "raise"):
            with np.errstate(all=state):
                try:
                    answers.append(verb(problem))
                    str(answers[-1])
                except GoughError as refused:
                    answers.append(str(refused))
        assert repr(answers[0]) == repr(answers[1])


@pytest.mark.parametrize("method", STATISTICAL_METHODS, ids=written)
@pytest.mark.parametrize("scale", [1.0, 1e150, 1e200, 1e300, 1e-200, 1e-300])
def test_statistical_methods_answer_or_refuse_at_any_scale(method, scale, rng):
    problem, _ = gaussian_problem(rng, n_samples=30, p=2, spread=0)
    for W, y in (
        (problem.W * scale, problem.y),
        (problem.W, problem.y * scale),
        (problem.W * scale, problem.y * scale),
    ):
        for noise in (problem.noise, type(problem.noise)()):
            with np.errstate(all="raise"), suppress(GoughError):
                other = LinearProblem(W, y, problem.unknowns, noise, problem.groups)
                str(estimate(other, method, strict=False))


def test_tolerances_and_certificates_do_not_depend_on_settings_of_numpy():
    p = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (0.3, 0.5)])
    data = LegMeasurements(np.tile([1.0, 0, 0, 0], (8, 1)), p, np.linalg.norm(p, axis=1) - 0.2, 1e-5, 0.0, 1e-5)
    found = []
    for state in ("ignore", "raise"):
        with np.errstate(all=state):
            leg = LegProblem(data, Box([-1e-3] * 3 + [0] * 3 + [0.199], [1e-3] * 3 + [0] * 3 + [0.201]))
            problem = square(2.0**-400)
            certificate = certificate_of(problem, estimate(problem, BoundingEllipsoid()))
            assert check(certificate, problem).holds
            found.append((minimal_tolerance(leg).upper, certificate))
    assert found[0] == found[1]


def test_regions_do_not_depend_on_settings_of_numpy():
    with np.errstate(all="raise"):
        for size in (5e-324, 1.0, 1e308):
            box = Box([-size], [size])
            assert box.center == [0.0]
            assert (box + size).upper[0] >= size
            box.log_volume()
            str(Box.around([size], size))
