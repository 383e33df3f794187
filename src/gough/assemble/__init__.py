"""Robot and data become a problem."""

from gough.assemble.by_repeat import ByRepeat, by_repeat
from gough.assemble.dynamic import dynamic
from gough.assemble.errors_in_variables import errors_in_variables
from gough.assemble.fitted_path import on_fitted_path
from gough.assemble.recorded import recorded
from gough.assemble.reduce import base_values, reduced
from gough.assemble.regressors import measured_regressor
from gough.assemble.repeated_motion import RepeatedMotion, periods, runs
from gough.assemble.series_order import OrderChoice, series_order

__all__ = [
    "ByRepeat",
    "OrderChoice",
    "RepeatedMotion",
    "base_values",
    "by_repeat",
    "dynamic",
    "errors_in_variables",
    "measured_regressor",
    "on_fitted_path",
    "periods",
    "recorded",
    "reduced",
    "runs",
    "series_order",
]
