"""Reports for the gallery of the site, as the commands write them: docs/_gallery, one folder each.

python scripts/gallery.py              # make those that are missing
python scripts/gallery.py --pictures   # and draw the small pictures of them, light and dark (needs Chromium)
"""

import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

REPOSITORY = Path(__file__).parents[1]
REPORTS = REPOSITORY / "docs" / "_gallery" / "gallery" / "reports"
PICTURES = REPOSITORY / "docs" / "images" / "gallery"
COMMANDS = {
    "identified-h4": [["demo", "h4", "--out", "{out}"]],
    "repeated-palida": [["demo", "palida", "--out", "{out}"]],
    "calibrated-hexapod": [
        ["new", "study", "--calibration", "gough", "--example"],
        ["calibrate", "study/study.toml", "--out", "{out}"],
    ],
    "certified-3-rrr": [
        ["new", "study", "--calibration", "3-rrr", "--example"],
        ["certify", "study/study.toml", "--out", "{out}"],
    ],
}
"""What writes each report. A study is made in a folder of its own."""
WIDTH, HEIGHT = 1120, 1000


def make(name: str) -> None:
    """Run the commands of a report in an empty folder, and keep what they wrote."""
    from gough.cli.app import run  # noqa: PLC0415 - only if a report is missing

    target = REPORTS / name
    with TemporaryDirectory() as folder:
        out = Path(folder) / "results"
        for arguments in COMMANDS[name]:
            line = [
                str(out)
                if word == "{out}"
                else word.replace("study", f"{folder}/study", 1)
                if word.startswith("study")
                else word
                for word in arguments
            ]
            code = run(line)
            if code not in (0, 1):  # 1: the answer is negative, which a gallery may show
                sys.exit(f"gough {' '.join(arguments)} ended with exit code {code}")
        shutil.copytree(out, target, ignore=shutil.ignore_patterns("certificates", "*.jsonl", "*.npz"))


def draw(name: str) -> None:
    """The top of a report in headless Chromium, light and dark."""
    from PIL import Image  # noqa: PLC0415 - only for the pictures

    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    PICTURES.mkdir(parents=True, exist_ok=True)
    page = next((REPORTS / name).glob("*.html"))
    for suffix, options in (("", []), ("-dark", ["--blink-settings=preferredColorScheme=0"])):
        with TemporaryDirectory() as folder:
            shot = f"{folder}/shot.png"
            fixed = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=5000"]
            size = [f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={shot}", f"file://{page}"]
            subprocess.run([browser, *fixed, *options, *size], check=True, capture_output=True)  # noqa: S603 - our page
            image = Image.open(BytesIO(Path(shot).read_bytes())).convert("RGB")
        image.resize((WIDTH // 2, HEIGHT // 2)).quantize(64).save(PICTURES / f"{name}{suffix}.png", optimize=True)


def main() -> None:
    for name in COMMANDS:
        if not (REPORTS / name).exists():
            make(name)
        if "--pictures" in sys.argv:
            draw(name)


if __name__ == "__main__":
    main()
