"""Poses in the robot's frame, as chains over rods need them, and what a study states about frames of measured poses.

Where poses are those of a target in an instrument's frame, the study states the base in the instrument's frame, Z, and
the platform in the target's, X. A pose with the rotation A and the position a puts the platform in the base's frame at

    p = Zᵀ exp(−ζ) (a + δ + exp(ω) A (t_X + χ) − t_Z)    and turns it by    Zᵀ exp(−ζ) exp(ω) A exp(ξ) X,

δ and ω being errors of the pose (δ with that of t_Z), ζ, χ and ξ errors of the frames. Its heading is the direction of
the first column u of that rotation, seen along z.

To first order p moves by Zᵀ (δ + A χ + ω × A t_X − ζ × y) with y = a + A t_X − t_Z. Since |exp(v) − 1| ≤ |v| and
|exp(v) − 1 − v×| ≤ |v|²/2, what is left is at most

    |ζ|²/2 |y| + |ζ| (|δ| + |χ| + |ω| (|t_X| + |χ|)) + |ω|²/2 |t_X| + |ω| |χ|.

The heading φ: take exp(−s ζ) exp(s ω) A exp(s ξ) for s from 0 to 1, whose angular velocity w has |w| ≤ W =
|ζ| + |ω| + |ξ| and |w'| ≤ |ζ| |ω| + |ζ| |ξ| + |ω| |ξ| ≤ W²/3. Then u' = w × u and φ' = (w_z − (w·u) u_z) / (1 − u_z²),
which is at most |w| / √(1 − u_z²), and because w·u' = 0

    |φ''| ≤ W² / (1 − u_z²) + 2 |u_z| W² / (1 − u_z²)^(3/2) + (W²/3) / √(1 − u_z²) < 1.97 W²    for |u_z| ≤ 1/4.

So φ differs from its linear part by less than 0.99 W², and a vector c that turns by φ from its linear part by less than
(0.99 + 1.07/2) W² |c| < 8/5 W² |c|.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gough.checker.linear import NotProven
from gough.checker.raw_data import half_widths, table_in
from gough.checker.raw_numbers import Scaled, Span, quantity, total

Vector = tuple[Span, ...]
Matrix = tuple[Vector, ...]
_ZERO, _ONE = Span.at(0), Span.at(1)
_AXES = tuple(tuple(_ONE if i == j else _ZERO for j in range(3)) for i in range(3))
_UNITS = {"position": "m", "orientation": "rad"}
_FINE = Fraction(1, 2**200)
_STEEPEST = Fraction(1, 4)
_BENT = Fraction(8, 5)
_UNIT = Fraction(1, 499)
"""The square of the length of a stated quaternion may differ from 1 by so much: that of a length between 0.999 and
1.001 does."""


@dataclass(frozen=True)
class RawPlacement:
    """A frame in another one, as stated."""

    position: tuple[Scaled, ...]
    quaternion: tuple[Fraction, ...]
    """Scalar first, of any length near 1."""
    position_half: tuple[Scaled, ...]
    """Half-widths along the axes of the other frame, m."""
    orientation_half: tuple[Scaled, ...]
    """Half-widths of the left rotation vector, rad."""

    @property
    def tilts(self) -> bool:
        """Do the two frames have different z axes?"""
        return any(self.quaternion[1:3])

    @property
    def matrix(self) -> Matrix:
        """The rotation, exactly."""
        return matrix_of(tuple(Span.at(x) for x in self.quaternion))


_NOWHERE = (Scaled(Fraction(0)),) * 3
_SAME = RawPlacement(_NOWHERE, (Fraction(1), Fraction(0), Fraction(0), Fraction(0)), _NOWHERE, _NOWHERE)


@dataclass(frozen=True)
class RawFrames:
    """The base in the instrument's frame, and the platform in the target's."""

    base: RawPlacement
    platform: RawPlacement

    @property
    def uncertain(self) -> bool:
        """Is a half-width of the frames larger than zero?"""
        return any(
            _any(each) for part in (self.base, self.platform) for each in (part.position_half, part.orientation_half)
        )


def frames_of(study: Mapping[str, Any], *, turns: bool) -> RawFrames | None:
    """The frames that a study states about a robot with chains over rods; None if poses are in the robot's frame.

    Raises:
        NotProven: frames are missing, or are stated in a way that has no meaning.
    """
    framed, stated = table_in(study, "calibration").get("frames", "robot"), table_in(study, "frames")
    if framed != "instrument":
        if "frames" in study:
            raise NotProven("the study states frames, but not that the poses are in an instrument's frame")
        return None
    if "base" not in stated:
        raise NotProven("the poses are in an instrument's frame, but the study does not state where the base is in it")
    if "platform" in stated and not turns:
        raise NotProven("the study states a frame of the platform, but the robot does not turn")
    platform = _placement(table_in(stated, "platform")) if "platform" in stated else _SAME
    return RawFrames(_placement(table_in(stated, "base")), platform)


def _placement(table: Mapping[str, Any]) -> RawPlacement:
    position, quaternion = table.get("position"), table.get("quaternion")
    if not isinstance(position, list) or len(position) != 3:
        raise NotProven("the position of a frame has not three coordinates")
    good = isinstance(quaternion, list) and len(quaternion) == 4
    if not good or any(isinstance(x, bool) or not isinstance(x, int | Fraction) for x in quaternion or ()):
        raise NotProven("the quaternion of a frame has not four numbers")
    q = tuple(Fraction(x) for x in quaternion or ())
    if abs(sum((x * x for x in q), Fraction(-1))) > _UNIT:
        raise NotProven("the quaternion of a frame has not the length 1")
    halves = [half_widths(table.get(f"{what}_tolerance", 0), unit) for what, unit in _UNITS.items()]
    return RawPlacement(tuple(quantity(x, "m") for x in position), q, *halves)


@dataclass(frozen=True)
class PoseError:
    """An error of a pose: its half-width, what it moves p by, and what it turns the heading by, for one unit."""

    half: Span
    direction: Vector
    slope: Span


@dataclass(frozen=True)
class SeenPose:
    """A pose in the robot's frame, linear in its errors up to remainders."""

    position: Vector
    heading: tuple[Span, Span]
    """Cosine and sine; (1, 0) where the robot does not turn."""
    shifts: tuple[PoseError, ...]
    """Errors in m."""
    turns: tuple[PoseError, ...]
    """Errors in rad."""
    left: Fraction
    """What linear errors leave out of p, m."""
    bent: Fraction
    """What they leave out of a vector that the heading turns, for one unit of its length."""


def own_pose(position: Vector, rotation: Any, halves: tuple[Vector, Vector], axes: int) -> SeenPose:
    """A pose that was measured in the robot's frame, with half-widths of so many axes and of the heading.

    The rotation is a quaternion or a matrix of nine numbers; None for robots that do not turn.
    """
    shifts = tuple(PoseError(halves[0][i], _AXES[i], _ZERO) for i in range(axes))
    if rotation is None:
        return SeenPose(position, (_ONE, _ZERO), shifts, (), Fraction(0), Fraction(0))
    if len(rotation) == 4:
        w, x, y, z = rotation
        level, across = w * w + x * x - y * y - z * z, (x * y + w * z) * 2
    else:
        level, across = rotation[0], rotation[3]
    length = (level * level + across * across).rounded().root()
    heading = (level / length).rounded(), (across / length).rounded()
    (half,) = halves[1]
    error = PoseError(half, (_ZERO,) * 3, _ONE)
    return SeenPose(position, heading, shifts, (error,), Fraction(0), half.high * half.high / 2)


def moved_pose(frames: RawFrames, position: Vector, rotation: Any, halves: tuple[Vector, Vector]) -> SeenPose:
    """A pose that was measured in the instrument's frame with half-widths of its position and orientation.

    The rotation is a quaternion, or nine numbers whose nearest rotation is meant; None for robots that do not turn.

    Raises:
        NotProven: the platform is tilted by much, or its orientation is not known well enough.
    """
    Z, none = frames.base.matrix, (_ZERO,) * 3
    t_Z, t_X = (tuple(x.span for x in each.position) for each in (frames.base, frames.platform))
    A = None if rotation is None else matrix_of(rotation)
    arm = none if A is None else _times(A, t_X)
    y = tuple((a + b - t).rounded() for a, b, t in zip(position, arm, t_Z, strict=True))
    delta = tuple(a + b.span for a, b in zip(halves[0], frames.base.position_half, strict=True))
    zeta, chi, xi = (
        tuple(half.span for half in each)
        for each in (frames.base.orientation_half, frames.platform.position_half, frames.platform.orientation_half)
    )
    omega = none if A is None else tuple(halves[1])
    shifts, turns = _errors(Z, delta, _AXES, none), list[PoseError]()
    heading, rate = (_ONE, _ZERO), tuple[Span, ...](none)
    if A is not None:
        u = _across(Z, _times(A, tuple(row[0] for row in frames.platform.matrix)))
        if u[2].most + sum((half.high for half in (*omega, *zeta, *xi)), Fraction(0)) > _STEEPEST:
            raise NotProven("the platform is tilted in the robot's frame, or its orientation is not known well enough")
        level = (u[0] * u[0] + u[1] * u[1]).rounded()
        heading = ((u[0] / level.root()).rounded(), (u[1] / level.root()).rounded())
        rate = _times(Z, ((-u[2] * u[0] / level).rounded(), (-u[2] * u[1] / level).rounded(), _ONE))
        columns = tuple(tuple(row[j] for row in A) for j in range(3))
        shifts += _errors(Z, chi, columns, none) if _any(frames.platform.position_half) else []
        turns += _errors(Z, omega, tuple(_cross(axis, arm) for axis in _AXES), rate)
    if _any(frames.base.orientation_half):
        turns += _errors(Z, zeta, tuple(_cross(y, axis) for axis in _AXES), tuple(-x for x in rate))
    if A is not None and _any(frames.platform.orientation_half):
        turns += _errors(Z, xi, (none,) * 3, _across(A, rate))
    z, w, x, d, c = (_length(each) for each in (zeta, omega, xi, delta, chi))
    far, away = _length(t_X), _length(y)
    left = z * z / 2 * away + z * (d + c + w * (far + c)) + w * w / 2 * far + w * c
    W = z + w + x
    return SeenPose(_across(Z, y), heading, tuple(shifts), tuple(turns), left, _BENT * W * W)


def _errors(Z: Matrix, halves: Vector, directions: Matrix, rate: Vector) -> list[PoseError]:
    """Three errors that move the target along directions of the instrument's frame, and turn the heading."""
    return [PoseError(half, _across(Z, each), s) for half, each, s in zip(halves, directions, rate, strict=True)]


def _any(halves: Sequence[Scaled]) -> bool:
    return any(half.number for half in halves)


def _times(M: Matrix, v: Sequence[Span]) -> Vector:
    """The product M v."""
    return tuple(total(a * b for a, b in zip(row, v, strict=True)).rounded() for row in M)


def _across(M: Matrix, v: Sequence[Span]) -> Vector:
    """The product Mᵀ v."""
    return _times(tuple(zip(*M, strict=True)), v)


def _cross(a: Sequence[Span], b: Sequence[Span]) -> Vector:
    return tuple(a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3))


def _length(v: Sequence[Span]) -> Fraction:
    """An upper bound of the length of every vector in a box."""
    return Span.at(sum((x.most * x.most for x in v), Fraction(0))).rounded().root().high


def matrix_of(rotation: Any) -> Matrix:
    """The matrix of a quaternion of any length, or the rotation nearest to nine numbers.

    Examples:
        >>> quarter = matrix_of((Span.at(1), Span.at(0), Span.at(0), Span.at(1)))
        >>> [[int(x.low) for x in row] for row in quarter]
        [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    """
    if len(rotation) == 9:
        return _nearest(tuple(tuple(rotation[3 * i : 3 * i + 3]) for i in range(3)))
    w, x, y, z = rotation
    squares = [part * part for part in rotation]
    size = total(squares)
    a, b, c, d = squares
    rows = (
        (a + b - c - d, (x * y - w * z) * 2, (x * z + w * y) * 2),
        ((x * y + w * z) * 2, a - b + c - d, (y * z - w * x) * 2),
        ((x * z - w * y) * 2, (y * z + w * x) * 2, a - b - c + d),
    )
    return tuple(tuple((entry / size).rounded() for entry in row) for row in rows)


def _nearest(M: Matrix) -> Matrix:
    """The rotation R nearest to M = R P, P symmetric, enclosed.

    M (3 − Mᵀ M)/2 = R (3 P − P³)/2 has the same nearest rotation, and is nearer to it: what its square differs from 1
    by is squared in each step. If E is the sum of all |entries| of Mᵀ M − 1 = P² − 1 and less than 1/10, no entry of
    M − R = R (P − 1) is larger than E, because P + 1 ≥ 1.
    """
    determinant = total(
        M[0][i] * (M[1][(i + 1) % 3] * M[2][(i + 2) % 3] - M[1][(i + 2) % 3] * M[2][(i + 1) % 3]) for i in range(3)
    )
    size = Fraction(1)
    while size > _FINE:
        square = [[total(M[k][i] * M[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
        off = [[square[i][j] - (_ONE if i == j else _ZERO) for j in range(3)] for i in range(3)]
        size = sum((x.most for row in off for x in row), Fraction(0))
        if size >= Fraction(1, 10) or determinant.low <= 0:
            raise NotProven("a matrix of the poses is no rotation")
        half = [[(-off[i][j]) * Fraction(1, 2) + (_ONE if i == j else _ZERO) for j in range(3)] for i in range(3)]
        M = tuple(tuple(total(row[k] * half[k][j] for k in range(3)).rounded() for j in range(3)) for row in M)
    return tuple(tuple(x + Span(-size, size) for x in row) for row in M)
