"""Derivative kernels against finite differences and against each other."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.kernels import expression as ex
from gough.kernels import trace


def _central(f, x, h=1e-6):
    """∂f/∂x by central differences, with the axis of x last."""
    columns = []
    for k in range(x.shape[-1]):
        step = np.zeros(x.shape[-1])
        step[k] = h
        columns.append((f(x + step) - f(x - step)) / (2 * h))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("by", ["position", "angles"])
def test_jacobian_matches_finite_differences(hexapod, hexapod_inputs, by):
    inputs = hexapod_inputs(40)
    exact = hexapod.jacobian(by).evaluate(**inputs)
    for out, shape in (("length", (40, 6, 3)), ("rotation", (40, 3, 3, 3))):
        assert exact[f"d{out}_d{by}"].shape == shape
        wanted = _central(lambda x, out=out: hexapod.evaluate(**{**inputs, by: x})[out], inputs[by])
        np.testing.assert_allclose(exact[f"d{out}_d{by}"], wanted, atol=1e-8)


def test_jacobian_by_a_matrix(hexapod, hexapod_inputs):
    inputs = hexapod_inputs(3)
    exact = hexapod.jacobian("base").evaluate(**inputs)["dlength_dbase"]
    assert exact.shape == (3, 6, 6, 3)
    length = hexapod.evaluate(**inputs)["length"]
    moved = inputs["base"].copy()
    moved[4, 1] += 1e-6
    wanted = (hexapod.evaluate(**{**inputs, "base": moved})["length"] - length) / 1e-6
    np.testing.assert_allclose(exact[:, :, 4, 1], wanted, atol=1e-5)


def test_tangent_is_the_jacobian_times_a_vector(mechanism, rng):
    kernel, inputs = mechanism.kernel, mechanism.draw(30)
    by = kernel.inputs[0].name
    v = rng.normal(size=inputs[by].shape)
    tangents = kernel.tangent(by).evaluate(**inputs, **{f"{by}_tangent": v})
    for out, J in zip(kernel.outputs, kernel.jacobian(by).evaluate(**inputs).values(), strict=True):
        wanted = np.einsum("n...k,nk->n...", J, v)
        np.testing.assert_allclose(tangents[f"{out.name}_tangent"], wanted, atol=1e-12)


def test_adjoint_is_the_transposed_jacobian_times_weights(mechanism, rng):
    kernel, inputs = mechanism.kernel, mechanism.draw(30)
    weights = {f"{out.name}_adjoint": rng.normal(size=(30, *out.shape)) for out in kernel.outputs}
    for by in (port.name for port in kernel.inputs[:2]):
        size = kernel.inputs[[p.name for p in kernel.inputs].index(by)].size
        wanted = np.zeros((30, size))
        for J, w in zip(kernel.jacobian(by).evaluate(**inputs).values(), weights.values(), strict=True):
            wanted += np.einsum("nik,ni->nk", J.reshape(30, -1, size), w.reshape(30, -1))
        got = kernel.adjoint().evaluate(**inputs, **weights)[f"{by}_adjoint"]
        np.testing.assert_allclose(got.reshape(30, size), wanted, atol=1e-12)


def test_adjoint_is_one_sweep():
    """The cost of a gradient does not grow with the number of inputs times the cost of the function."""
    chain = trace(lambda x: ex.sin(ex.dot(x, x)), name="chain", inputs={"x": 200})
    assert len(chain.adjoint().tape.steps) < 4 * len(chain.tape.steps)


def test_derivatives_can_be_repeated():
    cube = trace(lambda x: x**3, name="cube", inputs={"x": ()})
    second = cube.jacobian("x").jacobian("x")
    assert second.outputs[0].name == "ddcube_dx_dx"
    np.testing.assert_allclose(second([1.0, 2.0]), [6.0, 12.0])


def test_unknown_input_is_named(five_bar):
    for derive in (five_bar.jacobian, five_bar.tangent, five_bar.adjoint):
        with pytest.raises(InputError, match="no input 'position'; it has q, links"):
            derive("position")


def test_derivatives_inside_a_trace(rng):
    def velocity(x, v):
        f = ex.vector(ex.sin(x[0]) * x[1], x[1] ** 2)
        return {"full": ex.derivative(f, x) @ v, "swept": ex.directional(f, x, v)}

    kernel = trace(velocity, name="velocity", inputs={"x": 2, "v": 2})
    x, v = rng.normal(size=(2, 10, 2))
    wanted = np.column_stack([np.cos(x[:, 0]) * x[:, 1] * v[:, 0] + np.sin(x[:, 0]) * v[:, 1], 2 * x[:, 1] * v[:, 1]])
    for value in kernel.evaluate(x, v).values():
        np.testing.assert_allclose(value, wanted, atol=1e-14)
