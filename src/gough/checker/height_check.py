"""The checker of certificates about probed heights, from the decimals of printer.cfg, in exact arithmetic."""

from collections.abc import Mapping
from fractions import Fraction

from gough.checker.certificate import Verdict
from gough.checker.chain_boxes import follow
from gough.checker.chain_proofs import stages_of
from gough.checker.height_equations import height_space, spend_point
from gough.checker.height_proofs import HeightCertificate, HeightEmpty, HeightWitness, digest_of_file, remade_heights
from gough.checker.limits import bounded_work
from gough.checker.linear import NotProven
from gough.checker.raw_numbers import Span, total, turn
from gough.checker.raw_printer import ExactPrinter, exact_printer, left_out
from gough.checker.words import bound
from gough.core.errors import BeyondLimit, InputError
from gough.core.rational import rational
from gough.core.text import counted

Vector = list[Span]


def check_heights(certificate: HeightCertificate, files: Mapping[str, bytes]) -> Verdict:
    """Whether a certificate proves what it states about the heights in these files, in exact arithmetic.

    Args:
        certificate: The certificate.
        files: printer.cfg and what it includes, by path relative to its folder.
    """
    statement: tuple[str, ...] = ()
    holds, kind = False, certificate.kind
    points = 0
    try:
        certificate = remade_heights(certificate)
        own = {name: _same(name, digest, files) for name, digest in certificate.sources}
        with bounded_work():
            printer = exact_printer(own)
            points = len(printer.heights)
            statement, reason = _checked(certificate, printer)
            statement = (*_unless_included(own), *statement)
        holds = True
    except BeyondLimit:
        raise
    except (NotProven, InputError) as short:
        reason = str(short)
    return Verdict(
        holds=holds,
        reason=reason,
        kind=kind,
        statement=statement,
        rows=tuple(range(points)),
        checked=f"{counted(points, 'probed height')} in exact numbers, from the decimals of the configuration",
    )


def _same(name: str, digest: str, files: Mapping[str, bytes]) -> bytes:
    if name not in files:
        raise NotProven(f"{name}, which the certificate is about, is missing")
    if digest_of_file(files[name]) != digest:
        raise NotProven(f"{name} is not the file that the certificate is about, or it was changed")
    return files[name]


def _unless_included(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """The condition under which a statement holds about a configuration some of whose files are not listed."""
    patterns = left_out(files)
    if not patterns:
        return ()
    return (
        f"if what [include {'], [include '.join(patterns)}] reads, which is not among the sources, changes nothing:",
    )


def _checked(certificate: HeightCertificate, printer: ExactPrinter) -> tuple[tuple[str, ...], str]:
    proof = certificate.proof
    many = counted(len(printer.heights), "height")
    if isinstance(proof, HeightEmpty):
        space = height_space(printer, proof.epsilon, proof.lower, proof.upper)
        if not follow(proof.links, space, space.prior()).is_empty:
            raise NotProven("the cuts are right, but they leave a box in which a printer may be")
        stages = list(stages_of(proof.links))
        sides = (  # what is assumed is rounded inward
            f"{bound(rational(low, 'a side'), upper=True)} ≤ {name} ≤ {bound(rational(high, 'a side'), upper=False)} m"
            for name, low, high in zip(space.names, proof.lower, proof.upper, strict=False)
        )
        first = (
            f"no printer with arms and tower c as configured explains {many} within "
            f"{bound(rational(proof.epsilon, 'epsilon'), upper=False)} m, if its towers satisfy:"
        )
        cuts = sum(len(stage.cuts) for stage in stages)
        return (first, *sides), f"the weighted rows prove each of its {cuts} cuts in {counted(len(stages), 'box')}"
    _require_explains(proof, printer)
    first = (
        f"some printer with arms and tower c as configured explains {many} within "
        f"{bound(rational(proof.epsilon, 'epsilon'), upper=True)} m"
    )
    return (first,), "each point of the exhibited printer exists in its box, and all heights there are within ε"


def _require_explains(witness: HeightWitness, printer: ExactPrinter) -> None:
    """Raise NotProven unless the exhibited printer has a nozzle's place within ε of the height at each point."""
    if len(witness.points) != len(printer.heights):
        raise NotProven(f"{len(witness.points)} points are exhibited, but {len(printer.heights)} were probed")
    towers, r = _towers(witness, printer), rational(witness.radius, "radius")
    e = rational(witness.epsilon, "epsilon")
    for k, values in enumerate(witness.points):
        spend_point(printer, k)
        place = [rational(x, "a coordinate") for x in values]
        up = [[Fraction(0), Fraction(0), reading] for reading in printer.readings[k]]
        away = [
            [Span.at(x + u) - t for x, u, t in zip(place, shift, tower, strict=True)]
            for shift, tower in zip(up, towers, strict=True)
        ]
        _require_zero(k, away, [arm**2 for arm in printer.arm], r)
        if any((d[2] + Span(-r, r)).high >= 0 for d in away):
            raise NotProven(f"point {k}: the nozzle is not below all carriages")
        if abs(place[2] - printer.heights[k]) + r > e:
            raise NotProven(f"point {k}: the height of the exhibited printer is not within ε of the probed one")


def _towers(witness: HeightWitness, printer: ExactPrinter) -> list[Vector]:
    """Each tower's foot and the height of its carriage at reading zero, enclosed."""
    *endstops, radius, a, b = (rational(x, "a parameter") for x in witness.geometry)
    if radius <= 0:
        raise NotProven("the radius of the exhibited printer is not positive")
    angles = (Span.at(a), Span.at(b), printer.angle_c.span)
    result = []
    for endstop, arm, angle in zip(endstops, printer.arm, angles, strict=True):
        cosine, sine = turn(angle)
        top = Span.at(arm**2 - radius**2).root() + Span.at(endstop)
        result.append([(cosine * radius).rounded(), (sine * radius).rounded(), top])
    return result


def _require_zero(k: int, away: list[Vector], squares: list[Fraction], r: Fraction) -> None:
    """Raise NotProven unless a point within r of the exhibited one lies on all three spheres.

    Krawczyk's operator [NEU90, §5.1]: with f_i = |d_i|² − arm_i² and Y near the inverse of its derivatives at the
    middle, |Y f| + |I − Y f′(box)| r < r in each coordinate proves that the box has a zero.
    """
    f = [total(x * x for x in d) - Span.at(square) for d, square in zip(away, squares, strict=True)]
    J = [[x * 2 for x in d] for d in away]
    Y = _inverse(k, [[(x.low + x.high) / 2 for x in row] for row in J])
    box = [[(x + Span(-r, r)) * 2 for x in d] for d in away]
    for i in range(3):
        moved = total(f[j] * Y[i][j] for j in range(3)).most
        rest = Fraction(0)
        for j in range(3):
            entry = Span.at(int(i == j)) - total(box[m][j] * Y[i][m] for m in range(3))
            rest += entry.most * r
        if not moved + rest < r:
            raise NotProven(f"point {k}: it is not proven that the arms meet in the box of the exhibited point")


def _inverse(k: int, A: list[list[Fraction]]) -> list[list[Fraction]]:
    """The inverse of a matrix of three rows, by cofactors, to 2^-200."""

    def minor(i: int, j: int) -> Fraction:
        (a, b), (c, d) = ([A[m][n] for n in range(3) if n != j] for m in range(3) if m != i)
        return (a * d - b * c) * (-1) ** (i + j)

    det = sum((A[0][j] * minor(0, j) for j in range(3)), Fraction(0))
    if det == 0:
        raise NotProven(f"point {k}: the arms lie in one plane")
    grid = 1 << 200
    return [[Fraction((minor(j, i) / det * grid).__floor__(), grid) for j in range(3)] for i in range(3)]
