"""A tape as C for many samples: four or eight at a time in the lanes of vector registers, the program cut into parts.

Sums, products, quotients and roots of vectors round as those of numbers do, and every other function is called lane by
lane: results have the same bits as from one sample at a time. A compiler takes much longer over a long function than
over the same in several parts; values that one part computes for a later one wait in a work space.
"""

from collections.abc import Sequence

from gough.kernels.compiler import doubles_in_a_register
from gough.kernels.csource import BATCH_SYMBOL, literal
from gough.kernels.operations import OPERATIONS
from gough.kernels.ports import Port
from gough.kernels.tape import Instruction, Tape

LANES = doubles_in_a_register()
"""Doubles in a vector: 8 where the processor has AVX-512, else 4; compilers make two of it where registers hold two."""
PART = 600
"""Instructions in one C function."""
_VECTORS = {"assign", "add", "sub", "mul", "div", "neg", "sq", "twice"}
"""Operations whose C expressions mean the same for vectors."""
_MASKS = {
    "lt": "(V)((I)(a < b) & (I)all(1.0))",
    "le": "(V)((I)(a <= b) & (I)all(1.0))",
    "eq": "(V)((I)(a == b) & (I)all(1.0))",
    "ne": "(V)((I)(a != b) & (I)all(1.0))",
    "not": "(V)((I)(a == all(0.0)) & (I)all(1.0))",
    "and": "(V)((I)(a != all(0.0)) & (I)(b != all(0.0)) & (I)all(1.0))",
    "or": "(V)(((I)(a != all(0.0)) | (I)(b != all(0.0))) & (I)all(1.0))",
    "if_else_zero": "(V)((I)(a != all(0.0)) & (I)b)",
    "sign": "pick((I)(a < all(0.0)), all(-1.0), pick((I)(a > all(0.0)), all(1.0), a))",
    "fabs": "(V)((I)a & ~(I)all(-0.0))",
    "copysign": "pick((I)all(-0.0), b, a)",
}
"""Operations by comparisons and bits of whole vectors: a branch in each lane would cost more, above all to compile."""
_INLINE = "static inline __attribute__((always_inline))"

_PREAMBLE = f"""#include <math.h>
#include <stddef.h>

typedef double V __attribute__((vector_size({8 * LANES})));
typedef long long I __attribute__((vector_size({8 * LANES})));
typedef const double *const (*Inputs)[{LANES}];
typedef double *const (*Outputs)[{LANES}];

{_INLINE} V all(double c)
{{
    return (V){{{", ".join("c" for _ in range(LANES))}}};
}}

{_INLINE} V load(const double *const *x, ptrdiff_t k)
{{
    return (V){{{", ".join(f"x[{lane}][k]" for lane in range(LANES))}}};
}}

{_INLINE} void store(double *const *y, ptrdiff_t k, V v)
{{
    {" ".join(f"y[{lane}][k] = v[{lane}];" for lane in range(LANES))}
}}

{_INLINE} V pick(I mask, V a, V b)
{{
    return (V)(((I)a & mask) | ((I)b & ~mask));
}}

"""


def batch(tape: Tape, inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    """A translation unit with the kernel in a loop over samples start <= i < stop.

    `steps` holds the distance between samples of each input, in doubles: 0 for one sample shared by all. In the last
    round lanes without a sample repeat the last one. Outputs must not lie over inputs.
    """
    parts, used = _parts(tape)
    samples = [f"x[{k}][lane] = in[{k}] + r * steps[{k}];" for k in range(len(inputs))]
    samples += [f"y[{k}][lane] = out[{k}] + r * {port.size};" for k, port in enumerate(outputs)]
    each = "\n            ".join(samples)
    calls = "\n        ".join(f"part_{k}(w, x, y);" for k in range(len(parts)))
    functions = [*map(_defined, sorted(used - _VECTORS)), *(_function(k, part) for k, part in enumerate(parts))]
    return f"""{_PREAMBLE}{"".join(functions)}
void {BATCH_SYMBOL}(ptrdiff_t start, ptrdiff_t stop, const double *const *in, const ptrdiff_t *steps,
                 double *const *out)
{{
    V w[{tape.n_slots}];
    const double *x[{max(len(inputs), 1)}][{LANES}];
    double *y[{len(outputs)}][{LANES}];
    (void)steps;
    (void)in;
    for (ptrdiff_t i = start; i < stop; i += {LANES}) {{
        for (int lane = 0; lane < {LANES}; ++lane) {{
            const ptrdiff_t r = i + lane < stop ? i + lane : stop - 1;
            {each}
        }}
        {calls}
    }}
}}
"""


def _defined(operation: str) -> str:
    """An operation as a function of vectors: by masks, or calling the one of numbers in each lane."""
    c = OPERATIONS[operation].c
    names = ("a", "b") if "{1}" in c else ("a",)
    arguments = ", ".join(f"V {name}" for name in names)
    lanes = ", ".join(c.format(*(f"{name}[{lane}]" for name in names)) for lane in range(LANES))
    value = _MASKS.get(operation, f"(V){{{lanes}}}")
    return f"{_INLINE} V v_{operation}({arguments})\n{{\n    return {value};\n}}\n\n"


def _function(k: int, statements: Sequence[str]) -> str:
    body = "\n".join(f"    {line}" for line in statements)
    return (
        f"static __attribute__((noinline)) void part_{k}(V *w, Inputs x, Outputs y)\n"
        f"{{\n    (void)w;\n    (void)x;\n    (void)y;\n{body}\n}}\n\n"
    )


def _parts(tape: Tape) -> tuple[list[list[str]], set[str]]:
    """The statements of each part, and the operations that occur.

    A value of an earlier part is read from its slot in the work space; the tape overwrites a slot only when its value
    is no longer needed.
    """
    last = _last_uses(tape)
    parts: list[list[str]] = []
    used: set[str] = set()
    holder: dict[int, int] = {}  # slot -> the instruction whose value it holds
    for k, step in enumerate(tape.steps):
        if k % PART == 0:
            parts.append([])
            here: set[int] = set()
        statements = parts[-1]

        def operand(slot: int, here: set[int] = here, statements: list[str] = statements) -> str:
            value = holder[slot]
            if value not in here:
                source = tape.steps[value]
                statements.append(f"const V _{value} = {_again(source)};")
                here.add(value)
            return f"_{value}"

        if step.operation == "output":
            port, element = step.writes
            statements.append(f"store(y[{port}], {element}, {operand(step.reads[0])});")
            continue
        if step.operation in OPERATIONS:
            used.add(step.operation)
            expression = _expression(step.operation, [operand(slot) for slot in step.reads])
        else:
            expression = _again(step)
        statements.append(f"const V _{k} = {expression};")
        here.add(k)
        holder[step.writes[0]] = k
        if step.operation in OPERATIONS and last.get(k, k) // PART > k // PART:
            statements.append(f"w[{step.writes[0]}] = _{k};")
    return parts, used


def _again(step: Instruction) -> str:
    """A value in a part that did not compute it: constants and inputs are read again, others come from their slots."""
    match step.operation:
        case "input":
            return f"load(x[{step.reads[0]}], {step.reads[1]})"
        case "const":
            return f"all({literal(step.constant)})"
        case _:
            return f"w[{step.writes[0]}]"


def _expression(operation: str, operands: Sequence[str]) -> str:
    if operation == "inv":
        return f"all(1.0) / {operands[0]}"
    if operation in _VECTORS:
        return OPERATIONS[operation].c.format(*operands)
    return f"v_{operation}({', '.join(operands)})"


def _last_uses(tape: Tape) -> dict[int, int]:
    """For each instruction that computes a value, the last that reads it."""
    holder: dict[int, int] = {}
    last: dict[int, int] = {}
    for k, step in enumerate(tape.steps):
        if step.operation == "output":
            last[holder[step.reads[0]]] = k
            continue
        if step.operation in OPERATIONS:
            for slot in step.reads:
                last[holder[slot]] = k
        holder[step.writes[0]] = k
    return last
