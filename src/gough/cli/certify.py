"""`gough certify`: prove whether any geometry fits measured poses, and write certificates and a report."""

from pathlib import Path
from typing import Annotated, Any

import typer

from gough.cli.campaigns import running
from gough.cli.options import AsJson, Cluster, StudyFolder, Workers
from gough.cli.progress import steps_shown
from gough.cli.terminal import say, show_results
from gough.core.errors import require
from gough.core.text import command_line
from gough.report import results_folder
from gough.studies.calibration import CalibrationStudy


def certify(
    study: Annotated[
        Path,
        typer.Argument(
            help="Study file (TOML); its table \\[certify] or \\[noise] gives the intervals. Or a Klipper printer.cfg."
        ),
    ],
    out: StudyFolder = None,
    *,
    workers: Workers = None,
    cluster: Cluster = "",
    as_json: AsJson = False,
) -> None:
    """Prove whether any geometry fits the measured poses within their intervals.

    Exits with 1 if it is proven that none does. Of a printer.cfg of Klipper, or a study with a printer, the probed
    heights are certified: by how much they must be wrong for some geometry to explain them. The certificates are about
    the decimals of the file.

    Keys of [certify]: position, orientation and readings (half-widths; what is left out is sigmas standard deviations
    of [noise], 3 by default); around and center (where geometry is sought); chains; outliers (how many poses may be
    wrong, 0 … 5); joint and joint_box (all chains together); width (of the bracket of ε); model_error.
    """
    asked = CalibrationStudy.read(study)
    folder = out or asked.certification_folder
    printer = asked.table.printer is not None
    elsewhere = workers is not None or cluster
    require(
        not (printer and elsewhere), "heights of a printer are certified in one task: leave --workers and --cluster out"
    )
    with results_folder(folder) as results, steps_shown() as on_step, running(workers, cluster, folder) as executor:
        answer: Any = asked.certify_printer() if printer else asked.certify(on_step, executor=executor, ledger=folder)
        on_step.write()
        files = asked.certification_files(answer, folder)
        results.write(files)
    show_results(folder, files, json="certification.json" if as_json else "", text=str(answer))
    if not as_json and any(name.startswith("certificates/") for name in files):
        say(f"Check the proofs again: {command_line('gough', 'check', folder / 'certificates')}")
    if answer.refuted:
        raise typer.Exit(1)
