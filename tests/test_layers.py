"""The layers of docs/architecture.md are a test, not a hope."""

import ast
from pathlib import Path

import pytest

import gough

SOURCE = Path(gough.__file__).parent
LANGUAGE = ("region", "unknowns", "noise", "problem", "evidence", "estimate")
LAYER = {
    "core": 0,
    "kernels": 0,
    **dict.fromkeys(LANGUAGE, 1),
    "robots": 2,
    "methods": 2,
    "data": 2,
    "assemble": 3,
    "vision": 3,
    "experiments": 4,
    "certify": 4,
    "calibration": 4,
    "identification": 4,
    "report": 5,
    "studies": 6,
    "cli": 7,
}
ALLOWED_SIDEWAYS = {("kernels", "core")}
IMPORTERS = {
    "casadi": {"kernels"},
    "ival": {"core"},
    "typer": {"cli"},
    "rich": {"report", "cli"},
    "matplotlib": {"report"},
    "polars": {"data"},
    "pydantic": {"studies"},
    "pinocchio": {"experiments"},
    "mujoco": {"experiments"},
    "cv2": {"vision"},
}
MODULES = sorted(SOURCE.rglob("*.py"))


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imports_of(path: Path) -> set[str]:
    """Names of all modules that a file imports, at its top or inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            pytest.fail(f"{path}: relative imports hide the layer; write it out")
    return found


def test_every_package_has_a_layer():
    assert {package_of(path) for path in MODULES} - {"__init__"} == set(LAYER)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_downwards(path):
    package = package_of(path)
    if package == "__init__":
        return
    for name in imports_of(path):
        root, _, rest = name.partition(".")
        assert package in IMPORTERS.get(root, {package}), f"only {IMPORTERS[root]} may import {root}"
        if root != "gough" or not rest:
            continue
        other = rest.split(".")[0]
        if other == package or other not in LAYER:
            continue  # its own package, or a name that gough itself exports
        both_language = package in LANGUAGE and other in LANGUAGE
        allowed = LAYER[other] < LAYER[package] or both_language or (package, other) in ALLOWED_SIDEWAYS
        assert allowed, f"{package} (layer {LAYER[package]}) imports {other} (layer {LAYER[other]})"


def test_the_checker_never_imports_a_method():
    for path in (SOURCE / "certify").glob("*.py"):
        used = {name.split(".")[1] for name in imports_of(path) if name.startswith("gough.")}
        assert used <= {"core", "certify", *LANGUAGE, "LinearProblem"}, f"{path.name} imports {used}"
