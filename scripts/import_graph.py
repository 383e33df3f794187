"""Draw the packages of gough and what they import, from the source, into docs/architecture.md.

Run it from the repository after an import between packages was added or removed; a test compares.
"""

import ast
import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
SOURCE = REPOSITORY / "src" / "gough"
PAGE = REPOSITORY / "docs" / "architecture.md"
BEGIN, END = "<!-- begin: scripts/import_graph.py -->", "<!-- end: scripts/import_graph.py -->"
LANGUAGE = "language"


def unit_of(name: str) -> str:
    """The package that a module `gough.<name>…` belongs to; modules beside the packages are the language."""
    first = name.split(".", maxsplit=1)[0]
    return first if (SOURCE / first).is_dir() else LANGUAGE


def imports() -> dict[str, set[str]]:
    """For each package the packages that it imports, at the top of modules or inside functions."""
    graph: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        if path == SOURCE / "__init__.py":
            continue  # it gathers names for users
        own = unit_of(".".join(path.relative_to(SOURCE).with_suffix("").parts))
        used = graph.setdefault(own, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            inside = [name.removeprefix("gough.") for name in names if name.startswith("gough.")]
            used |= {unit_of(name) for name in inside}
    return {own: used - {own} for own, used in graph.items()}


def levels(graph: dict[str, set[str]]) -> dict[str, int]:
    """How many imports lie below each package, at most; raises ValueError where imports run in a circle."""
    result: dict[str, int] = {}

    def level(package: str, above: tuple[str, ...]) -> int:
        if package in above:
            raise ValueError(f"imports run in a circle: {' -> '.join((*above, package))}")
        if package not in result:
            result[package] = max((1 + level(each, (*above, package)) for each in sorted(graph[package])), default=0)
        return result[package]

    for package in sorted(graph):
        level(package, ())
    return result


def about(package: str) -> str:
    """The first sentence of a package's docstring."""
    if package == LANGUAGE:
        return "Regions, unknowns, noise, problems, evidence, answers and estimates."
    text = ast.get_docstring(ast.parse((SOURCE / package / "__init__.py").read_text(encoding="utf-8"))) or ""
    return re.split(r"\n\n|(?<=\.)\s", text, maxsplit=1)[0].replace("\n", " ")


def drawing() -> str:
    """The table for the page."""
    graph = imports()
    level = levels(graph)
    order = sorted(graph, key=lambda package: (-level[package], package))
    rows = [
        f"| {level[each]} | `{each}` | {about(each)} | {', '.join(sorted(graph[each], key=order.index)) or '—'} |"
        for each in order
    ]
    return "\n".join(["| level | package | what it is | imports |", "|---|---|---|---|", *rows])


def drawn(page: str) -> str:
    """The page with the table between its marks."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{drawing()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
