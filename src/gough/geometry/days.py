"""What changed since a calibration: which few unknowns explain the poses of another day.

A robot that was switched off may have lost the zeros of its sensors, the instrument or its target may stand elsewhere,
or the gain of one sensor may differ. Each is a hypothesis with its own unknowns; the calibrated geometry stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gough.answers import Answer
from gough.core.arguments import instance, real, verb
from gough.core.arrays import Array, ArrayValue
from gough.core.errors import InputError, require
from gough.core.rigid import RigidMotion
from gough.core.rotations import log, nearest_rotation
from gough.core.tables import Cell, Column, Table, table
from gough.core.text import counted, number, plus_minus
from gough.data import Poses
from gough.data.pose_files import poses_of
from gough.geometry.chain_equations import ChainEquations
from gough.geometry.descent import approach
from gough.geometry.framed import base_names, framed, motion_of, moved_frames, platform_names
from gough.geometry.frames import Frames, StatedFrames, hand_eye, procrustes
from gough.geometry.geometric import BASE, gain_names
from gough.geometry.held_out import HeldOut, held_out, require_held_out
from gough.geometry.machine import MachineGeometry, with_values
from gough.problem import NonlinearProblem
from gough.robots import GoughPlatform, KinematicModel
from gough.robots.kinematics import PlatformPoses

_SUBJECTS = {
    "zeros": "The zeros of all chains",
    "instrument frame": "The frame of the instrument",
    "target frame": "The frame of the target",
    "both frames": "The frames of instrument and target",
}
LEVEL = 0.001
"""Probability with which a true hypothesis is rejected."""
_ARM = 0.2
"""m: rotations of frames are matched as far as points at this distance from the platform's origin."""


_OF_ALL = ("nothing", "zeros", "instrument frame", "target frame")
"""Hypotheses that are compared where a single pose is left out."""
_SINGLY = 24
"""So many poses are left out one by one."""


@dataclass(frozen=True, eq=False)
class Hypothesis(ArrayValue):
    """One explanation of the day: what changed, by how much, and what is left of the closure."""

    name: str
    unknowns: tuple[str, ...]
    values: Array
    """Of the unknowns: parameters as they are now; gains and frames as changes."""
    sigma: Array
    """(unknowns,) standard deviations of the values."""
    change_sigma: Array
    """(unknowns,) standard deviations of the changes: errors that the calibration and the day share cancel."""
    parameters: Array
    """All parameters of the robot."""
    covariance: Array | None
    """(p, p) of all parameters, with those of the calibration where they are not unknowns; None if it is not known."""
    gains: Array
    """(chains,) relative changes of the readings' gains."""
    frames: Frames | None
    residuals: Array
    """(N, chains), m."""
    misfit: float
    """Sum of squares in units of the noise of the calibration."""
    spare: int
    """Equations beyond unknowns."""
    p_value: float
    """Probability of a misfit as large or larger if the hypothesis is true."""

    @property
    def rms(self) -> float:
        """Root mean square of the closure errors, m."""
        return float(np.sqrt((self.residuals**2).mean()))


@dataclass(frozen=True, eq=False)
class Recalibrated(Answer, ArrayValue):
    """What explains the poses of a day, after all hypotheses were compared. `str()` of it is the account.

    `answer["l1"]` is a parameter as it is now; `answer.geometry` is the robot of the day.
    """

    before: MachineGeometry
    poses: Poses
    hypotheses: tuple[Hypothesis, ...]
    chosen: Hypothesis
    level: float
    validation: HeldOut | None
    notes: tuple[str, ...] = ()

    @property
    def model(self) -> KinematicModel:
        """The robot as it was calibrated."""
        return self.before.model

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters of the robot."""
        return self.before.model.names

    def __getitem__(self, name: str) -> float:
        if name not in self.names:
            raise InputError(f"no parameter of the {self.before.model.name} is called '{name}'")
        return float(self.chosen.parameters[self.names.index(name)])

    def interval(self, name: str, level: float | None = None) -> Any:  # noqa: ARG002 - as of other answers
        """Not known: the day's few poses update values; the uncertainty of the geometry is in geometry.toml."""
        raise InputError(f"'{name}' has no interval here: geometry.toml has the covariance of the calibration")

    @property
    def is_explained(self) -> bool:
        """Whether the chosen hypothesis is not rejected at the stated level."""
        return self.chosen.p_value >= self.level

    @property
    def refuted(self) -> bool:
        """Whether nothing that was tried explains the poses."""
        return not self.is_explained

    @property
    def rivals(self) -> tuple[Hypothesis, ...]:
        """Other hypotheses with as many unknowns that are not rejected either."""
        return tuple(
            each
            for each in self.hypotheses
            if each is not self.chosen
            and len(each.unknowns) == len(self.chosen.unknowns)
            and each.p_value >= self.level
        )

    @cached_property
    def geometry(self) -> MachineGeometry:
        """The robot of this day, for geometry.toml."""
        old, now = self.before, self.chosen
        model = with_values(old.model, now.parameters)
        if isinstance(model, GoughPlatform) and now.gains.any():
            model = replace(model, gain=np.asarray(model.gain) * (1 + now.gains))
        return replace(old, model=model, covariance=now.covariance, frames=now.frames, notes=(*old.notes, self.words))

    @property
    def words(self) -> str:
        """What explains the day, in a sentence."""
        now, n = self.chosen, len(self.poses)
        nothing = next(each for each in self.hypotheses if not each.unknowns)
        before, after = (f"{number(1e3 * each.rms, digits=3)} mm" for each in (nothing, now))
        days = f"{counted(n, 'pose')} of the day"
        if not self.is_explained:
            return (
                f"Nothing that was tried explains {days} at the noise of the calibration (level {self.level:g}): the "
                f"nearest is “{now.name}”, which leaves {after} (rms). Calibrate again: gough calibrate names "
                "exchanged columns, wrong units and wrong poses."
            )
        if not now.unknowns:
            return f"The calibration explains {days}: closure {after} (rms, p = {now.p_value:.2g}). No change is found."
        subject = _SUBJECTS.get(now.name, f"The {now.name}")
        return (
            f"{subject} changed: {counted(len(now.unknowns), 'unknown')} explain{'s' * (len(now.unknowns) == 1)} "
            f"{days}; closure {before} before, {after} after (rms, p = {now.p_value:.2g})."
        )

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What explains the day, what explains it as well, and how other poses are predicted."""
        rivals = [each.name for each in self.rivals]
        as_well = (
            f"These poses do not distinguish it from: {', '.join(rivals)}. Poses that are tilted and far apart may."
        )
        lost = self.chosen.gains.any() and not isinstance(self.before.model, GoughPlatform)
        gain = (
            f"A {self.before.model.name} has no gains: geometry.toml is unchanged. Multiply the readings of this chain "
            f"by {1 + float(self.chosen.gains[abs(self.chosen.gains).argmax()]):.6f}."
        )
        check = self.validation
        return (
            *self.notes,
            self.words,
            *((as_well,) if rivals else ()),
            *((gain,) if lost else ()),
            *(() if check is None else (check.summary,)),
        )

    def remarks(self) -> tuple[str, ...]:
        """The verdicts."""
        return self.verdicts

    def headlines(self) -> tuple[str, ...]:
        """What explains the day."""
        return (self.words,)

    def table(self) -> Table:
        """The hypotheses: unknowns, closure, and whether they are rejected."""
        rows: list[list[str | Cell]] = []
        for each in self.hypotheses:
            rejected = each.p_value < self.level
            verdict = "rejected" if rejected else "chosen" if each is self.chosen else "not rejected"
            rows.append(
                [
                    each.name,
                    str(len(each.unknowns)),
                    number(1e3 * each.rms, digits=3),
                    number(each.misfit / max(each.spare, 1), digits=3),
                    f"{each.p_value:.2g}",
                    Cell(verdict, mark="bad" if rejected else "good"),
                ]
            )
        heads: list[str | Column] = ["what changed", "unknowns", Column("rms", unit="mm"), "χ²/dof", "p", "verdict"]
        return table(heads, rows, "lrrrrl", "What explains the day")

    def changes(self) -> Table:
        """The unknowns of the chosen hypothesis: before, now, and the change with its ± 95 %."""
        rows = []
        model = self.before.model
        for name, value, sigma in zip(self.chosen.unknowns, self.chosen.values, self.chosen.change_sigma, strict=True):
            own = name in model.names
            unit = model.units[model.names.index(name)] if own else "" if name.startswith("gain") else _unit(name)
            factor, written = (
                (1e3, f"m{unit}") if unit.startswith("m") else (180 / np.pi, "°") if unit else (100.0, "%")
            )
            old = float(model.nominal[model.names.index(name)]) if own else 0.0
            half = 1.96 * factor * sigma
            texts = [plus_minus(factor * x, half)[0] for x in (old, value, value - old)]
            rows.append([name, written, *texts, plus_minus(factor * value, half)[1]])
        return table(["unknown", "unit", "before", "now", "change", "± (95%)"], rows, "lurrrr", "Changes")

    def __str__(self) -> str:
        parts = [*self.verdicts, "", str(self.table())]
        if self.chosen.unknowns:
            parts += ["", str(self.changes())]
        if self.validation is not None:
            parts += ["", "On validation poses:", str(self.validation)]
        return "\n".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, in SI units."""
        return {
            "model": self.before.model.name,
            "poses": len(self.poses),
            "level": self.level,
            "chosen": self.chosen.name,
            "explained": self.is_explained,
            "not_distinguished": [each.name for each in self.rivals],
            "hypotheses": [
                {
                    "name": each.name,
                    "unknowns": dict(zip(each.unknowns, each.values.tolist(), strict=True)),
                    "sigma": dict(zip(each.unknowns, each.sigma.tolist(), strict=True)),
                    "change_sigma": dict(zip(each.unknowns, each.change_sigma.tolist(), strict=True)),
                    "rms": each.rms,
                    "misfit": each.misfit,
                    "spare": each.spare,
                    "p": each.p_value,
                }
                for each in self.hypotheses
            ],
            "parameters": dict(zip(self.names, self.chosen.parameters.tolist(), strict=True)),
            "frames": None if self.chosen.frames is None else self.chosen.frames.to_dict(),
            "verdicts": list(self.verdicts),
            "validation": None
            if self.validation is None
            else [{"what": what, "before": b, "after": a} for what, b, a in self.validation.rows()],
        }


def _unit(name: str) -> str:
    return "rad" if name.rsplit("_", maxsplit=1)[-1].startswith("r") else "m"


@verb()
@np.errstate(all="ignore")
def recalibrate(
    geometry: MachineGeometry,
    poses: Poses | str,
    *,
    level: float = LEVEL,
    validation: Poses | str | None = None,
) -> Recalibrated:
    """Which of these explains a day's poses with the fewest unknowns: nothing, a zero, a gain, zeros, frames.

    A hypothesis is rejected by an F test at `level` if its closure errors are larger than the noise that the
    calibration left and the covariance of its parameters explain: errors of parameters are common to all poses of the
    day, and the chains of a pose share its error, which leaves fewer degrees of freedom. Among hypotheses that are not
    rejected, the one with the fewest unknowns is chosen; among as many unknowns, the one with the smallest misfit.

    Args:
        geometry: What a calibration found: `machine_geometry(calibrated)`, or a geometry.toml.
        poses: A few poses of the day, 6 to 12, in the frames of the calibration as far as these are still true.
        level: Probability with which a true hypothesis is rejected.
        validation: Other poses of the day, on which the result is tested.

    Raises:
        InputError: the geometry does not state its noise, or the poses are not of such a robot.

    Examples:
        >>> from gough.robots import LinearDelta
        >>> printer, rng = LinearDelta(), np.random.default_rng(1)
        >>> p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (9, 3))
        >>> readings = printer.inverse(printer.nominal, p) + [0.001, -0.002, 0.0005] + rng.normal(0, 1e-5, p.shape)
        >>> known = MachineGeometry(printer, closure=np.full(3, 1e-5), spare=100)
        >>> recalibrate(known, Poses(p, None, readings)).chosen.name
        'zeros'
    """
    how = "gough.geometry.machine_geometry(calibrated), or gough.studies.read_geometry(path)"
    geometry = instance(geometry, "geometry", MachineGeometry, "MachineGeometry", how)
    level = real(level, "level", above=0)
    require(level < 1, f"level is a probability below 1, but is {level}")
    model = geometry.model
    seen = poses_of(model, poses)
    others = None if validation is None else poses_of(model, validation, "validation")
    if others is not None:
        require_held_out(seen, others)
    require(
        geometry.closure is not None and geometry.spare > 0,
        "the geometry does not state what its calibration left of the closure: use the geometry.toml of a calibration "
        "from measured poses",
    )
    day = _Day(geometry, _scaled(seen, geometry.scale, turns=model.has_orientation))
    found = [day.fitted(name, unknowns, frames) for name, unknowns, frames in day.hypotheses()]
    kept: list[Hypothesis] = [each for each in found if each is not None]
    fits = [each for each in kept if each.p_value >= level]
    chosen = (
        min(fits, key=lambda each: (len(each.unknowns), each.misfit))
        if fits
        else max(kept, key=lambda each: (each.p_value, -each.misfit / max(each.spare, 1)))
    )
    check = None if others is None else _validated(day, chosen, others)
    few = len(seen) * len(model.chains) < 12 + 6
    notes: tuple[str, ...] = (
        (f"{counted(len(seen), 'pose')} of the day: 6 to 12 distinguish most causes.",) if few else ()
    )
    if not fits and len(seen) <= _SINGLY:
        notes += _wrong_pose(geometry, seen, level)
    return Recalibrated(geometry, seen, _shown(kept, chosen), chosen, level, check, (*seen.notes, *notes))


def _wrong_pose(geometry: MachineGeometry, seen: Poses, level: float) -> tuple[str, ...]:
    """A sentence on the one pose without which a hypothesis explains the others; empty where none or several are so."""
    model, good = geometry.model, []
    for k in range(len(seen)):
        others = seen.select(np.arange(len(seen)) != k)
        day = _Day(geometry, _scaled(others, geometry.scale, turns=model.has_orientation))
        found = [day.fitted(*each) for each in day.hypotheses() if each[0] in _OF_ALL]
        kept = [
            each for each in found if each is not None and each.p_value >= level and each.spare >= len(model.chains)
        ]
        if kept:
            good.append((k, min(kept, key=lambda each: len(each.unknowns))))
    if len(good) != 1:
        return ()
    k, found_without = good[0]
    words = (
        f"Without pose {seen.label(k)}, “{found_without.name}” explains the others (p = {found_without.p_value:.2g}): "
        "look at the images or readings of this pose, and repeat it or leave it out."
    )
    return (words,)


def _shown(found: Sequence[Hypothesis], chosen: Hypothesis) -> tuple[Hypothesis, ...]:
    """All hypotheses, but of zeros and gains of one chain only the best, and what was chosen."""
    result = []
    for kind in ("zero of", "gain of"):
        own = [each for each in found if each.name.startswith(kind)]
        result += [min(own, key=lambda each: each.misfit)] if own else []
    result += [each for each in found if not each.name.startswith(("zero of", "gain of"))]
    if all(each is not chosen for each in result):
        result.append(chosen)
    return tuple(sorted(result, key=lambda each: (len(each.unknowns), each.misfit)))


def _scaled(poses: Poses, scale: float, *, turns: bool) -> Poses:
    plain = poses if turns or poses.rotation is None else poses.without_rotation()
    return replace(plain, position=scale * plain.position)


def _validated(day: "_Day", chosen: Hypothesis, others: Poses) -> HeldOut | None:
    """Predicted poses of the day before and after; both in the robot's frame, where frames were found."""
    model, scale = day.model, day.geometry.scale
    others = _scaled(others, scale, turns=model.has_orientation)
    if len(model.chains) != len(model.freedoms):
        return None
    readings = others.readings * (1 + chosen.gains)
    there = replace(_moved(others, chosen.frames), readings=readings)
    after = held_out(model, there, chosen.parameters, chosen.parameters)
    try:
        before = held_out(model, _moved(others, day.geometry.frames), model.nominal, model.nominal)
    except InputError:
        return replace(after, position_before=None, orientation_before=None)
    return replace(
        after,
        position_before=before.position_after,
        orientation_before=before.orientation_after,
        length_before=before.length_after,
    )


def _moved(poses: Poses, frames: Frames | None) -> Poses:
    return poses if frames is None else StatedFrames.of(frames).moved(poses)


class _Day:
    """The poses of a day in the frames as they were, and how hypotheses about it are fitted."""

    def __init__(self, geometry: MachineGeometry, poses: Poses) -> None:
        self.geometry, self.model, self.poses = geometry, geometry.model, poses
        self.start = geometry.model.nominal
        self.here = _moved(poses, geometry.frames)
        sigma, C = np.asarray(geometry.closure), geometry.covariance
        if C is None:  # new poses have the errors of the parameters too, on average p/(rows − p) of the noise
            sigma = sigma * np.sqrt(1 + len(geometry.model.names) / max(geometry.spare, 1))
        self.noise, self.covariance = np.maximum(sigma, 1e-9), C

    def hypotheses(self) -> list[tuple[str, tuple[str, ...], list[Frames | None]]]:
        """Name, unknowns, and frames to begin with, of each."""
        model, known = self.model, self.geometry.frames
        base, platform = base_names(model), platform_names(model)
        result: list[tuple[str, tuple[str, ...], list[Frames | None]]] = [("nothing", (), [known])]
        for zero, chain in zip(model.zeros, model.chains, strict=True):
            result.append((f"zero of {chain}", (zero,), [known]))
        for gain, chain in zip(gain_names(model), model.chains, strict=True):
            result.append((f"gain of {chain}", (gain,), [known]))
        result.append(("zeros", model.zeros, [known]))
        result.append(("instrument frame", base, [known, self._other_base()]))
        if platform:
            result.append(("target frame", platform, [known, self._other_target()]))
            result.append(("both frames", (*base, *platform), [known, self._other_frames()]))
        return result

    def fitted(self, name: str, unknowns: tuple[str, ...], begin: Sequence[Frames | None]) -> Hypothesis | None:
        """The best fit of a hypothesis, from several frames to begin with; None where there are too few poses."""
        rows = len(self.poses) * len(self.model.chains)
        if len(unknowns) > rows:
            return None
        known = self.geometry.frames
        tried = [known] if not unknowns else [each for k, each in enumerate(begin) if k == 0 or each is not None]
        found = [self._fit(name, unknowns, frames) for frames in tried]
        good = [each for each in found if each is not None]
        return min(good, key=lambda each: each.misfit) if good else None

    def _fit(self, name: str, unknowns: tuple[str, ...], frames: Frames | None) -> Hypothesis | None:
        from scipy.special import fdtrc  # noqa: PLC0415 - start-up time

        model, p = self.model, len(self.model.names)
        poses = _moved(self.poses, frames)
        plain = replace(poses, covariance=None, common=None, reading_sigma=None)
        problem = framed(model, plain, unknowns or BASE[:1], start=self.start, form="length")
        theta = problem.unknowns.nominal
        assert theta is not None
        if unknowns:
            theta = self._descended(problem, approach(problem, theta).theta)
        free = [problem.unknowns.index(each) for each in unknowns]
        rows = self._rows(problem, theta)
        if rows is None:
            return None
        f, A = rows
        S = np.diag(np.tile(self.noise**2, len(f)))
        C = None if self.covariance is None else self._held(free)
        if C is not None:
            S += A[:, :p] @ C @ A[:, :p].T
        white, W = np.split(
            np.linalg.solve(np.linalg.cholesky(S), np.column_stack([f.reshape(-1), A[:, free]])), [1], 1
        )
        left = white[:, 0] - W @ np.linalg.lstsq(W, white[:, 0], rcond=1e-12)[0] if free else white[:, 0]
        weights = np.tile(1 / self.noise, len(f))
        G = np.linalg.pinv(weights[:, None] * A[:, free]) * weights  # errors of the unknowns are −G · closure errors
        spread = np.sqrt(np.maximum((G @ S @ G.T).diagonal(), 0.0))
        change_spread = spread
        if self.covariance is not None:  # G A is 1 for the unknowns, so that their errors before are taken off too
            L = G @ A[:, :p]
            parts = (G * np.tile(self.noise**2, len(f))) @ G.T + L @ self.covariance @ L.T
            change_spread = np.sqrt(np.maximum(parts.diagonal(), 0.0))
        C = None if C is None else self._covariance_after(C, free, G, A[:, :p], S)
        n = len(model.chains)
        misfit, spare = float(left @ left), f.size - len(free)
        part = self.geometry.independent
        freedoms = (part * max(spare, 1), part * self.geometry.spare)
        chance = float(fdtrc(*freedoms, misfit / max(spare, 1))) if spare else 1.0
        placed = moved_frames(frames, theta[-12:-6], theta[-6:]) if theta[-12:].any() or frames is not None else None
        values = theta[free].copy()
        values, placed = self._relative(unknowns, values, frames, placed)
        gains = theta[p : p + n]
        return Hypothesis(
            name, unknowns, values, spread, change_spread, theta[:p], C, gains, placed, f, misfit, spare, chance
        )

    def _rows(self, problem: NonlinearProblem, theta: Array) -> tuple[Array, Array] | None:
        """Closure errors (N, chains) and their derivatives (N chains, unknowns); None where they are not finite."""
        equations = problem.equations
        assert isinstance(equations, ChainEquations)
        f, J, _ = equations.both(theta, problem.measured)
        good = np.isfinite(f).all() and np.isfinite(J).all()
        return (f, J.reshape(f.size, -1)) if good else None

    def _held(self, free: Sequence[int]) -> Array:
        """The covariance of the parameters, without those that are found anew."""
        assert self.covariance is not None
        C, own = self.covariance.copy(), [k for k in free if k < len(self.covariance)]
        C[own, :] = C[:, own] = 0.0
        return C

    def _covariance_after(self, C: Array, free: Sequence[int], G: Array, A: Array, S: Array) -> Array:
        """(p, p) with the parameters that were found anew: their errors are −G · (noise + A · errors of the others)."""
        own = [(k, place) for k, place in enumerate(free) if place < len(C)]
        if not own:
            return C
        rows, places = (list(each) for each in zip(*own, strict=True))
        across = -G[rows] @ A @ C
        C = C.copy()
        C[places, :], C[:, places] = across, across.T
        C[np.ix_(places, places)] = G[rows] @ S @ G[rows].T
        return C

    def _relative(
        self, unknowns: tuple[str, ...], values: Array, begun: Frames | None, placed: Frames | None
    ) -> tuple[Array, Frames | None]:
        """Values of frames as changes against the calibration, wherever the search began."""
        if begun is self.geometry.frames or placed is None:
            return values, placed
        known = self.geometry.frames
        still = RigidMotion(np.eye(3), np.zeros(3))
        old = known or Frames(still, still)
        result = values.copy()
        for part, motion in (
            ("base", old.base.inverse() @ placed.base),
            ("platform", old.target.inverse() @ placed.target),
        ):
            vector = np.concatenate([motion.t, log(motion.R[None])[0]])
            for k, axis in enumerate(("x", "y", "z", "rx", "ry", "rz")):
                if f"{part}_{axis}" in unknowns:
                    result[unknowns.index(f"{part}_{axis}")] = vector[k]
        return result, placed

    def _descended(self, problem: NonlinearProblem, theta: Array) -> Array:
        """A few steps of Gauss and Newton, each chain weighted by its noise.

        Parameters that stay keep their errors, which what is found must make up for: they are no noise here.
        """
        free = np.flatnonzero(~problem.unknowns.is_fixed)
        for _ in range(6):
            rows = self._rows(problem, theta)
            if rows is None:
                break
            weights = np.tile(1 / self.noise, len(rows[0]))
            W, y = weights[:, None] * rows[1][:, free], weights * rows[0].reshape(-1)
            step, _, _, _ = np.linalg.lstsq(W, -y, rcond=1e-12)
            theta = theta.copy()
            theta[free] += step
        return theta

    @cached_property
    def _modeled(self) -> RigidMotion | None:
        """The platform at the readings of the day, by the geometry as it was; None where it cannot be assembled."""
        rotation = np.repeat(np.eye(3)[None], len(self.poses), axis=0)
        here = self.here
        try:
            guess = None
            if self.geometry.home is not None:
                n = len(self.poses)
                home = self.geometry.home
                guess = PlatformPoses(np.repeat(home.position, n, axis=0), np.repeat(home.rotation, n, axis=0))
            found = self.model.forward(self.start, here.readings, guess)
        except (InputError, np.linalg.LinAlgError):
            return None
        return RigidMotion(found.rotation if self.model.has_orientation else rotation, found.position)

    def _seen(self) -> RigidMotion:
        n = len(self.poses)
        R = np.repeat(np.eye(3)[None], n, axis=0) if self.poses.rotation is None else np.asarray(self.poses.rotation)
        return RigidMotion(R, np.asarray(self.poses.position))

    def _targets(self) -> tuple[RigidMotion, RigidMotion]:
        known = self.geometry.frames
        still = RigidMotion(np.eye(3), np.zeros(3))
        return (known.base, known.target) if known is not None else (still, still)

    def _other_base(self) -> Frames | None:
        """Frames with the base where modeled and measured poses agree best."""
        if self._modeled is None:
            return None
        _, X = self._targets()
        seen = self._seen() @ X
        points = [np.zeros(3), *(_ARM * np.eye(3) if self.model.has_orientation else ())]
        there, here = (np.concatenate([each.t + each.R @ point for point in points]) for each in (seen, self._modeled))
        if len(here) < 3:
            return None
        motion, _ = procrustes(here, there)
        return Frames(motion, X)

    def _other_target(self) -> Frames | None:
        """Frames with the platform where modeled and measured poses agree on average."""
        if self._modeled is None or not self.model.has_orientation:
            return None
        Z, _ = self._targets()
        between = (self._seen().inverse()) @ (Z @ self._modeled)
        return Frames(Z, RigidMotion(nearest_rotation(between.R.sum(axis=0)), between.t.mean(axis=0)))

    def _other_frames(self) -> Frames | None:
        """Both frames, by hand–eye calibration."""
        if self._modeled is None or 3 not in self.model.freedoms:
            return None
        try:
            return hand_eye(self._seen(), self._modeled)
        except (InputError, np.linalg.LinAlgError):
            return None


def day_of(model: KinematicModel, poses: Poses, change: dict[str, Any]) -> Poses:
    """Poses of a day on which zeros, gains or frames changed, for simulations.

    `change` may have "zeros" and "gains" (chains,), "base" and "platform" (6,): shift and rotation vector.

    Examples:
        >>> poses = Poses([[0.0, 0.0, 0.3]], [np.eye(3)], [[0.1, 0.2, 0.3]])
        >>> day_of(GoughPlatform.deltalab(), poses, {"base": np.array([0.001, 0, 0, 0, 0, 0])}).position.tolist()
        [[0.001, 0.0, 0.3]]
    """
    require(poses.n_chains > 0, f"poses of a {model.name} have readings")
    zero = np.zeros(6)
    Z, X = (motion_of(np.asarray(change.get(name, zero))) for name in ("base", "platform"))
    position, rotation = poses.position @ Z.R.T + Z.t, None
    if poses.rotation is not None:
        seen = Z @ RigidMotion(poses.rotation, poses.position) @ X.inverse()
        position, rotation = seen.t, seen.R
    readings = (poses.readings + change.get("zeros", 0.0)) * (1 + np.asarray(change.get("gains", 0.0)))
    return replace(poses, position=position, rotation=rotation, readings=readings)
