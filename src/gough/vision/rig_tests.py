"""Whether the sightings of a rig agree, and which camera, target or frame does not.

Changes are tested by their scores at the minimum, with all other unknowns free: a camera or a target that moved from a
frame on, one that is off in one frame, a target of another size. Mistakes that exchange images are tried by fitting
the rig again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.text import listed
from gough.vision.pose import MeasuredPose
from gough.vision.rig import Rig, RigSighting, Sightings
from gough.vision.rig_adjustment import RigAdjustment, adjust_rig, place_rows
from gough.vision.rig_start import first_places

LEVEL = 1e-3
"""Probability that a good set of frames is called wrong: a fourth for each family of tests."""
_TESTS = 4
_SEEN = 1e-7
"""Eigenvalue of the scaled information beyond which a change shows in the sightings."""
_EXPLAINED = 0.95
"""Share of the disagreement that a cause must explain."""
_CLOSE = 10.0
"""Causes whose scores differ by less are not told apart."""
_SHIFTS = (-2, -1, 1, 2)


@dataclass(frozen=True)
class Change:
    """A change of the rig that the sightings were tested for."""

    kind: str
    """"camera", "target": moved from `frame` on; "camera once", "target once": off in that frame; "size"."""
    item: int
    """Number of the camera or target."""
    frame: int
    """Number among the frames that were fitted."""
    gain: float
    """By how much it lowers the sum of squares."""
    rank: int
    """How many numbers of it the sightings show."""
    estimate: Array
    """Shift in m and turn in rad; or relative size."""
    tried: int
    """Changes of this kind that were tried."""

    @property
    def probability(self) -> float:
        """Probability of so large a gain, of the largest of all that were tried, if nothing changed."""
        from scipy.special import chdtrc  # noqa: PLC0415 - start-up time

        return min(1.0, self.tried * float(chdtrc(self.rank, max(self.gain, 0.0)))) if self.rank else 1.0

    def score(self, freedom: int) -> float:
        """Gain less what its numbers and the choice among others cost (Schwarz's criterion)."""
        return self.gain - self.rank * np.log(max(freedom, 2)) - 2 * np.log(self.tried)


@dataclass(frozen=True)
class RigTest:
    """The verdict on the sightings of a rig; `str()` of it is the verdict in words."""

    probability: float
    """Probability of so large a disagreement of all sightings if the rig is right."""
    chi_squared: float
    freedom: int
    changes: tuple[Change, ...]
    """The best of each kind."""

    @property
    def is_contradicted(self) -> bool:
        """Whether the sightings contradict the rig at level 10⁻³."""
        least = min((change.probability for change in self.changes), default=1.0)
        return min(self.probability, least) < LEVEL / _TESTS

    @classmethod
    def of(cls, fit: RigAdjustment) -> "RigTest":
        """Test the minimum."""
        excess = max(fit.cost - fit.free_cost, 0.0)
        return cls(fit.probability, excess, fit.freedom, tuple(changes(fit)))


def changes(fit: RigAdjustment) -> list[Change]:
    """For each camera and target the best change of each kind, the most likely first."""
    rig = fit.state.rig
    frames = [k for k, group in enumerate(fit.groups) if group]
    scan = _Scan(fit, frames)
    found: list[Change] = []
    known = rig.covariance is not None
    for kind, every, offset in (("camera", rig.cameras, 0), ("target", rig.targets, len(rig.cameras))):
        tails, singles = [], []
        for item in range(len(every)):
            rows = slice(6 * (offset + item), 6 * (offset + item) + 6)
            there = [at for at, k in enumerate(frames) if any(getattr(s, kind) == item for s in fit.groups[k])]
            from_on = scan.tails(rows, there[0 if known else 1 :])
            tails += [(item, at, *answer) for at, answer in from_on]
            singles += [(item, at, *scan.once(rows, at)) for at in there]
        for name, family in ((kind, tails), (f"{kind} once", singles)):
            for item in range(len(every)):
                own = [each for each in family if each[0] == item and each[3] > 0]
                if own:
                    best = max(own, key=lambda each: each[2])
                    found.append(Change(name, item, frames[best[1]], best[2], best[3], best[4], len(family)))
    start = 6 * (len(rig.cameras) + len(rig.targets))
    for item in range(len(rig.targets)):
        gain, rank, estimate = scan.all(slice(start + item, start + item + 1))
        if rank:
            found.append(Change("size", item, frames[0], gain, rank, estimate, len(rig.targets)))
    return sorted(found, key=lambda each: -each.score(fit.freedom))


class _Scan:
    """Scores of changes in some frames, with all other unknowns eliminated."""

    def __init__(self, fit: RigAdjustment, frames: Sequence[int]) -> None:
        self.rows = place_rows(fit.state.rig)
        parts = fit.normal.frames
        self.own = np.array([part.placed[:, self.rows] for part in parts])
        self.across = np.array([part.placed @ fit.coordinates for part in parts])
        self.right = np.array([part.right[self.rows] for part in parts])
        self.inverse = fit.inverse
        assert len(frames) == len(parts)

    def once(self, rows: slice, at: int) -> tuple[float, int, Array]:
        return self._gain(self.own[at, rows, rows], self.across[at, rows], self.right[at, rows])

    def all(self, rows: slice) -> tuple[float, int, Array]:
        parts = (self.own[:, rows, rows], self.across[:, rows], self.right[:, rows])
        return self._gain(*(part.sum(axis=0) for part in parts))

    def tails(self, rows: slice, starts: Sequence[int]) -> Iterator[tuple[int, tuple[float, int, Array]]]:
        """The same change in all frames from each of the given ones on."""
        parts = (self.own[:, rows, rows], self.across[:, rows], self.right[:, rows])
        sums = [np.cumsum(part[::-1], axis=0)[::-1] for part in parts]
        for at in starts:
            yield at, self._gain(sums[0][at], sums[1][at], sums[2][at])

    def _gain(self, own: Array, across: Array, right: Array) -> tuple[float, int, Array]:
        d = own.diagonal()
        if not (d > 0).all():
            return 0.0, 0, np.zeros(len(d))
        d = 1 / np.sqrt(d)
        M = (own - across @ self.inverse @ across.T) * d * d[:, None]
        values, vectors = np.linalg.eigh((M + M.T) / 2)
        seen = values > _SEEN
        along = vectors[:, seen].T @ (right * d)
        return float((along**2 / values[seen]).sum()), int(seen.sum()), d * (vectors[:, seen] @ (along / values[seen]))


@dataclass(frozen=True)
class Cause:
    """What explains a contradiction."""

    words: str
    score: float
    is_enough: bool
    """Whether it explains almost all of the disagreement."""
    change: Change | None = None


def explain(rig: Rig, sightings: Sightings, fit: RigAdjustment, test: RigTest) -> list[Cause]:
    """Causes of a contradiction, the most likely first.

    Exchanged images, frames and roles of targets are tried only where no change of a place is enough.
    """
    causes = [
        Cause(words_of(rig, sightings, each), each.score(fit.freedom), _is_enough(test, each.gain, each.rank), each)
        for each in test.changes
        if each.rank
    ]
    if not any(cause.is_enough for cause in causes):
        for words, other, seen in _mistakes(rig, sightings):
            left = _left(other, seen)
            if left is not None:
                gain = test.chi_squared - left
                score = gain - 2 * np.log(4 * len(rig.cameras) + 4)
                causes.append(Cause(words, score, _is_enough(test, gain, 0)))
    return sorted(causes, key=lambda cause: (not cause.is_enough, -cause.score))


def _is_enough(test: RigTest, gain: float, rank: int) -> bool:
    from scipy.special import chdtrc  # noqa: PLC0415 - start-up time

    left, freedom = max(test.chi_squared - gain, 0.0), max(test.freedom - rank, 1)
    return bool(chdtrc(freedom, left) > LEVEL or left - freedom < (1 - _EXPLAINED) * (test.chi_squared - freedom))


def _left(rig: Rig, sightings: Sightings) -> float | None:
    """Disagreement of other sightings of a rig; None where they do not fit at all."""
    try:
        places, usable, _ = first_places(rig, sightings)
        fit = adjust_rig(rig, places.known, usable.of_frame)
    except InputError:
        return None
    return max(fit.cost - fit.free_cost, 0.0) if len(usable.seen) == len(sightings.seen) else None


def _mistakes(rig: Rig, sightings: Sightings) -> Iterator[tuple[str, Rig, Sightings]]:
    """Mistakes of whoever arranged the images, with the rig and the sightings as they would be without."""
    for a, b in combinations(range(len(rig.cameras)), 2):
        names = f"{rig.cameras[a].name} and {rig.cameras[b].name}"
        yield f"the images of cameras {names} are exchanged in all frames", rig, _exchanged(rig, sightings, a, b)
    for j, camera in enumerate(rig.cameras):
        for by in _SHIFTS:
            moved = _shifted(sightings, j, by)
            if moved is not None:
                late = "later" if by > 0 else "earlier"
                words = f"the images of camera {camera.name} belong {abs(by)} frame{'s' * (abs(by) > 1)} {late}"
                yield words, rig, moved
    if rig.covariance is not None:
        return
    for k, target in enumerate(rig.targets):
        role = "moves with the platform, but is stated as fixed to the base"
        if not target.is_fixed:
            role = "is fixed to the base, but is stated as one of the platform"
        yield f"target {target.name} {role}", *_with_roles(rig, sightings, {k})
    for a, b in combinations(range(len(rig.targets)), 2):
        if rig.targets[a].is_fixed != rig.targets[b].is_fixed:
            names = f"{rig.targets[a].name} and {rig.targets[b].name}"
            yield (
                f"targets {names} are exchanged: one is on the platform, the other at the base",
                *_with_roles(rig, sightings, {a, b}),
            )


def _with_roles(rig: Rig, sightings: Sightings, turned: set[int]) -> tuple[Rig, Sightings]:
    targets = [replace(t, is_fixed=t.is_fixed != (k in turned)) for k, t in enumerate(rig.targets)]
    try:
        return Rig(rig.cameras, tuple(targets)), sightings
    except InputError:
        return rig, sightings


def _shifted(sightings: Sightings, camera: int, by: int) -> Sightings | None:
    """A camera's sightings some frames later; those that leave the sequence stay out, the same of others."""
    n = len(sightings.frames)
    seen = []
    for each in sightings.seen:
        frame = each.frame + by if each.camera == camera else each.frame
        if 0 <= frame < n:
            seen.append(replace(each, frame=frame))
    return replace(sightings, seen=tuple(seen)) if len({s.frame for s in seen}) > abs(by) + 2 else None


def _exchanged(rig: Rig, sightings: Sightings, a: int, b: int, frames: Sequence[int] | None = None) -> Sightings:
    """With the images of two cameras exchanged, in all frames or in some."""
    other = {a: b, b: a}
    seen = [
        retaken(rig, each, other[each.camera])
        if each.camera in other and (frames is None or each.frame in frames)
        else each
        for each in sightings.seen
    ]
    return replace(sightings, seen=tuple(seen))


def retaken(rig: Rig, seen: RigSighting, camera: int) -> RigSighting:
    """The same image as one of another camera."""
    from gough.vision import pnp  # noqa: PLC0415 - numba

    lens, target, pose = rig.cameras[camera].camera, rig.targets[seen.target].target, seen.pose
    points = np.ascontiguousarray(target.points[pose.which])
    R, t = np.ascontiguousarray(pose.rotation), np.ascontiguousarray(pose.position)
    pixels, weights = np.ascontiguousarray(pose.pixels), 1 / pose.weight**2
    R, t, cost, N, residuals = pnp.refine(lens.parameters, R, t, points, target.radius, pixels, weights)
    spread = cost / max(residuals.size - 6, 1) * np.linalg.inv(N) + pose.light
    moved: MeasuredPose = replace(pose, rotation=R, position=t, covariance=spread, residuals=residuals)
    return replace(seen, camera=camera, pose=moved)


def exchanged_in(rig: Rig, sightings: Sightings, frame: int, limit: float) -> str:
    """Which two cameras' images are exchanged in a frame, if that makes the frame agree; else nothing."""
    cameras = sorted({each.camera for each in sightings.seen if each.frame == frame})
    for a, b in combinations(cameras, 2):
        left = _left(rig, _exchanged(rig, sightings, a, b, [frame]))
        if left is not None and left < limit:
            return f"the images of cameras {rig.cameras[a].name} and {rig.cameras[b].name} are exchanged"
    return ""


def words_of(rig: Rig, sightings: Sightings, change: Change) -> str:
    """A change in words."""
    frame = sightings.frames[change.frame]
    if change.kind == "size":
        name = rig.targets[change.item].name
        return f"target {name} is {100 * abs(change.estimate[0]):.2g} % {_larger(change.estimate[0])} than described"
    shift, turn = 1e3 * np.linalg.norm(change.estimate[:3]), np.degrees(np.linalg.norm(change.estimate[3:]))
    size = f"by {shift:.3g} mm and {turn:.2g}°"
    what = change.kind.split()[0]
    name = f"{what} {(rig.cameras if what == 'camera' else rig.targets)[change.item].name}"
    if change.kind.endswith("once"):
        others = sorted({s.camera for s in sightings.seen if s.frame == change.frame} - {change.item})
        if what == "camera" and len(others) == 1 and rig.base is None:
            return f"cameras {rig.cameras[change.item].name} and {rig.cameras[others[0]].name} disagree {size}"
        return f"{name} disagrees with the others {size}"
    first = all(s.frame >= change.frame for s in sightings.seen)
    return f"{name} is not where the rig has it ({size})" if first else f"{name} moved {size} before frame {frame}"


def _larger(change: float) -> str:
    return "larger" if change > 0 else "smaller"


def contradiction(causes: Sequence[Cause]) -> str:
    """The most likely cause in a sentence, and those that explain the sightings almost as well."""
    if not causes or not causes[0].is_enough:
        nearest = f" The best single one is that {causes[0].words}." if causes else ""
        return f"no single cause explains it.{nearest}"
    best = causes[0]
    close = [each.words for each in causes[1:] if each.is_enough and best.score - each.score < _CLOSE]
    also = f" As likely: {listed(close[:3])}." if close else ""
    return f"{best.words}.{also}"
