"""Whether the calling thread computes by IEEE 754: gradual underflow, rounding to nearest.

A library compiled with -ffast-math may switch on flush-to-zero merely by being loaded, and another may leave the
processor rounding upward; both break proofs silently. The state is found by computing, not by reading a register,
so that one code serves every processor.
"""

from gough.core.errors import AssumptionError

_MIN_NORMAL = float.fromhex("0x1p-1022")
_MIN_SUBNORMAL = float.fromhex("0x1p-1074")
_SCALE = float.fromhex("0x1p+60")
_HALF_ULP = float.fromhex("0x1p-53")  # of 1
_ABOVE_HALF_ULP = float.fromhex("0x1.8p-53")
_ONE = 1.0
_HALF = 0.5


def defect() -> str:
    """Why this thread does not compute by IEEE 754, as a clause; empty if it does.

    The operands are names and not literals: Python would compute with literals once, when it compiles.

    Examples:
        >>> defect()
        ''
    """
    if _MIN_SUBNORMAL * _SCALE == 0.0:
        return "the processor takes subnormal numbers for zero, a state that some loaded library switched on"
    if _MIN_NORMAL * _HALF == 0.0:
        return "the processor flushes subnormal results to zero, a state that some loaded library switched on"
    if _ONE + _HALF_ULP != _ONE:
        return "the processor rounds upward, a state that some loaded library left behind"
    if _ONE + _ABOVE_HALF_ULP == _ONE:
        toward_zero = -_ONE - _ABOVE_HALF_ULP == -_ONE
        direction = "toward zero" if toward_zero else "downward"
        return f"the processor rounds {direction}, a state that some loaded library left behind"
    return ""


def require_ieee(what: str) -> None:
    """Raise AssumptionError unless the calling thread computes by IEEE 754: for results that carry no claim.

    Examples:
        >>> require_ieee("a bound")
    """
    if reason := defect():
        raise AssumptionError(f"{what} cannot be proven here, because {reason}. Run it in a process of its own.")
