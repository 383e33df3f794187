"""What all commands share: the help that a stranger reads first, and what is said when work is interrupted."""

import re

import pytest
import typer
from pydantic import ValidationError

from gough.cli import app, main
from gough.cli.app import run
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


def commands_below(command, path="gough"):
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands_below(each, f"{path} {name}")


@pytest.mark.parametrize(
    ("path", "command"), [pytest.param(*pair, id=pair[0]) for pair in commands_below(typer.main.get_command(app.app))]
)
def test_every_command_argument_and_option_is_described_in_a_sentence(path, command):
    texts = {path: command.help, **{f"{path} {each.name}": each.help for each in command.params}}
    for name, text in texts.items():
        assert text, f"{name} has no help"
        assert re.match(r"[A-Z].*[.…]$", text.strip(), re.DOTALL), f"{name}: {text!r}"
        fragment = re.match(r"(Of|To|Another|How many)\b", text)  # "Of the images, pixels." does not say what it is
        assert fragment is None, f"{name}: {text!r}"


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


def test_who_interrupts_while_it_loads_sees_no_traceback(monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "run", interrupted)
    with pytest.raises(SystemExit, match="130"):
        main()
