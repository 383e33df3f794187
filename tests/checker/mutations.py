"""Certificates changed at random, without their constructors: signs, zeros, indices, order, copies, other cases."""

from dataclasses import fields, is_dataclass
from fractions import Fraction

from gough.checker import (
    Bound,
    ChainBound,
    ChainCut,
    ChainEmpty,
    ChainSplit,
    ChainStage,
    Empty,
    Reach,
    RelaxedBound,
    RelaxedEmpty,
    Split,
    Step,
)
from tests.checker.corpus import forged

NUMBERS = [Fraction(x) for x in (-9, -2, -1, 0, 1, 2, 3, 9)] + [Fraction(1, 2), Fraction(-1, 2), Fraction(5, 4)]


TWINS = {Bound: Empty, Empty: Bound, RelaxedBound: RelaxedEmpty, RelaxedEmpty: RelaxedBound, ChainBound: ChainEmpty,
         ChainEmpty: ChainBound}  # fmt: skip
"""Statements that have the same evidence."""


def content(value):
    """Names and values of all fields, those too that its constructor computes."""
    return {field.name: getattr(value, field.name) for field in fields(value) if field.init}


def slots(value, path=()):
    """Paths and values of everything in a certificate, itself left out."""
    if isinstance(value, tuple):
        for i, each in enumerate(value):
            yield (*path, i), each
            yield from slots(each, (*path, i))
    elif is_dataclass(value):
        for name, each in content(value).items():
            yield (*path, name), each
            yield from slots(each, (*path, name))


def put(value, path, new):
    """A copy with something else at that path."""
    if not path:
        return new
    head, *rest = path
    if isinstance(value, tuple):
        return (*value[:head], put(value[head], rest, new), *value[head + 1 :])
    known = content(value)
    return forged(type(value), {**known, head: put(known[head], rest, new)})


def other_number(rng, old, pool):
    """A sign, a zero, a power of two, a neighbour, or a number from elsewhere."""
    way = rng.randrange(7)
    exact = Fraction(old)
    new = (
        -exact if way == 0
        else Fraction(0) if way == 1
        else exact * Fraction(2) ** rng.choice((-40, -3, -1, 1, 2, 40)) if way == 2
        else exact + Fraction(1, 2) ** rng.choice((0, 3, 60)) if way == 3
        else exact - Fraction(1, 2) ** rng.choice((0, 3, 60)) if way == 4
        else Fraction(rng.choice(pool)) if way == 5
        else rng.choice(NUMBERS)
    )  # fmt: skip
    if isinstance(old, float):
        return max(min(float(new), 1e300), -1e300)
    return new


def other_tuple(rng, old, donors):
    """An entry left out, repeated, moved, or taken from another certificate."""
    entries = list(old)
    way = rng.randrange(5) if entries else 4
    if way == 0:
        del entries[rng.randrange(len(entries))]
    elif way == 1:
        entries.insert(rng.randrange(len(entries) + 1), rng.choice(entries))
    elif way == 2:
        i, j = rng.randrange(len(entries)), rng.randrange(len(entries))
        entries[i], entries[j] = entries[j], entries[i]
    elif way == 3:
        entries[rng.randrange(len(entries))] = rng.choice(entries)
    else:
        alike = [each for each in donors if not entries or type(each) is type(entries[0])]
        if alike:
            entries.insert(rng.randrange(len(entries) + 1), rng.choice(alike))
    return tuple(entries)


def a_link(rng, names, rows, at):
    """A step, a reach or a case made up out of small numbers."""
    weights = tuple((rng.randrange(-1, rows + 1), rng.choice(NUMBERS)) for _ in range(rng.randrange(3)))
    way = rng.randrange(3)
    if way == 0:
        direction = tuple((name, rng.choice(NUMBERS)) for name in rng.sample(names, rng.randrange(len(names) + 1)))
        return forged(Step, {"direction": direction, "value": rng.choice(NUMBERS), "weights": weights})
    if way == 1:
        chosen = rng.sample(names, rng.randrange(1, len(names) + 1))
        bounds = tuple((name, rng.choice(NUMBERS)) for name in chosen)
        by = tuple((name, ((rng.randrange(rows), rng.choice(NUMBERS)),)) for name in chosen)
        return forged(Reach, {"bounds": bounds, "weights": by})
    inner = tuple(at for _ in range(rng.randrange(2)))
    return forged(
        Split, {"name": rng.choice(names), "at": rng.choice(NUMBERS), "below": inner, "above": inner and (at,)}
    )


def mutant(rng, certificate, donors, names, rows):
    """One to three changes. Donors are parts of other certificates; names and rows are those of the problem."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        found = list(slots(certificate))
        path, old = rng.choice(found)
        if path[0] in {"problem", "version"} or old is None:
            continue
        if isinstance(old, str):
            sides = ("lower", "upper", "empty")
            new = rng.choice(sides) if old in sides else rng.choice(names)
        elif isinstance(old, Fraction | float):
            pool = [each for _, each in found if isinstance(each, Fraction | float)]
            new = other_number(rng, old, pool)
        elif isinstance(old, int):
            new = rng.choice((old - 1, old + 1, 0, 1, rows - 1, rows, -1))
        elif isinstance(old, tuple):
            new = other_tuple(rng, old, donors)
        elif isinstance(old, Step | Split | Reach):
            new = rng.choice((
                a_link(rng, names, rows, old),
                forged(Split, {"name": rng.choice(names), "at": rng.choice(NUMBERS), "below": (old,), "above": ()}),
                forged(Split, {"name": rng.choice(names), "at": rng.choice(NUMBERS), "below": (), "above": (old, old)}),
            ))  # fmt: skip
        elif isinstance(old, ChainStage | ChainSplit):
            halves = rng.choice(((), (old,))), rng.choice(((), (old,)))
            at = float(rng.choice(NUMBERS)) / 16
            new = forged(ChainSplit, {"unknown": rng.choice(names), "at": at, "below": halves[0], "above": halves[1]})
        elif isinstance(old, ChainCut):
            weights = tuple((rng.randrange(-1, rows + 1), float(rng.choice(NUMBERS))) for _ in range(rng.randrange(3)))
            side = rng.choice(("lower", "upper", "empty"))
            bound = 0.0 if side == "empty" else float(rng.choice(NUMBERS)) / 8
            new = forged(ChainCut, {"unknown": rng.choice(names), "side": side, "bound": bound, "weights": weights})
        else:  # a proof: the same evidence for another statement
            new = forged(TWINS.get(type(old), type(old)), content(old))
        certificate = put(certificate, path, new)
    return certificate
