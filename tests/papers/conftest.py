"""Fixtures of the papers' tests."""

import pytest

from gough.papers.gough_platform import paper as gough_calibration


@pytest.fixture(scope="session")
def platform():
    """[DACP06] reproduced, as `gough reproduce gough` does it."""
    return gough_calibration.reproduce(seed=1)
