"""A traced expression as a straight-line program: the form all evaluators share."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import casadi
import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.kernels.elementary import ELEMENTARY, Elementary, of_arrays
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

    def sources(self) -> Iterator[tuple[int, ...]]:
        """For each instruction, those whose values it reads: by number, since slots are reused."""
        holder: dict[int, int] = {}  # slot -> the instruction whose value it holds
        for k, step in enumerate(self.steps):
            yield () if step.operation in ("input", "const") else tuple(holder[slot] for slot in step.reads)
            if step.operation != "output":
                holder[step.writes[0]] = k

    @cached_property
    def calls(self) -> "Calls":
        """The instructions as calls on places."""
        inputs = list(dict.fromkeys(step.reads for step in self.steps if step.operation == "input"))
        outputs = list(dict.fromkeys(step.writes for step in self.steps if step.operation == "output"))
        constants = [step.constant for step in self.steps if step.operation == "const"]
        of_input = {element: self.n_slots + k for k, element in enumerate(inputs)}
        of_output = {element: self.n_slots + len(inputs) + k for k, element in enumerate(outputs)}
        of_constant = iter(range(self.n_slots + len(inputs) + len(outputs), self.n_slots + len(self.steps)))
        groups, kept = together(self), dict[int, int]()  # result that is computed before its turn -> its place
        first_kept = self.n_slots + len(inputs) + len(outputs) + len(constants)
        steps: list[tuple[Callable[..., Any], tuple[int, ...]]] = []
        for k, step in enumerate(self.steps):
            match step.operation:
                case "input":
                    steps.append((np.positive, (of_input[step.reads], *step.writes)))
                case "output":
                    steps.append((np.positive, (*step.reads, of_output[step.writes])))
                case "const":
                    steps.append((np.positive, (next(of_constant), *step.writes)))
                case _ if k in kept:
                    steps.append((np.positive, (kept[k], *step.writes)))
                case _ if k in groups:
                    results = [result for result in groups[k].results if result is not None]
                    kept |= {result: first_kept + len(kept) + i for i, result in enumerate(set(results) - {k})}
                    places = (step.writes[0] if result == k else kept[result] for result in results)
                    steps.append((groups[k].call, (*step.reads, *places)))
                case operation:
                    steps.append((OPERATIONS[operation].numpy, (*step.reads, *step.writes)))
        return Calls(steps, inputs, outputs, constants, len(kept))


@dataclass(frozen=True)
class Calls:
    """A tape as calls of NumPy. Places are numbered: slots, then elements of inputs, of outputs, then constants."""

    steps: list[tuple[Callable[..., Any], tuple[int, ...]]]
    """Functions, and the places that each reads and, last, writes."""
    inputs: list[tuple[int, ...]]
    """Which input, and which of its elements."""
    outputs: list[tuple[int, ...]]
    constants: list[float]
    n_kept: int
    """Places for results that wait for their turn, after all others."""


@dataclass(frozen=True)
class Together:
    """Instructions that one elementary function computes: a sine and a cosine of the same value."""

    function: Elementary
    first: int
    """The first of them, where all are computed."""
    results: tuple[int | None, ...]
    """For each operation of the function, the instruction that asks for it."""

    def call(self, *places: Array) -> None:
        """Compute all from the first arrays into those that follow."""
        n = len(self.function.arguments)
        results = of_arrays(self.function, *places[:n])
        wanted = (value for value, k in zip(results, self.results, strict=True) if k is not None)
        for value, place in zip(wanted, places[n:], strict=True):
            place[...] = value


def together(tape: Tape) -> dict[int, Together]:
    """For each instruction that an elementary function computes, all that it computes with it.

    An instruction that repeats an earlier one stands alone.
    """
    groups: dict[object, list[int | None]] = {}
    places: dict[int, object] = {}
    for k, (step, sources) in enumerate(zip(tape.steps, tape.sources(), strict=True)):
        function = ELEMENTARY.get(step.operation)
        if function is None:
            continue
        j = function.operations.index(step.operation)
        key: object = (function.name, sources)
        if key in groups and groups[key][j] is not None:
            key = k
        groups.setdefault(key, [None] * len(function.operations))[j] = k
        places[k] = key
    found = {}
    for k, key in places.items():
        results = groups[key]
        first = min(result for result in results if result is not None)
        found[k] = Together(ELEMENTARY[tape.steps[k].operation], first, tuple(results))
    return found


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
