"""Bundle adjustment of a rig: cameras, targets and the platform's poses fitted to all sightings at once.

Every frame's own unknowns (the pose of the platform, and of cameras that move) are eliminated frame by frame, so that
time grows linearly with the number of frames [TMHF00, §6.1]. Errors of lenses and of dots are unknowns with the prior
of their calibration. What uneven light may do to a pose is a part of the covariance of its image.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.rigid import IDENTITY, RigidMotion
from gough.core.rotations import cross_matrix
from gough.vision.adjustment import scaled_inverse, scaled_solution
from gough.vision.covariances import root
from gough.vision.pose import MeasuredPose
from gough.vision.rig import Rig, RigSighting
from gough.vision.rig_start import Key, Places
from gough.vision.sightings import Numbers
from gough.vision.targets import DotTarget

_STEPS = 30
_SETTLED = 1e-9
_WRONG, _ROUGH, _WRONG_STEPS = 10.0, 1e-3, 8
"""Mean square of residuals, in σ², from which sightings are wrong; the precision of the minimum and the steps then."""
_MOST_DAMPING = 1e6
_SINGULAR = 1e-11
"""Eigenvalue of the scaled normal equations below which a direction is not determined."""


class Linear(NamedTuple):
    """One sighting about the expected pose: whitened slopes by pose, lens and target, and residuals."""

    by_pose: Array
    by_lens: Array
    by_target: Array
    """By dots, then by size."""
    residuals: Array


@dataclass
class State:
    """Estimates of everything."""

    rig: Rig
    places: dict[Key, RigidMotion]
    shift: Array
    """(q,): how far parameters are from those that the rig states, for those that have a prior."""

    def lens(self, j: int) -> Array:
        """Parameters of a camera's lens."""
        return np.asarray(self.rig.cameras[j].camera.parameters + self.shift[self.rig.layout.lens[j]])

    def points(self, k: int) -> Array:
        """Points of a target."""
        points, layout = self.rig.targets[k].target.points.copy(), self.rig.layout
        moved = self.shift[layout.dots[k]]
        if len(moved):
            points[:, :2] += moved.reshape(-1, 2)
        return np.asarray(points * (1 + self.shift[layout.size[k]][0]))

    def expected(self, seen: RigSighting) -> tuple[RigidMotion, RigidMotion, RigidMotion, RigidMotion]:
        """Where the camera expects the target: Z = X G Y, and X, G, Y."""
        X, G, Y = Places(self.rig, self.places).chain(seen)
        chain = self.places[X], IDENTITY if G is None else self.places[G], self.places[Y]
        return chain[0] @ chain[1] @ chain[2], *chain


class Whitening(NamedTuple):
    """Weights of a sighting's pixels, and what its light may do."""

    weight: Array
    """(2m,): 1 / σ."""
    basis: Array
    """(2m, k): orthonormal directions, in units of σ, in which light adds to the noise."""
    shrink: Array
    """(k,): by how much they count less."""

    def of(self, rows: Array) -> Array:
        scaled = rows * (self.weight[:, None] if rows.ndim == 2 else self.weight)
        inside = self.basis.T @ scaled
        return np.asarray(scaled - self.basis @ (inside * (self.shrink[:, None] if rows.ndim == 2 else self.shrink)))


def whitening(pose: MeasuredPose, points: Array, lens: Array, scale: float) -> Whitening:
    """Noise of a sighting in multiples `scale` of its stated standard deviations, and its light.

    The part of `MeasuredPose.light` becomes shifts of the pixels that look like changes of the pose.
    """
    from gough.vision import optics  # noqa: PLC0415 - numba

    weight = np.repeat(1 / (pose.weight * scale), 2)
    if not pose.light.any():
        return Whitening(weight, np.zeros((len(weight), 0)), np.zeros(0))
    _, by_pose, _, _ = optics.slopes(lens, _c(pose.rotation), _c(pose.position), _c(points[pose.which]))
    factor = by_pose.reshape(len(weight), 6) @ root(pose.light) * weight[:, None]
    U, s, _ = np.linalg.svd(factor, full_matrices=False)
    return Whitening(weight, U, 1 - 1 / np.sqrt(1 + s**2))


def linearized(state: State, seen: RigSighting, white: Whitening, *, slopes: bool = True) -> Linear:
    """A sighting about the pose that the rig expects."""
    from gough.vision import optics  # noqa: PLC0415 - numba

    lens, pose = state.lens(seen.camera), seen.pose
    Z = state.expected(seen)[0]
    at = lens, _c(Z.R), _c(Z.t), _c(state.points(seen.target)[pose.which])
    radius = state.rig.targets[seen.target].target.radius
    m = len(pose.which)
    there = optics.discs(*at, radius)[:, :2] if radius > 0 else optics.project(*at)
    r = white.of((pose.pixels - there).ravel())
    if not slopes:
        empty = np.zeros((2 * m, 0))
        return Linear(empty, empty, empty, r)
    _, by_pose, by_lens, by_point = optics.slopes(*at)
    layout, k = state.rig.layout, seen.target
    count = layout.dots[k].stop - layout.dots[k].start
    by_target = np.zeros((m, 2, count + 1))
    if count:
        columns = 2 * pose.which[:, None] + np.arange(2)
        by_target[np.arange(m)[:, None, None], np.arange(2)[:, None], columns[:, None, :]] = by_point[..., :2]
    by_target[:, :, -1] = np.einsum("mij,mj->mi", by_point, at[3])
    P, C, D = (white.of(part.reshape(2 * m, -1)) for part in (by_pose, by_lens, by_target))
    return Linear(P, C, D, r)


def chain_slopes(Z: RigidMotion, X: RigidMotion, G: RigidMotion, Y: RigidMotion) -> tuple[Array, Array, Array]:
    """Slopes (6, 6) of Z = X G Y by X, G and Y, each of position and left rotation vector."""
    by_X, by_G, by_Y = np.eye(6), np.zeros((6, 6)), np.zeros((6, 6))
    by_X[:3, 3:] = -cross_matrix(Z.t - X.t)
    by_G[:3, :3] = by_G[3:, 3:] = X.R
    by_G[:3, 3:] = -X.R @ cross_matrix(G.R @ Y.t)
    by_Y[:3, :3] = by_Y[3:, 3:] = X.R @ G.R
    return by_X, by_G, by_Y


@dataclass(frozen=True)
class FramePart:
    """Normal equations of one frame, with its own unknowns eliminated."""

    keys: tuple[Key, ...]
    """Its own unknowns, the platform first."""
    inverse: Array
    """(6n, 6n): covariance of its own unknowns where all others are known."""
    first: Array
    """(6n,): their steps where all others stay."""
    rest: Array
    """(6n, q): what all others subtract from these."""
    placed: Array
    """(6 (cameras + targets), q): rows of the normal matrix by the places of cameras and targets, then by sizes."""
    right: Array
    """(q,): right side."""


@dataclass(frozen=True)
class Normal:
    """Normal equations of all parameters, frame by frame."""

    matrix: Array
    right: Array
    frames: tuple[FramePart, ...]
    free_matrix: Array
    """(q, q): normal matrix if every sighting's pose were free: only lenses and dots are determined then."""
    free_right: Array
    pure: Array
    """(cameras, 2): sum of squares of the residuals that no pose explains, and their degrees of freedom."""
    disagreement: Array
    """(sightings,): sum of squares of the residuals that a pose of its own would explain."""


def place_rows(rig: Rig) -> Numbers:
    """Numbers of the parameters by which `FramePart.placed` has rows."""
    layout = rig.layout
    slices = [*layout.camera, *layout.target, *layout.size]
    return np.concatenate([np.arange(each.start, each.stop) for each in slices])


def assembled(state: State, groups: Sequence[Sequence[RigSighting]], white: Sequence[Sequence[Whitening]]) -> Normal:
    """Normal equations at the current estimates."""
    q, rig = len(state.shift), state.rig
    N, g, free_N, free_g = np.zeros((q, q)), np.zeros(q), np.zeros((q, q)), np.zeros(q)
    pure, apart, parts = np.zeros((len(rig.cameras), 2)), [], []
    rows = place_rows(rig)
    for group, whites in zip(groups, white, strict=True):
        if not group:
            continue
        keys = _own(state, group)
        size = 6 * len(keys)
        U, V, u = np.zeros((size, size)), np.zeros((size, q)), np.zeros(size)
        own_N, own_g = np.zeros((q, q)), np.zeros(q)
        for seen, noise in zip(group, whites, strict=True):
            linear = linearized(state, seen, noise)
            local, places, J = _columns(state, seen, linear, keys)
            r = linear.residuals
            own_N[np.ix_(places, places)] += J.T @ J
            own_g[places] += J.T @ r
            U += local.T @ local
            V[:, places] += local.T @ J
            u += local.T @ r
            Q = np.linalg.qr(linear.by_pose)[0]
            inside = Q.T @ r
            lens_and_dots = np.concatenate([places[: linear.by_lens.shape[1]], places[linear.by_lens.shape[1] + 12 :]])
            free = np.hstack([linear.by_lens, linear.by_target])
            free = free - Q @ (Q.T @ free)
            free_N[np.ix_(lens_and_dots, lens_and_dots)] += free.T @ free
            free_g[lens_and_dots] += free.T @ r
            apart.append(float(inside @ inside))
            pure[seen.camera] += float(r @ r) - apart[-1], len(r) - 6
        inverse = scaled_inverse(U) if size else U
        rest = inverse @ V
        own_N -= V.T @ rest
        own_g -= rest.T @ u
        N += own_N
        g += own_g
        parts.append(FramePart(keys, inverse, inverse @ u, rest, own_N[rows], own_g))
    return Normal(N, g, tuple(parts), free_N, free_g, pure, np.array(apart))


def _own(state: State, group: Sequence[RigSighting]) -> tuple[Key, ...]:
    """Unknowns of a frame: the platform, and cameras that move."""
    keys: dict[Key, None] = {}
    for seen in group:
        X, G, _ = Places(state.rig, state.places).chain(seen)
        keys |= {key: None for key in (G, X) if key is not None and key[2] >= 0}
    return tuple(sorted(keys, key=lambda key: key[0] != "platform"))


def _columns(state: State, seen: RigSighting, linear: Linear, keys: tuple[Key, ...]) -> tuple[Array, Numbers, Array]:
    """Slopes by the frame's own unknowns; numbers of the parameters that matter, and slopes by these."""
    X, G, _ = Places(state.rig, state.places).chain(seen)
    by_X, by_G, by_Y = (linear.by_pose @ each for each in chain_slopes(*state.expected(seen)))
    local = np.zeros((len(linear.residuals), 6 * len(keys)))
    for key, slope in ((X, by_X), (G, by_G)):
        if key in keys:
            at = 6 * keys.index(key)
            local[:, at : at + 6] = slope
    if X in keys:
        by_X = np.zeros_like(by_X)
    layout, j, k = state.rig.layout, seen.camera, seen.target
    slices = (layout.lens[j], layout.camera[j], layout.target[k], layout.dots[k], layout.size[k])
    places = np.concatenate([np.arange(each.start, each.stop) for each in slices])
    return local, places, np.hstack([linear.by_lens, by_X, by_Y, linear.by_target])


@dataclass(frozen=True)
class RigAdjustment:
    """What fits all sightings of a rig best."""

    state: State
    groups: tuple[tuple[RigSighting, ...], ...]
    """Sightings by frames."""
    normal: Normal
    scale: Array
    """(cameras,): noise in multiples of the sightings' standard deviations."""
    coordinates: Array
    """(q, k): T, with the parameters' errors T z."""
    inverse: Array
    """(k, k): covariance of z."""
    cost: float
    free_cost: float
    """What is left of `cost` if every sighting has a pose of its own."""
    freedom: int
    """Degrees of freedom of their difference."""
    free_freedom: int
    """Degrees of freedom of `free_cost`."""
    steps: int = field(default=0)

    @property
    def covariance(self) -> Array:
        """(q, q) of all parameters."""
        return np.asarray(self.coordinates @ self.inverse @ self.coordinates.T)

    @property
    def probability(self) -> float:
        """Probability of so large a disagreement of the sightings if the rig is right."""
        from scipy.special import fdtrc  # noqa: PLC0415 - start-up time

        if self.freedom < 1:
            return 1.0
        left = max(self.free_cost / max(self.free_freedom, 1), 1e-300)
        excess = max(self.cost - self.free_cost, 0.0) / self.freedom
        return float(fdtrc(self.freedom, max(self.free_freedom, 1), excess / left))


def adjust_rig(rig: Rig, places: dict[Key, RigidMotion], groups: Sequence[Sequence[RigSighting]]) -> RigAdjustment:
    """Least squares over all cameras, targets and poses, from first places.

    Raises:
        InputError: the sightings do not determine the rig; the message names what moves freely.
    """
    T, prior = rig.coordinates()
    state = State(rig, dict(places), np.zeros(len(rig.layout.names)))
    z = np.zeros(len(prior))
    scale = _first_scale(rig, groups)
    steps = 0
    for last in (False, True):
        white = [[_white(state, seen, scale) for seen in group] for group in groups]
        state, z, normal, cost, count = _minimized(state, z, T, prior, groups, white)
        steps += count
        if cost > _WRONG * normal.pure[:, 1].sum():
            break
        if not last:
            scale = scale * _noise_ratio(normal, T, prior)
    A = T.T @ normal.matrix @ T + np.diag(prior)
    _require_determined(rig, A, T)
    free_cost = _free_cost(normal, T, prior, z)
    seen = [each for group in groups for each in group]
    local = sum(6 * len(part.keys) for part in normal.frames)
    freedom = 6 * len(seen) - local - int((prior == 0).sum())
    return RigAdjustment(
        state, tuple(map(tuple, groups)), normal, scale, T, scaled_inverse(A), cost, free_cost,
        freedom, int(normal.pure[:, 1].sum()), steps,
    )  # fmt: skip


def _minimized(  # noqa: PLR0917 - a problem and where it starts
    state: State,
    z: Array,
    T: Array,
    prior: Array,
    groups: Sequence[Sequence[RigSighting]],
    white: Sequence[Sequence[Whitening]],
) -> tuple[State, Array, Normal, float, int]:
    """Levenberg's method; returns the state, z, the normal equations there, the cost and the number of steps.

    Where residuals are far beyond the noise, some sightings are wrong, and a rough minimum is enough to say so.
    """
    cost, damping = _cost(state, groups, white) + float(prior @ z**2), 0.0
    observations = sum(2 * len(seen.pose.which) for group in groups for seen in group)
    for step in range(_STEPS):
        normal = assembled(state, groups, white)
        A, b = T.T @ normal.matrix @ T + np.diag(prior), T.T @ normal.right - prior * z
        while True:
            dz = scaled_solution(A + damping * np.diag(A.diagonal()), b)
            moved = _moved(state, T @ dz, normal)
            new = _cost(moved, groups, white) + float(prior @ (z + dz) ** 2)
            if new <= cost * (1 + 1e-12) + 1e-12 or damping > _MOST_DAMPING:
                break
            damping = max(10 * damping, 1e-6)
        if not new <= cost * (1 + 1e-12) + 1e-12:
            return state, z, normal, cost, step
        precision = _SETTLED if new < _WRONG * observations else _ROUGH
        settled = cost - new <= precision * max(new, 1.0)
        state, z, cost = moved, z + dz, new
        damping = damping / 10 if damping > 1e-9 else 0.0
        if settled or (step >= _WRONG_STEPS and precision == _ROUGH):
            return state, z, assembled(state, groups, white), cost, step + 1
    return state, z, assembled(state, groups, white), cost, _STEPS


def _moved(state: State, change: Array, normal: Normal) -> State:
    rig, places = state.rig, dict(state.places)
    layout = rig.layout
    for j, camera in enumerate(rig.cameras):
        if not camera.is_moving:
            places["camera", j, -1] = places["camera", j, -1].stepped(change[layout.camera[j]])
    for k in range(len(rig.targets)):
        places["target", k, -1] = places["target", k, -1].stepped(change[layout.target[k]])
    for part in normal.frames:
        own = part.first - part.rest @ change
        for i, key in enumerate(part.keys):
            places[key] = places[key].stepped(own[6 * i : 6 * i + 6])
    return State(rig, places, state.shift + change)


def _cost(state: State, groups: Sequence[Sequence[RigSighting]], white: Sequence[Sequence[Whitening]]) -> float:
    total = 0.0
    for group, whites in zip(groups, white, strict=True):
        for seen, noise in zip(group, whites, strict=True):
            r = linearized(state, seen, noise, slopes=False).residuals
            total += float(r @ r)
    return total if np.isfinite(total) else np.inf


def _white(state: State, seen: RigSighting, scale: Array) -> Whitening:
    return whitening(seen.pose, state.points(seen.target), state.lens(seen.camera), float(scale[seen.camera]))


def _first_scale(rig: Rig, groups: Sequence[Sequence[RigSighting]]) -> Array:
    """Residuals of the sightings' own poses over their standard deviations, for each camera."""
    sums = np.zeros((len(rig.cameras), 2))
    for group in groups:
        for seen in group:
            scaled = seen.pose.residuals / seen.pose.weight[:, None]
            sums[seen.camera] += (scaled**2).sum(), scaled.size - 6
    return np.sqrt(np.maximum(sums[:, 0] / np.maximum(sums[:, 1], 1), 1e-12))


def _noise_ratio(normal: Normal, T: Array, prior: Array) -> Array:
    """Noise of each camera over the one that was assumed, with what lenses and dots take of the degrees of freedom."""
    H = T.T @ normal.free_matrix @ T
    taken = float(np.vdot(scaled_inverse(H + np.diag(prior)), H))
    total = max(float(normal.pure[:, 1].sum()), 1.0)
    share = total / max(total - taken, 1.0)
    return np.sqrt(np.maximum(normal.pure[:, 0] / np.maximum(normal.pure[:, 1], 1) * share, 1e-12))


def _free_cost(normal: Normal, T: Array, prior: Array, z: Array) -> float:
    """The least cost with a pose of its own for every sighting, to second order about the minimum."""
    H = T.T @ normal.free_matrix @ T + np.diag(prior)
    h = T.T @ normal.free_right - prior * z
    return float(normal.pure[:, 0].sum() + prior @ z**2 - h @ scaled_inverse(H) @ h)


def _require_determined(rig: Rig, A: Array, T: Array) -> None:
    d = 1 / np.sqrt(np.maximum(A.diagonal(), 1e-300))
    values, vectors = np.linalg.eigh(A * d * d[:, None])
    if not len(values) or values[0] > _SINGULAR:
        return
    loose = abs(T @ (d * vectors[:, 0]))
    layout = rig.layout
    size = [(float(loose[part].max()), f"camera {rig.cameras[j].name}") for j, part in enumerate(layout.camera)]
    size += [(float(loose[part].max()), f"target {rig.targets[k].name}") for k, part in enumerate(layout.target)]
    name = max(size)[1]
    raise InputError(
        f"these frames do not determine where {name} is: it shares no target with the others, and the platform does "
        "not tilt in several directions. Take frames in which two cameras see one target, or tilt the platform more"
    )


def _c(values: Array) -> Array:
    return np.ascontiguousarray(values, dtype=float)


def updated(fit: RigAdjustment) -> Rig:
    """The rig as it was found, with its covariance."""
    state, rig = fit.state, fit.state.rig
    C, layout = fit.covariance, rig.layout
    cameras = []
    for j, each in enumerate(rig.cameras):
        p, of = state.lens(j), layout.lens[j]
        known = each.camera.covariance is not None
        lens = replace(
            each.camera, focal=p[:2], center=p[2:4], distortion=p[4:], covariance=C[of, of] if known else None
        )
        world = IDENTITY if each.is_moving else state.places["camera", j, -1]
        cameras.append(replace(each, camera=lens, world=world))
    targets = []
    for k, sheet in enumerate(rig.targets):
        target = sheet.target
        if isinstance(target, DotTarget):
            target = replace(target, points=state.points(k))
        targets.append(replace(sheet, target=target, place=state.places["target", k, -1]))
    return Rig(tuple(cameras), tuple(targets), C)
