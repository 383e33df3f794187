"""The open benchmark against other libraries, and all other benchmarks.

python -m benchmarks peers                          # all tasks of the open benchmark, all rivals
python -m benchmarks arm-white --rival figaroh      # one task, one rival
python -m benchmarks linear_hull containment        # benchmarks of this folder by their names
python -m benchmarks                                # everything, which takes hours
"""

import importlib
import pkgutil
import sys

import benchmarks

OPEN = "peers"
NAMES = sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not m.name.startswith("_") and not m.ispkg)


def main(words: list[str]) -> int:
    from benchmarks.peers import run as peers  # noqa: PLC0415 - it imports Pinocchio and OpenCV

    if {"-h", "--help"} & set(words[:1]):
        print(f"{__doc__}\nTasks: {', '.join(peers.TASKS)}\nOther benchmarks: {', '.join(NAMES)}")
        return 0
    if words and (words[0] == OPEN or words[0] in peers.TASKS or words[0].startswith("-")):
        return peers.main(words[1:] if words[0] == OPEN else words)
    unknown = [name for name in words if name not in NAMES]
    if unknown:
        known = ", ".join([OPEN, *peers.TASKS, *NAMES])
        print(f"no benchmark is called {', '.join(unknown)}; there are: {known}", file=sys.stderr)
        return 2
    if not words:
        peers.main([])
    for name in words or NAMES:
        importlib.import_module(f"benchmarks.{name}").main()
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
