"""Expressions for the equations of robots: elementary functions, vectors, derivatives.

An expression is symbolic; `+ - * / ** @`, `.T` and indexing work as in NumPy, with two differences: a vector is a
column, and expressions are not iterable (`components` splits one). Functions given plain numbers return numbers.
Constants folded while an expression is written are rounded like any Python arithmetic: what must be enclosed
rigorously by the interval evaluator has to be an input of the trace, not a constant.

    >>> from gough.kernels import trace
    >>> elbow = trace(lambda q: 0.3 * vector(cos(q), sin(q)), name="elbow", inputs={"q": ()})
    >>> elbow(0.0)
    array([0.3, 0. ])
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

import casadi

Expression: TypeAlias = Any
"""A symbolic scalar, column vector or matrix (a casadi.SX, which has no static types), or a plain number."""

_solves: ContextVar[list[str] | None] = ContextVar("_solves", default=None)


@contextmanager
def recording_solves() -> Iterator[list[str]]:
    """Collect a note for each linear solve written inside the block: those have no useful interval meaning."""
    notes: list[str] = []
    token = _solves.set(notes)
    try:
        yield notes
    finally:
        _solves.reset(token)


def symbol(name: str, rows: int, columns: int = 1) -> Expression:
    """A free symbol of the given size; `trace` makes these for you."""
    return casadi.SX.sym(name, rows, columns)


def _elementwise(function: Callable[..., Any], formula: str, example: str) -> Callable[..., Expression]:
    def apply(*arguments: Expression) -> Expression:
        return function(*arguments)

    apply.__name__ = apply.__qualname__ = example.split("(", maxsplit=1)[0]
    apply.__doc__ = f"{formula}, element by element.\n\nExamples:\n    >>> {example}\n"
    return apply


sin = _elementwise(casadi.sin, "The sine sin x", "sin(0.0)\n    0.0")
cos = _elementwise(casadi.cos, "The cosine cos x", "cos(0.0)\n    1.0")
tan = _elementwise(casadi.tan, "The tangent tan x", "tan(0.0)\n    0.0")
asin = _elementwise(casadi.asin, "The arcsine, in [-π/2, π/2]", "asin(0.0)\n    0.0")
acos = _elementwise(casadi.acos, "The arccosine, in [0, π]", "acos(1.0)\n    0.0")
atan = _elementwise(casadi.atan, "The arctangent, in (-π/2, π/2)", "atan(0.0)\n    0.0")
atan2 = _elementwise(
    casadi.atan2, "The angle of the point (x, y), written atan2(y, x), in [-π, π]", "atan2(0.0, 1.0)\n    0.0"
)
exp = _elementwise(casadi.exp, "The exponential", "exp(0.0)\n    1.0")
log = _elementwise(casadi.log, "The natural logarithm", "log(1.0)\n    0.0")
tanh = _elementwise(casadi.tanh, "The hyperbolic tangent", "tanh(0.0)\n    0.0")
sqrt = _elementwise(casadi.sqrt, "The square root", "sqrt(4.0)\n    2.0")
absolute = _elementwise(casadi.fabs, "The absolute value |x|", "absolute(-2.0)\n    2.0")
sign = _elementwise(casadi.sign, "The sign: -1, 0 or 1", "sign(-3.0)\n    -1.0")
minimum = _elementwise(casadi.fmin, "The smaller of x and y", "minimum(1.0, 2.0)\n    1.0")
maximum = _elementwise(casadi.fmax, "The larger of x and y", "maximum(1.0, 2.0)\n    2.0")
copysign = _elementwise(casadi.copysign, "The size of x with the sign of y", "copysign(2.0, -3.0)\n    -2.0")


def where(condition: Expression, x: Expression, y: Expression) -> Expression:
    """The value x where the condition holds, else y. A kernel that contains one has no interval replay.

    Examples:
        >>> float(where(vector(1.0) < 2.0, 3.0, 4.0))
        3.0
    """
    return casadi.if_else(condition, x, y)


def vector(*components: Expression) -> Expression:
    """The column vector of the given scalars and columns, one below the other.

    Examples:
        >>> vector(1.0, vector(2.0, 3.0)).shape
        (3, 1)
    """
    return casadi.vertcat(*map(_symbolic, components))


def matrix(*columns: Expression) -> Expression:
    """The matrix of the given columns, side by side.

    Examples:
        >>> matrix(vector(1.0, 2.0), vector(3.0, 4.0), vector(5.0, 6.0)).shape
        (2, 3)
    """
    return casadi.horzcat(*map(_symbolic, columns))


def _symbolic(x: Expression) -> Expression:
    # a copy would take most of the time of tracing: CasADi tries every kind of argument before its own
    return x if isinstance(x, casadi.SX) else casadi.SX(x)


def components(v: Expression) -> list[Expression]:
    """The scalars of a vector, one by one, to be unpacked.

    Examples:
        >>> x, y = components(vector(1.0, 2.0))
        >>> float(y)
        2.0
    """
    return [v[i] for i in range(v.numel())]


def dot(a: Expression, b: Expression) -> Expression:
    """The scalar product a · b.

    Examples:
        >>> float(dot(vector(1.0, 2.0), vector(3.0, 4.0)))
        11.0
    """
    return casadi.dot(a, b)


def cross(a: Expression, b: Expression) -> Expression:
    """The vector product a × b in space; in the plane its third component, a scalar.

    Examples:
        >>> float(cross(vector(1.0, 0.0), vector(0.0, 1.0)))
        1.0
    """
    if a.numel() == 2:
        return a[0] * b[1] - a[1] * b[0]
    return casadi.cross(a, b)


def norm(v: Expression) -> Expression:
    """The Euclidean length of v.

    Examples:
        >>> float(norm(vector(3.0, 4.0)))
        5.0
    """
    return casadi.sqrt(casadi.dot(v, v))


def derivative(of: Expression, by: Expression) -> Expression:
    """The Jacobian ∂of/∂by of a scalar or column: a row for each component of `of`.

    Examples:
        >>> x = symbol("x", 2)
        >>> derivative(x[0] * x[1], x)
        SX([[x_1, x_0]])
    """
    return casadi.densify(casadi.jacobian(of, by))


def directional(of: Expression, by: Expression, direction: Expression) -> Expression:
    """The derivative (∂of/∂by) · direction, without forming the Jacobian: a time derivative is this with velocities.

    Examples:
        >>> x, v = symbol("x", 2), symbol("v", 2)
        >>> directional(x[0] * x[1], x, v)
        SX(((x_1*v_0)+(x_0*v_1)))
    """
    return casadi.densify(casadi.jtimes(of, by, direction))


def replaced(of: Expression, symbols: Expression, by: Expression) -> Expression:
    """An expression with a column of symbols replaced by a column of expressions.

    Examples:
        >>> x = symbol("x", 2)
        >>> replaced(x[0] * x[1], x, vector(3.0, x[0]))
        SX((3*x_0))
    """
    return casadi.substitute(of, symbols, by)


def is_zero(x: Expression) -> bool:
    """Whether a scalar is zero whatever the inputs are.

    Examples:
        >>> is_zero(0.0 * symbol("x", 1)), is_zero(symbol("x", 1))
        (True, False)
    """
    return bool(casadi.SX(x).is_zero())


def note_solve(what: str) -> None:
    """Note an operation that has no useful interval replay in the kernel that is being traced."""
    notes = _solves.get()
    if notes is not None:
        notes.append(what)


def solve(A: Expression, b: Expression) -> Expression:
    """The solution x of A x = b, for a small square matrix. A kernel that contains one has no interval replay.

    Examples:
        >>> float(solve(vector(2.0), vector(3.0)))
        1.5
    """
    note_solve(f"solve of a {A.shape[0]}x{A.shape[1]} system")
    return casadi.solve(A, b)
