"""Monte-Carlo campaigns: the same experiment again and again, to see how estimates spread around the truth."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from gough.campaigns import Campaign
from gough.core.errors import GoughError, InputError, nearest, require
from gough.core.progress import OnProgress
from gough.core.tables import Table
from gough.estimates import Estimate, Status
from gough.region import ConfidenceEllipsoid
from gough.simulate.spread import Spread, spread_of

Design = Callable[[np.random.Generator], Any]
"""An experiment: data from a source of randomness."""
Estimator = Callable[[Any], Estimate]
"""An estimate from the data of a design."""


@dataclass(frozen=True, eq=False)
class MonteCarlo:
    """`repetitions` of each design, each estimated by every estimator.

    Designs and estimators are functions or callable values; to run in other processes they must be importable there
    (functions at the top of a module, frozen values, functools.partial). Repetition i draws from a generator seeded by
    (seed, i) for every design alike, so that results do not depend on the order, the executor, or on interruptions.

    Examples:
        >>> from gough import LinearProblem, Unknowns
        >>> from gough.methods import LeastSquares
        >>> def weighings(rng):
        ...     return LinearProblem(np.ones((5, 1)), 2.0 + 0.1 * rng.normal(size=5), Unknowns(["mass"]))
        >>> campaign = MonteCarlo({"five": weighings}, {"LS": LeastSquares().estimate}, {"mass": 2.0}, repetitions=200)
        >>> print(campaign.run().table())
        design  estimator  unknown  truth    mean      sd  bias/sd  σ/sd  coverage
        ──────  ─────────  ───────  ─────  ──────  ──────  ───────  ────  ────────
        five    LS         mass     2.000  1.9924  0.0449    -0.17  0.98    94.5 %
    """

    designs: Mapping[str, Design]
    estimators: Mapping[str, Estimator]
    truth: Mapping[str, float]
    """True values by name of the unknown; estimates of others are not compared."""
    repetitions: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        for field in ("designs", "estimators", "truth"):
            value = getattr(self, field)
            require(isinstance(value, Mapping) and len(value) > 0, f"{field} must be a mapping by name, not empty")
            object.__setattr__(self, field, MappingProxyType(dict(value)))
        require(self.repetitions >= 1, f"repetitions must be at least 1, but is {self.repetitions}")

    def __reduce__(self) -> Any:
        parts = (dict(self.designs), dict(self.estimators), dict(self.truth))
        return MonteCarlo, (*parts, self.repetitions, self.seed)

    @property
    def digest(self) -> str:
        """Fingerprint of all that decides the results of a repetition; their number does not."""
        return self._tasks({}).fingerprint

    def run(
        self,
        path: str | Path | None = None,
        *,
        executor: Any = None,
        workers: int = 1,
        on_progress: OnProgress = lambda _: None,
    ) -> "Campaigned":
        """All repetitions, those that `path` has already left out.

        Args:
            path: A file to which each result is appended when it is there; a campaign that was killed goes on from it,
                and one with more repetitions adds to it.
            executor: Where repetitions run: an executor of `gough.campaigns` or `concurrent.futures`; here by default.
            workers: Number of processes of this machine, where no executor is given.
            on_progress: Called after each repetition.

        Raises:
            InputError: the file belongs to another campaign, or is in use.
            KeyboardInterrupt: Ctrl-C; repetitions that were running are finished and kept.
        """
        tasks = {_name(design, i): (design, i) for design in self.designs for i in range(self.repetitions)}
        campaign = self._tasks(tasks)
        results = campaign.run(path, executor=executor, workers=workers, on_progress=on_progress)
        return Campaigned(self, MappingProxyType(results))

    def _tasks(self, tasks: Mapping[str, tuple[Any, ...]]) -> Campaign[dict[str, Any]]:
        parts = (dict(self.designs), dict(self.estimators), dict(self.truth))
        return Campaign(_repetition, tasks, (*parts, self.seed))


def _name(design: str, number: int) -> str:
    return f"{design}/{number}"


def _repetition(  # noqa: PLR0917 - a campaign's parts, and which repetition
    designs: Mapping[str, Design],
    estimators: Mapping[str, Estimator],
    truths: Mapping[str, float],
    seed: int,
    design: str,
    number: int,
) -> dict[str, Any]:
    """The answer of each estimator to one repetition, as plain data."""
    data = designs[design](np.random.default_rng([seed, number]))  # the same noise for every design
    return {label: _outcome(truths, estimator, data) for label, estimator in estimators.items()}


def _outcome(truths: Mapping[str, float], estimator: Estimator, data: Any) -> dict[str, Any]:
    try:
        answer = estimator(data)
    except GoughError as error:
        return {"failed": str(error)}
    if answer.status is not Status.OK:
        return {"failed": answer.status.value}
    names = [name for name in answer.unknowns.names if name in truths]
    if not names:
        known, estimated = list(truths), answer.unknowns.names
        raise InputError(
            f"none of the estimated unknowns ({', '.join(estimated[:5])}, …) has a true value"
            f"{nearest(estimated[0], known)}: name them in truth as the estimate does"
        )
    own = answer.marginal(*names)
    truth = np.array([truths[name] for name in names])
    outcome: dict[str, Any] = {"names": names, "value": own.value.tolist()}
    if isinstance(own.region, ConfidenceEllipsoid):
        interval = own.region.interval()
        inside = (interval.lower <= truth) & (truth <= interval.upper)
        outcome |= {"sigma": own.region.sigma.tolist(), "each": inside.tolist(), "level": own.region.level}
    outcome["joint"] = bool(truth in own.region)
    chi_squared = getattr(answer.stats, "chi_squared", None)
    return outcome if chi_squared is None else {**outcome, "chi_squared": float(chi_squared)}


@dataclass(frozen=True, eq=False)
class Campaigned:
    """What a campaign found. `str()` of it is the table with a summary of each estimator."""

    campaign: MonteCarlo
    results: Mapping[str, Any]
    """By design and number of the repetition, then by estimator."""

    def spread(self, design: str, estimator: str) -> Spread:
        """How one estimator's answers spread around the truth.

        Raises:
            InputError: no design or estimator has that name.
        """
        for name, known, what in (
            (design, self.campaign.designs, "design"),
            (estimator, self.campaign.estimators, "estimator"),
        ):
            require(name in known, f"no {what} is called '{name}'{nearest(name, known)}")
        outcomes = [self.results[_name(design, i)][estimator] for i in range(self.campaign.repetitions)]
        return spread_of(outcomes, self.campaign.truth)

    @property
    def spreads(self) -> Mapping[tuple[str, str], Spread]:
        """All of them, by design and estimator."""
        return {(d, e): self.spread(d, e) for d in self.campaign.designs for e in self.campaign.estimators}

    def table(self) -> Table:
        """Truth, mean, sd, bias, σ and coverage of each unknown."""
        from gough.simulate.spread import spread_table  # noqa: PLC0415 - text is made of results

        return spread_table(self.spreads)

    def __str__(self) -> str:
        lines = [f"{design}, {estimator}: {spread.verdict}" for (design, estimator), spread in self.spreads.items()]
        return "\n".join([str(self.table()), *lines])
