"""Replay of a tape in interval arithmetic: every instruction encloses its result, so the outputs are enclosed.

The enclosure is of the expression as traced, for every point of the inputs at which it is defined. It is rigorous, and
as wide as repeated variables make it.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gough.core import intervals as iv
from gough.core.errors import AssumptionError
from gough.core.intervals import Interval
from gough.kernels.tape import Tape


def _power(x: Interval, y: Interval) -> Interval:
    """x^y; an integer exponent is also defined for negative x."""
    exponent = float(y.mid) if y.ndim == 0 else np.nan
    if exponent.is_integer() and y == Interval(exponent):
        return iv.pown(x, int(exponent))
    return iv.pow(x, y)


INTERVAL_OPERATIONS: Mapping[str, Callable[..., Interval]] = {
    "assign": lambda x: x,
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "neg": lambda x: -x,
    "inv": iv.recip,
    "sq": iv.sqr,
    "twice": lambda x: 2.0 * x,
    "sqrt": iv.sqrt,
    "pow": _power,
    "constpow": _power,
    "fabs": abs,
    "fmin": iv.minimum,
    "fmax": iv.maximum,
    **{
        name: getattr(iv, name)
        for name in ("exp", "expm1", "log", "log1p", "sin", "cos", "tan", "asin", "acos", "atan")
    },
    **{name: getattr(iv, name) for name in ("atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "hypot")},
    **{name: getattr(iv, name) for name in ("sign", "floor", "ceil")},
}
"""The instructions with an interval meaning; comparisons and branches have none."""


def enclose(name: str, tape: Tape, inputs: Sequence[Interval], sizes: Sequence[int]) -> list[Interval]:
    """Intervals (samples, size) holding the outputs, for inputs (samples or 1, size).

    Raises:
        AssumptionError: an instruction has no interval meaning; the message names it and the kernel.
    """
    slots: dict[int, Interval] = {}
    outputs: list[list[Interval]] = [[Interval(0.0)] * size for size in sizes]
    for step in tape.steps:
        match step.operation:
            case "input":
                slots[step.writes[0]] = inputs[step.reads[0]][:, step.reads[1]]
            case "output":
                outputs[step.writes[0]][step.writes[1]] = slots[step.reads[0]]
            case "const":
                slots[step.writes[0]] = Interval(step.constant)
            case operation if operation in INTERVAL_OPERATIONS:
                slots[step.writes[0]] = INTERVAL_OPERATIONS[operation](*(slots[slot] for slot in step.reads))
            case operation:
                raise AssumptionError(
                    f"kernel '{name}' contains the instruction '{operation}', which has no interval meaning; "
                    "write the equation without comparison, or evaluate it in numbers"
                )
    n_samples = max((len(x) for x in inputs), default=1) if all(len(x) for x in inputs) else 0
    return [_columns(column, n_samples) for column in outputs]


def _columns(columns: Sequence[Interval], n_samples: int) -> Interval:
    def join(*ends: np.ndarray) -> np.ndarray:
        return np.stack([np.broadcast_to(end, (n_samples,)) for end in ends], axis=-1)

    return iv.rearrange(join, *columns)
