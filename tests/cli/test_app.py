"""What all commands share: the help that a stranger reads first, and what is said when work is interrupted."""

import re
import signal
import subprocess
import sys

import pytest
from pydantic import ValidationError
from rich.text import Text

from gough.cli import app, main
from gough.cli.app import run
from gough.cli.on_demand import COMMANDS, command
from gough.studies import checking
from gough.studies.calibration_schema import CertifyTable


def test_the_help_names_every_command(capsys):
    assert run(["--help"]) == 0
    told = capsys.readouterr().out
    commands = [
        "demo",
        "new",
        "mechanism",
        "design",
        "identify",
        "poses",
        "target",
        "camera",
        "calibrate",
        "recalibrate",
        "certify",
        "check",
        "reproduce",
    ]
    assert [name for name in commands if f" {name} " not in told] == []


def commands_below(command, path):
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands_below(each, f"{path} {name}")


@pytest.mark.parametrize(
    ("path", "command"),
    [pytest.param(*pair, id=pair[0]) for name in COMMANDS for pair in commands_below(command(name), f"gough {name}")],
)
def test_every_command_argument_and_option_is_described_in_a_sentence(path, command):
    texts = {path: command.help, **{f"{path} {each.name}": each.help for each in command.params}}
    for name, text in texts.items():
        assert text, f"{name} has no help"
        assert re.match(r"[A-Z].*[.…]$", text.strip(), re.DOTALL), f"{name}: {text!r}"
        fragment = re.match(r"(Of|To|Another|How many)\b", text)  # "Of the images, pixels." does not say what it is
        assert fragment is None, f"{name}: {text!r}"


@pytest.mark.parametrize(
    ("path", "command"),
    [pytest.param(*pair, id=pair[0]) for name in COMMANDS for pair in commands_below(command(name), f"gough {name}")],
)
def test_words_in_brackets_are_not_taken_for_styles(path, command):
    """Help of options is markup: what stands in brackets there, such as a unit, is to be escaped."""
    for each in command.params:
        escaped = each.help.replace("\\[", "[")
        assert Text.from_markup(each.help).plain == escaped, f"{path} {each.name}"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_their_help_says(name):
    assert command(name).help.split("\n\n")[0].replace("\\[", "[") == COMMANDS[name].summary


def test_a_command_that_does_not_exist(capsys):
    assert run(["identfy", "study.toml"]) == 2
    assert "'identify'" in capsys.readouterr().err


LIGHT = """
import contextlib, io, sys
sys.argv = ["gough", *sys.argv[1:]]
import gough_command
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    gough_command.main()
print(*sys.modules)
"""


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_load_no_command(option):
    """Modules are counted, since seconds depend on the machine."""
    asked = [sys.executable, "-c", LIGHT, option]
    modules = set(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split())
    roots = {module.split(".")[0] for module in modules}
    assert not roots & {"numpy", "scipy", "casadi", "numba", "pydantic", "polars", "highspy", "plotly", "markdown_it"}
    assert len({module for module in modules if module.startswith("gough")}) <= 10
    assert len(modules) <= 420


def test_the_first_page_of_help_lists_every_command_with_its_panel(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name, entry in COMMANDS.items():
        (row,) = (k for k, line in enumerate(lines) if line.startswith(f"│ {name} "))
        panel = next(line for line in lines[row::-1] if line.startswith("╭"))
        assert entry.panel in panel
        assert entry.summary.split()[-1] in "".join(lines[row : row + 3])
    assert any("--version" in line and "Print the version" in line for line in lines)
    assert any(line.strip().startswith("Exit codes: 0 done") for line in lines)


@pytest.mark.parametrize("name", ["identify", "calibrate", "demo"])
def test_commands_load_no_library_before_they_need_it(name):
    asked = [sys.executable, "-c", LIGHT, name, "--help"]
    modules = set(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split())
    assert f"gough.cli.{name}" in modules
    roots = {module.split(".")[0] for module in modules}
    assert not roots & {"scipy", "numba", "polars", "highspy", "matplotlib", "plotly", "cv2"}


@pytest.mark.parametrize("name", ["identify", "demo"])
def test_an_identification_loads_nothing_about_geometry(name):
    asked = [sys.executable, "-c", LIGHT, name, "--help"]
    modules = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    ours = [module for module in modules if module.startswith("gough.")]
    assert not {"geometry", "closure", "designs", "vision", "control"} & {module.split(".")[1] for module in ours}
    assert len(ours) <= 350
    assert len(modules) <= 960


def test_commands_look_for_cycles_rarely():
    code = f"import gc\n{LIGHT}\nprint(gc.get_threshold()[0], gc.get_freeze_count())"
    done = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=True)
    threshold, frozen = map(int, done.stdout.split()[-2:])
    assert threshold >= 50_000
    assert frozen > 10_000


def test_the_help_of_certify_lists_the_keys_of_its_table(capsys):
    assert run(["certify", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Keys of [certify]" in text
    for key in CertifyTable.model_fields:
        assert re.search(rf"\b{key}\b", text), key
    with pytest.raises(ValidationError):
        CertifyTable(outliers=6)
    assert "0 … 5" in text


def test_the_help_of_the_demo_states_its_exit_code(capsys):
    assert run(["demo", "--help"]) == 0
    assert "Exits with 0 whatever the verdicts" in " ".join(capsys.readouterr().out.split())


def test_who_interrupts_is_told_what_became_of_the_files(tmp_path, monkeypatch, capsys):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(checking, "kind_of_file", interrupted)
    (tmp_path / "certificate.json").write_text("{}")
    assert run(["check", str(tmp_path / "certificate.json"), str(tmp_path / "problem.npz")]) == 130
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Files are complete or were not written." in shown.err


@pytest.fixture
def signals():
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("signals")
def test_who_interrupts_while_it_loads_sees_no_traceback(monkeypatch, capsys):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "run", interrupted)
    with pytest.raises(SystemExit, match="130"):
        main()
    assert capsys.readouterr().err == "Stopped. Files are complete or were not written.\n"


@pytest.mark.usefixtures("signals")
def test_a_signal_after_the_last_line_does_not_change_the_exit_code(monkeypatch):
    """All files are written by then."""
    monkeypatch.setattr(app, "run", lambda _: 0)
    with pytest.raises(SystemExit, match="0"):
        main()
    signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGTERM)
