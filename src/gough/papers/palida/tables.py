"""Tables I to III and section V of [AHG], the paper's numbers beside ours."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gough.control import Comparison
from gough.core.arrays import Array
from gough.core.tables import Table
from gough.core.text import number
from gough.data import advised_cutoff
from gough.data.filters import CLEARANCE
from gough.dynamics.periodic.motion import RepeatedMotion
from gough.dynamics.periodic.order import OrderChoice
from gough.papers.palida.benchmark import MOTIONS, PITCH, WITH, WITHOUT, WORDS, Judged
from gough.papers.palida.control import loop_numbers
from gough.papers.palida.printed import (
    PRINTED_CIRCLE,
    PRINTED_MEASUREMENT,
    PRINTED_MIRRORED,
    REPETITIONS,
    TABLES,
    value,
    written,
)
from gough.papers.palida.robot import (
    DESIGNS,
    DETERMINISTIC,
    EXACT_FORCES,
    EXACT_LENGTHS,
    FAIR,
    GM,
    GM_TOP,
    GM_WIDE,
    HALL,
    LS,
    LS_TOP,
    LS_WIDE,
    ML,
    ON_PATH,
    STATISTICAL,
    WIDE,
    BaseModel,
    Designed,
    Repetition,
    Size,
    plain_series,
)
from gough.papers.reproduction import columns, side_by_side
from gough.robots.mechanism.regrouping import formula
from gough.simulate import Spread

EXACT = 1e-12
"""Factors that differ by less are those of Table I, up to rounding."""
ESTIMATORS = {LS: "least squares", GM: "Gauss–Markov", ON_PATH: "Gauss–Markov, fitted path", ML: "maximum likelihood"}
OTHERS = {label: f"{ESTIMATORS[label[:2]]}, {label[4:]}" for label in (LS_WIDE, GM_WIDE, LS_TOP, GM_TOP)}
"""The usual estimators with other cut-offs than the advised one."""
COMPARED = (LS, LS_WIDE, ML)
"""Estimators by which designs are compared."""
PAPER = f"paper, {LS}"


@dataclass(frozen=True, eq=False)
class Results:
    """Results from which the tables and figures are made."""

    model: BaseModel
    designed: Mapping[str, Designed]
    experiments: Mapping[str, Repetition]
    motion: RepeatedMotion
    """One repetition of the D-optimal experiment."""
    order: OrderChoice
    spreads: Mapping[tuple[str, str], Spread]
    """By design and estimator."""
    bound: Array
    """(24, 24): Cramér–Rao bound of the D-optimal experiment."""
    judged: Judged
    acceleration_noise: Mapping[str, float]
    """Noise of the platform's accelerations over their size in the D-optimal experiment, by estimator's label."""
    size: Size
    followed: Comparison | None = None
    """The circle in closed loop; None where MuJoCo or a C compiler is missing."""

    @property
    def n(self) -> int:
        """Repetitions."""
        spread = self.spreads[STATISTICAL, ML]
        return spread.n + len(spread.failures)

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each of the paper's symbols stands among our columns."""
        names = self.model.robot.names
        return {symbol: names.index(name) for name, symbol in self.model.symbols.items()}

    def cut_off(self, design: str, label: str) -> float | None:
        """Hz at which an estimator filters strut lengths; None if it does not."""
        experiment = self.experiments[design.split(",", maxsplit=1)[0]]
        known = {
            **dict.fromkeys((LS, GM), advised_cutoff(experiment.highest)),
            **dict.fromkeys((LS_WIDE, GM_WIDE), WIDE),
            **dict.fromkeys((LS_TOP, GM_TOP), experiment.highest),
        }
        return known.get(label)

    @property
    def bound_sd(self) -> Array:
        """Standard deviations of the Cramér–Rao bound."""
        return np.sqrt(self.bound.diagonal())

    def column(self, *values: Array, text: Callable[..., str]) -> dict[str, str]:
        """A column of a table: the numbers of each of the paper's symbols, as `shown` writes them."""
        return {symbol: text(*(float(each[self.places[symbol]]) for each in values)) for symbol in TABLES}


def table_1(model: BaseModel) -> Table:
    """Regrouping as printed and as computed, with the distance between them, and values."""
    mechanism, names = model.full.mechanism, model.full.names
    rows = []
    for symbol, printed in TABLES.items():
        i, away = model.place(symbol)
        base = model.identifiability.base[i]
        ours = formula(mechanism, names, base.coefficients.tolist())
        same = "yes" if away <= EXACT else f"off by {away:.1g}"
        unit = model.robot.units[i]
        rows.append((symbol, unit, written(symbol), ours, same, printed.prior, f"{model.truth[i]:.5g}"))
    heads = ("parameter", "unit", "paper's combination", "ours, computed", "same?", "paper's a priori", "truth here")
    caption = f"Table I. {len(model.identifiability.base)} base parameters: 10 of rigid bodies, 14 of friction"
    return side_by_side(caption, heads, tuple(rows))


def trajectories(results: Results) -> Table:
    """The trajectory of each criterion, all from the same start."""
    rows = []
    for name, design in results.designed.items():
        values = design.criteria
        cond, scaled = (f"{np.exp(values[key]):.4g}" for key in ("condition", "scaled condition"))
        cells = (f"{design.series.frequency:.3f}", f"{values['D']:.1f}", cond, scaled)
        start = f"{design.first:.1f}" if DESIGNS[name] == "D" else f"{np.exp(design.first):.4g}"
        rows.append((name, *cells, start))
    heads = ("design", "Hz", "−ln det F", "cond W", "cond W, unit columns", "own criterion at the start")
    return side_by_side("Trajectories, all from one random start (section IV.C)", heads, tuple(rows))


def table_2(results: Results) -> Table:
    """Standard deviations by design."""
    parts = {
        "paper σ_d": {name: row.deterministic for name, row in TABLES.items()},
        "paper σ_s": {name: row.statistical for name, row in TABLES.items()},
    }
    for estimator in (LS, ML):
        for design in (DETERMINISTIC, FAIR, STATISTICAL):
            spread = results.spreads[design, estimator]
            parts[f"{estimator}, {design}"] = results.column(spread.sd, text=_shortly)
    caption = f"Table II. Standard deviations over {results.n} repetitions, by design (SI units)"
    return side_by_side(caption, ("parameter", *parts), columns(tuple(TABLES), parts))


def table_3(results: Results) -> Table:
    """Estimates of the paper beside the means of ours."""
    parts = {
        "paper LS": {name: row.least_squares for name, row in TABLES.items()},
        "paper GM": {name: row.gauss_markov for name, row in TABLES.items()},
        "paper ML": {name: row.maximum_likelihood for name, row in TABLES.items()},
        "paper a priori": {name: row.prior for name, row in TABLES.items()},
    }
    for label in ESTIMATORS:
        s = results.spreads[STATISTICAL, label]
        parts[label] = results.column(s.mean, s.sd, text=number)
    parts["truth"] = results.column(results.model.truth, text="{:.5g}".format)
    caption = f"Table III. Estimates: the paper's, and means over {results.n} repetitions of the D-optimal experiment"
    return side_by_side(caption, ("parameter", *parts), columns(tuple(TABLES), parts))


def errors(results: Results) -> Table:
    """Bias in units of sd, and sd against the Cramér–Rao bound."""
    parts: dict[str, dict[str, str]] = {}
    for label in ESTIMATORS:
        s = results.spreads[STATISTICAL, label]
        parts[f"bias {label}"] = results.column(s.bias_in_sd, text="{:+.2f}".format)
    parts["bound"] = results.column(results.bound_sd, text="{:.3g}".format)
    for label in (LS, GM, ON_PATH, ML):
        s = results.spreads[STATISTICAL, label]
        parts[f"{label} / bound"] = results.column(s.sd / results.bound_sd, text="{:.2f}".format)
    caption = "Bias in units of the estimator's own sd, Cramér–Rao bound of the sd, and sd over that bound"
    return side_by_side(caption, ("parameter", *parts), columns(tuple(TABLES), parts))


def gains(results: Results) -> Table:
    """For how many parameters the D-optimal design is better than its rivals, by print and by each estimator."""
    rows = []
    for rival, by_estimator in compared(results).items():
        for label, each in by_estimator.items():
            cut_offs = [results.cut_off(design, label) for design in (STATISTICAL, rival)] if label != PAPER else [None]
            filtered = " and ".join(f"{hertz:.3g}" for hertz in cut_offs if hertz is not None) or "—"
            better = f"{each['smaller']} of {each['of']}"
            cells = (filtered, better, str(each["undecided"]), f"{each['geometric_mean']:.2f}")
            rows.append((f"{rival}, {label}", *cells))
    heads = (
        "rival design, estimator",
        "cut-offs, Hz",
        "smaller sd with D-optimal",
        "undecided: ratio within 2 sd of 1",
        "sd of rival / sd of D-optimal, geometric mean",
    )
    return side_by_side(
        "Designs compared: standard deviations with the D-optimal trajectory and with its rivals", heads, tuple(rows)
    )


def compared(results: Results) -> dict[str, dict[str, dict[str, float]]]:
    """By rival and estimator: for how many parameters D-optimal has the smaller sd, and the mean ratio of sd."""
    printed = np.array([value(row.deterministic) / value(row.statistical) for row in TABLES.values()])
    ratios = {
        rival: {label: results.spreads[rival, label].sd / results.spreads[STATISTICAL, label].sd for label in COMPARED}
        for rival in (DETERMINISTIC, FAIR)
    }
    # the logarithm of an sd of n estimates has an sd of 1/√(2(n−1)), that of a ratio of two √2 times as much
    scatter = dict.fromkeys(COMPARED, 1 / np.sqrt(results.n - 1)) | {PAPER: 1 / np.sqrt(REPETITIONS - 1)}
    ratios[DETERMINISTIC] = {PAPER: printed, **ratios[DETERMINISTIC]}
    return {
        rival: {
            label: {
                "smaller": int((r > 1).sum()),
                "of": len(r),
                "undecided": int((abs(np.log(r)) < 2 * scatter[label]).sum()),
                "geometric_mean": float(np.exp(np.log(r).mean())),
            }
            for label, r in by_estimator.items()
        }
        for rival, by_estimator in ratios.items()
    }


def causes(results: Results) -> Table:
    """Bias by cut-off, and with one of the two noises left out."""
    rows = []
    for design, lengths, forces in (
        (STATISTICAL, "noisy", "noisy"),
        (EXACT_LENGTHS, "exact", "noisy"),
        (EXACT_FORCES, "noisy", "exact"),
    ):
        for label in (LS_TOP, LS, LS_WIDE, GM_TOP, GM, GM_WIDE, ON_PATH, ML):
            if (design, label) not in results.spreads:
                continue
            hertz, is_noisy = results.cut_off(design, label), lengths == "noisy"
            share = percent(results.acceleration_noise[label]) if hertz is not None and is_noisy else "—"
            each = bias(results, design, label)
            ours = (f"{each['largest_in_sd']:.2f} ({each['parameter']})", f"{each['rms_in_sd']:.2f}")
            chance = f"{each['chance']:.2f}"
            estimator = label.split(",")[0] if hertz is not None else label
            filtered = "—" if hertz is None else f"{hertz:.3g}"
            rows.append((estimator, filtered, lengths, forces, share, *ours, chance, f"{each['largest_in_bound']:.2f}"))
    heads = (
        *("estimator", "cut-off, Hz", "strut lengths", "forces", "noise of accelerations"),
        *("largest bias, own sd", "rms bias, own sd", "limit of chance, own sd", "largest bias, sd of bound"),
    )
    return side_by_side("What biases the estimators: cut-off and noise, on the D-optimal trajectory", heads, rows)


def bias(results: Results, design: str, label: str) -> dict[str, Any]:
    """Sizes of an estimator's bias, in units of its own sd and of that of the Cramér–Rao bound."""
    s = results.spreads[design, label]
    own = abs(s.bias_in_sd)
    symbols = {i: symbol for symbol, i in results.places.items()}
    result: dict[str, Any] = {
        "largest_in_sd": float(own.max()),
        "parameter": symbols[int(own.argmax())],
        "rms_in_sd": float(np.sqrt((own**2).mean())),
        "chance": s.chance,
        "is_unbiased": s.is_unbiased,
    }
    if design.split(",", maxsplit=1)[0] == STATISTICAL:
        result["largest_in_bound"] = float(abs(s.bias / results.bound_sd).max())
        result["sd_over_bound"] = float(np.exp(np.log(s.sd / results.bound_sd).mean()))
    return result


def coverage(results: Results) -> Table:
    """How each estimator did in all: bias, χ², coverage."""
    rows = []
    for (design, label), s in results.spreads.items():
        if design in (EXACT_LENGTHS, EXACT_FORCES):
            continue
        low, high = s.coverage_interval()
        single = "—" if s.coverage is None else percent(float(s.coverage.mean()))
        chi = "—" if s.chi_squared is None else f"{s.chi_squared:.3f}"
        worst = f"{abs(s.bias_in_sd).max():.1f}"
        together = f"{percent(s.joint_coverage)} ({100 * low:.0f} … {100 * high:.0f} %)"
        rows.append((f"{design}, {(ESTIMATORS | OTHERS)[label]}", worst, chi, single, together, str(len(s.failures))))
    heads = ("design, estimator", "largest bias, sd", "χ²/dof", "95 % intervals hold", "95 % regions hold", "failed")
    return side_by_side("Coverage: how often intervals and regions hold the truth", heads, tuple(rows))


def section_5(judged: Judged) -> Table:
    """Variances of the model's error by actuator, with the verdict."""
    rows = []
    first = judged.verdicts[WITHOUT, MOTIONS[0]]
    for i, name in enumerate(first.actuators):
        ours = [judged.verdicts[WITHOUT, motion] for motion in MOTIONS]
        knowing = judged.verdicts[WITH, MOTIONS[0]]
        printed = [values[i] for values in (PRINTED_MEASUREMENT, PRINTED_CIRCLE, PRINTED_MIRRORED)]
        variances = [f"{v:.0f}" for v in (first.measurement_variance[i], *(v.model_variance[i] for v in ours))]
        verdicts = [WORDS[v.bias[i]] for v in (*ours, knowing)]
        rows.append((name, *printed, *variances, *verdicts))
    heads = (
        *("actuator", "paper η", "paper circle", "paper mirrored", "η", "circle", "mirrored"),
        *("verdict, circle", "verdict, mirrored", "circle, model with cogging"),
    )
    caption = "Section V. Variances of measurement (η) and of the model's error on the circle and its mirror image, N²"
    return side_by_side(caption, heads, tuple(rows))


def numbers(results: Results) -> dict[str, Any]:
    """Unrounded values of the tables by name, as plain data."""
    names = results.model.robot.names
    spreads = {
        f"{design}, {label}": {
            "mean": _named(names, s.mean),
            "sd": _named(names, s.sd),
            "sigma": None if s.sigma is None else _named(names, s.sigma),
            "coverage": None if s.coverage is None else _named(names, s.coverage),
            "joint_coverage": s.joint_coverage,
            "chi_squared": s.chi_squared,
            "n": s.n,
            "failures": list(s.failures),
            "cut_off": results.cut_off(design, label),
            "bias": bias(results, design, label),
        }
        for (design, label), s in results.spreads.items()
    }
    return {
        "repetitions": results.n,
        "paper_repetitions": REPETITIONS,
        "periods": results.size.periods,
        "readings": results.size.readings,
        "seconds": results.size.periods * results.designed[STATISTICAL].series.period,
        "seconds_for_printed_sd": _seconds_for_printed(results),
        "force_sd": np.sqrt(np.sort(results.experiments[STATISTICAL].forces.diagonal())[[0, -1]]).tolist(),
        "length_sd": HALL,
        "highest": {name: each.highest for name, each in results.experiments.items()},
        "cut_off": {
            "clearance": CLEARANCE,
            "advised": {name: advised_cutoff(each.highest) for name, each in results.experiments.items()},
            "wide": WIDE,
            "acceleration_noise": dict(results.acceleration_noise),
        },
        "designs_compared": compared(results),
        "p_1": _first_parameter(results),
        "symbols": dict(results.model.symbols),
        "truth": _named(names, results.model.truth),
        "cramer_rao_sd": _named(names, results.bound_sd),
        "order": results.order.order,
        "order_reason": results.order.reason,
        "series": {name: plain_series(designed.series) for name, designed in results.designed.items()},
        "criteria": {name: dict(designed.criteria) for name, designed in results.designed.items()},
        "spreads": spreads,
        "benchmark": {
            f"{model}, {motion}": {
                "measurement_variance": v.measurement_variance.tolist(),
                "model_variance": v.model_variance.tolist(),
                "p": v.p.tolist(),
                "bias": [each.name.lower() for each in v.bias],
                "verdicts": list(v.verdicts),
            }
            for (model, motion), v in results.judged.verdicts.items()
        },
        "chi_squared": {
            model: getattr(answer.stats, "chi_squared", None) for model, answer in results.judged.answers.items()
        },
        "strokes_in_pitches": {
            name: (np.ptp(motion.mean[:, : len(motion.coordinates)], axis=0) / PITCH).tolist()
            for name, motion in results.judged.motions.items()
        },
        **({} if results.followed is None else {"closed_loop": loop_numbers(results.model, results.followed)}),
    }


def _seconds_for_printed(results: Results) -> float:
    """How long a recording would have the printed σ_s, in the median, if σ falls with the root of its length.

    By least squares, as in the paper's Table II.
    """
    ours = results.spreads[STATISTICAL, LS].sd
    ratios = [ours[i] / value(TABLES[symbol].statistical) for symbol, i in results.places.items()]
    seconds = results.size.periods * results.designed[STATISTICAL].series.period
    return float(seconds * np.median(np.square(ratios)))


def _first_parameter(results: Results) -> dict[str, float]:
    """Limits of the accuracy of p_1: its correlation with p_2, and the range of β on the D-optimal trajectory."""
    i, j = results.places["p_1"], results.places["p_2"]
    sd, robot = results.bound_sd, results.model.robot
    x = results.experiments[STATISTICAL].experiment.motion().q
    turned = [k for k, name in enumerate(robot.coordinate_names) if name.startswith("beta")]
    beta = np.degrees(robot.all_coordinates(x)[:, turned])
    return {
        "bound_sd": float(sd[i]),
        "truth": float(results.model.truth[i]),
        "correlation_with_p_2": float(results.bound[i, j] / (sd[i] * sd[j])),
        "least_beta": float(beta.min()),
        "greatest_beta": float(beta.max()),
    }


def percent(share: float) -> str:
    """With one decimal.

    Examples:
        >>> percent(0.2314)
        '23.1 %'
    """
    return f"{100 * share:.1f} %"


def _shortly(value: float) -> str:
    return number(value, digits=2)


def _named(names: tuple[str, ...], values: Array) -> dict[str, float]:
    return dict(zip(names, values.tolist(), strict=True))
