"""Methods: each turns a problem into an estimate. None of them has ever seen a robot."""

from gough.methods.bounding_ellipsoid import BoundingEllipsoid, Form, predict
from gough.methods.ellipsoid_batch import ellipsoid_of_strips
from gough.methods.ellipsoid_stream import EllipsoidStream
from gough.methods.fixpoint import Fixpoint
from gough.methods.gauss_markov import GaussMarkov
from gough.methods.gauss_seidel import GaussSeidel
from gough.methods.hull_and_ellipsoid import HullAndEllipsoid
from gough.methods.hull_stream import HullStream
from gough.methods.identifiability import BaseParameter, Identifiability, identifiability
from gough.methods.instrumental_variables import InstrumentalVariables, own_regressor
from gough.methods.interval_newton import IntervalNewton
from gough.methods.least_squares import LeastSquares
from gough.methods.lifted import LiftedHull
from gough.methods.linear_hull import LinearHull, prediction_bounds
from gough.methods.maximum_likelihood import MaximumLikelihood, cramer_rao_bound
from gough.methods.minimal_bound import MinimalBound, minimal_bound
from gough.methods.noise_tests import NoiseTest
from gough.methods.outliers import Outliers, outliers
from gough.methods.predictions import Predictions, predictions
from gough.methods.relaxed_hull import RelaxedHull
from gough.methods.repeated import Repeated
from gough.methods.repeats import RepeatNoise, noise_from_repeats
from gough.methods.robust import Huber, RobustLeastSquares, Tukey
from gough.methods.row_contractor import RowContractor
from gough.methods.sweep import Sweep, sweep
from gough.methods.then import Then
from gough.methods.tight_ellipsoid import TightEllipsoid
from gough.methods.total_least_squares import TotalLeastSquares
from gough.methods.weighted_least_squares import WeightedLeastSquares

__all__ = [
    "BaseParameter",
    "BoundingEllipsoid",
    "EllipsoidStream",
    "Fixpoint",
    "Form",
    "GaussMarkov",
    "GaussSeidel",
    "Huber",
    "HullAndEllipsoid",
    "HullStream",
    "Identifiability",
    "InstrumentalVariables",
    "IntervalNewton",
    "LeastSquares",
    "LiftedHull",
    "LinearHull",
    "MaximumLikelihood",
    "MinimalBound",
    "NoiseTest",
    "Outliers",
    "Predictions",
    "RelaxedHull",
    "RepeatNoise",
    "Repeated",
    "RobustLeastSquares",
    "RowContractor",
    "Sweep",
    "Then",
    "TightEllipsoid",
    "TotalLeastSquares",
    "Tukey",
    "WeightedLeastSquares",
    "cramer_rao_bound",
    "ellipsoid_of_strips",
    "identifiability",
    "minimal_bound",
    "noise_from_repeats",
    "outliers",
    "own_regressor",
    "predict",
    "prediction_bounds",
    "predictions",
    "sweep",
]
