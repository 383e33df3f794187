"""Dynamic identification: a robot and its measured motion become a problem, and every method's answer with verdicts."""

from gough.dynamics.adequacy import Adequacy, Finding, VariantFit, adequacy_of
from gough.dynamics.base_parameters import base_parameters
from gough.dynamics.bodies import (
    CertifiedBodies,
    Ellipsoid,
    Limits,
    PhysicalOptions,
    PossibleBodies,
    certified_bodies,
    possible_bodies,
)
from gough.dynamics.cause import Cause
from gough.dynamics.causes import Causes, causes_of
from gough.dynamics.effects import catalogue
from gough.dynamics.gain import GainEstimate, gain_from_static_tests
from gough.dynamics.identify import MARGIN, identify
from gough.dynamics.named import DEFAULT_METHODS, METHODS, method_named
from gough.dynamics.periodic.benchmark import BenchmarkVerdict, Bias, all_parameters, benchmark
from gough.dynamics.periodic.by_repeat import ByRepeat, by_repeat
from gough.dynamics.periodic.errors_in_variables import errors_in_variables
from gough.dynamics.periodic.identify import IdentifiedRepeats, identify_repeated
from gough.dynamics.periodic.motion import RepeatedMotion, periods, runs
from gough.dynamics.periodic.order import OrderChoice, path_order, series_order
from gough.dynamics.periodic.path import on_fitted_path
from gough.dynamics.physical_cone import Impossible
from gough.dynamics.physics import Physics, physics_of
from gough.dynamics.recorded import dynamic, recorded
from gough.dynamics.reduce import base_values, reduced
from gough.dynamics.regressors import measured_regressor
from gough.dynamics.results import EstimatesByMethod, Identified, estimates_from_json
from gough.dynamics.signs import Sign
from gough.dynamics.validation import ExactBounds, Prediction, Validation, validated
from gough.dynamics.verdict import Verdict, verdict_of
from gough.dynamics.with_effects import WithEffects, with_effects

__all__ = [
    "DEFAULT_METHODS",
    "MARGIN",
    "METHODS",
    "Adequacy",
    "BenchmarkVerdict",
    "Bias",
    "ByRepeat",
    "Cause",
    "Causes",
    "CertifiedBodies",
    "Ellipsoid",
    "EstimatesByMethod",
    "ExactBounds",
    "Finding",
    "GainEstimate",
    "Identified",
    "IdentifiedRepeats",
    "Impossible",
    "Limits",
    "OrderChoice",
    "PhysicalOptions",
    "Physics",
    "PossibleBodies",
    "Prediction",
    "RepeatedMotion",
    "Sign",
    "Validation",
    "VariantFit",
    "Verdict",
    "WithEffects",
    "adequacy_of",
    "all_parameters",
    "base_parameters",
    "base_values",
    "benchmark",
    "by_repeat",
    "catalogue",
    "causes_of",
    "certified_bodies",
    "dynamic",
    "errors_in_variables",
    "estimates_from_json",
    "gain_from_static_tests",
    "identify",
    "identify_repeated",
    "measured_regressor",
    "method_named",
    "on_fitted_path",
    "path_order",
    "periods",
    "physics_of",
    "possible_bodies",
    "recorded",
    "reduced",
    "runs",
    "series_order",
    "validated",
    "verdict_of",
    "with_effects",
]
