"""Values that pages quote are those that the papers print, digit by digit. Needs the papers' texts; skips without."""

import os
import re
from pathlib import Path

import pytest

from gough.papers.gough_platform import printed as gough_printed
from gough.papers.printed import NCPP, NCPP_AGAINST_ADAMS, PRV03E, PRV03E_DETERMINANT, PRV03E_OUTLIERS, PRV03I

REPOSITORY = Path(__file__).parents[2]


def text_of(paper):
    path = Path(os.environ.get("GOUGH_PAPERS", REPOSITORY.parent / "shared" / "papers")) / f"{paper}.txt"
    if not path.exists():
        pytest.skip(f"{path.name} is not here")
    return path.read_text(encoding="utf-8").replace("−", "-").replace("–", "-")


def rows_of(text):
    """Cells of lines with tabs, without the marks of TeX."""
    plain = re.sub(r"\\text|\\mathrm|[${}\\]", "", text)
    return [[cell.strip() for cell in line.split("\t")] for line in plain.splitlines() if "\t" in line]


def by_first(rows, first):
    return [row[1:] for row in rows if row[0] == first]


def test_the_h4_by_intervals():
    rows = rows_of(text_of("h4-interval-cdc2003"))
    for name, printed in PRV03I.items():
        assert by_first(rows, name) == [[printed.box_text, printed.prior or "/"], [printed.value, printed.sigma]]


def test_the_h4_by_ellipsoids():
    text = text_of("h4-ellipsoid-iros2003")
    rows = rows_of(text)
    for name, printed in PRV03E.items():
        assert by_first(rows, name) == [[printed.value, printed.prior or "/"]]
    mantissa, exponent = PRV03E_DETERMINANT.split("e")
    assert f"={mantissa} \\cdot 10^{{{exponent}}}" in text
    assert f"less than {PRV03E_OUTLIERS}" in text


def test_the_par4():
    text = text_of("par4-dynamics")
    names = {
        "i_act": "i_act",
        "m'_1": "m_1",
        "m'_2": "m_2",
        "g (L_G m_4 + L m_5)": "gS_arm",
        "f_c": "f_c",
        "f_v": "f_v",
    }
    found = {names[row[0]]: row[1:] for row in rows_of(text) if row[0] in names}
    assert {name: (cells[0].split()[0], cells[1]) for name, cells in found.items()} == {
        name: (printed.value, printed.sigma) for name, printed in NCPP.items()
    }
    assert f"is about {NCPP_AGAINST_ADAMS}" in text


def test_the_platform():
    text = text_of("gough-interval-calibration-2006")
    rows = rows_of(text)
    legs = [row[1:] for row in rows if len(row) == 8 and row[0] in "123456"]
    printed = (*gough_printed.TABLE_1, *gough_printed.TABLE_4, *gough_printed.TABLE_5)
    assert legs == [list(row) for row in printed]
    assert by_first(rows, "Std (mm)") == [list(gough_printed.READING_SIGMA)]
    assert by_first(rows, "Std (degree,m)") == [[value for _, value in gough_printed.POSE_SIGMA]]
    six = [row[1:] for row in rows if row[0].startswith(("Mean ", "Std dev."))]
    assert six == [list(column) for column in zip(*gough_printed.VALIDATION.values(), strict=True)]
    assert by_first(rows, "epsilon_cert (mm)") == [list(gough_printed.EPSILON_CERTIFIED)]
    assert by_first(rows, "epsilon (mm)") == [list(gough_printed.EPSILON)]
