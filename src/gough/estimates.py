"""Estimates, their claims, and the function `estimate`."""

from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from inspect import signature
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from gough.answers import Answer, read_json
from gough.core import outward
from gough.core.arguments import described, flag, refused, verb
from gough.core.arrays import Array, ArrayValue
from gough.core.errors import AssumptionError, GoughError, InputError
from gough.core.floating import defect, require_ieee
from gough.core.text import number
from gough.evidence import EllipsoidRound, Evidence, Halves, LiftedCut, LiftedStage, Link, Reach, RelaxedSide
from gough.region import Box, ConfidenceEllipsoid, Ellipsoid, Intersection, Interval
from gough.unknowns import Unknowns

if TYPE_CHECKING:
    from gough.core.tables import Table


class Claim(IntEnum):
    """What is asserted of a region. A claim belongs to the method; a composition claims the least of its parts."""

    VALUE = 0
    """A value without an interval."""
    CONFIDENCE = 1
    """True with a stated probability, if the noise is as stated."""
    ENCLOSURE = 2
    """True in exact arithmetic, if the bounds are as stated."""
    PROOF = 3
    """True of the very floating-point numbers returned, if the bounds are as stated."""


class Status(Enum):
    """How a method ended; the value is a message for users."""

    OK = "done"
    MAX_STEPS = "not converged: the limit on steps was reached; raise max_steps, or start nearer"
    SINGULAR = "singular: the data do not determine every unknown"
    INCONSISTENT = "inconsistent: no value of the unknowns satisfies all the bounds"
    UNBOUNDED = "unbounded: some unknown has no finite bound; give it a prior or more data"


@dataclass(frozen=True, eq=False)
class Stats(ArrayValue):
    """Statistics of a method's run."""

    n_rows: int
    prior_limited: tuple[str, ...] = ()
    """Unknowns whose answer lies on a bound of the prior, which limits it there."""


def limited_by_prior(names: tuple[str, ...]) -> tuple[str, ...]:
    """The note on `Stats.prior_limited`; none where no unknown is limited.

    Examples:
        >>> limited_by_prior(("mass", "friction"))
        ('Limited by the prior, not by the data: mass, friction.',)
    """
    return (f"Limited by the prior, not by the data: {', '.join(names)}.",) if names else ()


@dataclass(frozen=True, eq=False)
class FitStats(Stats):
    """Statistics of a fit."""

    dof: float = np.inf
    """Degrees of freedom of the residuals, counted in independent samples where they are correlated in time."""
    groups: tuple[str, ...] = ()
    residual_rms: Array | None = None
    """Root mean square of the residuals of each group, in the unit of y."""
    autocorrelation: Array | None = None
    """Autocorrelation of each group's residuals at a lag of one sample; 0 for white noise."""
    correlation_length: int = 0
    """Lags over which residuals are correlated beyond chance; σ accounts for them."""
    chi_squared: float | None = None
    """Weighted sum of squared residuals over its degrees of freedom; 1 if the stated noise is true."""
    chi_squared_p: float | None = None
    """Probability of a χ² at least as far from its expectation, if the stated noise is true."""
    condition: float | None = None
    """Condition number of W after scaling its columns."""
    iterations: int = 1
    downweighted: int = 0
    """Rows that a robust loss gave less than half of their weight."""
    not_identifiable: tuple[str, ...] = ()
    """Unknowns that the data do not determine; they have no number."""


@dataclass(frozen=True, eq=False)
class LikelihoodStats(FitStats):
    """Statistics of a maximum-likelihood fit: the likelihood and information criteria."""

    log_likelihood: float = -np.inf
    """Natural logarithm of the density of what was measured."""
    n_unknowns: int = 0
    """All that was estimated, nuisances too."""
    aic: float = np.inf
    """Akaike's criterion 2 k − 2 ln L: smaller is better."""
    bic: float = np.inf
    """Schwarz's criterion k ln N − 2 ln L, with a larger penalty on each unknown: smaller is better."""
    nuisance: Array | None = None
    """Values of the problem's nuisance unknowns, in its order."""


@dataclass(frozen=True, eq=False)
class HullStats(Stats):
    """Statistics of a method for linear bounds."""

    active_rows: tuple[int, ...] = ()
    """Rows that determine the bounds, or that contradict each other."""
    pool: int = 0
    """Number of rows in the linear programs."""
    evidence: tuple[Link, ...] = ()
    """Proof of each bound, in the order in which one uses the others."""


@dataclass(frozen=True, eq=False)
class RelaxedStats(HullStats):
    """Statistics of a method for bounds that hold if at most q rows are violated."""

    q: int = 0
    """Number of rows that may be violated."""
    contradictions: tuple[Evidence, ...] = ()
    """Rows that no θ of the prior satisfies together."""
    sides: tuple[RelaxedSide, ...] = ()
    """Proof of each bound, in the order in which one uses the others."""


@dataclass(frozen=True, eq=False)
class LiftedStats(HullStats):
    """Statistics of a lifted hull: its boxes, from which a certificate is made."""

    steps: int = 0
    stages: tuple[LiftedStage, ...] = ()


@dataclass(frozen=True, eq=False)
class EllipsoidStats(Stats):
    """Statistics of a method for ellipsoids."""

    evidence: tuple[Link, ...] = ()
    """Proof of the box that the strips are found in, or of a contradiction."""
    rounds: tuple[EllipsoidRound, ...] = ()
    """Strips and multipliers of each ellipsoid on the way; the last one is the answer."""


@dataclass(frozen=True, eq=False)
class Estimate(Answer, ArrayValue):
    """A region of parameter space, a claim about that region, and a status.

    `print(estimate)` shows a table. `value` is the region's center; `estimate["mass"]` is one entry of it, and
    `estimate.interval("mass")` the interval of that unknown.

    Examples:
        >>> unknowns = Unknowns(["mass", "friction"])
        >>> region = Box([1.0, 0.25], [2.0, 0.75])
        >>> answer = Estimate(region, Claim.PROOF, Status.OK, unknowns, "LinearHull()", Stats(10))
        >>> answer["mass"], answer.interval("mass"), 0.5 in answer.interval("friction")
        (1.5, Interval(lower=1.0, upper=2.0), True)
        >>> Estimate.from_json(answer.to_json()) == answer
        True
    """

    region: Box | Ellipsoid | Intersection | ConfidenceEllipsoid
    claim: Claim
    status: Status
    unknowns: Unknowns
    method: str
    """The method as it was written, e.g. `GaussMarkov()`."""
    stats: Stats
    notes: tuple[str, ...] = ()
    """What a reader must know beside the numbers, in sentences."""

    @property
    def value(self) -> Array:
        return self.region.center

    @property
    def names(self) -> tuple[str, ...]:
        """The unknowns that were estimated."""
        return self.unknowns.names

    def __getitem__(self, name: str) -> float:
        return float(self.value[self._axis(name)])

    def interval(self, name: str, level: float | None = None) -> Interval:
        """The interval of one unknown by itself.

        For a guaranteed set it is the set's extent along this axis as `region.hull()` encloses it, rounded outward, so
        that the claim of the set is true of the interval. For a confidence region it is the interval that holds the
        value with probability `level` (the region's own level by default), narrower than the joint region's extent.

        Raises:
            InputError: there is no such unknown, or `level` is given for a set, which has none.
            AssumptionError: the estimate claims VALUE, so that no interval is known; or an ellipsoid is proven, and its
                interval would be computed on a processor that does not follow IEEE 754.
        """
        axis = self._axis(name)
        if self.claim is Claim.VALUE:
            raise AssumptionError(
                f"'{name}' has a value but no interval, because {self.method} claims {self.claim.name}: state the "
                "noise of the problem, or record more rows than there are unknowns"
            )
        if isinstance(self.region, ConfidenceEllipsoid):
            if level is not None and not 0 < level < 1:
                raise InputError(f"a confidence level lies between 0 and 1, but level = {level}")
            box = self.region.project([axis]).interval(level)
            return Interval(float(box.lower[0]), float(box.upper[0]))
        if level is not None:
            raise InputError(f"{self.method} claims {self.claim.name}, which has no confidence level: leave level out")
        if self.claim is Claim.PROOF and not isinstance(self.region, Box):
            require_ieee(
                f"the interval of '{name}'"
            )  # the sides of a box are returned as they are; others are computed
        hull = self.region.hull()
        return Interval(float(hull.lower[axis]), float(hull.upper[axis]))

    def _axis(self, name: str) -> int:
        """Number of the axis with that name; the error says so where the data do not determine the unknown."""
        unidentified = self.stats.not_identifiable if isinstance(self.stats, FitStats) else ()
        if name in unidentified and name not in self.unknowns.names:
            raise InputError(
                f"the data do not determine '{name}' by itself; they determine {', '.join(self.unknowns.names)}"
            )
        return self.unknowns.index(name)

    def marginal(self, *names: str) -> "Estimate":
        """The estimate of some of the unknowns: the region's shadow on their axes."""
        axes = [self._axis(name) for name in names]
        return replace(self, region=self.region.project(axes), unknowns=self.unknowns.select(names))

    def intervals(self) -> Box:
        """Each unknown's own interval: at the region's level if it is a belief, the hull if it is a set."""
        return self.region.interval() if isinstance(self.region, ConfidenceEllipsoid) else self.region.hull()

    def half_widths(self) -> Array:
        """Half of each unknown's interval; NaN where the estimate states none."""
        box = self.intervals()
        if self.claim is Claim.VALUE or box.is_empty or np.isnan(self.value).all():
            return np.full(len(box), np.nan)
        return np.asarray((box.upper - box.lower) / 2)

    def table(self) -> "Table":
        """Names, units, values, ± and the ends or standard deviations of all unknowns.

        Sets are rounded outward: value ± radius and lower … upper, as printed, both contain the hull.
        """
        rows = [
            [name, unit, *cells]
            for name, unit, cells in zip(self.unknowns.names, self.unknowns.units, self._cells(), strict=True)
        ]
        from gough.core.tables import table  # noqa: PLC0415 - start-up time

        heads = ["unknown", "unit", *self._heads()]
        return table(heads, rows, "lu" + "r" * (len(heads) - 2))

    def _heads(self) -> list[str]:
        if isinstance(self.region, ConfidenceEllipsoid):
            return ["value", f"± ({self.region.level:.0%})", "σ", "σ/|value|"]
        return ["value", "±", "lower", "upper"]

    def _cells(self) -> list[list[str]]:
        if self.claim is Claim.VALUE:
            return [[number(v), "—", "—", "—"] for v in self.value]
        if isinstance(self.region, ConfidenceEllipsoid):
            return [
                [number(v, h), number(h, digits=2), number(s, digits=2), _percent(s, v)]
                for v, h, s in zip(self.value, self.half_widths(), self.region.sigma, strict=True)
            ]
        hull = self.region.hull()
        return [
            [*outward.plus_minus(a, b, v), *outward.sides(a, b)]
            for v, a, b in zip(self.value, hull.lower, hull.upper, strict=True)
        ]

    def summary(self) -> str:
        """One line on top of the table: method, claim, status, size."""
        what = f"{self.method}: {self.status.name}, claims {self.claim.name}"
        return f"{what}; {len(self.unknowns)} unknowns from {self.stats.n_rows} rows"

    def headlines(self) -> tuple[str, ...]:
        return (self.summary(),)

    def remarks(self) -> tuple[str, ...]:
        return self.notes

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; `Estimate.from_dict` restores it, bit for bit."""
        from gough.core import codec  # noqa: PLC0415 - start-up time

        result: dict[str, Any] = codec.encode(self)
        return result

    @classmethod
    def from_dict(cls, data: Any) -> "Estimate":
        """The estimate that `to_dict` made, bit for bit; the "title" of an entry of several estimates is ignored."""
        from gough.core import codec  # noqa: PLC0415 - start-up time

        body = {key: each for key, each in data.items() if key != "title"} if isinstance(data, dict) else data
        value = codec.decode(body, _CODED)
        if not isinstance(value, Estimate):
            raise InputError(f"expected an Estimate, but found {type(value).__name__}")
        return value

    @classmethod
    def from_json(cls, text: str) -> "Estimate":
        """The estimate that `to_json` wrote, bit for bit; InputError where the text is no such document."""
        return cls.from_dict(read_json(text))


_STATS = (Stats, FitStats, LikelihoodStats, HullStats, RelaxedStats, LiftedStats, EllipsoidStats)
_EVIDENCE = (Evidence, Halves, Reach, RelaxedSide, EllipsoidRound, LiftedCut, LiftedStage)
_REGIONS = (Box, Ellipsoid, Intersection, ConfidenceEllipsoid)
_CODED = {c.__name__: c for c in (Estimate, Unknowns, *_STATS, *_EVIDENCE, *_REGIONS)}


def _percent(sigma: float, value: float) -> str:
    return f"{number(100 * sigma / abs(value), digits=2)} %" if value else "—"


class EstimationError(GoughError):
    """The method ran, but its answer is not OK: `estimate` is that answer; estimate(..., strict=False) returns it."""

    def __init__(self, estimate: Estimate, message: str | None = None) -> None:
        self.estimate = estimate
        own = "\n".join([f"{estimate.method} — {estimate.status.value}", *estimate.notes])
        super().__init__(own if message is None else message)


P_contra = TypeVar("P_contra", contravariant=True)


class Method(Protocol[P_contra]):
    """Turns a problem into an estimate. A method is a frozen value; its fields are its options."""

    def estimate(self, problem: P_contra) -> Estimate: ...


class Contractor(Protocol[P_contra]):
    """One shrinking step. Laws: the result is inside `box`, and no consistent θ is lost.

    The claim holds on a processor that computes by IEEE 754; `guarded` lowers it elsewhere, where an estimate is made.
    """

    @property
    def claim(self) -> Claim: ...

    def contract(self, problem: P_contra, box: Box) -> Box: ...


class AnyProblem(Protocol):
    """What every problem has, of whatever kind: unknowns."""

    @property
    def unknowns(self) -> Unknowns: ...


Problem = TypeVar("Problem", bound=AnyProblem)


def proof() -> Claim:
    """The claim of a proof: PROOF, or ENCLOSURE if the processor does not compute by IEEE 754."""
    return Claim.ENCLOSURE if defect() else Claim.PROOF


def guarded(answer: Estimate, reason: str = "") -> Estimate:
    """The answer; PROOF is lowered to ENCLOSURE, with a note, where the processor does not compute by IEEE 754.

    `reason` says what was wrong with the processor before the answer was computed, if anything was.
    """
    reason = reason or defect()
    if answer.claim is not Claim.PROOF or not reason:
        return answer
    note = f"Claims ENCLOSURE instead of PROOF, because {reason}."
    return replace(answer, claim=Claim.ENCLOSURE, notes=(*answer.notes, note))


def require_method(method: Any, what: str = "method") -> None:
    """Refuse what is no method: a class, a name, a function, a stream that has its rows already."""
    function = getattr(method, "estimate", None)
    if isinstance(method, type) and callable(function):
        raise refused(what, method, "a method", f"{method.__name__}()")
    if isinstance(method, type) or not callable(function):
        raise refused(what, method, "a method", "gough.methods.GaussMarkov(), for instance")
    if not signature(function).parameters:
        raise InputError(f"{what} is {described(method)}, which estimates from its own rows: call its estimate()")


@verb()
@np.errstate(all="ignore")
def estimate(problem: Problem, method: Method[Problem], *, strict: bool = True) -> Estimate:
    """The estimate of `problem` by `method`; raises EstimationError if its status is not OK, unless `strict=False`.

    A claim of PROOF is lowered to ENCLOSURE where the processor does not compute by IEEE 754, for instance because
    a library switched on flush-to-zero. `np.seterr` of the caller has no effect within.
    """
    require_method(method)
    if isinstance(problem, type) or not isinstance(getattr(problem, "unknowns", None), Unknowns):
        raise refused("problem", problem, "a problem", "gough.LinearProblem(W, y, unknowns, noise)")
    strict = flag(strict, "strict")
    reason = defect()
    try:
        answer: Estimate = guarded(method.estimate(problem), reason)
    except AttributeError as error:
        if error.obj is not problem:
            raise
        kind = type(method).__name__
        text = f"{kind} needs a problem with '{error.name}', but problem is {described(problem)}: choose another method"
        raise InputError(text) from error
    if strict and answer.status is not Status.OK:
        raise EstimationError(answer)
    return answer
