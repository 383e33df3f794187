"""Closure equations as expressions: zero where all loops are closed."""

from collections.abc import Callable

from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots.mechanism.parts import Closure
from gough.robots.mechanism.placement import UNTURNED, Placement
from gough.robots.mechanism.structure import JointStep, Structure

AXIS = {"x": 0, "y": 1, "z": 2, "rx": 0, "ry": 1, "rz": 2}


def constant(matrix: tuple[tuple[float, ...], ...]) -> Expression:
    """A matrix of numbers, row by row."""
    return ex.matrix(*(ex.vector(*column) for column in zip(*matrix, strict=True)))


class Positions:
    """The coordinates, with the cosine and sine of each computed once."""

    def __init__(self, s: Expression) -> None:
        """From all coordinates."""
        self.s = s
        self._found: dict[int, tuple[Expression, Expression]] = {}

    def turn(self, k: int) -> tuple[Expression, Expression]:
        """Cosine and sine of coordinate k."""
        if k not in self._found:
            self._found[k] = (ex.cos(self.s[k]), ex.sin(self.s[k]))
        return self._found[k]


def spun(v: Expression, step: JointStep, at: Positions, *, back: bool = False) -> Expression:
    """A vector in the frame after a turn, in the frame before it; or `back`, the other way."""
    c, s = at.turn(step.coordinate)
    s = step.sign * s if not back else -step.sign * s
    i, j = (step.axis + 1) % 3, (step.axis + 2) % 3
    turned = [v[0], v[1], v[2]]
    turned[i], turned[j] = c * v[i] - s * v[j], s * v[i] + c * v[j]
    return ex.vector(*turned)


def carried(at: Structure, link: int, v: Expression, s: Positions, *, is_point: bool) -> Expression:
    """A point or direction of a link's frame, in the base frame: from inside out, a vector at a time."""
    while link >= 0:
        part = at.links[link]
        v = _placed(v, part.after, is_point=is_point)
        for step in reversed(part.steps):
            if step.turns:
                v = spun(v, step, s)
            elif is_point:
                v += ex.vector(*(step.sign * s.s[step.coordinate] if k == step.axis else 0.0 for k in range(3)))
            v = _placed(v, step.before, is_point=is_point)
        link = part.parent
    return v


def _placed(v: Expression, by: Placement, *, is_point: bool) -> Expression:
    turned = v if by.rotation == UNTURNED else constant(by.rotation) @ v
    return turned + ex.vector(*by.position) if is_point and any(by.position) else turned


def closures(at: Structure, s: Expression) -> Expression:
    """All closure equations at coordinates s, in m and rad, in the order of `at.rows`; 0 = 0 if there are none."""
    rows: list[Expression] = []
    positions = Positions(s)
    for closure, first, second in at.closures:
        rows += _rows(at, closure, (first, second), positions)
    return ex.vector(*(rows or [0.0]))


def turned_away(at: Structure, s: Expression) -> Expression:
    """1 - cos of the angle by which each hinge or frame is turned away; where there is none, zero.

    The equations of an attitude also hold at half a turn. With these beside them, the sum of squares is 2 - 2 cos of
    the angle, which leads a search to the attitude that is meant.
    """
    rows: list[Expression] = []
    positions = Positions(s)
    for closure, *links in at.closures:
        held = [d for d in closure.directions if len(d) == 2]
        free = [axis for axis in "xyz" if f"r{axis}" not in held]
        if len(held) < 2:
            continue

        def cosine(axis: str, closure: Closure = closure, links: list[int] = links) -> Expression:
            columns = [ex.vector(*(row[AXIS[axis]] for row in place.rotation)) for place in closure.placements]
            ends = [carried(at, *end, positions, is_point=False) for end in zip(links, columns, strict=True)]
            return ex.dot(*ends)

        rows.append(1.0 - cosine(free[0]) if free else (3.0 - (cosine("x") + cosine("y") + cosine("z"))) / 2.0)
    return ex.vector(*(rows or [0.0]))


def _rows(at: Structure, closure: Closure, links: tuple[int, int], s: Positions) -> list[Expression]:
    def axis(end: int, direction: str) -> Expression:
        """An axis of one of the two frames, in the base frame."""
        column = [row[AXIS[direction]] for row in closure.placements[end].rotation]
        return carried(at, links[end], ex.vector(*column), s, is_point=False)

    equations: dict[str, Expression] = {}
    held = [d for d in closure.directions if len(d) == 1]
    if held:
        ends = [
            carried(at, link, ex.vector(*place.position), s, is_point=True)
            for link, place in zip(links, closure.placements, strict=True)
        ]
        gap = ends[1] - ends[0]
        for direction in held:
            # all three directions of any frame are held if those of the base are
            whole = len(held) == 3
            equations[direction] = gap[AXIS[direction]] if whole else ex.dot(gap, axis(0, direction))
    equations |= _attitude(closure, axis)
    return [equations[direction] for direction in closure.directions]


def _attitude(closure: Closure, axis: Callable[[int, str], Expression]) -> dict[str, Expression]:
    """The equations that hold the attitude, one, two or three of rx, ry, rz: they stay regular as far as possible."""
    held = [d for d in closure.directions if len(d) == 2]
    around = {"rx": ("y", "z"), "ry": ("z", "x"), "rz": ("x", "y")}

    def cosine(first: str, second: str) -> Expression:
        return ex.dot(axis(0, first), axis(1, second))

    if len(held) == 2:  # the axis that is left free has no component across itself
        free = next(d[1] for d in around if d not in held)
        return {d: cosine(next(a for a in around[d] if a != free), free) for d in held}
    if len(held) == 1:
        return {held[0]: cosine(*around[held[0]])}
    return {d: (cosine(k, j) - cosine(j, k)) / 2 for d in held for j, k in [around[d]]}
