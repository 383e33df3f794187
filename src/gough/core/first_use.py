"""Names of a package that are imported at their first use, so that a command loads only what it needs."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_first_use(
    package: Mapping[str, Any], places: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of the package with these globals: from each name to the module that defines it.

    Examples:
        >>> find, names = on_first_use({"__name__": "gough.core"}, {"Box": "gough.region"})
        >>> find("Box").__name__, names()
        ('Box', ['Box', '__name__'])
    """

    def find(name: str) -> Any:
        if name in places:
            return getattr(import_module(places[name]), name)
        raise AttributeError(f"module '{package['__name__']}' has no attribute '{name}'")

    return find, lambda: sorted({*package, *places})
