"""What every reproduced paper's page must have, for the tests of each paper."""

import json
import re
from pathlib import Path

import pytest

from gough.cli import reproduce as command
from gough.cli.app import run
from gough.core.progress import Phase

PAGES = Path(__file__).parents[2] / "docs" / "reproductions"


def show(monkeypatch, known):
    """Let the command use reproductions that are computed already, by the names of their papers."""

    def kept(name):
        def reproduce(seed, on_step):
            assert seed == 1
            on_step(Phase(1, 1, "nothing"))
            return known[name]

        return reproduce

    monkeypatch.setattr(command, "PAPERS", {name: kept(name) for name in known})
    monkeypatch.setenv("COLUMNS", "160")


def is_written(name, found, folder, capsys):
    """The command writes page, text, numbers and figures to a new folder, and says so."""
    assert run(["reproduce", name, "--out", str(folder)]) == 0
    figures = {f"figures/{drawing.name}.{kind}" for drawing in found.drawings for kind in ("svg", "png")}
    files = {"reproduction.html", "reproduction.txt", "reproduction.json", "gough-manifest.json", *figures}
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == files
    out = capsys.readouterr().out
    assert f"Page: {folder / 'reproduction.html'}" in out
    assert f"reproduction.txt, reproduction.json, and {len(found.drawings)} figures in figures/" in out
    page = (folder / "reproduction.html").read_text(encoding="utf-8")
    assert all(f'id="{drawing.name}"' in page for drawing in found.drawings)


def numbers_in(text):
    return [float(part) for part in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", text)]


def causes_have_numbers(found):
    """Sentences that name a cause have numbers."""
    for remark in (*found.inconsistencies, *found.differences):
        if re.search(r"\b(because|since|due to|explains?|therefore|refutes?)\b", remark, re.IGNORECASE):
            assert len(numbers_in(remark)) >= 2, remark


def is_documented(name, found):
    """Words of the documentation are the same; numbers agree as far as another processor or library may round them."""
    stored = json.loads((PAGES / f"{name}.json").read_text(encoding="utf-8"))
    stored.pop("shown", None)
    assert stored.pop("command") == f"gough reproduce {name}"
    agree(stored, json.loads(json.dumps(found.to_dict())), name)


def agree(stored, found, where, slack=1e-9):
    """The same, numbers to 2 %; one whose σ is stated beside it may be as near to zero as it likes: to 2 % of σ."""
    if isinstance(stored, dict):
        assert list(stored) == list(found), where
        for key in stored:
            sigma = stored.get(f"{key}_sigma", 0.0)
            agree(stored[key], found[key], f"{where}: {key}", max(1e-9, 0.02 * sigma))
    elif isinstance(stored, list):
        assert len(stored) == len(found), where
        for k, pair in enumerate(zip(stored, found, strict=True)):
            agree(*pair, f"{where}[{k}]")
    elif isinstance(stored, str):
        texts, numbers = zip(*(split(text) for text in (stored, found)), strict=True)
        assert texts[0] == texts[1], where
        for one, other in zip(*numbers, strict=True):
            near = 2 * max(last_place(one), last_place(other))
            assert abs(float(one) - float(other)) <= near * (1 + 1e-9), f"{where}: {stored}"
    elif isinstance(stored, float) and abs(stored) < 1e15:  # beyond, it is the condition of a singular matrix
        assert found == pytest.approx(stored, rel=0.02, abs=slack), where
    else:
        assert type(stored) is type(found), where
        assert stored == found or stored > 1e15, where


NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]\d+)?")


def split(text):
    return NUMBER.sub("#", text), NUMBER.findall(text)


def last_place(number):
    """One unit of the last digit as printed."""
    mantissa, _, exponent = number.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals)
