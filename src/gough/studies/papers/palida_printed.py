"""What [AHG] prints: Tables I to III, variances of section V; and what can be said of them without any data."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from gough.core.arrays import Array
from gough.report.words import listed
from gough.robots.mechanism.regrouping import SUMS

REPETITIONS = 100
"""How often both trajectories were carried out [AHG, §IV.C]."""


@dataclass(frozen=True)
class Row:
    """A parameter in the tables of the paper."""

    deterministic: float
    """σ_d of Table II: trajectory of least condition number."""
    statistical: float
    """σ_s of Table II: D-optimal trajectory."""
    least_squares: float
    gauss_markov: float
    maximum_likelihood: float
    prior: float | None = None
    """A-priori value of Table III, from CAD."""


TABLES: Mapping[str, Row] = MappingProxyType(
    {
        "p_1": Row(0.012, 0.004, -0.227, -0.033, -0.042, 0.005),
        "p_2": Row(0.028, 0.011, 1.127, 1.135, 1.083, 0.947),
        "p_3": Row(0.017, 0.008, 0.866, 1.055, 1.006, 0.943),
        "p_4": Row(0.012, 0.004, 0.440, 0.622, 0.578, 0.579),
        "p_5": Row(0.014, 0.010, -1.201, -1.348, -1.300, -1.299),
        "p_6": Row(1.8e-3, 1.6e-3, 0.298, 0.246, 0.240, 0.240),
        "p_7": Row(1.0e-3, 1.1e-3, 0.269, 0.242, 0.239, 0.240),
        "p_8": Row(1.5e-3, 1.2e-3, 0.132, 0.133, 0.125, 0.123),
        "p_9": Row(1.7e-3, 0.9e-3, 1.661, 1.711, 1.698, 1.698),
        "p_10": Row(0.007, 0.013, 16.233, 16.509, 16.329, 16.307),
        "r_α": Row(0.012, 0.021, 0.631, 0.523, 0.420),
        "r_β": Row(0.008, 0.034, 0.732, 0.905, 0.862),
        "r_1": Row(0.406, 0.259, 15.029, 12.658, 11.958),
        "r_2": Row(0.175, 0.208, 7.943, 3.256, 2.597),
        "r_3": Row(0.215, 0.446, 18.262, 18.905, 14.794),
        "r_4": Row(0.159, 0.253, 7.583, 4.662, 4.988),
        "r_5": Row(0.087, 0.166, 5.380, 4.743, 3.451),
        "r_6": Row(0.148, 0.208, 5.498, 5.984, 5.392),
        "v_1": Row(0.686, 0.576, 11.452, 16.359, 20.602),
        "v_2": Row(0.894, 0.511, 16.521, 18.565, 20.538),
        "v_3": Row(0.794, 0.530, 16.658, 9.947, 14.218),
        "v_4": Row(0.859, 0.636, 19.561, 21.538, 25.279),
        "v_5": Row(1.259, 0.520, 20.747, 28.885, 26.050),
        "v_6": Row(1.075, 0.728, 16.177, 22.034, 23.137),
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

MEASUREMENT: Array = np.array([412.8, 375.4, 883.0, 371.9, 547.2, 970.9])
"""N²: variances of measured forces, by actuator [AHG, §V]."""
CIRCLE: Array = np.array([336.4, 298.4, 992.0, 594.1, 118.4, 186.7])
"""N²: variances of the model's error on the circle."""
MIRRORED: Array = np.array([318.5, 168.5, 324.0, 235.3, 562.8, 795.4])
"""N²: the same on its mirror image."""
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
        >>> written("p_2"), written("p_9")
        ('Ixx_2 + Ixx_3 − Iyy_2 − Izz_3', 'sz_E + Σz·m_3')
    """
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
    return tuple(name for name, row in TABLES.items() if row.statistical > row.deterministic)


def away_from_prior() -> dict[str, float]:
    """Maximum likelihood minus a-priori value in units of σ_s, by parameter.

    Examples:
        >>> round(away_from_prior()["p_2"], 1)
        12.4
    """
    known = {name: (row, row.prior) for name, row in TABLES.items() if row.prior is not None}
    return {name: (row.maximum_likelihood - prior) / row.statistical for name, (row, prior) in known.items()}


def inconsistencies() -> tuple[str, ...]:
    """What the paper's own numbers contradict.

    Examples:
        >>> [line.split(":")[0] for line in inconsistencies()][0]
        'Section IV.C says that σ_s < σ_d "for all estimated parameters", but for dry friction of passive joints'
    """
    worse = less_certain()
    far = [f"{abs(z):.0f} σ_s for {name}" for name, z in away_from_prior().items() if abs(z) > 4]
    beyond = [i for i in range(6) if MIRRORED[i] > MEASUREMENT[i]]
    below = int((CIRCLE < MEASUREMENT).sum() + (MIRRORED < MEASUREMENT).sum())
    p_1, p_2, p_3 = (TABLES[name] for name in ("p_1", "p_2", "p_3"))
    return (
        (
            'Section IV.C says that σ_s < σ_d "for all estimated parameters", but for dry friction of passive joints: '
            f"by Table II it is larger for {len(worse)} of {len(TABLES)}, {listed(worse)}."
        ),
        (
            "Table III is said to show that maximum likelihood is free of bias. It is off the a-priori values by "
            f"{listed(far)}, with σ_s of Table II; for p_1 Gauss–Markov is nearer, and a sum of moments of inertia, "
            f"as p_1 is, cannot be {p_1.maximum_likelihood:g}."
        ),
        (
            f"A-priori p_2 = {p_2.prior:g} exceeds p_3 = {p_3.prior:g}: no symmetric rigid bodies have that, since no "
            "moment of inertia exceeds the sum of the other two."
        ),
        (
            'Section V calls the model "unbiased for all actuators" on the mirrored circle: '
            + listed([f"{MIRRORED[i]:g} N² exceeds {MEASUREMENT[i]:g} N² for actuator {i + 1}" for i in beyond])
            + "."
        ),
        (
            f"In {below} of 12 cases measured minus predicted force has a smaller variance than the measurement: no "
            "single readings have that. They must have been averaged or filtered, by how much is not said."
        ),
        "Table I gives r_α and r_β in N; friction of a revolute joint is N·m. Its s_y3 lies along the strut: s_z3.",
    )
