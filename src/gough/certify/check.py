"""The checker: does a certificate's evidence prove its statement about this very problem?

It trusts nobody: neither the method that made the certificate, nor the file, nor the processor's rounding. All of it
is integer arithmetic.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gough.certify.certificate import FORMAT, Bound, Certificate, Empty, Witness, digest
from gough.certify.linear import NotProven, follow, require_witness
from gough.certify.words import rows_in_words, statement
from gough.problem import LinearProblem


@dataclass(frozen=True)
class Verdict:
    """Whether a certificate holds, and why. A verdict is true (`if verdict:`) if it holds.

    "Does not hold" means that the evidence falls short; the statement might still be true.
    """

    holds: bool
    reason: str
    """Why, as a sentence without its full stop."""
    kind: str
    statement: tuple[str, ...]
    """What the certificate states, in words, line by line."""
    rows: tuple[int, ...]
    """Rows that the proof rests on, counted from 0; empty for a witness, which rests on all of them."""
    checked: str
    """What was looked at, in words."""

    def __bool__(self) -> bool:
        return self.holds


def check(certificate: Certificate, problem: LinearProblem) -> Verdict:
    """Whether the certificate's evidence proves its statement about `problem`, in exact arithmetic.

    Raises:
        AssumptionError: the problem does not state bounds.

    Examples:
        >>> from gough import Bounded, Unknowns
        >>> problem = LinearProblem([[1.0]], [2.0], Unknowns(["mass"]), Bounded(0.5))
        >>> check(Certificate.of(problem, Witness({"mass": 2.5})), problem).holds
        True
        >>> check(Certificate.of(problem, Witness({"mass": 2.6})), problem).reason
        'row 0 is violated: |y − W θ| exceeds its bound by 0.1000'
    """
    proof = certificate.proof
    try:
        _require_same(certificate, problem)
        reason = CHECKERS[type(proof)](proof, problem)
        holds = True
    except NotProven as short:
        reason, holds = str(short), False
    rows = () if isinstance(proof, Witness) else proof.rows
    looked_at = f"all {problem.n_rows} rows" if isinstance(proof, Witness) else rows_in_words(problem, rows)
    return Verdict(holds, reason, certificate.kind, statement(proof, problem), rows, f"{looked_at}, and the prior")


def _require_same(certificate: Certificate, problem: LinearProblem) -> None:
    if certificate.version != FORMAT:
        raise NotProven(f"the certificate has format {certificate.version}; this gough checks format {FORMAT}")
    if certificate.problem != digest(problem):
        raise NotProven("the certificate speaks about another problem, or the problem's data were changed")


def _witness(proof: Witness, problem: LinearProblem) -> str:
    require_witness(problem, proof.theta)
    return f"the point satisfies all {problem.n_rows} rows and the prior"


def _bound(proof: Bound, problem: LinearProblem) -> str:
    crossed = follow(problem, proof.steps).crossed()
    if crossed is not None:
        return f"nothing is consistent: the bounds on '{problem.unknowns.names[crossed]}' exclude each other"
    count = len(proof.steps)
    return "the weighted rows prove it" if count == 1 else f"the weighted rows prove each of its {count} steps"


def _empty(proof: Empty, problem: LinearProblem) -> str:
    crossed = follow(problem, proof.steps).crossed()
    if crossed is not None:
        return f"the rows bound '{problem.unknowns.names[crossed]}' from below by more than from above"
    for step in proof.steps:
        if step.value > 0 and not any(c for _, c in step.direction):
            return "the weighted rows say that 0 is positive"
    raise NotProven("the steps are right, but they contradict neither each other nor the prior")


CHECKERS: Mapping[type, Callable[[Any, LinearProblem], str]] = {Witness: _witness, Bound: _bound, Empty: _empty}
"""For each kind of proof, what checks it: returns why it holds, or raises NotProven."""
