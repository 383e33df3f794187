"""Pose selection: time against NumPy that recomputes determinants, quality against random sets and the bound.

The DeltaLab platform with the noise of [DACP06, Tables 2 and 3]; 42 unknowns, six equations a pose.
"""

import sys
from time import process_time

import numpy as np

from gough.core.threads import one_blas_thread
from gough.designs.poses import PoseLimits, PoseProblem, candidates, rivals, select
from gough.designs.poses.criteria import DCriterion
from gough.designs.poses.search import RIDGE, exchange, greedy
from tests.geometry.simulated import ANGLE, POSITION, READING, ROBOT

COUNT = 16


@one_blas_thread()
def plain_greedy(Z, count, rounds):
    """The determinant of the whole matrix, computed anew for every candidate; only `rounds` of the rounds."""
    chosen, M = [], RIDGE * np.eye(Z.shape[2])
    for _ in range(min(count, rounds)):
        value = np.concatenate(
            [np.linalg.slogdet(M + np.swapaxes(part, 1, 2) @ part)[1] for part in np.array_split(Z, -(-len(Z) // 1000))]
        )
        value[chosen] = -np.inf
        chosen.append(int(value.argmax()))
        M = M + Z[chosen[-1]].T @ Z[chosen[-1]]
    return chosen


def seconds(work):
    """Processor time of one call, and its answer."""
    start = process_time()
    answer = work()
    return process_time() - start, answer


def speed(n: int) -> None:
    """Time of greedy choice and of exchange among n candidates."""
    drawn, found = seconds(lambda: candidates(ROBOT, PoseLimits(readings=(0.0, 0.14)), count=n - 64))
    told, problem = seconds(lambda: PoseProblem.of(ROBOT, found.with_noise(POSITION, ANGLE, READING)))
    Z, known = problem.information.Z, problem.information.known
    ours, chosen = seconds(lambda: greedy(Z, COUNT, DCriterion(), known))
    rounds = COUNT if n <= 2000 else 2
    theirs, same = seconds(lambda: plain_greedy(Z, COUNT, rounds))
    theirs *= COUNT / rounds
    assert chosen[:rounds] == same
    swapped, _ = seconds(lambda: exchange(Z, chosen, DCriterion(), known))
    print(f"{len(found)} candidates: drawn in {drawn:.1f} s, their information in {told:.1f} s")
    told_of = "" if rounds == COUNT else f" ({rounds} of {COUNT} rounds measured)"
    print(f"  greedy, {COUNT} poses    {ours:8.2f} s   {theirs / ours:6.0f} times faster than plain NumPy{told_of}")
    print(f"  exchange to the end {swapped:8.2f} s")


def quality() -> None:
    """How good the chosen sets are."""
    found = candidates(ROBOT, PoseLimits(readings=(0.0, 0.14)), count=2000).with_noise(POSITION, ANGLE, READING)
    for criterion in ("D", "pose"):
        problem = PoseProblem.of(ROBOT, found, criterion=criterion)
        for count in (8, 12, 16, 32):
            took, chosen = seconds(lambda p=problem, c=count: select(p, c))
            random = rivals(chosen)[0]
            first = greedy(problem.information.Z, count, problem.criterion, problem.information.known)
            gained = problem.criterion.value(problem.information.of(first)) - chosen.value
            ours, theirs = (1e3 * each.accuracy.position for each in (chosen, random))
            print(
                f"  {criterion:<4} {count:3d} poses, {took:5.1f} s: σ of positions {ours:.4f} mm, of random ones "
                f"{theirs:.4f} mm; at most {100 * chosen.excess:.1f} % above the best; exchange gains {gained:.3f}"
            )


def main() -> None:
    print(__doc__.splitlines()[0])
    for n in (2000, 10_000, 100_000) if "--quick" not in sys.argv else (2000,):
        speed(n)
    quality()


if __name__ == "__main__":
    main()
