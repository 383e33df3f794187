"""First values of a rig: places of cameras, targets and platform, handed on from sighting to sighting."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gough.core.errors import InputError
from gough.core.rigid import IDENTITY, RigidMotion, require_turns, shah, with_translations
from gough.core.rotations import angle_between
from gough.core.text import listed
from gough.vision.rig import Rig, RigSighting, Sightings

_MOST = 60
"""Candidates of one place that are compared with one another."""
_FEWEST = 3
"""Frames from which two places are found by the motion of the platform."""
_GROSS, _FINE, _MOST_GROSS = 10.0, 1e-4, 0.2
"""Times the median, that at least this part of the distance, from which a frame is wrong; largest share of frames."""
Key = tuple[str, int, int]
"""What is placed: ("camera", j, −1), ("target", k, −1), ("platform", −1, frame), ("moving", j, frame)."""


@dataclass
class Places:
    """What is known so far."""

    rig: Rig
    known: dict[Key, RigidMotion]

    @classmethod
    def of(cls, rig: Rig) -> "Places":
        """What the choice of frames, or a rig whose places are known, gives."""
        known: dict[Key, RigidMotion] = {("target", rig.first_target, -1): IDENTITY}
        if rig.base is not None:
            known["target", rig.base, -1] = IDENTITY
        else:
            assert rig.first_camera is not None
            known["camera", rig.first_camera, -1] = IDENTITY
        if rig.covariance is not None:
            known |= {("camera", j, -1): c.world for j, c in enumerate(rig.cameras) if not c.is_moving}
            known |= {("target", k, -1): t.place for k, t in enumerate(rig.targets)}
        return cls(rig, known)

    def chain(self, seen: RigSighting) -> tuple[Key, Key | None, Key]:
        """X, G (None at the base) and Y of a sighting."""
        moving = self.rig.cameras[seen.camera].is_moving
        X = ("moving", seen.camera, seen.frame) if moving else ("camera", seen.camera, -1)
        G = None if self.rig.targets[seen.target].is_fixed else ("platform", -1, seen.frame)
        return X, G, ("target", seen.target, -1)

    def candidate(self, seen: RigSighting) -> tuple[Key, RigidMotion] | None:
        """The one place of a sighting's chain that is not known, and where the others put it."""
        X, G, Y = self.chain(seen)
        unknown = [key for key in (X, G, Y) if key is not None and key not in self.known]
        if len(unknown) != 1:
            return None
        Z = RigidMotion(seen.pose.rotation, seen.pose.position)
        key = unknown[0]
        middle = IDENTITY if G is None else self.known.get(G, IDENTITY)
        if key == X:
            return key, Z @ (middle @ self.known[Y]).inverse()
        left = self.known[X].inverse() @ Z
        return (key, left @ self.known[Y].inverse()) if key == G else (key, middle.inverse() @ left)


def first_places(rig: Rig, sightings: Sightings) -> tuple[Places, Sightings, tuple[tuple[str, str], ...]]:
    """Places of all cameras and targets and of the platform, the sightings that they explain, and frames without.

    Of several candidates for a place the one is taken that is nearest to the others, so that a few wrong images do
    not matter. A camera and a target that no shared sighting connects with the others are placed by the motion of the
    platform: Z_i = X G_i Y [SHA13].

    Raises:
        InputError: cameras or targets are connected with the others neither way; the message names them.
    """
    places = Places.of(rig)
    _require_seen(rig, sightings)
    while True:
        _hand_on(places, sightings.seen)
        if not _by_motion(places, sightings.seen):
            break
    _require_placed(places, sightings)
    usable, unused = [], []
    for name, group in zip(sightings.frames, sightings.of_frame, strict=True):
        fit = [each for each in group if all(key is None or key in places.known for key in places.chain(each))]
        usable += fit
        if not any(not rig.targets[each.target].is_fixed for each in fit):
            why = "no camera saw a target on the platform"
            if group:
                why = "no camera whose place is known saw a target on the platform"
            unused.append((name, why))
    return places, replace(sightings, seen=tuple(usable)), tuple(unused)


def gross_frames(places: Places, sightings: Sightings) -> dict[int, str]:
    """Frames in which sightings are many times farther from their expected places than in others, and how far.

    Nothing where this is so for too many frames: then not they are wrong, but what is expected.
    """
    far = np.zeros(len(sightings.frames))
    words: dict[int, str] = {}
    depths = []
    for each in sightings.seen:
        X, G, Y = (IDENTITY if key is None else places.known[key] for key in places.chain(each))
        Z = X @ G @ Y
        shift = float(np.linalg.norm(each.pose.position - Z.t))
        turn = float(angle_between(each.pose.rotation, Z.R))
        depths.append(float(np.linalg.norm(Z.t)))
        if shift + depths[-1] * turn >= far[each.frame]:
            far[each.frame] = shift + depths[-1] * turn
            name = places.rig.cameras[each.camera].name
            words[each.frame] = (
                f"camera {name} disagrees with the others by {1e3 * shift:.3g} mm, {np.degrees(turn):.2g}°"
            )
    there = sorted(words)
    limit = _GROSS * max(float(np.median(far[there])), _FINE * float(np.median(depths)))
    gross = [k for k in there if far[k] > limit]
    return {k: words[k] for k in gross} if len(gross) <= _MOST_GROSS * len(there) else {}


def _hand_on(places: Places, seen: Sequence[RigSighting]) -> None:
    while True:
        found: dict[Key, list[RigidMotion]] = {}
        for each in seen:
            answer = places.candidate(each)
            if answer is not None:
                found.setdefault(answer[0], []).append(answer[1])
        if not found:
            return
        local = {key: value for key, value in found.items() if key[2] >= 0}
        if not local:  # of cameras and targets first the one that most sightings place
            key = max(found, key=lambda each: len(found[each]))
            local = {key: found[key]}
        for key, candidates in local.items():
            places.known[key] = middle_of(candidates)


def middle_of(candidates: Sequence[RigidMotion]) -> RigidMotion:
    """The candidate with the least sum of distances to the others.

    Examples:
        >>> three = [RigidMotion(np.eye(3), np.array([x, 0.0, 0.0])) for x in (0.0, 0.1, 7.0)]
        >>> middle_of(three).t
        array([0.1, 0. , 0. ])
    """
    step = max(1, len(candidates) // _MOST)
    some = candidates[::step]
    R, t = np.array([each.R for each in some]), np.array([each.t for each in some])
    size = max(float(np.median(np.linalg.norm(t, axis=1))), 1e-3)
    apart = np.linalg.norm(t[:, None] - t, axis=2) + size * angle_between(R[:, None], R)
    return some[int(apart.sum(axis=1).argmin())]


def _by_motion(places: Places, seen: Sequence[RigSighting]) -> bool:
    """Place one camera and one target of which neither is placed; whether there was such a pair."""
    pairs: dict[tuple[Key, Key], list[RigSighting]] = {}
    for each in seen:
        X, G, Y = places.chain(each)
        known = places.known
        if X[0] == "camera" and X not in known and Y not in known and G is not None and G in known:
            pairs.setdefault((X, Y), []).append(each)
    for (X, Y), group in sorted(pairs.items(), key=lambda pair: -len(pair[1])):
        if len(group) < _FEWEST:
            continue
        there = [places.known["platform", -1, each.frame] for each in group]
        B = RigidMotion(np.array([each.R for each in there]), np.array([each.t for each in there]))
        A = RigidMotion(np.array([s.pose.rotation for s in group]), np.array([s.pose.position for s in group]))
        try:
            require_turns(B)
        except InputError:
            continue
        inner, outer = with_translations(A, B, *shah(A, B))
        places.known[X], places.known[Y] = outer, inner.inverse()
        return True
    return False


def _require_seen(rig: Rig, sightings: Sightings) -> None:
    for what, every, which in (("camera", rig.cameras, "camera"), ("target", rig.targets, "target")):
        there = {getattr(each, which) for each in sightings.seen}
        gone = [every[k].name for k in range(len(every)) if k not in there]
        if gone:
            names = listed(gone)
            many = "s" if len(gone) > 1 else ""
            verb = "saw no target in any frame" if what == "camera" else "seen by no camera in any frame"
            be = "" if what == "camera" else ("are " if many else "is ")
            reasons = "".join(f"\n{name}: {why}" for name, why in sightings.missed[:5])
            raise InputError(f"{what}{many} {names} {be}{verb}: leave out what is not there{reasons}")


def _require_placed(places: Places, sightings: Sightings) -> None:
    rig = places.rig
    lost = [j for j, c in enumerate(rig.cameras) if not c.is_moving and ("camera", j, -1) not in places.known]
    sheets = [k for k in range(len(rig.targets)) if ("target", k, -1) not in places.known]
    platform = any(key[0] == "platform" for key in places.known)
    if not lost and not sheets and platform:
        return
    parts = []
    for j in lost:
        frames = {each.frame for each in sightings.seen if each.camera == j}
        others = {each.frame for each in sightings.seen if each.camera != j}
        name = rig.cameras[j].name
        if not frames & others:
            parts.append(f"camera {name} shares no frame with the others (its {len(frames)} frames are not theirs)")
        else:
            parts.append(f"camera {name} and the others see no target in common")
    parts += [f"target {rig.targets[k].name} is not seen together with the others" for k in sheets]
    if not parts:
        parts.append(f"no frame connects the platform with {rig.world}")
    raise InputError(
        f"the rig is not connected: {'; '.join(parts)}. In some frames, two cameras must see the same target, or one "
        "camera two targets; or the platform must tilt in several directions in at least three frames that all see"
    )
