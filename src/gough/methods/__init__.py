"""Methods: each turns a problem into an estimate. None of them has ever seen a robot."""

from gough.methods.fixpoint import Fixpoint
from gough.methods.gauss_markov import GaussMarkov
from gough.methods.gauss_seidel import GaussSeidel
from gough.methods.identifiability import BaseParameter, Identifiability, identifiability
from gough.methods.least_squares import LeastSquares
from gough.methods.linear_hull import LinearHull, prediction_bounds
from gough.methods.repeated import Repeated
from gough.methods.robust import Huber, RobustLeastSquares, Tukey
from gough.methods.row_contractor import RowContractor
from gough.methods.then import Then
from gough.methods.weighted_least_squares import WeightedLeastSquares

__all__ = [
    "BaseParameter",
    "Fixpoint",
    "GaussMarkov",
    "GaussSeidel",
    "Huber",
    "Identifiability",
    "LeastSquares",
    "LinearHull",
    "Repeated",
    "RobustLeastSquares",
    "RowContractor",
    "Then",
    "Tukey",
    "WeightedLeastSquares",
    "identifiability",
    "prediction_bounds",
]
