"""Pages: verdicts say what to do next; tables and figures stand where their section has them."""

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from gough.closure import Bracket, Certification, ChainFinding, Finding, JointFinding, WithoutPoses
from gough.core.tables import Cell, Column, Table, html_table, table
from gough.report import Page, Section
from gough.report.base.terminal import terminal_tables
from gough.report.identification.page import identification_page

from .conftest import make_report


def test_every_verdict_on_an_identification_says_what_to_do_next():
    report = make_report()
    page = identification_page(replace(report, identified=replace(report.identified, notes=())))
    *verdicts, against = page.verdicts
    assert against.text.startswith("Against the truth")
    assert [verdict.text for verdict in verdicts] == list(replace(report.identified, notes=()).verdicts)
    assert all(verdict.next for verdict in verdicts)


def certifications():
    zeros, names, bracket = np.zeros(7), tuple("abcdefg"), Bracket(1e-5, 2e-5, 0.0)
    without = [None, *(WithoutPoses(1, n, named, (3,), bracket) for n, named in ((0, ()), (1, ()), (1, (3,)), (2, ())))]
    joints = [None, *(JointFinding(f, bracket, None, (), (3,), 1e-5, 1) for f in Finding)]
    for part in ("leg", "chain"):
        for finding in Finding:
            for left in without:
                for joint in joints:
                    chain = ChainFinding(1, finding, names, zeros, None, 1, 0.0, bracket, None, zeros, (), left, ())
                    yield Certification(24, "within ± 1 mm", (chain,), joint, (), {}, None, (), part=part)


def test_every_verdict_of_a_certification_says_what_to_do_next():
    seen = set()
    for found in certifications():
        assert found.verdicts == tuple(statement.text for statement in found.statements)
        for text, _, step in found.statements:
            assert step, text
            seen.add(step)
        assert bool(found.next) == any(
            kind == "bad" or "not decided" in text.lower() for text, kind, _ in found.statements
        )
    assert len(seen) > 10


@pytest.mark.parametrize("content", ["", None, ()])
def test_sections_without_content_are_left_out(content):
    page = Page("Title", sections=(Section("Empty", content if content == () else (content,)), Section("Full", ("a",))))
    assert "Empty" not in page.html()
    assert "<p>a</p>" in page.html()


def test_text_html_and_values_of_a_table_are_the_same():
    columns = [Column("name", "label"), Column("unit", "unit"), Column("mass", unit="kg", note="measured")]
    row = ["a < b", "10⁻³ m", Cell("-1.5", "far", "bad"), "7"]
    made = table([*columns, Column("more", is_detail=True)], [row], "....")
    assert isinstance(made, Table)
    assert str(made).splitlines() == ["name   unit    mass, kg", "─────  ──────  ────────", "a < b  10⁻³ m      -1.5"]
    html = html_table(made)
    for part in ("a &lt; b", "10⁻³ m", "−1.5", '<small class="bad">far</small>', "kg, measured", "<td>7</td>"):
        assert part in html
    assert made.to_dict()["rows"] == [["a < b", "10⁻³ m", "-1.5", "7"]]


WIDE = table(
    ["method", "unit", *(f"root mean square of motor {k}, N·m" for k in range(1, 7))],
    [[f"method {i}", "N·m", *(f"{k}.{i}25 ± 0.011" for k in range(6))] for i in range(3)],
    "lurrrrrr",
)
STEPS = table(
    ["step", "what it did", "rows that remain"],
    [
        [
            "EffortFromDriveSignal(gain=(20.17, 20.45, 20.26, 19.23))",
            "efforts are voltages times the gains stated above",
            "800",
        ]
    ],
    "lwr",
)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("shown", [WIDE, STEPS], ids=["numbers", "words"])
def test_no_cell_is_lost_and_no_line_is_too_long_on_a_terminal(shown, width):
    parts, lines = list(terminal_tables(shown, width)), []
    for part in parts:
        console = Console(width=width, file=StringIO())
        console.print(part)
        lines.append(console.file.getvalue())
    printed = "".join(lines)
    assert "…" not in printed
    assert max(map(len, printed.splitlines())) <= width
    skipped = 1 if width == 60 else 0  # labels beside words are folded where nothing else helps
    for word in " ".join(text for row in (shown.heads, *shown.texts) for text in row[skipped:]).split():
        assert word in printed
    for number in shown.texts[0][2:] if shown is WIDE else ("800",):
        assert number in printed  # on one line
    sizes = [len(part.columns) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    assert len(parts) == (1 if shown is STEPS or width > 110 else 2)


def test_heads_of_a_wide_text_table_are_broken_into_lines():
    lines = str(WIDE).splitlines()
    assert [line.split()[:2] for line in lines[:3]] == [["root", "mean"], ["square", "of"], ["method", "unit"]]
    assert len(lines) == 3 + 1 + 3
    assert str(table(["a", "b"], [["1", "2"]], "lr")).splitlines()[0] == "a  b"
