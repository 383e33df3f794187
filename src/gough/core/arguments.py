"""Arguments of public functions: taken as they are meant, or refused with what is expected and how to make it."""

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from math import inf, isnan
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from gough.core.arrays import array
from gough.core.errors import InputError, nearest, require

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
_SHOWN = 60
"""Characters of an argument that a message repeats."""


def verb(**renamed: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: arguments that are missing, unknown or too many raise InputError with the call as it should be.

    `renamed` maps old names of arguments, which are still taken, with a warning, to the new ones.

    Examples:
        >>> @verb(model="robot")
        ... def calibrate(robot, poses, *, scale=False):
        ...     return robot
        >>> calibrate("a robot")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: calibrate() lacks the argument 'poses': write calibrate(robot, poses)
        >>> calibrate(1, 2, scales=True)
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: calibrate() has no argument 'scales'; did you mean 'scale'? (known: robot, \
poses, scale)
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for old in renamed.keys() & kwargs.keys():
                new = renamed[old]
                text = f"the argument '{old}' of {function.__name__}() is called '{new}' now"
                warnings.warn(text, DeprecationWarning, stacklevel=2)
                require(new not in kwargs, f"{text}: state it once")
                kwargs[new] = kwargs.pop(old)
            try:
                signature.bind(*args, **kwargs)
            except TypeError:
                raise InputError(_misfit(function.__name__, signature, args, kwargs)) from None
            return function(*args, **kwargs)

        return call

    return decorate


def _misfit(name: str, signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """Why arguments do not fit a signature, and the call as it should be."""
    parameters = list(signature.parameters.values())
    if parameters[0].name == "cls":
        parameters, args = parameters[1:], args[1:]
    places = [p.name for p in parameters if p.kind in {p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD}]
    needed = [p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    usage = f"{name}({', '.join(needed)})"
    known = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]
    takes_any = len(known) < len(parameters)
    for key in kwargs:
        if key not in known and not takes_any:
            return f"{name}() has no argument '{key}'{nearest(key, known)} (known: {', '.join(known)})"
    if len(args) > len(places):
        named = [key for key in known if key not in places]
        others = f"; the others are stated by name: {', '.join(named)}" if named else ""
        return f"{name}() takes {', '.join(places)} in this order, but {len(args)} arguments are given{others}"
    twice = [key for key in places[: len(args)] if key in kwargs]
    if twice:
        return f"{name}() is given the argument '{twice[0]}' twice"
    missing = [key for key in needed if key not in [*places[: len(args)], *kwargs]]
    return f"{name}() lacks the argument{'s' * (len(missing) > 1)} {', '.join(map(repr, missing))}: write {usage}"


def described(value: Any) -> str:
    """What a value is, in a few words for a message.

    Examples:
        >>> described("h4"), described(None), described(np.zeros((3, 2))), described(dict), described([1, 2])
        ("the text 'h4'", 'None', 'an array of shape (3, 2)', 'the class dict, not an object of it', 'a list of 2')
    """
    if value is None or isinstance(value, bool | int | float | complex | np.number | np.bool_):
        return f"{value!r:.{_SHOWN}}"
    if isinstance(value, str):
        return f"the text {_cut(repr(value))}"
    if isinstance(value, Path):
        return f"the path {_cut(repr(str(value)))}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, type):
        return f"the class {value.__name__}, not an object of it"
    kind = type(value).__name__
    article = "an" if kind[:1].lower() in "aeiou" else "a"
    count = f" of {len(value)}" if isinstance(value, list | tuple | dict | set) else ""
    return f"{article} {kind}{count}"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def refused(what: str, value: Any, expected: str, how: str = "") -> InputError:
    """The error on an argument that cannot be used: what it is, what is expected, and a line that makes it.

    Examples:
        >>> print(refused("poses", None, "Poses", "gough.data.read_poses('poses.csv')"))
        poses must be Poses, but it is None: write gough.data.read_poses('poses.csv')
    """
    return InputError(f"{what} must be {expected}, but it is {described(value)}{f': write {how}' if how else ''}")


def instance(value: Any, what: str, kind: type[T] | tuple[type[T], ...], expected: str, how: str = "") -> T:
    """The value, if it is an object of this class or of one of these."""
    if isinstance(value, type) or not isinstance(value, kind):
        raise refused(what, value, expected, how)
    return value


def record(value: Any, what: str, kind: Callable[..., T], how: str) -> T:
    """An object of a class of named values, or a mapping of their names, from which one is made.

    Examples:
        >>> from gough.region import Interval
        >>> record({"lower": 1.0, "upper": 2.0}, "range", Interval, "Interval(1.0, 2.0)")
        Interval(lower=1.0, upper=2.0)
    """
    assert isinstance(kind, type)
    if isinstance(value, kind):
        return cast("T", value)
    if not isinstance(value, Mapping):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise refused(what, value, f"{article} {kind.__name__} or a mapping of its names", how)
    parameters = inspect.signature(kind).parameters
    for name in value:
        known = isinstance(name, str) and name in parameters
        close = nearest(name, parameters) if isinstance(name, str) else ""
        require(known, f"{what} has no entry {_cut(repr(name))}{close} (known: {', '.join(parameters)})")
    for name, parameter in parameters.items():
        lacks = name not in value and parameter.default is parameter.empty
        require(not lacks, f"{what} lacks the entry '{name}': write {how}")
    return kind(**value)


def flag(value: Any, what: str) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise refused(what, value, "True or False")
    return bool(value)


def whole(value: Any, what: str, least: int = 0, most: float = inf) -> int:
    """A whole number from `least` on, at most `most`."""
    fits = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not fits or not least <= value <= most:
        raise refused(what, value, f"a whole number, at least {least}{f' and at most {most}' if most < inf else ''}")
    return int(value)


def real(value: Any, what: str, *, least: float = -inf, above: float = -inf) -> float:
    """A finite number, at least `least` and larger than `above`.

    Examples:
        >>> real(1, "width", above=0)
        1.0
        >>> real("1 mm", "width", above=0)
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: width must be a finite number above 0, but it is the text '1 mm'
    """
    limit = f" above {above:g}" if above > -inf else f", at least {least:g}" if least > -inf else ""
    wanted = f"a finite number{limit}"
    try:
        number = float(array(value, what, ndim=0))
    except InputError as error:
        if isinstance(value, int | float | np.number) and not isinstance(value, bool):
            raise  # a number that no double equals
        raise refused(what, value, wanted) from error
    if isnan(number) or not max(above, least) <= number < inf or number == above:
        raise refused(what, value, wanted)
    return number


def pair(value: Any, what: str) -> tuple[Any, Any]:
    """Two values: the least and the greatest."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence | np.ndarray) or len(value) != 2:
        raise refused(what, value, "two values, the least and the greatest", "(lower, upper)")
    return value[0], value[1]


def ranges(value: Any, what: str) -> dict[str, tuple[float, float]]:
    """Least and greatest values by name; they may be infinite.

    Examples:
        >>> ranges({"x": (-1, 1)}, "pose")
        {'x': (-1.0, 1.0)}
    """
    if not isinstance(value, Mapping):
        raise refused(what, value, "a mapping of names to ranges", f'{what}={{"x": (-0.1, 0.1)}}')
    result = {}
    for name, ends in value.items():
        if not isinstance(name, str):
            raise refused(f"a name of {what}", name, "a text")
        low, high = array(pair(ends, f"{what}[{name!r}]"), f"{what}[{name!r}]", ndim=1).tolist()
        require(not isnan(low) and not isnan(high), f"{what}[{name!r}] must be two numbers, but one is NaN")
        result[name] = low, high
    return result


def texts(value: Any, what: str) -> tuple[str, ...]:
    """A list of names."""
    fits = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | type)
    entries = tuple(value) if fits else ()
    if not fits or not all(isinstance(entry, str) for entry in entries):
        raise refused(what, value, "a list of names", f"[{value!r:.{_SHOWN}}]" if isinstance(value, str) else "")
    return entries


def action(value: Any, what: str) -> None:
    """Refuse what cannot be called with one argument."""
    if isinstance(value, type) or not callable(value):
        raise refused(what, value, "a function of one argument", f"{what}=print")
    try:
        inspect.signature(value).bind(None)
    except TypeError:
        raise refused(what, value, "a function of one argument", f"{what}=print") from None
    except ValueError:  # a function in C that does not state its arguments
        return


def one_of(value: Any, what: str, known: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in known:
        close = nearest(value, known) if isinstance(value, str) else ""
        raise InputError(f"{what} must be {' or '.join(map(repr, known))}, but it is {described(value)}{close}")
    return value


def as_path(value: Any, what: str) -> Path:
    """A path, given as text or as `Path`."""
    if not isinstance(value, str | Path) or "\0" in str(value):
        raise refused(what, value, "a path")
    return Path(value)
