"""A kernel: what it accepts, what it refuses, and that its evaluators agree."""

import pickle
import subprocess
import sys

import casadi
import numpy as np
import pytest

from gough.core.errors import InputError
from gough.kernels import expression as ex
from gough.kernels import trace
from gough.kernels.operations import OPERATIONS


def _numpy_lengths(position, angles, base, platform):
    """Independent leg lengths, from elementary rotations."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(angles), np.sin(angles)
    Rx = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    Ry = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    Rz = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return np.linalg.norm(position + platform @ (Rz @ Ry @ Rx).T - base, axis=1)


def test_compiled_and_replayed_values_agree(mechanism):
    inputs = mechanism.draw(5000)
    compiled, replayed = mechanism.kernel.compiled(**inputs), mechanism.kernel.replay(**inputs)
    for name, value in compiled.items():
        assert np.isfinite(value).all()
        np.testing.assert_allclose(replayed[name], value, rtol=1e-12, atol=1e-12)


def test_hexapod_matches_an_independent_computation(hexapod, hexapod_inputs):
    inputs = hexapod_inputs(20)
    results = hexapod.evaluate(**inputs)
    for k in range(20):
        wanted = _numpy_lengths(inputs["position"][k], inputs["angles"][k], inputs["base"], inputs["platform"])
        np.testing.assert_allclose(results["length"][k], wanted, rtol=1e-13)
    np.testing.assert_allclose(
        results["rotation"] @ results["rotation"].transpose(0, 2, 1), np.broadcast_to(np.eye(3), (20, 3, 3)), atol=1e-14
    )


@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 257, 9000])
def test_any_number_of_samples(hexapod, hexapod_inputs, n):
    inputs = hexapod_inputs(n)
    for results in (hexapod.evaluate(**inputs), hexapod.replay(**inputs)):
        assert results["length"].shape == (n, 6)
        assert results["rotation"].shape == (n, 3, 3)


def test_a_sample_does_not_depend_on_its_neighbours(mechanism):
    inputs = mechanism.draw(700)
    for evaluate in (mechanism.kernel.compiled, mechanism.kernel.replay):
        together = evaluate(**inputs)
        alone = evaluate(**{name: value[613] if len(value) == 700 else value for name, value in inputs.items()})
        for name, value in alone.items():
            np.testing.assert_array_equal(value, together[name][613])


def test_single_sample_has_no_batch_axis(five_bar, links):
    assert five_bar([2.0, 1.0], links).shape == (2,)
    assert five_bar([[2.0, 1.0]], links).shape == (1, 2)


def test_nan_stays_in_its_sample(mechanism):
    inputs = mechanism.draw(300)
    name = next(iter(inputs))
    inputs[name][7, 1] = np.nan
    for results in (mechanism.kernel.evaluate(**inputs), mechanism.kernel.replay(**inputs)):
        for value in results.values():
            assert np.isnan(value[7]).all()
            assert np.isfinite(np.delete(value, 7, axis=0)).all()


def test_nan_is_not_lost_in_a_comparison():
    step = trace(lambda x: ex.where(x < 0, -1.0, 1.0), name="step", inputs={"x": ()})
    np.testing.assert_array_equal(step([-2.0, np.nan, 2.0]), [-1.0, np.nan, 1.0])


def test_outside_the_domain_is_nan_without_warning():
    root = trace(ex.sqrt, name="root", inputs={"x": ()})
    np.testing.assert_array_equal(root([4.0, -1.0]), [2.0, np.nan])
    np.testing.assert_array_equal(root.replay([4.0, -1.0])["root"], [2.0, np.nan])


@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        lambda q: np.repeat(q, 2, axis=1)[:, ::2],
        lambda q: q[::-1][::-1],
        lambda q: q.astype(">f8"),
        lambda q: q.tolist(),
    ],
    ids=["column-major", "strided", "reversed", "big-endian", "list"],
)
def test_layout_does_not_matter(five_bar, five_bar_inputs, convert):
    inputs = five_bar_inputs(50)
    np.testing.assert_array_equal(five_bar(convert(inputs["q"]), inputs["links"]), five_bar(**inputs))


def test_integers_and_single_precision_are_converted():
    square = trace(lambda x: x**2, name="square", inputs={"x": 2})
    np.testing.assert_array_equal(square(np.array([[1, 2]])), [[1.0, 4.0]])
    np.testing.assert_array_equal(square(np.array([1.5, 2], dtype=np.float32)), [2.25, 4.0])


def test_inputs_are_left_alone(five_bar, five_bar_inputs):
    inputs = five_bar_inputs(10)
    q = inputs["q"].copy()
    inputs["q"].flags.writeable = False
    five_bar(**inputs)
    np.testing.assert_array_equal(inputs["q"], q)


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        ([np.zeros((4, 3)), np.ones(5)], {}, r"'q' of kernel 'five_bar' must have shape \(2,\).*\(4, 3\)"),
        ([np.zeros((4, 2)), np.ones(4)], {}, "'links' of kernel"),
        ([np.zeros((4, 2)), np.ones((3, 5))], {}, "'links' of kernel 'five_bar' has 3 samples, but 'q' has 4"),
        ([np.zeros((2, 2, 2)), np.ones(5)], {}, "'q' of kernel"),
        ([np.zeros(2) * 1j, np.ones(5)], {}, "'q' of kernel.*complex128"),
        ([["1", "2"], np.ones(5)], {}, "'q' of kernel.*real numbers"),
        ([[True, False], np.ones(5)], {}, "'q' of kernel.*bool"),
        ([[[1, 2], [3]], np.ones(5)], {}, "'q' of kernel.*differ in length"),
        ([None, np.ones(5)], {}, "'q' of kernel.*object"),
        ([np.zeros(2)], {}, r"also needs the input\(s\) links"),
        ([np.zeros(2), np.ones(5), 1.0], {}, "takes 2 inputs, but was given 3"),
        ([np.zeros(2)], {"link": np.ones(5)}, "no input 'link'; did you mean 'links'"),
        ([np.zeros(2), np.ones(5)], {"q": np.zeros(2)}, "'q' of kernel 'five_bar' was given twice"),
    ],
)
def test_refusals_name_the_input(five_bar, arguments, named, message):
    for evaluate in (five_bar.evaluate, five_bar.replay):
        with pytest.raises(InputError, match=message):
            evaluate(*arguments, **named)


def test_a_call_needs_a_single_output(hexapod, hexapod_inputs):
    with pytest.raises(InputError, match="2 outputs; use its method evaluate"):
        hexapod(**hexapod_inputs(1))


@pytest.mark.parametrize("name", ["double", "sin", "2x", "_x", "a b", "", "é", "a;b"])
def test_names_must_be_usable_in_c(name):
    with pytest.raises(InputError, match="cannot name"):
        trace(lambda x: x, name="fine", inputs={name: 1})
    with pytest.raises(InputError, match="cannot name"):
        trace(lambda x: x, name=name, inputs={"x": 1})


def test_ports_have_distinct_names_and_sizes():
    with pytest.raises(InputError, match="'x' occurs twice"):
        trace(lambda x: {"x": x}, name="same", inputs={"x": 1})
    with pytest.raises(InputError, match="no empty axis"):
        trace(lambda x: x, name="nothing", inputs={"x": 0})
    with pytest.raises(InputError, match="at least one"):
        trace(lambda x: {}, name="nothing", inputs={"x": 1})
    with pytest.raises(InputError, match="a scalar, a vector or a matrix"):
        trace(lambda x: x, name="cube", inputs={"x": (2, 2, 2)})


def test_an_unknown_instruction_is_named():
    with pytest.raises(InputError, match="'odd' contains the instruction 'erf'"):
        trace(casadi.erf, name="odd", inputs={"x": 1})


def test_matrices_are_row_major():
    spread = trace(lambda A: {"same": A, "row": A[0, :], "turned": A.T}, name="spread", inputs={"A": (2, 3)})
    A = np.arange(12.0).reshape(2, 2, 3)
    results = spread.evaluate(A)
    np.testing.assert_array_equal(results["same"], A)
    np.testing.assert_array_equal(results["row"], A[:, :1])
    np.testing.assert_array_equal(results["turned"], A.transpose(0, 2, 1))


def test_constant_outputs_and_unused_inputs():
    kernel = trace(lambda x, y: {"c": ex.vector(1.0, 0.0), "d": y}, name="constant", inputs={"x": 2, "y": ()})
    for results in (kernel.evaluate(np.zeros((3, 2)), 5.0), kernel.replay(np.zeros((3, 2)), 5.0)):
        np.testing.assert_array_equal(results["c"], [[1.0, 0.0]] * 3)
        np.testing.assert_array_equal(results["d"], [5.0] * 3)


def test_threads_give_the_same_bits(five_bar, five_bar_inputs, monkeypatch):
    inputs = five_bar_inputs(200_001)
    many = five_bar(**inputs)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    np.testing.assert_array_equal(five_bar(**inputs), many)


def test_bound_inputs_become_constants(five_bar, five_bar_inputs, links):
    inputs = five_bar_inputs(100)
    bound = five_bar.bind(links=links)
    assert [port.name for port in bound.inputs] == ["q"]
    np.testing.assert_allclose(bound(inputs["q"]), five_bar(**inputs), rtol=1e-13)
    with pytest.raises(InputError, match="one sample only"):
        five_bar.bind(links=np.ones((2, 5)))


def test_a_kernel_travels_to_another_process(five_bar, five_bar_inputs):
    inputs = five_bar_inputs(5)
    value = five_bar(**inputs)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(five_bar))(**inputs), value)


def test_importing_gough_does_not_load_casadi():
    code = "import sys, gough; sys.exit('casadi' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


_UNARY = ["sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "tanh", "sqrt", "absolute", "sign"]


@pytest.mark.parametrize("name", _UNARY)
def test_elementary_functions_agree(name, rng):
    kernel = trace(getattr(ex, name), name="value", inputs={"x": ()})
    x = rng.uniform(0.01, 0.99, 1000)
    wanted = getattr(np, name)(x)
    np.testing.assert_allclose(kernel(x), wanted, rtol=1e-14)
    np.testing.assert_allclose(kernel.replay(x)["value"], wanted, rtol=1e-14)


@pytest.mark.parametrize(
    "name", sorted(set(OPERATIONS) - {"if_else_zero", "assign", "twice", "inv", "constpow", "and"})
)
def test_every_instruction_means_the_same_in_c_and_numpy(name, rng):
    operation = getattr(casadi, f"OP_{name.upper()}")
    arity = 2 if "{1}" in OPERATIONS[name].c else 1
    x, y = rng.uniform(0.1, 0.9, (2, 500)).round(1)
    x += name == "acosh"
    if arity == 2:
        kernel = trace(lambda x, y: casadi.SX.binary(operation, x, y), name="value", inputs={"x": (), "y": ()})
        inputs = (x, y)
    else:
        kernel = trace(lambda x: casadi.SX.unary(operation, x), name="value", inputs={"x": ()})
        inputs = (x,)
    compiled = kernel(*inputs)
    assert np.isfinite(compiled).all()
    np.testing.assert_allclose(kernel.replay(*inputs)["value"], compiled, rtol=1e-14)
