"""From a robot and its measured motion to parameters by every method, with a verdict on how far to trust them."""

from gough.identification.adequacy import adequacy_of
from gough.identification.benchmark_motion import BenchmarkVerdict, Bias, all_parameters, benchmark
from gough.identification.gain import gain_from_static_tests
from gough.identification.identify import MARGIN, identify
from gough.identification.named import DEFAULT_METHODS, METHODS, method_named
from gough.identification.repeated import IdentifiedRepeats, identify_repeated
from gough.identification.results import (
    Adequacy,
    EstimatesByMethod,
    ExactBounds,
    Finding,
    GainEstimate,
    Identified,
    Prediction,
    Step,
    Validation,
    VariantFit,
    estimates_from_json,
)
from gough.identification.validation import validated
from gough.identification.words import verdicts

__all__ = [
    "DEFAULT_METHODS",
    "MARGIN",
    "METHODS",
    "Adequacy",
    "BenchmarkVerdict",
    "Bias",
    "EstimatesByMethod",
    "ExactBounds",
    "Finding",
    "GainEstimate",
    "Identified",
    "IdentifiedRepeats",
    "Prediction",
    "Step",
    "Validation",
    "VariantFit",
    "adequacy_of",
    "all_parameters",
    "benchmark",
    "estimates_from_json",
    "gain_from_static_tests",
    "identify",
    "identify_repeated",
    "method_named",
    "validated",
    "verdicts",
]
