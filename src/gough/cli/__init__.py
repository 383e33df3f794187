"""The command line: one file per command, no mathematics.

Exit codes: 0 done; 1 the answer is negative (refuted, inconsistent, a certificate does not hold); 2 bad input;
3 a fault of gough itself; 130 stopped by Ctrl-C, 143 by SIGTERM; 141 the output was closed (broken pipe).
"""

import signal
import sys
from types import FrameType

TERMINATED = 143


def main() -> None:
    """Run `gough`. Every error becomes a message and an exit code, never a traceback."""
    try:
        from gough.cli.app import run  # noqa: PLC0415 - typer and rich load only for the command line

        signal.signal(signal.SIGTERM, _end)
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while the command was still loading
        code = 130
    sys.exit(code)


def _end(_: int, __: FrameType | None) -> None:
    """End like Ctrl-C does: the handlers that clean up still run."""
    raise SystemExit(TERMINATED)
