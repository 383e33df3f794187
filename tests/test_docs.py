"""Python in the README, the docs and the examples runs, and links lead somewhere."""

import ast
import json
import re
import runpy
import shlex
from pathlib import Path

import pytest
from scripts import import_graph

from gough.cli.app import run
from gough.papers.reproduction import as_markdown

REPOSITORY = Path(__file__).parents[1]
PAGES = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
REPRODUCED = sorted((REPOSITORY / "docs" / "reproductions").glob("*.json"))
EXAMPLES = sorted((REPOSITORY / "examples").glob("*.py"))


def name(path):
    return str(path.relative_to(REPOSITORY))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code_blocks_run(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {"__name__": "docs"}
    is_tutorial = page.parent.name == "tutorials"
    for language, block in re.findall(r"```(python|sh)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        if language == "python":
            exec(compile(block, str(page), "exec"), scope)
        elif is_tutorial:  # elsewhere shell blocks show what there is
            for line in block.splitlines():
                program, *arguments = shlex.split(line, comments=True)
                assert program == "gough", line
                refuted = "exit code 1" in line
                assert run(arguments) == int(refuted), capsys.readouterr().err


def test_the_output_in_the_readme_is_what_is_printed(capsys):
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    block, output = re.search(r"```python\n(.*?)```\n```text\n(.*?)```", text, re.DOTALL).groups()
    exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out == output


@pytest.mark.parametrize("example", EXAMPLES, ids=name)
def test_examples_run(example, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("stored", REPRODUCED, ids=name)
def test_pages_of_reproduced_papers_are_made_of_their_json(stored):
    page = stored.with_suffix(".md").read_text(encoding="utf-8")
    assert page == as_markdown(json.loads(stored.read_text(encoding="utf-8"))), "run scripts/reproduction_page.py"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_local_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_the_tutorial_on_verdicts_has_a_section_for_every_effect():
    from gough.dynamics.effects import catalogue

    page = (REPOSITORY / "docs" / "tutorials" / "what-the-verdict-means.md").read_text(encoding="utf-8")
    missing = [name for name in catalogue() if f"### `{name}`" not in page]
    assert not missing, f"state what to do about: {', '.join(missing)}"


def test_the_tour_names_what_is_there():
    page = REPOSITORY / "docs" / "tour.md"
    rows = re.findall(r"^\|.*\| (`.*`) \| (\[.*\)) \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) > 20
    for names, links in rows:
        sources = [(page.parent / link).read_text(encoding="utf-8") for link in re.findall(r"\]\(([^)]+)\)", links)]
        for symbol in re.findall(r"`(\w+)`", names):
            defined = rf"^(def|class) {symbol}\b"
            assert any(re.search(defined, source, re.MULTILINE) for source in sources), f"{symbol} is not in {links}"


def test_hooks_run_what_make_check_runs():
    recipe = re.search(r"^check:.*\n((?:\t.*\n)+)", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    commands = [line.strip().replace("$(BIN)", ".venv/bin") for line in recipe[1].splitlines()]
    hooks = (REPOSITORY / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"^ +entry: (.*)$", hooks, re.MULTILINE) == commands


def test_the_workflow_runs_what_ci_runs():
    text = (REPOSITORY / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert re.findall(r"^ +- run: (.*)$", text, re.MULTILINE) == [".ci/run", ".ci/run test-lowest"]
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", action) for action in re.findall(r"uses: (\S+)", text))
    oldest = re.search(r'requires-python = ">=([\d.]+)"', (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    assert f'"{oldest[1]}"' in text


PLAIN = ("cli", "core", "data", "designs", "kernels", "robots", "simulate", "vision", "*.py")
"""Parts of the library whose docstrings follow docs/contributing/voice.md; the list grows."""
FRAGMENT = re.compile(r"\s*Of |(?:.*\n)*? +\w+: (?:Of|How many|Another) ")


@pytest.mark.parametrize("part", PLAIN)
def test_docstrings_say_what_they_describe(part):
    """`Of the report.` leaves it to the reader to find out what of the report."""
    source = REPOSITORY / "src" / "gough"
    files = sorted(source.glob(part) if "*" in part else (source / part).rglob("*.py"))
    assert files
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                assert not FRAGMENT.match(node.value.value), f"{name(file)}, line {node.lineno}: {node.value.value}"


def test_the_architecture_is_that_of_the_source():
    page = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert import_graph.drawn(page) == page, "run python scripts/import_graph.py"


def test_a_circle_of_imports_is_named():
    with pytest.raises(ValueError, match="a -> b -> a"):
        import_graph.levels({"a": {"b"}, "b": {"a"}})


@pytest.mark.parametrize("script", sorted((REPOSITORY / "scripts").glob("*.py")), ids=name)
def test_scripts_import_what_is_there(script):
    runpy.run_path(str(script), run_name="scripts")
