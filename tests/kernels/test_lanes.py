"""Four samples at a time, in several C functions: the same bits as one at a time in one."""

import numpy as np
import pytest

from gough.kernels import CompilationError, Kernel, csource, lanes, trace
from gough.kernels import expression as ex
from gough.kernels.native import load


def _chain(x, a):
    """A long program: each value depends on early and on late ones, so that many cross from part to part."""
    values = [x[0], x[1], ex.sin(x[2])]
    for k in range(160):
        first, second, third = values[-1], values[-2], values[k // 3]
        step = ex.where(first < second, 0.3 * first - third, ex.atan2(third, 1.0 + second * second))
        values.append(step / (1.0 + a * ex.absolute(first)) + 0.001 * k)
    return {"last": ex.vector(*values[-3:]), "some": ex.matrix(ex.vector(*values[:4]), ex.vector(*values[100:104]))}


@pytest.fixture(scope="module")
def kernel():
    found = trace(_chain, name="chain", inputs={"x": 3, "a": ()})
    assert len(found.tape.steps) > 2 * lanes.PART
    return found


def _one_by_one(kernel: Kernel, x, a):
    """The scalar loop over samples that also runs on a controller."""
    n = len(kernel.tape.steps)
    try:
        native = load(csource.batch(kernel.name, kernel.tape, kernel.inputs, kernel.outputs), n)
    except CompilationError as error:
        pytest.skip(str(error))
    return native([x, a], [port.size for port in kernel.outputs], len(x))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 103])
def test_bits_are_those_of_single_samples(kernel, rng, n):
    x = rng.normal(size=(n, 3))
    for a in (np.array([[0.7]]), rng.uniform(0, 1, (n, 1))):
        wanted = _one_by_one(kernel, x, a)
        found = kernel.compiled(x, a.ravel() if len(a) > 1 else float(a[0, 0]))
        for port, values in zip(kernel.outputs, wanted, strict=True):
            np.testing.assert_array_equal(found[port.name].reshape(n, -1), values)


def test_values_agree_with_the_replay(kernel, rng):
    x = rng.normal(size=(50, 3))
    found, replayed = kernel.compiled(x, 0.2), kernel.replay(x, 0.2)
    for name, value in replayed.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-9, atol=1e-12)


def test_what_occurs_twice_is_computed_once():
    inner = trace(lambda x: ex.vector(ex.sin(x[0]) * x[1], ex.cos(x[0])), name="inner", inputs={"x": 2})
    twice = trace(lambda x: inner.function.call([x])[0] + inner.function.call([x])[0], name="twice", inputs={"x": 2})
    assert sum(step.operation == "sin" for step in twice.tape.steps) == 1
