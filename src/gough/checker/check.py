"""The checker: does a certificate's evidence prove its statement about this very problem?

Neither the method that made the certificate, nor the file, nor the processor's rounding is relied on: all of it is
integer arithmetic.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gough.checker.certificate import Certificate, Verdict, bounds_of, digest, rounded_intervals
from gough.checker.chain_check import check_chains
from gough.checker.chain_proofs import ChainCertificate
from gough.checker.limits import bounded_work, remade
from gough.checker.linear import NotProven, Sides, follow, require_witness
from gough.checker.physical import follow_physical
from gough.checker.physical_proofs import PhysicalBound, PhysicalEmpty
from gough.checker.proofs import PARTS, Bound, Empty, Inside, RelaxedBound, RelaxedEmpty, Violated, Witness
from gough.checker.quadratic import require_rounds
from gough.checker.relaxed import follow_relaxed, require_violated
from gough.checker.words import counted, rows_in_words, statement
from gough.core.errors import BeyondLimit, InputError
from gough.problem import LinearProblem


def check(certificate: Certificate | ChainCertificate, problem: Any) -> Verdict:
    """Whether the certificate's evidence proves its statement about `problem`, in exact arithmetic.

    `problem` is a `LinearProblem`; for certificates about chains see `check_chains`.

    Raises:
        AssumptionError: the problem does not state bounds.
        InputError: the problem's arrays were altered so that its constructors refuse them.
        BeyondLimit: the certificate is too large to be judged, see `gough.checker.limits`.

    Examples:
        >>> from gough import Bounded, Unknowns
        >>> problem = LinearProblem([[1.0]], [2.0], Unknowns(["mass"]), Bounded(0.5))
        >>> check(Certificate.of(problem, Witness({"mass": 2.5})), problem).holds
        True
        >>> check(Certificate.of(problem, Witness({"mass": 2.6})), problem).reason
        'row 0 is violated: |y − W θ| exceeds its bound by 0.1000'
    """
    if isinstance(certificate, ChainCertificate):
        return check_chains(certificate, problem)
    problem = _rebuilt(problem)
    try:
        # whatever it was made by, its constructors have a say
        proof = remade(certificate.proof, PARTS)
        _require_same(Certificate(certificate.problem, proof, certificate.version), problem)
    except BeyondLimit:
        raise
    except (NotProven, InputError) as short:
        return Verdict(holds=False, reason=str(short), kind=certificate.kind, statement=(), rows=(), checked="nothing")
    try:
        with bounded_work():
            reason, box = CHECKERS[type(proof)](proof, problem)
        holds = True
    except NotProven as short:
        reason, box, holds = str(short), None, False
    looked_at = f"all {problem.n_rows} rows" if isinstance(proof, Witness) else rows_in_words(problem, proof.rows)
    intervals = {} if box is None else rounded_intervals(problem.unknowns.names, box.lower, box.upper)
    stated = statement(proof, problem)
    return Verdict(holds, reason, certificate.kind, stated, proof.rows, f"{looked_at}, and the prior", intervals)


def _rebuilt(problem: LinearProblem) -> LinearProblem:
    """The same problem, made again by its constructors, because arrays can be altered after they were checked."""
    unknowns = replace(problem.unknowns, prior=replace(problem.unknowns.bounds))
    return replace(problem, unknowns=unknowns, noise=replace(bounds_of(problem)))


def _require_same(certificate: Certificate, problem: LinearProblem) -> None:
    if certificate.problem != digest(problem):
        raise NotProven("the certificate is about another problem, or the problem's data were changed")


Reason = tuple[str, Sides | None]
"""Why a certificate holds, and the box that it proves, if it is one of all unknowns that satisfy every row."""


def _witness(proof: Witness, problem: LinearProblem) -> Reason:
    require_witness(problem, proof.theta)
    return f"the point satisfies all {problem.n_rows} rows and the prior", None


def _bound(proof: Bound, problem: LinearProblem) -> Reason:
    box, count = follow(problem, proof.steps), len(proof.steps)
    if box.is_empty:
        return f"nothing is consistent: {_contradiction(problem, box)}", None
    why = "the weighted rows prove it" if count == 1 else f"the weighted rows prove each of its {count} steps"
    return why, box


def _empty(proof: Empty, problem: LinearProblem) -> Reason:
    box = follow(problem, proof.steps)
    if not box.is_empty:
        raise NotProven("the steps are right, but they contradict neither each other nor the prior")
    return _contradiction(problem, box), None


def _contradiction(problem: LinearProblem, box: Sides) -> str:
    crossed = box.crossed()
    if crossed is None:
        return "the weighted rows say that 0 is positive"
    return f"the rows bound '{problem.unknowns.names[crossed]}' from below by more than from above"


def _inside(proof: Inside, problem: LinearProblem) -> Reason:
    require_rounds(problem, follow(problem, proof.steps), proof.rounds)
    rounds = "" if len(proof.rounds) == 1 else f" of each of {len(proof.rounds)} rounds"
    return f"{len(proof.ellipsoid.strips)} weighted strips imply the ellipsoid{rounds}", None


def _relaxed_bound(proof: RelaxedBound, problem: LinearProblem) -> Reason:
    if follow_relaxed(problem, proof).is_empty:
        return f"no θ violates at most {counted(proof.q)}", None
    why = f"whichever {counted(proof.q)} may be violated, some cut of each of its {len(proof.steps)} steps is left"
    return why, None


def _relaxed_empty(proof: RelaxedEmpty, problem: LinearProblem) -> Reason:
    follow_relaxed(problem, proof)
    return f"whichever {counted(proof.q)} may be violated, some contradiction is left", None


def _violated(proof: Violated, problem: LinearProblem) -> Reason:
    require_violated(problem, proof)
    return f"every θ violates a row of each of its {len(proof.contradictions)} contradictions", None


def _physical_bound(proof: PhysicalBound, problem: LinearProblem) -> Reason:
    box, count = follow_physical(problem, proof), len(proof.steps)
    if box.is_empty:
        return f"nothing is consistent and possible: {_contradiction(problem, box)}", None
    each = "it" if count == 1 else f"each of its {count} steps"
    return f"the weighted rows and what no possible body makes negative prove {each}", box


def _physical_empty(proof: PhysicalEmpty, problem: LinearProblem) -> Reason:
    box = follow_physical(problem, proof)
    if not box.is_empty:
        raise NotProven("the steps are right, but they contradict neither each other nor the prior")
    return _contradiction(problem, box), None


CHECKERS: Mapping[type, Callable[[Any, LinearProblem], Reason]] = {
    Witness: _witness,
    Bound: _bound,
    Empty: _empty,
    Inside: _inside,
    RelaxedBound: _relaxed_bound,
    RelaxedEmpty: _relaxed_empty,
    Violated: _violated,
    PhysicalBound: _physical_bound,
    PhysicalEmpty: _physical_empty,
}
"""For each kind of proof, what checks it: returns why it holds, and the box of a bound, or raises NotProven."""
