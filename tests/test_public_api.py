"""What users can see: complete, sorted, documented, and quick to import."""

import ast
import importlib
import inspect
import pkgutil
import pydoc
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import gough

PUBLIC = [
    "gough.campaigns",
    "gough", "gough.methods", "gough.kernels", "gough.robots", "gough.checker", "gough.data", "gough.dynamics",
    "gough.geometry", "gough.geometry.instruments", "gough.closure", "gough.simulate", "gough.simulate.multibody",
    "gough.designs.excitation", "gough.designs.poses", "gough.report", "gough.studies", "gough.vision", "gough.watch",
]  # fmt: skip
REPOSITORY = Path(__file__).parents[1]


@pytest.mark.parametrize("name", PUBLIC)
def test_all_is_complete(name):
    module = importlib.import_module(name)
    assert len(set(module.__all__)) == len(module.__all__)  # their order is the linter's business
    own = {
        key
        for key, value in vars(module).items()
        if not key.startswith("_")
        and not inspect.ismodule(value)
        and getattr(value, "__module__", "").startswith("gough")
    }
    assert own <= set(module.__all__)
    assert all(hasattr(module, key) for key in module.__all__)


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_are_documented(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for key in module.__all__:
        value = getattr(module, key)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, f"{name}.{key} has no docstring"
            assert not value.__doc__.startswith(f"{key}("), f"{name}.{key} has only dataclass's automatic docstring"


@pytest.mark.parametrize("name", PUBLIC)
def test_public_methods_and_properties_are_annotated(name):
    module = importlib.import_module(name)
    for key in module.__all__:
        value = getattr(module, key)
        if inspect.isfunction(value):
            assert "return" in value.__annotations__, f"{name}.{key}"


def test_import_is_light():
    """Heavy libraries load where they are used: modules are counted, since seconds depend on the machine."""
    code = "import sys, gough; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    roots = {m.split(".")[0] for m in modules}
    heavy = {
        "casadi",
        "scipy",
        "matplotlib",
        "ival",
        "typer",
        "rich",
        "pydantic",
        "numba",
        "highspy",
        "plotly",
        "threadpoolctl",
    }
    assert not roots & heavy
    ours = {m for m in modules if m.startswith("gough")}
    assert len(ours) <= 16
    with_numpy = subprocess.run(
        [sys.executable, "-c", "import sys, numpy; print(*sys.modules)"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert len(set(modules) - set(with_numpy)) <= 60


FACE = """
import sys, gough
before = set(sys.modules)
assert "methods" in dir(gough) and "identify" in dir(gough) and not any("Stats" in name for name in dir(gough))
assert set(sys.modules) == before, "dir() loads nothing"
assert {name for name in dir(gough) if not name.startswith("__")} == {*gough.__all__, *gough._SUBPACKAGES}
assert gough.methods is sys.modules["gough.methods"]
assert not {"gough.studies", "gough.vision"} & set(sys.modules), "only what is asked for is loaded"
for name in ("identify", "calibrate", "certify", "check", "design", "choose_poses", "read_study", "write_report"):
    verb = getattr(gough, name)
    assert callable(verb) and getattr(gough, name) is verb and verb.__name__ == name
for name in dir(gough):
    getattr(gough, name)
try:
    gough.nothing
except AttributeError as error:
    assert str(error) == "module 'gough' has no attribute 'nothing'"
else:
    raise AssertionError
assert gough.studies.check is gough.check and gough.estimate is sys.modules["gough.estimates"].estimate
"""


def test_subpackages_and_verbs_load_on_first_use():
    subprocess.run([sys.executable, "-W", "error", "-c", FACE], check=True)


def test_every_public_package_is_reached_from_the_top():
    packages = {module.name for module in pkgutil.iter_modules(gough.__path__) if module.ispkg} - {"cli", "core"}
    assert packages == gough._SUBPACKAGES
    assert packages <= set(dir(gough))


def test_type_checkers_see_what_loads_lazily():
    """The block under TYPE_CHECKING names exactly the subpackages, and the verbs from the modules that define them."""
    tree = ast.parse(Path(gough.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    seen = {alias.asname or alias.name: node.module for node in block.body for alias in node.names}
    assert seen == {**dict.fromkeys(gough._SUBPACKAGES, "gough"), **gough._PLACES}


@pytest.mark.parametrize("package", [gough.report, gough.studies])
def test_what_a_package_loads_at_first_use_is_what_type_checkers_see(package):
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    seen = {alias.name: node.module for node in block.body for alias in node.names}
    assert seen
    for name, place in seen.items():
        assert getattr(package, name) is getattr(importlib.import_module(place), name)
    assert set(seen) <= set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        package.nothing  # noqa: B018 - reading it is what fails


@pytest.mark.parametrize("name", sorted(gough._MOVED))
def test_moved_names_are_still_found_with_a_warning(name):
    place = gough._MOVED[name]
    with pytest.warns(DeprecationWarning, match=f"write from {place} import {name}$") as caught:
        value = getattr(gough, name)
    assert caught[0].filename == __file__
    assert value is getattr(sys.modules[place], name)
    assert name not in gough.__all__


def test_help_begins_with_every_verb_and_noun():
    text = pydoc.plain(pydoc.render_doc(gough))
    page = text[: text.index("PACKAGE CONTENTS")]
    assert [name for name in gough.__all__ if not re.search(rf"\b{name}\b", page) and name != "Status"] == []
    assert max(len(line) for line in gough.__doc__.splitlines()) <= 120


def test_every_module_imports():
    for module in pkgutil.walk_packages(gough.__path__, "gough."):
        importlib.import_module(module.name)


def test_versions_agree():
    citation = re.search(r"^version: (\S+)$", (REPOSITORY / "CITATION.cff").read_text(), re.MULTILINE)
    assert gough.__version__ == citation[1]  # the build reads it from gough/__init__.py
    assert f"[{gough.__version__}]" in (REPOSITORY / "CHANGELOG.md").read_text()


def test_every_imported_library_is_a_declared_dependency():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[><=\[]", name)[0] for name in project["dependencies"]}
    names = {"crival": "ival"}
    modules = {names.get(name, name) for name in declared}
    used = set()
    for path in (REPOSITORY / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                used |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                used.add(node.module.split(".")[0])
    third_party = {m for m in used if m not in sys.stdlib_module_names and m not in {"gough", "gough_command"}}
    optional = {"mujoco", "pinocchio", "cv2", "h5py", "cvxpy", "clarabel", "yaml"}  # of extras such as `multibody`
    optional |= {"asammdf", "nptdms", "rosbags", "cloudpickle", "distributed", "submitit"}
    assert third_party - optional <= modules
    assert modules <= third_party, f"declared but never imported: {modules - third_party}"
