"""Build the wheel and the source archive, install each in an empty environment, and run gough there.

python scripts/distributions.py dist
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

REPOSITORY = Path(__file__).parents[1]
TRIES = (
    ["bin/gough", "--version"],
    ["bin/gough", "new", "study", "--robot", "five-bar", "--example"],
    ["bin/gough", "identify", "study/study.toml", "--json"],
)


def build(folder: Path) -> list[Path]:
    """The wheel and the source archive of this tree, in an empty folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in [*folder.glob("gough-*.whl"), *folder.glob("gough-*.tar.gz")]:
        old.unlink()
    _run([sys.executable, "-m", "build", "--outdir", str(folder), str(REPOSITORY)])
    return [*folder.glob("gough-*.whl"), *folder.glob("gough-*.tar.gz")]


def install_and_try(archive: Path) -> None:
    """Install an archive without extras in an empty environment, away from the repository, and identify a robot."""
    with TemporaryDirectory() as folder:
        _run([sys.executable, "-m", "venv", f"{folder}/env"])
        _run(
            [f"{folder}/env/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(archive)]
        )
        for program, *arguments in TRIES:
            _run([f"{folder}/env/{program}", *arguments], cwd=folder)


def _run(command: list[str], cwd: str | None = None) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=cwd)  # noqa: S603 - our own programs
    if done.returncode:
        sys.exit(
            f"{' '.join(command)} ended with exit code {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
        )


if __name__ == "__main__":
    for archive in build(Path(sys.argv[1]).resolve()):
        install_and_try(archive)
        print(f"{archive.name}: installed and tried")
