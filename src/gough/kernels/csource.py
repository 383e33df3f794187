"""A tape as C99: one function without state, allocation or recursion, for compiled kernels and for controllers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gough.kernels.operations import C_FUNCTIONS, OPERATIONS
from gough.kernels.ports import Port
from gough.kernels.tape import Tape

BATCH_SYMBOL = "gough_batch"
"""The entry point of a compiled kernel."""


@dataclass(frozen=True)
class Reals:
    """How real numbers are written in C: their type, their constants, and the functions of math.h.

    Examples:
        >>> DOUBLES.operation("fmax({0}, 1.0 / {1})")
        'fmax({0}, 1.0 / {1})'
        >>> Reals("h4_real", "H4_C({})", "H4_F({})").operation("fmax({0}, 1.0 / {1})")
        'H4_F(fmax)({0}, H4_C(1.0) / {1})'
    """

    type: str = "double"
    constant: str = "{}"
    """A constant, with its digits for the braces."""
    function: str = "{}"
    """A function of math.h, with its name for the braces."""

    def operation(self, text: str) -> str:
        """The C text of an operation on doubles, for these reals."""

        def word(found: re.Match[str]) -> str:
            name = found[0]
            if name == "double":
                return self.type
            if name[0].isdigit():
                return self.constant.format(name)
            return self.function.format(name) if name in C_FUNCTIONS else name

        return re.sub(r"(?<![\w.{])(?:[A-Za-z_]\w*|\d+\.\d+)", word, text)


DOUBLES = Reals()
"""Plain double precision."""


def signature(name: str, inputs: Sequence[Port], outputs: Sequence[Port], reals: Reals = DOUBLES) -> str:
    """The C declaration of a kernel: inputs then outputs, each a row-major array of doubles.

    Examples:
        >>> signature("elbow", [Port("q", ())], [Port("p", (2,))])
        'void elbow(const double q[1], double p[2])'
    """
    arguments = [f"const {reals.type} {port.name}[{port.size}]" for port in inputs]
    arguments += [f"{reals.type} {port.name}[{port.size}]" for port in outputs]
    return f"void {name}({', '.join(arguments)})"


def body(tape: Tape, inputs: Sequence[Port], outputs: Sequence[Port], reals: Reals = DOUBLES) -> str:
    """The statements of the function.

    Inputs are all read before any output is written, so an output may overwrite an input. Locals begin with an
    underscore, which no port's name does.
    """
    declared = f"    const {reals.type} "
    loads, statements = [], []
    holder: dict[int, str] = {}  # slot -> the constant local that holds its present value
    for k, step in enumerate(tape.steps):
        match step.operation:
            case "input":
                loads.append(f"{declared}_{k} = {inputs[step.reads[0]].name}[{step.reads[1]}];")
            case "output":
                port, element = step.writes
                statements.append(f"    {outputs[port].name}[{element}] = {holder[step.reads[0]]};")
                continue
            case "const":
                value = literal(step.constant)
                plain = value.lstrip("-").isupper()  # NAN and INFINITY are of any type
                statements.append(f"{declared}_{k} = {value if plain else reals.constant.format(value)};")
            case operation:
                value = reals.operation(OPERATIONS[operation].c).format(*(holder[slot] for slot in step.reads))
                statements.append(f"{declared}_{k} = {value};")
        holder[step.writes[0]] = f"_{k}"
    return "\n".join(loads + statements)


def function(name: str, tape: Tape, inputs: Sequence[Port], outputs: Sequence[Port], reals: Reals = DOUBLES) -> str:
    """The definition of the kernel as a C function."""
    used = {step.reads[0] for step in tape.steps if step.operation == "input"}
    unused = [f"    (void){port.name};" for k, port in enumerate(inputs) if k not in used]
    lines = [signature(name, inputs, outputs, reals), "{", *unused, body(tape, inputs, outputs, reals), "}"]
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


def c_files(name: str, tape: Tape, inputs: Sequence[Port], outputs: Sequence[Port]) -> dict[str, str]:
    """The texts of `<name>.c` and `<name>.h`, by file name."""
    guard = f"GOUGH_{name.upper()}_H"
    lines = [f" *   {_described(port)}" for port in inputs]
    results = [f" *   {_described(port)}" for port in outputs]
    comment = "\n".join(
        [
            f"/* {name}: written by gough; {len(tape.steps)} instructions.",
            " *",
            " * Inputs:",
            *lines,
            " * Outputs:",
            *results,
            " *",
            " * SI units; matrices row by row. C99 with the mathematics library. Without state or allocation: it",
            " * is reentrant and takes the same time at each call. An output array may also be an input array.",
            " * Outside a function's domain, such as the square root of a negative number, results are NaN.",
            " */",
        ]
    )
    declaration = signature(name, inputs, outputs)
    opened = f'#ifndef {guard}\n#define {guard}\n\n#ifdef __cplusplus\nextern "C" {{\n#endif\n\n'
    closed = "#ifdef __cplusplus\n}\n#endif\n\n#endif\n"
    header = f"{opened}{comment}\n{declaration};\n\n{closed}"
    source = f'#include "{name}.h"\n\n#include <math.h>\n\n{function(name, tape, inputs, outputs)}'
    return {f"{name}.c": source, f"{name}.h": header}


def _described(port: Port) -> str:
    match port.shape:
        case ():
            kind = "a scalar"
        case (n,):
            kind = f"a vector of {n}"
        case shape:
            kind = f"an array {' x '.join(map(str, shape))}, row by row"
    return f"{port.name}[{port.size}]: {kind}"
