"""`gough design`: optimize a trajectory for identification within limits, and write a report."""

import json
from pathlib import Path
from typing import Annotated

import typer

from gough.cli.campaigns import running
from gough.cli.options import AsJson, Cluster, StudyFolder, Workers
from gough.cli.progress import starts_shown, working
from gough.cli.terminal import answer, say, show_results
from gough.report import results_folder
from gough.studies.design import TRAJECTORY, DesignStudy


def design(
    study: Annotated[Path, typer.Argument(help="Study file (TOML) with a table \\[design].")],
    out: StudyFolder = None,
    *,
    workers: Workers = None,
    cluster: Cluster = "",
    check: Annotated[
        Path | None,
        typer.Option(help="Design nothing: report how much tracking error this trajectory (a file) tolerates."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Design an exciting trajectory within the robot's limits. Ctrl-C stops the search and keeps the best so far.

    Finished starts are kept in the folder of the results: the same command continues a search that was stopped.

    With --check: exit code 1 if a tracking error within the stated ones reaches a singularity or exceeds a limit.
    """
    asked = DesignStudy.read(study)
    if check is not None:
        with working("checking the trajectory"):
            tolerated = asked.check(check)
        if as_json:
            answer(json.dumps(tolerated.to_dict(), ensure_ascii=False, indent=1))
        else:
            say(*asked.notes, *asked.premises, *tolerated.lines(), wrap=True)
        if not tolerated.holds:
            raise typer.Exit(1)
        return
    folder = out or asked.folder
    with results_folder(folder) as results:
        with starts_shown() as on_progress, running(workers, cluster, folder) as executor:
            found = asked.design(executor, on_progress, ledger=folder)
        with working("drawing the report"):
            files = asked.files(found)
        results.write(files)
    text = "\n".join((*asked.notes, *asked.premises, str(found), "", asked.to_record(found)))
    name = "design.json" if as_json else ""
    show_results(folder, files, json=name, text=text, places={"Trajectory": TRAJECTORY})
