"""Kernels put together from others compute the same, with fewer instructions."""

import numpy as np

from gough.kernels import expression as ex
from gough.kernels import trace
from gough.kernels.common import without_repetition


def test_same_values_with_fewer_instructions(rng):
    inner = trace(lambda x: ex.vector(ex.sin(x[0]) * x[1], ex.cos(x[0])), name="inner", inputs={"x": 2})

    def twice(x):
        first, second = (inner.function.call([x])[0] for _ in range(2))
        return {"a": first, "b": ex.matrix(second, first + second)}

    kernel = trace(twice, name="twice", inputs={"x": 2})
    shorter = without_repetition(kernel)
    assert len(shorter.tape.steps) < len(kernel.tape.steps)
    x = rng.normal(size=(50, 2))
    for name, value in kernel.replay(x).items():
        np.testing.assert_array_equal(shorter.replay(x)[name], value)
