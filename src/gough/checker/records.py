"""Proofs as plain JSON data and back, without rounding; what does not fit is refused in words that say where.

A JSON number stands for the double nearest to it; any other rational stands as text, "1/3", in hexadecimal if it is
very long.
"""

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

from gough.checker.physical_proofs import BodyTerms, PhysicalBound, PhysicalEmpty, PhysicalStep
from gough.checker.proofs import (
    Bound,
    Empty,
    Inside,
    Proof,
    RelaxedBound,
    RelaxedEmpty,
    RelaxedStep,
    Round,
    Strip,
    Violated,
    Witness,
)
from gough.checker.steps import Link, Reach, Split, Step, Weights
from gough.core.errors import InputError, require
from gough.core.rational import as_double
from gough.core.sealed import brief, require_keys

KINDS: dict[str, type[Proof]] = {
    kind.__name__: kind
    for kind in (Witness, Bound, Empty, Inside, RelaxedBound, RelaxedEmpty, Violated, PhysicalBound, PhysicalEmpty)
}

T = TypeVar("T")
_WITHOUT_GROUPS = 3  # last version of the kinds about bodies that states no equal bodies
_LONG = 2000  # bits; Python itself refuses decimal integers beyond 4300 digits
_WHOLE = r"[0-9]+|0x[0-9a-f]+"
_RATIONAL = re.compile(rf"(-?)({_WHOLE})/({_WHOLE})")


def plain(proof: Proof, version: int) -> dict[str, Any]:
    """The fields of a proof as JSON data of a version of the format."""
    match proof:
        case Witness(theta=theta):
            return {"theta": _plain_named(theta)}
        case Bound(steps=steps) | Empty(steps=steps):
            return {"steps": [_plain_link(link) for link in steps]}
        case Inside(steps=steps, rounds=rounds):
            return {"steps": [_plain_link(link) for link in steps], "rounds": [_plain_round(one) for one in rounds]}
        case RelaxedBound(q, steps, contradictions) | RelaxedEmpty(q, steps, contradictions):
            cuts = [_plain_weights(cut) for cut in contradictions]
            return {"q": q, "steps": [_plain_relaxed(step) for step in steps], "contradictions": cuts}
        case Violated(at_least, q, outliers, contradictions):
            cuts = [_plain_weights(cut) for cut in contradictions]
            return {"at_least": at_least, "q": q, "outliers": list(outliers), "contradictions": cuts}
        case PhysicalBound(bodies, nonnegative, physical, equal) | PhysicalEmpty(bodies, nonnegative, physical, equal):
            stated = {"bodies": [_plain_body(body) for body in bodies], "nonnegative": list(nonnegative)}
            groups = {"equal": [list(group) for group in equal]} if version > _WITHOUT_GROUPS else {}
            return {**stated, **groups, "steps": [_plain_physical(step) for step in physical]}


def _plain_link(link: Link) -> dict[str, Any]:
    match link:
        case Split(name, at, below, above):
            chains = {key: [_plain_link(one) for one in chain] for key, chain in (("below", below), ("above", above))}
            return {"split": name, "at": plain_number(at), **chains}
        case Reach(bounds, weights):
            return {"reach": _plain_named(bounds), "weights": {name: _plain_weights(each) for name, each in weights}}
        case Step(direction, value, weights):
            body = {"value": plain_number(value), "weights": _plain_weights(weights)}
            return {"direction": _plain_named(direction), **body}


def _plain_body(body: BodyTerms) -> dict[str, Any]:
    found: dict[str, Any] = {"name": body.name, "terms": dict(body.terms)}
    for key in ("rotor", "center", "radii"):
        values = getattr(body, key)
        if values is not None:
            found[key] = [None if x is None else plain_number(x) for x in values]
    return found


def _plain_physical(step: PhysicalStep) -> dict[str, Any]:
    proven = {"value": plain_number(step.value), "weights": _plain_weights(step.weights)}
    evidence = {"possible": _plain_named(step.possible), "inside": _plain_named(step.inside)}
    return {"direction": _plain_named(step.direction), **proven, **evidence}


def _plain_relaxed(step: RelaxedStep) -> dict[str, Any]:
    cuts = {name: [_plain_weights(cut) for cut in getattr(step, name)] for name in ("cuts", "contradictions")}
    return {"direction": _plain_named(step.direction), "value": plain_number(step.value), **cuts}


def _plain_round(one: Round) -> dict[str, Any]:
    shape = [[plain_number(x) for x in row] for row in one.shape]
    return {"center": _plain_named(one.center), "shape": shape, "strips": [_plain_strip(strip) for strip in one.strips]}


def _plain_strip(strip: Strip) -> dict[str, Any]:
    numbers = {name: plain_number(getattr(strip, name)) for name in ("middle", "half", "weight")}
    sides = {name: side for name in ("below", "above") if (side := getattr(strip, name)) is not None}
    written = {name: _plain_weights(side) if isinstance(side, tuple) else side for name, side in sides.items()}
    return {"of": strip.of, **numbers, **written}


def _plain_named(named: tuple[tuple[str, Fraction], ...]) -> dict[str, float | str]:
    return {name: plain_number(x) for name, x in named}


def _plain_weights(weights: Weights) -> list[list[Any]]:
    return [[row, plain_number(x)] for row, x in weights]


def plain_number(x: Fraction) -> float | str:
    """A double where it is one, else a fraction as text."""
    double = as_double(x)
    if double is not None:
        return double
    if max(x.numerator.bit_length(), x.denominator.bit_length()) > _LONG:
        return f"{'-' if x < 0 else ''}{abs(x.numerator):#x}/{x.denominator:#x}"
    return f"{x.numerator}/{x.denominator}"


def read(kind: type[Proof], data: dict[str, Any], version: int) -> Proof:
    """The proof of a kind, from its fields."""
    if kind is Witness:
        return Witness(_named(data["theta"], "theta"))
    if kind is Violated:
        rows = _list(data["outliers"], "outliers", lambda row, _: row)
        return Violated(data["at_least"], data["q"], rows, _cuts(data["contradictions"], "contradictions"))
    if kind in {RelaxedBound, RelaxedEmpty}:
        relaxed = _list(data["steps"], "steps", _relaxed, "step")
        cuts = _cuts(data["contradictions"], "contradictions")
        return (RelaxedBound if kind is RelaxedBound else RelaxedEmpty)(data["q"], relaxed, cuts)
    if kind in {PhysicalBound, PhysicalEmpty}:
        bodies = _list(data["bodies"], "bodies", _body, "body")
        names = _list(data["nonnegative"], "nonnegative", lambda name, _: name)
        physical = _list(data["steps"], "steps", _physical, "step")
        equal = () if version <= _WITHOUT_GROUPS else _list(data["equal"], "equal", _group, "group")
        return (PhysicalBound if kind is PhysicalBound else PhysicalEmpty)(bodies, names, physical, equal)
    chain = _list(data["steps"], "steps", _link, "step")
    only_steps = version > 1 or all(isinstance(link, Step) for link in chain)
    require(only_steps, f"certificates of format {version} know no links but steps")
    if kind is Inside:
        return Inside(chain, _list(data["rounds"], "rounds", _round, "round", 0))
    return Bound(chain) if kind is Bound else Empty(chain)


def _list(data: Any, what: str, each: Callable[[Any, str], T], name: str = "entry", first: int = 1) -> tuple[T, ...]:
    require(isinstance(data, list), f"{what} must be a list, but it is {brief(data)}")
    return tuple(each(entry, f"{name} {number}") for number, entry in enumerate(data, start=first))


def _link(data: Any, what: str) -> Link:
    if isinstance(data, dict) and "split" in data:
        require_keys(data, "split", what)
        below = _list(data["below"], f"{what}: below", _link, f"{what}, below, step")
        above = _list(data["above"], f"{what}: above", _link, f"{what}, above, step")
        return Split(data["split"], number_in(data["at"], f"{what}: at"), below, above)
    if isinstance(data, dict) and "reach" in data:
        require_keys(data, "reach", what)
        weights = data["weights"]
        require(isinstance(weights, dict), f"{what}: weights must be an object of names and lists")
        each = tuple((name, _weights(cut, f"{what}: '{name}'")) for name, cut in weights.items())
        return Reach(_named(data["reach"], f"{what}: reach"), each)
    require_keys(data, "step", what)
    value, weights = number_in(data["value"], f"{what}: value"), _weights(data["weights"], what)
    return Step(_named(data["direction"], f"{what}: direction"), value, weights)


def _relaxed(data: Any, what: str) -> RelaxedStep:
    require_keys(data, "relaxed-step", what)
    cuts, contradictions = (_cuts(data[key], f"{what}: {key}") for key in ("cuts", "contradictions"))
    value = number_in(data["value"], f"{what}: value")
    return RelaxedStep(_named(data["direction"], f"{what}: direction"), value, cuts, contradictions)


def _body(data: Any, what: str) -> BodyTerms:
    require_keys(data, "body", what)
    require(isinstance(data["terms"], dict), f"{what}: terms must be an object of terms and names")
    axis, center, radii = (_some_numbers(data.get(key), f"{what}: {key}") for key in ("rotor", "center", "radii"))
    require(None not in (*(axis or ()), *(center or ())), f"{what}: an axis or a center has three numbers")
    return BodyTerms(data["name"], tuple(data["terms"].items()), axis, center, radii)  # type: ignore[arg-type]


def _group(data: Any, what: str) -> tuple[str, ...]:
    return _list(data, what, lambda name, _: name)


def _some_numbers(data: Any, what: str) -> tuple[Fraction | None, ...] | None:
    return None if data is None else _list(data, what, lambda x, where: None if x is None else number_in(x, where))


def _physical(data: Any, what: str) -> PhysicalStep:
    require_keys(data, "physical-step", what)
    direction, possible, inside = (_named(data[key], f"{what}: {key}") for key in ("direction", "possible", "inside"))
    value = number_in(data["value"], f"{what}: value")
    return PhysicalStep(direction, value, _weights(data["weights"], what), possible, inside)


def _round(data: Any, what: str) -> Round:
    require_keys(data, "round", what)
    rows = f"{what}: shape"
    shape = _list(data["shape"], rows, lambda row, where: _list(row, where, number_in), f"{rows}, row")
    strips = _list(data["strips"], f"{what}: strips", _strip, f"{what}, strip")
    return Round(_named(data["center"], f"{what}: center"), shape, strips)


def _strip(data: Any, what: str) -> Strip:
    require_keys(data, "strip", what)
    middle, half, weight = (number_in(data[key], f"{what}: {key}") for key in ("middle", "half", "weight"))
    below, above = (_source(data.get(key), f"{what}: {key}") for key in ("below", "above"))
    return Strip(data["of"], middle, half, weight, below, above)


def _source(data: Any, what: str) -> Weights | int | None:
    whole = isinstance(data, int) and not isinstance(data, bool)
    return data if data is None or whole else _weights(data, what)


def _cuts(data: Any, what: str) -> tuple[Weights, ...]:
    return _list(data, what, _weights, f"{what}, entry")


def _weights(data: Any, what: str) -> Weights:
    fits = isinstance(data, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in data)
    require(fits, f"{what}: weights must be a list of pairs [row, weight]")
    return tuple((row, number_in(x, f"{what}: weight of row {brief(row)}")) for row, x in data)


def _named(data: Any, what: str) -> tuple[tuple[str, Fraction], ...]:
    require(isinstance(data, dict), f"{what} must be an object of names and numbers, but it is {brief(data)}")
    return tuple((name, number_in(x, f"{what}: '{name}'")) for name, x in data.items())


def number_in(data: Any, what: str) -> Fraction:
    """The number that `plain_number` wrote."""
    if isinstance(data, int | float) and not isinstance(data, bool):
        return Fraction(data)
    match = _RATIONAL.fullmatch(data) if isinstance(data, str) else None
    require(match is not None, f'{what} must be a number or a fraction such as "1/3", but it is {brief(data)}')
    assert match is not None
    sign, numerator, denominator = match.groups()
    try:
        top, bottom = int(numerator, 0), int(denominator, 0)
    except ValueError as error:
        raise InputError(f"{what} is not a fraction that can be read: {error}") from error
    require(bottom != 0, f"{what} has the denominator 0")
    return Fraction(-top if sign else top, bottom)
