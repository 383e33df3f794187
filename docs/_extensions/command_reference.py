"""Pages of the command reference: one for each command of `gough`, from the declarations that `--help` prints."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from api_reference import write_if_changed
from docstrings import escaped
from sphinx.application import Sphinx

from gough.cli.on_demand import COMMANDS, command


def write_pages(folder: Path) -> None:
    """Write a page for each command, and their index."""
    folder.mkdir(parents=True, exist_ok=True)
    panels: dict[str, list[str]] = {}
    for name, entry in COMMANDS.items():
        panels.setdefault(entry.panel, []).append(name)
        write_if_changed(folder / f"{name}.rst", "\n".join(_page(command(name), f"gough {name}", "=")))
    lines = [
        "Command reference",
        "=================",
        "",
        "What ``gough COMMAND --help`` prints, on one page each.",
        "",
    ]
    for panel, names in panels.items():
        lines += [panel, "-" * len(panel), "", ".. toctree::", "   :maxdepth: 1", "", *(f"   {n}" for n in names), ""]
        lines += [line for n in names for line in (f":doc:`{n}`", f"   {escaped(COMMANDS[n].summary)}", "")]
    write_if_changed(folder / "index.rst", "\n".join(lines))


def _page(of: Any, name: str, underline: str) -> Iterator[str]:
    """Sections about a command, and about the commands of a group."""
    yield from (name, underline * len(name), "", escaped(_plain(of.help)), "")
    records = [(p.param_type_name, p.get_help_record(typer.Context(of))) for p in of.params if "--help" not in p.opts]
    arguments = [record for kind, record in records if kind == "argument" and record]
    options = [record for kind, record in records if kind == "option" and record]
    members = getattr(of, "commands", {})
    usage = [
        name,
        *(["COMMAND"] if members else []),
        *(["[OPTIONS]"] if options else []),
        *map(_placeholder, arguments),
    ]
    yield from (".. code-block:: text", "", "   " + " ".join(usage), "")
    for title, rows in (("Arguments", arguments), ("Options", options)):
        if rows:
            yield from (f"**{title}**", "")
            for declared, description in rows:
                yield from (f"``{declared}``", f"   {escaped(_plain(description))}", "")
    for key, member in members.items():
        yield from _page(member, f"{name} {key}", "-")


def _placeholder(argument: tuple[str, str]) -> str:
    declared, description = argument
    shown = declared.split(" <")[0].upper()
    return shown if "[required]" in description else f"[{shown}]"


def _plain(text: str | None) -> str:
    return "\n\n".join(" ".join(part.split()) for part in (text or "").replace("\\[", "[").split("\n\n"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before Sphinx looks for sources."""
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir) / "reference" / "commands"))
    return {"version": "1", "parallel_read_safe": True}
