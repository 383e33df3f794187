"""A traced expression as a straight-line program: the form all evaluators share."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import casadi

from gough.core.errors import InputError
from gough.kernels.operations import OPERATIONS


@dataclass(frozen=True)
class Instruction:
    """One instruction. Slots are places in a work space; they are reused when their value is no longer needed."""

    operation: str
    """`input`, `output`, `const`, or a key of OPERATIONS."""
    reads: tuple[int, ...]
    """Slots; for `input`: which input, and which of its elements."""
    writes: tuple[int, ...]
    """One slot; for `output`: which output, and which of its elements."""
    constant: float = 0.0
    """The value a `const` puts in its slot."""


@dataclass(frozen=True)
class Tape:
    """The instructions of a kernel, in an order in which they can be carried out."""

    steps: tuple[Instruction, ...]
    n_slots: int


@cache
def _operation_names() -> dict[int, str]:
    return {getattr(casadi, word): word[3:].lower() for word in dir(casadi) if word.startswith("OP_")}


def read_tape(name: str, function: Any) -> Tape:
    """The instructions of a casadi.Function of scalar operations.

    Raises:
        InputError: an instruction is not among OPERATIONS; the message names it.
    """
    names = _operation_names()
    known = {"input", "output", "const", *OPERATIONS}
    steps = []
    for k in range(function.n_instructions()):
        operation = names.get(function.instruction_id(k), "unknown")
        if operation not in known:
            raise InputError(
                f"kernel '{name}' contains the instruction '{operation}', which no evaluator knows; "
                "write it with the functions of gough.kernels.expression"
            )
        constant = float(function.instruction_constant(k)) if operation == "const" else 0.0
        steps.append(
            Instruction(
                operation, tuple(function.instruction_input(k)), tuple(function.instruction_output(k)), constant
            )
        )
    return Tape(tuple(steps), max(function.sz_w(), 1))
