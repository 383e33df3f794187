"""A noise level that does not come from the fit, and the test of the residuals against it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from gough.core import fisher
from gough.core.arrays import Array, ArrayValue, Mask, array
from gough.core.errors import require
from gough.core.tables import Cell, Column, Table, table
from gough.core.text import listed, number, percent
from gough.data import MeasuredMotion
from gough.dynamics.position_errors import PositionErrors, lags_of, pair_counts
from gough.dynamics.signs import LEVEL, Sign, chance, p_equals
from gough.methods.statistical import linear
from gough.methods.statistical.least_squares import group_sigma
from gough.methods.statistical.residuals import Fitted, noise_model
from gough.methods.statistical.whitening import ByGroup, Unweighted
from gough.problem import LinearProblem

STATED, REPEATS, ABOVE_THE_BAND = "stated", "repeats", "above the band"
ABOUT = "noise level"
"""What `Sign.about` calls the test."""
TOLERANCE = 0.05
"""A level from above the band holds for the band itself only so well: residuals reject the model if their mean
square exceeds the level by more than this part, beyond chance."""
_KNOWN = 1e-3
"""A level whose relative standard deviation is smaller is printed without ±."""
PRECISION = 3e-4
"""No effort is predicted better than to this part of its root mean square: filters and differences err as well."""


@dataclass(frozen=True, eq=False)
class NoiseLevel(ArrayValue):
    """The noise of each actuator's filtered effort, known from elsewhere than the fit, and the residuals beside it.

    All arrays have an entry for each actuator. `str()` of it is a table.

    Examples:
        >>> one = np.ones(1)
        >>> level = NoiseLevel(("motor 1",), ("N·m",), "stated", 0.01 * one, 0 * one, 0 * one, inf * one, one == 1,
        ...                    residual=0.03 * one, residual_dof=200 * one)
        >>> level.sign.against, level.sign.statistic
        (True, 'residual / noise = 3.00')
    """

    actuators: tuple[str, ...]
    units: tuple[str, ...]
    source: str
    """Where the noise of the efforts is known from: `stated`, `repeats`, or `above the band`."""
    efforts: Array
    """Standard deviation of the noise of the efforts, after the low-pass."""
    positions: Array
    """Standard deviation that errors of the positions cause in the efforts of the model, after the low-pass."""
    precision: Array
    """What computation itself is taken to err by."""
    dof: Array
    """Independent values behind `sigma`; infinite where it is stated."""
    is_white: Mask
    """Whether the noise above the band is even, so that it is expected to continue into the band; True if stated."""
    residual: Array
    """Root mean square of the errors of the rows as the fit shows them, freed from what the fit takes out."""
    residual_dof: Array
    """Independent values behind `residual`."""

    @property
    def sigma(self) -> Array:
        """Standard deviation of all noise together."""
        return np.sqrt(self.efforts**2 + self.positions**2 + self.precision**2)

    @property
    def sigma_error(self) -> Array:
        """Standard deviation of `sigma` itself."""
        return self.sigma / np.sqrt(2 * self.dof)

    @property
    def ratio(self) -> Array:
        """Residual over noise."""
        return self.residual / self.sigma

    @property
    def excess(self) -> float:
        """Part of the mean square of the residuals, each actuator over its noise, that the noise does not explain."""
        squares = self.ratio[self.is_white] ** 2
        return max(0.0, 1 - len(squares) / float(squares.sum())) if squares.size else 0.0

    @property
    def is_known(self) -> bool:
        """Whether the level is known in the band for any actuator: else the residuals are not tested against it."""
        return bool(self.is_white.any())

    @property
    def tolerance(self) -> float:
        """Part by which the mean square may exceed the level for reasons other than chance."""
        return TOLERANCE if self.source == ABOVE_THE_BAND else 0.0

    @property
    def p_larger(self) -> Array:
        """Probability of a mean square at least as large, if nothing but this noise is left."""
        return fisher.above(self.residual_dof, self.dof, self.ratio**2 / (1 + self.tolerance))

    @property
    def p_smaller(self) -> Array:
        """Probability of a mean square at most as large."""
        return fisher.below(self.residual_dof, self.dof, self.ratio**2 * (1 + self.tolerance))

    @property
    def sign(self) -> Sign:
        """The test of the residuals against the noise, over all actuators; rejects a model that leaves more."""
        n = len(self.actuators)
        larger, smaller = np.minimum(n * self.p_larger, 1.0), np.minimum(n * self.p_smaller, 1.0)
        refuting = (larger < LEVEL) & self.is_white
        tested = self.is_white if self.is_white.any() else np.ones(n, dtype=bool)
        worst = int(np.argmax(np.where(tested, self.ratio, -inf)))
        return Sign(
            ABOUT,
            against=bool(refuting.any()),
            statistic=f"residual / noise = {self.ratio[worst]:.2f}",
            p=float(larger[worst]),
            sentences=self._sentences(worst, larger, smaller),
        )

    def _sentences(self, worst: int, larger: Array, smaller: Array) -> tuple[str, ...]:
        unit, name = self.units[worst], self.actuators[worst]
        part = 1 / np.sqrt(2 * self.dof[worst])
        known = f" ± {percent(part)}" if part > _KNOWN else ""
        level = f"{number(float(self.sigma[worst]), digits=3)} {unit}{known}"
        which = f"The noise of the filtered efforts is {level} for {name} ({_WHENCE[self.source]}{self._parts(worst)})"
        ratio = f"the residuals are {self.ratio[worst]:.3g} times that"
        by_chance = p_equals(float(larger[worst]))
        beyond = (larger < LEVEL) & self.is_white
        lines = []
        if beyond.any():
            names = listed([self.actuators[i] for i in np.flatnonzero(beyond)])
            lines.append(
                f"{which}; {ratio} ({by_chance}): an effect is missing from the model of {names}, or the noise is "
                f"larger {'than stated' if self.source == STATED else 'in the band of the motion than this level'}."
            )
        elif self.is_white.any():
            lines.append(f"{which}; {ratio}, so the noise explains them ({by_chance}).")
        else:
            lines.append(f"{which}; {ratio}.")
        if self.source == ABOVE_THE_BAND and self.is_white.any():
            lines.append("This level holds if the noise of the measured efforts is white.")
        colored = [name for name, white in zip(self.actuators, self.is_white, strict=True) if not white]
        if colored:
            lines.append(
                f"The noise of {listed(colored)} is not white above the band, or the recording is too short to show "
                "it, so its level in the band is not known from there, and nothing is concluded: state sigma in "
                "[noise], or record repeats."
            )
        below = (smaller < LEVEL) & self.is_white
        if below.any():
            names = listed([self.actuators[i] for i in np.flatnonzero(below)])
            lines.append(
                f"The residuals of {names} are smaller than this noise: it is overstated, and hides smaller effects."
            )
        return tuple(lines)

    def _parts(self, i: int) -> str:
        share = float(self.positions[i] ** 2 / self.sigma[i] ** 2)
        return f"; {percent(share)} of its variance from errors of the positions" if share > 0.01 else ""

    def table(self) -> Table:
        """A row for each actuator: noise, its parts, the residual, and the probability."""
        columns = [
            Column("actuator", "label"), Column("unit", "unit"), Column("noise of efforts"), Column("by positions"),
            Column("noise"), Column("±"), Column("residual"), Column("residual / noise"), Column("p"), Column("white?"),
        ]  # fmt: skip
        rows: list[list[str | Cell]] = []
        for i, (name, unit) in enumerate(zip(self.actuators, self.units, strict=True)):
            error = self.sigma_error[i] if self.sigma_error[i] > _KNOWN * self.sigma[i] else np.nan
            numbers = (self.positions[i], self.sigma[i], error, self.residual[i])
            own = number(float(self.efforts[i]), digits=3) if self.efforts[i] > 0 else "unknown"
            rows.append(
                [
                    name, unit, own, *(number(float(value), digits=3) for value in numbers), f"{self.ratio[i]:.2f}",
                    chance(float(self.p_larger[i]) if self.is_white[i] else None), "yes" if self.is_white[i] else "no",
                ]
            )  # fmt: skip
        return table(columns, rows, "." * len(columns), "Residuals against the noise of the filtered efforts")

    def __str__(self) -> str:
        return "\n".join([str(self.table()), *self.sign.sentences])

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        sign = self.sign
        return {
            "source": self.source,
            "actuators": [
                {
                    "name": name,
                    "unit": self.units[i],
                    "sigma": float(self.sigma[i]),
                    "efforts": float(self.efforts[i]),
                    "positions": float(self.positions[i]),
                    "dof": float(self.dof[i]) if np.isfinite(self.dof[i]) else None,
                    "white": bool(self.is_white[i]),
                    "residual": float(self.residual[i]),
                    "p": float(self.p_larger[i]) if self.is_white[i] else None,
                }
                for i, name in enumerate(self.actuators)
            ],
            "against": sign.against,
            "p": sign.p if self.is_known else None,
        }


_WHENCE: Mapping[str, str] = {
    STATED: "stated",
    REPEATS: "from the repeats",
    ABOVE_THE_BAND: "from the spectrum above the band of the motion",
}


def stated_sigma(sigma: float | Sequence[float] | Array | None, names: tuple[str, ...], what: str) -> Array | None:
    """Standard deviations of single readings, from one number for all channels or one for each; None stays None."""
    if sigma is None:
        return None
    values = array(sigma, what, ndim=(0, 1))
    n = len(names)
    fits = values.ndim == 0 or len(values) == n
    require(fits, f"give one {what}, or one for each of {', '.join(names)}; there are {values.size}")
    wrong = [name for name, s in zip(names, np.broadcast_to(values, n), strict=True) if not 0 < s < inf]
    require(not wrong, f"{what} must be positive and finite, but that of {', '.join(wrong)} is not")
    return np.array(np.broadcast_to(values, n))


def noise_level(
    motion: MeasuredMotion, problem: LinearProblem, *, sigma: Array | None = None, errors: PositionErrors | None = None
) -> NoiseLevel | None:
    """The noise level of the rows of a problem, and their residuals; None where neither is known from elsewhere.

    Args:
        motion: What was measured.
        problem: The equations that are solved; a group for each actuator.
        sigma: Standard deviation of one reading of each effort, before any filter; None takes it from the spectrum
            above the band.
        errors: The effect of errors of the positions.
    """
    full = motion.full_rate
    measured = None if full is None else full.efforts_noise
    n = len(motion.actuators)
    if sigma is None and (measured is None or not np.isfinite(measured.density).any()):
        return None
    left = 1.0 if full is None else full.band.width
    if sigma is not None:
        variance = sigma**2 * (1.0 if full is None else left / (full.rate / 2))
        source, dof, white = STATED, np.full(n, inf), np.ones(n, dtype=bool)
    else:
        assert measured is not None
        known = np.isfinite(measured.density)
        variance = np.where(known, measured.density * left + measured.colored, 0.0)
        source, dof, white = ABOVE_THE_BAND, np.where(known, measured.dof, 1.0), measured.is_white
    moved = np.zeros(n) if errors is None else errors.variance
    residual, freedom = _residuals(motion, problem, variance, errors)
    precision = PRECISION * np.sqrt((motion.efforts**2).mean(axis=0))
    total = variance + moved + precision**2
    with np.errstate(divide="ignore", invalid="ignore"):
        scatter = np.where(np.isfinite(dof), variance**2 / dof, 0.0) + moved**2 / _MODELLED
        level_dof = np.where(scatter > 0, total**2 / np.where(scatter > 0, scatter, 1.0), inf)
    return NoiseLevel(
        motion.actuators,
        motion.effort_units,
        source,
        np.sqrt(variance),
        np.sqrt(moved),
        precision,
        level_dof,
        white,
        residual,
        freedom,
    )


_MODELLED = 50.0
"""Equivalent number of independent values behind the part that errors of positions cause: known to about 20 % of its
variance, since it is computed to first order from a smoothed path."""


def _residuals(
    motion: MeasuredMotion, problem: LinearProblem, variance: Array, errors: PositionErrors | None
) -> tuple[Array, Array]:
    """Root mean square errors of each actuator's rows freed from what the fit takes out, and independent values."""
    n = len(problem.groups)
    sigma = group_sigma(problem, linear.solve(problem, Unweighted(), rtol=None))
    whiten = ByGroup(sigma, problem.groups)
    solution = linear.solve(problem, whiten, rtol=None)
    model = noise_model(Fitted(problem, whiten, solution.theta, solution.columns, solution.inverse_root))
    residual = sigma * np.sqrt(model.covariance.diagonal())
    count = motion.kept.sum(axis=0)
    if motion.full_rate is None:
        return residual, np.maximum(count - len(solution.columns) / n, 1.0)
    lags = lags_of(motion)
    pairs = pair_counts(motion.kept, motion, lags) * np.append(1.0, np.full(lags, 2.0))
    lagged = np.outer(variance, _autocorrelation(motion, lags))
    # variance of the mean square: of Gaussian noise by its autocovariance, of errors of rounding by their repetitions
    scatter = 2 * (pairs * lagged**2).sum(axis=1)
    total = variance
    if errors is not None and errors.lagged is not None and errors.scatter is not None:
        scatter = scatter + 4 * (pairs * lagged * errors.lagged).sum(axis=1) + errors.scatter * count.astype(float) ** 2
        total = total + errors.variance
    independent = 2 * total**2 * count.astype(float) ** 2 / np.where(scatter > 0, scatter, inf)
    # the fit takes as large a share of the independent values as of the power
    left = np.bincount(
        problem.groups.of_row(problem.n_rows), problem.residuals(solution.theta) ** 2, minlength=n
    ) / np.maximum(count * residual**2, 1e-300)
    return residual, np.maximum(independent * np.clip(left, 0.0, 1.0), 1.0)


def _autocorrelation(motion: MeasuredMotion, lags: int) -> Array:
    """Autocorrelation of white noise that has passed the low-pass, over the samples of the motion."""
    full = motion.full_rate
    assert full is not None
    stride = round(full.rate / motion.rate)
    size = 2 * max(4096, 4 * lags * stride)
    power = full.band.response(np.asarray(np.fft.rfftfreq(size, 1 / full.rate), dtype=np.float64)) ** 2
    covariance = np.fft.irfft(power, size)[: lags * stride + 1 : stride]
    return np.asarray(covariance / covariance[0])
