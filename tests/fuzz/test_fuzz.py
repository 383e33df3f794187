"""Spoiled files of every kind: each is read, refused with a message, or found not to hold; nothing else ever happens.

Every run tries the same files; `make fuzz` tries others for as long as one likes.
"""

import pytest

from tests.fuzz.campaign import DOES_NOT_HOLD, READ, REFUSED, tried
from tests.fuzz.doors import DOORS

SLOW = {"study of identification": 60, "mechanism": 60, "study of design": 60, "certificate of a leg": 40}
"""Files take tens of milliseconds where much is computed from them."""


@pytest.mark.parametrize("kind", DOORS)
def test_no_file_ends_in_a_fault(kind, tmp_path):
    if kind == "image":
        pytest.importorskip("cv2")
    found = tried(kind, tmp_path, seed=2026, numbers=range(SLOW.get(kind, 120)))
    assert [why for _, _, why in found.faults] == []
    assert found.counts[REFUSED] > 0
    assert found.counts[READ] + found.counts[DOES_NOT_HOLD] > 0, "the seeds of this kind are refused"


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
