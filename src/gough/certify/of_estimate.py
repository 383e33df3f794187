"""From an estimate that carries evidence to a certificate that anyone can check."""

from fractions import Fraction

from gough.certify.certificate import Bound, Certificate, Empty
from gough.certify.linear import prove
from gough.core.errors import AssumptionError
from gough.estimate import Estimate, HullStats, Status
from gough.problem import LinearProblem


def certificate_of(problem: LinearProblem, estimate: Estimate) -> Certificate:
    """The certificate of every bound that the estimate proves, or of the contradiction that it found.

    Examples:
        >>> from gough import Bounded, Unknowns
        >>> from gough import estimate as solve
        >>> from gough.certify import check
        >>> from gough.methods import LinearHull
        >>> problem = LinearProblem([[1.0], [1.0]], [0.9, 1.1], Unknowns(["mass"]), Bounded(0.2))
        >>> certificate = certificate_of(problem, solve(problem, LinearHull()))
        >>> certificate.kind, check(certificate, problem).holds
        ('Bound', True)
    """
    stats = estimate.stats
    if not isinstance(stats, HullStats) or not stats.evidence:
        raise AssumptionError(f"{estimate.method} keeps no evidence; use LinearHull() for bounds with a certificate.")
    outline = [
        (
            dict(zip(e.names, e.factors, strict=True)),
            {row: Fraction(weight) for row, weight in zip(e.rows, e.weights, strict=True)},
        )
        for e in stats.evidence
    ]
    steps = prove(problem, outline)
    return Certificate.of(problem, Empty(steps) if estimate.status is Status.INCONSISTENT else Bound(steps))
