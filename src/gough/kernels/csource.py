"""A tape as C99: one function without state, allocation or recursion, for compiled kernels and for controllers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gough.kernels.elementary import ANGLE, SINE_COSINE, definition, function_name
from gough.kernels.operations import C_FUNCTIONS, OPERATIONS
from gough.kernels.ports import Port
from gough.kernels.tape import Tape, Together, together

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
    library: bool = True
    """Whether all functions are of math.h, not those of `definitions`."""

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
_SAME_BITS = Reals(library=False)
"""Double precision, with the bits of every other evaluator."""


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
    groups = {} if reals.library else together(tape)
    for k, (step, sources) in enumerate(zip(tape.steps, tape.sources(), strict=True)):
        operands = [f"_{source}" for source in sources]
        match step.operation:
            case "input":
                loads.append(f"{declared}_{k} = {inputs[step.reads[0]].name}[{step.reads[1]}];")
            case "output":
                port, element = step.writes
                statements.append(f"    {outputs[port].name}[{element}] = {operands[0]};")
            case "const":
                value = literal(step.constant)
                plain = value.lstrip("-").isupper()  # NAN and INFINITY are of any type
                statements.append(f"{declared}_{k} = {value if plain else reals.constant.format(value)};")
            case _ if k in groups:
                if k == groups[k].first:
                    statements += [f"    {line}" for line in elementary(groups[k], operands, reals.type)]
            case operation:
                value = reals.operation(OPERATIONS[operation].c).format(*operands)
                statements.append(f"{declared}_{k} = {value};")
    return "\n".join(loads + statements)


def elementary(group: Together, operands: Sequence[str], real: str) -> list[str]:
    """Statements that compute what belongs together."""
    others = [f"_{group.first}_{j}" if k is None else f"_{k}" for j, k in enumerate(group.results) if j > 0]
    call = f"{function_name(group.function)}({', '.join([*operands, *(f'&{other}' for other in others)])});"
    kept = group.results[0]
    declared = [f"{real} {other};" for other in others]
    return [*declared, f"(void){call}" if kept is None else f"const {real} _{kept} = {call}"]


def definitions(tape: Tape) -> str:
    """The elementary functions that the kernel calls."""
    used = {step.operation for step in tape.steps}
    functions = (each for each in (SINE_COSINE, ANGLE) if used.intersection(each.operations))
    return "".join(f"{definition(each)}\n" for each in functions)


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

{definitions(tape)}static {function(name, tape, inputs, outputs, _SAME_BITS)}
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
    code = function(name, tape, inputs, outputs, _SAME_BITS)
    source = f'#include "{name}.h"\n\n#include <math.h>\n\n{definitions(tape)}{code}'
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
