"""The command line: one file per command, no mathematics.

Exit codes: 0 done, 1 the answer is negative (refuted, inconsistent), 2 bad input.
"""

import sys


def main() -> None:
    """Run `gough`. Whatever gough refuses on purpose becomes a message and an exit code, never a traceback."""
    try:
        from gough.cli.app import run  # noqa: PLC0415 - typer and rich load only for the command line

        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:  # while the command was still loading
        sys.exit(130)
