"""The catalogue of effects: one file each, found by itself."""

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from gough.core.arguments import refused
from gough.core.errors import InputError, nearest, require
from gough.dynamics.effect import Effect


@cache
def catalogue() -> dict[str, Effect]:
    """All effects by name, in alphabetical order.

    Examples:
        >>> catalogue()["offset"].title
        'a constant offset of the efforts'
    """
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    effects: list[Effect] = [module.EFFECT for module in modules]
    return {effect.name: effect for effect in sorted(effects, key=lambda effect: effect.name)}


def chosen_effects(value: Any) -> tuple[Effect, ...]:
    """Effects by their names or as objects, as an argument of a verb.

    Raises:
        InputError: it is no list of effects, or a name is not known or given twice.

    Examples:
        >>> [effect.title for effect in chosen_effects(["offset"])]
        ['a constant offset of the efforts']
    """
    how = 'a list of names of effects, such as ["delay"]'
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise refused("effects", value, how, f"known are {', '.join(catalogue())}")
    effects = tuple(each if isinstance(each, Effect) else effect_named(each) for each in value)
    names = [effect.name for effect in effects]
    for name in names:
        require(names.count(name) == 1, f"the effect '{name}' is listed twice")
    return effects


def effect_named(name: Any) -> Effect:
    """The effect of this name.

    Raises:
        InputError: there is none.
    """
    known = catalogue()
    if not isinstance(name, str):
        raise refused("an effect", name, "the name of an effect", f"known are {', '.join(known)}")
    if name not in known:
        raise InputError(f"no effect is called '{name}'{nearest(name, known)} (known: {', '.join(known)})")
    return known[name]
