"""`gough reproduce`: rebuild a paper's experiment and compare its tables and figures with ours."""

import json
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from gough.cli.campaigns import running
from gough.cli.options import AsJson, Cluster, Workers
from gough.cli.progress import steps_shown
from gough.cli.terminal import answer, console
from gough.core.errors import InputError, nearest
from gough.papers.catalogue import CAMPAIGNS, PAPERS
from gough.papers.reproduction import PAGE, Reproduction
from gough.report import results_folder

_PROSE = 100
_REPEATING = ", ".join(f"{name}: {few}" for name, (few, _) in CAMPAIGNS.items())


def reproduce(  # noqa: PLR0917 - options of the command
    paper: Annotated[str, typer.Argument(help=f"Paper: {', '.join(PAPERS)}.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the page, figures and numbers: new, empty, or from an earlier run. Papers with repeated "
            "experiments default to gough-reproduce-…, from which an interrupted run resumes."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of motion and noise.")] = 1,
    repetitions: Annotated[
        int | None, typer.Option(min=2, help=f"Number of repetitions of each experiment (default: {_REPEATING}).")
    ] = None,
    workers: Workers = None,
    cluster: Cluster = "",
    *,
    vision: Annotated[
        bool, typer.Option("--vision", help="Paper gough only: measure the poses from rendered images.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Repeat as often as the paper does.")] = False,
    as_json: AsJson = False,
) -> None:
    """Rebuild a paper's experiment and print its tables beside ours, and explain the differences."""
    if paper not in PAPERS:
        raise InputError(f"no paper is called '{paper}'{nearest(paper, PAPERS)} (known: {', '.join(PAPERS)})")
    if vision:
        if not paper.startswith("gough"):
            raise InputError(f"{paper} measures no images: --vision is for gough")
        paper = "gough-vision"
    folder = out or (Path(f"gough-reproduce-{paper}") if paper in CAMPAIGNS else None)
    times = _repetitions(paper, repetitions, full=full, elsewhere={"--workers": workers, "--cluster": cluster})
    with nullcontext() if folder is None else results_folder(folder) as results:
        with steps_shown() as on_step, running(workers, cluster, folder) as executor:
            options: dict[str, Any] = {}
            if times is not None:
                options = {"repetitions": times, "executor": executor, "folder": folder}
            found = PAPERS[paper](seed, on_step, **options)
            if folder is not None:
                on_step.write("drawing the page")
            files = {} if folder is None else found.documents()
        if results is not None:
            results.write(files)
    if as_json:
        answer(json.dumps(found.to_dict(), ensure_ascii=False, indent=1))
        return
    _show(console(), found)
    if folder is None:
        console().print("\nTo also write a page with figures and all numbers, add --out FOLDER.", soft_wrap=True)
    else:
        drawn = sum(name.endswith(".svg") for name in files)
        others = [name for name in files if "/" not in name and name != PAGE]
        console().print(f"\nPage: {folder / PAGE}", style="bold", soft_wrap=True)
        rest = f"Also written there: {', '.join(others)}, and {drawn} figures in figures/ as SVG and PNG."
        console().print(rest, soft_wrap=True)


def _repetitions(paper: str, asked: int | None, *, full: bool, elsewhere: Mapping[str, Any]) -> int | None:
    """How often to repeat; None for papers that repeat nothing."""
    if paper not in CAMPAIGNS:
        given = {
            "--repetitions": asked is not None,
            "--full": full,
            **{name: bool(value) for name, value in elsewhere.items()},
        }
        for option in (name for name, is_given in given.items() if is_given):
            raise InputError(f"{paper} repeats no experiment: leave {option} out (it is for {', '.join(CAMPAIGNS)})")
        return None
    if full and asked is not None:
        raise InputError("--full and --repetitions contradict each other: give one of them")
    few, printed = CAMPAIGNS[paper]
    return asked or (printed if full else few)


def _show(screen: Console, found: Reproduction) -> None:
    width = min(screen.width, _PROSE)
    screen.print(Text(f"{found.title} [{found.paper}]", "bold"), width=width)
    screen.print(Text(" ".join(found.about)), width=width)
    for table in found.tables:
        screen.print()
        screen.print(Text(table.caption, "bold blue"))
        for line in str(table).splitlines():
            screen.print(Text(line), soft_wrap=True)
    for head, remarks in found.remarks:
        screen.print()
        screen.print(Text(head, "bold blue"))
        for remark in remarks:
            screen.print(Text(f"• {remark}"), width=width)
