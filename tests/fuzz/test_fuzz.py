"""Spoiled files of every kind: each is read, refused with a message, or found not to hold; nothing else ever happens.

Every run tries the same files; `make fuzz` tries others for as long as one likes.
"""

import pytest

from gough import estimate
from gough.checker import certificate_of, save
from gough.cli.app import run
from gough.data import write_problem
from gough.methods import LinearHull
from tests.fuzz.campaign import DOES_NOT_HOLD, READ, REFUSED, prepared, spoiled, tried
from tests.fuzz.doors import CERTIFICATES, DOORS, PROBLEM

SLOW = {
    "study of identification": 60,
    "mechanism": 60,
    "study of design": 60,
    "certificate of a leg": 40,
    "certificate of chains": 60,
    "model to export": 30,
    "recording MCAP": 60,
    "watched CSV": 60,
    "watched JSON lines": 40,
}
"""Files take tens of milliseconds where much is computed from them."""


@pytest.mark.parametrize("kind", DOORS)
def test_no_file_ends_in_a_fault(kind, tmp_path):
    if kind == "image":
        pytest.importorskip("cv2")
    found = tried(kind, tmp_path, seed=2026, numbers=range(SLOW.get(kind, 120)))
    assert [why for _, _, why in found.faults] == []
    assert found.counts[REFUSED] > 0
    assert found.counts[READ] + found.counts[DOES_NOT_HOLD] > 0, "the seeds of this kind are refused"


COMMANDS = {
    "certificate": ["check", "{file}", "problem.npz"],
    "problem npz": ["check", "certificate.json", "{file}"],
    "certificate of a leg": ["check", "{file}", "measurements.json"],
    "printer.cfg": ["calibrate", "{file}", "--out", "out"],
    "study of poses": ["certify", "{file}", "--out", "out"],
    "target": ["target", "render", "out", "--target", "{file}", "--size", "x"],
    "recording C3D": ["look", "{file}"],
    "camera": ["poses", "measure", "none.png", "--camera", "{file}"],
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_the_command_ends_with_one_of_three_exit_codes(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = prepared(kind, tmp_path)
    write_problem(PROBLEM, "problem.npz")
    save(certificate_of(PROBLEM, estimate(PROBLEM, LinearHull())), "certificate.json")
    (tmp_path / "measurements.json").write_bytes((CERTIFICATES / "leg" / "measurements.json").read_bytes())
    arguments = [each.format(file=path.name) for each in COMMANDS[kind]]
    for number in range(12):
        path.write_bytes(spoiled(kind, 7, number))
        code = run(arguments)
        shown = capsys.readouterr()
        assert code in {0, 1, 2}, shown.err
        assert code != 2 or shown.err.startswith(("Error: ", "Usage: "))
    assert not list(tmp_path.glob("gough-fault-*"))


def test_a_fault_is_seen(tmp_path, monkeypatch):
    def broken(_):
        raise ZeroDivisionError

    monkeypatch.setitem(DOORS, "camera", type(DOORS["camera"])(**{**vars(DOORS["camera"]), "enter": broken}))
    found = tried("camera", tmp_path, seed=1, numbers=range(3))
    assert found.counts == {"3 ZeroDivisionError": 3}
    assert len(found.faults) == 3


def test_a_file_that_takes_too_long_is_seen(tmp_path, monkeypatch):
    def endless(_):
        while True:
            pass

    monkeypatch.setattr("tests.fuzz.campaign.LIMIT", 0.05)
    monkeypatch.setitem(DOORS, "camera", type(DOORS["camera"])(**{**vars(DOORS["camera"]), "enter": endless}))
    assert tried("camera", tmp_path, seed=1, numbers=range(1)).counts == {"3 Hang": 1}
