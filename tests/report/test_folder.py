"""A folder of results never costs anybody a file."""

import os

import pytest

from gough.core.errors import InputError
from gough.report import require_ours, write_folder
from gough.report.base.folder import MANIFEST

FILES = {"report.html": b"one", "figures/a.svg": b"two"}


def contents(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_new_folder_is_made_and_written_again(tmp_path):
    folder = tmp_path / "some" / "where"
    write_folder(folder, FILES)
    write_folder(folder, {**FILES, "report.html": b"three"})
    found = contents(folder)
    assert found.pop(MANIFEST)
    assert found == {**FILES, "report.html": b"three"}


def test_what_is_no_longer_written_is_removed(tmp_path):
    write_folder(tmp_path, FILES)
    write_folder(tmp_path, {"report.html": b"x"})
    assert sorted(p.name for p in tmp_path.iterdir()) == [MANIFEST, "report.html"]


@pytest.mark.parametrize("name", ["notes.txt", "report.html", "figures/b.svg", ".hidden"])
def test_foreign_files_are_refused_and_untouched(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    before = contents(tmp_path)
    with pytest.raises(InputError, match="gough did not write"):
        write_folder(tmp_path, FILES)
    assert contents(tmp_path) == before


def test_a_file_of_ours_that_was_changed_is_refused(tmp_path):
    write_folder(tmp_path, FILES)
    (tmp_path / "report.html").write_text("with my notes")
    before = contents(tmp_path)
    with pytest.raises(InputError, match=r"'report\.html', which was changed"):
        write_folder(tmp_path, FILES)
    assert contents(tmp_path) == before


def test_a_link_in_the_place_of_our_file_is_refused(tmp_path):
    write_folder(tmp_path / "out", FILES)
    (tmp_path / "elsewhere").write_bytes(b"one")
    (tmp_path / "out" / "report.html").unlink()
    (tmp_path / "out" / "report.html").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="changed"):
        require_ours(tmp_path / "out")


def test_a_file_instead_of_a_folder_is_refused(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(InputError, match="is a file"):
        write_folder(tmp_path / "out", FILES)


@pytest.mark.parametrize("text", ["", "[]", '{"files": 3}', '{"files": {"a": 3}}', "\x00"])
def test_a_damaged_manifest_is_refused(tmp_path, text):
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(InputError, match="damaged"):
        write_folder(tmp_path, FILES)


@pytest.mark.parametrize("survivors", range(4))
def test_a_run_that_is_cut_off_leaves_a_folder_the_next_may_use(tmp_path, monkeypatch, survivors):
    from pathlib import Path

    write_folder(tmp_path, FILES)
    replace, left = Path.replace, [survivors]

    def failing(self, target):
        if left[0] == 0:
            raise OSError("no space left on device")
        left[0] -= 1
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(OSError, match="no space"):
        write_folder(tmp_path, {"report.html": b"new", "figures/c.svg": b"more"})
    monkeypatch.undo()
    assert not [name for name in contents(tmp_path) if "unfinished" in name]
    write_folder(tmp_path, {"report.html": b"newer"})
    assert (tmp_path / "report.html").read_bytes() == b"newer"


def test_leftovers_of_a_killed_run_are_swept_away(tmp_path):
    write_folder(tmp_path, FILES)
    (tmp_path / ".gough-unfinished-0123").write_bytes(b"half")
    write_folder(tmp_path, FILES)
    assert "unfinished" not in " ".join(contents(tmp_path))


@pytest.mark.skipif(not hasattr(os, "umask"), reason="needs POSIX permissions")
def test_results_may_be_read_like_any_other_file(tmp_path):
    write_folder(tmp_path / "out", FILES)
    (tmp_path / "plain").write_text("x")
    assert (tmp_path / "out" / "report.html").stat().st_mode == (tmp_path / "plain").stat().st_mode
