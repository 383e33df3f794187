"""Which method's answer to use: the one that predicts held-out efforts best, with intervals that cover them.

Held out is the validation recording if there is one, else each of ten blocks of time in turn, which are predicted by a
fit to the others with the weights of the whole.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from gough.core import fisher
from gough.core.arrays import Array, Integers
from gough.core.tables import Cell, Column, Table, table
from gough.core.text import listed, number, percent
from gough.core.threads import one_blas_thread
from gough.data import MeasuredMotion
from gough.dynamics.held_out import BLOCKS, BlockedRows, gain, joined, solved, triangles
from gough.dynamics.signs import COVERAGE, HELD_OUT, LEVEL, Sign
from gough.dynamics.validation import Directions, quantile, variance_of_efforts
from gough.estimates import Estimate, FitStats, Method, Status
from gough.methods import GaussMarkov, LeastSquares, RobustLeastSquares, WeightedLeastSquares
from gough.methods.statistical.whitening import Whitening
from gough.problem import LinearProblem
from gough.region import ConfidenceEllipsoid

if TYPE_CHECKING:
    from gough.dynamics.results import Identified

SURE = 3.0
"""A method predicts better than another if its gain exceeds zero by so many standard errors …"""
WORTHWHILE = 0.002
"""… and this part of the mean square."""
_BY_SIMPLICITY = (LeastSquares, WeightedLeastSquares, GaussMarkov, RobustLeastSquares)
_WORTHWHILE_IN_BLOCKS = 0.05
"""The same where blocks are held out in turn: the weights of rows are those of a fit to all of them."""
_COVERAGE = 0.01
"""Difference in coverage from which on it decides between methods that predict alike."""
_ROWS_PER_UNKNOWN = 5
_PAIRED = 4.0
"""Blocks in turn: variance of the held-out mean square over that of the parameters' part in it. A residual's square
changes by twice the product with the change of its prediction."""
_NEAR = 0.05
"""Standard deviation of the ratio from what is neglected, such as noise that neighboring blocks share."""
_MANY = 1e9
_NOISIER = 1.05
"""Noise that is so many times as large is mentioned."""
VALIDATION = "the validation trajectory"


@dataclass(frozen=True, eq=False)
class HeldOutScore:
    """How one method predicts efforts that it was not fitted to."""

    relative_rms: Array
    """Root mean square of the prediction errors of each actuator, over that of its measured efforts."""
    fitted_rms: Array
    """The same of the residuals on the data that it was fitted to."""
    overall: float
    """Root mean square of measured − predicted over all rows, each over the rms of its actuator's efforts."""
    covered: float
    """Part of all held-out rows that lie within the intervals of a reading."""
    expected: float
    """The level of these intervals."""
    ratio: float
    """Mean square of the held-out residuals, each over the variance that the fit predicts for it: about 1 if model and
    noise are those of the fitted data."""
    ratio_p: float
    """Probability of a ratio at least as large, if the model is true and the noise that of the fitted data."""
    covered_p: float
    """Probability of a part `covered` at most as large, on the same assumptions."""
    independent: float
    """Number of independent rows among those held out, given their autocorrelation."""
    noisier: float = 1.0
    """Standard deviation of the noise of the held-out efforts over that of the fitted ones, as both recordings show it
    above the band of the motion, at the actuator where it is largest; 1 where it is no larger. It is expected."""


@dataclass(frozen=True, eq=False)
class Recommendation:
    """The method whose answer to use, and the held-out predictions that it was chosen by."""

    label: str
    """Name of the method."""
    held_out: str
    """What was held out, in words."""
    scores: Mapping[str, HeldOutScore]
    """By name of the method: the statistical methods that succeeded, the simplest first."""
    worse: tuple[str, ...] = ()
    """Methods that predict worse than least squares, beyond the scatter between blocks of time."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", MappingProxyType(dict(self.scores)))

    @property
    def score(self) -> HeldOutScore:
        """The score of the recommended method."""
        return self.scores[self.label]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Which method to use and why, and which methods predict worse than least squares."""
        own = f"{_percent(self.score.overall)} of their rms"
        where = f"on held-out data ({self.held_out})"
        others = [label for label in self.scores if label != self.label]
        better = [label for label in others if self.scores[label].overall > 1.02 * self.score.overall]
        text = f"Prefer the values of {self.label}: {where} it predicts efforts to {own}"
        if not others:
            return (f"{_capital(self.label)} predicts efforts {where} to {own}.",)
        rivals = listed([f"{label} to {_percent(self.scores[label].overall)}" for label in better])
        alike = "no other method predicts better beyond the scatter between blocks of time"
        sentences = [f"{text}, {rivals}." if better else f"{text}; {alike}."]
        plain = next((label for label in self.scores if label == _PLAIN), None)
        if self.worse and plain is not None:
            each = [f"{label} ({_percent(self.scores[label].overall)})" for label in self.worse]
            verb = "predict" if len(each) > 1 else "predicts"
            sentences.append(
                f"{_capital(listed(each))} {verb} held-out efforts worse than {plain} "
                f"({_percent(self.scores[plain].overall)}): the weights follow residuals that are not noise."
            )
        return tuple(sentences)

    def table(self) -> Table:
        """A row for each method that was compared: errors on held-out data, and how many rows their intervals hold."""
        columns = [
            Column("method", "label"),
            Column("rms / rms effort", note="held out"),
            Column("worst actuator", note="held out"),
            Column("worst actuator", note="fitted", is_detail=True),
            Column("held out / expected", note="mean square"),
            Column("inside"),
            Column("expected"),
        ]
        rows: list[list[str | Cell]] = [
            [
                Cell(label, "recommended" if label == self.label else ""),
                _percent(one.overall),
                _percent(float(np.nanmax(one.relative_rms))),
                _percent(float(np.nanmax(one.fitted_rms))),
                number(one.ratio, digits=3),
                percent(one.covered, digits=3),
                percent(one.expected),
            ]
            for label, one in self.scores.items()
        ]
        return table(columns, rows, "." * len(columns), "Methods on held-out data")


_PLAIN = "least squares"


def held_out_sign(identified: "Identified") -> Sign | None:
    """Held-out against fitted residuals of the recommended method; None where nothing was held out.

    Held-out squares are divided by the variance that the fit predicts for each row, its own uncertainty included, and
    more where the held-out recording shows larger noise above the band of the motion. Their
    mean over that of the fitted squares follows Fisher's distribution, with as many degrees of freedom as there are
    independent rows: by the autocorrelation of the residuals, or by the scatter between blocks of time if that is
    larger.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> (robot, motion), (_, other) = random_motion(1), random_motion(2)
        >>> held_out_sign(identify(robot, motion, methods=["weighted"], validation=other)).against
        False
    """
    recommendation = identified.recommendation
    if recommendation is None:
        return None
    score = recommendation.score
    against = score.ratio_p < LEVEL
    sentences: tuple[str, ...] = ()
    if against:
        held, fitted = (_percent(float(np.sqrt(np.nanmean(rms**2)))) for rms in (score.relative_rms, score.fitted_rms))
        validated = recommendation.held_out == VALIDATION
        cause = (
            "the two recordings differ in something that the model does not have (payload, friction, temperature, "
            "larger noise), or the other motion excites an effect that the model lacks"
            if validated
            else "the model lacks an effect, which parameters fitted to one part of the motion imitate there only"
        )
        text = (
            f"Prediction errors on {recommendation.held_out} are {held} of the efforts' rms, residuals of the fit "
            f"{fitted}: their mean square is {number(score.ratio, digits=3)} times what the fit predicts. Either "
            f"{cause}."
        )
        sentences = (text,)
    statistic = f"held-out over expected mean square = {number(score.ratio, digits=3)}"
    if score.noisier > _NOISIER:
        statistic += f", for noise {number(score.noisier, digits=3)} times that of the fitted data"
    return Sign(HELD_OUT, against, statistic, score.ratio_p, sentences)


def coverage_sign(identified: "Identified") -> Sign | None:
    """Part of the held-out rows within the recommended method's intervals; None where nothing was held out.

    The binomial distribution for the number of independent rows, widened by the uncertainty of the fit.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> (robot, motion), (_, other) = random_motion(1), random_motion(2)
        >>> coverage_sign(identify(robot, motion, methods=["weighted"], validation=other)).against
        False
    """
    recommendation = identified.recommendation
    if recommendation is None:
        return None
    score = recommendation.score
    against = score.covered_p < LEVEL
    share, level = percent(score.covered, digits=3), percent(score.expected)
    sentences: tuple[str, ...] = ()
    if against:
        meaning = "which account for the noise of the fit and the uncertainty of the parameters"
        rows = f"rows of {recommendation.held_out}"
        sentences = (f"Only {share} of the {rows} lie within their {level} intervals, {meaning}.",)
    return Sign(
        COVERAGE,
        against,
        f"{share} inside, {level} expected",
        score.covered_p,
        sentences,
    )


@one_blas_thread()
@np.errstate(all="ignore")
def recommend(
    identified: "Identified", methods: Mapping[str, Method[LinearProblem]], *, cross_validate: bool
) -> Recommendation | None:
    """The method whose answer to use; None where nothing is held out, or no statistical method succeeded.

    Only statistical methods are compared: a set encloses parameters, and its center is no estimate. The best prediction
    wins, where it is better by three standard errors of the scatter between blocks of time and by 0.2 % of the mean
    square (5 % without a validation); among methods that predict alike, one whose coverage of held-out rows is nearer
    to its level, by 1 % and beyond the same scatter; then the simplest: least squares, weighted, Gauss–Markov, robust.

    Args:
        identified: The answers, with a validation if there is one.
        methods: The methods by the labels of the answers.
        cross_validate: Hold out blocks of the motion where there is no validation.
    """
    unknowns = identified.problem.unknowns
    candidates = {
        label: identified.estimates[label]
        for label in sorted(identified.estimates, key=lambda label: _simplicity(methods.get(label)))
        if _is_candidate(identified.estimates[label]) and len(identified.estimates[label].value) == len(unknowns)
    }
    held_out, residuals = "", {}
    if identified.validation is not None:
        held_out, residuals = VALIDATION, _on_validation(identified, candidates)
    elif cross_validate and _may_be_held_out(identified, candidates):
        seconds = identified.motion.n_samples / identified.motion.rate / BLOCKS
        held_out = f"each of {BLOCKS} blocks of {seconds:.2g} s in turn"
        residuals = _on_blocks(identified, candidates, methods)
    if not residuals:
        return None
    label = _chosen(residuals)
    plain = residuals.get(_PLAIN)
    worse = (
        tuple(name for name, one in residuals.items() if plain is not one and _is_better(plain, one))
        if plain is not None
        else ()
    )
    return Recommendation(label, held_out, {name: one.score() for name, one in residuals.items()}, worse)


def _is_candidate(estimate: Estimate) -> bool:
    return (
        estimate.status is Status.OK
        and isinstance(estimate.region, ConfidenceEllipsoid)
        and isinstance(estimate.stats, FitStats)
        and estimate.stats.residual_rms is not None
        and bool(np.isfinite(estimate.value).all())
    )


def _simplicity(method: Any) -> int:
    return next((i for i, kind in enumerate(_BY_SIMPLICITY) if isinstance(method, kind)), len(_BY_SIMPLICITY))


def _may_be_held_out(identified: "Identified", candidates: Mapping[str, Estimate]) -> bool:
    """Are there enough rows, and does no prior take part in the answers?"""
    unknowns, motion = identified.problem.unknowns, identified.motion
    limited = any(isinstance(each.stats, FitStats) and each.stats.prior_limited for each in candidates.values())
    enough = motion.n_rows >= _ROWS_PER_UNKNOWN * BLOCKS * len(unknowns) // len(motion.actuators)
    return enough and not limited and not isinstance(unknowns.prior, ConfidenceEllipsoid)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of a motion: fitted, or held out."""

    W: Array
    group: Integers
    block: Integers
    scale: Array
    """(n,) rms of the measured efforts of each actuator."""

    @classmethod
    def of(cls, W: Array, efforts: Array, group: Integers, block: Integers, n: int) -> "_Rows":
        scale = _rms(efforts, group, n)
        return cls(W, group, block, np.where(scale > 0, scale, 1.0))


@dataclass(frozen=True, eq=False)
class _Residuals:
    """Residuals of one method on fitted and on held-out rows, with the variances that its fit predicts for them."""

    rows: _Rows
    fitted: Array
    fitted_variance: Array
    """Variance of the model's effort, for each fitted row."""
    held_rows: _Rows
    held: Array
    held_variance: Array
    region: ConfidenceEllipsoid
    dof: float
    """Independent rows among those fitted, by the autocorrelation of the residuals and between actuators."""
    more: Array
    """(n,) variance of the noise of held-out rows beyond that of fitted ones."""

    @cached_property
    def noise(self) -> Array:
        """Variance of the noise of each actuator: the fit takes as much of it as the model's efforts vary."""
        n, group = len(self.rows.scale), self.rows.group
        count = np.maximum(np.bincount(group, minlength=n), 1)
        sums = np.bincount(group, self.fitted**2 + self.fitted_variance, minlength=n)
        return np.maximum(sums / count, np.finfo(float).tiny)

    @property
    def relative(self) -> Array:
        """Held-out residuals over the rms of their actuator's efforts."""
        return self.held / self.held_rows.scale[self.held_rows.group]

    @cached_property
    def expected(self) -> Array:
        """Variance of each held-out residual."""
        return (self.noise + self.more)[self.held_rows.group] + self.held_variance

    @cached_property
    def inside(self) -> Array:
        """1 where a held-out row lies within its interval, else 0."""
        return (abs(self.held) <= quantile(self.region) * np.sqrt(self.expected)).astype(float)

    @property
    def overlap(self) -> float:
        """Variance of the mean of (w (θ̂ − θ))² / variance, which all held-out rows share.

        2 tr((M C)²), with M the mean of wᵀ w / variance and C the covariance of θ̂.
        """
        W = self.held_rows.W
        MC = (W / self.expected[:, None]).T @ W / len(W) @ self.region.covariance
        return 2 * float((MC * MC.T).sum())

    def score(self) -> HeldOutScore:
        """The numbers that decide, with their probabilities."""
        from scipy.special import ndtr  # noqa: PLC0415 - start-up time

        z = self.held**2 / self.expected
        f = (self.fitted**2 + self.fitted_variance) / self.noise[self.rows.group]
        ratio, covered, level = float(z.mean()), float(self.inside.mean()), self.region.level
        spread = max(2 / self.dof, _variance_of_mean(f, self.rows.block))
        by_chance, overlap = spread * len(f) / len(z), self.overlap
        if self.held_rows is self.rows:
            # held-out and fitted squares have the same noise: only what the fits differ by is left to chance
            chance = float(fisher.above(2 / (_PAIRED * overlap + _NEAR**2), _MANY, ratio))
        else:
            chance = float(fisher.above(2 / (by_chance + overlap), 2 / spread, ratio))
        # the derivative of a normal interval's coverage by the relative error of its variance
        q = quantile(self.region)
        slope = q * float(np.exp(-(q**2) / 2) / np.sqrt(2 * np.pi))
        variance = level * (1 - level) * by_chance / 2 + slope**2 * (overlap + spread)
        n = len(self.rows.scale)
        return HeldOutScore(
            relative_rms=_rms(self.held, self.held_rows.group, n) / self.held_rows.scale,
            fitted_rms=_rms(self.fitted, self.rows.group, n) / self.rows.scale,
            overall=float(np.sqrt((self.relative**2).mean())),
            covered=covered,
            expected=level,
            ratio=ratio,
            ratio_p=chance if np.isfinite(chance) else 1.0,
            covered_p=float(ndtr((covered - level) / np.sqrt(variance))),
            independent=2 / by_chance,
            noisier=float(np.sqrt(1 + self.more / self.noise).max()),
        )


def _rms(values: Array, group: Integers, n: int) -> Array:
    count = np.maximum(np.bincount(group, minlength=n), 1)
    result: Array = np.sqrt(np.bincount(group, values**2, minlength=n) / count)
    return result


def _variance_of_mean(values: Array, block: Integers) -> float:
    """Variance of a mean by the scatter of the means of blocks of time."""
    count = np.bincount(block)
    sums = np.bincount(block, values)[count > 0]
    count = count[count > 0]
    off = (sums - count * values.mean()) / len(values)
    return float((off**2).sum()) * len(count) / max(len(count) - 1, 1)


def _on_validation(identified: "Identified", candidates: Mapping[str, Estimate]) -> dict[str, _Residuals]:
    """Residuals on the fitted motion and on the validation, of each method."""
    assert identified.validation is not None
    other, n = identified.validation.motion, len(identified.problem.groups)
    directions, kept = Directions(identified, other), other.kept
    sample, group = np.nonzero(kept)
    order = np.cumsum(np.append(0, np.diff(sample) > 0))
    block = order * BLOCKS // (int(order[-1]) + 1)
    held_rows = _Rows.of(directions.W[kept.reshape(-1)], other.efforts[kept], group, block, n)
    rows, more = _fitted_rows(identified), _more_noise(other, identified.motion)
    result = {}
    for label, estimate in candidates.items():
        held = (other.efforts - directions.by_sample(directions.W @ estimate.value))[kept]
        result[label] = _residuals_of(identified.problem, estimate, rows, held_rows, held, more=more)
    return result


def _more_noise(motion: MeasuredMotion, than: MeasuredMotion) -> Array:
    """(n,) variance by which the noise of a motion's efforts, after their low-pass, exceeds that of another one's.

    0 where it does not, and where one of them does not show its noise above the band.
    """
    sides = []
    for each in (motion, than):
        full = each.full_rate
        noise = None if full is None else full.efforts_noise
        if full is None or noise is None:
            return np.zeros(len(motion.actuators))
        sides.append(np.where(noise.is_white, noise.density * full.band.width + noise.colored, np.nan))
    return np.nan_to_num(np.maximum(sides[0] - sides[1], 0.0))


def _fitted_rows(identified: "Identified") -> _Rows:
    problem, motion = identified.problem, identified.motion
    n = len(problem.groups)
    rows = BlockedRows.of(problem, np.ones(n))
    return _Rows.of(problem.W, motion.efforts[motion.kept], rows.group, rows.block, n)


def _on_blocks(
    identified: "Identified", candidates: Mapping[str, Estimate], methods: Mapping[str, Method[LinearProblem]]
) -> dict[str, _Residuals]:
    """Residuals on the motion, and those of each block by a fit to the others, of each method."""
    problem, rows = identified.problem, _fitted_rows(identified)
    result = {}
    for label, estimate in candidates.items():
        method = methods.get(label)
        if isinstance(method, _BY_SIMPLICITY):
            held = _held_out(problem, rows, method.weights(problem, estimate.value))
            result[label] = _residuals_of(problem, estimate, rows, rows, held, widened=BLOCKS / (BLOCKS - 1))
    return result


def _held_out(problem: LinearProblem, rows: _Rows, whiten: Whitening) -> Array:
    """Residuals of each block after a weighted fit to the others."""
    every = slice(0, problem.n_rows)
    parts = triangles(BlockedRows(whiten(every, problem.W), whiten(every, problem.y), rows.group, rows.block))
    held = np.empty_like(problem.y)
    for b in range(len(parts)):
        here = rows.block == b
        held[here] = problem.y[here] - problem.W[here] @ solved(joined(np.delete(parts, b, axis=0)))
    return held


def _residuals_of(
    problem: LinearProblem,
    estimate: Estimate,
    rows: _Rows,
    held_rows: _Rows,
    held: Array,
    *,
    widened: float = 1.0,
    more: Array | None = None,
) -> _Residuals:
    region, stats = estimate.region, estimate.stats
    assert isinstance(region, ConfidenceEllipsoid)
    assert isinstance(stats, FitStats)
    fitted = problem.residuals(estimate.value)
    return _Residuals(
        rows=rows,
        fitted=fitted,
        fitted_variance=variance_of_efforts(region, rows.W),
        held_rows=held_rows,
        held=held,
        held_variance=widened * variance_of_efforts(region, held_rows.W),
        region=region,
        dof=stats.dof / _alike(problem, fitted),
        more=np.zeros(len(rows.scale)) if more is None else more,
    )


def _alike(problem: LinearProblem, residuals: Array) -> float:
    """By how much correlations k between actuators reduce the number of independent rows: 1 + Σ k² over the others."""
    n = len(problem.groups)
    place = problem.groups.positions(slice(0, problem.n_rows))
    grid = np.zeros(int(place[-1]) // n * n + n)
    grid[place] = residuals
    r = grid.reshape(-1, n)
    squares = r.T @ r
    deviations = np.sqrt(np.maximum(squares.diagonal(), np.finfo(float).tiny))
    k = squares / np.outer(deviations, deviations)
    return float((k**2).sum() / n)


def _is_better(one: _Residuals, than: _Residuals) -> bool:
    """Does one method predict better than another, beyond the scatter between blocks of time?"""
    part, error = gain(than.relative, one.relative, one.held_rows.block)
    least = WORTHWHILE if one.held_rows is not one.rows else _WORTHWHILE_IN_BLOCKS
    return part > max(least, SURE * error)


def _chosen(residuals: Mapping[str, _Residuals]) -> str:
    """The label of the best, see `recommend`; methods come in the order of their simplicity."""
    best = min(residuals, key=lambda label: float((residuals[label].relative ** 2).mean()))
    alike = [label for label, one in residuals.items() if label == best or not _is_better(residuals[best], one)]
    chosen = alike[0]
    for label in alike[1:]:
        if _covers_better(residuals[label], residuals[chosen]):
            chosen = label
    return chosen


def _covers_better(one: _Residuals, than: _Residuals) -> bool:
    """Is the coverage of one method nearer to its level, beyond the scatter between blocks of time?"""
    difference = one.inside - than.inside
    error = float(np.sqrt(_variance_of_mean(difference, one.held_rows.block)))
    a, b = (abs(float(each.inside.mean()) - each.region.level) for each in (one, than))
    return b - a > max(_COVERAGE, SURE * error)


def _percent(part: float) -> str:
    return percent(part, digits=3)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def sentences_against(signs: Iterable[Sign | None]) -> tuple[str, ...]:
    """The sentences of those signs that reject the model."""
    return tuple(text for sign in signs if sign is not None and sign.against for text in sign.sentences)
