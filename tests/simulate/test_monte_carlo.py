"""Campaigns: the same results in one piece, in pieces, in threads and in processes."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from gough import EstimationError, InputError, LinearProblem, Unknowns, estimate
from gough.campaigns import Ledger, digest
from gough.core.progress import Progress
from gough.methods import LeastSquares
from gough.simulate import MonteCarlo
from gough.simulate.spread import binomial_interval

TRUTH = {"a": 1.0, "b": -2.0}


@dataclass(frozen=True)
class Line:
    """y = a x + b with noise; a callable value."""

    sigma: float = 0.1
    n: int = 200

    def __call__(self, rng):
        x = np.linspace(-1, 1, self.n)
        y = TRUTH["a"] * x + TRUTH["b"] + self.sigma * rng.normal(size=self.n)
        return LinearProblem(np.column_stack([x, np.ones(self.n)]), y, Unknowns(["a", "b"]))


def least_squares(problem):
    return estimate(problem, LeastSquares())


def shifted(problem, by):
    """An estimator with a bias."""
    return estimate(LinearProblem(problem.W, problem.y + by, problem.unknowns), LeastSquares())


def often_failing(problem):
    if problem.y[0] > -3:
        raise InputError("too large")
    return least_squares(problem)


def slow(problem):
    time.sleep(0.05)
    return least_squares(problem)


def campaign(repetitions=20, **changes):
    parts = {
        "designs": {"rough": Line(), "fine": Line(0.01)},
        "estimators": {"LS": least_squares, "shifted": partial(shifted, by=0.1)},
        "truth": TRUTH,
    }
    return MonteCarlo(**{**parts, **changes}, repetitions=repetitions)


def test_summary_of_a_sound_and_of_a_biased_estimator():
    found = campaign(150, designs={"rough": Line()}).run()
    sound, biased = found.spread("rough", "LS"), found.spread("rough", "shifted")
    assert abs(sound.bias_in_sd).max() < 0.25
    assert sound.sigma == pytest.approx(sound.sd, rel=0.2)
    low, high = sound.coverage_interval()
    assert low < 0.95 < high
    assert sound.coverage.min() > 0.88
    assert biased.bias[1] == pytest.approx(0.1, abs=0.01)
    assert biased.joint_coverage < 0.1
    assert "more than chance" in biased.verdict
    assert "no more than chance" in sound.verdict
    assert str(found).count("rough") == 6  # two estimators: two rows and a verdict each


def test_executors_and_interruptions_change_nothing(tmp_path):
    whole = campaign(12).run()
    with ThreadPoolExecutor(3) as threads:
        assert campaign(12).run(executor=threads).results == whole.results
    assert campaign(12).run(workers=2).results == whole.results
    path = tmp_path / "campaign.jsonl"
    campaign(5).run(path)
    text = path.read_bytes()
    path.write_bytes(text[:-40])  # a kill in the middle of a line
    seen = []
    resumed = campaign(12).run(path, on_progress=seen.append)
    assert resumed.results == whole.results
    assert seen[0] == Progress(9, 24)
    assert seen[-1] == Progress(24, 24)
    again = []
    assert campaign(12).run(path, on_progress=again.append).results == whole.results
    assert again == [Progress(24, 24)]


def test_a_killed_process_loses_nothing_that_was_appended(tmp_path):
    path = tmp_path / "campaign.jsonl"
    code = f"from tests.simulate.test_monte_carlo import *\ncampaign(400, estimators={{'LS': slow}}).run({str(path)!r})"
    child = subprocess.Popen([sys.executable, "-c", code])
    for _ in range(600):
        time.sleep(0.05)
        if path.exists() and path.read_bytes().count(b"\n") > 5:
            break
    child.send_signal(signal.SIGKILL)
    child.wait()
    lines = path.read_bytes().count(b"\n")
    assert lines > 5
    begun = []
    campaign(4, estimators={"LS": slow}).run(path, on_progress=begun.append)
    assert begun[0].done >= 4
    assert path.read_bytes().count(b"\n") >= lines


def test_files_of_others_are_refused_and_kept(tmp_path):
    path = tmp_path / "campaign.jsonl"
    campaign(2).run(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"another configuration.*Delete it, or give another name"):
        campaign(2, seed=1).run(path)
    with pytest.raises(InputError, match="another configuration"):
        campaign(2, designs={"rough": Line(0.2), "fine": Line(0.01)}).run(path)
    assert path.read_bytes() == before
    notes = tmp_path / "notes.txt"
    notes.write_text("precious, without a line end")
    with pytest.raises(InputError, match="not the file of a campaign"):
        campaign(2).run(notes)
    assert notes.read_text() == "precious, without a line end"
    path.write_bytes(before + b'{"key": 3\n')
    with pytest.raises(InputError, match="line 6 is not a result"):
        campaign(2).run(path)
    with pytest.raises(InputError, match="there is no folder"):
        campaign(2).run(tmp_path / "nowhere" / "a.jsonl")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="file locks are those of POSIX")
def test_two_campaigns_cannot_write_to_one_file(tmp_path):
    path = tmp_path / "a.jsonl"
    with Ledger(path, "x"), pytest.raises(InputError, match="in use by another process"):
        Ledger(path, "x")
    with Ledger(path, "x") as ledger:
        ledger.append("one", [1.0, None])
    assert [json.loads(line) for line in path.read_text().splitlines()][1] == {"key": "one", "result": [1.0, None]}


def test_failures_are_counted_not_hidden():
    found = campaign(60, estimators={"moody": often_failing}).run()
    spread = found.spread("rough", "moody")
    assert spread.n + len(spread.failures) == 60
    assert len(spread.failures) > 10
    assert "failed, the first: too large" in spread.verdict
    with pytest.raises(InputError, match="no repetition gave an estimate"):
        campaign(2, estimators={"never": raising}).run().spread("rough", "never")
    with pytest.raises(InputError, match="no estimator is called 'Ls'"):
        found.spread("rough", "Ls")
    with pytest.raises(InputError, match="none of the estimated unknowns"):
        campaign(1, truth={"mass": 1.0}).run()


def raising(problem):
    raise EstimationError(least_squares(problem))


def made(source):
    scope = {"__name__": "made"}
    exec(source, scope)
    return scope["f"]


def test_functions_are_told_apart_by_what_they_do():
    sources = [
        "def f(x): return x + 1",
        "def f(x): return x + 2",
        "def f(x, k=1): return x + 1",
        "def f(x, k=2): return x + 1",
        "def f(x, *, k=2): return x + 1",
        "def f(x): return x.y + 1",
        "def f(x): return [v + 1 for v in x]",
        "def f(x): return [v + 2 for v in x]",
        "def f(n):\n def g(x): return x + n\n return g\nf = f(1)",
        "def f(n):\n def g(x): return x + n\n return g\nf = f(2)",
    ]
    assert len({digest(made(source)) for source in sources}) == len(sources)
    assert digest(made("# moved\n\ndef f(x):\n    return x + 1  # a remark")) == digest(made(sources[0]))


def test_digests_tell_configurations_apart():
    assert campaign(3).digest == campaign(7).digest
    others = [
        campaign(seed=1),
        campaign(truth={"a": 1.0, "b": 2.0}),
        campaign(estimators={"LS": partial(shifted, by=0.2)}),
        campaign(estimators={"LS": LeastSquares(level=0.9).estimate}),
    ]
    assert len({other.digest for other in [campaign(), *others]}) == 5
    assert digest(np.arange(3)) != digest(np.arange(3.0))
    with pytest.raises(InputError, match="frozen value"):
        digest(iter([]))


def test_binomial_interval_is_that_of_the_definition():
    from scipy.stats import binom

    low, high = binomial_interval(380, 400, 0.95)
    assert binom.sf(379, 400, low) == pytest.approx(0.025)
    assert binom.cdf(380, 400, high) == pytest.approx(0.025)
    assert binomial_interval(0, 10, 0.95)[0] == 0
    assert binomial_interval(10, 10, 0.95)[1] == 1
