"""Studies of repeats: read as periods or as runs, with units and mechanisms, and everything that can be wrong."""

import json
from dataclasses import replace

import numpy as np
import pytest

from gough.cli.app import run
from gough.core.errors import InputError
from gough.data import Recording, write_recording
from gough.robots import ROBOTS, FiveBar, Hexapod, Palida, ThreeRRR
from gough.simulate import FourierSeries, PeriodicExperiment
from gough.studies import IdentificationStudy
from gough.studies.robots import robot
from gough.studies.scaffold import repeated_study_text

PERIODS = 6
STUDY = """\
[robot]
family = "five-bar"

[repeats]
period = "2 s"
skip = 0

[data]
[[data.recordings]]
file = "recording.csv"

[[data.validation]]
file = "other.csv"
period = "1 s"

[data.units]
q1 = "rad"

[efforts]
channels = ["T1", "T2"]
"""


def experiment(n_harmonics=2, frequency=0.5, seed=1):
    rng, of = np.random.default_rng(seed), FiveBar()
    series = FourierSeries.random(rng, offset=[2.0, 1.1], amplitude=0.5, frequency=frequency, n_harmonics=n_harmonics)
    return PeriodicExperiment(of, series, rate=100.0, periods=PERIODS, positions=1e-3, efforts=0.1)


@pytest.fixture(scope="module")
def motions():
    rng = np.random.default_rng(2)
    return experiment().run(rng), experiment(1, 1.0, seed=3).run(rng)


@pytest.fixture
def study(tmp_path, motions):
    for name, motion in zip(("recording.csv", "other.csv"), motions, strict=True):
        write_recording(tmp_path / name, motion.recording(["T1", "T2"]))
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def changed(study, *changes):
    text = study.read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    study.write_text(text)
    return IdentificationStudy.read(study)


def refused(study, *changes):
    with pytest.raises(InputError) as error:
        changed(study, *changes).identify()
    return " ".join(str(error.value).split())


def test_a_recording_is_cut_into_periods_and_all_estimators_stand_beside_each_other(study, motions):
    asked = IdentificationStudy.read(study)
    assert asked.repeated_motion().q == pytest.approx(motions[0].q, abs=1e-12)
    steps = []
    found = asked.identify(steps.append)
    assert list(found.benchmarks) == ["other"]
    assert found.benchmarks["other"].order == 1
    assert found.order.order == 2
    assert len(found.estimates) == 6
    assert [step.number for step in steps] == list(range(1, 7))
    assert steps[-1].of == 6
    assert not found.is_refuted


def test_files_without_a_period_are_repeats_of_each_other(study, motions):
    for k in range(PERIODS):
        write_recording(study.parent / f"run{k}.csv", motions[0].select([k]).recording(["T1", "T2"]))
        write_recording(study.parent / f"check{k}.csv", motions[1].select([k]).recording(["T1", "T2"]))
    runs = "\n\n[[data.recordings]]\n".join(f'file = "run{k}.csv"' for k in range(PERIODS))
    checks = "\n\n[[data.validation]]\n".join(f'file = "check{k}.csv"' for k in range(PERIODS))
    asked = changed(
        study,
        ('period = "2 s"\nskip = 0\n', ""),
        ('file = "recording.csv"', runs),
        ('file = "other.csv"\nperiod = "1 s"', checks),
    )
    assert asked.repeated_motion().q == pytest.approx(motions[0].q, abs=1e-12)
    (others,) = asked.validation_motions().values()
    assert others.n_repeats == PERIODS
    study.write_text(study.read_text().replace('file = "check0.csv"', 'file = "check0.csv"\nmotion = "mirror"'))
    assert {name: one.n_repeats for name, one in IdentificationStudy.read(study).validation_motions().items()} == {
        "mirror": 1,
        "the validation motion": PERIODS - 1,
    }


def test_repeats_of_different_length_are_refused_with_files_and_lengths(study, motions):
    for name, n in (("long.csv", 200), ("short.csv", 190)):
        part = replace(motions[0], q=motions[0].q[:1, :n], efforts=motions[0].efforts[:1, :n])
        write_recording(study.parent / name, part.recording(["T1", "T2"]))
    both = 'file = "long.csv"\n\n[[data.recordings]]\nfile = "short.csv"'
    said = refused(study, ('period = "2 s"\nskip = 0\n', ""), ('file = "recording.csv"', both))
    assert "short.csv has 190 samples, but" in said
    assert "long.csv has 200: repeats are compared instant by instant" in said


def test_the_ways_into_and_out_of_the_motion_are_left_out(study, motions):
    whole = motions[0].recording(["T1", "T2"])
    rows = np.concatenate([whole.samples[:37], whole.samples, whole.samples[:55]])
    write_recording(study.parent / "recording.csv", replace(whole, samples=rows, start=3.0), overwrite=True)
    part = 'file = "recording.csv"\nbegin = "370 ms"\nend = '
    asked = changed(study, ('file = "recording.csv"', f"{part}{0.37 + 2 * PERIODS}"))
    assert asked.repeated_motion().q == pytest.approx(motions[0].q, abs=1e-12)
    said = refused(study, (f"end = {0.37 + 2 * PERIODS}", 'end = "99 s"'))
    assert "[data.recordings] end: the recording lasts" in said
    assert "there is no part of it from 0.37 s to 99 s" in said


def test_units_of_the_files_are_converted(study, motions):
    recording = motions[0].recording(["T1", "T2"])
    degrees = replace(
        recording, samples=recording.samples * [np.degrees(1), np.degrees(1), 1, 1], units=("deg", "deg", "N·m", "N·m")
    )
    write_recording(study.parent / "recording.csv", degrees, overwrite=True)
    asked = changed(study, ('q1 = "rad"', 'q1 = "deg"\nq2 = "deg"'))
    assert asked.repeated_motion().q == pytest.approx(motions[0].q, abs=1e-12)


def test_stated_noise_and_fixed_parameters_count(study, motions):
    q = np.repeat(motions[0].q.mean(axis=0)[None], PERIODS, axis=0)  # an encoder too coarse to show any noise
    write_recording(study.parent / "recording.csv", replace(motions[0], q=q).recording(["T1", "T2"]), overwrite=True)
    assert "channel 'q1' is the same in all repeats" in refused(study)
    fixed = "\n[unknowns.fv_1]\nfixed = 0.08\n"
    asked = changed(
        study,
        ("skip = 0", 'skip = 0\nsigma_positions = ["1 mrad", 1e-3]\norders = [2]'),
        ('file = "other.csv"\nperiod = "1 s"\n', 'file = "other.csv"\nperiod = "1 s"\n' + fixed),
    )
    found = asked.identify()
    assert found.noise is None
    assert found.verdicts[0].startswith("Not stated in [robot.geometry], taken from the library: base = 200 mm")
    assert "not tested" in found.verdicts[1]
    assert found.fixed == {"fv_1": 0.08}
    assert "fv_1" not in found.likeliest.unknowns.names
    assert len({e.unknowns.names for e in found.estimates.values()}) == 1
    assert found.covariance.diagonal()[:2] == pytest.approx([1e-6, 1e-6])


BAD = {
    "not positive definite": (
        ("skip = 0", "skip = 0\nsigma_efforts = [[1.0, 2.0], [2.0, 1.0]]"),
        ["[repeats] sigma_efforts: the covariance of the efforts is not positive definite", "'motor 1' and 'motor 2'"],
    ),
    "wrong unit": (("skip = 0", 'skip = 0\nsigma_positions = "1 mm"'), ["line 7, [repeats] sigma_positions", "'mm'"]),
    "too many": (("skip = 0", "skip = 0\nsigma_efforts = [1, 2, 3]"), ["a list of 2, not of 3"]),
    "speed": (("skip = 0", 'skip = 0\nslower_than = "1 m/s"'), ["[repeats] slower_than", "m/s"]),
    "no whole period": (("2 s", "2.003 s"), ["[data] recordings: a period of 2.003 s has 200.3 samples"]),
    "too short": (("skip = 0", "skip = 6"), ["6 are skipped and none is left"]),
    "one repeat": (("skip = 0", "skip = 5"), ["one repeat only: it shows no noise"]),
    "orders": (("skip = 0", "skip = 0\norders = [3, 2]"), ["[repeats] orders: orders must increase"]),
    "missing column": (('channels = ["T1", "T2"]', 'channels = ["T1", "T3"]'), ["recording.csv", "no column 'T3'"]),
    "missing file": (('"recording.csv"', '"recordin.csv"'), ["recordin.csv", "no such file"]),
    "filter": (("[efforts]", "[preparation]\ncutoff = 5.0\n[efforts]"), ["neither filtered nor thinned"]),
    "methods": (("[efforts]", '[methods]\nuse = ["hull"]\n[efforts]'), ["by every estimator for repeats"]),
    "bound": (("[efforts]", "[noise]\nbound = 1.0\n[efforts]"), ["state sigma_efforts in [repeats]"]),
    "no repeats": (
        ('[repeats]\nperiod = "2 s"\nskip = 0\n', ""),
        ["[data] validation: period and motion are for repeats"],
    ),
    "both": (('family = "five-bar"', 'family = "five-bar"\nfile = "a.toml"'), ["line 1, robot: say which robot"]),
    "neither": (('family = "five-bar"', ""), ["line 1, robot: say which robot", "palida"]),
    "geometry of a file": (
        ('family = "five-bar"', 'file = "a.toml"\ngeometry = { arm = 1 }'),
        ["a mechanism file has its own dimensions"],
    ),
    "no mechanism file": (
        ('family = "five-bar"', 'file = "a.toml"'),
        ["line 2, [robot] file", "a.toml cannot be read"],
    ),
    "name": (('"five-bar"', '"6-upss"'), ["no robot is called '6-upss'; did you mean '6-ups'?", "or give a file"]),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_is_wrong_is_refused_with_its_place(study, kind):
    change, words = BAD[kind]
    said = refused(study, change)
    assert all(word in said for word in words), said


def test_lengths_in_millimetres_taken_for_metres_are_refused(tmp_path):
    """Strut lengths go through forward kinematics, which finds no pose for them."""
    struts = Palida().inverse(Palida().home)
    t = np.linspace(0, 2 * np.pi, 6, endpoint=False)[:, None]
    names = [*(f"q{k}" for k in range(1, 7)), *(f"F{k}" for k in range(1, 7))]
    q = 1e3 * np.tile(struts + 0.01 * np.sin(t), (5, 1))
    noisy = np.hstack([q, np.zeros((30, 6))]) + np.random.default_rng(1).normal(size=(30, 12))
    write_recording(tmp_path / "recording.csv", Recording(names, ("",) * 12, noisy, 3.0))
    (tmp_path / "study.toml").write_text(
        '[robot]\nfamily = "palida"\n[repeats]\nperiod = "2 s"\nskip = 0\n[[data.recordings]]\nfile = "recording.csv"\n'
    )
    with pytest.raises(InputError, match=r"PaLiDA cannot be where it was measured.*sample 0.*check the units \(m\)"):
        IdentificationStudy.read(tmp_path / "study.toml").identify()


@pytest.mark.parametrize("family", ["palida", "6-ups", "6-ucu", "3-rrr"])
def test_the_study_of_repeats_that_gough_writes_is_one_that_it_reads(tmp_path, family):
    path = tmp_path / "study.toml"
    path.write_text(repeated_study_text(robot(family), family=family))
    asked = IdentificationStudy.read(path)
    assert asked.table.repeats.period == 2.0
    assert asked.channels[1][0] == ("tau1" if family == "3-rrr" else "F1")
    assert asked.table.design.limits.margin == 0.5


def test_any_robot_or_mechanism_is_found_by_its_name():
    assert set(ROBOTS) >= {"h4", "par4", "delta", "five-bar", "palida", "6-ups", "6-ucu", "3-rrr"}
    wide = robot("6-ucu", {"base": "700 mm"}, "bodies and drives")
    assert isinstance(wide, Hexapod)
    assert (wide.legs, wide.variant) == ("UCU", "bodies and drives")
    assert wide.geometry.base == pytest.approx(0.7)
    assert isinstance(robot("3-rrr", {"distal": 0.31}), ThreeRRR)
    with pytest.raises(InputError, match="no variant 'passive'; did you mean 'passive friction'"):
        robot("palida", variant="passive")
    with pytest.raises(InputError, match="no dimension of palida is called 'bas'; did you mean 'base'"):
        robot("palida", {"bas": 1.0})


def test_the_command_line_from_a_mechanism_file(tmp_path, capsys):
    assert run(["mechanism", "3-rrr", "--write", str(tmp_path / "mine.toml")]) == 0
    assert run(["new", str(tmp_path / "study"), "--robot", str(tmp_path / "mine.toml"), "--repeats"]) == 0
    text = (tmp_path / "study" / "study.toml").read_text()
    assert 'file = "../mine.toml"' in text
    assert IdentificationStudy.read(tmp_path / "study" / "study.toml").robot.name == "3-RRR"
    capsys.readouterr()
    assert run(["new", str(tmp_path / "x"), "--robot", str(tmp_path / "mine.toml"), "--example"]) == 2
    assert run(["new", str(tmp_path / "x"), "--robot", "no.toml"]) == 2
    assert not (tmp_path / "x").exists()


def test_the_command_line_identifies_reports_and_says_no(study, motions, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert run(["identify", str(study)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for words in ("6 repeats of 2 s", "Noise of a reading", "likelihood", "BIC", "another motion: other"):
        assert words in told
    results = study.parent / "results"
    page = (results / "report.html").read_text(encoding="utf-8")
    assert "Number of harmonics" in page
    assert "Prediction of other motions" in page
    data = json.loads((results / "report.json").read_text())
    assert data["order"]["chosen"] == 2
    assert data["benchmarks"]["other"]["is_unbiased"]
    assert {"figures/fit.svg", "figures/whiteness.png"} <= {
        p.relative_to(results).as_posix() for p in results.rglob("*.*")
    }
    spoilt = replace(motions[0], efforts=motions[0].efforts + 0.5 * np.sin(40 * motions[0].q))  # an effect not modelled
    write_recording(study.parent / "recording.csv", spoilt.recording(["T1", "T2"]), overwrite=True)
    monkeypatch.setattr("gough.studies.identification.documents", lambda _: {"estimate.json": b"{}\n"})
    assert run(["identify", str(study), "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {}


def test_a_mechanism_is_identified_from_a_single_recording_too(tmp_path):
    """Positions of its actuators go through forward kinematics; those of one recording are filtered as usual."""
    of, rng = robot("3-rrr"), np.random.default_rng(1)
    series = FourierSeries.random(rng, offset=of.home, amplitude=[0.06, 0.06, 0.3], frequency=0.5, n_harmonics=3)
    experiment = PeriodicExperiment(of, series, rate=200.0, periods=3, positions=1e-6, efforts=0.02)
    degrees = experiment.run(rng).recording(["a", "b", "c"])
    samples = degrees.samples * np.where(np.arange(6) < 3, np.degrees(1), 1.0)
    write_recording(tmp_path / "one.csv", Recording(degrees.names, ("",) * 6, samples, 200.0))
    (tmp_path / "study.toml").write_text(
        '[robot]\nfamily = "3-rrr"\n[[data.recordings]]\nfile = "one.csv"\n[methods]\nuse = ["weighted"]\n'
        '[data.units]\nq1 = "deg"\nq2 = "deg"\nq3 = "deg"\n[efforts]\nchannels = ["a", "b", "c"]\n'
        '[preparation.reversals]\nspeed = "5 deg/s"\n'
    )
    found = IdentificationStudy.read(tmp_path / "study.toml").identify()
    assert found.robot.effort_units == ("N·m",) * 3
    names = found.problem.unknowns.names
    truth = dict(zip(of.names, of.nominal, strict=True))
    for name in ("r_1", "r_2", "r_3"):
        assert found["weighted"][name] == pytest.approx(truth[name], rel=0.05)
    assert len(names) == found.identifiability.rank
    text = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(text.replace('"5 deg/s"', '"5 mm/s"'))
    with pytest.raises(InputError, match=r"\[preparation.reversals\] speed: '5 mm/s'"):
        IdentificationStudy.read(tmp_path / "study.toml").identify()
