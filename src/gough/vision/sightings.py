"""What an image shows of a target, or why it cannot be used."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.vision.spots import Spots

Numbers = npt.NDArray[np.int64]


class ImageRefused(InputError):  # noqa: N818 - a reason, listed beside others
    """An image that cannot be used, and why.

    Attributes:
        cause: One word for the reason, such as "mirrored"; empty where there is none.

    Examples:
        >>> issubclass(ImageRefused, InputError), str(ImageRefused("the file is empty"))
        (True, 'the file is empty')
    """

    def __init__(self, message: str = "", *, cause: str = "") -> None:
        super().__init__(message)
        self.cause = cause


@dataclass(frozen=True)
class Sighting:
    """The points of a target that an image shows.

    Examples:
        >>> seen = Sighting(np.array([3, 7]), np.array([[10.0, 20.0], [30.0, 40.0]]), np.full(2, 0.01))
        >>> seen.select([1]).which
        array([7])
    """

    which: npt.NDArray[np.int64]
    """(m,): numbers of the target's points."""
    pixels: Array
    """(m, 2): where they are seen."""
    sigma: Array
    """(m,): standard deviation of each coordinate that the image's noise causes, pixels."""
    spots: Spots | None = None
    """What else is known of dots; None for corners."""
    edge: float = float("nan")
    """Width of the edges as the standard deviation of a blur, pixels."""

    def __len__(self) -> int:
        return len(self.which)

    def select(self, rows: Any) -> "Sighting":
        """Some of them."""
        spots = None if self.spots is None else self.spots.select(rows)
        return Sighting(self.which[rows], self.pixels[rows], self.sigma[rows], spots, self.edge)
