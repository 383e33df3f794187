"""`gough new` and `gough identify`: from an empty folder to a report, and every way in which input can be broken."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gough.cli.app import run
from gough.core.errors import InputError
from gough.data import read_recording, write_recording
from gough.dynamics import extras
from gough.papers.demonstration import simulate
from gough.studies import IdentificationStudy, identification


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """A study of a five-bar with short recordings."""
    folder = tmp_path_factory.mktemp("example") / "robot"
    assert run(["new", str(folder), "--robot", "five-bar"]) == 0
    _, recorded, other = simulate("five-bar", seed=1, periods=2)
    write_recording(folder / "recording.csv", recorded.recording)
    write_recording(folder / "validation.csv", other.recording)
    study = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(study.replace("[methods]", '[methods]\nuse = ["weighted", "hull"]'))
    return folder


@pytest.fixture
def study(example, tmp_path):
    """A copy of it that a test may spoil."""
    shutil.copytree(example, tmp_path / "robot")
    return tmp_path / "robot" / "study.toml"


def refused(study: Path, capsys) -> str:
    """What `gough identify` says to bad input, on one line; it writes nothing."""
    before = sorted(study.parent.iterdir())
    assert run(["identify", str(study)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Traceback" not in shown.err
    assert sorted(study.parent.iterdir()) == before
    return " ".join(shown.err.split())


def test_a_dropout_is_in_the_first_sentence_and_in_the_json(study, capsys):
    before = read_recording(study.parent / "recording.csv")
    samples = np.array(before.samples)
    samples[1500:2000, 0] = samples[1500, 0]
    write_recording(study.parent / "recording.csv", replace(before, samples=samples), overwrite=True)
    run(["identify", str(study), "--json"])
    verdict = json.loads(capsys.readouterr().out)["verdict"]
    (dropout,) = verdict["dropouts"]
    assert (Path(dropout["source"]).name, dropout["channel"], dropout["kind"]) == ("recording.csv", "q1", "held")
    assert (dropout["row"], dropout["is_left_out"]) == (1501, False)
    assert dropout["words"] in verdict["headline"]


def test_from_a_new_study_to_a_report(study, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert run(["identify", str(study)]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    told = " ".join(shown.out.split())
    for words in ("15 of 21 parameters", "weighted", "hull", "Prediction of another trajectory", "report.html"):
        assert words in told
    results = study.parent / "results"
    assert {"report.html", "report.json", "estimate.json"} <= {p.name for p in results.iterdir()}
    assert "five-bar" in (results / "report.html").read_text(encoding="utf-8")
    assert run(["identify", str(study), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((results / "estimate.json").read_text())
    verdict = printed["verdict"]
    assert verdict["finding"] in {"ADEQUATE", "LARGER_THAN_NEEDED", "UNDECIDED"}
    assert (verdict["cause"], verdict["is_refuted"]) == (None, False)
    assert verdict["recommended"]["method"] == next(iter(printed))
    assert {"spectrum of the residuals", "catalogue of effects"} <= {test["about"] for test in verdict["evidence"]}


def test_long_methods_that_the_study_does_not_name_are_left_out_and_listed(study, capsys, monkeypatch):
    monkeypatch.setattr(extras, "ALWAYS", 0)
    monkeypatch.setattr(extras, "TIMES", 0)
    study.write_text(study.read_text().replace('use = ["weighted", "hull"]', ""))
    assert run(["identify", str(study)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Ask for methods by name in [methods], for all of this by gough identify --complete" in told
    assert "hull, ellipsoid, tight ellipsoid and exact bounds of efforts at 40 samples of the validation" in told
    report = json.loads((study.parent / "results" / "report.json").read_text(encoding="utf-8"))
    assert report["left_out"] == ["hull", "ellipsoid", "tight ellipsoid"]
    assert "Not computed" in (study.parent / "results" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("table", "option", "asks"),
    [("", [], False), ("complete = true", [], True), ("", ["--complete"], True), ('use = ["weighted"]', [], False)],
)
def test_what_is_asked_for_is_always_done(study, monkeypatch, table, option, asks):
    seen = []

    def caught(robot, motion, **options):
        seen.append(options)
        raise InputError("enough")

    monkeypatch.setattr(identification, "identify", caught)
    study.write_text(study.read_text().replace('use = ["weighted", "hull"]', table))
    assert run(["identify", str(study), *option]) == 2
    (options,) = seen
    assert options["complete"] is asks
    assert (options["methods"] is None) == ("use" not in table)


def test_every_format_gives_the_same_motions(study):
    prepared = []
    for suffix in (".csv", ".parquet", ".npz", ".mat"):
        for name in ("recording", "validation"):
            recording = read_recording(study.parent / f"{name}.csv")
            if suffix != ".csv":
                write_recording(study.parent / f"{name}{suffix}", recording)
        other = study.with_name(f"study{suffix[1:]}.toml")
        other.write_text(study.read_text().replace(".csv", suffix))
        asked = IdentificationStudy.read(other)
        prepared.append(
            [(motion.q, motion.dq, motion.ddq, motion.efforts) for motion in (asked.motion(), asked.validation())]
        )
    for motions in prepared[1:]:
        np.testing.assert_array_equal(np.concatenate(motions, axis=1), np.concatenate(prepared[0], axis=1))


def test_a_bound_that_is_too_small_is_refuted_with_exit_code_1(study, capsys):
    study.write_text(study.read_text().replace('# bound = "0.5 N·m"', 'bound = "1 mNm"'))
    assert run(["identify", str(study)]) == 1
    assert "is refuted" in " ".join(capsys.readouterr().out.split())
    assert (study.parent / "results" / "report.html").exists()


def test_an_inadequate_model_is_refuted_with_exit_code_1(study, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    rows = [row.split(",") for row in lines(study.parent / "recording.csv")]
    turned = [rows[0], *([row[0], str(-float(row[1])), *row[2:]] for row in rows[1:])]
    (study.parent / "recording.csv").write_text("\n".join(",".join(row) for row in turned) + "\n")
    assert run(["identify", str(study)]) == 1
    assert "The model is NOT ADEQUATE" in " ".join(capsys.readouterr().out.split())
    report = json.loads((study.parent / "results" / "report.json").read_text())
    assert (report["is_refuted"], report["adequacy"]["finding"]) == (True, "INADEQUATE")
    verdict = json.loads((study.parent / "results" / "estimate.json").read_text())["verdict"]
    assert (verdict["is_refuted"], verdict["finding"]) == (True, "INADEQUATE")
    assert not any(method["status"] == "INCONSISTENT" for method in report["methods"].values())


def test_dimensions_that_are_not_stated_are_named_first(study, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = study.read_text()
    for name in ("proximal", "distal"):
        line = next(line for line in text.splitlines() if line.startswith(f"{name} = "))
        text = text.replace(line, "")
    study.write_text(text)
    taken = "proximal = [250 mm, 250 mm], distal = [350 mm, 350 mm]"
    said = f"Not stated in [robot.geometry], taken from the library: {taken}."
    run(["identify", str(study)])
    assert " ".join(capsys.readouterr().out.split()).startswith(said)
    results = study.parent / "results"
    report = json.loads((results / "report.json").read_text())
    assert report["verdicts"][0].startswith(said)
    assert report["premises"] == report["verdicts"][:1]
    estimates = json.loads((results / "estimate.json").read_text())
    assert estimates.pop("verdict")["paragraphs"] == report["verdicts"]
    assert all(each["notes"][0] == report["verdicts"][0] for each in estimates.values())
    assert f'<ul class="verdicts"><li class="bad">{said}' in (results / "report.html").read_text(encoding="utf-8")


def test_a_new_study_never_touches_what_is_there(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert run(["new", str(tmp_path)]) == 2
    assert "is not empty" in " ".join(capsys.readouterr().err.split())
    assert run(["new", str(tmp_path / "mine.txt")]) == 2
    assert run(["new", str(tmp_path / "h5"), "--robot", "h5"]) == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine.txt"]


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def spoil(study: Path, change) -> None:
    path = study.parent / "recording.csv"
    path.write_text("\n".join(change(lines(path))) + "\n")


def without_column(rows: list[str], column: int) -> list[str]:
    return [",".join(cell for i, cell in enumerate(row.split(",")) if i != column) for row in rows]


def with_cell(rows: list[str], row: int, column: int, cell: str) -> list[str]:
    cells = rows[row].split(",")
    cells[column] = cell
    return [*rows[:row], ",".join(cells), *rows[row + 1 :]]


BROKEN = {
    "missing column": (lambda rows: without_column(rows, 1), ["recording.csv", "no column 'q1", "'q2"]),
    "not a number": (lambda rows: with_cell(rows, 7, 2, "n/a"), ["recording.csv", "line 8", "q2", "'n/a'"]),
    "empty cell": (lambda rows: with_cell(rows, 7, 3, ""), ["recording.csv", "line 8", "V1"]),
    "NaN": (lambda rows: with_cell(rows, 7, 3, "nan"), ["recording.csv", "line 8", "V1"]),
    "infinite": (lambda rows: with_cell(rows, 7, 3, "inf"), ["recording.csv", "line 8", "V1"]),
    "time runs backwards": (lambda rows: [*rows[:9], rows[10], rows[9], *rows[11:]], ["recording.csv", "time"]),
    "a gap in time": (lambda rows: [*rows[:50], *rows[90:]], ["recording.csv", "time"]),
    "truncated": (lambda rows: [*rows[:-1], rows[-1].rsplit(",", 2)[0]], ["recording.csv", "line"]),
    "header only": (lambda rows: rows[:1], ["recording.csv", "no"]),
    "empty file": (lambda rows: [], ["recording.csv"]),
    "duplicate column": (lambda rows: [f"{row},{row.split(',')[1]}" for row in rows], ["recording.csv", "q1"]),
    "too short for the filter": (lambda rows: rows[:12], ["recording.csv"]),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_recording_is_refused_with_file_and_place(kind, study, capsys):
    change, words = BROKEN[kind]
    spoil(study, change)
    said = refused(study, capsys)
    assert all(word in said for word in words), said


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('q1 = "rad"', 'q1 = "mm"', ["q1", "mm"]),
        ('q1 = "rad"', 'q1 = "rda"', ["rda", "did you mean 'rad'?"]),
        ('q1 = "q1"', 'q1 = "angle"', ["no column 'angle'"]),
        ('V1 = "V1"', 'V9 = "V1"', ["[data.columns] V9", "no channel is called so (q1, q2, V1, V2)"]),
        ('file = "recording.csv"', 'file = "recordings.csv"', ["recordings.csv", "line"]),
        ('file = "recording.csv"', 'file = "."', ["is a folder: give a file in it"]),
        ('# rate = "1 kHz"', 'rate = "1 kHz"', ["recording.csv", "200", "1000"]),
        ('# cutoff = "20 Hz"', 'cutoff = "200 Hz"', ["low-pass at 200 Hz", "samples a second"]),
        ('use = ["weighted", "hull"]', 'use = ["weigted"]', ["[methods] use", "did you mean 'weighted'?"]),
        ('# bound = "0.5 N·m"', "bound = [1, 2, 3]", ["[noise] bound", "one for each of 2"]),
        ('# bound = "0.5 N·m"', 'bound = "0.5 N"', ["[noise] bound", "'N' cannot become 'N·m'"]),
        ('# bound = "0.5 N·m"', "bound = 0", ["[noise] bound", "must be greater than 0"]),
        ('# bound = "0.5 N·m"', 'bound = "0,5 N·m"', ["[noise] bound", "decimal comma", '"0.5 N·m"']),
        ("gain = 1", "gain = 0", ["gain"]),
        ("gain = 1", "gain = [1, 2, 3]", ["3 gains do not fit 2 actuators"]),
    ],
)
def test_a_study_that_does_not_fit_its_data_is_refused(old, new, words, study, capsys):
    text = study.read_text()
    plain = " ".join(old.split())
    spaced = next(line for line in text.splitlines() if plain in " ".join(line.split()))
    study.write_text(text.replace(spaced, new))
    said = refused(study, capsys)
    assert all(word in said for word in words), said


def test_results_that_are_not_ours_are_left_alone(study, capsys):
    (study.parent / "results").mkdir()
    (study.parent / "results" / "thesis.tex").write_text("years of work")
    assert "thesis.tex" in refused(study, capsys)


@pytest.mark.parametrize(
    ("effect", "message"), [("dellay", "did you mean 'delay'"), ("payload", "cannot be estimated here")]
)
def test_effects_that_cannot_be_estimated_are_refused_with_their_line(study, capsys, effect, message):
    text = f'{study.read_text()}\n[effects]\nuse = ["{effect}"]\n'
    study.write_text(text)
    assert run(["identify", str(study)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert message in said
    assert f"line {len(text.splitlines())}, [effects] use" in said
    assert not (study.parent / "results").exists()
