"""The layers of docs/architecture.md are a test, not a hope."""

import ast
from pathlib import Path

import pytest

import gough

SOURCE = Path(gough.__file__).parent
LANGUAGE = ("region", "unknowns", "noise", "problem", "evidence", "answers", "estimates")
LAYER = {
    "core": 0,
    "campaigns": 1,
    "kernels": 0,
    **dict.fromkeys(LANGUAGE, 1),
    "robots": 2,
    "methods": 2,
    "data": 2,
    "checker": 2,
    "vision": 3,
    "dynamics": 3,
    "geometry": 3,
    "closure": 4,
    "simulate": 4,
    "designs": 5,
    "export": 5,
    "control": 6,
    "watch": 6,
    "report": 7,
    "studies": 8,
    "papers": 9,
    "cli": 10,
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
    "pinocchio": {"simulate"},
    "mujoco": {"simulate"},
    "cv2": {"vision"},
    "yaml": {"vision"},
    "cvxpy": {"dynamics"},
    "distributed": {"campaigns"},
    "submitit": {"campaigns"},
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
    assert {package_of(path) for path in MODULES} - {"__init__", "__main__"} == set(LAYER)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_downwards(path):
    package = package_of(path)
    if package in {"__init__", "__main__"}:
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


def test_the_checker_depends_on_nothing_but_the_language():
    for path in (SOURCE / "checker").glob("*.py"):
        used = {name.split(".")[1] for name in imports_of(path) if name.startswith("gough.")}
        assert used <= {"core", "checker", *LANGUAGE, "LinearProblem"}, f"{path.name} imports {used}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_private_module_is_imported_from_its_own_folder_only(path):
    folder = path.parent.relative_to(SOURCE).parts
    for name in imports_of(path):
        parts = name.split(".")[1:]
        private = next((i for i, part in enumerate(parts[:-1]) if part.startswith("_") and part != "__init__"), None)
        if name.startswith("gough.") and private is not None:
            assert folder[:private] == tuple(parts[:private]), f"{name} is private to {'/'.join(parts[:private])}"
