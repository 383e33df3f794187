"""The equations of one mechanism as kernels, each traced when first used."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from gough.core.arrays import Array, Mask
from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.kernels.elimination import Elimination
from gough.kernels.expression import Expression
from gough.robots.mechanism import _dynamics
from gough.robots.mechanism._closing import closures
from gough.robots.mechanism._motion import (
    columns_of,
    following,
    motion_of_actuators,
    motion_of_pose,
    rows_of,
    spread,
)
from gough.robots.mechanism._search import Search, run
from gough.robots.mechanism._states import States
from gough.robots.mechanism.assembly import CLOSED, Assembly, assembled, closures_at, scales
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.parameters import Parameter


@dataclass(frozen=True, eq=False)
class Engine:
    """A mechanism at home, and its kernels."""

    mechanism: Mechanism
    home: Assembly

    @property
    def n(self) -> int:
        """The number of coordinates."""
        return self.home.at.n

    @property
    def n_actuators(self) -> int:
        """The number of actuators, which is that of pose coordinates."""
        return len(self.home.at.actuated)

    @cached_property
    def forward(self) -> Search:
        """Finds all coordinates for positions of the actuators."""
        return self._search(self.home.at.actuated, "forward")

    @cached_property
    def inverse(self) -> Search:
        """Finds all coordinates for poses."""
        return self._search(self.home.at.pose, "inverse")

    @cached_property
    def margins(self) -> Kernel:
        """Distances of s from singularities, where the actuators or the pose do not determine the other coordinates.

        Outputs `actuators` and `pose`: 1/‖C⁻¹‖ with the sign of the determinant, C without units.
        """

        def look(s: Expression) -> dict[str, Expression]:
            if not self.home.rows:
                return {"actuators": 1.0 + 0.0 * s[0], "pose": 1.0 + 0.0 * s[0]}
            C = self._scaled(s)[1]
            distances = {}
            for name, known in (("actuators", self.home.at.actuated), ("pose", self.home.at.pose)):
                system = Elimination(columns_of(C, self.home.at.others(known)))
                distances[name] = ex.copysign(system.closeness(), system.determinant_sign)
            return distances

        return trace(look, name="margins", inputs={"s": self.n})

    @cached_property
    def sides(self) -> tuple[float, float]:
        """The signs of both margins at home."""
        at_home = self.margins.replay(self.home.s)
        return float(np.sign(at_home["actuators"])), float(np.sign(at_home["pose"]))

    @cached_property
    def gaps(self) -> Kernel:
        """The worst closure equation, without units, at s."""

        def look(s: Expression) -> Expression:
            gaps, by_row = closures(self.home.at, s), self._scales[0]
            worst = ex.absolute(gaps[0]) / by_row[0]
            for k in range(1, gaps.numel()):
                worst = ex.maximum(worst, ex.absolute(gaps[k]) / by_row[k])
            return worst

        return trace(look, name="gaps", inputs={"s": self.n})

    @cached_property
    def joint_motion(self) -> Kernel:
        """From s, dx, ddx: `ds`, `dds` and `J` = ∂q/∂x."""
        return self._following("joint_motion", self.home.at.pose, self.home.at.actuated)

    @cached_property
    def pose_motion(self) -> Kernel:
        """From s, dq, ddq: `ds`, `dds` and `J` = ∂x/∂q."""
        return self._following("pose_motion", self.home.at.actuated, self.home.at.pose)

    @cached_property
    def tree_motion(self) -> Kernel:
        """From s, dx, ddx: `ds`, `dds` and `J` = ∂s/∂x."""
        return self._following("tree_motion", self.home.at.pose, tuple(range(self.n)))

    def _following(self, name: str, known: tuple[int, ...], wanted: tuple[int, ...]) -> Kernel:
        """From s and two derivatives of the known coordinates: `ds`, `dds` and `J` = ∂wanted/∂known."""
        at, rows, m = self.home.at, self.home.rows, self.n_actuators

        def look(s: Expression, first: Expression, second: Expression) -> dict[str, Expression]:
            follow = following(at, s, known, rows)
            ds = follow.velocities(first)
            return {"ds": ds, "dds": follow.accelerations(ds, second), "J": rows_of(follow.by_known, wanted)}

        return trace(look, name=name, inputs={"s": self.n, "first": m, "second": m})

    @cached_property
    def _states(self) -> States:
        return States(self.home, closures_at(self.mechanism, self.home.s[None])[1][0])

    @property
    def is_explicit(self) -> bool:
        """Have all coordinates closed forms of the pose?"""
        return self._states.is_explicit

    @cached_property
    def states(self) -> Kernel:
        """All coordinates s for a pose x, in closed form or by a fixed number of Newton steps."""
        return trace(lambda x: {"s": self._states(x)}, name="states", inputs={"x": self.n_actuators})

    @cached_property
    def positions(self) -> Kernel:
        """The positions of the actuators for a pose x."""

        def look(x: Expression) -> dict[str, Expression]:
            s = self.states.function.call([x])[0]
            return {"q": ex.vector(*(s[k] for k in self.home.at.actuated))}

        return trace(look, name="inverse", inputs={"x": self.n_actuators})

    @cached_property
    def pose_margins(self) -> Kernel:
        """Both margins for a pose x, positive on the side of home."""

        def look(x: Expression) -> Expression:
            ex.note_solve("inverse of the closure equations")
            distances = self.margins.function.call([self.states.function.call([x])[0]])
            return ex.vector(*(side * each for side, each in zip(self.sides, distances, strict=True)))

        return trace(look, name="margin", inputs={"x": self.n_actuators})

    @cached_property
    def displacement(self) -> Kernel:
        """How s follows displaced actuators, from s and their positions q.

        Outputs: `step`, one step of Newton's method towards q; `away`, how far the actuators are from there; `gap`, the
        worst closure equation in m or rad; `margins` (2,), positive on the side of home; and their derivatives
        `s_by_q` and `margins_by_q` by the actuators' positions along closed loops.
        """
        at, m = self.home.at, self.n_actuators

        def look(s: Expression, q: Expression) -> dict[str, Expression]:
            follow = following(at, s, at.actuated, self.home.rows)
            away = q - ex.vector(*(s[k] for k in at.actuated))
            step, gap = follow.by_known @ away, 0.0 * s[0]
            if follow.system is not None:
                step += spread(follow.system.solve(-follow.equations), at.others(at.actuated), self.n)
                for each in ex.components(follow.equations):
                    gap = ex.maximum(gap, ex.absolute(each))
            distances = self.margins.function.call([s])
            margins = ex.vector(*(side * each for side, each in zip(self.sides, distances, strict=True)))
            return {
                "step": step,
                "away": away,
                "gap": gap,
                "margins": margins,
                "s_by_q": follow.by_known,
                "margins_by_q": ex.derivative(margins, s) @ follow.by_known,
            }

        return trace(look, name="displacement", inputs={"s": self.n, "q": m})

    def at_pose(self, x: Array, *, is_patient: bool = False) -> tuple[Array, Mask]:
        """All coordinates (N, n) at poses (N, m), and which samples have none; a sample with a NaN is not among them.

        Where all loops have closed forms those are used, else Newton's method with step control. Unless
        `is_patient`, nothing more is computed once some samples have failed for good.
        """
        missing = np.isnan(x).any(axis=1)
        if not self.is_explicit:
            s, failed = self.inverse.solve(x, self.home.s, is_patient=is_patient)
        else:
            s = run(self.states, x)["s"].reshape(len(x), -1)
            failed = np.asarray(np.isnan(s).any(axis=1))
        failed |= self.is_open(s)
        failed[missing] = False
        return s, failed

    def along(self, x: Array) -> Array:
        """All coordinates (D, T, n) along ways of poses (D, T, m) that begin near home; NaN once a way is lost."""
        if not self.is_explicit:
            return self.inverse.follow(x, self.home.s)[0]
        flat = x.reshape(-1, x.shape[-1])
        s = run(self.states, flat)["s"].reshape(len(flat), -1)
        s[self.is_open(s)] = np.nan
        return s.reshape(*x.shape[:-1], -1)

    def is_open(self, s: Array) -> Mask:
        """(N,): the samples whose loops are not closed; false for NaN."""
        with np.errstate(invalid="ignore"):
            return np.asarray(run(self.gaps, s)["gaps"] > 1e3 * CLOSED)

    @cached_property
    def _joint_regressors(self) -> dict[tuple[Parameter, ...], Kernel]:
        return {}

    def joint_regressor(self, columns: Sequence[Parameter], s: Array, dq: Array, ddq: Array) -> Array:
        """The regressor (N, actuators, columns) at coordinates s and the actuators' motion.

        It is traced once, as variants of a robot are made again; a variant whose columns are among those of another one
        takes them from it.
        """
        known, wanted = self._joint_regressors, tuple(columns)
        larger = wanted if wanted in known else next((each for each in known if set(wanted) <= set(each)), wanted)
        if larger not in known:
            known[larger] = self._traced_joint_regressor(larger)
        W = run(known[larger], s, dq, ddq)["joint_regressor"]
        return W if larger == wanted else W[:, :, [larger.index(each) for each in wanted]]

    def _traced_joint_regressor(self, columns: Sequence[Parameter]) -> Kernel:
        at, rows, gravity = self.home.at, self.home.rows, ex.vector(*self.mechanism.gravity)

        def look(s: Expression, dq: Expression, ddq: Expression) -> Expression:
            motion = motion_of_actuators(at, s, dq, ddq, rows)
            return _dynamics.regressor(at, motion, columns, gravity, 0.0)

        m = self.n_actuators
        return trace(look, name="joint_regressor", inputs={"s": self.n, "dq": m, "ddq": m})

    def pose_regressor(self, columns: Sequence[Parameter], idle: Sequence[int], friction_speed: float) -> Kernel:
        """The regressor (actuators, columns) of x, dx, ddx; the columns in `idle` are zero."""
        at, rows, m = self.home.at, self.home.rows, self.n_actuators
        gravity = ex.vector(*self.mechanism.gravity)

        def of_states(s: Expression, dx: Expression, ddx: Expression) -> Expression:
            motion = motion_of_pose(at, s, dx, ddx, rows)
            working = [column for k, column in enumerate(columns) if k not in idle]
            W = _dynamics.regressor(at, motion, working, gravity, friction_speed)
            entries = iter(range(len(working)))
            nothing = ex.vector(*(0.0 for _ in range(m)))
            return ex.matrix(*(nothing if k in idle else W[:, next(entries)] for k in range(len(columns))))

        inner = trace(of_states, name="state_regressor", inputs={"s": self.n, "dx": m, "ddx": m})
        return self._of_pose(inner, "regressor")

    @cached_property
    def coordinate_motion(self) -> Kernel:
        """All coordinates with derivatives, `s`, `ds`, `dds`, of x, dx, ddx."""
        at, rows, m = self.home.at, self.home.rows, self.n_actuators

        def of_states(s: Expression, dx: Expression, ddx: Expression) -> dict[str, Expression]:
            follow = following(at, s, at.pose, rows)
            ds = follow.velocities(dx)
            return {"s": s + 0.0, "ds": ds, "dds": follow.accelerations(ds, ddx)}

        inner = trace(of_states, name="state_motion", inputs={"x": self.n, "dx": m, "ddx": m})
        return self._of_pose(inner, "coordinate_motion")

    def _of_pose(self, inner: Kernel, name: str) -> Kernel:
        """A kernel of s, dx, ddx as one of x, dx, ddx."""

        def composed(x: Expression, dx: Expression, ddx: Expression) -> dict[str, Expression]:
            ex.note_solve(next(iter(inner.solves), "solve of the closure equations"))
            s = self.states.function.call([x])[0]
            values = inner.function.call([s, dx, ddx])
            shaped = {}
            for port, flat in zip(inner.outputs, values, strict=True):
                columns = port.shape[1] if len(port.shape) == 2 else 1
                shaped[port.name if len(values) > 1 else name] = (
                    flat if columns == 1 else ex.matrix(*(flat[k::columns] for k in range(columns)))
                )
            return shaped

        m = self.n_actuators
        return trace(composed, name=name, inputs={"x": m, "dx": m, "ddx": m})

    @cached_property
    def _scales(self) -> tuple[Array, Array]:
        return scales(self.home.at, self.home.size)

    def _scaled(self, s: Expression) -> tuple[Expression, Expression]:
        """The independent closure equations and their Jacobian, without units."""
        every = closures(self.home.at, s)
        by_row, by_column = self._scales
        gaps = ex.vector(*(every[row] for row in self.home.rows))
        C = ex.derivative(gaps, s)
        factors = ex.vector(*(1 / by_row[row] for row in self.home.rows))
        return gaps * factors, ex.matrix(*(C[:, k] * factors * float(by_column[k]) for k in range(self.n)))

    def _search(self, known: tuple[int, ...], name: str) -> Search:
        at = self.home.at
        unknown = at.others(known)
        by_column = self._scales[1]

        def look(s: Expression) -> dict[str, Expression]:
            if not unknown:
                return {"step": 0.0 * s, "error": 0.0 * s[0], "side": 1.0 + 0.0 * s[0]}
            gaps, C = self._scaled(s)
            system = Elimination(columns_of(C, unknown))
            moves = dict(zip(unknown, ex.components(-system.solve(gaps)), strict=True))
            step = ex.vector(*(moves[k] * float(by_column[k]) if k in moves else 0.0 for k in range(at.n)))
            return {"step": step, "error": ex.dot(gaps, gaps), "side": system.determinant_sign}

        kernel = trace(look, name=f"{name}_search", inputs={"s": self.n})
        side = float(np.sign(kernel.replay(self.home.s)["side"]))
        return Search(kernel, list(known), by_column, side)


@lru_cache(maxsize=32)
def engine(mechanism: Mechanism) -> Engine:
    """The engine of a mechanism, made once.

    Raises:
        InputError: the mechanism does not close, or its freedoms do not fit its actuators.
    """
    return Engine(mechanism, assembled(mechanism))
