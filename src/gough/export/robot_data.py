"""Robots as plain data and back: their dimensions, masses, variant and gravity, or the whole mechanism of a file."""

from typing import Any

from gough.core import codec
from gough.core.errors import InputError, nearest, require
from gough.robots import (
    H4,
    CableRobot,
    Delta,
    DeltaGeometry,
    DeltaParts,
    FiveBar,
    GoughPlatform,
    H4Geometry,
    H4Kinematics,
    H4Parts,
    Hexapod,
    HexapodGeometry,
    LinearDelta,
    Palida,
    PalidaGeometry,
    Par4,
    Par4Geometry,
    Par4Kinematics,
    Par4Parts,
    PlanarGeometry,
    PlanarRRR,
    RodDelta,
    RotaryDelta,
    ThreeRRR,
)
from gough.robots.mechanism import (
    Body,
    Closure,
    Cogging,
    Freedom,
    Friction,
    Inertia,
    Joint,
    Limits,
    Mechanism,
    MechanismModel,
    Placement,
    Platform,
)

DYNAMIC = (H4, Par4, Delta, FiveBar, Palida, Hexapod, ThreeRRR, MechanismModel)
KINEMATIC = (
    GoughPlatform, LinearDelta, RotaryDelta, PlanarRRR, H4Kinematics, Par4Kinematics, CableRobot, RodDelta
)  # fmt: skip
_PARTS = (
    H4Geometry, H4Parts, Par4Geometry, Par4Parts, DeltaGeometry, DeltaParts, PalidaGeometry, HexapodGeometry,
    PlanarGeometry, Mechanism, Body, Closure, Cogging, Freedom, Friction, Inertia, Joint, Limits, Placement, Platform,
)  # fmt: skip
_TYPES: dict[str, type] = {each.__name__: each for each in (*DYNAMIC, *KINEMATIC, *_PARTS)}


def can_be_stored(robot: Any) -> bool:
    """Whether a robot is one of the library's, or a mechanism: others have no form as data.

    Examples:
        >>> can_be_stored(H4()), can_be_stored("robot")
        (True, False)
    """
    return type(robot) in (*DYNAMIC, *KINEMATIC)


def robot_to_data(robot: Any) -> dict[str, Any]:
    """A robot as JSON data.

    Examples:
        >>> robot_to_data(FiveBar(base=0.3))["base"]
        0.3
    """
    require(can_be_stored(robot), f"a robot of type {type(robot).__name__} cannot be stored")
    data: dict[str, Any] = codec.encode(robot)
    return data


def robot_from_data(data: Any, kinds: tuple[type, ...]) -> Any:
    """The robot of these kinds that `robot_to_data` made the data from.

    Raises:
        InputError: the data are no such robot.

    Examples:
        >>> robot_from_data(robot_to_data(H4()), DYNAMIC) == H4()
        True
    """
    kind = data.get("type") if isinstance(data, dict) else None
    known = [each.__name__ for each in kinds]
    require(
        isinstance(kind, str) and kind in _TYPES,
        f"unknown type {kind!r} of the robot{nearest(str(kind), known)} (known: {', '.join(known)})",
    )
    try:
        robot = _checked(codec.decode(data, _TYPES))
    except InputError:
        raise
    except (TypeError, ValueError, AttributeError, KeyError, RecursionError, IndexError, ArithmeticError) as error:
        raise InputError(f"the robot cannot be read: {error}") from error
    names = " or ".join(kind.__name__ for kind in kinds)
    require(isinstance(robot, kinds), f"the robot must be a {names}, but is {type(robot).__name__}")
    return robot


def _checked(robot: Any) -> Any:
    """Use the robot once: what a damaged file states may be of the wrong kind without any sign before."""
    if not hasattr(robot, "names"):
        return robot
    texts = isinstance(robot.name, str) and all(isinstance(name, str) for name in robot.names)
    require(texts and len(robot.nominal) == len(robot.names), "names or nominal values are damaged")
    return robot
