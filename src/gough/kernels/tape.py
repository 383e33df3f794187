"""A traced expression as a straight-line program: the form all evaluators share."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import casadi
import numpy as np

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

    @cached_property
    def calls(self) -> "Calls":
        """The instructions as calls on places."""
        inputs = list(dict.fromkeys(step.reads for step in self.steps if step.operation == "input"))
        outputs = list(dict.fromkeys(step.writes for step in self.steps if step.operation == "output"))
        constants = [step.constant for step in self.steps if step.operation == "const"]
        of_input = {element: self.n_slots + k for k, element in enumerate(inputs)}
        of_output = {element: self.n_slots + len(inputs) + k for k, element in enumerate(outputs)}
        of_constant = iter(range(self.n_slots + len(inputs) + len(outputs), sys.maxsize))
        steps: list[tuple[Callable[..., Any], tuple[int, ...]]] = []
        for step in self.steps:
            match step.operation:
                case "input":
                    steps.append((np.positive, (of_input[step.reads], *step.writes)))
                case "output":
                    steps.append((np.positive, (*step.reads, of_output[step.writes])))
                case "const":
                    steps.append((np.positive, (next(of_constant), *step.writes)))
                case operation:
                    steps.append((OPERATIONS[operation].numpy, (*step.reads, *step.writes)))
        return Calls(steps, inputs, outputs, constants)


@dataclass(frozen=True)
class Calls:
    """A tape as calls of NumPy. Places are numbered: slots, then elements of inputs, of outputs, then constants."""

    steps: list[tuple[Callable[..., Any], tuple[int, ...]]]
    """Functions, and the places that each reads and, last, writes."""
    inputs: list[tuple[int, ...]]
    """Which input, and which of its elements."""
    outputs: list[tuple[int, ...]]
    constants: list[float]


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
