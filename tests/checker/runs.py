"""Small runs of `gough certify` for tests, and forgeries of what they write in which every seal and digest fits."""

import json
import re

from gough.checker import load_question
from gough.checker.manifest import MANIFEST, digest_of, summary_of
from gough.cli.app import run
from gough.core.sealed import sealed, unsealed
from tests.cli.test_certify import STUDY, write

ONE_LEG = STUDY.replace("chains = [2, 5]", "chains = [2]")


def leg_run(folder, text=ONE_LEG, **poses):
    """The folder of certificates of a run about legs of the DeltaLab platform; twelve poses unless asked otherwise."""
    path = write(folder, text, **{"n": 12, **poses})
    assert run(["certify", str(path), "--json"]) in {0, 1}
    return folder / "results-certified" / "certificates"


def edited(path, change):
    """Change the plain data of a sealed file, and put its seal right."""
    data = json.loads(path.read_text(encoding="utf-8"))
    del data["seal"]
    change(data)
    path.write_text(sealed(json.dumps(data, ensure_ascii=False)[:-1]), encoding="utf-8")


def resealed(folder):
    """Make all seals, digests and the manifest fit what stands in the files, as a forger would."""
    digests = {}
    for path in sorted(folder.glob("*.json")):
        if path.name == "measurements.json" or path.name.endswith("equations.json"):
            path.write_text(sealed(unsealed(path.read_text(encoding="utf-8"))), encoding="utf-8")
            digests[path.name] = load_question(path)
    for path in sorted(folder.glob("*.json")):
        if path.name in digests or path.name == MANIFEST:
            continue
        chain = re.match(r"chain-\d+", path.name)
        named = f"{chain[0]}-equations.json" if chain else "measurements.json"
        about = digests[named if named in digests else "equations.json"]
        text = re.sub('"problem": "sha256:[0-9a-f]{64}"', f'"problem": "{about.digest()}"', path.read_text("utf-8"))
        path.write_text(sealed(unsealed(text)), encoding="utf-8")

    def update(manifest):
        contents = {name: (folder / name).read_bytes() for name, _, _ in manifest["files"]}
        manifest["files"] = [[name, digest_of(content), len(content)] for name, content in contents.items()]
        manifest["questions"] = {name: summary_of(digests[name]) for name in manifest["questions"]}

    edited(folder / MANIFEST, update)
