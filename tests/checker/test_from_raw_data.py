"""From the user's decimals to the numbers of a proof: what was changed on the way is found by arithmetic alone."""

import json
import random
import re
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from gough.checker import load_question
from gough.checker.folders import check_folder
from gough.checker.manifest import MANIFEST, Given, load_manifest
from gough.checker.raw import Source, SourceText
from gough.checker.raw_chains import BLUEPRINTS
from gough.checker.raw_data import NotDerived, center_of
from gough.cli.app import run
from gough.robots import LinearDelta
from gough.studies.robots import BLUEPRINTS as KNOWN
from tests.checker.runs import ONE_LEG, edited, leg_run, resealed
from tests.cli.test_certify import write
from tests.cli.test_certify_chains import write as write_chains


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of certificates of one leg that fits twelve poses."""
    return leg_run(tmp_path_factory.mktemp("leg"))


@pytest.fixture
def folder(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "certificates"))


def judged(folder, capsys):
    """Exit code and output of the check of a folder whose seals and digests were all put right."""
    resealed(folder)
    code = run(["check", str(folder)])
    return code, " ".join(capsys.readouterr().out.split())


def test_what_was_not_changed_holds(folder, capsys):
    code, out = judged(folder, capsys)
    assert code == 0
    assert "Derived from the sources in exact arithmetic" in out
    assert "3 of 3 certificates hold." in out


def test_the_statement_can_be_read_without_the_study(made, capsys):
    assert run(["check", str(made)]) == 0
    out = capsys.readouterr().out
    assert re.search(
        r"Data: poses\.csv \(sha256:[0-9a-f]{12}…, \d+ bytes\), 12 poses, counted from 0 "
        r"\(pose 0: line 2\), orientations as quat",
        out,
    )
    assert re.search(r"study\.toml \(sha256:[0-9a-f]{12}…, \d+ bytes\)", out)
    assert "positions ± 0.1899, 0.069, 0.1824 mm (x, y, z)" in out
    assert "orientations ± 0.02769, 0.0357, 0.02682 deg" in out
    assert "leg 2 ± 0.0381 mm" in out
    assert "within ± 3 mm of a2x = 223.1792, " in out
    assert "|exp(ω) R b + p + δ − a| = l + reading + η" in out
    page = (made.parent / "report.html").read_text(encoding="utf-8")
    assert "0.1899, 0.069, 0.1824 mm" in page


def change_text(name, old, new):
    def change(folder):
        path = folder / "sources" / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


def change_cell(row, column, change):
    """Change the decimal in a cell of the poses."""

    def edit(folder):
        path = folder / "sources" / "poses.csv"
        lines = [line.split(",") for line in path.read_text().splitlines()]
        place = lines[0].index(column)
        lines[row + 1][place] = change(lines[row + 1][place])
        path.write_text("\n".join(",".join(cells) for cells in lines) + "\n")

    return edit


def moved(by):
    def change(cell):
        return format(float(cell) + by, ".17g")

    return change


def swap_heads(one, other):
    def edit(folder):
        path = folder / "sources" / "poses.csv"
        head, rest = path.read_text().split("\n", 1)
        names = [{one: other, other: one}.get(name, name) for name in head.split(",")]
        path.write_text(",".join(names) + "\n" + rest)

    return edit


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_cell(4, "x", moved(1e-9)), "pose 4 (line 6), x: the stated interval is not within"),
        (change_cell(0, "z", lambda cell: cell[:-3] + "111"), "pose 0 (line 2), z"),
        (change_cell(3, "qy", moved(1e-9)), "pose 3 (line 5), orientation about"),
        (change_cell(11, "l2", moved(1e-9)), "pose 11 (line 13), reading of leg 2"),
        (change_cell(2, "x", lambda cell: "1_0"), "'1_0' is not a decimal number"),
        (change_cell(2, "x", lambda cell: ""), "'' is not a decimal number"),
        (change_cell(2, "x", lambda cell: "nan"), "'nan' is not a decimal number"),
        (change_cell(2, "x", lambda cell: "1e-99999"), "exponent beyond"),
        (swap_heads("l2", "l5"), "reading of leg 2"),
        (swap_heads("x", "y"), "pose 0 (line 2), x"),
        (swap_heads("qx", "qz"), "pose 0 (line 2), orientation"),
        (change_text("poses.csv", "x,y,z", "x [mm],y [mm],z [mm]"), "pose 0 (line 2), x"),
        (change_text("poses.csv", "l1,l2", "l1,l2 [rad]"), "'rad' cannot become 'm'"),
        (change_text("study.toml", "0.0633 mm", "0.0634 mm"), "pose 0 (line 2), x"),
        (change_text("study.toml", "0.0633 mm", "0.0633 cm"), "pose 0 (line 2), x"),
        (change_text("study.toml", "0.0633 mm", "0.0633 furlong"), "no unit 'furlong'"),
        (change_text("study.toml", "0.0633 mm", "0.0633 deg"), "'deg' cannot become 'm'"),
        (change_text("study.toml", "0.0119 deg", "0.0119 rad"), "pose 0 (line 2), orientation about y"),
        (change_text("study.toml", "0.0127 mm", "0.0128 mm"), "pose 0 (line 2), reading of leg 2"),
        (change_text("study.toml", 'around = "3 mm"', 'around = "3.0000001 mm"'), "the prior of a2x"),
        (change_text("study.toml", "[certify]", "[certify]\nsigmas = 3.01"), "pose 0 (line 2), x"),
        (change_text("study.toml", "[certify]", "[certify]\nsigmas = -3"), "sigmas is not positive"),
        (change_text("study.toml", '"3 mm"', '"-3 mm"'), "around is not positive"),
        (change_text("study.toml", "0.0633 mm", "-0.0633 mm"), "a half-width is negative"),
        (
            change_text("study.toml", "[certify]", '[certify.model_error]\nconstant = "1 nm"\n[certify]'),
            "reading of leg 2",
        ),
        (change_text("study.toml", 'family = "gough"', 'family = "h4"'), "not about a Gough platform"),
        (change_text("study.toml", "[poses]", '[poses]\nunits = {position = "mm"}'), "pose 0 (line 2), x"),
        (change_text("study.toml", "[poses]", '[poses]\ncolumns = {x = "y"}'), "pose 0 (line 2), x"),
        (change_text("study.toml", "[certify]", "[certify"), "the study is not TOML"),
        (change_text("study.toml", "poses.csv", "others.csv"), "the study is about the poses 'others.csv'"),
        (change_text("study.toml", "[certify]", "[[certify]]"), "is not a table"),
        (change_text("study.toml", "[certify]", '[certify]\nsigmas = "540 deg/rad"'), "sigmas is not positive, or"),
        (change_text("study.toml", "[poses]", "[calibrations]\n[poses]"), "know what 'calibrations' in the study"),
        (change_text("study.toml", "[certify]", "[certify.modelerror]\n[certify]"), "'modelerror' in [certify]"),
        (change_text("study.toml", "[poses]", "[poses]\nunits = {heading = 'deg'}"), "'heading' in [poses.units]"),
        (change_text("study.toml", '"deltalab"', '"nonsense"'), "the checker knows no blueprint 'nonsense'"),
        (change_text("study.toml", '"deltalab"', '"deltalab"\nreading_unit = "mm"'), "another unit of readings"),
        (change_text("study.toml", "[poses]", '[robot.geometry]\nlength = "1 m"\n[poses]'), "and a geometry"),
        (change_text("study.toml", '"deltalab"', '"deltalab"\ngains = 1'), "neither true nor false"),
        (
            change_text("study.toml", "[poses]", '[calibration]\nframes = "instrument"\n[poses]'),
            "the calibrated center",
        ),
        (change_text("study.toml", "[poses]", '[calibration]\nframes = "moon"\n[poses]'), "'frames' or 'center'"),
        (change_text("study.toml", "[certify]", '[certify]\ncenter = "origin"'), "'frames' or 'center'"),
    ],
)
def test_a_source_that_was_changed(folder, change, message, capsys):
    change(folder)
    code, out = judged(folder, capsys)
    assert code == 1
    assert "does not follow from the sources" in out
    assert message in out
    assert "0 of 3 certificates hold." in out


def a_copy_more(folder):
    path = folder / "sources" / "poses.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[3]]) + "\n")


def a_pose_more(folder):
    a_copy_more(folder)
    change_cell(12, "y", moved(1e-4))(folder)


def test_copies_of_rows_say_nothing_new_and_other_rows_do(folder, capsys):
    a_copy_more(folder)
    code, out = judged(folder, capsys)
    assert code == 0
    assert "12 poses (a copy of a row is left out)" in out
    change_cell(12, "y", moved(1e-4))(folder)
    code, out = judged(folder, capsys)
    assert code == 1
    assert "the file has 13 poses" in out


def with_covariances(folder, last):
    """The poses and a copy of row 3, all with one covariance but the copy, whose triangle ends with `last`."""
    path = folder / "sources" / "poses.csv"
    head, *rows = path.read_text().splitlines()
    names = [f"c{i}{j}" for i in range(1, 7) for j in range(i, 7)]
    lines = [[head, *names], *([row, *["1e-9"] * 20, "1e-9"] for row in rows), [rows[3], *["1e-9"] * 20, last]]
    path.write_text("\n".join(map(",".join, lines)) + "\n")


def test_a_row_with_another_covariance_is_no_copy(folder, capsys):
    first = (folder / "sources" / "poses.csv").read_text()
    with_covariances(folder, "0.000000001")
    code, out = judged(folder, capsys)
    assert code == 0
    assert "12 poses (a copy of a row is left out)" in out
    (folder / "sources" / "poses.csv").write_text(first)
    with_covariances(folder, "1e-24")
    code, out = judged(folder, capsys)
    assert code == 1
    assert "the file has 13 poses" in out


def change_entry(name, row, column, by):
    def change(data):
        place = data[name] if column is None else data[name][row]
        place[row if column is None else column] += by

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_entry("position", 5, 1, 1e-9), "pose 5 (line 7), y"),
        (change_entry("quaternion", 6, 2, 1e-9), "pose 6 (line 8), orientation"),
        (change_entry("readings", 7, 0, -1e-9), "pose 7 (line 9), reading of leg 2"),
        (change_entry("position_tolerance", 8, 2, -1e-12), "pose 8 (line 10), z"),
        (change_entry("rotation_tolerance", 9, 0, -1e-12), "pose 9 (line 11), orientation about x"),
        (change_entry("reading_tolerance", 10, 0, -1e-12), "pose 10 (line 12), reading of leg 2"),
        (change_entry("lower", 3, None, 1e-9), "the prior of b2x"),
        (change_entry("upper", 6, None, -1e-9), "the prior of l2"),
        (lambda data: data.update(chains=[3]), "pose 0 (line 2), reading of leg 3"),
    ],
)
def test_a_question_that_was_changed(folder, change, message, capsys):
    edited(folder / "measurements.json", change)
    code, out = judged(folder, capsys)
    assert code == 1
    assert "measurements.json does not follow from the sources" in out
    assert message in out


CENTER = [[0.22, -0.15, 0.0, 0.02, -0.19, 0.0, 0.345]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"center": "calibrated values", "values": CENTER}, "gives a center of the prior, but the study states it"),
        ({"center": "the blueprint", "values": CENTER}, "gives a center of the prior, but the study states it"),
        ({"values": CENTER}, "gives a center of the prior, but the study states it"),
        ({"gains": [7.0]}, "gives gains, but the study does not ask for calibrated ones"),
        ({"center": "blueprint deltalab", "values": CENTER}, "center must be 'the blueprint', 'calibrated values'"),
    ],
)
def test_a_manifest_replaces_nothing_that_the_study_states(folder, given, message, capsys):
    edited(folder / MANIFEST, lambda data: data["given"].update(given))
    code, out = judged(folder, capsys)
    assert code == 1
    assert message in out
    assert "7.0" not in out


def test_keys_that_say_nothing_about_what_is_certified(folder, capsys):
    table = "[calibration]\nscale = true\nrobust = true\n[output]\nfolder = 'x'\n[poses]"
    change_text("study.toml", "[poses]", table)(folder)
    assert judged(folder, capsys)[0] == 0


def test_the_checkers_blueprints_are_those_of_the_robots():
    assert set(BLUEPRINTS) == set(KNOWN)
    for name, made in KNOWN.items():
        rows = [[float(Fraction(x) / 1000) for x in row.split()] for row in BLUEPRINTS[name]]
        assert abs(np.array(rows) - made().nominal.reshape(6, 7)).max() < 1e-16


def test_a_gain_with_units_of_angles_keeps_its_power_of_pi(made):
    """The gain is π m/m, neither 1 nor 180."""
    legs = "\n".join(f"{what} = {[[0.1 * i, 0.2, 0.0] for i in range(6)]}" for what in ("base", "platform"))
    study = (made / "sources" / "study.toml").read_text().replace(
        'blueprint = "deltalab"', f'[robot.geometry]\n{legs}\nlength = 0.345\ngain = "180 deg/rad"')  # fmt: skip
    path = made / "sources" / "poses.csv"
    texts = (SourceText("study.toml", study.encode(), path), SourceText("poses.csv", path.read_bytes(), path))
    raw = Source(*texts, Given()).raw(load_question(made / "measurements.json"))
    lines = [line.split(",") for line in path.read_text().splitlines()]
    for line, (span,), (half,) in zip(lines[1:], raw.readings, raw.half, strict=True):
        reading = Fraction(line[lines[0].index("l2")])
        low, high = (Fraction(x) for x in ("3.14159265358979323846", "3.14159265358979323847"))
        least, most = sorted((reading * low, reading * high))
        assert least < span.low <= span.high < most
        assert Fraction("3.81e-5") * low < half.low <= half.high < Fraction("3.81e-5") * high


def test_no_words_of_a_forger_are_printed_as_ours(folder, capsys):
    words = "x, taken as given). Verified by the Bureau. ("
    text = (folder / MANIFEST).read_text(encoding="utf-8")
    edited(folder / MANIFEST, lambda data: data["given"].update(center=words))
    assert judged(folder, capsys)[0] == 1
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    name = "poses.csv, verified by the Bureau"
    change_text("study.toml", "poses.csv", name)(folder)
    edited(folder / MANIFEST, lambda data: data["sources"][1].__setitem__(2, f"../../{name}"))
    code, out = judged(folder, capsys)
    assert code == 0
    assert f"Data: '{name}' (sha256:" in out


def wider(data):
    for name in ("position_tolerance", "rotation_tolerance", "reading_tolerance"):
        data[name] = [[100 * x for x in row] for row in data[name]]
    data["lower"], data["upper"] = ([x + by for x in data[side]] for side, by in (("lower", -1e-3), ("upper", 1e-3)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data["values"].__setitem__(6, data["values"][6] - 2e-4), "beyond the stated intervals"),
        (lambda data: data["errors"][3].__setitem__(2, data["errors"][3][2] + 1e-3), "beyond the stated intervals"),
        (lambda data: data["errors"][3].__setitem__(3, data["errors"][3][3] + 2e-3), "beyond the stated intervals"),
        (lambda data: data.update(values=[0.2231792 + 0.0035, *data["values"][1:]]), "outside the stated prior"),
    ],
)
def test_a_witness_with_errors_beyond_those_stated(folder, change, message, capsys):
    """The question may be wider than the raw data, and holds what it excludes; a witness in it need not fit them."""
    edited(folder / "measurements.json", wider)
    for name in ("leg-2-box.json", "leg-2-least-squares.json"):
        (folder / name).unlink()
    edited(folder / MANIFEST, lambda data: data.update(files=[f for f in data["files"] if (folder / f[0]).exists()]))
    assert judged(folder, capsys)[0] == 0  # what fitted the narrow intervals fits still
    edited(folder / "leg-2-fits.json", change)
    code, out = judged(folder, capsys)
    assert code == 1
    assert "it holds about measurements.json, but not about the data" in out
    assert message in out


def test_a_question_that_the_manifest_does_not_list(folder, capsys):
    def unlisted(data):
        data["questions"] = {}
        data["files"] = [file for file in data["files"] if file[0] != "measurements.json"]

    edited(folder / MANIFEST, unlisted)
    assert run(["check", str(folder)]) == 1
    assert "measurements.json is not listed" in capsys.readouterr().out
    assert run(["check", str(folder / "leg-2-box.json")]) == 1
    out = capsys.readouterr().out
    assert "measurements.json is not listed as a question in manifest.json" in out
    assert "Derived from the sources" not in out


@pytest.fixture(scope="module")
def delta(tmp_path_factory):
    """The folder of certificates of one chain of a linear delta that fits."""
    place = tmp_path_factory.mktemp("delta")
    path = write_chains(place, LinearDelta(), "linear-delta", "chains = [2]\n", n=10)
    assert run(["certify", str(path), "--json"]) == 0
    return place / "results-certified" / "certificates"


def first_number(name, by):
    """Change the first number of a table of the equations that is neither 0 nor ± 1."""

    def change(data):
        k, i = next((k, i) for k, row in enumerate(data[name]) for i, x in enumerate(row) if x not in {0, 1, -1})
        data[name][k][i] += by

    return change


def zeroed(name):
    return lambda data: data.update({name: [[0.0] * len(row) for row in data[name]]})


def of_rod(change):
    """A change of the equations of the only chain of a file."""
    return lambda data: change(data["equations"][0])


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (("sources", change_cell(4, "x", moved(1e-9))), "pose 4 (line 6): the equations do not enclose"),
        (("sources", change_cell(5, "l2", moved(1e-9))), "pose 5 (line 7): the equations do not enclose"),
        (("sources", swap_heads("l1", "l2")), "do not enclose"),
        (("sources", change_text("study.toml", "0.1 mm", "0.11 mm")), "pose 0 (line 2): a stated half-width is larger"),
        (("sources", change_text("study.toml", "50 mm", "51 mm")), "the prior of tower_x_2"),
        (("sources", change_text("study.toml", "linear-delta", "rotary-delta")), "is not in the manifest"),
        (("equations.json", of_rod(first_number("p", 1e-9))), "do not enclose"),
        (("equations.json", of_rod(first_number("tolerance", -1e-12))), "a stated half-width is larger"),
        (("equations.json", of_rod(zeroed("blur"))), "do not enclose"),
        (
            ("equations.json", lambda data: data["upper"].__setitem__(0, data["upper"][0] - 1e-9)),
            "the prior of",
        ),
        (("chain-2-fits.json", None), "the exhibited rod is too"),
    ],
)
def test_a_chain_of_which_something_was_changed(delta, tmp_path, where, message, capsys):
    name, change = where
    folder = Path(shutil.copytree(delta, tmp_path / "certificates"))
    assert judged(folder, capsys)[0] == 0
    if change is None:  # a wider question has a witness that the stated intervals do not have
        edited(folder / "equations.json", of_rod(wider_chain))
        edited(folder / "chain-2-fits.json", longer_rod)
        (folder / "chain-2-box.json").unlink()
        kept = lambda data: data.update(files=[f for f in data["files"] if (folder / f[0]).exists()])  # noqa: E731
        edited(folder / MANIFEST, kept)
    elif name == "sources":
        change(folder)
    else:
        edited(folder / name, change)
    code, out = judged(folder, capsys)
    assert code == 1
    assert message in out
    assert "holds about equations.json" in out


def wider_chain(data):
    data["tolerance"] = [[10 * x for x in row] for row in data["tolerance"]]


def longer_rod(data):
    data["values"][-1] = float(data["values"][-1]) + 5e-4


def test_the_user_s_own_files(made, folder, tmp_path, capsys):
    study = made.parent.parent / "study.toml"
    assert run(["check", str(made), "--study", str(study)]) == 0
    assert "is not compared with it" not in capsys.readouterr().out
    assert run(["check", str(folder)]) == 0  # the copy lies elsewhere
    assert "study.toml is not there: the copy in sources/study.toml is not compared with it" in capsys.readouterr().out
    for name in ("study.toml", "poses.csv"):
        shutil.copy(study.parent / name, tmp_path / name)
    assert run(["check", str(folder), "--study", str(tmp_path / "study.toml")]) == 0
    text = (tmp_path / "poses.csv").read_text()
    (tmp_path / "poses.csv").write_text(text + "\n")
    capsys.readouterr()
    assert run(["check", str(folder), "--study", str(tmp_path / "study.toml")]) == 1
    assert "poses.csv differs from the copy" in capsys.readouterr().out
    assert run(["check", str(folder), "--study", str(tmp_path / "none.toml")]) == 2
    moved_to = tmp_path / "results-certified" / "certificates"
    shutil.copytree(made, moved_to)
    capsys.readouterr()
    assert run(["check", str(moved_to)]) == 0  # the user's poses were changed since: said, and no fault of the proofs
    assert (
        "it was changed after the run or is another file. The certificates are about the copy. "
        "Run gough certify again to certify poses.csv." in capsys.readouterr().out
    )


def without_sources(folder, *roles):
    """Leave the copies of some sources out of a folder and of its manifest."""

    def remove(manifest):
        gone = {name for role, name, _ in manifest["sources"] if role in roles}
        manifest["sources"] = [source for source in manifest["sources"] if source[0] not in roles]
        manifest["files"] = [file for file in manifest["files"] if file[0] not in gone]
        for name in gone:
            (folder / name).unlink()

    edited(folder / MANIFEST, remove)


@pytest.mark.parametrize("roles", [("study", "poses"), ("poses",), ("study",)])
def test_the_user_s_own_files_cannot_be_compared_without_copies(made, folder, roles, capsys):
    study = str(made.parent.parent / "study.toml")
    without_sources(folder, *roles)
    assert run(["check", str(folder)]) == 0
    assert "3 of 3 certificates hold." in capsys.readouterr().out
    for path in (folder, folder / "leg-2-fits.json"):
        assert run(["check", str(path), "--study", study]) == 1
        told = capsys.readouterr().out
        for role, name in (("study", "study.toml"), ("poses", "poses.csv")):
            lacking = f"{name} cannot be compared: there is no sound manifest.json with a copy of the {role}"
            assert (lacking in told) == (role in roles)
    (folder / MANIFEST).unlink()
    shutil.rmtree(folder / "sources", ignore_errors=True)
    assert run(["check", str(folder)]) == 0
    assert run(["check", str(folder), "--study", study]) == 1
    assert run(["check", str(folder), "--study", "/nonexistent/none.toml"]) == 2
    assert "/nonexistent/none.toml cannot be read" in capsys.readouterr().err


def test_the_user_s_own_poses_must_be_there(made, tmp_path, capsys):
    shutil.copy(made.parent.parent / "study.toml", tmp_path)
    assert run(["check", str(made), "--study", str(tmp_path / "study.toml")]) == 2
    assert "poses.csv cannot be read" in " ".join(capsys.readouterr().err.split())


def test_one_certificate_and_what_it_rests_on(folder, capsys):
    path = folder / "leg-2-fits.json"
    assert run(["check", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["holds"]
    assert any("within ± 3 mm of a2x = 223.1792, " in line for line in told["premises"])
    (folder / "leg-2-box.json").unlink()
    assert run(["check", str(path)]) == 0  # another certificate
    change_cell(4, "x", moved(1e-9))(folder)
    assert run(["check", str(path)]) == 1
    assert "sources/poses.csv has" in capsys.readouterr().out
    (folder / MANIFEST).unlink()
    assert run(["check", str(path)]) == 0
    assert "the step from the measured poses is not checked" in capsys.readouterr().out


def test_what_is_not_derived_is_said(tmp_path, capsys):
    text = ONE_LEG + '[certify.model_error]\norientation = "0.1 mm/rad"\n'
    folder = leg_run(tmp_path, text)
    assert "how those follow from poses.csv is not checked, because model errors" in capsys.readouterr().out
    assert run(["check", str(folder)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "The check starts at measurements.json: the step from the measured poses is not checked, because" in out
    assert "model_error.orientation" in out
    assert "Derived from the sources" not in out
    assert not check_folder(folder).from_sources


def test_calibrated_gains_and_centers_are_said_to_be_given(tmp_path, capsys):
    text = ONE_LEG.replace('blueprint = "deltalab"', 'blueprint = "deltalab"\ngains = true')
    folder = leg_run(tmp_path, text + 'center = "calibrated"\n', n=24)
    capsys.readouterr()
    assert run(["check", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "Readings are multiplied by gains, taken as given (leg 2: " in out
    assert "(centers: calibrated values, taken as given; ≈: rounded to nine digits)" in out
    assert "Derived from the sources" in out
    text = (folder / MANIFEST).read_text(encoding="utf-8")
    edited(folder / MANIFEST, lambda data: data["given"].update(gains=[data["given"]["gains"][0] * (1 + 1e-9)]))
    assert judged(folder, capsys)[0] == 1
    for change, message in (
        (
            lambda given: given["values"][0].__setitem__(4, -0.19),
            "the prior of b2y that the study states is not within",
        ),
        (lambda given: given.update(center=""), "the calibrated center of the prior is not in the manifest"),
        (
            lambda given: given.update(center="the blueprint"),
            "the calibrated center of the prior is not in the manifest",
        ),
    ):
        (folder / MANIFEST).write_text(text, encoding="utf-8")
        edited(folder / MANIFEST, lambda data, change=change: change(data["given"]))
        code, out = judged(folder, capsys)
        assert code == 1
        assert message in out


def test_averages_are_not_derived(made):
    study = (made / "sources" / "study.toml").read_text().replace("[poses]", "[poses]\naverage = true")
    path = made / "sources" / "poses.csv"
    texts = (SourceText("study.toml", study.encode(), path), SourceText("poses.csv", path.read_bytes(), path))
    with pytest.raises(NotDerived, match="averages of repeats"):
        Source(*texts, load_manifest(made / MANIFEST).given).raw(load_question(made / "measurements.json"))


def test_poses_in_a_binary_file(tmp_path, capsys):
    data = np.genfromtxt(write(tmp_path, n=12).with_name("poses.csv"), delimiter=",", names=True)
    place = tmp_path / "npz"
    place.mkdir()
    np.savez(place / "poses.npz", **{name: data[name] for name in data.dtype.names})
    (place / "study.toml").write_text(ONE_LEG.replace("poses.csv", "poses.npz"))
    assert run(["certify", str(place / "study.toml"), "--json"]) == 0
    capsys.readouterr()
    certificates = place / "results-certified" / "certificates"
    assert run(["check", str(certificates)]) == 0
    assert "Derived from the sources" in capsys.readouterr().out
    data["x"][3] += 1e-9
    np.savez(certificates / "sources" / "poses.npz", **{name: data[name] for name in data.dtype.names})
    code, out = judged(certificates, capsys)
    assert code == 1
    assert "pose 3 (row 4), x" in out
    assert not check_folder(certificates).from_sources  # nobody reads the binary file there


def test_poses_changed_at_random_are_accepted_only_if_they_say_the_same(made, tmp_path):
    """Sixty spoilt copies with every digest put right: none breaks the check, and what is accepted is no other data."""
    folder = Path(shutil.copytree(made, tmp_path / "certificates"))
    path = folder / "sources" / "poses.csv"
    whole, rng = path.read_bytes(), random.Random(8)
    tokens = [
        b"-",
        b"+",
        b"e9",
        b"e-9",
        b"_",
        b",",
        b";",
        b"\n",
        b'"',
        b"#",
        b"\xff",
        b"\x00",
        b"nan",
        b"9",
        b" ",
        b".",
    ]
    accepted = 0
    for _ in range(60):
        content = bytearray(whole)
        at = rng.randrange(len(content))
        content[at : at + rng.randrange(3)] = rng.choice(tokens)
        path.write_bytes(bytes(content))
        resealed(folder)
        if check_folder(folder):
            accepted += 1
            for old, new in zip(rows_of(whole), rows_of(bytes(content)), strict=True):
                assert all(abs(a - b) <= 1e-13 for a, b in zip(old, new, strict=True))
    assert 0 < accepted < 40


_USED = {*range(7), 8}
"""Columns of position, quaternion and the reading of leg 2."""


def rows_of(content):
    """What twelve poses and the readings of leg 2 are, as Python reads the decimals."""
    lines = [line for line in content.decode().split("\n") if line.strip() and not line.startswith("#")]
    return [
        [Fraction(cell.strip(' "\r')) for k, cell in enumerate(line.split(",")) if k in _USED] for line in lines[1:]
    ]


def test_the_default_center_is_the_blueprint_unless_frames_are_unknown():
    framed = {"calibration": {"frames": "instrument"}}
    assert [center_of(study) for study in ({}, framed, {**framed, "frames": {}})] == [
        "blueprint", "calibrated", "blueprint",
    ]  # fmt: skip
