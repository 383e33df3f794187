"""The instructions of a trace in NumPy and in C: one row per operation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core.arrays import Array


@dataclass(frozen=True)
class Operation:
    """The meaning of one instruction."""

    numpy: Callable[..., Any]
    """A ufunc, or a function that takes `out` last as well; `out` may be one of the operands."""
    c: str
    """A C99 expression; {0} and {1} stand for the operands."""


def _twice(x: Array, out: Array) -> Array:
    return np.add(x, x, out=out)


def _if_else_zero(condition: Array, x: Array, out: Array) -> None:
    np.copyto(out, np.where(condition != 0, x, 0.0))


OPERATIONS: dict[str, Operation] = {
    "assign": Operation(np.positive, "{0}"),
    "add": Operation(np.add, "{0} + {1}"),
    "sub": Operation(np.subtract, "{0} - {1}"),
    "mul": Operation(np.multiply, "{0} * {1}"),
    "div": Operation(np.divide, "{0} / {1}"),
    "neg": Operation(np.negative, "-{0}"),
    "inv": Operation(np.reciprocal, "1.0 / {0}"),
    "sq": Operation(np.square, "{0} * {0}"),
    "twice": Operation(_twice, "{0} + {0}"),
    "sqrt": Operation(np.sqrt, "sqrt({0})"),
    "pow": Operation(np.power, "pow({0}, {1})"),
    "constpow": Operation(np.power, "pow({0}, {1})"),
    "exp": Operation(np.exp, "exp({0})"),
    "expm1": Operation(np.expm1, "expm1({0})"),
    "log": Operation(np.log, "log({0})"),
    "log1p": Operation(np.log1p, "log1p({0})"),
    "sin": Operation(np.sin, "sin({0})"),
    "cos": Operation(np.cos, "cos({0})"),
    "tan": Operation(np.tan, "tan({0})"),
    "asin": Operation(np.arcsin, "asin({0})"),
    "acos": Operation(np.arccos, "acos({0})"),
    "atan": Operation(np.arctan, "atan({0})"),
    "atan2": Operation(np.arctan2, "atan2({0}, {1})"),
    "sinh": Operation(np.sinh, "sinh({0})"),
    "cosh": Operation(np.cosh, "cosh({0})"),
    "tanh": Operation(np.tanh, "tanh({0})"),
    "asinh": Operation(np.arcsinh, "asinh({0})"),
    "acosh": Operation(np.arccosh, "acosh({0})"),
    "atanh": Operation(np.arctanh, "atanh({0})"),
    "hypot": Operation(np.hypot, "hypot({0}, {1})"),
    "fabs": Operation(np.fabs, "fabs({0})"),
    "sign": Operation(np.sign, "({0} < 0.0 ? -1.0 : {0} > 0.0 ? 1.0 : {0})"),
    "fmin": Operation(np.fmin, "fmin({0}, {1})"),
    "fmax": Operation(np.fmax, "fmax({0}, {1})"),
    "fmod": Operation(np.fmod, "fmod({0}, {1})"),
    "copysign": Operation(np.copysign, "copysign({0}, {1})"),
    "floor": Operation(np.floor, "floor({0})"),
    "ceil": Operation(np.ceil, "ceil({0})"),
    "lt": Operation(np.less, "(double)({0} < {1})"),
    "le": Operation(np.less_equal, "(double)({0} <= {1})"),
    "eq": Operation(np.equal, "(double)({0} == {1})"),
    "ne": Operation(np.not_equal, "(double)({0} != {1})"),
    "not": Operation(np.logical_not, "(double)({0} == 0.0)"),
    "and": Operation(np.logical_and, "(double)({0} != 0.0 && {1} != 0.0)"),
    "or": Operation(np.logical_or, "(double)({0} != 0.0 || {1} != 0.0)"),
    "if_else_zero": Operation(_if_else_zero, "({0} != 0.0 ? {1} : 0.0)"),
}
"""Every instruction a kernel may contain besides input, output and constant."""

C_FUNCTIONS = frozenset(
    operation.c.split("(")[0] for operation in OPERATIONS.values() if operation.c.split("(")[0].isidentifier()
)
"""The functions of C's library that these use."""
