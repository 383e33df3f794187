"""Robots from the words of a study: a family, its dimensions with units, and how detailed its model is."""

from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any

from gough.core.errors import InputError, nearest, require
from gough.robots import ROBOTS, DynamicModel
from gough.studies.quantities import quantity


def robot(family: str, dimensions: Mapping[str, Any] | None = None, variant: str | None = None) -> DynamicModel:
    """The robot of this family; what `dimensions` leave out has its default, as has the variant.

    Examples:
        >>> robot("h4", {"arm": "250 mm"}).geometry.arm
        0.25
        >>> robot("h4", {"arms": 0.25})
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: no dimension of h4 is called 'arms'; did you mean 'arm'? (known: arm, rod, d, h, \
base, alpha)
    """
    if family not in ROBOTS:
        raise InputError(f"no robot is called '{family}'{nearest(family, ROBOTS)} (known: {', '.join(ROBOTS)})")
    given = {name: _dimension(family, name, value) for name, value in (dimensions or {}).items()}
    kind, geometry = ROBOTS[family], geometry_of(family)
    if geometry is kind:  # a robot that is nothing but its geometry
        require(variant is None, f"{family} has one model only: leave variant out")
        return kind(**given)
    if variant is None:
        return kind(geometry(**given))
    known = [one.variant for one in kind().variants]
    if variant not in known:
        raise InputError(f"{family} has no variant '{variant}'{nearest(variant, known)} (known: {', '.join(known)})")
    return kind(geometry(**given), variant=variant)


def geometry_of(family: str) -> Any:
    """The class of a family's dimensions: that of its field `geometry`, or its own."""
    kind = ROBOTS[family]
    defaults = {each.name: each.default for each in fields(kind)}
    return type(defaults["geometry"]) if "geometry" in defaults else kind


def dimensions_of(family: str) -> dict[str, Field[Any]]:
    """The dimensions of a family by name: fields whose metadata hold their unit and meaning."""
    return {each.name: each for each in fields(geometry_of(family)) if "unit" in each.metadata}


def _dimension(family: str, name: str, value: Any) -> Any:
    known = dimensions_of(family)
    if name not in known:
        raise InputError(
            f"no dimension of {family} is called '{name}'{nearest(name, known)} (known: {', '.join(known)})"
        )
    unit = known[name].metadata["unit"]
    try:
        return tuple(quantity(each, unit) for each in value) if isinstance(value, list) else quantity(value, unit)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
