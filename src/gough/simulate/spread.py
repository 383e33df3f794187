"""How estimates spread around the truth: mean, standard deviation, bias, and how often their regions hold it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.errors import InputError
from gough.core.tables import Table, table
from gough.core.text import number

SIGNIFICANCE = 0.01
"""Probability of calling an unbiased estimator biased."""


@dataclass(frozen=True, eq=False)
class Spread(ArrayValue):
    """One estimator's answers to many repetitions of one design. Arrays have an entry for each unknown.

    Examples:
        >>> outcomes = [{"names": ["m"], "value": [v], "joint": True} for v in (0.9, 1.0, 1.1)]
        >>> spread_of(outcomes, {"m": 1.0}).sd.round(3)
        array([0.1])
    """

    names: tuple[str, ...]
    truth: Array
    mean: Array
    sd: Array
    """Standard deviation of the estimates."""
    sigma: Array | None
    """Root mean square of the σ that the estimator printed; None where it prints none."""
    coverage: Array | None
    """Part of the repetitions in which the interval of an unknown holds its true value."""
    joint_coverage: float
    """Part of the repetitions in which the region of all unknowns together holds the truth."""
    level: float | None
    """What coverage should be."""
    n: int
    """Repetitions that gave an estimate."""
    failures: tuple[str, ...]
    """Messages of the others."""
    chi_squared: float | None
    """Mean of χ²/dof."""

    @property
    def bias(self) -> Array:
        """Mean minus truth."""
        return self.mean - self.truth

    @property
    def bias_in_sd(self) -> Array:
        """Bias in units of the estimates' standard deviation; chance alone gives about 1/√n."""
        return self.bias / np.where(self.sd > 0, self.sd, np.inf)

    def coverage_interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval that the joint coverage lies in, after Clopper and Pearson.

        Examples:
            >>> outcomes = [{"names": ["m"], "value": [v], "joint": True} for v in (0.9, 1.0, 1.1)]
            >>> low, high = spread_of(outcomes, {"m": 1.0}).coverage_interval()
            >>> round(low, 2), high
            (0.29, 1.0)
        """
        return binomial_interval(round(self.joint_coverage * self.n), self.n, level)

    @property
    def chance(self) -> float:
        """The largest bias, in units of sd, that chance explains: Student's t, for all unknowns together."""
        from scipy.special import stdtrit  # noqa: PLC0415 - start-up time

        if self.n < 2:
            return np.inf
        return float(stdtrit(self.n - 1, 1 - SIGNIFICANCE / (2 * len(self.names))) / np.sqrt(self.n))

    @property
    def is_unbiased(self) -> bool:
        """Is no bias larger than chance explains?"""
        return bool((abs(self.bias_in_sd) <= self.chance).all())

    @property
    def verdict(self) -> str:
        """Bias and coverage in a sentence."""
        worst = int(np.argmax(abs(self.bias_in_sd)))
        words = f"largest bias {abs(self.bias_in_sd[worst]):.2g} sd ({self.names[worst]}), " + (
            "no more than chance" if self.is_unbiased else "more than chance"
        )
        if self.level is not None:
            low, high = self.coverage_interval()
            words += f"; {self.level:.0%} regions hold the truth in {self.joint_coverage:.1%} ({low:.1%} … {high:.1%})"
        if self.chi_squared is not None:
            words += f"; χ²/dof {self.chi_squared:.3f}"
        if self.failures:
            words += f"; {len(self.failures)} of {self.n + len(self.failures)} failed, the first: {self.failures[0]}"
        return words + "."


def binomial_interval(successes: int, n: int, level: float) -> tuple[float, float]:
    """The probabilities that explain so many successes of n, after Clopper and Pearson.

    Examples:
        >>> low, high = binomial_interval(95, 100, 0.95)
        >>> round(low, 3), round(high, 3)
        (0.887, 0.984)
    """
    from scipy.special import betaincinv  # noqa: PLC0415 - start-up time

    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1 - tail))
    return low, high


def spread_of(outcomes: Sequence[Mapping[str, Any]], truth: Mapping[str, float]) -> Spread:
    """The spread of the outcomes of one estimator; those that failed are counted, not averaged."""
    failures = tuple(str(outcome["failed"]) for outcome in outcomes if "failed" in outcome)
    good = [outcome for outcome in outcomes if "failed" not in outcome]
    if not good:
        raise InputError(f"no repetition gave an estimate; the first failed with: {failures[0]}")
    names = tuple(good[0]["names"])
    for outcome in good:
        if tuple(outcome["names"]) != names:
            raise InputError(
                "repetitions differ in what they can estimate (" + ", ".join(set(names) ^ set(outcome["names"]))
                + "): the design is on the edge of identifiability. Give it a richer motion, or fix unknowns"
            )  # fmt: skip
    values = np.array([outcome["value"] for outcome in good])
    printed = all("sigma" in outcome for outcome in good)
    squares = [outcome["chi_squared"] for outcome in good if "chi_squared" in outcome]
    return Spread(
        names=names,
        truth=np.array([truth[name] for name in names]),
        mean=values.mean(axis=0),
        sd=values.std(axis=0, ddof=1) if len(values) > 1 else np.full(len(names), np.nan),
        sigma=np.sqrt(np.mean(np.square([o["sigma"] for o in good]), axis=0)) if printed else None,
        coverage=np.mean([o["each"] for o in good], axis=0) if printed else None,
        joint_coverage=float(np.mean([o["joint"] for o in good])),
        level=good[0].get("level"),
        n=len(good),
        failures=failures,
        chi_squared=float(np.mean(squares)) if squares else None,
    )


def spread_table(spreads: Mapping[tuple[str, str], Spread]) -> Table:
    """One row for each unknown of each design and estimator."""
    rows = []
    for (design, estimator), s in spreads.items():
        for i, name in enumerate(s.names):
            sigma = "—" if s.sigma is None else f"{s.sigma[i] / s.sd[i]:.2f}"
            covered = "—" if s.coverage is None else f"{100 * s.coverage[i]:.1f} %"
            cells = [number(s.truth[i]), number(s.mean[i], s.sd[i] / 10), number(s.sd[i], digits=3)]
            rows.append([design, estimator, name, *cells, f"{s.bias_in_sd[i]:.2f}", sigma, covered])
    heads = ["design", "estimator", "unknown", "truth", "mean", "sd", "bias/sd", "σ/sd", "coverage"]
    return table(heads, rows, "lll" + "r" * 6)
