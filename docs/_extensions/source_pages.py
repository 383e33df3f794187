"""Pages with the source of the files that the documentation links to, so that every such link works offline.

A link in Markdown to a file outside docs (`../src/gough/region.py`) or to a folder leads to a page of the site that
shows it. So does a reference in a signature to a name that is not public: to its line in the source.
"""

import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.addnodes import download_reference, pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util.osutil import relative_uri

REPOSITORY = Path(__file__).parents[2]
FOLDERS = {"docs/decisions": "decisions/index", "examples": "examples", "benchmarks": "benchmarks"}
"""Folders that a page of the documentation describes."""
DOCUMENTS = {"CHANGELOG.md": "changelog", "CONTRIBUTING.md": "contributing/index", "README.md": "index"}


def page_of(path: Path) -> str | None:
    """The page that shows a file or folder of the repository; None outside of it."""
    if not path.exists() or not path.is_relative_to(REPOSITORY):
        return None
    inside = path.relative_to(REPOSITORY).as_posix()
    if inside in FOLDERS or inside in DOCUMENTS:
        return FOLDERS.get(inside) or DOCUMENTS[inside]
    if inside.startswith("docs/") and inside.endswith(".md"):
        return inside.removeprefix("docs/").removesuffix(".md")
    return f"source/{inside}"


class LinksToFiles(SphinxTransform):
    """Replace links to files and folders of the repository by links to pages of the site."""

    default_priority = 8  # before MyST resolves its own references

    def apply(self, **_: Any) -> None:
        document = self.env.doc2path(self.env.docname)
        for node in [*self.document.findall(pending_xref), *self.document.findall(download_reference)]:
            target = str(node.get("reftarget", ""))
            if "://" in target or target.startswith("#") or (node.get("refdomain") or "doc") not in ("doc", "myst"):
                continue
            path, _, fragment = target.partition("#")
            own, included = ((base / path).resolve() for base in _bases(document))
            if not path or (own.suffix == ".md" and own.exists() and own.is_relative_to(self.env.srcdir)):
                continue  # MyST resolves links between pages
            page = page_of(own) or page_of(included) or page_of(own.with_suffix(".md"))
            if page:
                self._lead(node, page, fragment)

    def _lead(self, node: nodes.Element, page: str, fragment: str) -> None:
        if page.startswith("source/"):
            _wanted(self.env).add(page)
        uri = self.app.builder.get_relative_uri(self.env.docname, page) + (f"#{fragment}" if fragment else "")
        node.replace_self(nodes.reference("", "", *node.children, internal=True, refuri=uri))


def _bases(document: Path | str) -> tuple[Path, ...]:
    """Folders to which links of a page are relative: its own; the repository's, for pages that include the README."""
    return Path(document).parent, REPOSITORY


def _wanted(env: BuildEnvironment) -> set[str]:
    if not hasattr(env, "gough_source_pages"):
        env.gough_source_pages = set()  # type: ignore[attr-defined]
    return env.gough_source_pages  # type: ignore[attr-defined,no-any-return]


def _merge(_: Sphinx, env: BuildEnvironment, __: list[str], other: BuildEnvironment) -> None:
    _wanted(env).update(_wanted(other))


def _private_name(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Node) -> nodes.Node | None:
    """Lead a reference to a name of gough that has no entry in the reference to its definition in the source."""
    if node.get("refdomain") != "py":
        return None
    name = str(node["reftarget"])
    found = _definition(name, str(node.get("py:module") or "")) or _classes().get(name)
    if not found:
        return None
    page, line = found
    _wanted(env).add(page)
    uri = app.builder.get_relative_uri(node["refdoc"], page) + f"#line-{line}"
    return nodes.reference("", "", content, internal=True, refuri=uri)


def _definition(name: str, module: str) -> tuple[str, int] | None:
    """Page and line of the definition of `gough.….name`, of a name of `module`, or of a module."""
    for full in (name, f"{module}.{name}") if module else (name,):
        parts = full.split(".")
        if parts[0] != "gough":
            continue
        for cut in range(len(parts), 0, -1):
            try:
                value: Any = import_module(".".join(parts[:cut]))
            except ImportError:
                continue
            try:
                for part in parts[cut:]:
                    value = getattr(value, part)
                file = Path(inspect.getsourcefile(value) or "")
                line = 1 if inspect.ismodule(value) else inspect.getsourcelines(value)[1]
            except (AttributeError, TypeError, OSError):
                alias = _alias(parts, cut)
                if alias:
                    return alias
                break
            return (
                (f"source/{file.relative_to(REPOSITORY).as_posix()}", line) if file.is_relative_to(REPOSITORY) else None
            )
    return None


@cache
def _classes() -> dict[str, tuple[str, int]]:
    """Page and line of classes by their short names: the only one of a name, or else that of core."""
    found: dict[str, list[tuple[str, int]]] = {}
    for path in sorted((REPOSITORY / "src" / "gough").rglob("*.py")):
        page = f"source/{path.relative_to(REPOSITORY).as_posix()}"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if match := re.match(r"class (\w+)", line):
                found.setdefault(match[1], []).append((page, number))
    chosen = {name: [p for p in places if "/core/" in p[0]] or places for name, places in found.items()}
    return {name: places[0] for name, places in chosen.items() if len(places) == 1}


def _alias(parts: list[str], cut: int) -> tuple[str, int] | None:
    """Where a type alias or a constant is assigned."""
    file = inspect.getsourcefile(import_module(".".join(parts[:cut])))
    if not file or len(parts) != cut + 1:
        return None
    for number, line in enumerate(Path(file).read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith((f"{parts[cut]} =", f"{parts[cut]}:", f"type {parts[cut]}")):
            return f"source/{Path(file).relative_to(REPOSITORY).as_posix()}", number
    return None


def _pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The pages that other pages link to, and the folders above them."""
    done: set[str] = set()
    wanted = sorted(_wanted(app.env))
    while wanted:
        page = wanted.pop()
        if page in done:
            continue
        done.add(page)
        inside = page.removeprefix("source/")
        path = REPOSITORY / inside
        if path.is_dir():
            body, more = _folder(page, path)
            wanted.extend(more)
        else:
            body = _file(path)
        yield (
            page,
            {"title": inside, "body": f'<h1 class="gough-source">{inside}</h1>{body}', "parents": []},
            "page.html",
        )


def _file(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    try:
        lexer = get_lexer_for_filename(path.name)
    except ClassNotFound:
        lexer = TextLexer()
    return highlight(text, lexer, HtmlFormatter(linenos="table", lineanchors="line", anchorlinenos=True))


def _folder(page: str, folder: Path) -> tuple[str, list[str]]:
    shown = [
        p for p in sorted(folder.iterdir()) if p.name[0] not in "._" and p.suffix in (".py", ".c", ".h", ".md", "")
    ]
    pages = [f"source/{path.relative_to(REPOSITORY).as_posix()}" for path in shown]
    rows = [
        f'<li><a href="{relative_uri(page + ".html", target)}.html">{path.name}</a></li>'
        for path, target in zip(shown, pages, strict=True)
    ]
    return f"<ul>{''.join(rows)}</ul>", pages


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the pages and what leads to them."""
    app.add_transform(LinksToFiles)
    app.connect("env-merge-info", _merge)
    app.connect("missing-reference", _private_name)
    app.connect("html-collect-pages", _pages)
    return {"version": "1", "parallel_read_safe": True, "env_version": 1}
