"""The library's methods by name, for studies and command lines."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from gough.core.arguments import described, refused
from gough.core.errors import InputError, nearest, require
from gough.estimates import Method, require_method
from gough.methods import (
    BoundingEllipsoid,
    Fixpoint,
    GaussMarkov,
    GaussSeidel,
    HullAndEllipsoid,
    LeastSquares,
    LinearHull,
    RelaxedHull,
    RobustLeastSquares,
    RowContractor,
    TightEllipsoid,
    Tukey,
    WeightedLeastSquares,
)
from gough.problem import LinearProblem

METHODS: Mapping[str, Method[LinearProblem]] = MappingProxyType(
    {
        "least squares": LeastSquares(),
        "weighted": WeightedLeastSquares(),
        "Gauss–Markov": GaussMarkov(),
        "robust": RobustLeastSquares(),
        "Tukey": RobustLeastSquares(Tukey()),
        "hull": LinearHull(),
        "ellipsoid": BoundingEllipsoid(),
        "tight ellipsoid": TightEllipsoid(),
        "hull and ellipsoid": HullAndEllipsoid(),
        "recursive ellipsoid": BoundingEllipsoid(cut=False, rounds=0),
        "Gauss–Seidel": Fixpoint(GaussSeidel()),
        "relaxed hull": RelaxedHull(1),
        "rows": Fixpoint(RowContractor()),
    }
)
"""Every method that solves a linear problem without further data, by the name that studies, tables and reports use.
`recursive ellipsoid` and `Gauss–Seidel` are the methods of [PRV03e] and [PRV03i]; `relaxed hull` tolerates one row
beyond its bound. Methods that need instruments or covariances of W are given as values."""

DEFAULT_METHODS = ("least squares", "weighted", "Gauss–Markov", "robust", "hull", "ellipsoid", "tight ellipsoid")
"""The methods of an identification by default."""

_OTHER_NAMES = {
    "ls": "least squares",
    "ordinary least squares": "least squares",
    "wls": "weighted",
    "weighted least squares": "weighted",
    "gm": "Gauss–Markov",
    "huber": "robust",
    "robust least squares": "robust",
    "linear hull": "hull",
    "bounding ellipsoid": "ellipsoid",
    "obe": "recursive ellipsoid",
    "row contractor": "rows",
}


def _plain(name: str) -> str:
    """Small letters, and blanks for dashes and underscores of any kind."""
    return " ".join(name.casefold().translate(str.maketrans("–—-_", "    ")).split())


def method_named(name: Any) -> tuple[str, Method[LinearProblem]]:
    """A method and its name in tables; case, dashes and underscores do not matter, and abbreviations are known.

    Raises:
        InputError: no method has that name; the message names the nearest one.

    Examples:
        >>> method_named("gauss-markov")
        ('Gauss–Markov', GaussMarkov(level=0.95, rtol=1e-06, max_steps=50, rank_tolerance=None))
        >>> method_named("elipsoid")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: no method is called 'elipsoid'; did you mean 'ellipsoid'? (known: least squares, \
weighted, Gauss–Markov, robust, Tukey, hull, ellipsoid, tight ellipsoid, hull and ellipsoid, recursive ellipsoid, \
Gauss–Seidel, relaxed hull, rows)
    """
    if not isinstance(name, str):
        how = '{"my label": gough.methods.LinearHull()} for a method with options of your own'
        raise refused("an entry of methods", name, "the name of a method", how)
    spelled = {_plain(known): known for known in METHODS} | _OTHER_NAMES
    if _plain(name) not in spelled:
        close = nearest(_plain(name), spelled)
        for plain, known in spelled.items():
            close = close.replace(f"'{plain}'", f"'{known}'")
        raise InputError(f"no method is called '{name}'{close} (known: {', '.join(METHODS)})")
    label = spelled[_plain(name)]
    return label, METHODS[label]


def chosen_methods(
    methods: Mapping[str, Method[LinearProblem]] | Sequence[str] | Iterable[str],
) -> dict[str, Method[LinearProblem]]:
    """Methods by label: a mapping as it is, names looked up.

    Examples:
        >>> list(chosen_methods(["LS", "hull"]))
        ['least squares', 'hull']
    """
    if isinstance(methods, Mapping):
        chosen = dict(methods)
        for label, method in chosen.items():
            require(isinstance(label, str), f"a method has a text as its label, but {described(label)} is one")
            require_method(method, f"methods[{label!r}]")
    else:
        if isinstance(methods, str) or not isinstance(methods, Iterable):
            expected = "a list of names, or a mapping of labels to methods"
            raise refused("methods", methods, expected, '["weighted", "hull"]')
        chosen = dict(method_named(name) for name in methods)
    require(len(chosen) > 0, f"no method is asked for; known are {', '.join(METHODS)}")
    return chosen
