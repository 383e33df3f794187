"""Certificates: statements about a problem that anyone can check again in exact arithmetic, whoever made them.

A `Witness` proves a bounded-error problem consistent, a `Bound` bounds the unknowns from row multipliers, `Empty`
shows rows that contradict each other, `Inside` puts all consistent θ into an ellipsoid. `RelaxedBound`,
`RelaxedEmpty` and `Violated` are about problems of which some rows may be wrong; `PhysicalBound` and
`PhysicalEmpty` about robots whose bodies can exist. `certificate_of` makes them from
the answers of methods; `check` imports no method: it is the part to trust. Certificates about kinematic chains, legs of
Gough platforms among them (`ChainBound`, `ChainEmpty`, `JointEmpty`, `ChainWitness`, `ChainOutliers`), are about a
`ChainQuestion`; `check_chains` checks them. `check_folder` checks all that `gough certify` wrote, and derives the
questions anew from the user's study and poses.
"""

from gough.checker.certificate import Certificate, Verdict, digest
from gough.checker.chain_check import check_chains
from gough.checker.chain_files import load_chains, load_question, save_chains, save_question
from gough.checker.chain_proofs import (
    ChainBound,
    ChainCertificate,
    ChainCut,
    ChainEmpty,
    ChainFrame,
    ChainOutliers,
    ChainSplit,
    ChainStage,
    ChainWitness,
    JointEmpty,
    NumberedCut,
)
from gough.checker.chain_questions import ChainQuestion, question_of, together
from gough.checker.check import check
from gough.checker.files import load, save
from gough.checker.folders import FolderVerdict, check_folder
from gough.checker.leg_equations import LegMeasurements, PlatformMeasurements
from gough.checker.linear import NotProven, prove
from gough.checker.of_answer import certificate_of
from gough.checker.of_chain import chain_certificate, empty_certificate, outlier_certificate, witness_certificate
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
    Strip,
    Violated,
    Witness,
)
from gough.checker.rod_equations import RodEquations
from gough.checker.steps import Link, Reach, Split, Step

__all__ = [
    "BodyTerms",
    "Bound",
    "Certificate",
    "ChainBound",
    "ChainCertificate",
    "ChainCut",
    "ChainEmpty",
    "ChainFrame",
    "ChainOutliers",
    "ChainQuestion",
    "ChainSplit",
    "ChainStage",
    "ChainWitness",
    "Empty",
    "FolderVerdict",
    "Inside",
    "JointEmpty",
    "LegMeasurements",
    "Link",
    "NotProven",
    "NumberedCut",
    "PhysicalBound",
    "PhysicalEmpty",
    "PhysicalStep",
    "PlatformMeasurements",
    "Proof",
    "Reach",
    "RelaxedBound",
    "RelaxedEmpty",
    "RelaxedStep",
    "RodEquations",
    "Round",
    "Split",
    "Step",
    "Strip",
    "Verdict",
    "Violated",
    "Witness",
    "certificate_of",
    "chain_certificate",
    "check",
    "check_chains",
    "check_folder",
    "digest",
    "empty_certificate",
    "load",
    "load_chains",
    "load_question",
    "outlier_certificate",
    "prove",
    "question_of",
    "save",
    "save_chains",
    "save_question",
    "together",
    "witness_certificate",
]
