"""Sets of which no few elements meet them all: what proofs about outliers come down to."""

from collections.abc import Sequence
from typing import NamedTuple

Elements = frozenset[int]


class Cover(NamedTuple):
    """At most q elements that meet every set, if there are any; else the numbers of sets that leave none."""

    elements: Elements | None
    used: Elements
    """Numbers of the sets that were needed to see that there are none."""


class TooManyCases(Exception):  # noqa: N818 - it says what is the matter
    """More cases than were allowed had to be looked at."""


def cover(sets: Sequence[Elements], q: int, spared: Elements = frozenset(), limit: int = 1_000_000) -> Cover:
    """At most q elements, none of them spared, that meet all the sets; all ways to choose them are gone through.

    Of a set that is not met yet, some element is chosen: the first one, or not that but the second, and so on. More
    than q sets that share no element leave no way, and so does a set of which all elements are spared.

    Raises:
        TooManyCases: more than `limit` cases.

    Examples:
        >>> sets = [frozenset({1, 2}), frozenset({2, 3}), frozenset({1, 3})]
        >>> cover(sets, 1).elements is None, sorted(cover(sets, 2).elements)
        (True, [1, 2])
    """
    search = _Search(sets, limit)
    if not search.leaves_none(search.sets, search.mask(spared), q):
        return Cover(frozenset(search.chosen), frozenset())
    return Cover(None, frozenset(search.used))


class _Search:
    """Sets of elements are bits of whole numbers here, which is several times faster than sets."""

    def __init__(self, sets: Sequence[Elements], limit: int) -> None:
        self._elements = sorted(frozenset[int]().union(*sets))
        self._place = {element: i for i, element in enumerate(self._elements)}
        self.sets = [(i, self.mask(each)) for i, each in enumerate(sets)]
        self._cases = limit
        self.used = set[int]()
        self.chosen = list[int]()

    def mask(self, elements: Elements) -> int:
        return sum(1 << self._place[element] for element in elements if element in self._place)

    def leaves_none(self, sets: list[tuple[int, int]], spared: int, budget: int) -> bool:
        """Is there no way to meet these sets with at most `budget` elements that are not spared?"""
        self._cases -= 1
        if self._cases < 0:
            raise TooManyCases
        apart, taken = list[tuple[int, int]](), 0
        for i, each in sets:
            free = each & ~spared
            if not free:
                self.used.add(i)
                return True
            if not taken & free:
                apart.append((i, free))
                taken |= free
                if len(apart) > budget:
                    self.used.update(i for i, _ in apart)
                    return True
        return bool(apart) and self._none_of(*apart[0], sets, spared, budget)

    def _none_of(self, i: int, free: int, sets: list[tuple[int, int]], spared: int, budget: int) -> bool:
        """Is there no way with one of the free elements of set i: the first, or not that but the second, and so on?"""
        self.used.add(i)
        while free:
            bit = free & -free
            if not self.leaves_none([one for one in sets if not one[1] & bit], spared, budget - 1):
                self.chosen.append(self._elements[bit.bit_length() - 1])
                return False
            free, spared = free ^ bit, spared | bit
        return True
