"""gough identifies and calibrates parallel robots; its answers are confidence regions or guaranteed sets.

Verbs, all importable from `gough`:

    estimate(problem, method)                       any problem by any method: an Estimate
    identify(robot, motion)                         dynamic parameters from a recorded motion, by several methods
    calibrate(robot, poses)                         geometric parameters from measured poses
    certify(robot, poses, tolerances)               prove which geometry fits measured poses within tolerances, or that
                                                    none does, with certificates
    check(certificates)                             verify certificates again, in exact rational arithmetic: a folder,
                                                    a file, what certify returned, or check(certificate, problem)
    design(robot, limits)                           optimize a trajectory for identification, within limits
    choose_poses(robot, limits, count=16,           optimize the poses of a calibration, within limits, for the
                 position=1e-4, readings=1e-5)      standard deviations of measured positions and readings
    Study.read("study.toml")                        the study of any kind in a TOML file, as the commands read it;
                                                    read_study("study.toml") is the same
    write_report(answer, "folder")                  the page, figures and JSON of an answer, as the commands write them

Nouns:

    Unknowns                                        names, units, nominal values and prior of the parameters
    Gaussian, Bounded                               the noise: a covariance, or bounds on every error
    LinearProblem, NonlinearProblem, Groups         measurements, unknowns and noise: y = W θ + e, or f(θ, m) = 0
    Estimate                                        the answer: a region, a Claim about it, a Status, notes
    Box, Ellipsoid, Intersection                    guaranteed sets
    Interval                                        lower and upper bound of one unknown
    ConfidenceEllipsoid                             a Gaussian confidence region
    Claim                                           VALUE, CONFIDENCE, ENCLOSURE or PROOF: what an answer asserts
    Method, Contractor, Region                      protocols, for methods and regions of your own
    GoughError                                      base of InputError, AssumptionError, EstimationError

The answers of all verbs have the same interface (`gough.answers.Answer`):

    answer["mass"], answer.interval("mass")         value and interval of one parameter; answer.names lists them
    print(answer), answer.table()                   the table with notes; notebooks show it as HTML
    answer.to_json()                                data for a file; Estimate.from_json(text) restores an estimate
    answer.report("folder")                         the page, figures and JSON that the commands write

Examples:
    A mass is weighed three times; no reading errs by more than 0.2. The interval is proven to contain it.

    >>> import gough
    >>> unknowns = gough.Unknowns(["mass"], units=["kg"])
    >>> problem = gough.LinearProblem([[1.0], [1.0], [1.0]], [2.1, 1.9, 2.0], unknowns, gough.Bounded(0.2))
    >>> answer = gough.estimate(problem, gough.methods.LinearHull())
    >>> answer.claim.name, 2.0 in answer.interval("mass"), 2.2 in answer.interval("mass")
    ('PROOF', True, False)

Subpackages load when they are first used: `gough.methods` (least squares to guaranteed hulls), `gough.robots` (models
and mechanisms), `gough.data` (recordings and poses from files), `gough.dynamics` (identification), `gough.geometry`
(calibration), `gough.closure` (certified geometry), `gough.checker` (certificates), `gough.designs` (trajectories and
poses), `gough.simulate` (virtual experiments), `gough.export` (models for other programs), `gough.watch` (a running
robot), `gough.vision` (poses from images), `gough.campaigns` (many tasks on many cores), `gough.report`,
`gough.studies`, `gough.papers` (reproductions and demonstrations), `gough.kernels` (expressions to compiled code). The
command line is `gough --help`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gough import campaigns as campaigns
    from gough import checker as checker
    from gough import closure as closure
    from gough import control as control
    from gough import data as data
    from gough import designs as designs
    from gough import dynamics as dynamics
    from gough import export as export
    from gough import geometry as geometry
    from gough import kernels as kernels
    from gough import methods as methods
    from gough import papers as papers
    from gough import report as report
    from gough import robots as robots
    from gough import simulate as simulate
    from gough import studies as studies
    from gough import vision as vision
    from gough import watch as watch
    from gough.closure import certify
    from gough.core.errors import AssumptionError, GoughError, InputError
    from gough.designs.excitation import design
    from gough.designs.poses import choose_poses
    from gough.dynamics import identify
    from gough.estimates import Claim, Contractor, Estimate, EstimationError, Method, Status, estimate
    from gough.geometry import calibrate
    from gough.noise import Bounded, Gaussian
    from gough.problem import Groups, LinearProblem, NonlinearProblem
    from gough.region import Box, ConfidenceEllipsoid, Ellipsoid, Intersection, Interval, Region
    from gough.report import write_report
    from gough.studies import Study, check, read_study
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
    "Estimate",
    "EstimationError",
    "Gaussian",
    "GoughError",
    "Groups",
    "InputError",
    "Intersection",
    "Interval",
    "LinearProblem",
    "Method",
    "NonlinearProblem",
    "Region",
    "Status",
    "Study",
    "Unknowns",
    "calibrate",
    "certify",
    "check",
    "choose_poses",
    "design",
    "estimate",
    "identify",
    "read_study",
    "write_report",
]

_SUBPACKAGES = frozenset(
    {
        "campaigns",
        "checker",
        "closure",
        "control",
        "data",
        "designs",
        "dynamics",
        "export",
        "geometry",
        "kernels",
        "methods",
        "papers",
        "report",
        "robots",
        "simulate",
        "studies",
        "vision",
        "watch",
    }
)
_PLACES = {
    "AssumptionError": "gough.core.errors",
    "Bounded": "gough.noise",
    "Box": "gough.region",
    "Claim": "gough.estimates",
    "ConfidenceEllipsoid": "gough.region",
    "Contractor": "gough.estimates",
    "Ellipsoid": "gough.region",
    "Estimate": "gough.estimates",
    "EstimationError": "gough.estimates",
    "Gaussian": "gough.noise",
    "GoughError": "gough.core.errors",
    "Groups": "gough.problem",
    "InputError": "gough.core.errors",
    "Intersection": "gough.region",
    "Interval": "gough.region",
    "LinearProblem": "gough.problem",
    "Method": "gough.estimates",
    "NonlinearProblem": "gough.problem",
    "Region": "gough.region",
    "Status": "gough.estimates",
    "Study": "gough.studies",
    "Unknowns": "gough.unknowns",
    "calibrate": "gough.geometry",
    "certify": "gough.closure",
    "check": "gough.studies",
    "choose_poses": "gough.designs.poses",
    "design": "gough.designs.excitation",
    "estimate": "gough.estimates",
    "identify": "gough.dynamics",
    "read_study": "gough.studies",
    "write_report": "gough.report",
}
"""Where each name is defined: it is imported at its first use, so that `gough --help` does without NumPy."""
_MODULES = frozenset({"answers", "core", "estimates", "evidence", "noise", "problem", "region", "unknowns"})
"""Modules that load like subpackages, without being listed."""
_MOVED = {
    "EllipsoidStats": "gough.estimates",
    "Evidence": "gough.evidence",
    "FitStats": "gough.estimates",
    "HullStats": "gough.estimates",
    "RelaxedStats": "gough.estimates",
    "Stats": "gough.estimates",
}
"""Names that were exported here before 0.2, and where they are."""


if not TYPE_CHECKING:  # or else type checkers would accept any name

    def __getattr__(name: str) -> Any:
        if name in _SUBPACKAGES or name in _MODULES:
            return import_module(f"gough.{name}")
        if name in _PLACES:
            globals()[name] = value = getattr(import_module(_PLACES[name]), name)
            return value
        if name in _MOVED:
            import warnings  # noqa: PLC0415 - start-up time

            message = f"gough.{name} will be removed in version 0.2: write from {_MOVED[name]} import {name}"
            warnings.warn(message, DeprecationWarning, stacklevel=2)
            return getattr(import_module(_MOVED[name]), name)
        raise AttributeError(f"module 'gough' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*__all__, *_SUBPACKAGES, *(name for name in globals() if name.startswith("__"))})
