"""The kinematics of a calibrated robot for a controller: one closure equation per chain; its state is (pose, readings).

The pose consists of the degrees of freedom of the platform: x, y, z and roll, pitch, yaw with
R = R_z(yaw) R_y(pitch) R_x(roll).
"""

from functools import reduce

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.kernels import expression as ex
from gough.kernels import trace
from gough.kernels.elimination import Elimination
from gough.kernels.expression import Expression
from gough.robots.controller import ControllerEquations, StateSearch
from gough.robots.kinematics import KinematicModel, PlatformPoses

POSE = ("x", "y", "z", "roll", "pitch", "yaw")
_LEAST_MARGIN = 1e-4
_STEEP = 1.4
"""Pitch from which on roll and yaw turn about nearly the same axis, rad."""


def chain_controller(
    model: KinematicModel, parameters: Array, readings: Array, home: PlatformPoses
) -> ControllerEquations:
    """The kinematics of a model with these parameters, whose home is a pose with its readings (chains,).

    Raises:
        InputError: roll, pitch and yaw are singular at home.

    Examples:
        >>> from gough.robots import LinearDelta
        >>> robot, readings = LinearDelta(), np.array([0.1, 0.1, 0.1])
        >>> chain_controller(robot, robot.nominal, readings, robot.forward(robot.nominal, readings)).coordinates
        ('x', 'y', 'z', 'reading1', 'reading2', 'reading3')
    """
    kernel, n = model.chain_kernel("length"), len(model.chains)
    require(
        n == len(model.freedoms) and not hasattr(model, "reading_of_chain"),
        f"a {model.name} has {n} chains for {len(model.freedoms)} degrees of freedom, or readings that chains share: "
        "its kinematics have no form for a controller. Export it as json",
    )
    place = np.concatenate([home.position[0], _angles(home.rotation[0])])
    level = len(model.freedoms) < 6 or abs(float(place[4])) < _STEEP
    require(
        level, "the platform is pitched by about 90° at home: roll, pitch and yaw do not describe its attitude there"
    )
    size = max(float(np.abs(model.nominal[[unit == "m" for unit in model.units]]).max(initial=0.0)), 1e-3)
    units = np.array([size if k < 3 else 1.0 for k in model.freedoms])

    def gaps(s: Expression) -> tuple[Expression, Expression]:
        """The closure equations in m, and the rotation's angles are those of home where the platform does not turn."""
        full = [s[model.freedoms.index(k)] if k in model.freedoms else float(place[k]) for k in range(6)]
        R, zero = rotation(full[3], full[4], full[5]), ex.vector(0.0, 0.0, 0.0)
        flat = ex.vector(*(R[i, j] for i in range(3) for j in range(3)))
        rows = [
            kernel.function(ex.vector(*parameters[own].tolist()), ex.vector(*full[:3]), flat, zero, s[n + i])
            for i, own in enumerate(model.columns)
        ]
        f = ex.vector(*rows)
        return f, ex.derivative(f, s)

    def scaled(C: Expression) -> Expression:
        return ex.matrix(*(C[:, k] * float(units[k]) / size for k in range(n)))

    def forward(s: Expression) -> dict[str, Expression]:
        f, C = gaps(s)
        system = Elimination(scaled(C))
        step = -system.solve(f / size) * ex.vector(*units.tolist())
        return {"step": ex.vector(step, *([0.0] * n)), "error": ex.dot(f, f) / size**2, "side": system.determinant_sign}

    def slopes(C: Expression) -> list[Expression]:
        return [C[i, n + i] for i in range(n)]

    at_home = trace(lambda s: ex.vector(*slopes(gaps(s)[1])), name="slopes", inputs={"s": 2 * n})
    begin = np.concatenate([place[list(model.freedoms)], readings])
    sides = np.sign(at_home.replay(begin)["slopes"])

    def inverse(s: Expression) -> dict[str, Expression]:
        f, C = gaps(s)
        own = slopes(C)
        step = ex.vector(*([0.0] * n), *(-f[i] / each for i, each in enumerate(own)))
        # a chain that turns back at its stretched position is on another side
        nearest = reduce(ex.minimum, [float(side) * each for side, each in zip(sides, own, strict=True)])
        return {"step": step, "error": ex.dot(f, f) / size**2, "side": nearest}

    def jacobian(s: Expression) -> dict[str, Expression]:
        _, C = gaps(s)
        moved = Elimination(C[:, :n]).solve(
            ex.matrix(*(ex.vector(*(float(i == j) for i in range(n))) for j in range(n)))
        )
        return {"J": ex.matrix(*(-moved[:, i] * each for i, each in enumerate(slopes(C))))}

    def margin(s: Expression) -> Expression:
        system = Elimination(scaled(gaps(s)[1]))
        return ex.copysign(system.closeness(), system.determinant_sign * side)

    step = trace(forward, name="forward_step", inputs={"s": 2 * n})
    side = float(np.sign(step.replay(begin)["side"]))
    turns = model.reading_unit in {"rad", "deg"}
    return ControllerEquations(
        coordinates=(*(POSE[k] for k in model.freedoms), *(f"reading{i + 1}" for i in range(n))),
        home=begin,
        actuated=tuple(range(n, 2 * n)),
        pose=tuple(range(n)),
        scale=np.concatenate([units, np.full(n, 1.0 if turns else max(size, float(np.abs(readings).max())))]),
        forward=StateSearch(step, side),
        inverse=StateSearch(trace(inverse, name="inverse_step", inputs={"s": 2 * n}), 1.0),
        complete=None,
        jacobian=trace(jacobian, name="jacobian", inputs={"s": 2 * n}),
        margin=trace(margin, name="margin", inputs={"s": 2 * n}),
        least_margin=_LEAST_MARGIN,
        efforts=None,
    )


def rotation(roll: Expression, pitch: Expression, yaw: Expression) -> Expression:
    """The matrix R_z(yaw) R_y(pitch) R_x(roll)."""
    (a, b), (c, d), (e, f) = ((ex.cos(v), ex.sin(v)) for v in (roll, pitch, yaw))
    return ex.matrix(
        ex.vector(e * c, f * c, -d),
        ex.vector(e * d * b - f * a, f * d * b + e * a, c * b),
        ex.vector(e * d * a + f * b, f * d * a - e * b, c * a),
    )


def pose_of(model: KinematicModel, x: Array, home: PlatformPoses) -> PlatformPoses:
    """Positions and rotations at coordinates (N, freedoms) of the pose; the others are those of home."""
    full = np.tile(np.concatenate([home.position[0], _angles(home.rotation[0])]), (len(x), 1))
    full[:, list(model.freedoms)] = x
    (a, b), (c, d), (e, f) = ((np.cos(full[:, k]), np.sin(full[:, k])) for k in (3, 4, 5))
    R = np.array(
        [
            [e * c, e * d * b - f * a, e * d * a + f * b],
            [f * c, f * d * b + e * a, f * d * a - e * b],
            [-d, c * b, c * a],
        ]
    )
    return PlatformPoses(full[:, :3], np.moveaxis(R, 2, 0))


def _angles(R: Array) -> Array:
    """Roll, pitch and yaw of a rotation."""
    return np.array(
        [np.arctan2(R[2, 1], R[2, 2]), np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0])), np.arctan2(R[1, 0], R[0, 0])]
    )
