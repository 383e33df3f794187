"""Two clocks: how late efforts are against the motion, how fast their clock drifts, and how far this is known.

Efforts that are late by d(t) are, to first order, those of the model less d(t) times their slope. Late and drift are
estimated together with the parameters, by least squares with a weight for each actuator, and efforts are resampled with
them, until nothing is left to correct. At that point the slopes z of the model are orthogonal to the residuals of the
resampled efforts y(t + d). An error e of the efforts therefore moves the estimate by −(zᵀẏ)⁻¹ zᵀe, where ẏ is the slope
of the measured efforts and z is freed from what the parameters explain: this is the error that ± states, with the
autocorrelation of the residuals. The slopes of the model alone, (zᵀz)⁻¹ zᵀe, would understate it, since they contain
the noise of the positions and of the parameters.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from gough.core.arrays import Array, frozen
from gough.core.errors import require
from gough.data import Recording, prepare
from gough.data.clock_correction import retimed
from gough.data.motion import ClockErrors, MeasuredMotion, StepReport
from gough.data.resampling import band_limited
from gough.data.steps import EffortFromDriveSignal, Step
from gough.dynamics.excitation import model_efforts, through_low_pass
from gough.dynamics.recorded import recorded
from gough.dynamics.reduce import reduced
from gough.estimates import estimate
from gough.methods import WeightedLeastSquares
from gough.methods.statistical.identifiability import identifiability
from gough.problem import LinearProblem
from gough.region import ConfidenceEllipsoid
from gough.robots.model import DynamicModel
from gough.unknowns import Unknowns

_ROUNDS = 8
_SETTLED = 0.02
"""Share of σ below which a correction is none."""
_RTOL = 1e-6
"""Directions that the motion excites less than this share say nothing about clocks."""
_STEP = 0.1
"""Share of a sample by which efforts are moved to and fro for their slope."""
FARTHEST = 0.5
"""Seconds that clocks are searched to be apart."""


@dataclass(frozen=True)
class ClockEstimate:
    """How late efforts are stamped against the motion, in the middle of a recording, and the drift of their clock.

    Examples:
        >>> print(ClockEstimate(0.00103, 2e-5, 9.8e-6, 1.1e-6, 30.0, 0.0, 1e-4, 0, 30000))
        efforts are 1.030 ± 0.039 ms late, and their clock drifts by 9.8 ± 2.2 ppm (95 %)
    """

    late: float
    """s; negative where the motion is late."""
    late_sigma: float
    drift: float
    """Seconds by which efforts get later in each second."""
    drift_sigma: float
    duration: float
    """s of the recording."""
    jitter: float
    """Root mean square deviation of time stamps from the even grid, s."""
    jitter_tenth: float
    """Jitter of the instants of sampling that raises σ of the parameters by 10 %, s."""
    lost: int
    """Samples that were lost."""
    samples: int
    dof: float = inf
    """Degrees of freedom of the residuals, for Student's quantiles."""
    correlation: float = 0.0
    """Correlation of the errors of `late` and `drift`."""

    @property
    def covariance(self) -> Array:
        """(2, 2) of `late` and `drift`."""
        sigma = np.array([self.late_sigma, self.drift_sigma])
        return np.outer(sigma, sigma) * np.array([[1.0, self.correlation], [self.correlation, 1.0]])

    @property
    def _quantile(self) -> float:
        from scipy.special import ndtri, stdtrit  # noqa: PLC0415 - start-up time

        return float(ndtri(0.975) if self.dof == inf else stdtrit(self.dof, 0.975))

    @property
    def late_95(self) -> float:
        """Half-width of the 95 % interval of `late`, s."""
        return self._quantile * self.late_sigma

    @property
    def drift_95(self) -> float:
        """Half-width of the 95 % interval of `drift`."""
        return self._quantile * self.drift_sigma

    @property
    def is_shown(self) -> bool:
        """Whether the data show an offset or a drift: both intervals hold zero otherwise."""
        return abs(self.late) > self.late_95 or abs(self.drift) > self.drift_95

    @property
    def jitter_cost(self) -> float:
        """Share by which σ of the parameters is larger if the samples were taken at the stamped, uneven instants."""
        return float(np.sqrt(1 + 0.21 * (self.jitter / self.jitter_tenth) ** 2) - 1)

    @property
    def loss_cost(self) -> float:
        """Share by which σ of the parameters is larger for want of the lost samples."""
        return float(np.sqrt(self.samples / max(self.samples - self.lost, 1)) - 1)

    @property
    def costs(self) -> str:
        """What jitter and lost samples cost, in words."""
        return (
            f"stamps deviate by {1e6 * self.jitter:.3g} µs rms, which raises σ by {self.jitter_cost:.1%} if samples "
            f"were taken unevenly ({1e6 * self.jitter_tenth:.3g} µs would raise it by 10 %); {self.lost} of "
            f"{self.samples} samples are missing, which raises σ by {self.loss_cost:.1%}"
        )

    def __str__(self) -> str:
        digits = max(0, int(np.ceil(1 - np.log10(max(1e3 * self.late_95, 1e-9)))))
        tenths = max(0, int(np.ceil(1 - np.log10(max(1e6 * self.drift_95, 1e-9)))))
        return (
            f"efforts are {1e3 * self.late:.{digits}f} ± {1e3 * self.late_95:.{digits}f} ms late, and their clock "
            f"drifts by {1e6 * self.drift:.{tenths}f} ± {1e6 * self.drift_95:.{tenths}f} ppm (95 %)"
        )


def compare_clocks(
    robot: DynamicModel,
    recording: Recording,
    coordinates: Sequence[str],
    efforts: Sequence[str],
    steps: Sequence[Step],
) -> ClockEstimate:
    """How late the clock of the efforts is against that of the motion, and its drift, with ±.

    The model must be that of the robot: an effect that it leaves out, such as elasticity, may look like a delay. A
    delay of drives and filters cannot be told from one of clocks; only drift is that of clocks alone.

    Args:
        robot: The model whose efforts are compared.
        recording: Motion and efforts, on one grid.
        coordinates: Channels of the robot's coordinates.
        efforts: Channels of the efforts, of one clock.
        steps: The preparation, see `gough.data.prepare`.

    Raises:
        InputError: the recording cannot be prepared, or its efforts do not change enough to show any delay.
    """
    actuators = dict(zip(robot.actuators, efforts, strict=True))
    motion = prepare(recording, coordinates, actuators, steps)
    late, drift, last = _coarse(robot, motion), 0.0, np.inf
    for _ in range(_ROUNDS):
        motion = prepare(retimed(recording, efforts, late, drift), coordinates, actuators, steps)
        found = _compared(robot, motion, recording)
        at = (late, drift)
        late, drift = late + found.correction[0], drift + found.correction[1]
        size = max(abs(found.correction) / found.white)
        if size < _SETTLED or (size < 0.2 and size > 0.5 * last):
            break
        last = size
    slopes = -_slopes(recording, efforts, steps, motion, at)[motion.kept]
    change, covariance, dof = found.solved(slopes)
    sigma, sigma_drift = np.sqrt(covariance.diagonal()).tolist()
    late, drift = at[0] + change[0], at[1] + change[1]
    lost = int(np.isnan(recording.columns((*coordinates, *efforts))).any(axis=1).sum())
    # jitter is white at the rate of the recording: the low-pass leaves the share of its band
    full = motion.full_rate
    share = 1.0 if full is None else min(1.0, 2 * full.cutoff / full.rate)
    tenth = float(np.sqrt(0.21 / share) * found.noise / found.slope)
    return ClockEstimate(
        late, sigma, drift, sigma_drift, recording.duration, recording.jitter, tenth, lost, len(recording), dof,
        float(covariance[0, 1]) / (sigma * sigma_drift),
    )  # fmt: skip


def prepare_corrected(
    robot: DynamicModel,
    recording: Recording,
    coordinates: Sequence[str],
    efforts: Sequence[str],
    steps: Sequence[Step],
    *,
    clocks: ClockEstimate,
) -> MeasuredMotion:
    """The motion of a recording whose efforts are moved to its instants, with what is not known of the clocks.

    Arguments are those of `compare_clocks`, and what it has found.
    """
    actuators = dict(zip(robot.actuators, efforts, strict=True))
    clock = (clocks.late, clocks.drift)
    motion = prepare(retimed(recording, efforts, *clock), coordinates, actuators, steps)
    slopes = _slopes(recording, efforts, steps, motion, clock)
    return replace(motion, clock_errors=ClockErrors(slopes, clocks.covariance))


def clock_report(clocks: ClockEstimate, motion: MeasuredMotion, *, is_corrected: bool) -> StepReport:
    """A line of the preparation about the clocks."""
    done = "corrected by band-limited interpolation" if is_corrected else "not corrected"
    if not is_corrected and clocks.is_shown:
        done += ': state clocks = "correct" in [data], or record with one clock'
    step = f"Clocks({motion.sources[0]})" if motion.sources else "Clocks"
    return StepReport(step, f"{clocks}; {done}; {clocks.costs}", motion.n_samples, motion.n_rows)


@dataclass(frozen=True, eq=False)
class _Compared:
    """Efforts of the model and their slopes, fitted to the measured ones."""

    problem: LinearProblem
    """Base parameters, and the two unknowns of the clock in `scale`."""
    scale: Array
    correction: Array
    """What is still to be added to late and drift."""
    white: Array
    """Their σ as if residuals were white: a scale for convergence only."""
    sigma: Array
    """Root mean square residual of each row's actuator."""
    noise: float
    """Root mean square of the residuals in the band."""
    slope: float
    """Root mean square slope of the efforts."""

    def solved(self, slopes: Array) -> tuple[Array, Array, float]:
        """The correction of late and drift, its covariance with the autocorrelation of the residuals, and dof.

        Args:
            slopes: Slopes of the measured efforts (rows, 2), as the last two columns of the problem are those of the
                model's.
        """
        answer = estimate(self.problem, WeightedLeastSquares(), strict=False)
        assert isinstance(answer.region, ConfidenceEllipsoid)
        covariance = answer.region.covariance[-2:, -2:]
        known = bool(np.isfinite(covariance).all()) and bool((np.diag(covariance) > 0).all())
        require(known, "the efforts do not change enough to compare two clocks: record a faster motion")
        weight = 1 / self.sigma
        W = self.problem.W * weight[:, None]
        base = np.linalg.qr(W[:, :-2] / np.maximum(np.linalg.norm(W[:, :-2], axis=0), 1e-300))[0]
        z = W[:, -2:] - base @ (base.T @ W[:, -2:])
        to_measured = np.linalg.solve(z.T @ (slopes * self.scale * weight[:, None]), z.T @ z)
        spread = to_measured @ covariance @ to_measured.T * np.outer(self.scale, self.scale)
        return answer.value[-2:] * self.scale, spread, answer.region.dof


def _compared(robot: DynamicModel, motion: MeasuredMotion, recording: Recording) -> _Compared:
    problem = recorded(robot, motion)
    analysis = identifiability(problem, rtol=_RTOL)
    base = reduced(problem, analysis)
    kept = list(analysis.kept)
    sizes = np.maximum(np.linalg.norm(base.W, axis=0), 1e-300)
    parameters = np.zeros(len(robot.names))
    parameters[kept] = np.linalg.lstsq(base.W / sizes, base.y, rcond=None)[0] / sizes
    full = motion.full_rate or motion
    slope = np.gradient(model_efforts(robot, parameters, (full.q, full.dq, full.ddq)), 1 / full.rate, axis=0)
    since = _middle_of(motion, recording, len(slope), full.rate)
    extra = through_low_pass(np.stack([-slope, -since[:, None] * slope], axis=2), motion)[motion.kept]
    scale = np.array([1e-3, 1e-3 / max(recording.duration, 1e-9)])  # ms, so that columns have the size of efforts
    unknowns = Unknowns((*base.unknowns.names, "late", "drift"), (*base.unknowns.units, "s", ""))
    W = np.column_stack([base.W, extra * scale])
    both = LinearProblem(frozen(W), base.y, unknowns, base.noise, base.groups)
    actuator = np.nonzero(motion.kept)[1]
    sigma = np.ones(len(base.y))
    for _ in range(2):  # weights of the actuators, from the residuals of an unweighted fit
        weighted = W / sigma[:, None]
        sizes = np.maximum(np.linalg.norm(weighted, axis=0), 1e-300)
        values = np.linalg.lstsq(weighted / sizes, base.y / sigma, rcond=None)[0] / sizes
        squares = np.bincount(actuator, (base.y - W @ values) ** 2, minlength=len(robot.actuators))
        each = np.sqrt(squares / np.maximum(np.bincount(actuator, minlength=len(robot.actuators)), 1))
        inverse = np.linalg.pinv((weighted / sizes).T @ (weighted / sizes))
        sigma = np.maximum(each, max(1e-12 * float(each.max()), 1e-300))[actuator]
    white = np.sqrt(np.diag(inverse)[-2:]) / sizes[-2:] * scale
    noise, steep = float(np.sqrt(np.mean(each[actuator] ** 2))), float(np.sqrt(np.mean(extra[:, 0] ** 2)))
    return _Compared(both, scale, values[-2:] * scale, np.maximum(white, 1e-300), sigma, noise, steep)


def _slopes(
    recording: Recording,
    efforts: Sequence[str],
    steps: Sequence[Step],
    motion: MeasuredMotion,
    clock: tuple[float, float],
) -> Array:
    """Slopes of the measured efforts (samples, actuators, 2) by late and drift, where such a clock puts them.

    They are those of the resampled efforts, filtered as these are; zero where a sample is missing.
    """
    full = motion.full_rate or motion
    since = _middle_of(motion, recording, len(full.q), full.rate)
    late, drift = clock
    instants = since + recording.start + recording.duration / 2 + late + drift * since
    step = _STEP / recording.rate
    y = recording.columns(efforts)
    after, before = (
        band_limited(y, recording.rate, recording.start, instants + by, recording.rate) for by in (step, -step)
    )
    slope = np.nan_to_num((after - before) / (2 * step))
    for each in steps:
        if isinstance(each, EffortFromDriveSignal):
            slope = slope * np.asarray(each.gain)
    return through_low_pass(np.stack([slope, since[:, None] * slope], axis=2), motion)


def _middle_of(motion: MeasuredMotion, recording: Recording, size: int, rate: float) -> Array:
    """Seconds since the middle of the whole recording, at the samples of the motion at full rate."""
    full = motion.full_rate
    first = motion.start - (full.at[0] / rate if full is not None else 0.0)
    middle = recording.start + recording.duration / 2
    return np.asarray(first + np.arange(size) / rate - middle)


def _coarse(robot: DynamicModel, motion: MeasuredMotion) -> float:
    """The whole number of samples of the motion by which efforts fit it best, in s."""
    problem = recorded(robot, motion)
    n = motion.n_samples
    most = min(int(FARTHEST * motion.rate), n // 8)
    sample, actuator = np.nonzero(motion.kept)
    inside = (sample >= most) & (sample < n - most)
    if most < 1 or inside.sum() < 2 * problem.W.shape[1]:
        return 0.0
    weight = 1 / np.maximum(motion.efforts.std(axis=0), 1e-300)
    rows = weight[actuator[inside]]
    used = problem.W[inside] * rows[:, None]
    size = np.linalg.norm(used, axis=0)
    left, values, _ = np.linalg.svd(used[:, size > 0] / size[size > 0], full_matrices=False)
    basis = left[:, values > 1e-9 * values[0]]
    lags = np.arange(-most, most + 1)
    shares = []
    for lag in lags:
        y = motion.efforts[sample[inside] + lag, actuator[inside]] * rows
        shares.append(1 - ((basis.T @ y) ** 2).sum() / (y @ y))
    best = lags[int(np.argmin(shares))]
    return 0.0 if abs(best) <= 1 else float(best / motion.rate)
