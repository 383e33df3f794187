"""`gough watch`: watch a running robot, and report events as soon as its model no longer holds."""

import gc
import json
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from gough.cli.progress import working
from gough.cli.terminal import answer, say
from gough.core.errors import require
from gough.studies.watching import WatchStudy
from gough.watch import Event, Journal, Session, Watcher, open_source
from gough.watch.journal import CHECKPOINT, PAGE, free_folder
from gough.watch.server import LivePage

_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


def watch(
    study: Annotated[Path, typer.Argument(help="Study file (TOML) that gough identify has run.")],
    source: Annotated[
        str,
        typer.Argument(
            help="What to watch: a growing file (CSV or JSON lines), a folder of recordings, - for standard input, "
            "udp:PORT or ws:PORT."
        ),
    ],
    *,
    results: Annotated[Path | None, typer.Option(help="Folder of gough identify, instead of the study's.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for events and certificates; default: watch beside the study.")
    ] = None,
    checkpoint: Annotated[
        bool, typer.Option("--checkpoint", help="Save the state every second, and resume from it after a restart.")
    ] = False,
    page: Annotated[bool, typer.Option(help="Serve a live page on this computer, and print its address.")] = True,
    port: Annotated[int, typer.Option(help="Port of the page; 0 takes a free one.", min=0, max=65535)] = 0,
    once: Annotated[
        bool, typer.Option("--once", help="Stop at the end of a file instead of waiting for more.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print events and status as lines of JSON.")] = False,
) -> None:
    """Watch a running robot: report at once, with proof where it is proof, when the identified model no longer holds.

    Events are printed and written to events.jsonl in the folder of the watch, and a proof to a certificate that gough
    check verifies.

    Exit codes: 0, the source ended without an event; 1, with events; 130 or 143, stopped by Ctrl-C or SIGTERM.
    """
    with working("reading the model"):
        asked = WatchStudy.read(study, results)
        watcher = asked.watcher()
    with closing(open_source(source, asked.channels, asked.read_recording, follow=not once)) as stream:
        resumable = stream.can_resume or not checkpoint
        require(resumable, f"{stream.name} cannot be resumed: --checkpoint is for files and folders")
        folder = out or (asked.folder if checkpoint else free_folder(asked.folder))
        with closing(Journal(folder)) as journal:
            require(
                checkpoint or journal.n_events == 0,
                f"{folder} contains the events of an earlier watch: resume it by --checkpoint, or give another folder",
            )
            session = Session(
                watcher,
                stream,
                journal,
                asked.fingerprint,
                folder / CHECKPOINT if checkpoint else None,
                on_event=_json_event if as_json else _event,
                on_status=_json_status if as_json else _quiet,
            )
            is_resumed = session.resume()
            if not as_json:
                say(*_premises(asked, watcher, folder, resumed=is_resumed))
            code = _run(session, port if page else None, as_json=as_json)
    if code:
        raise typer.Exit(code)


def _run(session: Session, port: int | None, *, as_json: bool) -> int:
    """Watch until the end; the exit code."""
    if port is not None:
        kept = None if session.checkpoint is None else session.checkpoint.with_name(PAGE)
        session.page = LivePage(session.watcher.about(), port, kept)
        if as_json:
            _json_status({"type": "page", "address": session.page.address})
        else:
            say(f"Page: {session.page.address}")
    gc.collect()
    gc.freeze()  # what is there now stays: later collections, which would delay events, need not look at it
    try:
        with _stopping(session) as stopped:
            session.run()
    finally:
        if session.page is not None:
            session.page.close()
    if not as_json:
        say(*_summary(session))
    if stopped:
        return _CODES[stopped[0]]
    require(session.watcher.n_received > 0, f"{session.source.name} has no samples: nothing was watched")
    return 1 if session.journal.n_events else 0


@contextmanager
def _stopping(session: Session) -> Iterator[list[signal.Signals]]:
    """Let the first Ctrl-C or SIGTERM end the run after its batch; a second one ends the process."""
    received: list[signal.Signals] = []
    before = {each: signal.getsignal(each) for each in _CODES}

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        received.append(signal.Signals(number))
        session.stop()
        for each, handler in before.items():
            signal.signal(each, handler)

    for each in _CODES:
        signal.signal(each, stop)
    try:
        yield received
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _event(event: Event) -> None:
    say(event.line)


def _json_event(event: Event) -> None:
    answer(json.dumps(event.to_dict(), ensure_ascii=False, allow_nan=False))


def _json_status(status: dict[str, Any]) -> None:
    answer(json.dumps(status, ensure_ascii=False, allow_nan=False))


def _quiet(status: dict[str, Any]) -> None:
    del status


def _premises(asked: WatchStudy, watcher: Watcher, folder: Path, *, resumed: bool) -> list[str]:
    model, options = asked.model, asked.options
    lines = [f"Watching the {model.robot.name} by the model “{model.method}” of {asked.study.path}; events in {folder}"]
    if resumed:
        lines.append(f"Resumed after {watcher.n_received} samples.")
    if model.has_proof:
        bounds = ", ".join(f"{value:.4g}" for value in options.bound)
        unit = model.robot.effort_units[0]
        lines.append(
            f"Proofs presume that filtered efforts err by at most {bounds} {unit}, and parameters in the guaranteed "
            f"set of the identification{' that drift as stated' if options.drift is not None else ''}."
        )
    else:
        lines.append('The results have no guaranteed set: nothing is proven. Add "hull" to use in [methods].')
    lines.append(
        f"Statistical tests learn for {options.learn:g} s; each kind of event then has about "
        f"{options.false_alarms:g} false alarms an hour."
    )
    return lines


def _summary(session: Session) -> list[str]:
    status = session.status()
    lines = [f"{status['samples']} samples, {status.get('rows', 0)} rows, {session.journal.n_events} events."]
    if status.get("lost") or status.get("repeated") or status["unreadable"]:
        lines.append(
            f"{status.get('lost', 0)} samples lost, {status.get('repeated', 0)} repeated, {status['unreadable']} lines "
            "unreadable."
        )
    return lines
