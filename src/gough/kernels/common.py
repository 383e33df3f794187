"""Kernels put together from others: what occurs in several of them is computed once."""

import casadi

from gough.kernels import derive
from gough.kernels.kernel import Kernel


def without_repetition(kernel: Kernel) -> Kernel:
    """The same kernel with common subexpressions computed once.

    Examples:
        >>> from gough.kernels import expression as ex
        >>> from gough.kernels import trace
        >>> twice = trace(lambda x: ex.sin(x) * ex.cos(x) + ex.sin(x), name="twice", inputs={"x": ()})
        >>> len(without_repetition(twice).tape.steps) <= len(twice.tape.steps)
        True
    """
    x = derive.symbols(kernel.inputs)
    values = casadi.cse(kernel.function.call(x))
    function = casadi.Function("kernel", x, [casadi.densify(value) for value in values])
    return Kernel(kernel.name, kernel.inputs, kernel.outputs, function, kernel.solves)
