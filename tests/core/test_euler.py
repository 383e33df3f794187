"""Euler angles of all 24 conventions, against scipy's."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gough.core.errors import InputError
from gough.core.euler import SEQUENCES, axes_of, from_euler


@pytest.mark.parametrize("axes", SEQUENCES)
def test_every_convention_is_scipys(axes, rng):
    angles = rng.uniform(-7, 7, (20, 3))
    for words, letters in (("fixed", axes), ("moving", axes.upper())):
        expected = Rotation.from_euler(letters, angles).as_matrix()
        assert np.allclose(from_euler(angles, f"{words} {axes}"), expected, rtol=0, atol=1e-14)
        assert np.array_equal(from_euler(angles, f"{words} {axes.upper()}"), from_euler(angles, letters))


@pytest.mark.parametrize("wrong", ["", "xYz", "xxy", "xy", "rpy", "static xyz", "fixed", "fixed moving xyz", 3, None])
def test_what_is_no_convention_is_refused_with_a_list(wrong):
    with pytest.raises(InputError, match=r'no convention of Euler angles: write "fixed xyz".* zyz'):
        axes_of(wrong)
