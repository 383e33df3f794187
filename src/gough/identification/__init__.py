"""From a robot and its measured motion to parameters by every method, with a verdict on how far to trust them."""

from gough.identification.results import (
    Adequacy,
    ExactBounds,
    Finding,
    GainEstimate,
    Identified,
    Prediction,
    Step,
    Validation,
    VariantFit,
)

__all__ = [
    "Adequacy",
    "ExactBounds",
    "Finding",
    "GainEstimate",
    "Identified",
    "Prediction",
    "Step",
    "Validation",
    "VariantFit",
]
