"""`gough reproduce`: the papers' tables beside ours."""

import json
import re

import pytest

from gough.cli.app import run
from gough.studies.papers import PAPERS, h4_ellipsoid, h4_interval, par4
from gough.studies.papers.printed import NCPP, PRV03E, PRV03I, ellipsoid_volume, implied_bound, outside_their_boxes


@pytest.fixture(scope="module", params=["h4-interval", "h4-ellipsoid", "par4"])
def reproduced(request):
    return request.param, PAPERS[request.param](seed=2)


def cell(table, name, head):
    row = next(row for row in table.rows if row[0] == name)
    return row[table.heads.index(head)]


def numbers(text):
    return [float(part) for part in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", text)]


def test_every_paper_has_its_tables_and_its_remarks(reproduced):
    name, found = reproduced
    assert found.inconsistencies
    assert found.differences
    for table in found.tables:
        assert all(len(row) == len(table.heads) for row in table.rows)
    json.dumps(found.to_dict())
    printed = {"h4-interval": PRV03I, "h4-ellipsoid": PRV03E, "par4": NCPP}[name]
    shown = {row[0] for row in found.tables[0].rows}
    assert set(printed) <= shown


def test_boxes_hold_the_truth_and_the_hull_lies_in_the_paper_s_box():
    boxes, weighted = h4_interval.reproduce(seed=3).tables
    for name in PRV03I:
        truth = float(cell(boxes, name, "truth"))
        outer = numbers(cell(boxes, name, "ours, Gauss–Seidel"))
        inner = numbers(cell(boxes, name, "ours, exact hull"))
        assert outer[0] <= inner[0] <= truth <= inner[1] <= outer[1]
        value, percent = numbers(cell(weighted, name, "ours, 16 parameters"))
        assert abs(value - truth) < 5 * percent / 100 * value + 1e-4  # cells are rounded to 1e-4


def test_what_the_papers_numbers_contradict_is_computed_from_them():
    assert outside_their_boxes(PRV03I) == ("F_v2",)
    name, bound = implied_bound()
    assert (name, round(bound, 3)) == ("F_c3", 0.435)
    assert ellipsoid_volume(1.0, 3) == pytest.approx(4.18879020)  # 4π/3
    assert any("F_v2" in line for line in h4_interval.inconsistencies())
    assert any("1.63e-21" in line for line in h4_ellipsoid.inconsistencies())
    assert any("f_v = 20.4" in line for line in par4.inconsistencies())


def test_the_command(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    assert run(["reproduce", "par4"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "Table 1. Estimated dynamic parameters" in shown.out
    assert "What the paper's own numbers contradict" in shown.out
    assert run(["reproduce", "par4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["paper"] == "NCPP"
    assert run(["reproduce", "par5"]) == 2
    assert "did you mean 'par4'?" in capsys.readouterr().err
