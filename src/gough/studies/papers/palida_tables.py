"""Tables I to III and section V of [AHG], the paper's numbers beside ours."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gough.assemble.repeated_motion import RepeatedMotion
from gough.assemble.series_order import OrderChoice
from gough.core.arrays import Array
from gough.core.text import number
from gough.experiments import Spread
from gough.robots.mechanism.regrouping import formula
from gough.studies.papers.palida_benchmark import MOTIONS, WITH, WITHOUT, WORDS, Judged
from gough.studies.papers.palida_machine import (
    DESIGNS,
    DETERMINISTIC,
    FAIR,
    GM,
    LS,
    ML,
    ON_PATH,
    STATISTICAL,
    BaseModel,
    Designed,
    Repetition,
)
from gough.studies.papers.palida_printed import CIRCLE, MEASUREMENT, MIRRORED, TABLES, written
from gough.studies.papers.reproduction import SideBySide, columns

EXACT = 1e-12
"""Factors that differ by less are those of Table I, up to rounding."""
ESTIMATORS = {LS: "least squares", GM: "Gauss–Markov", ON_PATH: "Gauss–Markov, fitted path", ML: "maximum likelihood"}


@dataclass(frozen=True, eq=False)
class Results:
    """All that the tables and figures are made of."""

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

    @property
    def bound_sd(self) -> Array:
        """Standard deviations of the Cramér–Rao bound."""
        return np.sqrt(self.bound.diagonal())

    def column(self, *values: Array, shown: Callable[..., str]) -> dict[str, str]:
        """A column of a table: the numbers of each of the paper's symbols, as `shown` writes them."""
        return {symbol: shown(*(float(each[self.places[symbol]]) for each in values)) for symbol in TABLES}


def table_1(model: BaseModel) -> SideBySide:
    """Regrouping as printed and as computed, with the distance between them, and values."""
    mechanism, names = model.full.mechanism, model.full.names
    rows = []
    for symbol, printed in TABLES.items():
        i, away = model.place(symbol)
        base = model.found.base[i]
        ours = formula(mechanism, names, base.coefficients.tolist())
        prior = "—" if printed.prior is None else f"{printed.prior:g}"
        same = "yes" if away <= EXACT else f"off by {away:.1g}"
        unit = model.robot.units[i]
        rows.append((symbol, unit, written(symbol), ours, same, prior, f"{model.truth[i]:.5g}"))
    heads = ("parameter", "unit", "paper's combination", "ours, computed", "same?", "paper's a priori", "truth here")
    caption = f"Table I. {len(model.found.base)} base parameters: 10 of rigid bodies, 14 of friction"
    return SideBySide(caption, heads, tuple(rows))


def trajectories(results: Results) -> SideBySide:
    """What each criterion made of the same start."""
    rows = []
    for name, found in results.designed.items():
        values = found.criteria
        cond, scaled = (f"{np.exp(values[key]):.4g}" for key in ("condition", "scaled condition"))
        cells = (f"{found.series.frequency:.3f}", f"{values['D']:.1f}", cond, scaled)
        start = f"{found.first:.1f}" if DESIGNS[name] == "D" else f"{np.exp(found.first):.4g}"
        rows.append((name, *cells, start))
    heads = ("design", "Hz", "−ln det F", "cond W", "cond W, unit columns", "own criterion at the start")
    return SideBySide("Trajectories, all from one random start (section IV.C)", heads, tuple(rows))


def table_2(results: Results) -> SideBySide:
    """Standard deviations by design."""
    parts = {
        "paper σ_d": {name: number(row.deterministic, digits=2) for name, row in TABLES.items()},
        "paper σ_s": {name: number(row.statistical, digits=2) for name, row in TABLES.items()},
    }
    for estimator in (LS, ML):
        for design in (DETERMINISTIC, FAIR, STATISTICAL):
            spread = results.spreads[design, estimator]
            parts[f"{estimator}, {design}"] = results.column(spread.sd, shown=_shortly)
    caption = f"Table II. Standard deviations over {results.n} repetitions, by design (SI units)"
    return SideBySide(caption, ("parameter", *parts), columns(tuple(TABLES), parts))


def table_3(results: Results) -> SideBySide:
    """Estimates of the paper beside the means of ours."""
    parts = {
        "paper LS": {name: f"{row.least_squares:g}" for name, row in TABLES.items()},
        "paper GM": {name: f"{row.gauss_markov:g}" for name, row in TABLES.items()},
        "paper ML": {name: f"{row.maximum_likelihood:g}" for name, row in TABLES.items()},
        "a priori": {name: f"{row.prior:g}" for name, row in TABLES.items() if row.prior is not None},
    }
    for label in ESTIMATORS:
        s = results.spreads[STATISTICAL, label]
        parts[label] = results.column(s.mean, s.sd, shown=number)
    parts["truth"] = results.column(results.model.truth, shown="{:.5g}".format)
    caption = f"Table III. Estimates: the paper's, and means over {results.n} repetitions of the D-optimal experiment"
    return SideBySide(caption, ("parameter", *parts), columns(tuple(TABLES), parts))


def errors(results: Results) -> SideBySide:
    """Bias in units of sd, and sd against the Cramér–Rao bound."""
    parts: dict[str, dict[str, str]] = {}
    for label in ESTIMATORS:
        s = results.spreads[STATISTICAL, label]
        parts[f"bias {label}"] = results.column(s.bias_in_sd, shown="{:+.2f}".format)
    parts["bound"] = results.column(results.bound_sd, shown="{:.3g}".format)
    for label in (LS, GM, ON_PATH, ML):
        s = results.spreads[STATISTICAL, label]
        parts[f"{label} / bound"] = results.column(s.sd / results.bound_sd, shown="{:.2f}".format)
    caption = "Bias in units of each estimator's own sd, Cramér–Rao bound of the sd, and sd over that bound"
    return SideBySide(caption, ("parameter", *parts), columns(tuple(TABLES), parts))


def honesty(results: Results) -> SideBySide:
    """How each estimator did in all: bias, χ², coverage."""
    rows = []
    for (design, label), s in results.spreads.items():
        low, high = s.coverage_interval()
        single = "—" if s.coverage is None else f"{s.coverage.mean():.1%}"
        chi = "—" if s.chi_squared is None else f"{s.chi_squared:.3f}"
        worst = f"{abs(s.bias_in_sd).max():.1f}"
        together = f"{s.joint_coverage:.1%} ({low:.0%} … {high:.0%})"
        rows.append((f"{design}, {ESTIMATORS[label]}", worst, chi, single, together, str(len(s.failures))))
    heads = ("design, estimator", "largest bias, sd", "χ²/dof", "95 % intervals hold", "95 % regions hold", "failed")
    return SideBySide("Honesty: how often what is claimed to hold the truth does so", heads, tuple(rows))


def section_5(judged: Judged) -> SideBySide:
    """Variances of the model's error by actuator, with the verdict."""
    rows = []
    first = judged.verdicts[WITHOUT, MOTIONS[0]]
    for i, name in enumerate(first.actuators):
        ours = [judged.verdicts[WITHOUT, motion] for motion in MOTIONS]
        knowing = judged.verdicts[WITH, MOTIONS[0]]
        printed = [f"{values[i]:g}" for values in (MEASUREMENT, CIRCLE, MIRRORED)]
        found = [f"{v:.0f}" for v in (first.measurement_variance[i], *(v.model_variance[i] for v in ours))]
        verdicts = [WORDS[v.bias[i]] for v in (*ours, knowing)]
        rows.append((name, *printed, *found, *verdicts))
    heads = (
        *("actuator", "paper η", "paper circle", "paper mirrored", "η", "circle", "mirrored"),
        *("verdict, circle", "verdict, mirrored", "circle, model with cogging"),
    )
    caption = "Section V. Variances of measurement (η) and of the model's error on the circle and its mirror image, N²"
    return SideBySide(caption, heads, tuple(rows))


def numbers(results: Results) -> dict[str, Any]:
    """What the tables round, by names, as plain values."""
    names = results.model.robot.names
    spreads = {
        f"{design}, {label}": {
            "mean": _named(names, s.mean),
            "sd": _named(names, s.sd),
            "sigma": None if s.sigma is None else _named(names, s.sigma),
            "coverage": None if s.coverage is None else _named(names, s.coverage),
            "joint_coverage": s.joint_coverage,
            "chi_squared": s.chi_squared,
            "failures": list(s.failures),
        }
        for (design, label), s in results.spreads.items()
    }
    return {
        "repetitions": results.n,
        "symbols": dict(results.model.symbols),
        "truth": _named(names, results.model.truth),
        "cramer_rao_sd": _named(names, results.bound_sd),
        "order": results.order.order,
        "criteria": {name: dict(found.criteria) for name, found in results.designed.items()},
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
    }


def _shortly(value: float) -> str:
    return number(value, digits=2)


def _named(names: tuple[str, ...], values: Array) -> dict[str, float]:
    return dict(zip(names, values.tolist(), strict=True))
