"""[AHG] as printed: Tables I to III, variances of section V; and contradictions in them."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from gough.core.arrays import Array
from gough.core.text import listed
from gough.robots.mechanism.regrouping import SUMS

REPETITIONS = 100
"""How often both trajectories were carried out [AHG, §IV.C]."""


def value(printed: str) -> float:
    """The number that a printed text stands for.

    Examples:
        >>> value("−0.227"), value("1.8·10⁻³")
        (-0.227, 0.0018)
    """
    return float(printed.replace("−", "-").replace("·10⁻³", "e-3"))


@dataclass(frozen=True)
class Row:
    """A parameter in the tables of the paper, digit by digit as printed; `value` gives the number."""

    deterministic: str
    """σ_d of Table II: trajectory of least condition number."""
    statistical: str
    """σ_s of Table II: D-optimal trajectory."""
    least_squares: str
    gauss_markov: str
    maximum_likelihood: str
    prior: str = "—"
    """A-priori value of Table III, from CAD; a dash for friction."""

    @property
    def has_prior(self) -> bool:
        """Is an a-priori value printed?"""
        return self.prior != "—"


TABLES: Mapping[str, Row] = MappingProxyType(
    {
        "p_1": Row("0.012", "0.004", "−0.227", "−0.033", "−0.042", "0.005"),
        "p_2": Row("0.028", "0.011", "1.127", "1.135", "1.083", "0.947"),
        "p_3": Row("0.017", "0.008", "0.866", "1.055", "1.006", "0.943"),
        "p_4": Row("0.012", "0.004", "0.440", "0.622", "0.578", "0.579"),
        "p_5": Row("0.014", "0.010", "−1.201", "−1.348", "−1.300", "−1.299"),
        "p_6": Row("1.8·10⁻³", "1.6·10⁻³", "0.298", "0.246", "0.240", "0.240"),
        "p_7": Row("1.0·10⁻³", "1.1·10⁻³", "0.269", "0.242", "0.239", "0.240"),
        "p_8": Row("1.5·10⁻³", "1.2·10⁻³", "0.132", "0.133", "0.125", "0.123"),
        "p_9": Row("1.7·10⁻³", "0.9·10⁻³", "1.661", "1.711", "1.698", "1.698"),
        "p_10": Row("0.007", "0.013", "16.233", "16.509", "16.329", "16.307"),
        "r_α": Row("0.012", "0.021", "0.631", "0.523", "0.420"),
        "r_β": Row("0.008", "0.034", "0.732", "0.905", "0.862"),
        "r_1": Row("0.406", "0.259", "15.029", "12.658", "11.958"),
        "r_2": Row("0.175", "0.208", "7.943", "3.256", "2.597"),
        "r_3": Row("0.215", "0.446", "18.262", "18.905", "14.794"),
        "r_4": Row("0.159", "0.253", "7.583", "4.662", "4.988"),
        "r_5": Row("0.087", "0.166", "5.380", "4.743", "3.451"),
        "r_6": Row("0.148", "0.208", "5.498", "5.984", "5.392"),
        "v_1": Row("0.686", "0.576", "11.452", "16.359", "20.602"),
        "v_2": Row("0.894", "0.511", "16.521", "18.565", "20.538"),
        "v_3": Row("0.794", "0.530", "16.658", "9.947", "14.218"),
        "v_4": Row("0.859", "0.636", "19.561", "21.538", "25.279"),
        "v_5": Row("1.259", "0.520", "20.747", "28.885", "26.050"),
        "v_6": Row("1.075", "0.728", "16.177", "22.034", "23.137"),
    }
)
"""[AHG, tables II and III]."""

TABLE_1: Mapping[str, Mapping[str, float | str]] = MappingProxyType(
    {
        "p_1": {"Izz_1": 1, "Iyy_2": 1, "Izz_3": 1},
        "p_2": {"Ixx_2": 1, "Ixx_3": 1, "Iyy_2": -1, "Izz_3": -1},
        "p_3": {"Izz_2": 1, "Iyy_3": 1},
        "p_4": {"sy_2": 1},
        "p_5": {"sz_3": 1},
        "p_6": {"Ixx_E": 1, "m_3": "Ixx"},
        "p_7": {"Iyy_E": 1, "m_3": "Iyy"},
        "p_8": {"Izz_E": 1, "m_3": "Izz"},
        "p_9": {"sz_E": 1, "m_3": "sz"},
        "p_10": {"m_E": 1, "m_3": 6},
        **{name: {name: 1} for name in TABLES if name[0] in "rv"},
    }
)
"""[AHG, table I]: factors by parameter; a text names the sum over the platform's joints that a unit mass there adds.

s_y3 is printed for p_5: the first moment along the strut is meant, whose axis is z_3 here."""

PRINTED_MEASUREMENT = ("412.8", "375.4", "883.0", "371.9", "547.2", "970.9")
"""N²: variances of measured forces, by actuator [AHG, §V]."""
PRINTED_CIRCLE = ("336.4", "298.4", "992.0", "594.1", "118.4", "186.7")
"""N²: variances of the model's error on the circle."""
PRINTED_MIRRORED = ("318.5", "168.5", "324.0", "235.3", "562.8", "795.4")
"""N²: the same on its mirror image."""
MEASUREMENT, CIRCLE, MIRRORED = (
    np.array([value(text) for text in texts]) for texts in (PRINTED_MEASUREMENT, PRINTED_CIRCLE, PRINTED_MIRRORED)
)
COGGING = (3, 4)
"""Actuators that the paper calls biased."""


def coefficients(symbol: str, names: tuple[str, ...], joints: Array) -> Array:
    """The row of Table I in terms of the robot's parameters; `joints` (6, 3) are r_B of the platform.

    Examples:
        >>> coefficients("p_10", ("m_E", "m_3"), np.zeros((6, 3)))
        array([1., 6.])
    """
    row = np.zeros(len(names))
    for name, factor in TABLE_1[symbol].items():
        is_sum = isinstance(factor, str)
        row[names.index(name)] = sum(SUMS[str(factor)][1](*joint) for joint in joints) if is_sum else float(factor)
    return row


def written(symbol: str) -> str:
    """A row of Table I as text.

    Examples:
        >>> written("p_2"), written("p_9"), written("p_5")
        ('Ixx_2 + Ixx_3 − Iyy_2 − Izz_3', 'sz_E + Σz·m_3', 'sy_3, read as sz_3')
    """
    if symbol == "p_5":
        return "sy_3, read as sz_3"
    text = ""
    for name, factor in TABLE_1[symbol].items():
        size = SUMS[factor][0] if isinstance(factor, str) else f"{abs(factor):g}"
        term = name if size == "1" else f"{size}·{name}"
        sign = " − " if not isinstance(factor, str) and factor < 0 else " + "
        text += f"{sign}{term}" if text else term
    return text


def less_certain() -> tuple[str, ...]:
    """Parameters whose σ is larger with the statistical design, by Table II.

    Examples:
        >>> less_certain()
        ('p_7', 'p_10', 'r_α', 'r_β', 'r_2', 'r_3', 'r_4', 'r_5', 'r_6')
    """
    return tuple(name for name, row in TABLES.items() if value(row.statistical) > value(row.deterministic))


def away_from_prior() -> dict[str, float]:
    """Maximum likelihood minus a-priori value in units of σ_s, by parameter.

    Examples:
        >>> round(away_from_prior()["p_2"], 1)
        12.4
    """
    known = {name: row for name, row in TABLES.items() if row.has_prior}
    return {
        name: (value(row.maximum_likelihood) - value(row.prior)) / value(row.statistical) for name, row in known.items()
    }


def inconsistencies() -> tuple[str, ...]:
    """Contradictions in the paper's own numbers.

    Examples:
        >>> [line.split(":")[0] for line in inconsistencies()][0]
        'Section IV.C says that σ_s < σ_d for all parameters but dry friction in the passive joints'
    """
    worse = less_certain()
    far = [f"{abs(z):.1f} σ_s for {name}" for name, z in away_from_prior().items() if abs(z) > 4]
    beyond = [i for i in range(6) if MIRRORED[i] > MEASUREMENT[i]]
    below = int((CIRCLE < MEASUREMENT).sum() + (MIRRORED < MEASUREMENT).sum())
    p_1, p_2, p_3 = (TABLES[name] for name in ("p_1", "p_2", "p_3"))
    off = {name: abs(value(getattr(p_1, name)) - value(p_1.prior)) for name in ("gauss_markov", "maximum_likelihood")}
    nearer = "Gauss–Markov" if off["gauss_markov"] < off["maximum_likelihood"] else "maximum likelihood"
    return (
        (
            "Section IV.C says that σ_s < σ_d for all parameters but dry friction in the passive joints: by Table II "
            f"σ_s is larger for {len(worse)} of {len(TABLES)}, {listed(worse)}."
        ),
        (
            "Section V says that maximum likelihood agrees best with the a-priori values, in some cases exactly. With "
            f"σ_s of Table II its estimates in Table III differ from them by {listed(far)}. For p_1, {nearer} is "
            f"nearer to the a-priori value ({p_1.gauss_markov} and {p_1.maximum_likelihood}, a priori {p_1.prior}), "
            "and both estimates are negative, though p_1 is a sum of moments of inertia."
        ),
        (
            f"A-priori p_2 = {p_2.prior} exceeds p_3 = {p_3.prior}. By Table I, p_2 = (Ixx_2 − Iyy_2) + (Ixx_3 − "
            "Izz_3) and p_3 = Izz_2 + Iyy_3. No moment of inertia of a rigid body exceeds the sum of the other two, so "
            "that p_2 ≤ p_3 for all rigid bodies."
        ),
        (
            'Section V calls the model "unbiased for all actuators" on the mirrored circle, by a comparison of '
            "variances: "
            + listed(
                [f"{PRINTED_MIRRORED[i]} N² exceeds {PRINTED_MEASUREMENT[i]} N² for actuator {i + 1}" for i in beyond]
            )
            + "."
        ),
        (
            f"In {below} of 12 cases the variance of measured minus predicted force is below that of the measurement "
            "error. For single readings of a motion that was not used for identification it is at least as large in "
            "expectation. The paper does not say whether these forces were averaged or filtered."
        ),
        "Table I gives r_α and r_β in N; friction of a revolute joint is in N·m. Its s_y3 lies along the strut: s_z3.",
    )
