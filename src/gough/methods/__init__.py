"""Methods: each turns a problem into an estimate. None of them depends on robots."""

from gough.methods.bounded.contractors import Fixpoint, RowContractor, Then
from gough.methods.bounded.gauss_seidel import GaussSeidel
from gough.methods.bounded.hull_stream import HullStream
from gough.methods.bounded.linear_hull import LinearHull
from gough.methods.bounded.minimal_bound import MinimalBound, minimal_bound
from gough.methods.bounded.outliers import Outliers, outliers
from gough.methods.bounded.predictions import Predictions, prediction_bounds, predictions
from gough.methods.bounded.relaxed_hull import RelaxedHull
from gough.methods.bounded.sweep import Sweep, sweep
from gough.methods.ellipsoids.batch import ellipsoid_of_strips
from gough.methods.ellipsoids.bounding import BoundingEllipsoid, Form, predict
from gough.methods.ellipsoids.stream import EllipsoidStream
from gough.methods.ellipsoids.tight import HullAndEllipsoid, TightEllipsoid
from gough.methods.noise.noise_tests import NoiseTest
from gough.methods.noise.repeats import RepeatNoise, noise_from_repeats
from gough.methods.nonlinear.gauss_newton import GaussNewton
from gough.methods.nonlinear.interval_newton import IntervalNewton
from gough.methods.nonlinear.lifted import LiftedHull
from gough.methods.nonlinear.maximum_likelihood import MaximumLikelihood, cramer_rao_bound
from gough.methods.statistical.gauss_markov import GaussMarkov
from gough.methods.statistical.identifiability import BaseParameter, Identifiability, identifiability
from gough.methods.statistical.instrumental_variables import InstrumentalVariables, own_regressor
from gough.methods.statistical.least_squares import LeastSquares, WeightedLeastSquares
from gough.methods.statistical.robust import Huber, RobustLeastSquares, Tukey
from gough.methods.statistical.total_least_squares import TotalLeastSquares

__all__ = [
    "BaseParameter",
    "BoundingEllipsoid",
    "EllipsoidStream",
    "Fixpoint",
    "Form",
    "GaussMarkov",
    "GaussNewton",
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
