"""The site: what its pages are generated from, its notebooks, its links; and what a release states about itself."""

import importlib
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
from scripts import check_links, licences, lowest

from gough.cli.on_demand import COMMANDS

REPOSITORY = Path(__file__).parents[1]
DOCS = REPOSITORY / "docs"
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def extension(monkeypatch):
    """Import a module of the site's own extensions."""
    pytest.importorskip("sphinx", reason="the site needs the extra docs")
    monkeypatch.syspath_prepend(DOCS / "_extensions")
    return importlib.import_module


def test_every_public_name_is_in_the_reference(extension, tmp_path):
    extension("api_reference").write_pages(tmp_path)
    text = {page.stem: page.read_text(encoding="utf-8") for page in tmp_path.glob("*.rst")}
    for name in set(text) - {"index"}:
        for key in extension("api_reference").names_of(importlib.import_module(name)):
            described = re.search(rf"^\.\. auto\w+:: {re.escape(name)}\.{key}$", text[name], re.MULTILINE)
            assert described or f"`{key} <" in text[name], f"{name}.{key}"
    from tests.test_public_api import PUBLIC

    assert set(PUBLIC) <= set(text)


def test_every_command_and_option_is_in_the_reference(extension, tmp_path):
    extension("command_reference").write_pages(tmp_path)
    assert {page.stem for page in tmp_path.glob("*.rst")} == {*COMMANDS, "index"}
    identify = (tmp_path / "identify.rst").read_text(encoding="utf-8")
    assert "gough identify [OPTIONS] STUDY" in identify
    assert "``--json``\n   Print the result as JSON and nothing else." in identify
    assert "gough poses measure" in (tmp_path / "poses.rst").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Residuals |y − W θ| of `problem`.", r"Residuals \|y − W θ\| of ``problem``."),
        ("A bound:\n\n    y = W θ + e\n\nThen more.", "A bound:\n\n\n::\n\n    y = W θ + e\n\nThen more."),
        ("One of\n    (N,)   rows\nThat is all.", "One of\n\n::\n\n    (N,)   rows\n\nThat is all."),
        ("ε* is the least.", r"ε\* is the least."),
    ],
)
def test_docstrings_are_shown_as_they_stand(extension, text, expected):
    assert "\n".join(extension("docstrings").as_rst(text.splitlines(), "attribute")) == expected


def test_sections_of_docstrings_become_fields(extension):
    lines = extension("docstrings").as_rst(["What.", "", "Args:", "    W: A matrix |W|."], "function")
    assert r":param W: A matrix \|W\|." in lines


def test_dark_figures_exchange_ink_and_paper(extension):
    drawn = extension("figures_by_theme").dark('<rect fill="#ffffff"/><path stroke="#22303c"/><path stroke="#0072b2"/>')
    paper, ink, line = (int(c[1:3], 16) + int(c[3:5], 16) + int(c[5:], 16) for c in re.findall(r"#\w{6}", drawn))
    assert paper < 120
    assert ink > 450
    assert line > 0x00 + 0x72 + 0xB2, "colors of lines become lighter"


def test_a_link_leads_to_the_page_that_shows_a_file(extension):
    pages = extension("source_pages")
    assert pages.page_of(REPOSITORY / "src/gough/region.py") == "source/src/gough/region.py"
    assert pages.page_of(REPOSITORY / "docs/trust.md") == "trust"
    assert pages.page_of(REPOSITORY / "nothing.py") is None
    page, line = pages._definition("gough.region.Box", "")
    text = (REPOSITORY / page.removeprefix("source/")).read_text(encoding="utf-8").splitlines()
    assert any("class Box" in row for row in text[line - 1 : line + 3])
    assert pages._definition("numpy.ndarray", "") is None


def test_broken_links_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#there">x</a><a href="c.html">x</a><img src="d.png">')
    (tmp_path / "b.html").write_text('<p id="here"></p><a href="https://example.org/">x</a><a href="#here">x</a>')
    found = check_links.faults(tmp_path)
    assert len(found) == 3
    assert [line.split(": ")[1].split(" ")[0] for line in found] == ["b.html#there", "c.html", "d.png"]


def test_every_page_and_example_is_in_the_site():
    listed = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    assert set(re.findall(r"literalinclude\} \.\./examples/(\w+)\.py", listed)) == {
        path.stem for path in (REPOSITORY / "examples").glob("*.py")
    }
    for notebook in (DOCS / "notebooks").glob("*.ipynb"):
        assert f"notebooks/{notebook.stem}" in listed


@pytest.mark.parametrize("path", sorted((DOCS / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebooks_run(path, tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "outputs are made when the site is built"
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    assert any(cell.get("outputs") for cell in notebook.cells)


def test_licences_of_all_dependencies_are_stated():
    page = licences.PAGE.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([\w.-]+) \| (.+?) \|", page, re.MULTILINE))
    extras = PROJECT["optional-dependencies"].items()
    wanted = (line for name, lines in extras if name not in licences.FOR_DEVELOPERS for line in lines)
    required = [*PROJECT["dependencies"], *wanted]
    for line in required:
        name = licences.normalized(re.match(r"[\w.-]+", line)[0])
        assert name in rows, f"run python scripts/licences.py: {name} is missing"


def test_the_bill_of_materials_names_what_is_installed():
    bill = json.loads(json.dumps(licences.sbom()))
    components = {part["name"]: part for part in bill["components"]}
    import numpy as np

    assert components["numpy"]["version"] == np.__version__
    assert components["numpy"]["purl"] == f"pkg:pypi/numpy@{np.__version__}"


def test_the_oldest_versions_are_those_of_the_project():
    lines = lowest.constraints(PROJECT)
    assert any(line.startswith("numpy==") for line in lines)
    assert not any(line.startswith("ruff") for line in lines)
    names = {re.match(r"[\w.-]+", line)[0].lower() for line in PROJECT["dependencies"]}
    assert names <= {line.split("==")[0].lower() for line in lines}, "every dependency states its oldest version"


def test_the_version_is_stated_once():
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT
    assert sys.version_info >= tuple(int(part) for part in PROJECT["requires-python"].removeprefix(">=").split("."))
