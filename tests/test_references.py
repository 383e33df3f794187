"""Every key that the code cites is in docs/references.bib, and every entry there is cited."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
KEY = r"[A-Z]{2,6}\d{2}[a-z]?|AHG|NCPP|IEEE1788"
CITED_IN = [*(REPOSITORY / "src").rglob("*.py"), *(REPOSITORY / "docs").rglob("*.md"), REPOSITORY / "README.md"]


def cited_keys() -> dict[str, Path]:
    found = {}
    for path in CITED_IN:
        text = path.read_text(encoding="utf-8")
        for bracket in re.findall(rf"\[({KEY})(?=[\],;])", text):
            found[bracket] = path
    return found


def entries() -> list[str]:
    return re.findall(r"^@\w+\{([^,]+),", (REPOSITORY / "docs" / "references.bib").read_text(), re.MULTILINE)


def test_every_cited_key_has_an_entry():
    known = set(entries())
    missing = {key: str(path) for key, path in cited_keys().items() if key not in known}
    assert not missing


def test_every_entry_is_cited():
    assert set(entries()) <= set(cited_keys())


def test_entries_are_unique_and_match_the_pattern_of_keys():
    keys = entries()
    assert len(keys) == len(set(keys))
    assert all(re.fullmatch(KEY, key) for key in keys)
