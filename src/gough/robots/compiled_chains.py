"""Chains of many poses from within functions that numba compiles; importing this module imports numba.

They call the compiled loop of a kernel of `all_derivatives` at its address, on arrays of their own. Results
have the same bits as those of `Kernel.evaluate`.
"""
# ruff: noqa: C901, PLR0912, PLR0917 - loops are what is compiled

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from gough.core.arrays import Array, Integers
from gough.core.compiled_kernels import compiled
from gough.kernels import Kernel
from gough.robots.kinematics import Columns, KinematicModel, PlatformPoses, all_derivatives

_STILL = np.zeros((1, 3))
_LARGE = 16_000_000
"""Instructions from which on a kernel has several threads."""
_STEPS = 60
_SMALL = 1e-11
_REGULAR = 1e12
"""As of `PoseFinder`."""
_ANGLE = 1e-4
"""Turns below this (rad) by the series of their sines."""


def _loop(_: Any, entry: Any, stop: Any, inputs: Any, steps: Any, outputs: Any) -> Any:  # noqa: ARG001
    """Call the loop of a kernel over samples from 0 to `stop`; all arguments are addresses but `stop`."""

    def generated(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        word = context.get_value_type(types.intp)
        loop = ir.FunctionType(ir.VoidType(), [word] * 5)
        address, *rest = arguments
        builder.call(builder.inttoptr(address, loop.as_pointer()), [ir.Constant(word, 0), *rest])
        return context.get_dummy_value()

    return types.void(*[types.intp] * 5), generated


_run: Any = intrinsic(_loop)


@compiled
def evaluate(
    entry: int, columns: Integers, theta: Array, position: Array, rotation: Array, turn: Array, readings: Array
) -> tuple[Array, Array, Array, Array]:
    """Residuals of all chains (N, n), by the parameters of each (N, n, k), by pose (N, n, 6) and reading (N, n).

    Args:
        entry: Address of the kernel of all derivatives.
        columns: (n, k) numbers of the parameters of each chain.
        theta: The parameters.
        position: (N, 3).
        rotation: (N, 3, 3).
        turn: (N, 3) small rotation vectors after the rotations, or (1, 3) for all.
        readings: (N, n), row by row in memory, as the others are.
    """
    N, n = readings.shape
    k = columns.shape[1]
    x = np.empty((n, k))
    word = x.itemsize
    for i in range(n):
        for a in range(k):
            x[i, a] = theta[columns[i, a]]
    of_chain = np.empty((n, N)), np.empty((n, N, k)), np.empty((n, N, 6)), np.empty((n, N))
    steps = np.array([0, 3, 9, 3 if len(turn) > 1 else 0, n], dtype=np.intp)
    inputs, outputs = np.empty(5, dtype=np.intp), np.empty(4, dtype=np.intp)
    inputs[1], inputs[2], inputs[3] = position.ctypes.data, rotation.ctypes.data, turn.ctypes.data
    for i in range(n):
        inputs[0], inputs[4] = x.ctypes.data + i * k * word, readings.ctypes.data + i * word
        outputs[0], outputs[1] = of_chain[0][i].ctypes.data, of_chain[1][i].ctypes.data
        outputs[2], outputs[3] = of_chain[2][i].ctypes.data, of_chain[3][i].ctypes.data
        _run(entry, N, inputs.ctypes.data, steps.ctypes.data, outputs.ctypes.data)
    f, X, P, r = np.empty((N, n)), np.empty((N, n, k)), np.empty((N, n, 6)), np.empty((N, n))
    for s in range(N):
        for i in range(n):
            f[s, i], r[s, i] = of_chain[0][i, s], of_chain[3][i, s]
            for a in range(k):
                X[s, i, a] = of_chain[1][i, s, a]
            for a in range(6):
                P[s, i, a] = of_chain[2][i, s, a]
    # what the kernel reads must be referred to until here
    spoilt = x.sum() + position.sum() + rotation.sum() + turn.sum() + readings.sum()
    if np.isnan(spoilt + inputs[0] + outputs[0] + steps[0]):
        for s in range(N):
            pose = position[s].sum() + rotation[s].sum() + turn[s if len(turn) > 1 else 0].sum()
            for i in range(n):
                if np.isnan(x[i].sum() + pose + readings[s, i]):
                    f[s, i], X[s, i], P[s, i], r[s, i] = np.nan, np.nan, np.nan, np.nan
    return f, X, P, r


class Chains(NamedTuple):
    """What the chains are at some poses."""

    residual: Array
    """(N, chains)."""
    by_x: Array
    """(N, chains, k): by each chain's own parameters."""
    by_pose: Array
    """(N, chains, 6): by position and left rotation vector."""
    by_reading: Array
    """(N, chains)."""


def chains_at(
    kernel: Kernel,
    columns: Columns,
    theta: Array,
    position: Array,
    rotation: Array,
    readings: Array,
    turn: Array = _STILL,
) -> Chains:
    """As `evaluate_chains`, with fewer calls: for poses that are evaluated again and again.

    Args:
        kernel: One of `all_derivatives`.
        columns: (n, k) numbers of the parameters of each chain.
        theta: The parameters.
        position: (N, 3).
        rotation: (N, 3, 3).
        readings: (N, n).
        turn: (N, 3) small rotation vectors after the rotations, or (1, 3) for all.
    """
    if kernel.address is None or readings.size * len(kernel.tape.steps) > _LARGE:
        n = readings.shape[1]
        x = np.broadcast_to(theta[columns], (len(readings), *columns.shape)).reshape(readings.size, -1)
        turns = np.repeat(np.broadcast_to(turn, position.shape), n, axis=0)
        places, rotations = np.repeat(position, n, axis=0), np.repeat(rotation, n, axis=0)
        values = kernel.evaluate(x, places, rotations, turns, readings.reshape(-1)).values()
        return Chains(*(value.reshape(*readings.shape, *value.shape[1:]) for value in values))
    return Chains(*evaluate(kernel.address, *_own(columns, theta, position, rotation, turn, readings)))


def arrive(
    model: KinematicModel, theta: Array, start_readings: Array, readings: Array, poses: PlatformPoses, largest: float
) -> bool:
    """Whether Newton's method leads from these poses to ones with these readings, on the same side of singularities.

    It is the first attempt of `PoseFinder.find`; no is said, too, where there is no compiler.

    Args:
        model: The robot.
        theta: Its parameters.
        start_readings: (N, n) readings that it has at the poses.
        readings: (N, n) those that are sought.
        poses: Where the search begins.
        largest: Longest step that is taken, m.
    """
    kernel = all_derivatives(model.chain_kernel("length"))
    if kernel.address is None:
        return False
    poses_and_readings = (poses.position, poses.rotation, start_readings, readings)
    inputs = _own(np.array(model.freedoms), model.columns, theta, *poses_and_readings)
    return bool(_arrive(kernel.address, largest, *inputs))


def _own(*arrays: npt.NDArray[Any]) -> Any:
    """Copies, row by row in memory: read-only arrays and other orders are of other types to numba."""
    return [np.array(each, order="C") for each in arrays]


@compiled
def _inverse(A: Array) -> float:
    """Invert a matrix in place, by exchanges of rows; the sign of its determinant, 0 where it is not regular."""
    n = len(A)
    B, sign = np.eye(n), 1.0
    squares = (A * A).sum()
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        if not abs(A[best, k]) > 0:
            return 0.0
        if best != k:
            sign = -sign
            for j in range(n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
                B[k, j], B[best, j] = B[best, j], B[k, j]
        sign = sign if A[k, k] > 0 else -sign
        pivot = 1 / A[k, k]
        for j in range(n):
            A[k, j] *= pivot
            B[k, j] *= pivot
        for i in range(n):
            factor = A[i, k]
            if i != k and factor != 0:
                for j in range(n):
                    A[i, j] -= factor * A[k, j]
                    B[i, j] -= factor * B[k, j]
    A[:] = B
    return sign if squares * (B * B).sum() < _REGULAR**2 else 0.0


@compiled
def _arrive(
    entry: int,
    largest: float,
    freedoms: Integers,
    columns: Integers,
    theta: Array,
    position: Array,
    rotation: Array,
    start_readings: Array,
    readings: Array,
) -> bool:
    N, n = readings.shape
    still, J, step = np.zeros((1, 3)), np.empty((n, n)), np.empty(6)
    sides, arrived = np.empty(N), np.zeros(N, dtype=np.bool_)
    P = evaluate(entry, columns, theta, position, rotation, still, start_readings)[2]
    for s in range(N):
        for b in range(n):
            J[:, b] = P[s, :, freedoms[b]]
        sides[s] = _inverse(J)
        if sides[s] == 0:
            return False
    for _ in range(_STEPS):
        f, _, P, _ = evaluate(entry, columns, theta, position, rotation, still, readings)
        for s in range(N):
            for b in range(n):
                J[:, b] = P[s, :, freedoms[b]]
            if _inverse(J) == 0 or not np.isfinite(f[s]).all():
                return False
            if arrived[s]:
                continue
            step[:] = 0.0
            for b in range(n):
                for i in range(n):
                    step[freedoms[b]] -= J[b, i] * f[s, i]
            arrived[s] = np.abs(step).max() <= _SMALL
            far = np.sqrt((step[:3] ** 2).sum()) / largest
            step /= max(far, np.sqrt((step[3:] ** 2).sum()) / 0.3, 1.0)
            position[s] += step[:3]
            x, y, z = step[3], step[4], step[5]
            angle = np.sqrt(x * x + y * y + z * z)
            K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
            first = np.sin(angle) / angle if angle > _ANGLE else 1 - angle**2 / 6
            second = 2 * np.sin(angle / 2) ** 2 / angle**2 if angle > _ANGLE else 0.5 - angle**2 / 24
            turn = np.empty((3, 3))
            for a in range(3):
                for b in range(3):
                    turn[a, b] = (1.0 if a == b else 0.0) + first * K[a, b]
                    for c in range(3):
                        turn[a, b] += second * K[a, c] * K[c, b]
            before = rotation[s].copy()
            for a in range(3):
                for b in range(3):
                    rotation[s, a, b] = 0.0
                    for c in range(3):
                        rotation[s, a, b] += turn[a, c] * before[c, b]
        if arrived.all():
            done = evaluate(entry, columns, theta, position, rotation, still, readings)[2]
            for s in range(N):
                for b in range(n):
                    J[:, b] = done[s, :, freedoms[b]]
                if _inverse(J) != sides[s]:
                    return False
            return True
    return False
