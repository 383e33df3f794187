"""What a study may say about certification: the table [certify]."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from gough.studies.quantities import quantity
from gough.studies.schema import Table


def _each(unit: str) -> BeforeValidator:
    def convert(value: Any) -> Any:
        return [quantity(each, unit) for each in value] if isinstance(value, list) else [quantity(value, unit)]

    return BeforeValidator(convert)


def _one(unit: str) -> BeforeValidator:
    return BeforeValidator(lambda value: quantity(value, unit))


HalfWidths = Annotated[list[Annotated[float, Field(ge=0)]], _each("m"), Field(min_length=1, max_length=3)]
"""Of each axis, or one for all."""
HalfAngles = Annotated[list[Annotated[float, Field(ge=0)]], _each("rad"), Field(min_length=1, max_length=3)]
Reach = Annotated[list[Annotated[float, Field(gt=0)]], _each("m"), Field(min_length=1, max_length=3)]
"""Of all unknowns, or of the base's points, the platform's points and the lengths."""
Length = Annotated[float, Field(ge=0), _one("m")]
Width = Annotated[float, Field(gt=0), _one("m")]


class ModelErrorTable(Table):
    """[certify.model_error]: what the model may be wrong by, added to the tolerance of each reading."""

    constant: Length = 0.0
    """Of zeroth order: the same everywhere, such as play in the joints."""
    reading: Annotated[float, Field(ge=0)] = 0.0
    """Of first order: m for each m between a reading and the middle of that chain's readings."""
    position: Annotated[float, Field(ge=0)] = 0.0
    """Of first order: m for each m between a position and the middle of the positions."""
    orientation: Annotated[float, Field(ge=0), _one("m/rad")] = 0.0
    """Of first order: m for each rad that the platform is turned from its mean orientation."""


class CertifyTable(Table):
    """[certify]: half-widths of what was measured, where the chains are sought, and what is to be proven."""

    position: HalfWidths | None = None
    orientation: HalfAngles | None = None
    readings: float | str | list[float | str] | None = None
    sigmas: Annotated[float, Field(gt=0)] = 3.0
    """Half-widths that are not stated are so many standard deviations of [noise], or of the averaged repeats."""
    around: Reach = Field(default_factory=lambda: [0.1])
    center: Literal["blueprint", "calibrated"] | None = None
    """What `around` is around; left out, the calibration where the instrument has a frame of its own."""
    chains: list[Annotated[int, Field(ge=1)]] = Field(default_factory=list)
    """Left out: all of them."""
    outliers: Annotated[int, Field(ge=0, le=5)] = 0
    """So many poses may be wrong, whichever they are."""
    joint: bool = True
    """Also all chains together, the errors of poses being shared?"""
    joint_box: bool = False
    """Also a box of all chains together? It takes a minute."""
    width: Width = 1e-6
    """Of the bracket of the smallest tolerance."""
    model_error: ModelErrorTable = ModelErrorTable()
