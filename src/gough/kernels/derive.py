"""Derivatives of a traced function: Jacobians, tangents and adjoints, each as a new trace."""

from collections.abc import Sequence
from typing import Any

import casadi

from gough.kernels.ports import Port


def symbols(ports: Sequence[Port], suffix: str = "") -> list[Any]:
    """A fresh column of symbols for each port."""
    return [casadi.SX.sym(f"{port.name}{suffix}", port.size) for port in ports]


def jacobian(function: Any, inputs: Sequence[Port], by: int) -> tuple[list[Any], list[Any]]:
    """Symbols, and for each output the matrix ∂output/∂input row by row, for the input numbered `by`."""
    x = symbols(inputs)
    values = function.call(x)
    return x, [casadi.vec(casadi.densify(casadi.jacobian(value, x[by])).T) for value in values]


def tangent(function: Any, inputs: Sequence[Port], by: int) -> tuple[list[Any], list[Any]]:
    """Symbols with a direction v last, and for each output (∂output/∂input) v: one forward sweep."""
    x = symbols(inputs)
    v = casadi.SX.sym("v", inputs[by].size)
    return [*x, v], [casadi.densify(casadi.jtimes(value, x[by], v)) for value in function.call(x)]


def adjoint(
    function: Any, inputs: Sequence[Port], outputs: Sequence[Port], by: Sequence[int]
) -> tuple[list[Any], list[Any]]:
    """Symbols with a weight w per output last, and Σ (∂output/∂input)ᵀ w for each input in `by`: one reverse sweep."""
    x, w = symbols(inputs), symbols(outputs, "_adjoint")
    scalar = sum((casadi.dot(weight, value) for weight, value in zip(w, function.call(x), strict=True)), casadi.SX(0))
    gradient = casadi.densify(casadi.gradient(scalar, casadi.vertcat(*(x[k] for k in by))))
    edges = [0]
    for k in by:
        edges.append(edges[-1] + inputs[k].size)
    return [*x, *w], casadi.vertsplit(gradient, edges)
