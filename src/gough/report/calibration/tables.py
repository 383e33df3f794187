"""Tables of a calibration: geometry, chains, predicted poses, what is proven of each leg."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gough.closure import ChainFinding, Finding
from gough.core import outward
from gough.core.arrays import Array
from gough.core.text import number
from gough.geometry import Calibrated, CalibratedPrinter, HeldOut
from gough.geometry.gauges import Regauged, regauged
from gough.geometry.results import shown_unit
from gough.region import ConfidenceEllipsoid
from gough.report.base.html import Html, tag
from gough.report.base.numbers import error_in_sigma, plus_minus, signed
from gough.report.base.tables import cell, head_cell, row_head, table
from gough.robots import GoughPlatform
from gough.robots.kinematics import PlatformPoses

_95 = 1.959963984540054


CERTIFIED_HEADS = ("verdict", "widths of a, b, l [mm]", "ε [mm]", "calibrated leg fits")
"""Heads of `certified_texts` but for the name."""


def certified_texts(leg: ChainFinding) -> tuple[str, ...]:
    """What is proven about one leg, as the row of a table."""
    widths = "—"
    if leg.box is not None:
        sizes = [
            Fraction(high) - Fraction(low)
            for low, high in zip(leg.box.lower.tolist(), leg.box.upper.tolist(), strict=True)
        ]
        widths = " … ".join(outward.at_most(end, times=1000, digits=2) for end in (min(sizes), max(sizes)))
    fits = "—" if leg.fitted is None else f"{leg.fitted} of {len(leg.needs)} poses"
    return (f"leg {leg.chain}", leg.finding.value, widths, leg.epsilon.words, fits)


def certified_table(legs: Sequence[ChainFinding]) -> Html:
    """The verdict about each leg."""
    rows = []
    for leg in legs:
        name, verdict, *rest = certified_texts(leg)
        colored = tag("span", verdict, class_="bad" if leg.finding is Finding.REFUTED else "good")
        heaviest = str(leg.blame[0]) if leg.blame else "—"
        rows.append([row_head(name), tag("td", colored), *map(cell, rest), cell(heaviest)])
    return table(["leg", *CERTIFIED_HEADS, "heaviest pose"], rows, "What is proven of each leg")


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]], what: str) -> Html:
    """Cells that are texts already, the first of a row its head."""
    return table(heads, [[row_head(row[0]), *map(cell, row[1:])] for row in rows], what)


class _Gauged(NamedTuple):
    values: Array
    sigma: Array | None
    before: Array
    truth: Array | None


def _gauged(found: Calibrated, truth: Array | None) -> _Gauged:
    """Parameters of a Gough platform with its joints as near to the blueprint's as they can be."""
    model = found.model
    assert isinstance(model, GoughPlatform)
    names = [name for name in found.estimate.unknowns.names if name in model.names]
    C = None
    if len(names) == len(model.names) and isinstance(found.estimate.region, ConfidenceEllipsoid):
        C = found.estimate.marginal(*names).region.covariance  # type: ignore[union-attr]
    now: Regauged = regauged(model, found.parameters, C)
    sigma = None if now.covariance is None else np.sqrt(np.maximum(now.covariance.diagonal(), 0.0))
    known = None if truth is None else regauged(model, truth).parameters
    return _Gauged(now.parameters, sigma, model.nominal, known)


def joint_changes(found: Calibrated) -> tuple[Array, Array, Array | None]:
    """Of a Gough platform in the blueprint's frames: joints (2, legs, 3), by how much they moved, and 95 % of it."""
    gauged, width = _gauged(found, None), len(found.model.names) // len(found.model.chains)

    def joints(values: Array) -> Array:
        rows = values.reshape(-1, width)
        return np.stack([rows[:, :3], rows[:, 3:6]])

    half = None if gauged.sigma is None else _95 * joints(gauged.sigma)
    return joints(gauged.before), joints(gauged.values) - joints(gauged.before), half


def leg_table(found: Calibrated, truth: Array | None = None) -> Html:
    """A Gough platform leg by leg: joints in the blueprint's frame, with what changed; against the truth in σ."""
    model = found.model
    gauged = _gauged(found, truth)
    width = len(model.names) // len(model.chains)
    rows = []
    for leg, chain in enumerate(model.chains):
        cells = []
        for j in range(leg * width, (leg + 1) * width):
            factor = shown_unit(model.units[j])[1]
            value, change = factor * gauged.values[j], factor * (gauged.values[j] - gauged.before[j])
            half = np.nan if gauged.sigma is None else _95 * factor * gauged.sigma[j]
            small = tag("small", f"Δ {signed(f'{change:+.3g}')}")
            parts: list[str] = [" ± ".join(plus_minus(value, half)) if half > 0 else signed(f"{value:.3f}"), small]
            if gauged.truth is not None and gauged.sigma is not None and gauged.sigma[j] > 0:
                error = (gauged.values[j] - gauged.truth[j]) / gauged.sigma[j]
                parts.append(tag("small", error_in_sigma(error), class_="far" if abs(error) > 3.5 else "near"))
            cells.append(tag("td", *parts))
        rows.append([row_head(chain), *cells])
    first = zip(model.names[:width], model.units[:width], strict=True)
    heads = ["leg", *(head_cell(_stem(name), shown_unit(unit)[0]) for name, unit in first)]
    return table(heads, rows, "Joints and lengths, leg by leg")


def _stem(name: str) -> str:
    """The name without the leg's number."""
    return f"{name[0]}_{name[2:]}" if len(name) > 2 else name[0]


def parameter_table(found: Calibrated, truth: Array | None = None) -> Html:
    """Every parameter before and after, with its interval; against the truth in standard deviations."""
    half = dict(zip(found.estimate.unknowns.names, found.estimate.intervals().width / 2, strict=True))
    rows = []
    for i, (name, unit) in enumerate(zip(found.model.names, found.model.units, strict=True)):
        shown, factor = shown_unit(unit)
        width = half[name] * factor if name in half else np.nan
        before, after = found.start[i] * factor, found.parameters[i] * factor
        value = " ± ".join(plus_minus(after, width)) if name in half else f"{signed(number(after))} (fixed)"
        change = plus_minus(after - before, width)[0] if name in half else "—"
        row = [row_head(name, shown), cell(plus_minus(before, width)[0]), cell(value), cell(change)]
        rows.append([*row, cell(plus_minus(truth[i] * factor, width)[0])] if truth is not None else row)
    known = ["truth"] if truth is not None else []
    return table(["parameter", "before", "after (95 %)", "change", *known], rows, "Geometry before and after")


def printer_table(found: CalibratedPrinter) -> Html:
    """A printer's parameters as configured and as found."""
    rows = []
    for i, (name, unit) in enumerate(zip(found.model.names, found.model.units, strict=True)):
        shown, factor = shown_unit(unit)
        before, after = found.model.nominal[i] * factor, found.parameters[i] * factor
        plus = found.plus(name)
        change = round(after - before, 4)
        moved = "—" if plus == "fixed" else f"{change:+.4f}" if change else "0.0000"
        values = (f"{before:.4f}", f"{after:.4f}", moved)
        rows.append([row_head(name, shown), *(cell(signed(v)) for v in values), cell(plus)])
    heads = ["parameter", "configured", "found", "change", "± (95 %)"]
    return table(heads, rows, "Geometry as configured and as found")


def chain_table(found: Calibrated) -> Html:
    """Closure errors by chain, in mm, and what they follow."""
    rows = [
        [
            row_head(c.name),
            *(cell(number(1e3 * v, digits=3)) for v in (c.rms_before, c.rms_after, c.peak_after)),
            cell(str(c.peak_pose)),
            *(tag("td", signed(f"{r:.2f}"), **_alarming(r)) for r in (c.follows_reading, c.follows_travel)),
        ]
        for c in found.chains
    ]
    heads = ["chain", "rms before, mm", "rms after, mm", "peak, mm", "at pose", "r(reading)", "r(travel)"]
    return table(heads, rows, "Closure of each chain")


def _alarming(correlation: float) -> dict[str, str]:
    return {"class_": "far"} if abs(correlation) > 0.4 else {}


def held_out_table(check: HeldOut) -> Html:
    """Mean, deviation and largest error of predicted poses, before and after, and by what factor it fell."""
    rows = []
    for what, before, after in check.rows():
        fell = "—" if before is None or after <= 0 else f"{before / after:.3g} ×"
        rows.append([row_head(what), cell("—" if before is None else number(before)), cell(number(after)), cell(fell)])
    heads = [f"{len(check.position_after)} poses", "before", "after", "smaller by"]
    return table(heads, rows, "Errors of predicted poses")


def uncertainty_table(found: Calibrated) -> Html:
    """How well the calibrated robot knows where it is: from the parameters' covariance, at the measured poses."""
    poses = found.poses
    rotation = np.repeat(np.eye(3)[None], len(poses), axis=0) if poses.rotation is None else poses.rotation
    far, turned = found.predicted_sigma(PlatformPoses(poses.position * found.scale, rotation))
    rows = [_sizes("position, mm", 2e3 * far)]
    if found.model.has_orientation:
        rows.append(_sizes("orientation, °", np.degrees(2 * turned)))
    heads = ["2 σ at the measured poses", "best", "median", "worst", "worst at pose"]
    return table(heads, rows, "Uncertainty of predicted poses")


def _sizes(what: str, values: Array) -> list[Html]:
    shown = (values.min(), np.median(values), values.max())
    return [row_head(what), *(cell(number(float(v), digits=2)) for v in shown), cell(str(int(values.argmax())))]
