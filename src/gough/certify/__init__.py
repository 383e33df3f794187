"""Certificates: statements about a problem that anyone can check again in exact arithmetic, whoever made them.

A `Witness` proves a bounded-error problem consistent, a `Bound` bounds the unknowns from row multipliers, `Empty`
shows rows that contradict each other, `Inside` puts all consistent θ into an ellipsoid. `RelaxedBound`,
`RelaxedEmpty` and `Violated` speak about problems of which some rows may be wrong. `certificate_of` makes them from
the answers of methods; `check` imports no method: it is the part to trust.
"""

from gough.certify.certificate import Certificate, digest
from gough.certify.chains import Link, Reach, Split, Step
from gough.certify.check import Verdict, check
from gough.certify.files import load, save
from gough.certify.leg_files import load_leg, save_leg
from gough.certify.legs import LegCertificate, LegCut, LegStage, check_leg, leg_certificate
from gough.certify.linear import NotProven, prove
from gough.certify.of_answer import certificate_of
from gough.certify.proofs import (
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

__all__ = [
    "Bound",
    "Certificate",
    "Empty",
    "Inside",
    "LegCertificate",
    "LegCut",
    "LegStage",
    "Link",
    "NotProven",
    "Proof",
    "Reach",
    "RelaxedBound",
    "RelaxedEmpty",
    "RelaxedStep",
    "Round",
    "Split",
    "Step",
    "Strip",
    "Verdict",
    "Violated",
    "Witness",
    "certificate_of",
    "check",
    "check_leg",
    "digest",
    "leg_certificate",
    "load",
    "load_leg",
    "prove",
    "save",
    "save_leg",
]
