"""Hitting sets: whether few elements meet every set of a family, which proofs about outliers depend on."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

Elements = frozenset[int]


MOST_CASES = 1_000_000
"""Choices of elements after which a search gives up."""
LOOKS = 10
"""Sets examined for each of these choices, on average, after which it gives up."""
DEEPEST = 200
"""Depth of the search tree at which it gives up."""


class Cover(NamedTuple):
    """At most q elements that meet every set, if there are any; else the numbers of sets that leave none."""

    elements: Elements | None
    used: Elements
    """Numbers of the sets that prove that there are none."""
    looks: int
    """Number of times that a set was examined."""


class TooManyCases(Exception):  # noqa: N818 - it says what is the matter
    """The search needs more cases than allowed."""


def cover(sets: Sequence[Elements], q: int, spared: Elements = frozenset(), limit: int = MOST_CASES) -> Cover:
    """At most q elements, none of them spared, that meet all the sets; all ways to choose them are gone through.

    Of a set that is not met yet, some element is chosen: the first one, or not that but the second, and so on. More
    than q sets that share no element leave no way, and so does a set of which all elements are spared.

    Raises:
        TooManyCases: more than `limit` cases, or they are too long.

    Examples:
        >>> sets = [frozenset({1, 2}), frozenset({2, 3}), frozenset({1, 3})]
        >>> cover(sets, 1).elements is None, sorted(cover(sets, 2).elements)
        (True, [1, 2])
    """
    search = _Search(sets, limit)
    none = search.leaves_none(search.all_sets, search.mask(spared), q)
    elements, used = (None, frozenset(search.used)) if none else (frozenset(search.chosen), frozenset[int]())
    return Cover(elements, used, search.looks)


class _Search:
    """Sets of elements, and sets of sets, are bits of whole numbers here, which is many times faster."""

    def __init__(self, sets: Sequence[Elements], limit: int) -> None:
        self._elements = sorted(frozenset[int]().union(*sets))
        self._place = {element: i for i, element in enumerate(self._elements)}
        self._sets = [self.mask(each) for each in sets]
        self.all_sets = (1 << len(sets)) - 1
        self._having = [0] * len(self._elements)
        """For each element, the sets that have it."""
        for i, each in enumerate(self._sets):
            for place in _bits(each):
                self._having[place] |= 1 << i
        self._meeting = [self._with_some(each) for each in self._sets]
        """For each set, the sets that share an element with it."""
        self._cases, self._most_looks, self.looks = limit, LOOKS * limit, 0
        self.used = set[int]()
        self.chosen = list[int]()

    def mask(self, elements: Elements) -> int:
        return sum(1 << self._place[element] for element in elements if element in self._place)

    def _with_some(self, elements: int) -> int:
        """The sets that have one of these elements."""
        sets, having = 0, self._having
        while elements:  # as `_bits`, without the cost of a generator: most of the time is spent here
            bit = elements & -elements
            sets |= having[bit.bit_length() - 1]
            elements ^= bit
        return sets

    def leaves_none(self, sets: int, spared: int, budget: int, depth: int = 0) -> bool:
        """Whether no choice of at most `budget` elements that are not spared meets these sets.

        Sets that share no free element need an element each; a set without a free element cannot be met. If neither
        decides it, every way has one of the free elements of the first set, and all of those are tried.
        """
        self._cases -= 1
        if self._cases < 0 or depth > DEEPEST or self.looks > self._most_looks:
            raise TooManyCases
        apart, others = list[int](), sets
        while others:
            self.looks += 1
            i = (others & -others).bit_length() - 1
            free = self._sets[i] & ~spared
            if not free:
                self.used.add(i)
                return True
            apart.append(i)
            if len(apart) > budget:
                self.used.update(apart)
                return True
            others &= ~(self._meeting[i] if free == self._sets[i] else self._with_some(free))
        return bool(apart) and self._none_of(apart[0], sets, spared, budget, depth)

    def _none_of(self, i: int, sets: int, spared: int, budget: int, depth: int) -> bool:
        """Whether no choice has a free element of set i: the first; not the first but the second; and so on."""
        self.used.add(i)
        for place in _bits(self._sets[i] & ~spared):
            if not self.leaves_none(sets & ~self._having[place], spared, budget - 1, depth + 1):
                self.chosen.append(self._elements[place])
                return False
            spared |= 1 << place
        return True


def _bits(number: int) -> Iterator[int]:
    """Positions of the ones in a number, from the lowest on."""
    while number:
        bit = number & -number
        yield bit.bit_length() - 1
        number ^= bit
