"""Whether parameters of the admitted set explain the last seconds within the error bounds; if not, a proof."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from gough.checker import Certificate, Empty, Step, check
from gough.core.arrays import Array, Integers
from gough.core.rational import integers, over_common_denominator
from gough.methods.bounded.chebyshev import Proposal, chebyshev
from gough.methods.bounded.exact_bound import Prover, rounded_down
from gough.noise import Bounded
from gough.problem import Groups, LinearProblem
from gough.region import Box
from gough.unknowns import Unknowns
from gough.watch.rows import Rows

_UP = 1 + 1e-9
"""Factor that covers rounding wherever a bound is enlarged."""

_ROUNDS = 20
"""Times that rows are added before a window is left undecided until the next row."""
_PAUSE = 1.0
"""Seconds after a contradiction until the window is looked at again."""
_IDLE = 1e-9
"""Share of the heaviest row below which a row is left out of a proof: its weight is rounding."""


@dataclass(frozen=True)
class Contradiction:
    """Some rows of a window that no parameters of the admitted set explain, with the proof."""

    problem: LinearProblem
    certificate: Certificate
    times: Array
    """Instants of the rows that the proof rests on."""
    factor: float
    """All error bounds of these rows must be larger by this factor at least (proven)."""


class Consistency:
    """Looks for parameters that explain a window of rows; it *changes* with every block of rows.

    Constraint: |y − W θ(t)| ≤ e for the rows of the last `window` seconds, and θ in the admitted box at the beginning.

    Theorem. Let θ_j change by at most d_j per second, and let a row be formed by a low-pass of response h from samples
    up to a age seconds old, y = Σ h_i (w_i θ(t_i) + ε_i) with |Σ h_i ε_i| ≤ e. Then θ now satisfies
    |y − W θ| ≤ e + a Σ_j d_j Σ_i |h_i w_ij|, W = Σ h_i w_i. Proof: w_i θ(t_i) = w_i θ + w_i (θ(t_i) − θ), and
    |θ_j(t_i) − θ_j| ≤ d_j a. The box grows by d_j times the age of the watch. With d = 0 nothing is enlarged.

    A witness θ is kept: as long as new rows agree with it, the window is consistent, since rows that leave the window
    only make it easier. Else the smallest factor on the error bounds is computed. Only a factor proven to exceed
    1 is a contradiction, and only after its certificate was verified in exact rationals: under the hypotheses there is
    no false alarm. Idempotent: rows that are given again change nothing.
    """

    def __init__(
        self, unknowns: Unknowns, bound: Array, actuators: tuple[str, ...], *, window: float = 10.0,
        drift: Array | None = None, lag: float = 0.0,
    ) -> None:  # fmt: skip
        self.unknowns, self.bound, self.actuators = unknowns, bound, actuators
        self.window, self.drift, self.lag = window, drift, lag
        self.began: float | None = None
        """When the parameters were in the admitted box; None: at the first row."""
        self._rows = _Window(len(unknowns))
        self._witness = np.clip(np.asarray(unknowns.nominal), unknowns.bounds.lower, unknowns.bounds.upper)
        self.factor = 0.0
        """The smallest factor on the error bounds when it was computed last."""
        self.n_programs = 0
        """How often it was computed."""
        self.is_consistent = True
        """Whether the last rows contradict nothing."""
        self._again = -np.inf
        """Time before which a window that was found contradictory is not looked at again."""

    @property
    def n_rows(self) -> int:
        """Rows of the window."""
        return len(self._rows.times)

    def take(self, rows: Rows, columns: Any, known: Array) -> Contradiction | None:
        """Take in rows: those of measured samples that are kept.

        Args:
            rows: The rows.
            columns: Which columns of the regressor multiply the unknowns.
            known: (M, actuators) part of the efforts whose parameters are known.
        """
        if not len(rows):
            return None
        now = float(rows.times[-1])
        self.began = (
            float(rows.times[0]) if self.began is None else self.began
        )  # parameters drift while rows are masked
        at, of = np.nonzero(rows.kept & rows.measured[:, None])
        if not len(at):
            return None
        W = rows.W[:, :, columns][at, of]
        spread = None if rows.spread is None else rows.spread[:, :, columns][at, of]
        new = _Window(len(self.unknowns), W, (rows.y - known)[at, of], rows.times[at], of, spread)
        self._rows.append(new, now - self.window)
        misfit = np.abs(new.y - new.W @ self._witness)
        if bool((misfit <= self._radius(new, now) * (1 - 1e-9)).all()):
            self.is_consistent = True
            return None
        if now < self._again:
            return None
        found = self._decide(now)
        self.is_consistent = found is None
        return found

    def _radius(self, rows: "_Window", now: float) -> Array:
        e = self.bound[rows.actuator]
        if self.drift is None or rows.spread is None:
            return np.asarray(e)
        age = now - rows.times + 2 * self.lag
        return np.asarray((e + rows.spread @ self.drift * age) * _UP)

    def _box(self, now: float) -> Box:
        box = self.unknowns.bounds
        if self.drift is None or self.began is None:
            return box
        grown = self.drift * (now - self.began + 2 * self.lag) * _UP
        return Box(np.nextafter(box.lower - grown, -np.inf), np.nextafter(box.upper + grown, np.inf))

    def _decide(self, now: float) -> Contradiction | None:
        """A new witness, or a contradiction.

        Rows that the witness explains worst are looked at first, and those that the next point violates are added: any
        part of the rows that is contradictory is a contradiction, and a point is a witness if it explains all of them.
        """
        rows, radius = self._rows, self._radius(self._rows, now)
        unknowns = self.unknowns if self.drift is None else replace(self.unknowns, prior=self._box(now))
        self.n_programs += 1
        chosen = self._worst(radius)
        for _ in range(_ROUNDS):
            part = LinearProblem(rows.W[chosen], rows.y[chosen], unknowns, Bounded(radius[chosen]))
            fit = chebyshev(part, unknowns.bounds, "gough watch")
            size = np.abs(rows.y - rows.W @ fit.theta) / radius
            self.factor = float(size[chosen].max())
            if self.factor > 1:
                return self._proven(fit, chosen, radius, unknowns, now)
            violated = np.flatnonzero(size > 1)
            if not len(violated):
                self._witness, self.factor = fit.theta, float(size.max())
                return None
            most = violated[np.argsort(-size[violated], kind="stable")[: 4 * len(unknowns)]]
            chosen = np.union1d(chosen, most)
        return None

    def _worst(self, radius: Array) -> Integers:
        """Rows to begin with: those that the witness explains worst, and some from all over the window."""
        rows, p, n = self._rows, len(self.unknowns), self.n_rows
        size = np.abs(rows.y - rows.W @ self._witness) / radius
        worst = np.argpartition(-size, 2 * p)[: 2 * p] if n > 2 * p else np.arange(n)
        return np.union1d(worst, np.arange(0, n, max(1, n // (2 * p))))

    def _problem(self, chosen: Integers, radius: Array, unknowns: Unknowns) -> LinearProblem:
        """Some rows of the window, in their order; instants that are left out close up."""
        rows = self._rows
        instants = np.unique(rows.times[chosen], return_inverse=True)[1]
        groups = Groups(self.actuators, instants * len(self.actuators) + rows.actuator[chosen])
        return LinearProblem(rows.W[chosen], rows.y[chosen], unknowns, Bounded(radius[chosen]), groups)

    def _proven(
        self, fit: Proposal, chosen: Integers, radius: Array, unknowns: Unknowns, now: float
    ) -> Contradiction | None:
        """The contradiction among the rows that a fit rests on, if its certificate holds in exact rationals.

        Rows whose weights are rounding are left out first: what they take part in, the sides of the box take as well.
        """
        heavy = np.abs(fit.weights) * radius[chosen[fit.rows]]
        for least in (_IDLE * float(heavy.max(initial=0.0)), 0.0):
            used = np.flatnonzero(heavy > least)
            if not len(used):
                return None
            few = chosen[fit.rows[used]]
            problem = self._problem(few, radius, unknowns)
            found = contradiction(problem, fit.weights[used], self._rows.times[few])
            if found is not None:
                self._again = now + _PAUSE
                return found
        return None

    def jumped(self, seconds: float) -> None:
        """The clock jumped back by so many seconds: the window begins anew, and the age of the watch stays."""
        self._rows, self._again = _Window(len(self.unknowns)), -np.inf
        if self.began is not None:
            self.began -= seconds

    def state(self) -> dict[str, Any]:
        """Arrays and numbers from which `restore` continues."""
        rows = self._rows
        return {
            "W": rows.W, "y": rows.y, "times": rows.times, "actuator": rows.actuator, "spread": rows.spread,
            "witness": self._witness, "began": self.began, "factor": self.factor, "n_programs": self.n_programs,
            "again": self._again,
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        """Continue where `state` was taken."""
        W, y, times, actuator, spread = (state[name] for name in ("W", "y", "times", "actuator", "spread"))
        self._rows = _Window(len(self.unknowns), W, y, times, actuator, spread)
        self._witness, self.began = np.array(state["witness"]), state["began"]
        self.factor, self.n_programs, self._again = state["factor"], state["n_programs"], state["again"]


def contradiction(problem: LinearProblem, weights: Array, times: Array) -> Contradiction | None:
    """The contradiction that weights on all rows of a problem prove; None if they prove none in exact rationals.

    Σ λ_k (y_k − W_k θ) ≤ factor · Σ |λ_k| e_k for every θ of the box that satisfies |y − W θ| ≤ factor · e. The step of
    the certificate states that 0 exceeds a positive number for the factor 1; the same number gives the factor.

    Examples:
        >>> unknowns = Unknowns(["a"], prior=Box([0.0], [1.0]))
        >>> rows = LinearProblem([[1.0]], [3.0], unknowns, Bounded(np.array([0.5])))
        >>> contradiction(rows, np.array([1.0]), np.zeros(1)).factor
        4.0
    """
    box, rows = problem.unknowns.bounds, np.arange(problem.n_rows)
    value, used = Prover(problem).lower_bound(box, np.zeros(len(box)), rows, weights)
    proven = Fraction(0) if value is None else Fraction(max(rounded_down(value), 0.0))
    if not proven > 0:
        return None
    certificate = Certificate.of(problem, Empty((Step((), proven, tuple(zip(used.rows, used.weights, strict=True))),)))
    if not check(certificate, problem).holds:
        return None
    assert isinstance(problem.noise, Bounded)
    numerators, denominator = over_common_denominator(used.weights)
    e, exponent = integers(np.broadcast_to(problem.noise.radius, problem.y.shape)[list(used.rows)])
    total = Fraction(int(abs(numerators) @ e), denominator) * Fraction(2) ** exponent
    return Contradiction(problem, certificate, times[list(used.rows)], rounded_down(1 + proven / total))


@cache
def load_proofs() -> None:
    """Load and compile what a proof needs, so that the first one of a process takes no longer than others."""
    p, t = 4, np.arange(64) / 64
    W = np.column_stack([t**k for k in range(p)])
    names, box = tuple(f"x{k}" for k in range(p)), Box(-np.ones(p), np.ones(p))
    one = Consistency(Unknowns(names, nominal=np.zeros(p), prior=box), np.array([0.1]), ("motor",))
    one._rows = _Window(p, W, 5 + np.cos(9 * t), t, np.zeros(64, dtype=np.int64))  # noqa: SLF001 - its own module
    found = one._decide(1.0)  # noqa: SLF001 - its own module
    assert found is not None


@dataclass
class _Window:
    """Single rows of some seconds, oldest first."""

    p: int
    W: Array = field(default_factory=lambda: np.zeros((0, 0)))
    y: Array = field(default_factory=lambda: np.zeros(0))
    times: Array = field(default_factory=lambda: np.zeros(0))
    actuator: Any = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    spread: Array | None = None

    def __post_init__(self) -> None:
        if self.W.size == 0:
            self.W = np.zeros((0, self.p))

    def append(self, new: "_Window", since: float) -> None:
        """Add rows, and drop those before an instant."""
        old = int(np.searchsorted(self.times, since))
        self.W, self.y, self.times, self.actuator = (
            np.concatenate([mine[old:], yours])
            for mine, yours in (
                (self.W, new.W),
                (self.y, new.y),
                (self.times, new.times),
                (self.actuator, new.actuator),
            )
        )
        if new.spread is not None:
            mine = np.zeros((0, self.p)) if self.spread is None else self.spread[old:]
            self.spread = np.concatenate([mine, new.spread])
