"""The campaign of PaLiDA: its motion keeps the limits, its demo finds the truth, motions that leave are refused."""

from dataclasses import replace

import numpy as np
import pytest

from gough.cli import demo
from gough.cli.app import run
from gough.core.errors import InputError
from gough.papers.demonstration import demonstrate, simulate, simulate_repeats
from gough.report import report_on
from gough.report.base.words import in_sigma
from gough.simulate import DEMOS, FourierSeries, PeriodicCampaign, palida, palida_excitation

SHORT = {"periods": 4, "rate": 100.0}


@pytest.fixture(scope="module")
def campaign():
    return palida(np.random.default_rng(1), **SHORT)


@pytest.fixture(scope="module")
def done():
    return demonstrate("palida", seed=1, **SHORT)


def test_the_designed_motion_keeps_the_limits_of_the_robot(campaign):
    robot = campaign.robot
    _, x, dx, ddx = palida_excitation().sample(1000.0)
    q, dq, _ = robot.joint_motion(x, dx, ddx)
    assert q.min() >= 0.65
    assert q.max() <= 1.15
    assert abs(dq).max() <= 1.2
    assert abs(robot.regressor_kernel()(x, dx, ddx) @ robot.nominal).max() <= 230.0
    assert (robot.margin(x) / robot.margin(robot.home)).min() >= 0.49


def test_a_campaign_is_of_one_robot_and_of_its_seed(campaign):
    assert isinstance(campaign, PeriodicCampaign)
    assert DEMOS["palida"].is_periodic
    assert 0.07 < np.log(campaign.truth / campaign.robot.nominal).std() < 0.3
    for other in campaign.validation.values():
        np.testing.assert_array_equal(other.truth, campaign.truth)
        assert other.series != campaign.experiment.series
    first, again, another = (simulate_repeats("palida", seed=seed, **SHORT)[1] for seed in (7, 7, 8))
    assert first == again
    assert first != another
    assert first.noise.sigma[:6] == pytest.approx(5e-4, rel=0.2)
    with pytest.raises(InputError, match="one of repeats"):
        simulate("palida", seed=1)
    with pytest.raises(InputError, match="repeats no motion"):
        simulate_repeats("h4", seed=1)


def test_maximum_likelihood_finds_the_truth_and_circles_agree(done):
    found = done.identified
    truth = report_on("", (), found, done.truth).truth
    assert found.identifiability.rank == 24
    assert found.order.order == 5
    assert abs(in_sigma(found.likeliest, truth)).max() < 4
    assert not found.is_refuted
    assert list(found.benchmarks) == ["circle", "mirrored circle"]
    assert "10⁻" not in done.about
    assert "4 times through a D-optimal motion of 2 s" in done.about


def test_the_command_line_shows_it(done, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(demo, "demonstrate", lambda *_, **__: done)
    monkeypatch.setattr(demo, "documents", lambda _: {"report.json": b"{}\n"})
    monkeypatch.setenv("COLUMNS", "100")
    assert run(["demo", "palida", "--out", str(tmp_path / "out")]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for words in (
        "A simulated PaLiDA has 33 dynamic parameters",
        "16 single parameters and 8 combinations",
        "Ixx_E* = Ixx_E + Σ(y²+z²)·m_3",
        "On the motion “mirrored circle” the model is unbiased for every actuator",
        "Maximum likelihood:",
    ):
        assert words in told
    assert run(["demo", "palida", "--out", str(tmp_path / "out"), "--json"]) == 0
    assert capsys.readouterr().out == "{}\n"


def test_the_complete_mechanism_is_there_already(tmp_path, capsys):
    assert run(["demo", "palida", "--full", "--out", str(tmp_path / "out")]) == 2
    assert "is the complete mechanism already" in " ".join(capsys.readouterr().err.split())
    assert run(["demo", "palda", "--out", str(tmp_path / "out")]) == 2
    assert "did you mean 'palida'?" in " ".join(capsys.readouterr().err.split())


def along_z(robot, way):
    """A motion of one harmonic that leaves home by `way` along a coordinate."""
    k, size = way
    nu = np.zeros((6, 1))
    nu[k] = -2 * np.pi * 0.5 * size
    return FourierSeries(robot.home, np.zeros((6, 1)), nu, frequency=0.5)


@pytest.mark.parametrize(
    ("way", "words"),
    [((2, 2.0), "singular|out of reach"), ((5, 2.5), "singular|beyond a singularity"), ((0, 30.0), "sample 0")],
    ids=["leaves the workspace", "turns through a singularity", "far away"],
)
def test_a_motion_that_leaves_or_crosses_a_singularity_is_refused(campaign, way, words):
    astray = replace(campaign.experiment, series=along_z(campaign.robot, way))
    with pytest.raises(InputError, match=words):
        astray.run(np.random.default_rng(1))
