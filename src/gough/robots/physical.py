"""What physics demands of a robot's parameters: no negative masses, inertias or friction, and bodies that can exist.

A rigid body is a distribution of positive mass. With the first moments s and Σ = ½ trace(I) 1 − I about the origin of
its frame, the pseudo-inertia [[Σ, s], [sᵀ, m]] is the integral of v vᵀ over that mass, v = (x, y, z, 1): it is positive
semidefinite, and every positive semidefinite one belongs to point masses [WEN18]. This includes m ≥ 0, moments ≥ 0, the
triangle inequality of the moments and a center of mass that fits the moments.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.robots.mechanism.inertia import TERMS
from gough.robots.mechanism.placement import Vector


@dataclass(frozen=True)
class Limit:
    """A parameter that cannot be negative.

    Examples:
        >>> Limit("f_v1", "friction").unless
        ''
    """

    name: str
    what: str
    """What it is: mass, moment of inertia, friction."""
    unless: str = ""
    """The condition under which it may be negative after all, as the end of a sentence."""


@dataclass(frozen=True)
class RigidBody:
    """The parameters that belong to one rigid body, or to a group of identical ones.

    Examples:
        >>> RigidBody("rod", {"m": "m_rod", "sx": "sx_rod"}).terms["m"]
        'm_rod'
    """

    name: str
    terms: Mapping[str, str]
    """Names of its parameters by term: m, sx, …, Iyz. Terms that are left out are zero or have no effect."""
    rotor: Vector | None = None
    """Axis, in the body's frame, of a drive on the base whose rotor has no parameter of its own: its inertia about
    this axis adds to that of the body."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", MappingProxyType(dict(self.terms)))


@dataclass(frozen=True)
class PhysicalLimits:
    """All that physics demands of a robot's parameters; parameters that are named nowhere may have any value.

    Examples:
        >>> from gough.robots import Delta
        >>> [limit.name for limit in Delta(variant="common").physical.nonnegative]
        ['i_act', 'm_plate', 'f_c', 'f_v']
    """

    nonnegative: tuple[Limit, ...] = ()
    bodies: tuple[RigidBody, ...] = ()
    on_blueprint: str = ""
    """Why bodies of the blueprint are not possible, as a sentence, where the source of the blueprint is the cause."""


def physical_limits(robot: Any) -> PhysicalLimits:
    """The limits that a robot states as its property `physical`; none where it has no such property.

    Examples:
        >>> physical_limits(object())
        PhysicalLimits(nonnegative=(), bodies=(), on_blueprint='')
    """
    limits = getattr(robot, "physical", None)
    return limits if isinstance(limits, PhysicalLimits) else PhysicalLimits()


def limits_by_unit(names: tuple[str, ...], units: tuple[str, ...], *, free: tuple[str, ...] = ()) -> tuple[Limit, ...]:
    """Limits of parameters whose unit states what they are: masses, moments of inertia and friction, none in `free`.

    Examples:
        >>> [limit.what for limit in limits_by_unit(("m", "gS", "f_v"), ("kg", "N·m", "N·m·s/rad"), free=("gS",))]
        ['mass', 'friction']
    """
    pairs = zip(names, units, strict=True)
    return tuple(Limit(name, KINDS[unit]) for name, unit in pairs if unit in KINDS and name not in free)


KINDS = MappingProxyType(
    {
        "kg": "mass",
        "kg·m²": "moment of inertia",
        "N·m": "friction",
        "N·m·s/rad": "friction",
        "N": "friction",
        "N·s/m": "friction",
    }
)
"""What a parameter that cannot be negative is, by its unit."""

_X, _Y, _Z, _1 = range(4)
_PLACES = {
    "m": ((_1, _1, 1.0),),
    "sx": ((_X, _1, 1.0),),
    "sy": ((_Y, _1, 1.0),),
    "sz": ((_Z, _1, 1.0),),
    "Ixx": ((_Y, _Y, 1.0), (_Z, _Z, 1.0)),
    "Iyy": ((_X, _X, 1.0), (_Z, _Z, 1.0)),
    "Izz": ((_X, _X, 1.0), (_Y, _Y, 1.0)),
    "Ixy": ((_X, _Y, -1.0),),
    "Ixz": ((_X, _Z, -1.0),),
    "Iyz": ((_Y, _Z, -1.0),),
}
assert list(_PLACES) == list(TERMS)


def _forms() -> Array:
    forms = np.zeros((len(_PLACES), 4, 4))
    for k, places in enumerate(_PLACES.values()):
        for i, j, factor in places:
            forms[k, i, j] += factor / 2
            forms[k, j, i] += factor / 2
    return forms


FORMS = _forms()
"""(10, 4, 4) symmetric: the ten parameters of a unit mass at (x, y, z) are vᵀ FORMS v with v = (x, y, z, 1)."""


def point_mass(v: Array) -> Array:
    """The ten parameters, in the order of TERMS, of a mass h² at (x, y, z)/h, for v = (x, y, z, h).

    Examples:
        >>> point_mass(np.array([0.5, 0.0, 0.0, 1.0]))
        array([1.  , 0.5 , 0.  , 0.  , 0.  , 0.25, 0.25, 0.  , 0.  , 0.  ])
    """
    return np.asarray(np.einsum("i,kij,j->k", v, FORMS, v))


def pseudo_inertia(ten: Array) -> Array:
    """The matrix [[Σ, s], [sᵀ, m]] (4, 4) of ten parameters; a body can have them if it is positive semidefinite.

    Examples:
        >>> np.linalg.eigvalsh(pseudo_inertia(point_mass(np.array([0.5, 0.0, 0.0, 1.0])))).round(12) + 0.0
        array([0.  , 0.  , 0.  , 1.25])
    """
    m, sx, sy, sz, xx, yy, zz, xy, xz, yz = ten
    half = (xx + yy + zz) / 2
    return np.array([[half - xx, -xy, -xz, sx], [-xy, half - yy, -yz, sy], [-xz, -yz, half - zz, sz], [sx, sy, sz, m]])


def along(v: Array) -> Array:
    """The factors of the ten parameters in vᵀ P v, with P their pseudo-inertia: such a sum is never negative.

    Examples:
        >>> along(np.array([0.0, 0.0, 1.0, 0.0])) + 0.0  # (Ixx + Iyy − Izz) / 2
        array([ 0. ,  0. ,  0. ,  0. ,  0.5,  0.5, -0.5,  0. ,  0. ,  0. ])
    """
    return np.array([v @ pseudo_inertia(unit) @ v for unit in np.eye(len(TERMS))])
