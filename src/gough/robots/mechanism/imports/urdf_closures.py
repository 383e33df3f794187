"""<constraint>, the element proposed for urdfdom by which a URDF file closes loops."""

from collections.abc import Iterator

from gough.core.errors import InputError
from gough.robots.mechanism.imports.joints import closing
from gough.robots.mechanism.imports.xml import Element
from gough.robots.mechanism.parts import Closure
from gough.robots.mechanism.placement import Placement, Vector, roll_pitch_yaw, unit

REFUSED = {
    "coupling": "a coupling of joints by a ratio, as gears and belts make it, is no closure of points or frames",
    "loop": "loops of URDF+ are not read: write it as <constraint>, with an origin in either link",
    "loop_joint": "write it as <constraint>, with an origin in either link",
}
"""Elements of other extensions, and why they are not read."""


def closures_of(robot: Element, links: dict[str, Element], renamed: dict[str, str]) -> Iterator[Closure]:
    """The closures of a URDF file.

    <constraint> has <parent>, <parent_origin>, <parent_axis>, <child>, <child_origin> and <child_axis>, as proposed in
    ros/urdfdom, pull request 264. The proposal lists no types: those of <joint> are read, and universal, spherical and
    cylindrical.

    Raises:
        InputError: an element lacks what it needs, or closes no loop; with its line.
    """
    for element in robot:
        if element.tag in REFUSED:
            raise element.refuse(REFUSED[element.tag])
    for number, element in enumerate(robot.all("constraint"), 1):
        name = element.attributes.get("name", f"constraint{number}")
        ends = [end_of(element, tag, links) for tag in ("parent", "child")]
        places = [origin_of(element, f"{tag}_origin") for tag in ("parent", "child")]
        axes = [axis_of(element, f"{tag}_axis") for tag in ("parent", "child")]
        bodies = (renamed.get(ends[0], ends[0]), renamed.get(ends[1], ends[1]))
        kind = element.required("type")
        try:
            yield closing(name, kind, bodies, (places[0], places[1]), (axes[0], axes[1]))
        except InputError as error:
            raise element.refuse(str(error)) from error


def end_of(joint: Element, tag: str, links: dict[str, Element]) -> str:
    """The link that a joint names as its parent or child."""
    end = joint.first(tag)
    if end is None:
        raise joint.refuse(f"<{tag} link='…'/> is required")
    name = end.required("link")
    if name not in links:
        raise end.refuse(f"there is no link '{name}'")
    return name


def origin_of(element: Element, tag: str = "origin") -> Placement:
    """The placement that <origin xyz rpy> states; none is no displacement."""
    origin = element.first(tag)
    if origin is None:
        return Placement()
    x, y, z = origin.numbers("xyz", "0 0 0", 3)
    roll, pitch, yaw = origin.numbers("rpy", "0 0 0", 3)
    return Placement((x, y, z), roll_pitch_yaw(roll, pitch, yaw))


def axis_of(joint: Element, tag: str) -> Vector:
    """The direction of an axis, x by default."""
    element = joint.first(tag)
    x, y, z = element.numbers("xyz", "1 0 0", 3) if element is not None else (1.0, 0.0, 0.0)
    try:
        return unit([x, y, z], "axis")
    except InputError as error:
        raise (element or joint).refuse("an axis of zero length points nowhere") from error
