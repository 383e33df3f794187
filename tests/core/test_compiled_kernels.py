"""The cache of compiled code on disk follows every source that was compiled into a function."""

import importlib
import sys
from contextlib import contextmanager

import numpy as np
import pytest

from gough.core.compiled_kernels import compiled, source_digest
from gough.core.progress import showing_compilation

LENGTHS = "FOOT = {foot}\n"
SHAPES = """
from gough.core.compiled_kernels import compiled

@compiled
def doubled(x):
    return {factor} * x
"""
AREAS = """
from gough.core.compiled_kernels import compiled
from {package}.lengths import FOOT
from {package}.shapes import (
    doubled,
)

@compiled
def area(x):
    return doubled(x) * FOOT
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of kernels that can be written anew and loaded anew."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # sources change within the resolution of their times
    name = "kernels_on_disk"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "areas.py").write_text(AREAS.format(package=name))

    def load(foot, factor):
        (folder / "lengths.py").write_text(LENGTHS.format(foot=foot))
        (folder / "shapes.py").write_text(SHAPES.format(factor=factor))
        for each in [each for each in sys.modules if each.startswith(name)]:
            del sys.modules[each]
        importlib.invalidate_caches()
        area = importlib.import_module(f"{name}.areas").area
        value = area(1.0)
        return value, sum(area.stats.cache_hits.values())

    yield load
    for each in [each for each in sys.modules if each.startswith(name)]:
        del sys.modules[each]


def test_a_compilation_is_shown_as_one_run_and_code_on_disk_as_none(package):
    events = []

    @contextmanager
    def shown():
        events.append("begins")
        yield
        events.append("ends")

    with showing_compilation(shown):
        package(3.0, 2.0)
        assert events == ["begins", "ends"], "doubled is compiled inside the compilation of area"
        package(3.0, 2.0)
    assert events == ["begins", "ends"]


def test_a_change_in_a_module_that_a_kernel_uses_is_compiled_in(package):
    assert package(3.0, 2.0) == (6.0, 0)
    assert package(3.0, 2.0) == (6.0, 1), "nothing changed: the code on disk is used"
    assert package(3.0, 5.0) == (15.0, 0), "a kernel that it calls changed"
    assert package(7.0, 5.0) == (35.0, 0), "a constant of another module changed"


def test_kernels_of_gough_are_kept_on_disk_with_their_sources():
    from gough.vision import optics, pnp

    for kernel in (optics.project, pnp.refine):
        assert kernel._cache._cache_file._source_stamp == source_digest(kernel.__module__)
    assert source_digest("gough.vision.pnp") != source_digest("gough.vision.optics")


def test_a_function_without_a_file_is_compiled_without_a_cache():
    scope = {"__name__": "nowhere.at_all"}
    exec("def half(x):\n    return x / 2\n", scope)
    half = compiled(scope["half"])
    assert half(3.0) == 1.5
    assert np.isinf(half(np.inf))
    assert source_digest("nowhere.at_all") is None
