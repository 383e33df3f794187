"""One traced expression and its evaluators."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from math import isnan
from pathlib import Path
from typing import Any

import casadi
import numpy as np

from gough.core.arrays import Array
from gough.core.errors import AssumptionError, InputError, nearest, require
from gough.core.files import new_file
from gough.core.intervals import Interval
from gough.kernels import lanes
from gough.kernels.compiler import CompilationError, warn_once
from gough.kernels.csource import Reals, c_files, function
from gough.kernels.enclosure import enclose
from gough.kernels.expression import Expression, recording_solves
from gough.kernels.native import NativeKernel, load
from gough.kernels.ports import Port, check_distinct, check_name, read_interval, read_sample
from gough.kernels.replay import replay
from gough.kernels.tape import Tape, read_tape


@dataclass(frozen=True, eq=False, repr=False)
class Kernel:
    """A function of named arrays, traced once and evaluated in several arithmetics. Made by `trace`.

    Every evaluator takes the inputs in order or by name, each for one sample (its shape) or for many (a leading axis
    of N samples); an input given once is shared by all samples. A sample with a NaN anywhere in its inputs has NaN in
    all its outputs and touches no other sample.

    Examples:
        >>> from gough.kernels import expression as ex
        >>> polar = trace(lambda p: {"r": ex.norm(p), "a": ex.atan2(p[1], p[0])}, name="polar", inputs={"p": 2})
        >>> polar
        Kernel(polar: p(2) -> r(), a(); 9 instructions)
        >>> polar.evaluate([[3.0, 4.0], [0.0, 2.0]])["r"]
        array([5., 2.])
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    function: Any
    """The trace: a casadi.Function from flat inputs to flat outputs."""
    solves: tuple[str, ...] = ()
    """The linear solves it contains; these keep it out of the interval replay."""

    def __post_init__(self) -> None:
        check_name(self.name)
        check_distinct(port.name for port in self.inputs + self.outputs)
        _ = self.tape  # an instruction that nothing can evaluate is refused here, not at the first call

    def __repr__(self) -> str:
        sides = (", ".join(map(str, ports)) for ports in (self.inputs, self.outputs))
        return f"Kernel({self.name}: {' -> '.join(sides)}; {len(self.tape.steps)} instructions)"

    def __getstate__(self) -> dict[str, Any]:
        """Only the fields travel to another process: the tape is read and the C code loaded anew there."""
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    @cached_property
    def tape(self) -> Tape:
        """The instructions."""
        return read_tape(self.name, self.function)

    def __call__(self, *values: Any, **named: Any) -> Array:
        """The value of the only output: compiled where there is a C compiler, else replayed in NumPy.

        Examples:
            >>> twice = trace(lambda x: 2 * x, name="twice", inputs={"x": 3})
            >>> twice([[1, 2, 3], [4, 5, 6]])
            array([[ 2.,  4.,  6.],
                   [ 8., 10., 12.]])
        """
        results = self.evaluate(*values, **named)
        if len(results) != 1:
            raise InputError(
                f"kernel '{self.name}' has {len(results)} outputs; use its method evaluate, which names them"
            )
        return next(iter(results.values()))

    def evaluate(self, *values: Any, **named: Any) -> dict[str, Array]:
        """The outputs by name: compiled where there is a C compiler, else replayed in NumPy (with one warning)."""
        if isinstance(self._native, CompilationError):
            warn_once(str(self._native))
            return self.replay(*values, **named)
        return self._run(self._native, values, named)

    def compiled(self, *values: Any, **named: Any) -> dict[str, Array]:
        """The outputs by name, from compiled C; CompilationError where that is impossible."""
        if isinstance(self._native, CompilationError):
            raise self._native
        return self._run(self._native, values, named)

    def replay(self, *values: Any, **named: Any) -> dict[str, Array]:
        """The outputs by name, replayed in NumPy by blocks of samples.

        Examples:
            >>> trace(lambda x: x**2, name="square", inputs={"x": ()}).replay([1.0, float("nan"), 3.0])
            {'square': array([ 1., nan,  9.])}
        """
        tape = self.tape
        return self._run(lambda arrays, sizes, n: replay(tape, arrays, sizes, n), values, named)

    def interpreted(self, *values: Any, **named: Any) -> dict[str, Array]:
        """The outputs by name, sample by sample in CasADi's interpreter: for few samples of a long kernel.

        A replay in NumPy costs about 20 µs for each instruction, whatever the number of samples; the interpreter costs
        nanoseconds for each instruction and sample, and needs no compiler.

        Examples:
            >>> trace(lambda x: x**2, name="square", inputs={"x": ()}).interpreted([1.0, float("nan"), 3.0])
            {'square': array([ 1., nan,  9.])}
        """
        return self._run(self._interpret, values, named)

    def _interpret(self, arrays: list[Array], sizes: list[int], n_samples: int) -> list[Array]:
        results = [np.empty((n_samples, size)) for size in sizes]
        for k in range(n_samples):
            found = self.function.call([array[k if len(array) > 1 else 0] for array in arrays])
            for result, values in zip(results, found, strict=True):
                result[k] = np.asarray(values).ravel()
        return results

    def enclose(self, *values: Any, **named: Any) -> dict[str, Interval]:
        """Intervals holding the outputs for all points of the inputs, which are intervals or numbers.

        Raises:
            AssumptionError: the kernel contains a linear solve (enclose the matrices, then solve by a verified method)
                or an instruction without interval meaning.

        Examples:
            >>> square = trace(lambda x: x**2, name="square", inputs={"x": ()})
            >>> square.enclose(Interval(-1.0, 2.0))
            {'square': Interval(0.0, 4.0)}
        """
        if self.solves:
            raise AssumptionError(
                f"kernel '{self.name}' contains a {self.solves[0]}, which intervals would enclose far too widely; "
                "trace the matrices only, and solve by a verified enclosure"
            )
        read = [read_interval(self.name, p, x) for p, x in zip(self.inputs, self._ordered(values, named), strict=True)]
        count = self._count([n_samples for _, n_samples in read])
        results = enclose(self.name, self.tape, [x for x, _ in read], [port.size for port in self.outputs])
        lead = () if count is None else (count,)
        return {port.name: x.reshape(*lead, *port.shape) for port, x in zip(self.outputs, results, strict=True)}

    def export_c(self, directory: Path, *, overwrite: bool = False) -> tuple[Path, ...]:
        """Write the kernel as `<name>.c` and `<name>.h` for a controller, and return their paths.

        Examples:
            >>> import tempfile
            >>> twice = trace(lambda x: 2 * x, name="double_it", inputs={"x": ()})
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     [path.name for path in twice.export_c(Path(folder))]
            ['double_it.c', 'double_it.h']
        """
        texts = c_files(self.name, self.tape, self.inputs, self.outputs)
        directory = Path(directory)
        require(directory.is_dir(), f"there is no directory {directory} to write C files into")
        paths = tuple(directory / name for name in texts)
        for path in paths:
            require(overwrite or not path.exists(), f"{path} exists; pass overwrite=True to replace it")
        for path, text in zip(paths, texts.values(), strict=True):
            with new_file(path, overwrite=overwrite) as file:
                file.write(text.encode("ascii"))
        return paths

    def c_function(self, name: str, reals: Reals) -> str:
        """The definition of the kernel as a C function of this name, for a larger program.

        Examples:
            >>> square = trace(lambda x: x * x, name="square", inputs={"x": ()})
            >>> print(square.c_function("squared", Reals("real")))
            void squared(const real x[1], real square[1])
            {
                const real _0 = x[0];
                const real _1 = _0 * _0;
                square[0] = _1;
            }
            <BLANKLINE>
        """
        return function(name, self.tape, self.inputs, self.outputs, reals)

    def jacobian(self, by: str) -> "Kernel":
        """The kernel of ∂output/∂input for each output, named `d<output>_d<input>`, shape output's + input's.

        Examples:
            >>> square = trace(lambda x: x**2, name="square", inputs={"x": 2})
            >>> square.jacobian("x")([3.0, 4.0])
            array([[6., 0.],
                   [0., 8.]])
        """
        k = self._position(by)
        outputs = [Port(f"d{out.name}_d{by}", out.shape + self.inputs[k].shape) for out in self.outputs]
        x = _symbols(self.inputs)
        values = [casadi.vec(casadi.densify(casadi.jacobian(y, x[k])).T) for y in self.function.call(x)]
        return self._derived(f"{self.name}_jacobian_{by}", self.inputs, outputs, x, values)

    def tangent(self, by: str) -> "Kernel":
        """The kernel of (∂output/∂input) v, with one more input `<input>_tangent` for v and outputs `<output>_tangent`.

        Examples:
            >>> square = trace(lambda x: x**2, name="square", inputs={"x": 2})
            >>> square.tangent("x")([3.0, 4.0], [1.0, 10.0])
            array([ 6., 80.])
        """
        k = self._position(by)
        inputs = [*self.inputs, Port(f"{by}_tangent", self.inputs[k].shape)]
        outputs = [replace(out, name=f"{out.name}_tangent") for out in self.outputs]
        x, v = _symbols(self.inputs), casadi.SX.sym("v", self.inputs[k].size)
        values = [casadi.densify(casadi.jtimes(y, x[k], v)) for y in self.function.call(x)]
        return self._derived(f"{self.name}_tangent_{by}", inputs, outputs, [*x, v], values)

    def adjoint(self, *by: str) -> "Kernel":
        """The kernel of Σ (∂output/∂input)ᵀ w: one reverse sweep per sample, whatever the number of inputs.

        It has one more input `<output>_adjoint` per output for the weights w, and an output `<input>_adjoint` for each
        input in `by` (all of them, if none is named).

        Examples:
            >>> norm2 = trace(lambda x: x.T @ x, name="norm2", inputs={"x": 3})
            >>> norm2.adjoint("x")([1.0, 2.0, 3.0], 1.0)
            array([2., 4., 6.])
        """
        chosen = [self._position(name) for name in by or [port.name for port in self.inputs]]
        inputs = [*self.inputs, *(replace(out, name=f"{out.name}_adjoint") for out in self.outputs)]
        outputs = [replace(self.inputs[k], name=f"{self.inputs[k].name}_adjoint") for k in chosen]
        x, w = _symbols(self.inputs), _symbols(self.outputs, "_adjoint")
        scalar = sum((casadi.dot(*pair) for pair in zip(w, self.function.call(x), strict=True)), casadi.SX(0))
        gradient = casadi.densify(casadi.gradient(scalar, casadi.vertcat(*(x[k] for k in chosen))))
        edges = [0, *accumulate(port.size for port in outputs)]
        return self._derived(f"{self.name}_adjoint", inputs, outputs, [*x, *w], casadi.vertsplit(gradient, edges))

    def bind(self, **constants: Any) -> "Kernel":
        """The kernel with some inputs replaced by constants, such as the geometry in a controller.

        Examples:
            >>> scale = trace(lambda a, x: a * x, name="scale", inputs={"a": (), "x": 2})
            >>> scale.bind(a=2.0)([1.0, 3.0])
            array([2., 6.])
        """
        fixed = {self._position(name): value for name, value in constants.items()}
        x = _symbols(self.inputs)
        arguments = list(x)
        for k, value in fixed.items():
            flat, n_samples = read_sample(self.name, self.inputs[k], value)
            require(n_samples is None, f"input '{self.inputs[k].name}' can be bound to one sample only")
            arguments[k] = casadi.SX(casadi.DM(flat.T))
        free = [k for k in range(len(x)) if k not in fixed]
        values = [casadi.densify(value) for value in self.function.call(arguments)]
        return self._derived(self.name, [self.inputs[k] for k in free], self.outputs, [x[k] for k in free], values)

    @cached_property
    def _native(self) -> NativeKernel | CompilationError:
        """The compiled kernel, or why there is none: a failed compilation is not tried again."""
        try:
            return load(lanes.batch(self.tape, self.inputs, self.outputs), len(self.tape.steps))
        except CompilationError as error:
            return error

    @cached_property
    def address(self) -> int | None:
        """Where the compiled loop over samples begins in memory; None where there is no compiler."""
        return None if isinstance(self._native, CompilationError) else self._native.address

    def _position(self, name: str) -> int:
        names = [port.name for port in self.inputs]
        if name not in names:
            raise InputError(
                f"kernel '{self.name}' has no input '{name}'{nearest(name, names)}; it has {', '.join(names)}"
            )
        return names.index(name)

    def _derived(
        self, name: str, inputs: Sequence[Port], outputs: Sequence[Port], symbols: list[Any], values: list[Any]
    ) -> "Kernel":
        function = casadi.Function("kernel", symbols, values)
        return Kernel(name, tuple(inputs), tuple(outputs), function, self.solves)

    def _ordered(self, values: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """One value per input, or an error that names what is missing or too many."""
        if not named and len(values) == len(self.inputs):
            return list(values)
        if len(values) > len(self.inputs):
            raise InputError(f"kernel '{self.name}' takes {len(self.inputs)} inputs, but was given {len(values)}")
        values_by_name = dict(zip((port.name for port in self.inputs), values, strict=False))
        for name in named:
            self._position(name)
            require(name not in values_by_name, f"input '{name}' of kernel '{self.name}' was given twice")
        values_by_name |= named
        missing = [port.name for port in self.inputs if port.name not in values_by_name]
        require(not missing, f"kernel '{self.name}' also needs the input(s) {', '.join(missing)}")
        return [values_by_name[port.name] for port in self.inputs]

    def _run(
        self,
        run: Callable[[list[Array], list[int], int], list[Array]],
        values: Sequence[Any],
        named: Mapping[str, Any],
    ) -> dict[str, Array]:
        """Check the inputs, evaluate, and give the outputs their names and shapes."""
        read = [read_sample(self.name, p, x) for p, x in zip(self.inputs, self._ordered(values, named), strict=True)]
        arrays = [array for array, _ in read]
        count = self._count([n_samples for _, n_samples in read])
        n_samples = 1 if count is None else count
        results = run(arrays, self._sizes, n_samples)
        # a product with itself would start the threads of BLAS
        spoiled = [array for array in arrays if array.size and isnan(array.min())]
        if spoiled:
            missing = np.zeros(n_samples, dtype=bool)
            for array in spoiled:
                missing |= np.isnan(array).any(axis=1)
            for result in results:
                result[missing] = np.nan
        return {
            port.name: result.reshape(port.shape if count is None else (count, *port.shape))
            for port, result in zip(self.outputs, results, strict=True)
        }

    @cached_property
    def _sizes(self) -> list[int]:
        """Numbers of entries of the outputs."""
        return [port.size for port in self.outputs]

    def _count(self, counts: Sequence[int | None]) -> int | None:
        """The common number of samples: None if all inputs are single."""
        counted = [(port.name, count) for port, count in zip(self.inputs, counts, strict=True) if count is not None]
        for name, count in counted:
            first, wanted = counted[0]
            words = f"input '{name}' of kernel '{self.name}' has {count} samples, but '{first}' has {wanted}"
            require(count == wanted, words)
        return counted[0][1] if counted else None


def trace(
    function: Callable[..., Expression | Mapping[str, Expression]],
    *,
    name: str,
    inputs: Mapping[str, int | tuple[int, ...]],
) -> Kernel:
    """The kernel of a Python function of expressions, called once with symbols named as its parameters.

    Args:
        function: Takes one expression per input, by position; returns one expression, or several by name.
        name: What the kernel is called, also in C; a single output has the same name.
        inputs: For each parameter, the length of a vector, or its shape: () for a scalar, (rows, columns) for a matrix.

    Examples:
        >>> area = trace(lambda a, b: a * b, name="area", inputs={"a": (), "b": ()})
        >>> area(2.0, [1.0, 2.0, 3.0])
        array([2., 4., 6.])
    """
    ports = tuple(Port(word, (shape,) if isinstance(shape, int) else shape) for word, shape in inputs.items())
    flat = _symbols(ports)
    with recording_solves() as notes:
        returned = function(*(_unflatten(port, symbols) for port, symbols in zip(ports, flat, strict=True)))
    named = dict(returned) if isinstance(returned, Mapping) else {name: returned}
    require(bool(named), f"kernel '{name}' must return at least one expression")
    values, outputs = [], []
    for word, value in named.items():
        dense = casadi.densify(casadi.SX(value))
        outputs.append(Port(word, _shape(dense)))
        values.append(casadi.vec(dense.T))
    # CasADi forbids some names; the kernel's own stands in its field. What occurs twice is computed once.
    return Kernel(name, ports, tuple(outputs), casadi.Function("kernel", flat, casadi.cse(values)), tuple(notes))


def _symbols(ports: Sequence[Port], suffix: str = "") -> list[Any]:
    """A fresh column of symbols for each port."""
    return [casadi.SX.sym(f"{port.name}{suffix}", port.size) for port in ports]


def _unflatten(port: Port, symbols: Expression) -> Expression:
    """The argument of the traced function: a scalar, a column, or a matrix whose rows follow one another."""
    require(len(port.shape) <= 2, f"input '{port.name}' must be a scalar, a vector or a matrix")
    if len(port.shape) < 2:
        return symbols
    rows, columns = port.shape
    return casadi.reshape(symbols, columns, rows).T


def _shape(value: Expression) -> tuple[int, ...]:
    rows, columns = value.shape
    if columns == 1:
        return () if rows == 1 else (rows,)
    return (rows, columns)
