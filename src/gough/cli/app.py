"""The commands of `gough`, and how errors become messages and exit codes."""

import os
import platform
import shlex
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from errno import EDQUOT, ENOSPC, EPIPE
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

import gough
from gough.cli import STOPPED
from gough.cli.on_demand import OnDemand
from gough.cli.terminal import BROKEN_PIPE, console, flush, prepare_streams, say
from gough.core.errors import GoughError, InputError, require
from gough.core.progress import showing_compilation
from gough.core.text import visible

_EXIT_CODES = (
    "Exit codes: 0 done; 1 refuted, or a certificate does not hold; 2 bad input; 3 a fault of gough itself; "
    "130 stopped by Ctrl-C, 143 by SIGTERM; 141 the output was closed (broken pipe)."
)
app = typer.Typer(
    name="gough",
    help="Identify and calibrate parallel robots, with confidence regions or guaranteed bounds for the parameters.",
    epilog=_EXIT_CODES,
    cls=OnDemand,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer's callback
    if wanted:
        say(f"gough {gough.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[  # noqa: FBT002 - how typer declares a flag
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None: ...


_INTERRUPTED, _TERMINATED = 130, 143
_BAD_INPUT, _FAULT = 2, 3


def run(arguments: Sequence[str]) -> int:
    """The exit code of one call of the command line."""
    prepare_streams()
    errors = console(stderr=True)
    try:
        _require_printable(arguments)
        with showing_compilation(_compilation_shown):
            app(args=list(arguments), prog_name="gough")
    except SystemExit as ended:  # typer reports wrong usage itself, with exit code 2, and makes 130 of Ctrl-C
        if _is_broken_pipe(ended.__context__):
            return BROKEN_PIPE
        if ended.code in (_INTERRUPTED, _TERMINATED):
            errors.print(STOPPED)
        code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else _FAULT
        if isinstance(ended.__context__, typer.Abort):  # what typer makes of an EOFError, with exit code 1
            errors.print(_fault(ended.__context__.__cause__ or ended, arguments), soft_wrap=True)
            code = _FAULT
    except (GoughError, OSError) as error:
        errors.print(_in_words(error), soft_wrap=True)
        code = _BAD_INPUT
    except KeyboardInterrupt:
        errors.print(STOPPED)
        code = _INTERRUPTED
    except BaseException as error:  # noqa: BLE001 - all others are bugs of gough; panics of libraries are no Exception
        errors.print(_fault(error, arguments), soft_wrap=True)
        code = _FAULT
    try:
        flush()
    except SystemExit:
        return BROKEN_PIPE
    except InputError as error:
        errors.print(_in_words(error), soft_wrap=True)
        return max(code, _BAD_INPUT)
    return code


def _compilation_shown() -> AbstractContextManager[None]:
    from gough.cli.progress import compilation_shown  # noqa: PLC0415 - loaded where a compiler runs

    return compilation_shown()


def _in_words(error: GoughError | OSError) -> Text:
    """The message of an error in the input or of the system."""
    message = str(error)
    if isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT):
        where = error.filename or "a file or standard output"
        message = f"{where} cannot be written: {error.strerror}; free some space, or write to another disk"
    first, *more = message.split("\n")
    return Text.assemble(("Error: ", "bold red"), "\n".join([visible(first), *(f"  {visible(line)}" for line in more)]))


def _require_printable(arguments: Sequence[str]) -> None:
    for argument in arguments:
        unsafe = any(ord(c) < 32 or 127 <= ord(c) < 160 or 0xD800 <= ord(c) < 0xE000 for c in argument)
        require(
            not unsafe,
            f"the argument '{visible(argument)}' holds control characters, or is not encoded as the system's other "
            "names are: rename that file or folder",
        )


def _is_broken_pipe(error: BaseException | None) -> bool:
    return isinstance(error, OSError) and error.errno == EPIPE


def _fault(error: BaseException, arguments: Sequence[str]) -> Text:
    """One line about a bug in gough; the details go to a file."""
    written = _fault_file(error, arguments)
    message = (
        f"gough failed with {type(error).__name__}. This is a mistake in gough, not in your input; files written "
        f"before are complete. Please report it{f' and send {visible(str(written))}' if written else ''}"
    )
    return Text.assemble(("Fault: ", "bold red"), message)


def _fault_file(error: BaseException, arguments: Sequence[str]) -> Path | None:
    """Traceback, versions and command line in a new file: here, or in the folder of temporary files."""
    libraries = ("numpy", "scipy", "casadi", "crival", "highspy", "numba", "polars", "pydantic", "rich", "typer")
    lines = [
        f"gough {gough.__version__}, Python {sys.version}, {platform.platform()}",
        ", ".join(f"{name} {_version_of(name)}" for name in libraries),
        f"Command: gough {shlex.join(arguments)}",
        "",
        *traceback.format_exception(error),
    ]
    content = visible("\n".join(lines), lines=True).encode()
    name = f"gough-fault-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    for elsewhere in (False, True):
        with suppress(OSError):  # a folder that is gone, or may not be written to
            path = Path(tempfile.gettempdir() if elsewhere else "") / name
            path.write_bytes(content)
            return path
    return None


def _version_of(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "unknown"
