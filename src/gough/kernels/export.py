"""A kernel as C for a controller: one pure function in a .c file, its declaration in a .h file."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from gough.core.errors import require
from gough.kernels.csource import function, signature
from gough.kernels.ports import Port
from gough.kernels.tape import Tape


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


def write_files(texts: dict[str, str], directory: Path, *, overwrite: bool) -> tuple[Path, ...]:
    """Write each text to a temporary name and rename it; refuse to replace a file unless `overwrite`."""
    paths = tuple(directory / name for name in texts)
    require(directory.is_dir(), f"there is no directory {directory} to write C files into")
    for path in paths:
        require(overwrite or not path.exists(), f"{path} exists; pass overwrite=True to replace it")
    for path, text in zip(paths, texts.values(), strict=True):
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=directory, text=True)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    return paths


def _described(port: Port) -> str:
    match port.shape:
        case ():
            kind = "a scalar"
        case (n,):
            kind = f"a vector of {n}"
        case shape:
            kind = f"an array {' x '.join(map(str, shape))}, row by row"
    return f"{port.name}[{port.size}]: {kind}"
