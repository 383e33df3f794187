"""Named inputs and outputs of a kernel, and what may pass through them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.intervals import Interval
from gough.kernels.elementary import ELEMENTARY, function_name
from gough.kernels.operations import C_FUNCTIONS

_FLOAT64 = np.dtype(np.float64)
_C_WORDS = (
    "auto|break|case|char|const|continue|default|do|double|else|enum|extern|float|for|goto|if|inline|int|long|register|"
    "restrict|return|short|signed|sizeof|static|struct|switch|typedef|union|unsigned|void|volatile|while|main|NAN|INFINITY"
)
_FUNCTIONS = C_FUNCTIONS | {function_name(each) for each in ELEMENTARY.values()}


@dataclass(frozen=True)
class Port:
    """A named input or output.

    Examples:
        >>> Port("J", (2, 3)).size
        6
    """

    name: str
    shape: tuple[int, ...]
    """() for a scalar, (n,) for a vector, (rows, columns) for a matrix, more for derivatives; stored row by row."""

    def __post_init__(self) -> None:
        check_name(self.name)
        require(all(n > 0 for n in self.shape), f"'{self.name}' must have no empty axis, but its shape is {self.shape}")

    @property
    def size(self) -> int:
        """Number of entries of one sample."""
        return prod(self.shape)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.shape))})"


def check_name(name: str) -> None:
    """Refuse a name that C, or a reader of C, could not use."""
    is_word = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is not None
    require(
        is_word and re.fullmatch(_C_WORDS, name) is None and name not in _FUNCTIONS,
        f"'{name}' cannot name a kernel, an input or an output: use a letter, then letters, digits and underscores, "
        "and no word of C",
    )


def check_distinct(names: Iterable[str]) -> None:
    """Refuse a name that occurs twice."""
    seen: set[str] = set()
    for name in names:
        require(name not in seen, f"the name '{name}' occurs twice among the kernel and its inputs and outputs")
        seen.add(name)


def read_sample(kernel: str, port: Port, value: Any) -> tuple[Array, int | None]:
    """`value` as a contiguous float64 array (samples, size), and the number of samples: None for a single one.

    Raises:
        InputError: it is not real numbers of the port's shape; the message names the input.
    """
    if type(value) is np.ndarray and value.dtype is _FLOAT64 and value.flags.c_contiguous:
        n_samples = _samples(kernel, port, value.shape)
        return value.reshape(1 if n_samples is None else n_samples, -1 if value.size else port.size), n_samples
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InputError(
            f"input '{port.name}' of kernel '{kernel}' must be an array of numbers, but its rows differ in length"
        ) from error
    if array.dtype.kind not in "iuf":
        raise InputError(
            f"input '{port.name}' of kernel '{kernel}' must hold real numbers, but its dtype is {array.dtype}"
        )
    n_samples = _samples(kernel, port, array.shape)
    flat = np.ascontiguousarray(array, dtype=np.float64).reshape(1 if n_samples is None else n_samples, port.size)
    return flat, n_samples


def read_interval(kernel: str, port: Port, value: Any) -> tuple[Interval, int | None]:
    """`value` as intervals (samples, size), and the number of samples: None for a single one."""
    try:
        interval = value if isinstance(value, Interval) else Interval(value)
    except InputError as error:
        raise InputError(f"input '{port.name}' of kernel '{kernel}': {error}") from error
    n_samples = _samples(kernel, port, interval.shape)
    return interval.reshape(1 if n_samples is None else n_samples, port.size), n_samples


def _samples(kernel: str, port: Port, shape: tuple[int, ...]) -> int | None:
    """The number of samples in an array of this shape, or None for a single one."""
    if shape == port.shape:
        return None
    if len(shape) == len(port.shape) + 1 and shape[1:] == port.shape:
        return shape[0]
    one = f"shape {port.shape}" if port.shape else "no axis"
    many = f"(N, {', '.join(map(str, port.shape))})" if port.shape else "(N,)"
    raise InputError(
        f"input '{port.name}' of kernel '{kernel}' must have {one} for one sample or shape {many} for many, "
        f"but its shape is {shape}"
    )
