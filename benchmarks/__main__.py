"""All benchmarks, one after the other: python -m benchmarks [name ...]."""

import importlib
import pkgutil
import sys

import benchmarks

NAMES = sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not m.name.startswith("_"))


def main(chosen: list[str]) -> int:
    unknown = [name for name in chosen if name not in NAMES]
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}; there are: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    for name in chosen or NAMES:
        importlib.import_module(f"benchmarks.{name}").main()
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
