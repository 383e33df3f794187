"""A tape as C for many samples: four or eight at a time in the lanes of vector registers, the program cut into parts.

Sums, products, quotients and roots of vectors round as those of numbers do; sines, cosines and angles are sums and
products themselves, and every other function is called lane by lane: results have the same bits as from one sample at a
time. A compiler takes much longer over a long function than over the same in several parts; values that one part
computes for a later one wait in a work space.
"""

from collections.abc import Iterator, Sequence

from gough.kernels.compiler import doubles_in_a_register
from gough.kernels.csource import BATCH_SYMBOL, elementary, literal
from gough.kernels.elementary import ELEMENTARY, NEEDED, definition
from gough.kernels.operations import OPERATIONS
from gough.kernels.ports import Port
from gough.kernels.tape import Instruction, Tape, together

LANES = doubles_in_a_register()
"""Doubles in a vector: 8 where the processor has AVX-512, else 4; compilers make two of it where registers hold two."""
STEPS = [step for step in (1, 2, 4) if step < LANES]
"""Distances of lanes in the rounds of what goes over all of them by halves."""
PART = 600
"""Instructions in one C function."""
_VECTORS = {"assign", "add", "sub", "mul", "div", "neg", "inv", "sq", "twice"}
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


def _turning() -> Iterator[str]:
    """Statements that turn vectors v0, v1, … of one element each into vectors of one sample each, by halves."""
    for step in STEPS:
        for k in range(LANES):
            if k & step:
                continue
            first = [lane if not lane & step else LANES + lane - step for lane in range(LANES)]
            second = [lane + step if not lane & step else LANES + lane for lane in range(LANES)]
            a, b = f"v{k}", f"v{k + step}"
            yield f"const V t{step}_{k} = MIXED({a}, {b}, {', '.join(map(str, first))});"
            yield f"{b} = MIXED({a}, {b}, {', '.join(map(str, second))});"
            yield f"{a} = t{step}_{k};"


_PREAMBLE = f"""#include <math.h>
#include <stddef.h>

typedef double V __attribute__((vector_size({8 * LANES})));
typedef double Row __attribute__((vector_size({8 * LANES}), aligned(8), may_alias));
typedef long long I __attribute__((vector_size({8 * LANES})));
typedef const double *const (*Inputs)[{LANES}];
typedef double *const (*Outputs)[{LANES}];
#if defined(__clang__) || __GNUC__ >= 12
#define MIXED(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define MIXED(a, b, ...) __builtin_shuffle(a, b, (I){{__VA_ARGS__}})
#endif

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

{_INLINE} int every(I mask)
{{
    {" ".join(f"mask &= MIXED(mask, mask, {', '.join(str(lane ^ step) for lane in range(LANES))});" for step in STEPS)}
    return mask[0] != 0;
}}

"""
_ROWS = f"""static __attribute__((noinline)) void store_rows(double *const *y, ptrdiff_t k,
    {", ".join(f"V v{lane}" for lane in range(LANES))})
{{
    {f"{chr(10)}    ".join(_turning())}
    {" ".join(f"*(Row *)(y[{lane}] + k) = v{lane};" for lane in range(LANES))}
}}

"""
"""Elements that follow one another in each sample, stored together."""


def batch(tape: Tape, inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    """A translation unit with the kernel in a loop over samples start <= i < stop.

    `steps` holds the distance between samples of each input, in doubles: 0 for one sample shared by all. In the last
    round lanes without a sample repeat the last one. Outputs must not lie over inputs.
    """
    parts = _Parts(tape)
    samples = [f"x[{k}][lane] = in[{k}] + r * steps[{k}];" for k in range(len(inputs))]
    samples += [f"y[{k}][lane] = out[{k}] + r * {port.size};" for k, port in enumerate(outputs)]
    each = "\n            ".join(samples)
    calls = "\n        ".join(f"part_{k}(w, x, y);" for k in range(len(parts.texts)))
    functions = [*parts.definitions(), *(_function(k, part) for k, part in enumerate(parts.texts))]
    return f"""{_PREAMBLE}{"".join(functions)}
void {BATCH_SYMBOL}(ptrdiff_t start, ptrdiff_t stop, const double *const *in, const ptrdiff_t *steps,
                 double *const *out)
{{
    V w[{max(parts.n_places, 1)}];
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


class _Parts:
    """The statements of each part. What a part computes for later ones has a place in the work space until the last."""

    def __init__(self, tape: Tape) -> None:
        self.texts: list[list[str]] = []
        self.n_places = 0
        self._tape = tape
        self._sources = list(tape.sources())
        self._groups = together(tape)
        self._last: dict[int, int] = {}  # value -> the last part that reads it
        order = _order(self._sources, set(self._groups))
        for place, k in enumerate(order):
            self._last.update(dict.fromkeys(self._sources[k], place // PART))
        self._places: dict[int, int] = {}
        self._free: list[int] = []
        for start in range(0, len(order), PART):
            self._write(order[start : start + PART])

    def definitions(self) -> Iterator[str]:
        """The functions that the parts call."""
        used = {step.operation for step in self._tape.steps}
        functions = {each.name: each for operation, each in ELEMENTARY.items() if operation in used}
        simple = used.union(*(NEEDED for _ in functions)).intersection(OPERATIONS) - _VECTORS - set(ELEMENTARY)
        yield from map(_defined, sorted(simple))
        yield from (f"{definition(each, LANES)}\n" for each in functions.values())
        if any("store_rows" in line for text in self.texts for line in text):
            yield _ROWS

    def _write(self, part: Sequence[int]) -> None:
        """One part."""
        self._here: set[int] = set()
        self._statements: list[str] = []
        stored: dict[tuple[int, int], dict[int, int]] = {}  # output and row of elements -> its values
        for k in part:
            step, sources = self._tape.steps[k], self._sources[k]
            group = self._groups.get(k)
            if step.operation == "output":
                port, element = step.writes
                row = stored.setdefault((port, element // LANES), {})
                row[element % LANES] = sources[0]
                self._read(sources)
                if len(row) == LANES:
                    self._store(port, element // LANES, stored.pop((port, element // LANES)))
            elif step.operation == "const":
                continue  # written where it is read
            elif group is None:
                self._read(sources)
                self._statements.append(f"const V _{k} = {_expression(step, sources)};")
                self._keep(k)
            elif k == group.first:
                self._read(sources)
                self._statements += elementary(group, [f"_{source}" for source in sources], "V")
                for result in group.results:
                    if result is not None:
                        self._keep(result)
        for (port, place), row in stored.items():
            self._store(port, place, row)
        self.texts.append(self._statements)
        done = [value for value in self._places if self._last[value] < len(self.texts)]
        self._free += [self._places.pop(value) for value in done]

    def _read(self, sources: Sequence[int]) -> None:
        """Make values known in this part."""
        for value in sources:
            if value in self._here:
                continue
            step = self._tape.steps[value]
            known = f"all({literal(step.constant)})" if step.operation == "const" else f"w[{self._places[value]}]"
            self._statements.append(f"const V _{value} = {known};")
            self._here.add(value)

    def _keep(self, value: int) -> None:
        """Give a value that was computed in this part a place, if a later one reads it."""
        self._here.add(value)
        if self._last.get(value, 0) > len(self.texts):
            if not self._free:
                self._free.append(self.n_places)
                self.n_places += 1
            self._places[value] = self._free.pop()
            self._statements.append(f"w[{self._places[value]}] = _{value};")

    def _store(self, port: int, place: int, row: dict[int, int]) -> None:
        """Store elements of an output that follow one another."""
        if len(row) == LANES:
            values = ", ".join(f"_{row[k]}" for k in range(LANES))
            self._statements.append(f"store_rows(y[{port}], {place * LANES}, {values});")
            return
        for k, value in row.items():
            self._statements.append(f"store(y[{port}], {place * LANES + k}, _{value});")


def _order(sources: Sequence[Sequence[int]], elementary: set[int]) -> list[int]:
    """The instructions, with elementary functions that do not wait for one another side by side.

    Each is a long chain of operations; a processor works at several chains at once if they are near one another.
    """
    level = [0] * len(sources)
    for k, read in enumerate(sources):
        level[k] = max((level[source] + (source in elementary) for source in read), default=0)
    never = max(level, default=0) + 1
    phase = [level[k] if k in elementary else never for k in range(len(sources))]
    for k in reversed(range(len(sources))):
        for source in sources[k]:
            phase[source] = min(phase[source], phase[k])
    return sorted(range(len(sources)), key=lambda k: (phase[k], k in elementary, k))


def _expression(step: Instruction, sources: Sequence[int]) -> str:
    operands = [f"_{source}" for source in sources]
    if step.operation == "input":
        return f"load(x[{step.reads[0]}], {step.reads[1]})"
    if step.operation in _VECTORS:
        return OPERATIONS[step.operation].c.format(*operands)
    return f"v_{step.operation}({', '.join(operands)})"
