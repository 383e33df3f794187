"""Effects of the catalogue in exported controllers: their efforts as a kernel, and what a controller cannot compute."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.core.text import number
from gough.dynamics.effect import Effect, Excitation, Instant
from gough.export.model import IdentifiedDynamics
from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots.controller import ControllerEquations

FRICTION = 1
"""The switch of friction; effects have the following powers of two."""


@dataclass(frozen=True, eq=False)
class Term:
    """An effect that a controller computes."""

    effect: Effect
    names: tuple[str, ...]
    """Its parameters that are functions of one instant of the motion."""
    switch: int
    """A power of two; friction that the robot's own model lacks has the switch of friction."""

    @property
    def word(self) -> str:
        """The name of the switch."""
        return self.effect.name.replace("-", "_").upper()


@dataclass(frozen=True, eq=False)
class ExportedEffects:
    """The effects of an identified model, for a controller with these equations."""

    dynamics: IdentifiedDynamics
    equations: ControllerEquations

    def __post_init__(self) -> None:
        for effect in self.dynamics.effects:
            require(
                not effect.correction,
                f"the model includes {effect.title} ({self._values(list(self.dynamics.effect_units))}), which an "
                f"export cannot contain. {effect.correction.rstrip('.')}",
            )

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The effects that a controller computes."""
        found: list[Term] = []
        switch = 2 * FRICTION
        for effect in self.dynamics.effects:
            columns = effect.at_instant(self._symbols())
            names = tuple(name for name in columns if name in self.dynamics.effect_units)
            if not names:
                continue
            is_friction = effect.name == "friction"
            found.append(Term(effect, names, FRICTION if is_friction else switch))
            switch *= 1 if is_friction else 2
        return tuple(found)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters of all terms, in their order."""
        return tuple(name for term in self.terms for name in term.names)

    @property
    def default(self) -> int:
        """The switches that are on unless a controller chooses: friction, and all effects of the robot itself."""
        return FRICTION | sum({term.switch for term in self.terms if term.effect.is_default})

    @property
    def every(self) -> int:
        """All switches."""
        return self.default | sum({term.switch for term in self.terms})

    @property
    def in_mass(self) -> int:
        """The switches of effects that are part of the mass matrix."""
        return sum(term.switch for term in self.terms if term.effect.is_in_mass)

    def switch_of(self, name: str) -> int:
        """The switch of a parameter of an effect; 0 of one that is left out."""
        return next((term.switch for term in self.terms if name in term.names), 0)

    def left_out(self) -> tuple[str, ...]:
        """What the exported efforts do not contain, and what a controller does about it."""
        computed = {term.effect.name for term in self.terms}
        told = [
            f"Not exported: {effect.title}. {effect.controller}"
            for effect in self.dynamics.effects
            if effect.has_memory or effect.name not in computed
        ]
        lost = [name for name in self.dynamics.effect_units if name not in self.names]
        return (*told, *([f"Identified, but not exported: {self._values(lost)}."] if lost else []))

    def _values(self, names: Sequence[str]) -> str:
        known = self.dynamics.effect_values()
        return ", ".join(f"{name} = {number(known[name])} {self.dynamics.effect_units[name]}" for name in names)

    def efforts(self) -> Kernel:
        """From s, dq, ddq, efforts, phi: `E` (terms, actuators), the efforts of each term."""
        names = self.names

        def look(
            s: Expression, dq: Expression, ddq: Expression, efforts: Expression, phi: Expression
        ) -> dict[str, Expression]:
            instant = self._instant(s, dq, ddq, efforts)
            rows = []
            for term in self.terms:
                columns = term.effect.at_instant(instant)
                rows.append(sum(columns[name] * phi[names.index(name)] for name in term.names))
            return {"E": ex.matrix(*rows).T}

        n = len(self.equations.actuated)
        sizes: dict[str, int | tuple[int, ...]] = {
            "s": len(self.equations.home),
            "dq": n,
            "ddq": n,
            "efforts": n,
            "phi": len(names),
        }
        return trace(look, name="effect_efforts", inputs=sizes)

    def regressor(self, columns: Sequence[str]) -> Kernel:
        """From s, dq, ddq: the columns `W` (actuators, columns) of parameters of the robot and of effects.

        Columns that depend on the robot's efforts are those of the reference, as in the identification; where there are
        terms, a fourth input `rubbing`, 1 or 0, tells whether friction is part of them. Effects that are left out have
        zeros.
        """
        robot, efforts = self.dynamics.robot, self.equations.efforts
        assert efforts is not None
        n, own = len(self.equations.actuated), [name for name in columns if name in robot.names]
        if not self.terms and len(own) == len(columns):
            return efforts.regressor([robot.names.index(name) for name in columns])
        reference = self.dynamics.effect_reference
        theta = ex.vector(*(reference.get(name, 0.0) for name in robot.names))

        def look(s: Expression, dq: Expression, ddq: Expression, *rubbing: Expression) -> dict[str, Expression]:
            rigid, friction = efforts.joint.function.call([s, dq, ddq, theta, ex.vector(1.0)])
            instant = self._instant(s, dq, ddq, rigid + (rubbing[0] * friction if rubbing else friction))
            found = {name: ex.vector(*(0.0 for _ in range(n))) for name in columns}
            W = instant.regressor(own) if own else None
            found |= {name: W[:, k] for k, name in enumerate(own) if W is not None}
            for term in self.terms:
                given = term.effect.at_instant(instant)
                found |= {name: given[name] for name in term.names if name in found}
            return {"W": ex.matrix(*(found[name] for name in columns))}

        sizes: dict[str, int | tuple[int, ...]] = {"s": len(self.equations.home), "dq": n, "ddq": n}
        return trace(look, name="columns", inputs=sizes | ({"rubbing": ()} if self.terms else {}))

    def _instant(self, s: Expression, dq: Expression, ddq: Expression, efforts: Expression) -> Instant:
        return Instant(self.dynamics.robot, self.equations, s, dq, ddq, efforts)

    def _symbols(self) -> Instant:
        n = len(self.equations.actuated)
        s = ex.symbol("s", len(self.equations.home))
        return self._instant(s, *(ex.symbol(name, n) for name in ("dq", "ddq", "efforts")))


def effect_columns(
    dynamics: IdentifiedDynamics, motion: tuple[Array, Array, Array], efforts: Array
) -> dict[str, Array]:
    """Efforts (N, actuators) per unit of each parameter of the effects, by their own columns.

    Columns of effects that depend on time or on the past have no meaning here: samples are not those of one motion.

    Args:
        dynamics: The identification.
        motion: Positions, velocities and accelerations of the actuators, each (N, n).
        efforts: Efforts (N, n) of the robot's own model, for effects that depend on them.
    """
    found: dict[str, Array] = {}
    for effect in dynamics.effects:
        if effect.has_memory and effect.name != "drift":
            continue
        # one sample of another recording: a payload exists only where there are two
        own = getattr(effect, "recording", 0)
        count = len(efforts)
        q, dq, ddq, known = (np.concatenate([part, part[:1]]) for part in (*motion, efforts))
        excitation = Excitation(
            robot=dynamics.robot,
            parameters=dynamics.robot_parameters(),
            rate=1.0,
            time=np.arange(count + 1.0),
            recording=np.append(np.full(count, own), own + 1),
            q=q,
            dq=dq,
            ddq=ddq,
            efforts=known,
            residuals=np.full(known.shape, np.nan),
            regressor=dynamics.robot.regressor,
            at=dynamics.effect_values(),
        )
        columns = effect.columns(excitation)
        if columns is not None:
            found |= {name: columns.of(k, known.shape[1])[:-1] for k, name in enumerate(columns.names)}
    return found
