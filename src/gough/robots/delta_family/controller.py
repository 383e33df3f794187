"""The equations of a robot of the Delta family for a controller; its state is (x, q)."""

from collections.abc import Sequence
from functools import reduce

import numpy as np

from gough.core.arrays import Array
from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots.controller import ControllerEquations, EffortEquations, StateSearch
from gough.robots.delta_family.chain import ChainMotion, motion_of_motors, motion_of_pose
from gough.robots.delta_family.equations import Family
from gough.robots.delta_family.matrices import cofactors


def controller_equations(
    family: Family,
    variant: str,
    numbers: Array,
    gravity: float,
    *,
    home: Array,
    sides: Array,
    is_friction: tuple[bool, ...],
    least_margin: float,
) -> ControllerEquations:
    """All kernels of a robot with these numbers of its geometry.

    Args:
        family: The equations.
        variant: The model.
        numbers: The geometry.
        gravity: Acceleration of gravity.
        home: Pose and motor angles at home.
        sides: The signs of the margins at home.
        is_friction: Which parameters are friction.
        least_margin: States with a smaller margin are singular.
    """
    m, n = family.n_pose, family.n_motors
    geometry = ex.vector(*numbers.tolist())
    size = float(numbers[0] + numbers[1])
    newton = trace(lambda s: _newton(family, geometry, s), name="forward_step", inputs={"s": m + n})

    def states(x: Expression) -> Expression:
        return ex.vector(x, family.inverse(x, geometry))

    def margin(s: Expression) -> Expression:
        found = family.margins(s[:m], geometry)
        every = [*ex.components(found["reach"])]
        every += [float(side) * each for side, each in zip(sides, ex.components(found["margins"]), strict=True)]
        return reduce(ex.minimum, every)

    return ControllerEquations(
        coordinates=(*("x", "y", "z", "theta")[:m], *(f"q{i + 1}" for i in range(n))),
        home=home,
        actuated=tuple(range(m, m + n)),
        pose=tuple(range(m)),
        scale=np.array([*([size] * 3), *([1.0] * (m - 3)), *([1.0] * n)]),
        forward=StateSearch(newton, float(np.sign(newton.replay(home)["side"]))),
        inverse=trace(lambda x: {"s": states(x)}, name="states", inputs={"x": m}),
        complete=None,
        jacobian=trace(lambda s: {"J": family.jacobian(s[:m], geometry)}, name="jacobian", inputs={"s": m + n}),
        margin=trace(margin, name="margin", inputs={"s": m + n}),
        least_margin=least_margin,
        efforts=_efforts(family, variant, geometry, gravity, is_friction),
    )


def _newton(family: Family, geometry: Expression, s: Expression) -> dict[str, Expression]:
    """Newton's method on (|AB|² - L²) / 2 = 0, with the elbows where the motors put them.

    Unlike `Family.newton`, which compares motor angles, it needs no inverse kinematics: its arms need not reach.
    """
    m = family.n_pose
    x, q = s[:m], s[m:]
    turn = [ex.cos(x[3]), ex.sin(x[3])] if m > 3 else [1.0, 0.0]
    rows, gaps, sizes = [], [], []
    for i, chain in enumerate(family.chains(geometry)):
        c = chain.turned
        DC = ex.vector(turn[0] * c[0] - turn[1] * c[1], turn[1] * c[0] + turn[0] * c[1], c[2])
        PB = chain.arm * (ex.cos(q[i]) * chain.radial - ex.sin(q[i]) * ex.vector(0.0, 0.0, 1.0))
        AB = PB - (x[:3] + (DC if m > 3 else 0.0) - chain.motor)
        rows.append(ex.vector(AB, ex.cross(DC, AB)[2])[:m])
        gaps.append((ex.dot(AB, AB) - chain.rod**2) / 2)
        sizes.append(gaps[-1] / chain.rod**2)
    adjugate, determinant = cofactors(ex.matrix(*rows).T)
    step = adjugate @ ex.vector(*gaps) / determinant
    error = sum((size * size for size in sizes[1:]), sizes[0] * sizes[0])
    return {"step": ex.vector(step, *(0.0 for _ in range(family.n_motors))), "error": error, "side": determinant}


def _efforts(
    family: Family, variant: str, geometry: Expression, gravity: float, is_friction: tuple[bool, ...]
) -> EffortEquations:
    m, n = family.n_pose, family.n_motors
    columns, chains = family.columns[variant], family.chains(geometry)

    def summed(motion: ChainMotion, theta: Expression, weight: Expression) -> dict[str, Expression]:
        own = columns(motion, gravity * weight)
        totals = {"rigid": ex.vector(*(0.0 for _ in range(n))), "friction": ex.vector(*(0.0 for _ in range(n)))}
        for k, column in enumerate(own):
            totals["friction" if is_friction[k] else "rigid"] += column * theta[k]
        return totals

    def joint(
        s: Expression, dq: Expression, ddq: Expression, theta: Expression, weight: Expression
    ) -> dict[str, Expression]:
        return summed(motion_of_motors(chains, s[:m], dq, ddq), theta, weight)

    def pose(
        s: Expression, dx: Expression, ddx: Expression, theta: Expression, weight: Expression
    ) -> dict[str, Expression]:
        motion = motion_of_pose(chains, s[:m], dx, ddx)
        return {**summed(motion, theta, weight), "dq": motion.dq, "ddq": motion.ddq}

    def regressor(chosen: Sequence[int]) -> Kernel:
        def look(s: Expression, dq: Expression, ddq: Expression) -> dict[str, Expression]:
            own = columns(motion_of_motors(chains, s[:m], dq, ddq), ex.vector(gravity))
            return {"W": ex.matrix(*(own[k] for k in chosen))}

        return trace(look, name="columns", inputs={"s": m + n, "dq": n, "ddq": n})

    rest: dict[str, int | tuple[int, ...]] = {"theta": len(is_friction), "weight": ()}
    return EffortEquations(
        trace(joint, name="joint_efforts", inputs={"s": m + n, "dq": n, "ddq": n, **rest}),
        trace(pose, name="pose_efforts", inputs={"s": m + n, "dx": m, "ddx": m, **rest}),
        regressor,
        is_friction,
    )
