"""Certificates in words: statements with the names of unknowns, numbers that say whether they are exact."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil, isqrt

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
    Violated,
    Witness,
)
from gough.checker.steps import Coefficients, Step, steps_of
from gough.core import outward
from gough.core.rational import as_double
from gough.core.text import number
from gough.problem import LinearProblem

_READABLE = 24
_ROWS_SHOWN = 12
_FINE = 1100
_DOUBLE = 17


def written(x: Fraction) -> str:
    """The number without rounding if that is short enough to read, else "about" so much.

    Examples:
        >>> written(Fraction(1, 10)), written(Fraction(0.1)), written(Fraction(2)), written(Fraction(10**400))
        ('1/10', '0.1', '2', 'about 2^1328')
    """
    double = as_double(x)
    if double is not None:
        return repr(double).removesuffix(".0")
    return str(x) if _is_short(x) else f"about {approximately(x)}"


def _is_short(x: Fraction) -> bool:
    return max(x.numerator.bit_length(), x.denominator.bit_length()) < 3 * _READABLE and len(str(x)) <= _READABLE


def bound(x: Fraction, *, upper: bool) -> str:
    """A proven bound: without rounding if that is short enough to read, else to 17 digits, rounded to its safe side.

    Examples:
        >>> bound(Fraction(1, 3), upper=True), bound(Fraction(0.1), upper=False), bound(Fraction(0.1), upper=True)
        ('1/3', '0.1', '0.10000000000000001')
    """
    if as_double(x) is None and _is_short(x):
        return str(x)
    digits, e, power = (outward.at_most if upper else outward.at_least)(x, digits=_DOUBLE).partition("e")
    return (digits.rstrip("0").rstrip(".") if "." in digits else digits) + e + power


def tolerance_condition(more: float, unit: str, *, exhibits: bool, least: float) -> tuple[str, ...]:
    """By how much readings may be off, in thousandths, where that is not as stated.

    What is exhibited for some tolerances holds for larger ones, and what is proven of all legs for smaller ones: the
    number is rounded so. `least` is the smallest tolerance stated; none is less than 0.

    Examples:
        >>> for exhibits in (True, False):
        ...     print(*tolerance_condition(0.0123456, "mm", exhibits=exhibits, least=0.0))
        if every reading may be off by 12.35 mm more than stated:
        if every reading may be off by 12.34 mm more than stated:
    """
    if not more:
        return ()
    shown = outward.at_most if exhibits == (more > 0) else outward.at_least
    words = f"{shown(abs(more), times=1000)} {unit} {'more' if more > 0 else 'less'}"
    clipped = " (not at all where less than that is stated)" if least < -more else ""
    return (f"if every reading may be off by {words} than stated{clipped}:",)


def summary(statement: Sequence[str]) -> str:
    """The beginning of a statement on one line; it ends with "…" where lines are left out.

    Examples:
        >>> summary(["some geometry of leg 1 fits all poses", "a1x = 0.5 m", "a1y = 0.1 m"])
        'some geometry of leg 1 fits all poses: a1x = 0.5 m, …'
        >>> summary(["if every reading may be off by 1 mm more than stated:", "no geometry of leg 1 fits all poses"])
        'if every reading may be off by 1 mm more than stated: no geometry of leg 1 fits all poses'
    """
    shown = 1 + sum(line.endswith(":") for line in statement)  # conditions, and what holds under them
    words, rest = " ".join(statement[:shown]), statement[shown:]
    if rest and " = " in rest[0] and " = " not in words:  # exhibited values tell witnesses apart
        words, rest = f"{words}: {rest[0]}", rest[1:]
    return f"{words}, …" if rest else words


def approximately(x: Fraction) -> str:
    """The number to a few digits, also where no double is near.

    Examples:
        >>> approximately(Fraction(1, 3)), approximately(Fraction(1, 10**400))
        ('0.3333', '2^-1328')
    """
    try:
        near = float(x)
    except OverflowError:
        near = 0.0
    if near or not x:
        return number(near)
    sign = "-" if x < 0 else ""
    return f"{sign}2^{x.numerator.bit_length() - x.denominator.bit_length()}"


def row_name(problem: LinearProblem, row: int) -> str:
    """A row by its number, counted from 0, with its group where there are several."""
    if len(problem.groups) == 1:
        return f"row {row}"
    group = int(problem.groups.positions(slice(row, row + 1))[0]) % len(problem.groups)
    return f"row {row} ({problem.groups.names[group]})"


def rows_in_words(problem: LinearProblem, rows: Iterable[int]) -> str:
    """Row numbers with their groups, the first dozen of them."""
    known = [row for row in rows if row < problem.n_rows]
    shown = ", ".join(row_name(problem, row) for row in known[:_ROWS_SHOWN])
    rest = len(known) - _ROWS_SHOWN
    return shown + (f" and {rest} more" if rest > 0 else "") if known else "no row"


def statement(proof: Proof, problem: LinearProblem) -> tuple[str, ...]:
    """What a proof states, line by line.

    Examples:
        >>> from gough import Bounded, Unknowns
        >>> problem = LinearProblem([[1.0]], [2.0], Unknowns(["mass"], ["kg"]), Bounded(0.5))
        >>> statement(Bound([Step({"mass": -1}, -2.5, {0: -1})]), problem)
        ('mass ≤ 2.5 kg',)
    """
    units = dict(zip(problem.unknowns.names, problem.unknowns.units, strict=True))
    match proof:
        case Witness(theta=theta):
            values = [f"{name} = {written(x)} {units.get(name, '')}".rstrip() for name, x in theta]
            return ("some θ satisfies every row and the prior, namely", *values)
        case Bound(steps=steps):
            return _bounds(steps_of(steps), units)
        case Empty():
            return ("no θ satisfies all rows and the prior",)
        case Inside(steps=steps, ellipsoid=ellipsoid):
            bounds = _bounds(steps_of(steps), units)
            return (*_ellipsoid(ellipsoid, units), *(("and satisfies", *bounds) if bounds else ()))
        case RelaxedBound(q=q, steps=relaxed):
            return (f"every θ of the prior that violates at most {counted(q)} satisfies", *_bounds(relaxed, units))
        case RelaxedEmpty(q=q):
            return (f"every θ of the prior violates more than {counted(q)}",)
        case Violated(at_least=at_least, q=q, outliers=outliers):
            count = (f"every θ of the prior violates at least {counted(at_least)}",) if at_least else ()
            which = (
                f"every θ of the prior that violates at most {counted(q)} violates {rows_in_words(problem, outliers)}"
            )
            return (*count, which) if outliers else count
        case PhysicalBound(steps=physical):
            return (
                *_possible(proof),
                "every one that satisfies all rows and the prior satisfies",
                *_bounds(physical, units),
            )
        case PhysicalEmpty():
            return (*_possible(proof), "none satisfies all rows and the prior: no such robot explains these data")


def _possible(proof: PhysicalBound | PhysicalEmpty) -> tuple[str, ...]:
    """What possible means, line by line; the last ends with a colon."""
    lines = [_body(body) for body in proof.bodies]
    lines += [f"bodies {' = '.join(group)}" for group in proof.equal]
    if proof.nonnegative:
        lines.append(f"not negative: {', '.join(proof.nonnegative)}")
    return (
        "of robots that can exist, by premises that the certificate states and the problem does not:",
        *(f"{line};" for line in lines[:-1]),
        f"{lines[-1]}:",
    )


def _body(body: BodyTerms) -> str:
    text = f"body {body.name}: {', '.join(f'{term} = {name}' for term, name in body.terms)}"
    if body.rotor is not None:
        text += f"; a rotor about ({', '.join(map(written, body.rotor))})"
    if body.center is not None and body.radii is not None:
        radii = ", ".join("∞" if r is None else written(r) for r in body.radii)
        text += f"; within the ellipsoid about ({', '.join(map(written, body.center))}) with radii ({radii})"
    return text


def counted(count: int) -> str:
    """So many rows, in words."""
    return "1 row" if count == 1 else f"{count} rows"


def _bounds(steps: Iterable[Step | RelaxedStep | PhysicalStep], units: dict[str, str]) -> tuple[str, ...]:
    """For each direction, the strongest of its bounds."""
    strongest: dict[Coefficients, Step | RelaxedStep | PhysicalStep] = {}
    for step in steps:
        known = strongest.setdefault(step.direction, step)
        strongest[step.direction] = max(known, step, key=lambda s: s.value)
    return tuple(_inequality(step, units) for step in strongest.values())


def _ellipsoid(ellipsoid: Round, units: dict[str, str]) -> tuple[str, ...]:
    head = "every consistent θ lies in the ellipsoid (θ − c)ᵀ P⁻¹ (θ − c) ≤ 1 whose center, and reach from it, is"
    lines = []
    for (name, x), row in zip(ellipsoid.center, ellipsoid.shape, strict=True):
        square = ceil(row[-1] * 4**_FINE)
        half = Fraction(isqrt(square - 1) + 1 if square > 0 else 0, 2**_FINE)  # rounded up
        center, reach = outward.plus_minus(x - half, x + half, x)
        lines.append(f"{name} = {center} ± {reach} {units.get(name, '')}".rstrip())
    return (head, *lines)


def _inequality(step: Step | RelaxedStep | PhysicalStep, units: dict[str, str]) -> str:
    terms = [(name, c) for name, c in step.direction if c]
    if len(terms) == 1 and abs(terms[0][1]) == 1:
        (name, c), unit = terms[0], units.get(terms[0][0], "")
        return f"{name} {'≥' if c > 0 else '≤'} {bound(step.value * c, upper=c < 0)} {unit}".rstrip()
    if terms and all(c < 0 for _, c in terms):
        return f"{_sum(tuple((name, -c) for name, c in terms))} ≤ {bound(-step.value, upper=True)}"
    return f"{_sum(tuple(terms))} ≥ {bound(step.value, upper=False)}"


def _sum(terms: Coefficients) -> str:
    text = ""
    for name, c in terms:
        sign = (" + " if c > 0 else " − ") if text else ("" if c > 0 else "−")
        text += sign + (name if abs(c) == 1 else f"{written(abs(c))}·{name}")
    return text or "0"
