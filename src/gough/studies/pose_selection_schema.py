"""What a study may say about the poses to measure: [selection] and the tables in it."""

from typing import Annotated, Literal

from pydantic import Field

from gough.studies.schema import Ends, Table

Text = float | str
Vector = Annotated[list[Text], Field(min_length=3, max_length=3)]
Direction = Annotated[list[float], Field(min_length=3, max_length=3)]


class CameraTable(Table):
    """[selection.camera]: a camera that must see a target on the platform."""

    position: Vector
    """In the frame of the poses."""
    direction: Direction
    half_angle: Text
    """Of its cone of view."""
    target: Vector | None = None
    """The target's middle in the platform's frame; its origin by default."""
    normal: Direction = Field(default_factory=lambda: [0.0, 0.0, 1.0])
    """Where the target faces, in the platform's frame."""
    incidence: Text = "60 deg"
    """Largest angle at which the target is seen."""
    radius: Text = 0.0
    """Of the target."""
    distance: Ends | None = None
    """Least and greatest."""


class PoseLimitsTable(Table):
    """[selection.limits]: what every configuration keeps. Numbers in SI units, or text with a unit."""

    readings: Annotated[list[Text | list[Text]], Field(min_length=2, max_length=2)] | None = None
    """Least and greatest reading: one for all chains, or a list with one for each."""
    pose: dict[str, Ends] = Field(default_factory=dict)
    """Ranges of x, y, z, tilt, heading, turn."""
    base_cone: Text | None = None
    """Largest angle of the rods to their mean direction, at the base's ball joints."""
    platform_cone: Text | None = None
    """The same on the platform."""
    margin: Annotated[float, Field(gt=0)] = 0.1
    """Least distance to singularity, as a share of that at home."""


class SelectionTable(Table):
    """[selection]: which poses to measure."""

    count: Annotated[int, Field(ge=1)] | None = None
    """How many; by default twice as many as are needed."""
    target: Text | None = None
    """Standard deviation of predicted positions, such as "0.05 mm": then the count is found."""
    most: Annotated[int, Field(ge=1)] = 64
    """Poses to try for a target."""
    criterion: Literal["D", "A", "E", "pose"] | None = None
    """D by default, pose where a target is given."""
    candidates: list[Literal["extremal", "low-discrepancy", "random", "grid"]] | None = None
    """Where they come from; by default extremal and low-discrepancy."""
    draws: Annotated[int, Field(ge=1)] = 2000
    """How many to draw."""
    levels: Annotated[int, Field(ge=2)] = 3
    """Of a grid, for each chain."""
    repeats: bool = False
    """May a configuration be measured more than once?"""
    complete: str | None = None
    """A file of poses that were measured already; the new ones complete them."""
    starts: Annotated[int, Field(ge=1)] = 3
    seed: Annotated[int, Field(ge=0)] = 1
    folder: str = "poses"
    limits: PoseLimitsTable = PoseLimitsTable()
    camera: CameraTable | None = None
