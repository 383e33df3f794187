"""The command line: one file per command, no mathematics.

Exit codes: 0 done; 1 the answer is negative (refuted, inconsistent, a certificate does not hold); 2 bad input;
3 a fault of gough itself; 130 stopped by Ctrl-C, 143 by SIGTERM; 141 the output was closed (broken pipe).
"""

import signal
import sys
from types import FrameType

STOPPED = "Stopped. Files are complete or were not written."
TERMINATED = 143
_AGAIN = 0.02
"""Seconds after which a signal is raised again that was lost in a callback: by then it has returned."""


def main() -> None:
    """Run `gough`. Every error becomes a message and an exit code, never a traceback."""
    try:
        from gough.cli.app import run  # noqa: PLC0415 - typer and rich load only for the command line

        signal.signal(signal.SIGTERM, _end)
        sys.unraisablehook = _unraisable
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while the command was still loading, or after its last line
        sys.stderr.write(f"{STOPPED}\n")
        code = 130
    for number in (signal.SIGINT, signal.SIGTERM):  # all is written: what is left is to unload
        signal.signal(number, signal.SIG_IGN)
    sys.exit(code)


def _end(_: int, __: FrameType | None) -> None:
    """End like Ctrl-C does: the handlers that clean up still run."""
    raise SystemExit(TERMINATED)


def _unraisable(lost: "sys.UnraisableHookArgs") -> None:
    """Raise Ctrl-C and SIGTERM again if they came during a callback of compiled code, which cannot raise them."""
    if lost.exc_type not in {KeyboardInterrupt, SystemExit}:
        sys.__unraisablehook__(lost)
        return
    number = signal.SIGTERM if lost.exc_type is SystemExit else signal.SIGINT
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(number))
    signal.setitimer(signal.ITIMER_REAL, _AGAIN)
