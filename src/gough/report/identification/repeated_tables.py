"""Tables on repeats of a motion: noise of each channel, orders of the path, base parameters, benchmark motions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gough.core.text import number
from gough.core.units import squared
from gough.dynamics import BenchmarkVerdict, Bias, Identified, IdentifiedRepeats
from gough.methods.noise.repeats import RepeatNoise
from gough.report.base.html import Html, tag
from gough.report.base.labels import short_labels, spelled_out
from gough.report.base.regions import belief
from gough.report.base.tables import cell, head_cell, row_head, table, word_cell
from gough.robots.mechanism.closed_chain import ClosedChain
from gough.robots.mechanism.regrouping import formula

JUDGED = {Bias.INVISIBLE: "no error visible", Bias.SMALL: "unbiased", Bias.LARGE: "biased"}


def yes_or_no(is_refuted: bool) -> str:  # noqa: FBT001 - a word for a flag
    """Whether noise is as assumed, in a word."""
    return "no" if is_refuted else "yes"


def noise_table(noise: RepeatNoise, units: Sequence[str]) -> Html:
    """σ of each channel with its interval, and what the tests say of it."""
    lower, upper = noise.sigma_interval()
    rows = []
    for i, (name, unit) in enumerate(zip(noise.names, units, strict=True)):
        tests = [
            cell(yes_or_no(test.is_refuted), f"p = {test.p:.2g}")
            for test in (noise.gaussian[i], noise.white[i], noise.alike[i])
        ]
        interval = f"{number(float(lower[i]), digits=3)} … {number(float(upper[i]), digits=3)}"
        rows.append([row_head(name, unit), cell(number(float(noise.sigma[i]), digits=3)), cell(interval), *tests])
    heads = ["channel", "σ of a reading", "95% interval", "Gaussian?", "white?", "alike in all repeats?"]
    return table(heads, rows, "Noise of each channel")


def order_table(found: IdentifiedRepeats) -> Html:
    """χ² and information criteria of each order."""
    rows = [
        [
            row_head(str(row.order), "chosen" if row.order == found.order.order else ""),
            cell(str(row.n_unknowns)),
            cell(number(row.chi_squared, digits=4)),
            cell(f"{row.p:.2g}"),
            *(cell(f"{above:.1f}") for above in (row.aic_above, row.bic_above)),
        ]
        for row in found.order.rows
    ]
    heads = ["harmonics", "unknowns", "χ²/dof", "p", "AIC − least", "BIC − least"]
    return table(heads, rows, "Orders of the path")


def regroupings(found: Identified | IdentifiedRepeats) -> dict[str, str]:
    """What each base parameter stands for, by its label: sums over joints where the robot is a mechanism."""
    robot: Any = found.robot
    of = found.likeliest if isinstance(found, IdentifiedRepeats) else found.problem
    unknowns = of.unknowns.names
    if not isinstance(robot, ClosedChain):
        return spelled_out(unknowns)
    texts = [formula(robot.mechanism, found.found.names, base.coefficients.tolist()) for base in found.found.base]
    return {label: text for label, text in zip(short_labels(unknowns), texts, strict=True) if label != text}


def regrouping_list(found: IdentifiedRepeats) -> Html:
    """The same as a list of definitions; empty where every parameter stands for itself."""
    meanings = regroupings(found)
    if not meanings:
        return Html()
    return tag("dl", *(tag("div", tag("dt", label), tag("dd", text)) for label, text in meanings.items()))


def disagreement_table(found: IdentifiedRepeats) -> Html:
    """How far each estimator is from maximum likelihood, and how large its uncertainty is."""
    best = belief(found.likeliest).sigma
    rows = []
    for name, estimate in found.likeliest_first.items():
        ratio = float(np.median(belief(estimate).sigma / best))
        p = found.disagreement[name]
        said = "—" if estimate is found.likeliest else f"{p:.2g}"
        rows.append([row_head(name), cell(f"{ratio:.2f}"), cell(said)])
    heads = ["estimator", head_cell("σ over that of ML", "median"), head_cell("chance of so far from ML")]
    return table(heads, rows, "Estimators against maximum likelihood")


def benchmark_table(verdict: BenchmarkVerdict) -> Html:
    """Variance of the model's error against that of a reading, actuator by actuator [AHG, §V]."""
    rows = [
        [
            row_head(name, squared(unit)),
            *(cell(number(float(v), digits=3)) for v in (model, measured)),
            cell(f"{p:.2g}"),
            word_cell(f"{JUDGED[bias]}{f'; {cause}' if cause and bias is not Bias.INVISIBLE else ''}"),
        ]
        for name, unit, model, measured, p, bias, cause in zip(
            verdict.actuators,
            verdict.effort_units,
            verdict.model_variance,
            verdict.measurement_variance,
            verdict.p,
            verdict.bias,
            verdict.causes,
            strict=True,
        )
    ]
    heads = ["actuator", "variance of the model's error", "of a reading", "p", head_cell("verdict", kind="words")]
    return table(heads, rows, "Model error against measurement error")
