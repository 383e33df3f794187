"""Folders of certificates: complete or refused, whatever happened to one file."""

import json
import shutil
from pathlib import Path

import pytest

from gough.checker.folders import check_folder
from gough.checker.manifest import MANIFEST, load_manifest
from gough.cli.app import run
from gough.core.errors import InputError
from gough.core.sealed import sealed, unsealed
from tests.checker.runs import edited, leg_run, resealed

OLD = Path(__file__).parent / "data" / "before-manifest"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of certificates of one leg that fits twelve poses."""
    return leg_run(tmp_path_factory.mktemp("leg"))


@pytest.fixture
def folder(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "certificates"))


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_the_manifest_lists_every_file(made, capsys):
    manifest = load_manifest(made / MANIFEST)
    names = {path.relative_to(made).as_posix() for path in files_of(made)}
    assert manifest.names == names - {MANIFEST}
    assert {"sources/study.toml", "sources/poses.csv", "measurements.json", "leg-2-box.json"} <= names
    assert manifest.written_by.startswith("gough ")
    assert run(["check", str(made)]) == 0
    out = capsys.readouterr().out
    assert "3 of 3 certificates hold" in out
    assert "NOT CERTIFIED" not in out


def spoil(path, how):
    content = path.read_bytes()
    if how == "deleted":
        path.unlink()
    elif how == "emptied":
        path.write_bytes(b"")
    elif how == "truncated":
        path.write_bytes(content[: len(content) // 2])
    elif how == "cut to its first line":
        path.write_bytes(content[: content.index(b"\n") + 1])
    elif how == "unsealed" and path.suffix == ".json":
        path.write_text(unsealed(content.decode()) + "\n}\n")
    elif how == "one digit":
        at = next(i for i in range(len(content) // 2, 0, -1) if content[i : i + 1].isdigit())
        path.write_bytes(content[:at] + (b"1" if content[at : at + 1] != b"1" else b"2") + content[at + 1 :])
    elif how == "a folder":
        path.unlink()
        path.mkdir()
    elif how == "not text":
        path.write_bytes(b"\xff\xfe" + content)
    else:
        path.write_bytes(content + b"\n")


@pytest.mark.parametrize(
    "how",
    ["deleted", "emptied", "truncated", "cut to its first line", "unsealed", "one digit", "a folder", "not text"],
)
def test_whatever_happened_to_one_file_the_folder_does_not_hold(folder, how, capsys):
    for path in files_of(folder):
        content, name = path.read_bytes(), path.relative_to(folder).as_posix()
        spoil(path, how)
        assert run(["check", str(folder)]) == 1, name
        shown = capsys.readouterr()
        assert name in shown.out, name
        assert "The folder does not hold" in shown.out, name
        assert not shown.err
        if how == "deleted":
            assert run(["check", str(folder), "--json"]) == 1
            told = json.loads(capsys.readouterr().out)
            assert told["holds"] is False
            assert any(name in fault for fault in told["faults"])
        if path.is_dir():
            path.rmdir()
        path.write_bytes(content)
    assert run(["check", str(folder)]) == 0


def test_extra_and_swapped_files(folder, capsys):
    (folder / "leg-3-fits.json").write_bytes((folder / "leg-2-fits.json").read_bytes())
    assert run(["check", str(folder)]) == 1
    assert "leg-3-fits.json is not listed" in capsys.readouterr().out
    (folder / "leg-3-fits.json").unlink()
    (folder / "sources" / "more.csv").write_text("x\n1\n")
    assert run(["check", str(folder)]) == 1
    assert "sources/more.csv is not listed" in capsys.readouterr().out
    (folder / "sources" / "more.csv").unlink()
    one, other = folder / "leg-2-fits.json", folder / "leg-2-box.json"
    first = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(first)
    assert run(["check", str(folder)]) == 1
    told = capsys.readouterr().out
    assert "leg-2-fits.json has" in told
    assert "leg-2-box.json has" in told


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"version": 1', '"version": 2', "this gough reads format 1"),
        ('["leg-2-box.json"', '["../leg-2-box.json"', "no name of a file in this folder"),
        ('["leg-2-box.json"', '["/leg-2-box.json"', "no name of a file in this folder"),
        ('["leg-2-box.json"', '["leg-2-fits.json"', "more than once"),
        ('["study",', '["plan",', "sources are study and poses"),
        ('"written_by"', '"wrote"', "wrote"),
        ('"lower":[0.22', '"lower":[0.21', "another prior"),
    ],
)
def test_a_manifest_that_was_rewritten(folder, old, new, message, capsys):
    path = folder / MANIFEST
    text = unsealed(path.read_text(encoding="utf-8"))
    assert old in text
    path.write_text(sealed(text.replace(old, new, 1)), encoding="utf-8")
    assert run(["check", str(folder)]) == 1
    assert message in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", [MANIFEST, "measurements.json", "chain-2-equations.json", "sources/study.toml"])
def test_files_that_are_no_certificates_lead_to_their_folder(made, tmp_path, name, capsys):
    place = Path(shutil.copytree(OLD / "chain" if "chain" in name else made, tmp_path / "my folder"))
    assert run(["check", str(place / name)]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "not a certificate" in told
    assert ".npz" not in told
    wanted = "the folder that gough certify wrote" if name.endswith("toml") else f"gough check '{place}'"
    assert wanted in told


@pytest.mark.parametrize("length", [300, 5000])
def test_names_that_no_file_can_have(folder, length, capsys):
    name = length * "n"
    edited(folder / MANIFEST, lambda manifest: manifest["sources"][1].__setitem__(2, f"{name}/poses.csv"))
    assert run(["check", str(folder)]) == 0  # the original is not there: said, and no fault
    assert "nnn is not there: the copy in sources/poses.csv is not compared with it." in capsys.readouterr().out
    edited(folder / MANIFEST, lambda manifest: manifest["files"].append([name, "sha256:0", 1]))
    assert run(["check", str(folder)]) == 1
    shown = capsys.readouterr()
    assert "nnn is missing" in shown.out
    assert not shown.err


def test_what_the_study_asks_for_and_no_certificate_states_is_said(folder, capsys):
    """Who removes certificates may put the manifest right, but not the questions that the study asks."""
    (folder / "leg-2-box.json").unlink()
    edited(
        folder / MANIFEST,
        lambda manifest: manifest.update(files=[each for each in manifest["files"] if each[0] != "leg-2-box.json"]),
    )
    assert run(["check", str(folder)]) == 0
    *_, missing, end = capsys.readouterr().out.splitlines()
    assert missing == "NOT CERTIFIED  leg 2: no certificate bounds its unknowns or refutes it"
    assert end.startswith("2 of 2 certificates hold. They do not answer all that the study asks for")
    study = folder / "sources" / "study.toml"
    study.write_text(study.read_text().replace("chains = [2]", "chains = [2, 5]"))
    resealed(folder)
    found = check_folder(folder)
    assert found.holds
    assert [line.partition(":")[0] for line in found.uncertified] == ["leg 2", "leg 5", "legs 2, 5 together"]
    study.write_text(study.read_text().replace("chains = [2, 5]", "joint = false"))
    resealed(folder)
    assert len(check_folder(folder).to_dict()["uncertified"]) == 6


def test_certificates_hold_only_by_themselves_where_the_folder_does_not(folder, capsys):
    edited(folder / MANIFEST, lambda manifest: manifest.update(wrote=manifest.pop("written_by")))
    assert run(["check", str(folder)]) == 1
    told = capsys.readouterr().out
    assert "holds by itself  leg-2-fits.json" in told
    assert "\nholds  " not in told
    assert "not derived. By themselves, 3 of 3 certificates hold." in told.splitlines()[-1]


@pytest.mark.parametrize(("name", "count"), [("leg", 3), ("chain", 3)])
def test_folders_of_an_older_gough_are_checked(name, count, tmp_path, capsys):
    folder = Path(shutil.copytree(OLD / name, tmp_path / name))
    assert run(["check", str(folder)]) == 0
    out = capsys.readouterr().out
    assert f"{count} of {count} certificates hold" in out
    assert "Whether certificates are missing cannot be judged" in out
    for path in files_of(folder):
        content = path.read_bytes()
        for how in ("emptied", "truncated", "unsealed", "one digit"):
            spoil(path, how)
            assert run(["check", str(folder)]) == 1, (path.name, how)
            assert path.name in capsys.readouterr().out
            path.write_bytes(content)
    assert check_folder(folder).holds


def test_the_folder_of_all_results_has_them_too(made, capsys):
    assert run(["check", str(made.parent)]) == 0
    assert "3 of 3 certificates hold" in capsys.readouterr().out


def test_nothing_to_check(tmp_path):
    (tmp_path / "package.json").write_text("{}")
    with pytest.raises(InputError, match="holds no certificates"):
        check_folder(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        check_folder(tmp_path / "none")
