"""The equations of a mechanism for a controller: efforts by the Newton–Euler recursion, carried to the actuators once.

The regressor of a mechanism carries each column to the actuators. Here forces on all coordinates are summed up first,
with the parameters as inputs; the closure equations are solved block by block for a known pose, and one small system
leads from the pose to the actuators.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.kernels.elimination import Elimination
from gough.kernels.expression import Expression
from gough.robots.controller import ControllerEquations, EffortEquations, StateSearch
from gough.robots.mechanism import _dynamics
from gough.robots.mechanism._motion import (
    Following,
    MechanismMotion,
    following,
    motion_of_actuators,
    rows_of,
    unit_matrix,
)
from gough.robots.mechanism.engine import Engine
from gough.robots.mechanism.parameters import BODIES, Parameter


@dataclass(frozen=True, eq=False)
class MechanismController:
    """A mechanism with the columns of its regressor."""

    engine: Engine
    columns: tuple[Parameter, ...]
    idle: tuple[int, ...]
    """Columns without effect."""
    least_margin: float

    def equations(self) -> ControllerEquations:
        """All kernels."""
        home, engine = self.engine.home, self.engine
        explicit = engine.is_explicit
        return ControllerEquations(
            coordinates=home.at.coordinates,
            home=home.s,
            actuated=home.at.actuated,
            pose=home.at.pose,
            scale=np.asarray(engine.forward.scale),
            forward=self._forward() if explicit else StateSearch(engine.forward.newton, engine.forward.side),
            inverse=engine.states if explicit else StateSearch(engine.inverse.newton, engine.inverse.side),
            complete=engine.states if explicit else None,
            jacobian=self._jacobian(),
            margin=self._margin(),
            least_margin=self.least_margin,
            efforts=EffortEquations(
                self._joint(), self._pose(), self._regressor, tuple(not _is_rigid(each) for each in self.columns)
            ),
            speeds=self._speeds(),
        )

    def _forward(self) -> StateSearch:
        """Newton's method in the pose alone, for mechanisms whose coordinates have closed forms of it."""
        at, n = self.engine.home.at, self.engine.n
        scale = np.asarray(self.engine.forward.scale)

        def look(s: Expression) -> dict[str, Expression]:
            x = ex.vector(*(s[k] for k in at.pose))
            q = rows_of(self.engine.states.function.call([x])[0], at.actuated)
            away = ex.vector(*(s[k] for k in at.actuated)) - q
            by_row = ex.vector(*(1 / float(scale[k]) for k in at.actuated))
            J = ex.derivative(q, x)
            scaled = ex.matrix(*(J[:, i] * by_row * float(scale[k]) for i, k in enumerate(at.pose)))
            system = Elimination(scaled)
            moves = dict(zip(at.pose, ex.components(system.solve(away * by_row)), strict=True))
            step = ex.vector(*(moves[k] * float(scale[k]) if k in moves else 0.0 for k in range(n)))
            gaps = away * by_row
            return {"step": step, "error": ex.dot(gaps, gaps), "side": system.determinant_sign}

        kernel = trace(look, name="forward_step", inputs={"s": n})
        return StateSearch(kernel, float(np.sign(kernel.replay(self.engine.home.s)["side"])))

    def _jacobian(self) -> Kernel:
        at, rows = self.engine.home.at, self.engine.home.rows

        def look(s: Expression) -> dict[str, Expression]:
            J = rows_of(following(at, s, at.pose, rows).by_known, at.actuated)
            return {"J": Elimination(J).solve(unit_matrix(len(at.pose)))}

        return trace(look, name="jacobian", inputs={"s": self.engine.n})

    def _speeds(self) -> Kernel | None:
        home, m = self.engine.home, self.engine.n_actuators
        if not home.at.closures:
            return None
        still = ex.vector(*(0.0 for _ in range(m)))

        def look(s: Expression, dq: Expression) -> dict[str, Expression]:
            motion = motion_of_actuators(home.at, s, dq, still, home.rows)
            return {"ds": motion.ds, "turns": _dynamics.relative_turns(home.at, motion)}

        return trace(look, name="speeds", inputs={"s": self.engine.n, "dq": m})

    def _margin(self) -> Kernel:
        engine = self.engine

        def look(s: Expression) -> Expression:
            actuators, pose = engine.margins.function.call([s])
            return ex.minimum(actuators * engine.sides[0], ex.absolute(pose))

        return trace(look, name="margin", inputs={"s": engine.n})

    def _joint(self) -> Kernel:
        at, m = self.engine.home.at, self.engine.n_actuators

        def look(
            s: Expression, dq: Expression, ddq: Expression, theta: Expression, weight: Expression
        ) -> dict[str, Expression]:
            follow = following(at, s, at.pose, self.engine.home.rows)
            J = rows_of(follow.by_known, at.actuated)
            system = Elimination(J)
            ds = follow.velocities(system.solve(dq))
            bent = follow.accelerations(ds, ex.vector(*(0.0 for _ in range(m))))
            # s̈ = (∂s/∂x) ẍ + what velocities make of it; the actuators' part of it must be q̈
            ddx = system.solve(ddq - rows_of(bent, at.actuated))
            return self._efforts(follow, (ds, bent + follow.by_known @ ddx), theta, weight)

        sizes: dict[str, int | tuple[int, ...]] = {
            "s": self.engine.n,
            "dq": m,
            "ddq": m,
            "theta": len(self.columns),
            "weight": (),
        }
        return trace(look, name="joint_efforts", inputs=sizes)

    def _pose(self) -> Kernel:
        at, m = self.engine.home.at, self.engine.n_actuators

        def look(
            s: Expression, dx: Expression, ddx: Expression, theta: Expression, weight: Expression
        ) -> dict[str, Expression]:
            follow = following(at, s, at.pose, self.engine.home.rows)
            ds = follow.velocities(dx)
            dds = follow.accelerations(ds, ddx)
            efforts = self._efforts(follow, (ds, dds), theta, weight)
            return {**efforts, "dq": rows_of(ds, at.actuated), "ddq": rows_of(dds, at.actuated)}

        sizes: dict[str, int | tuple[int, ...]] = {
            "s": self.engine.n,
            "dx": m,
            "ddx": m,
            "theta": len(self.columns),
            "weight": (),
        }
        return trace(look, name="pose_efforts", inputs=sizes)

    def _efforts(
        self,
        follow: Following,
        rates: tuple[Expression, Expression],
        theta: Expression,
        weight: Expression,
    ) -> dict[str, Expression]:
        """Forces on all coordinates f give efforts τ with the same power: (∂q/∂x)ᵀ τ = (∂s/∂x)ᵀ f."""
        at = follow.at
        J = rows_of(follow.by_known, at.actuated)
        motion = MechanismMotion(follow.s, *rates, follow.by_known)
        working = [(column, theta[k]) for k, column in enumerate(self.columns) if k not in self.idle]
        gravity = ex.vector(*self.engine.mechanism.gravity) * weight
        by_pose, transposed = follow.by_known.T, Elimination(J.T)
        efforts = {}
        for name, is_rigid in (("rigid", True), ("friction", False)):
            own = [(column, value) for column, value in working if _is_rigid(column) == is_rigid]
            forces = _dynamics.forces(at, motion, own, gravity)
            efforts[name] = transposed.solve(by_pose @ forces) if own else 0.0 * rates[0][: len(at.pose)]
        return efforts

    def _regressor(self, chosen: Sequence[int]) -> Kernel:
        """Some columns of the regressor."""
        home, m, gravity = self.engine.home, self.engine.n_actuators, self.engine.mechanism.gravity
        nothing = ex.vector(*(0.0 for _ in range(m)))

        def look(s: Expression, dq: Expression, ddq: Expression) -> dict[str, Expression]:
            motion = motion_of_actuators(home.at, s, dq, ddq, home.rows)
            own = [self.columns[k] for k in chosen if k not in self.idle]
            W = _dynamics.regressor(home.at, motion, own, ex.vector(*gravity), 0.0) if own else None
            entries = iter(range(len(own)))
            return {"W": ex.matrix(*(nothing if W is None or k in self.idle else W[:, next(entries)] for k in chosen))}

        return trace(look, name="columns", inputs={"s": self.engine.n, "dq": m, "ddq": m})


def _is_rigid(parameter: Parameter) -> bool:
    """Whether a parameter is that of a body or a rotor."""
    return parameter.part == BODIES or parameter.term == "J"
