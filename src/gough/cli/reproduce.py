"""`gough reproduce`: a paper's tables beside ours."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from gough.cli.progress import steps_shown
from gough.core.errors import InputError, nearest
from gough.studies.papers import PAPERS, Reproduction

_PROSE = 100


def reproduce(
    paper: Annotated[str, typer.Argument(help=f"The paper: {', '.join(PAPERS)}.")],
    seed: Annotated[int, typer.Option(min=0, help="Another seed, another motion and noise.")] = 1,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> None:
    """Rebuild a paper's experiment and print its tables beside ours, with what differs and why."""
    if paper not in PAPERS:
        raise InputError(f"no paper is called '{paper}'{nearest(paper, PAPERS)} (known: {', '.join(PAPERS)})")
    with steps_shown() as on_step:
        found = PAPERS[paper](seed, on_step)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=1))
    else:
        _show(Console(highlight=False), found)


def _show(console: Console, found: Reproduction) -> None:
    width = min(console.width, _PROSE)
    console.print(Text(f"{found.title} [{found.paper}]", "bold"), width=width)
    console.print(Text(" ".join(found.about)), width=width)
    for table in found.tables:
        console.print()
        caption, *lines = str(table).splitlines()
        console.print(Text(caption, "bold blue"))
        for line in lines:
            console.print(Text(line), soft_wrap=True)
    for head, remarks in (
        ("What the paper's own numbers contradict", found.inconsistencies),
        ("What differs, and why", found.differences),
    ):
        console.print()
        console.print(Text(head, "bold blue"))
        for remark in remarks:
            console.print(Text(f"• {remark}"), width=width)
