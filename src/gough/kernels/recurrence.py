"""A traced step repeated: state k + 1 from state k, in one C loop where there is a compiler."""

import ctypes
from collections.abc import Sequence

import numpy as np

from gough.core.arrays import Array
from gough.kernels.compiler import CompilationError, warn_once
from gough.kernels.csource import batch
from gough.kernels.kernel import Kernel
from gough.kernels.native import NativeKernel, load


class Recurrence:
    """state' = kernel(state, inputs of this step, constants), many times.

    The kernel's first input and its only output are the state. Compiled, it is a loop over single samples that reads
    and writes consecutive rows, without assuming that they lie apart, and reads a row completely before it writes:
    with the output placed one row behind the input, sample k + 1 reads what sample k wrote. Without a compiler the
    steps run in CasADi's own robot.

    Examples:
        >>> from gough.kernels import trace
        >>> halve = trace(lambda x, push: x / 2 + push, name="halve", inputs={"x": 1, "push": 1})
        >>> Recurrence(halve)(np.array([8.0]), [np.array([[0.0], [0.0], [1.0]])])
        array([[8.],
               [4.],
               [2.],
               [2.]])
    """

    def __init__(self, kernel: Kernel) -> None:
        assert len(kernel.outputs) == 1
        assert kernel.outputs[0].size == kernel.inputs[0].size
        self.kernel = kernel
        self.native: NativeKernel | None = None
        try:
            source = batch(kernel.name, kernel.tape, kernel.inputs, kernel.outputs)
            self.native = load(source, len(kernel.tape.steps))
        except CompilationError as error:
            warn_once(str(error))

    def __call__(self, start: Array, inputs: Sequence[Array], constants: Sequence[Array] = ()) -> Array:
        """States (N + 1, size): `start`, then one after each row of the inputs, each (N, size of its port)."""
        n_steps, size = len(inputs[0]), len(start)
        states = np.empty((n_steps + 1, size))
        states[0] = start
        rows = [np.ascontiguousarray(value, dtype=np.float64).reshape(n_steps, -1) for value in inputs]
        shared = [np.ascontiguousarray(value, dtype=np.float64).reshape(1, -1) for value in constants]
        arrays = [states, *rows, *shared]
        wanted = [port.size for port in self.kernel.inputs]
        assert [value.shape[1] for value in arrays] == wanted
        if self.native is None:
            self._interpret(states, rows, shared)
            return states
        strides = (ctypes.c_ssize_t * len(arrays))(*(w if k <= len(rows) else 0 for k, w in enumerate(wanted)))
        sources = (ctypes.c_void_p * len(arrays))(*(value.ctypes.data for value in arrays))
        target = (ctypes.c_void_p * 1)(states.ctypes.data + 8 * size)
        self.native.entry(0, n_steps, sources, strides, target)
        return states

    def _interpret(self, states: Array, rows: Sequence[Array], shared: Sequence[Array]) -> None:
        n_steps = len(states) - 1
        fold = self.kernel.function.mapaccum(n_steps)
        columns = [value.T for value in rows] + [np.tile(value.T, (1, n_steps)) for value in shared]
        states[1:] = np.asarray(fold(states[0], *columns)).T
