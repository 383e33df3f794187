"""One identification from beginning to end, on a robot of which not all parameters can be known."""

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest

from gough import AssumptionError, Box, Claim, InputError, Status, estimate
from gough.core.progress import Phase
from gough.dynamics import METHODS, base_values, identify
from gough.methods import GaussMarkov, LeastSquares, LinearHull


@pytest.fixture(scope="module")
def identified(five_bar, random_motion):
    steps = []
    found = identify(
        five_bar,
        random_motion(),
        methods=[name for name in METHODS if name not in ("relaxed hull", "rows")],
        validation=random_motion(1),
        bound=0.1,
        on_step=steps.append,
    )
    return found, steps


def test_every_set_holds_the_truth_when_the_bound_holds(five_bar, identified):
    found, _ = identified
    truth = base_values(found.identifiability, five_bar.nominal)
    sets = {name: e for name, e in found.estimates.items() if e.claim is Claim.PROOF}
    assert {"hull", "ellipsoid", "tight ellipsoid", "Gauss–Seidel", "recursive ellipsoid"} <= set(sets)
    for name, answer in sets.items():
        assert truth in answer.region, name
    assert found.minimal.is_consistent


def test_statistical_methods_are_near_the_truth(five_bar, identified):
    found, _ = identified
    truth = base_values(found.identifiability, five_bar.nominal)
    for name in ("least squares", "weighted", "Gauss–Markov", "robust", "Tukey"):
        assert (abs(found[name].value - truth) <= 4.5 * found[name].region.sigma).all(), name


def test_all_estimates_have_the_unknowns_of_the_problem(identified):
    found, _ = identified
    assert len(found.problem.unknowns) == found.identifiability.rank < len(found.identifiability.names)
    assert all(e.unknowns.names == found.problem.unknowns.names for e in found.estimates.values())


def test_steps_are_told_in_order(identified):
    _, steps = identified
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    assert {step.of for step in steps} == {len(steps)}
    assert steps[0] == Phase(1, len(steps), "assembling the equations")


def test_hull_is_the_smallest_box(five_bar, random_motion, identified):
    """The open prior was closed on the way; the answer is that of the open one."""
    found, _ = identified
    for name, answer in found.estimates.items():
        if answer.claim is Claim.PROOF:
            assert found["hull"].region.hull().width == pytest.approx(
                np.minimum(found["hull"].region.hull().width, answer.region.hull().width)
            ), name
    assert not found.problem.unknowns.bounds.is_bounded


def test_default_bound_is_a_margin_over_the_smallest(five_bar, random_motion):
    found = identify(five_bar, random_motion(), methods=["hull"], compare=False)
    assert not found.bound_is_given
    assert found.bound == pytest.approx(1.5 * found.smallest_bound)
    assert found["hull"].status is Status.OK
    assert "taken from the data, so the sets are conditional on it" in found.verdicts[1]
    wider = identify(five_bar, random_motion(), methods=["hull"], compare=False, margin=3.0)
    assert found["hull"].region <= wider["hull"].region


def test_a_refuted_bound_stops_no_other_method(five_bar, random_motion):
    found = identify(
        five_bar, random_motion(), methods=["hull", "ellipsoid", "tight ellipsoid", "weighted"], bound=0.05,
        validation=random_motion(1), compare=False,
    )  # fmt: skip
    assert found.minimal.is_inconsistent
    assert found["hull"].status is found["ellipsoid"].status is found["tight ellipsoid"].status is Status.INCONSISTENT
    assert found["weighted"].status is Status.OK
    assert list(found.succeeded) == ["weighted"]
    assert "is refuted" in found.verdicts[1]
    assert "hull is inconsistent" in found.verdicts[2]
    assert found.validation.exact is None
    assert list(found.validation.predictions) == ["weighted"]


def test_a_bound_near_the_smallest_is_warned_of(five_bar, random_motion):
    found = identify(five_bar, random_motion(), methods=["hull"], compare=False)
    near = identify(five_bar, random_motion(), methods=["hull"], bound=1.1 * found.smallest_bound, compare=False)
    assert near.minimal.is_consistent
    assert "can be small and still exclude the true parameters" in near.verdicts[1]


def test_unbounded_is_said(five_bar, random_motion):
    found = identify(five_bar, random_motion(), methods=["rows", "relaxed hull", "hull"], bound=0.1, compare=False)
    assert found["rows"].status is Status.UNBOUNDED
    assert found["hull"].status is Status.OK
    assert "rows is unbounded" in found.verdicts[2]


def test_bounds_may_differ_between_actuators(five_bar, random_motion):
    alike = identify(five_bar, random_motion(), methods=["hull"], bound=0.1, compare=False)
    unlike = identify(five_bar, random_motion(), methods=["hull"], bound=[0.1, 0.3], compare=False)
    assert alike["hull"].region <= unlike["hull"].region
    assert unlike.bounded.noise.radius[:2].tolist() == [0.1, 0.3]


def test_a_prior_is_used_by_all_and_fixed_parameters_are_taken_out(five_bar, random_motion):
    n = len(five_bar.names)
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    fixed = five_bar.names.index(five_bar.names[0])
    lower[fixed] = upper[fixed] = five_bar.nominal[fixed]
    found = identify(
        five_bar, random_motion(), methods=["weighted", "hull"], bound=0.1, prior=Box(lower, upper), compare=False,
        validation=random_motion(1),
    )  # fmt: skip
    assert found.fixed == {five_bar.names[0]: five_bar.nominal[0]}
    assert five_bar.names[0] not in " ".join(found.problem.unknowns.names)
    free = np.delete(five_bar.nominal, fixed)
    assert base_values(found.identifiability, free) in found["hull"].region
    assert "Fixed by the prior" in found.verdicts[0]
    assert (found.validation.exact.covered == 1).all()


@dataclass(frozen=True)
class Refusing:
    """A method that cannot begin."""

    def estimate(self, problem):
        raise AssumptionError("needs the moon")


@dataclass(frozen=True)
class Covariant:
    """A statistical method of somebody else's."""

    def estimate(self, problem):
        return GaussMarkov().estimate(problem)


def test_methods_of_ones_own(five_bar, random_motion):
    methods = {"mine": Covariant(), "none": Refusing(), "narrow": LeastSquares(level=0.5)}
    found = identify(five_bar, random_motion(), methods=methods, compare=False)
    assert list(found.estimates) == ["mine", "narrow"]
    assert found["mine"].claim is Claim.CONFIDENCE
    assert dict(found.refused) == {"none": "needs the moon"}
    assert "none could not be used: needs the moon" in found.verdicts[2]


def test_estimates_are_those_of_the_library(five_bar, random_motion):
    found = identify(five_bar, random_motion(), methods=["least squares", "hull"], bound=0.1, compare=False)
    assert estimate(found.problem, LeastSquares()).region == found["least squares"].region
    assert estimate(found.bounded, LinearHull()).region == found["hull"].region


def test_errors_of_the_caller_are_named(five_bar, random_motion):
    with pytest.raises(InputError, match="did you mean 'hull'"):
        identify(five_bar, random_motion(), methods=["hulll"])
    with pytest.raises(InputError, match="margin must be at least 1"):
        identify(five_bar, random_motion(), margin=0.9)
    with pytest.raises(InputError, match="did you mean 'hull'"):
        identify(five_bar, random_motion(), methods=["hull"], compare=False)["hul"]


@pytest.mark.parametrize(("speed", "how"), [(0.0, "never moves;"), (2**-7, "never moves faster than 0.00782 rad/s;")])
def test_a_motor_without_rows_is_refused_with_how_fast_it_moves(five_bar, random_motion, speed, how):
    motion = random_motion()
    q, dq, kept = motion.q.copy(), motion.dq.copy(), motion.kept.copy()
    q[:, 1], dq[:, 1], kept[:, 1] = 1.0 + speed * np.arange(len(q)) / motion.rate, speed, False
    with pytest.raises(InputError, match=f"every row of motor 2 is masked.*: q2 {how}"):
        identify(five_bar, replace(motion, q=q, dq=dq, kept=kept))


def test_data_without_noise_need_no_bound_to_speak_of(five_bar, random_motion):
    found = identify(five_bar, random_motion(error=0.0), methods=["weighted", "hull"], compare=False)
    truth = base_values(found.identifiability, five_bar.nominal)
    assert found.smallest_bound.max() < 1e-10
    assert found["weighted"].value == pytest.approx(truth, rel=1e-6, abs=1e-9)


def test_printing_is_complete(identified):
    found, _ = identified
    text = str(found)
    assert all(name in text for name in found.problem.unknowns.names)
    assert "—" not in text.splitlines()[2]


def test_rows_that_contradict_are_named_by_the_rows_of_their_file(five_bar, random_motion):
    """Two efforts are wrong by far more than the bound; rows before them are masked or were decimated away."""
    motion = random_motion()
    rows = 31 + 10 * np.arange(motion.n_samples)
    efforts, kept = motion.efforts.copy(), motion.kept.copy()
    efforts[200, 1] += 100.0
    kept[:150] = False
    kept[200] = True
    wrong = replace(motion, efforts=efforts, kept=kept, rows=rows, sources=["run 7.csv"])
    answer = identify(five_bar, wrong, methods=["hull"], bound=0.2, compare=False)
    culprit = re.compile(rf"motor 2 in rows? [\d, ]*\b{31 + 10 * 200}\b")
    for text in (answer["hull"].notes[0], answer.verdicts[1]):
        assert culprit.search(text)
        assert "of run 7.csv" in text
    assert "contradict each other or the prior" in answer["hull"].notes[0]
