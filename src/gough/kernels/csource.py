"""A tape as C99: one function without state, allocation or recursion, one statement per instruction."""

from collections.abc import Sequence

from gough.kernels.operations import OPERATIONS
from gough.kernels.ports import Port
from gough.kernels.tape import Tape

BATCH_SYMBOL = "gough_batch"
"""The entry point of a compiled kernel."""


def signature(name: str, inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    """The C declaration of a kernel: inputs then outputs, each a row-major array of doubles.

    Examples:
        >>> signature("elbow", [Port("q", ())], [Port("p", (2,))])
        'void elbow(const double q[1], double p[2])'
    """
    arguments = [f"const double {port.name}[{port.size}]" for port in inputs]
    arguments += [f"double {port.name}[{port.size}]" for port in outputs]
    return f"void {name}({', '.join(arguments)})"


def body(tape: Tape, inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    """The statements of the function.

    Inputs are all read before any output is written, so an output may overwrite an input. Locals begin with an
    underscore, which no port's name does.
    """
    loads, statements = [], []
    holder: dict[int, str] = {}  # slot -> the constant local that holds its present value
    for k, step in enumerate(tape.steps):
        match step.operation:
            case "input":
                loads.append(f"    const double _{k} = {inputs[step.reads[0]].name}[{step.reads[1]}];")
            case "output":
                port, element = step.writes
                statements.append(f"    {outputs[port].name}[{element}] = {holder[step.reads[0]]};")
                continue
            case "const":
                statements.append(f"    const double _{k} = {literal(step.constant)};")
            case operation:
                value = OPERATIONS[operation].c.format(*(holder[slot] for slot in step.reads))
                statements.append(f"    const double _{k} = {value};")
        holder[step.writes[0]] = f"_{k}"
    return "\n".join(loads + statements)


def function(name: str, tape: Tape, inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    """The definition of the kernel as a C function."""
    used = {step.reads[0] for step in tape.steps if step.operation == "input"}
    unused = [f"    (void){port.name};" for k, port in enumerate(inputs) if k not in used]
    lines = [signature(name, inputs, outputs), "{", *unused, body(tape, inputs, outputs), "}"]
    return "\n".join(lines) + "\n"


def batch(name: str, tape: Tape, inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    """A translation unit with the kernel and a loop over samples start <= i < stop.

    `steps` holds the distance between samples of each input, in doubles: 0 for one sample shared by all.
    """
    arguments = [f"in[{k}] + i * steps[{k}]" for k in range(len(inputs))]
    arguments += [f"out[{k}] + i * {port.size}" for k, port in enumerate(outputs)]
    call = ",\n            ".join(arguments)
    return f"""#include <math.h>
#include <stddef.h>

static {function(name, tape, inputs, outputs)}
void {BATCH_SYMBOL}(ptrdiff_t start, ptrdiff_t stop, const double *const *in, const ptrdiff_t *steps,
                 double *const *out)
{{
    for (ptrdiff_t i = start; i < stop; ++i)
        {name}(
            {call});
}}
"""


def literal(value: float) -> str:
    """A C literal of exactly this double."""
    if value != value:  # noqa: PLR0124 - the definition of NaN
        return "NAN"
    if value in (float("inf"), float("-inf")):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)
