"""C for a controller: it compiles without a warning, and computes the same."""

import re
import subprocess

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.kernels import expression as ex
from gough.kernels import trace
from gough.kernels.compiler import find_compiler

STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O2", "-ffp-contract=off"]


def _build_and_run(folder, name, statements):
    """What a program with these statements in `main` prints, linked with the exported pair."""
    program = f'#include <stdio.h>\n#include "{name}.h"\nint main(void)\n{{\n{statements}\nreturn 0;\n}}\n'
    (folder / "main.c").write_text(program)
    sources = [str(folder / "main.c"), str(folder / f"{name}.c")]
    subprocess.run([find_compiler().path, *STRICT, *sources, "-o", str(folder / "run"), "-lm"], check=True)
    return subprocess.run([str(folder / "run")], check=True, capture_output=True, text=True).stdout


def _run(folder, kernel, sample):
    """The outputs of the exported function for one sample, passed in hexadecimal."""
    lines = []
    for port in kernel.inputs:
        numbers = ", ".join(float(x).hex() for x in np.ravel(sample[port.name]))
        lines.append(f"const double my_{port.name}[] = {{{numbers}}};")
    lines += [f"double my_{port.name}[{port.size}];" for port in kernel.outputs]
    lines.append(f"{kernel.name}({', '.join(f'my_{port.name}' for port in kernel.inputs + kernel.outputs)});")
    for port in kernel.outputs:
        lines.append(f'for (int i = 0; i < {port.size}; ++i) printf("%a\\n", my_{port.name}[i]);')
    return np.array([float.fromhex(word) for word in _build_and_run(folder, kernel.name, "\n".join(lines)).split()])


def test_exported_code_computes_the_same(tmp_path, mechanism):
    inputs = mechanism.draw(1)
    sample = {name: value[0] if len(value) == 1 else value for name, value in inputs.items()}
    mechanism.kernel.export_c(tmp_path)
    wanted = np.concatenate([np.ravel(value) for value in mechanism.kernel.compiled(**sample).values()])
    np.testing.assert_array_equal(_run(tmp_path, mechanism.kernel, sample), wanted)


def test_every_corner_of_the_language_compiles(tmp_path):
    def corners(x, unused):
        return {
            "branch": ex.where(x[0] < x[1], ex.sign(x[0]), ex.minimum(x[0], x[1])),
            "constant": ex.vector(1e-300, -0.0, 1e22, float("inf"), float("-inf")),
        }

    kernel = trace(corners, name="corners", inputs={"x": 2, "unused": ()})
    kernel.export_c(tmp_path)
    values = _run(tmp_path, kernel, {"x": [-3.0, 2.0], "unused": 1.0})
    np.testing.assert_array_equal(values, [-1.0, 1e-300, 0.0, 1e22, np.inf, -np.inf])


def test_header_documents_the_function(tmp_path, hexapod):
    source, header = hexapod.export_c(tmp_path)
    text = header.read_text()
    assert "void hexapod(const double position[3], const double angles[3], const double base[18]" in text
    assert "rotation[9]: an array 3 x 3, row by row" in text
    assert not re.search(r"malloc|calloc|static (?!double gough_\w+\()|\bgoto\b", source.read_text())


def test_an_output_may_overwrite_an_input(tmp_path):
    swap = trace(lambda x: {"y": ex.vector(x[1], x[0])}, name="swap", inputs={"x": 2})
    swap.export_c(tmp_path)
    statements = 'double z[2] = {1, 2}; swap(z, z); printf("%g %g", z[0], z[1]);'
    assert _build_and_run(tmp_path, "swap", statements) == "2 1"


def test_nothing_is_overwritten_unasked(tmp_path, five_bar, links):
    five_bar.export_c(tmp_path)
    before = (tmp_path / "five_bar.c").read_text()
    bound = five_bar.bind(links=links)
    with pytest.raises(InputError, match=r"five_bar\.c exists; pass overwrite=True"):
        bound.export_c(tmp_path)
    assert (tmp_path / "five_bar.c").read_text() == before
    bound.export_c(tmp_path, overwrite=True)
    assert (tmp_path / "five_bar.c").read_text() != before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["five_bar.c", "five_bar.h"]


def test_a_missing_directory_is_refused(tmp_path, five_bar):
    with pytest.raises(InputError, match="there is no directory"):
        five_bar.export_c(tmp_path / "absent")
