"""The first lines of the command `gough`.

They stand outside the package: what a command needs, NumPy among it, takes a while to load, and Ctrl-C during that time
must end the command as it does later, without a traceback.
"""

import gc
import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130
_COLLECT_AFTER = 50_000
"""New objects after which Python looks for cycles.

Its own 700 take an eighth of the time of an identification, and free next to nothing.
"""


def main() -> None:
    """Load the command line and run it."""
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a shell may have it ignored
    if is_default:
        signal.signal(signal.SIGINT, _end)  # an exception inside an import could become any other one
    gc.set_threshold(_COLLECT_AFTER, *gc.get_threshold()[1:])
    from gough.cli import main as run  # noqa: PLC0415 - the reason for this file
    from gough.cli.on_demand import load  # noqa: PLC0415 - the command loads here, while Ctrl-C ends at once

    load(sys.argv[1:])
    gc.freeze()  # what is loaded stays
    if is_default:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _end(_: int, __: FrameType | None) -> None:
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
