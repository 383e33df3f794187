"""The watch itself: samples in, events out, in constant memory."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil, exp, inf, isfinite
from typing import Any

import numpy as np

from gough.core import outward
from gough.core.arrays import Array, Mask
from gough.core.errors import InputError, require
from gough.watch import events as kinds
from gough.watch.changes import Block, Change, ChangeTests, usable_rows
from gough.watch.clock import Break, Grid
from gough.watch.consistency import Consistency, Contradiction, load_proofs
from gough.watch.effects import described, effect_columns, effect_groups, effect_names, payload_effects
from gough.watch.estimates import Recursive
from gough.watch.events import Event, Latch
from gough.watch.model import WatchedModel
from gough.watch.preparation import Preparation, PreparationOptions
from gough.watch.rows import Rows, Samples
from gough.watch.sensors import StuckTest
from gough.watch.sets import SETS, DriftingSet, InflatingEllipsoid, WindowOfHulls

_FIRST = 64
"""Samples from which the rate is estimated where it is not stated."""
_MARGIN = 0.05
"""Share of the range of the identification by which a motion may leave it."""
_QUIET = 1.0
"""Seconds inside of the range after which leaving it is a new event."""
_MESSY = 60.0
"""Seconds without a gap after which a gap is a new event."""
_MISSING = 100
"""Samples in a row without a value that are an event."""
_DRAWN = 0.04
"""Seconds from one row to the next that is drawn."""

_COUNTS = ("n_received", "n_rows", "n_events", "time")
_PARTS = ("_grid", "_preparation", "consistency", "tests", "recursive", "_sensors")
"""Attributes that are saved in a checkpoint: numbers, and parts with a state of their own."""


@dataclass(frozen=True, eq=False)
class WatchOptions:
    """What is watched for, and how."""

    bound: Array
    """(actuators,) error bounds of rows."""
    rate: float | None = None
    """Samples a second; None: from the first times."""
    cutoff: float = 20.0
    order: int = 4
    speed: float = 0.05
    within: float | None = None
    window: float = 10.0
    """Seconds of rows that must be explained together."""
    drift: Array | None = None
    """(unknowns,) most that each unknown moves per second; None: they are constant."""
    block: float = 0.5
    """Seconds of a block of the statistical tests."""
    learn: float = 60.0
    """Seconds that the statistical tests learn."""
    forgetting: float = 30.0
    """Seconds in which the weight of rows in the recursive estimate falls to 1/e."""
    false_alarms: float = 0.1
    """Per hour, for each kind of statistical event."""
    set: str = "ellipsoid"
    """Guaranteed set that follows the rows: "ellipsoid", or "hulls", which is tighter and slower."""

    def __post_init__(self) -> None:
        for name in ("window", "block", "learn", "forgetting", "false_alarms"):
            value = getattr(self, name)
            require(0 < value < inf, f"{name} must be a positive number, but is {value}")
        require(self.set in SETS, f"set must be one of {', '.join(SETS)}, not {self.set!r}")
        require(self.learn >= 20 * self.block, f"learn must last at least 20 blocks ({20 * self.block:g} s)")


@dataclass(frozen=True)
class Payload:
    """A mass on the platform and, where the motion shows them, its first moments in the platform's frame."""

    mass: float
    """kg"""
    error: float
    """Half of its 95 % interval."""
    moments: tuple[tuple[str, float, float], ...] = ()
    """Name, value in kg·m, and half of the 95 % interval; none where the platform does not turn."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        moments = {name: {"change": value, "error": error, "unit": "kg·m"} for name, value, error in self.moments}
        return {"change": self.mass, "error": self.error, "unit": "kg", **({"moments": moments} if moments else {})}


@dataclass
class Found:
    """An event with the contradiction that proves it, where it is one."""

    event: Event
    contradiction: Contradiction | None = None


@dataclass(frozen=True, eq=False)
class Bands:
    """Some rows for a page: measured and predicted efforts, and the range over the admitted set, each (rows, n)."""

    times: Array
    measured: Array
    predicted: Array
    lower: Array
    upper: Array


@dataclass
class _Pending:
    """Rows that wait until their block is complete."""

    parts: list[Rows] = field(default_factory=list)

    def __len__(self) -> int:
        return sum(map(len, self.parts))


class Watcher:
    """Watches the stream of a robot; it *changes* with every block of samples."""

    def __init__(self, model: WatchedModel, options: WatchOptions) -> None:
        n = model.n
        require(options.bound.shape == (n,), f"{n} actuators need {n} error bounds, not {options.bound.shape}")
        self.model, self.options = model, options
        self.n_received = 0
        """Samples that were given, complete or not."""
        self.n_rows = 0
        self.n_events = 0
        self.time = 0.0
        self.on_bands: Callable[[Bands], None] | None = None
        """Called with rows for a page, at most 25 a second of the stream."""
        self._drawn = -inf
        self._incomplete = 0
        self._missing = Latch(_MESSY)
        self._waiting: list[tuple[Array, Array]] = []
        self._grid: Grid | None = None
        if options.rate is not None:
            self._begin(options.rate)

    def _begin(self, rate: float) -> None:
        model, options, n = self.model, self.options, self.model.n
        prepared = PreparationOptions(
            rate, options.cutoff, options.order, options.speed, options.within,
            with_spread=options.drift is not None,
        )  # fmt: skip
        self._grid = Grid(rate, n)
        self._preparation = Preparation(prepared, model.regressor(), n, len(model.names))
        lag = self._preparation.delay
        self.consistency = Consistency(
            model.unknowns, options.bound, model.robot.actuators, window=options.window, drift=options.drift, lag=lag
        )
        if model.has_proof:
            load_proofs()
        row_rate = rate / prepared.stride
        self._block_rows = max(8, round(options.block * row_rate))
        seconds = self._block_rows / row_rate
        self.effects = effect_names(model)
        groups = [*effect_groups(n), *(0 for _ in range(len(model.payload) - 1)), *(0 for _ in model.unknown)]
        learn = ceil(options.learn / seconds)
        self.tests = ChangeTests(
            len(groups),
            groups,
            learn=learn,
            blocks=3600 / options.false_alarms / seconds,
            together=payload_effects(model),
        )
        self.set = self._new_set()
        self.recursive = Recursive(model, exp(-seconds / options.forgetting))
        self._pending = _Pending()
        self._sensors = StuckTest(rate, n, ceil(options.learn * rate), options.speed)
        self._outside: dict[str, Latch] = {}
        self._messy, self._inconsistent = Latch(_MESSY), Latch(options.window)
        self._beyond = 0

    def _new_set(self) -> DriftingSet | None:
        """The guaranteed set, from the admitted one on; None where there is none."""
        model, options = self.model, self.options
        if not model.has_proof or not (model.unknowns.bounds.width > 0).all():
            return None
        began = self.consistency.began
        if options.set == "hulls":
            return WindowOfHulls(model.unknowns, options.drift, window=options.window, began=began)
        return InflatingEllipsoid(model.unknowns, options.drift, began=began)

    @property
    def rate(self) -> float | None:
        """Samples a second; None as long as it is not known."""
        return None if self._grid is None else self._grid.rate

    @property
    def delay(self) -> float | None:
        """Seconds from an instant to the last sample that its row needs; None as long as the rate is not known."""
        return None if self._grid is None else self._preparation.delay

    def take(self, times: Array, values: Array, *, is_new: bool = False) -> list[Found]:
        """The events that these samples raise.

        Args:
            times: (N,) seconds.
            values: (N, positions and efforts) in SI units; NaN where a value is missing.
            is_new: Whether another recording begins here: that its times do not continue those before is no event.
        """
        self.n_received += len(times)
        whole = np.isfinite(values).all(axis=1) & np.isfinite(times)
        found: list[Found] = []
        if whole.all():
            self._incomplete = 0
            self._missing.absent(self.time)
        else:
            found += self._without_values(values, whole)
            times, values = times[whole], values[whole]
        if not len(times):
            return found
        if self._grid is None:
            self._waiting.append((times, values))
            if sum(len(each) for each, _ in self._waiting) < _FIRST:
                return found
            times, values = (np.concatenate([each[k] for each in self._waiting]) for k in (0, 1))
            self._waiting = []
            self._begin(_rate_of(times))
        assert self._grid is not None
        if is_new and (gap := self._grid.gap_to(float(times[0]))):
            self._restart(gap)
            self._grid.restart()
        for part in self._grid.take(times, values):
            if isinstance(part, Break):
                found += self._interrupted(part)
            else:
                if self.consistency.began is None:
                    self.consistency.began = float(part.times[0])
                    self.set = self._new_set()
                self.time = float(part.times[-1])
                found += self._stuck(part)
                found += self._watch(self._preparation.take(part))
        return found

    def _without_values(self, values: Array, whole: Mask) -> list[Found]:
        """An event where many samples in a row lack a value; single ones are lost samples."""
        before = self._incomplete
        runs = np.diff(np.concatenate([[-1 - before], np.flatnonzero(whole), [len(whole)]])) - 1
        self._incomplete = int(runs[-1])
        long = runs >= _MISSING
        long[0] &= before < _MISSING
        if not long.any() or not self._missing.met(self.time):
            return []
        robot = self.model.robot
        names = (*robot.coordinates, *(f"effort of {name}" for name in robot.actuators))
        lost = [name for name, column in zip(names, values.T, strict=True) if not np.isfinite(column).all()]
        text = f"{int(runs[long].max())} samples in a row have no number for {', '.join(lost) or 'the time'}"
        return [self._event(kinds.DATA, "", text, "observed", {"samples": int(runs[long].max())})]

    def _restart(self, gap: float) -> None:
        """Begin anew after so many seconds without samples; they are negative if the clock jumped back."""
        self._preparation.restart()
        self._sensors.restart()
        self._pending = _Pending()
        if gap < 0:
            self.consistency.jumped(-gap)
            self.set = self._new_set()

    def _interrupted(self, gap: Break) -> list[Found]:
        self._restart(gap.seconds)
        self.time = gap.time
        if not self._messy.met(gap.time):
            return []
        if gap.seconds < 0:
            text = f"the clock jumps back by {-gap.seconds:.4g} s; filters start anew"
        else:
            text = f"samples are missing for {gap.seconds:.4g} s; filters start anew"
        return [self._event(kinds.CLOCK, "time", text, "observed", {"jump": gap.seconds})]

    def _stuck(self, samples: Samples) -> list[Found]:
        assert self._grid is not None
        self._messy.absent(self.time)
        robot, found = self.model.robot, []
        for channel in self._sensors.take(samples):
            n = self.model.n
            is_position = channel < n
            name = robot.coordinates[channel] if is_position else robot.actuators[channel - n]
            what = "position" if is_position else "effort"
            value = float((samples.q if is_position else samples.efforts)[-1, channel % n])
            unit = (robot.coordinate_units if is_position else robot.effort_units)[channel % n]
            text = f"the {what} of {name} stays at {value:.6g} {unit} while the robot moves"
            found.append(self._event(kinds.STUCK, name, text, "observed", {"value": value, "channel": what}))
        return found

    def _watch(self, rows: Rows) -> list[Found]:
        if not len(rows):
            return []
        self.n_rows += len(rows)
        model = self.model
        finite: Mask = np.asarray(np.isfinite(rows.W).all(axis=(1, 2)))
        found = self._range(rows)
        if not finite.all():
            rows = rows.taken(finite)
            if not len(rows):
                return found
        known = rows.W[:, :, model.known] @ model.values[model.known]
        if model.has_proof:
            found += self._consistent(rows, known)
        self._show(rows)
        if self._sensors.stuck.any():
            self._pending = _Pending()  # residuals of a stuck channel say nothing about the robot
            return found
        self._pending.parts.append(rows)
        return found + self._blocks()

    def _show(self, rows: Rows) -> None:
        if self.on_bands is None:
            return
        some = np.flatnonzero(np.diff(np.floor(rows.times / _DRAWN), prepend=self._drawn) != 0)
        self._drawn = float(np.floor(rows.times[-1] / _DRAWN))
        if not len(some):
            return
        model, box = self.model, self.model.unknowns.bounds
        W, base = rows.W[some], rows.W[some][:, :, model.unknown]
        predicted = W @ model.values
        if box.is_bounded:
            center = predicted + base @ (box.center - np.asarray(model.unknowns.nominal))
            reach = np.abs(base) @ (box.width / 2) + self.options.bound
        else:
            center, reach = predicted, np.broadcast_to(self.options.bound, predicted.shape)
        self.on_bands(Bands(rows.times[some], rows.y[some], predicted, center - reach, center + reach))

    def _consistent(self, rows: Rows, known: Array) -> list[Found]:
        now = float(rows.times[-1])
        c = self.consistency.take(rows, self.model.unknown, known)
        if c is None:
            if self.consistency.is_consistent:
                self._inconsistent.absent(now)
            return []
        if not self._inconsistent.met(now):
            return []
        seconds = float(c.times.max() - c.times.min())
        which = "a row" if len(c.times) == 1 else f"{len(c.times)} rows of {seconds:.3g} s"
        text = (
            f"no parameters of the admitted set explain {which} within the error bounds, which are too small by a "
            f"factor of at least {outward.at_least(c.factor).removeprefix('≥ ')}"
        )
        evidence = {"rows": len(c.times), "from": float(c.times.min()), "to": float(c.times.max()), "factor": c.factor}
        return [Found(self._event(kinds.INCONSISTENT, "", text, "PROOF", evidence).event, c)]

    def _range(self, rows: Rows) -> list[Found]:
        found, robot, seen = [], self.model.robot, self.model.seen
        for what, values in (("position", rows.q), ("velocity", rows.dq), ("acceleration", rows.ddq)):
            low, high = getattr(seen, {"position": "q", "velocity": "dq", "acceleration": "ddq"}[what])
            margin = _MARGIN * (high - low)
            outside = (values < low - margin) | (values > high + margin)
            for c in range(values.shape[1]):
                latch = self._outside.setdefault(f"{what} {c}", Latch(_QUIET))
                if not outside[:, c].any():
                    latch.absent(float(rows.times[-1]))
                    continue
                if not latch.met(float(rows.times[-1])):
                    continue
                at = int(np.flatnonzero(outside[:, c])[0])
                name, unit = robot.coordinates[c], robot.coordinate_units[c]
                unit += {"position": "", "velocity": "/s", "acceleration": "/s²"}[what]
                value = float(values[at, c])
                text = (
                    f"the {what} of {name} is {value:.4g} {unit}, but the identification has {low[c]:.4g} to "
                    f"{high[c]:.4g} {unit}"
                )
                evidence = {"value": value, "lower": float(low[c]), "upper": float(high[c])}
                found.append(self._event(kinds.OUTSIDE, name, text, "observed", evidence, time=float(rows.times[at])))
        return found

    def _blocks(self) -> list[Found]:
        found: list[Found] = []
        while len(self._pending) >= self._block_rows:
            together = _joined(self._pending.parts)
            block, rest = together.taken(slice(0, self._block_rows)), together.taken(slice(self._block_rows, None))
            self._pending.parts = [rest] if len(rest) else []
            change = self._tested(block)
            if change is not None:
                found.append(self._changed(change, float(block.times[-1])))
        return found

    def _tested(self, rows: Rows) -> Change | None:
        model = self.model
        predicted = rows.W @ model.values
        residuals = rows.y - predicted
        friction = rows.W[:, :, model.friction] @ model.values[model.friction]
        effects = effect_columns(rows, predicted, friction, model)
        weights = usable_rows(rows.kept, np.asarray(np.isfinite(residuals).all(axis=1)), self.options.bound)
        block = Block(float(rows.times[-1]), residuals, effects, weights)
        self.recursive.take(block, len(model.unknown))
        self._narrow(rows)
        return self.tests.take(block)

    def _narrow(self, rows: Rows) -> None:
        """Let the rows of measured samples narrow the guaranteed set."""
        if self.set is None:
            return
        at, of = np.nonzero(rows.kept & rows.measured[:, None])
        if not len(at):
            return
        model, now = self.model, float(rows.times[-1])
        known = rows.W[:, :, model.known] @ model.values[model.known]
        e = self.options.bound[of]
        if rows.spread is not None and self.options.drift is not None:
            age = now - rows.times[at] + 2 * self._preparation.delay
            e = (e + rows.spread[:, :, model.unknown][at, of] @ self.options.drift * age) * (1 + 1e-9)
        self.set.take(rows.W[:, :, model.unknown][at, of], (rows.y - known)[at, of], e, now)

    def about(self) -> dict[str, Any]:
        """What a page says once about the robot."""
        robot = self.model.robot
        drift = "parameters that drift as stated" if self.options.drift is not None else "constant parameters"
        premise = f"Guaranteed for {drift} in the admitted set and errors within their bounds."
        return {
            "robot": robot.name, "actuators": list(robot.actuators), "units": list(robot.effort_units),
            "set": premise if self.model.has_proof else "The identification has no guaranteed set.",
        }  # fmt: skip

    def parameters(self) -> list[dict[str, Any]]:
        """Each unknown: its recursive estimate ± 95 %, and its guaranteed interval, admitted and now."""
        if self._grid is None:
            return []
        unknowns = self.model.unknowns
        value, sigma = self.recursive.estimate()
        now = None if self.set is None else self.set.hull(self.time)
        result = []
        for k, name in enumerate(unknowns.names):
            entry = {"name": name, "unit": unknowns.units[k], "value": float(value[k]), "error": 1.96 * float(sigma[k])}
            if now is not None:
                entry["admitted"] = [float(unknowns.bounds.lower[k]), float(unknowns.bounds.upper[k])]
                entry["now"] = None if now.is_empty else [float(now.lower[k]), float(now.upper[k])]
                entry["text"] = "empty" if now.is_empty else outward.between(now.lower[k], now.upper[k])
            result.append(entry)
        return result

    def _changed(self, change: Change, time: float) -> Found:
        kind, subject, text, evidence = described(change, self.effects, self.tests.adopted)
        claim = f"{self.options.false_alarms:g} false alarms an hour"
        return self._event(kind, subject, text, claim, evidence, time=time)

    def _event(
        self, kind: str, subject: str, text: str, claim: str, evidence: dict[str, Any], *, time: float | None = None
    ) -> Found:
        self.n_events += 1
        return Found(Event(self.n_events, kind, self.time if time is None else time, subject, text, claim, evidence))

    def raised(self, kind: str, subject: str, text: str, evidence: dict[str, Any]) -> Found:
        """An event that was observed outside of the samples, such as a line that cannot be read."""
        return self._event(kind, subject, text, "observed", evidence)

    def status(self) -> dict[str, Any]:
        """Numbers for the page and for machines."""
        if self._grid is None:
            return {"type": "status", "samples": self.n_received, "time": self.time}
        g = self._grid
        status: dict[str, Any] = {
            "type": "status", "time": self.time, "samples": self.n_received, "rows": self.n_rows,
            "events": self.n_events, "rate": g.rate, "delay": self.delay, "lost": g.n_lost, "repeated": g.n_repeated,
            "breaks": g.n_breaks, "learned": self.tests.is_learned, "factor": self.consistency.factor,
        }  # fmt: skip
        if self.set is not None:
            status["set_restarts"] = self.set.n_restarts
        payload = self.payload()
        if payload is not None:
            status["payload"] = payload.to_dict()
        return status

    def payload(self) -> Payload | None:
        """What hangs on the platform more than while the tests learned, each ± 95 %.

        It is estimated from the last ten seconds, or from those since the last change that an event has named. Between
        a change and its event it is a mean of both states.
        """
        if not len(self.model.payload):
            return None
        found = self.tests.jointly(max(1, round(10.0 / self.options.block)))
        if found is None:
            return None
        values, errors = (each.tolist() for each in found)
        names = [self.model.names[k] for k in self.model.payload[1:]]
        moments = tuple(zip(names, values[1:], errors[1:], strict=True))
        return Payload(values[0], errors[0], tuple(each for each in moments if isfinite(each[2])))

    def state(self) -> dict[str, Any]:
        """Arrays, numbers and texts from which `restore` continues."""
        state: dict[str, Any] = {name: getattr(self, name) for name in _COUNTS}
        state["waiting"] = [list(pair) for pair in self._waiting]
        state["incomplete"] = [self._incomplete, self._missing.last]
        if self._grid is None:
            return state
        parts = {name: getattr(self, name).state() for name in _PARTS}
        latches = {"messy": self._messy.last, "inconsistent": self._inconsistent.last}
        outside = {name: latch.last for name, latch in self._outside.items()}
        rows = [vars(part) for part in self._pending.parts]
        return {**state, "parts": parts, "latches": latches, "outside": outside, "pending": rows}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue where `state` was taken; model and options must be the same."""
        for name in _COUNTS:
            setattr(self, name, state[name])
        self._waiting = [(np.array(times), np.array(values)) for times, values in state["waiting"]]
        self._incomplete, self._missing.last = state["incomplete"]
        if "parts" not in state:
            return
        self._begin(float(state["parts"]["_grid"]["rate"]))
        for name in _PARTS:
            getattr(self, name).restore(state["parts"][name])
        self.set = self._new_set()
        self._messy.last, self._inconsistent.last = state["latches"]["messy"], state["latches"]["inconsistent"]
        for name, last in state["outside"].items():
            self._outside[name] = Latch(_QUIET)
            self._outside[name].last = last
        self._pending = _Pending([Rows(**part) for part in state["pending"]])


def _joined(parts: list[Rows]) -> Rows:
    if len(parts) == 1:
        return parts[0]
    values: dict[str, Any] = {}
    for name in vars(parts[0]):
        each = [getattr(part, name) for part in parts]
        values[name] = None if each[0] is None else np.concatenate(each)
    return Rows(**values)


def _rate_of(times: Array) -> float:
    """Samples a second, from the median step of the times."""
    steps = np.diff(times)
    steps = steps[steps > 0]
    if not len(steps):
        raise InputError("the times of the stream do not rise: state the rate in [data], and check the column of times")
    rate = 1 / float(np.median(steps))
    rounded = round(rate)
    return float(rounded) if rounded and abs(rate / rounded - 1) < 2e-3 else rate
