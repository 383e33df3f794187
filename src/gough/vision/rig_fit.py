"""Cameras that see the same targets: their places found, their sightings tested, and the platform's poses fused."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.core.text import counted
from gough.core.threads import one_blas_thread
from gough.data import Poses
from gough.vision.covariances import root
from gough.vision.poses import low_rank
from gough.vision.rig import Rig, RigSighting, Sightings
from gough.vision.rig_adjustment import RigAdjustment, adjust_rig, linearized, updated, whitening
from gough.vision.rig_start import first_places, gross_frames
from gough.vision.rig_tests import Cause, RigTest, contradiction, exchanged_in, explain

_LOW_RANK = 24
"""Combinations of errors of cameras, places and dots that poses share; others count as errors of each pose."""
_MOST_LEFT_OUT = 0.2
"""Share of the frames that may be left out because their cameras disagree; beyond it the rig is contradicted."""
_MARGIN = 30.0


@dataclass(frozen=True)
class FusedPoses:
    """Poses of the platform from all cameras of a rig, and the rig as it was found.

    `str()` of it is an account.
    """

    rig: Rig
    """With its covariance; what the sightings show is in it."""
    sightings: Sightings
    """Those that were used."""
    adjustment: RigAdjustment
    test: RigTest
    contradiction: str
    """What the sightings contradict, and the most likely cause; empty if nothing."""
    rejected: tuple[tuple[str, str], ...]
    """Names of frames and images without a pose, and why."""
    names: tuple[str, ...]
    """Names of the frames with a pose."""
    position: Array
    """(N, 3): the platform in the world's frame, m."""
    rotation: Array
    """(N, 3, 3)."""
    own: Array
    """(N, 6, 6): covariance by the noise and light of the frame's images."""
    shared: Array
    """(N, 6, k): what standard deviations of the rig do; errors that all poses share."""
    causes: tuple[Cause, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def to_poses(
        self, readings: Any = None, configuration: Any = None, run: Any = None, half_width: Any = None
    ) -> Poses:
        """The poses with their covariances and the errors that they share, in the world's frame, for a calibration."""
        parts = low_rank(self.shared, np.sqrt(np.diagonal(self.own, axis1=1, axis2=2)), _LOW_RANK)
        seen = [k for k in range(parts.kept.shape[2]) if parts.kept[..., k].any()]
        return Poses(
            self.position,
            self.rotation,
            np.zeros((len(self), 0)) if readings is None else readings,
            self.own + parts.rest,
            common=parts.kept[..., seen] if seen else None,
            half_width=half_width,
            configuration=configuration,
            run=run,
        )

    def budget(self) -> dict[str, Array]:
        """Covariances (N, 6, 6) of each pose by their causes: noise (with light) of the images, and the rig."""
        rig = np.asarray(self.shared @ np.swapaxes(self.shared, 1, 2))
        return {"noise": self.own, "rig": rig, "total": self.own + rig}

    def counts(self) -> Array:
        """(cameras, targets): in how many frames each camera saw each target."""
        table = np.zeros((len(self.rig.cameras), len(self.rig.targets)), dtype=int)
        for each in self.sightings.seen:
            table[each.camera, each.target] += 1
        return table

    def residuals(self) -> list[tuple[Array, Array]]:
        """For each camera: pixels (m, 2) of all dots, and seen less expected there (m, 2)."""
        state, out = self.adjustment.state, []
        for j in range(len(self.rig.cameras)):
            pixels, rest = [np.empty((0, 2))], [np.empty((0, 2))]
            for seen in self.sightings.seen:
                if seen.camera == j:
                    plain = replace(seen.pose, light=np.zeros((6, 6)), weight=np.ones(len(seen.pose.which)))
                    white = whitening(plain, state.points(seen.target), state.lens(j), 1.0)
                    pixels.append(seen.pose.pixels)
                    rest.append(linearized(state, seen, white, slopes=False).residuals.reshape(-1, 2))
            out.append((np.vstack(pixels), np.vstack(rest)))
        return out

    @property
    def verdict(self) -> str:
        """Whether rig and sightings agree, in sentences."""
        test = self.test
        numbers = f"χ² = {test.chi_squared:.4g} with {test.freedom} degrees of freedom, p = {test.probability:.2g}"
        if self.contradiction:
            return f"The images contradict the rig ({numbers}): {self.contradiction}"
        if test.freedom < 1:
            return "No two sightings show the same: whether they agree cannot be tested."
        return f"The sightings agree with one another and with the rig: {numbers}."

    def __str__(self) -> str:
        rms = [float(np.sqrt((rest**2).mean())) if len(rest) else float("nan") for _, rest in self.residuals()]
        sizes = ", ".join(f"{c.name} {s:.4f} px" for c, s in zip(self.rig.cameras, rms, strict=True))
        rig, seen = self.rig, self.sightings.seen
        parts = (rig.cameras, "camera"), (rig.targets, "target"), (seen, "sighting"), (self.names, "frame")
        lines = [
            f"{', '.join(counted(len(every), noun) for every, noun in parts)} with a pose.",
            f"World: {self.rig.world}; platform: {self.rig.platform}. Residuals: {sizes}.",
        ]
        return "\n".join([self.verdict, "", *lines] if self.contradiction else [*lines, self.verdict])


@one_blas_thread()
def fit_rig(rig: Rig, sightings: Sightings) -> FusedPoses:
    """Find the places of cameras and targets, and the platform's pose in each frame, from all sightings at once.

    Where the rig's places are known (`Rig.covariance`), their uncertainty is the prior, and the sightings are tested
    against it; otherwise only the lenses and dots have a prior. Frames whose cameras disagree are left out with the
    reason, at most a fifth of them.

    Raises:
        InputError: the sightings do not connect all cameras and targets.
    """
    require(len(sightings.frames) > 0 and len(sightings.seen) > 0, "no camera saw a target in any frame")
    odd: dict[int, str] = {}
    dropped: list[RigSighting] = []
    most = max(1, int(_MOST_LEFT_OUT * len(sightings.frames)))
    while True:
        places, usable, unused = first_places(rig, sightings)
        gross = gross_frames(places, usable)
        if gross and len(odd) + len(gross) <= most:
            odd |= gross
            dropped += [each for each in usable.seen if each.frame in gross]
            sightings = replace(usable, seen=tuple(each for each in usable.seen if each.frame not in gross))
            continue
        fit = adjust_rig(rig, places.known, usable.of_frame)
        test = RigTest.of(fit)
        causes = explain(rig, usable, fit, test) if test.is_contradicted else []
        single = _single(causes)
        if single is None or len(odd) >= most:
            break
        assert single.change is not None
        odd[single.change.frame] = single.words
        sightings = _without(rig, usable, single)
        kept = set(map(id, sightings.seen))
        dropped += [each for each in usable.seen if id(each) not in kept]
    left_out = [
        (usable.frames[frame], _why(rig, usable, [each for each in dropped if each.frame == frame], test, words))
        for frame, words in odd.items()
    ]
    return _fused(fit, usable, test, (*left_out, *unused), causes)


def _why(rig: Rig, sightings: Sightings, dropped: Sequence[RigSighting], test: RigTest, words: str) -> str:
    """Why sightings of a frame disagree: images that are exchanged agree if they are exchanged back."""
    whole = replace(sightings, seen=(*sightings.seen, *dropped))
    exchanged = exchanged_in(rig, whole, dropped[0].frame, test.chi_squared + _MARGIN)
    return exchanged or f"{words}: the platform moved between the images, or an image belongs to another frame"


def _single(causes: Sequence[Cause]) -> Cause | None:
    """The most likely cause, if it is about one frame; also where several frames are wrong, one after the other."""
    if not causes:
        return None
    enough = [cause for cause in causes if cause.is_enough]
    best = enough[0] if enough else max(causes, key=lambda cause: cause.score)
    return best if best.change is not None and best.change.kind.endswith("once") else None


def _without(rig: Rig, sightings: Sightings, cause: Cause) -> Sightings:
    """Without the sighting that disagrees; without the whole frame where two are left and either may be wrong."""
    change = cause.change
    assert change is not None
    what = change.kind.split()[0]

    def is_odd(seen: Any) -> bool:
        return bool(seen.frame == change.frame and getattr(seen, what) == change.item)

    others = [each for each in sightings.seen if each.frame == change.frame and not is_odd(each)]
    if len(others) < 2 or rig.base is not None:
        others = []
    kept = [each for each in sightings.seen if each.frame != change.frame]
    return replace(sightings, seen=(*kept, *others))


def _fused(
    fit: RigAdjustment,
    sightings: Sightings,
    test: RigTest,
    rejected: tuple[tuple[str, str], ...],
    causes: Sequence[Cause] = (),
) -> FusedPoses:
    factor = fit.coordinates @ root(fit.inverse)
    names, position, rotation, own, shared = [], [], [], [], []
    for part in fit.normal.frames:
        if not part.keys or part.keys[0][0] != "platform":
            continue
        G = fit.state.places[part.keys[0]]
        names.append(sightings.frames[part.keys[0][2]])
        position.append(G.t)
        rotation.append(G.R)
        own.append(part.inverse[:6, :6])
        shared.append(-part.rest[:6] @ factor)
    require(len(names) > 0, "no frame gives a pose of the platform")
    reasons = [(name, why) for k, (name, why) in enumerate(rejected) if name not in {n for n, _ in rejected[:k]}]
    return FusedPoses(
        updated(fit), sightings, fit, test, contradiction(causes) if causes else "",
        (*sightings.missed, *reasons), tuple(names), np.array(position),
        np.array(rotation), np.array(own), np.array(shared), tuple(causes),
    )  # fmt: skip
