"""Write docs/reproductions/<paper>.md and .json from the folder of a finished `gough reproduce <paper>`.

python scripts/reproduction_page.py "gough reproduce palida --full" gough-reproduce-palida [FIGURE …]

Figures named after the folder are copied to docs/reproductions/figures and shown on the page.
"""

import json
import sys
from pathlib import Path

from gough.papers.reproduction import as_markdown

TARGET = Path(__file__).parents[1] / "docs" / "reproductions"


def main(command: str, folder: str, *shown: str) -> None:
    found = json.loads((Path(folder) / "reproduction.json").read_text(encoding="utf-8"))
    stored = {"command": command, **found} | ({"shown": list(shown)} if shown else {})
    name = command.split()[2]
    for figure in shown:
        copied = TARGET / "figures" / f"{name}-{figure}.svg"
        copied.parent.mkdir(exist_ok=True)
        copied.write_bytes((Path(folder) / "figures" / f"{figure}.svg").read_bytes())
    text = json.dumps(stored, ensure_ascii=False, indent=1)
    (TARGET / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
    (TARGET / f"{name}.md").write_text(as_markdown(stored), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
