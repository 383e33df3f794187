"""The parameters of a mechanism's dynamics: the columns of its regressor, with names, units and nominal values."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import pi

from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.inertia import TERMS

UNITS = {
    "turn": {"r": "N·m", "v": "N·m·s/rad", "o": "N·m", "J": "kg·m²", "c": "N·m"},
    "slide": {"r": "N", "v": "N·s/m", "o": "N", "J": "kg", "c": "N"},
}
"""By motion and by what it is: dry, viscous, offset, rotor, cogging."""
_NONNEGATIVE = frozenset({"m", "Ixx", "Iyy", "Izz", "J", "r", "v"})
BODIES, DRIVES, PASSIVE, COGGING = "bodies", "drives", "passive", "cogging"


@dataclass(frozen=True)
class Parameter:
    """One column of a regressor, and what adds to it."""

    name: str
    unit: str
    nominal: float
    part: str
    """bodies, drives (friction, rotors), passive (friction of joints without a drive) or cogging."""
    term: str
    """m, sx, … of a body; r, v, o, J of a coordinate; cos or sin of a drive."""
    members: tuple[str, ...]
    """The bodies or coordinates that share it."""
    wave: float = 0.0
    """Wave number of cogging, 2π k / period."""

    @property
    def is_nonnegative(self) -> bool:
        """Whether it is a mass, a moment of inertia or a coefficient of friction: none of them can be negative."""
        return self.term in _NONNEGATIVE


@lru_cache(maxsize=64)
def parameters(mechanism: Mechanism) -> tuple[Parameter, ...]:
    """All parameters: of bodies group by group, then rotors, friction, cogging."""
    return (*_of_bodies(mechanism), *_of_rotors(mechanism), *_of_friction(mechanism), *_of_cogging(mechanism))


def _of_bodies(mechanism: Mechanism) -> Iterator[Parameter]:
    groups: dict[str, list[str]] = {}
    for body in mechanism.bodies:
        groups.setdefault(body.tied, []).append(body.name)
    for group, members in groups.items():
        inertia = mechanism.body(members[0]).inertia
        for term, value in zip(inertia.terms, inertia.values.tolist(), strict=True):
            yield Parameter(f"{term}_{group}", TERMS[term], value, BODIES, term, tuple(members))


def _of_rotors(mechanism: Mechanism) -> Iterator[Parameter]:
    for name, freedom in mechanism.freedoms.items():
        if freedom.rotor is not None:
            unit = UNITS[mechanism.motions[name]]["J"]
            yield Parameter(f"J_{name}", unit, freedom.rotor, DRIVES, "J", (name,))


def _of_friction(mechanism: Mechanism) -> Iterator[Parameter]:
    """Passive joints first, as in [AHG, table I], then dry, viscous, offset of the drives in their order."""
    terms: dict[str, tuple[float, list[str]]] = {}
    for name, freedom in mechanism.freedoms.items():
        for parameter, value in (freedom.friction.parameters if freedom.friction else {}).items():
            terms.setdefault(parameter, (value, []))[1].append(name)
    driven = set(mechanism.actuated)
    for part in (PASSIVE, DRIVES):
        for letter in "rvo":
            for parameter, (value, members) in terms.items():
                is_driven = bool(driven & set(members))
                if parameter[0] == letter and is_driven == (part == DRIVES):
                    unit = UNITS[mechanism.motions[members[0]]][letter]
                    yield Parameter(parameter, unit, value, part, letter, tuple(members))


def _of_cogging(mechanism: Mechanism) -> Iterator[Parameter]:
    for name in mechanism.actuated:
        cogging = mechanism.freedoms[name].cogging
        if cogging is None:
            continue
        for k in cogging.harmonics:
            for term in ("cos", "sin"):
                unit = UNITS[mechanism.motions[name]]["c"]
                wave = 2 * pi * k / cogging.period
                yield Parameter(f"{term}{k}_{name}", unit, 0.0, COGGING, term, (name,), wave)
