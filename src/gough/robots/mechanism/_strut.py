"""A strut in closed form: two turns about axes that meet, and a slide, that bring a point to where it must be.

With u the wanted point and τ(l) the strut's end, both seen from where the axes a, b meet and before any turn,
u = R(a, α) R(b, β) τ(l). Turns keep lengths, so that |τ(l)| = |u| gives l. The point z between the turns has the known
components a · z = a · u and b · z = b · τ, and the length of u; the angles lead from τ to z and from z to u
[MLS94, ch. 3, §3.2].
"""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots.mechanism._closing import Positions, carried, constant, spun
from gough.robots.mechanism.placement import UNTURNED, turned
from gough.robots.mechanism.structure import Step, Structure

Part = tuple[Array, Array, Step | None]
"""A constant rotation and position, then a step; None at the end of a chain."""


@dataclass(frozen=True, eq=False)
class Strut:
    """A chain whose three unknown steps are turn, turn, slide, with axes that meet."""

    at: Structure
    parts: tuple[Part, ...]
    first: int
    """Position of the first turn among the parts."""
    slide: int
    tip: Array
    """The end, in the frame after the slide."""
    target: tuple[int, Array]
    """Link and point that the end is held to."""

    @property
    def unknown(self) -> tuple[int, int, int]:
        """The coordinates: two angles and a length."""
        turn, other, slide = (self.parts[k][2] for k in (self.first, self.first + 1, self.slide))
        assert turn is not None
        assert other is not None
        assert slide is not None
        return turn.coordinate, other.coordinate, slide.coordinate

    def solve(self, s: Expression, home: Array) -> dict[int, Expression]:
        """The two angles and the length for known values of the other coordinates, on the side where home is."""
        link, point = self.target
        positions = Positions(s)
        u = self._seen(carried(self.at, link, ex.vector(*point.tolist()), positions, is_point=True), positions)
        axes, offset, along = self._shape()
        at_home = [float(home[k]) for k in self.unknown]
        a, b = (ex.vector(*axis.tolist()) for axis in axes)
        inner = float(offset @ along)
        side = np.sign(at_home[2] + inner)
        squared = ex.dot(u, u)
        length = -inner + side * ex.sqrt(squared + (inner**2 - float(offset @ offset)))
        tau = ex.vector(*offset.tolist()) + ex.vector(*along.tolist()) * length
        z = self._between(axes, u, tau, squared, at_home)
        alpha = at_home[0] + _angle(a, _turned(axes[0], at_home[0]) @ z, u)
        beta = at_home[1] + _angle(b, _turned(axes[1], at_home[1]) @ tau, z)
        return dict(zip(self.unknown, (alpha, beta, length), strict=True))

    def _between(
        self, axes: tuple[Array, Array], u: Expression, tau: Expression, squared: Expression, at_home: list[float]
    ) -> Expression:
        """The point between the turns, z = p a + q b ± h (a × b)."""
        a, b = axes
        cosine = float(a @ b)
        sine = 1 - cosine**2
        normal = np.cross(a, b)
        along_a, along_b = ex.dot(ex.vector(*a.tolist()), u), ex.dot(ex.vector(*b.tolist()), tau)
        p, q = (along_a - cosine * along_b) / sine, (along_b - cosine * along_a) / sine
        height = ex.sqrt((squared - p * along_a - q * along_b) / sine)
        _, offset, along = self._shape()
        home_z = np.array(turned(b.tolist(), at_home[1])) @ (offset + along * at_home[2])
        side = float(np.sign(home_z @ normal)) or 1.0
        parts = (p, q, side * height)
        return sum(
            (ex.vector(*axis.tolist()) * part for axis, part in zip((a, b, normal), parts, strict=True)),
            ex.vector(0.0, 0.0, 0.0),
        )

    def _shape(self) -> tuple[tuple[Array, Array], Array, Array]:
        """Axes of the turns, offset and direction of the slide; all before any turn, in the first turn's frame."""
        one, two, three = (self.parts[k] for k in (self.first, self.first + 1, self.slide))
        axes = [_axis(part[2]) for part in (one, two, three)]
        return (axes[0], two[0] @ axes[1]), two[0] @ (three[1] + three[0] @ self.tip), two[0] @ three[0] @ axes[2]

    def _seen(self, point: Expression, positions: Positions) -> Expression:
        """A point of the base frame in the frame of the first turn."""
        for k, (R, p, step) in enumerate(self.parts[: self.first + 1]):
            point = constant(tuple(map(tuple, R.T.tolist()))) @ (point - ex.vector(*p.tolist()))
            if k == self.first or step is None:
                continue
            if step.turns:
                point = spun(point, step, positions, back=True)
            else:
                point -= ex.vector(*_axis(step).tolist()) * positions.s[step.coordinate]
        return point


def find_strut(at: Structure, rows: tuple[int, ...], unknown: tuple[int, ...]) -> Strut | None:
    """The strut that these equations and unknown coordinates are, or None."""
    named = [(closure, links, direction) for closure, *links in at.closures for direction in closure.directions]
    closure, links, _ = named[rows[0]]
    held = tuple(named[row][2] for row in rows)
    same = all(named[row][0] is closure for row in rows)
    if len(unknown) != 3 or not same or held != ("x", "y", "z"):
        return None
    for end in (0, 1):
        inside = set(unknown) <= set(at.moving(links[end]))
        outside = not set(unknown) & set(at.moving(links[1 - end]))
        if inside and outside:
            tip, point = (np.array(closure.placements[k].position) for k in (end, 1 - end))
            return _matched(at, links[end], unknown, tip, (links[1 - end], point))
    return None


def _matched(at: Structure, link: int, unknown: tuple[int, ...], tip: Array, target: tuple[int, Array]) -> Strut | None:
    parts = _parts(at, link)
    places = [k for k, (_, _, step) in enumerate(parts) if step is not None and step.coordinate in unknown]
    first, second, third = places
    kinds = [step.turns for k in places if (step := parts[k][2]) is not None]
    met = not parts[second][1].any()
    if kinds != [True, True, False] or (second, third) != (first + 1, first + 2) or not met:
        return None
    for R, p, step in reversed(parts[third + 1 :]):  # later turns have the end on their axes, or it would not be here
        if step is not None and np.abs(np.cross(tip, _axis(step))).max() > 1e-12:
            return None
        tip = R @ tip + p
    found = Strut(at, tuple(parts), first, third, tip, target)
    (a, b), _, _ = found._shape()  # noqa: SLF001 - its own
    return found if abs(a @ b) < 0.999 else None


def _parts(at: Structure, link: int) -> list[Part]:
    """The chain from the base to a link, constant placements joined."""
    parts: list[Part] = []
    R, p = np.eye(3), np.zeros(3)
    for k in at.way(link):
        for step in at.links[k].steps:
            R, p = R @ step.before.matrix, p + R @ np.array(step.before.position)
            parts.append((R, p, step))
            R, p = np.eye(3), np.zeros(3)
        after = at.links[k].after
        R, p = R @ after.matrix, p + R @ np.array(after.position)
    parts.append((R, p, None))
    return parts


def _axis(step: Step | None) -> Array:
    assert step is not None
    return step.sign * np.array(UNTURNED[step.axis])


def _turned(axis: Array, angle: float) -> Expression:
    return constant(turned(axis.tolist(), angle))


def _angle(axis: Expression, start: Expression, end: Expression) -> Expression:
    """The angle about an axis that leads from one vector to another, both seen along the axis."""
    across = ex.dot(axis, ex.cross(start, end))
    return ex.atan2(across, ex.dot(start, end) - ex.dot(axis, start) * ex.dot(axis, end))
