"""Certificates of the bracket of ε of a printer's probed heights, about the decimals of its configuration."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from gough.checker.height_check import check_heights
from gough.checker.height_equations import height_space
from gough.checker.height_proofs import (
    HeightCertificate,
    HeightEmpty,
    HeightProof,
    HeightWitness,
    height_certificate,
    render_heights,
)
from gough.checker.linear import NotProven
from gough.checker.of_chain import contradiction
from gough.checker.raw_printer import ExactPrinter, exact_printer
from gough.closure.certified_probes import HeightTolerance, ProbedHeights
from gough.core.rational import round_down
from gough.evidence import LiftedTree
from gough.geometry.printers import printer

_LESS = (0.0, 1e-9, 1e-6, 1e-3)
"""Shares of the lower end that are given up, in this order, until its proof holds about the decimals."""
_RADIUS = 1e-12
"""m: half the width of the boxes of exhibited points."""
LOWER, UPPER = "epsilon-lower.json", "epsilon-upper.json"


@dataclass(frozen=True)
class HeightCertificates:
    """The certificates of a bracket, and the files that they are about."""

    files: Mapping[str, bytes]
    """printer.cfg and what it includes, by path relative to its folder."""
    lower: HeightCertificate | None
    """None where no lower end above 0 is proven."""
    upper: HeightCertificate | None
    """None where the upper end does not hold about the decimals."""

    @property
    def texts(self) -> dict[str, str]:
        """The certificates by the names of their files."""
        named = ((LOWER, self.lower), (UPPER, self.upper))
        return {name: render_heights(each) for name, each in named if each is not None}


def height_certificates(
    problem: ProbedHeights, bracket: HeightTolerance, files: Mapping[str, bytes]
) -> HeightCertificates:
    """Certificates of both ends, each of which the checker has confirmed.

    Args:
        problem: Printer and box of the bracket.
        bracket: Both ends as proven in interval arithmetic.
        files: printer.cfg, from which the heights were read, and what it includes.

    Raises:
        NotProven: the configuration cannot be read exactly.
    """
    exact = exact_printer(files)
    lower = None if not bracket.stages else _confirmed(files, _empty(problem, bracket, exact))
    return HeightCertificates(files, lower, _confirmed(files, _witness(problem, bracket, exact)))


def _confirmed(files: Mapping[str, bytes], proof: HeightProof | None) -> HeightCertificate | None:
    if proof is None:
        return None
    certificate = height_certificate(files, proof)
    return certificate if check_heights(certificate, files) else None


def _empty(problem: ProbedHeights, bracket: HeightTolerance, exact: ExactPrinter) -> HeightEmpty | None:
    box = problem.unknowns.bounds
    lower, upper = tuple(box.lower[:9].tolist()), tuple(box.upper[:9].tolist())
    for less in _LESS:
        epsilon = bracket.lower * (1 - less)
        try:
            links = contradiction(height_space(exact, epsilon, lower, upper), LiftedTree(bracket.stages))
        except NotProven:
            continue
        return HeightEmpty(epsilon, lower, upper, links)
    return None


def _witness(problem: ProbedHeights, bracket: HeightTolerance, exact: ExactPrinter) -> HeightWitness:
    model = printer(problem.probes)
    points = model.forward(bracket.parameters, problem.probes.height_readings).position
    away = [abs(Fraction(z) - height) for z, height in zip(points[:, 2].tolist(), exact.heights, strict=True)]
    above = round_down(-(max(away) + Fraction(_RADIUS)))
    assert above is not None
    parameters = bracket.parameters.tolist()
    return HeightWitness(-above, tuple(parameters[:6]), tuple(map(tuple, points.tolist())), _RADIUS)
