"""Constraints that hold direct dependencies at the oldest versions that pyproject.toml allows: `make test-lowest`."""

import re
import sys
import tomllib
from pathlib import Path

TOOLS = ("mypy", "ruff")
"""Programs that examine the source; their findings depend on their version, and no user runs them."""


def constraints(project: dict[str, object]) -> list[str]:
    """One line `name==version` for each requirement `name>=version` of the project and its extras."""
    extras: dict[str, list[str]] = project["optional-dependencies"]  # type: ignore[assignment]
    requirements = [*project["dependencies"], *(line for lines in extras.values() for line in lines)]  # type: ignore[misc]
    pinned = {}
    for line in requirements:
        found = re.match(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?>=([0-9.]+)", line)
        if found and found[1] not in TOOLS:
            pinned[found[1].lower()] = f"{found[1]}=={found[2]}"
    return sorted(pinned.values())


if __name__ == "__main__":
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    sys.stdout.write("\n".join(constraints(tomllib.loads(text)["project"])) + "\n")
