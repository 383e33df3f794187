"""Licences of what gough installs: docs/licences.md, and a software bill of materials (CycloneDX 1.6).

    python scripts/licences.py                      # write docs/licences.md
    python scripts/licences.py --sbom build/sbom.json

Names, versions and licences are those that the installed packages state about themselves.
"""

import argparse
import json
import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

PAGE = Path(__file__).parents[1] / "docs" / "licences.md"
FOR_DEVELOPERS = ("bench", "docs", "test")
"""Extras that no user of gough installs."""
CLASSIFIER = "License :: OSI Approved :: "
HEADER = """# Licences

gough is distributed under the BSD-3-Clause licence. It installs the packages below, which state these licences; the
last column names the part of gough that needs a package, directly or through another one. `make sbom` writes the
versions that are installed in `.venv` as a software bill of materials (CycloneDX) into `build/sbom.json`.

<!-- begin: scripts/licences.py -->
| package | licence | needed by |
|---|---|---|
"""


def needed(package: str, extra: str) -> Iterator[str]:
    """Names of the packages that a package needs, those of an extra if one is named, and what these need."""
    done: set[tuple[str, str]] = set()
    waiting = [(package, extra)]
    while waiting:
        name, part = waiting.pop()
        if (name, part) in done:
            continue
        done.add((name, part))
        for text in _distribution(name).requires or ():
            requirement = Requirement(text)
            wanted = not requirement.marker or requirement.marker.evaluate({"extra": part})
            is_of_extra = "extra ==" in str(requirement.marker or "")
            if not wanted or (name == package and part and not is_of_extra) or not _is_installed(requirement.name):
                continue
            found = normalized(requirement.name)
            waiting += [(found, ""), *((found, more) for more in requirement.extras)]
            if found != package:
                yield found


def normalized(name: str) -> str:
    """The name as the package index spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _distribution(name: str) -> Distribution:
    return distribution(name)


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def licence(name: str) -> str:
    """The licence that a package states: an expression, or else its classifiers, or else the first line of its text."""
    about = _distribution(name).metadata
    if expression := about.get("License-Expression"):
        return str(expression)
    classifiers = [c.removeprefix(CLASSIFIER) for c in about.get_all("Classifier") or () if c.startswith(CLASSIFIER)]
    text = (about.get("License") or "").strip().splitlines()
    return ", ".join(classifiers) or (text[0][:60] if text else "not stated")


def extras() -> set[str]:
    """The extras of gough for its users."""
    return set(_distribution("gough").metadata.get_all("Provides-Extra") or ()) - set(FOR_DEVELOPERS)


def table() -> dict[str, list[str]]:
    """Every package with the parts of gough that need it: the base, or extras."""
    parts: dict[str, list[str]] = {}
    for extra in ("", *sorted(extras())):
        for name in sorted(set(needed("gough", extra))):
            if not extra or "base" not in parts.get(name, []):
                parts.setdefault(name, []).append(extra or "base")
    return dict(sorted(parts.items()))


def sbom() -> dict[str, object]:
    """The installed packages as CycloneDX 1.6."""
    components = [
        {
            "type": "library",
            "name": name,
            "version": (version := _distribution(name).version),
            "purl": f"pkg:pypi/{name}@{version}",
            "licenses": [{"license": {"name": licence(name)}}],
        }
        for name in table()
    ]
    about = {"type": "application", "name": "gough", "version": _distribution("gough").version}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": about},
        "components": components,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sbom", type=Path, help="write a software bill of materials to this file instead")
    target = parser.parse_args().sbom
    if target:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(sbom(), indent=1) + "\n", encoding="utf-8")
    else:
        rows = [f"| {name} | {licence(name)} | {', '.join(parts)} |" for name, parts in table().items()]
        PAGE.write_text(HEADER + "\n".join(rows) + "\n<!-- end: scripts/licences.py -->\n", encoding="utf-8")
    print(target or PAGE.relative_to(PAGE.parents[1]))


if __name__ == "__main__":
    main()
