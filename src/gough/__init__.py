"""gough identifies and calibrates parallel robots, and says how far its answers may be trusted.

A *problem* relates *unknowns* to measurements whose *noise* is stated. A *method* turns it into an *estimate*: a
*region* of parameter space, a *claim* about that region, and a *status*.
"""

from gough.core.errors import AssumptionError, GoughError, InputError
from gough.estimate import (
    Claim,
    Contractor,
    EllipsoidStats,
    Estimate,
    EstimationError,
    FitStats,
    HullStats,
    Method,
    RelaxedStats,
    Stats,
    Status,
    estimate,
)
from gough.evidence import Evidence
from gough.noise import Bounded, Gaussian
from gough.problem import Groups, LinearProblem, NonlinearProblem
from gough.region import Box, ConfidenceEllipsoid, Ellipsoid, Intersection, Region
from gough.unknowns import Unknowns

__version__ = "0.1.0"

__all__ = [
    "AssumptionError",
    "Bounded",
    "Box",
    "Claim",
    "ConfidenceEllipsoid",
    "Contractor",
    "Ellipsoid",
    "EllipsoidStats",
    "Estimate",
    "EstimationError",
    "Evidence",
    "FitStats",
    "Gaussian",
    "GoughError",
    "Groups",
    "HullStats",
    "InputError",
    "Intersection",
    "LinearProblem",
    "Method",
    "NonlinearProblem",
    "Region",
    "RelaxedStats",
    "Stats",
    "Status",
    "Unknowns",
    "estimate",
]
