"""Robot and data become a problem."""

from gough.assemble.dynamic import dynamic
from gough.assemble.recorded import recorded
from gough.assemble.reduce import base_values, reduced
from gough.assemble.regressors import measured_regressor

__all__ = ["base_values", "dynamic", "measured_regressor", "recorded", "reduced"]
