"""Fixtures shared by all tests."""

import os
import zlib
from pathlib import Path

import numpy as np
import pytest

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture
def rng(request) -> np.random.Generator:
    """A generator seeded by the test's own name: repeatable, and different for each test."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of other people's data (see README); the test skips where it is absent."""
    path = Path(os.environ.get("GOUGH_DATA", REPOSITORY.parent / "shared" / "data"))
    if not path.is_dir():
        pytest.skip(f"needs the measured data and test vectors: no folder {path} (set GOUGH_DATA)")
    return path
