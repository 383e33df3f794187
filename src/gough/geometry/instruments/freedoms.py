"""Motions that no measurement shows: which frame or scale they move, and where it is put.

If an instrument's frame is unknown, the base and all poses can be moved together: the measurements stay the same. Such
a motion is a convention, not a defect. It is recognized by what it does to the poses, for any robot, and the frame is
put where the robot's parameters are nearest to their start.
"""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.rotations import cross_matrix
from gough.core.text import counted, listed
from gough.geometry.instruments.descent import Decomposed
from gough.geometry.instruments.elimination import Elimination
from gough.geometry.instruments.equations import Linearized, State
from gough.robots.kinematics import PlatformPoses

_ALIKE = 1e-5
"""Motions of poses are the same if they differ by less than this share."""
_AXES = ("x", "y", "z")


@dataclass(frozen=True)
class FreeMotion:
    """A common motion of all poses that no measurement shows."""

    of: str
    """"base", "platform" or "scale"."""
    shifts: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    others: int = 0
    """Combinations of shifts and turns that are along no axis."""

    @property
    def count(self) -> int:
        """Number of independent motions."""
        return 1 if self.of == "scale" else len(self.shifts) + len(self.turns) + self.others

    @property
    def words(self) -> str:
        """What is free, in words."""
        if self.of == "scale":
            return "the scale of all lengths"
        if len(self.shifts) == len(self.turns) == len(_AXES) and not self.others:
            return f"the frame of the {self.of}"
        parts = []
        if self.shifts:
            parts.append(f"along {listed(self.shifts)}")
        if self.turns:
            parts.append(f"about {listed(self.turns)}")
        if self.others:
            parts.append(f"in {self.others} combination{'s' * (self.others > 1)} of shift and turn")
        return f"the frame of the {self.of} {' and '.join(parts)}"


@dataclass(frozen=True, eq=False)
class Freedoms(ArrayValue):
    """What the measurements leave free."""

    motions: tuple[FreeMotion, ...]
    directions: Array
    """(P, n): changes of the free unknowns that no measurement shows, all of them common motions of the poses."""
    unexplained: int
    """Further directions that are not determined, and are no common motion of the poses."""

    @property
    def words(self) -> str:
        """A sentence on the free motions; empty without any."""
        if not self.motions:
            return ""
        what = listed([motion.words for motion in self.motions])
        count = counted(self.directions.shape[1], "direction")
        return (
            f"The measurements do not determine {what} ({count}). The parameters are given in the frame in which they "
            "are nearest to the blueprint, and ± is relative to it."
        )


def freedoms_of(elimination: Elimination, linearized: Linearized, svd: Decomposed, poses: PlatformPoses) -> Freedoms:
    """The undetermined directions, sorted into common motions of all poses and others."""
    free = svd.free
    if not free.shape[1]:
        return Freedoms((), free, 0)
    moved = elimination.pose_motions(linearized, free).reshape(-1, free.shape[1])
    common, names = _common_motions(poses, elimination.equations.model.freedoms)
    size = np.linalg.norm(moved, axis=0).max(initial=0.0)
    U, s, V = np.linalg.svd(moved, full_matrices=False)
    moving = s > _ALIKE * max(size, 1e-300)
    seen = U[:, moving]
    away = seen - common @ np.linalg.lstsq(common, seen, rcond=1e-9)[0]
    # directions of `seen` within the span of all common motions
    u, t, v = np.linalg.svd(away, full_matrices=False)
    del u
    inside = t <= _ALIKE * 10
    directions = free @ V[moving].T / s[moving] @ v[inside].T
    motions = _named(seen @ v[inside].T, common, names)
    return Freedoms(motions, directions, free.shape[1] - directions.shape[1])


def _common_motions(poses: PlatformPoses, freedoms: tuple[int, ...]) -> tuple[Array, list[tuple[str, str, str]]]:
    """Motions of all poses (N d, 13), columns of unit length, and what each moves: frame, kind and axis."""
    p, R = poses
    N = len(p)
    eye = np.broadcast_to(np.eye(3), (N, 3, 3))
    none = np.zeros((N, 3, 3))
    turns = -cross_matrix(p)  # columns w × p
    base = np.concatenate([np.concatenate([eye, turns], axis=2), np.concatenate([none, eye], axis=2)], axis=1)
    platform = np.concatenate([np.concatenate([R, none], axis=2), np.concatenate([none, R], axis=2)], axis=1)
    scale = np.concatenate([p[..., None], np.zeros((N, 3, 1))], axis=1)
    every = np.concatenate([base, platform, scale], axis=2)[:, list(freedoms)]
    columns = every.reshape(N * len(freedoms), -1)
    names = [(of, kind, axis) for of in ("base", "platform") for kind in ("shift", "turn") for axis in _AXES]
    names.append(("scale", "", ""))
    length = np.linalg.norm(columns, axis=0)
    kept = length > 1e-9 * length.max()
    return columns[:, kept] / length[kept], [name for name, keep in zip(names, kept, strict=True) if keep]


def _named(span: Array, common: Array, names: list[tuple[str, str, str]]) -> tuple[FreeMotion, ...]:
    """The common motions in a space of pose motions with orthonormal columns: of the base first, then the others."""
    basis = np.zeros((len(span), 0))
    found: dict[str, dict[str, list[str]]] = {}

    def is_new(motion: Array) -> Array | None:
        inside = np.linalg.norm(motion - span @ (span.T @ motion)) <= 100 * _ALIKE
        left = motion - basis @ (basis.T @ motion)
        left -= basis @ (basis.T @ left)
        return left / np.linalg.norm(left) if inside and np.linalg.norm(left) > 1e-3 else None

    for column, (of, kind, axis) in zip(common.T, names, strict=True):
        new = is_new(column)
        if new is not None and basis.shape[1] < span.shape[1]:
            basis = np.column_stack([basis, new])
            found.setdefault(of, {"shift": [], "turn": [], "": []})[kind].append(axis)
    left = span.shape[1] - basis.shape[1]
    motions = [FreeMotion(of, tuple(kinds["shift"]), tuple(kinds["turn"])) for of, kinds in found.items()]
    if left:
        of = "platform" if "platform" not in found else "base"
        motions.append(FreeMotion(of, others=left))
    return tuple(motions)


@dataclass(frozen=True, eq=False)
class Placing(ArrayValue):
    """The convention that puts free frames: Σ (w Δ)² is least, Δ how far the robot's parameters are from the start."""

    weights: Array
    """(P,) w of the free unknowns: lengths count as they are, angles times the size of the workspace."""
    size: float
    """Root mean square distance of the poses from their middle, m."""

    @classmethod
    def of(cls, elimination: Elimination, poses: PlatformPoses) -> "Placing":
        """The weights for a robot and its poses."""
        layout, start = elimination.equations.layout, elimination.equations.start
        size = float(np.sqrt(((poses.position - poses.position.mean(axis=0)) ** 2).sum(axis=1).mean())) or 1.0
        weights = np.zeros(len(layout.names))
        for i in range(layout.n_model):
            unit = layout.units[i]
            other = size / abs(start[i]) if start[i] else 0.0
            weights[i] = 1.0 if unit == "m" else size if unit == "rad" else other
        return cls(weights[layout.free], size)

    def correction(self, directions: Array, away: Array) -> Array:
        """The step along free directions to where the convention holds."""
        B = self.weights[:, None] * directions
        return np.asarray(-directions @ np.linalg.lstsq(B, self.weights * away, rcond=1e-12)[0])

    def covariance(self, directions: Array, covariance: Array) -> Array:
        """S C Sᵀ with S = I − N (Nᵀ W² N)⁻¹ Nᵀ W²: the covariance under the convention [BAA81]."""
        if not directions.shape[1]:
            return covariance
        B = self.weights[:, None] * directions
        S = np.eye(len(covariance)) - directions @ np.linalg.lstsq(B, np.diag(self.weights), rcond=1e-12)[0]
        C = S @ covariance @ S.T
        return np.asarray((C + C.T) / 2)

    def conditions(self, directions: Array) -> Array:
        """Rows (n, P) that are zero where the convention holds, for a triangle that lacks these directions."""
        rows = (self.weights**2)[:, None] * directions
        return np.asarray((rows / np.linalg.norm(rows, axis=0)).T)


def placed(
    elimination: Elimination, state: State, linearized: Linearized, freedoms: Freedoms, placing: Placing
) -> tuple[State, float]:
    """The state moved along free directions to where the convention holds to first order, and how far (m)."""
    equations = elimination.equations
    free = equations.layout.free
    step = placing.correction(freedoms.directions, equations.departure(state)[free])
    whole = np.zeros(len(equations.layout.names))
    whole[free] = step
    size = float(np.linalg.norm(placing.weights * step))
    return equations.moved(state, whole, elimination.pose_steps(linearized, step)), size
