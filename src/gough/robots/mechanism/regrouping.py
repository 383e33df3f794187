"""Base parameters as formulas: factors that are sums over joints are written as such, the others as numbers."""

from collections.abc import Callable, Sequence
from math import isclose

import numpy as np

from gough.robots.mechanism.description import Mechanism

Point = tuple[float, float, float]

SUMS: dict[str, tuple[str, Callable[[float, float, float], float]]] = {
    "m": ("", lambda _x, _y, _z: 1.0),
    "sx": ("Σx", lambda x, _y, _z: x),
    "sy": ("Σy", lambda _x, y, _z: y),
    "sz": ("Σz", lambda _x, _y, z: z),
    "Ixx": ("Σ(y²+z²)", lambda _x, y, z: y * y + z * z),
    "Iyy": ("Σ(x²+z²)", lambda x, _y, z: x * x + z * z),
    "Izz": ("Σ(x²+y²)", lambda x, y, _z: x * x + y * y),
    "Ixy": ("−Σxy", lambda x, y, _z: -x * y),
    "Ixz": ("−Σxz", lambda x, _y, z: -x * z),
    "Iyz": ("−Σyz", lambda _x, y, z: -y * z),
}
"""The contribution of unit masses at points (x, y, z) of a body to each of its parameters: as text, as a function."""


def formula(mechanism: Mechanism, names: Sequence[str], factors: Sequence[float]) -> str:
    """A base parameter in words: `Ixx_E + Σ(y²+z²)·m_3`, if the factor of m_3 is that sum over the joints on E.

    Examples:
        >>> from gough.robots import Palida
        >>> formula(Palida().mechanism, ["Izz_E", "m_3"], [1.0, 6 * 0.09**2])
        'Izz_E + Σ(x²+y²)·m_3'
    """
    values = np.asarray(factors, dtype=float)
    kept = next((name for name, factor in zip(names, values.tolist(), strict=True) if factor == 1.0), "")
    text = ""
    for name, factor in zip(names, values.tolist(), strict=True):
        if factor == 0:
            continue
        total = _sum(mechanism, kept, name, factor)
        negative = total.startswith("−") if total else factor < 0
        sign, size = "−" if negative else "+", total.lstrip("−") if total else f"{abs(factor):.4g}"
        term = name if size == "1" else f"{size}·{name}"
        text += f" {sign} {term}" if text else f"{'−' if sign == '−' else ''}{term}"
    return text


def _sum(mechanism: Mechanism, kept: str, name: str, factor: float) -> str | None:
    """The sum that a factor is, if the mass `name` sits at joints of the body to which `kept` belongs."""
    term, _, group = kept.partition("_")
    letter, _, other = name.partition("_")
    if letter != "m" or term not in SUMS or not SUMS[term][0]:
        return None
    points = _joined(mechanism, group, other)
    word, of = SUMS[term]
    value = sum(of(*point) for point in points)
    return word if points and isclose(factor, value, rel_tol=1e-7, abs_tol=1e-12) else None


def _joined(mechanism: Mechanism, group: str, other: str) -> list[Point]:
    """The points at which the bodies of one group are joined to the only body of another, in its frame."""
    members = [body.name for body in mechanism.bodies if body.tied == group]
    if len(members) != 1:
        return []
    others = {body.name for body in mechanism.bodies if body.tied == other}
    points: list[Point] = []
    for closure in mechanism.closures:
        ends = [end for end in (0, 1) if closure.bodies[end] == members[0] and closure.bodies[1 - end] in others]
        points += [closure.placements[end].position for end in ends]
    points += [j.placement.position for j in mechanism.joints if j.parent == members[0] and j.child in others]
    return points
