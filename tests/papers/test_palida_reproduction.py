"""`gough reproduce palida`: Table I exactly, a small campaign, section V, and what is refused."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from gough.campaigns import Interrupted
from gough.cli import reproduce as command
from gough.cli.app import run
from gough.control import DesiredMotion
from gough.papers.closed_loop import can_be_controlled, numbers
from gough.papers.palida import control as palida_control
from gough.papers.palida import paper as palida
from gough.papers.palida import printed as palida_printed
from gough.papers.palida import robot as palida_robot
from gough.papers.palida import tables as palida_tables
from gough.papers.palida import text as palida_words
from gough.papers.palida.printed import TABLES, value
from gough.papers.palida.robot import ML, STATISTICAL, Designed, Repetition, Size, base_model, campaigns
from gough.robots import Palida, PalidaGeometry
from gough.simulate import FourierSeries

REPOSITORY = Path(__file__).parents[2]
needs_control = pytest.mark.skipif(not can_be_controlled(), reason="needs MuJoCo and a C compiler")
SMALL = Size(harmonics=2, readings=420, periods=3, orders=(2, 3), turns=4)
"""More than 400 readings: mechanisms evaluate fewer without compiled kernels, which takes longer."""
FILES = {"reproduction.html", "reproduction.txt", "reproduction.json", "gough-manifest.json", "figures"}
KEYS = {"exact": "D-optimal, exact lengths, GM, 25 Hz", "noisy": "D-optimal, LS, 25 Hz"}
FIGURES = ["2-trajectory", "4-noise", "5-covariances", "6-designs", "7-model-error"]


def motion(seed):
    limits = {"amplitude": [0.15, 0.15, 0.12, 0.4, 0.4, 0.4], "velocity": [1.0, 1.0, 1.0, 3.0, 3.0, 3.0]}
    rng = np.random.default_rng(seed)
    return FourierSeries.random(rng, offset=base_model().robot.home, frequency=0.5, n_harmonics=2, **limits)


def some_designs(*_):
    """Random motions in the place of designed ones, which take their time."""
    criteria = dict.fromkeys(("D", "condition", "scaled condition"), 1.0)
    return {name: Designed(motion(k), criteria, 2.0) for k, name in enumerate(palida_robot.DESIGNS)}


def beginning(motion_, n=150):
    """The first instants of a motion."""
    joints, pose = (type(part)(*(each[:n] for each in part)) for part in (motion_.joints, motion_.pose))
    return DesiredMotion(motion_.name, motion_.rate, joints, pose)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The command with few repetitions of small experiments: its exit code, folder, steps."""
    folder, steps, whole = tmp_path_factory.mktemp("palida") / "out", [], palida_control.circle

    def small(seed, on_step, **options):
        return palida.reproduce(seed, lambda s: (steps.append(s), on_step(s)), **options, size=SMALL)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(palida, "designs", some_designs)
        patched.setattr(palida_control, "circle", lambda model: beginning(whole(model)))
        patched.setattr(command, "PAPERS", {"palida": small})
        code = run(["reproduce", "palida", "--repetitions", "2", "--out", str(folder)])
    return code, folder, steps


@pytest.fixture(scope="module")
def found(done):
    return json.loads((done[1] / "reproduction.json").read_text(encoding="utf-8"))


def table(found, caption):
    return next(each for each in found["tables"] if each["caption"].startswith(caption))


def test_table_one_is_computed_exactly():
    model = base_model()
    shown = palida_tables.table_1(model)
    assert [row[0] for row in shown.texts] == list(TABLES)
    assert {row[4] for row in shown.texts} == {"yes"}
    assert model.identifiability.rank == 24
    assert sorted(model.place(symbol)[0] for symbol in TABLES) == list(range(24))
    for symbol, row in TABLES.items():
        place, away = model.place(symbol)
        assert away < 1e-12
        if row.has_prior:
            assert model.truth[place] == pytest.approx(value(row.prior), abs=5e-4)  # half of the last printed digit


def test_another_combination_is_not_called_the_same():
    base = base_model()
    other = Palida(PalidaGeometry(platform=0.12))
    model = palida_robot.BaseModel(other, base.identifiability, base.robot, base.truth)
    same = {row[0]: row[4] for row in palida_tables.table_1(model).texts}
    assert same["p_8"].startswith("off by 0.0")  # Σ(x²+y²) of other joints
    assert same["p_10"] == "yes"


def test_what_the_printed_numbers_contradict():
    lines = palida_printed.inconsistencies()
    assert "9 of 24" in lines[0]
    assert "by 11.8 σ_s for p_1, 12.4 σ_s for p_2 and 7.9 σ_s for p_3" in lines[1]
    assert any("562.8 N² exceeds 547.2 N² for actuator 5" in line for line in lines)
    assert any("9 of 12 cases" in line for line in lines)


def test_the_command_writes_all_files(done):
    code, folder, _ = done
    assert code == 0
    names = {path.name for path in folder.iterdir() if not path.name.startswith("campaign-")}
    assert names == FILES
    assert len(list(folder.glob("campaign-*.jsonl"))) == 4
    for name in FIGURES:
        assert (folder / "figures" / f"figure-{name}.png").read_bytes()[1:4] == b"PNG"
        assert (folder / "figures" / f"figure-{name}.svg").exists()


def test_all_tables_are_there_and_agree_with_the_numbers(found):
    captions = [each["caption"] for each in found["tables"]]
    for part in (
        "Table I.",
        "Trajectories",
        "Table II.",
        "Designs compared",
        "Table III.",
        "Bias",
        "What biases",
        "Coverage",
        "Section V.",
    ):
        assert sum(caption.startswith(part) for caption in captions) == 1
    for each in found["tables"]:
        assert all(len(row) == len(each["heads"]) for row in each["rows"])
    assert len(table(found, "What biases")["rows"]) == 8 + 4 + 2
    assert table(found, "Table II.")["rows"][5][:3] == ["p_6", "1.8·10⁻³", "1.6·10⁻³"]  # as printed
    assert table(found, "Table III.")["rows"][3][:5] == ["p_4", "0.440", "0.622", "0.578", "0.579"]
    assert [row[0] for row in table(found, "Table II.")["rows"]] == list(TABLES)
    numbers = found["numbers"]
    place = {symbol: name for name, symbol in numbers["symbols"].items()}
    heads = table(found, "Table III.")["heads"]
    for row in table(found, "Table III.")["rows"]:
        mean = numbers["spreads"]["D-optimal, ML"]["mean"][place[row[0]]]
        assert float(row[heads.index("ML")]) == pytest.approx(mean, rel=0.1, abs=0.01)


def test_maximum_likelihood_is_honest_where_least_squares_is_not(found):
    spreads = found["numbers"]["spreads"]
    ml, ls = spreads["D-optimal, ML"], spreads["D-optimal, LS, 25 Hz"]
    assert ml["chi_squared"] == pytest.approx(1.0, abs=0.1)
    assert np.mean(list(ml["coverage"].values())) > 0.85 > np.mean(list(ls["coverage"].values()))
    assert ml["failures"] == []
    assert found["numbers"]["order"] == 2


def test_what_biases_is_measured_and_said_only_where_the_numbers_show_it(found):
    numbers = found["numbers"]
    assert tuple(found["about"]) == palida_words.about(numbers)
    assert tuple(found["differences"]) == palida_words.differences(numbers)
    assert numbers["cut_off"]["advised"]["D-optimal"] == 5.0  # five times the second harmonic of 0.5 Hz
    noise = numbers["cut_off"]["acceleration_noise"]
    assert 30 < noise["LS, 25 Hz"] / noise["LS"] < 100  # white noise: (25 / 5)^2.5 = 56
    cause = "comes from the noise of the strut lengths"
    told = json.dumps(numbers)

    def said(**unbiased):
        changed = json.loads(told)
        for key, is_unbiased in unbiased.items():
            changed["spreads"][KEYS[key]]["bias"]["is_unbiased"] = is_unbiased
        return cause in " ".join(palida_words.differences(changed))

    assert said(exact=True, noisy=False)
    assert not said(exact=False, noisy=False)
    changed = json.loads(told)
    changed["spreads"]["D-optimal, LS, 25 Hz"]["bias"]["largest_in_sd"] = 77.77
    assert "they are 77.77 and" in " ".join(palida_words.differences(changed))


def test_the_verdict_names_the_drives_that_cog(found):
    benchmark = found["numbers"]["benchmark"]
    for motion_ in ("circle", "mirrored"):
        bias = benchmark[f"without cogging, {motion_}"]["bias"]
        assert [k for k, word in enumerate(bias, start=1) if word == "large"] == [3, 4]
        assert "large" not in benchmark[f"with cogging, {motion_}"]["bias"]
    assert any("is biased for drive 3 and drive 4. Drive 3" in line for line in found["differences"])
    words = " ".join(benchmark["without cogging, circle"]["verdicts"])
    assert "a ripple of period 0.036" in words


def test_the_documented_page_belongs_to_this_code():
    """Its sentences are made of its numbers, and those of its first repetition are found again."""
    stored = json.loads((REPOSITORY / "docs" / "reproductions" / "palida.json").read_text(encoding="utf-8"))
    numbers = stored["numbers"]
    assert stored["command"] == "gough reproduce palida --full"
    assert numbers["repetitions"] == palida_printed.REPETITIONS
    assert tuple(stored["about"]) == palida_words.about(numbers)
    assert tuple(stored["differences"]) == palida_words.differences(numbers)
    assert tuple(stored["inconsistencies"]) == palida_printed.inconsistencies()
    repetition = Repetition(FourierSeries(**numbers["series"][STATISTICAL]))
    first = repetition(np.random.default_rng([1, 0]))
    for label, cut_off in (("LS", None), ("LS, 25 Hz", 25.0)):
        noise = repetition.acceleration_noise(first, cut_off)
        assert noise == pytest.approx(numbers["cut_off"]["acceleration_noise"][label], rel=1e-6)
    bound = np.sqrt(repetition.bound(numbers["order"]).diagonal())
    assert bound == pytest.approx(list(numbers["cramer_rao_sd"].values()), rel=1e-6)


@needs_control
def test_feedforward_of_the_small_run_is_told(found):
    loop = found["numbers"]["closed_loop"]
    assert loop["impossible_bodies"] == 6
    runs = loop["runs"]
    labels = [row[0] for row in table(found, "Feedforward on the circle")["rows"]]
    assert labels == list(runs) == ["pd", *(f"feedforward, {name}" for name in palida_control._WORDS)]
    assert 10 * runs["feedforward, ML"]["rms_distance"] < runs["pd"]["rms_distance"]
    assert "feedforward-on-the-circle" in found["figures"]


@needs_control
def test_the_documented_circle_in_closed_loop_is_computed_again():
    """Under PD, the a-priori values, least squares of the first repetition, and the truth."""
    stored = json.loads((REPOSITORY / "docs" / "reproductions" / "palida.json").read_text(encoding="utf-8"))
    runs, series = stored["numbers"]["closed_loop"]["runs"], FourierSeries(**stored["numbers"]["series"][STATISTICAL])
    assert stored["numbers"]["closed_loop"]["p_2"] > stored["numbers"]["closed_loop"]["p_3"]
    assert runs["feedforward, true"]["rms_distance"] < runs["feedforward, ML"]["rms_distance"]
    first = Repetition(series)(np.random.default_rng([1, 0]))
    estimates = {"LS": palida_robot.least_squares(first), "ML": palida_robot.least_squares(first)}
    again = numbers(palida_control.followed_circle(base_model(), series, estimates))
    for label in ("pd", f"feedforward, {palida_control.PRIOR}", "feedforward, LS", "feedforward, true"):
        for key in ("rms_distance", "largest_distance", "peak_effort"):
            assert again[label][key] == pytest.approx(runs[label][key], rel=0.02), (label, key)


def test_progress_rises_to_its_end(done):
    steps = done[2]
    numbers = [step.number for step in steps]
    assert numbers == sorted(numbers)
    assert all(1 <= step.number <= step.of for step in steps)
    assert "4 of 4" in " ".join(step.what for step in steps)


def test_the_bound_is_what_maximum_likelihood_attains():
    repetition = Repetition(motion(0), readings=420, periods=3)
    answer = palida_robot.maximum_likelihood(repetition(np.random.default_rng(1)), order=2)
    bound = np.sqrt(repetition.bound(2).diagonal())
    assert np.median(answer.region.sigma / bound) == pytest.approx(1.0, abs=0.1)


def test_campaigns_travel_to_other_processes_and_are_told_apart():
    experiments = {name: Repetition(motion(k)) for k, name in enumerate(palida_robot.DESIGNS)}
    one, two = (campaigns(experiments, order=2, repetitions=2, seed=seed)["estimators"] for seed in (1, 2))
    assert pickle.loads(pickle.dumps(one)).digest == one.digest != two.digest
    assert len(pickle.dumps(one)) < 10_000  # no kernels travel
    assert ML in one.estimators


def test_designs_are_kept_and_taken_from_the_folder(tmp_path, monkeypatch):
    calls = []

    def search(_, seed, __, name, criterion):
        calls.append((name, criterion, seed))
        return {"series": palida_robot.plain_series(motion(len(calls))), "criteria": {"D": 1.0}, "first": 3.0}

    monkeypatch.setattr(palida_robot, "_searched", search)
    once = palida_robot.designs(1, SMALL, tmp_path, lambda *_: None)
    again = palida_robot.designs(1, SMALL, tmp_path, lambda *_: None)
    assert [call[1:] for call in calls] == [("D", 1), ("condition", 1), ("scaled condition", 1)]
    assert np.array_equal(once[STATISTICAL].series.mu, again[STATISTICAL].series.mu)
    palida_robot.designs(2, SMALL, tmp_path, lambda *_: None)
    assert len(calls) == 6


def stopped(*_, folder, **__):
    raise Interrupted(3, 80, folder / "campaign.jsonl")


def test_who_stops_it_is_told_where_it_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "PAPERS", {"palida": stopped})
    assert run(["reproduce", "palida", "--out", str(tmp_path / "kept")]) == 130
    told = " ".join(capsys.readouterr().err.split())
    assert "3 of 80 tasks are done" in told
    assert "Run the same command again to resume." in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["palida", "--repetitions", "1"], "'--repetitions'"),
        (["palida", "--workers", "0"], "'--workers'"),
        (["palida", "--full", "--repetitions", "5"], "contradict each other"),
        (["par4", "--full"], "par4 repeats no experiment: leave --full out"),
        (["par4", "--workers", "2"], "leave --workers out"),
        (["par4", "--cluster", "dask"], "leave --cluster out"),
        (["palida", "--cluster", "10.0.0.1"], "--cluster 10.0.0.1 is no cluster"),
        (["palida", "--out", "{folder}"], "holds 'thesis.tex', which gough did not write"),
        (["palda"], "did you mean 'palida'?"),
    ],
)
def test_bad_input_is_refused_in_words(arguments, words, tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    given = [text.format(folder=tmp_path) for text in arguments]
    assert run(["reproduce", *given]) == 2
    assert words in " ".join(capsys.readouterr().err.replace("│", "").split())


def test_a_ledger_that_is_none_is_refused(tmp_path, monkeypatch, capsys):
    target = tmp_path / "out"
    target.mkdir()
    monkeypatch.setattr(palida_robot, "digest", lambda _: "0123456789abcdef")
    (target / "campaign-designs-01234567.jsonl").write_text("notes\n", encoding="utf-8")
    assert run(["reproduce", "palida", "--out", str(target)]) == 2
    assert "is not the file of a campaign" in capsys.readouterr().err
