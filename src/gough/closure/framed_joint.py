"""The lower end of the joint ε, closer than one program in the unknowns reaches: chains in coordinates of their own.

Errors of poses multiply the vectors of rods, and unknowns of a chain may move far together with little effect on these.
So each chain gets coordinates in which the vectors vary as little as the measurements of all chains allow, and each of
them with few coordinates; what an error multiplies is bounded directly, and both its product with the error and the
products of coordinates are columns of a linear program. Sides of the coordinates that cost most are moved inward until
the program has no solution. It only proposes: every bound is proven by `gough.checker.joint_frames`, in exact numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gough.checker.chain_boxes import ChainBox, Space
from gough.checker.chain_proofs import ChainFrame, ChainLink, JointEmpty, NumberedCut
from gough.checker.chain_questions import ChainQuestion, question_of
from gough.checker.dyadic import Dyadic
from gough.checker.joint_frames import PLANES, FramedChain, JointRows, Sides
from gough.checker.linear import NotProven
from gough.checker.of_chain import around, stage_links
from gough.closure.fits import needs, slopes
from gough.closure.joint import JointProblem
from gough.closure.joint_hull import JointHull
from gough.closure.quadratic_chain import QuadraticChain
from gough.core.arrays import Array, Integers
from gough.core.rational import round_down
from gough.estimates import LiftedStats
from gough.methods.nonlinear.lifted_program import LiftedProgram, envelopes
from gough.methods.programs.simplex import Outcome
from gough.methods.programs.sparse_program import SparseOptimum, SparseProgram, SparseRows

_UNIT = 1e-4
"""Unit, m or rad, in which a program counts the widening of readings."""
_FORMS = 64
"""What errors of poses multiply is bounded by itself for so many errors and chains, those that cost most."""
_MOST = 16
"""Coordinates whose sides are moved in one round, each in a stage of its own."""
_SHARE = 0.97
"""Part of the cost that these have to explain."""
_KEPT = 3e-4
"""Part of the cost from which on a product of an error stays a column while sides are moved."""
_ACTIVE = 1e-7
"""Multipliers, in rows of length one, from which on a row counts as active."""
_LOOSE = 1e-7
"""How exactly programs are solved that move sides."""
_ROUNDS = 20
_GAIN = 0.04
"""Part of the gap that a round must close for another one."""
_DIGITS, _ALL_DIGITS = 9, 15
"""Digits of the weights that move a side, and of those of the contradiction."""
_WEIGHTLESS = 1e-7
"""Multipliers, in rows of length one, below which a row is left out: they are what interior points leave."""
_NOTHING = 1e-13
"""Part of the largest entry below which an entry of a combination is rounding."""
_SAFE = 1.02
"""Times what a proof falls short by, readings are uncertain by less in the next one."""
_AROUND = 5e-6
"""Coordinates are chosen for readings that are uncertain by so much more than the largest need, m or rad."""
_SMALL = 0.01
"""Part of its tolerance by which an error may be beyond it there."""
_NEWTON, _NEAR_ENOUGH = 40, 0.1
"""Steps to the middle of what fits together, at most, and the size of the last one in its own units."""
_TURNS = 100
_ROOM = 1e-10
"""Kept from what a program promises, in the readings' unit."""


Multipliers = tuple[Integers, Array]
"""Rows and their multipliers."""


class Near(NamedTuple):
    """Chains, one after the other, and shared errors (N, S) of poses with which readings need little."""

    points: Array
    errors: Array


class Lower(NamedTuple):
    """What was proven: with ε, chains do not fit together."""

    epsilon: float
    proof: JointEmpty


def lower_end(problem: JointProblem, upper: float, width: float, near: Near) -> Lower | None:
    """The proof that ε = upper − width does not suffice, or as close to it as a proof is found.

    `near` are chains for which the upper end suffices. Unknowns that fit are sought around them.
    None where nothing is proven, and for chains that do not close over rods. A negative ε is not tried.
    """
    if not np.isfinite(upper):
        return None
    epsilon = max(upper - width, 0.0)
    widened, question = problem.widened(epsilon), question_of(problem)
    answer = JointHull(max_steps=0).estimate(widened)
    assert isinstance(answer.stats, LiftedStats)
    space = Space.of(question, question.chains, epsilon)
    links, box = stage_links(space, answer.stats.stages, space.prior())
    if box.is_empty:
        return None  # a chain by itself says more
    try:
        with np.errstate(all="ignore"):
            search = _Search(widened, space, links, box, near)
            search.run()
            return search.proven(question)
    except (NotProven, OverflowError, np.linalg.LinAlgError):
        return None


class _Search:
    """Frames, and stages in them, until nothing is left or a round of them gains little."""

    def __init__(
        self, problem: JointProblem, space: Space, links: tuple[ChainLink, ...], box: ChainBox, near: Near
    ) -> None:
        self._space, self._links, self._box = space, links, box
        parts = [part for part in problem.parts if isinstance(part, QuadraticChain)]
        if len(parts) < len(problem.parts):
            raise NotProven("frames are for chains that close over a rod")
        alone = [_Alone.of(part, *around(box, place)) for part, place in zip(parts, problem.places, strict=True)]
        self._alone = _along_what_fits_together(alone, problem.places, near)
        self._frames = [each.frame(self._bare(i, each)) for i, each in enumerate(self._alone)]
        self._rows = JointRows(space, box, tuple(self._frames))
        self._stages: list[tuple[NumberedCut, ...]] = []
        self._used: Integers | None = None
        self._best: tuple[float, int, tuple[tuple[int, float], ...]] = (-np.inf, 0, ())

    def _bare(self, i: int, alone: "_Alone") -> FramedChain:
        """A chain in its coordinates, no side of which is known."""
        rows = self._space.rows(alone.center, alone.radius, self._space.chains[i])
        equations: Any = self._space.equations[i]
        return FramedChain(equations, alone.coordinates(), rows, self._space.more)

    def run(self) -> None:
        """Move sides until nothing is left, or a round gains little."""
        first = _Program(self._rows, [_Floats(chain) for chain in self._rows.chains])
        optimum = first.widening()
        self._bound_forms(first.losses(optimum).forms)
        self._floats = [_Floats(chain) for chain in self._rows.chains]
        gap = np.inf
        for left in reversed(range(_ROUNDS + 1)):
            program = _Program(self._rows, self._floats)
            optimum = program.widening()
            if optimum.outcome is not Outcome.OPTIMAL:
                return
            more = _UNIT * optimum.cost
            if more > self._best[0]:
                self._best = more, len(self._stages), _rounded(program.weights(optimum), _ALL_DIGITS)
            if more > _ROOM or not left or -more > (1 - _GAIN) * gap:
                return
            gap = -more
            if not self._round(program, optimum):
                return

    def _bound_forms(self, losses: list[Array]) -> None:
        """Bounds of what errors multiply, where that costs most."""
        every = np.concatenate([each.reshape(-1) for each in losses])
        least = np.sort(every)[-min(_FORMS, len(every))]
        for i, (alone, loss) in enumerate(zip(self._alone, losses, strict=True)):
            chosen = np.flatnonzero((loss.reshape(-1) >= least) & (loss.reshape(-1) > 0))
            chain = self._rows.chains[i]
            cuts = [cut for number in chosen for cut in alone.form_cuts(chain, int(number))]
            self._frames[i] = replace(self._frames[i], cuts=(*self._frames[i].cuts, *cuts))
        known = self._rows
        self._rows = JointRows(self._space, self._box, tuple(self._frames))
        for chain, before in zip(self._rows.chains, known.chains, strict=True):
            chain.adopt(before)

    def _round(self, program: "_Program", optimum: SparseOptimum) -> bool:
        """Move sides of the coordinates that cost most, each with the sides that moved before it; does any move?"""
        losses, used, known = program.losses(optimum), set[int](), len(self._stages)
        costs = np.concatenate(losses.coordinates)
        order = np.argsort(-costs)
        count = min(_MOST, int((np.cumsum(costs[order]) < _SHARE * costs.sum()).sum()) + 1)
        for number in map(int, order[:count]):
            stage = self._stage(program.reduced(optimum, losses, self._used), number)
            if stage is None:  # perhaps nothing is left
                break
            if stage:
                self._stages.append(stage)
                self._rows.move(stage)
                used.update(row for cut in stage for row, _ in cut.weights)
                program = _Program(self._rows, self._floats)
        self._used = np.array(sorted(used), dtype=np.int64)
        return len(self._stages) > known

    def _stage(self, program: "_Reduced", number: int) -> tuple[NumberedCut, ...] | None:
        """Cuts of a coordinate; None where the program has no solution."""
        cuts = []
        for side, sign in (("lower", 1.0), ("upper", -1.0)):
            weights = program.bounding(self._rows.column(number), sign)
            if weights is None:
                return None
            cut = _best_cut(self._rows, number, side, _rounded(weights, _DIGITS))
            cuts += [cut] if cut else []
        bounds = [cut.bound for cut in cuts]
        return tuple(cuts) if bounds == sorted(bounds) else None

    def proven(self, question: ChainQuestion) -> Lower | None:
        """The best lower end that was found, proven in exact numbers."""
        more, n_stages, weights = self._best
        if not np.isfinite(more):
            return None
        stated = float(self._space.more.fraction)
        contradiction = (NumberedCut(0, "empty", 0.0, weights),)
        stages = (*self._stages[:n_stages], contradiction)
        rows, epsilon = self._rows, stated
        if len(self._stages) == n_stages:  # what the weights prove, not what the program promises
            more = _UNIT * float(rows.least(weights, {}))
        if more <= 0:  # with less than stated, all cuts hold, and the rows are closer
            epsilon = stated + _SAFE * more - _ROOM
            if epsilon < 0:
                return None
            space = Space.of(question, self._space.chains, epsilon)
            rows = JointRows(space, self._box, tuple(self._frames))
            for stage in stages[:-1]:
                rows.follow(stage)
        rows.follow(contradiction)
        return Lower(epsilon, JointEmpty(self._links, tuple(self._frames), stages)) if rows.is_empty else None


def _best_cut(rows: JointRows, number: int, side: str, weights: tuple[tuple[int, float], ...]) -> NumberedCut | None:
    """The cut with the best double that weights prove; None if the side hardly moves."""
    known = rows.sides_of(rows.column(number))
    proven = rows.proven(NumberedCut(number, side, 0.0, weights))
    bound = round_down(proven if side == "lower" else -proven)
    if bound is None:
        return None
    bound = bound if side == "lower" else -bound
    low, high = float(known.lower.fraction), float(known.upper.fraction)
    gained = bound - low if side == "lower" else high - bound
    return NumberedCut(number, side, bound, weights) if gained > 0.01 * (high - low) else None


def _rounded(weights: Multipliers, digits: int) -> tuple[tuple[int, float], ...]:
    rows, values = weights
    rounded = ((int(row), float(f"{value:.{digits}g}")) for row, value in zip(rows, values, strict=True))
    return tuple((row, value) for row, value in rounded if value > 0)


@dataclass
class _Alone:
    """One chain by itself: its program in the unknowns, and coordinates."""

    part: QuadraticChain
    center: tuple[float, ...]
    radius: tuple[float, ...]
    program: LiftedProgram
    forms: Array
    axes: Array
    inverse: Array

    @classmethod
    def of(cls, part: QuadraticChain, center: tuple[float, ...], radius: tuple[float, ...]) -> "_Alone":
        c, r = np.array(center), np.array(radius)
        program = LiftedProgram(part.relaxation(c, r), envelopes(part.products, r), part.products, r)
        forms, first = part.along(c), _principal(part, c)
        size = np.array([_spread(program, row) for row in np.linalg.inv(first)])
        # in these the set is about a ball
        return cls(part, center, radius, program, forms, *_with_inverse(first * size))

    def turned(self, spread: Array, weights: Array) -> "_Alone":
        """Coordinates along what fits together: its spread (n, n) in the present ones, and weights (N) of poses.

        They are between those in which this chain's set is about a ball and those in which what fits together is one.
        """
        size, turn = np.linalg.eigh(spread)
        ball = self.axes @ (turn * size**0.25)
        weighted = self.part.tolerance[:, self.part.shared] * np.sqrt(weights)[:, None]
        forms = (weighted[..., None] * self.forms[..., : len(ball)]).reshape(-1, len(ball)) @ ball
        axes, inverse = _with_inverse(ball @ _simple(forms))
        return replace(self, axes=axes, inverse=inverse)

    def coordinates(self) -> ChainFrame:
        """The frame without cuts."""
        axes, inverse = (tuple(map(tuple, rows.tolist())) for rows in (self.axes, self.inverse))
        return ChainFrame(self.center, self.radius, axes, inverse, ())

    def frame(self, bare: FramedChain) -> ChainFrame:
        """The frame with bounds of all coordinates."""
        rows = enumerate(self.inverse)
        cuts = [cut for j, row in rows for cut in self._cuts(bare, j, np.pad(row, (0, len(self.part.products))))]
        return replace(bare.frame, cuts=tuple(cuts))

    def form_cuts(self, chain: FramedChain, number: int) -> list[NumberedCut]:
        """Bounds of what an error of a pose multiplies."""
        k, e = divmod(number, self.forms.shape[1])
        return self._cuts(chain, len(self.center) + number, self.forms[k, e])

    def _cuts(self, chain: FramedChain, number: int, direction: Array) -> list[NumberedCut]:
        cuts = []
        for side, sign in (("lower", 1.0), ("upper", -1.0)):
            _, rows, weights = self.program.multipliers(sign * direction)
            found = _rounded((rows, weights), _DIGITS)
            proven = chain.proven(NumberedCut(number, side, 0.0, found))
            bound = round_down(proven if side == "lower" else -proven)
            if bound is not None:
                cuts.append(NumberedCut(number, side, bound if side == "lower" else -bound, found))
        return cuts


def _along_what_fits_together(chains: list[_Alone], places: Sequence[slice], near: Near) -> list[_Alone]:
    """The chains in coordinates along those that fit together: needs of readings are linearized at some that nearly do.

    Steps of the chains are in their present coordinates, where each set is about a ball, those of errors in parts of
    their tolerances. Where the product of all that is left of the tolerances is largest, its curvature is how far the
    set reaches, and the inverse of what is left, what a reading weighs.
    """
    N, S = near.errors.shape
    first = np.cumsum([0, *(len(chain.axes) for chain in chains)]).tolist()
    most = chains[0].part.tolerance[:, chains[0].part.shared]
    known = near.errors / np.where(most > 0, most, 1.0)
    rows, need = np.zeros((len(chains), 2, N, first[-1] + N * S)), np.zeros((len(chains), 2, N))
    each = np.arange(N)[:, None]
    for i, (chain, place) in enumerate(zip(chains, places, strict=True)):
        by_unknowns, by_errors = slopes(chain.part, near.points[place], near.errors)
        rows[i, ..., first[i] : first[i + 1]] = (by_unknowns @ chain.axes).reshape(2, N, -1)
        rows[i, :, each, first[-1] + S * each + np.arange(S)] = (
            (by_errors * np.tile(most, (2, 1))).reshape(2, N, S).transpose(1, 2, 0)
        )
        need[i] = needs(chain.part, near.points[place], near.errors).reshape(2, N)
    whole = np.vstack([rows.reshape(-1, rows.shape[-1]), *(sign * np.eye(rows.shape[-1]) for sign in (1.0, -1.0))])
    reach = [np.concatenate([np.ones(first[-1]), 1 + _SMALL - sign * known.ravel()]) for sign in (1.0, -1.0)]
    left, spread = _middle(whole, np.concatenate([need.max() - need.ravel() + _AROUND, *reach]))
    price = 1 / left[: need.size].reshape(need.shape)
    return [
        chain.turned(spread[a:b, a:b], abs(short - long))
        for chain, (a, b), (short, long) in zip(chains, pairwise(first), price, strict=True)
    ]


def _middle(rows: Array, sides: Array) -> tuple[Array, Array]:
    """What rows · y leave of the sides where their product is largest, and the inverse of its curvature there.

    Sides are positive. By Newton's method, with steps that stay within the sides.
    """
    y = np.zeros(rows.shape[1])
    for _ in range(_NEWTON):
        left = sides - rows @ y
        scaled = rows / left[:, None]
        spread = np.linalg.inv(scaled.T @ scaled)
        step = -spread @ scaled.sum(axis=0)
        size = float(np.sqrt(max(-step @ scaled.sum(axis=0), 0.0)))
        y = y + step / (1 + size)
        if size < _NEAR_ENOUGH:
            break
    return sides - rows @ y, np.asarray(spread, dtype=float)


def _simple(forms: Array) -> Array:
    """A turn after which each row has few large entries: it makes the sum of their fourth powers large."""
    _, _, turn = np.linalg.svd(forms)
    turn, scaled = turn.T, forms / max(abs(forms).max(initial=0.0), 1e-300)
    for _ in range(_TURNS):
        u, _, v = np.linalg.svd(scaled.T @ (scaled @ turn) ** 3)
        turn = u @ v
    return np.asarray(turn)


def _principal(part: QuadraticChain, c: Array) -> Array:
    """Axes of the set of chains that fit, about, the measurements being linearized: columns as long as they reach."""
    d, D = part.p.mid + part.A.mid @ c, part.D.mid + part.B.mid @ c
    J = 2 * np.einsum("ni,nij->nj", d, part.A.mid)
    J[:, -1] -= 2 * c[-1]
    size = (abs(2 * np.einsum("nei,ni->ne", D, d)) * part.tolerance).sum(axis=1)
    rows = [J / np.maximum(size, 1e-12)[:, None], np.diag(1 / np.maximum(part.prior.width / 2, 1e-12))]
    if part.conditions:
        C = np.zeros((len(part.conditions), len(c)))
        for row, condition in zip(C, part.conditions, strict=True):
            for (i, j), coefficient in condition.items():
                row[i] += coefficient * c[j]
                row[j] += coefficient * c[i]
        rows.append(1e6 * C)
    stacked = np.vstack(rows)
    _, size, turn = np.linalg.svd(stacked, full_matrices=False)
    return np.asarray(turn.T / size * np.sqrt(len(stacked)))


def _spread(program: LiftedProgram, row: Array) -> float:
    """Half of what row · h varies by, about."""
    direction = np.zeros(len(program._scale))  # noqa: SLF001
    direction[: len(row)] = row
    ends = [program.multipliers(sign * direction)[0] for sign in (1.0, -1.0)]
    half = -sum(ends) / 2
    return float(half) if 0 < half < np.inf else 1.0


def _with_inverse(axes: Array) -> tuple[Array, Array]:
    short = _short(axes)
    return short, np.asarray(np.linalg.inv(short), dtype=float)


def _short(axes: Array) -> Array:
    """Columns in numbers of few digits, so that exact ones derived from them stay short."""
    unit = 2.0 ** (np.floor(np.log2(abs(axes).max(axis=0))) - 20)
    return np.asarray(np.round(axes / unit) * unit)


class _Losses(NamedTuple):
    """What the envelopes of products cost, to first order."""

    forms: list[Array]
    """(N, S) for each chain: of products with errors of poses."""
    coordinates: list[Array]
    """(n,) for each chain: those and its own products, shared out to the coordinates that they come from."""


class _Floats:
    """The rows of one chain that do not change, in floating point."""

    def __init__(self, chain: FramedChain) -> None:
        N, n = chain.n_poses, chain.n
        equations = [chain.equation(k) for k in range(chain.equations.n_equations)]
        sides = [each.above for each in equations], [each.below for each in equations]
        width = n + len(chain.pairs)
        self.A = [np.array([_floats(row.coefficients[:width], row.exponent) for row in side]) for side in sides]
        self.b = [np.array([_floats([row.side], row.exponent)[0] for row in side]) for side in sides]
        forms = [form for each in equations[:N] for form in each.forms]
        self.value = np.array([_double(form[0]) for form in forms])
        self.W = np.array([_floats(form[1], form[2]) for form in forms])
        self.beyond = np.array([_double(form[3]) for form in forms])
        self.leverage = np.array([abs(_double(chain.expansion(k).reading[1])) for k in range(N)])
        self.axes, self.radius = np.array(chain.frame.axes), np.array(chain.frame.radius)
        self.first, self.second = np.array(chain.pairs).T


def _floats(numbers: Sequence[int], exponent: int) -> Array:
    return np.ldexp(np.array([float(x) for x in numbers]), exponent)


def _double(x: Dyadic) -> float:
    return float(np.ldexp(float(x.n), x.e))


def _doubles(sides: Sequence[Sides]) -> Array:
    return np.array([[_double(x) for x in each] for each in sides])


class _Entries:
    """Rows that are gathered: entries, sides, and what widening readings by a unit adds to sides."""

    def __init__(self, n_rows: int) -> None:
        self._parts: list[tuple[Array, Array, Array]] = []
        self.side, self.widening = np.zeros(n_rows), np.zeros(n_rows)

    def add(self, rows: Any, columns: Any, values: Any) -> None:
        """Entries; arrays broadcast."""
        self._parts.append(tuple(each.ravel() for each in np.broadcast_arrays(rows, columns, values)))  # type: ignore[arg-type]

    def planes(self, rows: Array, u: tuple[Any, Array], v: tuple[Any, Array, Array], product: Any) -> None:
        """Planes of products u v: column and sides of u; columns, coefficients and sides of v; columns of products."""
        (at, known), (columns, form, range_) = u, v
        for which, (a, b, sign) in enumerate(_CORNERS):
            self.add(rows + which, at, sign * range_[:, b])
            self.add((rows + which)[:, None], columns, sign * known[:, a, None] * form)
            self.add(rows + which, product, -sign)
            self.side[rows + which] = sign * known[:, a] * range_[:, b]

    def tangents(self, rows: Array, at: Array, known: Array, square: Array) -> None:
        """Tangents of squares, and the lines between their ends."""
        low, high = known.T
        for which, t in ((0, low), (1, high), (3, (low + high) / 2)):
            self.add(rows + which, at, 2 * t)
            self.add(rows + which, square, -1.0)
            self.side[rows + which] = t * t
        self.add(rows + 2, at, -(low + high))
        self.add(rows + 2, square, 1.0)
        self.side[rows + 2] = -low * high

    def matrix(self, n_columns: int) -> Any:
        """The entries as a sparse matrix."""
        from scipy import sparse  # noqa: PLC0415 - start-up time

        rows, columns, values = (np.concatenate(each) for each in zip(*self._parts, strict=True))
        return sparse.csr_matrix((values, (rows, columns)), shape=(len(self.side), n_columns))


_CORNERS = ((0, 0, 1.0), (1, 1, 1.0), (1, 0, -1.0), (0, 1, -1.0))
"""Sides of the factors at which planes touch, and the sign of their rows; in the order of `joint_frames`."""


def _product(u: Array, v: Array) -> Array:
    """Sides (K, 2) of products of quantities with sides (K, 2)."""
    corners = [u[:, a] * v[:, b] for a, b, _ in _CORNERS]
    return np.stack([np.minimum.reduce(corners), np.maximum.reduce(corners)], axis=1)


class _Program:
    """All rows of the chains in floating point, with the sides as they are now."""

    def __init__(self, rows: JointRows, parts: list[_Floats]) -> None:
        self._rows, self._parts = rows, parts
        self._N, self._S = rows.chains[0].n_poses, rows.S
        K, errors = self._N * self._S, _doubles(rows.errors)
        entries, sides = _Entries(rows.n_rows), np.zeros((rows.n_columns, 2))
        self._error_at = rows.n_columns - K + np.arange(K)
        sides[self._error_at] = errors
        self._places: list[_Places] = []
        row = column = 0
        for chain, part, known in zip(rows.chains, parts, rows.sides, strict=True):
            n, pairs, M = chain.n, len(chain.pairs), chain.equations.n_equations
            z = column + np.arange(n)
            square, product = column + n + np.arange(pairs), column + n + pairs + np.arange(K)
            pose = np.repeat(np.arange(self._N), self._S)
            for i, sign in enumerate((1.0, -1.0)):
                at = row + i * M + np.arange(M)
                entries.add(at[:, None], np.append(z, square), part.A[i])
                entries.add(at[pose], self._error_at, sign * part.value)
                entries.add(at[pose], product, sign)
                entries.side[at], entries.widening[at[: self._N]] = part.b[i], -_UNIT * part.leverage
            ends = row + 2 * M + np.arange(2 * n)
            signs = np.tile([-1.0, 1.0], n)[:, None]
            entries.add(ends[:, None], z, signs * np.repeat(part.axes, 2, axis=0))
            entries.side[ends] = np.repeat(part.radius, 2)
            now, of_pairs = _doubles(known), row + 2 * M + 2 * n + PLANES * np.arange(pairs)
            same = part.first == part.second
            u, v = (now[each] for each in (part.first, part.second))
            other = (z[part.second[~same], None], np.ones((int((~same).sum()), 1)), v[~same])
            entries.planes(of_pairs[~same], (z[part.first[~same]], u[~same]), other, square[~same])
            entries.tangents(of_pairs[same], z[part.first[same]], u[same], square[same])
            reach = self._reach(chain, part, now)
            of_forms = row + 2 * M + 2 * n + PLANES * pairs + PLANES * np.arange(K)
            form = (np.broadcast_to(z, part.W.shape), part.W, reach)
            entries.planes(of_forms, (self._error_at, errors), form, product)
            sides[z], sides[square], sides[product] = now, _product(u, v), _product(errors, reach)
            sides[square[same], 0] = np.maximum(sides[square[same], 0], 0.0)
            self._places.append(_Places(row, M, of_pairs, of_forms, z, square, product))
            row, column = row + chain.n_rows, column + chain.n_columns
        self._A, self._b, self._widening = entries.matrix(rows.n_columns), entries.side, entries.widening
        self._sides = sides

    def _reach(self, chain: FramedChain, part: _Floats, now: Array) -> Array:
        """Sides (K, 2) of what errors multiply."""
        low, high = now.T
        ends = np.where(part.W > 0, part.W * low, part.W * high), np.where(part.W > 0, part.W * high, part.W * low)
        reach = np.stack([each.sum(axis=1) for each in ends], axis=1)
        for number, stated in chain.stated.items():
            for side, bound in stated.items():
                known, beyond = _double(bound) - part.value[number], part.beyond[number]
                if side == "lower":
                    reach[number, 0] = max(reach[number, 0], known - beyond)
                else:
                    reach[number, 1] = min(reach[number, 1], known + beyond)
        return reach

    def widening(self) -> SparseOptimum:
        """By how much readings must widen for the rows to have a solution; less than 0 where some is left."""
        program = _Scaled(self._A, self._b, self._sides, self._widening)
        return program.minimize(None, 1.0)

    def weights(self, optimum: SparseOptimum) -> Multipliers:
        """Rows and their multipliers, all ≥ 0."""
        return _positive(-optimum.weights)

    def losses(self, optimum: SparseOptimum) -> _Losses:
        """What products cost at the optimum: their multipliers times what they are off by."""
        y, forms, coordinates = optimum.point, [], []
        for part, at in zip(self._parts, self._places, strict=True):
            N, M, first = self._N, at.n_equations, at.row
            w = optimum.weights[first : first + M] - optimum.weights[first + M : first + 2 * M]
            z, error = y[at.z], y[self._error_at]
            loss = abs(np.repeat(w[:N], self._S) * (y[at.product] - error * (part.W @ z)))
            own = abs((w @ part.A[0][:, len(z) :]) * (y[at.square] - z[part.first] * z[part.second])) / 2
            cost = np.bincount(part.first, own, len(z)) + np.bincount(part.second, own, len(z))
            share = abs(part.W) * np.ptp(self._sides[at.z], axis=1)
            cost += loss @ (share / np.maximum(share.sum(axis=1, keepdims=True), 1e-300))
            forms.append(loss)
            coordinates.append(np.asarray(cost, dtype=float))
        return _Losses(forms, coordinates)

    def reduced(self, optimum: SparseOptimum, losses: _Losses, used: Integers | None) -> "_Reduced":
        """A smaller program for bounds of coordinates: rows that are active or were used, if any were, and equations.

        Few products with errors are columns. The others are replaced by the combination of planes that the optimum's
        multipliers make of them.
        """
        from scipy import sparse  # noqa: PLC0415 - start-up time

        weights = -optimum.weights
        everything = sum(each.sum() for each in losses.coordinates)
        length = np.maximum(abs(self._A).multiply(abs(self._sides).max(axis=1)).max(axis=1).toarray().ravel(), 1e-300)
        chosen = weights * length > _ACTIVE * (weights * length).max(initial=0.0)
        if used is not None:
            chosen[used] = True
        extra: list[tuple[Array, Array, Array]] = []
        for at, loss in zip(self._places, losses.forms, strict=True):
            poses = at.row + np.arange(self._N)
            chosen[at.row : at.row + 2 * at.n_equations] |= used is None
            planes = at.forms[:, None] + np.arange(PLANES)
            kept = loss > _KEPT * everything
            chosen[planes] = kept[:, None]
            for i, pair in enumerate((planes[:, :2], planes[:, 2:])):
                w = np.maximum(weights[pair], 0.0)
                total = w.sum(axis=1, keepdims=True)
                share = np.where(total > 0, w / np.where(total > 0, total, 1.0), 0.5)
                row = np.repeat(poses + i * at.n_equations, self._S)
                other = ~kept & chosen[row]
                extra += [(row[other], pair[other, c], share[other, c]) for c in range(2)]
        rows = np.flatnonzero(chosen)
        place = np.full(len(self._b), -1)
        place[rows] = np.arange(len(rows))
        into, of, value = (np.concatenate(each) for each in zip(*extra, strict=True))
        combined = sparse.csr_matrix(
            (
                np.concatenate([np.ones(len(rows)), value]),
                (np.concatenate([place[rows], place[into]]), np.concatenate([rows, of])),
            ),
            shape=(len(rows), len(self._b)),
        )
        return _Reduced(combined, combined @ self._A, combined @ self._b, self._sides)


class _Places(NamedTuple):
    """Where the rows and columns of a chain are."""

    row: int
    n_equations: int
    pairs: Any
    """The first plane of each product of coordinates."""
    forms: Any
    """The first plane of each product with an error."""
    z: Any
    square: Any
    product: Any


class _Reduced:
    """A program whose rows are combinations of others."""

    def __init__(self, combined: Any, A: Any, b: Array, sides: Array) -> None:
        A.data[abs(A.data) < _NOTHING * abs(A.data).max(initial=0.0)] = 0.0
        A.eliminate_zeros()
        self._combined = combined
        self._used = np.unique(A.indices)
        self._place = np.full(A.shape[1], -1)
        self._place[self._used] = np.arange(len(self._used))
        self._program = _Scaled(A[:, self._used], b, sides[self._used], None)

    def bounding(self, column: int, sign: float) -> Multipliers | None:
        """Multipliers ≥ 0 that bound sign · y[column] from below, no rows where the program fails.

        None where it has no solution.
        """
        optimum = self._program.minimize(int(self._place[column]), sign)
        if optimum.outcome is Outcome.INFEASIBLE:
            return None
        if optimum.outcome is not Outcome.OPTIMAL:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        shares = -optimum.weights * self._program.length
        used = shares > _WEIGHTLESS * shares.max(initial=0.0)
        return _positive(self._combined.T @ np.where(used, -optimum.weights, 0.0))


def _positive(weights: Array) -> Multipliers:
    """Rows and multipliers that are more than nothing."""
    rows = np.flatnonzero((weights > 0) & np.isfinite(weights))
    return rows, weights[rows]


class _Scaled:
    """A y ≤ b in units of the sides and with rows of length one; perhaps with a last column that widens readings."""

    def __init__(self, A: Any, b: Array, sides: Array, widening: Array | None) -> None:
        from scipy import sparse  # noqa: PLC0415 - start-up time

        size = abs(sides).max(axis=1)
        self._scale = np.where(size > 0, size, 1.0)
        scaled = (A @ sparse.diags(self._scale)).tocsr()
        length = abs(scaled).max(axis=1).toarray().ravel()
        self.length = np.where(length > 0, length, 1.0)
        scaled = sparse.diags(1 / self.length) @ scaled
        lower, upper = (sides / self._scale[:, None]).T
        if widening is not None:
            scaled = sparse.hstack([scaled, sparse.csr_matrix((widening / self.length)[:, None])])
            lower, upper = np.append(lower, -np.inf), np.append(upper, np.inf)
        scaled = scaled.tocsr()
        scaled.eliminate_zeros()
        rows = SparseRows(scaled.indptr.astype(np.int32), scaled.indices.astype(np.int32), scaled.data)
        free = np.full(len(b), -np.inf)
        self._n = len(lower)
        exact = widening is not None
        self._program = SparseProgram(
            lower, upper, rows, free, b / self.length, vertex=exact, tolerance=1e-9 if exact else _LOOSE
        )

    def minimize(self, column: int | None, sign: float) -> SparseOptimum:
        """The least sign · y[column], or the least widening; point and multipliers in the units of y and of rows."""
        cost, number = np.zeros(self._n), self._n - 1 if column is None else column
        cost[number] = sign
        optimum = self._program.minimize(cost)
        if optimum.outcome is not Outcome.OPTIMAL:
            return optimum
        point = optimum.point[: len(self._scale)] * self._scale
        unit = 1.0 if column is None else self._scale[column]
        return optimum._replace(point=point, weights=unit * optimum.weights / self.length)
