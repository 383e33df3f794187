"""Mass, its center and its moments: what a rigid body adds to the columns of a regressor."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest, require
from gough.robots.mechanism.placement import Vector, vector

Symmetry = Literal["none", "x", "y", "z", "center", "planar", "point", "massless"]

TERMS: dict[str, str] = {
    "m": "kg",
    "sx": "kg·m",
    "sy": "kg·m",
    "sz": "kg·m",
    "Ixx": "kg·m²",
    "Iyy": "kg·m²",
    "Izz": "kg·m²",
    "Ixy": "kg·m²",
    "Ixz": "kg·m²",
    "Iyz": "kg·m²",
}
"""The ten parameters of a rigid body in the order of columns, with units: mass, first moments, second moments.

Moments are about the origin of the body's frame. I is the inertia matrix: Ixy = -∫ x y dm."""

KEPT: dict[str, tuple[str, ...]] = {
    "none": tuple(TERMS),
    "x": ("m", "sx", "Ixx", "Iyy", "Izz"),
    "y": ("m", "sy", "Ixx", "Iyy", "Izz"),
    "z": ("m", "sz", "Ixx", "Iyy", "Izz"),
    "center": ("m", "Ixx", "Iyy", "Izz"),
    "planar": ("m", "sx", "sy", "Izz"),
    "point": ("m",),
    "massless": (),
}
"""The parameters that are left of the ten for each symmetry."""


@dataclass(frozen=True)
class Inertia:
    """A body's mass, center of mass and moments of inertia about that center, in the axes of the body's frame.

    Terms that the body's shape excludes are no parameters: `symmetry` states which of the ten remain.

    Examples:
        >>> rod = Inertia(0.4, (0.25, 0.0, 0.0), (1e-4, 8e-3, 8e-3), symmetry="x")
        >>> dict(zip(rod.terms, rod.values.round(4).tolist()))
        {'m': 0.4, 'sx': 0.1, 'Ixx': 0.0001, 'Iyy': 0.033, 'Izz': 0.033}
    """

    mass: float
    """In kg; zero for a body whose mass does not matter."""
    center: Vector = (0.0, 0.0, 0.0)
    """The center of mass in the body's frame, in m."""
    moments: Vector = (0.0, 0.0, 0.0)
    """Ixx, Iyy, Izz about the center of mass, in kg·m²."""
    products: Vector = (0.0, 0.0, 0.0)
    """Ixy, Ixz, Iyz about the center of mass: entries of the inertia matrix, Ixy = -∫ x y dm."""
    symmetry: Symmetry = "none"
    """none: all ten parameters. x, y, z: the center lies on that axis of the frame and the frame's axes are principal.
    center: so, and the center is the frame's origin. planar: the body turns about z only, and moves in x and y.
    point: a mass at the frame's origin. massless: no parameter at all."""

    def __post_init__(self) -> None:
        for field in ("center", "moments", "products"):
            object.__setattr__(self, field, vector(getattr(self, field), field))
        require(np.isfinite(self.mass), f"mass must be a finite number of kg, but is {self.mass}")
        require(self.mass >= 0, f"mass must not be negative, but is {self.mass:g} kg")
        if self.symmetry not in KEPT:
            raise InputError(
                f"symmetry must be one of {', '.join(KEPT)}, but is '{self.symmetry}'{nearest(self.symmetry, KEPT)}"
            )
        least = np.linalg.eigvalsh(self.matrix)[0]
        require(
            bool(least >= -1e-9 * max(np.abs(self.matrix).max(), 1e-300)),
            f"no body has the moments of inertia {self.moments} with products {self.products}: about some axis the "
            "moment would be negative",
        )
        lost = [name for name, value in self._all.items() if value != 0 and name not in self._explained]
        require(
            not lost,
            f"symmetry '{self.symmetry}' leaves no {', '.join(lost)}, but center, moments or products make them "
            "different from zero; correct those, or choose another symmetry",
        )

    @classmethod
    def about_origin(
        cls,
        mass: float,
        first: Vector = (0.0, 0.0, 0.0),
        moments: Vector = (0.0, 0.0, 0.0),
        products: Vector = (0.0, 0.0, 0.0),
        symmetry: Symmetry = "none",
    ) -> "Inertia":
        """The same from first moments (mass times center) and second moments about the frame's origin.

        Examples:
            >>> Inertia.about_origin(2.0, (0.0, 0.0, 1.0), (0.7, 0.7, 0.1), symmetry="z").moments
            (0.2, 0.2, 0.1)
        """
        require(mass > 0 or not any(first), "first moments without a mass have no center")
        center = np.array(vector(first, "first")) / (mass or 1.0)
        x, y, z = center
        shift = mass * (center @ center * np.eye(3) - np.outer(center, center))
        own = np.diag(moments) - shift
        cross = np.array(products) + mass * np.array([x * y, x * z, y * z])
        return cls(mass, _plain(center), _plain(np.diag(own).round(15)), _plain(cross.round(15)), symmetry)

    @classmethod
    def in_plane(cls, mass: float, first: tuple[float, float], inertia: float) -> "Inertia":
        """A body that moves in the x-y plane: mass, first moments and moment of inertia about the frame's origin.

        Examples:
            >>> Inertia.in_plane(0.5, (0.1, 0.0), 0.05).values
            array([0.5 , 0.1 , 0.  , 0.05])
        """
        x, y = first[0] / mass, first[1] / mass
        flat = inertia - mass * (x * x + y * y)
        return cls(mass, (x, y, 0.0), (flat, flat, flat), symmetry="planar")

    @property
    def matrix(self) -> Array:
        """The inertia matrix (3, 3) about the center of mass."""
        (xx, yy, zz), (xy, xz, yz) = self.moments, self.products
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    @property
    def is_possible(self) -> bool:
        """Can a rigid body have these moments? None of them exceeds the sum of the other two."""
        a, b, c = np.linalg.eigvalsh(self.matrix)
        return bool(a + b >= c * (1 - 1e-9))

    @property
    def terms(self) -> tuple[str, ...]:
        """The names of the parameters that there are."""
        return KEPT[self.symmetry]

    @property
    def values(self) -> Array:
        """Their values."""
        every = self._all
        return np.array([every[name] for name in self.terms])

    @property
    def _all(self) -> dict[str, float]:
        c = np.array(self.center)
        I = self.matrix + self.mass * (c @ c * np.eye(3) - np.outer(c, c))  # noqa: E741 - Steiner's theorem
        return dict(
            zip(
                TERMS,
                [self.mass, *(self.mass * c), I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]],
                strict=True,
            )
        )

    @property
    def _explained(self) -> tuple[str, ...]:
        """Parameters that the symmetry keeps, or whose value can have no effect."""
        free = {"planar": tuple(TERMS), "point": ("Ixx", "Iyy", "Izz")}
        return (*self.terms, *free.get(self.symmetry, ()))


def _plain(values: Array) -> Vector:
    x, y, z = (values + 0.0).tolist()
    return (x, y, z)
