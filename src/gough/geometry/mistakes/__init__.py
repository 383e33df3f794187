"""The catalogue of mistakes: one file each, found by itself."""

import importlib
import pkgutil
from functools import cache

from gough.geometry.mistake import Mistake


@cache
def catalogue() -> dict[str, Mistake]:
    """All mistakes by name, in alphabetical order.

    Examples:
        >>> catalogue()["gain"].title
        'a wrong gain of one reading'
    """
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    mistakes: list[Mistake] = [module.MISTAKE for module in modules]
    return {mistake.name: mistake for mistake in sorted(mistakes, key=lambda each: each.name)}
