"""Pages of the API reference: one for each public module, with every name of its `__all__`.

A name that several modules offer is described on the page of the first of them; the others refer to it.
"""

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

MODULES = (
    "gough", "gough.answers", "gough.estimates", "gough.methods", "gough.robots", "gough.data", "gough.dynamics",
    "gough.geometry", "gough.geometry.instruments", "gough.closure", "gough.checker", "gough.designs.excitation",
    "gough.designs.poses", "gough.simulate", "gough.simulate.multibody", "gough.export", "gough.control",
    "gough.watch", "gough.vision", "gough.campaigns", "gough.studies", "gough.report", "gough.papers", "gough.kernels",
)  # fmt: skip


def names_of(module: Any) -> list[str]:
    """What a module offers: its `__all__`, or else the public names defined in it."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    own = vars(module).items()
    return sorted(k for k, v in own if not k.startswith("_") and getattr(v, "__module__", "") == module.__name__)


def write_pages(folder: Path) -> None:
    """Write a page for each module, and their index."""
    folder.mkdir(parents=True, exist_ok=True)
    homes: dict[int, str] = {}
    for name in MODULES:
        module = import_module(name)
        for key in names_of(module):
            homes.setdefault(id(getattr(module, key)), name)
    for name in MODULES:
        write_if_changed(folder / f"{name}.rst", _page(name, homes))
    index = [
        "API reference",
        "=============",
        "",
        "Every public name, from the docstrings.",
        "",
        ".. toctree::",
        "   :maxdepth: 1",
        "",
    ]
    write_if_changed(folder / "index.rst", "\n".join([*index, *(f"   {name}" for name in MODULES), ""]))


def _page(name: str, homes: dict[int, str]) -> str:
    module = import_module(name)
    own, elsewhere = [], []
    for key in names_of(module):
        value = getattr(module, key)
        (own if homes[id(value)] == name else elsewhere).append(key)
    lines = [name, "=" * len(name), "", f".. automodule:: {name}", "   :no-members:", ""]
    lines += [
        ".. currentmodule:: " + name,
        "",
        ".. autosummary::",
        "   :nosignatures:",
        "",
        *(f"   {key}" for key in own),
        "",
    ]
    if elsewhere:
        references = ", ".join(f":py:obj:`{key} <{homes[id(getattr(module, key))]}.{key}>`" for key in elsewhere)
        lines += [f"Also importable from here: {references}.", ""]
    for key in own:
        lines += [f".. {_directive(getattr(module, key))}:: {name}.{key}", ""]
    return "\n".join(lines)


def _directive(value: Any) -> str:
    if inspect.isclass(value):
        return "autoexception" if issubclass(value, BaseException) else "autoclass"
    return "autofunction" if inspect.isroutine(value) else "autodata"


def write_if_changed(path: Path, text: str) -> None:
    """Leave unchanged files alone, so that Sphinx does not read them again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before Sphinx looks for sources."""
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir) / "reference" / "api"))
    return {"version": "1", "parallel_read_safe": True}
