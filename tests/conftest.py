"""Fixtures shared by all tests."""

import os
import re
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from gough.data import KlipperDelta, read_klipper

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("searching", deadline=None)  # HYPOTHESIS_PROFILE=searching looks for new examples
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

REPOSITORY = Path(__file__).parents[1]
LONG = (
    "tests/test_docs.py",
    "tests/papers/test_reproductions.py",
    "tests/papers/test_palida_reproduction.py",
    "tests/laws/test_truth.py",
    "tests/checker/test_mutations.py",
    "tests/papers/test_gough_calibration.py",
    "tests/papers/test_h4_identification.py",
    "tests/robots/mechanism/test_extended_urdf.py",
)
"""Files that take longest, by processor time. `make test` gives whole files to its workers, so that what a file sets up
is made once, and these first, so that no worker begins a long file when the other has nothing left to do."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first; the order within files, and of all other files, is kept."""
    rank = {name: k for k, name in enumerate(LONG)}
    items.sort(key=lambda item: rank.get(item.nodeid.partition("::")[0], len(LONG)))


@pytest.fixture
def rng(request) -> np.random.Generator:
    """A generator seeded by the test's own name: repeatable, and different for each test.

    A module that was moved keeps its draws by `SEEDED_AS`, the name that it had when its tolerances were chosen.
    """
    file, _, test = request.node.nodeid.partition("::")
    name = f"{getattr(request.module, 'SEEDED_AS', file)}::{test}"
    return np.random.default_rng(zlib.crc32(name.encode()))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of other people's data (see README); the test skips where it is absent."""
    path = Path(os.environ.get("GOUGH_DATA", REPOSITORY.parent / "shared" / "data"))
    if not path.is_dir():
        pytest.skip(f"needs the measured data and test vectors: no folder {path} (set GOUGH_DATA)")
    return path


@pytest.fixture
def klippers_answer(shared_data, tmp_path) -> Callable[[str], KlipperDelta]:
    """A measured printer with the geometry that Klipper saved, also where its owner has written another one above."""

    def read(name: str) -> KlipperDelta:
        path = shared_data / "delta-klipper" / f"{name}.cfg"
        if not path.is_file():
            pytest.skip(f"no {path}")
        copy = tmp_path / path.name
        copy.write_text(re.sub(r"(?m)^delta_radius:", "#\\g<0>", path.read_text(encoding="utf-8")), encoding="utf-8")
        return read_klipper(copy)

    return read
