"""Exported C, compiled and loaded: the very functions that a controller calls, for simulations of it."""

import ctypes
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.export.c_source import identifier, sections_of, source_files
from gough.export.compiling import ExportError, built, write_sources
from gough.export.fmu import library_suffix
from gough.export.model import RobotModel
from gough.kernels.compiler import CompilationError, find_compiler

_INVALID = 16
"""Return values from here on mean that there is no result."""


_WAY = 21
"""Points of the way from home to the beginning of a motion."""


class CompiledModel:
    """The exported C of an identified robot, compiled by the user's compiler and loaded.

    It keeps the state of the joints between calls, as a controller does. `with_parameters` has the same functions with
    other parameters of the robot.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> answer = identify(*random_motion(1), methods=["weighted"], compare=False)
        >>> model = CompiledModel.of(RobotModel.of(answer))
        >>> model.restart(np.array([2.0, 1.0]))
        >>> still = np.zeros(2)
        >>> held = model.torque(np.array([2.0, 1.0]), still, still, friction=True)
        >>> bool(np.allclose(held, answer.efforts([[2.0, 1.0]], [still], [still])[0], rtol=1e-9))
        True
    """

    def __init__(
        self, library: ctypes.CDLL, prefix: str, sizes: tuple[int, int, int, int], home: Array, switches: int
    ) -> None:
        n, n_states, n_parameters, n_pose = sizes
        self._switches = switches
        self._library, self._prefix, self._sizes = library, prefix, sizes
        count = n_parameters + 6 * n + 1
        self._table = np.array((ctypes.c_double * count).in_dll(library, f"{prefix}_identified"))
        self._state = np.zeros(n_states)
        self.home = home
        """Positions of the actuators at home."""
        self._pose = np.zeros(n_pose)
        self._forward, self._torque, self._gravity, self._friction, self._mass, self._start = (
            self._function(word) for word in ("forward", "torque", "gravity", "friction", "mass_matrix", "start")
        )
        self._start(_at(self._state))

    @classmethod
    def of(cls, model: RobotModel) -> "CompiledModel":
        """Compile and load the C of a model.

        Raises:
            ExportError: there is no C compiler, or it refuses the sources.
            InputError: the model has no dynamics, or cannot be exported to C.
        """
        dynamics = model.dynamics
        require(dynamics is not None, "a calibration has no dynamics: give the results of gough identify")
        assert dynamics is not None
        require_compiler()
        name = identifier(model.name)
        sections = sections_of(RobotModel(dynamics=dynamics), name)
        texts = source_files(sections, name)
        of = sections[0].equations
        with TemporaryDirectory(prefix="gough-control-") as place:
            folder = Path(place)
            write_sources(folder, texts)
            path = built(folder, [f"{name}.c"], f"{name}{library_suffix()}", ("-shared", "-fPIC"))
            try:
                library = ctypes.CDLL(str(path))
            except OSError as error:
                raise ExportError(f"the compiled C cannot be loaded: {error}") from error
        effects = sections[0].effects
        assert effects is not None
        sizes = (len(of.actuated), len(of.home), len(dynamics.robot.names) + len(effects.names), len(of.pose))
        return cls(library, name, sizes, of.home[list(of.actuated)], effects.default)

    def with_parameters(self, parameters: Array) -> "CompiledModel":
        """The same robot with other parameters."""
        n = self._sizes[2]
        require(parameters.shape == (n,), f"the robot has {n} parameters, but {parameters.shape} were given")
        other = CompiledModel(self._library, self._prefix, self._sizes, self.home, self._switches)
        other._table[:n] = parameters
        return other

    @property
    def parameters(self) -> Array:
        """Parameters of the robot."""
        return self._table[: self._sizes[2]].copy()

    def restart(self, q: Array) -> None:
        """Begin at home, and go straight to these positions of the actuators.

        Raises:
            InputError: they are out of reach.
        """
        self._start(_at(self._state))
        for part in np.linspace(0.0, 1.0, _WAY)[1:]:  # steps so small that Newton's method stays on this assembly
            self._moved_to(self.home + part * (q - self.home))

    def torque(self, q: Array, dq: Array, ddq: Array, *, friction: bool) -> Array:
        """Efforts (n,) of a motion of the actuators, with friction and effects or without.

        Raises:
            InputError: the positions are out of reach, or singular.
        """
        tau, values = np.empty(self._sizes[0]), [np.ascontiguousarray(each) for each in (q, dq, ddq)]
        code = self._torque(
            _at(self._table), *map(_at, values), self._switches if friction else 0, _at(self._state), _at(tau)
        )
        return self._checked(tau, code)

    def gravity(self, q: Array) -> Array:
        """Efforts (n,) that hold the robot, without friction."""
        self._moved_to(q)
        tau = np.empty(self._sizes[0])
        return self._checked(tau, self._gravity(_at(self._table), _at(self._state), _at(tau)))

    def friction(self, q: Array, dq: Array) -> Array:
        """Efforts (n,) of friction."""
        self._moved_to(q)
        tau, speed = np.empty(self._sizes[0]), np.ascontiguousarray(dq)
        return self._checked(tau, self._friction(_at(self._table), _at(self._state), _at(speed), _at(tau)))

    def mass_matrix(self, q: Array) -> Array:
        """Mass matrix (n, n) in the coordinates of the actuators."""
        self._moved_to(q)
        M = np.empty((self._sizes[0],) * 2)
        return self._checked(M, self._mass(_at(self._table), _at(self._state), _at(M)))

    def _moved_to(self, q: Array) -> None:
        values = np.ascontiguousarray(q)
        code = self._forward(_at(self._table), _at(values), _at(self._state), _at(self._pose), None)
        self._checked(self._pose, code)

    def _function(self, word: str) -> Any:
        function = getattr(self._library, f"{self._prefix}_{word}")
        function.restype = ctypes.c_int
        return function

    @staticmethod
    def _checked(values: Array, code: int) -> Array:
        if code >= _INVALID:
            raise InputError("the exported model has no solution here: the positions are out of reach, or singular")
        return values


def require_compiler() -> None:
    """Refuse to go on where there is no C compiler.

    Raises:
        ExportError: there is none.
    """
    try:
        find_compiler()
    except CompilationError as error:
        raise ExportError(
            f"the controller is the exported C, which cannot be compiled here: {error}. Install a C compiler (gcc or "
            "clang), or name one by the environment variable CC"
        ) from error


def _at(values: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(values.ctypes.data)
