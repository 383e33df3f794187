"""Which view of a target a calibration of a camera lacks most, and how good the views so far are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.rotations import exp, log
from gough.core.threads import one_blas_thread
from gough.vision.camera import calibrate_camera
from gough.vision.lens import Camera
from gough.vision.pose import first_guess
from gough.vision.sightings import Sighting
from gough.vision.targets import AnyTarget

_FREE = 8
"""Parameters that views must determine: focal lengths, center, k1, k2, p1, p2."""
_PRIOR = np.array([0.3, 0.3, 0.1, 0.1, 0.5, 0.5, 0.02, 0.02])
"""What is known of an ordinary camera: relative to the focal length and to the width of the image, then absolute."""
_NOISE = 0.02
"""Least standard deviation of a point that plans count on, pixels."""
_GRID = 7
_FEWEST, _ENOUGH = 4, 8
_WIDE = 1.1
"""Focal length of an unknown camera in widths of the image."""
_TILT = np.radians(35)
_GAIN = 0.03
"""Least relative improvement for which a view is kept, once there are enough."""
_APART = np.radians(6.0)
_MOVED = 0.07
_MOTION, _SHARP = 0.6, 2.2
"""Motion between two frames, and width of edges, beyond which a frame is not kept, pixels."""
FACING = np.diag([1.0, -1.0, -1.0])


@dataclass(frozen=True)
class View:
    """A pose of the target before the camera."""

    rotation: Array
    position: Array
    words: str = ""


@dataclass(frozen=True)
class Guide:
    """The views so far, the camera they show, and the next view to take.

    Examples:
        >>> from gough.vision import design_target
        >>> guide = Guide(design_target(0.2, 0.2), (640, 480))
        >>> guide.error > 1, guide.next_view().words.split(",")[0][:4]
        (True, 'hold')
    """

    target: AnyTarget
    size: tuple[int, int]
    goal: float = 0.05
    """Standard deviation of an image point by the camera's own errors that the views should reach, pixels."""
    sightings: tuple[Sighting, ...] = ()
    views: tuple[View, ...] = ()
    calibrated: Camera | None = None
    """The camera that the views show; None while they are too few."""

    @cached_property
    def camera(self) -> Camera:
        """The camera as far as it is known: an ordinary one at first."""
        focal = np.full(2, _WIDE * max(self.size))
        return self.calibrated or Camera(self.size, focal, (np.array(self.size) - 1) / 2)

    @property
    def is_done(self) -> bool:
        """Whether the goal is reached."""
        return len(self.views) >= _ENOUGH and self.error <= self.goal

    @property
    def error(self) -> float:
        """Predicted standard deviation of an image point by the camera's errors, over the image, pixels."""
        return self._error(self._information())

    def _information(self) -> Array:
        scale = np.array([*self.camera.focal, self.size[0], self.size[0], 1, 1, 1, 1])
        total: Array = np.diag(1 / (_PRIOR * scale) ** 2)
        for seen, view in zip(self.sightings, self.views, strict=True):
            total = total + self._share(view, seen.which, np.maximum(seen.sigma, _NOISE))
        return total

    def _share(self, view: View, which: Any, sigma: Array) -> Array:
        """Information on the camera that a view adds, its pose being unknown."""
        from gough.vision import optics  # noqa: PLC0415 - numba

        points = np.ascontiguousarray(self.target.points[which])
        R, t = np.ascontiguousarray(view.rotation), np.ascontiguousarray(view.position)
        _, by_pose, by_camera, _ = optics.slopes(self.camera.parameters, R, t, points)
        w = np.repeat(1 / sigma, 2)[:, None]
        P, S = by_pose.reshape(-1, 6) * w, by_camera.reshape(2 * len(points), -1)[:, :_FREE] * w
        V = P.T @ S
        return np.asarray(S.T @ S - V.T @ np.linalg.solve(P.T @ P, V))

    def _error(self, information: Array) -> float:
        from gough.vision import optics  # noqa: PLC0415 - numba

        u, v = np.meshgrid(*(np.linspace(0.05, 0.95, _GRID) * n for n in self.size))
        rays = self.camera.rays(np.column_stack([u.ravel(), v.ravel()]))
        points = np.column_stack([rays, np.zeros(len(rays))])[np.isfinite(rays).all(axis=1)]
        _, _, J, _ = optics.slopes(self.camera.parameters, np.eye(3), np.array([0.0, 0.0, 1.0]), points)
        J = J.reshape(2 * len(points), -1)[:, :_FREE]
        return float(np.sqrt(np.einsum("ij,jk,ik->", J, np.linalg.inv(information), J) / len(J)))

    def view_of(self, seen: Sighting) -> View:
        """The pose in which the target is seen, with the camera known so far."""
        return View(*first_guess(seen, self.target, self.camera))

    def gain(self, seen: Sighting) -> float:
        """By which part a view would reduce the error."""
        information = self._information()
        before = self._error(information)
        view = self.view_of(seen)
        if view.position[2] <= 0:
            return 0.0
        share = self._share(view, seen.which, np.maximum(seen.sigma, _NOISE))
        return 1 - self._error(information + share) / before

    def is_new(self, seen: Sighting) -> bool:
        """Whether a view differs from all others: turned, moved, or nearer."""
        view = self.view_of(seen)
        for other in self.views:
            turned = float(np.linalg.norm(log(view.rotation @ other.rotation.T)))
            moved = float(np.linalg.norm(view.position - other.position) / np.linalg.norm(other.position))
            if turned < _APART and moved < _MOVED:
                return False
        return True

    def fault(self, seen: Sighting, before: Sighting | None) -> str:
        """Why a frame is not kept: blurred, moving, or like another one; empty where it is kept."""
        if seen.edge > _SHARP:
            return f"blurred, its edges are {seen.edge:.1f} px wide: focus, and hold it still"
        speed = motion(seen, before)
        if speed > _MOTION:
            return f"moving by {speed:.1f} px from frame to frame: hold it still"
        if not self.is_new(seen):
            return "like an earlier view"
        if len(self.views) >= _ENOUGH and self.gain(seen) < _GAIN:
            return "adds little to the earlier views"
        return ""

    @one_blas_thread()
    def add(self, seen: Sighting) -> "Guide":
        """The guide with one more view; the camera is calibrated again where the views suffice."""
        sightings, camera = (*self.sightings, seen), self.calibrated
        if len(sightings) >= _FEWEST:
            try:
                camera = calibrate_camera(sightings, self.target, self.size, release=False).camera
            except InputError:  # views that are too few or too much alike: the guide asks for others
                camera = self.calibrated
        known = replace(self, calibrated=camera)
        return replace(known, sightings=sightings, views=tuple(known.view_of(each) for each in sightings))

    def next_view(self) -> View:
        """The view, of some hundred, that would reduce the error most."""
        information, which = self._information(), np.arange(len(self.target.points))
        sigma = np.full(len(which), max(_NOISE, float(np.mean([s.sigma.mean() for s in self.sightings] or [_NOISE]))))
        best, least = None, np.inf
        for view in self._candidates():
            error = self._error(information + self._share(view, which, sigma))
            if error < least:
                best, least = view, error
        if best is None:
            raise InputError("no pose puts the whole target into the image: is its described size right?")
        return best

    def _candidates(self) -> Sequence[View]:
        width, height = self.size
        focal, extent = float(self.camera.focal.mean()), max(self.target.size)
        views = []
        for share, how_large in ((0.45, "a good third"), (0.75, "most")):
            z = focal * extent / (share * min(width, height))
            for column, across in enumerate((0.27, 0.5, 0.73)):
                for row, down in enumerate((0.27, 0.5, 0.73)):
                    middle = (np.array([across * width, down * height]) - self.camera.center) / focal
                    t = np.array([*(middle * z), z])
                    for words, tilt in _TILTS:
                        R = exp(tilt) @ FACING
                        pixels = self.camera.project(R, t, self.target.points)
                        edge = 0.02 * min(width, height)
                        inside = (pixels > edge) & (pixels < np.array(self.size) - edge)
                        if inside.all():
                            place = _PLACES[row][column]
                            views.append(View(R, t, f"hold it {place}, filling {how_large} of the image, {words}"))
        return views


_PLACES = (
    ("at the upper left", "at the top", "at the upper right"),
    ("at the left", "in the middle", "at the right"),
    ("at the lower left", "at the bottom", "at the lower right"),
)
_TILTS = (
    ("facing the camera", [0.0, 0.0, 0.0]),
    ("its upper edge tilted towards the camera by 35°", [_TILT, 0.0, 0.0]),
    ("its lower edge tilted towards the camera by 35°", [-_TILT, 0.0, 0.0]),
    ("its right edge tilted towards the camera by 35°", [0.0, _TILT, 0.0]),
    ("its left edge tilted towards the camera by 35°", [0.0, -_TILT, 0.0]),
    ("turned by 90° in its plane", [0.0, 0.0, np.pi / 2]),
)


def motion(seen: Sighting, before: Sighting | None) -> float:
    """Median distance by which points moved since the frame before, pixels; 0 where there is none."""
    if before is None:
        return 0.0
    _, i, j = np.intersect1d(seen.which, before.which, return_indices=True)
    if not len(i):
        return float("inf")
    return float(np.median(np.linalg.norm(seen.pixels[i] - before.pixels[j], axis=1)))
