"""Hitting sets as `gough.core.covers` finds them, step by step, compiled by numba; imports numba.

The checker of certificates looks into every choice by itself, in plain Python. Whoever writes a certificate does so
again and again until few sets are left; the same steps are taken here, so that what is found here is found there.
"""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Integers, Mask
from gough.core.compiled_kernels import compiled
from gough.core.covers import DEEPEST, LOOKS, Elements

Words = npt.NDArray[np.uint64]

NONE, SOME, TOO_MANY = 0, 1, 2
"""No elements meet all sets; some do; too many cases."""
_NO_WAY, _NO_SET = -1, -2
"""No choice meets what is left; nothing is left to be met."""


def unmet(sets: Sequence[Elements], q: int, cases: int) -> list[int] | None:
    """Numbers of sets of which no q elements meet all.

    None if some q elements meet all sets, or if that is not seen in so many cases.

    Examples:
        >>> pairs = [frozenset(pair) for pair in ((1, 2), (2, 3), (1, 3), (3, 4))]
        >>> unmet(pairs, 1, 100), unmet(pairs, 2, 100)
        ([0, 3], None)
    """
    if not sets:
        return None
    used = np.zeros(len(sets), dtype=np.bool_)
    status = search(masks(sets), min(q, len(sets)), cases, LOOKS * cases, used)
    return used.nonzero()[0].tolist() if status == NONE else None


def masks(sets: Sequence[Elements]) -> Words:
    """A row of bits for each set; bits are in the order of the elements."""
    owner = np.repeat(np.arange(len(sets)), np.fromiter(map(len, sets), np.int64, len(sets)))
    place = np.unique(np.fromiter(chain.from_iterable(sets), np.int64, len(owner)), return_inverse=True)[1]
    words = np.zeros((len(sets), 1 + int(place.max(initial=0)) // 64), dtype=np.uint64)
    np.bitwise_or.at(words, (owner, place // 64), np.left_shift(np.uint64(1), (place % 64).astype(np.uint64)))
    return words


@compiled
def search(sets: Words, q: int, cases: int, most_looks: int, used: Mask) -> int:
    """Whether some q elements meet all sets; marks the sets that prove that none do."""
    n_words = sets.shape[1]
    spared, left = np.zeros((q + 2, n_words), np.uint64), np.zeros((q + 2, n_words), np.uint64)
    open_sets, number = np.zeros((q + 2, len(sets)), np.int64), np.zeros(q + 2, np.int64)
    open_sets[0], number[0] = np.arange(len(sets)), len(sets)
    apart, seen, total = np.zeros(q + 2, np.int64), np.zeros(n_words, np.uint64), 0
    depth, w, chosen = 0, 0, np.uint64(0)
    while True:
        cases -= 1
        if cases < 0 or depth > DEEPEST or total > most_looks:
            return TOO_MANY
        above = max(depth - 1, 0)
        seen[:] = 0
        seen[w] = chosen
        branch, looks = look(sets, open_sets[above, : number[above]], spared[depth], q - depth, used, apart, seen)
        total += looks
        if branch == _NO_SET:
            return SOME
        if branch >= 0:
            left[depth] = sets[branch] & ~spared[depth]
            if depth > 0:
                number[depth] = without(sets, w, chosen, open_sets[above, : number[above]], open_sets[depth])
        else:
            depth -= 1
        while depth >= 0 and not left[depth].any():
            depth -= 1
        if depth < 0:
            return NONE
        w = 0
        while not left[depth, w]:
            w += 1
        chosen = left[depth, w] & (~left[depth, w] + np.uint64(1))  # its lowest bit; later ones are tried without it
        left[depth, w] ^= chosen
        spared[depth + 1] = spared[depth]
        spared[depth, w] |= chosen
        depth += 1


@compiled
def without(sets: Words, w: int, bit: np.uint64, some: Integers, rest: Integers) -> int:
    """The number of sets that lack an element; `rest` receives them."""
    count = 0
    for i in some:
        if not sets[i, w] & bit:
            rest[count] = i
            count += 1
    return count


@compiled
def look(  # noqa: PLR0917
    sets: Words, unmet: Integers, spared: Words, budget: int, used: Mask, apart: Integers, seen: Words
) -> tuple[int, int]:
    """The set of which an element is to be chosen next, and the number of looks.

    Sets that share no free element need an element each; a set without a free element cannot be met. Elements that
    were `seen` at the beginning are chosen.
    """
    n_words = sets.shape[1]
    count, looks = 0, 0
    for i in unmet:
        met = np.uint64(0)
        for w in range(n_words):
            met |= sets[i, w] & seen[w]
        if met:
            continue
        looks += 1
        some = np.uint64(0)
        for w in range(n_words):
            free = sets[i, w] & ~spared[w]
            some |= free
            seen[w] |= free
        if not some:
            used[i] = True
            return _NO_WAY, looks
        apart[count] = i
        count += 1
        if count > budget:
            for j in range(count):
                used[apart[j]] = True
            return _NO_WAY, looks
    if count == 0:
        return _NO_SET, looks
    used[apart[0]] = True
    return apart[0], looks
