"""Curves of a page, packed: thousands of samples in about a byte each, to a part in 16 000 of their range."""

from base64 import b64encode
from hashlib import sha256
from typing import Literal, TypeAlias, TypedDict
from zlib import compress

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array

_CODES = 16_000
"""Steps between the least and the greatest value: more than any screen shows."""
Rounding: TypeAlias = Literal["nearest", "down", "up"]
_MISSING = 65_535
"""The code of no value."""


class Reference(TypedDict):
    """Where the page finds a curve, and how its codes become values: low + step · code."""

    at: int
    n: int
    low: float
    step: float
    order: int
    """How many times to sum up."""


class Curves:
    """Collects the curves of one page.

    A curve is kept as 16-bit codes, of which first or second differences are stored, whichever are smaller; smooth
    curves compress to less than a byte a sample. One that is added twice is stored once.

    Examples:
        >>> curves = Curves()
        >>> curves.add(np.array([0.0, 16.0, np.nan]))
        {'at': 0, 'n': 3, 'low': 0.0, 'step': 0.001, 'order': 1}
        >>> curves.add(np.arange(4.0))["at"], curves.add(np.arange(4.0))["at"]
        (3, 3)
    """

    def __init__(self) -> None:
        self._codes: list[npt.NDArray[np.uint16]] = []
        self._n = 0
        self._known: dict[bytes, Reference] = {}

    def add(self, values: Array, rounding: Rounding = "nearest") -> Reference:
        """Take in a curve; infinite values count as missing. Ends of sets are rounded down or up, never inward."""
        key = rounding.encode() + sha256(np.ascontiguousarray(values, dtype=np.float64).tobytes()).digest()
        if key not in self._known:
            self._known[key] = self._added(values, rounding)
        return self._known[key]

    def _added(self, values: Array, rounding: Rounding) -> Reference:
        low, step, codes = _quantized(values, rounding)
        order, differences = min(((k, _differences(codes, k)) for k in (1, 2)), key=lambda pair: _cost(pair[1]))
        at, self._n = self._n, self._n + len(codes)
        # 0, −1, 1, −2, … become 0, 1, 2, 3, …: small either way
        self._codes.append(((differences << 1) ^ (differences >> 15)).astype(np.uint16))
        return Reference(at=at, n=len(codes), low=low, step=step, order=order)

    def packed(self) -> str:
        """All of them: low bytes, then high bytes, deflated, as base64."""
        codes = np.concatenate([*self._codes, np.zeros(0, np.uint16)])
        planes = np.concatenate([codes & 0xFF, codes >> 8]).astype(np.uint8)
        return b64encode(compress(planes.tobytes(), 9)).decode()


def as_shown(values: Array) -> Array:
    """The curve as a page has it, rounded to nearest.

    Examples:
        >>> as_shown(np.array([0.0, 16.0, np.nan])).tolist()
        [0.0, 16.0, nan]
    """
    low, step, codes = _quantized(values, "nearest")
    return np.where(codes == _MISSING, np.nan, low + step * codes)


def _quantized(values: Array, rounding: Rounding) -> tuple[float, float, npt.NDArray[np.uint16]]:
    there = np.isfinite(values)
    if not there.any():
        return 0.0, 1.0, np.full(len(values), _MISSING, np.uint16)
    low, high = float(values[there].min()), float(values[there].max())
    step = _step(values[there], low, high)
    with np.errstate(invalid="ignore"):
        codes = np.where(there, np.rint(values / step - low / step), _MISSING)
        if rounding != "nearest":
            codes = _directed(codes, values, low, step, 1 if rounding == "up" else -1)
    return low, step, codes.astype(np.uint16)


def _directed(codes: Array, values: Array, low: float, step: float, sign: int) -> Array:
    """Codes whose values, as the page computes them, are not above (sign −1) or not below (sign 1) the given ones.

    It ends: code 0 is the least of all values, and twice as many codes as there are reach beyond the greatest.
    """
    there = np.isfinite(values)
    hop = sign * max(1.0, np.ceil(np.spacing(abs(values[there]).max()) / step))
    while (wrong := there & (sign * (low + step * codes) < sign * values)).any():
        codes = np.where(wrong, np.maximum(codes + hop, 0.0), codes)
    return codes


def _step(values: Array, low: float, high: float) -> float:
    """How fine: a part of the range that no screen shows, but of noise not much finer than the noise itself."""
    reach = high / _CODES - low / _CODES  # so written, the range of two huge numbers does not overflow
    hop = float(np.median(abs(np.diff(values / 64)))) if len(values) > 2 else 0.0
    return max(reach, min(hop, 60 * reach)) or 1.0


def _differences(codes: npt.NDArray[np.uint16], order: int) -> npt.NDArray[np.int16]:
    for _ in range(order):
        codes = np.diff(codes, prepend=np.uint16(0))  # modulo 2¹⁶, and so is the sum
    return codes.view(np.int16)


def _cost(differences: npt.NDArray[np.int16]) -> float:
    """Bits, roughly."""
    return float(np.log2(1.0 + abs(differences.astype(np.float64))).sum())
