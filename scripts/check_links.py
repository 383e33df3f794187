"""Every link inside a built site leads to a page that exists and, where it names one, to a place on that page.

python scripts/check_links.py docs/_build/html
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """Links of a page, and the places that others can link to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        self.places |= {value for key in ("id", "name") if (value := named.get(key))}
        if link := named.get(LOADED.get(tag, "")):
            self.links.append(link)


def faults(site: Path) -> list[str]:
    """One line for each link that leads nowhere, and for each resource that is loaded from another host."""
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.parts
    }
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            where = f"{path.relative_to(site)}: {link}"
            if not target.exists():
                found.append(f"{where} does not exist")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                found.append(f"{where} names a place that its page does not have")
    return found


if __name__ == "__main__":
    lines = faults(Path(sys.argv[1]).resolve())
    print("\n".join(lines) or "all links lead somewhere")
    sys.exit(bool(lines))
