"""The library's methods by name, for studies and command lines."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

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


Value = TypeVar("Value")

_DASHES = str.maketrans("‐‑‒–—−-_,", " " * 9)
"""Characters that separate words in the name of a method, as blanks do."""


def _plain(name: str) -> str:
    """Small letters, and one blank for each run of blanks, commas, underscores and dashes of any kind."""
    return " ".join(name.casefold().translate(_DASHES).split())


def _key(label: str) -> str:
    """The name of a method as JSON files have it, such as "gauss-markov"; a label with other letters is kept."""
    plain = _plain(label).replace(" ", "-")
    return plain if plain and plain.isascii() else label


class ByMethod(Mapping[str, Value]):
    """Values by the name of a method; any spelling of the name finds its value.

    Case, blanks, dashes, underscores and commas do not matter, and abbreviations are known: "gauss-markov",
    "Gauss_Markov" and "gm" are "Gauss–Markov". Iteration gives the names as tables show them. A spelling that fits two
    names finds neither.

    Examples:
        >>> values = ByMethod({"Gauss–Markov": 1, "least squares": 2})
        >>> values["gauss-markov"], values["LS"], list(values), values.keyed()
        (1, 2, ['Gauss–Markov', 'least squares'], {'gauss-markov': 1, 'least-squares': 2})
    """

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> Value:
        return self._values[self.title(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._values!r})"

    def title(self, name: str) -> str:
        """The name as tables show it, of a method in any spelling.

        Raises:
            KeyError: no method, or more than one, has that name.
        """
        if name in self._values:
            return name
        if not isinstance(name, str):
            raise KeyError(name)
        plain = _plain(name)
        for wanted in (plain, _plain(_OTHER_NAMES.get(plain, plain))):
            fitting = [title for title in self._values if _plain(title) == wanted]
            if len(fitting) == 1:
                return fitting[0]
        raise KeyError(name)

    def keyed(self) -> dict[str, Value]:
        """The values by ASCII names such as "gauss-markov", for JSON.

        Labels that would have the same name, and labels with letters beyond ASCII, are kept as they are.
        """
        keys = [_key(title) for title in self._values]
        return {
            key if keys.count(key) == 1 else title: value
            for key, (title, value) in zip(keys, self._values.items(), strict=True)
        }


METHODS: ByMethod[Method[LinearProblem]] = ByMethod(
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
Any spelling finds them, `METHODS["gauss-markov"]` too. `recursive ellipsoid` and `Gauss–Seidel` are the methods of
[PRV03e] and [PRV03i]; `relaxed hull` tolerates one row beyond its bound. Methods that need instruments or covariances
of W are given as values."""

DEFAULT_METHODS = ("least squares", "weighted", "Gauss–Markov", "robust", "hull", "ellipsoid", "tight ellipsoid")
"""The methods of an identification by default."""


def method_named(name: Any) -> tuple[str, Method[LinearProblem]]:
    """A method and its name in tables; case, dashes and underscores do not matter, and abbreviations are known.

    Raises:
        InputError: no method has that name; the message names the nearest one.

    Examples:
        >>> method_named("gauss-markov")
        ('Gauss–Markov', GaussMarkov(level=0.95, rtol=1e-06, max_steps=100, rank_tolerance=None, shrinkage=None))
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
    if name not in METHODS:
        spelled = {_plain(known): known for known in METHODS} | _OTHER_NAMES
        close = nearest(_plain(name), spelled)
        for plain, known in spelled.items():
            close = close.replace(f"'{plain}'", f"'{known}'")
        raise InputError(f"no method is called '{name}'{close} (known: {', '.join(METHODS)})")
    label = METHODS.title(name)
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
