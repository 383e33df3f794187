"""Observability indices: one number for how well a set of poses shows the parameters."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core.arrays import array
from gough.core.errors import require


@dataclass(frozen=True)
class ObservabilityIndices:
    """The five indices of robot calibration and what design of experiments calls A-, D- and E-optimality [SH08].

    Of the singular values σ_1 ≥ … ≥ σ_m of the identification Jacobian of n poses, m parameters. All O are better the
    larger they are. Only O1 orders sets of poses alike whatever the units of the parameters.

    Examples:
        >>> found = ObservabilityIndices.of([4.0, 1.0], n_poses=4)
        >>> found.O1, found.O2, found.O3, found.O4, found.O5
        (1.0, 0.25, 1.0, 0.25, 0.8)
        >>> round(found.D, 9), found.A, found.E
        (16.0, 1.0625, 1.0)
    """

    O1: float
    """(σ_1 … σ_m)^(1/m) / √n [BM91]."""
    O2: float
    """σ_m / σ_1, the inverse condition number [DP90]."""
    O3: float
    """σ_m [NHH94]."""
    O4: float
    """σ_m² / σ_1, the noise amplification index [NH96]."""
    O5: float
    """1 / (1/σ_1 + … + 1/σ_m) [SH08]."""
    log_det: float
    """ln D."""
    A: float
    """Σ 1/σ²: the sum of the parameters' variances; better small."""
    E: float
    """σ_m²: the information of the weakest direction; better large."""

    @property
    def D(self) -> float:
        """∏ σ²: the determinant of the information; better large. Infinite beyond what a float holds."""
        with np.errstate(over="ignore"):
            return float(np.exp(self.log_det))

    @classmethod
    def of(cls, singular_values: Any, n_poses: int) -> "ObservabilityIndices":
        """From the singular values of n poses; where one is zero, all indices are, and A is infinite."""
        s = np.sort(array(singular_values, "singular values", ndim=1))[::-1]
        require(len(s) > 0 and bool((s >= 0).all()), "singular values must be numbers ≥ 0, one at least")
        require(n_poses > 0, f"the number of poses must be positive, but is {n_poses}")
        if s[-1] == 0:
            return cls(0.0, 0.0, 0.0, 0.0, 0.0, -np.inf, np.inf, 0.0)
        log_det = float(2 * np.log(s).sum())
        return cls(
            O1=float(np.exp(log_det / (2 * len(s))) / np.sqrt(n_poses)),
            O2=float(s[-1] / s[0]),
            O3=float(s[-1]),
            O4=float(s[-1] ** 2 / s[0]),
            O5=float(1 / (1 / s).sum()),
            log_det=log_det,
            A=float((1 / s**2).sum()),
            E=float(s[-1] ** 2),
        )
