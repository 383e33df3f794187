"""What a watch finds in streams whose truth is known, and that it finds nothing where nothing is."""

import re
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from gough import Bounded, Box, LinearProblem, Unknowns
from gough.checker import Certificate, Empty, check
from gough.core.errors import InputError
from gough.dynamics.effects import effect_named
from gough.estimates import Claim, Estimate, Stats
from gough.export.effects import effect_columns
from gough.region import ConfidenceEllipsoid
from gough.robots import ThreeRRR
from gough.watch import Watcher, WatchOptions
from gough.watch.changes import Block, ChangeTests, Joint, limit_for
from gough.watch.consistency import Consistency, contradiction
from gough.watch.example import SimulatedStream
from gough.watch.model import WatchedModel
from gough.watch.rows import Rows
from gough.watch.sets import InflatingEllipsoid, WindowOfHulls


@cache
def identified():
    stream = SimulatedStream()
    dynamics = stream.identified(seconds=25.0)
    return stream, dynamics, WatchedModel.of(dynamics)


def watched(learn=12.0, **options):
    stream, dynamics, model = identified()
    return stream, Watcher(model, WatchOptions(np.array(dynamics.bound), rate=1000.0, learn=learn, **options))


def run(watcher, times, values):
    return [
        each for k in range(0, len(times), 1000) for each in watcher.take(times[k : k + 1000], values[k : k + 1000])
    ]


def faulty(stream, until, count, change):
    rng = np.random.default_rng(1)
    one, other = stream.samples(0, until, rng), stream.samples(until, count - until, rng, change=change)
    return np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]])


def test_a_healthy_robot_raises_nothing():
    stream, watcher = watched()
    assert run(watcher, *stream.samples(0, 40_000, np.random.default_rng(5))) == []
    assert watcher.tests.is_learned
    assert watcher.consistency.factor <= 1
    for one in watcher.parameters():
        assert one["now"][0] <= one["now"][1]


def test_a_payload_is_proven_measured_and_raised_once():
    stream, watcher = watched()
    times, values = faulty(stream, 20_000, 45_000, {stream.mass: 0.2})
    found = run(watcher, times, values)
    by_kind = {each.event.kind: each for each in found}
    assert sorted(each.event.kind for each in found) == ["inconsistent", "payload"]
    proof = by_kind["inconsistent"]
    assert 20.0 < proof.event.time < 20.6
    assert check(proof.contradiction.certificate, proof.contradiction.problem).holds
    change = by_kind["payload"].event.evidence
    assert abs(change["change"] - 0.2) < 0.02
    payload = watcher.payload()
    assert abs(payload.mass - 0.2) < max(3 * payload.error, 0.005)
    assert payload.moments == ()  # a point on a five-bar


def test_a_window_of_a_contradiction_contains_no_true_parameters():
    """The rows of the certificate alone exclude the admitted box; the changed parameters lie outside of it or err."""
    stream, watcher = watched()
    found = run(watcher, *faulty(stream, 20_000, 21_000, {stream.mass: 0.5}))
    event, part = next((each.event, each.contradiction) for each in found if each.event.kind == "inconsistent")
    printed = Fraction(re.search(r"factor of at least ([\d.e+-]+)$", event.line)[1])
    assert Fraction(99, 100) * Fraction(part.factor) < printed <= Fraction(part.factor), "rounded downward"
    problem = part.problem
    admitted = problem.unknowns.bounds
    rng = np.random.default_rng(0)
    for theta in rng.uniform(admitted.lower, admitted.upper, (200, len(admitted))):
        assert (np.abs(problem.y - problem.W @ theta) > problem.noise.radius).any()


@pytest.mark.parametrize(
    ("name", "subject", "kind"), [("fc_1", "motor 1", "friction"), ("fc_2", "motor 2", "friction")]
)
def test_friction_names_its_joint(name, subject, kind):
    stream, watcher = watched()
    size = 0.3 * float(stream.parameters[stream.robot.names.index(name)])
    found = [each.event for each in run(watcher, *faulty(stream, 20_000, 32_000, {name: size}))]
    assert [(event.kind, event.subject) for event in found if event.kind != "inconsistent"] == [(kind, subject)]


def test_a_stuck_encoder_a_turned_sign_and_a_jumping_clock():
    stream, watcher = watched()
    times, values = stream.samples(0, 30_000, np.random.default_rng(3))
    values[20_000:20_400, 0] = values[20_000, 0]
    found = [each.event for each in run(watcher, times[:20_400], values[:20_400])]
    assert (found[0].kind, found[0].subject) == ("stuck", "q1")
    assert 20.0 < found[0].time < 20.5  # with the piece that contains the first 50 ms
    assert {event.kind for event in found[1:]} <= {"outside", "inconsistent"}  # both are true then

    stream, watcher = watched()
    turned = values.copy()
    turned[:, :2] = stream.samples(0, 30_000, np.random.default_rng(3))[1][:, :2]
    turned[20_000:, 3] *= -1
    kinds = [(each.event.kind, each.event.subject) for each in run(watcher, times, turned)]
    assert ("sign", "motor 2") in kinds
    assert kinds[0][0] == "inconsistent"

    stream, watcher = watched()
    jumped = times.copy()
    jumped[15_000:] += 3.0
    jumped[25_000:] -= 3.5
    found = [each.event for each in run(watcher, jumped, stream.samples(0, 30_000, np.random.default_rng(3))[1])]
    assert [event.kind for event in found] == ["clock"]  # once in a minute
    assert found[0].evidence["jump"] == pytest.approx(3.0, abs=2e-3)


def test_leaving_the_identified_range_is_said_once():
    stream, watcher = watched()
    times, values = stream.samples(0, 6000, np.random.default_rng(3))
    values[:, 0] += 0.5
    found = [each.event for each in run(watcher, times, values) if each.event.kind == "outside"]
    assert {event.subject for event in found} >= {"q1"}
    assert len([event for event in found if event.subject == "q1" and "position" in event.message]) == 1


def test_missing_values_and_infinite_ones_are_lost_samples():
    stream, watcher = watched()
    times, values = stream.samples(0, 5000, np.random.default_rng(3))
    values[1000, 2], values[1500, 0] = np.nan, np.inf
    run(watcher, times, values)
    status = watcher.status()
    assert (status["samples"], status["lost"], status["breaks"]) == (5000, 2, 0)


@pytest.mark.parametrize("piece", [30, 99, 1000])
def test_values_that_are_missing_for_long_are_an_event(piece):
    stream, watcher = watched()
    times, values = stream.samples(0, 3000, np.random.default_rng(3))
    values[1000:1099, 2] = np.nan  # not long enough: the gap is an event of its own
    values[2000:2500, 0] = np.nan
    found = [
        each.event for k in range(0, 3000, piece) for each in watcher.take(times[k : k + piece], values[k : k + piece])
    ]
    assert [event.kind for event in found] == ["clock", "data"]
    assert re.fullmatch(r"\d+ samples in a row have no number for q1", found[1].message)


def test_a_restored_watcher_finds_what_the_other_finds():
    stream, watcher = watched()
    times, values = faulty(stream, 20_000, 24_000, {stream.mass: 0.3})
    run(watcher, times[:17_123], values[:17_123])
    _, other = watched()
    other.restore(watcher.state())
    one, two = (run(each, times[17_123:], values[17_123:]) for each in (watcher, other))
    assert [each.event.line for each in one] == [each.event.line for each in two]
    assert len(one) == 2
    one, two = ({**each.status(), "set_restarts": 0} for each in (watcher, other))  # the set begins at the admitted box
    assert one == two


def test_options_are_refused():
    with pytest.raises(InputError, match="window must be a positive number"):
        WatchOptions(np.ones(2), window=0.0)
    with pytest.raises(InputError, match="at least 20 blocks"):
        WatchOptions(np.ones(2), learn=1.0)
    model = identified()[2]
    with pytest.raises(InputError, match="2 actuators need 2 error bounds"):
        Watcher(model, WatchOptions(np.ones(3)))


def test_limits_of_cumulative_sums_are_conservative_for_independent_scores():
    """The stated mean time to a false alarm is at least reached, for a short one that can be simulated."""
    limit, rng = limit_for(2000.0), np.random.default_rng(0)
    alarms = steps = 0
    for _ in range(20):
        z, s = rng.normal(size=20_000), 0.0
        for each in z:
            s = max(s + each - 0.5, 0.0)
            steps += 1
            if s > limit:
                alarms, s = alarms + 1, 0.0
    assert steps / max(alarms, 1) > 1500
    assert alarms > 100  # nor is it far too rare


def test_change_tests_adopt_a_change_and_find_its_return():
    rng = np.random.default_rng(2)
    tests = ChangeTests(2, [1, 1], learn=60, blocks=1e5)
    found = []
    for k in range(400):
        x = rng.normal(size=(50, 1, 2))
        size = np.array([0.5, 0.0]) if 150 <= k < 300 else np.zeros(2)
        block = Block(float(k), x @ size + rng.normal(size=(50, 1)), x, np.ones((50, 1)))
        change = tests.take(block)
        if change is not None:
            found.append((k, change.effect, change.size))
    assert [effect for _, effect, _ in found] == [0, 0]
    assert 150 < found[0][0] < 170
    assert found[0][2] == pytest.approx(0.5, abs=0.2)
    assert found[1][2] == pytest.approx(-0.5, abs=0.2)


def drifting(kind):
    """A truth that drifts at the stated rate, rows with errors up to their bound, and the set of each block."""
    rng, p, d = np.random.default_rng(4), 3, 0.02
    theta = rng.normal(size=p)
    unknowns = Unknowns(["a", "b", "c"], prior=Box(theta - 1, theta + 1.5))
    drift = np.full(p, d)
    one = InflatingEllipsoid(unknowns, drift) if kind == "ellipsoid" else WindowOfHulls(unknowns, drift, window=5.0)
    for k in range(120):
        time = 0.5 * k
        theta = theta + (0.5 * d if k else 0.0)  # always as fast as allowed
        W = rng.normal(size=(12, p))
        one.take(W, W @ theta + 0.1 * rng.choice([-1, 1], 12), np.full(12, 0.1 + 1e-12), time)
        yield theta, one.hull(time)


@pytest.mark.parametrize("kind", ["ellipsoid", "hulls"])
def test_sets_with_forgetting_never_lose_a_drifting_truth(kind):
    widths = []
    for theta, box in drifting(kind):
        assert ((box.lower <= theta) & (theta <= box.upper)).all()
        widths.append(box.width.max())
    assert widths[-1] < 0.5  # of 2.5, and though it grows all the time


def test_consistency_keeps_a_drifting_truth_and_refutes_a_faster_one():
    rng, d = np.random.default_rng(6), 0.05
    unknowns = Unknowns(["a", "b"], nominal=[1.0, 2.0], prior=Box([0.9, 1.9], [1.1, 2.1]))

    def found(speed):
        one = Consistency(unknowns, np.array([0.05]), ("motor",), window=5.0, drift=np.full(2, d))
        for k in range(600):
            time = 0.01 * k
            W = rng.normal(size=(1, 1, 2))
            y = W @ (np.array([1.0, 2.0]) + speed * time) + rng.uniform(-0.05, 0.05, (1, 1))
            mask = np.ones((1, 1), dtype=bool)
            none = np.zeros((1, 1))
            rows = Rows(np.array([k]), np.array([time]), y, W, np.abs(W), mask, mask[0], none, none, none)
            contradiction = one.take(rows, np.arange(2), np.zeros((1, 1)))
            if contradiction is not None:
                return contradiction
        return None

    assert found(d) is None
    proof = found(4 * d)
    assert check(proof.certificate, proof.problem).holds
    assert isinstance(proof.problem, LinearProblem)
    assert isinstance(proof.problem.noise, Bounded)


@pytest.mark.parametrize("kind", ["ellipsoid", "hulls"])
@pytest.mark.parametrize("began", [0.0, None, -20.0])
def test_the_admitted_box_grows_from_the_beginning_whenever_that_is(kind, began):
    """A watch may begin at the time 0, which is a time as any other."""
    unknowns, drift = Unknowns(["a"], prior=Box([0.0], [1.0])), np.array([0.1])
    new = InflatingEllipsoid if kind == "ellipsoid" else WindowOfHulls
    one = new(unknowns, drift, began=began, **({} if kind == "ellipsoid" else {"window": 5.0}))
    one.take(np.array([[1.0]]), np.array([0.5]), np.array([9.0]), 0.0)
    box = one.hull(50.0)
    assert box.lower[0] <= -5.0
    assert box.upper[0] >= 6.0


def test_parameters_drift_while_rows_are_masked():
    """A robot that stands still gives no rows, but its parameters may have moved when it starts again."""
    unknowns = Unknowns(["a"], nominal=[0.5], prior=Box([0.0], [1.0]))
    one = Consistency(unknowns, np.array([0.01]), ("motor",), window=10.0, drift=np.array([0.1]))
    none, unit = np.zeros((1, 1)), np.ones((1, 1, 1))

    def take(time, y, kept):
        mask = np.full((1, 1), kept)
        rows = Rows(np.array([0]), np.array([time]), np.full((1, 1), y), unit, unit, mask, mask[0], none, none, none)
        return one.take(rows, np.arange(1), none)

    assert take(0.0, 0.5, kept=False) is None
    assert take(100.0, 10.9, kept=True) is None  # from 1 at 0.1 a second
    assert take(101.0, 11.3, kept=True) is not None


def test_a_watch_begins_with_its_first_sample():
    stream, _, model = identified()
    drift = np.full(len(model.unknowns), 1e-6)
    bound = np.full(model.n, 1.0)
    watcher = Watcher(model, WatchOptions(bound, rate=1000.0, drift=drift, set="hulls"))
    times, values = stream.samples(0, 2000, np.random.default_rng(3))
    run(watcher, times + 7.0, values)
    assert watcher.consistency.began == 7.0
    hull, admitted = watcher.set.hull(107.0), model.unknowns.bounds
    assert (hull.upper >= admitted.upper + 100 * drift).all()


@pytest.mark.parametrize("share", [1e-2, 1e-17, 1e-200, 1e-300])
@pytest.mark.parametrize("scale", [[1.0, 1.0], [1e100, 1e-150]])
def test_an_inflating_ellipsoid_keeps_the_truth_at_any_scale(scale, share):
    rng, scale = np.random.default_rng(2), np.array(scale)
    theta = rng.uniform(-1, 1, 2) * scale
    drift = share * scale
    one = InflatingEllipsoid(Unknowns(["a", "b"], prior=Box(theta - scale, theta + scale)), drift, began=0.0)
    for k in range(1, 30):
        theta = theta + 0.3 * drift * rng.uniform(-1, 1, 2)
        W = rng.normal(size=(2, 2)) / scale
        y = W @ theta
        one.take(W, y, np.full(2, 1e-11), 0.3 * k)
        box = one.hull(0.3 * k)
        assert ((box.lower <= theta) & (theta <= box.upper)).all()


def test_first_moments_of_a_payload_on_a_platform_that_turns():
    """An eccentric mass on a 3-RRR: mass and both moments within twice their ±, and no alarm after the event."""
    stream = SimulatedStream(ThreeRRR(), amplitude=0.25, noise=0.02)
    dynamics = stream.identified(seconds=21.0)
    watcher = Watcher(WatchedModel.of(dynamics), WatchOptions(np.array(dynamics.bound), rate=1000.0, learn=12.0))
    truth = {"m_platform": 0.4, "sx_platform": 0.02, "sy_platform": -0.012}
    found = [each.event for each in run(watcher, *faulty(stream, 15_000, 40_000, truth))]
    [event] = [event for event in found if event.kind != "inconsistent"]
    assert event.kind == "payload"
    assert abs(event.evidence["change"] - 0.4) < 1.5 * event.evidence["error"] < 0.2  # moments are no part of the mass
    payload = watcher.payload()
    assert abs(payload.mass - 0.4) < 2 * payload.error < 0.1
    assert [name for name, _, _ in payload.moments] == ["sx_platform", "sy_platform"]
    for name, value, error in payload.moments:
        assert abs(value - truth[name]) < 2 * error
        assert error < 0.2 * abs(truth[name])
    assert payload.to_dict()["moments"]["sx_platform"]["unit"] == "kg·m"


def with_effects(dynamics, effects, values):
    """The identification with effects beside the robot's parameters, each known to ± 1e-3."""
    units = dict.fromkeys(values, "N·m")

    def extended(estimate):
        u = estimate.unknowns
        theta = np.append(estimate.value, list(values.values()))
        unknowns = Unknowns((*u.names, *values), (*u.units, *units.values()), theta)
        box = estimate.region.hull()
        more = np.array(list(values.values()))
        if estimate.claim is Claim.PROOF:
            region = Box(np.append(box.lower, more - 1e-3), np.append(box.upper, more + 1e-3))
        else:
            n = len(estimate.value)
            covariance = np.eye(len(theta)) * 1e-7
            covariance[:n, :n] = estimate.region.covariance
            region = ConfidenceEllipsoid(theta, covariance)
        return Estimate(region, estimate.claim, estimate.status, unknowns, estimate.method, Stats(1000))

    return replace(
        dynamics,
        columns=(*dynamics.columns, *values),
        estimates={title: extended(each) for title, each in dynamics.estimates.items()},
        effects=effects,
        effect_units=units,
        effect_reference=dict(zip(dynamics.robot.names, dynamics.robot_parameters().tolist(), strict=True)),
    )


def test_models_with_effects_of_one_instant_are_watched():
    """Offsets and Stribeck friction in the stream: silent with them in the model, alarms without; columns as fitted."""
    stream, dynamics, _ = identified()
    values = {"offset_1": 0.3, "offset_2": -0.2, "stribeck_1": 0.15, "stribeck_2": 0.1}
    effects = (effect_named("offset"), replace(effect_named("stribeck"), speeds=(0.5, 0.4)))
    known = with_effects(dynamics, effects, values)
    model = WatchedModel.of(known)
    assert set(values) <= set(model.names)

    motion = stream.motion(np.arange(300) / 100)
    W = model.regressor()(*motion)
    own = stream.robot.regressor(*motion)
    columns = effect_columns(known, motion, np.asarray(own @ known.robot_parameters()))
    for name in values:
        assert np.allclose(W[:, :, model.names.index(name)], columns[name], atol=1e-12)

    times, samples = stream.samples(0, 24_000, np.random.default_rng(5))
    q, dq, ddq = stream.motion(times)
    added = sum(values[name] * column for name, column in effect_columns(known, (q, dq, ddq), samples[:, 2:]).items())
    samples[:, 2:] += added
    options = WatchOptions(np.array(dynamics.bound), rate=1000.0, learn=12.0)
    assert run(Watcher(model, options), times, samples) == []
    without = run(Watcher(WatchedModel.of(dynamics), options), times, samples)
    assert "inconsistent" in {each.event.kind for each in without}


def test_effects_that_no_instant_shows_are_refused_and_payloads_of_recordings_left_out():
    _, dynamics, plain = identified()
    late = with_effects(dynamics, (effect_named("delay"),), {"delay_1": 0.002})
    with pytest.raises(InputError, match=r"a delay of the efforts.*depends on time or on the motion before.*--results"):
        WatchedModel.of(late)
    wrong = with_effects(dynamics, (effect_named("geometry"),), {"length": 0.002})
    with pytest.raises(InputError, match=r"which a watch cannot compute. State the dimension"):
        WatchedModel.of(wrong)
    loaded = with_effects(dynamics, (effect_named("payload"),), {"m_load in recording 2": 0.2})
    model = WatchedModel.of(loaded)
    assert model.names == plain.names
    assert model.unknowns.names == plain.unknowns.names
    assert np.array_equal(model.unknowns.bounds.upper, plain.unknowns.bounds.upper)


def test_few_rows_of_a_proof_are_checked_and_an_ulp_more_is_refused():
    """The certificate states the largest double that its rows prove: the next one is refused."""
    stream, watcher = watched()
    found = run(watcher, *faulty(stream, 20_000, 21_000, {stream.mass: 0.5}))
    part = next(each.contradiction for each in found if each.contradiction is not None)
    assert part.problem.n_rows <= len(part.problem.unknowns) + 1
    [step] = part.certificate.proof.steps
    more = replace(step, value=Fraction(float(np.nextafter(float(step.value), np.inf))))
    assert check(part.certificate, part.problem).holds
    assert not check(Certificate.of(part.problem, Empty((more,))), part.problem).holds
    weights = np.array([float(weight) for _, weight in step.weights])
    assert contradiction(part.problem, weights, part.times).factor == part.factor
    wide = replace(part.problem, noise=Bounded(part.problem.noise.radius * part.factor * (1 + 1e-12)))
    assert contradiction(wide, weights, part.times) is None  # the factor is sharp for these weights


def test_joint_estimates_cover_the_truth_and_say_what_the_motion_does_not_show():
    rng, truth, inside = np.random.default_rng(0), np.array([0.3, -0.1, 0.05]), []
    for _ in range(150):
        X = rng.normal(size=(80, 30, 3)) + 0.5 * rng.normal(size=(80, 30, 1))
        r = X @ np.array([0.02, 0.01, -0.03]) + rng.normal(size=(80, 30))  # the model errs while the tests learn
        r[60:] += X[60:] @ truth
        g, G = np.einsum("bri,br->bi", X, r), np.einsum("bri,brj->bij", X, X)
        joint = Joint(3)
        joint.learn(g[:60], G[:60])
        values, errors = joint.estimate(g[60:].sum(axis=0), G[60:].sum(axis=0), 20)
        inside.append(np.abs(values - truth) <= errors)
    assert 0.93 < np.mean(inside) < 0.995
    G = np.ones((3, 3)) + 1e-9 * np.eye(3)  # all three have the same efforts in the last blocks
    values, errors = joint.estimate(np.ones(3), G, 20)
    assert np.isfinite(errors).tolist() == [True, False, False]
    assert Joint(3).estimate(g[0], G, 1) is None  # nothing learned


def test_a_payload_that_is_there_from_the_beginning_is_learned_as_usual():
    """Hypothesis of the tests: what they learn is the state to compare with. The admitted box holds this one too."""
    stream, watcher = watched()
    found = run(watcher, *stream.samples(0, 25_000, np.random.default_rng(5), change={stream.mass: 0.3}))
    assert found == []
    payload = watcher.payload()
    assert abs(payload.mass) <= 2 * payload.error


def test_another_recording_is_no_jump_of_the_clock():
    """Times that restart or leave a gap are an event within a recording, and none where another one begins."""
    stream = SimulatedStream(rate=500.0)
    model, rng = stream.model(), np.random.default_rng(3)
    bound = np.array(stream.identified().bound)
    for start in (0.0, 9.0):
        for is_new in (False, True):
            watcher = Watcher(model, WatchOptions(bound, rate=500.0, learn=12.0))
            times, values = stream.samples(0, 2000, rng)
            assert not watcher.take(times, values, is_new=True)
            found = watcher.take(start + times, values, is_new=is_new)
            assert [each.event.kind for each in found] == ([] if is_new else ["clock"])
            assert watcher.status()["lost"] == (2500 if start == 9.0 and not is_new else 0)
            assert watcher.n_received == 4000
