"""Numbers as the script of a page writes them: sets rounded outward, axes with a scale."""

import json
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import gough

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="Node is not installed to run the script with")
SOURCE = Path(gough.__file__).parent / "report" / "assets" / "numbers.js"


def computed(expression):
    """The value of an expression that uses the functions of the script."""
    script = f"{SOURCE.read_text(encoding='utf-8')}\nconsole.log(JSON.stringify({expression}))"
    return json.loads(subprocess.run([NODE, "-e", script], capture_output=True, text=True, check=True).stdout)


def test_a_printed_set_contains_the_set_and_zero_only_if_that_does():
    rng = np.random.default_rng(1)
    size = 10.0 ** rng.uniform(-12, 6, (300, 2)) * rng.choice([-1.0, 1.0], (300, 2))
    pairs = [(1e-7, 2.0), (-3.0, -1.25e-5), (0.0, 2.0), (-1.0, 2.0), *map(sorted, size.tolist())]
    texts = computed(f"{json.dumps(pairs)}.map(([low, high]) => outward(low, high))")
    for (lower, upper), ends in zip(pairs, texts, strict=True):
        low, high = (Fraction(each.replace("−", "-")) for each in ends)
        assert low <= Fraction(lower) <= Fraction(upper) <= high
        assert (low <= 0 <= high) == (lower <= 0 <= upper)


def test_an_axis_has_more_than_one_number_where_there_is_room():
    assert computed("ticks(-4.3, 4.3, 3.2).values") == [-2.5, 0, 2.5]
    assert computed("ticks(-4.3, 4.3, 1.2).values") == [0]
    assert computed("ticks(0, 10, 5).values") == [0, 2, 4, 6, 8, 10]
