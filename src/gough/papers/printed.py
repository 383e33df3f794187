"""Numbers as the papers print them, digit by digit, and what follows from them without any data."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, lgamma, log, pi
from types import MappingProxyType


@dataclass(frozen=True)
class Printed:
    """A parameter's row in the tables of a paper, as text; None where nothing is printed.

    Examples:
        >>> row = Printed("1.0492", "0.4236", ("0.7650", "1.2338"))
        >>> row.number, row.sides, row.text, row.box_text
        (1.0492, (0.765, 1.2338), '1.0492 (0.4236 %)', '[0.7650, 1.2338]')
    """

    value: str
    """The estimate."""
    sigma: str | None = None
    """Relative standard deviation, in percent."""
    box: tuple[str, str] | None = None
    prior: str | None = None
    """A priori value."""

    @property
    def number(self) -> float:
        """The estimate as a number."""
        return float(self.value)

    @property
    def sides(self) -> tuple[float, float] | None:
        """The box as numbers."""
        return None if self.box is None else (float(self.box[0]), float(self.box[1]))

    @property
    def text(self) -> str:
        """The estimate with its standard deviation, as printed."""
        return self.value if self.sigma is None else f"{self.value} ({self.sigma} %)"

    @property
    def box_text(self) -> str:
        """The box as printed; empty where there is none."""
        return "" if self.box is None else f"[{self.box[0]}, {self.box[1]}]"


def _rows(**rows: Printed) -> Mapping[str, Printed]:
    return MappingProxyType(rows)


PRV03I = _rows(
    I_mot1=Printed("0.0141", "2.6286", ("0.0009", "0.0238"), "0.012"),
    I_mot2=Printed("0.0120", "3.0444", ("0.0044", "0.0257"), "0.012"),
    I_mot3=Printed("0.0153", "1.6939", ("0.0096", "0.0320"), "0.012"),
    I_mot4=Printed("0.0213", "1.1933", ("0.0098", "0.0319"), "0.012"),
    M_nac=Printed("1.0492", "0.4236", ("0.7650", "1.2338"), "1.0"),
    I_bc=Printed("0.0030", "3.5049", ("0.0000", "0.0071"), "0.0008"),
    F_v1=Printed("0.1636", "5.6781", ("0.0000", "0.4690")),
    F_v2=Printed("0.0560", "15.5674", ("0.1733", "0.2554")),
    F_v3=Printed("0.0930", "6.5734", ("0.0000", "0.2856")),
    F_v4=Printed("0.0917", "6.4301", ("0.0000", "0.2664")),
    F_c1=Printed("1.1453", "2.0450", ("0.0000", "1.6068")),
    F_c2=Printed("1.0950", "2.0563", ("0.0000", "1.6300")),
    F_c3=Printed("0.7222", "2.8366", ("0.2245", "1.0952")),
    F_c4=Printed("0.9932", "2.0451", ("0.2264", "1.1014")),
)
"""[PRV03i, tables 1 and 2]: boxes by interval Gauss–Seidel, values and σ by weighted least squares."""

PRV03I_BOUND = 1.5
"""N·m: 10 % of the range of ±15 N·m."""
PRV03I_START = (0.0, 2.0)
"""The initial box of every parameter."""

PRV03E = _rows(
    I_mot1=Printed("0.0199", prior="0.012"),
    I_mot2=Printed("0.0133", prior="0.012"),
    I_mot3=Printed("0.0189", prior="0.012"),
    I_mot4=Printed("0.0250", prior="0.012"),
    M_nac=Printed("0.7914", prior="1.0"),
    I_bc=Printed("0.0005", prior="0.0008"),
    F_v1=Printed("0.3093"),
    F_v2=Printed("0.2166"),
    F_v3=Printed("0.1235"),
    F_v4=Printed("0.0752"),
    F_c1=Printed("0.8126"),
    F_c2=Printed("0.9390"),
    F_c3=Printed("0.5360"),
    F_c4=Printed("0.9868"),
)
"""[PRV03e, table I]: the center of the recursive ellipsoid."""

PRV03E_BOUNDS = (0.75, 2.25)
"""N·m: 5 %, then 15 % of the range of ±15 N·m, since outliers were too many."""
PRV03E_DETERMINANT = "1.63e-21"
"""det M⁻¹, printed as "uncertainty volume" (as 1.63 · 10⁻²¹)."""
PRV03E_OUTLIERS = "0.03%"
"""Part of the rows that miss the ellipsoid: less than this."""

NCPP = _rows(
    i_act=Printed("0.113", "0.872"),
    m_1=Printed("0.8043", "0.620"),
    m_2=Printed("0.8594", "0.596"),
    gS_arm=Printed("1.33", "1.261"),
    f_c=Printed("2.43", "0.488"),
    f_v=Printed("20.4", "0.372"),
)
"""[NCPP, table 1]: least squares, all chains alike."""

NCPP_AGAINST_ADAMS = "2%"
"""Error of the simplified model against the complete one: about this much, relative to what is not said."""


def outside_their_boxes(values: Mapping[str, Printed], boxes: Mapping[str, Printed] = PRV03I) -> tuple[str, ...]:
    """Parameters whose printed value is not in the printed box.

    Examples:
        >>> outside_their_boxes(PRV03I)
        ('F_v2',)
    """
    rows = ((name, row.number, boxes[name].sides) for name, row in values.items())
    return tuple(name for name, value, box in rows if box is not None and not box[0] <= value <= box[1])


def implied_bound() -> tuple[str, float]:
    """The parameter of [PRV03i, table 1] that allows the smallest error bound, and that bound in N·m.

    The paper's answer is W⁺Y ± |W⁺|e. A column of dry friction holds -1, 0 and 1 only, and W⁺W = I; so the row of
    |W⁺| sums to 1 at least, and the half-width of a dry friction is e or more, unless the initial box cuts it off.

    Examples:
        >>> implied_bound()
        ('F_c3', 0.43535)
    """
    half_widths = {}
    for name, row in PRV03I.items():
        box = row.sides
        if name.startswith("F_c") and box is not None and PRV03I_START[0] < box[0]:
            half_widths[name] = (box[1] - box[0]) / 2
    name = min(half_widths, key=lambda each: half_widths[each])
    return name, round(half_widths[name], 12)


def ellipsoid_volume(determinant: float, n: int) -> float:
    """Volume of the ellipsoid θᵀMθ ≤ 1 in n dimensions, where `determinant` is that of M⁻¹: V_n √det.

    Examples:
        >>> round(ellipsoid_volume(4.0, 2) / pi, 12)
        2.0
    """
    log_unit_ball = n / 2 * log(pi) - lgamma(n / 2 + 1)
    return exp(log_unit_ball + log(determinant) / 2)
