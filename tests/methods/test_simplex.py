"""The compiled simplex method against HiGHS, on random, degenerate, far, thin and contradictory programs."""

import numpy as np
import pytest

from gough.methods.programs import dense_simplex, simplex
from gough.methods.programs.simplex import Outcome, Simplex


def random_program(rng, kind):
    """(box, A, lower, upper): rows of length one around a point; half of them on the grid, repeated, or thin."""
    n, m = int(rng.integers(1, 20)), int(rng.integers(1, 160))
    whole = kind in {"grid", "repeated"}
    A = rng.integers(-2, 3, (m, n)).astype(float) if whole else rng.normal(size=(m, n))
    A /= np.maximum(np.linalg.norm(A, axis=1), 1e-300)[:, None]
    point = rng.integers(-1, 2, n).astype(float) if whole else rng.uniform(-1, 1, n)
    half = np.full(m, 1e-9 if kind == "thin" else 0.1)
    middle = A @ point + (0 if whole else rng.uniform(-1, 1, m) * half)
    if kind == "repeated":
        A[m // 2 :], middle[m // 2 :] = A[: m - m // 2], middle[: m - m // 2]
    if kind == "contradictory":
        middle[-1] += rng.choice([0.01, 5.0])
    lower, upper = middle - half, middle + half
    if kind == "one-sided":
        lower[::2], upper[1::2] = -np.inf, np.inf
    if kind == "equations":
        lower[: n // 2], upper[: n // 2] = A[: n // 2] @ point, A[: n // 2] @ point
    far = 1e8 if kind == "far" else 2.0
    return np.full(n, -far), np.full(n, far), A, lower, upper


def dual_value(program, cost, weights):
    """What the weights prove of the minimum, in floating point."""
    low, high, A, lower, upper = program
    left = cost - A.T @ weights
    sides = np.where(weights > 0, lower, np.where(weights < 0, upper, 0.0))
    return weights @ sides + np.where(left > 0, left * low, left * high).sum()


KINDS = ["plain", "grid", "repeated", "thin", "far", "one-sided", "equations", "contradictory"]


@pytest.mark.parametrize("kind", KINDS)
def test_equals_highs_whatever_was_solved_before(kind, rng):
    """Costs change, rows are added, dropped and given back between runs: warm starts of every sort."""
    solved = infeasible = 0
    for _ in range(40):
        low, high, A, lower, upper = random_program(rng, kind)
        n, first = len(low), len(A) // 2
        program = Simplex(low, high)
        program.add_rows(A[:first], lower[:first], upper[:first])
        kept = np.ones(len(A), dtype=bool)
        for run in range(16):
            if run == 6:
                program.add_rows(A[first:], lower[first:], upper[first:])
            if run > 6:
                row = int(rng.integers(0, len(A)))
                kept[row] = not kept[row]
                sides = (lower[row], upper[row]) if kept[row] else (-np.inf, np.inf)
                program.set_row(row, *sides)
            cost = rng.normal(size=n) if run % 3 else rng.integers(-1, 2, n).astype(float)
            mine, other = program.minimize(cost), program._by_highs(cost)
            if other.outcome is Outcome.FAILED:
                continue
            assert mine.outcome is other.outcome
            infeasible += mine.outcome is Outcome.INFEASIBLE
            if mine.outcome is not Outcome.OPTIMAL:
                continue
            solved += 1
            value = float(cost @ mine.point)
            assert value == pytest.approx(cost @ other.point, rel=1e-9, abs=1e-9)
            assert kept[mine.rows].all()
            used = mine.rows
            proven = dual_value((low, high, A[used], lower[used], upper[used]), cost, mine.weights)
            assert proven == pytest.approx(value, rel=1e-8, abs=1e-8 if kind != "far" else 1e-4)
    assert solved > 200
    assert (infeasible > 10) == (kind == "contradictory")


@pytest.mark.parametrize("kind", KINDS)
def test_only_near_rows_of_a_large_pool_are_held(kind, rng, monkeypatch):
    """A pool of which a part is read in each exchange has the minima of one that is read as a whole."""
    found: dict[int, list] = {}
    programs = [random_program(rng, kind) for _ in range(60)]
    costs = [[rng.normal(size=len(program[0])) for _ in range(6)] for program in programs]
    for small in (0, 1 << 30):
        monkeypatch.setattr(simplex, "_SMALL", small)
        monkeypatch.setattr(Simplex, "_by_highs", lambda self, _: self._optimum(Outcome.FAILED, *np.zeros((3, 0))))
        found[small] = []
        for (low, high, A, lower, upper), some in zip(programs, costs, strict=True):
            program, first = Simplex(low, high), len(A) // 2
            program.add_rows(A[:first], lower[:first], upper[:first])
            found[small] += [(cost, program.minimize(cost)) for cost in some]
            program.add_rows(A[first:], lower[first:], upper[first:])
            found[small] += [(cost, program.minimize(cost)) for cost in some]
    for (cost, part), (_, whole) in zip(*found.values(), strict=True):
        assert part.outcome is whole.outcome
        if part.outcome is Outcome.OPTIMAL:
            assert cost @ part.point == pytest.approx(cost @ whole.point, rel=1e-9, abs=1e-9)


def test_a_vertex_gets_a_cost_of_its_own_with_prices_away_from_zero(rng):
    """Where the cost is a row of the program, the vertex has one price; exchanges at the others may go round."""
    A = rng.normal(size=(12, 5))
    program = Simplex(np.full(5, -10.0), np.full(5, 10.0))
    program.add_rows(A, np.full(12, -1.0), np.full(12, 1.0))
    assert program.minimize(A[3]).outcome is Outcome.OPTIMAL
    T, _ = program.tableau
    assert (abs(T.price) > 1e-9).sum() == 1
    before = T.price.copy()
    cost = dense_simplex.stiffened(T)
    assert (T.sign * T.price > 0.005).all()
    assert (T.sign * T.price >= T.sign * before).all()
    np.testing.assert_allclose(T.C @ cost, T.price, atol=1e-12)
    assert program.minimize(cost).outcome is Outcome.OPTIMAL


def test_a_contradiction_comes_with_its_weights(rng):
    for _ in range(60):
        low, high, A, lower, upper = random_program(rng, "contradictory")
        program = Simplex(low, high)
        program.add_rows(A, lower, upper)
        answer = program.minimize(rng.normal(size=len(low)))
        if answer.outcome is Outcome.INFEASIBLE:
            nothing = np.zeros(len(low))
            contradiction = low, high, A[answer.rows], lower[answer.rows], upper[answer.rows]
            assert max(dual_value(contradiction, nothing, s * answer.weights) for s in (1, -1)) > 1e-9
            assert len(answer.rows) <= len(low) + 1


def test_rows_that_were_dropped_prove_nothing():
    program = Simplex(np.array([-1.0]), np.array([1.0]))
    program.add_rows(np.array([[1.0], [1.0]]), np.array([0.5, -0.5]), np.array([0.6, -0.4]))
    assert program.minimize(np.array([1.0])).outcome is Outcome.INFEASIBLE
    program.set_row(1, -np.inf, np.inf)
    assert program.minimize(np.array([1.0])).point[0] == 0.5
    program.set_row(0, -np.inf, np.inf)
    program.set_row(1, -0.5, -0.4)
    answer = program.minimize(np.array([1.0]))
    assert answer.point[0] == -0.5
    assert (answer.rows.tolist(), answer.weights.tolist()) == ([1], [1.0])


def test_where_it_gives_up_highs_goes_on(rng, monkeypatch):
    low, high, A, lower, upper = random_program(rng, "plain")
    program = Simplex(low, high)
    program.add_rows(A, lower, upper)
    cost = rng.normal(size=len(low))
    expected = program.minimize(cost)
    monkeypatch.setattr(dense_simplex, "minimize", lambda *_: (dense_simplex.FAILED, -1))
    other = program.minimize(cost)
    assert other.outcome is expected.outcome is Outcome.OPTIMAL
    assert other.point == pytest.approx(expected.point, abs=1e-9)


def test_an_open_program_is_left_to_highs():
    program = Simplex(np.array([0.0, -np.inf]), np.array([np.inf, np.inf]))
    program.add_rows(np.array([[1.0, 1.0]]), np.array([1.0]), np.array([np.inf]))
    assert program.minimize(np.array([1.0, 1.0])).outcome is Outcome.OPTIMAL
    assert program.minimize(np.array([-1.0, 0.0])).outcome is Outcome.FAILED


def test_old_vertices_are_forgotten(rng, monkeypatch):
    monkeypatch.setattr(simplex, "_MEMORY", 20)
    low, high, A, lower, upper = random_program(rng, "plain")
    program = Simplex(low, high)
    program.add_rows(A, lower, upper)
    for _ in range(100):
        cost = rng.normal(size=len(low))
        assert cost @ program.minimize(cost).point == pytest.approx(cost @ program._by_highs(cost).point, abs=1e-9)
    assert len(program._memory._place) == 20


@pytest.mark.parametrize("kind", ["plain", "repeated", "far"])
def test_programs_that_lack_rows_solved_together_are_those_one_by_one(kind, rng):
    for _ in range(20):
        low, high, A, lower, upper = random_program(rng, kind)
        program = Simplex(low, high)
        program.add_rows(A, lower, upper)
        cost = rng.normal(size=len(low))
        first = program.minimize(cost)
        if first.start is None:
            continue
        dropped = [sorted(rng.permutation(len(A))[: int(rng.integers(0, 6))].tolist()) for _ in range(8)]
        dropped[0] = first.rows.tolist()
        runs = program.minimize_each(cost, dropped, [first.start] * 8)
        for i, rows in enumerate(dropped):
            for row in rows:
                program.set_row(row, -np.inf, np.inf)
            alone = program._by_highs(cost)
            for row in rows:
                program.set_row(row, lower[row], upper[row])
            assert (runs.outcome[i] == 0) == (alone.outcome is Outcome.OPTIMAL)
            if alone.outcome is Outcome.OPTIMAL:
                assert cost @ runs.point[i] == pytest.approx(cost @ alone.point, rel=1e-9, abs=1e-9)
                assert not set(runs.basis[i][runs.price[i] != 0].tolist()) & {len(low) + row for row in rows}
        assert cost @ program.minimize(cost).point == pytest.approx(cost @ first.point, rel=1e-9, abs=1e-9)
