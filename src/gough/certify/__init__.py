"""Certificates: statements about a problem that anyone can check again in exact arithmetic, whoever made them.

A `Witness` proves a bounded-error problem consistent, a `Bound` bounds the unknowns from row multipliers, `Empty`
shows rows that contradict each other. `check` imports no method: it is the part to trust.
"""

from gough.certify.certificate import Bound, Certificate, Empty, Proof, Step, Witness, digest
from gough.certify.check import Verdict, check
from gough.certify.files import load, save
from gough.certify.linear import NotProven, prove
from gough.certify.of_estimate import certificate_of

__all__ = [
    "Bound",
    "Certificate",
    "Empty",
    "NotProven",
    "Proof",
    "Step",
    "Verdict",
    "Witness",
    "certificate_of",
    "check",
    "digest",
    "load",
    "prove",
    "save",
]
