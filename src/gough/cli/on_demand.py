"""The list of commands, each loaded when it is called: the help of `gough` needs none of them."""

from collections.abc import Sequence
from importlib import import_module
from inspect import cleandoc
from typing import Any, NamedTuple

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from gough.cli.terminal import console


class Entry(NamedTuple):
    """A command: the function or group `name` in the module `gough.cli.name`."""

    panel: str
    summary: str
    """The first paragraph of its help."""


_START, _DYNAMICS, _GEOMETRY, _PROOF = "Start here", "Dynamics", "Geometry", "Papers and proofs"
COMMANDS = {
    "demo": Entry(
        _START,
        "Simulate a robot, identify it with every method, validate on another motion and compare with the truth.",
    ),
    "new": Entry(
        _START,
        "Write a commented study.toml and a README, to identify a robot or, with --calibration, to calibrate it.",
    ),
    "look": Entry(
        _START,
        "List the channels of a recording or a table of measured poses, and propose the tables of a study.",
    ),
    "mechanism": Entry(
        _DYNAMICS,
        "Check a mechanism: degrees of freedom, assembly, singularities, limits, and base dynamic parameters.",
    ),
    "design": Entry(
        _DYNAMICS,
        "Design an exciting trajectory within the robot's limits. Ctrl-C stops the search and keeps the best so far.",
    ),
    "identify": Entry(
        _DYNAMICS,
        "Identify a robot from recordings. Exits with 1 if the data refute the stated error bound or the model.",
    ),
    "watch": Entry(
        _DYNAMICS,
        "Watch a running robot: report at once, with proof where it is proof, when the identified model no longer "
        "holds.",
    ),
    "export": Entry(_DYNAMICS, "Write an identified or calibrated model for a controller or a simulator."),
    "control": Entry(
        _DYNAMICS, "Compare controllers on the complete simulated robot, with the exported C in closed loop."
    ),
    "poses": Entry(
        _GEOMETRY,
        "Choose the poses of a calibration, or measure them from images. `gough poses study.toml --count 16` is short "
        "for `gough poses select study.toml --count 16`; see gough poses select --help.",
    ),
    "target": Entry(_GEOMETRY, "Design and print targets for a camera, or render images of them."),
    "camera": Entry(
        _GEOMETRY,
        "Calibrate a camera from images of a target, place several cameras, guide the shooting of images, or convert "
        "camera files.",
    ),
    "calibrate": Entry(_GEOMETRY, "Calibrate a robot's geometry from measured poses or by any instruments."),
    "recalibrate": Entry(
        _GEOMETRY,
        "Find what changed since a calibration, with the fewest unknowns that explain a few poses of another day.",
    ),
    "certify": Entry(_GEOMETRY, "Prove whether any geometry fits the measured poses within their intervals."),
    "check": Entry(_PROOF, "Verify certificates again in exact rational arithmetic."),
    "reproduce": Entry(
        _PROOF, "Rebuild a paper's experiment and print its tables beside ours, and explain the differences."
    ),
}


class OnDemand(TyperGroup):
    """A group that lists its commands by `COMMANDS` and loads the one that is called."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for name, entry in COMMANDS.items():
            self.add_command(TyperCommand(name, help=_literal(entry.summary), rich_help_panel=entry.panel))

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - typer prints its help by itself, too
        """The page that typer would print. Its module for help loads Markdown and highlighters, a third of the time."""
        screen = console()
        usage = " ".join(self.collect_usage_pieces(ctx))
        screen.print(Padding(Text.assemble(("Usage: ", "yellow"), (f"{ctx.command_path} ", "bold"), usage), 1))
        screen.print(Padding(Text(self.help or ""), (0, 1, 1, 1)))
        options = [(", ".join(each.opts), getattr(each, "help", "")) for each in self.get_params(ctx)]
        screen.print(_panel("Options", options))
        panels = dict.fromkeys(entry.panel for entry in COMMANDS.values())
        for panel in panels:
            rows = [(name, entry.summary) for name, entry in COMMANDS.items() if entry.panel == panel]
            screen.print(_panel(panel, rows))
        screen.print(Padding(Text(self.epilog or ""), 1))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else command(name), rest


def _panel(title: str, rows: Sequence[tuple[str, str]]) -> RenderableType:
    """Names and what they mean, in a frame; names of all panels have the same width."""
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(style="bold cyan", width=max(map(len, COMMANDS)), no_wrap=True)
    table.add_column(ratio=1)
    for name, meaning in rows:
        table.add_row(Text(name), Text(meaning))
    return Panel(table, title=title, title_align="left", border_style="dim")


def load(arguments: Sequence[str]) -> None:
    """Import what the command that these arguments call needs."""
    if arguments and arguments[0] in COMMANDS:
        import_module(f"gough.cli.{arguments[0]}")


def command(name: str) -> Any:
    """The command of this name; paragraphs of its help are the docstring's, whatever lines they have there."""
    found = getattr(import_module(f"gough.cli.{name}"), name)
    if isinstance(found, typer.Typer):
        group = typer.main.get_group(found)
        group.name = name
        return group
    text = "\n\n".join(" ".join(part.split()) for part in cleandoc(found.__doc__ or "").split("\n\n"))
    alone = typer.Typer(add_completion=False)
    alone.command(name, help=_literal(text))(found)
    return typer.main.get_command(alone)


def _literal(text: str) -> str:
    """The text with brackets that rich shows, instead of taking them for markup."""
    return text.replace("[", "\\[")
