"""What the user's study and poses state about chains: intervals of poses and readings, model errors, and the prior.

One derivation for legs of Gough platforms and for the chains of five other families, which close over one rod, |d| = l,
with angles replaced by the vectors that they turn:

    linear-delta            d = p + reading e_z − P
    rotary-delta            d = p − P − cos q U − sin q V
    h4, par4                d = p + R(θ) c − P − cos q U − sin q V
    3-rrr                   d = p + R(θ) c − P − R(q) U, in the plane

Poses of the five other families may be stated in an instrument's frame, see `raw_frames`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from gough.checker.leg_equations import STEMS
from gough.checker.linear import NotProven
from gough.checker.manifest import BLUEPRINT, CALIBRATED, Given
from gough.checker.raw_data import (
    Half,
    NotDerived,
    RawPoses,
    RawTable,
    center_of,
    pose_half_widths,
    poses_of,
    reach_of,
    reading_half_widths,
    span_of,
    table_in,
)
from gough.checker.raw_frames import RawFrames, SeenPose, frames_of, moved_pose, own_pose
from gough.checker.raw_numbers import Scaled, Span, quantity, total, turn
from gough.core.rational import rational

_LEVEL_AXIS = (
    ((3, 6, 1), (4, 7, 1), (5, 8, 1)),
    ((3, 7, 1), (4, 6, -1)),
    ((3, 3, 1), (4, 4, 1), (8, 8, -1)),
    ((6, 6, 1), (7, 7, 1), (5, 5, -1)),
    ((3, 5, 1), (6, 8, 1)),
    ((4, 5, 1), (7, 8, 1)),
)
"""Conditions of an arm on a level axis, U = L (cos z r − sin z e_z) and V = −L (sin z r + cos z e_z) with a level unit
vector r: U·V = 0, level parts are parallel, |U level| = |V_z|, |V level| = |U_z|, and U_z U + V_z V is upright."""
_ON_RADIUS = (((0, 4, 1), (1, 3, -1)), ((0, 7, 1), (1, 6, -1)))
"""The motor of a rotary delta lies on the line from the origin along r."""


@dataclass(frozen=True)
class Family:
    """What the checker knows of a family of robots."""

    name: str
    chains: int
    """How many there are; 0: as many as the study states."""
    reading_unit: str
    turns: bool
    """Do its poses have an orientation, or a heading?"""
    unknowns: tuple[str, ...]
    """Names of a chain's unknowns; braces stand for its number."""
    conditions: tuple[Any, ...] = ()

    @property
    def is_gough(self) -> bool:
        """Are its chains legs of a Gough platform?"""
        return self.name == "gough"

    @property
    def axes(self) -> int:
        """Components of a position that its chains depend on."""
        return 2 if self.name == "3-rrr" else 3


_ARM = tuple(f"{point}_{x}_{{}}" for point in ("motor", "arm_at_0", "arm_at_90") for x in "xyz")
_TOWER = ("tower_x_{}", "tower_y_{}", "carriage_{}", "arm_{}")
_JOINT = ("joint_x_{}", "joint_y_{}")
_PLANAR = ("base_x_{}", "base_y_{}", "arm_x_{}", "arm_y_{}", *_JOINT, "rod_{}")
FAMILIES = {
    family.name: family
    for family in (
        Family("gough", 0, "m", turns=True, unknowns=STEMS),
        Family("linear-delta", 3, "m", turns=False, unknowns=_TOWER),
        Family("rotary-delta", 3, "rad", turns=False, unknowns=(*_ARM, "rod_{}"), conditions=_LEVEL_AXIS + _ON_RADIUS),
        Family("h4", 4, "rad", turns=True, unknowns=(*_ARM, *_JOINT, "rod_{}"), conditions=_LEVEL_AXIS),
        Family("par4", 4, "rad", turns=True, unknowns=(*_ARM, *_JOINT, "rod_{}"), conditions=_LEVEL_AXIS),
        Family("3-rrr", 3, "rad", turns=True, unknowns=_PLANAR),
    )
}
_POINTS = {"base", "platform", "length", "gain"}
_CIRCLES = {"base_radius", "platform_radius", "base_angles", "platform_angles", "length", "gain"}
BLUEPRINTS = {
    "deltalab": (
        "-223.1792 -151.9573 0 -19.9938 -193.9723 0 345",
        "223.1792 -151.9573 0 19.9938 -193.9723 0 345",
        "243.1885 -117.3002 0 177.9818 79.6710 0 345",
        "20.0093 269.2575 0 157.9880 114.3013 0 345",
        "-20.0093 269.2575 0 -157.9880 114.3013 0 345",
        "-243.1885 -117.3002 0 -177.9818 79.6710 0 345",
    )
}
"""Geometries that a study may name: a, b, l of each leg in mm [DACP06, Table 1]."""


@dataclass(frozen=True)
class RawChains:
    """What study and poses state about some chains: intervals of poses and readings in SI units, and the prior."""

    family: Family
    chains: tuple[int, ...]
    """Their numbers."""
    poses: RawPoses
    position: Sequence[tuple[Half, ...]]
    """Half-widths of each pose, m."""
    orientation: Sequence[tuple[Half, ...]]
    """Half-widths of the left rotation vector, or of the heading only, rad; empty where nothing turns. Chains over rods
    have the vector if poses are in an instrument's frame."""
    readings: Sequence[tuple[Span, ...]]
    """Readings of each pose and chain, multiplied by the gain."""
    half: Sequence[tuple[Span, ...]]
    """Half-widths of the readings, with what the model may add."""
    center: Sequence[tuple[Span, ...]]
    """Center of the prior, chain by chain, m."""
    around: tuple[Scaled, ...]
    """Half-widths of the prior of a chain's unknowns, m."""
    centers: str
    """Where the prior's center is from, in words; empty where the study states its numbers."""
    gains: tuple[float, ...] = ()
    """Calibrated gains that are taken as given; empty where the study states them."""
    frames: RawFrames | None = None
    """Where the base is in the frame of the poses; None if they are in the robot's frame, or of a Gough platform."""

    @cached_property
    def seen(self) -> tuple[SeenPose, ...]:
        """The poses in the robot's frame, for chains over rods."""
        poses = []
        for k, position in enumerate(self.poses.position):
            halves = tuple(span_of(x) for x in self.position[k]), tuple(span_of(x) for x in self.orientation[k])
            rotation = self.poses.rotation[k] if self.family.turns else None
            try:
                poses.append(
                    own_pose(position, rotation, halves, self.family.axes)
                    if self.frames is None
                    else moved_pose(self.frames, position, rotation, halves)
                )
            except NotProven as short:
                raise NotProven(f"pose {self.poses.label(k)}: {short}") from short
        return tuple(poses)

    @property
    def names(self) -> tuple[str, ...]:
        """The unknowns of chain after chain."""
        return tuple(name.format(chain) for chain in self.chains for name in self.family.unknowns)

    def prior(self, *, outer: bool) -> list[tuple[Fraction, Fraction]]:
        """Sides of the stated prior, rounded outward or inward; a rod is not shorter than nothing."""
        sides = []
        for row in self.center:
            for c, reach in zip(row, self.around, strict=True):
                far = reach.span.high if outer else reach.span.low
                sides.append((c.low - far, c.high + far) if outer else (c.high - far, c.low + far))
            if not self.family.is_gough:
                sides[-1] = (max(sides[-1][0], Fraction(0)), sides[-1][1])
        return sides


def raw_chains(
    study: Mapping[str, Any], table: RawTable, given: Given, chains: Sequence[int], place: int = 0
) -> RawChains:
    """What a study states about these chains, counted from 1.

    The run is about other chains too, so many of which stand before these among the numbers that are given.

    Raises:
        NotDerived: the study asks for something that is not derived here.
        NotProven: study and poses do not state what a certificate needs.
    """
    robot, certify = table_in(study, "robot"), table_in(study, "certify")
    name = robot.get("family")
    if not isinstance(name, str) or name not in FAMILIES:
        raise NotProven(f"the checker knows no chains of the family {name!r:.40}")
    family = FAMILIES[name]
    if not family.is_gough:
        _require_plain(study)
    elif "frames" in study:
        raise NotProven("the study states frames, which a Gough platform does not have")
    frames = None if family.is_gough else frames_of(study, turns=family.turns)
    n, unit = (family.chains, family.reading_unit) if family.chains else _platform(robot)
    if not all(1 <= chain <= n for chain in chains):
        raise NotProven(f"the robot has {n} chains")
    center, centers = (_leg_center(study, given, chains, n) if family.is_gough
                       else _given_center(study, given, family, place, len(chains)))  # fmt: skip
    poses = poses_of(table, study, n, unit, planar=family.axes == 2)
    if family.turns and poses.rotation[0] is None:
        raise NotProven("the poses have no orientations")
    if frames is not None:
        _require_measured(frames, poses, family)
    gains = _gains(robot, given, chains, n) if family.is_gough else [Span.at(1)] * len(chains)
    readings = [tuple(row[i - 1] * g for i, g in zip(chains, gains, strict=True)) for row in poses.readings]
    half = reading_half_widths(study, n, unit)
    own = [half[i - 1].span * g.size for i, g in zip(chains, gains, strict=True)]
    more = _model_error(table_in(certify, "model_error"), poses, readings, family)
    turned = pose_half_widths(study, poses, "orientation") if family.turns else [()] * len(poses)
    return RawChains(
        family,
        tuple(chains),
        poses,
        pose_half_widths(study, poses, "position"),
        turned if family.is_gough or frames is not None else [row[2:] for row in turned],
        readings,
        [tuple(a + b for a, b in zip(own, row, strict=True)) for row in more],
        center,
        _around(certify, family),
        centers,
        given.gains,
        frames,
    )


def _require_measured(frames: RawFrames, poses: RawPoses, family: Family) -> None:
    """Raise NotProven if frames tilt what has not been measured in all directions."""
    if not (frames.base.tilts or frames.platform.tilts):
        return
    if family.axes == 2 and not any(position[2].most for position in poses.position):
        raise NotProven("the frames tilt, but the poses have no z")
    if family.turns and all(len(q) == 4 and not q[1].most and not q[2].most for q in poses.rotation):
        raise NotProven("the frames tilt, but only headings were measured")


def _platform(robot: Mapping[str, Any]) -> tuple[int, str]:
    """The number of legs of a Gough platform, and the unit of its readings."""
    unit = robot.get("reading_unit", "m")
    if not isinstance(unit, str):
        raise NotProven("reading_unit is not text")
    geometry, blueprint = table_in(robot, "geometry"), robot.get("blueprint")
    if blueprint is not None:
        if not isinstance(blueprint, str) or blueprint not in BLUEPRINTS:
            raise NotProven(f"the checker knows no blueprint {blueprint!r:.40}")
        if geometry or unit != "m":
            raise NotProven("the study states a blueprint, and a geometry or another unit of readings")
        return len(BLUEPRINTS[blueprint]), unit
    if not set(geometry) <= (_CIRCLES if "base_radius" in geometry else _POINTS):
        raise NotProven("the geometry has a dimension that the checker does not know")
    points = geometry.get("base", geometry.get("base_angles"))
    if not isinstance(points, list):
        raise NotProven("the study states no points of the base")
    return len(points), unit


def _require_plain(study: Mapping[str, Any]) -> None:
    """Raise NotProven or NotDerived if a study asks for what chains over rods do not have."""
    robot = table_in(study, "robot")
    stated = [key for key in ("blueprint", "gains", "reading_unit") if key in robot]
    if stated:
        raise NotProven(f"'{stated[0]}' of the robot is for Gough platforms, not for chains")
    if (table_in(robot, "geometry") or table_in(robot, "chains")) and center_of(study) == "blueprint":
        raise NotDerived("the checker does not compute the center of a chain's prior from [robot.geometry]")


def _given_center(
    study: Mapping[str, Any], given: Given, family: Family, place: int, count: int
) -> tuple[list[tuple[Span, ...]], str]:
    """Center of the prior of chains over rods: numbers that are taken as given."""
    centers = CALIBRATED if center_of(study) == "calibrated" else BLUEPRINT
    rows = given.values[place : place + count]
    if given.center != centers or [len(row) for row in rows] != [len(family.unknowns)] * count:
        raise NotProven("the center of the prior is not in the manifest")
    if given.gains:
        raise NotProven("the manifest gives gains, but readings of chains have none")
    words = f"taken as given; whether they are the built-in blueprint of a {family.name} is not checked"
    return [tuple(Span.at(rational(x, "a center")) for x in row) for row in rows], (
        f"{CALIBRATED}, taken as given" if centers == CALIBRATED else words
    )


def _leg_center(
    study: Mapping[str, Any], given: Given, legs: Sequence[int], n: int
) -> tuple[list[tuple[Span, ...]], str]:
    """The center of the prior, and where it is from: the study, or calibrated values, which are taken as given."""
    robot = table_in(study, "robot")
    geometry = table_in(robot, "geometry")
    if center_of(study) == "calibrated":
        if given.center != CALIBRATED or [len(row) for row in given.values] != [7] * len(legs):
            raise NotProven("the calibrated center of the prior is not in the manifest")
        rows = [tuple(Span.at(rational(x, "a center")) for x in row) for row in given.values]
        return rows, f"{CALIBRATED}, taken as given"
    if given.center or given.values:
        raise NotProven("the manifest gives a center of the prior, but the study states it")
    blueprint = robot.get("blueprint")
    if blueprint is not None:
        table = [BLUEPRINTS[blueprint][leg - 1].split() for leg in legs]
        return [tuple(quantity(f"{x} mm", "m").span for x in row) for row in table], f"blueprint {blueprint}"
    if "length" not in geometry:
        raise NotProven("the study states no lengths of legs")
    base, platform = (_points(geometry, what, n) for what in ("base", "platform"))
    stated = geometry["length"] if isinstance(geometry["length"], list) else [geometry["length"]]
    lengths = stated * n if len(stated) == 1 else stated
    if len(lengths) != n:
        raise NotProven(f"the study states {len(lengths)} lengths of {n} legs")
    return [(*base[leg - 1], *platform[leg - 1], quantity(lengths[leg - 1], "m").span) for leg in legs], ""


def _points(geometry: Mapping[str, Any], what: str, n: int) -> list[tuple[Span, ...]]:
    """The joints of base or platform: coordinates, or angles on a circle."""
    points, angles = geometry.get(what), geometry.get(f"{what}_angles")
    each = points if points is not None else angles
    if not isinstance(each, list) or len(each) != n:
        raise NotProven(f"the study does not state the {what} of {n} legs")
    if points is None:
        radius = quantity(geometry.get(f"{what}_radius"), "m").span
        return [(*(radius * part for part in turn(quantity(x, "rad").span)), Span.at(0)) for x in each]
    if any(not isinstance(point, list) or len(point) != 3 for point in points):
        raise NotProven("a point of the geometry has not three coordinates")
    return [tuple(quantity(x, "m").span for x in point) for point in points]


def _gains(robot: Mapping[str, Any], given: Given, legs: Sequence[int], n: int) -> list[Span]:
    """What readings are multiplied by: as the study states, or calibrated and taken as given."""
    calibrated = robot.get("gains", False)
    if not isinstance(calibrated, bool):
        raise NotProven("'gains' of the robot is neither true nor false")
    if calibrated:
        if len(given.gains) != len(legs):
            raise NotProven("the gains that readings were multiplied by are not in the manifest")
        return [Span.at(rational(gain, "a gain")) for gain in given.gains]
    if given.gains:
        raise NotProven("the manifest gives gains, but the study does not ask for calibrated ones")
    stated = table_in(robot, "geometry").get("gain", 1)
    each = stated if isinstance(stated, list) else [stated] * n
    if len(each) == 1:
        each = each * n
    if len(each) != n:
        raise NotProven(f"the study states {len(each)} gains of {n} legs")
    return [quantity(each[leg - 1], "1").span for leg in legs]


def _around(certify: Mapping[str, Any], family: Family) -> tuple[Scaled, ...]:
    stated = certify.get("around", Fraction(1, 10))
    each = stated if isinstance(stated, list) else [stated]
    if len(each) == 1:
        return (reach_of(each[0]),) * len(family.unknowns)
    if not family.is_gough or len(each) != 3:
        raise NotProven("around is one length, or three for the base, the platform and the lengths of legs")
    base, platform, length = map(reach_of, each)
    return (base,) * 3 + (platform,) * 3 + (length,)


def _model_error(
    stated: Mapping[str, Any], poses: RawPoses, readings: Sequence[tuple[Span, ...]], family: Family
) -> list[tuple[Span, ...]]:
    """What the model may add to each reading's error, in the unit of readings [DACP06, §6].

    A constant, and so much for each unit between a reading and the middle of its range, and for each metre between a
    position and the middle of all positions.
    """
    of = family.reading_unit
    units = {"constant": of, "position": f"{of}/m", "reading": "1", "orientation": f"{of}/rad"}
    each = [quantity(stated.get(name, 0), unit).span for name, unit in units.items()]
    constant, by_position, by_reading, by_turn = each
    if min(constant.low, by_position.low, by_reading.low, by_turn.low) < 0:
        raise NotProven("a model error is negative")
    if by_turn.most:
        raise NotDerived("model errors grow with the turn from the mean orientation (model_error.orientation)")
    middle = [_middle(column) for column in zip(*readings, strict=True)]
    center = [_middle(column) for column in zip(*poses.position, strict=True)]
    rows = []
    for p, row in zip(poses.position, readings, strict=True):
        fixed = constant
        if by_position.most:
            fixed = fixed + by_position * total((x - c) * (x - c) for x, c in zip(p, center, strict=True)).root()
        rows.append(tuple(fixed + by_reading * (x - m).size for x, m in zip(row, middle, strict=True)))
    return rows


def _middle(column: Sequence[Span]) -> Span:
    low = Span(min(x.low for x in column), min(x.high for x in column))
    high = Span(max(x.low for x in column), max(x.high for x in column))
    return (low + high) * Fraction(1, 2)
