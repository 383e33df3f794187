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
    elements = search.met(frozenset(), spared, q)
    return Cover(elements, frozenset() if elements is not None else frozenset(search.used))


class _Search:
    def __init__(self, sets: Sequence[Elements], limit: int) -> None:
        self._sets, self._left = sets, limit
        self.used = set[int]()

    def met(self, chosen: Elements, spared: Elements, budget: int) -> Elements | None:
        """Elements that meet all sets: those chosen, and at most `budget` more that are not spared."""
        self._left -= 1
        if self._left < 0:
            raise TooManyCases
        apart = self._apart(chosen, spared, budget)
        if not apart:
            return chosen
        free = [self._sets[i] - spared for i in apart]
        if len(apart) > budget or not free[-1]:
            self.used.update(apart if free[-1] else apart[-1:])
            return None
        self.used.add(apart[0])
        for element in sorted(free[0]):
            found = self.met(chosen | {element}, spared, budget - 1)
            if found is not None:
                return found
            spared |= {element}
        return None

    def _apart(self, chosen: Elements, spared: Elements, budget: int) -> list[int]:
        """Sets that are not met yet and share none but spared elements, the first ones; one all spared comes last."""
        apart, taken = list[int](), set[int]()
        for i, each in enumerate(self._sets):
            if not chosen.isdisjoint(each):
                continue
            free = each - spared
            if not free:
                return [*apart, i]
            if len(apart) <= budget and taken.isdisjoint(free):
                apart.append(i)
                taken |= free
        return apart
