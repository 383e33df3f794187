"""Draw docs/images/report.png, the picture of the README: the report of `gough demo h4` in headless Chromium.

python scripts/readme_picture.py
"""

import shutil
import subprocess
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from gough.papers.demonstration import demonstrate
from gough.report import Report, to_html
from gough.simulate.demos import DEMOS

TARGET = Path(__file__).parents[1] / "docs" / "images" / "report.png"
WIDTH, HEIGHT = 1120, 2300


def main() -> None:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    done = demonstrate("h4")
    title = f"Identification of a simulated {DEMOS['h4'].robot}"
    page = to_html(Report(title, (done.about,), done.identified, done.truth))
    with TemporaryDirectory() as folder:
        (Path(folder) / "report.html").write_text(page, encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=5000"]
        shot = [f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={folder}/shot.png", f"file://{folder}/report.html"]
        subprocess.run([browser, *options, *shot], check=True, capture_output=True)  # noqa: S603 - our own page
        image = Image.open(BytesIO((Path(folder) / "shot.png").read_bytes())).convert("RGB")
    image.quantize(96).save(TARGET, optimize=True)
    print(TARGET.relative_to(TARGET.parents[2]), TARGET.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
