"""Certificates: statements about a problem that anyone can check again in exact arithmetic, whoever made them.

A `Witness` proves a bounded-error problem consistent, a `Bound` bounds the unknowns from row multipliers, `Empty`
shows rows that contradict each other, `Inside` puts all consistent θ into an ellipsoid. `RelaxedBound`,
`RelaxedEmpty` and `Violated` speak about problems of which some rows may be wrong. `certificate_of` makes them from
the answers of methods; `check` imports no method: it is the part to trust. Certificates about legs of a platform
(`LegBound`, `LegEmpty`, `LegWitness`, `LegOutliers`) speak about a `PlatformQuestion`; `check_leg` checks them.
Certificates about chains of deltas, H4, Par4 and planar 3-RRR (`ChainBound`, `ChainEmpty`, `ChainWitness`) speak about
a `ChainQuestion`; `check_chain` checks them. `check_folder` checks all that `gough certify` wrote, and derives the
questions anew from the user's study and poses.
"""

from gough.checker.certificate import Certificate, digest
from gough.checker.chain_check import check_chain
from gough.checker.chain_files import load_chain, load_equations, save_chain, save_equations
from gough.checker.chain_proofs import ChainBound, ChainCertificate, ChainEmpty, ChainWitness
from gough.checker.chain_questions import ChainQuestion, chain_question
from gough.checker.chains import Link, Reach, Split, Step
from gough.checker.check import Verdict, check
from gough.checker.files import load, save
from gough.checker.folders import FolderVerdict, check_folder
from gough.checker.leg_files import load_leg, load_question, save_leg, save_question
from gough.checker.leg_proofs import (
    LegBound,
    LegCertificate,
    LegCut,
    LegEmpty,
    LegOutliers,
    LegSplit,
    LegStage,
    LegWitness,
)
from gough.checker.leg_questions import PlatformQuestion
from gough.checker.legs import check_leg
from gough.checker.linear import NotProven, prove
from gough.checker.of_answer import certificate_of
from gough.checker.of_chain import chain_certificate, chain_witness
from gough.checker.of_leg import leg_certificate
from gough.checker.proofs import (
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
    "ChainBound",
    "ChainCertificate",
    "ChainEmpty",
    "ChainQuestion",
    "ChainWitness",
    "Empty",
    "FolderVerdict",
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
    "chain_certificate",
    "chain_question",
    "chain_witness",
    "check",
    "check_chain",
    "check_folder",
    "check_leg",
    "digest",
    "leg_certificate",
    "load",
    "load_chain",
    "load_equations",
    "load_leg",
    "load_question",
    "prove",
    "save",
    "save_chain",
    "save_equations",
    "save_leg",
    "save_question",
]
