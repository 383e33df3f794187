"""Certificates: statements about a problem that anyone can check again in exact arithmetic, whoever made them.

A `Witness` proves a bounded-error problem consistent, a `Bound` bounds the unknowns from row multipliers, `Empty`
shows rows that contradict each other, `Inside` puts all consistent θ into an ellipsoid. `RelaxedBound`,
`RelaxedEmpty` and `Violated` speak about problems of which some rows may be wrong. `certificate_of` makes them from
the answers of methods; `check` imports no method: it is the part to trust. Certificates about legs of a platform
(`LegBound`, `LegEmpty`, `LegWitness`, `LegOutliers`) speak about a `PlatformQuestion`; `check_leg` checks them.
"""

from gough.certify.certificate import Certificate, digest
from gough.certify.chains import Link, Reach, Split, Step
from gough.certify.check import Verdict, check
from gough.certify.files import load, save
from gough.certify.leg_files import load_leg, load_question, save_leg, save_question
from gough.certify.leg_proofs import (
    LegBound,
    LegCertificate,
    LegCut,
    LegEmpty,
    LegOutliers,
    LegSplit,
    LegStage,
    LegWitness,
)
from gough.certify.leg_questions import PlatformQuestion
from gough.certify.legs import check_leg
from gough.certify.linear import NotProven, prove
from gough.certify.of_answer import certificate_of
from gough.certify.of_leg import leg_certificate
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
    "LegBound",
    "LegCertificate",
    "LegCut",
    "LegEmpty",
    "LegOutliers",
    "LegSplit",
    "LegStage",
    "LegWitness",
    "Link",
    "NotProven",
    "PlatformQuestion",
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
    "load_question",
    "prove",
    "save",
    "save_leg",
    "save_question",
]
